// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gather: every rank gets the vectors of all ranks, one after the other; all of the same length.
#pragma once

#include "arguments/calls.hpp"
#if COLLIGO_HAS_BODIES
#include "arguments/lengths_body.hpp"
#endif

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Every rank gets all blocks. It has its own as input, or at its place in the output.
template <class Arguments, class T>
auto accept_all_gather(Arguments const& arguments, blocks const& block, std::span<T const> from, std::span<T> to) {
  arguments.require_size(to.size(), block.whole.size(), "the output");
  arguments.require_disjoint(from, to);
  return arguments.accept(block, from, block[arguments.rank()], to, block.whole);
}
template <class Arguments, class T>
auto accept_all_gather(Arguments const& arguments, blocks const& block, std::span<T> both) {
  arguments.require_size(both.size(), block.whole.size(), "the range in place");
  range const own = block[arguments.rank()];
  return arguments.accept(block, stretch_of<T const>(both, own), own, both, block.whole);
}
template <>
struct calls<collective::all_gather> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Algorithm const& algorithm = {}) {
    call_arguments<collective::all_gather, Comm> const arguments(comm);
    blocks const block = arguments.blocks_of(std::ranges::size(in));
    fill_empty(arguments, out, block.whole.size());
    auto const [from, to] = detail::spans_of(in, out);
    return accept_all_gather(arguments, block, from, to).template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both in_place, Algorithm const& algorithm = {}) {
    call_arguments<collective::all_gather, Comm> const arguments(comm);
    auto const both = span_of(in_place);
    return accept_all_gather(arguments,
                                arguments.blocks_of(both.size() / static_cast<std::size_t>(arguments.size())), both)
        .template make<How>(no_functor{}, algorithm);
  }
};

}  // namespace detail

namespace by_name {

/// Puts rank i's `in` at out[i n] .. out[(i + 1) n - 1] of every rank.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of p n elements, not overlapping `in`; an empty container is resized
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void all_gather(Comm const& comm, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_gather>::make<detail::made::at_once>(comm, in, out, algorithm);
}
/// In place: all_gather(comm, in_place(values)) of p n elements, with the rank's own at their place among them.
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
void all_gather(Comm const& comm, Both both, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_gather>::make<detail::made::at_once>(comm, both, algorithm);
}
/// iall_gather, all_gather_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(all_gather)

/// n elements from a pointer on; `out` points to room for p n elements, or is a container, which is resized.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, detail::place_for<T> Out,
          algorithm Algorithm = automatic>
void all_gather(Comm const& comm, T const* in, N n, Out&& out, Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::all_gather>(comm, in, n);
  colligo::all_gather(comm, from, detail::room_for_all<collective::all_gather, T>(comm, out, from.size()), algorithm);
}
/// The same for one value per rank.
template <communicator Comm, detail::single T, detail::place_for<T> Out, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void all_gather(Comm const& comm, T const& value, Out&& out, Algorithm const& algorithm = {}) {
  colligo::all_gather(comm, std::addressof(value), 1, out, algorithm);
}

}  // namespace by_name

namespace detail {

/// Each rank's `mine`, on every rank.
template <class Comm>
std::vector<std::size_t> counts_of_ranks(Comm const& comm, std::size_t mine) {
  std::vector<std::size_t> all;
  colligo::all_gather(comm, mine, all);
  return all;
}

}  // namespace detail

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(all_gather)
