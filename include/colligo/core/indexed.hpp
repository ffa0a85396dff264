// SPDX-License-Identifier: BSL-1.0
/// @file
/// Functors that take the index of the elements that they combine. Within the vector the index is the element's place.
/// Elements that algorithms keep beyond the vector come from it: a copy has the indices of its source, and combined
/// elements have equal indices. If neither is known, whole vectors lie behind the vector one after the other
/// (adding.md).
#pragma once

#include <algorithm>
#include <cstddef>

#include "element.hpp"
#include "range.hpp"
#include "row.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// `places`: the indices known in this run.
struct known_places {
  /// Elements are copied there, or combined with the elements there: both have the same indices.
  void (*learn)(row<std::size_t>& places, range const& vector, range from, range into);
  /// Combines the elements of a range.
  void (*combine)(row<std::size_t> const& places, range const& vector, element const& of, void* op, range its,
                  std::byte const* left, std::byte const* right, std::byte* out);
};

/// A template, so that only units with such a functor compile it.
template <class Lazy>
struct places_for_indices {
  /// Calls f(stretch, index of its first element, whether that is known) for all stretches of a range.
  template <class F>
  static void for_each(row<std::size_t> const& places, range const& vector, range its, F f) {
    while (!its.empty()) {
      range part{its.first, std::min(its.last, vector.last)};
      std::size_t index = its.first;
      bool known = its.first < vector.last;
      if (!known) {
        std::size_t const copy = (its.first - vector.last) / vector.size();
        part.last = std::min(its.last, vector.last + (copy + 1) * vector.size());
        index = vector.first + (its.first - vector.last) % vector.size();
      }
      // Triples: from, to, index.
      for (std::size_t i = 0; !known && i < places.size(); i += 3)
        if (its.first < places[i + 1] && places[i] < part.last) {
          known = places[i] <= its.first;
          part.last = known ? std::min(its.last, places[i + 1]) : places[i];
          if (known) index = places[i + 2] + its.first - places[i];
        }
      f(part, index, known);
      its.first = part.last;
    }
  }

  static void learn(row<std::size_t>& places, range const& vector, range from, range into) {
    auto const pass_on = [&](range its, range other) {
      bool all = true;
      for_each(places, vector, its, [&](range part, std::size_t index, bool known) {
        all = all && known;
        if (!known) return;
        range const there{other.first + (part.first - its.first), other.first + (part.last - its.first)};
        bool is_new = false;
        for_each(places, vector, there, [&](range, std::size_t, bool theirs) { is_new = is_new || !theirs; });
        if (!is_new) return;
        for (std::size_t const number : {there.first, there.last, index}) places.push_back(number);
      });
      return all;
    };
    if (!pass_on(from, into)) pass_on(into, from);
  }

  static void combine(row<std::size_t> const& places, range const& vector, element const& of, void* op, range its,
                      std::byte const* left, std::byte const* right, std::byte* out) {
    for_each(places, vector, its, [&](range part, std::size_t index, bool) {
      std::size_t const n = part.size();
      of.by_index->combine(op, index, left, right, out, n);
      left += of.bytes(n), right += of.bytes(n), out += of.bytes(n);
    });
  }

  static constexpr known_places all{&learn, &combine};
};

}  // namespace colligo
