// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a schedule asks of a network between hosts, counted; and how calls are timed on one.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <colligo/plan/recorder.hpp>
#include <colligo/communicators/mpi.hpp>
#include <colligo/engine/communicator_state.hpp>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {

/// The host of each rank; with `pretended`, so many ranks in a row are taken for a host.
inline std::vector<int> hosts_of(colligo::mpi_communicator const& comm, int pretended) {
  auto const& state = colligo::detail::state_at(colligo::state_of<colligo::mpi_communicator>::open(comm));
  auto hosts = state.hosts.list();
  hosts.resize(static_cast<std::size_t>(state.size()));   // empty where there is one
  for (std::size_t r = 0; r < hosts.size() && pretended != 0; ++r) hosts[r] = static_cast<int>(r) / pretended;
  return hosts;
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

/// Microseconds per call on this rank of all_reduce(in, out), sums of ints, called back to back. Throws
/// std::runtime_error if a sum is wrong. One call goes before the others and is not timed: the ranks leave a barrier by
/// as much apart as a call takes here, while those of a collective that all of them wait for
/// run in step with each other. Rank 1 is late for each call by `late`.
template <class AllReduce>
double back_to_back(MPI_Comm comm, int elements, int calls, AllReduce const& all_reduce, std::string const& name,
                    std::chrono::microseconds late = {}) {
  int rank = 0, p = 0, done = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  std::vector<int> in(static_cast<std::size_t>(elements)), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = rank + static_cast<int>(i % 1024);
  auto const call = [&] {
    ++in[static_cast<std::size_t>(done++) % in.size()];
    if (rank == 1 && late.count() > 0) std::this_thread::sleep_for(late);
    all_reduce(std::span<int const>(in), std::span(out));
    for (std::size_t i = 0; i < in.size(); ++i)
      if (int const expected = p * (in[i] - rank) + p * (p - 1) / 2; out[i] != expected)
        throw std::runtime_error(fmt::format("{}: {} instead of {} at index {}", name, out[i], expected, i));
  };
  call();
  double const start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  return (MPI_Wtime() - start) * 1e6 / calls;
}

}  // namespace bench
