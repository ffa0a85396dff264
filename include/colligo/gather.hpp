// SPDX-License-Identifier: BSL-1.0
/// @file
/// gather and gatherv: the root gets the vectors of all ranks, one after the other.
#pragma once

#include "all_gather.hpp"
#include "arguments/displacements.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Arguments, class T>
auto accept_gather(Arguments const& arguments, blocks const& block, std::span<T const> from, std::span<T> to,
                      int root) {
  if (arguments.at(root)) {
    arguments.require_size(to.size(), block.whole.size(), "the output");
    arguments.require_disjoint(from, to);
  } else {
    to = {};
  }
  return arguments.accept(block, from, block[arguments.rank()], to, {0, to.size()}, root);
}
/// In place: the root's own elements are at their place in the range; other ranks' ranges have their own elements
/// alone.
template <class Arguments, class T>
auto accept_gather(Arguments const& arguments, blocks const& block, std::span<T> both, int root) {
  range const own = block[arguments.rank()];
  arguments.require_size(both.size(), arguments.at(root) ? block.whole.size() : own.size(), "the range in place");
  if (!arguments.at(root)) return arguments.accept(block, std::span<T const>(both), own, std::span<T>{}, {}, root);
  return arguments.accept(block, stretch_of<T const>(both, own), own, both, block.whole, root);
}
template <>
struct calls<collective::gather> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, int root, Algorithm const& algorithm = {}) {
    call_arguments<collective::gather, Comm> const arguments(comm, root);
    blocks const block = arguments.blocks_of(std::ranges::size(in));
    if (arguments.at(root)) fill_empty(arguments, out, block.whole.size());
    auto const [from, to] = detail::spans_of(in, out);
    return accept_gather(arguments, block, from, to, root).template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both in_place, int root, Algorithm const& algorithm = {}) {
    call_arguments<collective::gather, Comm> const arguments(comm, root);
    auto const both = span_of(in_place);
    auto const n = arguments.at(root) ? both.size() / static_cast<std::size_t>(arguments.size()) : both.size();
    return accept_gather(arguments, arguments.blocks_of(n), both, root).template make<How>(no_functor{}, algorithm);
  }
};
template <>
struct calls<collective::gatherv> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            integers Counts, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Counts const& counts, int root,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::gatherv, Comm> const arguments(comm, root);
    blocks const block = arguments.blocks_of(counts);
    if (arguments.at(root)) fill_empty(arguments, out, block.whole.size());
    auto const [from, to] = detail::spans_of(in, out);
    arguments.require_size(from.size(), block[arguments.rank()].size(), "the input");
    return accept_gather(arguments, block, from, to, root).template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, integers Counts,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both both, Counts const& counts, int root,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::gatherv, Comm> const arguments(comm, root);
    return accept_gather(arguments, arguments.blocks_of(counts), span_of(both), root)
        .template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, input_of<How, Comm> In, base_of_output<element_at_base<In>> Out,
            integers Counts, integers Displs, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Counts const& counts, Displs const& displs, int root,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::gatherv, Comm> const arguments(comm, root);
    using T = element_at_base<In>;
    if (!arguments.at(root)) return make<How>(comm, in, std::span<T>(), counts, root, algorithm);
    borrowed_memory memory(state_of<Comm>::open(comm));
    auto to = in_blocks<T, Out>({false, true}, arguments, memory, out, counts, displs, "the output");
    return make_packed<How>(arguments, memory, packed_arguments{plain_argument{}, std::move(to)},
                            [&](auto const& packed) {
                              return make<How>(comm, in, packed.out.elements(), counts, root, algorithm);
                            });
  }
};

}  // namespace detail

namespace by_name {

/// Puts rank i's `in` at out[i n] .. out[(i + 1) n - 1] of the root.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of n elements, the same n on every rank
/// @param out        contiguous range of p n elements at the root, not overlapping `in`; other ranks may pass an empty
///                   range; an empty container is resized at the root
/// @param root       the rank that gets the result, the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes do not fit, ranges overlap), algorithm_error (unknown name),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void gather(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::gather>::make<detail::made::at_once>(comm, in, out, root, algorithm);
}
/// The same for any lengths.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of counts[rank] elements
/// @param out        contiguous range of as many elements as all counts together at the root, not overlapping `in`;
///                   elsewhere it may be empty
/// @param counts     sized range of p integers, elements per rank; the same on every rank
/// @param root       the rank that gets the result, the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws as gather does. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          detail::integers Counts, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, int root,
             Algorithm const& algorithm = {}) {
  detail::calls<collective::gatherv>::make<detail::made::at_once>(comm, in, out, counts, root, algorithm);
}
/// In place: gather(comm, in_place(values), root) of p n elements at the root, with its own at their place among them,
/// and of n elements on other ranks, which may use any other form as well.
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
void gather(Comm const& comm, Both both, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::gather>::make<detail::made::at_once>(comm, both, root, algorithm);
}
template <communicator Comm, detail::in_place_over<Comm> Both, detail::integers Counts,
          algorithm Algorithm = automatic>
void gatherv(Comm const& comm, Both both, Counts const& counts, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::gatherv>::make<detail::made::at_once>(comm, both, counts, root, algorithm);
}
/// igather, gather_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(gather)
COLLIGO_REQUESTS(gatherv)

/// n elements from a pointer on; at the root `out` points to room for p n elements, or is a container, which is
/// resized. Ranks other than the root may leave the output out.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, detail::place_for<T> Out,
          algorithm Algorithm = automatic>
void gather(Comm const& comm, T const* in, N n, Out&& out, int root, Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::gather>(comm, in, n);
  bool const at_root = detail::call_arguments<collective::gather, Comm>(comm).at(root);
  colligo::gather(comm, from,
                  at_root ? detail::room_for_all<collective::gather, T>(comm, out, from.size()) : std::span<T>(), root,
                  algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void gather(Comm const& comm, T const* in, N n, int root, Algorithm const& algorithm = {}) {
  colligo::gather(comm, detail::counted<collective::gather>(comm, in, n), std::span<T>(), root, algorithm);
}
/// The same for one value per rank; without an output a container counts as one value.
template <communicator Comm, detail::single T, detail::place_for<T> Out, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void gather(Comm const& comm, T const& value, Out&& out, int root, Algorithm const& algorithm = {}) {
  colligo::gather(comm, std::addressof(value), 1, out, root, algorithm);
}
template <communicator Comm, detail::single T, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void gather(Comm const& comm, T const& value, int root, Algorithm const& algorithm = {}) {
  colligo::gather(comm, std::addressof(value), 1, root, algorithm);
}

/// gatherv for ranks that know only their own count: an all_gather exchanges the counts first. Returns all counts on
/// every rank, and the data at the root. T must be default constructible.
template <communicator Comm, detail::elements_over<Comm> In, algorithm Algorithm = automatic>
gathered<std::ranges::range_value_t<In>> gatherv(Comm const& comm, In const& in, int root,
                                                 Algorithm const& algorithm = {}) {
  return detail::call_arguments<collective::gatherv, Comm>(comm).make_calls(2, [&] {
    gathered<std::ranges::range_value_t<In>> all{{}, detail::counts_of_ranks(comm, std::ranges::size(in))};
    colligo::gatherv(comm, in, all.data, all.counts, root, algorithm);
    return all;
  });
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
gathered<T> gatherv(Comm const& comm, T const* in, N n, int root, Algorithm const& algorithm = {}) {
  return detail::call_arguments<collective::gatherv, Comm>(comm).make_calls(2, [&] {
    return colligo::gatherv(comm, detail::counted<collective::gatherv>(comm, in, n), root, algorithm);
  });
}
/// The same into the root's memory from `out` on, for as many elements as `sizes` says. As in Boost.MPI only the root
/// reads `out` and `sizes`.
template <communicator Comm, detail::elements_over<Comm> In, detail::pointer_to<std::ranges::range_value_t<In>> Out,
          detail::integers Sizes, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, In const& in, Out const& out, Sizes const& sizes, int root,
             Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::gatherv, Comm>(comm).make_calls(2, [&] {
    auto const counts = detail::counts_of_ranks(comm, std::ranges::size(in));
    detail::require_counts<collective::gatherv>(comm, sizes, counts, root);
    colligo::gatherv(comm, in, std::span(out, detail::sum_of(counts)), counts, root, algorithm);
  });
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, detail::pointer_to<T> Out,
          detail::integers Sizes, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, T const* in, N n, Out const& out, Sizes const& sizes, int root,
             Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::gatherv, Comm>(comm).make_calls(2, [&] {
    colligo::gatherv(comm, detail::counted<collective::gatherv>(comm, in, n), out, sizes, root, algorithm);
  });
}

/// With each block at its displacement, in elements from the beginning of `out` on; the root alone reads them. Also as
/// requests. An empty container is resized at the root so that all blocks fit.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          detail::integers Counts, detail::integers Displs, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, In const& in, Out&& out, Counts const& counts, Displs const& displs, int root,
             Algorithm const& algorithm = {}) {
  detail::calls<collective::gatherv>::make<detail::made::at_once>(comm, in, out, counts, displs, root, algorithm);
}
/// The same from a pointer on, for sizes that only the root reads: an all_gather exchanges the counts first.
template <communicator Comm, detail::elements_over<Comm> In, detail::pointer_to<std::ranges::range_value_t<In>> Out,
          detail::integers Sizes, detail::integers Displs, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, In const& in, Out const& out, Sizes const& sizes, Displs const& displs, int root,
             Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::gatherv, Comm> const arguments(comm);
  arguments.make_calls(2, [&] {
    if (arguments.at(root)) detail::require_displacements(arguments, sizes, displs);
    detail::borrowed_memory memory(state_of<Comm>::open(comm));
    auto const counts = detail::counts_of_ranks(comm, std::ranges::size(in), memory);
    detail::require_counts<collective::gatherv>(comm, sizes, counts, root);
    detail::calls<collective::gatherv>::make<detail::made::at_once>(comm, in, out, counts, displs, root, algorithm);
  });
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, detail::pointer_to<T> Out,
          detail::integers Sizes, detail::integers Displs, algorithm Algorithm = automatic>
void gatherv(Comm const& comm, T const* in, N n, Out const& out, Sizes const& sizes, Displs const& displs,
             int root, Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::gatherv, Comm>(comm).make_calls(2, [&] {
    colligo::gatherv(comm, detail::counted<collective::gatherv>(comm, in, n), out, sizes, displs, root, algorithm);
  });
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(gather)
COLLIGO_NO_OTHER_FORM(gatherv)
