// SPDX-License-Identifier: BSL-1.0
// Which algorithms are under test: all of the catalogue, or the one that COLLIGO_TEST_ALGORITHM names.
#pragma once

#include <colligo/algorithm/catalogue.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "exit_code.hpp"

namespace tested {

/// Calls f(Tag{}) for every algorithm under test. Throws if there is none of the name.
template <class F>
void for_each_algorithm(F f) {
  char const* const only = the_only_one();
  std::string known;
  bool found = only == nullptr;
  colligo::for_each_algorithm([&]<class Tag>(Tag tag) {
    known += ' ' + std::string(Tag::name);
    if (only != nullptr && Tag::name != only) return;
    found = true;
    f(tag);
  });
  if (!found)
    throw std::runtime_error("COLLIGO_TEST_ALGORITHM=" + std::string(only) + " is no algorithm; known are" + known);
}

/// Algorithms that are made of steps.
template <class Tag>
inline constexpr bool is_made_of_steps = !std::is_same_v<Tag, colligo::vendor>;

template <colligo::collective C, class F>
void for_each_text(F f) {
  tested::for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (is_made_of_steps<Tag> && colligo::offers<Tag, C, double, std::plus<>>) ++count, f(tag);
  });
}

/// The roots worth trying: all where there are few.
inline std::vector<int> roots(int p, int all_up_to) {
  std::vector<int> some;
  if (p <= all_up_to) {
    for (int r = 0; r < p; ++r) some.push_back(r);
  } else {
    some = {0, 1, p / 2, p - 2, p - 1};
  }
  return some;
}

}  // namespace tested
