// SPDX-License-Identifier: BSL-1.0
/// @file
/// The two modes. Header-only is the default. With COLLIGO_COMPILED defined the headers only declare functions that are
/// no templates; the library colligo::compiled, made from the same headers, defines them. Each mode has an inline
/// namespace of its own, so that one program can contain both.
#pragma once

// Compilers go on after an #error and would print much more; a missing file stops them.
#if __cplusplus < 202002L
#error "colligo needs C++20: compile with -std=c++20"
#include "nothing more to be read"
#elif !defined(__cpp_exceptions)
#error "colligo needs exceptions: compile without -fno-exceptions"
#include "nothing more to be read"
#elif !defined(__SIZEOF_INT128__)
#error "colligo needs integers of 128 bits: compile for a processor of 64 bits, with g++ or clang++"
#include "nothing more to be read"
#endif

#include <version>

#include "../version.hpp"

#if defined(COLLIGO_COMPILED)
#define COLLIGO_MODE compiled
#else
#define COLLIGO_MODE header_only
#endif

/// Bytes of a cache line, where all processors of a kind have lines of one length; 0 where they differ, as ARM64's do.
/// There the system says it when the program runs, and the ranks of a communicator agree on the longest.
/// Ranks that were compiled for different lines do not share memory.
#if !defined(COLLIGO_CACHE_LINE)
#if defined(__s390x__)
#define COLLIGO_CACHE_LINE 256
#elif defined(__powerpc64__) || (defined(__APPLE__) && defined(__aarch64__))
#define COLLIGO_CACHE_LINE 128
#elif defined(__x86_64__)
#define COLLIGO_CACHE_LINE 64
#else
#define COLLIGO_CACHE_LINE 0
#endif
#endif

/// The public functions are in a namespace that no type is in: `colligo::scan` finds them, and so does a program that
/// opens namespace colligo, but the type of an argument never does. So a user's own `scan(colligo::located<double>)`
/// stays the user's. A directive, because an inline namespace belongs to the types of the one around it.
namespace colligo::inline COLLIGO_MODE {
namespace by_name {}
using namespace by_name;
}  // namespace colligo

/// Header-only units, and the one source of the compiled library, include the bodies.
#if !defined(COLLIGO_COMPILED) || defined(COLLIGO_BODIES)
#define COLLIGO_HAS_BODIES 1
#else
#define COLLIGO_HAS_BODIES 0
#endif

/// Bodies that the compiled library may have in a unit of its own (compiled_rest.hpp).
#if !defined(COLLIGO_COMPILED) || defined(COLLIGO_REST) || (defined(COLLIGO_BODIES) && !defined(COLLIGO_REST_APART))
#define COLLIGO_HAS_REST 1
#else
#define COLLIGO_HAS_REST 0
#endif

/// The specifier of functions that are no templates.
#if defined(COLLIGO_COMPILED)
#define COLLIGO_BODY
#else
#define COLLIGO_BODY inline
#endif

/// `constexpr` of functions that use vectors, literal types in libstdc++ from g++ 12 on, in its debug mode from
/// g++ 14 on, in libc++ from 15 on.
#if !defined(__cpp_lib_constexpr_vector) || (defined(_GLIBCXX_DEBUG) && _GLIBCXX_RELEASE < 14)
#define COLLIGO_CONSTEXPR inline
#define COLLIGO_HAS_CONSTEXPR_VECTORS 0
#else
#define COLLIGO_CONSTEXPR constexpr
#define COLLIGO_HAS_CONSTEXPR_VECTORS 1
#endif
