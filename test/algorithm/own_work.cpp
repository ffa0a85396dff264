// SPDX-License-Identifier: BSL-1.0
// What cards say that a rank works for itself, against what it does. Nothing is timed: this file is compiled so that
// every basic block of the algorithms counts itself (-fsanitize-coverage=trace-pc).
#include <catch2/catch.hpp>

#include <colligo/record.hpp>
#include <colligo/rules/choose.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "../../benchmarks/model/counting_step.hpp"
#include "../distributions.hpp"

using namespace colligo;

namespace {

double blocks_run = 0;

// The machine that counts a step as one.
constexpr own_costs in_steps{typical.own.move / typical.own.step, typical.own.copied / typical.own.step, 1};
constexpr std::size_t element_size = 8;

double total(own_work const& work) { return machine{0, 0, 0, 1, 1, 1, in_steps}.alone(work, element_size); }

struct work_of_rank {
  double operands = 0;
  own_work done;   // steps: all basic blocks, those for operands among them
};

work_of_rank run(detail::erased_policy const& policy, void const* tag, blocks const& vector, int rank) {
  detail::small_vector<operand> memory;
  memory.reserve(64);
  bench::counting_step step(rank, vector.parts, element_size, memory);
  double const before = blocks_run;
  policy.run(tag, {}, step, vector, 0);
  double const steps = blocks_run - before;
  auto const as_number = [](std::size_t n) { return static_cast<double>(n); };
  return {as_number(step.counted.operands), {as_number(step.counted.moves), as_number(step.counted.copied), steps}};
}

// Some 20 steps for each operand are part of alpha, or of a move. A policy that says no work of its own may take a few
// times as many, and some to begin with; some come to ranks that have nothing to say.
constexpr double of_operand = 20, at_most = 45, to_begin = 700, of_silent_rank = 26;

void check(collective what, std::size_t n, int p, std::string_view distribution,
           std::vector<std::size_t> const& counts) {
  std::vector<std::size_t> offsets{0};
  for (std::size_t const count : counts) offsets.push_back(offsets.back() + count);
  blocks vector{{0, counts.empty() ? n : offsets.back()}, p, counts.empty() ? nullptr : offsets.data()};
  block_lengths const lengths{vector.longest(), vector.shortest()};   // known from when offsets are summed up
  vector.lengths = &lengths;
  for (detail::erased_policy const* const policy : detail::policies_of<>(what)()) {
    if (!policy || !policy->run || policy->open != detail::left_open::nothing) continue;
    alignas(std::max_align_t) std::byte tag[256];
    policy->make_tag(tag);
    double operands = 0;
    own_work done;
    for (int k = 0; k < 16; ++k) {   // those at the root, and others
      auto const ran = run(*policy, tag, vector, k < 8 ? k : p - 1 - (k - 8) * (p / 8));
      operands = std::max(operands, ran.operands);
      done.moves = std::max(done.moves, ran.done.moves), done.copied = std::max(done.copied, ran.done.copied);
      done.steps = std::max(done.steps, ran.done.steps);
    }
    INFO(name_of(what) << ' ' << policy->name << ", p = " << p << ", n = " << vector.whole.size() << ' '
                       << distribution);
    own_work said = policy->work ? policy->work(tag, vector, element_size) : own_work{};
    if (total(said) == 0) {
      bool const asks_all = policy->name.ends_with("ring") || policy->name == "linear";
      CHECK(done.steps <= at_most * operands + to_begin + (asks_all ? of_silent_rank * p : 0));
      continue;
    }
    CHECK(done.moves <= said.moves);
    CHECK(done.copied <= said.copied);
    said.steps += of_operand * operands;
    CHECK(total(done) <= 2 * total(said));
    CHECK(total(said) <= 2 * total(done));
  }
}

}  // namespace

extern "C" [[gnu::no_sanitize_coverage]] void __sanitizer_cov_trace_pc() { ++blocks_run; }

TEST_CASE("own work is what cards say, within a factor of 2") {
  using enum collective;
  for (int const p : {10, 24, 64, 100, 1000}) {
    auto const ranks = static_cast<std::size_t>(p);
    for (collective const what : {all_reduce, reduce, broadcast, scan, exclusive_scan, barrier})
      for (std::size_t const n : {2u, 1000u, 100000u}) check(what, n, p, "", {});
    for (collective const what : {all_gather, gather, scatter, reduce_scatter_block, all_to_all})
      for (std::size_t const each : {1u, 1000u}) check(what, each * ranks, p, "", {});
    for (auto const& [name, distribution] : distributions::all)
      for (std::size_t const each : {8u, 8192u})
        for (collective const what : {all_gatherv, reduce_scatter, gatherv})
          check(what, 0, p, name, distribution(p, each));
  }
}

// Their messages look ranks up in groups.
TEST_CASE("own work of algorithms by level is what cards say, within a factor of 2") {
  using enum collective;
  for (int const p : {64, 512, 1000}) {
    std::vector<int> uneven, dealt_out, shuffled;   // hosts
    for (int r = 0, first = 0, size = 5; r < p; ++r) {
      if (r - first == size) first = r, size = 5 + (3 * size + 1) % 7;
      uneven.push_back(first);
      dealt_out.push_back(r % (p / 8));
    }
    shuffled = dealt_out;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
    for (hierarchy const& levels :
         {hierarchy::of_sizes(p, std::vector{8}), hierarchy::of_sizes(p, std::vector{4, 16}),
          hierarchy::of_hosts(uneven), hierarchy::of_hosts(dealt_out), hierarchy::of_hosts(shuffled)})
      for (collective const what : {all_reduce, reduce, broadcast, all_gatherv, reduce_scatter, gatherv, scatterv, scan,
                                    exclusive_scan, all_to_all})
        for (std::size_t const each : {1u, 1000u})
          for (detail::erased_policy const* const policy : detail::policies_of<>(what)()) {
            if (!policy || !policy->run || !policy->name.ends_with("by_level")) continue;
            bool const differ = levels.smallest(0) != levels.largest(0);
            double const of_message = policy->name == scan_by_level::name                ? 30
                                      : policy->name == slices_by_level::name && differ ? 110
                                                                                         : 90;
            alignas(std::max_align_t) std::byte tag[256];
            policy->make_tag(tag);
            auto const* const pointer = &levels;
            std::memcpy(tag, &pointer, sizeof pointer);   // the first member of each
            blocks const vector{{0, has_blocks(what) ? each * static_cast<std::size_t>(p) : each}, p};
            own_work done;
            double messages = 0;
            for (int k = 0; k < 16; ++k) {
              auto const work = run(*policy, tag, vector, k < 8 ? k : p - 1 - (k - 8) * (p / 8));
              messages = std::max(messages, work.operands - work.done.moves);
              done.moves = std::max(done.moves, work.done.moves);
              done.copied = std::max(done.copied, work.done.copied);
              done.steps = std::max(done.steps, work.done.steps);
            }
            own_work said = policy->work ? policy->work(tag, vector, 8) : own_work{};
            INFO(name_of(what) << ' ' << policy->name << " over " << levels.text() << ", n = " << vector.whole.size());
            CHECK(done.moves <= said.moves);
            CHECK(done.copied <= said.copied);
            said.steps += of_message * messages + of_operand * done.moves;
            CHECK(total(done) <= 2 * total(said));
            CHECK(total(said) <= 2 * total(done));
          }
  }
}

// As few as some microseconds take, and a nanosecond for each rank.
TEST_CASE("automatic decides on short blocks in few steps, and four for each rank") {
  using enum collective;
  for (int const p : {1000, 100000})
    for (auto const& [name, distribution] : distributions::all)
      for (std::size_t const each : {1u, 8u}) {
        std::vector<std::size_t> offsets{0};
        for (std::size_t const count : distribution(p, each)) offsets.push_back(offsets.back() + count);
        blocks vector{{0, offsets.back()}, p, offsets.data()};
        block_lengths const lengths{vector.longest(), vector.shortest()};
        vector.lengths = &lengths;
        for (collective const what : {all_gatherv, reduce_scatter, gatherv}) {
          double const before = blocks_run;
          choose(what, situation{.vector = vector, .element_size = 8});
          INFO(name_of(what) << ", p = " << p << ", " << each << " in the mean, " << name);
          CHECK(blocks_run - before <= 4000 + 4 * p);
        }
      }
}
