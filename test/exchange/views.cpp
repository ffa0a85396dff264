// SPDX-License-Identifier: BSL-1.0
// Views and displacements as arguments of the collectives, over threads, beside the same calls on vectors.
#include <catch2/catch.hpp>

#include <colligo/all_gatherv.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/batch.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/gather.hpp>
#include <colligo/neighbours.hpp>
#include <colligo/reduce.hpp>
#include <colligo/reduce_scatter.hpp>
#include <colligo/request.hpp>
#include <colligo/scan.hpp>
#include <colligo/scatter.hpp>
#include <colligo/sequence.hpp>
#include <colligo/transport/threads/threads.hpp>
#include <colligo/views.hpp>

#include <boost/multi_array.hpp>
#if __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#endif

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace colligo;

namespace {

/// A word of one letter for each element, so that a combination shows order and number of its operands.
std::string word(int rank, std::size_t i) { return {static_cast<char>('a' + rank), static_cast<char>('0' + i % 10)}; }
std::vector<std::string> words(int rank, std::size_t n) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(word(rank, i));
  return all;
}

std::string const untouched = "-";

/// n elements in a layout: two columns of a matrix of three, in reverse order, or every second one.
struct spread {
  std::size_t n;
  bool odd;
  std::vector<std::string> memory;

  spread(std::size_t size, bool columns) : n(size), odd(columns || size % 2 != 0), memory(3 * size + 3, untouched) {}
  spread(std::vector<std::string> const& values, bool columns) : spread(values.size(), columns) {
    for (std::size_t i = 0; i < n; ++i) at(i) = values[i];
  }
  strided_view<std::string, 2> view() {
    if (odd) return strided(memory.data() + 1, {n, 1}, {2, 1});
    return strided(memory.data() + 3 * n, {2, n / 2}, {-1, -4});
  }
  std::string& at(std::size_t i) {
    if (odd) return memory[1 + 2 * i];
    return memory[3 * n - i / (n / 2) - 4 * (i % (n / 2))];
  }
  std::vector<std::string> values() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(at(i));
    return all;
  }
  /// Elements beside the view that have changed.
  int spoilt() {
    for (std::size_t i = 0; i < n; ++i) at(i) = untouched;
    return static_cast<int>(std::count_if(memory.begin(), memory.end(), [](auto const& s) { return s != untouched; }));
  }
};

/// Makes one call as a persistent one, which is started twice. Blocking ones and requests are here where their text
/// is another one: each call takes the compiler a third of a second.
template <class Ready, class Check>
void twice(Ready ready, Check check) {
  auto kept = ready();
  for (int times = 0; times < 2; ++times) {
    kept.start(), kept.wait();
    check();
  }
}
#define TWICE(name, check, ...) twice([&] { return colligo::name##_init(__VA_ARGS__); }, check)
#define ONCE(name, check, ...) colligo::name(__VA_ARGS__), check()
#define IN_ALL_WAYS(name, check, ...) \
  ONCE(name, check, __VA_ARGS__);     \
  colligo::i##name(__VA_ARGS__).wait(), check(); \
  TWICE(name, check, __VA_ARGS__)

/// The vectors of all ranks, one after the other.
std::vector<std::string> joined_words(int p, std::size_t n) {
  std::vector<std::string> all;
  for (int r = 0; r < p; ++r)
    for (auto& w : words(r, n)) all.push_back(w);
  return all;
}

struct concatenation {
  std::string operator()(std::string const& a, std::string const& b) const { return a + b; }
};

template <class F>
void on_ranks(F f) {
  for (int p = 1; p <= 5; ++p) {
    std::atomic<int> wrong = 0;
    run_threads(p, [&](thread_communicator& comm) { wrong += f(comm); });
    INFO(p << " ranks");
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("collectives that combine take views, in and out, each its own") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    for (std::size_t const n : {0u, 1u, 6u, 7u}) {
      auto const mine = words(me, n);
      spread in(mine, me % 2 == 0), out(n, me % 3 == 0), from(mine, me % 3 == 1);
      std::vector<std::string> plain(n), all(n), before(n), own;
      for (std::size_t i = 0; i < n; ++i)
        for (int r = 0; r < p; ++r) {
          all[i] += word(r, i);
          if (r == me) before[i] = all[i];
        }
      auto const is = [&](std::vector<std::string> const& wanted) { return [&] {
        wrong += out.values() != wanted || out.spoilt() != 0 || in.values() != mine;
      }; };
      IN_ALL_WAYS(all_reduce, is(all), comm, in.view(), out.view(), concatenation{});
      ONCE(scan, is(before), comm, in.view(), out.view(), concatenation{});
      auto const plainly = [&] { wrong += plain != all, plain.assign(n, ""); };
      ONCE(all_reduce, plainly, comm, in.view(), plain, concatenation{});
      TWICE(all_reduce, is(all), comm, mine, out.view(), concatenation{});
      for (int root = 0; root < p; ++root) {
        own = me == root ? all : std::vector<std::string>(n, untouched);
        TWICE(reduce, is(own), comm, in.view(), out.view(), concatenation{}, root);
      }
      for (std::size_t i = 0; i < n; ++i) before[i] = "<" + (me == 0 ? "" : before[i].substr(0, before[i].size() - 2));
      TWICE(exclusive_scan, is(before), comm, in.view(), out.view(), std::string("<"), concatenation{});

      auto kept = all_reduce_init(comm, in_place(from.view()), concatenation{});
      all_reduce(comm, in_place(from.view()), concatenation{});
      wrong += from.values() != all;
      for (int times = 0; times < 2; ++times) {   // packed anew at each start
        for (std::size_t i = 0; i < n; ++i) from.at(i) = mine[i];
        kept.start(), kept.wait();
        wrong += from.values() != all || from.spoilt() != 0;
      }

      std::deque<std::string> const apart(mine.begin(), mine.end());
      TWICE(all_reduce, is(all), comm, apart, out.view(), concatenation{});
#if !defined(__clang__) || __clang_major__ >= 16   // clang++ before compiles no views of libstdc++
      auto const made = std::views::iota(std::size_t{0}, n) |
                        std::views::transform([me](std::size_t i) { return word(me, i); });
      ONCE(all_reduce, is(all), comm, made, out.view(), concatenation{});
      TWICE(all_reduce, is(all), comm, std::views::all(made), out.view(), concatenation{});
#endif
    }
    return wrong;
  });
}

TEST_CASE("collectives that move take views") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    auto const ranks = static_cast<std::size_t>(p);
    for (std::size_t const n : {0u, 1u, 4u}) {
      auto const mine = words(me, n), all = joined_words(p, n);
      std::vector<std::string> const other(n, untouched), others(ranks * n, untouched);
      spread in(mine, me % 2 == 0), out(ranks * n, me % 3 == 0), part(n, me % 2 == 1);
      auto const is = [&](spread& result, std::vector<std::string> const& wanted) { return [&] {
        wrong += result.values() != wanted || result.spoilt() != 0;
      }; };
      ONCE(all_gather, is(out, all), comm, in.view(), out.view());
      std::vector<std::size_t> const counts(ranks, n);
      TWICE(all_gatherv, is(out, all), comm, in.view(), out.view(), counts);
      std::vector<std::string> turned, to_all;
      for (int r = 0; r < p; ++r)
        for (std::size_t i = 0; i < n; ++i) {
          to_all.push_back(word(me, i) + word(r, i));
          turned.push_back(word(r, i) + word(me, i));
        }
      spread blocks(to_all, me % 2 == 1);
      ONCE(all_to_all, is(out, turned), comm, blocks.view(), out.view());
      TWICE(all_to_all_v, is(out, turned), comm, blocks.view(), counts, out.view(), counts);
      std::vector<std::string> mixed;
      for (std::size_t i = 0; i < n; ++i) {
        mixed.emplace_back();
        for (int r = 0; r < p; ++r) mixed.back() += word(r, i) + word(me, i);
      }
      TWICE(reduce_scatter, is(part, mixed), comm, blocks.view(), part.view(), counts, concatenation{});
      ONCE(reduce_scatter_block, is(part, mixed), comm, blocks.view(), part.view(), concatenation{});
      for (int root = 0; root < p; ++root) {
        bool const here = me == root;
        TWICE(gather, is(out, here ? all : others), comm, in.view(), out.view(), root);
        ONCE(gatherv, is(out, here ? all : others), comm, in.view(), out.view(), counts, root);
        spread source(all, me % 2 == 0);
        if (!here) source = spread(0, true);   // not read
        ONCE(scatter, is(part, mine), comm, source.view(), part.view(), root);
        TWICE(scatterv, is(part, mine), comm, source.view(), counts, part.view(), root);
        auto const roots = words(root, n);
        auto const sent = [&] {
          wrong += part.values() != roots || part.spoilt() != 0;
          for (std::size_t i = 0; here && i < n; ++i) part.at(i) = roots[i];
        };
        for (std::size_t i = 0; here && i < n; ++i) part.at(i) = roots[i];
        IN_ALL_WAYS(broadcast, sent, comm, part.view(), root);
        part.spoilt();
        spread both(here ? all : other, me % 2 == 0);
        scatter(comm, in_place(both.view()), root);
        wrong += both.values() != (here ? all : mine);
      }
    }
    return wrong;
  });
}

TEST_CASE("views in place of calls on blocks, and parts within their view") {
  on_ranks([](thread_communicator& comm) {
    int const me = comm.rank();
    auto const p = static_cast<std::size_t>(comm.size());
    std::vector<std::string> mine, theirs, all(p);
    for (std::size_t r = 0; r < p; ++r) {
      mine.push_back(word(me, r)), theirs.push_back(word(static_cast<int>(r), static_cast<std::size_t>(me)));
      all[r] = word(static_cast<int>(r), 0);
    }
    spread blocks(mine, me % 2 == 0), own(p, me % 2 == 1), counted(mine, true);
    own.at(static_cast<std::size_t>(me)) = word(me, 0);
    all_to_all(comm, in_place(blocks.view()));
    all_gather(comm, in_place(own.view()));
    all_to_all_v(comm, in_place(counted.view()), std::vector<std::size_t>(p, 1));
    return int{blocks.values() != theirs} + int{own.values() != all} + int{counted.values() != theirs};
  });
  std::array<int, 24> numbers{};
  auto const whole = strided(numbers.data(), {6, 4}, {4, 1});
  CHECK_THROWS_WITH(whole.part({5, 0}, {3, 2}),
                    "colligo: a part of 3 elements from 5 on, along axis 0 of 6");
  CHECK_NOTHROW(whole.part({5, 2}, {1, 2}));
}

TEST_CASE("what a call leaves as it is stays in a view, and a start value may be an element of the output") {
  on_ranks([](thread_communicator& comm) {
    int const me = comm.rank(), last = comm.size() - 1;
    std::vector<int> const sources(me == 0 ? 0u : 1u, me - 1), targets(me == last ? 0u : 1u, me + 1);
    neighbours const chain(comm, sources, targets);   // rank 0 has no source
    int wrong = 0;
    for (int times = 0; times < 2; ++times) {
      spread in(words(me, 4), true);
      spread out(words(8, 4), false);
      colligo::reduce(chain, in.view(), out.view(), concatenation{});
      wrong += out.values() != words(me == 0 ? 8 : me - 1, 4);
      std::vector<std::size_t> const counts(targets.size(), 4);
      colligo::reduce_v(chain, words(me, 4 * counts.size()), counts, out.view(), concatenation{});
      wrong += out.values() != words(me == 0 ? 8 : me - 1, 4);

      std::vector<std::string> before(4, "s"), same = before;
      colligo::exclusive_scan(comm, in.view(), before, before[0], concatenation{});
      colligo::exclusive_scan(comm, words(me, 4), same, std::string("s"), concatenation{});
      wrong += before != same;
    }
    return wrong;
  });
}

TEST_CASE("calls over neighbours take views") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    // To the two ranks above, from the two below; twice the same where there are fewer.
    std::vector<int> const targets{(me + 1) % p, (me + 2) % p}, sources{(me + p - 1) % p, (me + 2 * p - 2) % p};
    neighbours const graph(comm, sources, targets);
    std::vector<int> const ascending{std::min(sources[0], sources[1]), std::max(sources[0], sources[1])};
    for (std::size_t const n : {0u, 1u, 4u}) {
      auto const mine = words(me, n);
      std::vector<std::string> all, to_two, from_two, of_one(n), of_blocks(n);
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t i = 0; i < n; ++i) {
          all.push_back(word(sources[k], i));
          to_two.push_back(word(me, i) + word(targets[k], i));
          from_two.push_back(word(sources[k], i) + word(me, i));
          of_one[i] += word(ascending[k], i);
          of_blocks[i] += word(ascending[k], i) + word(me, i);
        }
      spread in(mine, me % 2 == 0), blocks(to_two, me % 2 == 1), out(2 * n, me % 3 == 0), part(n, me % 3 == 1);
      std::vector<std::size_t> const counts(2, n);
      auto const is = [&](spread& result, std::vector<std::string> const& wanted) { return [&] {
        wrong += result.values() != wanted || result.spoilt() != 0;
      }; };
      IN_ALL_WAYS(all_gather, is(out, all), graph, in.view(), out.view());
      TWICE(all_to_all, is(out, from_two), graph, blocks.view(), out.view());
      std::deque<std::string> const apart(to_two.begin(), to_two.end());
      IN_ALL_WAYS(all_to_all_v, is(out, from_two), graph, apart, counts, out.view(), counts);
      IN_ALL_WAYS(reduce, is(part, of_one), graph, in.view(), part.view(), concatenation{});
      TWICE(reduce_v, is(part, of_blocks), graph, blocks.view(), counts, part.view(), concatenation{});
      std::vector<std::string> resized;
      all_gather(graph, in.view(), resized);
      wrong += resized != all;

      auto kept = all_gather_init(graph, in.view(), out.view());
      for (int times = 0; times < 2 && n != 0; ++times) {   // packed anew at each start
        in.at(0) = "x" + word(me, 0);
        kept.start(), kept.wait();
        wrong += out.at(0) != "x" + word(sources[0], 0) || out.at(n) != "x" + word(sources[1], 0);
        in.at(0) = mine[0];
        kept.start(), kept.wait();
        is(out, all)();
      }
    }
    return wrong;
  });
}

TEST_CASE("calls that return what they get take views and ranges that lie apart") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    std::vector<std::size_t> counts;
    std::vector<std::string> all, turned;
    std::deque<std::string> to_all;
    for (int r = 0; r < p; ++r) {
      counts.push_back(static_cast<std::size_t>(r));
      for (auto const& w : words(r, counts.back())) all.push_back(w), to_all.push_back(word(me, 0) + w);
      for (auto const& w : words(me, static_cast<std::size_t>(me))) turned.push_back(word(r, 0) + w);
    }
    spread in(words(me, static_cast<std::size_t>(me)), me % 3 == 0);
    auto const everywhere = all_gatherv(comm, in.view());
    wrong += everywhere.data != all || everywhere.counts != counts;
    auto const there = gatherv(comm, in.view(), p - 1);
    wrong += there.data != (me == p - 1 ? all : std::vector<std::string>()) || there.counts != counts;
    auto const got = all_to_all_v(comm, to_all, counts);
    wrong += got.data != turned || got.counts != std::vector(counts.size(), static_cast<std::size_t>(me));
    return wrong;
  });
}

TEST_CASE("messages to some ranks are views and ranges that lie apart") {
  on_ranks([](thread_communicator& comm) {
    int const p = comm.size(), me = comm.rank(), before = (me + p - 1) % p;
    spread first(words(me, 5), true), second(words(me, 4), false), empty(0, true);
    std::vector const out{std::pair((me + 1) % p, first.view()), std::pair((me + 1) % p, empty.view()),
                          std::pair((me + 1) % p, second.view())};
    auto wanted = words(before, 5);
    for (auto const& w : words(before, 4)) wanted.push_back(w);
    int wrong = sparse_all_to_all(comm, out).data != wanted;
    auto pending = isparse_all_to_all(comm, out);
#if !defined(__clang__) || __clang_major__ >= 16   // as above
    // Each message is made when the range is read, and gone afterwards.
    auto const made = std::views::iota(0, 2) | std::views::transform([me, p](int k) {
                        return std::pair(k == 0 ? (me + 1) % p : me, words(me, 4));
                      });
    auto of_both = words(std::min(before, me), 4);
    for (auto const& w : words(std::max(before, me), 4)) of_both.push_back(w);
    wrong += sparse_all_to_all(comm, made).data != of_both;
#endif
    auto const last = words(me, 3);
    std::deque<std::string> const joined(last.begin(), last.end());
    std::vector<int> const targets{me}, counts{3};
    wrong += sparse_all_to_all(comm, targets, counts, joined).data != last;
    return wrong + (pending.wait().data != wanted);
  });
}

TEST_CASE("calls of a batch take views and ranges that lie apart") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    std::vector<double> in(24), out(40, -1);
    std::vector<int> both(21, 1), most(6), plain(7, -1);
    std::deque<int> apart(6);
    batch calls(comm);
    calls.all_reduce(strided(in.data(), {2, 6}, {1, 4}), strided(out.data() + 39, 12, -3), std::plus<>{});
    auto const one = calls.all_reduce(me, maximum{});
    calls.all_reduce(in_place(strided(both.data(), 7, 3)), [](auto a, auto b) { return a + b; });   // on elements alone
    calls.all_reduce(apart, most, maximum{});
    calls.all_reduce(plain, strided(both.data() + 1, 7, 3), std::plus<>{});
    auto kept = calls.run_init();
    for (int times = 1; times < 3; ++times) {   // packed at each start
      for (int i = 0; i < 24; ++i) in[static_cast<std::size_t>(i)] = times * i * (me + 1);
      for (int i = 0; i < 6; ++i) apart[static_cast<std::size_t>(i)] = times * i + me;
      for (int i = 0; i < 21; i += 3) both[static_cast<std::size_t>(i)] = times * i;
      kept.start(), kept.wait();
      wrong += *one != p - 1;
      for (int i = 0; i < 40; ++i) {
        int const k = (39 - i) / 3, index = k / 6 + k % 6 * 4;
        wrong += out[static_cast<std::size_t>(i)] != ((39 - i) % 3 || k > 11 ? -1 : times * index * p * (p + 1) / 2);
      }
      for (int i = 0; i < 6; ++i) wrong += most[static_cast<std::size_t>(i)] != times * i + p - 1;
      for (int i = 0; i < 21; ++i)
        wrong += both[static_cast<std::size_t>(i)] != (i % 3 == 0 ? p * times * i : i % 3 == 1 ? -p : 1);
    }
    return wrong;
  });
  std::string said;
  auto const said_of = [&](auto... ranges) {
    run_threads(1, [&](thread_communicator& comm) {
      batch calls(comm);
      CHECK_THROWS_AS([&] {
        try {
          calls.all_reduce(ranges..., std::plus<>{});
        } catch (argument_error const& e) {
          said = e.what();
          throw;
        }
      }(), argument_error);
    });
    return said.substr(said.rfind(": ") + 2);
  };
  std::array<int, 20> memory{};
  int* const m = memory.data();
  CHECK(said_of(strided(m, 4, 2), strided(m + 10, 5, 2)) == "the output has 5 elements, expected 4");
  CHECK(said_of(strided(m, 4, 2), strided(m + 2, 4, 3)) == "input and output overlap");
  CHECK(said_of(strided(m, 4, 2), strided(m + 10, 4, 0)) ==
        "elements of the output overlap along axis 0, whose stride is 0");
  CHECK(said_of(in_place(strided(m, -1, 2))) == "the extent of axis 0 is -1");
}

TEST_CASE("sequences are views and ranges that lie apart") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    std::vector<int> matrix(60);   // 12 rows of 5
    auto const column = strided(matrix.data() + 1, 12, 5);
    std::deque<int> const apart{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    std::int64_t total = 0, product = 0, of_deque = 0, whole = 0;
    int largest = 0;
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < 12; ++i) {
        int const x = i * (r + 1);
        total += x, product += x * apart[static_cast<std::size_t>(i)], of_deque += apart[static_cast<std::size_t>(i)];
        whole += 5 * x, largest = std::max(largest, x);
      }
    for (int i = 0; i < 60; ++i) matrix[static_cast<std::size_t>(i)] = i / 5 * (me + 1);
    wrong += sum(comm, column) != total || sum(comm, apart) != of_deque || dot(comm, column, apart) != product;
    wrong += accumulate(comm, column, std::plus<>{}) != total;
    wrong += maximum_of(comm, column) != located<int>{largest, 12 * p - 1};
    wrong += extremes(comm, column).first != located<int>{0, 0};
    for (int const k : {2, 5000}) {   // of the longer list ranks exchange their lengths first
      auto const best = top(comm, column, k);
      wrong += best[0] != located<int>{largest, 12 * p - 1} || best[1].value != 10 * p;
    }
    auto const three = sums(comm, column, factors(column, apart), matrix);
    wrong += three != std::array{total, product, whole};

    std::array<std::int64_t, 3> later{};
    std::int64_t again = 0;
    int accumulated = 0;
    auto both = sums_init(comm, apart, factors(column, apart), column, later);
    auto kept = dot_init(comm, column, apart, again);
    for (int times = 1; times < 3; ++times) {   // packed at each start
      both.start(), kept.start();
      both.wait(), kept.wait();
      wrong += later != std::array{of_deque, times * product, times * total} || again != times * product;
      iaccumulate(comm, column, std::plus<>{}, accumulated).wait();
      wrong += accumulated != times * total;
      for (int& x : matrix) x *= 2;
    }
    std::vector<double> halves(24, 0.5);
    halves[1] = 1e9;
    wrong += norm2(comm, strided(halves.data(), 4, 6)) != std::sqrt(p);
    wrong += mean_and_variance(comm, strided(halves.data(), 12, 2)) != moments{12 * p, 0.5, 0, 0};
    return wrong;
  });
}

namespace {

/// The parts of the reference implementation of std::mdspan that are looked at.
template <class T>
struct spanned {
  struct extents_type { std::array<int, 2> n; int extent(std::size_t d) const { return n[d]; } };
  struct mapping_type { std::array<int, 2> s; int stride(std::size_t d) const { return s[d]; } };
  static constexpr std::size_t rank() { return 2; }
  T* data_handle() const { return first; }
  extents_type extents() const { return all; }
  mapping_type mapping() const { return places; }
  T* first;
  extents_type all;
  mapping_type places;
};
/// Of Kokkos::View.
template <class T>
struct viewed {
  static constexpr unsigned rank = 1;
  T* data() const { return first; }
  std::size_t extent(std::size_t) const { return n; }
  std::size_t stride(std::size_t) const { return step; }
  T* first;
  std::size_t n, step;
};

}  // namespace

TEST_CASE("views of other libraries, by their members") {
  on_ranks([](thread_communicator& comm) {
    std::vector<int> in(40), out(40, -1);
    for (int i = 0; i < 40; ++i) in[static_cast<std::size_t>(i)] = i * (comm.rank() + 1);
    int const times = comm.size() * (comm.size() + 1) / 2;
    all_reduce(comm, spanned<int const>{in.data(), {{3, 5}}, {{1, 8}}}, viewed<int>{out.data(), 15, 2}, std::plus<>{});
    int wrong = 0;
    for (int i = 0; i < 40; ++i) {
      int const k = i / 2;
      wrong += out[static_cast<std::size_t>(i)] != (i % 2 == 1 || k >= 15 ? -1 : times * (k / 5 + k % 5 * 8));
    }
    auto const generic = [](auto a, auto b) { return a + b; };   // is not tried on the views themselves
    spanned<int> const both{in.data(), {{4, 2}}, {{2, 20}}};
    all_reduce(comm, in_place(both), generic);
    for (int i = 0; i < 40; ++i)
      wrong += in[static_cast<std::size_t>(i)] != i * (i % 20 < 8 && i % 2 == 0 ? times : comm.rank() + 1);
    return wrong;
  });
}

TEST_CASE("Boost's arrays, and Eigen's matrices and blocks") {
  on_ranks([](thread_communicator& comm) {
    int const times = comm.size();
    int wrong = 0;
    using range = boost::multi_array_types::index_range;
    using extent = boost::multi_array_types::extent_range;
    boost::multi_array<int, 3> cube(boost::extents[3][4][extent(1, 6)], boost::fortran_storage_order());
    for (int i = 0; i < 60; ++i) cube.data()[i] = i;
    std::vector<int> all(60), face(12);
    all_reduce(comm, std::as_const(cube), all, std::plus<>{});
    auto next = all.begin();
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 4; ++y)
        for (int z = 1; z < 6; ++z) wrong += *next++ != times * cube[x][y][z];
    auto part = cube[boost::indices[range()][range()][3]];
    all_reduce(comm, part, face, std::plus<>{});
    all_reduce(comm, in_place(part), std::plus<>{});
    for (int k = 0; k < 12; ++k)
      wrong += face[static_cast<std::size_t>(k)] != part[k / 4][k % 4] ||
               part[k / 4][k % 4] != times * (k / 4 + k % 4 * 3 + 24);
#if !defined(__clang__) || __clang_major__ >= 16   // as above
    auto const made = std::views::iota(0, comm.size()) | std::views::transform([](int to) {
                        boost::multi_array<int, 2> of_rank(boost::extents[2][3]);
                        std::fill_n(of_rank.data(), 6, to);
                        return std::pair(to, of_rank);
                      });
    wrong += sparse_all_to_all(comm, made).data !=
             std::vector<int>(6 * static_cast<std::size_t>(comm.size()), comm.rank());
#endif
#if defined(EIGEN_WORLD_VERSION)
    Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic> m(5, 6), sums(2, 3);   // column by column
    for (int i = 0; i < 30; ++i) m(i / 6, i % 6) = i;
    all_reduce(comm, m.block(1, 2, 2, 3), sums, std::plus<>{});
    for (int i = 0; i < 6; ++i) wrong += sums(i / 3, i % 3) != times * m(1 + i / 3, 2 + i % 3);
    broadcast(comm, m.row(3), 0);
    Eigen::Matrix<int, 6, 1> gathered;
    scan(comm, m.row(3), gathered, std::plus<>{});
    for (int i = 0; i < 6; ++i) wrong += gathered(i) != (comm.rank() + 1) * m(3, i);
#endif
    return wrong;
  });
}

TEST_CASE("blocks at displacements, in all ways") {
  on_ranks([](thread_communicator& comm) {
    int wrong = 0;
    int const p = comm.size(), me = comm.rank();
    for (int const gap : {-1, 0, 2}) {   // -1: the last rank's block first
      std::vector<int> counts, displs(static_cast<std::size_t>(p)), out_counts, out_displs;
      int end = gap == 0 ? 1 : 0;   // blocks that follow one another, behind an element
      std::vector<std::string> all, apart(static_cast<std::size_t>(end), untouched);
      for (int k = 0; k < p; ++k) {
        int const r = gap < 0 ? p - 1 - k : k;
        displs[static_cast<std::size_t>(r)] = end;
        auto const theirs = words(r, static_cast<std::size_t>(r + 1));
        apart.insert(apart.end(), theirs.begin(), theirs.end());
        if (gap > 0 && k + 1 < p) apart.insert(apart.end(), 2, untouched);
        end += r + 1 + (gap > 0 ? gap : 0);
      }
      for (int r = 0; r < p; ++r) counts.push_back(r + 1);
      auto const mine = words(me, static_cast<std::size_t>(me + 1));
      std::vector<std::string> out(apart.size(), untouched);
      auto const is = [&](bool here) { return [&, here] {
        wrong += here ? out != apart : out != std::vector<std::string>(apart.size(), untouched);
        out.assign(apart.size(), untouched);
      }; };
      IN_ALL_WAYS(all_gatherv, is(true), comm, mine, out, counts, displs);
      ONCE(all_gatherv, is(true), comm, mine, out.data(), counts, displs);
      spread apart_too(mine, me % 2 == 0), to(apart.size(), me % 3 == 0), of_all(apart, me % 2 == 1);
      ONCE(all_gatherv, is(true), comm, apart_too.view(), out.data(), counts, displs);
      auto const in_view = [&](bool here) { return [&, here] {   // gaps are as they were
        wrong += to.values() != (here ? apart : std::vector<std::string>(apart.size(), untouched)) || to.spoilt() != 0;
      }; };
      ONCE(all_gatherv, in_view(true), comm, mine, to.view(), counts, displs);
      TWICE(all_gatherv, in_view(true), comm, apart_too.view(), to.view(), counts, displs);
      for (int root = 0; root < p; ++root) {
        TWICE(gatherv, is(me == root), comm, mine, out, counts, displs, root);
        std::vector<std::string> part(mine.size());
        auto const scattered = [&] { wrong += part != mine, part.assign(mine.size(), ""); };
        TWICE(scatterv, scattered, comm, apart, counts, displs, part, root);
        TWICE(gatherv, in_view(me == root), comm, mine, to.view(), counts, displs, root);
        ONCE(scatterv, scattered, comm, of_all.view(), counts, displs, part, root);
        std::deque<std::string> const source(apart.begin(), me == root ? apart.end() : apart.begin());
        spread own(mine.size(), me % 2 == 0);
        auto const scattered_apart = [&] { wrong += own.values() != mine || own.spoilt() != 0; };
        TWICE(scatterv, scattered_apart, comm, source, counts, displs, own.view(), root);
        gatherv(comm, mine, out.data(), counts, displs, root);
        is(me == root)();
        gatherv(comm, apart_too.view(), out.data(), counts, displs, root);
        is(me == root)();
        scatterv(comm, apart.data(), counts, displs, part.data(), part.size(), root);
        scattered();
      }
      // Rank s has r + 1 elements for rank r, and gets s + 1 from it, if the gaps are those of the lists.
      std::vector<std::string> sent(apart.size(), untouched), wanted;
      std::vector<int> places(static_cast<std::size_t>(p)), lengths(static_cast<std::size_t>(p), me + 1);
      for (int r = 0; r < p; ++r) {
        auto const at = static_cast<std::size_t>(displs[static_cast<std::size_t>(r)]);
        for (std::size_t i = 0; i <= static_cast<std::size_t>(r); ++i) sent[at + i] = word(me, i) + word(r, i);
        places[static_cast<std::size_t>(r)] = r * (me + 1 + (gap > 0 ? gap : 0));
        for (std::size_t i = 0; i <= static_cast<std::size_t>(me); ++i) wanted.push_back(word(r, i) + word(me, i));
        if (gap > 0 && r + 1 < p) wanted.insert(wanted.end(), 2, untouched);
      }
      std::vector<std::string> got(wanted.size(), untouched);
      auto const exchanged = [&] { wrong += got != wanted, got.assign(wanted.size(), untouched); };
      IN_ALL_WAYS(all_to_all_v, exchanged, comm, sent, counts, displs, got, lengths, places);
      spread sent_apart(sent, me % 2 == 0), got_apart(wanted.size(), me % 3 == 0);
      auto const exchanged_apart = [&] { wrong += got_apart.values() != wanted || got_apart.spoilt() != 0; };
      TWICE(all_to_all_v, exchanged_apart, comm, sent_apart.view(), counts, displs, got_apart.view(), lengths, places);
      TWICE(all_to_all_v, exchanged, comm, sent.data(), counts, displs, got.data(), lengths, places);
      got.clear();
      all_to_all_v(comm, sent, counts, displs, got, lengths, places);
      for (auto& w : got) w = w.empty() ? untouched : w;   // the gaps are new elements
      exchanged();
    }
    return wrong;
  });
}

TEST_CASE("blocks of a view are its elements in their order") {
  std::array<int, 120> memory{};
  auto const cube = strided(memory.data() + 119, {3, 4, 5}, {-1, -30, -6});   // of 4, 5, 6, some turned round
  std::vector<int> all;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 5; ++k) all.push_back(119 - i - 30 * j - 6 * k);
  for (int m = 0; m < 120; ++m) memory[static_cast<std::size_t>(m)] = m;
  detail::strided_layout<int, 3> const whole{cube};
  int wrong = 0;
  for (std::ptrdiff_t at = 0; at <= 60; ++at)
    for (std::ptrdiff_t n = 0; n <= 60 - at; ++n) {
      std::vector<int> packed(static_cast<std::size_t>(n));
      whole.pack(packed.data(), at, packed.size());
      wrong += !std::equal(packed.begin(), packed.end(), all.begin() + at);
      for (int& x : packed) x = -x;
      whole.unpack(packed.data(), at, packed.size());
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        int& x = memory[static_cast<std::size_t>(all[static_cast<std::size_t>(at + i)])];
        x = -x;
      }
      wrong += !std::is_sorted(memory.begin(), memory.end()) || memory[0] != 0;
    }
  CHECK(wrong == 0);
}

// Its copies throw on demand, as those of elements with memory of their own may.
struct fragile {
  static inline thread_local bool throws = false;
  int value = 0;
  fragile() = default;
  fragile(fragile const& other) { *this = other; }
  fragile& operator=(fragile const& other) {
    if (throws) throw std::runtime_error("this copy throws");
    value = other.value;
    return *this;
  }
};

TEST_CASE("a start whose packing throws fails on all ranks, and the next one is right") {
  std::atomic<int> threw = 0, told = 0, wrong = 0;
  run_threads(3, [&](thread_communicator& comm) {
    std::vector<fragile> in(8), out(12);
    for (auto& x : in) x.value = comm.rank();
    auto again = all_gather_init(comm, strided(in.data(), 4, 2), out);
    for (int time = 0; time < 3; ++time) {
      try {
        fragile::throws = time == 1 && comm.rank() == 1;
        again.start();
        again.wait();
        for (int i = 0; i < 12; ++i) wrong += out[static_cast<std::size_t>(i)].value != i / 4;
      } catch (failed_elsewhere const& e) {
        told += comm.rank() != 1 && std::string(e.what()).ends_with("rank 1 has abandoned the call: this copy throws");
      } catch (std::runtime_error const& e) {
        threw += comm.rank() == 1 && e.what() == std::string("this copy throws");
      }
      fragile::throws = false;
    }
  });
  CHECK(threw == 1);
  CHECK(told == 2);
  CHECK(wrong == 0);
}

TEST_CASE("a rank's views that can not be are refused on all ranks") {
  auto const refusal_of = [](auto call) {
    std::string said;
    CHECK_THROWS_AS(run_threads(2, [&](thread_communicator& comm) {
      std::vector<int> m(100), in(12), out(12);
      try {
        if (comm.rank() == 1) call(comm, m.data());
        else all_reduce(comm, in, out, std::plus<>{});
      } catch (argument_error const& e) {
        said = e.what();
        throw;
      }
    }), error);
    return said;
  };
  std::string const where = "colligo: all_reduce on rank 1 of 2: ";
  std::string const overlap = where + "input and output overlap";
  CHECK(refusal_of([](auto& comm, int* m) {
          all_reduce(comm, strided(m + 50, 12, 2), strided(m, {3, 4}, {4, 0}), std::plus<>{});
        }) == where + "elements of the output overlap along axis 1, whose stride is 0");
  CHECK(refusal_of([](auto& comm, int* m) { all_reduce(comm, in_place(strided(m, 12, 0)), std::plus<>{}); }) ==
        where + "elements of the output overlap along axis 0, whose stride is 0");
  CHECK(refusal_of([](auto& comm, int* m) {
          all_reduce(comm, strided(m, 12, 2), strided(m + 21, {3, 4}, {-9, -1}), std::plus<>{});
        }) == overlap);
  CHECK(refusal_of([](auto& comm, int* m) {
          all_reduce(comm, std::span<int const>(m + 8, 12), strided(m, 12, 8), std::plus<>{});
        }) == overlap);
  CHECK(refusal_of([](auto& comm, int* m) {
          all_reduce(comm, strided(m, 11, 2), strided(m + 1, 12, 2), std::plus<>{});
        }) == where + "the output has 12 elements, expected 11");
  CHECK(refusal_of([](auto& comm, int* m) {
          all_reduce(comm, strided(m, 12, 2), strided(m, 12, 2), std::plus<>{});
        }) == overlap + "; for one range that is both write in_place(range)");
  CHECK(refusal_of([](auto& comm, int* m) {
          all_reduce(comm, strided(m, 12, 2), strided(m, 10, 2), std::plus<>{});
        }) == where + "the output has 10 elements, expected 12");
  CHECK(refusal_of([](auto& comm, int* m) {   // axes that interleave: its elements are m[0, 2, 3, 4, 5, 7]
          all_reduce(comm, strided(m + 4, 6, 12), strided(m, {3, 2}, {2, 3}), std::plus<>{});
        }) == overlap);
  CHECK(refusal_of([](auto& comm, int* m) { all_reduce(comm, strided(m, -1, 2), strided(m, 12, 2), std::plus<>{}); }) ==
        where + "the extent of axis 0 is -1");
  auto const blocks_at = [&](std::vector<int> const& displs, std::ptrdiff_t stride) {
    return refusal_of([&](auto& comm, int* m) {
      std::vector<int> const mine(2), counts{2, 2};
      all_gatherv(comm, mine, strided(m, 5, stride), counts, displs);
    });
  };
  std::string const at_displacements = "colligo: all_gatherv on rank 1 of 2: ";
  CHECK(blocks_at({0, 4}, 3) == at_displacements + "the output has 5 elements, expected 6");
  CHECK(blocks_at({-1, 3}, 3) == at_displacements + "a block begins at the displacement -1, before the output");
  CHECK(blocks_at({3, 0}, 0) == at_displacements + "elements of the output overlap along axis 0, whose stride is 0");
  CHECK(strided(static_cast<int*>(nullptr), {4, 0}, {0, 1}).overlapping_axis() == 2);   // it has no elements
  std::string over_graph;
  CHECK_THROWS_AS(run_threads(2, [&](thread_communicator& comm) {
    std::vector<int> const other{1 - comm.rank()};
    neighbours const pair(comm, other, other);
    std::vector<int> m(30);
    try {
      all_gather(pair, strided(m.data(), 5, 2), strided(m.data() + 20, 5, comm.rank() == 1 ? 0 : 2));
    } catch (argument_error const& e) {
      over_graph = e.what();
      throw;
    }
  }), error);
  CHECK(over_graph == "colligo: all_gather over neighbours on rank 1 of 2: elements of the output overlap along axis "
                      "0, whose stride is 0");
}

TEST_CASE("views that lie in one another without a common element") {
  on_ranks([](thread_communicator& comm) {
    std::vector<int> m(120);
    for (int i = 0; i < 120; ++i) m[static_cast<std::size_t>(i)] = i;
    int wrong = 0;
    all_reduce(comm, strided(m.data(), 12, 10), strided(m.data() + 1, 12, 10), maximum{});   // columns
    all_reduce(comm, strided(m.data() + 2, {12, 2}, {10, 1}), strided(m.data() + 5, {12, 2}, {10, 1}), maximum{});
    for (int i = 0; i < 120; ++i) {
      int const column = i % 10;
      wrong += m[static_cast<std::size_t>(i)] != (column == 1 ? i - 1 : column == 5 || column == 6 ? i - 3 : i);
    }
    return wrong;
  });
}
