// SPDX-License-Identifier: BSL-1.0
/// @file
/// The source of the library colligo::compiled: all that is no template, once. Programs that link it are compiled with
/// COLLIGO_COMPILED, so that their headers only declare.
#pragma once

#if !defined(COLLIGO_COMPILED) || !defined(COLLIGO_BODIES)
#error "compiled.hpp is for the one source of colligo::compiled, which defines COLLIGO_COMPILED and COLLIGO_BODIES"
#endif

#include "colligo.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template struct deciding<void>;
template struct requiring<void>;
template struct adapting<void>;
template struct predicting<void>;
template void run_ranks<void>(int p, void (*f)(void* context, thread_communicator& comm), void* context);

text_table const& compiled_texts(collective what) {
  return for_collective(what, []<collective C>() -> text_table const& { return texts_for<C>; });
}

}  // namespace colligo
