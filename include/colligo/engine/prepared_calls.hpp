// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that come again. A call of which all messages travel in lines is recorded when it comes for the second time,
/// and played from then on: its algorithm, the places of its data and the channels of its messages have been worked out
/// once. What a rank plays puts the same bytes into the same channels as its algorithm does. So each rank decides by
/// itself, and ranks that play a call meet ranks that do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../core/choice.hpp"
#include "../core/owner.hpp"
#include "identity.hpp"
#include "run_record.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What calls have in common that do the same with bytes.
struct call_signature {
  element const* of = nullptr;
  std::size_t n = 0;
  range in, out;                     ///< the stretches of the vector that they cover
  std::size_t in_behind_out = 0;     ///< where the input begins within the output, in bytes; apart: not there
  std::uint64_t distribution = 0;    ///< of blocks; 0: they are even
  erased_policy const* policy = nullptr;   ///< null: as automatic chooses
  collective what{};
  transport over{};
  int root = 0;
  std::array<std::byte, most_held> tag;    ///< the policy's tag_bytes

  static constexpr auto apart = static_cast<std::size_t>(-1);
};

/// A call that has been worked out.
struct prepared_call {
  call_signature signature;
  std::uint64_t hash = 0;              ///< of the signature
  call_identity identity;
  std::uint64_t hash_in_tags = 0;      ///< of the identity
  row<action> actions;                 ///< empty: it can not be played
  buffer memory;                       ///< of the actions, from `own` on
  std::byte* own = nullptr;
  std::size_t own_bytes = 0;           ///< that it has room for
  void* steps = nullptr;               ///< of the transport
  player play = nullptr;
  std::uint64_t made = 0, used = 0;    ///< when it was kept, and found the last time
};

/// The prepared calls of a communicator. The first call of its kind allocates memory for the record of the second.
class prepared_calls {
 public:
  /// The prepared call; null if there is none. Sets `records` if the call has come before and is to be recorded. `by`:
  /// null for automatic.
  prepared_call const* find(call const& its, choice const* by, std::uint64_t distribution, bool& records) {
    std::size_t const behind = static_cast<std::size_t>(its.in.data - its.out.data);
    wanted_behind_ = behind < its.of->bytes(its.out.covers.size()) ? behind : call_signature::apart;
    if (latest_ && is_of(latest_->signature, its, by, distribution)) [[likely]]
      return latest_->actions.empty() ? nullptr : latest_;
    return find_other(its, by, distribution, records);
  }
  /// Where the call of the latest find() records.
  row<action>& actions() { return spare_->actions; }
  /// Keeps that record.
  void keep(run_record& record, call_identity const& identity) noexcept;

 private:
  static constexpr std::size_t most = 16, slots = 64, most_ranks = 32;
  static constexpr std::uint32_t few_in_vain = 16;

  bool is_of(call_signature const& kept, call const& its, choice const* by, std::uint64_t distribution) const {
    return kept.of == its.of && kept.n == its.vector.whole.size() && kept.what == its.what && kept.root == its.root &&
           kept.in == its.in.covers && kept.out == its.out.covers && kept.in_behind_out == wanted_behind_ &&
           kept.distribution == distribution && kept.policy == (by ? by->policy : nullptr) &&
           (!by || (kept.over == by->over && (by->policy->tag_bytes == 0 ||
                                              std::memcmp(kept.tag.data(), by->tag(), by->policy->tag_bytes) == 0)));
  }
  prepared_call const* find_other(call const& its, choice const* by, std::uint64_t distribution, bool& records);

  struct table {
    std::array<owner<prepared_call>, most> kept;
    std::array<std::uint32_t, slots> seen{};   // hashes of calls that have come once
    std::uint64_t uses = 0;
  };

  void make_spare(call const& its);

  prepared_call* latest_ = nullptr;
  std::size_t wanted_behind_ = 0;
  std::uint32_t in_vain_ = 0;   // prepared calls that made room for others and had never been played
  owner<table> all_;
  owner<prepared_call> spare_;   // for the next record
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "prepared_calls_body.hpp"
#endif
