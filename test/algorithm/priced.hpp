// SPDX-License-Identifier: BSL-1.0
// The closed formula of a policy beside what its recorded schedule costs.
#pragma once

#include <colligo/record.hpp>

#include <numeric>

namespace priced {

using namespace colligo;
struct any {};

// All terms together, and each alone; one-way messages cheaper than exchanges, and not. Whole
// numbers, so that sums are exact.
inline constexpr machine machines[] = {{4096, 64, 16},    {4096, 64, 16, 0.5, 0.75}, {4096, 64, 16, 1, 0.5},
                                       {4096, 0, 0, 0.5}, {0, 64, 0, 1, 0.25},       {0, 0, 16},
                                       {4096, 64, 16, 1, 1, 0.25}};

/// Bytes of an element of n.
template <collective C>
inline constexpr double element = C == collective::barrier ? 1 : sizeof(double);

template <collective C, class Tag>
double formula_of(Tag const& tag, machine const& m, int p, std::size_t n) {
  return make_policy<C, Tag, double, any>(tag).cost(m, p, n);
}

/// What the recorded schedule costs and what the formula says, for n elements of 8 bytes.
struct pair {
  double recorded, formula;
};
template <collective C, class Tag>
pair both(Tag const& tag, machine const& m, int p, std::size_t n, int root = 0) {
  return {price(record<double>(tag, C, p, n, root), m, element<C>), priced::formula_of<C>(tag, m, p, n)};
}

/// All halves, segments and blocks are whole.
inline std::size_t divisible(int p) { return static_cast<std::size_t>(2 * std::lcm(p, floor_power_of_two(p))); }

}  // namespace priced
