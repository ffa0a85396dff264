// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a schedule asks of a network between hosts, counted; and how calls are timed on one.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <colligo/model/mpi.hpp>
#include <colligo/model/record.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// The host of each rank, as the lowest rank there.
inline std::vector<int> hosts_of(colligo::mpi_communicator const& comm) {
  auto const& port = colligo::port_of<colligo::mpi_communicator>::open(comm);
  return port.hosts.empty() ? std::vector<int>(static_cast<std::size_t>(port.size())) : port.hosts;
}

struct crossings {
  int messages = 0;   ///< that leave their place
  int hops = 0;       ///< of these, how many wait for each other: the most on any path through the schedule
};

/// How a schedule crosses between places (hosts, clusters): where[r] is the place of rank r.
inline crossings crossings_of(colligo::schedule const& s, std::span<int const> where) {
  struct state {
    std::size_t step = 0;
    int before = 0, after = 0;   // hops behind the rank before and after its step
  };
  std::vector<state> ranks(where.size());
  auto const at = [&](int r, std::size_t step) -> state& {
    state& me = ranks[static_cast<std::size_t>(r)];
    if (me.step != step) me = {step, me.after, me.after};
    return me;
  };
  crossings all;
  for (colligo::message const& m : s.messages_in_order()) {
    int const hop = where[static_cast<std::size_t>(m.from)] != where[static_cast<std::size_t>(m.to)];
    int const behind = at(m.from, m.from_step).before + hop;
    state& to = at(m.to, m.to_step);
    to.after = std::max(to.after, behind);
    all.messages += hop;
    all.hops = std::max(all.hops, behind);
  }
  return all;
}

/// Microseconds per call on this rank, of calls back to back. One call goes before them and is not timed: a barrier's ranks would leave it by as
/// much apart as a call takes here, while those of a collective that all ranks wait for run in step with each other.
template <class Call>
double back_to_back(Call const& call, int calls) {
  call();
  double const start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  return (MPI_Wtime() - start) * 1e6 / calls;
}

}  // namespace bench
