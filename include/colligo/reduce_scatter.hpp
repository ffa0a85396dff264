// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce_scatter: the ranks' vectors are combined, element by element, and each rank gets its block of the result.
#pragma once

#include "select/communicators.hpp"
#include "select/door.hpp"
#include "select/mistakes.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Door, class T>
auto accept_reducing(Door const& its, blocks const& block, std::span<T const> from, std::span<T> to) {
  its.require_size(from.size(), block.whole.size(), "the input");
  its.require_size(to.size(), block[its.rank()].size(), "the output");
  its.require_disjoint(from, to);
  return its.accept(block, from, block.whole, to, block[its.rank()]);
}
template <class Comm, class In, class Out, class Counts>
auto accept_reduce_scatter(Comm const& comm, In const& in, Out& out, Counts const& counts) {
  door<collective::reduce_scatter, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  return accept_reducing(its, its.blocks_of(counts), from, to);
}
template <class Comm, class In, class Out>
auto accept_reduce_scatter_block(Comm const& comm, In const& in, Out& out) {
  door<collective::reduce_scatter_block, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  return accept_reducing(its, its.blocks_of(to.size()), from, to);
}

}  // namespace detail

/// Combines the ranks' `in` and puts block i of the result into rank i's `out`.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of as many elements as all counts together
/// @param out        contiguous range of counts[rank] elements, not overlapping `in`
/// @param counts     sized range of p integers, elements per block; the same on every rank; zeros are fine
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, a negative count, ranges overlap), algorithm_error (unknown name, functor
/// not known to commute), mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the
/// algorithm. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          std::ranges::sized_range Counts, class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void reduce_scatter(Comm const& comm, In const& in, Out&& out, Counts const& counts, Op&& op,
                    Algorithm const& algorithm = {}) {
  detail::accept_reduce_scatter(comm, in, out, counts).run(op, algorithm);
}
/// The same, started: complete when the request says so. Throws as reduce_scatter does; what the functor throws comes
/// out of the request.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          std::ranges::sized_range Counts, class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] request ireduce_scatter(Comm const& comm, In&& in, Out&& out, Counts const& counts, Op&& op,
                                      Algorithm const& algorithm = {}) {
  return detail::accept_reduce_scatter(comm, in, out, counts).start(std::forward<Op>(op), algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          std::ranges::sized_range Counts, class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] persistent reduce_scatter_init(Comm const& comm, In&& in, Out&& out, Counts const& counts, Op&& op,
                                             Algorithm const& algorithm = {}) {
  return detail::accept_reduce_scatter(comm, in, out, counts).init(std::forward<Op>(op), algorithm);
}

/// The same for blocks of one length: in.size() == p * out.size().
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void reduce_scatter_block(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  detail::accept_reduce_scatter_block(comm, in, out).run(op, algorithm);
}
/// The same, started: complete when the request says so. Throws as reduce_scatter_block does; what the functor throws
/// comes out of the request.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] request ireduce_scatter_block(Comm const& comm, In&& in, Out&& out, Op&& op,
                                            Algorithm const& algorithm = {}) {
  return detail::accept_reduce_scatter_block(comm, in, out).start(std::forward<Op>(op), algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] persistent reduce_scatter_block_init(Comm const& comm, In&& in, Out&& out, Op&& op,
                                                   Algorithm const& algorithm = {}) {
  return detail::accept_reduce_scatter_block(comm, in, out).init(std::forward<Op>(op), algorithm);
}

}  // namespace colligo

COLLIGO_NO_OTHER_FORMS(reduce_scatter)
COLLIGO_NO_OTHER_FORMS(reduce_scatter_block)
