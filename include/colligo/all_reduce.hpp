// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_reduce: every rank gets the combination of all ranks' vectors, element by element.
#pragma once

#include "model/models.hpp"
#include "select/call.hpp"

namespace colligo {

namespace detail {

// in == out for in place.
template <class T, class Port, class Op, class Algorithm>
void run_all_reduce(call<collective::all_reduce, Port> const& call, T const* in, T* out, std::size_t n, Op& op, Algorithm const& algorithm) {
  using functor = std::remove_cv_t<Op>;
  call.template with<T, functor>(algorithm, n, [&]<class Tag>(Tag const& tag) {
    if constexpr (std::is_same_v<Tag, vendor>) {
      vendor_all_reduce(tag, call.port, in, out, n, op);
    } else {
      auto const policy = make_policy<collective::all_reduce, Tag, T, functor>(tag);
      bool const copy = keeps_input<decltype(policy)>() && in == out;
      room<T> input(call.port.input, copy ? n : 0);
      if (copy) std::copy_n(in, n, input.data());
      working_vector<T, Op> data(copy ? input.data() : in, out, n, op);
      auto step = call.port.steps(data);
      policy(step, range{0, n});
      data.complete();
    }
  });
}

}  // namespace detail

/// Combines the ranks' `in`, element by element, into every rank's `out`.
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name, functor not known to commute), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<std::remove_reference_t<Op>, std::ranges::range_value_t<Out>>
void all_reduce(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  using T = std::ranges::range_value_t<Out>;
  static_assert(std::is_same_v<T, std::ranges::range_value_t<In>>, "colligo: input and output must have the same element type");
  auto const call = detail::enter<collective::all_reduce>(comm);
  std::span<T const> const from(in);
  std::span<T> const to(out);
  call.require_size(to.size(), from.size(), "the output");
  call.template require_disjoint<T>(from, to);
  detail::run_all_reduce(call, from.data(), to.data(), from.size(), op, algorithm);
}

/// The same in place: all_reduce(comm, in_place(values), op).
template <communicator Comm, elements R, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<std::remove_reference_t<Op>, std::ranges::range_value_t<R>>
void all_reduce(Comm const& comm, in_place_range<R> values, Op&& op, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::all_reduce>(comm);
  detail::run_all_reduce(call, values.elements.data(), values.elements.data(), values.elements.size(), op, algorithm);
}

/// One value per rank; returns the combination on every rank.
template <communicator Comm, class T, class Op, algorithm Algorithm = automatic>
  requires(!detail::is_in_place<T> && detail::functor_on<std::remove_reference_t<Op>, T>)
T all_reduce(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::all_reduce>(comm);
  T result = value;
  detail::run_all_reduce(call, &value, &result, 1, op, algorithm);
  return result;
}

}  // namespace colligo
