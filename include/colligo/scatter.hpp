// SPDX-License-Identifier: BSL-1.0
/// @file
/// scatter and scatterv: every rank gets its block of the root's vector.
#pragma once

#include "all_gather.hpp"
#include "arguments/displacements.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Arguments, class T>
auto accept_scatter(Arguments const& arguments, blocks const& block, std::span<T const> from, std::span<T> to,
                       int root) {
  if (arguments.at(root)) {
    arguments.require_size(from.size(), block.whole.size(), "the input");
    arguments.require_disjoint(from, to);
  } else {
    from = {};
  }
  return arguments.accept(block, from, {0, from.size()}, to, block[arguments.rank()], root);
}
/// Calls f(all ranks' counts, the output) for ranks that know only their own count, sizes[rank].
template <class Comm, class Sizes, class T, class F>
void scatter_to_pointer(Comm const& comm, Sizes const& sizes, T* out, int root, F f) {
  call_arguments<collective::scatterv, Comm> const arguments(comm);
  auto const mine = static_cast<std::size_t>(sizes[static_cast<std::size_t>(arguments.rank())]);
  arguments.make_calls(2, [&] {
    auto const counts = counts_of_ranks(comm, mine);
    require_counts<collective::scatterv>(comm, sizes, counts, root);
    f(counts, std::span(out, mine));
  });
}

/// In place: the root's own elements stay at their place in the range; other ranks' ranges are for their own elements
/// alone.
template <class Arguments, class T>
auto accept_scatter(Arguments const& arguments, blocks const& block, std::span<T> both, int root) {
  range const own = block[arguments.rank()];
  arguments.require_size(both.size(), arguments.at(root) ? block.whole.size() : own.size(), "the range in place");
  if (!arguments.at(root)) return arguments.accept(block, std::span<T const>{}, {}, both, own, root);
  return arguments.accept(block, std::span<T const>(both), block.whole, stretch_of(both, own), own, root);
}
template <>
struct calls<collective::scatter> {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, int root, Algorithm const& algorithm = {}) {
    call_arguments<collective::scatter, Comm> const arguments(comm, root);
    auto const [from, to] = detail::spans_of(in, out);
    std::size_t const each = from.size() / static_cast<std::size_t>(arguments.size());
    if (to.empty() && arguments.at(root)) arguments.require_size(0, each, "the output");   // which sets the length
    return accept_scatter(arguments, arguments.blocks_of(to.size()), from, to, root)
        .template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both in_place, int root, Algorithm const& algorithm = {}) {
    call_arguments<collective::scatter, Comm> const arguments(comm, root);
    auto const both = span_of(in_place);
    auto const n = arguments.at(root) ? both.size() / static_cast<std::size_t>(arguments.size()) : both.size();
    return accept_scatter(arguments, arguments.blocks_of(n), both, root)
        .template make<How>(no_functor{}, algorithm);
  }
};
template <>
struct calls<collective::scatterv> {
  template <made How, communicator Comm, input_of<How, Comm> In, integers Counts,
            output_of<How, In> Out, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Counts const& counts, Out&& out, int root,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::scatterv, Comm> const arguments(comm, root);
    auto const [from, to] = detail::spans_of(in, out);
    blocks const block = arguments.blocks_of(counts);
    arguments.require_size(to.size(), block[arguments.rank()].size(), "the output");
    return accept_scatter(arguments, block, from, to, root).template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, integers Counts,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both both, Counts const& counts, int root,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::scatterv, Comm> const arguments(comm, root);
    return accept_scatter(arguments, arguments.blocks_of(counts), span_of(both), root)
        .template make<How>(no_functor{}, algorithm);
  }
  template <made How, communicator Comm, class In, integers Counts, integers Displs,
            output_of<How, std::span<element_at_base<In>>> Out, algorithm Algorithm = automatic>
    requires base_of_blocks<In, element_at_base<In>>
  static made_t<How> make(Comm const& comm, In&& in, Counts const& counts, Displs const& displs, Out&& out, int root,
                          Algorithm const& algorithm = {}) {
    call_arguments<collective::scatterv, Comm> const arguments(comm, root);
    using T = element_at_base<In>;
    if (!arguments.at(root)) return make<How>(comm, std::span<T const>(), counts, out, root, algorithm);
    borrowed_memory memory(state_of<Comm>::open(comm));
    auto from = in_blocks<T, In>({true, false}, arguments, memory, in, counts, displs, "the input");
    return make_packed<How>(arguments, memory, packed_arguments{std::move(from), plain_argument{}},
                            [&](auto const& packed) {
                              return make<How>(comm, constant(packed.in.elements()), counts, out, root, algorithm);
                            });
  }
};

/// For ranks that know only their own count, n.
template <class Comm, class In, class Sizes, class Displs, class T, class N, class Algorithm>
void scatter_from_blocks(Comm const& comm, In const& in, Sizes const& sizes, Displs const& displs, T* out, N n,
                         int root, Algorithm const& algorithm) {
  call_arguments<collective::scatterv, Comm> const arguments(comm);
  arguments.make_calls(2, [&] {
    auto const to = counted<collective::scatterv>(comm, out, n);
    if (arguments.at(root)) {
      require_displacements(arguments, sizes, displs);
      base_for<In const&>(arguments, in, extent_of(sizes, displs), "the input");
    }
    borrowed_memory memory(state_of<Comm>::open(comm));
    auto const counts = counts_of_ranks(comm, to.size(), memory);
    require_counts<collective::scatterv>(comm, sizes, counts, root);
    calls<collective::scatterv>::make<made::at_once>(comm, in, counts, displs, to, root, algorithm);
  });
}

}  // namespace detail

namespace by_name {

/// Puts in[i n] .. in[(i + 1) n - 1] of the root into rank i's `out`.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of p n elements at the root; other ranks may pass an empty range
/// @param out        contiguous range of n elements, the same n on every rank, not overlapping `in`
/// @param root       the rank that has the elements, the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range, sizes do not fit, ranges overlap), algorithm_error (unknown name),
/// mpi_error; nothing is written before the arguments are accepted. Cost: see the card of the algorithm. Collective
/// over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void scatter(Comm const& comm, In const& in, Out&& out, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::scatter>::make<detail::made::at_once>(comm, in, out, root, algorithm);
}
/// The same for any lengths.
/// @param comm       communicator, all of whose ranks make the call
/// @param in         contiguous range of as many elements as all counts together at the root; other ranks may pass an
///                   empty range
/// @param counts     sized range of p integers, elements per rank; the same on every rank
/// @param out        contiguous range of counts[rank] elements, not overlapping `in`
/// @param root       the rank that has the elements, the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws as scatter does. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Counts,
          detail::output_like<In> Out, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const& in, Counts const& counts, Out&& out, int root,
              Algorithm const& algorithm = {}) {
  detail::calls<collective::scatterv>::make<detail::made::at_once>(comm, in, counts, out, root, algorithm);
}
/// In place: scatter(comm, in_place(values), root) of p n elements at the root, whose own stay at their place, and of n
/// elements on other ranks, which may use any other form as well.
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
void scatter(Comm const& comm, Both both, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::scatter>::make<detail::made::at_once>(comm, both, root, algorithm);
}
template <communicator Comm, detail::in_place_over<Comm> Both, detail::integers Counts,
          algorithm Algorithm = automatic>
void scatterv(Comm const& comm, Both both, Counts const& counts, int root, Algorithm const& algorithm = {}) {
  detail::calls<collective::scatterv>::make<detail::made::at_once>(comm, both, counts, root, algorithm);
}
/// iscatter, scatter_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(scatter)
COLLIGO_REQUESTS(scatterv)

/// n elements from a pointer on; at the root p n elements from `in` on, or in a range. Ranks other than the root may
/// leave the input out.
template <communicator Comm, detail::elements_over<Comm> In, std::integral N, algorithm Algorithm = automatic>
void scatter(Comm const& comm, In const& in, std::ranges::range_value_t<In>* out, N n, int root,
             Algorithm const& algorithm = {}) {
  colligo::scatter(comm, in, detail::counted<collective::scatter>(comm, out, n), root, algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void scatter(Comm const& comm, T const* in, T* out, N n, int root, Algorithm const& algorithm = {}) {
  auto const to = detail::counted<collective::scatter>(comm, out, n);
  colligo::scatter(comm, detail::counted_for_all<collective::scatter>(comm, in, to.size()), to, root, algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void scatter(Comm const& comm, T* out, N n, int root, Algorithm const& algorithm = {}) {
  colligo::scatter(comm, std::span<T const>(), detail::counted<collective::scatter>(comm, out, n), root, algorithm);
}
/// The same for one value per rank; without an input a container counts as one value.
template <communicator Comm, detail::elements_over<Comm> In, class T, algorithm Algorithm = automatic>
  requires detail::element_of_range<T, In>
void scatter(Comm const& comm, In const& in, T& out, int root, Algorithm const& algorithm = {}) {
  colligo::scatter(comm, in, &out, 1, root, algorithm);
}
template <communicator Comm, class T, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void scatter(Comm const& comm, T const* in, T& out, int root, Algorithm const& algorithm = {}) {
  colligo::scatter(comm, in, &out, 1, root, algorithm);
}
template <communicator Comm, detail::single T, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void scatter(Comm const& comm, T& out, int root, Algorithm const& algorithm = {}) {
  colligo::scatter(comm, &out, 1, root, algorithm);
}

/// scatterv for ranks that know only their own count: an all_gather exchanges the counts first. Puts n elements at
/// `out`. The root needs a form with an input.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, T* out, N n, int root, Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::scatterv, Comm>(comm).make_calls(2, [&] {
    auto const to = detail::counted<collective::scatterv>(comm, out, n);
    colligo::scatterv(comm, std::span<T const>(), detail::counts_of_ranks(comm, to.size()), to, root, algorithm);
  });
}
/// The same with an input, which as in Boost.MPI only the root reads: sizes[rank] elements from `out` on. Precondition:
/// `sizes` has p elements; ranks other than the root read only their own.
template <communicator Comm, detail::elements_over<Comm> In, std::ranges::random_access_range Sizes,
          detail::pointer_to<std::ranges::range_value_t<In>> Out, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const& in, Sizes const& sizes, Out const& out, int root,
              Algorithm const& algorithm = {}) {
  detail::scatter_to_pointer(comm, sizes, out, root, [&](auto const& counts, auto to) {
    colligo::scatterv(comm, in, counts, to, root, algorithm);
  });
}
template <communicator Comm, class T, std::ranges::random_access_range Sizes, detail::pointer_to<T> Out,
          algorithm Algorithm = automatic>
void scatterv(Comm const& comm, T const* in, Sizes const& sizes, Out const& out, int root,
              Algorithm const& algorithm = {}) {
  detail::scatter_to_pointer(comm, sizes, out, root, [&](auto const& counts, auto to) {
    colligo::scatterv(comm, std::span(in, detail::sum_of(counts)), counts, to, root, algorithm);
  });
}

/// The same for ranks other than the root that pass an input, which is not read.
template <communicator Comm, detail::elements_over<Comm> In, std::integral N, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const&, std::ranges::range_value_t<In>* out, N n, int root,
              Algorithm const& algorithm = {}) {
  colligo::scatterv(comm, out, n, root, algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, T const*, T* out, N n, int root, Algorithm const& algorithm = {}) {
  colligo::scatterv(comm, out, n, root, algorithm);
}
/// With an input whose blocks begin at their displacements, in elements from its beginning on. The root alone reads
/// displacements and input. Also as requests.
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Counts,
          detail::integers Displs, detail::output_like<In> Out, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const& in, Counts const& counts, Displs const& displs, Out&& out, int root,
              Algorithm const& algorithm = {}) {
  detail::calls<collective::scatterv>::make<detail::made::at_once>(comm, in, counts, displs, out, root, algorithm);
}
/// The same to n elements from a pointer on, for sizes that only the root reads: an all_gather exchanges the counts
/// first.
template <communicator Comm, class T, detail::integers Sizes, detail::integers Displs,
          std::integral N, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, T const* in, Sizes const& sizes, Displs const& displs, T* out, N n, int root,
              Algorithm const& algorithm = {}) {
  detail::scatter_from_blocks(comm, in, sizes, displs, out, n, root, algorithm);
}
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Sizes,
          detail::integers Displs, std::integral N, algorithm Algorithm = automatic>
void scatterv(Comm const& comm, In const& in, Sizes const& sizes, Displs const& displs,
              std::ranges::range_value_t<In>* out, N n, int root, Algorithm const& algorithm = {}) {
  detail::scatter_from_blocks(comm, in, sizes, displs, out, n, root, algorithm);
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(scatter)
COLLIGO_NO_OTHER_FORM(scatterv)
