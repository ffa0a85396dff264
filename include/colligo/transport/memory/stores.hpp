// SPDX-License-Identifier: BSL-1.0
/// @file
/// Choices that a rank makes by measuring, because processors differ and hypervisors move virtual cores:
///
/// - How the writer of a chunk stores it. Another core was the last to read the cache line. A store through the cache
///   first takes the line back, which is fast between cores that share a cache. Between dies and sockets a store past
///   the cache (streaming) is two to six times as fast, although the reader then loads the line from memory.
/// - How a reader stores a result of 4 MiB or more. A store through the cache first reads the line, and evicts another
///   one. A streaming store takes half the time on one processor, and 1.6 times on another.
/// - How long messages are exchanged. Through the ring each message is copied twice; with process_vm_readv once, but
///   the system has to find the pages.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "../../core/clock.hpp"

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

/// Takes a line from the core that was the last to read it, so that a later store need not wait.
inline void prefetch_for_store(void const* line) {
#if defined(__x86_64__)   // without -mprfchw the builtin prefetches for reading
  asm volatile("prefetchw %0" : : "m"(*static_cast<char const*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Copies past the cache where the processor can. A later release store publishes the copied bytes.
void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes);

/// Bytes: for longer results the rank measures how to store them, because second-level caches keep little of them.
inline constexpr std::size_t least_streamed_result = 4 << 20;
/// Bytes; shorter chunks are always stored through the cache and not measured.
inline constexpr std::size_t least_streamed = 1024;
/// Bytes; shorter messages are exchanged through rings and not measured.
inline constexpr std::size_t least_exchanged_in_place = 64 * 1024;

/// The cost of an action, in 1/8 of a cycle for 1 KiB, from measurements. It is about the least of the latest ones: an
/// interruption hardly changes it, a lasting slowdown does after a few measurements. Where the clock is so coarse that
/// an action takes a few ticks, several actions are one measurement.
class measured_cost {
 public:
  constexpr std::uint32_t known() const { return known_; }   ///< 0: not yet
  /// Adds an action, and returns what is then known.
  constexpr std::uint32_t add(std::size_t bytes, std::uint64_t cycles) {
    bytes_ += bytes, cycles_ += cycles;
    if (cycles_ < enough && bytes_ < most) return known_;
    std::uint64_t const now = std::clamp<std::uint64_t>(8 * 1024 * cycles_ / bytes_, 1, 1 << 30);
    bytes_ = cycles_ = 0;
    std::uint64_t const most_now = known_ + known_ / 2 + 1;
    return known_ = static_cast<std::uint32_t>(known_ == 0 ? now : std::min(now, most_now));
  }

 private:
  static constexpr std::uint64_t enough = 16;        // cycles: then a tick at either end is little
  static constexpr std::uint64_t most = 1 << 20;     // bytes: a clock that hardly moves
  std::uint64_t bytes_ = 0, cycles_ = 0;
  std::uint32_t known_ = 0;
};

/// One of two ways. `second`: stores past the cache, not through it; exchanges in the sender's memory, not the ring.
struct way_to_take {
  bool second, timed;   ///< timed: writer and reader measure and report the time
};

/// How often a choice is measured, in uses. The first `young` uses try both ways in turn. Then every `sampled`-th use
/// is timed, and after `period` uses, which doubles, the other way is tried `retried` times. The choice changes if the
/// other way is quicker by more than 1 / `margin`.
struct measuring_pace {
  std::uint32_t young, sampled, period, retried, margin;
};
inline constexpr measuring_pace pace_of_chunks{24, 8, 128, 4, 8};
inline constexpr measuring_pace pace_of_exchanges{2, 1, 8, 2, 20};   // they are few, and long

/// Chooses the quicker one of two ways. The time of a way is the writer's plus the slowest reader's; or the longer of
/// the two if the writer has nothing to read, because both then work at the same time.
template <measuring_pace Pace>
class quicker_way {
 public:
  /// `one_way`: the writer has nothing to read. reader(second): a way's cost for the slowest reader, see measured_cost.
  template <class Reader>
  way_to_take next(bool one_way, Reader const& reader) {
    if (++uses_ <= Pace.young) return {uses_ % 2 == 1, true};
    if (std::uint32_t const settled = Pace.young + period_; uses_ > settled) {
      if (uses_ == settled + Pace.retried) uses_ = Pace.young, period_ = std::min(2 * period_, longest_period);
      return {!second_, true};
    }
    if (uses_ % Pace.sampled != 0) return {second_, false};
    auto const cost = [&](bool second) {
      std::uint64_t const own = own_[second].known(), slowest = reader(second);
      return one_way ? std::max(own, slowest) : own + slowest;
    };
    bool const both_known =
        own_[0].known() != 0 && own_[1].known() != 0 && (reader(false) == 0) == (reader(true) == 0);
    bool const other_is_quicker = both_known && cost(!second_) * Pace.margin < cost(second_) * (Pace.margin - 1);
    if (other_is_quicker && was_quicker_) {   // twice in a row: one measurement may contain an interruption
      second_ = !second_;
      uses_ = Pace.young, period_ = Pace.period;
    }
    was_quicker_ = other_is_quicker && !was_quicker_;
    return {second_, true};
  }
  /// The same where no reader reports a cost.
  way_to_take next() {
    return next(true, [](bool) { return std::uint32_t{0}; });
  }
  void took(bool second, std::size_t bytes, std::uint64_t cycles) {
    own_[second].add(bytes, cycles);
  }

 private:
  static constexpr std::uint32_t longest_period = 2048;

  std::uint32_t uses_ = 0, period_ = Pace.period;
  measured_cost own_[2];
  bool second_ = false, was_quicker_ = false;   // was_quicker_: the other way, by the latest comparison
};
using store_choice = quicker_way<pace_of_chunks>;

/// Chooses how long messages that cross are exchanged, each time for a step in which this rank sends `bytes` bytes. The
/// other end of a channel follows one step later, so a choice holds for two steps; the lesser time counts.
class exchange_choice {
 public:
  /// Whether the messages of the latest step are read in place.
  bool is_in_place() const { return latest_.second; }
  /// Chooses, and returns whether to report the time.
  bool begin(std::size_t bytes) {
    exchange& now = of(bytes);
    if (now.steps++ % 2 == 0) now.way = now.choice.next();
    latest_ = now.way;
    return latest_.timed;
  }
  void took(std::size_t bytes, std::uint64_t cycles) { of(bytes).choice.took(latest_.second, bytes, cycles); }

 private:
  struct exchange {
    quicker_way<pace_of_exchanges> choice;
    way_to_take way{};
    unsigned steps = 0;
  };
  exchange& of(std::size_t bytes) {
    return all_[std::min<std::size_t>(3, (std::bit_width(bytes / least_exchanged_in_place | 1) - 1) / 2)];
  }

  std::array<exchange, 4> all_;   // by length, each four times that of the one before
  way_to_take latest_{};
};

#if COLLIGO_HAS_BODIES
COLLIGO_BODY void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) {
#if defined(__SSE2__) || defined(__aarch64__)
  constexpr std::size_t line = 64;   // bytes that go to memory together
  std::size_t const before = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  std::memcpy(to, from, before);
  to += before, from += before, bytes -= before;
  for (; bytes >= line; to += line, from += line, bytes -= line) {
#if defined(__SSE2__)
    auto const* const in = reinterpret_cast<__m128i const*>(from);
    auto* const out = reinterpret_cast<__m128i*>(to);
    __m128i const a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a), _mm_stream_si128(out + 1, b), _mm_stream_si128(out + 2, c), _mm_stream_si128(out + 3, d);
#else
    asm volatile(
        "ldp q0, q1, [%1]\n\tldp q2, q3, [%1, #32]\n\tstnp q0, q1, [%0]\n\tstnp q2, q3, [%0, #32]"
        :
        : "r"(to), "r"(from)
        : "v0", "v1", "v2", "v3", "memory");
#endif
  }
#if defined(__SSE2__)
  _mm_sfence();   // a release store does not wait for streaming ones by itself
#endif
#endif
  std::memcpy(to, from, bytes);
}
#endif

}  // namespace colligo
