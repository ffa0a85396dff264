// SPDX-License-Identifier: BSL-1.0
/// @file
/// scatter and scatterv: every rank gets its block of the root's vector.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Call, class T, class Algorithm>
void run_scatter(Call const& call, blocks const& block, std::span<T const> from, std::span<T> to, int root, Algorithm const& algorithm) {
  if (call.at(root)) {
    call.require_size(from.size(), block.whole.size(), "the input");
    call.require_disjoint(from, to);
  } else {
    from = {};
  }
  no_functor nothing;
  call.run(algorithm, block, holding(from, {0, from.size()}), holding(to, block[call.rank()]), nothing, root);
}

}  // namespace detail

/// Puts in[i n] .. in[(i + 1) n - 1] of the root into rank i's `out`.
/// @param in         contiguous range of p n elements at the root; other ranks may pass an empty range
/// @param out        contiguous range of n elements, the same n on every rank, not overlapping `in`
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes do not fit, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
void scatter(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::scatter>(comm);
  auto const [from, to] = detail::spans(in, out);
  call.require_root(root);
  detail::run_scatter(call, call.blocks_of(to.size()), from, to, root, algorithm);
}

/// The same for any lengths.
/// @param in         contiguous range of as many elements as all counts together at the root; other ranks may pass an empty range
/// @param counts     sized range of p integers, elements per rank; the same on every rank
/// @param out        contiguous range of counts[rank] elements, not overlapping `in`
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws as scatter does. Collective over comm.
template <communicator Comm, elements In, std::ranges::sized_range Counts, elements Out, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const& in, Counts const& counts, Out&& out, int root, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::scatterv>(comm);
  auto const [from, to] = detail::spans(in, out);
  call.require_root(root);
  auto const block = call.blocks_of(counts);
  call.require_size(to.size(), block[call.rank()].size(), "the output");
  detail::run_scatter(call, block, from, to, root, algorithm);
}

}  // namespace colligo
