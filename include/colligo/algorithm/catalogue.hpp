// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms, one line each. Run-time names, laws, cost checks, conformance tests and benchmarks iterate over this
/// list.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../core/choice.hpp"
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
#include "leaders_by_level.hpp"
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
    padded_bruck,                     //
    doubling_123,                     //
    halving_scan,                     //
    hillis_steele,                    //
    dissemination,                    //
    knomial_tree,                     //
    along_trees,                      //
    hierarchical<>,                   //
    hierarchical<binary_tree, direct>,  //
    multi_leader<>,                   //
    direct_by_level,                  //
    slices_by_level,                  //
    leaders_by_level,                //
    pipelines_by_level,               //
    bundles_by_level,                 //
    scan_by_level,                    //
    direct,                           //
    shared_memory,                    //
    vendor>;

namespace by_name {

/// Calls f(Tag{}) for every algorithm of the catalogue.
template <class F>
constexpr void for_each_algorithm(F&& f) {
  [&]<class... Tags>(list_of_tags<Tags...>) { (f(Tags{}), ...); }(catalogue_of_tags{});
}

}  // namespace by_name

namespace detail {

inline constexpr std::size_t catalogue_size = catalogue_of_tags::size;

// A tag's place is found by conversion to its base class: comparing it with all other tags takes longer to compile.
template <std::size_t I, class Tag>
struct catalogue_place {};
template <class Places, class List>
struct catalogue_places;
template <std::size_t... I, class... Tags>
struct catalogue_places<std::index_sequence<I...>, list_of_tags<Tags...>> : catalogue_place<I, Tags>... {};

template <class Tag, std::size_t I>
std::integral_constant<std::size_t, I> place_among(catalogue_place<I, Tag> const*);
template <class Tag>
std::integral_constant<std::size_t, catalogue_size> place_among(void const*);

template <class Tag>
struct place_in_catalogue
    : decltype(place_among<Tag>(static_cast<catalogue_places<std::make_index_sequence<catalogue_size>,
                                                             catalogue_of_tags> const*>(nullptr))) {
  static constexpr bool found = place_in_catalogue::value < catalogue_size;
};

/// The tag is one of the library's.
template <class Tag>
inline constexpr bool in_catalogue = place_in_catalogue<Tag>::found;

}  // namespace detail
}  // namespace colligo
