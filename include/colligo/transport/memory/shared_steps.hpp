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

#include "../../core/owner.hpp"
#include "../../core/small_vector.hpp"
#include "../../engine/prepared_calls.hpp"
#include "../../engine/working_vector.hpp"
#include "shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The messages of a step in progress, kept with the state or the request, so that a call allocates nothing.
struct shared_traffic {
  /// How a message travels. The sender of an announced one decides between the ring and memory.
  enum class way : std::uint8_t { lines, ring, announced, memory };

  struct outgoing {
    sender* to;
    int peer;              ///< nobody: all members of `all`
    reader_group const* all;   ///< null: to one peer
    std::byte const* from;
    std::size_t bytes, done;
    way by;
    std::size_t previous;   ///< the message before it in the same channel
    bool in_place = true;   ///< may be read in the sender's memory

    bool is_complete() const { return done == bytes && by != way::memory; }
    std::byte const* rest() const { return from + done; }
  };
  struct incoming {
    receiver* from;
    fragment what;
    std::size_t bytes;
    std::byte* into;                    ///< where the data is received or combined
    way by;
    std::size_t previous;               ///< the message before it in the same channel
    std::size_t done = 0, fetched = 0;  ///< bytes: received or combined; copied to the slot
    std::byte* slot = nullptr;          ///< for folds of data that is not in a ring
    std::byte const* address = nullptr;
    std::size_t members = 1;            ///< of the group of folds into the same range that begins with this one
    bool overlaps_send = false;         ///< writes where the step sends from
    std::size_t repeated = 0;           ///< bytes that have been used already, and come again through the ring

    bool is_complete() const { return done == bytes; }
  };
  small_vector<outgoing> out;
  small_vector<incoming> in;
  struct copy {   // of data that the step overwrites before it has been sent
    small_vector<std::byte> bytes;
    owner<copy> before;
  };
  owner<copy> copies;   // the latest one owns the others

  void clear() {
    out.clear();
    in.clear();
    copies.reset();
  }
};

/// Performs one rank's steps, one after the other. Elements travel as bytes.
///
/// A rank whose functor has thrown continues to the end of the algorithm and marks each message as failed. A rank that
/// can not go on abandons the call, and so do all ranks that wait in it. Their data stays in the channels; later calls
/// skip it.
class shared_steps final : private listener {
 public:
  shared_steps(shared_host& host, shared_traffic& traffic, int rank) : host_(host), traffic_(traffic), rank_(rank) {}

  enum class state : std::uint8_t { done, moved, stuck };

  /// Sets the vector of the next steps.
  void work_on(working_vector& data) {
    data_ = &data;
    size_ = data.of().size;
    longest_in_lines_ = host_.longest_in_lines(has_root(data.what()));
    longest_at_once_ = std::max(longest_in_lines_, host_.longest_in_one_chunk());
    make_room(2);
  }
  /// Sets the call of the next steps.
  void enter(call const& call, erased_policy const& what, std::uint32_t number) {
    call_ = identity_of(call, what);
    begin_call(number, call_.hash(), *call.of);
    report(number, *call.of);
  }
  /// Called between two polls of another wait. Throws if this call can no longer complete: mismatch_error,
  /// failed_elsewhere, rank_lost.
  void wait(unsigned& polls) {
    if (polls == 0 && data_->complete_some()) return;
    if (host_.wait(polls)) [[unlikely]] check_ranks(nullptr);
  }

  /// Begins to play a prepared call: sends its first messages. Both arguments have to stay in place.
  void begin_playing(prepared_call const& prepared, call const& now, std::uint32_t number);
  /// Plays on, until the call is complete or, unless it `waits`, until a message has not come.
  state play(working_vector& data, bool waits);

  /// A message out and one in; either may be empty. Waits.
  void exchange(range out, int to, own which, fragment const& in);

  /// A list of operands. Waits.
  void perform(std::span<operand const> list, list_kind kind);

  /// Reserves memory, so that performing these operands allocates nothing. Ignores peers on other hosts.
  void make_room(std::span<operand const> list, list_kind kind);
  /// As perform(), but without waiting: call advance() until the step is done.
  void begin(std::span<operand const> list, list_kind kind);

  /// A step of single messages: add each, then begin_added(), then advance() until the step is done.
  void add_out(int to, reader_group* all, std::byte const* from, std::size_t bytes);
  /// `into`: where to receive, if not into the vector.
  void add_in(fragment const& what, reader_group* all, std::byte* into = nullptr);
  void begin_added();

  /// Ends a step that will not complete.
  void abandon();

  /// Does as much as possible without waiting.
  state advance();

 private:
  // A short message needs memory only if it has to wait for room, which differs from call to call: so memory is always
  // allocated before.
  void make_room(std::size_t operands) {
    if (traffic_.in.capacity() < 2 * operands) [[unlikely]] make_more_room(operands);
  }
  void make_more_room(std::size_t operands);
  void begin_call(std::uint32_t number, std::uint64_t hash, element const& of) {
    if (host_.tells_types()) hash ^= bits_of_type(of);
    before_ = host_.follow(number, hash);
    tag_ = {number, hash, before_.hash};
  }
  void report(std::uint32_t number, element const& of) {
    call_.number = number;
    host_.my_record().enter(call_, before_.hash, of.name);
  }
  using way = shared_traffic::way;
  using outgoing = shared_traffic::outgoing;
  using incoming = shared_traffic::incoming;

  sender& channel_to(int peer, reader_group* all) { return all ? host_.to(*all) : host_.to(peer); }
  receiver& channel_from(int peer, reader_group* all) { return all ? host_.from(*all, peer) : host_.from(peer); }
  bool send_all(std::span<operand const> list, reader_group* all);
  void receive_all(std::span<operand const> list, reader_group* all);
  void run();

  bool in_lines(std::size_t bytes) const { return bytes <= longest_in_lines_; }
  way way_of(std::size_t bytes, std::size_t ring, reader_group const* all) const;
  std::uint64_t sent_tag(std::size_t bytes, std::uint64_t flags = message_tag::none) const {
    return tag_.of(bytes, data_->has_failed() ? flags | message_tag::failed : flags);
  }
  awaited message(int from, std::size_t bytes, std::uint64_t flags = message_tag::none) {
    return {this, from, tag_.of(bytes, flags)};
  }
  awaited message(incoming const& i) { return message(i.what.peer, i.bytes); }
  COLLIGO_BODY bool hears(int from, std::uint64_t expected, std::uint64_t tag) override;
  void wait_for(awaited const& m, receiver& from, unsigned& polls, way by = way::lines) {
    if (polls == 0 && data_->complete_some()) return;
    if (host_.wait(polls)) [[unlikely]] {
      single const alone{m, from, by};
      check_ranks(&alone);
    }
  }
  struct single { awaited message; receiver& from; way by = way::lines; };   // a message that is awaited outside a list
  void check_ranks(single const* alone);
  bool is_hopeless(single const* alone);
  bool has_come(incoming& i);
  std::uint64_t bits_of_type(element const& of) {
    if (of.name != named_) learn_type(of);
    return type_;
  }
  void learn_type(element const& of);
  std::string this_call() const;
  void hear_of_failure(int peer);
  bool follows(int peer, std::uint64_t difference) const;
  void throw_if_abandoned(int peer) const;
  int gone_rank() const;
  [[noreturn]] void throw_lost(int rank) const;
  [[noreturn]] void throw_mismatch(int peer, std::uint32_t number) const;

  struct { prepared_call const* prepared; call const* now; action const* next; } played_{};
  std::byte* place_to(action::place const& at) const {
    return (at.in == action::where::output ? played_.now->out.data : played_.prepared->own) + at.offset;
  }
  std::byte const* place_from(action::place const& at, std::byte const* taken = nullptr) const {
    if (at.in == action::where::input) return played_.now->in.data + at.offset;
    return at.in == action::where::channel ? taken : place_to(at);
  }
  bool play_put(action const& a, std::uint64_t tag);
  void play_taken(action const& a, std::byte const* taken, working_vector& data);
  bool play_chunk(action const& a, working_vector& data, bool waits);
  bool play_lines(action const& a, working_vector& data, bool waits);
  bool is_stuck(single const& alone);

  bool put_at_once(sender& to, int peer, std::byte const* from, std::size_t bytes, bool one_way);
  void put_in_lines(sender& to, reader_group* all, int peer, std::byte const* from, std::size_t bytes);
  void record_taken(receiver& from, int peer, std::byte* into, std::size_t bytes, bool padded);
  bool put_chunk(sender& to, std::byte const* from, std::size_t bytes, std::size_t part, bool one_way,
                 std::uint64_t tag);
  void take_at_once(receiver& from, fragment const& p);
  void take_short(receiver& from, fragment const& p);
  void take_all_short(std::span<operand const> list, reader_group* all);
  void take_group(std::span<operand const> group, reader_group* all);
  bool decides(outgoing const& o) const;
  bool is_read_in_place(outgoing const& o) const;
  void form_groups();
  void guard(incoming& i);
  bool waits_for_send(incoming const& i, std::size_t n) const;
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
  call_identity call_;
  message_tag tag_;
  shared_host::latest_call before_;
  unsigned stuck_ = 0;   // calls of advance() that moved nothing
  int hopeless_peer_ = nobody;
  bool was_hopeless_ = false;   // at the latest check, and nothing has moved since
  action const* stuck_at_ = nullptr;   // of a prepared call
  bool checks_gone_ = false;    // the next check includes whether ranks are gone, which takes system calls
  std::int64_t checked_gone_at_ = 0;   // ns
  shared_traffic& traffic_;
  working_vector* data_ = nullptr;
  std::size_t size_ = 1, longest_in_lines_ = 0, longest_at_once_ = 0;   // bytes; at once: in lines, or in one chunk
  std::size_t chunk_ = 0, part_ = 0;   // bytes of whole elements, for the messages that have been added
  element_name named_;   // of the latest type
  std::uint64_t type_ = 0;                  // bits that stand for its name
  int rank_;
  std::span<operand const> short_;   // the step in progress, if is_short_
  std::span<operand const> listed_;  // the step in progress, if its folds wait until all of them have come
  reader_group* short_to_ = nullptr;     // of short_
  bool is_short_ = false;            // all messages of the step are short, and those to be sent have been sent
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_steps_body.hpp"
#endif
