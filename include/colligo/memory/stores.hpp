// SPDX-License-Identifier: BSL-1.0
/// @file
/// How the writer of a chunk stores it. Another core has read the line last. A store through the cache first takes that
/// line back, which is fast between cores that share a cache. Between dies and sockets a store past the cache
/// (streaming) is two to six times as fast, although the reader then finds the line in memory. Hosts of virtual
/// machines move cores around, so each channel measures both ways.
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

/// Bytes; second-level caches keep little of a result of that length.
inline constexpr std::size_t least_streamed_result = 4 << 20;
/// Bytes; shorter chunks are always stored through the cache and not measured.
inline constexpr std::size_t least_streamed = 1024;
/// Bytes; longer messages between two ranks that both send may be read in their senders' memory.
inline constexpr std::size_t least_read = 256 * 1024;

/// Cycles for 1 KiB, the least of the latest chunks: interruptions do not count, and a slowdown shows after a few
/// chunks. 0: not known.
constexpr std::uint32_t renewed(std::uint32_t known, std::size_t bytes, std::uint64_t cycles) {
  std::uint64_t const now = std::clamp<std::uint64_t>(cycles * 1024 / bytes, 1, 1 << 30);
  return static_cast<std::uint32_t>(known == 0 ? now : std::min<std::uint64_t>(now, known + known / 2 + 1));
}

/// Of one chunk.
struct chunk_store {
  bool streams, timed;   ///< past the cache; its writer and its readers report their times
};

/// Chooses one of the two ways for a channel, by the sum of the writer's and the slowest reader's time, or, if the
/// writer has nothing to read, by the longer of the two, because they work at the same time. It first tries both in
/// turn, then the other one now and then, ever less often while that changes nothing. It likewise chooses how a reader
/// stores a long result, and whether it reads a long message in its sender's memory, which counts as streaming.
///
/// After the first `young` it looks at each sampled one. It changes if the other way saves 1 / gain.
template <std::uint32_t young, std::uint32_t sampled, std::uint32_t gain>
class choice_of_two {
 public:
  /// For the next chunk. reader(streams): the cost for the slowest reader, see renewed(). `is_new`: parts of the ring
  /// were never written, and the first use of a page takes longer than the copy.
  template <class Reader>
  chunk_store next(stores_setting asked, bool is_new, bool one_way, Reader const& reader) {
    if (asked != stores_setting::measured) return {asked == stores_setting::streaming, false};
    if (is_new) return {false, false};
    if (++chunks_ <= young) return {chunks_ % 2 == 1, true};
    if (chunks_ > young + period_) {
      if (chunks_ == young + period_ + retried) chunks_ = young, period_ = std::min(2 * period_, longest_period);
      return {!streams_, true};
    }
    if (chunks_ % sampled != 0) return {streams_, false};
    auto const cost = [&](bool streams) {
      std::uint64_t const own = own_[streams], its = reader(streams);
      return one_way ? std::max(own, its) : own + its;
    };
    bool const other_is_quicker = cost(!streams_) * gain < cost(streams_) * (gain - 1);
    if (other_is_quicker && doubts_) {   // twice in a row: one of them may be an interruption
      streams_ = !streams_;
      chunks_ = young, period_ = first_period;
    }
    doubts_ = other_is_quicker && !doubts_;
    return {streams_, true};
  }
  /// The same without a reader's part.
  chunk_store next(stores_setting asked) {
    return next(asked, false, false, [](bool) { return std::uint64_t{0}; });
  }
  void took(bool streams, std::size_t bytes, std::uint64_t cycles) {
    own_[streams] = renewed(own_[streams], bytes, cycles);
  }

 private:
  static constexpr std::uint32_t first_period = 128, longest_period = 2048, retried = 4;

  std::uint32_t chunks_ = 0, period_ = first_period;
  std::uint32_t own_[2]{};
  bool streams_ = false, doubts_ = false;
};
using store_choice = choice_of_two<24, 8, 8>;
using message_choice = choice_of_two<6, 2, 16>;   // a message takes as long as many chunks

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "stores_body.hpp"
#endif
