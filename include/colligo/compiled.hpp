// SPDX-License-Identifier: BSL-1.0
/// @file
/// The source of the library colligo::compiled, which defines everything that is no template. Programs that link it are
/// compiled with COLLIGO_COMPILED, so that their headers only declare.
#pragma once

#include "compiled_without_mpi.hpp"

#include "colligo.hpp"
#include "environment.hpp"
#include "exchange.hpp"
#include "tools/draw.hpp"
#if __has_include(<mpi.h>)
#include "progress.hpp"
#endif
#if !defined(COLLIGO_REST_APART)
#include "compiled_rest.hpp"
#endif

namespace colligo::inline COLLIGO_MODE::detail {

template bool const blocks_are_compared<void>;
template struct requiring<void>;
template struct summing_in_any_order<void>;
template struct adapting<void>;
template struct explaining<void>;
template struct predicting<void>;
template void run_ranks<void>(int p, void (*f)(void* context, thread_communicator& comm), void* context);

}  // namespace colligo
