// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of stores.hpp.
#pragma once

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "stores.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

COLLIGO_BODY void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) {
#if defined(__SSE2__) || defined(__aarch64__)
  constexpr std::size_t line = 64;   // bytes that go to memory together
  std::size_t const before = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  std::memcpy(to, from, before);
  to += before, from += before, bytes -= before;
  for (; bytes >= line; to += line, from += line, bytes -= line) {
#if defined(__SSE2__)
    auto const* const in = reinterpret_cast<__m128i const*>(from);
    auto* const out = reinterpret_cast<__m128i*>(to);
    __m128i const a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a), _mm_stream_si128(out + 1, b), _mm_stream_si128(out + 2, c), _mm_stream_si128(out + 3, d);
#else
    asm volatile(
        "ldp q0, q1, [%1]\n\tldp q2, q3, [%1, #32]\n\tstnp q0, q1, [%0]\n\tstnp q2, q3, [%0, #32]"
        :
        : "r"(to), "r"(from)
        : "v0", "v1", "v2", "v3", "memory");
#endif
  }
#if defined(__SSE2__)
  _mm_sfence();   // a release store does not wait for streaming ones by itself
#endif
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace colligo
