// SPDX-License-Identifier: BSL-1.0
/// @file
/// Executes steps between ranks that share memory. A send publishes; a fold combines straight from cache lines, from a
/// ring, or, without a copy, from the sender's own memory. What is short is sent and taken at once, one message after
/// the other; everything else moves as shared_messages.hpp says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../../engine/prepared_calls.hpp"
#include "shared_messages.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Performs one rank's steps, one after the other. Elements travel as bytes.
class shared_steps final : public shared_messages {
 public:
  shared_steps(shared_host& host, shared_traffic& traffic, int rank) : shared_messages(host, traffic, rank) {}

  /// Sets the vector of the next steps.
  void work_on(working_vector& data) {
    shared_messages::work_on(data);
    longest_at_once_ = std::max(longest_in_lines_, host_.longest_in_one_chunk());
  }

  std::uint32_t most_lines() const { return lines_for(std::max<std::size_t>(1, host_.longest_in_lines(true))); }
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
  /// Does as much as possible without waiting for long.
  state advance();
  /// The same until nothing moves. True if the step is done.
  bool advance_far() {
    state now = advance();
    while (now == state::moved) now = advance();
    return now == state::done;
  }

  /// Ends a step that will not complete.
  void abandon();

 private:
  using shared_messages::make_room;
  bool send_all(std::span<operand const> list, reader_group* all);
  void receive_all(std::span<operand const> list, reader_group* all);

  bool put_at_once(sender& to, int peer, std::byte const* from, std::size_t bytes, bool one_way);
  void put_in_lines(sender& to, reader_group* all, int peer, std::byte const* from, std::size_t bytes);
  void record_taken(receiver& from, int peer, std::byte* into, std::size_t bytes, bool padded);
  void take_at_once(receiver& from, fragment const& p);
  void take_short(receiver& from, fragment const& p);
  void take_all_short(std::span<operand const> list, reader_group* all);
  void take_group(std::span<operand const> group, reader_group* all);

  std::byte* place_to(action::place at) const { return played_.memory[static_cast<std::size_t>(at.in)] + at.offset; }
  std::byte const* place_from(action::place const& at, std::byte const* taken = nullptr) const {
    return at.in == action::where::channel ? taken : place_to(at);
  }
  bool play_put(action const& a, std::uint64_t tag);
  void play_taken(action const& a, std::byte const* taken, working_vector& data);
  bool play_chunk(action const& a, working_vector& data, bool waits);
  bool play_lines(action const& a, working_vector& data, bool waits);
  bool is_stuck(single const& alone);

  struct { prepared_call const* prepared; action const* next; std::array<std::byte*, 4> memory; } played_{};
  action const* stuck_at_ = nullptr;   // of a prepared call
  std::size_t longest_at_once_ = 0;    // bytes in lines, or in one chunk
  std::span<operand const> short_;     // the step in progress, if is_short_
  reader_group* short_to_ = nullptr;   // of short_
  bool is_short_ = false;              // all messages of the step are short, and those to be sent have been sent
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_steps_body.hpp"
#endif
