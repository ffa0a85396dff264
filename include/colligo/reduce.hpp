// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce: one rank, the root, gets the combination of all ranks' vectors, element by element.
#pragma once

#include "arguments/calls.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <>
struct calls<collective::reduce> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out, functor_of<How, Out> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Op&& op, int root, Algorithm const& algorithm = {}) {
    call_arguments<collective::reduce, Comm> const arguments(comm, root);
    if (arguments.at(root)) fill_empty(arguments, out, std::ranges::size(in));
    auto [from, to] = detail::spans_of(in, out);
    if (arguments.at(root)) {
      arguments.require_size(to.size(), from.size(), "the output");
      arguments.require_disjoint(from, to);
    } else {
      to = {};
    }
    return arguments.accept_whole(from, to, root).template make<How>(std::forward<Op>(op), algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, functor_in_place<Both> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both both, Op&& op, int root, Algorithm const& algorithm = {}) {
    call_arguments<collective::reduce, Comm> const arguments(comm, root);
    auto const from = span_for<Op>(both), to = arguments.at(root) ? from : from.first(0);
    return arguments.accept_whole(constant(from), to, root).template make<How>(std::forward<Op>(op), algorithm);
  }
};

}  // namespace detail

namespace by_name {

/// Combines the ranks' `in`, element by element, into the root's `out`.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of n elements at the root, not overlapping `in`; other ranks may pass an empty
///                   range; an empty container is resized at the root
/// @param op         associative callable T(T const&, T const&)
/// @param root       the rank that gets the result, the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes differ, ranges overlap), algorithm_error (unknown name, functor not
/// known to commute), mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the
/// algorithm. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void reduce(Comm const& comm, In const& in, Out&& out, Op&& op, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::reduce>::make<detail::made::at_once>(comm, in, out, op, root, algorithm);
}
/// One value per rank. Returns the combination at the root and an unspecified value at other ranks.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(detail::functor_on_values<Op, T> && detail::travels_over<T, Comm>)
T reduce(Comm const& comm, T const& value, Op&& op, int root, Algorithm const& algorithm = {}) {
  T result = value;
  colligo::reduce(comm, detail::one(value), detail::one(result), op, root, algorithm);
  return result;
}
/// The same into the root's `out`; other ranks' `out` does not change.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(detail::functor_on_values<Op, T> && detail::travels_over<T, Comm>)
void reduce(Comm const& comm, T const& value, T& out, Op&& op, int root, Algorithm const& algorithm = {}) {
  colligo::reduce(comm, detail::one(value), detail::one(out), op, root, algorithm);
}
/// For ranks other than the root: without an output.
template <communicator Comm, detail::elements_over<Comm> In, class Op = detail::overloaded_on<In>,
          algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, In>
void reduce(Comm const& comm, In const& in, Op&& op, int root, Algorithm const& algorithm = {}) {
  colligo::reduce(comm, in, std::span<std::ranges::range_value_t<In>>(), op, root, algorithm);
}
/// The range forms with pointers to n elements each.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, class Op = detail::overloaded<T>,
          algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
void reduce(Comm const& comm, T const* in, N n, T* out, Op&& op, int root,
            Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::reduce>(comm, in, n);
  colligo::reduce(comm, from, std::span(out, from.size()), op, root, algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, class Op = detail::overloaded<T>,
          algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
void reduce(Comm const& comm, T const* in, N n, Op&& op, int root, Algorithm const& algorithm = {}) {
  colligo::reduce(comm, detail::counted<collective::reduce>(comm, in, n), op, root, algorithm);
}
/// In place: reduce(comm, in_place(values), op, root). Other ranks' values do not change; these ranks may use any form.
template <communicator Comm, detail::in_place_over<Comm> Both, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
void reduce(Comm const& comm, Both both, Op&& op, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::reduce>::make<detail::made::at_once>(comm, both, op, root, algorithm);
}
/// ireduce, reduce_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(reduce)

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(reduce)
