// SPDX-License-Identifier: BSL-1.0
/// @file
/// scan and exclusive_scan: every rank gets the combination of the vectors of the ranks up to it, or before it.
#pragma once

#include <functional>
#include <optional>

#include "arguments/calls.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <>
struct calls<collective::scan> : elementwise_calls<collective::scan> {};

/// The last step of an exclusive scan: combines init with every rank's result, unless that has it.
template <class T, class Op>
void combine_with_init(bool first, initial_value const& with, std::span<T> to, Op& op) {
  T const& init = *static_cast<T const*>(with.value);
  if (!first && with.is_in_result) return;
  if (first) combine_each(to.data(), to.size(), [&](T const&) -> T const& { return init; });
  else if constexpr (takes_index<Op, T>)
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(op(i, init, to[i]));
  else combine_each(to.data(), to.size(), [&](T const& element) { return op(init, element); });
}
template <class T, class Op>
struct owned_scan final : owned_functor<Op> {
  owned_scan(Op functor, T const& left, std::span<T> to, bool first)
      : owned_functor<Op>(std::move(functor)), init_(left), to_(to), first_(first) {}
  initial_value initial{&init_};

  void begin() override { initial.is_in_result = false; }
  void finish() override { detail::combine_with_init(first_, initial, to_, this->op); }

 private:
  T init_;
  std::span<T> to_;
  bool first_;
};
template <>
struct calls<collective::exclusive_scan> {
  static constexpr collective what = collective::exclusive_scan;

  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out, functor_of<How, Out> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, std::ranges::range_value_t<Out> const& init, Op&& op,
                          Algorithm const& algorithm = {}) {
    auto const [from, to] = detail::spans_of(in, out);
    return make_with_init<How>(detail::accept_elementwise(call_arguments<what, Comm>(comm), from, to), to, init,
                               std::forward<Op>(op), algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, class T, functor_in_place<Both> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both both, T const& init, Op&& op, Algorithm const& algorithm = {}) {
    auto const to = span_for<Op>(both);
    return make_with_init<How>(call_arguments<what, Comm>(comm).accept_whole(to), to,
                               static_cast<typename decltype(to)::value_type>(init), std::forward<Op>(op), algorithm);
  }

 private:
  template <made How, class Accepted, class T, class Op, class Algorithm>
  static made_t<How> make_with_init(Accepted accepted, std::span<T> to, T const& init, Op&& op,
                                    Algorithm const& algorithm) {
    bool const first = accepted.state.rank() == 0;
    if constexpr (How == made::at_once) {
      std::less<T const*> const before;
      T const* const at = std::addressof(init);
      bool const is_in_output = !before(at, to.data()) && before(at, to.data() + to.size());
      std::optional<T> const kept = is_in_output ? std::optional<T>(init) : std::nullopt;
      initial_value initial{kept ? kept.operator->() : at};
      accepted.call.init = &initial;
      accepted.make(op, algorithm);
      detail::combine_with_init(first, initial, to, op);
    } else {
      using functor = std::decay_t<Op>;
      auto owned = accepted.template allocate<owned_scan<T, functor>>(std::forward<Op>(op), init, to, first);
      accepted.call.init = &owned->initial;
      return accepted.template make_owning<How, functor>(std::move(owned), algorithm);
    }
  }
};

}  // namespace detail

namespace by_name {

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
  detail::calls<collective::scan>::make<detail::made::at_once>(comm, in, out, op, algorithm);
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
/// The range form again, for unqualified calls in programs that open both this namespace and Boost.MPI's.
template <class T, class Op>
  requires(detail::functor_without_state_on_elements<Op, T> && detail::elements_over<T, boost::mpi::communicator>)
void scan(boost::mpi::communicator const& comm, T const& in, T& out, Op op) {
  detail::calls<collective::scan>::make<detail::made::at_once>(comm, in, out, op);
}
/// The range form with pointers to n elements each.
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
  detail::calls<collective::scan>::make<detail::made::at_once>(comm, both, op, algorithm);
}
/// iscan, scan_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(scan)

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
  detail::calls<collective::exclusive_scan>::make<detail::made::at_once>(comm, in, out, init, op, algorithm);
}
/// In place: exclusive_scan(comm, in_place(values), init, op).
template <communicator Comm, detail::in_place_over<Comm> Both, class T, class Op = detail::overloaded_in<Both>,
          algorithm Algorithm = automatic>
  requires detail::functor_in_place<Op, Both>
void exclusive_scan(Comm const& comm, Both both, T const& init, Op&& op, Algorithm const& algorithm = {}) {
  detail::calls<collective::exclusive_scan>::make<detail::made::at_once>(comm, both, init, op, algorithm);
}
/// iexclusive_scan, exclusive_scan_init: the range and in-place forms as requests (request.hpp).
COLLIGO_REQUESTS(exclusive_scan)

/// One value per rank.
template <communicator Comm, class T, class Op = detail::overloaded<T>, algorithm Algorithm = automatic>
  requires(!detail::stands_in_place<T> && detail::travels_over<T, Comm> && detail::functor_on<Op, T>)
T exclusive_scan(Comm const& comm, T const& value, std::type_identity_t<T> const& init, Op&& op,
                 Algorithm const& algorithm = {}) {
  T result = init;
  colligo::exclusive_scan(comm, detail::one(value), detail::one(result), init, op, algorithm);
  return result;
}
/// The same without init, for offsets: rank 0 gets T{}, which other ranks do not combine.
template <communicator Comm, std::default_initializable T, class Op = detail::overloaded<T>,
          algorithm Algorithm = automatic>
  requires(!detail::stands_in_place<T> && detail::travels_over<T, Comm> && detail::functor_on<Op, T>)
T exclusive_scan(Comm const& comm, T const& value, Op&& op, Algorithm const& algorithm = {}) {
  T result{};
  auto accepted = detail::call_arguments<collective::exclusive_scan, Comm>(comm).accept_whole(detail::one(value),
                                                                                              detail::one(result));
  accepted.make(op, algorithm);
  return accepted.state.rank() == 0 ? T{} : result;
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(scan)
COLLIGO_NO_OTHER_FORM(exclusive_scan)
