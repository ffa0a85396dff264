// SPDX-License-Identifier: BSL-1.0
/// @file
/// scan and exclusive_scan: every rank gets the combination of the vectors of the ranks up to it, or before it.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// Returns this rank.
template <collective C, class Comm, class T, class Op, class Algorithm>
int run_scan(Comm const& comm, std::span<T const> from, std::span<T> to, Op& op, Algorithm const& algorithm) {
  auto const call = enter<C>(comm);
  call.require_size(to.size(), from.size(), "the output");
  call.require_disjoint(from, to);
  auto const all = call.vector_of(from.size());
  call.run(algorithm, all, holding(from, all.whole), holding(to, all.whole), op);
  return call.rank();
}

}  // namespace detail

/// Combines the vectors of ranks 0 .. r, element by element and in this order, into rank r's `out`.
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void scan(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  auto const [from, to] = detail::spans(in, out);
  detail::run_scan<collective::scan>(comm, from, to, op, algorithm);
}

/// One value per rank.
template <communicator Comm, class T, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
T scan(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  T result = value;
  colligo::scan(comm, std::span(&value, 1), std::span(&result, 1), op, algorithm);
  return result;
}

/// Combines init and the vectors of ranks 0 .. r - 1, element by element and in this order, into rank r's `out`, as std::exclusive_scan
/// does: rank 0 gets init.
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param init       the left-most operand, the same on every rank
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void exclusive_scan(Comm const& comm, In const& in, Out&& out, std::ranges::range_value_t<Out> init, Op&& op, Algorithm const& algorithm = {}) {
  auto const [from, to] = detail::spans(in, out);
  bool const first = detail::run_scan<collective::exclusive_scan>(comm, from, to, op, algorithm) == 0;
  for (auto& element : to) element = first ? init : static_cast<std::ranges::range_value_t<Out>>(op(init, element));
}

}  // namespace colligo
