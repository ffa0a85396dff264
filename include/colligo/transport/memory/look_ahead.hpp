// SPDX-License-Identifier: BSL-1.0
/// @file
/// The order in which a rank reads from several peers, so that their cache lines travel at the same time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Visits the members of a group of peers, each once. The first member differs from rank to rank, so that not all ranks
/// read from the same peer. prefetch(member) is called some members ahead: a core can wait for some ten cache lines at
/// once, but by itself loads only two or three ahead.
class look_ahead {
 public:
  template <class Prefetch>
  look_ahead(std::size_t members, int rank, Prefetch const& prefetch)
      : members_(members), first_(members <= few ? 0 : static_cast<std::size_t>(rank) % members) {
    if (members_ <= few) return;
    for (std::size_t i = 0; i < std::min(ahead, members_); ++i) prefetch(at(i));
  }
  bool is_over() const { return now_ == members_; }
  std::size_t member() const { return at(now_); }
  template <class Prefetch>
  void advance(Prefetch const& prefetch) {
    if (now_ + ahead < members_) prefetch(at(now_ + ahead));   // never for a few members: ahead > few
    ++now_;
  }

 private:
  static constexpr std::size_t ahead = 8, few = 3;
  std::size_t at(std::size_t i) const { return first_ + i < members_ ? first_ + i : first_ + i - members_; }

  std::size_t members_, first_, now_ = 0;
};

}  // namespace colligo
