// SPDX-License-Identifier: BSL-1.0
/// @file
/// The source of the library colligo::compiled, which defines everything that is no template. Programs that link it are
/// compiled with COLLIGO_COMPILED, so that their headers only declare.
#pragma once

#include "compiled_without_mpi.hpp"

#include "colligo.hpp"
#include "environment.hpp"
#include "plan/draw.hpp"
#include "progress.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template struct requiring<void>;
template struct summing_in_any_order<void>;
template struct adapting<void>;
template struct explaining<void>;
template struct predicting<void>;
template struct sums_of_environment<void>;
template block_sum sum_of_block<float>(std::size_t n, int levels, float const* x);
template block_sum sum_of_block<double>(std::size_t n, int levels, double const* x);
template block_sum sum_of_block<float>(std::size_t n, int levels, float const* a, float const* b);
template block_sum sum_of_block<double>(std::size_t n, int levels, double const* a, double const* b);
template struct sums_by_exponent<float>;
template struct sums_by_exponent<double>;
template struct products_by_exponent<float>;
template struct products_by_exponent<double>;
template void add_to<float>(bins its, std::size_t n, float const* x);
template void add_to<double>(bins its, std::size_t n, double const* x);
template void run_ranks<void>(int p, void (*f)(void* context, thread_communicator& comm), void* context);

}  // namespace colligo
