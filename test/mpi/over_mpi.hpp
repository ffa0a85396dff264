// SPDX-License-Identifier: BSL-1.0
// What the tests under mpirun share: who may run what, and what the right answer is.
#pragma once

#include <mpi.h>

#include <boost/mpi/collectives/all_gather.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/serialization/vector.hpp>
#include <colligo/algorithm/catalogue.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/reduce.hpp>

#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace over_mpi {

using colligo::collective;

/// The algorithm has a form for this collective and element type, whatever it does to the order of operands.
template <collective C, class Tag, class T, class Op>
constexpr bool has_form() {
  constexpr bool asks_for_bytes = std::is_same_v<Tag, colligo::vendor> || std::is_same_v<Tag, colligo::shared_memory>;
  return colligo::offers<Tag, C, T, Op> && (!asks_for_bytes || colligo::travels_as_bytes<T>);
}

/// It may be given this functor too.
template <collective C, class Tag, class T, class Op>
constexpr bool takes() {
  if constexpr (has_form<C, Tag, T, Op>())
    return colligo::keeps_order<colligo::policy_t<C, Tag, T, Op>>() || colligo::commutative<Op, T>;
  else return false;
}

/// f(tag) for every algorithm of the catalogue that may be given the functor.
template <collective C, class T, class Op, class F>
void for_each_that_takes(F f) {
  colligo::for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (takes<C, Tag, T, Op>()) f(tag);
  });
}

/// "p = 3, n = 7": for messages.
template <class... Parts>
std::string text(Parts const&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// MPI's own answer.
template <class T>
std::vector<T> by_mpi(MPI_Comm comm, std::vector<T> const& in, MPI_Datatype type, MPI_Op op) {
  std::vector<T> out(in.size());
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), type, op, comm);
  return out;
}

/// Every rank's vector, on every rank.
template <class T>
std::vector<std::vector<T>> gathered(boost::mpi::communicator const& comm, std::vector<T> const& in) {
  std::vector<std::vector<T>> all;
  if constexpr (colligo::travels_as_bytes<T>) {
    auto const bytes = static_cast<int>(in.size() * sizeof(T));
    std::vector<T> flat(in.size() * static_cast<std::size_t>(comm.size()));
    MPI_Allgather(in.data(), bytes, MPI_BYTE, flat.data(), bytes, MPI_BYTE, comm);
    for (std::size_t at = 0; at < flat.size(); at += in.size())
      all.emplace_back(flat.data() + at, flat.data() + at + in.size());
    all.resize(static_cast<std::size_t>(comm.size()));
  } else {
    boost::mpi::all_gather(comm, in, all);
  }
  return all;
}

/// The answer by definition: one rank after the other.
template <class T, class Op>
std::vector<T> in_rank_order(boost::mpi::communicator const& comm, std::vector<T> const& in, Op op) {
  auto const all = gathered(comm, in);
  auto result = all[0];
  for (std::size_t r = 1; r < all.size(); ++r)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = op(result[i], all[r][i]);
  return result;
}

}  // namespace over_mpi
