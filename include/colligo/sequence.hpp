// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that take ranges and return a number. The sequence is the ranks' ranges one after the other; some may be
/// empty. Results have the same bits on all ranks, and depend neither on the cuts between ranges nor on the number of
/// ranks: sums of floating point numbers are exact and rounded once (exact_sum.hpp).
///
/// All calls are collective over comm, one all_reduce each, but for accumulate and a long top; ranges are contiguous.
/// Each has forms with i before its name and _init after it, with the same arguments and, last, a variable for the
/// blocking form's result: it is set when the request is complete. A request reads its ranges whenever it starts;
/// ranges and variable have to live until it is complete. Functors are copied. Errors: as all_reduce's.
#pragma once

#include "all_reduce.hpp"
#include "sums/questions.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace by_name {

/// The sum. Of float, double or half types it is a double, exact and rounded once, to nearest. Of integers it has 64
/// bits and is exact if it fits, else right modulo 2^64.
template <communicator Comm, detail::summable R>
auto sum(Comm const& comm, R const& range) {
  return detail::answered(comm, detail::asked_sum()(comm, range));
}
COLLIGO_QUESTION(sum)

/// The sum of products a[i] b[i], which neither overflow nor underflow: exact, and rounded once. Of integers as sum.
/// Throws argument_error if the ranges differ in length.
template <communicator Comm, detail::summable A, detail::elements_like<A> B>
auto dot(Comm const& comm, A const& a, B const& b) {
  return detail::answered(comm, detail::asked_dot()(comm, a, b));
}
COLLIGO_QUESTION(dot)

/// The square root of the sum of squares, which neither overflow nor underflow: exact, and rounded once.
template <communicator Comm, detail::numbers R>
double norm2(Comm const& comm, R const& range) {
  return detail::answered(comm, detail::asked_norm2()(comm, range));
}
COLLIGO_QUESTION(norm2)

/// Count, mean and variances: each exact, and rounded once.
template <communicator Comm, detail::numbers R>
moments mean_and_variance(Comm const& comm, R const& range) {
  return detail::answered(comm, detail::asked_mean_and_variance()(comm, range));
}
COLLIGO_QUESTION(mean_and_variance)

/// The smallest element with its index in the sequence, the lowest index of equal ones; a NaN only if there is nothing
/// else. Index -1: the sequence is empty.
template <communicator Comm, detail::ordered_over<Comm> R>
located<std::ranges::range_value_t<R>> minimum_of(Comm const& comm, R const& range) {
  return detail::answered(comm, detail::asked_minimum_of()(comm, range));
}
COLLIGO_QUESTION(minimum_of)

/// The largest element with its index in the sequence, the lowest index of equal ones; a NaN only if there is nothing
/// else. Index -1: the sequence is empty.
template <communicator Comm, detail::ordered_over<Comm> R>
located<std::ranges::range_value_t<R>> maximum_of(Comm const& comm, R const& range) {
  return detail::answered(comm, detail::asked_maximum_of()(comm, range));
}
COLLIGO_QUESTION(maximum_of)

/// A std::pair of the smallest and the largest element, in one all_reduce: see minimum_of.
template <communicator Comm, detail::ordered_over<Comm> R>
auto extremes(Comm const& comm, R const& range) {
  return detail::answered(comm, detail::asked_extremes()(comm, range));
}
COLLIGO_QUESTION(extremes)

/// Several sums in one all_reduce: of ranges, or of products of pairs of them, `factors(a, b)`. Returns a std::array,
/// or a std::tuple if some are of integers and others not.
template <communicator Comm, detail::summands... Summands>
auto sums(Comm const& comm, Summands const&... ranges) {
  return detail::answered(comm, detail::asked_sums()(comm, ranges...));
}
COLLIGO_QUESTION(sums)
/// Two ranges, for sums().
template <class A, class B>
  requires(detail::summable<detail::asked_as<A>> && detail::elements_like<detail::asked_as<B>, detail::asked_as<A>>)
auto factors(A&& a, B&& b) {
  return detail::two_factors<A, B>{static_cast<A&&>(a), static_cast<B&&>(b)};
}

/// The first k elements of the sequence by `compare` on their projections (by default the largest), in this order, each
/// with its index in the sequence; fewer if the sequence is shorter. Equal elements are in the order of indices, NaNs
/// last. k is the same on all ranks; compare is a strict weak order. Cost: one pass over the range, which compares most
/// elements once, and an all_reduce of k elements with their indices; beyond 4096 one of a number before, which is
/// blocking in all forms.
template <communicator Comm, detail::listed_over<Comm> R, std::integral K, class Compare = std::greater<>,
          class Projection = std::identity>
std::vector<located<std::ranges::range_value_t<R>>> top(Comm const& comm, R const& range, K k, Compare compare = {},
                                                        Projection projection = {}) {
  return detail::answered(comm, detail::asked_top()(comm, range, k, std::move(compare), std::move(projection)));
}
COLLIGO_QUESTION(top)

/// Combines all elements of the sequence by an associative functor, along a tree over their indices. The result has the
/// same bits for any number of ranks, even if the functor is associative only up to rounding. T{} for an empty
/// sequence. Cost: an exclusive_scan and an all_reduce of a number, which block in all forms, and an all_reduce of 2 lg
/// n elements, for n elements in all.
template <communicator Comm, detail::accumulated_over<Comm> R, class Op>
  requires(detail::functor_on_elements<Op, R> && detail::functor_of_two<Op, std::ranges::range_value_t<R>>)
std::ranges::range_value_t<R> accumulate(Comm const& comm, R const& range, Op&& op) {
  return detail::answered(comm, detail::asked_accumulate()(comm, range, op));
}
COLLIGO_QUESTION(accumulate)

}  // namespace by_name

}  // namespace colligo
