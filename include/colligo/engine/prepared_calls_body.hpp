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
  if (!all_) {
    try {
      all_ = make_owner<table>();
    } catch (std::bad_alloc const&) {   // the call is not prepared
      return nullptr;
    }
  }
  auto const mixed = [](std::uint64_t a, std::uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15u; };
  std::uint64_t hash = mixed(reinterpret_cast<std::uintptr_t>(call.of), call.vector.whole.size());
  hash = mixed(hash >> 7, call.in.covers.size() << 32 | call.out.covers.size());
  hash = mixed(hash >> 9, static_cast<std::uint64_t>(call.what) << 32 | static_cast<std::uint32_t>(call.root));
  hash = mixed(hash >> 11, distribution ^ wanted_behind_ ^ reinterpret_cast<std::uintptr_t>(by ? by->policy : nullptr));
  auto& [kept, seen] = (*all_)[place_of(hash)];
  if (kept && kept->hash == hash && is_of(kept->signature, call, by, distribution)) {
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
  spare_->signature = {call.of, call.vector.whole.size(), call.in.covers, call.out.covers, wanted_behind_, distribution,
                       by ? by->policy : nullptr, call.what, by ? by->over : transport::best, call.root, {}};
  if (by) std::memcpy(spare_->signature.tag.data(), by->tag(), by->policy->tag_bytes);
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
