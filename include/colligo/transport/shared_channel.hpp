// SPDX-License-Identifier: BSL-1.0
/// @file
/// One-way channels between ranks that share memory: from each rank to each other one, and from each rank to all others
/// at once. A channel has three ways for a message, which both ends know from its length: short ones go in cache lines
/// that carry their own sequence number, so that data and flag are one transfer; longer ones in chunks through a ring
/// of bytes; the longest may leave their address in a line and be read where they are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t line_payload = 56;                       // bytes; the other 8 of the line are its stamp
inline constexpr std::uint32_t channel_lines = 128;                    // of which a message may take:
// Bytes: above, one flag for many lines is cheaper.
inline constexpr std::size_t longest_in_lines = 37 * line_payload;
// A reader that never writes back says how far it is this often.
inline constexpr std::uint32_t lines_reported = 16;

constexpr std::uint32_t lines_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + line_payload - 1) / line_payload);
}

/// The stamp is 2^32 (number of the line, counted from 1) + (number of lines that the writer has taken from the
/// reader).
struct alignas(cache_line) stamped_line {
  std::atomic<std::uint64_t> stamp;
  std::byte payload[line_payload];
};

/// What the writer of a channel says.
struct alignas(cache_line) channel_front {
  std::atomic<std::uint64_t> put;   ///< bytes of the ring that are filled
  stamped_line lines[channel_lines];
};

/// What the reader of a channel says; it stands in the reader's own segment.
struct alignas(cache_line) channel_back {
  std::atomic<std::uint32_t> lines;   ///< taken, brought up to date every lines_reported lines
  std::atomic<std::uint64_t> taken;   ///< bytes of the ring
  std::atomic<std::uint64_t> read;    ///< messages read from the writer's memory
};

/// Where a chunk begins that follows `head` bytes of a ring and must not wrap, and the head after it.
struct ring_place {
  std::size_t at;
  std::uint64_t begin, end;

  ring_place(std::uint64_t head, std::size_t bytes, std::size_t capacity) {
    std::size_t const whole = (bytes + cache_line - 1) / cache_line * cache_line, used = head % capacity;
    bool const wraps = used + whole > capacity;
    at = wraps ? 0 : used;
    begin = head + (wraps ? capacity - used : 0);
    end = begin + whole;
  }
};

/// How the segment of one rank is divided: the backs of its inlets, then the fronts of its outlets, then their rings.
/// Outlet number `ranks` is the one to all.
class segment_layout {
 public:
  explicit constexpr segment_layout(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  constexpr std::size_t bytes() const { return ring(ranks_) + capacity(ranks_); }
  constexpr std::size_t back(int from, bool of_all) const {
    return (2 * static_cast<std::size_t>(from) + (of_all ? 1 : 0)) * sizeof(channel_back);
  }
  constexpr std::size_t front(std::size_t to) const {
    return 2 * ranks_ * sizeof(channel_back) + to * sizeof(channel_front);
  }
  constexpr std::size_t ring(std::size_t to) const { return front(ranks_ + 1) + to * capacity(0); }

  /// Bytes. All rings to single ranks together are larger than a first-level cache: a smaller ring would make readers
  /// wait for lines that its writer still has there, which halves the speed of everything that is long.
  constexpr std::size_t capacity(std::size_t to) const {
    constexpr std::size_t together = 256 * 1024, least = 8 * 1024;
    if (to == ranks_) return together;
    return std::max(least, floor_to_power_of_two(together / std::max<std::size_t>(1, ranks_ - 1)));
  }

 private:
  static constexpr std::size_t floor_to_power_of_two(std::size_t n) {
    std::size_t power = 1;
    while (2 * power <= n) power *= 2;
    return power;
  }
  std::size_t ranks_;
};

class inlet;

/// The writing end.
class outlet {
 public:
  /// `backs` are those of all readers.
  outlet(channel_front& front, std::byte* ring, std::size_t capacity, std::vector<channel_back const*> backs)
      : front_(&front), ring_(ring), capacity_(capacity), backs_(std::move(backs)) {}

  bool has_room_for(std::uint32_t lines) {
    if (put_ + lines - taken_ <= channel_lines) return true;
    std::uint32_t behind = 0;
    for (channel_back const* back : backs_)
      behind = std::max(behind, put_ - back->lines.load(std::memory_order_acquire));
    taken_ = put_ - std::min(behind, put_ - taken_);   // stamps may have said more
    return put_ + lines - taken_ <= channel_lines;
  }

  /// A message of 1 .. longest_in_lines bytes. Precondition: there is room.
  void put_lines(std::byte const* from, std::size_t bytes) {
    std::uint64_t const acknowledgement = acknowledged();
    std::uint32_t number = put_;
    for (; bytes > line_payload; from += line_payload, bytes -= line_payload) {
      stamped_line& line = front_->lines[number % channel_lines];
      std::memcpy(line.payload, from, line_payload);
      line.stamp.store(std::uint64_t{++number} << 32 | acknowledgement, std::memory_order_release);
    }
    stamped_line& line = front_->lines[number % channel_lines];
    std::memcpy(line.payload, from, bytes);
    line.stamp.store(std::uint64_t{++number} << 32 | acknowledgement, std::memory_order_release);
    put_ = number;
  }
  /// The same for a length that the compiler knows.
  template <std::size_t Bytes>
  void put_line(std::byte const* from) {
    stamped_line& line = front_->lines[put_ % channel_lines];
    std::memcpy(line.payload, from, Bytes);
    line.stamp.store(std::uint64_t{++put_} << 32 | acknowledged(), std::memory_order_release);
  }

  /// Where the next chunk goes; null as long as the ring has no room. Precondition: bytes is at most half of the ring.
  std::byte* room_for(std::size_t bytes) {
    ring_place const place(head_, bytes, capacity_);
    if (place.end - tail_ > capacity_) {
      tail_ = least([](channel_back const& back) -> auto& { return back.taken; });
      if (place.end - tail_ > capacity_) return nullptr;
    }
    return ring_ + place.at;
  }
  /// The beginning of the chunk is there, before all of its `bytes` are.
  void put_part(std::size_t bytes, std::size_t part) {
    front_->put.store(ring_place(head_, bytes, capacity_).begin + part, std::memory_order_release);
  }
  /// The chunk is there.
  void put(std::size_t bytes) {
    head_ = ring_place(head_, bytes, capacity_).end;
    front_->put.store(head_, std::memory_order_release);
  }

  /// One more message is to be read where it is.
  void offer() { ++offered_; }
  bool all_read() const { return least([](channel_back const& back) -> auto& { return back.read; }) >= offered_; }

 private:
  friend class shared_host;

  std::uint64_t acknowledged() const { return reverse_taken_ ? *reverse_taken_ : 0; }
  template <class Counter>
  std::uint64_t least(Counter counter) const {
    std::uint64_t smallest = counter(*backs_[0]).load(std::memory_order_acquire);
    for (channel_back const* back : std::span(backs_).subspan(1))
      smallest = std::min(smallest, counter(*back).load(std::memory_order_acquire));
    return smallest;
  }

  channel_front* front_;
  std::byte* ring_;
  std::size_t capacity_;
  std::uint32_t put_ = 0, taken_ = 0;
  std::uint32_t const* reverse_taken_ = nullptr;   // of the inlet from the same rank
  std::uint64_t head_ = 0, tail_ = 0, offered_ = 0;
  std::vector<channel_back const*> backs_;
  friend class inlet;
};

/// The reading end.
class inlet {
 public:
  inlet(channel_front const& front, std::byte const* ring, std::size_t capacity, channel_back& back)
      : front_(&front), ring_(ring), capacity_(capacity), back_(&back) {}

  bool has_line() const {
    return front_->lines[taken_ % channel_lines].stamp.load(std::memory_order_acquire) >> 32 ==
           std::uint32_t(taken_ + 1);
  }

  /// Copies `bytes` <= line_payload of the next line. Precondition: it has come.
  void take_line(std::byte* into, std::size_t bytes) {
    std::memcpy(into, front_->lines[taken_ % channel_lines].payload, bytes);
    took(1);
  }

  /// Copies whole lines, at least one, that hold a message of so many bytes; waits for each with wait().
  template <class Wait>
  void take_lines(std::byte* into, std::size_t bytes, Wait wait) {
    std::uint32_t number = taken_;
    std::uint32_t const end = number + lines_for(bytes);
    do {
      stamped_line const& line = front_->lines[number % channel_lines];
      ++number;
      while (line.stamp.load(std::memory_order_acquire) >> 32 != number) wait();
      std::memcpy(into, line.payload, line_payload);
      into += line_payload;
    } while (number != end);
    took(end - taken_);
  }

  /// The next chunk; null as long as its beginning, so many bytes, has not come.
  std::byte const* chunk(std::size_t bytes, std::size_t beginning) {
    ring_place const place(tail_, bytes, capacity_);
    std::uint64_t const needed = place.begin + beginning;
    if (head_ < needed) {
      head_ = front_->put.load(std::memory_order_acquire);
      if (head_ < needed) return nullptr;
    }
    return ring_ + place.at;
  }
  /// The chunk may be overwritten.
  void release(std::size_t bytes) {
    tail_ = ring_place(tail_, bytes, capacity_).end;
    back_->taken.store(tail_, std::memory_order_release);
  }

  /// A message has been read where it is; its sender may go on.
  void has_read() { back_->read.store(++read_, std::memory_order_release); }

 private:
  friend class shared_host;

  void took(std::uint32_t lines) {
    std::uint32_t const before = taken_;
    taken_ += lines;
    if (reverse_)
      reverse_->taken_ =
          static_cast<std::uint32_t>(front_->lines[(taken_ - 1) % channel_lines].stamp.load(std::memory_order_relaxed));
    if ((before ^ taken_) >= lines_reported) back_->lines.store(taken_, std::memory_order_release);
  }

  channel_front const* front_;
  std::byte const* ring_;
  std::size_t capacity_;
  std::uint32_t taken_ = 0;
  outlet* reverse_ = nullptr;   // to the same rank: its reader acknowledges here
  std::uint64_t head_ = 0, tail_ = 0, read_ = 0;
  channel_back* back_;
};

/// Lets hyper-threads and power have the core while a rank polls.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What a model provides beside the memory. Contexts are its own.
struct surroundings {
  void* context = nullptr;
  bool spin = false;                      ///< every rank has a core: poll; otherwise give way at once
  void (*wait)(void* context) = nullptr;  ///< gives way, and lets happen what else must; may throw
  /// Copies from the memory of a rank of the host; null where that is not possible.
  void (*read)(void* context, int from, std::byte* into, std::byte const* address, std::size_t bytes) = nullptr;
};

/// A rank's ends of all channels of its host.
class shared_host {
 public:
  /// `segments`: one per rank of the host, of segment_layout(ranks).bytes() zero bytes each. `places`: for each rank of
  /// the communicator its place on this host or nobody; empty where the host has all of them.
  shared_host(int me, std::vector<std::byte*> const& segments, std::vector<int> places, surroundings around)
      : around_(around), places_(std::move(places)) {
    int const ranks = static_cast<int>(segments.size());
    auto const q = static_cast<std::size_t>(ranks);
    segment_layout const layout(ranks);
    auto const at = [&](int rank) { return segments[static_cast<std::size_t>(rank)]; };
    auto const front = [&](int rank, std::size_t to) -> auto& {
      return *reinterpret_cast<channel_front*>(at(rank) + layout.front(to));
    };
    auto const back = [&](int rank, int from, bool of_all) -> auto& {
      return *reinterpret_cast<channel_back*>(at(rank) + layout.back(from, of_all));
    };
    out_.reserve(q + 1), in_.reserve(q), in_all_.reserve(q);   // pointers into them are kept
    std::vector<channel_back const*> readers;
    for (int r = 0; r < ranks; ++r) {
      auto const to = static_cast<std::size_t>(r), mine = static_cast<std::size_t>(me);
      out_.emplace_back(front(me, to), at(me) + layout.ring(to), layout.capacity(to),
                        std::vector<channel_back const*>{&back(r, me, false)});
      in_.emplace_back(front(r, mine), at(r) + layout.ring(mine), layout.capacity(mine), back(me, r, false));
      in_all_.emplace_back(front(r, q), at(r) + layout.ring(q), layout.capacity(q), back(me, r, true));
      out_[to].reverse_taken_ = &in_[to].taken_;
      in_[to].reverse_ = &out_[to];
      if (r != me) readers.push_back(&back(r, me, true));
    }
    if (readers.empty()) readers.push_back(&back(me, me, true));
    out_.emplace_back(front(me, q), at(me) + layout.ring(q), layout.capacity(q), std::move(readers));
    largest_chunk_ = std::min<std::size_t>(32 * 1024, layout.capacity(0) / 4);
  }
  shared_host(shared_host const&) = delete;
  shared_host& operator=(shared_host const&) = delete;

  bool whole() const { return places_.empty(); }
  bool has(int rank) const { return places_.empty() || places_[static_cast<std::size_t>(rank)] >= 0; }
  outlet& to(int rank) { return out_[place(rank)]; }
  outlet& to_all() { return out_.back(); }
  inlet& from(int rank) { return in_[place(rank)]; }
  inlet& from_all(int rank) { return in_all_[place(rank)]; }

  /// Elements in a chunk of a message of so many bytes. At least one; see fits().
  std::size_t chunk_of(std::size_t element_size, std::size_t bytes) const {
    std::size_t const wanted = std::min(largest_chunk_, bytes <= 16 * 1024 ? 8 * 1024 : largest_chunk_);
    return std::max<std::size_t>(1, wanted / element_size);
  }
  /// Whether elements of this size go through the rings.
  bool fits(std::size_t element_size) const { return element_size <= 2 * largest_chunk_; }

  /// Whether a message of so many bytes is announced, and read where it is if its sender can leave it there.
  bool announces(std::size_t bytes) const { return bytes >= announced_from_; }
  void announce_from(std::size_t bytes) { announced_from_ = bytes; }
  void read(int rank, std::byte* into, std::byte const* address, std::size_t bytes) const {
    around_.read(around_.context, static_cast<int>(place(rank)), into, address, bytes);
  }
  bool can_read() const { return around_.read != nullptr; }

  bool spins() const { return around_.spin; }
  /// To be called between two polls.
  void wait(unsigned& polls) const {
    constexpr unsigned spins = 4096;   // then MPI may have to make progress for a peer that is not here yet
    if (around_.spin && ++polls % spins != 0) relax();
    else around_.wait(around_.context);
  }

 private:
  std::size_t place(int rank) const {
    return static_cast<std::size_t>(places_.empty() ? rank : places_[static_cast<std::size_t>(rank)]);
  }

  surroundings around_;
  std::vector<int> places_;
  std::vector<outlet> out_;
  std::vector<inlet> in_, in_all_;
  std::size_t largest_chunk_ = 0, announced_from_ = static_cast<std::size_t>(-1);
};

}  // namespace colligo
