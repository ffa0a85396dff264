// SPDX-License-Identifier: BSL-1.0
/// @file
/// neighbours_of, grid_of: the graph and the grid of an MPI communicator with a topology.
#pragma once

#include "exchange/grids.hpp"
#include "neighbours.hpp"
#include "transport/messages/mpi_error.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The lists of a communicator's topology, and the order in which its sources match.
struct mpi_topology {
  std::vector<int> sources{}, targets{}, order{};
  bool is_grid = false;
};

// A template: units that do not use it do not compile it.
template <class Lazy = void>
mpi_topology topology_of(MPI_Comm comm, int rank) {
  mpi_topology found;
  int kind = MPI_UNDEFINED;
  check_mpi(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind == MPI_DIST_GRAPH) {
    int in = 0, out = 0, weighted = 0;
    check_mpi(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
    found.sources.resize(static_cast<std::size_t>(in)), found.targets.resize(static_cast<std::size_t>(out));
    std::vector<int> in_weights(found.sources.size() + 1), out_weights(found.targets.size() + 1);
    check_mpi(MPI_Dist_graph_neighbors(comm, in, found.sources.data(), in_weights.data(), out, found.targets.data(),
                                       out_weights.data()), "MPI_Dist_graph_neighbors");
  } else if (kind == MPI_GRAPH) {
    int count = 0;
    check_mpi(MPI_Graph_neighbors_count(comm, rank, &count), "MPI_Graph_neighbors_count");
    found.sources.resize(static_cast<std::size_t>(count));
    check_mpi(MPI_Graph_neighbors(comm, rank, count, found.sources.data()), "MPI_Graph_neighbors");
    found.targets = found.sources;
  } else if (kind == MPI_CART) {
    found.is_grid = true;
    int axes = 0;
    check_mpi(MPI_Cartdim_get(comm, &axes), "MPI_Cartdim_get");
    for (int axis = 0; axis < axes; ++axis) {
      int low = MPI_PROC_NULL, high = MPI_PROC_NULL;
      check_mpi(MPI_Cart_shift(comm, axis, 1, &low, &high), "MPI_Cart_shift");
      int const first = static_cast<int>(found.sources.size());
      for (int const peer : {low, high})
        if (peer != MPI_PROC_NULL) found.sources.push_back(peer);
      // What goes to the lower neighbour comes from that one's higher neighbour.
      for (int place = static_cast<int>(found.sources.size()); place-- > first;) found.order.push_back(place);
    }
    found.targets = found.sources;
  } else {
    throw argument_error("colligo: neighbours_of: the communicator has no topology");
  }
  return found;
}

template <std::size_t D>
struct cartesian_sides {
  std::array<int, D> sides;
  std::array<bool, D> periodic;
};
template <std::size_t D>
cartesian_sides<D> cartesian_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED, axes = 0;
  check_mpi(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind != MPI_CART) throw argument_error("colligo: grid_of: the communicator is not cartesian");
  check_mpi(MPI_Cartdim_get(comm, &axes), "MPI_Cartdim_get");
  if (axes != static_cast<int>(D))
    throw argument_error(concat({"colligo: grid_of: ", D, " axes asked for, the communicator has ", axes}));
  std::array<int, D> sides, periodic, at;
  check_mpi(MPI_Cart_get(comm, axes, sides.data(), periodic.data(), at.data()), "MPI_Cart_get");
  return {sides, as_truths(periodic)};
}

}  // namespace detail

namespace by_name {

/// The graph of an MPI communicator made by MPI_Dist_graph_create, MPI_Dist_graph_create_adjacent, MPI_Graph_create or
/// MPI_Cart_create, with neighbours in MPI's order. Of a cartesian communicator these are, axis by axis, the lower and
/// the higher neighbour, without those behind a border. On a periodic axis of one or two ranks both are the same rank:
/// two edges, of which the one to the lower neighbour is the one from the higher neighbour there, as in MPI 4.0. Throws
/// argument_error if the communicator has no topology, mismatch_error if two ranks of a graph differ. Collective.
template <communicator Comm>
  requires std::convertible_to<Comm const&, MPI_Comm>
neighbours<Comm> neighbours_of(Comm const& comm) {
  detail::endpoint& state = state_of<Comm>::open(comm);   // refuses an empty one
  auto const found = detail::topology_of(static_cast<MPI_Comm>(comm), state.rank());
  if (!found.is_grid) return neighbours<Comm>(comm, found.sources, found.targets);
  return neighbours<Comm>(state, found.sources, found.targets, found.order);
}

/// The grid of D axes of an MPI communicator made by MPI_Cart_create, for halos: grid_of<2>(comm). Throws
/// argument_error if it is not cartesian, or has another number of axes. Local after the first use of comm.
template <std::size_t D, communicator Comm>
  requires std::convertible_to<Comm const&, MPI_Comm>
auto grid_of(Comm const& comm) {
  state_of<Comm>::open(comm);   // refuses an empty one
  auto const [sides, periodic] = detail::cartesian_of<D>(static_cast<MPI_Comm>(comm));
  return grid<Comm, D>(comm, sides, periodic);
}

}  // namespace by_name

}  // namespace colligo
