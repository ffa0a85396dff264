// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's ends of all channels of its host, and how it waits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/row.hpp"
#include "../core/run_list.hpp"
#include "../core/transport.hpp"
#include "../core/strings.hpp"
#include "../engine/waits.hpp"
#include "audience.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Relaxes the core for hyper-threads and power while a rank polls.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Functions that a transport provides beside the memory. Contexts are its own.
struct surroundings {
  void* context = nullptr;
  bool spin = false;                      ///< every rank has a core: poll; otherwise, or if that does not pay, yield
  bool polls_first = false;               ///< these ranks could all run at once, but others need the cores too
  void (*wait)(void* context) = nullptr;  ///< yields, and does other work that must not wait; may throw
  /// Copies from the memory of a rank of the host; false if the system does not allow it. Null if it never does.
  bool (*read)(void* context, int from, std::byte* into, std::byte const* address, std::size_t bytes) = nullptr;
  /// Whether a rank of the host has ended.
  bool (*gone)(void* context, int rank) = nullptr;
  bool ranks_may_leave = false;   ///< a rank that has made all its calls may end before others
};

/// A rank's ends of all channels of its host.
class shared_host {
 public:
  /// Allocates all of its memory. `places`: for each rank of the communicator its place on this host or nobody; empty
  /// if the host has all of them.
  shared_host(int me, std::size_t ranks, host_memory& memory, std::vector<int> places);
  ~shared_host();
  /// Called first. `segment_of(place)`: the segment of each rank, of segment_layout(ranks).bytes() zero bytes.
  /// Allocates nothing.
  template <class SegmentOf>
  [[gnu::cold]] void open(SegmentOf segment_of, surroundings around) {
    around_ = around;
    patience_ = around.spin ? many_polls : around.polls_first ? brief_polls : 1;
    for (std::size_t r = 0; r < records_.size(); ++r)
      records_[r] = reinterpret_cast<rank_record*>(segment_of(r) + segment_layout::record());
  }
  shared_host(shared_host const&) = delete;
  shared_host& operator=(shared_host const&) = delete;

  bool whole() const { return places_.empty(); }
  bool has(int rank) const { return places_.empty() || places_[static_cast<std::size_t>(rank)] >= 0; }
  /// Ends of channels, ready for use. The first use may throw std::bad_alloc.
  outlet& to(int rank) {
    outlet& end = pairs_[place(rank)]->out;
    return end.front_ ? end : open_to(place(rank));
  }
  inlet& from(int rank) {
    inlet& end = pairs_[place(rank)]->in;
    return end.front_ ? end : open_from(place(rank));
  }
  outlet& to(audience& all) { return all.out_.front_ ? all.out_ : open_to(all); }
  inlet& from(audience& all, int rank) {
    std::size_t const member = all.its_ ? all.member(static_cast<int>(place(rank))) : place(rank);
    inlet& end = *all.in_[member];
    return end.front_ ? end : open_from(all, member);
  }
  /// The audience to which a step's list is published; null if each peer gets its own message. The first use may throw
  /// std::bad_alloc.
  audience* audience_of(std::span<operand const> list, list_kind kind) {
    if (kind == list_kind::published && publishes()) return all_ ? all_ : all();
    if (kind != list_kind::published_among || list.size() <= 2) return nullptr;
    for (audience* const a : audiences_)
      if (is_of(*a, list)) return a->is_there_ ? a : nullptr;
    return form(list);
  }

  /// Afterwards messages too long for lines allocate nothing.
  void make_ready(outlet& to) { to.ring(); }
  /// Bytes of the longest message of a call in lines.
  std::size_t longest_in_lines(bool has_root) const {
    bool const is_set = limits_.lines != limits_.as_it_is;
    return std::min((has_root || is_set ? lines_.from_root : lines_.from_all) * line_payload, limits_.lines);
  }

  /// Elements in a chunk. At least one; see fits().
  std::size_t chunk_of(std::size_t element_size) const {
    return std::max<std::size_t>(1, std::min(largest_chunk_, limits_.chunks) / element_size);
  }
  /// Bytes of the longest message that goes in one chunk, announced as a whole, from any rank to any other one.
  std::size_t longest_in_one_chunk() const {
    std::size_t const ring = std::min({part_of_chunk, largest_chunk_, limits_.chunks});
    return can_read() && limits_.read_from != limits_.by_ring && limits_.read_from <= ring ? 0 : ring;
  }
  /// Whether elements of this size fit into the rings: with a chunk's header up to 64 KiB on hosts of at most 9 ranks,
  /// 32 KiB of at most 16, 8 KiB of 17, 4 KiB of at most 33, 2 KiB of more.
  bool fits(std::size_t element_size) const { return chunk_header::whole(element_size) <= 2 * largest_chunk_; }

  /// Whether a line announces a message of that length, which is read in place if its sender leaves it there. Where
  /// ranks share cores, that is by default what `ring` bytes do not hold, because writer and reader would take turns on
  /// one core for each ring full; where they do not, it is what may be quicker to exchange in place: messages to one
  /// rank each, in calls in which all send (`crosses`). Not what is combined, which saves a copy in the ring.
  bool announces(std::size_t bytes, std::size_t ring, bool combines, bool crosses) const {
    if (!can_read()) return false;
    if (reads_as_asked()) return bytes >= limits_.read_from;
    return !combines && (spins() ? crosses && bytes >= least_exchanged_in_place : bytes > ring);
  }
  bool reads_as_asked() const { return limits_.read_from != limits_.by_ring; }
  /// Where ranks have cores of their own: whether messages that cross in a step are read in place.
  bool exchanges_in_place() const { return exchange_.second; }
  /// Chooses so for the next such step, of which this rank sends so many bytes. Returns whether to report its time. The
  /// other end of a channel follows one step later, so each choice holds for two; the least time counts.
  bool begin_exchange(std::size_t bytes) {
    exchange& its = exchange_of(bytes);
    if (its.steps++ % 2 == 0) its.now = its.choice.next();
    exchange_ = its.now;
    return exchange_.timed;
  }
  void exchanged(std::size_t bytes, std::uint64_t cycles) {
    exchange_of(bytes).choice.took(exchange_.second, bytes, cycles);
  }
  void announce_from(std::size_t bytes) { limits_.read_from = bytes; }
  void limit(memory_limits const& its) { limits_ = its; }
  /// How to store the next part of a result of that length.
  way_to_take next_result(std::size_t bytes) {
    return bytes < least_streamed_result ? way_to_take{} : next_by(results_);
  }
  void stored(way_to_take by, std::size_t bytes, std::uint64_t cycles) { results_.took(by.second, bytes, cycles); }
  bool read(int rank, std::byte* into, std::byte const* address, std::size_t bytes) const {
    return around_.read(around_.context, static_cast<int>(place(rank)), into, address, bytes);
  }
  bool can_read() const { return around_.read != nullptr; }

  bool spins() const { return around_.spin; }
  /// Called between two polls; `polls` is 0 at the first of them. Returns true now and then: time to look whether the
  /// others are still there.
  bool wait(unsigned& polls) const {
    if (++polls == 1 && around_.spin) waits_anew();
    if ((polls & (patience_ - 1)) != 0) {
      relax();
      return false;
    }
    wait_longer();
    return around_.spin || polls % (64 * patience_) == 0;
  }

  /// A call that this rank has entered here; hash 0: nothing is known of it.
  struct latest_call {
    std::uint32_t number = 0;
    std::uint64_t hash = 0;
  };
  /// Enters a call, and returns the one before. If this rank has abandoned a call in between, others may not have
  /// entered that one, or the other way round: then the call before does not count.
  latest_call follow(std::uint32_t number, std::uint64_t hash) {
    latest_call before = std::exchange(latest_, {number, hash});
    if (static_cast<std::int32_t>(latest_abandoned_ - before.number) >= 0) before.hash = 0;
    return before;
  }

  /// The records of this host's ranks, by place.
  rank_record& my_record() { return *records_[me_]; }
  [[gnu::cold]] void abandon_call(std::uint32_t number, std::string_view why) noexcept {
    latest_abandoned_ = number;
    // A rank that abandons a call because another rank has passes that rank's reason on.
    if (auto const at = why.find(abandoned_by); at != why.npos)
      return my_record().abandoned.add(number, why.substr(at + abandoned_by.size()));
    try {
      my_record().abandoned.add(number, concat({"rank ", rank_at(me_), ": ", why}));
    } catch (std::bad_alloc const&) {
      my_record().abandoned.add(number, why);
    }
  }
  /// The latest call that this rank abandoned; 0: none.
  std::uint32_t latest_abandoned() const { return latest_abandoned_; }
  std::span<rank_record* const> records() const { return records_; }
  rank_record const& record_of(int rank) const { return *records_[place(rank)]; }
  /// The rank of the communicator at a place.
  int rank_at(std::size_t its_place) const {
    if (places_.empty()) return static_cast<int>(its_place);
    int rank = 0;
    while (places_[static_cast<std::size_t>(rank)] != static_cast<int>(its_place)) ++rank;
    return rank;
  }
  bool is_gone(int rank) const { return around_.gone && around_.gone(around_.context, static_cast<int>(place(rank))); }
  bool ranks_may_leave() const { return around_.ranks_may_leave; }
  void report_waits(patience* its) { on_wait_ = its; }

 private:
  std::size_t place(int rank) const {
    return static_cast<std::size_t>(places_.empty() ? rank : places_[static_cast<std::size_t>(rank)]);
  }

  // Polls, powers of two: after so many MPI may have to make progress for a peer that is late (some 100 us); after the
  // few, which last longer than copying a chunk, another process may need the core.
  static constexpr unsigned many_polls = 4096, few_polls = 512;
  // As long as a context switch: a running peer answers before that.
  static constexpr unsigned brief_polls = 32;
  // After so many long waits with hardly a shorter one in between polling is useless, and the rank yields at once for
  // so many waits.
  static constexpr unsigned most_fruitless = 8, weight = 16, quiet_waits = 256;

  void waits_anew() const {
    if (patience_ == many_polls) fruitless_ -= fruitless_ > 0;
    else if (++quiet_ == quiet_waits) patience_ = many_polls, fruitless_ = 0;
  }
  [[gnu::noinline]] void wait_longer() const {
    if (patience_ == many_polls && (fruitless_ += weight) >= most_fruitless * weight) patience_ = few_polls, quiet_ = 0;
    around_.wait(around_.context);
    if (on_wait_) on_wait_->waits();
  }

  struct exchange {
    quicker_way<pace_of_exchanges> choice;
    way_to_take now{};
    unsigned steps = 0;
  };
  exchange& exchange_of(std::size_t bytes) {
    return exchanges_[(bytes >= 4 * least_exchanged_in_place) + (bytes >= 16 * least_exchanged_in_place)];
  }

  // Between two ranks an ordinary message is quicker.
  bool publishes() const { return records_.size() > 2 && whole(); }
  channel_pair& pair_with(std::size_t peer);
  outlet& open_to(std::size_t peer);
  inlet& open_from(std::size_t peer);
  outlet& open_to(audience& all);
  inlet& open_from(audience& all, std::size_t member);
  void open(outlet& end, std::size_t readers);
  void open(inlet& end, std::size_t readers, std::size_t me);

  bool is_of(audience const& its, std::span<operand const> list) const;
  audience* form(std::span<operand const> list);
  audience* all();
  audience* add(row<int>&& places, audience_record* its, std::size_t capacity);
  audience_record* record_of(row<int> const& places);

  segment_layout layout() const { return segment_layout(static_cast<int>(records_.size())); }
  template <class T>
  T& in_segment(std::size_t rank, std::size_t offset) const {
    return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(records_[rank]) + offset);
  }
  channel_places& channel(std::size_t writer, std::size_t to) const {
    return in_segment<channel_places>(writer, segment_layout::channel(to));
  }
  channel_places& channel(audience const& all, std::size_t member) const {
    return all.its_ ? all.its_->channel(member) : channel(member, records_.size());
  }
  std::uint64_t mine(std::uint64_t offset) const { return std::uint64_t{me_ + 1} << 48 | offset; }
  std::byte* at(std::uint64_t place) const {
    return memory_.at(static_cast<int>(place >> 48) - 1, place & ((std::uint64_t{1} << 48) - 1));
  }
  channel_front& front(channel_places& its, std::size_t readers);
  std::byte* ring_of(outlet const& end);
  std::byte const* ring_of(inlet const& end) const;

  template <class... Arguments>
  way_to_take next_by(store_choice& its, Arguments const&... arguments) const {
    if (limits_.stores == stores_setting::measured) return its.next(arguments...);
    return {limits_.stores == stores_setting::streaming, false};
  }

  friend class outlet;
  friend class inlet;

  surroundings around_;
  std::size_t me_;
  host_memory& memory_;
  run_list places_;
  line_numbers lines_;
  std::uint32_t latest_abandoned_ = 0;
  latest_call latest_;
  row<rank_record*> records_;
  channel_pair closed_;         // stands for all that nobody has used
  row<channel_pair*> pairs_;    // with each rank; owned once used
  row<audience*> audiences_;    // owned
  audience* all_ = nullptr;     // one of them
  std::size_t largest_chunk_ = 0;
  memory_limits limits_;
  store_choice results_;
  std::array<exchange, 3> exchanges_;   // by length, each four times that of the one before
  way_to_take exchange_{};   // the latest
  unsigned mutable patience_ = 1, fruitless_ = 0, quiet_ = 0;
  patience* on_wait_ = nullptr;
};

inline std::byte* outlet::ring() {
  if (ring_ == nullptr) [[unlikely]] ring_ = host_->ring_of(*this);
  return ring_;
}
inline way_to_take outlet::next_store(bool one_way) {
  // The first use of a page takes longer than the copy.
  if (head_ < capacity_ && host_->limits_.stores == stores_setting::measured) return {};
  return host_->next_by(stores_, one_way, [this](bool streams) {
    std::uint32_t most = 0;
    for (channel_back const& back : backs_) most = std::max(most, back.cost[streams].load(std::memory_order_relaxed));
    return most;
  });
}
// Either the sender sees that this rank reads, and waits, or this rank sees that the sender has withdrawn it.
inline bool inlet::read(int rank, std::byte* into, std::byte const* address, std::size_t bytes) {
  back_->reading = true;
  bool const has_read = front_->withdrawn <= read_ && host_->read(rank, into, address, bytes);
  back_->reading = false;
  return has_read;
}
inline bool inlet::has_ring() {
  if (ring_ == nullptr) [[unlikely]] ring_ = host_->ring_of(*this);
  return ring_ != nullptr;
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_host_body.hpp"
#endif
