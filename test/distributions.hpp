// SPDX-License-Identifier: BSL-1.0
// The six distributions of Traff et al., A Pipelined Algorithm for Large, Irregular All-gather Problems, section 3:
// elements per rank.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace distributions {

template <class Count>
std::vector<std::size_t> make(int p, Count count) {
  std::vector<std::size_t> counts;
  for (int i = 0; i < p; ++i) counts.push_back(static_cast<std::size_t>(count(i)));
  return counts;
}

inline std::vector<std::size_t> regular(int p, std::size_t c) { return make(p, [=](int) { return c; }); }
inline std::vector<std::size_t> broadcast(int p, std::size_t c) {
  return make(p, [=](int i) { return i == 0 ? c : 0; });
}
inline std::vector<std::size_t> spike(int p, std::size_t c) {
  return make(p, [=](int i) { return i == 0 ? c / 2 : c / (2 * static_cast<std::size_t>(std::max(1, p - 1))); });
}
inline std::vector<std::size_t> half_full(int p, std::size_t c) {
  return make(p, [=](int i) { return i % 2 == 0 ? 2 * c : 0; });
}
inline std::vector<std::size_t> linearly_decreasing(int p, std::size_t c) {
  return make(p, [=](int i) {
    return 2 * c * static_cast<std::size_t>(p - 1 - i) / static_cast<std::size_t>(std::max(1, p - 1));
  });
}
/// Ranks 2^k - 1 .. 2^(k+1) - 2 have c p / (2^k lg p) each.
inline std::vector<std::size_t> geometric_curve(int p, std::size_t c) {
  return make(p, [=](int i) {
    return static_cast<double>(c) * p / (std::exp2(std::floor(std::log2(i + 1))) * std::max(1.0, std::log2(p)));
  });
}

inline constexpr std::array all{
    std::pair{"regular", &regular},     std::pair{"broadcast", &broadcast},
    std::pair{"spike", &spike},         std::pair{"half_full", &half_full},
    std::pair{"linearly_decreasing", &linearly_decreasing}, std::pair{"geometric_curve", &geometric_curve}};

}  // namespace distributions
