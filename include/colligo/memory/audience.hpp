// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ranks of a host that publish to each other: one of them writes once, all others read. They find each other without a
/// message: the rank that comes first writes the list of members, and enters it in the segment of the lowest member.
#pragma once

#include <cstddef>
#include <utility>

#include "../core/row.hpp"
#include "shared_channel.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Channels between this rank and another one.
struct channel_pair {
  outlet out;
  inlet in;
};

/// This rank's ends of the channels of an audience, in which it is.
class audience {
 public:
  /// The other members, who read what this rank publishes, and their places on the host.
  std::size_t readers() const { return places_.size() - 1; }
  int reader(std::size_t k) const { return places_[k < me_ ? k : k + 1]; }

 private:
  friend class shared_host;

  audience(outlet const& out, row<int>&& places, int me, inlet& closed)
      : out_(out), places_(std::move(places)), me_(member(me)) {
    in_.resize(places_.size());
    for (inlet*& in : in_) in = &closed;
  }
  std::size_t member(int place) const {
    return place_of(places_, [=](int its) { return its == place; });
  }
  /// The number of a member among the readers of another one's channel.
  static std::size_t reader_of(std::size_t writer, std::size_t member) { return member - (member > writer ? 1 : 0); }

  outlet out_;
  row<int> places_;               // of all members, in order
  std::size_t me_;                // which of them
  row<inlet*> in_;                // from each; owned once open
  audience_record* its_ = nullptr;   // null: all ranks of the host, whose channels are in their segments
  bool is_there_ = true;          // false: there was no place for it
};

}  // namespace colligo
