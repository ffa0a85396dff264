// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms, one line each. Run-time names, laws, cost checks, conformance tests and
/// benchmarks iterate this list.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../core/policy.hpp"
#include "../core/transport.hpp"
#include "binary_blocks.hpp"
#include "binary_tree.hpp"
#include "bruck.hpp"
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
#include "knomial_tree.hpp"
#include "linear.hpp"
#include "linear_ring.hpp"
#include "multi_leader.hpp"
#include "pairwise.hpp"
#include "pipelined_chain.hpp"
#include "pipelined_circulant.hpp"
#include "pipelined_ring.hpp"
#include "pipelined_tree.hpp"
#include "recursive_doubling.hpp"
#include "recursive_halving.hpp"
#include "ring.hpp"
#include "rotating_ring.hpp"
#include "scatter_all_gather.hpp"
#include "slices_by_level.hpp"
#include "sorted_halving.hpp"
#include "vendor.hpp"

namespace colligo::inline COLLIGO_MODE {

template <class... Tags>
struct list_of_tags {
  static constexpr std::size_t size = sizeof...(Tags);
};

using catalogue_of_tags = list_of_tags<   //
    binary_tree,                      //
    recursive_doubling,               //
    grouped_doubling,                 //
    halving_doubling,                 //
    binary_blocks,                    //
    chained_halving,                  //
    sorted_halving,                   //
    ring,                             //
    rotating_ring,                    //
    halving_tree,                     //
    circulant,                        //
    census,                           //
    recursive_halving,                //
    linear_ring,                      //
    pipelined_ring,                   //
    pipelined_chain,                  //
    pipelined_circulant,              //
    pipelined_tree,                   //
    scatter_all_gather,               //
    linear,                           //
    pairwise,                         //
    bruck,                            //
    doubling_123,                     //
    halving_scan,                     //
    dissemination,                    //
    knomial_tree,                     //
    along_trees,                      //
    hierarchical<>,                   //
    hierarchical<binary_tree, direct>,  //
    multi_leader<>,                   //
    direct_by_level,                  //
    slices_by_level,                  //
    direct,                           //
    shared_memory,                    //
    vendor>;

/// Calls f(Tag{}) for every algorithm of the catalogue.
template <class F>
constexpr void for_each_algorithm(F&& f) {
  [&]<class... Tags>(list_of_tags<Tags...>) { (f(Tags{}), ...); }(catalogue_of_tags{});
}

namespace detail {

inline constexpr std::size_t catalogue_size = catalogue_of_tags::size;

template <class Tag>
constexpr std::size_t index_in_catalogue() {
  return []<class... Tags>(list_of_tags<Tags...>) {
    std::size_t i = 0;
    bool found = false;
    ((found = found || std::is_same_v<Tag, Tags>, i += !found), ...);
    return i;
  }(catalogue_of_tags{});
}

/// The tag is one of the library's.
template <class Tag>
constexpr bool is_in_catalogue() { return index_in_catalogue<Tag>() < catalogue_size; }
template <class Tag>
inline constexpr bool in_catalogue = is_in_catalogue<Tag>();

}  // namespace detail
}  // namespace colligo
