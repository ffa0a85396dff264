// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_reduce: every rank gets the combination of all ranks' vectors, element by element.
#pragma once

#include "arguments/calls.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <>
struct calls<collective::all_reduce> : elementwise_calls<collective::all_reduce> {};

}  // namespace detail

namespace by_name {

/// Combines the ranks' `in`, element by element, into every rank's `out`.
/// @param comm       communicator, all of whose ranks make the call
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name, functor not known to commute),
/// mpi_error; nothing is written before the arguments are accepted. Cost: the algorithm's card. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void all_reduce(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_reduce>::make<detail::made::at_once>(comm, in, out, op, algorithm);
}
/// In place: all_reduce(comm, in_place(values), op). Boost.MPI's inplace works too, also of a single value.
template <communicator Comm, detail::in_place_over<Comm> Both, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
void all_reduce(Comm const& comm, Both both, Op&& op, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_reduce>::make<detail::made::at_once>(comm, both, op, algorithm);
}
/// iall_reduce, all_reduce_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(all_reduce)

/// One value per rank; returns the combination on every rank.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(!detail::stands_in_place<T> && detail::travels_over<T, Comm> && detail::functor_on<Op, T>)
T all_reduce(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  T result = value;
  colligo::all_reduce(comm, detail::one(value), detail::one(result), op, algorithm);
  return result;
}
/// The same into `out`.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(detail::functor_on_values<Op, T> && detail::travels_over<T, Comm>)
void all_reduce(Comm const& comm, T const& value, T& out, Op&& op, Algorithm const& algorithm = {}) {
  colligo::all_reduce(comm, detail::one(value), detail::one(out), op, algorithm);
}
/// The range form again, for unqualified calls in programs that open both this namespace and Boost.MPI's.
template <class T, class Op>
  requires(detail::functor_without_state_on_elements<Op, T> && detail::elements_over<T, boost::mpi::communicator>)
void all_reduce(boost::mpi::communicator const& comm, T const& in, T& out, Op op) {
  detail::calls<collective::all_reduce>::make<detail::made::at_once>(comm, in, out, op);
}
/// The range form with pointers to n elements each.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, class Op = detail::overloaded<T>,
          algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
void all_reduce(Comm const& comm, T const* in, N n, T* out, Op&& op, Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::all_reduce>(comm, in, n);
  colligo::all_reduce(comm, from, std::span(out, from.size()), op, algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
void all_reduce(Comm const& comm, boost::mpi::inplace_t<T*> both, N n, Op&& op, Algorithm const& algorithm = {}) {
  colligo::all_reduce(comm, in_place(detail::counted<collective::all_reduce>(comm, both.buffer, n)), op, algorithm);
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(all_reduce)
