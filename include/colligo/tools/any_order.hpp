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
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "../sums/sums_of_calls.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What ranks contribute to an element, as integers: multiples of 2^unit least numbers or, if any number is NaN or
/// infinite, a count of 1 for its kind.
template <class T>
struct grid_of_exponents {
  static constexpr number_format format = format_of<T>;
  static constexpr std::uint16_t no_number = (1 << format.exponent) - 1;
  static constexpr int nan_at = 0, infinity_at = 20, negative_infinity_at = 40;   // counts of 20 bits begin there
  int bits;   ///< of a contribution

  explicit grid_of_exponents(int p) : bits(62 - static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1)))) {}

  static std::uint16_t exponent_of(T x) {
    return static_cast<std::uint16_t>(std::bit_cast<bits_of_number<T>>(x) >> format.fraction) & no_number;
  }
  int unit(std::uint16_t exponent) const { return std::max(0, format.fraction + std::max<int>(exponent, 1) - bits); }
  std::int64_t contribution(T x, std::uint16_t exponent) const {
    integer_form const form = integer_form_of(x);
    if (exponent == no_number) [[unlikely]]
      return form.special == 0 ? 0
                               : std::int64_t{1} << (form.special == nan_seen        ? nan_at
                                                     : form.special == infinity_seen ? infinity_at
                                                                                     : negative_infinity_at);
    int const by = unit(exponent) - form.shift;
    return by <= 0 ? form.mantissa * (std::int64_t{1} << -by) : rounded_shift(form.mantissa, std::min(by, 60));
  }
  T result(std::int64_t sum, std::uint16_t exponent) const {
    return std::bit_cast<T>(static_cast<bits_of_number<T>>(
        exponent == no_number ? bits_of_counts(sum) : bits_of_multiple(sum, unit(exponent))));
  }

 private:
  static std::uint64_t bits_of_counts(std::int64_t sum) {
    auto const any = [sum](int at) { return (sum >> at & ((1 << 20) - 1)) != 0; };
    if (any(nan_at) || (any(infinity_at) && any(negative_infinity_at))) return format.nan_bits();
    return format.infinite_bits() | (any(infinity_at) ? 0 : format.sign());
  }
  // By integers: the processor's rounding mode does not matter.
  static std::uint64_t bits_of_multiple(std::int64_t sum, int unit) {
    std::int64_t const size = sum < 0 ? -sum : sum;
    if (size == 0) return 0;
    int const bits_of_size = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size)));
    int const dropped = std::max(bits_of_size - format.fraction - 1, -unit);
    auto const mantissa = static_cast<std::uint64_t>(dropped > 0 ? rounded_shift(size, dropped)
                                                                 : size * (std::int64_t{1} << -dropped));
    // A mantissa without its first bit is that of a subnormal number; one that has grown carries into the exponent.
    std::uint64_t const bits = (static_cast<std::uint64_t>(unit + dropped) << format.fraction) + mantissa;
    return std::min(bits, format.infinite_bits()) | (sum < 0 ? format.sign() : 0);
  }
};

/// One of the two collectives.
template <class T, class Op>
void run_phase(communicator_state& state, call phase, std::vector<T> const& in, std::vector<T>& out,
               policies_of_collective policies) {
  Op op;
  phase.of = &element_of<T, Op>, phase.wire = state.wire_of_bytes(), phase.op = &op;
  phase.in.data = reinterpret_cast<std::byte const*>(in.data());
  phase.out.data = reinterpret_cast<std::byte*>(out.data());
  run_by_rules(state, phase, policies);
}

template <class T>
void sum_in_any_order(communicator_state& state, call const& asked, policies_of_collective policies) {
  constexpr std::size_t most = std::size_t{1} << 15;   // what is allocated stays with the process
  std::vector<std::uint16_t> exponents;
  std::vector<std::int64_t> contributed, apart;
  bool const in_place = asked.what == collective::all_reduce;
  auto& sums = in_place ? contributed : apart;
  grid_of_exponents<T> const grid(state.size());
  auto const* const in = reinterpret_cast<T const*>(asked.in.data);
  auto* const out = reinterpret_cast<T*>(asked.out.data);
  auto const allocate = [&](std::size_t length) {
    exponents.resize(length), contributed.resize(length), sums.resize(std::min(asked.out.covers.size(), length));
  };
  run_in_parts(state, asked, most, allocate, [&](call const& part, std::size_t done) {
    std::size_t const n = part.vector.whole.size();
    for (std::size_t i = 0; i < n; ++i) exponents[i] = grid.exponent_of(in[done + i]);
    call largest = asked;
    largest.what = collective::all_reduce, largest.root = 0;
    largest.vector = {{0, n}, state.size()};
    largest.in.covers = largest.out.covers = {0, n};
    run_phase<std::uint16_t, maximum>(state, largest, exponents, exponents, &policy_table_of<collective::all_reduce>);
    for (std::size_t i = 0; i < n; ++i) contributed[i] = grid.contribution(in[done + i], exponents[i]);
    run_phase<std::int64_t, std::plus<>>(state, part, contributed, sums, policies);
    range const result = part.out.covers;
    for (std::size_t i = 0; i < result.size(); ++i) out[done + i] = grid.result(sums[i], exponents[result.first + i]);
  });
}

template <class Lazy>
void summing_in_any_order<Lazy>::run(endpoint& at, call const& asked, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  // A prefix knows nothing of the exponents of later ranks, and each one has its own.
  if (asked.what == collective::scan || asked.what == collective::exclusive_scan) {
    auto const run_part = [&](call const& part) { run_by_rules(state, part, policies); };
    if (adds_up<double>(*asked.of)) return run_on_exact_sums<double>(state, asked, run_part);
    if (adds_up<float>(*asked.of)) return run_on_exact_sums<float>(state, asked, run_part);
  }
  if (adds_up<double>(*asked.of)) return sum_in_any_order<double>(state, asked, policies);
  if (adds_up<float>(*asked.of)) return sum_in_any_order<float>(state, asked, policies);
  run_by_rules(state, asked, policies);
}

}  // namespace colligo
#endif
