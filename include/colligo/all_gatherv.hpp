// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gatherv: every rank gets the vectors of all ranks, one after the other, of any lengths.
#pragma once

#include <numeric>
#include <vector>

#include "all_gather.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Puts the ranks' `in` one after the other into every rank's `out`.
/// @param in         contiguous range of counts[rank] elements
/// @param out        contiguous range of as many elements as all counts together, not overlapping `in`
/// @param counts     sized range of p integers, elements per rank; the same on every rank; zeros are fine
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, a negative count, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts, algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::all_gatherv>(comm);
  auto const [from, to] = detail::spans(in, out);
  auto const block = call.blocks_of(counts);
  call.require_size(from.size(), block[call.rank()].size(), "the input");
  call.require_size(to.size(), block.whole.size(), "the output");
  call.require_disjoint(from, to);
  detail::no_functor nothing;
  call.run(algorithm, block, detail::holding(from, block[call.rank()]), detail::holding(to, block.whole), nothing);
}

/// What all ranks contributed, one after the other, and how many elements each.
template <class T>
struct gathered {
  std::vector<T> data;
  std::vector<std::size_t> counts;
};

/// The same where ranks do not know each other's counts: finds them with an all_gather first. T must be default constructible.
template <communicator Comm, elements In, algorithm Algorithm = automatic>
gathered<std::ranges::range_value_t<In>> all_gatherv(Comm const& comm, In const& in, Algorithm const& algorithm = {}) {
  gathered<std::ranges::range_value_t<In>> all;
  std::size_t const mine = std::ranges::size(in);
  all.counts.resize(static_cast<std::size_t>(detail::enter<collective::all_gatherv>(comm).size()));
  colligo::all_gather(comm, std::span(&mine, 1), all.counts);
  all.data.resize(std::reduce(all.counts.begin(), all.counts.end()));
  colligo::all_gatherv(comm, in, all.data, all.counts, algorithm);
  return all;
}

}  // namespace colligo
