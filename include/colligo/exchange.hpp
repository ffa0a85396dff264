// SPDX-License-Identifier: BSL-1.0
/// @file
/// Exchanges between ranks that know few others: sparse_all_to_all; neighbours, whose graph is kept; halos of arrays on
/// a grid of ranks.
#pragma once

#include "exchange/sparse_all_to_all.hpp"
#include "halo.hpp"
#include "neighbours.hpp"
#if __has_include(<mpi.h>)
#include "mpi_neighbours.hpp"
#endif
