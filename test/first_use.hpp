// SPDX-License-Identifier: BSL-1.0
// Messages of the first use of a communicator of many ranks, in and out.
#pragma once

#include <colligo/bootstrap/mpi_shared.hpp>

namespace first_use {

using colligo::detail::mpi_rank_table::tree_of;

/// Of a place in a binomial tree, up and down.
inline int messages_at(int place, int n) {
  int all = 0;
  auto const one = [&](int, int = 0) { ++all; };
  colligo::detail::mpi_rank_table::up_and_down(
      place, n, one, [&](int to, int) { all += to != colligo::nobody; }, one, one);
  return all;
}
inline int messages_through(int root, int rank, int p) { return messages_at((rank - root + p) % p, p); }

/// `place`: among the n ranks of its host.
inline int messages(int rank, int p, int place, int n) {
  int all = messages_through(n - 1, place, n);
  for (tree_of const which : {tree_of::rank_table, tree_of::states, tree_of::neighbours, tree_of::segments})
    all += messages_through(root(which, p), rank, p);
  return all;
}

/// Of a gather straight to the root.
inline int messages_to(int root, int rank, int p) { return rank == root ? p - 1 : 1; }
/// Of few ranks.
inline int messages_of_few(int rank, int p) {
  int all = messages_through(0, rank, p) + messages_through(1, rank, p);
  if (p > 1 && static_cast<std::size_t>(p) <= colligo::detail::mpi_rank_table::most_named)
    all += messages_to(0, rank, p) - messages_through(0, rank, p) / 2;
  return all;
}

}  // namespace first_use
