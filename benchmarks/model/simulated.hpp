// SPDX-License-Identifier: BSL-1.0
/// @file
/// What differs where SimGrid's SMPI simulates the ranks (model/simulate): they are threads of one process and
/// take turns, so that nothing may poll; they can start at exactly one time; combining takes as long as is asked for;
/// and SimGrid's own algorithms can be called by their names. The compiler reads this before any other file.
#pragma once

#include <mpi.h>
#undef exit   // smpicxx makes it a macro, and CLI11 has a member of that name

#include <colligo/core/element.hpp>
#include <colligo/core/functor.hpp>
#include <colligo/core/policy.hpp>
#include <colligo/trees.hpp>   // COLLIGO_TREE and its like
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <string_view>
#include <vector>

#define COLLIGO_BENCH_SIMULATED

namespace simgrid::smpi::colls {   // of the library, in no public header

void set_allreduce(std::string const& name);
void set_reduce(std::string const& name);
void set_bcast(std::string const& name);
void set_allgather(std::string const& name);
void set_allgatherv(std::string const& name);
void set_alltoall(std::string const& name);
void set_gather(std::string const& name);
void set_scatter(std::string const& name);
void set_reduce_scatter(std::string const& name);

}  // namespace simgrid::smpi::colls

namespace bench::simulated {

/// In front of the names of SimGrid's algorithms.
inline constexpr std::string_view prefix = "simgrid:";

/// What stands for "mpi", and what results are compared with: SimGrid's imitation of Open MPI's choices.
inline char const* const reference = "ompi";

/// What MPI's calls do from now on, for all ranks: they may not be in one. False: there is no choice.
inline bool take(colligo::collective what, std::string const& name) {
  using enum colligo::collective;
  switch (what) {
    case all_reduce: return simgrid::smpi::colls::set_allreduce(name), true;
    case reduce: return simgrid::smpi::colls::set_reduce(name), true;
    case broadcast: return simgrid::smpi::colls::set_bcast(name), true;
    case all_gather: return simgrid::smpi::colls::set_allgather(name), true;
    case all_gatherv: return simgrid::smpi::colls::set_allgatherv(name), true;
    case all_to_all: return simgrid::smpi::colls::set_alltoall(name), true;
    case gather: return simgrid::smpi::colls::set_gather(name), true;
    case scatter: return simgrid::smpi::colls::set_scatter(name), true;
    case reduce_scatter: return simgrid::smpi::colls::set_reduce_scatter(name), true;
    default: return false;
  }
}

/// The same, once all ranks have left the call before.
inline void take_together(colligo::collective what, std::string const& name) {
  MPI_Barrier(MPI_COMM_WORLD);
  take(what, name);
}

/// A scan rank by rank, to compare results with: in SimGrid's own every rank sends to all higher ones at once, which
/// takes many minutes to simulate on 512 shuffled ranks.
inline void scan_in_turn(bool inclusive, void const* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  int rank = 0, p = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Type_size(type, &size);
  auto const bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  std::vector<char> below(bytes), with_own(bytes);
  std::memcpy(with_own.data(), in, bytes);
  if (rank > 0) {
    MPI_Recv(below.data(), count, type, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    MPI_Reduce_local(below.data(), with_own.data(), count, type, op);
  }
  if (rank + 1 < p) MPI_Send(with_own.data(), count, type, rank + 1, 0, comm);
  std::memcpy(out, (inclusive ? with_own : below).data(), bytes);
}

/// All ranks leave at the same simulated time: a multiple of half a second that lies beyond the end of the call in
/// which they agree on it.
inline void start_together() {
  double const mine = MPI_Wtime();
  double latest = 0;
  MPI_Allreduce(&mine, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  simgrid::s4u::this_actor::sleep_until(std::floor(latest * 2) / 2 + 1.5);
}

/// Lets so many bytes' combining pass: BENCHMARK_GAMMA nanoseconds each, none by default. Hosts do a flop in a
/// nanosecond.
inline void combine(double bytes) {
  static double const gamma = [] {
    char const* const text = std::getenv("BENCHMARK_GAMMA");
    return text ? std::atof(text) : 0.0;
  }();
  if (gamma > 0 && bytes > 0) smpi_execute_flops(gamma * bytes);
}

/// A sum that takes time.
struct sum : std::plus<> {};

}  // namespace bench::simulated

namespace colligo::inline COLLIGO_MODE {

template <class T>
inline constexpr bool commutative<bench::simulated::sum, T> = commutative<std::plus<>, T>;

namespace detail {

template <class T>
constexpr element timed_sum() {
  element made = element_of<T, std::plus<>>;
  made.combine = [](void* op, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n) {
    element_of<T, std::plus<>>.combine(op, left, right, out, n);
    bench::simulated::combine(static_cast<double>(n * sizeof(T)));
  };
  return made;
}
template <class T>
inline constexpr element element_of<T, bench::simulated::sum> = timed_sum<T>();
template <class T>
inline constexpr element element_of<T, bench::simulated::sum const> = timed_sum<T>();

}  // namespace detail
}  // namespace colligo
