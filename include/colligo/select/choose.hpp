// SPDX-License-Identifier: BSL-1.0
/// @file
/// What `automatic` takes: the papers' own decision rules (Rabenseifner and Adamidis, section 4; Rabenseifner, ICCS 2004, section 3),
/// which were measured on a Cray T3E 900.
#pragma once

#include <cmath>
#include <cstddef>

#include "../algorithm/catalogue.hpp"

namespace colligo {

/// What a decision may depend on: nothing that could differ between ranks.
struct situation {
  int p;
  std::size_t bytes;      ///< n sizeof(T)
  bool commutes;          ///< the functor is known to
  bool vendor;            ///< the MPI library could do it
};

namespace detail {

constexpr any_algorithm short_vectors(situation const& s, any_algorithm otherwise) {
  if (!std::has_single_bit(static_cast<unsigned>(s.p))) return binary_tree{};
  return s.vendor ? any_algorithm{vendor{}} : otherwise;
}

inline any_algorithm long_vectors(situation const& s) {
  if (std::has_single_bit(static_cast<unsigned>(s.p))) return halving_doubling{};
  auto const bytes = static_cast<double>(s.bytes);
  // The papers' figure: ring up to p = (size / 256)^(9/16) and below 32; the text puts p = 15 at 64 KB.
  bool const few = s.p < 32 && s.p <= std::pow(bytes / 256, 9.0 / 16) && (s.p != 15 || s.bytes >= 65536);
  if (few && s.commutes) return ring{};
  bool const balanced = largest_exponent_gap(s.p) < std::log2(bytes) / 2 - 2.5;
  if (balanced && s.bytes >= 16384 && s.p > 32) return binary_blocks{};
  return halving_doubling{};
}

}  // namespace detail

/// <= 32 bytes: recursive doubling. <= 1 KB: the vendor's for p = 2^k (recursive doubling where there is none, the papers see no big
/// difference), else binary tree. Longer: ring on few ranks, binary blocks on many balanced ones, otherwise halving and doubling.
/// Reduce has no recursive doubling: binary tree takes its place.
inline any_algorithm choose(collective what, situation const& s) {
  if (what == collective::reduce) return s.bytes <= 1024 ? detail::short_vectors(s, binary_tree{}) : detail::long_vectors(s);
  if (s.bytes <= 32) return recursive_doubling{};
  return s.bytes <= 1024 ? detail::short_vectors(s, recursive_doubling{}) : detail::long_vectors(s);
}

}  // namespace colligo
