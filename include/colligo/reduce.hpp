// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce: one rank, the root, gets the combination of all ranks' vectors, element by element.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Combines the ranks' `in`, element by element, into the root's `out`.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of n elements at the root, not overlapping `in`; other ranks may pass an empty range
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes differ, ranges overlap), algorithm_error (unknown name, functor not known to commute), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void reduce(Comm const& comm, In const& in, Out&& out, Op&& op, int root, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::reduce>(comm);
  auto [from, to] = detail::spans(in, out);
  call.require_root(root);
  if (call.at(root)) {
    call.require_size(to.size(), from.size(), "the output");
    call.require_disjoint(from, to);
  } else {
    to = {};
  }
  auto const all = call.vector_of(from.size());
  call.run(algorithm, all, detail::holding(from, all.whole), detail::holding(to, {0, to.size()}), op, root);
}

/// One value per rank; returns the combination at the root, at other ranks the value is unspecified.
template <communicator Comm, class T, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
T reduce(Comm const& comm, T const& value, Op&& op, int root, Algorithm const& algorithm = {}) {
  T result = value;
  colligo::reduce(comm, std::span(&value, 1), std::span(&result, 1), op, root, algorithm);
  return result;
}

}  // namespace colligo
