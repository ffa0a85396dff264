// SPDX-License-Identifier: BSL-1.0
/// @file
/// scan and exclusive_scan: every rank gets the combination of the vectors of the ranks up to it, or before it.
#pragma once

#include <memory>

#include "select/communicators.hpp"
#include "select/door.hpp"
#include "select/mistakes.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <collective C, class Comm, class In, class Out>
auto accept_scan(Comm const& comm, In const& in, Out& out) {
  door<C, Comm> const its(comm);
  auto const [from, to] = spans(in, out);
  its.require_size(to.size(), from.size(), "the output");
  its.require_disjoint(from, to);
  blocks const all = its.vector_of(from.size());
  return its.accept(all, from, all.whole, to, all.whole);
}
template <collective C, class Comm, class T>
auto accept_scan(Comm const& comm, std::span<T> both) {
  door<C, Comm> const its(comm);
  blocks const all = its.vector_of(both.size());
  return its.accept(all, std::span<T const>(both), all.whole, both, all.whole);
}

/// The last step of an exclusive scan: init takes part at every rank.
template <class T, class Op>
void combine_with_init(bool first, T const& init, std::span<T> to, Op& op) {
  for (T& element : to) element = first ? init : static_cast<T>(op(init, element));
}
template <class T, class Op>
struct owned_scan final : owned_functor<Op> {
  owned_scan(Op its, T const& left, std::span<T> to, bool first)
      : owned_functor<Op>(std::move(its)), init_(left), to_(to), first_(first) {}
  void finish() override { combine_with_init(first_, init_, to_, this->op); }

 private:
  T init_;
  std::span<T> to_;
  bool first_;
};
template <class Accepted, class Out, class T, class Op>
auto own_scan(Accepted const& its, Out& out, T const& init, Op&& op) {
  using functor = std::decay_t<Op>;
  return std::make_unique<owned_scan<T, functor>>(std::forward<Op>(op), init, std::span<T>(out), its.port.rank() == 0);
}

}  // namespace detail

/// Combines the vectors of ranks 0 .. r, element by element and in this order, into rank r's `out`.
/// @param comm       communicator, all of whose ranks make the call
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
void scan(Comm const& comm, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  detail::accept_scan<collective::scan>(comm, in, out).run(op, algorithm);
}
/// The same, started: complete when the request says so. Throws as scan does; what the functor throws comes out of the
/// request.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] request iscan(Comm const& comm, In&& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  return detail::accept_scan<collective::scan>(comm, in, out).start(std::forward<Op>(op), algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] persistent scan_init(Comm const& comm, In&& in, Out&& out, Op&& op,
                                   Algorithm const& algorithm = {}) {
  return detail::accept_scan<collective::scan>(comm, in, out).init(std::forward<Op>(op), algorithm);
}

/// One value per rank.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(!detail::stands_in_place<T> && detail::travels_over<T, Comm> && detail::functor_on<Op, T>)
T scan(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  T result = value;
  colligo::scan(comm, detail::one(value), detail::one(result), op, algorithm);
  return result;
}
/// The same into `out`.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(detail::functor_on_values<Op, T> && detail::travels_over<T, Comm>)
void scan(Comm const& comm, T const& value, T& out, Op&& op, Algorithm const& algorithm = {}) {
  colligo::scan(comm, detail::one(value), detail::one(out), op, algorithm);
}
/// The range form once more, for calls that are not qualified where this namespace and Boost.MPI's are open.
template <class T, class Op>
  requires(detail::functor_without_state_on_elements<Op, T> && detail::elements_over<T, boost::mpi::communicator>)
void scan(boost::mpi::communicator const& comm, T const& in, T& out, Op op) {
  detail::accept_scan<collective::scan>(comm, in, out).run(op, automatic{});
}
/// The range form for n elements each, from pointers on.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, class Op = detail::overloaded<T>,
          algorithm Algorithm = automatic>
  requires detail::functor_on<Op, T>
void scan(Comm const& comm, T const* in, N n, T* out, Op&& op, Algorithm const& algorithm = {}) {
  auto const from = detail::counted<collective::scan>(comm, in, n);
  colligo::scan(comm, from, std::span(out, from.size()), op, algorithm);
}
/// In place: scan(comm, in_place(values), op).
template <communicator Comm, detail::in_place_over<Comm> Both, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
void scan(Comm const& comm, Both both, Op&& op, Algorithm const& algorithm = {}) {
  detail::accept_scan<collective::scan>(comm, detail::span_of(both)).run(op, algorithm);
}
/// The same, started, and made ready to be started.
template <communicator Comm, detail::in_place_over<Comm> Both, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
[[nodiscard]] request iscan(Comm const& comm, Both both, Op&& op, Algorithm const& algorithm = {}) {
  return detail::accept_scan<collective::scan>(comm, detail::span_of(both)).start(std::forward<Op>(op), algorithm);
}
template <communicator Comm, detail::in_place_over<Comm> Both, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
[[nodiscard]] persistent scan_init(Comm const& comm, Both both, Op&& op, Algorithm const& algorithm = {}) {
  return detail::accept_scan<collective::scan>(comm, detail::span_of(both)).init(std::forward<Op>(op), algorithm);
}

/// Combines init and the vectors of ranks 0 .. r - 1, element by element and in this order, into rank r's `out`, as
/// std::exclusive_scan does: rank 0 gets init.
/// @param comm       communicator, all of whose ranks make the call
/// @param in, out    contiguous ranges of n elements each, the same n on every rank; they must not overlap
/// @param init       the left-most operand, the same on every rank
/// @param op         associative callable T(T const&, T const&)
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (sizes differ, ranges overlap), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
  void exclusive_scan(Comm const& comm, In const& in, Out&& out, std::ranges::range_value_t<Out> init, Op&& op,
                      Algorithm const& algorithm = {}) {
    auto its = detail::accept_scan<collective::exclusive_scan>(comm, in, out);
    its.run(op, algorithm);
    detail::combine_with_init(its.port.rank() == 0, init, std::span<std::ranges::range_value_t<Out>>(out), op);
  }
/// The same, started: complete when the request says so. Throws as exclusive_scan does; what the functor throws comes
/// out of the request.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] request iexclusive_scan(Comm const& comm, In&& in, Out&& out, std::ranges::range_value_t<Out> init,
                                      Op&& op, Algorithm const& algorithm = {}) {
  auto its = detail::accept_scan<collective::exclusive_scan>(comm, in, out);
  return its.template start_owning<std::decay_t<Op>>(detail::own_scan(its, out, init, std::forward<Op>(op)),
                                                     algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, detail::lasting_over<Comm> In, detail::output_like<In> Out,
          class Op = detail::overloaded_on<In>, algorithm Algorithm = automatic>
  requires detail::functor_on_elements<Op, Out>
[[nodiscard]] persistent exclusive_scan_init(Comm const& comm, In&& in, Out&& out,
                                             std::ranges::range_value_t<Out> init, Op&& op,
                                             Algorithm const& algorithm = {}) {
  auto its = detail::accept_scan<collective::exclusive_scan>(comm, in, out);
  return its.template init_owning<std::decay_t<Op>>(detail::own_scan(its, out, init, std::forward<Op>(op)),
                                                    algorithm);
}

/// In place: exclusive_scan(comm, in_place(values), init, op).
template <communicator Comm, detail::in_place_over<Comm> Both, class T, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
void exclusive_scan(Comm const& comm, Both both, T const& init, Op&& op, Algorithm const& algorithm = {}) {
  auto const values = detail::span_of(both);
  auto its = detail::accept_scan<collective::exclusive_scan>(comm, values);
  its.run(op, algorithm);
  detail::combine_with_init(its.port.rank() == 0, static_cast<std::ranges::range_value_t<decltype(values)>>(init),
                            values, op);
}
/// The same, started, and made ready to be started.
template <communicator Comm, detail::in_place_over<Comm> Both, class T, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
[[nodiscard]] request iexclusive_scan(Comm const& comm, Both both, T const& init, Op&& op,
                                      Algorithm const& algorithm = {}) {
  auto const values = detail::span_of(both);
  auto its = detail::accept_scan<collective::exclusive_scan>(comm, values);
  return its.template start_owning<std::decay_t<Op>>(
      detail::own_scan(its, values, static_cast<std::ranges::range_value_t<decltype(values)>>(init),
                       std::forward<Op>(op)),
      algorithm);
}
template <communicator Comm, detail::in_place_over<Comm> Both, class T, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
[[nodiscard]] persistent exclusive_scan_init(Comm const& comm, Both both, T const& init, Op&& op,
                                             Algorithm const& algorithm = {}) {
  auto const values = detail::span_of(both);
  auto its = detail::accept_scan<collective::exclusive_scan>(comm, values);
  return its.template init_owning<std::decay_t<Op>>(
      detail::own_scan(its, values, static_cast<std::ranges::range_value_t<decltype(values)>>(init),
                       std::forward<Op>(op)),
      algorithm);
}
/// One value per rank.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(!detail::stands_in_place<T> && detail::travels_over<T, Comm> && detail::functor_on<Op, T>)
T exclusive_scan(Comm const& comm, T const& value, std::type_identity_t<T> const& init, Op&& op,
                 Algorithm const& algorithm = {}) {
  T result = init;
  colligo::exclusive_scan(comm, detail::one(value), detail::one(result), init, op, algorithm);
  return result;
}
/// The same without init, for offsets: rank 0 gets T{}, which takes no part at other ranks.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(!detail::stands_in_place<T> && detail::travels_over<T, Comm> && detail::functor_on<Op, T>)
T exclusive_scan(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  T result{};
  auto const out = detail::one(result);
  auto its = detail::accept_scan<collective::exclusive_scan>(comm, detail::one(value), out);
  its.run(op, algorithm);
  return its.port.rank() == 0 ? T{} : result;
}

}  // namespace colligo

COLLIGO_NO_OTHER_FORMS(scan)
COLLIGO_NO_OTHER_FORMS(exclusive_scan)
