// SPDX-License-Identifier: BSL-1.0
/// @file
/// Algorithms chosen at run time: automatic{} and named("ring"), named("pipelined_ring:block=65536").
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "../algorithm/catalogue.hpp"
#include "../core/error.hpp"
#include "../core/knob.hpp"

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

/// Whether a tag has a form for a collective does not depend on elements and functors.
template <class Tag, collective C>
concept has_form = offers<Tag, C, std::byte, void>;

/// Names of the algorithms that a collective has, for messages.
template <collective C>
std::string known_names() {
  std::string all;
  for_each_algorithm([&]<class Tag>(Tag) {
    if constexpr (has_form<Tag, C>) all += (all.empty() ? "" : ", ") + std::string(Tag::name);
  });
  return all;
}

/// Sets one knob from "name=value". False if the tag has no such knob or the value is not a number.
template <class Tag>
bool turn_knob(Tag& tag, std::string_view setting) {
  auto const equals = setting.find('=');
  if (equals == setting.npos) return false;
  if constexpr (requires { Tag::knobs; })
    for (auto const& k : Tag::knobs) {
      if (k.name != setting.substr(0, equals)) continue;
      std::string_view const value = setting.substr(equals + 1);
      auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), tag.*k.member);
      return error == std::errc{} && end == value.data() + value.size();
    }
  return false;
}

/// The algorithm that a text names for a collective, "ring" or "ring@shared_memory". `where` begins an error ("all_reduce on rank 0: "); it is made only then.
template <collective C>
chosen_algorithm parse(std::string_view whole, std::function<std::string()> const& where) {
  auto const at = whole.find('@');
  auto const text = whole.substr(0, at), way = at == whole.npos ? std::string_view() : whole.substr(at + 1);
  if (at != whole.npos && way != shared_memory::name) throw algorithm_error(where() + "algorithms run @shared_memory, not @" + std::string(way));
  auto const colon = text.find(':');
  std::optional<any_algorithm> found;
  for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (has_form<Tag, C>) {
      if (Tag::name != text.substr(0, colon)) return;
      for (auto rest = colon == text.npos ? std::string_view{} : text.substr(colon + 1); !rest.empty();) {
        auto const comma = rest.find(',');
        if (!turn_knob(tag, rest.substr(0, comma)))
          throw algorithm_error(where() + std::string(Tag::name) + " has no such knob or value: \"" + std::string(rest.substr(0, comma)) + '"');
        rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 1);
      }
      found = tag;
    }
  });
  if (!found) throw algorithm_error(where() + "no algorithm is named \"" + std::string(text) + "\"; known are " + known_names<C>());
  return {*found, way.empty() ? transport::messages : transport::shared_memory};
}

}  // namespace detail
}  // namespace colligo
