// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of group_numbers.hpp.
#pragma once

#include <numeric>
#include <utility>

#include "group_numbers.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::vector<int> sort_by(std::span<int const> number, int count, std::vector<int>& all) {
  auto const index = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<int> begin(index(count) + 2, 0), sorted(all.size());
  for (int const group : number) ++begin[index(group) + 2];
  for (int c = 0; c < count; ++c) begin[index(c) + 2] += begin[index(c) + 1];
  for (int const each : all) sorted[index(begin[index(number[index(each)]) + 1]++)] = each;
  begin.pop_back();
  all = std::move(sorted);
  return begin;
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> by_lowest(std::span<int const> numbers) {
  auto const number = [&](int r) { return numbers[static_cast<std::size_t>(r)]; };
  bool is_done = true;
  for (int r = 0; is_done && r < static_cast<int>(numbers.size()); ++r)
    is_done = 0 <= number(r) && number(r) <= r && number(number(r)) == number(r);
  if (is_done) return {numbers.begin(), numbers.end()};
  std::vector<int> order(numbers.size()), lowest(numbers.size()), digit(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  for (int bits = 0; bits < 32; bits += 8) {
    for (std::size_t r = 0; r < numbers.size(); ++r)
      digit[r] = static_cast<int>(static_cast<unsigned>(numbers[r]) >> bits & 255);
    sort_by(digit, 256, order);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    bool const begins = i == 0 || number(order[i]) != number(order[i - 1]);
    lowest[static_cast<std::size_t>(order[i])] = begins ? order[i] : lowest[static_cast<std::size_t>(order[i - 1])];
  }
  return lowest;
}

}  // namespace colligo
