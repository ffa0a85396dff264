// SPDX-License-Identifier: BSL-1.0
/// @file
/// The order in which a rank reads from several peers, so that their cache lines travel at the same time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The members of a group of peers, one after the other, from rank + 1 on, so that not all ranks begin at the same one.
/// Meanwhile it prefetches the next ones, ask(member): a core can wait for some ten lines at once, but loads only two
/// or three ahead by itself.
class look_ahead {
 public:
  template <class Ask>
  look_ahead(std::size_t members, int rank, Ask const& ask)
      : members_(members), first_(members <= few ? 0 : static_cast<std::size_t>(rank) % members) {
    if (members_ <= few) return;
    for (std::size_t i = 0; i < std::min(ahead, members_); ++i) ask(at(i));
  }
  bool is_over() const { return now_ == members_; }
  std::size_t member() const { return at(now_); }
  template <class Ask>
  void advance(Ask const& ask) {
    if (now_ + ahead < members_) ask(at(now_ + ahead));   // then there are more than few
    ++now_;
  }

 private:
  static constexpr std::size_t ahead = 8, few = 3;
  std::size_t at(std::size_t i) const { return first_ + i < members_ ? first_ + i : first_ + i - members_; }

  std::size_t members_, first_, now_ = 0;
};

}  // namespace colligo
