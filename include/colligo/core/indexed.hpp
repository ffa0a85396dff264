// SPDX-License-Identifier: BSL-1.0
/// @file
/// Functors that take the index of the elements that they combine. Within the vector the index is the element's place.
/// An element that an algorithm keeps beyond the vector has the index of the element that was copied there or is
/// combined with it. If neither is known, whole vectors are taken to lie behind the vector (adding.md).
#pragma once

#include <algorithm>
#include <cstddef>

#include "element.hpp"
#include "range.hpp"
#include "small_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// `places`: the indices known in this run.
struct known_places {
  /// The elements of `from` are copied into `into`, or combined with those there: both ranges have the same indices.
  void (*learn)(small_vector<std::size_t>& places, range const& vector, range from, range into);
  /// Combines the elements of a range.
  void (*combine)(small_vector<std::size_t> const& places, range const& vector, element const& of, void* op,
                  range elements, std::byte const* left, std::byte const* right, std::byte* out);
};

/// A template, so that only units with such a functor compile it.
template <class Lazy>
struct places_for_indices {
  /// Cuts a range into stretches of consecutive indices, and calls f(stretch, index of its first element, whether that
  /// is known) for each.
  template <class F>
  static void for_each(small_vector<std::size_t> const& places, range const& vector, range rest, F f) {
    while (!rest.empty()) {
      range part{rest.first, std::min(rest.last, vector.last)};
      std::size_t index = rest.first;
      bool known = rest.first < vector.last;
      if (!known) {
        std::size_t const copy = (rest.first - vector.last) / vector.size();
        part.last = std::min(rest.last, vector.last + (copy + 1) * vector.size());
        index = vector.first + (rest.first - vector.last) % vector.size();
      }
      // Triples: the begin and the end of a stretch, the index of its first element.
      for (std::size_t i = 0; !known && i < places.size(); i += 3)
        if (rest.first < places[i + 1] && places[i] < part.last) {
          known = places[i] <= rest.first;
          part.last = known ? std::min(rest.last, places[i + 1]) : places[i];
          if (known) index = places[i + 2] + rest.first - places[i];
        }
      f(part, index, known);
      rest.first = part.last;
    }
  }

  static void learn(small_vector<std::size_t>& places, range const& vector, range from, range into) {
    auto const pass_on = [&](range source, range target) {   // true: all indices of the source are known
      bool all = true;
      for_each(places, vector, source, [&](range part, std::size_t index, bool known) {
        all = all && known;
        if (!known) return;
        range const there{target.first + (part.first - source.first), target.first + (part.last - source.first)};
        bool is_new = false;
        for_each(places, vector, there, [&](range, std::size_t, bool theirs) { is_new = is_new || !theirs; });
        if (!is_new) return;
        for (std::size_t const number : {there.first, there.last, index}) places.push_back(number);
      });
      return all;
    };
    if (!pass_on(from, into)) pass_on(into, from);
  }

  static void combine(small_vector<std::size_t> const& places, range const& vector, element const& of, void* op,
                      range elements, std::byte const* left, std::byte const* right, std::byte* out) {
    for_each(places, vector, elements, [&](range part, std::size_t index, bool) {
      std::size_t const n = part.size();
      of.by_index->combine(op, index, left, right, out, n);
      left += of.bytes(n), right += of.bytes(n), out += of.bytes(n);
    });
  }

  static constexpr known_places all{&learn, &combine};
};

}  // namespace colligo
