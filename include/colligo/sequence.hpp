// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ranges in, a number out: what is asked of a sequence, which is the ranks' ranges one after the other. Some ranges
/// may be empty. Results are the same on all ranks, bit by bit, and do not depend on how the sequence is cut into
/// ranges, nor on how many ranks there are: sums are exact and rounded once (exact_sum.hpp).
///
/// All calls are collective over comm, one all_reduce each; ranges are contiguous, where sums are made of float, double
/// or half types. isum, sum_init and the like put the result into `out` when the request is complete, and read the
/// range whenever they start; range and out have to live until then. Errors: as all_reduce's.
#pragma once

#include "all_reduce.hpp"
#include "extra/exact/lists.hpp"
#include "extra/exact/summaries.hpp"
#include "scan.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The sum: exact, and rounded once, to nearest.
template <communicator Comm, detail::numbers R>
double sum(Comm const& comm, R const& range) {
  return detail::summarise(comm, detail::summary_over(comm, range));
}
/// The same, started.
template <communicator Comm, detail::lasting_numbers R>
[[nodiscard]] request isum(Comm const& comm, R&& range, double& out) {
  return detail::make_summary<detail::made::started>(comm, detail::summary_over(comm, range), out);
}
/// The same, made ready to be started any number of times.
template <communicator Comm, detail::lasting_numbers R>
[[nodiscard]] persistent sum_init(Comm const& comm, R&& range, double& out) {
  return detail::make_summary<detail::made::ready>(comm, detail::summary_over(comm, range), out);
}

/// The sum of products a[i] b[i], which neither overflow nor underflow: exact, and rounded once. Throws argument_error
/// where the ranges differ in length.
template <communicator Comm, detail::numbers A, detail::elements_like<A> B>
double dot(Comm const& comm, A const& a, B const& b) {
  return detail::summarise(comm, detail::products_over(comm, a, b));
}
/// The same, started.
template <communicator Comm, detail::lasting_numbers A, detail::lasting_like<A> B>
[[nodiscard]] request idot(Comm const& comm, A&& a, B&& b, double& out) {
  return detail::make_summary<detail::made::started>(comm, detail::products_over(comm, a, b), out);
}
/// The same, made ready to be started any number of times.
template <communicator Comm, detail::lasting_numbers A, detail::lasting_like<A> B>
[[nodiscard]] persistent dot_init(Comm const& comm, A&& a, B&& b, double& out) {
  return detail::make_summary<detail::made::ready>(comm, detail::products_over(comm, a, b), out);
}

/// The square root of the sum of squares, which neither overflow nor underflow: exact, and rounded once.
template <communicator Comm, detail::numbers R>
double norm2(Comm const& comm, R const& range) {
  return detail::summarise(comm, detail::norm_in<R>(detail::view_of(range)));
}
/// The same, started.
template <communicator Comm, detail::lasting_numbers R>
[[nodiscard]] request inorm2(Comm const& comm, R&& range, double& out) {
  return detail::make_summary<detail::made::started>(comm, detail::norm_in<R>(detail::view_of(range)), out);
}
/// The same, made ready to be started any number of times.
template <communicator Comm, detail::lasting_numbers R>
[[nodiscard]] persistent norm2_init(Comm const& comm, R&& range, double& out) {
  return detail::make_summary<detail::made::ready>(comm, detail::norm_in<R>(detail::view_of(range)), out);
}

/// Count, mean and variances: each exact, and rounded once.
template <communicator Comm, detail::numbers R>
moments mean_and_variance(Comm const& comm, R const& range) {
  return detail::summarise(comm, detail::moments_in<R>{detail::view_of(range)});
}
/// The same, started.
template <communicator Comm, detail::lasting_numbers R>
[[nodiscard]] request imean_and_variance(Comm const& comm, R&& range, moments& out) {
  return detail::make_summary<detail::made::started>(comm, detail::moments_in<R>{detail::view_of(range)}, out);
}
/// The same, made ready to be started any number of times.
template <communicator Comm, detail::lasting_numbers R>
[[nodiscard]] persistent mean_and_variance_init(Comm const& comm, R&& range, moments& out) {
  return detail::make_summary<detail::made::ready>(comm, detail::moments_in<R>{detail::view_of(range)}, out);
}

/// The smallest element with its index in the sequence, the lowest where several are equal; a NaN only if there is
/// nothing else. Index -1: the sequence is empty.
template <communicator Comm, detail::elements_over<Comm> R>
detail::located_in<R> minimum_of(Comm const& comm, R const& range) {
  return detail::summarise(comm, detail::best_in<R, minloc>{detail::view_of(range)});
}
/// The same, started.
template <communicator Comm, detail::lasting_over<Comm> R>
[[nodiscard]] request iminimum_of(Comm const& comm, R&& range, detail::located_in<R>& out) {
  return detail::make_summary<detail::made::started>(comm, detail::best_in<R, minloc>{detail::view_of(range)}, out);
}
/// The same, made ready to be started any number of times.
template <communicator Comm, detail::lasting_over<Comm> R>
[[nodiscard]] persistent minimum_of_init(Comm const& comm, R&& range, detail::located_in<R>& out) {
  return detail::make_summary<detail::made::ready>(comm, detail::best_in<R, minloc>{detail::view_of(range)}, out);
}

/// The largest element with its index in the sequence, the lowest where several are equal; a NaN only if there is
/// nothing else. Index -1: the sequence is empty.
template <communicator Comm, detail::elements_over<Comm> R>
detail::located_in<R> maximum_of(Comm const& comm, R const& range) {
  return detail::summarise(comm, detail::best_in<R, maxloc>{detail::view_of(range)});
}
/// The same, started.
template <communicator Comm, detail::lasting_over<Comm> R>
[[nodiscard]] request imaximum_of(Comm const& comm, R&& range, detail::located_in<R>& out) {
  return detail::make_summary<detail::made::started>(comm, detail::best_in<R, maxloc>{detail::view_of(range)}, out);
}
/// The same, made ready to be started any number of times.
template <communicator Comm, detail::lasting_over<Comm> R>
[[nodiscard]] persistent maximum_of_init(Comm const& comm, R&& range, detail::located_in<R>& out) {
  return detail::make_summary<detail::made::ready>(comm, detail::best_in<R, maxloc>{detail::view_of(range)}, out);
}

/// A std::array of sums: of several ranges, or of products of pairs of them, `factors(a, b)`, in one all_reduce.
template <communicator Comm, class... Ranges>
auto sums(Comm const& comm, Ranges const&... ranges) {
  return detail::summarise(comm, detail::summaries{std::tuple{detail::summary_over(comm, ranges)...}});
}
/// Two ranges, for sums().
template <detail::numbers A, detail::elements_like<A> B>
auto factors(A const& a, B const& b) {
  return std::pair<A const&, B const&>(a, b);
}

/// A std::pair of the smallest and the largest element, in one all_reduce: see minimum_of.
template <communicator Comm, detail::elements_over<Comm> R>
auto extremes(Comm const& comm, R const& range) {
  using T = std::ranges::range_value_t<R>;
  using both = detail::summaries<detail::best_of_range<T, minloc>, detail::best_of_range<T, maxloc>>;
  auto const found = detail::summarise(comm, both{{{detail::view_of(range)}, {detail::view_of(range)}}});
  return std::pair(found[0], found[1]);
}

/// The first k of the sequence by `compare` on what `projection` makes of elements (the largest, if nothing is said),
/// in this order, each with its index in the sequence; all of them where there are fewer. Equals in the order of
/// indices, NaNs last. k is the same on all ranks; compare is a strict weak order. Cost: an all_reduce of k elements
/// with their indices.
template <communicator Comm, detail::elements_over<Comm> R, class Compare = std::greater<>,
          class Projection = std::identity>
  requires travels_as_bytes<std::ranges::range_value_t<R>>
std::vector<detail::located_in<R>> top(Comm const& comm, R const& range, std::size_t k, Compare compare = {},
                                       Projection projection = {}) {
  using T = std::ranges::range_value_t<R>;
  std::span<T const> const all(range);
  detail::best_of_lists<T, Compare, Projection> join(k, std::move(compare), std::move(projection));
  return detail::joined_lists<located<T>>(comm, static_cast<std::int64_t>(all.size()), join,
                                          [&] { return join.of_range(all); });
}

/// Combines all elements of the sequence by an associative functor, along a tree over their indices: what comes out has
/// the same bits for any number of ranks, though the functor be associative up to rounding alone. T{} where there are
/// none. Cost: an exclusive_scan and an all_reduce of a number, and an all_reduce of 2 lg n elements, for n in all.
template <communicator Comm, detail::elements_over<Comm> R, class Op>
  requires(travels_as_bytes<std::ranges::range_value_t<R>> && detail::functor_on_elements<Op, R>)
std::ranges::range_value_t<R> accumulate(Comm const& comm, R const& range, Op&& op) {
  using T = std::ranges::range_value_t<R>;
  std::span<T const> const all(range);
  auto const mine = static_cast<std::int64_t>(all.size());
  std::int64_t before = 0;
  colligo::exclusive_scan(comm, std::span(&mine, 1), std::span(&before, 1), std::int64_t{0}, std::plus<>{});
  detail::intervals_of_lists<T, std::remove_reference_t<Op>> join(colligo::all_reduce(comm, mine, std::plus<>{}), op);
  auto const known =
      detail::joined_lists<detail::combined_interval<T>>(comm, mine, join, [&] { return join.of_range(all, before); });
  if (known.empty()) return {};
  T result = known.front().value;
  for (auto const& next : std::span(known).subspan(1)) result = static_cast<T>(op(result, next.value));
  return result;
}

}  // namespace colligo
