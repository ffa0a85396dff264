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

#include "../../core/small_vector.hpp"
#include "../../core/run_list.hpp"
#include "../../core/transport.hpp"
#include "../../core/strings.hpp"
#include "../../engine/waits.hpp"
#include "../../faults/sentences.hpp"
#include "reader_group.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Relaxes the core for hyper-threads and power while a rank polls.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What a transport provides beside the memory. It passes `context` to its functions.
struct surroundings {
  void* context = nullptr;
  bool spin = false;                      ///< every rank of the host has a core of its own: waits poll for long
  bool polls_first = false;               ///< every rank here has one, but other ranks of the host need the cores too
  void (*wait)(void* context) = nullptr;  ///< yields, and does other work that must not wait; may throw
  /// Copies from the memory of a rank; false if the system does not allow it for this memory. Null: for no memory.
  bool (*read)(void* context, int from, std::byte* into, std::byte const* address, std::size_t bytes) = nullptr;
  /// Whether a rank of the host has ended.
  bool (*gone)(void* context, int rank) = nullptr;
  bool ranks_may_leave = false;   ///< a rank that has ended may have made all of its calls
  bool tells_types = false;       ///< calls of different element types of one size are different calls
};

/// A rank's ends of all channels of its host.
class shared_host {
 public:
  /// Allocates, except for channels. `places`: for each rank of the communicator its place on this host, or nobody;
  /// empty if the host has all ranks. `line`: bytes of a cache line, the same on all ranks of the host.
  shared_host(int me, std::size_t ranks, host_memory& memory, std::vector<int> places, std::size_t line = cache_line);
  ~shared_host();
  /// Called before all others. segment_of(place): the segment of a rank, segment_layout(ranks).bytes() bytes, all zero
  /// at first. Allocates nothing.
  template <class SegmentOf>
  [[gnu::cold]] void open(SegmentOf segment_of, surroundings around) {
    around_ = around;
    polls_before_yield_ = around.spin ? many_polls : around.polls_first ? brief_polls : 1;
    for (std::size_t r = 0; r < records_.size(); ++r)
      records_[r] = reinterpret_cast<rank_record*>(segment_of(r) + segment_layout::record());
  }
  shared_host(shared_host const&) = delete;
  shared_host& operator=(shared_host const&) = delete;

  bool whole() const { return places_.empty(); }
  bool has(int rank) const { return places_.empty() || places_[static_cast<std::size_t>(rank)] >= 0; }
  /// Ends of channels to and from a rank of the communicator. The first use may throw std::bad_alloc.
  sender& to(int rank) {
    sender& end = pairs_[place(rank)]->out;
    return end.front_ ? end : open_to(place(rank));
  }
  receiver& from(int rank) {
    receiver& end = pairs_[place(rank)]->in;
    return end.front_ ? end : open_from(place(rank));
  }
  sender& to(reader_group& all) { return all.out_.front_ ? all.out_ : open_to(all); }
  receiver& from(reader_group& all, int rank) {
    std::size_t const member = all.record_ ? all.member(static_cast<int>(place(rank))) : place(rank);
    receiver& end = *all.in_[member];
    return end.front_ ? end : open_from(all, member);
  }
  /// The reader group to which a step's list is published; null if each peer gets its own message. The first use may
  /// throw std::bad_alloc.
  reader_group* reader_group_of(std::span<operand const> list, list_kind kind) {
    if (kind == list_kind::published && publishes()) return all_ ? all_ : all();
    if (kind != list_kind::published_among || list.size() <= 2) return nullptr;
    for (reader_group* const a : reader_groups_)
      if (is_of(*a, list)) return a->is_usable_ ? a : nullptr;
    return form(list);
  }

  /// Afterwards no message to this rank allocates.
  void allocate_ring(sender& to) { to.ring(); }
  /// Bytes of the longest message that travels in lines.
  std::size_t longest_in_lines(bool has_root) const {
    bool const is_set = limits_.lines != limits_.as_it_is;
    return std::min((has_root || is_set ? lines_.from_root : lines_.from_all) * line_payload, limits_.lines);
  }

  /// The number of elements in a chunk, at least one: see fits().
  std::size_t chunk_of(std::size_t element_size) const {
    return std::max<std::size_t>(1, std::min(largest_chunk_, limits_.chunks) / element_size);
  }
  /// Bytes: messages from any rank to any other one that are not longer travel in one chunk, announced as a whole.
  std::size_t longest_in_one_chunk() const {
    std::size_t const ring = std::min({part_of_chunk, largest_chunk_, limits_.chunks});
    return can_read() && limits_.read_from != limits_.by_ring && limits_.read_from <= ring ? 0 : ring;
  }
  /// Whether elements of this size fit into the rings: with a chunk's header up to 64 KiB on hosts of at most 9 ranks,
  /// 32 KiB of at most 16, 8 KiB of 17, 4 KiB of at most 33, 2 KiB of more.
  bool fits(std::size_t element_size) const { return chunk_header::whole(element_size) <= 2 * largest_chunk_; }

  /// Whether a line announces a message of this length, so that it may be read in place. By default, where ranks share
  /// cores: messages longer than the ring, for which writer and reader would take turns on a core ring by ring.
  /// Where they do not: long messages to one rank in calls in which all ranks send (`crosses`), whose exchange may be
  /// quicker in place. Not messages to be combined, which are combined in the ring without a copy.
  bool announces(std::size_t bytes, std::size_t ring, bool combines, bool crosses) const {
    if (!can_read()) return false;
    if (reads_as_asked()) return bytes >= limits_.read_from;
    return !combines && (spins() ? crosses && bytes >= least_exchanged_in_place : bytes > ring);
  }
  bool reads_as_asked() const { return limits_.read_from != limits_.by_ring; }
  /// Where ranks have cores of their own: whether messages that cross in the current step are read in place.
  bool exchanges_in_place() const { return exchange_.second; }
  /// Makes this choice for a step in which this rank sends `bytes` bytes. Returns whether to report the time. The
  /// other end of a channel follows one step later, so a choice holds for two steps; the lesser time counts.
  bool begin_exchange(std::size_t bytes) {
    exchange& now = exchange_of(bytes);
    if (now.steps++ % 2 == 0) now.way = now.choice.next();
    exchange_ = now.way;
    return exchange_.timed;
  }
  void exchanged(std::size_t bytes, std::uint64_t cycles) {
    exchange_of(bytes).choice.took(exchange_.second, bytes, cycles);
  }
  void announce_from(std::size_t bytes) { limits_.read_from = bytes; }
  void limit(memory_limits const& limits) { limits_ = limits; }
  /// How to store the next part of a result of `bytes` bytes.
  way_to_take next_result(std::size_t bytes) {
    return bytes < least_streamed_result ? way_to_take{} : next_by(results_);
  }
  void stored(way_to_take by, std::size_t bytes, std::uint64_t cycles) { results_.took(by.second, bytes, cycles); }
  bool read(int rank, std::byte* into, std::byte const* address, std::size_t bytes) const {
    return around_.read(around_.context, static_cast<int>(place(rank)), into, address, bytes);
  }
  bool can_read() const { return around_.read != nullptr; }

  bool spins() const { return around_.spin; }
  unsigned polls_before_yield() const { return polls_before_yield_; }
  /// Called between two polls; `polls` is 0 at the first of them. Returns true now and then, when the caller should
  /// check whether the other ranks are still there.
  bool wait(unsigned& polls) const {
    if (++polls == 1 && around_.spin) begin_wait();
    if ((polls & (polls_before_yield_ - 1)) != 0) {
      relax();
      return false;
    }
    yield_core();
    return around_.spin || polls % (64 * polls_before_yield_) == 0;
  }

  /// A call that this rank has entered over this memory; hash 0: unknown.
  struct latest_call {
    std::uint32_t number = 0;
    std::uint64_t hash = 0;
  };
  /// Enters a call, and returns the call before it, with hash 0 if this rank has abandoned that one or a later one:
  /// then other ranks may have entered other calls before.
  latest_call follow(std::uint32_t number, std::uint64_t hash) {
    latest_call before = std::exchange(latest_, {number, hash});
    if (static_cast<std::int32_t>(latest_abandoned_ - before.number) >= 0) before.hash = 0;
    return before;
  }

  /// The records of this host's ranks, by place.
  rank_record& my_record() { return *records_[me_]; }
  [[gnu::cold]] void abandon_call(std::uint32_t number, std::string_view why) noexcept {
    if (latest_abandoned_ == 0 || static_cast<std::int32_t>(number - latest_abandoned_) > 0) latest_abandoned_ = number;
    // A rank that abandons a call because another rank has abandoned it passes that rank's reason on.
    if (auto const at = why.find(abandoned_by); at != why.npos)
      return my_record().abandoned.add(number, why.substr(at + abandoned_by.size()));
    try {
      my_record().abandoned.add(number, concat({"rank ", rank_at(me_), ": ", why}));
    } catch (std::bad_alloc const&) {
      my_record().abandoned.add(number, why);
    }
  }
  [[gnu::cold]] void forget_calls(std::uint32_t number) noexcept {
    latest_abandoned_ = number - std::min(number - latest_abandoned_, abandoned_calls::remembered);
    my_record().abandoned.forget_before(number);
  }
  /// The latest of the calls that this rank abandoned, in whatever order; 0: none.
  std::uint32_t latest_abandoned() const { return latest_abandoned_; }
  view<rank_record* const> records() const { return records_; }
  rank_record const& record_of(int rank) const { return *records_[place(rank)]; }
  /// The rank of the communicator at a place.
  int rank_at(std::size_t place) const {
    if (places_.empty()) return static_cast<int>(place);
    int rank = 0;
    while (places_[static_cast<std::size_t>(rank)] != static_cast<int>(place)) ++rank;
    return rank;
  }
  bool is_gone(int rank) const { return around_.gone && around_.gone(around_.context, static_cast<int>(place(rank))); }
  bool ranks_may_leave() const { return around_.ranks_may_leave; }
  bool tells_types() const { return around_.tells_types; }
  void report_waits(patience* watcher) { on_wait_ = watcher; }
  /// A number for receiver::is_first_look.
  std::uint64_t next_look() { return ++looks_; }

 private:
  std::size_t place(int rank) const {
    return static_cast<std::size_t>(places_.empty() ? rank : places_[static_cast<std::size_t>(rank)]);
  }

  // Polls before a rank yields, powers of two. The many take some 100 us: then a late peer may need progress of MPI.
  // The few take longer than the copy of a chunk: then another process may need the core.
  // The brief ones, where other ranks need the cores, take as long as a context switch: a running peer answers before.
  static constexpr unsigned many_polls = 4096, few_polls = 512, brief_polls = 32;
  // After most_fruitless waits of many polls, with less than `weight` shorter ones between two of them, polling is
  // useless: the rank polls only few times in the next impatient_waits waits.
  static constexpr unsigned most_fruitless = 8, weight = 16, most_impatient = 256;

  void begin_wait() const {
    if (polls_before_yield_ == many_polls) fruitless_ -= fruitless_ > 0;
    else if (++impatient_waits_ == most_impatient) polls_before_yield_ = many_polls, fruitless_ = 0;
  }
  [[gnu::noinline]] void yield_core() const {
    if (polls_before_yield_ == many_polls && (fruitless_ += weight) >= most_fruitless * weight)
      polls_before_yield_ = few_polls, impatient_waits_ = 0;
    around_.wait(around_.context);
    if (on_wait_) on_wait_->waits();
  }

  struct exchange {
    quicker_way<pace_of_exchanges> choice;
    way_to_take way{};
    unsigned steps = 0;
  };
  exchange& exchange_of(std::size_t bytes) {
    return exchanges_[std::min<std::size_t>(3, (std::bit_width(bytes / least_exchanged_in_place | 1) - 1) / 2)];
  }

  // Whether there are channels to all; between two ranks ordinary messages are quicker.
  bool publishes() const { return records_.size() > 2 && whole(); }
  channel_pair& pair_with(std::size_t peer);
  sender& open_to(std::size_t peer);
  receiver& open_from(std::size_t peer);
  sender& open_to(reader_group& all);
  receiver& open_from(reader_group& all, std::size_t member);
  void open(sender& end, std::size_t readers);
  void open(receiver& end, std::size_t readers, std::size_t me);

  bool is_of(reader_group const& group, std::span<operand const> list) const;
  reader_group* form(std::span<operand const> list);
  reader_group* all();
  reader_group* add(small_vector<int>&& places, reader_group_record* record, std::size_t capacity);
  reader_group_record* record_of(small_vector<int> const& places);

  segment_layout layout() const { return segment_layout(static_cast<int>(records_.size())); }
  template <class T>
  T& in_segment(std::size_t rank, std::size_t offset) const {
    return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(records_[rank]) + offset);
  }
  channel_addresses& channel(std::size_t writer, std::size_t to) const {
    return in_segment<channel_addresses>(writer, segment_layout::channel(to));
  }
  channel_addresses& channel(reader_group const& all, std::size_t member) const {
    return all.record_ ? all.record_->channel(member) : channel(member, records_.size());
  }
  std::byte* at(std::uint64_t address) const { return memory_.at(address); }
  channel_front& front(channel_addresses& addresses, std::size_t readers);
  std::byte* ring_of(sender const& end);
  std::byte const* ring_of(receiver const& end) const;

  template <class... Arguments>
  way_to_take next_by(store_choice& choice, Arguments const&... arguments) const {
    if (limits_.stores == stores_setting::measured) return choice.next(arguments...);
    return {limits_.stores == stores_setting::streaming, false};
  }

  friend class sender;
  friend class receiver;

  surroundings around_;
  std::size_t me_;
  host_memory& memory_;
  run_list places_;
  line_numbers lines_;
  std::uint32_t latest_abandoned_ = 0;
  latest_call latest_;
  small_vector<rank_record*> records_;
  channel_pair closed_;         // stands for all pairs that are not in use
  small_vector<channel_pair*> pairs_;    // with each rank; owned once in use
  small_vector<reader_group*> reader_groups_;    // owned
  reader_group* all_ = nullptr;     // of all ranks; one of reader_groups_
  std::size_t largest_chunk_ = 0;   // bytes
  memory_limits limits_;
  store_choice results_;
  std::array<exchange, 4> exchanges_;   // by length, each four times that of the one before
  way_to_take exchange_{};   // of the latest step
  unsigned mutable polls_before_yield_ = 1, fruitless_ = 0, impatient_waits_ = 0;
  patience* on_wait_ = nullptr;
  std::uint64_t looks_ = 0;
};

inline std::byte* sender::ring() {
  if (ring_ == nullptr) [[unlikely]] ring_ = host_->ring_of(*this);
  return ring_;
}
inline way_to_take sender::next_store(bool one_way) {
  // The first use of a page takes longer than the copy.
  if (head_ < capacity_ && host_->limits_.stores == stores_setting::measured) return {};
  return host_->next_by(stores_, one_way, [this](bool streams) {
    std::uint32_t most = 0;
    for (channel_back const& back : backs_) most = std::max(most, back.cost[streams].load(std::memory_order_relaxed));
    return most;
  });
}
// Sequentially consistent: either the sender sees `reading`, and waits, or this rank sees that it has withdrawn.
inline bool receiver::read(int rank, std::byte* into, std::byte const* address, std::size_t bytes) {
  back_->reading = true;
  bool const has_read = front_->withdrawn <= read_ && host_->read(rank, into, address, bytes);
  back_->reading = false;
  return has_read;
}
inline bool receiver::has_ring() {
  if (ring_ == nullptr) [[unlikely]] ring_ = host_->ring_of(*this);
  return ring_ != nullptr;
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_host_body.hpp"
#endif
