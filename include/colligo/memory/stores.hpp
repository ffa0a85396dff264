// SPDX-License-Identifier: BSL-1.0
/// @file
/// Choices that a rank measures, because processors differ and hosts of virtual machines move cores around.
///
/// How the writer of a chunk stores it: another core has read the line last. A store through the cache first takes that
/// line back, which is fast between cores that share a cache. Between dies and sockets a store past the cache
/// (streaming) is two to six times as fast, although the reader then finds the line in memory.
///
/// How a reader stores a result of 4 MiB or more: a store through its cache first reads the line, and evicts another
/// one. Past the cache it takes half the time on one processor, and 1.6 times on another.
///
/// How long messages are exchanged: through the ring both cores copy twice; where each reads the other's memory
/// (process_vm_readv) they copy once, but the system has to find the pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../core/clock.hpp"
#include "../core/transport.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Cycles of the processor, or ticks of a clock; only their ratios matter.
inline std::uint64_t cycles() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<std::uint64_t>(now_in_ns());
#endif
}

/// Takes a line from the core that has read it last, before a store has to wait for that.
inline void prefetch_for_store(void const* line) {
#if defined(__x86_64__)   // where compilers may not assume the instruction, their builtin only reads the line
  asm volatile("prefetchw %0" : : "m"(*static_cast<char const*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Copies past the cache where the processor can. A release store afterwards publishes what was copied.
void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes);

/// Bytes; second-level caches keep little of a result of that length, so how it is stored is measured.
inline constexpr std::size_t least_streamed_result = 4 << 20;
/// Bytes; shorter chunks are always stored through the cache and not measured.
inline constexpr std::size_t least_streamed = 1024;
/// Bytes; shorter messages are exchanged through rings and not measured.
inline constexpr std::size_t least_exchanged_in_place = 256 * 1024;

/// Cycles for 1 KiB, the least of the latest chunks: interruptions do not count, and a slowdown shows after a few
/// chunks. 0: not known.
constexpr std::uint32_t renewed(std::uint32_t known, std::size_t bytes, std::uint64_t cycles) {
  std::uint64_t const now = std::clamp<std::uint64_t>(cycles * 1024 / bytes, 1, 1 << 30);
  return static_cast<std::uint32_t>(known == 0 ? now : std::min<std::uint64_t>(now, known + known / 2 + 1));
}

/// One of two ways. Stores: second is past the cache. Exchanges: second is to read the sender's memory.
struct way_to_take {
  bool second, timed;   ///< timed: who takes it, writer or reader, reports the time
};

/// How often to measure, in uses: at first so many trials in turn; then every `sampled`-th one is timed, and after
/// `period`, which doubles, the other way is tried again `retried` times. It is taken if it is quicker by one
/// `margin`-th.
struct measuring_pace {
  std::uint32_t young, sampled, period, retried, margin;
};
inline constexpr measuring_pace pace_of_chunks{24, 8, 128, 4, 8};
inline constexpr measuring_pace pace_of_exchanges{2, 1, 8, 2, 20};   // they are few, and long

/// Chooses one of two ways by their times: the sum of the writer's and the slowest reader's, or, if the writer has
/// nothing to read, the longer of the two, because they work at the same time. It first tries both in turn, then the
/// other one now and then, ever less often while that changes nothing.
template <measuring_pace Pace>
class quicker_way {
 public:
  /// reader(second): the cost for the slowest reader, see renewed().
  template <class Reader>
  way_to_take next(bool one_way, Reader const& reader) {
    if (++uses_ <= Pace.young) return {uses_ % 2 == 1, true};
    if (std::uint32_t const settled = Pace.young + period_; uses_ > settled) {
      if (uses_ == settled + Pace.retried) uses_ = Pace.young, period_ = std::min(2 * period_, longest_period);
      return {!second_, true};
    }
    if (uses_ % Pace.sampled != 0) return {second_, false};
    auto const cost = [&](bool second) {
      std::uint64_t const own = own_[second], its = reader(second);
      return one_way ? std::max(own, its) : own + its;
    };
    bool const other_is_quicker = cost(!second_) * Pace.margin < cost(second_) * (Pace.margin - 1);
    if (other_is_quicker && doubts_) {   // twice in a row: one of them may be an interruption
      second_ = !second_;
      uses_ = Pace.young, period_ = Pace.period;
    }
    doubts_ = other_is_quicker && !doubts_;
    return {second_, true};
  }
  /// Without readers that report.
  way_to_take next() {
    return next(true, [](bool) { return std::uint32_t{0}; });
  }
  void took(bool second, std::size_t bytes, std::uint64_t cycles) {
    own_[second] = renewed(own_[second], bytes, cycles);
  }

 private:
  static constexpr std::uint32_t longest_period = 2048;

  std::uint32_t uses_ = 0, period_ = Pace.period;
  std::uint32_t own_[2]{};
  bool second_ = false, doubts_ = false;
};
using store_choice = quicker_way<pace_of_chunks>;

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "stores_body.hpp"
#endif
