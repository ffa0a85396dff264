// SPDX-License-Identifier: BSL-1.0
/// @file
/// Groups of ranks as numbers, one for each rank.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Sorts `all` by number[each], stably (counting sort). Returns where each of the `count` numbers begins, and the end.
std::vector<int> sort_by(std::span<int const> number, int count, std::vector<int>& all);
/// Replaces group numbers: each rank gets the lowest rank of its group.
std::vector<int> by_lowest(std::span<int const> numbers);

/// Numbers each rank's group, differently on different hosts; empty if a rank's group is unknown. `hosts`: the lowest
/// rank of each rank's host, empty if all are on one; group_on_host(rank): below `most`, negative if it is unknown.
/// Allocates nothing if the capacity of `groups` is enough.
template <class GroupOnHost>
void number_groups(std::vector<int>& groups, std::size_t ranks, std::vector<int> const& hosts, int most,
                   GroupOnHost const& group_on_host) {
  groups.clear();
  for (int count = 0; groups.size() < ranks;) {
    std::size_t const r = groups.size(), lowest = hosts.empty() ? 0 : static_cast<std::size_t>(hosts[r]);
    int const here = group_on_host(r);
    if (here < 0) return groups.clear();
    int const host = lowest == r ? count++ : groups[lowest] / most;
    groups.push_back(host * most + here);
  }
}

#if COLLIGO_HAS_BODIES
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
#endif

}  // namespace colligo
