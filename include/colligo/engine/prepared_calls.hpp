// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that come again. A call of which all messages travel in lines, or in one chunk each, is recorded when it comes
/// for the second time, and played from then on: its algorithm, the places of its data and the channels of its messages
/// have been worked out once. What a rank plays puts the same bytes into the same channels as its algorithm does. So
/// each rank decides by itself, and ranks that play a call meet ranks that do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "../core/choice.hpp"
#include "../core/owner.hpp"
#include "identity.hpp"
#include "run_record.hpp"
#include "signature.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A call that has been worked out.
struct prepared_call {
  call_signature signature;
  std::uint64_t hash = 0;              ///< of the signature
  call_identity identity;
  std::uint64_t hash_in_tags = 0;      ///< of the identity
  small_vector<action> actions;                 ///< empty: it can not be played
  buffer memory;                       ///< of the actions, from `own` on
  std::byte* own = nullptr;
  std::size_t own_bytes = 0;           ///< that it has room for
  void* steps = nullptr;               ///< of the transport
  player play = nullptr;

  /// Short calls on bytes can be prepared, if a signature can hold the algorithm. `by`: null for automatic.
  static bool is_possible(call const& call, choice const* by) {
    element const& of = *call.of;
    return of.bytes(call.vector.whole.size()) <= run_record::most_bytes && !of.objects && !of.by_index &&
           (!by || (by->over != transport::messages && !by->policy->is_vendor &&
                    by->policy->equals_by_bytes(by->tag())));
  }
  /// Makes room for the record of such a call. Throws std::bad_alloc.
  void make_room(call const& call);
  /// Takes what has been recorded.
  void take(run_record& record, call_identity const& described);
};

/// The prepared calls of a communicator. The first call of its kind allocates memory for the record of the second.
class prepared_calls {
 public:
  /// The prepared call; null if there is none. Sets `records` if the call has come before and is to be recorded. `by`:
  /// null for automatic.
  prepared_call const* find(call const& call, choice const* by, std::uint64_t distribution, bool& records) {
    wanted_behind_ = in_behind_out(call);
    if (latest_ && latest_->signature.is_of(call, by, distribution, wanted_behind_)) [[likely]] return playable();
    return find_other(call, by, distribution, records);
  }
  /// Where the call of the latest find() records.
  small_vector<action>& actions() { return spare_->actions; }
  /// Keeps that record.
  void keep(run_record& record, call_identity const& identity) noexcept;

 private:
  static constexpr int lg_places = 6;
  // A record costs about what 64 plays save. Where calls differ so much that plays do not pay for records, these are
  // rare.
  static constexpr int plays_for_record = 64, most_plays = 16 * plays_for_record;
  static constexpr unsigned seldom = 256;

  prepared_call const* playable() {
    if (latest_->actions.empty()) return nullptr;
    plays_ += plays_ < most_plays;
    return latest_;
  }
  prepared_call const* find_other(call const& call, choice const* by, std::uint64_t distribution, bool& records);

  // A call has one place, which it takes when it comes twice while no other call comes there.
  struct place {
    owner<prepared_call> kept;
    std::uint64_t seen = 0;   // hash of the latest call that was not found
  };
  using table = std::array<place, std::size_t{1} << lg_places>;
  static std::size_t place_of(std::uint64_t hash) { return hash >> (64 - lg_places); }   // a product's best bits

  prepared_call* latest_ = nullptr;
  std::size_t wanted_behind_ = 0;
  int plays_ = most_plays;      // that no record has been made for
  unsigned wished_ = 0;         // records
  owner<table> all_;
  owner<prepared_call> spare_;   // for the next record
};

#if COLLIGO_HAS_BODIES
// For as many actions as an algorithm may have whose ranks all exchange with each other, and slots for what they send.
[[gnu::cold]] COLLIGO_BODY void prepared_call::make_room(call const& call) {
  constexpr std::size_t most_ranks = 32;
  std::size_t const ranks = std::min(static_cast<std::size_t>(call.vector.parts), most_ranks);
  std::size_t const slot = (call.of->bytes(call.vector.whole.size()) + 2 * lines_apart) / lines_apart * lines_apart;
  std::size_t const wanted = std::min((ranks + 2) * slot, run_record::most_bytes);
  actions.reserve(8 + 4 * ranks);
  if (own_bytes >= wanted) return;
  own = memory.of_size(wanted);
  own_bytes = wanted;
}
[[gnu::cold]] COLLIGO_BODY void prepared_call::take(run_record& record, call_identity const& described) {
  identity = described;
  hash_in_tags = described.hash();
  steps = record.steps();
  play = record.play();
  if (record.finish() > own_bytes) actions.clear();
}

[[gnu::noinline]] COLLIGO_BODY prepared_call const* prepared_calls::find_other(
    call const& call, choice const* by, std::uint64_t distribution, bool& records) {
  if (!prepared_call::is_possible(call, by)) return nullptr;
  if (!all_) {
    try {
      all_ = make_owner<table>();
    } catch (std::bad_alloc const&) {   // the call is not prepared
      return nullptr;
    }
  }
  std::uint64_t const hash = call_signature::hash_of(call, by, distribution, wanted_behind_);
  auto& [kept, seen] = (*all_)[place_of(hash)];
  if (kept && kept->hash == hash && kept->signature.is_of(call, by, distribution, wanted_behind_)) {
    seen = 0;
    latest_ = kept.get();
    return playable();
  }
  if (std::exchange(seen, hash) != hash) {
    try {
      if (!spare_) spare_ = make_owner<prepared_call>();
      spare_->make_room(call);
    } catch (std::bad_alloc const&) {   // the call is not prepared
    }
    return nullptr;
  }
  if (!spare_) return nullptr;
  if (plays_ < plays_for_record && ++wished_ % seldom != 0) return nullptr;
  plays_ = std::max(0, plays_ - plays_for_record);
  spare_->signature = call_signature(call, by, distribution);
  spare_->hash = hash;
  records = true;
  return nullptr;
}

[[gnu::cold]] COLLIGO_BODY void prepared_calls::keep(run_record& record, call_identity const& identity) noexcept {
  prepared_call& made = *spare_;
  made.take(record, identity);
  latest_ = nullptr;
  std::swap((*all_)[place_of(made.hash)].kept, spare_);
}
#endif

}  // namespace colligo
