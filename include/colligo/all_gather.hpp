// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gather: every rank gets the vectors of all ranks, one after the other; all of the same length.
#pragma once

#include "select/call.hpp"
#include "transport/models.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class In, class Out>
auto accept_all_gather(Comm const& comm, In const& in, Out& out) {
  door<collective::all_gather, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  blocks const block = its.blocks_of(from.size());
  its.require_size(to.size(), block.whole.size(), "the output");
  its.require_disjoint(from, to);
  return its.accept(block, from, block[its.rank()], to, block.whole);
}

}  // namespace detail

/// Puts rank i's `in` at out[i n] .. out[(i + 1) n - 1] of every rank.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of p n elements, not overlapping `in`
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
void all_gather(Comm const& comm, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_all_gather(comm, in, out).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as all_gather does.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
[[nodiscard]] request iall_gather(Comm const& comm, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  return detail::accept_all_gather(comm, in, out).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
[[nodiscard]] persistent all_gather_init(Comm const& comm, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  return detail::accept_all_gather(comm, in, out).init(detail::no_functor{}, algorithm);
}

}  // namespace colligo
