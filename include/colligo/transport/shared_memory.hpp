// SPDX-License-Identifier: BSL-1.0
/// @file
/// Executes steps between ranks that share memory. A send publishes, a fold combines straight from where its sender has
/// published: from cache lines, from a ring, or, without any copy in between, from the sender's own memory (see
/// shared_channel.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared_channel.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What is under way in a step: kept with the port or the request, so that a call allocates nothing.
struct shared_traffic {
  /// A message announced goes on through the ring or from memory, as its sender can have it.
  enum class way : std::uint8_t { lines, ring, announced, memory };

  struct outgoing {
    outlet* to;
    std::byte const* from;
    std::size_t bytes, done;
    way by;
    std::size_t after;   ///< the message that goes before it through the same channel
    bool stays = true;   ///< nobody writes there during the step

    std::byte const* rest() const { return from + done; }
  };
  struct incoming {
    inlet* from;
    piece what;
    std::size_t bytes;
    std::byte* into;                    ///< where it is to be, whether by overwriting or by combining
    way by;
    std::size_t after;                  ///< the message that goes before it through the same channel
    std::size_t done = 0, fetched = 0;  ///< bytes combined or in place; brought into the slot
    std::byte* slot = nullptr;          ///< for folds, what does not lie in a ring
    std::byte const* address = nullptr;
    std::size_t members = 1;            ///< of the group of folds into one range that begins here
    bool guarded = false;               ///< writes where the step sends from
  };
  std::vector<outgoing> out;
  std::vector<incoming> in;
  std::vector<std::vector<std::byte>> copies;

  void clear() {
    out.clear();
    in.clear();
    copies.clear();
  }
};

/// One step after the other for one rank. Elements are bytes.
class shared_steps {
 public:
  shared_steps(shared_host& host, shared_traffic& traffic, int rank) : host_(host), traffic_(traffic), rank_(rank) {}

  /// What the next steps work on.
  void work_on(working_vector& data) {
    data_ = &data;
    size_ = data.of().size;
  }

  /// A message out and one in; either may be empty. Waits.
  void exchange(range out, int to, own which, piece const& in);

  /// A list of operands. `published`: what a rank sends is one range and goes to all others. Waits.
  void perform(std::span<operand const> list, bool published);

  /// So that no such step allocates.
  void make_room(std::span<operand const> list);
  /// The same without waiting: begin, then advance() until it is done.
  void begin(std::span<operand const> list, bool published);

  /// For single messages of a step: add them, begin_added(), then advance().
  void add_out(outlet& to, std::byte const* from, std::size_t bytes);
  /// `into`: receives there instead of into the vector.
  void add_in(inlet& from, piece const& what, std::byte* into = nullptr);
  void begin_added();

  enum class state : std::uint8_t { done, moved, stuck };
  /// Does what can be done at once.
  state advance();

 private:
  using way = shared_traffic::way;
  using outgoing = shared_traffic::outgoing;
  using incoming = shared_traffic::incoming;

  inlet& channel_from(int peer, bool published) { return published ? host_.from_all(peer) : host_.from(peer); }
  bool send_all(std::span<operand const> list, bool published);
  void receive_all(std::span<operand const> list, bool published);
  void run();

  way way_of(std::size_t bytes) const;
  void take_short(inlet& from, piece const& p);
  void take_all_short(std::span<operand const> list, bool published);
  void take_group(std::span<operand const> group, bool published);
  void form_groups();
  void guard(incoming& i);
  bool blocked(incoming const& i, std::size_t n) const;
  void give_slots();
  bool advance(outgoing& o);
  bool advance(incoming* first);
  std::byte const* fetch(incoming& i, std::size_t n, std::size_t beginning);
  std::size_t part_size() const;
  std::size_t part_of(incoming const& first, std::size_t n) const;
  std::size_t chunk_of(std::size_t bytes) const { return host_.chunk_of(size_, bytes) * size_; }
  void release(incoming& i, std::size_t n);
  bool hears_announcement(incoming& i);
  void use(incoming* first, std::size_t n);
  void combine(incoming* first, std::size_t n, std::size_t at, std::size_t now);

  shared_host& host_;
  shared_traffic& traffic_;
  working_vector* data_ = nullptr;
  std::size_t size_ = 1;
  int rank_;
  std::span<operand const> short_;   // a step begun whose messages are all short, and have left
  bool is_short_ = false, published_ = false;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_memory_body.hpp"
#endif
