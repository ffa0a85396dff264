// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gather: every rank gets the vectors of all ranks, one after the other; all of the same length.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Puts rank i's `in` at out[i n] .. out[(i + 1) n - 1] of every rank.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of p n elements, not overlapping `in`
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
void all_gather(Comm const& comm, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::all_gather>(comm);
  auto const [from, to] = detail::spans(in, out);
  auto const block = call.blocks_of(from.size());
  call.require_size(to.size(), block.whole.size(), "the output");
  call.require_disjoint(from, to);
  detail::no_functor nothing;
  call.run(algorithm, block, detail::holding(from, block[call.rank()]), detail::holding(to, block.whole), nothing);
}

}  // namespace colligo
