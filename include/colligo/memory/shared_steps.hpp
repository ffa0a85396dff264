// SPDX-License-Identifier: BSL-1.0
/// @file
/// Executes steps between ranks that share memory. A send publishes; a fold combines straight from cache lines, from a
/// ring, or, without a copy, from the sender's own memory (see shared_channel.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../core/owner.hpp"
#include "../core/row.hpp"
#include "../engine/working_vector.hpp"
#include "shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The messages of a step in progress, kept with the port or the request, so that a call allocates nothing.
struct shared_traffic {
  /// The sender decides whether an announced message goes through the ring or is read in memory.
  enum class way : std::uint8_t { lines, ring, announced, memory };

  struct outgoing {
    outlet* to;
    int peer;              ///< nobody: all of an audience
    audience const* all;   ///< null: none
    std::byte const* from;
    std::size_t bytes, done;
    way by;
    std::size_t after;   ///< the message before it in the same channel
    bool stays = true;   ///< the step does not write there

    bool is_complete() const { return done == bytes && by != way::memory; }
    std::byte const* rest() const { return from + done; }
  };
  struct incoming {
    inlet* from;
    fragment what;
    std::size_t bytes;
    std::byte* into;                    ///< where it is received or combined
    way by;
    std::size_t after;                  ///< the message before it in the same channel
    std::size_t done = 0, fetched = 0;  ///< bytes combined or in place; brought into the slot
    std::byte* slot = nullptr;          ///< for folds of data that is not in a ring
    std::byte const* address = nullptr;
    std::size_t members = 1;            ///< of the group of folds into one range that begins here
    bool guarded = false;               ///< writes where the step sends from
    std::size_t known = 0;              ///< bytes that come again and have been used already

    bool is_complete() const { return done == bytes; }
  };
  row<outgoing> out;
  row<incoming> in;
  struct copy {
    row<std::byte> bytes;
    owner<copy> before;
  };
  owner<copy> copies;   // the latest of them

  void clear() {
    out.clear();
    in.clear();
    copies.reset();
  }
};

/// One step after the other for one rank. Elements are bytes.
///
/// A rank whose functor has thrown continues to the end of the algorithm and marks each message. A rank that can not go
/// on abandons the call, and so do all ranks that wait in it: data left in the channels then belongs to an earlier
/// call, and is skipped.
class shared_steps final : private listener {
 public:
  shared_steps(shared_host& host, shared_traffic& traffic, int rank) : host_(host), traffic_(traffic), rank_(rank) {}

  /// The vector of the next steps.
  void work_on(working_vector& data) {
    data_ = &data;
    size_ = data.of().size;
    longest_in_lines_ = host_.longest_in_lines(has_root(data.what()));
    longest_at_once_ = std::max(longest_in_lines_, host_.longest_in_one_chunk());
    make_room(2);
  }
  /// The call that they belong to.
  void enter(call const& its, erased_policy const& what, std::uint32_t number) {
    its_.number = number;   // member by member: see select/door.hpp
    its_.what = its.what;
    its_.root = its.root;
    its_.n = its.vector.whole.size();
    its_.element_size = its.of->size;
    its_.algorithm = what.short_name;
    std::uint64_t const hash = its_.hash();
    before_ = host_.follow(number, hash);
    tag_ = {number, hash, before_.hash};
    host_.my_record().enter_type(number, its.of->name);
    host_.my_record().enter(its_, before_.hash);
  }
  /// Called between two polls of another wait. Throws if this call can no longer complete: mismatch_error,
  /// failed_elsewhere, rank_lost.
  void wait(unsigned& polls) {
    if (polls == 0 && data_->complete_some()) return;
    if (host_.wait(polls)) [[unlikely]] look_around(nullptr);
  }

  /// A message out and one in; either may be empty. Waits.
  void exchange(range out, int to, own which, fragment const& in);

  /// A list of operands. Waits.
  void perform(std::span<operand const> list, list_kind kind);

  /// Reserves memory, so that no such step allocates. Peers of other hosts may be among them.
  void make_room(std::span<operand const> list, list_kind kind);
  /// The same without waiting: begin, then advance() until it is done.
  void begin(std::span<operand const> list, list_kind kind);

  /// For single messages of a step: add them, begin_added(), then advance().
  void add_out(int to, audience* all, std::byte const* from, std::size_t bytes);
  /// `into`: receives there instead of into the vector.
  void add_in(fragment const& what, audience* all, std::byte* into = nullptr);
  void begin_added();

  /// For a step that will not complete.
  void abandon();

  enum class state : std::uint8_t { done, moved, stuck };
  /// Does as much as possible without waiting.
  state advance();

 private:
  // Whether a short message waits for room, and so needs memory, may differ from call to call: a list's memory is
  // allocated before.
  void make_room(std::size_t operands) {
    if (traffic_.in.capacity() < 2 * operands) [[unlikely]] make_more_room(operands);
  }
  void make_more_room(std::size_t operands);
  using way = shared_traffic::way;
  using outgoing = shared_traffic::outgoing;
  using incoming = shared_traffic::incoming;

  outlet& channel_to(int peer, audience* all) { return all ? host_.to(*all) : host_.to(peer); }
  inlet& channel_from(int peer, audience* all) { return all ? host_.from(*all, peer) : host_.from(peer); }
  bool send_all(std::span<operand const> list, audience* all);
  void receive_all(std::span<operand const> list, audience* all);
  void run();

  bool in_lines(std::size_t bytes) const { return bytes <= longest_in_lines_; }
  way transport_of_choice(std::size_t bytes, std::size_t ring, audience const* all) const;
  std::uint64_t sent_tag(std::size_t bytes, std::uint64_t flags = message_tag::none) const {
    return tag_.of(bytes, data_->has_failed() ? flags | message_tag::failed : flags);
  }
  awaited message(int from, std::size_t bytes, std::uint64_t flags = message_tag::none) {
    return {this, from, tag_.of(bytes, flags)};
  }
  awaited message(incoming const& i) { return message(i.what.peer, i.bytes); }
  COLLIGO_BODY bool hears(int from, std::uint64_t expected, std::uint64_t tag) override;
  void wait_for(awaited const& m, inlet& from, unsigned& polls, way by = way::lines) {
    if (polls == 0 && data_->complete_some()) return;
    if (host_.wait(polls)) [[unlikely]] {
      lone const alone{m, from, by};
      look_around(&alone);
    }
  }
  struct lone { awaited message; inlet& from; way by = way::lines; };
  void look_around(lone const* alone);
  bool is_hopeless(lone const* alone);
  bool has_come(incoming& i);
  std::string this_call() const;
  void hear_of_failure(int peer);
  bool follows(int peer, std::uint64_t difference) const;
  void throw_if_abandoned(int peer) const;
  int gone_rank() const;
  [[noreturn]] void throw_lost(int rank) const;
  [[noreturn]] void throw_mismatch(int peer, std::uint32_t number) const;

  bool put_at_once(outlet& to, std::byte const* from, std::size_t bytes, bool one_way);
  bool put_chunk(outlet& to, std::byte const* from, std::size_t bytes, std::size_t part, bool one_way,
                 std::uint64_t tag);
  void take_at_once(inlet& from, fragment const& p);
  void take_short(inlet& from, fragment const& p);
  void take_all_short(std::span<operand const> list, audience* all);
  void take_group(std::span<operand const> group, audience* all);
  bool decides(outgoing const& o) const;
  bool is_read_in_place(outgoing const& o) const;
  void form_groups();
  void guard(incoming& i);
  bool blocked(incoming const& i, std::size_t n) const;
  void give_slots();
  bool advance(outgoing& o);
  bool advance(incoming* first);
  bool send_again(outgoing& o);
  std::byte const* fetch(incoming& i, std::size_t n, std::size_t beginning);
  std::size_t part_of(incoming const& first, std::size_t n) const;
  std::size_t read_size() const;
  void release(incoming& i, std::size_t n);
  bool hears_announcement(incoming& i);
  void use(incoming* first, std::size_t n);
  void combine(incoming* first, std::size_t at, std::size_t now);

  shared_host& host_;
  call_identity its_;
  message_tag tag_;
  shared_host::latest_call before_;
  unsigned stuck_ = 0;
  int hopeless_ = nobody;
  bool suspicious_ = false;   // at the latest check, and nothing has moved since
  bool looks_out_ = false;    // for ranks that are gone
  std::int64_t looked_ = 0;   // out for them
  shared_traffic& traffic_;
  working_vector* data_ = nullptr;
  std::size_t size_ = 1, longest_in_lines_ = 0, longest_at_once_ = 0;   // at once: in lines, or in one chunk
  std::size_t chunk_ = 0, part_ = 0;   // bytes, whole elements: for the messages that have been added
  int rank_;
  std::span<operand const> short_;   // a step in progress whose messages are all short, and have been sent
  std::span<operand const> listed_;  // the step in progress, if its folds wait until all of them have come
  audience* short_to_ = nullptr;
  bool is_short_ = false;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_steps_body.hpp"
#endif
