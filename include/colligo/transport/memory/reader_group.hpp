// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ranks of a host that publish to each other: one writes a message once, all others read it. They form a reader group
/// without messages: the first one writes a record with all members, and enters it in the lowest member's segment.
#pragma once

#include <cstddef>
#include <utility>

#include "../../core/small_vector.hpp"
#include "shared_channel.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Channels between this rank and another one.
struct channel_pair {
  sender out;
  receiver in;
};

/// This rank's ends of the channels of a reader group of which it is a member.
class reader_group {
 public:
  /// The other members, which read what this rank publishes: their number, and their places on the host.
  std::size_t readers() const { return places_.size() - 1; }
  int reader(std::size_t k) const { return places_[k < me_ ? k : k + 1]; }

 private:
  friend class shared_host;

  reader_group(sender const& out, small_vector<int>&& places, int me, receiver& closed)
      : out_(out), places_(std::move(places)), me_(member(me)) {
    in_.resize(places_.size());
    for (receiver*& in : in_) in = &closed;
  }
  std::size_t member(int place) const {
    return place_of(places_, [=](int one) { return one == place; });
  }
  /// The index of a member among the readers of another member's channel.
  static std::size_t reader_of(std::size_t writer, std::size_t member) { return member - (member > writer ? 1 : 0); }

  sender out_;
  small_vector<int> places_;               // on the host, of all members, ascending
  std::size_t me_;                // index of this rank in places_
  small_vector<receiver*> in_;                // from each member; owned once open
  reader_group_record* record_ = nullptr;   // null: of all ranks of the host, or not usable
  bool is_usable_ = true;         // false: the segment had no place for a record
};

}  // namespace colligo
