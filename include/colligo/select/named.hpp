// SPDX-License-Identifier: BSL-1.0
/// @file
/// Algorithms chosen at run time: automatic{} and named("ring"), named("pipelined_ring:block=65536").
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "../algorithm/catalogue.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The library chooses: see choose.hpp. The environment variable of the collective (COLLIGO_ALL_REDUCE=ring ...) overrides it,
/// for reduce, broadcast and all_reduce a tree file too (COLLIGO_TREE, COLLIGO_REDUCE_TREE, COLLIGO_BROADCAST_TREE), which is less specific.
struct automatic {
  static constexpr std::string_view name = "automatic";
};

/// An algorithm by name, with knobs after a colon: "name:knob=value,knob=value"; "automatic" is automatic{}. Resolved when a collective is called, which
/// throws algorithm_error for a name that it does not have. "ring@shared_memory" is over_shared_memory{ring{}}. Holds its text itself: no allocation.
class named {
 public:
  static constexpr std::string_view name = "named";
  static constexpr std::size_t longest = 120;   ///< characters

  constexpr explicit named(std::string_view text) : length_(text.size()) {
    if (length_ > longest) throw algorithm_error("named: the name of an algorithm has at most " + std::to_string(longest) + " characters: " + std::string(text));
    for (std::size_t i = 0; i < length_; ++i) text_[i] = text[i];
  }
  constexpr std::string_view text() const { return {text_.data(), length_}; }

 private:
  std::array<char, longest> text_{};
  std::size_t length_;
};

namespace detail {

/// The texts of a collective in the order of the catalogue, null where an algorithm has no form for it.
using text_table = std::array<text const*, std::variant_size_v<any_algorithm>>;

template <collective C, class Tag>
constexpr text const* text_if_any() {
  if constexpr (offers<Tag, C, any_element, any_functor>) return &text_for<C, Tag>;
  else return nullptr;
}
template <collective C>
inline constexpr text_table texts_for = []<class... Tags>(std::variant<Tags...> const*) {
  return text_table{text_if_any<C, Tags>()...};
}(static_cast<any_algorithm const*>(nullptr));

/// The algorithm that a text names, "ring", "pipelined_ring:block=65536" or "ring@shared_memory". `where` begins an error ("all_reduce on
/// rank 0: "). Throws algorithm_error with the names that are known.
chosen_algorithm parse(text_table const& texts, std::string_view whole, std::string const& where);

}  // namespace detail
}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "named_body.hpp"
#endif
