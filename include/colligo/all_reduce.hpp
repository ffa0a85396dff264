// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_reduce: every rank gets the combination of all ranks' vectors, element by element.
#pragma once

#include "select/call.hpp"
#include "transport/models.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class In, class Out>
auto accept_all_reduce(Comm const& comm, In const& in, Out& out) {
  door<collective::all_reduce, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  its.require_size(to.size(), from.size(), "the output");
  its.require_disjoint(from, to);
  blocks const all = its.vector_of(from.size());
  return its.accept(all, from, all.whole, to, all.whole);
}
template <class Comm, class R>
auto accept_all_reduce(Comm const& comm, in_place_range<R> both) {
  using T = std::ranges::range_value_t<R>;
  door<collective::all_reduce, Comm> const its(comm);
  blocks const all = its.vector_of(both.elements.size());
  return its.accept(all, std::span<T const>(both.elements), all.whole, both.elements, all.whole);
}

}  // namespace detail

/// Combines the ranks' `in`, element by element, into every rank's `out`.
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name, functor not known to commute),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void all_reduce(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  detail::accept_all_reduce(comm, in, out).run(op, algorithm);
}
/// The same, started: complete when the request says so. Throws as all_reduce does; what the functor throws comes out
/// of the request.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
[[nodiscard]] request iall_reduce(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  return detail::accept_all_reduce(comm, in, out).start(std::forward<Op>(op), algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
[[nodiscard]] persistent all_reduce_init(Comm const& comm, In const& in, Out&& out, Op&& op,
                                         Algorithm const& algorithm = {}) {
  return detail::accept_all_reduce(comm, in, out).init(std::forward<Op>(op), algorithm);
}

/// In place: all_reduce(comm, in_place(values), op).
template <communicator Comm, elements R, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<R>>
void all_reduce(Comm const& comm, in_place_range<R> both, Op&& op, Algorithm const& algorithm = {}) {
  detail::accept_all_reduce(comm, both).run(op, algorithm);
}
/// The same, started: complete when the request says so. Throws as all_reduce does; what the functor throws comes out
/// of the request.
template <communicator Comm, elements R, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<R>>
[[nodiscard]] request iall_reduce(Comm const& comm, in_place_range<R> both, Op&& op, Algorithm const& algorithm = {}) {
  return detail::accept_all_reduce(comm, both).start(std::forward<Op>(op), algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements R, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<R>>
[[nodiscard]] persistent all_reduce_init(Comm const& comm, in_place_range<R> both, Op&& op,
                                         Algorithm const& algorithm = {}) {
  return detail::accept_all_reduce(comm, both).init(std::forward<Op>(op), algorithm);
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
