// SPDX-License-Identifier: BSL-1.0
// What is kept of irregular calls: the choice, as long as the counts are the same, and the plan, for some counts.
#include <catch2/catch.hpp>

#include <colligo/bytes.hpp>
#include <colligo/colligo.hpp>
#include <colligo/explain.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../thorough.hpp"

using namespace colligo;

namespace {

std::atomic<int> runs_on_rank_0 = 0;

// pipelined_circulant, which has pairs, lists, copies and merges, and says how often it is asked.
struct counted {
  static constexpr std::string_view name = "counted";
  std::size_t block = 16;
  static constexpr std::array knobs{knob<counted>{"block", &counted::block}};

  template <class Policy>
  struct of : Policy {
    template <steps Step>
    void operator()(Step& step, blocks const& of_rank) const {
      if (step.rank() == 0) ++runs_on_rank_0;
      Policy::operator()(step, of_rank);
    }
  };
  template <class T>
  struct all_gatherv {
    counted const& knob;
    own_work work(blocks const&, std::size_t) const { return {0, 0, 1}; }
    std::size_t scratch(blocks const& of_rank, std::size_t size) const {
      pipelined_circulant const plain{.block = knob.block};
      return pipelined_circulant::all_gatherv<T>{plain}.scratch(of_rank, size);
    }
    template <steps Step>
    void operator()(Step& step, blocks const& of_rank) const {
      pipelined_circulant const plain{.block = knob.block};
      of<pipelined_circulant::all_gatherv<T>>{plain}(step, of_rank);
    }
  };
  template <class T, class Op>
  struct reduce_scatter {
    static constexpr bool ordered = false;
    counted const& knob;
    own_work work(blocks const&, std::size_t) const { return {0, 0, 1}; }
    std::size_t scratch(blocks const& of_rank, std::size_t size) const {
      pipelined_circulant const plain{.block = knob.block};
      return pipelined_circulant::reduce_scatter<T, Op>{plain}.scratch(of_rank, size);
    }
    template <steps Step>
    void operator()(Step& step, blocks const& of_rank) const {
      pipelined_circulant const plain{.block = knob.block};
      of<pipelined_circulant::reduce_scatter<T, Op>>{plain}(step, of_rank);
    }
  };
};

void expect(bool holds, std::string const& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Both collectives, whose results are what they should be.
void call(thread_communicator& comm, std::vector<int> const& counts, counted const& by) {
  auto const me = static_cast<std::size_t>(comm.rank());
  auto const n = static_cast<std::size_t>(std::reduce(counts.begin(), counts.end()));
  std::vector<int> const mine(static_cast<std::size_t>(counts[me]), comm.rank());
  std::vector<int> all(n), expected, sums(mine.size());
  for (std::size_t r = 0; r < counts.size(); ++r)
    expected.insert(expected.end(), static_cast<std::size_t>(counts[r]), static_cast<int>(r));
  all_gatherv(comm, mine, all, counts, by);
  expect(all == expected, "all_gatherv");
  reduce_scatter(comm, all, sums, counts, std::plus<>{}, by);
  expect(sums == std::vector(sums.size(), comm.rank() * comm.size()), "reduce_scatter");
}

}  // namespace

TEST_CASE("an irregular call that comes again is not worked out again, unless anything about it is different") {
  runs_on_rank_0 = 0;
  run_threads(5, [](thread_communicator& comm) {
    auto const asks = [&](int times, std::vector<int> const& counts, std::size_t block = 16) {
      barrier(comm);
      int const before = runs_on_rank_0;
      barrier(comm);
      call(comm, counts, {block});
      barrier(comm);
      int const asked = runs_on_rank_0 - before;
      barrier(comm);
      expect(asked == times, "asked " + std::to_string(asked) + " times instead of " + std::to_string(times));
    };
    std::vector<int> const some{40, 3, 0, 7, 1}, others{3, 40, 0, 7, 1}, more{40, 3, 0, 7, 2};
    asks(2, some);
    asks(0, some);
    asks(2, others);   // as many in all
    asks(0, some);
    asks(0, others);
    asks(2, more);
    asks(2, some, 8);
    asks(0, some, 16);
    // Counts that never come again are asked of, and seldom kept: what is used meanwhile stays. Of a plan that is not
    // kept the memory that a reduce_scatter needs is asked for too.
    for (int i = 0; i < 12; ++i) asks(i < 8 ? 2 : 3, {40, i + 100, 0, 7, 1});
    for (int i = 0; i < 16; ++i) call(comm, {40, 100, 0, 8, 1}, {});
    asks(0, {40, 100, 0, 8, 1});
    asks(0, some);
    for (int i = 0; i < 80; ++i) call(comm, {400, i / 2, 0, 7, 1}, {});   // more than is kept
    asks(0, {400, 39, 0, 7, 1});
    asks(2, some);
    // Too long to be kept: asked for the memory that it needs, once, and by each call.
    if (tested::is_thorough()) {   // tens of thousands of messages
      asks(4, {18000, 0, 3, 0, 0}, 4);
      asks(2, {18000, 0, 3, 0, 0}, 4);
    }
    asks(0, some);
  });
}

TEST_CASE("automatic decides anew for other counts, though they be as many in all") {
  run_threads(7, [](thread_communicator& comm) {
    constexpr int n = 7 << 20;
    std::vector<int> const from_one{0, 0, 0, n, 0, 0, 0}, even(7, n / 7);
    std::vector<char> const in(n);
    std::vector<char> out(n);
    auto const takes = [&](std::vector<int> const& counts, std::string const& algorithm) {
      auto const mine = static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]);
      all_gatherv(comm, std::span(in).first(mine), out, counts);
      auto const took = latest_choice(comm, collective::all_gatherv);
      expect(took.starts_with(algorithm), took);
    };
    for (int again = 0; again < 2; ++again) {
      takes(from_one, "pipelined_circulant");
      takes(even, "circulant");
    }
    // Counts that are refused are no counts of a call, but others than those before.
    std::vector<int> wrong = even;
    wrong[0] = -1;
    takes(from_one, "pipelined_circulant");
    try {
      all_gatherv(comm, std::span(in).first(n / 7), out, wrong);
      expect(false, "a negative count is taken");
    } catch (argument_error const&) {
    }
    takes(even, "circulant");
    takes(from_one, "pipelined_circulant");
  });
}

TEST_CASE("counts are others in one vector than in two, though a rank has the same ones") {
  constexpr std::size_t n = 62500;   // in blocks whose number follows from the shortest one
  run_threads(4, [](thread_communicator& comm) {
    bool const first = comm.rank() == 0;
    std::vector<std::size_t> const counts{3 * n, n, n, n}, none(4);
    std::vector<std::size_t> from_each(4);
    from_each[0] = counts[static_cast<std::size_t>(comm.rank())];
    std::vector<double> const sent(first ? 6 * n : 0, 1);
    std::vector<double> mine(from_each[0]), all(6 * n);
    all_to_all_v(comm, sent, first ? counts : none, mine, from_each);
    all_gatherv(comm, mine, all, counts, pipelined_circulant{});
    expect(all == std::vector<double>(6 * n, 1), "all_gatherv");
    reduce_scatter(comm, all, mine, counts, std::plus<>{}, pipelined_circulant{});
    expect(mine == std::vector<double>(from_each[0], 4), "reduce_scatter");
  });
}

TEST_CASE("elements of one name are alike only if their functors keep the same laws") {
  auto const described = [](bool commutes, bool exact) {
    return registered_element(byte_element{
        .size = 8, .combine = [](void*, std::byte const*, std::byte const*, std::byte*, std::size_t) {},
        .commutative = commutes, .exact = exact});
  };
  detail::element const& one = described(true, true).combined();
  CHECK(one.is_like(described(true, true).combined()));
  CHECK_FALSE(one.is_like(described(true, false).combined()));
  CHECK_FALSE(one.is_like(described(false, true).combined()));
}

TEST_CASE("elements are aligned where they are combined, also in a call that comes again") {
  static std::atomic<int> combined, wrong;
  combined = wrong = 0;
  for (std::size_t const alignment : {16u, 32u, 64u}) {
    registered_element const element(byte_element{
        .size = alignment, .alignment = alignment,
        .combine =
            [](void* wanted, std::byte const* left, std::byte const* right, std::byte* into, std::size_t elements) {
              for (std::byte const* const at : {left, right, static_cast<std::byte const*>(into)})
                wrong += reinterpret_cast<std::uintptr_t>(at) % *static_cast<std::size_t*>(wanted) != 0;
              ++combined;
              std::memmove(into, left, elements * *static_cast<std::size_t*>(wanted));
            },
        .context = const_cast<std::size_t*>(&alignment), .commutative = true});
    run_threads(3, [&](thread_communicator& comm) {
      alignas(64) std::byte in[3 * 64]{}, out[3 * 64];
      for (char const* const by :
           {"direct", "recursive_doubling", "binary_tree", "halving_doubling", "ring", "automatic"})
        for (std::ptrdiff_t const n : {1, 3}) {
          auto again = byte_calls_init(comm).all_reduce(in, out, n, element, by);
          for (int i = 0; i < 4; ++i) {
            byte_calls(comm).all_reduce(in, out, n, element, by);
            again.start(), again.wait();
            byte_calls(comm).reduce_scatter_block(in_place_bytes, in, 1, element);   // from memory of its own
          }
        }
    });
  }
  CHECK(combined > 0);
  CHECK(wrong == 0);
}

TEST_CASE("what has been decided of late is not decided again when it comes again") {
  constexpr collective C = collective::all_gatherv;
  static int decisions = 0;
  static detail::policy_table const counting = [] {
    detail::policy_table table = detail::policy_table_of<C>();
    table.choose = [](situation const& s) { return ++decisions, detail::policy_table_of<C>().choose(s); };
    return table;
  }();
  run_threads(1, [](thread_communicator& comm) {
    detail::call_arguments<C, thread_communicator> const call_arguments(comm);
    auto const decides = [&](int times, int count) {
      auto call = call_arguments
                      .accept(call_arguments.blocks_of(std::vector{count}), std::span<char const>(), range{},
                              std::span<char>(), range{})
                      .call;
      call.of = &detail::element_of<char, detail::no_functor>;
      int const before = decisions;
      detail::by_rules(state_of<thread_communicator>::open(comm), call,
                       []() -> detail::policy_table const& { return counting; });
      expect(decisions - before == times, std::to_string(count));
    };
    for (int const count : {3, 4, 5}) decides(1, count);
    for (int const count : {3, 5, 4, 4}) decides(0, count);
    for (int count = 6; count < 20; ++count) decides(1, count);
    decides(1, 3);
  });
}
