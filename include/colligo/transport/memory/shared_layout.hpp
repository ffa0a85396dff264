// SPDX-License-Identifier: BSL-1.0
/// @file
/// The layout of shared memory: the lines, rings and counters of channels (shared_channel.hpp), and a rank's segment.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "../../engine/identity.hpp"
#include "stores.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t line_payload = 56;   // bytes; the other 8 of the line are its stamp
// A reader that sends nothing back reports its progress each time it has taken this many lines.
inline constexpr std::uint32_t lines_reported = 16;

/// The number of lines of each channel of a host, and how many of them one message may take. They lie 2^spread times
/// their own length apart, so that each has a line of the machine.
struct line_numbers {
  std::uint32_t all, from_root, from_all;   // all: a power of two; a message's in a call with a root, and in others
  std::uint32_t spread = 0;

  std::size_t bytes() const { return (std::size_t{all} << spread) * cache_line; }
};
/// Two messages fit beside lines that the reader has taken, but not reported. Above 28 lines chunks are cheaper, which
/// have one flag for many lines; if all ranks send, already above 25, because their messages cross. `line`: bytes of
/// the machine's, a power of two from cache_line to longest_line.
constexpr line_numbers lines_of_host(std::size_t ranks, std::size_t line = cache_line) {
  line_numbers lines = ranks <= 32 ? line_numbers{128, 28, 25} : line_numbers{32, 8, 8};
  lines.spread = static_cast<std::uint32_t>(std::countr_zero(line / cache_line));
  return lines;
}
inline constexpr std::size_t longest_in_lines = 28 * line_payload;   // bytes, on any host

constexpr std::uint32_t lines_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + line_payload - 1) / line_payload);
}

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free,
              "atomics between processes have to be free of locks");

/// The stamp is 2^16 (tag of the message) + 2^8 (number of the line, counted from 1, modulo 2^8) + (an acknowledgement:
/// lines of the reverse channel that the writer has taken since its latest one).
struct alignas(cache_line) stamped_line {
  std::atomic<std::uint64_t> stamp;
  std::byte payload[line_payload];
};

/// Where the lines of a channel lie: number i has the place of i modulo their number.
class line_places {
 public:
  explicit line_places(line_numbers const& lines) : last_(lines.all - 1), spread_(lines.spread) {}
  std::uint32_t last() const { return last_; }
  std::size_t operator()(std::uint32_t number) const {
    std::size_t const place = number & last_;
    if constexpr (line_is_found) return place << spread_;   // elsewhere spread_ is 0, and nobody asks
    else return place;
  }

 private:
  std::uint32_t last_, spread_;
};

/// Written by one reader of a channel.
struct alignas(lines_apart) channel_back {
  std::atomic<std::uint32_t> lines;   ///< that the reader has taken, updated every lines_reported lines
  std::atomic<std::uint64_t> taken;   ///< bytes of the ring
  std::atomic<std::uint64_t> read;    ///< messages that the reader has read in place, or refused
  std::atomic<std::uint64_t> refused; ///< the number of the latest message that the reader has refused
  std::atomic<bool> reading;          ///< it is reading a message in place at this moment
  std::atomic<std::uint32_t> cost[2]; ///< of using chunks that were stored, and streamed: see measured_cost
};

/// Written by the writer of a channel. Behind it are the lines of the channel, then a channel_back for each reader.
struct alignas(lines_apart) channel_front {
  std::atomic<std::uint64_t> withdrawn;   ///< messages up to this number can no longer be read in place

  stamped_line& line(std::size_t place) { return reinterpret_cast<stamped_line*>(this + 1)[place]; }
  stamped_line const& line(std::size_t place) const { return reinterpret_cast<stamped_line const*>(this + 1)[place]; }
  channel_back* backs(line_numbers const& lines) {
    return reinterpret_cast<channel_back*>(reinterpret_cast<std::byte*>(this + 1) + lines.bytes());
  }
  static std::size_t bytes(line_numbers const& lines, std::size_t readers) {
    return sizeof(channel_front) + lines.bytes() + readers * sizeof(channel_back);
  }
};

struct chunk_label {
  std::uint64_t tag, bytes;   ///< bytes of the data; of a gap with its header
  way_to_take store{};
};

/// Bytes: a chunk that its reader waits for is announced in parts of about this length.
inline constexpr std::size_t part_of_chunk = 8 * 1024;

/// In a line of its own in front of the chunk's data.
struct alignas(longest_line) chunk_header {
  static constexpr std::uint64_t gap = static_cast<std::uint64_t>(-1);   // a tag: the rest of the ring is not used

  std::atomic<std::uint64_t> ready;   ///< bytes of data that have been written; 0: none, and `what` is not valid
  chunk_label what;

  /// The bytes of a chunk with its header.
  static constexpr std::size_t whole(std::size_t bytes) {
    return sizeof(chunk_header) + (bytes + longest_line - 1) / longest_line * longest_line;
  }
};

/// Where in a ring the next chunk lies, which must not wrap, when `head` bytes have been written. Precondition: the
/// capacity is a power of two.
struct ring_place {
  std::size_t at, gap;        ///< its offset in the ring; bytes that are skipped before it
  std::uint64_t begin, end;   ///< the head before and after it

  ring_place(std::uint64_t head, std::size_t bytes, std::size_t capacity) {
    std::size_t const whole = chunk_header::whole(bytes), used = head & (capacity - 1);
    bool const wraps = used + whole > capacity;
    at = wraps ? 0 : used;
    gap = wraps ? capacity - used : 0;
    begin = head + gap;
    end = begin + whole;
  }
};

/// The addresses of a channel's memory, which host_memory gives: zero before its first use.
struct channel_addresses {
  std::atomic<std::uint64_t> front, ring;
};

/// A reader group (reader_group.hpp): the number of members, then the channels of all, then their places on the host.
struct reader_group_record {
  std::uint64_t members;

  channel_addresses& channel(std::size_t member) { return reinterpret_cast<channel_addresses*>(this + 1)[member]; }
  std::int32_t* places() { return reinterpret_cast<std::int32_t*>(&channel(members)); }
  static std::size_t bytes(std::size_t members) {
    return sizeof(reader_group_record) + members * (sizeof(channel_addresses) + sizeof(std::int32_t));
  }
};

/// Where the ranks of a host allocate their channels; each can read all of it. Allocations are aligned to lines_apart.
class host_memory {
 public:
  /// Allocates memory of this rank, with undefined contents. Returns its address for all ranks, which is not 0. Throws
  /// std::bad_alloc.
  virtual std::uint64_t allocate(std::size_t bytes) = 0;
  /// Frees the latest allocation.
  virtual void take_back() = 0;
  /// Where this rank has the memory of an address.
  virtual std::byte* at(std::uint64_t address) const = 0;

 protected:
  ~host_memory() = default;
};

/// The parts of one rank's segment, as offsets in bytes: the rank's record, the addresses of reader groups of which it
/// is the lowest member, then the addresses of its channels. Channel number `ranks` is the one to all.
class segment_layout {
 public:
  static constexpr std::size_t reader_groups = 32;   ///< in one segment; further ones are not usable

  explicit constexpr segment_layout(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  constexpr std::size_t bytes() const {
    return (channel(ranks_ + 1) + lines_apart - 1) / lines_apart * lines_apart;
  }
  static constexpr std::size_t record() { return 0; }
  static constexpr std::size_t reader_group(std::size_t k) { return sizeof(rank_record) + k * sizeof(std::uint64_t); }
  static constexpr std::size_t channel(std::size_t to) {
    return reader_group(reader_groups) + to * sizeof(channel_addresses);
  }

  /// Bytes of a ring. On hosts of few ranks all rings of a rank together, or both of a pair, are as long as a
  /// second-level cache. In shorter rings a store finds its line in the cache of the last reader, and ranks that share
  /// cores yield more often, because a ring is full.
  constexpr std::size_t capacity(std::size_t to) const {
    constexpr std::size_t to_all = 256 * 1024, least = 4 * 1024;
    if (to == ranks_) return has_few() ? to_all : to_all / 4;
    std::size_t const together = has_few() ? 4 * to_all : to_all;
    return std::clamp(floor_to_power_of_two(together / std::max<std::size_t>(1, ranks_ - 1)), least, 2 * to_all);
  }
  /// Bytes of a ring to a reader group. On hosts of many ranks, where a chunk has 1 KiB, it holds seven chunks,
  /// or six where cache lines have 256 bytes or are asked for.
  constexpr std::size_t capacity_among() const {
    return std::max(capacity(0), capacity(ranks_) / (ranks_ <= 64 ? 4 : 8));
  }

 private:
  constexpr bool has_few() const { return ranks_ <= 16; }
  static constexpr std::size_t floor_to_power_of_two(std::size_t n) {
    std::size_t power = 1;
    while (2 * power <= n) power *= 2;
    return power;
  }
  std::size_t ranks_;
};

}  // namespace colligo
