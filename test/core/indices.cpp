// SPDX-License-Identifier: BSL-1.0
// Functors that take the index of what they combine: every algorithm that combines tells them the right one.
#include <catch2/catch.hpp>

#include "../laws.hpp"
#include "../most_ranks.hpp"

namespace {

using namespace colligo;

/// Words that say their index, and numbers that do; of what says none the other one is taken.
struct checked_words {
  std::string operator()(std::size_t index, std::string const& a, std::string const& b) const {
    char const own = laws::word(0, index)[1];
    for (std::string const& part : {a, b})
      if (!part.empty() && part[1] != own) throw std::runtime_error("element " + std::to_string(index) + ": " + a + b);
    return a + b;
  }
};
struct numbered {
  std::uint32_t index, ranks;
};
struct checked_numbers {
  numbered operator()(std::size_t index, numbered a, numbered b) const {
    for (numbered const part : {a, b})
      if (part.ranks != 0 && part.index != index) throw std::runtime_error("element " + std::to_string(index));
    return {static_cast<std::uint32_t>(index), a.ranks + b.ranks};
  }
};

/// Calls f(name) for the algorithms of the catalogue that have this collective, but for MPI's own.
template <class F>
void for_each_name(collective c, F f) {
  tested::for_each_algorithm([&]<class Tag>(Tag) {
    detail::erased_policy const* const policy = detail::policies_of(c)()[detail::place_in_catalogue<Tag>::value];
    if (policy != nullptr && !policy->is_vendor) f(std::string(Tag::name));
  });
}

/// Every collective that combines, of vectors with element make(rank, i) at i, or of blocks of them.
template <class T, class Make, class Op, class Check>
void expect_indices(thread_communicator& comm, std::size_t n, Make make, Op op, Check check) {
  int const p = comm.size(), me = comm.rank();
  auto const vector = [&](std::size_t size) {
    std::vector<T> all(size);
    for (std::size_t i = 0; i < size; ++i) all[i] = make(me, i);
    return all;
  };
  auto const in = vector(n);
  auto const call = [&](collective c, auto const& run) {
    for_each_name(c, [&](std::string const& name) {
      if (name == shared_memory::name && !travels_as_bytes<T>) return;
      try {
        run(named(name));
      } catch (std::exception const& e) {
        throw std::runtime_error(name + ", p = " + std::to_string(p) + ", n = " + std::to_string(n) + ": " + e.what());
      }
    });
  };
  call(collective::all_reduce, [&](named by) {
    std::vector<T> out(n);
    colligo::all_reduce(comm, in, out, op, by);
    check(out, p, 0);
    auto again = in;
    colligo::iall_reduce(comm, in_place(again), op, by).wait();
    check(again, p, 0);
  });
  call(collective::reduce, [&](named by) {
    std::vector<T> out(n);
    colligo::reduce(comm, in, out, op, p / 2, by);
    if (me == p / 2) check(out, p, 0);
  });
  call(collective::scan, [&](named by) {
    std::vector<T> out(n);
    colligo::scan(comm, in, out, op, by);
    check(out, me + 1, 0);
  });
  call(collective::exclusive_scan, [&](named by) {
    std::vector<T> out(n);
    colligo::exclusive_scan(comm, in, out, T{}, op, by);
    check(out, me, 0);
  });
  auto const counts = laws::distributions(p, n)[3];
  std::size_t const first = std::reduce(counts.begin(), counts.begin() + me);
  call(collective::reduce_scatter, [&](named by) {
    std::vector<T> out(counts[static_cast<std::size_t>(me)]);
    colligo::reduce_scatter(comm, vector(std::reduce(counts.begin(), counts.end())), out, counts, op, by);
    check(out, p, first);
  });
}

}  // namespace

TEST_CASE("a functor is told the index of what it combines by every algorithm") {
  for (int const p : {1, 2, 3, 4, 7, 8, 13, 24})
    if (p <= COLLIGO_TEST_MOST_RANKS)
      run_threads(p, [](thread_communicator& comm) {
        for (std::size_t const n : {1u, 40u})
          expect_indices<std::string>(comm, n, &laws::word, as_commutative(checked_words{}),
                                      [](std::vector<std::string> const& out, int ranks, std::size_t first) {
                                        laws::expect_words(out, ranks, false, "", first);
                                      });
      });
}

TEST_CASE("a functor is told the index of what comes in chunks through shared memory") {
  for (int const p : {2, 3, 6})
    run_threads(p, [](thread_communicator& comm) {
      expect_indices<numbered>(
          comm, 20000, [](int, std::size_t i) { return numbered{static_cast<std::uint32_t>(i), 1}; },
          as_commutative(checked_numbers{}), [](std::vector<numbered> const& out, int ranks, std::size_t first) {
            for (std::size_t i = 0; i < out.size() && ranks != 0; ++i)
              if (out[i].ranks != static_cast<std::uint32_t>(ranks) || (ranks > 1 && out[i].index != first + i))
                throw std::runtime_error("element " + std::to_string(i) + " is wrong");
          });
    });
}

TEST_CASE("a functor is told an index that is wrong, and the checkers see it") {
  CHECK_THROWS(checked_words{}(1, laws::word(0, 0), laws::word(1, 0)));
  CHECK_THROWS(checked_numbers{}(1, {0, 1}, {0, 1}));
}
