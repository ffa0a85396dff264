// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of prepared_calls.hpp.
#pragma once

#include <new>
#include <utility>

#include "prepared_calls.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold, gnu::noinline]] COLLIGO_BODY prepared_call const* prepared_calls::find_other(call const& its, choice const* by,
                                                             std::uint64_t distribution, bool& records) {
  if (!all_) {
    if (!std::exchange(has_seen_one_, true)) return nullptr;
    try {
      all_ = make_owner<table>();
      wanted_ = make_owner<call_signature>();
    } catch (std::bad_alloc const&) {   // calls are not prepared
      all_.reset();
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
  if (std::exchange(all_->seen[hash >> 58], print) != print) return nullptr;
  if (in_vain_ > few_in_vain && ++in_vain_ % few_in_vain != 0) return nullptr;   // such calls do not come again
  *wanted_ = {its.of, its.vector.whole.size(), its.in.covers, its.out.covers, wanted_behind_, distribution,
              by ? by->policy : nullptr, its.what, by ? by->over : transport::best, its.root, {}};
  if (by) std::memcpy(wanted_->tag.data(), by->tag(), by->policy->tag_bytes);
  wanted_hash_ = hash;
  records = true;
  return nullptr;
}

[[gnu::cold]] COLLIGO_BODY void prepared_calls::keep(run_record& record, call_identity const& identity) noexcept try {
  auto made = make_owner<prepared_call>();
  made->signature = *wanted_;
  made->hash = wanted_hash_;
  made->identity = identity;
  made->hash_in_tags = identity.hash();
  made->actions = record.finish(made->own_bytes);
  made->own = made->memory.of_size(made->own_bytes);
  made->steps = record.steps();
  made->play = record.play();
  if (made->bytes() > longest) made->actions = {};
  // Takes the place of the one that has not been used for longest.
  std::size_t at = 0;
  auto const age = [&](owner<prepared_call> const& one) { return one ? all_->uses - one->used : ~std::uint64_t{0}; };
  for (std::size_t i = 0; i < most; ++i)
    if (age(all_->kept[i]) > age(all_->kept[at])) at = i;
  if (all_->kept[at]) in_vain_ = all_->kept[at]->used == all_->kept[at]->made ? in_vain_ + 1 : 0;
  if (latest_ == all_->kept[at].get()) latest_ = nullptr;
  made->made = made->used = ++all_->uses;
  all_->kept[at] = std::move(made);
} catch (std::bad_alloc const&) {   // it is only a cache
}

}  // namespace colligo
