// SPDX-License-Identifier: BSL-1.0
/// @file
/// Copies bytes at the same speed wherever they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Copies bytes; the ranges may overlap. glibc copies more than 2 KiB by `rep movsb`, which takes some fifteen times as
/// long on AMD's processors since Zen 3 if the target is 1 to 31 bytes ahead of the source, counted modulo a page. Two
/// vectors of whole pages are 16 bytes apart if one is allocated after the other. Shorter copies use other
/// instructions. (glibc's bug 30994.)
inline void copy_bytes(std::byte const* from, std::size_t bytes, std::byte* to) {
  constexpr std::uintptr_t page = 4096, slow = 32;
  auto const ahead = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  if (ahead % page - 1 < slow - 1 && bytes <= ahead) [[unlikely]]
    for (std::size_t n; bytes != 0; from += n, to += n, bytes -= n)
      std::memcpy(to, from, n = std::min<std::size_t>(bytes, 1024));
  std::copy_n(from, bytes, to);
}

/// Copies 1 to 2 Most bytes by two copies of a constant size, which may cover the same bytes: for so few a call of
/// memcpy takes as long as the copy. Preconditions: Most is a power of two, and the ranges do not overlap.
template <std::size_t Most>
inline void copy_few(std::byte const* from, std::size_t bytes, std::byte* to) {
  if (bytes >= Most) {
    std::memcpy(to, from, Most);
    std::memcpy(to + (bytes - Most), from + (bytes - Most), Most);
  } else if constexpr (Most > 1) {
    copy_few<Most / 2>(from, bytes, to);
  }
}

}  // namespace colligo
