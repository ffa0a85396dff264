// SPDX-License-Identifier: BSL-1.0
// The recorder sees each law broken (algorithm/recorded.cpp: every algorithm obeys them). Compiled without MPI on the
// include path.
#include <catch2/catch.hpp>

#include <colligo/tools/association.hpp>
#include <colligo/plan/extent.hpp>
#include <colligo/record.hpp>

#include <functional>
#include <sstream>

#include "../recorded_ranks.hpp"
#include "../tested.hpp"

using namespace colligo;

namespace {

template <class F>
void for_each_text(F f) {
  tested::for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (!std::is_same_v<Tag, vendor>) f(tag);
  });
}

// An algorithm in a tag, to break laws with.
template <class Text>
struct text_of {
  static constexpr std::string_view name = "text";
  template <class T, class Op>
  struct all_reduce {
    void operator()(steps auto& step, range all) const { Text{}(step, all); }
  };
};
template <class Text>
schedule schedule_of(Text, int p = 3) { return record(text_of<Text>{}, collective::all_reduce, p, 8); }

using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("numbers of elements that no vector has are refused") {
  CHECK_THROWS_WITH(record(ring{}, collective::all_reduce, 4, -1), "colligo: record: a count is negative: -1");
  CHECK_THROWS_WITH(record(circulant{}, collective::all_gatherv, 3, std::array{1, -2, 5}), Contains("negative: -2"));
}

TEST_CASE("all_to_all: blocks of other sizes for other ranks, and other sizes from every rank") {
  std::vector<std::size_t> const counts{0, 3, 9, 1, 2};
  std::vector<std::size_t> matrix;   // rank s has s d mod 4 for rank d
  for (std::size_t s = 0; s < 5; ++s)
    for (std::size_t d = 0; d < 5; ++d) matrix.push_back(s * d % 4);
  for_each_text([&]<class Tag>(Tag tag) {
    INFO(Tag::name);
    if constexpr (offers<Tag, collective::all_to_all, int, int>)
      CHECK_NOTHROW(record(tag, collective::all_to_all, 5, counts).verify());
    if constexpr (offers<Tag, collective::all_to_all_v, int, int>) {
      auto const said = record(tag, collective::all_to_all_v, 5, matrix);
      CHECK_NOTHROW(said.verify());
      CHECK(said.total_messages() == 6);   // those that are not empty, and not for the rank itself
    }
  });
  for (std::size_t const radix : {3u, 4u, 5u})
    CHECK_NOTHROW(record(bruck{.radix = radix}, collective::all_to_all, 5, counts).verify());
  for (std::size_t const longest : {1u, 3u})
    CHECK_NOTHROW(record(padded_bruck{.longest = longest}, collective::all_to_all_v, 5, matrix).verify());
}

TEST_CASE("what uneven blocks touch, no other rank needs memory for") {
  auto const holds = [](auto tag, int rank) {
    detail::small_vector<operand> memory;
    extent e(rank, 8, sizeof(int), memory);
    apply<collective::gatherv>(make_policy<collective::gatherv, decltype(tag), int, int>(tag), e, blocks{{0, 80}, 8},
                               0);
    return e.holds().size();
  };
  CHECK(holds(binary_tree{}, 0) == 70);   // all but its own
  CHECK(holds(binary_tree{}, 4) == 40);
  CHECK(holds(binary_tree{}, 6) == 20);
  CHECK(holds(binary_tree{}, 7) == 0);
  CHECK(holds(linear{}, 4) == 0);
}

template <collective C>
void check_what_they_write(std::function<range(int p, int rank, std::size_t n)> const& output) {
  for_each_text([&]<class Tag>(Tag tag) {
    if constexpr (offers<Tag, C, int, std::plus<>>) {
      auto const policy = make_policy<C, Tag, int, std::plus<>>(tag);
      if (!writes_output_alone<std::remove_const_t<decltype(policy)>>()) return;
      for (int p = 2; p < 10; ++p)
        for (int rank = 0; rank < p; ++rank) {
          detail::small_vector<operand> memory;
          extent needed(rank, p, sizeof(int), memory);
          auto const n = 4 * static_cast<std::size_t>(p);
          apply<C>(policy, needed, blocks{{0, n}, p}, 0);
          CHECK(contains(output(p, rank, n), needed.holds()));
        }
    }
  });
}

TEST_CASE("an algorithm that says so writes to the output alone") {
  STATIC_REQUIRE(writes_output_alone<policy_t<collective::all_to_all, direct, int, int>>());
  STATIC_REQUIRE(writes_output_alone<policy_t<collective::scatterv, linear, int, int>>());
  auto const own = [](int p, int rank, std::size_t n) { return blocks{{0, n}, p}[rank]; };
  check_what_they_write<collective::all_to_all>([](int, int, std::size_t n) { return range{n, 2 * n}; });
  check_what_they_write<collective::gatherv>([](int, int rank, std::size_t n) { return range{0, rank == 0 ? n : 0}; });
  check_what_they_write<collective::scatterv>(own);
  check_what_they_write<collective::reduce_scatter>(own);
}

TEST_CASE("rounds, messages and elements are those of the papers") {
  auto const all = [](auto tag, int p, std::size_t n) { return record(tag, collective::all_reduce, p, n); };
  CHECK(all(recursive_doubling{}, 8, 5).rounds() == 3);
  CHECK(all(recursive_doubling{}, 8, 5).elements_sent() == 15);
  CHECK(all(halving_doubling{}, 8, 64).rounds() == 6);
  CHECK(all(halving_doubling{}, 8, 64).elements_sent() == 2 * 56);
  CHECK(all(halving_doubling{}, 8, 64).elements_folded() == 56);
  CHECK(all(binary_blocks{}, 8, 64).rounds() == 6);
  CHECK(all(ring{}, 8, 64).rounds() == 14);
  CHECK(all(ring{}, 8, 64).messages() == 14);
  CHECK(all(ring{}, 8, 64).elements_folded() == 56);
  CHECK(all(binary_tree{}, 13, 1).rounds() == 8);
  CHECK(all(rotating_ring{}, 13, 10).rounds() == 12);
  CHECK(all(halving_tree{}, 13, 10).rounds() == 8);
  CHECK(all(recursive_doubling{}, 8, 5).total_messages() == 24);
  CHECK(all(ring{}, 1, 64).rounds() == 0);
}

TEST_CASE("recording and pricing work at compile time") {
  static_assert(record(halving_doubling{}, collective::all_reduce, 5, 8).rounds() == 7);
  static_assert(record(ring{}, collective::reduce, 4, 8, 2).elements_folded() == 6);
  static_assert(price(record(recursive_doubling{}, collective::all_reduce, 8, 10), machine{100, 2, 1}) == 3 * 130);
  SUCCEED();
}

TEST_CASE("broken law: a send that nobody receives, a receive that nobody sends") {
  auto const lost = schedule_of([](auto& step, range all) { if (step.rank() == 1) step(send{2, all}); });
  CHECK_THROWS_WITH(lost.verify(), Contains("rank 1") && Contains("sends to rank 2, which does not receive"));
  auto const missing = schedule_of([](auto& step, range all) { if (step.rank() == 1) step(fold{2, all}); });
  CHECK_THROWS_WITH(missing.verify(), Contains("rank 1") && Contains("receives from rank 2, which does not send"));
}

TEST_CASE("broken law: ends that expect different sizes") {
  auto const s = schedule_of([](auto& step, range all) {
    if (step.rank() == 0) step(send{1, all});
    if (step.rank() == 1) step(recv{0, low_half(all)});
  });
  CHECK_THROWS_WITH(s.verify(), Contains("sends 8 elements to rank 1, which expects 4"));
}

TEST_CASE("broken law: everybody sends first, which deadlocks when sends do not buffer") {
  auto const s = schedule_of([](auto& step, range all) {
    int const p = step.size(), me = step.rank();
    step(send{(me + 1) % p, all});
    step(recv{(me + p - 1) % p, all});
  });
  CHECK_THROWS_WITH(s.verify(), Contains("waits for ever in its step 1"));
}

TEST_CASE("broken law: receiving over what the same step sends") {
  auto const swapping = [](auto& step, range all) { step(send{step.rank() ^ 1, all}, recv{step.rank() ^ 1, all}); };
  auto const s = schedule_of(swapping, 2);
  CHECK_THROWS_WITH(s.verify(), Contains("law 2"));
  auto const combining = [](auto& step, range all) { step(send{step.rank() ^ 1, all}, fold{step.rank() ^ 1, all}); };
  auto const fine = schedule_of(combining, 2);
  CHECK_NOTHROW(fine.verify());
}

TEST_CASE("broken law: peers and elements that do not exist") {
  CHECK_THROWS_WITH(schedule_of([](auto& step, range all) { step(send{step.size(), all}); }).verify(),
                    Contains("rank 3, which does not exist"));
  CHECK_THROWS_WITH(schedule_of([](auto& step, range all) { step(send{step.rank(), all}); }).verify(),
                    Contains("itself"));
  auto const beyond = [](auto& step, range all) { step(send{(step.rank() + 1) % 3, {0, all.last + 1}}); };
  CHECK_THROWS_WITH(schedule_of(beyond).verify(), Contains("outside"));
}

TEST_CASE("what a rank copies and merges is recorded, verified, priced, and part of how results are put together") {
  // Rank 0 gathers both vectors behind its own and combines them from the right.
  auto const text = [](auto& step, range all) {
    auto const behind = [&](std::size_t i) { return range{i * all.size(), (i + 1) * all.size()}; };
    if (step.rank() != 0) return step(send{0, all});
    for (int r = 1; r < 3; ++r) step(recv{r, behind(static_cast<std::size_t>(r))});
    step(copy{behind(1), behind(3)});
    step(merge{behind(2), behind(3), merge::side::right});
    step(merge{behind(3), all, merge::side::right});
  };
  detail::rank_steps said[3];
  for (int r = 0; r < 3; ++r) {
    recorder step(r, 3);
    text(step, range{0, 8});
    said[r] = std::move(step).take();
    said[r].scratch = 24;
  }
  schedule const s(collective::reduce, 8, std::vector(said, said + 3));
  CHECK_NOTHROW(s.verify());
  CHECK(s.elements() == 8);
  CHECK(s.scratch() == 24);
  CHECK(s.moves_of(0).size() == 3);
  CHECK(s.elements_folded() == 16);
  CHECK(price(s, machine{100, 1, 10}) == 2 * 108 + 2 * 80);
  CHECK(association(s).text(0, 3) == "(0 (1 2))");
  CHECK(association(record(grouped_doubling{}, collective::all_reduce, 5, 4)).text(3, 2) == "((((0 1) 2) 3) 4)");
  CHECK(association(record(grouped_doubling{}, collective::all_reduce, 10, 4)).same_on_all_ranks());

  auto const verified = [](operand const& alone) {
    schedule(collective::reduce, 8, {{.moves = {{0, alone}}, .scratch = 2}}).verify();
  };
  CHECK_NOTHROW(verified(merge{{0, 2}, {8, 10}}));
  CHECK_THROWS_WITH(verified(copy{{0, 2}, {9, 11}}), Contains("outside of the vector"));
  CHECK_THROWS_WITH(verified(merge{{0, 3}, {2, 5}}), Contains("overlaps"));
  CHECK_THROWS_WITH(verified(copy{{0, 3}, {4, 6}}), Contains("another length"));
}

TEST_CASE("nobody and empty ranges make operands vanish") {
  auto const s = schedule_of([](auto& step, range all) { step(send{nobody, all}, fold{0, range{3, 3}}); });
  CHECK(s.steps_of(0).empty());
  CHECK_NOTHROW(s.verify());
}

TEST_CASE("a schedule prints its rounds") {
  std::ostringstream out;
  out << record(recursive_doubling{}, collective::all_reduce, 3, 5);
  CHECK(out.str() ==
        "recursive_doubling: all_reduce, p = 3, n = 5: 3 rounds, at most 2 messages, 10 elements sent and 10 combined "
        "by any rank\n"
        "  round 1:  1->+0 0..5\n"
        "  round 2:  0->+2 0..5  2->+0 0..5\n"
        "  round 3:  0->1 0..5\n");
  out.str("");
  out << record(binary_tree{}, collective::broadcast, 2, 1);
  CHECK(out.str() == "binary_tree: broadcast, p = 2, n = 1: 1 round, at most 1 message, 1 element sent and 0 combined "
                     "by any rank\n  round 1:  0->1 0..1\n");
}

TEST_CASE("what has no schedule says so") {
  CHECK_THROWS_WITH(record(vendor{}, collective::all_reduce, 2, 1), Contains("vendor has no schedule"));
  CHECK_THROWS_WITH(record(recursive_doubling{}, collective::reduce, 2, 1),
                    Contains("recursive_doubling is no algorithm of this collective"));
  CHECK_THROWS_WITH(record(ring{}, collective::all_reduce, 0, 1), Contains("all_reduce") && Contains("0 ranks"));
  CHECK_THROWS_AS(record(named("ring"), collective::all_gatherv, 0, std::vector<int>{}), argument_error);
  CHECK_THROWS_WITH(record(ring{}, collective::reduce, 4, 1, 4),
                    "colligo: record: reduce: root 4 is not a rank, ranks are 0 to 3");
  CHECK_THROWS_AS(record(named("binary_tree"), collective::broadcast, 4, 1, -1), argument_error);
  CHECK_THROWS_AS(record(linear{}, collective::gatherv, 2, std::vector{1, 2}, 2), argument_error);
  CHECK_NOTHROW(record(ring{}, collective::all_reduce, 4, 1, 4));   // it has no root
  vendor const none{};
  auto const of_compile_time = detail::steps_by<int>(none, collective::all_reduce, 2, 0);
  CHECK_THROWS_WITH(of_compile_time(0, blocks{{0, 1}, 2}), Contains("vendor has no schedule"));
}

TEST_CASE("schedules of values, names and tags are those of compile time, knobs included") {
  auto const text = [](schedule const& s) { return (std::ostringstream() << s).str(); };
  auto const same = [&](auto tag, std::string const& name, collective what, int p, auto const& n, int root = 0) {
    INFO(name);
    auto const said = detail::steps_by<int>(tag, what, p, root);
    std::string of_compile_time;
    if constexpr (std::ranges::range<decltype(n)>) of_compile_time = text(detail::record_counts(what, p, n, said));
    else of_compile_time = text(detail::record_blocks(what, blocks{{0, n}, p}, said));
    CHECK(text(record<int>(tag, what, p, n, root)) == of_compile_time);
    CHECK(text(record<int>(chosen_algorithm(tag), what, p, n, root)) == of_compile_time);
    CHECK(text(record<int>(named(name), what, p, n, root)) == of_compile_time);
  };
  std::vector<int> const counts{5, 0, 7};
  same(halving_doubling{}, "halving_doubling", collective::reduce, 6, std::size_t{12}, 3);
  same(direct{.window = 8}, "direct:window=8", collective::all_reduce, 5, std::size_t{12});   // two elements
  same(pipelined_ring{.block = 8}, "pipelined_ring:block=8", collective::all_gatherv, 3, counts);
  same(bruck{.radix = 3}, "bruck:radix=3", collective::all_to_all, 3, counts);
  same(pairwise{}, "pairwise", collective::all_to_all_v, 2, std::vector{1, 2, 3, 0});
  same(dissemination{}, "dissemination", collective::barrier, 5, std::size_t{0});
  CHECK_THROWS_WITH(record(named("rings"), collective::scan, 2, 1),
                    Contains("\"rings\"") && Contains("known are recursive_doubling"));
}

TEST_CASE("no value of a knob is too large, or too small") {
  for_each_text([]<class Tag>(Tag tag) {
    if constexpr (requires { Tag::knobs; })
      for (auto const& knob : Tag::knobs)
        for (std::size_t const value : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 31, ~std::size_t{0}})
          for (collective const what : collectives)
            for (int const p : {1, 2, 5, 8}) {
              tag.*knob.member = value;
              INFO(Tag::name << ':' << knob.name << '=' << value << ", " << name_of(what) << ", p = " << p);
              try {
                record(tag, what, p, 7).verify();
              } catch (broken_law const& e) {
                FAIL_CHECK(e.what());
              } catch (algorithm_error const&) {   // it has no form for this collective
              }
            }
  });
}
