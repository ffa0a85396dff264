// SPDX-License-Identifier: BSL-1.0
/// @file
/// What ranks make of their ranges, how two of them are combined, and what comes out in the end: sums, products,
/// moments and extremes of a sequence, which is the ranks' ranges one after the other. Each is one all_reduce of one
/// element.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <tuple>

#include "../../core/members.hpp"
#include "../../select/communicators.hpp"
#include "../../select/forms.hpp"
#include "natural.hpp"
#include "summing.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Of a sequence: how many numbers, their mean, and their variance, divided by count and by count - 1. Each is rounded
/// once; NaN where it is of no numbers.
struct moments {
  std::int64_t count;
  double mean, variance, sample_variance;
};

namespace detail {

template <class R>
concept numbers = elements<R> && binary_number<std::ranges::range_value_t<R>>;
template <class R>
concept lasting_numbers = numbers<R> && lasting<R>;
template <class R, class A>
concept lasting_like = lasting<R> && elements_like<R, A>;
template <numbers R>
using real_in = std::ranges::range_value_t<R>;

template <class R>
std::span<std::ranges::range_value_t<R> const> view_of(R const& range) { return range; }

template <class T>
struct sum_of_range {
  using state = exact_sum<T>;
  using functor = std::plus<>;
  std::span<T const> all;

  state local() const { return state(all); }
  static double result(state const& s) { return static_cast<double>(s); }
};

template <class T>
struct sum_of_products {
  using state = exact_sum<exact_product<T>>;
  using functor = std::plus<>;
  std::span<T const> a, b;

  state local() const {
    state s;
    s.add_products(a, b);
    return s;
  }
  static double result(state const& s) { return static_cast<double>(s); }
};

template <class T>
struct norm_of_range : sum_of_products<T> {
  using typename sum_of_products<T>::state;
  explicit norm_of_range(std::span<T const> all) : sum_of_products<T>{all, all} {}
  static double result(state const& s) {
    auto const& inside = inside_of_sum::state(s);
    return inside.is_number() ? square_root(integer_of(inside).size, inside.unit) : static_cast<double>(s);
  }
};

template <class T>
struct moments_of_range {
  struct state {
    exact_sum<T> sum;
    exact_sum<exact_product<T>> squares;
    std::int64_t count;
  };
  using functor = each<std::plus<>, std::plus<>, std::plus<>>;
  std::span<T const> all;

  state local() const {
    state s{{}, {}, static_cast<std::int64_t>(all.size())};
    constexpr std::size_t in_cache = 4 * block_length;
    for (std::size_t at = 0; at < all.size(); at += in_cache) {
      auto const some = all.subspan(at, std::min(in_cache, all.size() - at));
      s.sum += some;
      s.squares.add_products(some, some);
    }
    return s;
  }
  static moments result(state const& s) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    moments its{s.count, nan, nan, nan};
    if (s.count == 0) return its;
    auto const& inside = inside_of_sum::state(s.sum);
    if (!inside.is_number()) {
      its.mean = static_cast<double>(s.sum);
      return its;
    }
    auto const n = static_cast<std::uint64_t>(s.count);
    integer const sum = integer_of(inside);
    natural const squares = integer_of(inside_of_sum::state(s.squares)).size;
    its.mean = quotient(sum, inside.unit, n);
    its.variance = variance_of(squares, sum.size, inside.unit, n, n);
    if (n > 1) its.sample_variance = variance_of(squares, sum.size, inside.unit, n, n - 1);
    return its;
  }
};

/// Of two ranges that are as long.
template <class Comm, class A, class B>
auto products_over(Comm const& comm, A const& a, B const& b) {
  sum_of_products<real_in<A>> const its{view_of(a), view_of(b)};
  door<collective::all_reduce, Comm>(comm).require_size(its.b.size(), its.a.size(), "the second range");
  return its;
}
template <class Comm, numbers R>
auto summary_over(Comm const&, R const& range) { return sum_of_range<real_in<R>>{view_of(range)}; }
template <class Comm, numbers A, numbers B>
auto summary_over(Comm const& comm, std::pair<A const&, B const&> const& factors) {
  return products_over(comm, factors.first, factors.second);
}

/// Several at once.
template <class... Each>
struct summaries {
  using state = std::tuple<typename Each::state...>;
  using functor = each<typename Each::functor...>;
  std::tuple<Each...> its;

  state local() const {
    return std::apply([](auto const&... one) { return state{one.local()...}; }, its);
  }
  static auto result(state const& s) {
    return std::apply([](auto const&... one) { return std::array{Each::result(one)...}; }, s);
  }
};

template <class... Each>
summaries(std::tuple<Each...>) -> summaries<Each...>;   // clang++ 14 does not deduce it

/// The best of a stretch of a sequence, with its place in it. To combine two is associative, and keeps their order.
template <class T>
struct best_of_stretch {
  located<T> best;
  std::int64_t count;
};
template <class Better>
struct best_of_two {
  template <class T>
  best_of_stretch<T> operator()(best_of_stretch<T> const& a, best_of_stretch<T> const& b) const {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    return {Better{}(a.best, {b.best.value, b.best.index + a.count}), a.count + b.count};
  }
};
template <class T, class Better>
struct best_of_range {
  using state = best_of_stretch<T>;
  using functor = best_of_two<Better>;
  std::span<T const> all;

  state local() const {
    state s{{T{}, -1}, static_cast<std::int64_t>(all.size())};
    if (all.empty()) return s;
    s.best = {all[0], 0};
    for (std::size_t i = 1; i < all.size(); ++i) s.best = Better{}(s.best, {all[i], static_cast<std::int64_t>(i)});
    return s;
  }
  static located<T> result(state const& s) { return s.best; }
};

template <class R>
using located_in = located<std::ranges::range_value_t<R>>;
template <class R>
using norm_in = norm_of_range<real_in<R>>;
template <class R>
using moments_in = moments_of_range<real_in<R>>;
template <class R, class Better>
using best_in = best_of_range<std::ranges::range_value_t<R>, Better>;

template <class Summary>
using result_of = decltype(Summary::result(std::declval<typename Summary::state const&>()));

/// One element on every rank, of which all get the combination.
template <class Comm, class T>
auto accept_element(Comm const& comm, T& value) {
  door<collective::all_reduce, Comm> const its(comm);
  blocks const one = its.vector_of(1);
  return its.accept(one, std::span<T const>(&value, 1), one.whole, std::span<T>(&value, 1), one.whole);
}

template <class Comm, class Summary>
auto summarise(Comm const& comm, Summary const& its) {
  auto state = its.local();
  typename Summary::functor op;
  accept_element(comm, state).run(op, automatic{});
  return Summary::result(state);
}

/// What a request keeps: each time it starts it reads the range again.
template <class Summary>
struct owned_summary final : owned_functor<typename Summary::functor> {
  owned_summary(Summary const& from, result_of<Summary>& to)
      : owned_functor<typename Summary::functor>({}), its(from), out(to) {}
  void begin() override { state = its.local(); }
  void finish() override { out = Summary::result(state); }

  Summary its;
  result_of<Summary>& out;
  typename Summary::state state{};
};
template <made How, class Comm, class Summary>
made_t<How> make_summary(Comm const& comm, Summary const& its, result_of<Summary>& out) {
  auto owned = make_owner<owned_summary<Summary>>(its, out);
  auto accepted = accept_element(comm, owned->state);
  return accepted.template make_owning<How, typename Summary::functor>(std::move(owned), automatic{});
}

}  // namespace detail
}  // namespace colligo
