// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce_scatter: the ranks' vectors are combined, element by element, and each rank gets its block of the result.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Call, class T, class Op, class Algorithm>
void run_reduce_scatter(Call const& call, blocks const& block, std::span<T const> from, std::span<T> to, Op& op, Algorithm const& algorithm) {
  call.require_size(from.size(), block.whole.size(), "the input");
  call.require_size(to.size(), block[call.rank()].size(), "the output");
  call.require_disjoint(from, to);
  call.run(algorithm, block, holding(from, block.whole), holding(to, block[call.rank()]), op);
}

}  // namespace detail

/// Combines the ranks' `in` and puts block i of the result into rank i's `out`.
/// @param in         contiguous range of as many elements as all counts together
/// @param out        contiguous range of counts[rank] elements, not overlapping `in`
/// @param counts     sized range of p integers, elements per block; the same on every rank; zeros are fine
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, a negative count, ranges overlap), algorithm_error (unknown name, functor not known to commute), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void reduce_scatter(Comm const& comm, In const& in, Out&& out, Counts const& counts, Op&& op, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::reduce_scatter>(comm);
  auto const [from, to] = detail::spans(in, out);
  detail::run_reduce_scatter(call, call.blocks_of(counts), from, to, op, algorithm);
}

/// The same for blocks of one length: in.size() == p * out.size().
template <communicator Comm, elements In, elements Out, class Op, algorithm Algorithm = automatic>
  requires detail::functor_on<Op, std::ranges::range_value_t<Out>>
void reduce_scatter_block(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::reduce_scatter_block>(comm);
  auto const [from, to] = detail::spans(in, out);
  detail::run_reduce_scatter(call, call.blocks_of(to.size()), from, to, op, algorithm);
}

}  // namespace colligo
