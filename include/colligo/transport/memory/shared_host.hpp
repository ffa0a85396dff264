// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's ends of all channels of its host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../core/small_vector.hpp"
#include "../../core/run_list.hpp"
#include "../../core/transport.hpp"
#include "own_calls.hpp"
#include "polling.hpp"
#include "reader_group.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

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
    for (std::size_t r = 0; r < records_.size(); ++r)
      records_[r] = reinterpret_cast<rank_record*>(segment_of(r) + segment_layout::record());
    waits = polling(around.spin, around.polls_first, around.wait, around.context);
    calls = own_calls(rank_at(me_), records_[me_]);
  }
  shared_host(shared_host const&) = delete;
  shared_host& operator=(shared_host const&) = delete;

  polling waits;
  own_calls calls;
  exchange_choice exchanges;   ///< where ranks have cores of their own

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
  sender& to(reader_group& all) { return all.out_.front_ ? all.out_ : open(all.out_, all.readers()); }
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

  bool spins() const { return waits.spins(); }
  /// The records of this host's ranks, by place.
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
  /// A number for receiver::is_first_look.
  std::uint64_t next_look() { return ++looks_; }

 private:
  std::size_t place(int rank) const {
    return static_cast<std::size_t>(places_.empty() ? rank : places_[static_cast<std::size_t>(rank)]);
  }

  // Whether there are channels to all; between two ranks ordinary messages are quicker.
  bool publishes() const { return records_.size() > 2 && whole(); }
  channel_pair& pair_with(std::size_t peer);
  sender& open_to(std::size_t peer);
  receiver& open_from(std::size_t peer);
  receiver& open_from(reader_group& all, std::size_t member);
  sender& open(sender& end, std::size_t readers);
  receiver& open(receiver& end, std::size_t readers, std::size_t me);

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
  small_vector<rank_record*> records_;
  channel_pair closed_;         // stands for all pairs that are not in use
  small_vector<channel_pair*> pairs_;    // with each rank; owned once in use
  small_vector<reader_group*> reader_groups_;    // owned
  reader_group* all_ = nullptr;     // of all ranks; one of reader_groups_
  std::size_t largest_chunk_ = 0;   // bytes
  memory_limits limits_;
  store_choice results_;
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
