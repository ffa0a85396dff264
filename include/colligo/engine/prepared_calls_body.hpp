// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of prepared_calls.hpp.
#pragma once

#include <new>
#include <utility>

#include "prepared_calls.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

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

}  // namespace colligo
