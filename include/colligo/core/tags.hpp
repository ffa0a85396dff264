// SPDX-License-Identifier: BSL-1.0
/// @file
/// The list of all algorithms, one line each. Run-time names, laws, cost checks, conformance tests and benchmarks
/// iterate over it with catalogue.hpp, which includes the algorithms. The list alone declares them and says which place
/// a tag has in it, so that a call that names its algorithm needs no other one.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "choice.hpp"

namespace colligo::inline COLLIGO_MODE {

template <class... Tags>
struct list_of_tags {
  static constexpr std::size_t size = sizeof...(Tags);
};

template <class Within, class Between>
struct hierarchical;
template <class Within, class Between>
struct multi_leader;

using catalogue_of_tags = list_of_tags<   // `struct` declares the tag; `//` keeps clang-format from joining lines
    struct binary_tree,           //
    struct recursive_doubling,    //
    struct grouped_doubling,      //
    struct halving_doubling,      //
    struct binary_blocks,         //
    struct chained_halving,       //
    struct sorted_halving,        //
    struct ring,                  //
    struct rotating_ring,         //
    struct halving_tree,          //
    struct circulant,             //
    struct census,                //
    struct recursive_halving,     //
    struct linear_ring,           //
    struct pipelined_ring,        //
    struct pipelined_chain,       //
    struct pipelined_circulant,   //
    struct pipelined_tree,        //
    struct scatter_all_gather,    //
    struct linear,                //
    struct pairwise,              //
    struct bruck,                 //
    struct padded_bruck,          //
    struct doubling_123,          //
    struct halving_scan,          //
    struct hillis_steele,         //
    struct dissemination,         //
    struct knomial_tree,          //
    struct along_trees,           //
    hierarchical<binary_tree, recursive_doubling>,      //
    hierarchical<binary_tree, struct direct>,           //
    multi_leader<halving_doubling, halving_doubling>,   //
    struct direct_by_level,       //
    struct slices_by_level,       //
    struct leaders_by_level,      //
    struct pipelines_by_level,    //
    struct bundles_by_level,      //
    struct scan_by_level,         //
    struct along_edges,           //
    struct direct,                //
    struct shared_memory,         //
    struct vendor>;

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
