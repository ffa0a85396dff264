// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's calls over shared memory: the latest one, and those that it has abandoned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "../../core/strings.hpp"
#include "../../engine/identity.hpp"
#include "../../faults/sentences.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Of a rank on one host.
class own_calls {
 public:
  struct entered {
    std::uint32_t number = 0;
    std::uint64_t hash = 0;   ///< 0: unknown
  };
  /// `record`: what the other ranks see of them.
  explicit own_calls(int rank = nobody, rank_record* record = nullptr) : rank_(rank), record_(record) {}

  rank_record& record() { return *record_; }
  /// Enters a call, and returns the call before it, with hash 0 if this rank has abandoned that one or a later one:
  /// then other ranks may have entered other calls before.
  entered enter(std::uint32_t number, std::uint64_t hash) {
    entered before = std::exchange(latest_, {number, hash});
    if (static_cast<std::int32_t>(latest_abandoned_ - before.number) >= 0) before.hash = 0;
    return before;
  }
  [[gnu::cold]] void abandon(std::uint32_t number, std::string_view why) noexcept {
    if (latest_abandoned_ == 0 || static_cast<std::int32_t>(number - latest_abandoned_) > 0) latest_abandoned_ = number;
    // A rank that abandons a call because another rank has abandoned it passes that rank's reason on.
    if (auto const at = why.find(abandoned_by); at != why.npos)
      return record_->abandoned.add(number, why.substr(at + abandoned_by.size()));
    try {
      record_->abandoned.add(number, concat({"rank ", rank_, ": ", why}));
    } catch (std::bad_alloc const&) {
      record_->abandoned.add(number, why);
    }
  }
  /// Forgets those long before call `number`, to which numbers will return.
  [[gnu::cold]] void forget(std::uint32_t number) noexcept {
    latest_abandoned_ = number - std::min(number - latest_abandoned_, abandoned_calls::remembered);
    record_->abandoned.forget_before(number);
  }
  /// The latest of the calls that this rank abandoned, in whatever order; 0: none.
  std::uint32_t latest_abandoned() const { return latest_abandoned_; }

 private:
  int rank_;
  rank_record* record_;
  entered latest_;
  std::uint32_t latest_abandoned_ = 0;
};

}  // namespace colligo
