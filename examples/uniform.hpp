// SPDX-License-Identifier: BSL-1.0
// Data for the examples: random numbers that are functions of their number alone, so that they are the same ones on any
// number of ranks.
#pragma once

#include <cstdint>

// Random number i of [0, 1), by splitmix64 (G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number
// generators, OOPSLA 2014).
inline double uniform(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
