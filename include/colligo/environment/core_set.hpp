// SPDX-License-Identifier: BSL-1.0
/// @file
/// Sets of processor cores, of which a host may have more than the 1024 of a cpu_set_t.
#pragma once

#include <sched.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Cores by their numbers in the system, as in its masks. Can be in memory that processes share.
class core_set {
 public:
  static constexpr std::size_t most = 8192;   ///< cores of a host: Linux is built for no more

  constexpr void add(std::size_t core) { words_[core / bits] |= std::uint64_t{1} << core % bits; }
  constexpr void add(core_set const& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }
  constexpr bool has(std::size_t core) const { return (words_[core / bits] >> core % bits & 1) != 0; }
  constexpr bool has(core_set const& others) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if ((others.words_[i] & ~words_[i]) != 0) return false;
    return true;
  }
  constexpr std::size_t size() const {
    std::size_t all = 0;
    for (std::uint64_t const word : words_) all += static_cast<std::size_t>(std::popcount(word));
    return all;
  }
  constexpr bool empty() const { return size() == 0; }
  /// The lowest core. Precondition: the set is not empty.
  constexpr std::size_t lowest() const {
    std::size_t i = 0;
    while (words_[i] == 0) ++i;
    return i * bits + static_cast<std::size_t>(std::countr_zero(words_[i]));
  }
  /// Those that this process may run on; empty if the system does not say.
  static core_set of_process() {
    core_set core_set;
#if defined(__linux__)
    if (sched_getaffinity(0, sizeof core_set.words_, reinterpret_cast<cpu_set_t*>(core_set.words_.data())) != 0)
      core_set = {};
#endif
    return core_set;
  }
  friend constexpr bool operator==(core_set const&, core_set const&) = default;

 private:
  static constexpr std::size_t bits = 64;
  std::array<std::uint64_t, most / bits> words_{};
};

}  // namespace colligo
