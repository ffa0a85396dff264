// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_reduce: every rank gets the combination of all ranks' vectors, element by element.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Combines the ranks' `in`, element by element, into every rank's `out`.
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name, functor not known to commute), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void all_reduce(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::all_reduce>(comm);
  auto const [from, to] = detail::spans(in, out);
  call.require_size(to.size(), from.size(), "the output");
  call.require_disjoint(from, to);
  auto const all = call.vector_of(from.size());
  call.run(algorithm, all, detail::holding(from, all.whole), detail::holding(to, all.whole), op);
}

/// The same in place: all_reduce(comm, in_place(values), op).
template <communicator Comm, elements R, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<R>>
void all_reduce(Comm const& comm, in_place_range<R> both, Op&& op, Algorithm const& algorithm = {}) {
  using T = std::ranges::range_value_t<R>;
  auto const call = detail::enter<collective::all_reduce>(comm);
  auto const all = call.vector_of(both.elements.size());
  call.run(algorithm, all, detail::holding(std::span<T const>(both.elements), all.whole), detail::holding(both.elements, all.whole), op);
}

/// One value per rank; returns the combination on every rank.
template <communicator Comm, class T, class Op, algorithm Algorithm = automatic>
  requires(!detail::is_in_place<T> && detail::functor_on<Op, T>)
T all_reduce(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  T result = value;
  colligo::all_reduce(comm, std::span(&value, 1), std::span(&result, 1), op, algorithm);
  return result;
}

}  // namespace colligo
