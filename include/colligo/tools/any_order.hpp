// SPDX-License-Identifier: BSL-1.0
/// @file
/// require{any_order}: sums of long vectors of float or double whose bits do not depend on the order in which the
/// ranks' contributions are combined, so neither on the algorithm, nor on the transport, nor on which rank has which
/// contribution.
///
///   colligo::all_reduce(world, in, out, std::plus<>{}, colligo::require{colligo::any_order});
///
/// Two collectives: an all_reduce of the elements' largest exponents, 2 bytes each, and the call itself on fixed point
/// numbers of 62 - ceil(lg p) bits below these, 8 bytes each. A contribution loses at most 2^(ceil(lg p) - 62) of the
/// element's largest; if all are within 2^8 of it nothing is lost, up to 512 ranks. The sum is rounded once. It is NaN
/// if a NaN or both infinities are contributed; zero is +0. Scans, whose prefixes have exponents of their own, are made
/// on exact sums instead.
#pragma once

#include <functional>
#include <type_traits>

#include "../sums/number_format.hpp"
#include "requiring.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

struct order_of_contributions {};

template <class Op, class T>
concept adds_numbers = (std::is_same_v<T, float> || std::is_same_v<T, double>) &&
                       (std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>>);

/// A template, so that only units that ask for it compile it.
template <class Lazy = void>
struct summing_in_any_order {
  static void run(endpoint& at, call const& asked, policies_of_collective policies);
};

}  // namespace detail

/// For require{any_order} in blocking calls: sums by std::plus<>, and operations that are exact in any order anyway.
inline constexpr detail::order_of_contributions any_order{};

/// require{any_order}. Errors: as the call's. Cost: 1.25 times the bytes of the plain sum of doubles, 2.5 times of
/// floats, in parts of 32768 elements but for reduce_scatter; 10 to 18 bytes of memory for each of these, 5 to 10 ns. A
/// scan's elements take up to 39 times the bytes of float or double, as exact_sum.
template <>
struct require<detail::order_of_contributions> {
  static constexpr std::string_view name = "require";
  static constexpr bool decides_itself = true;

  detail::order_of_contributions what;

  template <collective C, class T, class Op, class>
  static constexpr void check() {
    static_assert(!combines(C) || exact<Op, T> || detail::adds_numbers<Op, T>,
                  "colligo: require{any_order} is for sums of float and double by std::plus<>{}, and for exact "
                  "operations: for other functors write require{same_bits}, or colligo::accumulate(comm, range, op)");
  }
  template <collective C, class T, class Op>
  detail::choice decide(detail::endpoint& state, detail::call const& call,
                        detail::policies_of_collective policies) const {
    static_assert(!combines(C) || exact<Op, T>,
                  "colligo: require{any_order} is for blocking calls, because it makes two collectives: for "
                  "requests take elements of colligo::binned_sum<double>");
    return detail::by_rules(state, call, policies);
  }
  template <class Lazy = void>
  void run(detail::endpoint& state, detail::call const& asked, detail::policies_of_collective policies) const {
    detail::summing_in_any_order<Lazy>::run(state, asked, policies);
  }
};
require(detail::order_of_contributions) -> require<detail::order_of_contributions>;

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "any_order_body.hpp"
#endif
