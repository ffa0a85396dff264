// SPDX-License-Identifier: BSL-1.0
/// @file
/// The entries of a cache, the latest used first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "owner.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Entries have bytes() and a pointer `next`. A search moves the entry that it finds to the front. Entries beyond
/// `most_bytes` in all are dropped from the end.
template <class Entry>
class latest_used {
 public:
  explicit latest_used(std::size_t most_bytes) : most_(most_bytes) {}
  latest_used(latest_used const&) = delete;
  latest_used& operator=(latest_used const&) = delete;
  ~latest_used() { clear(); }

  /// Null if none is as wanted.
  template <class Wanted>
  Entry* find(Wanted const& is_wanted) {
    for (Entry** at = &first_; *at; at = &(*at)->next)
      if (is_wanted(**at)) {
        Entry* const found = std::exchange(*at, (*at)->next);
        found->next = std::exchange(first_, found);
        return found;
      }
    return nullptr;
  }
  /// Drops entries until `bytes` fit. Returns the last one that it dropped, for reuse, or null.
  owner<Entry> make_room(std::size_t bytes) { return keep_within(most_ - std::min(bytes, most_)); }
  Entry& add(owner<Entry> entry) {
    make_room(entry->bytes());
    bytes_ += entry->bytes();
    entry->next = first_;
    return *(first_ = entry.release());
  }
  void clear() { keep_within(0); }

 private:
  owner<Entry> keep_within(std::size_t bytes) {
    owner<Entry> dropped;
    while (bytes_ > bytes) {
      Entry** last = &first_;
      while ((*last)->next) last = &(*last)->next;
      bytes_ -= (*last)->bytes();
      dropped = owner<Entry>(std::exchange(*last, nullptr));
    }
    return dropped;
  }

  std::size_t most_, bytes_ = 0;
  Entry* first_ = nullptr;
};

}  // namespace colligo
