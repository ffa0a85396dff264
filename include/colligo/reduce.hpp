// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce: one rank, the root, gets the combination of all ranks' vectors, element by element.
#pragma once

#include "select/call.hpp"
#include "transport/models.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class In, class Out>
auto accept_reduce(Comm const& comm, In const& in, Out& out, int root) {
  door<collective::reduce, Comm> const its(comm);
  auto [from, to] = spans(in, out);
  its.require_root(root);
  if (its.at(root)) {
    its.require_size(to.size(), from.size(), "the output");
    its.require_disjoint(from, to);
  } else {
    to = {};
  }
  blocks const all = its.vector_of(from.size());
  return its.accept(all, from, all.whole, to, {0, to.size()}, root);
}

}  // namespace detail

/// Combines the ranks' `in`, element by element, into the root's `out`.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of n elements at the root, not overlapping `in`; other ranks may pass an empty
///                   range
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes differ, ranges overlap), algorithm_error (unknown name, functor not
/// known to commute), mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the
/// algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void reduce(Comm const& comm, In const& in, Out&& out, Op&& op, int root, Algorithm const& algorithm = {}) {
  detail::accept_reduce(comm, in, out, root).run(op, algorithm);
}
/// The same, started: complete when the request says so. Throws as reduce does; what the functor throws comes out of
/// the request.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
[[nodiscard]] request ireduce(Comm const& comm, In const& in, Out&& out, Op&& op, int root,
                              Algorithm const& algorithm = {}) {
  return detail::accept_reduce(comm, in, out, root).start(std::forward<Op>(op), algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
[[nodiscard]] persistent reduce_init(Comm const& comm, In const& in, Out&& out, Op&& op, int root,
                                     Algorithm const& algorithm = {}) {
  return detail::accept_reduce(comm, in, out, root).init(std::forward<Op>(op), algorithm);
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
