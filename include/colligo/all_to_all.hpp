// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_to_all and all_to_all_v: every rank has a block for every rank, and gets one from every rank.
#pragma once

#include "all_gather.hpp"
#include "arguments/displacements.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <collective C, communicator Comm, class T>
auto accept_all_to_all(call_arguments<C, Comm> const& arguments, blocks const& vector, std::span<T const> from,
                       std::span<T> to) {
  auto const [from_all, to_all] = vectors_of(C, vector, arguments.rank());
  range const sent = from_all[arguments.rank()], received = to_all[arguments.rank()];
  arguments.require_size(from.size(), from_all.whole.size(), "the input");
  arguments.require_size(to.size(), to_all.whole.size(), "the output");
  arguments.require_size(received.size(), sent.size(), "the block of this rank from itself");
  arguments.require_disjoint(from, to);
  return arguments.accept(vector, from, from_all.whole, to, to_all.whole);
}
template <collective C, communicator Comm, class T>
auto accept_all_to_all(call_arguments<C, Comm> const& arguments, blocks const& vector, std::span<T> both) {
  auto const [from_all, to_all] = vectors_of(C, vector, arguments.rank());
  arguments.require_size(both.size(), from_all.whole.size(), "the range in place");
  return arguments.accept(vector, constant(both), from_all.whole, both, to_all.whole);
}
// Of n elements for all ranks together.
template <class Arguments>
blocks even_blocks(Arguments const& arguments, std::size_t n) {
  return arguments.blocks_of(n / static_cast<std::size_t>(arguments.size()));
}
template <>
struct calls<collective::all_to_all> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Algorithm const& algorithm = {}) {
    call_arguments<collective::all_to_all, Comm> const arguments(comm);
    fill_empty(arguments, out, std::ranges::size(in));
    auto const [from, to] = detail::spans_of(in, out);
    return accept_all_to_all(arguments, even_blocks(arguments, from.size()), from, to)
        .template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both in_place, Algorithm const& algorithm = {}) {
    call_arguments<collective::all_to_all, Comm> const arguments(comm);
    auto const both = span_of(in_place);
    return accept_all_to_all(arguments, even_blocks(arguments, both.size()), both)
        .template make<How>(no_functor{}, algorithm);
  }
};
template <>
struct calls<collective::all_to_all_v> {
  template <made How, communicator Comm, input_of<How, Comm> In, integers Counts,
            output_of<How, In> Out, integers OutCounts, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Counts const& counts, Out&& out, OutCounts const& out_counts,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::all_to_all_v, Comm> const arguments(comm);
    blocks const vector = arguments.blocks_of(counts, out_counts);
    fill_empty(arguments, out, vectors_of(collective::all_to_all_v, vector, arguments.rank()).out.whole.size());
    auto const [from, to] = detail::spans_of(in, out);
    return accept_all_to_all(arguments, vector, from, to).template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, integers Counts,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both in_place, Counts const& counts, Algorithm const& algorithm = {}) {
    call_arguments<collective::all_to_all_v, Comm> const arguments(comm);
    return accept_all_to_all(arguments, arguments.blocks_of(counts, counts), span_of(in_place))
        .template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, class In, integers Counts, integers Displs,
            base_of_output<element_at_base<In>> Out, integers OutCounts,
            integers OutDispls, algorithm Algorithm = automatic>
    requires(base_of_blocks<In, element_at_base<In>> && travels_over<element_at_base<In>, Comm>)
  static made_t<How> make(Comm const& comm, In&& in, Counts const& counts, Displs const& displs, Out&& out,
                          OutCounts const& out_counts, OutDispls const& out_displs, Algorithm const& algorithm = {}) {
    using T = element_at_base<In>;
    call_arguments<collective::all_to_all_v, Comm> const arguments(comm);
    borrowed_memory memory(state_of<Comm>::open(comm));
    auto from = in_blocks<T, In>({true, false}, arguments, memory, in, counts, displs, "the input");
    auto to = in_blocks<T, Out>({false, true}, arguments, memory, out, out_counts, out_displs, "the output");
    return make_packed<How>(arguments, memory, packed_arguments{std::move(from), std::move(to)},
                            [&](auto const& packed) {
                              return make<How>(comm, constant(packed.in.elements()), counts, packed.out.elements(),
                                               out_counts, algorithm);
                            });
  }
};

}  // namespace detail

namespace by_name {

/// Puts in[d n] .. in[(d + 1) n - 1] of rank s at out[s n] .. out[(s + 1) n - 1] of rank d, for all s and d.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of p n elements, the same n on every rank
/// @param out        contiguous range of p n elements, not overlapping `in`; an empty container is resized
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes do not fit, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void all_to_all(Comm const& comm, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_to_all>::make<detail::made::at_once>(comm, in, out, algorithm);
}
/// The same again, for unqualified calls in programs that open both this namespace and Boost.MPI's, where it would mean
/// one value for each rank.
template <class T>
  requires detail::elements_over<std::vector<T>, boost::mpi::communicator>
void all_to_all(boost::mpi::communicator const& comm, std::vector<T> const& in, std::vector<T>& out) {
  colligo::all_to_all(comm, in, out, automatic{});
}
/// In place: all_to_all(comm, in_place(values)): the block from a rank replaces the block for it. Copies all of the
/// rank's elements to scratch memory.
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
void all_to_all(Comm const& comm, Both both, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_to_all>::make<detail::made::at_once>(comm, both, algorithm);
}
/// iall_to_all, all_to_all_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(all_to_all)

/// n elements for each rank from a pointer on; `out` points to room for as many, or is a container, which is resized.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, detail::place_for<T> Out,
          algorithm Algorithm = automatic>
void all_to_all(Comm const& comm, T const* in, N n, Out&& out, Algorithm const& algorithm = {}) {
  std::size_t const block = detail::counted<collective::all_to_all>(comm, in, n).size();
  colligo::all_to_all(comm, detail::counted_for_all<collective::all_to_all>(comm, in, block),
                      detail::room_for_all<collective::all_to_all, T>(comm, out, block), algorithm);
}
/// One value for each rank.
template <communicator Comm, class T, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void all_to_all(Comm const& comm, T const* in, T* out, Algorithm const& algorithm = {}) {
  colligo::all_to_all(comm, in, 1, out, algorithm);
}
/// n elements for each rank, in a range; an output of another size is resized.
template <communicator Comm, detail::elements_over<Comm> In, std::integral N, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void all_to_all(Comm const& comm, In const& in, N n, Out&& out, Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::all_to_all, Comm> const arguments(comm);
  arguments.require_count(n);
  arguments.require_size(std::ranges::size(in),
                         static_cast<std::size_t>(n) * static_cast<std::size_t>(arguments.size()), "the input");
  colligo::all_to_all(comm, in, detail::with_size(arguments, out, std::ranges::size(in)), algorithm);
}

/// The same for blocks of any lengths: `in` has the block for rank 0, then the one for rank 1 ..., `out` gets those
/// from rank 0, 1 ...
/// @param comm        communicator, all of whose ranks make the call
/// @param in          contiguous range of as many elements as `counts` together
/// @param counts      sized range of p integers, elements for each rank
/// @param out         contiguous range of as many elements as `out_counts` together, not overlapping `in`; an empty
///                    container is resized
/// @param out_counts  sized range of p integers, elements from each rank: that rank's count for this one
/// @param algorithm   a tag (compile time), named("...") (run time), automatic{}
/// Throws as all_to_all does, and mismatch_error on a rank that gets another number than it expects, in checked mode on
/// all ranks. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Counts,
          detail::output_like<In> Out, detail::integers OutCounts, algorithm Algorithm = automatic>
void all_to_all_v(Comm const& comm, In const& in, Counts const& counts, Out&& out, OutCounts const& out_counts,
                  Algorithm const& algorithm = {}) {
  detail::calls<collective::all_to_all_v>::make<detail::made::at_once>(comm, in, counts, out, out_counts, algorithm);
}
/// In place: as many elements come from each rank as go to it. Copies all of the rank's elements to scratch memory.
template <communicator Comm, detail::in_place_over<Comm> Both, detail::integers Counts,
          algorithm Algorithm = automatic>
void all_to_all_v(Comm const& comm, Both both, Counts const& counts, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_to_all_v>::make<detail::made::at_once>(comm, both, counts, algorithm);
}
/// iall_to_all_v, all_to_all_v_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(all_to_all_v)

/// The same for blocks at displacements, in elements from a pointer on or from the beginning of a range: displs[r] is
/// where the block for rank r begins, out_displs[r] where the one from rank r does. Blocks of `out` must overlap
/// neither `in` nor each other; an empty container is resized so that all blocks fit. Also as requests. Throws
/// argument_error if a block lies outside a range as well. Cost: blocks that do not follow one another in the order of
/// ranks are packed and unpacked, in memory that is kept.
template <communicator Comm, class In, detail::integers Counts, detail::integers Displs,
          detail::base_of_output<detail::element_at_base<In>> Out, detail::integers OutCounts,
          detail::integers OutDispls, algorithm Algorithm = automatic>
  requires(detail::base_of_blocks<In, detail::element_at_base<In>> &&
           detail::travels_over<detail::element_at_base<In>, Comm>)
void all_to_all_v(Comm const& comm, In const& in, Counts const& counts, Displs const& displs, Out&& out,
                  OutCounts const& out_counts, OutDispls const& out_displs, Algorithm const& algorithm = {}) {
  detail::calls<collective::all_to_all_v>::make<detail::made::at_once>(comm, in, counts, displs, out, out_counts,
                                                                       out_displs, algorithm);
}

/// The same for ranks that do not know how many elements they get: an all_to_all exchanges the counts first. T must be
/// default constructible.
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Counts,
          algorithm Algorithm = automatic>
gathered<std::ranges::range_value_t<In>> all_to_all_v(Comm const& comm, In const& in, Counts const& counts,
                                                      Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::all_to_all_v, Comm> const arguments(comm);
  return arguments.make_calls(2, [&] {
    arguments.require_size(std::ranges::size(in), arguments.blocks_of(counts).whole.size(), "the input");
    std::vector<std::size_t> to;
    arguments.attempt([&] { to.assign(std::ranges::begin(counts), std::ranges::end(counts)); });
    gathered<std::ranges::range_value_t<In>> all;
    colligo::all_to_all(comm, to, all.counts);
    colligo::all_to_all_v(comm, in, counts, all.data, all.counts, algorithm);
    return all;
  });
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(all_to_all)
COLLIGO_NO_OTHER_FORM(all_to_all_v)
