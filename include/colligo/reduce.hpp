// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce: one rank, the root, gets the combination of all ranks' vectors, element by element.
#pragma once

#include "model/models.hpp"
#include "select/call.hpp"

namespace colligo {

namespace detail {

// out is null away from the root.
template <class T, class Port, class Op, class Algorithm>
void run_reduce(call<collective::reduce, Port> const& call, T const* in, T* out, std::size_t n, Op& op, int root, Algorithm const& algorithm) {
  using functor = std::remove_cv_t<Op>;
  call.template with<T, functor>(algorithm, n, [&]<class Tag>(Tag const& tag) {
    if constexpr (std::is_same_v<Tag, vendor>) {
      vendor_reduce(tag, call.port, in, out, n, op, root);
    } else {
      auto const policy = make_policy<collective::reduce, Tag, T, functor>(tag);
      bool const at_root = call.port.rank() == root;
      room<T> partial(call.port.result, at_root ? 0 : n);
      working_vector<T, Op> data(in, at_root ? out : partial.data(), n, op);
      auto step = call.port.steps(data);
      policy(step, range{0, n}, root);
      if (at_root) data.complete();
    }
  });
}

}  // namespace detail

/// Combines the ranks' `in`, element by element, into the root's `out`.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of n elements at the root, not overlapping `in`; other ranks may pass an empty range
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes differ, ranges overlap), algorithm_error (unknown name, functor not known to commute),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<std::remove_reference_t<Op>, std::ranges::range_value_t<Out>>
void reduce(Comm const& comm, In const& in, Out&& out, Op&& op, int root, Algorithm const& algorithm = {}) {
  using T = std::ranges::range_value_t<Out>;
  static_assert(std::is_same_v<T, std::ranges::range_value_t<In>>, "colligo: input and output must have the same element type");
  auto const call = detail::enter<collective::reduce>(comm);
  std::span<T const> const from(in);
  std::span<T> const to(out);
  call.require_root(root);
  if (call.port.rank() == root) {
    call.require_size(to.size(), from.size(), "the output");
    call.template require_disjoint<T>(from, to);
  }
  detail::run_reduce(call, from.data(), to.data(), from.size(), op, root, algorithm);
}

/// One value per rank; returns the combination at the root, at other ranks the value is unspecified.
template <communicator Comm, class T, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<std::remove_reference_t<Op>, T>
T reduce(Comm const& comm, T const& value, Op&& op, int root, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::reduce>(comm);
  call.require_root(root);
  T result = value;
  detail::run_reduce(call, &value, &result, 1, op, root, algorithm);
  return result;
}

}  // namespace colligo
