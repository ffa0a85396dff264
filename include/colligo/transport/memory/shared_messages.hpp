// SPDX-License-Identifier: BSL-1.0
/// @file
/// Moves a step's messages of any length between ranks that share memory, all of them at once. They travel in cache
/// lines, in chunks through a ring, or, without a copy, from the sender's own memory (see shared_channel.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared_call.hpp"
#include "shared_traffic.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class shared_messages : protected shared_call {
 public:
  enum class state : std::uint8_t { done, moved, stuck };

  using shared_call::enter;
  /// Called between two polls of another wait. Throws if this call can no longer complete: mismatch_error,
  /// failed_elsewhere, rank_lost.
  void wait(unsigned& polls) {
    if (polls == 0 && data_->complete_some()) return;
    if (host_.waits.pause(polls)) [[unlikely]] check_ranks(nullptr);
  }

  /// A step of single messages: add each, then begin_added(), then advance until the step is done.
  void add_out(int to, reader_group* all, std::byte const* from, std::size_t bytes);
  /// `into`: where to receive, if not into the vector.
  void add_in(fragment const& what, reader_group* all, std::byte* into = nullptr);
  void begin_added();

 protected:
  using way = shared_traffic::way;
  using outgoing = shared_traffic::outgoing;
  using incoming = shared_traffic::incoming;
  struct single { awaited message; receiver& from; way by = way::lines; };   // a message that is awaited outside a list

  shared_messages(shared_host& host, shared_traffic& traffic, int rank) : shared_call(host, rank), traffic_(traffic) {}
  ~shared_messages() = default;

  void work_on(working_vector& data) {
    data_ = &data;
    size_ = data.of().size;
    longest_in_lines_ = host_.longest_in_lines(has_root(data.what()));
    make_room(2);
  }
  // A short message needs memory only if it has to wait for room, which differs from call to call: so memory is always
  // allocated before.
  void make_room(std::size_t operands) {
    if (traffic_.in.capacity() < 2 * operands) [[unlikely]] make_more_room(operands);
  }
  sender& channel_to(int peer, reader_group* all) { return all ? host_.to(*all) : host_.to(peer); }
  receiver& channel_from(int peer, reader_group* all) { return all ? host_.from(*all, peer) : host_.from(peer); }
  using shared_call::message;
  bool in_lines(std::size_t bytes) const { return bytes <= longest_in_lines_; }
  way way_of(std::size_t bytes, std::size_t ring, reader_group const* all) const;
  std::size_t read_size() const;

  /// Does as much as possible without waiting.
  state advance_messages();
  /// Begins the step, and waits until it is done.
  void run();
  /// Ends a step that will not complete. Does nothing after a complete step.
  void abandon_messages();
  bool put_chunk(sender& to, std::byte const* from, std::size_t bytes, std::size_t part, bool one_way,
                 std::uint64_t tag);

  void wait_for(awaited const& m, receiver& from, unsigned& polls, way by = way::lines) {
    if (polls == 0 && data_->complete_some()) return;
    if (host_.waits.pause(polls)) [[unlikely]] {
      single const alone{m, from, by};
      check_ranks(&alone);
    }
  }
  void check_ranks(single const* alone);

  shared_traffic& traffic_;
  std::size_t size_ = 1, longest_in_lines_ = 0;   // bytes
  unsigned stuck_ = 0;   // looks that moved nothing
  std::span<operand const> listed_;   // the step in progress, if its folds wait until all of them have come

 private:
  awaited message(incoming const& i) { return message(i.what.peer, i.bytes); }
  void make_more_room(std::size_t operands);
  bool is_hopeless(single const* alone);
  bool has_come(incoming& i);
  bool decides(outgoing const& o) const;
  bool is_read_in_place(outgoing const& o) const;
  void give_slots();
  bool advance(outgoing& o);
  bool advance(incoming* first);
  bool send_again(outgoing& o);
  std::byte const* fetch(incoming& i, std::size_t n, std::size_t beginning);
  std::size_t part_of(incoming const& first, std::size_t n) const;
  void release(incoming& i, std::size_t n);
  bool hears_announcement(incoming& i);
  void use(incoming* first, std::size_t n);
  void combine(incoming* first, std::size_t at, std::size_t now);

  std::size_t chunk_ = 0, part_ = 0;   // bytes of whole elements, for the messages that have been added
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_messages_body.hpp"
#endif
