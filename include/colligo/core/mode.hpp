// SPDX-License-Identifier: BSL-1.0
/// @file
/// Header-only, or declared alone: with COLLIGO_COMPILED defined the headers only declare what is no template, and the
/// library colligo::compiled holds it, made from the same headers. Each mode has an inline namespace of its own, so
/// that two in one program live side by side.
#pragma once

// Compilers go on after an #error, and would have much to say: to miss a file ends it.
#if __cplusplus < 202002L
#error "colligo needs C++20: compile with -std=c++20"
#include "nothing more to be read"
#elif !defined(__cpp_exceptions)
#error "colligo needs exceptions: compile without -fno-exceptions"
#include "nothing more to be read"
#endif

#include "../version.hpp"

#if defined(COLLIGO_COMPILED)
#define COLLIGO_MODE compiled
#else
#define COLLIGO_MODE header_only
#endif

/// Bodies are seen in header-only mode, and by the one source of the compiled library.
#if !defined(COLLIGO_COMPILED) || defined(COLLIGO_BODIES)
#define COLLIGO_HAS_BODIES 1
#else
#define COLLIGO_HAS_BODIES 0
#endif

/// What stands before the definition of a function that is no template.
#if defined(COLLIGO_COMPILED)
#define COLLIGO_BODY
#else
#define COLLIGO_BODY inline
#endif
