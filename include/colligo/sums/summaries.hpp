// SPDX-License-Identifier: BSL-1.0
/// @file
/// Summaries of ranges, their combination, and the results: sums, products, moments and extremes of a sequence, which
/// is the ranks' ranges one after the other. Each is one all_reduce of one element.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include "../core/each_member.hpp"
#include "../communicators/communicators.hpp"
#include "../arguments/forms.hpp"
#include "../rules/policies.hpp"
#include "natural.hpp"
#include "summing.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The number of elements of a sequence, their mean, and their variance, divided by count and by count - 1. Each is
/// rounded once; NaN if it divides by 0. If an element is NaN or infinite, variances are NaN and the mean is as sum().
struct moments {
  std::int64_t count;
  double mean, variance, sample_variance;
  friend bool operator==(moments const&, moments const&) = default;
};

namespace detail {

template <class R>
concept numbers = elements<R> && binary_number<std::ranges::range_value_t<R>>;
template <class R>
concept whole_numbers = elements<R> && std::integral<std::ranges::range_value_t<R>> &&
                        sizeof(std::ranges::range_value_t<R>) <= sizeof(std::int64_t);
template <class R>
concept summable = numbers<R> || whole_numbers<R>;

template <class R>
std::span<std::ranges::range_value_t<R> const> as_span(R const& range) { return range; }

/// Sums of T and of products of two, before and after rounding. Sums of integers are right modulo 2^64.
template <class T>
struct types_of_sums {
  using of_numbers = exact_sum<T>;
  using of_products = exact_sum<exact_product<T>>;
  using answer = double;
};
template <std::integral T>
struct types_of_sums<T> {
  using of_numbers = std::uint64_t;
  using of_products = std::uint64_t;
  using answer = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};

template <class T>
struct sum_of_range {
  using state = typename types_of_sums<T>::of_numbers;
  using functor = std::plus<>;
  using answer = typename types_of_sums<T>::answer;
  std::span<T const> all;

  state local() const {
    state s{};
    if constexpr (!std::integral<T>) s += all;
    else for (T const x : all) s += static_cast<state>(x);
    return s;
  }
  static answer result(state const& s) { return static_cast<answer>(s); }
};

template <class T>
struct sum_of_products {
  using state = typename types_of_sums<T>::of_products;
  using functor = std::plus<>;
  using answer = typename types_of_sums<T>::answer;
  std::span<T const> a, b;

  state local() const {
    state s{};
    if constexpr (!std::integral<T>) s.add_products(a, b);
    else for (std::size_t i = 0; i < a.size(); ++i) s += static_cast<state>(a[i]) * static_cast<state>(b[i]);
    return s;
  }
  static answer result(state const& s) { return static_cast<answer>(s); }
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
  using answer = moments;
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
    constexpr double nan = std::bit_cast<double>(format_of<double>.nan_bits());   // also under -ffinite-math-only
    moments found{s.count, nan, nan, nan};
    if (s.count == 0) return found;
    auto const& inside = inside_of_sum::state(s.sum);
    if (!inside.is_number()) {
      found.mean = static_cast<double>(s.sum);
      return found;
    }
    auto const n = static_cast<std::uint64_t>(s.count);
    integer const sum = integer_of(inside);
    natural const squares = integer_of(inside_of_sum::state(s.squares)).size;
    found.mean = quotient(sum, inside.unit, n);
    found.variance = variance_of(squares, sum.size, inside.unit, n, n);
    if (n > 1) found.sample_variance = variance_of(squares, sum.size, inside.unit, n, n - 1);
    return found;
  }
};

/// Sums of products of two ranges of equal length.
template <class Comm, class A, class B>
auto products_over(Comm const& comm, A const& a, B const& b) {
  sum_of_products<std::ranges::range_value_t<A>> const products{as_span(a), as_span(b)};
  call_arguments<collective::all_reduce, Comm>(comm).require_size(products.b.size(), products.a.size(),
                                                                  "the second range", "dot");
  return products;
}
/// Two ranges for sums(): references, also to temporaries.
template <class A, class B>
struct two_factors {
  A&& a;
  B&& b;
};
template <class T>
inline constexpr bool are_factors = false;
template <class A, class B>
inline constexpr bool are_factors<two_factors<A, B>> = elements<A> && elements<B>;
template <class T>
concept summands = summable<T> || are_factors<T>;

template <class Comm, class Summands>
auto summary_over(Comm const& comm, Summands const& given) {
  if constexpr (are_factors<Summands>) return products_over(comm, given.a, given.b);
  else return sum_of_range<std::ranges::range_value_t<Summands>>{as_span(given)};
}

/// Several summaries at once.
template <class... Each>
struct summaries {
  using state = std::tuple<typename Each::state...>;
  using functor = each<typename Each::functor...>;
  std::tuple<Each...> parts;

  state local() const {
    return std::apply([](auto const&... one) { return state{one.local()...}; }, parts);
  }
  static auto result(state const& s) {
    return std::apply([](auto const&... one) {
      if constexpr (requires { std::array{Each::result(one)...}; }) return std::array{Each::result(one)...};
      else return std::tuple{Each::result(one)...};   // of integers and others
    }, s);
  }
  using answer = decltype(result(std::declval<state const&>()));
};

template <class... Each>
summaries(std::tuple<Each...>) -> summaries<Each...>;   // clang++ 14 does not deduce it

/// The best element of a stretch of a sequence, with its place in the stretch, and the length of the stretch. Combining
/// two neighbouring stretches is associative and needs their order.
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
  using answer = located<T>;
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

/// The smallest and the largest.
template <class T>
struct extremes_of_range : summaries<best_of_range<T, minloc>, best_of_range<T, maxloc>> {
  using both = summaries<best_of_range<T, minloc>, best_of_range<T, maxloc>>;
  using answer = std::pair<located<T>, located<T>>;

  explicit extremes_of_range(std::span<T const> all) : both{{{all}, {all}}} {}
  static answer result(typename both::state const& s) {
    auto const found = both::result(s);
    return {found[0], found[1]};
  }
};

/// An all_reduce of one element per rank, in place.
template <class Comm, class T>
auto accept_element(Comm const& comm, T& value) {
  return call_arguments<collective::all_reduce, Comm>(comm).accept_whole(one(value));
}

/// Answers a question whose summary is one element.
template <class Comm, class Question>
  requires requires { typename Question::functor; }
typename Question::answer answered(Comm const& comm, Question const& question) {
  auto state = question.local();
  typename Question::functor op;
  accept_element(comm, state).make(op, automatic{});
  return Question::result(state);
}

/// The data that a request keeps: it reads the range each time it starts.
template <class Question>
struct owned_question final : owned_functor<typename Question::functor> {
  owned_question(Question const& from, typename Question::answer& to)
      : owned_functor<typename Question::functor>({}), question(from), out(to) {}
  void begin() override { state = question.local(); }
  void finish() override { out = Question::result(state); }

  Question question;
  typename Question::answer& out;
  typename Question::state state{};
};
template <made How, class Comm, class Question>
  requires requires { typename Question::functor; }
made_t<How> ask(Comm const& comm, Question const& question, typename Question::answer& out) {
  owner<owned_question<Question>> owned;
  call_arguments<collective::all_reduce, Comm>(comm).attempt(
      [&] { owned = make_owner<owned_question<Question>>(question, out); });
  auto accepted = accept_element(comm, owned->state);
  return accepted.template make_owning<How, typename Question::functor>(std::move(owned), automatic{});
}

}  // namespace detail
}  // namespace colligo
