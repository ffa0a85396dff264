// SPDX-License-Identifier: BSL-1.0
/// @file
/// reduce_scatter: the ranks' vectors are combined, element by element, and each rank gets its block of the result.
#pragma once

#include "arguments/calls.hpp"
#if COLLIGO_HAS_BODIES
#include "arguments/counts_body.hpp"
#endif

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Arguments, class T>
auto accept_reduce_scatter(Arguments const& arguments, blocks const& block, std::span<T const> from, std::span<T> to) {
  arguments.require_size(from.size(), block.whole.size(), "the input");
  arguments.require_size(to.size(), block[arguments.rank()].size(), "the output");
  arguments.require_disjoint(from, to);
  return arguments.accept(block, from, block.whole, to, block[arguments.rank()]);
}
template <>
struct calls<collective::reduce_scatter> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            integers Counts, functor_of<How, Out> Op, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Counts const& counts, Op&& op,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::reduce_scatter, Comm> const arguments(comm);
    auto const [from, to] = detail::spans_of(in, out);
    return accept_reduce_scatter(arguments, arguments.blocks_of(counts), from, to)
        .template make<How>(std::forward<Op>(op), algorithm);
  }
};
template <>
struct calls<collective::reduce_scatter_block> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out, functor_of<How, Out> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
    call_arguments<collective::reduce_scatter_block, Comm> const arguments(comm);
    auto const [from, to] = detail::spans_of(in, out);
    std::size_t const each = from.size() / static_cast<std::size_t>(arguments.size());
    if (to.empty()) arguments.require_size(0, each, "the output");   // which sets the length
    return accept_reduce_scatter(arguments, arguments.blocks_of(to.size()), from, to)
        .template make<How>(std::forward<Op>(op), algorithm);
  }
};

}  // namespace detail

namespace by_name {

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
          detail::integers Counts, class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void reduce_scatter(Comm const& comm, In const& in, Out&& out, Counts const& counts, Op&& op,
                    Algorithm const& algorithm = {}) {
  detail::calls<collective::reduce_scatter>::make<detail::made::at_once>(comm, in, out, counts, op, algorithm);
}
/// ireduce_scatter, reduce_scatter_init: the same as requests (request.hpp).
COLLIGO_REQUESTS(reduce_scatter)

/// The same for blocks of n elements each: in.size() == p n, out.size() == n, the same n on every rank.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void reduce_scatter_block(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  detail::calls<collective::reduce_scatter_block>::make<detail::made::at_once>(comm, in, out, op, algorithm);
}
COLLIGO_REQUESTS(reduce_scatter_block)

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(reduce_scatter)
COLLIGO_NO_OTHER_FORM(reduce_scatter_block)
