// SPDX-License-Identifier: BSL-1.0
/// @file
/// scatter and scatterv: every rank gets its block of the root's vector.
#pragma once

#include "select/call.hpp"
#include "transport/models.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Door, class T>
auto accept_scattering(Door const& its, blocks const& block, std::span<T const> from, std::span<T> to, int root) {
  if (its.at(root)) {
    its.require_size(from.size(), block.whole.size(), "the input");
    its.require_disjoint(from, to);
  } else {
    from = {};
  }
  return its.accept(block, from, {0, from.size()}, to, block[its.rank()], root);
}
template <class Comm, class In, class Out>
auto accept_scatter(Comm const& comm, In const& in, Out& out, int root) {
  door<collective::scatter, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  its.require_root(root);
  return accept_scattering(its, its.blocks_of(to.size()), from, to, root);
}
template <class Comm, class In, class Counts, class Out>
auto accept_scatterv(Comm const& comm, In const& in, Counts const& counts, Out& out, int root) {
  door<collective::scatterv, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  its.require_root(root);
  blocks const block = its.blocks_of(counts);
  its.require_size(to.size(), block[its.rank()].size(), "the output");
  return accept_scattering(its, block, from, to, root);
}

}  // namespace detail

/// Puts in[i n] .. in[(i + 1) n - 1] of the root into rank i's `out`.
/// @param in         contiguous range of p n elements at the root; other ranks may pass an empty range
/// @param out        contiguous range of n elements, the same n on every rank, not overlapping `in`
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes do not fit, ranges overlap), algorithm_error (unknown name),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
void scatter(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_scatter(comm, in, out, root).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as scatter does.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
[[nodiscard]] request iscatter(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  return detail::accept_scatter(comm, in, out, root).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, elements Out, algorithm Algorithm = automatic>
[[nodiscard]] persistent scatter_init(Comm const& comm, In const& in, Out&& out, int root,
                                      Algorithm const& algorithm = {}) {
  return detail::accept_scatter(comm, in, out, root).init(detail::no_functor{}, algorithm);
}

/// The same for any lengths.
/// @param in         contiguous range of as many elements as all counts together at the root; other ranks may pass an
///                   empty range
/// @param counts     sized range of p integers, elements per rank; the same on every rank
/// @param out        contiguous range of counts[rank] elements, not overlapping `in`
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws as scatter does. Collective over comm.
template <communicator Comm, elements In, std::ranges::sized_range Counts, elements Out,
          algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const& in, Counts const& counts, Out&& out, int root,
              Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_scatterv(comm, in, counts, out, root).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as scatterv does.
template <communicator Comm, elements In, std::ranges::sized_range Counts, elements Out,
          algorithm Algorithm = automatic>
[[nodiscard]] request iscatterv(Comm const& comm, In const& in, Counts const& counts, Out&& out, int root,
                                Algorithm const& algorithm = {}) {
  return detail::accept_scatterv(comm, in, counts, out, root).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements In, std::ranges::sized_range Counts, elements Out,
          algorithm Algorithm = automatic>
[[nodiscard]] persistent scatterv_init(Comm const& comm, In const& in, Counts const& counts, Out&& out, int root,
                                       Algorithm const& algorithm = {}) {
  return detail::accept_scatterv(comm, in, counts, out, root).init(detail::no_functor{}, algorithm);
}

}  // namespace colligo
