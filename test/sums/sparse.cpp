// SPDX-License-Identifier: BSL-1.0
// Sparse vectors against std::map, what they send against formulas, and lists that are refused.
#include <catch2/catch.hpp>

#include <colligo/barrier.hpp>
#include <colligo/sparse.hpp>
#include <colligo/trace.hpp>

#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "../most_ranks.hpp"

using namespace colligo;

namespace {

/// x -> factor x + shift, one after the other: associative, does not commute, and has no identity that is known.
struct line {
  std::uint32_t factor = 1, shift = 0;
  friend bool operator==(line const&, line const&) = default;
};
struct composed {
  line operator()(line const& a, line const& b) const { return {a.factor * b.factor, a.shift * b.factor + b.shift}; }
};

template <class T, class Index>
using lists = std::vector<sparse_vector<T, Index>>;

/// Of each rank about `density` of n elements; every third rank has none, and their last half has the more.
template <class T, class Index, class Make>
lists<T, Index> make_lists(int p, int n, double density, Make make) {
  std::mt19937 random(static_cast<unsigned>(p * n));
  lists<T, Index> all(static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < n && r % 3 != 2; ++i)
      if (std::uniform_real_distribution<>()(random) < (2 * i < n ? density / 4 : density)) {
        all[static_cast<std::size_t>(r)].indices.push_back(static_cast<Index>(i));
        all[static_cast<std::size_t>(r)].values.push_back(make(r, i));
      }
  return all;
}
template <class T, class Index, class Op>
sparse_vector<T, Index> sum_of(lists<T, Index> const& all, Op op, int first, int last) {
  std::map<Index, T> sum;
  for (auto const& list : all)
    for (std::size_t i = 0; i < list.indices.size(); ++i) {
      auto const [at, is_new] = sum.try_emplace(list.indices[i], list.values[i]);
      if (!is_new) at->second = op(at->second, list.values[i]);
    }
  sparse_vector<T, Index> made;
  for (auto const& [index, value] : sum)
    if (index >= static_cast<Index>(first) && index < static_cast<Index>(last))
      made.indices.push_back(index), made.values.push_back(value);
  return made;
}

/// Both collectives, the second with uneven blocks, on p ranks.
template <class T, class Index, class Op>
void expect_sums(lists<T, Index> const& all, int n, Op op, sparse_form form) {
  int const p = static_cast<int>(all.size());
  std::vector<int> counts, begin{0};
  for (int r = 0; r < p; ++r) begin.push_back(r + 1 == p ? n : std::min(n, begin.back() + r % 4 * n / p));
  for (std::size_t r = 0; r < all.size(); ++r) counts.push_back(begin[r + 1] - begin[r]);
  auto const expected = sum_of(all, op, 0, n);
  run_threads(p, [&](thread_communicator& comm) {
    auto const me = static_cast<std::size_t>(comm.rank());
    auto const mine = sparse(all[me].indices, all[me].values);
    if (colligo::all_reduce(comm, mine, op, form) != expected) throw std::runtime_error("all_reduce");
    if (colligo::all_reduce(comm, sparse(all[me].indices, all[me].values, n + 5), op, form) != expected)
      throw std::runtime_error("all_reduce with a length");
    if (colligo::reduce_scatter(comm, mine, counts, op, form) != sum_of(all, op, begin[me], begin[me + 1]))
      throw std::runtime_error("reduce_scatter");
  });
}

}  // namespace

TEST_CASE("sparse vectors are combined as a map would, in the order of ranks") {
  for (int p = 1; p <= COLLIGO_TEST_MOST_RANKS; p += p < 5 ? 1 : p < 9 ? 4 : 24)
    for (double const density : {0.0, 0.02, 0.7}) {
      int const n = 300;
      INFO(p << " ranks, density " << density);
      auto const words = make_lists<std::string, int>(
          p, n, density, [](int r, int i) { return static_cast<char>('!' + r) + std::to_string(i); });
      auto const lines = make_lists<line, std::uint16_t>(p, n, density, [](int r, int i) {
        return line{static_cast<std::uint32_t>(2 * r + 3), static_cast<std::uint32_t>(i)};
      });
      auto const numbers = make_lists<double, std::int64_t>(p, n, density, [](int r, int i) { return r * i - 0.0; });
      for (sparse_form const form : {sparse_form::fewest_bytes, sparse_form::lists, sparse_form::blocks}) {
        if (form != sparse_form::blocks) REQUIRE_NOTHROW(expect_sums(words, n, std::plus<>{}, form));
        REQUIRE_NOTHROW(expect_sums(lines, n, composed{}, form));
        REQUIRE_NOTHROW(expect_sums(numbers, n, std::plus<>{}, form));
        REQUIRE_NOTHROW(expect_sums(numbers, n, [](auto a, auto b) { return std::max(a, b); }, form));
      }
    }
}

TEST_CASE("a sum of sparse vectors keeps minus zero, and what nobody has is missing") {
  run_threads(3, [](thread_communicator& comm) {
    std::vector<int> const all{1, 70}, indices(all.begin() + (comm.rank() == 2 ? 0 : 1), all.end());
    std::vector<double> values{-0.0, comm.rank() - 1.0};
    if (indices.size() == 1) values.erase(values.begin());
    for (sparse_form const form : {sparse_form::lists, sparse_form::blocks}) {
      auto const sum = colligo::all_reduce(comm, sparse(indices, values, 1000), std::plus<>{}, form);
      if (sum.indices != all || !std::signbit(sum.values[0]) || sum.values[1] != 0) throw std::runtime_error("sum");
    }
  });
}

namespace {

/// Bytes that each rank sends in an all_reduce, by the collectives that it is made of.
std::vector<std::map<collective, std::size_t>> sent_by(lists<double, int> const& all, int n, sparse_form form) {
  std::vector<trace_log> logs;
  logs.reserve(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) logs.emplace_back(static_cast<int>(r), 10000);
  run_threads(static_cast<int>(all.size()), [&](thread_communicator& comm) {
    auto const me = static_cast<std::size_t>(comm.rank());
    {
      tracing const here(comm, logs[me]);
      colligo::all_reduce(comm, sparse(all[me].indices, all[me].values, n), std::plus<>{}, form);
    }
    colligo::barrier(comm);
  });
  std::vector<std::map<collective, std::size_t>> sent(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::map<std::uint32_t, collective> calls;
    for (trace_event const& e : logs[r].events())
      if (e.what == trace_event::kind::call) calls[e.call] = e.call_of;
    for (trace_event const& e : logs[r].events())
      if (e.what == trace_event::kind::send) sent[r][calls.at(e.call)] += e.bytes;
  }
  return sent;
}

/// Of rank r every stride-th index, from r times `shift` on.
lists<double, int> with_stride(int p, int n, int stride, int shift) {
  lists<double, int> all(static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r)
    for (int i = r * shift; i < n; i += stride)
      all[static_cast<std::size_t>(r)].indices.push_back(i), all[static_cast<std::size_t>(r)].values.push_back(1);
  return all;
}

}  // namespace

TEST_CASE("lists are sent once to where they are merged, and what comes of them once to all") {
  int const n = 1 << 17;
  for (std::size_t const p : {2u, 4u, 8u})
    for (int const stride : {8, 64})
      for (bool const apart : {false, true}) {
        INFO(p << " ranks, stride " << stride << ", apart " << apart);
        std::size_t const k = static_cast<std::size_t>(n / stride), sum = apart ? p * k : k;
        std::size_t const bytes_of_indices = std::min(sum * sizeof(int), static_cast<std::size_t>(n) / 8);
        auto const all = with_stride(static_cast<int>(p), n, stride, apart ? 1 : 0);
        for (auto const& sent : sent_by(all, n, sparse_form::lists)) {
          CHECK(sent.at(collective::all_to_all_v) == (k - k / p) * (sizeof(int) + sizeof(double)));
          CHECK(sent.at(collective::all_gatherv) ==
                (sum - sum / p) * sizeof(double) + bytes_of_indices - bytes_of_indices / p);
          CHECK(!sent.contains(collective::all_reduce));
        }
      }
}

TEST_CASE("the form is what sends and combines fewer bytes") {
  int const n = 1 << 17;
  for (int const p : {4, 8}) {
    auto const goes_as_blocks = [&](int stride) {
      return sent_by(with_stride(p, n, stride, 1), n, sparse_form::fewest_bytes)[0].contains(collective::all_reduce);
    };
    CHECK(!goes_as_blocks(1024));
    CHECK(!goes_as_blocks(128));
    CHECK(goes_as_blocks(2));
  }
}

TEST_CASE("indices and lengths that no vector has are called by their names") {
  std::vector<std::uint64_t> const far{1, std::uint64_t{1} << 63};
  std::vector<double> const two{1, 2};
  auto const words = [](auto const& list) { return detail::words_of(detail::mistake_in(list), "this rank"); };
  CHECK(words(sparse(far, two)) ==
        "this rank has the index 9223372036854775808, but the vector ends at 9223372036854775807");
  CHECK(words(sparse(std::vector{1, 2}, two, -5)) == "this rank passes -5 as length of the vector");
}

TEST_CASE("lists that can not be taken are refused on all ranks, with what is wrong and where") {
  struct fault {
    std::vector<int> indices;
    std::vector<double> values;
    char const *here, *elsewhere;
  };
  for (fault const& wrong : {
           fault{{1, 2}, {1}, "this rank has 2 indices and 1 values", "rank 1 has 2 indices and 1 values"},
           fault{{-3, 2}, {1, 2}, "this rank has a negative index, -3", "rank 1 has a negative index, -3"},
           fault{{3, 100}, {1, 2}, "this rank has the index 100, but the vector ends at 100",
                 "rank 1 has the index 100,"},
           fault{{3, 2}, {1, 2}, "this rank has the index 2 after 3: sort them", "rank 1 has the index 2 after 3"},
           fault{{3, 3}, {1, 2}, "this rank has the index 3 twice", "rank 1 has the index 3 twice"},
       })
    run_threads(3, [&](thread_communicator& comm) {
      bool const guilty = comm.rank() == 1;
      std::vector<int> const indices = guilty ? wrong.indices : std::vector{1, 5};
      std::vector<double> const values = guilty ? wrong.values : std::vector{1.0, 2.0};
      auto const expect = [&](auto const& call, std::string const& name) {
        std::string const begin =
            "colligo: " + name + " of a sparse vector on rank " + std::to_string(comm.rank()) + " of 3: ";
        try {
          call();
        } catch (error const& e) {
          bool const kind = guilty ? dynamic_cast<argument_error const*>(&e) != nullptr
                                   : dynamic_cast<failed_elsewhere const*>(&e) != nullptr;
          if (kind && std::string(e.what()).starts_with(begin + (guilty ? wrong.here : wrong.elsewhere))) return;
          throw std::runtime_error(e.what());
        }
        throw std::runtime_error("it was taken");
      };
      expect([&] { colligo::all_reduce(comm, sparse(indices, values, 100), std::plus<>{}); }, "all_reduce");
      expect([&] { colligo::reduce_scatter(comm, sparse(indices, values), std::vector{90, 0, 10}, std::plus<>{}); },
             "reduce_scatter");
      colligo::barrier(comm);
    });
  run_threads(2, [](thread_communicator& comm) {
    std::vector<int> const none;
    auto const differ = [&](std::int64_t length, sparse_form form) {
      try {
        colligo::all_reduce(comm, sparse(none, none, length), std::plus<>{}, form);
      } catch (mismatch_error const&) { return; }
      throw std::runtime_error("it was taken");
    };
    differ(comm.rank() == 0 ? 10 : 11, sparse_form::lists);
    differ(comm.rank() == 0 ? 10 : -1, sparse_form::lists);
    differ(10, comm.rank() == 0 ? sparse_form::lists : sparse_form::blocks);
  });
}

TEST_CASE("what a functor throws in a merge is known on all ranks") {
  for (sparse_form const form : {sparse_form::lists, sparse_form::blocks})
    run_threads(3, [form](thread_communicator& comm) {
      std::vector<int> const indices{0, 1};   // the second one is merged on one rank, as a list
      std::vector<double> const values{1, 2};
      auto const throws = [](double a, double b) -> double {
        if (b == 2) throw std::range_error("two");
        return a + b;
      };
      bool thrown = false;
      try {
        colligo::all_reduce(comm, sparse(indices, values), throws, form);
      } catch (std::range_error const&) {
        thrown = true;
      } catch (failed_elsewhere const&) {
        thrown = true;
      }
      if (!thrown) throw std::runtime_error("nothing was thrown");
      try {
        colligo::reduce_scatter(comm, sparse(indices, values), std::vector{1, 1, 0}, throws, form);
        if (comm.rank() == 1) throw std::runtime_error("nothing was thrown");
      } catch (std::range_error const&) {
      } catch (failed_elsewhere const&) {
      }
      for (int k = 0; k < 3; ++k)
        if (colligo::all_reduce(comm, k, std::plus<>{}) != 3 * k) throw std::runtime_error("a wrong sum");
    });
}

TEST_CASE("a vector ends before the largest index that there is") {
  run_threads(2, [](thread_communicator& comm) {
    std::vector const indices{std::int64_t{comm.rank()}, std::numeric_limits<std::int64_t>::max() - comm.rank()};
    std::vector const values{1.0, 2.0};
    try {
      colligo::all_reduce(comm, sparse(indices, values), std::plus<>{});
    } catch (error const& e) {
      bool const right = std::string(e.what()).find("but the vector ends at 9223372036854775807") != std::string::npos;
      if (right) return;
      throw;
    }
    throw std::runtime_error("it was taken");
  });
}

TEST_CASE("indices up to the largest, and counts whose sum is no length") {
  run_threads(2, [](thread_communicator& comm) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector const indices{std::int64_t{comm.rank()}, most - 1};
    std::vector const values{1.0, 2.0};
    auto const sum = colligo::all_reduce(comm, sparse(indices, values), std::plus<>{});
    if (sum != sparse_vector<double, std::int64_t>{{0, 1, most - 1}, {1, 1, 4}}) throw std::runtime_error("wrong");
    for (std::uint64_t const second : {std::uint64_t{most}, ~std::uint64_t{}}) {
      try {
        std::vector const counts{std::uint64_t{most}, second};
        colligo::reduce_scatter(comm, sparse(indices, values), counts, std::plus<>{});
      } catch (argument_error const& e) {
        if (std::string(e.what()).ends_with("the sum of the counts is larger than any vector")) continue;
        throw;
      }
      throw std::runtime_error("it was taken");
    }
  });
}
