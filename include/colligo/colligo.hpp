// SPDX-License-Identifier: BSL-1.0
/// @file
/// Everything. Needs Boost.MPI; include a front door alone (all_reduce.hpp ...) to pay for less.
#pragma once

#include "adaptive.hpp"
#include "all_gather.hpp"
#include "all_gatherv.hpp"
#include "all_reduce.hpp"
#include "all_to_all.hpp"
#include "barrier.hpp"
#include "broadcast.hpp"
#include "explain.hpp"
#include "gather.hpp"
#include "patience.hpp"
#include "plan/association.hpp"
#include "plan/draw.hpp"
#include "predict.hpp"
#include "record.hpp"
#include "reduce.hpp"
#include "reduce_scatter.hpp"
#include "require.hpp"
#include "scan.hpp"
#include "scatter.hpp"
#include "table.hpp"
#include "trace.hpp"
#include "trees.hpp"
#if __has_include(<mpi.h>)
#include "progress.hpp"
#include "skeleton.hpp"
#endif
