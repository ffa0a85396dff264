// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_gather: every rank gets the vectors of all ranks, one after the other; all of the same length.
#pragma once

#include "select/communicators.hpp"
#include "select/door.hpp"
#include "select/mistakes.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class In, class Out>
auto accept_all_gather(Comm const& comm, In const& in, Out& out) {
  door<collective::all_gather, Comm> const its(comm);
  blocks const block = its.blocks_of(std::ranges::size(in));
  fill_empty(out, block.whole.size());
  auto const [from, to] = spans(in, out);
  its.require_size(to.size(), block.whole.size(), "the output");
  its.require_disjoint(from, to);
  return its.accept(block, from, block[its.rank()], to, block.whole);
}
template <class Comm, class T>
auto accept_all_gather(Comm const& comm, std::span<T> both) {
  door<collective::all_gather, Comm> const its(comm);
  blocks const block = its.blocks_of(both.size() / static_cast<std::size_t>(its.size()));
  its.require_size(both.size(), block.whole.size(), "the range in place");
  return its.accept(block, stretch_of<T const>(both, block[its.rank()]), block[its.rank()], both, block.whole);
}

}  // namespace detail

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
  detail::no_functor nothing;
  detail::accept_all_gather(comm, in, out).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as all_gather does.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
[[nodiscard]] request iall_gather(Comm const& comm, In&& in, Out&& out, Algorithm const& algorithm = {}) {
  return detail::accept_all_gather(comm, in, out).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
[[nodiscard]] persistent all_gather_init(Comm const& comm, In&& in, Out&& out, Algorithm const& algorithm = {}) {
  return detail::accept_all_gather(comm, in, out).init(detail::no_functor{}, algorithm);
}

/// In place: all_gather(comm, in_place(values)): p n elements, the rank's own at their place among them.
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
void all_gather(Comm const& comm, Both both, Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_all_gather(comm, detail::span_of(both)).run(nothing, algorithm);
}
/// The same, started, and made ready to be started.
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
[[nodiscard]] request iall_gather(Comm const& comm, Both both, Algorithm const& algorithm = {}) {
  return detail::accept_all_gather(comm, detail::span_of(both)).start(detail::no_functor{}, algorithm);
}
template <communicator Comm, detail::in_place_over<Comm> Both, algorithm Algorithm = automatic>
[[nodiscard]] persistent all_gather_init(Comm const& comm, Both both, Algorithm const& algorithm = {}) {
  return detail::accept_all_gather(comm, detail::span_of(both)).init(detail::no_functor{}, algorithm);
}
/// n elements from a pointer on; room for p n where `out` points, or a container, which is resized.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void all_gather(Comm const& comm, T const* in, N n, T* out, Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::all_gather>(comm, in, n);
  colligo::all_gather(comm, from, detail::counted_for_all<collective::all_gather>(comm, out, from.size()), algorithm);
}
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, class Out, algorithm Algorithm = automatic>
  requires detail::room_for<Out, T>
void all_gather(Comm const& comm, T const* in, N n, Out&& out, Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::all_gather>(comm, in, n);
  colligo::all_gather(comm, from, detail::with_size_for_all<collective::all_gather>(comm, out, from.size()), algorithm);
}
/// One value per rank; room for p where `out` points, or a container, which is resized.
template <communicator Comm, detail::single T, algorithm Algorithm = automatic>
  requires detail::travels_over<T, Comm>
void all_gather(Comm const& comm, T const& value, T* out, Algorithm const& algorithm = {}) {
  colligo::all_gather(comm, &value, 1, out, algorithm);
}
template <communicator Comm, detail::single T, class Out, algorithm Algorithm = automatic>
  requires(detail::room_for<Out, T> && detail::travels_over<T, Comm>)
void all_gather(Comm const& comm, T const& value, Out&& out, Algorithm const& algorithm = {}) {
  colligo::all_gather(comm, &value, 1, out, algorithm);
}

namespace detail {

/// What every rank says, on every rank.
template <class Comm>
std::vector<std::size_t> counts_of_ranks(Comm const& comm, std::size_t mine) {
  std::vector<std::size_t> all;
  colligo::all_gather(comm, mine, all);
  return all;
}

}  // namespace detail

}  // namespace colligo

COLLIGO_NO_OTHER_FORMS(all_gather)
