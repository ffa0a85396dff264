// SPDX-License-Identifier: BSL-1.0
/// @file
/// What reduce and reduce_v over neighbours do with the blocks that have come.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/stable_order.hpp"
#include "graph.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Combines what neighbours have sent when all has come, in the order of ranks; several edges from one rank in theirs.
/// Op: a blocking call's functor is used where it is, as in all collectives: then it is a reference.
template <class T, class Op>
struct combining_neighbours final : owned_functor<no_functor> {
  static_assert(!std::is_same_v<T, bool> && std::default_initializable<T>,
                "colligo: reduce over neighbours: elements arrive in a std::vector: they need a default constructor, "
                "and char stands for bool");
  combining_neighbours(graph const& edges, std::span<T> result, Op f)
      : owned_functor<no_functor>(no_functor{}), functor(std::forward<Op>(f)),
        received(edges.in_degree() * result.size()), out(result) {
    places = stable_order(edges.peers(false), std::identity{});
  }
  void finish() override {
    for (std::size_t k = 0; k < places.size(); ++k) {
      T const* const theirs = received.data() + places[k] * out.size();
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = k == 0 ? theirs[i] : static_cast<T>(functor(out[i], theirs[i]));
    }
  }

  Op functor;   // not `op`, which is that of the exchange
  std::vector<T> received;
  std::span<T> out;
  std::vector<std::size_t> places;   // of the sources, in the order of their ranks
};

}  // namespace colligo
