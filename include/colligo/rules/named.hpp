// SPDX-License-Identifier: BSL-1.0
/// @file
/// Algorithms chosen at run time: automatic{} and named("ring"), named("pipelined_ring:block=65536").
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "../core/error.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The library chooses: see choose.hpp. The environment variable of the collective (COLLIGO_ALL_REDUCE=ring ...)
/// overrides it; for reduce, broadcast and all_reduce so does a tree file (COLLIGO_TREE, COLLIGO_REDUCE_TREE,
/// COLLIGO_BROADCAST_TREE), unless the variable is set. If an override can not be used, because the functor is not
/// known to commute or there is no such algorithm, the library chooses. With COLLIGO_STRICT=1 that is an error.
struct automatic {
  static constexpr std::string_view name = "automatic";
};

/// An algorithm by name, with knobs after a colon: "name:knob=value,knob=64k"; "automatic" is automatic{}. A call
/// resolves the name, and throws algorithm_error for one that its collective does not have. "ring" takes the best
/// transport, "ring@messages" is over_messages{ring{}}, "ring@shared_memory" over_shared_memory{ring{}}. Contains its
/// characters: no allocation.
class named {
 public:
  static constexpr std::string_view name = "named";
  static constexpr std::size_t longest = 120;   ///< characters

  constexpr explicit named(std::string_view text) : length_(text.size()) {
    if (length_ > longest)
      throw algorithm_error("colligo: named: the name of an algorithm has at most " + std::to_string(longest) +
                            " characters: " + std::string(text));
    for (std::size_t i = 0; i < length_; ++i) text_[i] = text[i];
  }
  constexpr std::string_view text() const { return {text_.data(), length_}; }

 private:
  std::array<char, longest> text_{};
  std::size_t length_;
};

}  // namespace colligo
