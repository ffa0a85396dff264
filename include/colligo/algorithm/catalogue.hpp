// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms of core/tags.hpp.
#pragma once

#include "../core/tags.hpp"
#include "along_edges.hpp"
#include "binary_blocks.hpp"
#include "binary_tree.hpp"
#include "bruck.hpp"
#include "bundles_by_level.hpp"
#include "census.hpp"
#include "chained_halving.hpp"
#include "circulant.hpp"
#include "configured.hpp"
#include "direct.hpp"
#include "direct_by_level.hpp"
#include "dissemination.hpp"
#include "doubling_123.hpp"
#include "grouped_doubling.hpp"
#include "halving_doubling.hpp"
#include "halving_scan.hpp"
#include "halving_tree.hpp"
#include "hierarchical.hpp"
#include "hillis_steele.hpp"
#include "knomial_tree.hpp"
#include "leaders_by_level.hpp"
#include "linear.hpp"
#include "linear_ring.hpp"
#include "multi_leader.hpp"
#include "padded_bruck.hpp"
#include "pairwise.hpp"
#include "pipelined_chain.hpp"
#include "pipelined_circulant.hpp"
#include "pipelined_ring.hpp"
#include "pipelined_tree.hpp"
#include "pipelines_by_level.hpp"
#include "recursive_doubling.hpp"
#include "recursive_halving.hpp"
#include "ring.hpp"
#include "rotating_ring.hpp"
#include "scan_by_level.hpp"
#include "scatter_all_gather.hpp"
#include "slices_by_level.hpp"
#include "sorted_halving.hpp"
#include "vendor.hpp"

namespace colligo::inline COLLIGO_MODE::by_name {

/// Calls f(Tag{}) for every algorithm of the catalogue.
template <class F>
constexpr void for_each_algorithm(F&& f) {
  [&]<class... Tags>(list_of_tags<Tags...>) { (f(Tags{}), ...); }(catalogue_of_tags{});
}

}  // namespace colligo
