// SPDX-License-Identifier: BSL-1.0
/// @file
/// The messages of a step in shared memory: how each of them travels, and how far it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../core/owner.hpp"
#include "../../core/small_vector.hpp"
#include "../../engine/scratch.hpp"
#include "shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr auto no_message = static_cast<std::size_t>(-1);   // an index

// The index of the latest message in a channel; no_message if there is none.
template <class Messages, class Same>
std::size_t latest_message(Messages const& all, Same same) {
  std::size_t k = all.size();
  while (k > 0 && !same(all[k - 1])) --k;
  return k - 1;
}
template <class Messages>
bool has_turn(Messages const& all, std::size_t previous) {
  return previous == no_message || all[previous].is_complete();
}

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

  /// Folds that combine into one range at once.
  void form_groups() {
    for (std::size_t first = 0, k = 1; k < in.size(); ++k) {
      fragment const &a = in[first].what, &b = in[k].what;
      bool const joins =
          a.folds() && b.folds() && a.elements == b.elements && a.which == own::result && b.which == own::result;
      if (joins) ++in[first].members;
      else first = k;
    }
  }
  /// For data that the step receives where it also sends from. If both ranges begin at the same place, the receive
  /// stays behind the send (waits_for_send); any other send gets a copy.
  void guard_sends() {
    for (incoming& i : in)
      for (outgoing& o : out) {
        if (o.from >= i.into + i.bytes || i.into >= o.from + o.bytes) continue;
        if (o.from == i.into) {
          i.overlaps_send = true;
          o.in_place = false;
        } else {
          copies = owner<copy>(new copy{small_vector(o.from, o.from + o.bytes), std::move(copies)});
          o.from = copies->bytes.data();
        }
      }
  }
  /// The next n bytes of this message would overwrite what has not been sent.
  bool waits_for_send(incoming const& i, std::size_t n) const {
    return i.overlaps_send && is_any(out, [&](outgoing const& o) {
             return o.done < o.bytes && o.rest() < i.into + i.done + n && i.into + i.done < o.from + o.bytes;
           });
  }
};

}  // namespace colligo
