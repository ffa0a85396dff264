// SPDX-License-Identifier: BSL-1.0
/// @file
/// Two fifths of the library colligo::compiled: algorithms, rules, exact sums and trace files. The unit of bodies has
/// them too, unless COLLIGO_REST_APART is defined there. Then a second unit includes this header alone, with
/// COLLIGO_COMPILED and not COLLIGO_BODIES, and both can be compiled at the same time.
#pragma once

#if !defined(COLLIGO_COMPILED) || (defined(COLLIGO_BODIES) && defined(COLLIGO_REST_APART))
#error "the second source of a compiled library defines COLLIGO_COMPILED, not COLLIGO_BODIES"
#endif
#define COLLIGO_REST

#include "compiled_algorithms.hpp"

#include "sums/binning.hpp"
#include "sums/block_sums.hpp"
#include "sums/fixed_point.hpp"
#include "sums/natural.hpp"
#include "tools/trace_file.hpp"
#if !COLLIGO_HAS_REST
#error "the second source of a compiled library includes compiled_rest.hpp before all other headers"
#endif

namespace colligo::inline COLLIGO_MODE::detail {

template block_sum sum_of_block<float>(std::size_t n, int levels, float const* x);
template block_sum sum_of_block<double>(std::size_t n, int levels, double const* x);
template block_sum sum_of_block<float>(std::size_t n, int levels, float const* a, float const* b);
template block_sum sum_of_block<double>(std::size_t n, int levels, double const* a, double const* b);
template struct sums_by_exponent<float>;
template struct sums_by_exponent<double>;
template struct products_by_exponent<float>;
template struct products_by_exponent<double>;
template void add_to<float>(bins kept, std::size_t n, float const* x);
template void add_to<double>(bins kept, std::size_t n, double const* x);

}  // namespace colligo
