// SPDX-License-Identifier: BSL-1.0
/// @file
/// gather and gatherv: the root gets the vectors of all ranks, one after the other.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Call, class T, class Algorithm>
void run_gather(Call const& call, blocks const& block, std::span<T const> from, std::span<T> to, int root, Algorithm const& algorithm) {
  if (call.at(root)) {
    call.require_size(to.size(), block.whole.size(), "the output");
    call.require_disjoint(from, to);
  } else {
    to = {};
  }
  no_functor nothing;
  call.run(algorithm, block, holding(from, block[call.rank()]), holding(to, {0, to.size()}), nothing, root);
}

}  // namespace detail

/// Puts rank i's `in` at out[i n] .. out[(i + 1) n - 1] of the root.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of p n elements at the root, not overlapping `in`; other ranks may pass an empty range
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes do not fit, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
void gather(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::gather>(comm);
  auto const [from, to] = detail::spans(in, out);
  call.require_root(root);
  detail::run_gather(call, call.blocks_of(from.size()), from, to, root, algorithm);
}

/// The same for any lengths.
/// @param in         contiguous range of counts[rank] elements
/// @param out        contiguous range of as many elements as all counts together at the root, not overlapping `in`; elsewhere it may be empty
/// @param counts     sized range of p integers, elements per rank; the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws as gather does. Collective over comm.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, int root, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::gatherv>(comm);
  auto const [from, to] = detail::spans(in, out);
  call.require_root(root);
  auto const block = call.blocks_of(counts);
  call.require_size(from.size(), block[call.rank()].size(), "the input");
  detail::run_gather(call, block, from, to, root, algorithm);
}

}  // namespace colligo
