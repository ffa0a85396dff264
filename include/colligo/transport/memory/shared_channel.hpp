// SPDX-License-Identifier: BSL-1.0
/// @file
/// One-way channels between ranks that share memory: from each rank to each other one, and from each rank to all others
/// at once. A message takes one of three ways, which both ends choose by its length. Short messages travel in cache
/// lines with a sequence number each, so that data and flag are one transfer; longer ones in chunks through a ring of
/// bytes. For the longest a line may carry the address, and the reader reads the message in place, in the sender's
/// memory. If the system forbids that (secret memory, a device's), it refuses the message, which then takes the ring.
///
/// A channel allocates its memory on first use, so a host of q ranks needs, in bytes,
///
///     q * (3.6 Ki + 16 (q + 1))       for the segments, all that an unused communicator has,
///     + 8.3 KiB for each channel in use (a pair of ranks has one each way; each rank has one to all), 2.3 KiB where
///       q > 32, and 128 for each reader but the first; 2 or 4 times that where cache lines have 128 or 256 bytes, and
///       256 a reader where the system is asked for their length
///     + a ring for each channel with messages that are too long for lines (longer than 1.5 KiB; than 1.4 KiB in calls
///       without a root; than 448 bytes where q > 32):
///       256 KiB for the one to all (64 KiB where q > 16), otherwise max(4 KiB, 256 KiB / (q - 1) rounded down to a
///       power of two), up to q = 16 min(512 KiB, 1 MiB / (q - 1)); to some ranks as to one, at least 64 KiB, for
///       q > 16 at least 16 KiB, for q > 64 at least 8 KiB.
///
/// 128 ranks that each talk to 18 others: 0.7 + 5.1 + 9 MiB; to all: 0.7 + 2.2 + 8 MiB; all pairs of 128 ranks, with
/// long messages: 0.7 + 36 + 64 MiB. A rank's own memory is 24 bytes for each other rank, and 300 for each channel.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "../../core/copy.hpp"
#include "../../core/view.hpp"
#include "shared_layout.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class receiver;
class shared_host;

/// The writing end.
class sender {
 public:
  sender(shared_host& host, line_numbers lines, std::size_t capacity)
      : host_(&host), place_(lines), capacity_(capacity) {}
  std::size_t capacity() const { return capacity_; }   ///< bytes of its ring

  bool has_room_for(std::uint32_t lines) {
    if (put_ + lines - taken_ <= place_.last() + 1) return true;
    std::uint32_t behind = 0;
    for (channel_back const& back : backs_)
      behind = std::max(behind, put_ - back.lines.load(std::memory_order_acquire));
    taken_ = put_ - std::min(behind, put_ - taken_);   // acknowledgements may have reported more
    return put_ + lines - taken_ <= place_.last() + 1;
  }

  /// Puts a message of 1 byte or more. Precondition: has_room_for its lines.
  void put_lines(std::byte const* from, std::size_t bytes, std::uint64_t tag) {
    std::uint32_t number = put_;
    std::uint32_t const ahead = std::min(lines_for(bytes), most_ahead);
    for (; bytes > line_payload; from += line_payload, bytes -= line_payload) {
      prefetch(number + ahead);
      stamped_line& line = front_->line(place_(number));
      std::memcpy(line.payload, from, line_payload);
      line.stamp.store(stamp(tag, ++number), std::memory_order_release);
    }
    prefetch(number + ahead);
    stamped_line& line = front_->line(place_(number));
    copy_few<cache_line / 2>(from, bytes, line.payload);
    line.stamp.store(stamp(tag, ++number) | acknowledgement(), std::memory_order_release);
    put_ = number;
  }
  /// The same for a constant length of one line at most.
  template <std::size_t Bytes>
  void put_line(std::byte const* from, std::uint64_t tag) {
    prefetch(put_ + 1);
    stamped_line& line = front_->line(place_(put_));
    std::memcpy(line.payload, from, Bytes);
    line.stamp.store(stamp(tag, ++put_) | acknowledgement(), std::memory_order_release);
  }

  /// Where the data of the next chunk goes; null while the ring has no room. `one_way`: the writer has nothing to read.
  /// Precondition: the chunk with its header takes at most half of the ring.
  std::byte* room_for(std::size_t bytes, std::uint64_t tag, bool one_way = false) {
    ring_place const place(head_, bytes, capacity_);
    if (place.end + sizeof(chunk_header) - tail_ > capacity_) {
      tail_ = least([](channel_back const& back) -> auto& { return back.taken; });
      if (place.end + sizeof(chunk_header) - tail_ > capacity_) return nullptr;
    }
    if (place.gap != 0) {
      begin({chunk_header::gap, place.gap}, place.begin);
      announce(place.gap);
      head_ = place.begin;
    }
    if (std::size_t const needed = place.at + (place.end - place.begin) + sizeof(chunk_header);
        touched_ < capacity_ && needed > touched_) [[unlikely]]
      touch(needed);
    begin({tag, bytes, bytes < least_streamed ? way_to_take{} : next_store(one_way)}, place.end);
    return ring() + place.at + sizeof(chunk_header);
  }
  /// Copies a part of the chunk's data there.
  void copy(std::byte* to, std::byte const* from, std::size_t bytes) const {
    if (next_.store.second) copy_streaming(to, from, bytes);
    else copy_bytes(from, bytes, to);
  }
  /// Whether to report how long the copy takes.
  bool is_timed() const { return next_.store.timed; }
  void took(std::size_t bytes, std::uint64_t cycles) { stores_.took(next_.store.second, bytes, cycles); }

  /// Announces the first `bytes` bytes of the chunk; the others follow.
  void put_part(std::size_t bytes) { announce(bytes); }
  /// Announces the whole chunk.
  void put() {
    announce(next_.bytes);
    head_ += chunk_header::whole(next_.bytes);
  }

  /// Counts one more message that the readers read in place.
  void offer() { ++offered_; }
  bool all_read() const { return least([](channel_back const& back) -> auto& { return back.read; }) >= offered_; }
  /// Before the memory of offered messages changes: waits for readers that are reading it. left(k): reader k has ended.
  template <class Left>
  void withdraw(Left left) {
    front_->withdrawn.store(offered_);
    for (std::size_t k = 0; k < backs_.size(); ++k)
      while (backs_[k].reading && !left(k)) sched_yield();
  }
  /// Whether a reader has refused the latest offered message. Precondition: all_read().
  bool is_refused_by(std::size_t reader) const {
    return offered_ != 0 && backs_[reader].refused.load(std::memory_order_relaxed) == offered_;
  }

 private:
  friend class shared_host;

  // A message prefetches the lines of the next one of its length, but no more than this: the reader's core prefetches
  // too, and takes back lines that stay unwritten for long.
  static constexpr std::uint32_t most_ahead = 4;
  void prefetch(std::uint32_t number) const {
    if (number - taken_ <= place_.last()) prefetch_for_store(&front_->line(place_(number)));   // if the line is free
  }
  static std::uint64_t stamp(std::uint64_t tag, std::uint32_t number) { return tag << 16 | (number & 0xff) << 8; }
  std::uint64_t acknowledgement() {
    if (!reverse_taken_) return 0;
    std::uint32_t const news = std::min<std::uint32_t>(*reverse_taken_ - acknowledged_, 0xff);
    acknowledged_ += news;
    return news;
  }
  chunk_header& header(std::uint64_t at) { return *reinterpret_cast<chunk_header*>(ring() + (at & (capacity_ - 1))); }
  // The header behind the chunk, which readers will poll next, may hold bytes of an older chunk. It has to be cleared
  // before a reader gets there; here the transfer of its line overlaps with those of the chunk.
  void begin(chunk_label const& next, std::uint64_t end) {
    header(end).ready.store(0, std::memory_order_relaxed);
    next_ = next;
    is_announced_ = false;
  }
  void announce(std::size_t ready) {
    chunk_header& chunk = header(head_);
    if (!std::exchange(is_announced_, true)) chunk.what = next_;
    chunk.ready.store(ready, std::memory_order_release);
  }
  template <class Counter>
  std::uint64_t least(Counter counter) const {
    std::uint64_t smallest = counter(backs_[0]).load(std::memory_order_acquire);
    for (channel_back const& back : backs_.part(1, backs_.size() - 1))
      smallest = std::min(smallest, counter(back).load(std::memory_order_acquire));
    return smallest;
  }

  std::byte* ring();
  // Asks for the pages of the ring's first `bytes` and some more at once: one by one they take up to four times as long
  // as the copies.
  void touch(std::size_t bytes);
  way_to_take next_store(bool one_way);

  shared_host* host_;
  channel_addresses* addresses_ = nullptr;
  channel_front* front_ = nullptr;   // host_ sets it before the channel is used
  std::byte* ring_ = nullptr;
  line_places place_;
  std::size_t capacity_;       // a power of two
  std::size_t touched_ = 0;    // bytes of the ring whose pages this rank has
  std::uint32_t put_ = 0, taken_ = 0, heard_ = 0;  // lines; known to be taken; by acknowledgements alone
  std::uint32_t const* reverse_taken_ = nullptr;   // lines taken by the receiver from the same rank
  std::uint32_t acknowledged_ = 0;                 // how many of these have been acknowledged
  std::uint64_t head_ = 0, tail_ = 0, offered_ = 0;   // bytes written, and known to be taken; messages in place
  store_choice stores_;
  chunk_label next_{};   // of the chunk that room_for() has begun, or of the latest
  bool is_announced_ = false;
  view<channel_back const> backs_;   // of all readers; host_ sets them
  friend class receiver;
};

/// The reading end.
class receiver {
 public:
  receiver(shared_host& host, line_numbers lines, std::size_t capacity)
      : host_(&host), place_(lines), capacity_(capacity) {}
  std::size_t capacity() const { return capacity_; }

  /// Whether the next line has come: of the awaited message, or of another one that the listener accepts.
  bool has_line(awaited const& m) {
    for (;;) {
      std::uint64_t const stamp = stamp_of(taken_), other = (stamp >> 8) ^ (m.tag << 8 | ((taken_ + 1) & 0xff));
      if (other == 0) return true;
      if ((other & 0xff) != 0) return false;   // not the next line
      if (is_accepted(m, stamp >> 16)) return true;
    }
  }

  /// Looks at most `polls` times whether the line of the awaited message has come; true if it has.
  bool poll(awaited const& m, unsigned polls) const {
    std::uint64_t const wanted = m.tag << 8 | ((taken_ + 1) & 0xff);
    std::atomic<std::uint64_t> const& stamp = front_->line(place_(taken_)).stamp;
    while (polls > 0 && stamp.load(std::memory_order_acquire) >> 8 != wanted) --polls;
    return polls > 0;
  }

  /// False if it has been asked before with this number.
  bool is_first_look(std::uint64_t number) { return std::exchange(look_, number) != number; }

  /// Prefetches the announcement of the next message, so that lines of several ranks travel at the same time.
  void look_ahead(bool in_lines) const {
    if (in_lines) __builtin_prefetch(&front_->line(place_(taken_)));
    else if (ring_) __builtin_prefetch(&header());
  }

  /// Copies 1 to line_payload bytes of the next line. Precondition: it has come.
  void take_line(std::byte* into, std::size_t bytes) {
    copy_few<cache_line / 2>(front_->line(place_(taken_)).payload, bytes, into);
    took(1);
  }

  /// The payload of the next line, until took_line(). Precondition: it has come.
  std::byte const* line() const { return front_->line(place_(taken_)).payload; }
  void took_line() { took(1); }

  /// Copies a message of 1 byte or more from its lines; calls wait() while one has not come. `padded`: `into` has room
  /// for the whole last line, and a copy of a constant size is quicker.
  template <class Wait>
  void take_lines(std::byte* into, std::size_t bytes, awaited const& m, Wait const& wait, bool padded) {
    while (!has_line(m)) wait();
    take_arriving(into, bytes, wait, padded);
  }
  /// The same. Precondition: its first line has come.
  template <class Wait>
  void take_arriving(std::byte* into, std::size_t bytes, Wait const& wait, bool padded) {
    std::uint32_t number = taken_;
    for (; bytes > line_payload; into += line_payload, bytes -= line_payload) {
      std::memcpy(into, front_->line(place_(number)).payload, line_payload);
      ++number;
      while ((stamp_of(number) >> 8 & 0xff) != ((number + 1) & 0xff)) wait();
    }
    std::byte const* const last = front_->line(place_(number)).payload;
    if (padded) std::memcpy(into, last, line_payload);
    else copy_few<cache_line / 2>(last, bytes, into);
    took(number + 1 - taken_);
  }

  /// The data of the next chunk; null while its first `beginning` bytes have not come.
  std::byte const* chunk(std::size_t beginning, awaited const& m) {
    if (opened_ != m.tag && !open(m)) return nullptr;
    return is_ready(beginning) ? reinterpret_cast<std::byte const*>(&header() + 1) : nullptr;
  }
  /// Whether to report how long the use of the chunk takes. Precondition: its beginning has come.
  bool is_timed() const { return header().what.store.timed; }
  void took(std::size_t bytes, std::uint64_t cycles) {
    bool const streams = header().what.store.second;
    back_->cost[streams].store(cost_[streams].add(bytes, cycles), std::memory_order_relaxed);
  }
  /// The chunk may be overwritten.
  void release(std::size_t bytes) {
    opened_ = chunk_header::gap;
    pass(chunk_header::whole(bytes));
    back_->taken.store(tail_, std::memory_order_release);
  }

  /// Whether a line or a chunk of this or a later call has come.
  bool has_news(message_tag const& call) {
    std::uint64_t const stamp = stamp_of(taken_);
    if ((stamp >> 8 & 0xff) == ((taken_ + 1) & 0xff) && call.ahead(stamp >> 16) >= 0) return true;
    chunk_label const* const next = next_chunk();
    return next && call.ahead(next->tag) >= 0;
  }

  /// Reads a part of the next message in place. False if the system forbids it or the sender has withdrawn the message.
  bool read(int rank, std::byte* into, std::byte const* address, std::size_t bytes);
  /// Whether the latest announced message is read in place.
  bool is_in_place() const { return is_in_place_; }
  void announced(bool in_place) { is_in_place_ = in_place; }
  /// A message has been read in place: its sender may change the memory.
  void has_read() { back_->read.store(++read_, std::memory_order_release); }
  /// A message can not be read in place: its sender has to send it through a ring.
  void refuse() {
    back_->refused.store(read_ + 1, std::memory_order_relaxed);
    has_read();
  }

 private:
  friend class shared_host;

  std::uint64_t stamp_of(std::uint32_t line) const {
    return front_->line(place_(line)).stamp.load(std::memory_order_acquire);
  }
  void took(std::uint32_t lines) {
    std::uint32_t const before = taken_;
    taken_ += lines;
    look_ahead(true);   // the writer is often ahead
    if (reverse_) {   // only the last line of a message acknowledges
      reverse_->heard_ += static_cast<std::uint32_t>(
          front_->line(place_(taken_ - 1)).stamp.load(std::memory_order_relaxed) & 0xff);
      if (static_cast<std::int32_t>(reverse_->heard_ - reverse_->taken_) > 0) reverse_->taken_ = reverse_->heard_;
    }
    if ((before ^ taken_) >= lines_reported) back_->lines.store(taken_, std::memory_order_release);
  }

  // A line with another tag: true to accept it, otherwise it is skipped.
  [[gnu::noinline, gnu::cold]] bool is_accepted(awaited const& m, std::uint64_t tag) {
    if (m.by->hears(m.from, m.tag, tag)) return true;
    std::byte const* address = nullptr;
    if (tag & message_tag::address)
      std::memcpy(&address, front_->line(place_(taken_)).payload, sizeof address);
    if (address) has_read();   // the sender no longer waits for this, but has counted the message
    took(1);
    return false;
  }

  chunk_header const& header() const {
    return *reinterpret_cast<chunk_header const*>(ring_ + (tail_ & (capacity_ - 1)));
  }
  // Precondition: there is a ring.
  bool is_ready(std::size_t bytes) {
    if (ready_ < bytes) ready_ = header().ready.load(std::memory_order_acquire);
    return ready_ >= bytes;
  }
  void pass(std::size_t bytes) {
    tail_ += bytes;
    ready_ = 0;
  }
  // The label of the next chunk; null while none has come. Skips gaps.
  chunk_label const* next_chunk() {
    if (!has_ring()) return nullptr;
    while (is_ready(1)) {
      chunk_label const& next = header().what;
      if (next.tag != chunk_header::gap) return &next;
      pass(next.bytes);
    }
    return nullptr;
  }
  bool open(awaited const& m) {
    while (chunk_label const* const next = next_chunk()) {
      if (next->tag == m.tag || m.by->hears(m.from, m.tag, next->tag)) {
        opened_ = m.tag;
        return true;
      }
      if (!is_ready(next->bytes)) return false;
      release(next->bytes);
    }
    return false;
  }

  bool has_ring();

  shared_host* host_;
  channel_addresses* addresses_ = nullptr;
  channel_front const* front_ = nullptr;   // host_ sets it before the channel is used
  std::byte const* ring_ = nullptr;
  line_places place_;
  std::size_t capacity_;
  std::uint32_t taken_ = 0;                    // lines
  std::uint64_t opened_ = chunk_header::gap;   // the tag for which the chunk at the tail has been accepted
  sender* reverse_ = nullptr;                  // to the same rank, which acknowledges its lines here
  std::uint64_t tail_ = 0, ready_ = 0, read_ = 0;   // bytes taken; ready in the chunk at the tail; messages in place
  measured_cost cost_[2];                      // of using chunks, as in channel_back
  bool is_in_place_ = false;
  std::uint64_t look_ = 0;
  channel_back* back_ = nullptr;   // host_ sets it
};

}  // namespace colligo
