// SPDX-License-Identifier: BSL-1.0
/// @file
/// What calls have in common that do the same with bytes. What is kept of a call, to be used when it comes again, is
/// found by this: its record (prepared_calls.hpp), its plan (kept_plans.hpp), its request (requests.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../core/choice.hpp"
#include "call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Where a call's input begins within its output, in bytes; all ones: not there.
inline std::size_t in_behind_out(call const& call) {
  auto const behind = static_cast<std::size_t>(call.in.data - call.out.data);
  return behind < call.of->bytes(call.out.covers.size()) ? behind : static_cast<std::size_t>(-1);
}

/// The collective, the element type with its functor, the stretches of the vector, its blocks, the root, the algorithm
/// with its knobs. Not the addresses.
class call_signature {
 public:
  call_signature() = default;
  /// `by`: null for automatic; otherwise its tag has to be nothing but knobs. `distribution`: the number of the blocks;
  /// 0: they are even.
  call_signature(call const& call, choice const* by, std::uint64_t distribution)
      : of_(call.of), n_(call.vector.whole.size()), in_(call.in.covers), out_(call.out.covers),
        behind_(in_behind_out(call)), distribution_(distribution), policy_(by ? by->policy : nullptr),
        what_(call.what), over_(by ? by->over : transport::best), root_(call.root) {
    if (by) std::memcpy(tag_.data(), by->tag(), policy_->tag_bytes);
  }

  /// `behind`: in_behind_out(call).
  bool is_of(call const& call, choice const* by, std::uint64_t distribution, std::size_t behind) const {
    return of_ == call.of && n_ == call.vector.whole.size() && what_ == call.what && root_ == call.root &&
           in_ == call.in.covers && out_ == call.out.covers && behind_ == behind && distribution_ == distribution &&
           policy_ == (by ? by->policy : nullptr) &&
           (!by || (over_ == by->over && (policy_->tag_bytes == 0 ||
                                          std::memcmp(tag_.data(), by->tag(), policy_->tag_bytes) == 0)));
  }
  bool is_of(call const& call, choice const& by, std::uint64_t distribution) const {
    return is_of(call, &by, distribution, in_behind_out(call));
  }

  /// Its best bits are the highest ones.
  static std::uint64_t hash_of(call const& call, choice const* by, std::uint64_t distribution, std::size_t behind) {
    auto const mixed = [](std::uint64_t a, std::uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15u; };
    std::uint64_t hash = mixed(reinterpret_cast<std::uintptr_t>(call.of), call.vector.whole.size());
    hash = mixed(hash >> 7, call.in.covers.size() << 32 | call.out.covers.size());
    hash = mixed(hash >> 9, static_cast<std::uint64_t>(call.what) << 32 | static_cast<std::uint32_t>(call.root));
    return mixed(hash >> 11, distribution ^ behind ^ reinterpret_cast<std::uintptr_t>(by ? by->policy : nullptr));
  }

 private:
  element const* of_ = nullptr;
  std::size_t n_ = 0;
  range in_, out_;
  std::size_t behind_ = 0;
  std::uint64_t distribution_ = 0;
  erased_policy const* policy_ = nullptr;
  collective what_{};
  transport over_{};
  int root_ = 0;
  std::array<std::byte, most_held> tag_;   // the policy's tag_bytes
};

}  // namespace colligo
