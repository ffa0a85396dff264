// SPDX-License-Identifier: BSL-1.0
/// @file
/// One-way channels between ranks that share memory: from each rank to each other one, and from each rank to all others
/// at once. A channel has three ways for a message, which both ends know from its length: short ones go in cache lines
/// that carry their own sequence number, so that data and flag are one transfer; longer ones in chunks through a ring
/// of bytes; the longest may leave their address in a line and be read where they are. A reader whom the system does
/// not let read (secret memory, a device's) refuses that message, and it goes through the ring between the two.
///
/// What a channel needs is allocated when it is first used, so that the memory of a host of q ranks is, in bytes,
///
///     q * (1.8 Ki + 128 q + 16 (q + 1) + 192)         the segments, which is all that an unused communicator has,
///     + 8.1 KiB for each channel that is used         (a pair's has one each way; one to all for each rank);
///       2.1 KiB where q > 32,
///     + a ring for each channel with messages that are longer than go in lines (2 KiB; 448 bytes where q > 32):
///       256 KiB for the one to all (64 KiB where q > 16), otherwise max(4 KiB, 256 KiB / (q - 1) rounded down to a
///       power of two).
///
/// 64 ranks that each talk to six others: 0.7 + 0.8 + 1.5 MiB; to all: 0.7 + 0.1 + 4 MiB; all pairs of 64 ranks, with
/// long messages: 0.7 + 8.1 + 15.8 MiB.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "identity.hpp"
#include "memory.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t line_payload = 56;                       // bytes; the other 8 of the line are its stamp
// A reader that never writes back says how far it is this often.
inline constexpr std::uint32_t lines_reported = 16;

/// How many lines the channels of a host have, and how many of them a message may take.
struct line_numbers {
  std::uint32_t all, of_message;   // all: a power of two

  std::size_t longest() const { return of_message * line_payload; }   ///< bytes
};
/// In few lines an exchange of two messages each way finds room beside those that have not been reported. Above 37 of
/// them one flag for many is cheaper.
constexpr line_numbers lines_of_host(std::size_t ranks) {
  return ranks <= 32 ? line_numbers{128, 37} : line_numbers{32, 8};
}
inline constexpr std::size_t longest_in_lines = 37 * line_payload;   // anywhere

constexpr std::uint32_t lines_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + line_payload - 1) / line_payload);
}

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free,
              "atomics between processes have to be free of locks");

/// The stamp is 2^16 (tag of the message) + 2^8 (number of the line, counted from 1, modulo 2^8) + (lines that the
/// writer has taken from the reader since it last said so).
struct alignas(cache_line) stamped_line {
  std::atomic<std::uint64_t> stamp;
  std::byte payload[line_payload];
};

/// What the writer of a channel says.
struct alignas(cache_line) channel_front {
  std::atomic<std::uint64_t> put;   ///< bytes of the ring that are filled

  /// Behind it stand as many lines as the channels of the host have.
  stamped_line& line(std::uint32_t i) { return reinterpret_cast<stamped_line*>(this + 1)[i]; }
  stamped_line const& line(std::uint32_t i) const { return reinterpret_cast<stamped_line const*>(this + 1)[i]; }
  static std::size_t bytes(line_numbers lines) { return sizeof(channel_front) + lines.all * sizeof(stamped_line); }
};

/// What the reader of a channel says; it stands in the reader's own segment.
struct alignas(cache_line) channel_back {
  std::atomic<std::uint32_t> lines;   ///< taken, brought up to date every lines_reported lines
  std::atomic<std::uint64_t> taken;   ///< bytes of the ring
  std::atomic<std::uint64_t> read;    ///< messages read from the writer's memory, or refused
  std::atomic<std::uint64_t> refused; ///< the latest that the system did not let it read: the number of it
};

/// What stands before a chunk, in a line of its own.
struct alignas(cache_line) chunk_header {
  static constexpr std::uint64_t gap = static_cast<std::uint64_t>(-1);   // the rest of the ring is not used

  std::uint64_t tag, bytes;   // of the chunk, or of the gap with this line

  /// With header.
  static constexpr std::size_t whole(std::size_t bytes) {
    return sizeof(chunk_header) + (bytes + cache_line - 1) / cache_line * cache_line;
  }
};

/// Where a chunk begins that follows `head` bytes of a ring and must not wrap, and the head after it.
struct ring_place {
  std::size_t at, gap;
  std::uint64_t begin, end;

  ring_place(std::uint64_t head, std::size_t bytes, std::size_t capacity) {
    std::size_t const whole = chunk_header::whole(bytes), used = head % capacity;
    bool const wraps = used + whole > capacity;
    at = wraps ? 0 : used;
    gap = wraps ? capacity - used : 0;
    begin = head + gap;
    end = begin + whole;
  }
};

/// Where the memory of a channel is: zero as long as it has not been used, then (place of the rank in whose memory it
/// is, from 1) * 2^48 + (offset there).
struct channel_places {
  std::atomic<std::uint64_t> front, ring;
};

/// The memory that a rank of the host gives its channels, and that of the others.
class host_memory {
 public:
  /// Of this rank; undefined contents. Throws std::bad_alloc.
  virtual std::uint64_t allocate(std::size_t bytes) = 0;
  /// The latest that was allocated is not needed.
  virtual void take_back() = 0;
  virtual std::byte* at(int place, std::uint64_t offset) const = 0;

 protected:
  ~host_memory() = default;
};

/// How the segment of one rank is divided: its record, the backs of its inlets, then the places of its outlets' fronts
/// and rings.
/// Outlet number `ranks` is the one to all.
class segment_layout {
 public:
  explicit constexpr segment_layout(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  constexpr std::size_t bytes() const { return places(ranks_ + 1); }
  static constexpr std::size_t record() { return 0; }
  constexpr std::size_t back(int from, bool of_all) const {
    return sizeof(rank_record) + (2 * static_cast<std::size_t>(from) + (of_all ? 1 : 0)) * sizeof(channel_back);
  }
  constexpr std::size_t places(std::size_t to) const {
    return back(static_cast<int>(ranks_), false) + to * sizeof(channel_places);
  }

  /// Bytes. All rings to single ranks together are larger than a first-level cache: a smaller ring would make readers
  /// wait for lines that its writer still has there, which halves the speed of everything that is long.
  constexpr std::size_t capacity(std::size_t to) const {
    constexpr std::size_t together = 256 * 1024, least = 4 * 1024;
    if (to == ranks_) return ranks_ <= 16 ? together : together / 4;
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
class shared_host;

/// The writing end.
class outlet {
 public:
  /// `backs` are those of all readers.
  outlet(shared_host& host, line_numbers lines, std::size_t capacity, std::vector<channel_back const*> backs)
      : host_(&host), last_(lines.all - 1), capacity_(capacity), backs_(std::move(backs)) {}

  bool has_room_for(std::uint32_t lines) {
    if (put_ + lines - taken_ <= last_ + 1) return true;
    std::uint32_t behind = 0;
    for (channel_back const* back : backs_)
      behind = std::max(behind, put_ - back->lines.load(std::memory_order_acquire));
    taken_ = put_ - std::min(behind, put_ - taken_);   // stamps may have said more
    return put_ + lines - taken_ <= last_ + 1;
  }

  /// A message of 1 byte, or as many as go in lines. Precondition: there is room.
  void put_lines(std::byte const* from, std::size_t bytes, std::uint64_t tag) {
    std::uint32_t number = put_;
    for (; bytes > line_payload; from += line_payload, bytes -= line_payload) {
      stamped_line& line = front_->line(number & last_);
      std::memcpy(line.payload, from, line_payload);
      line.stamp.store(stamp(tag, ++number), std::memory_order_release);
    }
    stamped_line& line = front_->line(number & last_);
    std::memcpy(line.payload, from, bytes);
    line.stamp.store(stamp(tag, ++number) | acknowledgement(), std::memory_order_release);
    put_ = number;
  }
  /// The same for a length that the compiler knows.
  template <std::size_t Bytes>
  void put_line(std::byte const* from, std::uint64_t tag) {
    stamped_line& line = front_->line(put_ & last_);
    std::memcpy(line.payload, from, Bytes);
    line.stamp.store(stamp(tag, ++put_) | acknowledgement(), std::memory_order_release);
  }

  /// Where the next chunk goes; null as long as the ring has no room. Precondition: the chunk and its header are at
  /// most half of the ring.
  std::byte* room_for(std::size_t bytes, std::uint64_t tag) {
    ring_place const place(head_, bytes, capacity_);
    if (place.end - tail_ > capacity_) {
      tail_ = least([](channel_back const& back) -> auto& { return back.taken; });
      if (place.end - tail_ > capacity_) return nullptr;
    }
    if (place.gap != 0) header(ring() + head_ % capacity_) = {chunk_header::gap, place.gap};
    header(ring() + place.at) = {tag, bytes};
    return ring() + place.at + sizeof(chunk_header);
  }
  /// The beginning of the chunk is there, before all of its `bytes` are.
  void put_part(std::size_t bytes, std::size_t part) {
    front_->put.store(ring_place(head_, bytes, capacity_).begin + sizeof(chunk_header) + part,
                      std::memory_order_release);
  }
  /// The chunk is there.
  void put(std::size_t bytes) {
    head_ = ring_place(head_, bytes, capacity_).end;
    front_->put.store(head_, std::memory_order_release);
  }

  /// One more message is to be read where it is.
  void offer() { ++offered_; }
  bool all_read() const { return least([](channel_back const& back) -> auto& { return back.read; }) >= offered_; }
  /// Whether a reader could not read the latest. Precondition: all_read().
  std::size_t readers() const { return backs_.size(); }
  bool is_refused_by(std::size_t reader) const {
    return offered_ != 0 && backs_[reader]->refused.load(std::memory_order_relaxed) == offered_;
  }

 private:
  friend class shared_host;

  static std::uint64_t stamp(std::uint64_t tag, std::uint32_t number) { return tag << 16 | (number & 0xff) << 8; }
  std::uint64_t acknowledgement() {
    if (!reverse_taken_) return 0;
    std::uint32_t const news = std::min<std::uint32_t>(*reverse_taken_ - told_, 0xff);
    told_ += news;
    return news;
  }
  static chunk_header& header(std::byte* at) { return *reinterpret_cast<chunk_header*>(at); }
  template <class Counter>
  std::uint64_t least(Counter counter) const {
    std::uint64_t smallest = counter(*backs_[0]).load(std::memory_order_acquire);
    for (channel_back const* back : std::span(backs_).subspan(1))
      smallest = std::min(smallest, counter(*back).load(std::memory_order_acquire));
    return smallest;
  }

  std::byte* ring();

  shared_host* host_;
  channel_front* front_ = nullptr;   // host_ sets it before the channel is used
  std::byte* ring_ = nullptr;
  std::uint32_t last_;   // line; their number is a power of two
  std::size_t capacity_;
  std::uint32_t put_ = 0, taken_ = 0, heard_ = 0;   // taken, as far as is known and as stamps have it
  std::uint32_t const* reverse_taken_ = nullptr;   // of the inlet from the same rank
  std::uint32_t told_ = 0;                         // of it
  std::uint64_t head_ = 0, tail_ = 0, offered_ = 0;
  std::vector<channel_back const*> backs_;
  friend class inlet;
};

/// The reading end.
class inlet {
 public:
  inlet(shared_host& host, line_numbers lines, std::size_t capacity, channel_back& back)
      : host_(&host), last_(lines.all - 1), capacity_(capacity), back_(&back) {}

  /// Whether the next line has come. It is of the message awaited, or will do.
  bool has_line(awaited const& m) {
    for (;;) {
      std::uint64_t const stamp = stamp_of(taken_), other = (stamp >> 8) ^ (m.tag << 8 | ((taken_ + 1) & 0xff));
      if (other == 0) return true;
      if ((other & 0xff) != 0) return false;   // not the next line
      if (is_accepted(m, stamp >> 16)) return true;
    }
  }

  /// Copies `bytes` <= line_payload of the next line. Precondition: it has come.
  void take_line(std::byte* into, std::size_t bytes) {
    std::memcpy(into, front_->line(taken_ & last_).payload, bytes);
    took(1);
  }

  /// Copies whole lines, at least one, that hold a message of so many bytes; waits for each with wait().
  template <class Wait>
  void take_lines(std::byte* into, std::size_t bytes, awaited const& m, Wait wait) {
    while (!has_line(m)) wait();
    std::uint32_t number = taken_;
    std::uint32_t const end = number + lines_for(bytes);
    for (;;) {
      std::memcpy(into, front_->line(number & last_).payload, line_payload);
      into += line_payload;
      if (++number == end) break;
      while ((stamp_of(number) >> 8 & 0xff) != ((number + 1) & 0xff)) wait();
    }
    took(end - taken_);
  }

  /// The next chunk; null as long as its beginning, so many bytes, has not come.
  std::byte const* chunk(std::size_t beginning, awaited const& m) {
    if (opened_ != m.tag && !open(m)) return nullptr;
    return reaches(tail_ + sizeof(chunk_header) + beginning) ? ring_at_tail() + sizeof(chunk_header) : nullptr;
  }
  /// The chunk may be overwritten.
  void release(std::size_t bytes) {
    opened_ = chunk_header::gap;
    tail_ += chunk_header::whole(bytes);
    back_->taken.store(tail_, std::memory_order_release);
  }

  /// Whether there is a line or a chunk that is not one of an earlier call.
  bool has_news(message_tag const& call) {
    std::uint64_t const stamp = stamp_of(taken_);
    if ((stamp >> 8 & 0xff) == ((taken_ + 1) & 0xff) && call.ahead(stamp >> 16) >= 0) return true;
    chunk_header const* const next = next_chunk();
    return next && call.ahead(next->tag) >= 0;
  }

  /// A message has been read where it is; its sender may go on.
  void has_read() { back_->read.store(++read_, std::memory_order_release); }
  /// It can not be read; its sender is to send it another way.
  void refuse() {
    back_->refused.store(read_ + 1, std::memory_order_relaxed);
    has_read();
  }

 private:
  friend class shared_host;

  std::uint64_t stamp_of(std::uint32_t line) const {
    return front_->line(line & last_).stamp.load(std::memory_order_acquire);
  }
  void took(std::uint32_t lines) {
    std::uint32_t const before = taken_;
    taken_ += lines;
    if (reverse_) {   // what other lines of a message say is nothing
      reverse_->heard_ += static_cast<std::uint32_t>(
          front_->line((taken_ - 1) & last_).stamp.load(std::memory_order_relaxed) & 0xff);
      if (static_cast<std::int32_t>(reverse_->heard_ - reverse_->taken_) > 0) reverse_->taken_ = reverse_->heard_;
    }
    if ((before ^ taken_) >= lines_reported) back_->lines.store(taken_, std::memory_order_release);
  }

  // A line with another tag: true if it will do, otherwise it is passed over.
  [[gnu::noinline, gnu::cold]] bool is_accepted(awaited const& m, std::uint64_t tag) {
    if (m.by->hears(m.from, m.tag, tag)) return true;
    std::byte const* address = nullptr;
    if (tag & message_tag::address)
      std::memcpy(&address, front_->line(taken_ & last_).payload, sizeof address);
    if (address) has_read();   // its sender does not wait any more, but counts
    took(1);
    return false;
  }

  std::byte const* ring_at_tail() { return ring() + tail_ % capacity_; }
  bool reaches(std::uint64_t end) {
    if (head_ < end) head_ = front_->put.load(std::memory_order_acquire);
    return head_ >= end;
  }
  // Null as long as there is none.
  chunk_header const* next_chunk() {
    while (reaches(tail_ + 1)) {
      auto const* const next = reinterpret_cast<chunk_header const*>(ring_at_tail());
      if (next->tag != chunk_header::gap) return next;
      tail_ += next->bytes;
    }
    return nullptr;
  }
  bool open(awaited const& m) {
    while (chunk_header const* const next = next_chunk()) {
      if (next->tag == m.tag || m.by->hears(m.from, m.tag, next->tag)) {
        opened_ = m.tag;
        return true;
      }
      std::size_t const bytes = next->bytes;
      if (!reaches(tail_ + chunk_header::whole(bytes))) return false;
      release(bytes);
    }
    return false;
  }

  std::byte const* ring();

  shared_host* host_;
  channel_front const* front_ = nullptr;   // host_ sets it before the channel is used
  std::byte const* ring_ = nullptr;
  std::uint32_t last_;   // line
  std::size_t capacity_;
  std::uint32_t taken_ = 0;
  std::uint64_t opened_ = chunk_header::gap;   // the chunk at the tail is of this message
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
  bool spin = false;                      ///< every rank has a core: poll; otherwise, or if that does not pay, give way
  void (*wait)(void* context) = nullptr;  ///< gives way, and lets happen what else must; may throw
  /// Copies from the memory of a rank of the host; false where the system does not let it. Null where it never does.
  bool (*read)(void* context, int from, std::byte* into, std::byte const* address, std::size_t bytes) = nullptr;
  /// Whether a rank of the host has ended.
  bool (*gone)(void* context, int rank) = nullptr;
  bool ranks_may_leave = false;   ///< a rank that has made its part of all calls may end before others
};

/// A rank's ends of all channels of its host.
class shared_host {
 public:
  /// `segments`: one per rank of the host, of segment_layout(ranks).bytes() zero bytes each. `places`: for each rank of
  /// the communicator its place on this host or nobody; empty where the host has all of them.
  shared_host(int me, std::vector<std::byte*> segments, host_memory& memory, std::vector<int> places,
              surroundings around)
      : around_(around), me_(static_cast<std::size_t>(me)), segments_(std::move(segments)), memory_(memory),
        places_(std::move(places)), lines_(lines_of_host(segments_.size())),
        patience_(around.spin ? many_polls : 1) {
    int const ranks = static_cast<int>(segments_.size());
    std::size_t const q = segments_.size();
    segment_layout const layout(ranks);
    auto const back = [&](int rank, int from, bool of_all) -> auto& {
      std::byte* const segment = segments_[static_cast<std::size_t>(rank)];
      return *reinterpret_cast<channel_back*>(segment + layout.back(from, of_all));
    };
    out_.reserve(q + 1), in_.reserve(q), in_all_.reserve(q);   // pointers into them are kept
    std::vector<channel_back const*> readers;
    for (int r = 0; r < ranks; ++r) {
      auto const to = static_cast<std::size_t>(r);
      out_.emplace_back(*this, lines_, layout.capacity(to), std::vector<channel_back const*>{&back(r, me, false)});
      in_.emplace_back(*this, lines_, layout.capacity(me_), back(me, r, false));
      in_all_.emplace_back(*this, lines_, layout.capacity(q), back(me, r, true));
      out_[to].reverse_taken_ = &in_[to].taken_;
      in_[to].reverse_ = &out_[to];
      if (r != me) readers.push_back(&back(r, me, true));
      records_.push_back(reinterpret_cast<rank_record*>(segments_[to] + layout.record()));
    }
    if (readers.empty()) readers.push_back(&back(me, me, true));
    out_.emplace_back(*this, lines_, layout.capacity(q), std::move(readers));
    largest_chunk_ = std::min<std::size_t>(32 * 1024, layout.capacity(0) / 4);
  }
  shared_host(shared_host const&) = delete;
  shared_host& operator=(shared_host const&) = delete;

  bool whole() const { return places_.empty(); }
  bool has(int rank) const { return places_.empty() || places_[static_cast<std::size_t>(rank)] >= 0; }
  /// Ends of channels, ready for use. The first use may throw std::bad_alloc.
  outlet& to(int rank) { return ready(out_[place(rank)]); }
  outlet& to_all() { return ready(out_.back()); }
  inlet& from(int rank) { return ready(in_[place(rank)]); }
  inlet& from_all(int rank) { return ready(in_all_[place(rank)]); }

  /// Afterwards messages of so many bytes allocate nothing.
  void make_ready(outlet& to, std::size_t bytes) {
    if (!in_lines(bytes)) to.ring();
  }
  /// Whether a message of so many bytes goes in lines.
  bool in_lines(std::size_t bytes) const { return bytes <= lines_.longest(); }

  /// Elements in a chunk of a message of so many bytes. At least one; see fits().
  std::size_t chunk_of(std::size_t element_size, std::size_t bytes) const {
    std::size_t const wanted = std::min(largest_chunk_, bytes <= 16 * 1024 ? 8 * 1024 : largest_chunk_);
    return std::max<std::size_t>(1, wanted / element_size);
  }
  /// Whether elements of this size go through the rings: with a chunk's header up to 64 KiB on hosts of at most 3
  /// ranks, 32 KiB of at most 5, 16 KiB of at most 9, 8 KiB of at most 17, 4 KiB of at most 33, 2 KiB of more.
  bool fits(std::size_t element_size) const { return chunk_header::whole(element_size) <= 2 * largest_chunk_; }

  /// Whether a message of so many bytes is announced, and read where it is if its sender can leave it there.
  bool announces(std::size_t bytes) const { return bytes >= announced_from_; }
  void announce_from(std::size_t bytes) { announced_from_ = bytes; }
  bool read(int rank, std::byte* into, std::byte const* address, std::size_t bytes) const {
    return around_.read(around_.context, static_cast<int>(place(rank)), into, address, bytes);
  }
  bool can_read() const { return around_.read != nullptr; }

  bool spins() const { return around_.spin; }
  /// To be called between two polls; `polls` is 0 at the first of them. True now and then: time to look whether the
  /// others are still there.
  bool wait(unsigned& polls) const {
    if (++polls == 1 && around_.spin) waits_anew();
    if ((polls & (patience_ - 1)) != 0) {
      relax();
      return false;
    }
    wait_longer();
    return around_.spin || polls % 64 == 0;
  }

  /// The records of this host's ranks, by place.
  rank_record& my_record() { return *records_[me_]; }
  void give_up(std::uint32_t number, std::string_view why) noexcept {
    given_up_ = number;
    // A rank that gives up because another one has hands its reason on.
    if (auto const at = why.find(given_up_by); at != why.npos)
      return my_record().give_up(number, why.substr(at + given_up_by.size()));
    try {
      std::string const me = "rank " + std::to_string(rank_at(me_));
      my_record().give_up(number, me + ": " + std::string(why));
    } catch (std::bad_alloc const&) {
      my_record().give_up(number, why);
    }
  }
  /// The latest call that this rank gave up; 0: none.
  std::uint32_t given_up() const { return given_up_; }
  std::span<rank_record* const> records() const { return records_; }
  rank_record const& record_of(int rank) const { return *records_[place(rank)]; }
  /// The rank of the communicator at a place.
  int rank_at(std::size_t its_place) const {
    if (places_.empty()) return static_cast<int>(its_place);
    return static_cast<int>(std::find(places_.begin(), places_.end(), static_cast<int>(its_place)) - places_.begin());
  }
  bool is_gone(int rank) const { return around_.gone && around_.gone(around_.context, static_cast<int>(place(rank))); }
  bool ranks_may_leave() const { return around_.ranks_may_leave; }

 private:
  std::size_t place(int rank) const {
    return static_cast<std::size_t>(places_.empty() ? rank : places_[static_cast<std::size_t>(rank)]);
  }

  // Polls, powers of two: after so many MPI may have to make progress for a peer that is not here yet (some 100 us);
  // the few last longer than the copying of a chunk, then somebody else may need the core.
  static constexpr unsigned many_polls = 4096, few_polls = 512;
  // Many polls that see nothing, so often with hardly a wait between them that was shorter: polling is of no use, for
  // so many waits.
  static constexpr unsigned most_fruitless = 8, weight = 16, quiet_waits = 256;

  void waits_anew() const {
    if (patience_ == many_polls) fruitless_ -= fruitless_ > 0;
    else if (++quiet_ == quiet_waits) patience_ = many_polls, fruitless_ = 0;
  }
  [[gnu::noinline]] void wait_longer() const {
    if (patience_ == many_polls && (fruitless_ += weight) >= most_fruitless * weight) patience_ = few_polls, quiet_ = 0;
    around_.wait(around_.context);
  }

  template <class End>
  End& ready(End& end) {
    if (end.front_ == nullptr) [[unlikely]] open(end);
    return end;
  }
  // Whichever end comes first allocates, so that none waits for the other; if both do, one of them takes its own back.
  [[gnu::cold]] void open(outlet& end) {
    auto const to = static_cast<std::size_t>(&end - out_.data());
    end.front_ = front(places_of(me_, to));
  }
  [[gnu::cold]] void open(inlet& end) {
    auto const [writer, to] = channel_of(end);
    end.front_ = front(places_of(writer, to));
  }
  std::pair<std::size_t, std::size_t> channel_of(inlet const& end) const {
    bool const of_all = !(&end >= in_.data() && &end < in_.data() + in_.size());
    return {static_cast<std::size_t>(&end - (of_all ? in_all_ : in_).data()), of_all ? segments_.size() : me_};
  }
  channel_places& places_of(std::size_t writer, std::size_t to) const {
    segment_layout const layout(static_cast<int>(segments_.size()));
    return *reinterpret_cast<channel_places*>(segments_[writer] + layout.places(to));
  }
  std::uint64_t mine(std::uint64_t offset) const { return std::uint64_t{me_ + 1} << 48 | offset; }
  std::byte* at(std::uint64_t place) const {
    return memory_.at(static_cast<int>(place >> 48) - 1, place & ((std::uint64_t{1} << 48) - 1));
  }
  channel_front* front(channel_places& its) {
    std::uint64_t known = its.front.load(std::memory_order_acquire);
    if (known == 0) {
      std::uint64_t const fresh = mine(memory_.allocate(channel_front::bytes(lines_)));
      std::memset(at(fresh), 0, channel_front::bytes(lines_));
      if (its.front.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) known = fresh;
      else memory_.take_back();
    }
    return reinterpret_cast<channel_front*>(at(known));
  }
  // A reader asks for it when the first chunk has come: then it is there.
  [[gnu::cold]] std::byte* ring_of(outlet const& end) {
    channel_places& its = places_of(me_, static_cast<std::size_t>(&end - out_.data()));
    std::uint64_t const fresh = mine(memory_.allocate(end.capacity_));
    its.ring.store(fresh, std::memory_order_release);
    return at(fresh);
  }
  [[gnu::cold]] std::byte const* ring_of(inlet const& end) const {
    auto const [writer, to] = channel_of(end);
    return at(places_of(writer, to).ring.load(std::memory_order_acquire));
  }

  friend class outlet;
  friend class inlet;

  surroundings around_;
  std::size_t me_;
  std::vector<std::byte*> segments_;
  host_memory& memory_;
  std::vector<int> places_;
  line_numbers lines_;
  std::uint32_t given_up_ = 0;
  std::vector<rank_record*> records_;
  std::vector<outlet> out_;
  std::vector<inlet> in_, in_all_;
  std::size_t largest_chunk_ = 0, announced_from_ = static_cast<std::size_t>(-1);
  unsigned mutable patience_, fruitless_ = 0, quiet_ = 0;
};

inline std::byte* outlet::ring() {
  if (ring_ == nullptr) [[unlikely]] ring_ = host_->ring_of(*this);
  return ring_;
}
inline std::byte const* inlet::ring() {
  if (ring_ == nullptr) [[unlikely]] ring_ = host_->ring_of(*this);
  return ring_;
}

}  // namespace colligo
