// SPDX-License-Identifier: BSL-1.0
/// @file
/// gather and gatherv: the root gets the vectors of all ranks, one after the other.
#pragma once

#include "select/call.hpp"
#include "transport/models.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Door, class T>
auto accept_gathering(Door const& its, blocks const& block, std::span<T const> from, std::span<T> to, int root) {
  if (its.at(root)) {
    its.require_size(to.size(), block.whole.size(), "the output");
    its.require_disjoint(from, to);
  } else {
    to = {};
  }
  return its.accept(block, from, block[its.rank()], to, {0, to.size()}, root);
}
template <class Comm, class In, class Out>
auto accept_gather(Comm const& comm, In const& in, Out& out, int root) {
  door<collective::gather, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  its.require_root(root);
  return accept_gathering(its, its.blocks_of(from.size()), from, to, root);
}
template <class Comm, class In, class Out, class Counts>
auto accept_gatherv(Comm const& comm, In const& in, Out& out, Counts const& counts, int root) {
  door<collective::gatherv, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  its.require_root(root);
  blocks const block = its.blocks_of(counts);
  its.require_size(from.size(), block[its.rank()].size(), "the input");
  return accept_gathering(its, block, from, to, root);
}

}  // namespace detail

/// Puts rank i's `in` at out[i n] .. out[(i + 1) n - 1] of the root.
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of p n elements at the root, not overlapping `in`; other ranks may pass an empty
///                   range
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes do not fit, ranges overlap), algorithm_error (unknown name),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
void gather(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_gather(comm, in, out, root).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as gather does.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
[[nodiscard]] request igather(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  return detail::accept_gather(comm, in, out, root).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
[[nodiscard]] persistent gather_init(Comm const& comm, In const& in, Out&& out, int root,
                                     Algorithm const& algorithm = {}) {
  return detail::accept_gather(comm, in, out, root).init(detail::no_functor{}, algorithm);
}

/// The same for any lengths.
/// @param in         contiguous range of counts[rank] elements
/// @param out        contiguous range of as many elements as all counts together at the root, not overlapping `in`;
///                   elsewhere it may be empty
/// @param counts     sized range of p integers, elements per rank; the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws as gather does. Collective over comm.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts,
          algorithm Algorithm = automatic>
void gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, int root,
             Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_gatherv(comm, in, out, counts, root).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as gatherv does.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts,
          algorithm Algorithm = automatic>
[[nodiscard]] request igatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, int root,
                               Algorithm const& algorithm = {}) {
  return detail::accept_gatherv(comm, in, out, counts, root).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, std::ranges::sized_range Counts,
          algorithm Algorithm = automatic>
[[nodiscard]] persistent gatherv_init(Comm const& comm, In const& in, Out&& out, Counts const& counts, int root,
                                      Algorithm const& algorithm = {}) {
  return detail::accept_gatherv(comm, in, out, counts, root).init(detail::no_functor{}, algorithm);
}

}  // namespace colligo
