// SPDX-License-Identifier: BSL-1.0
// Iterations in a timeline: events made by hand, so that times are known.
#include <catch2/catch.hpp>

#include <colligo/tools/trace_file.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "../well_formed.hpp"

using namespace colligo;

namespace {

// The timeline of two ranks: a gather, iterations of an all_reduce and a broadcast, 50 ns apart, and a barrier, each of
// 100 ns and one step. Rank 1 is 30 ns late, and its broadcast in iteration `odd` is longer. Further ranks, each 30 ns
// later, have no iterations.
std::string pictured(int iterations, int odd = -1, int ranks = 2) {
  std::vector<trace_log> logs;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<trace_event> events;
    std::int64_t at = 30 * rank;
    auto const call = [&](collective what, std::uint64_t bytes) {
      trace_event e{.what = trace_event::kind::call, .call_of = what, .bytes = bytes, .begin = at, .end = at + 100};
      e.call = static_cast<std::uint32_t>(events.size()), e.algorithm[0] = 'a';
      events.push_back(e);
      e.what = trace_event::kind::step;
      events.push_back(e);
      e.what = rank == 0 ? trace_event::kind::send : trace_event::kind::recv, e.peer = 1 - rank;
      events.push_back(e);
      at = e.end;
    };
    call(collective::gather, 8);
    for (int i = 0; i < iterations && rank < 2; ++i) {
      at += 50;
      call(collective::all_reduce, 8);
      call(collective::broadcast, rank == 1 && i == odd ? 80 : 8);
    }
    at = 30 * rank + 150 + 250 * iterations;
    call(collective::barrier, 8);
    logs.emplace_back(rank, events, 0);
  }
  std::ostringstream picture;
  write_timeline(picture, logs);
  CHECK(fault_in_xml(picture.str()) == "");
  return picture.str();
}

}  // namespace

TEST_CASE("a timeline folds iterations in which all ranks repeat their calls") {
  std::string const folded = pictured(30);
  CHECK(occurrences(folded, ">27 times the same 2 calls, 6.77 us<") == 1);   // 27 * 250 + 50 - 30 ns
  CHECK(occurrences(folded, "<title>all_reduce a") == 2 * 3);
  CHECK(occurrences(folded, "<title>broadcast a") == 2 * 3);
  CHECK(occurrences(folded, "<title>barrier a") == 2);
  CHECK(occurrences(folded, "<title>rank 0 to 1") == 3 * 2 + 2);
  CHECK(occurrences(folded, "; repeated calls are folded: ") == 1);
  CHECK(occurrences(folded, ">idle ") == 0);
  CHECK(occurrences(pictured(30, -1, 3), ">27 times the same 2 calls, 6.77 us<") == 1);
}

TEST_CASE("a timeline of few steps has all iterations") {
  std::string const few = pictured(15);
  CHECK(occurrences(few, " the same 2 calls") == 0);
  CHECK(occurrences(few, "<title>all_reduce a") == 2 * 15);
  CHECK(occurrences(few, "ui.perfetto.dev") == 0);
}

TEST_CASE("what one rank does otherwise in an iteration is in the timeline, and the iterations round it are folded") {
  std::string const split = pictured(30, 9);
  CHECK(occurrences(split, " times the same 2 calls, ") == 2);
  CHECK(occurrences(split, "rank 1, begins at 2.53 us, ") == 2);   // that broadcast and its step
  CHECK(occurrences(split, "<title>barrier a") == 2);
}
