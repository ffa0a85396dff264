// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gatherv: every rank gets the vectors of all ranks, one after the other, of any lengths.
#pragma once

#include <vector>

#include "all_gather.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class In, class Out, class Counts>
auto accept_all_gatherv(Comm const& comm, In const& in, Out& out, Counts const& counts) {
  door<collective::all_gatherv, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  blocks const block = its.blocks_of(counts);
  its.require_size(from.size(), block[its.rank()].size(), "the input");
  its.require_size(to.size(), block.whole.size(), "the output");
  its.require_disjoint(from, to);
  return its.accept(block, from, block[its.rank()], to, block.whole);
}

}  // namespace detail

/// Puts the ranks' `in` one after the other into every rank's `out`.
/// @param in         contiguous range of counts[rank] elements
/// @param out        contiguous range of as many elements as all counts together, not overlapping `in`
/// @param counts     sized range of p integers, elements per rank; the same on every rank; zeros are fine
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, a negative count, ranges overlap), algorithm_error (unknown name),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts,
          algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_all_gatherv(comm, in, out, counts).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as all_gatherv does.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts,
          algorithm Algorithm = automatic>
[[nodiscard]] request iall_gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts,
                                   Algorithm const& algorithm = {}) {
  return detail::accept_all_gatherv(comm, in, out, counts).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts,
          algorithm Algorithm = automatic>
[[nodiscard]] persistent all_gatherv_init(Comm const& comm, In const& in, Out&& out, Counts const& counts,
                                          Algorithm const& algorithm = {}) {
  return detail::accept_all_gatherv(comm, in, out, counts).init(detail::no_functor{}, algorithm);
}

/// What all ranks contributed, one after the other, and how many elements each.
template <class T>
struct gathered {
  std::vector<T> data;
  std::vector<std::size_t> counts;
};

/// The same where ranks do not know each other's counts: finds them with an all_gather first. T must be default
/// constructible.
template <communicator Comm, elements In, algorithm Algorithm = automatic>
gathered<std::ranges::range_value_t<In>> all_gatherv(Comm const& comm, In const& in, Algorithm const& algorithm = {}) {
  gathered<std::ranges::range_value_t<In>> all;
  std::size_t const mine = std::ranges::size(in);
  all.counts.resize(static_cast<std::size_t>(detail::door<collective::all_gatherv, Comm>(comm).size()));
  colligo::all_gather(comm, std::span(&mine, 1), all.counts);
  std::size_t sum = 0;
  for (std::size_t const count : all.counts) sum += count;
  all.data.resize(sum);
  colligo::all_gatherv(comm, in, all.data, all.counts, algorithm);
  return all;
}

}  // namespace colligo
