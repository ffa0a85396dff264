// SPDX-License-Identifier: BSL-1.0
/// @file
/// All collectives, questions about sequences, exact, binned and sparse sums, batches, and explain, predict, record,
/// require, adaptive, trees, progress_thread. A unit compiles only what it uses. Not included: calls with neighbours
/// and halos (exchange.hpp), with elements that do not lie side by side (views.hpp), with types known at run time
/// (bytes.hpp); features that only the environment turns on (environment.hpp), tracing (trace.hpp), use_table
/// (table.hpp) and pictures of schedules (tools/draw.hpp).
#pragma once

#include "all_gather.hpp"
#include "all_gatherv.hpp"
#include "all_reduce.hpp"
#include "all_to_all.hpp"
#include "barrier.hpp"
#include "batch.hpp"
#include "binned_sum.hpp"
#include "broadcast.hpp"
#include "each.hpp"
#include "tools/adapting.hpp"
#include "tools/explaining.hpp"
#include "gather.hpp"
#include "tools/association.hpp"
#include "predict.hpp"
#include "record.hpp"
#include "reduce.hpp"
#include "reduce_scatter.hpp"
#include "require.hpp"
#include "scan.hpp"
#include "scatter.hpp"
#include "rules/trees_of_hosts.hpp"
#include "sequence.hpp"
#include "sparse.hpp"
#if __has_include(<mpi.h>)
#include "progress.hpp"
#include "skeleton.hpp"
#endif
