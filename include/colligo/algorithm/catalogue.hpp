// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms, one line each. Run-time names, laws, cost checks, conformance tests and
/// benchmarks iterate this list.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "../core/policy.hpp"
#include "../core/transport.hpp"
#include "binary_blocks.hpp"
#include "binary_tree.hpp"
#include "census.hpp"
#include "circulant.hpp"
#include "configured.hpp"
#include "direct.hpp"
#include "dissemination.hpp"
#include "doubling_123.hpp"
#include "halving_doubling.hpp"
#include "halving_tree.hpp"
#include "hierarchical.hpp"
#include "linear.hpp"
#include "linear_ring.hpp"
#include "multi_leader.hpp"
#include "pipelined_chain.hpp"
#include "pipelined_ring.hpp"
#include "pipelined_tree.hpp"
#include "recursive_doubling.hpp"
#include "recursive_halving.hpp"
#include "ring.hpp"
#include "rotating_ring.hpp"
#include "scatter_all_gather.hpp"
#include "vendor.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Any algorithm of the library as a value, with its knobs.
using any_algorithm = std::variant<   //
    binary_tree,                      //
    recursive_doubling,               //
    halving_doubling,                 //
    binary_blocks,                    //
    ring,                             //
    rotating_ring,                    //
    halving_tree,                     //
    circulant,                        //
    census,                           //
    recursive_halving,                //
    linear_ring,                      //
    pipelined_ring,                   //
    pipelined_chain,                  //
    pipelined_tree,                   //
    scatter_all_gather,               //
    linear,                           //
    doubling_123,                     //
    dissemination,                    //
    along_trees,                      //
    hierarchical<>,                   //
    hierarchical<binary_tree, direct>,  //
    multi_leader<>,                   //
    direct,                           //
    shared_memory,                    //
    vendor>;

static_assert(std::is_trivially_copyable_v<any_algorithm>,
              "choosing one would cost more than a short message: let a tag refer to what it needs");

/// An algorithm, and how its operands travel: what a name or a situation comes to. Stands as the last argument of a
/// collective as tags do.
struct chosen_algorithm {
  static constexpr std::string_view name = "chosen_algorithm";

  any_algorithm algorithm;
  transport over = transport::messages;

  template <class Tag>
    requires std::is_constructible_v<any_algorithm, Tag>
  chosen_algorithm(Tag const& tag, transport way = transport::messages) : algorithm(tag), over(way) {}
  chosen_algorithm(any_algorithm const& tag, transport way = transport::messages) : algorithm(tag), over(way) {}
};

/// Calls f(Tag{}) for every algorithm of the catalogue.
template <class F>
constexpr void for_each_algorithm(F&& f) {
  [&]<class... Tags>(std::variant<Tags...> const*) { (f(Tags{}), ...); }(static_cast<any_algorithm const*>(nullptr));
}

namespace detail {

template <class Tag>
constexpr std::size_t index_in_catalogue() {
  return []<class... Tags>(std::variant<Tags...> const*) {
    std::size_t i = 0;
    bool found = false;
    ((found = found || std::is_same_v<Tag, Tags>, i += !found), ...);
    return i;
  }(static_cast<any_algorithm const*>(nullptr));
}

/// The tag is one of the library's.
template <class Tag>
inline constexpr bool in_catalogue = index_in_catalogue<Tag>() < std::variant_size_v<any_algorithm>;

}  // namespace detail
}  // namespace colligo
