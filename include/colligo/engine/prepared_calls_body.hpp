// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of prepared_calls.hpp.
#pragma once

#include <new>
#include <utility>

#include "prepared_calls.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold, gnu::noinline]] COLLIGO_BODY prepared_call const* prepared_calls::find_other(
    call const& its, choice const* by, std::uint64_t distribution, bool& records) {
  if (!all_) {
    try {
      all_ = make_owner<table>();
    } catch (std::bad_alloc const&) {   // the call is not prepared
      return nullptr;
    }
  }
  auto const mixed = [](std::uint64_t a, std::uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15u; };
  std::uint64_t hash = mixed(reinterpret_cast<std::uintptr_t>(its.of), its.vector.whole.size());
  hash = mixed(hash >> 7, its.in.covers.size() << 32 | its.out.covers.size());
  hash = mixed(hash >> 9, static_cast<std::uint64_t>(its.what) << 32 | static_cast<std::uint32_t>(its.root));
  hash = mixed(hash >> 11, distribution ^ wanted_behind_ ^ reinterpret_cast<std::uintptr_t>(by ? by->policy : nullptr));
  for (owner<prepared_call> const& one : all_->kept)
    if (one && one->hash == hash && is_of(one->signature, its, by, distribution)) {
      one->used = ++all_->uses;
      latest_ = one.get();
      return one->actions.empty() ? nullptr : latest_;
    }
  auto const print = static_cast<std::uint32_t>(hash >> 16);
  if (std::exchange(all_->seen[hash >> 58], print) != print) {
    make_spare(its);
    return nullptr;
  }
  if (!spare_) return nullptr;
  if (in_vain_ > few_in_vain && ++in_vain_ % few_in_vain != 0) return nullptr;   // such calls do not come again
  spare_->signature = {its.of, its.vector.whole.size(), its.in.covers, its.out.covers, wanted_behind_, distribution,
                       by ? by->policy : nullptr, its.what, by ? by->over : transport::best, its.root, {}};
  if (by) std::memcpy(spare_->signature.tag.data(), by->tag(), by->policy->tag_bytes);
  spare_->hash = hash;
  records = true;
  return nullptr;
}

// Makes room for the record of a call like this one, so that its second run allocates nothing: for as many actions as
// an algorithm may have whose ranks all exchange with each other, and slots for what they send.
[[gnu::cold]] COLLIGO_BODY void prepared_calls::make_spare(call const& its) try {
  if (!spare_) spare_ = make_owner<prepared_call>();
  std::size_t const ranks = std::min(static_cast<std::size_t>(its.vector.parts), most_ranks);
  std::size_t const slot = (its.of->bytes(its.vector.whole.size()) + 2 * lines_apart) / lines_apart * lines_apart;
  spare_->actions.reserve(8 + 4 * ranks);
  std::size_t const own = std::min((ranks + 2) * slot, run_record::most_bytes);
  if (spare_->own_bytes >= own) return;
  spare_->own = spare_->memory.of_size(own);
  spare_->own_bytes = own;
} catch (std::bad_alloc const&) {   // the call is not prepared
}

[[gnu::cold]] COLLIGO_BODY void prepared_calls::keep(run_record& record, call_identity const& identity) noexcept {
  prepared_call& made = *spare_;
  made.identity = identity;
  made.hash_in_tags = identity.hash();
  made.steps = record.steps();
  made.play = record.play();
  if (record.finish() > made.own_bytes) made.actions.clear();
  // Takes the place of the one that has not been used for longest.
  std::size_t at = 0;
  auto const age = [&](owner<prepared_call> const& one) { return one ? all_->uses - one->used : ~std::uint64_t{0}; };
  for (std::size_t i = 0; i < most; ++i)
    if (age(all_->kept[i]) > age(all_->kept[at])) at = i;
  owner<prepared_call>& place = all_->kept[at];
  if (place) in_vain_ = place->used == place->made ? in_vain_ + 1 : 0;
  latest_ = nullptr;
  made.made = made.used = ++all_->uses;
  std::swap(place, spare_);
}

}  // namespace colligo
