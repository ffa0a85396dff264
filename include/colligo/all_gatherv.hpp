// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gatherv: every rank gets the vectors of all ranks, one after the other, of any lengths.
#pragma once

#include "all_gather.hpp"
#include "arguments/displacements.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <>
struct calls<collective::all_gatherv> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            integers Counts, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Counts const& counts,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::all_gatherv, Comm> const arguments(comm);
    blocks const block = arguments.blocks_of(counts);
    fill_empty(arguments, out, block.whole.size());
    auto const [from, to] = detail::spans_of(in, out);
    arguments.require_size(from.size(), block[arguments.rank()].size(), "the input");
    return accept_all_gather(arguments, block, from, to).template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, integers Counts,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both both, Counts const& counts, Algorithm const& algorithm = {}) {
    call_arguments<collective::all_gatherv, Comm> const arguments(comm);
    return accept_all_gather(arguments, arguments.blocks_of(counts), span_of(both))
        .template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, input_of<How, Comm> In, base_of_output<element_at_base<In>> Out,
            integers Counts, integers Displs, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Counts const& counts, Displs const& displs,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::all_gatherv, Comm> const arguments(comm);
    borrowed_memory memory(state_of<Comm>::open(comm));
    auto to = in_blocks<element_at_base<In>, Out>({false, true}, arguments, memory, out, counts, displs, "the output");
    return make_packed<How>(arguments, memory, packed_arguments{plain_argument{}, std::move(to)},
                            [&](auto const& packed) {
                              return make<How>(comm, in, packed.out.elements(), counts, algorithm);
                            });
  }
};

}  // namespace detail

namespace by_name {

/// Puts the ranks' `in` one after the other into every rank's `out`.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of counts[rank] elements
/// @param out        contiguous range of as many elements as all counts together, not overlapping `in`; an empty
///                   container is resized
/// @param counts     sized range of p integers, elements per rank; the same on every rank; zeros are fine
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, a negative count, ranges overlap), algorithm_error (unknown name),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          detail::integers Counts, algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_gatherv>::make<detail::made::at_once>(comm, in, out, counts, algorithm);
}
/// The same for ranks that do not know each other's counts: an all_gather exchanges them first. T must be default
/// constructible.
template <communicator Comm, detail::elements_over<Comm> In, algorithm Algorithm = automatic>
gathered<std::ranges::range_value_t<In>> all_gatherv(Comm const& comm, In const& in, Algorithm const& algorithm = {}) {
  return detail::call_arguments<collective::all_gatherv, Comm>(comm).make_calls(2, [&] {
    gathered<std::ranges::range_value_t<In>> all{{}, detail::counts_of_ranks(comm, std::ranges::size(in))};
    colligo::all_gatherv(comm, in, all.data, all.counts, algorithm);
    return all;
  });
}

/// n elements from a pointer on.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
gathered<T> all_gatherv(Comm const& comm, T const* in, N n, Algorithm const& algorithm = {}) {
  return detail::call_arguments<collective::all_gatherv, Comm>(comm).make_calls(2, [&] {
    return colligo::all_gatherv(comm, detail::counted<collective::all_gatherv>(comm, in, n), algorithm);
  });
}

/// In place: all_gatherv(comm, in_place(values), counts) of all elements, with the rank's own at their place among
/// them.
template <communicator Comm, detail::in_place_over<Comm> Both, detail::integers Counts,
          algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, Both both, Counts const& counts, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_gatherv>::make<detail::made::at_once>(comm, both, counts, algorithm);
}
/// iall_gatherv, all_gatherv_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(all_gatherv)

/// counts[rank] elements from a pointer on, in a range, or one value; `out` points to room for all elements.
template <communicator Comm, detail::travels_over<Comm> T, detail::pointer_to<T> Out, detail::integers Counts,
          algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, T const* in, Out const& out, Counts const& counts, Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::all_gatherv, Comm> const arguments(comm);
  blocks const block = arguments.blocks_of(counts);
  colligo::all_gatherv(comm, std::span(in, block[arguments.rank()].size()), std::span(out, block.whole.size()), counts,
                       algorithm);
}
template <communicator Comm, detail::elements_over<Comm> In, detail::pointer_to<std::ranges::range_value_t<In>> Out,
          detail::integers Counts, algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, In const& in, Out const& out, Counts const& counts,
                 Algorithm const& algorithm = {}) {
  colligo::all_gatherv(comm, in, std::span(out, detail::sum_of(counts)), counts, algorithm);
}
template <communicator Comm, detail::single T, detail::pointer_to<T> Out, detail::integers Counts,
          algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void all_gatherv(Comm const& comm, T const& value, Out const& out, Counts const& counts,
                 Algorithm const& algorithm = {}) {
  colligo::all_gatherv(comm, detail::one(value), out, counts, algorithm);
}

/// Puts each block at its displacement, in elements from `out` on; displacements may differ from rank to rank. An empty
/// container is resized so that all blocks fit. Also as requests.
template <communicator Comm, detail::elements_over<Comm> In, detail::pointer_to<std::ranges::range_value_t<In>> Out,
          detail::integers Counts, detail::integers Displs, algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, In const& in, Out const& out, Counts const& counts, Displs const& displs,
                 Algorithm const& algorithm = {}) {
  detail::calls<collective::all_gatherv>::make<detail::made::at_once>(comm, in, out, counts, displs, algorithm);
}
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          detail::integers Counts, detail::integers Displs, algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, Displs const& displs,
                 Algorithm const& algorithm = {}) {
  detail::calls<collective::all_gatherv>::make<detail::made::at_once>(comm, in, out, counts, displs, algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, detail::pointer_to<T> Out, detail::integers Counts,
          detail::integers Displs, algorithm Algorithm = automatic>
void all_gatherv(Comm const& comm, T const* in, Out const& out, Counts const& counts, Displs const& displs,
                 Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::all_gatherv, Comm> const arguments(comm);
  std::size_t const mine = arguments.blocks_of(counts)[arguments.rank()].size();
  colligo::all_gatherv(comm, std::span(in, mine), out, counts, displs, algorithm);
}
template <communicator Comm, detail::single T, detail::pointer_to<T> Out, detail::integers Counts,
          detail::integers Displs, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void all_gatherv(Comm const& comm, T const& value, Out const& out, Counts const& counts, Displs const& displs,
                 Algorithm const& algorithm = {}) {
  colligo::all_gatherv(comm, detail::one(value), out, counts, displs, algorithm);
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(all_gatherv)
