// SPDX-License-Identifier: BSL-1.0
/// @file
/// The questions of sequence.hpp, for blocking calls, requests and persistent requests.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../arguments/misplaced.hpp"
#include "../arguments/mistakes.hpp"
#include "lists.hpp"
#include "summaries.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Ranges of elements that travel as bytes.
template <class R, class Comm>
concept listed_over = elements_over<R, Comm> && travels_as_bytes<std::ranges::range_value_t<R>>;
/// Ranges whose extremes can be sent; between threads all can.
template <class R, class Comm>
concept ordered_over = elements_over<R, Comm> && std::default_initializable<std::ranges::range_value_t<R>> &&
                       travels_over<best_of_stretch<std::ranges::range_value_t<R>>, Comm>;
/// The same, with a value of none.
template <class R, class Comm>
concept accumulated_over = listed_over<R, Comm> && std::default_initializable<std::ranges::range_value_t<R>>;

/// The length of a sequence of which this rank has `mine` elements. One collective.
template <class Comm>
std::int64_t length_of(Comm const& comm, std::int64_t mine) {
  std::plus<> op;
  accept_element(comm, mine).make(op, automatic{});
  return mine;
}
/// The place in the sequence where this rank's range of `mine` elements begins, and the sequence's length. Two
/// collectives.
template <class Comm>
std::pair<std::int64_t, std::int64_t> places_of(Comm const& comm, std::int64_t mine) {
  std::int64_t before = 0;
  std::plus<> op;
  call_arguments<collective::exclusive_scan, Comm> const arguments(comm);
  arguments.accept_whole(constant(one(mine)), one(before)).make(op, automatic{});
  return {arguments.rank() == 0 ? 0 : before, length_of(comm, mine)};
}

// From the arguments of a call to its question: an object whose local() summarises a rank's range and whose result() is
// that of the combined summaries.
struct asked_sum {
  template <class Comm, summable R>
  auto operator()(Comm const& comm, R const& range) const { return summary_over(comm, range); }
};
struct asked_dot {
  template <class Comm, summable A, elements_like<A> B>
  auto operator()(Comm const& comm, A const& a, B const& b) const { return products_over(comm, a, b); }
};
struct asked_norm2 {
  template <class Comm, numbers R>
  auto operator()(Comm const&, R const& range) const {
    return norm_of_range<std::ranges::range_value_t<R>>(as_span(range));
  }
};
struct asked_mean_and_variance {
  template <class Comm, numbers R>
  auto operator()(Comm const&, R const& range) const {
    return moments_of_range<std::ranges::range_value_t<R>>{as_span(range)};
  }
};
template <class Better>
struct asked_best {
  template <class Comm, ordered_over<Comm> R>
  auto operator()(Comm const&, R const& range) const {
    return best_of_range<std::ranges::range_value_t<R>, Better>{as_span(range)};
  }
};
using asked_minimum_of = asked_best<minloc>;
using asked_maximum_of = asked_best<maxloc>;
struct asked_extremes {
  template <class Comm, ordered_over<Comm> R>
  auto operator()(Comm const&, R const& range) const {
    return extremes_of_range<std::ranges::range_value_t<R>>(as_span(range));
  }
};
struct asked_sums {
  template <class Comm, summands... R>
  auto operator()(Comm const& comm, R const&... ranges) const {
    return summaries{std::tuple{summary_over(comm, ranges)...}};
  }
};
struct asked_top {
  static constexpr std::size_t worth_counting = 4096;   // longer lists have room for at most the whole sequence
  static std::uint32_t calls_before(auto const&, auto k, auto const&...) { return std::cmp_greater(k, worth_counting); }

  template <class Comm, listed_over<Comm> R, std::integral K, class Compare = std::greater<>,
            class Projection = std::identity>
  auto operator()(Comm const& comm, R const& range, K k, Compare compare = {}, Projection projection = {}) const {
    call_arguments<collective::all_reduce, Comm> const arguments(comm);
    arguments.require_count(k, "top");
    return arguments.make_calls(calls_before(range, k) + 1, [&] {   // the answer's is the last
      auto const all = as_span(range);
      auto most = static_cast<std::size_t>(k);
      if (most > worth_counting) most = std::min(most, static_cast<std::size_t>(length_of(comm, std::ssize(all))));
      return best_of_lists<std::ranges::range_value_t<R>, Compare, Projection>(all, most, std::move(compare),
                                                                               std::move(projection));
    });
  }
};
struct asked_accumulate {
  static std::uint32_t calls_before(auto const&...) { return 2; }

  template <class Comm, accumulated_over<Comm> R, class Op>
    requires(functor_on_elements<Op, R> && functor_of_two<Op, std::ranges::range_value_t<R>>)
  auto operator()(Comm const& comm, R const& range, Op&& op) const {
    return call_arguments<collective::all_reduce, Comm>(comm).make_calls(3, [&] {   // the answer's is the third
      auto const all = as_span(range);
      auto const [first, n] = places_of(comm, std::ssize(all));
      return intervals_of_lists<std::ranges::range_value_t<R>, Op>(all, first, n, std::forward<Op>(op));
    });
  }
};

/// Arguments that a request may keep: a functor or a number, which it copies, or an object that outlives it.
template <class T>
inline constexpr bool are_gone_factors = false;
template <class A, class B>
inline constexpr bool are_gone_factors<two_factors<A, B>> = !lasting<A> || !lasting<B>;
/// What a question gets for an argument. Elements that do not lie side by side are packed for it: see views.hpp.
template <class T>
struct asked_about {
  using type = T;
  static constexpr bool packs = false;
  static constexpr bool may_be_kept = (std::ranges::range<T> ? lasting<T> : std::copy_constructible<std::decay_t<T>>) &&
                                      !are_gone_factors<std::remove_cvref_t<T>>;
};
template <class T>
using asked_as = typename asked_about<T>::type;
template <made How, class Checked, class F, class... Inputs>
auto with_packed(Checked const& checked, endpoint& state, F f, Inputs&... inputs);

/// make(inputs), which asks the question. Tells the other ranks if copies of functors, or packing, throw.
template <made How, class Asked, class Comm, class Make, class... Inputs>
auto make_question(Asked const&, Comm const& comm, Make make, Inputs&... inputs) {
  call_arguments<collective::all_reduce, Comm> const checked(comm);
  std::uint32_t calls = 1;
  if constexpr (requires { Asked::calls_before(inputs...); }) calls += Asked::calls_before(inputs...);
  return checked.make_calls(calls, [&] {
    if constexpr ((asked_about<Inputs&>::packs || ...))
      return with_packed<How>(checked, state_of<Comm>::open(comm), make, inputs...);
    else return make(inputs...);
  });
}
template <class Asked, class Comm, class... Arguments>
concept asks_of_packed = (asked_about<Arguments>::packs || ...) &&
                         std::is_invocable_v<Asked const&, Comm const&, asked_as<Arguments>...>;
template <class Asked, class Comm, class... Arguments>
using question = std::invoke_result_t<Asked const&, Comm const&, asked_as<Arguments>...>;

template <class Asked, class Comm, class... Arguments, std::size_t... I>
constexpr bool can_be_asked(std::tuple<Arguments...>*, std::index_sequence<I...>) {
  using all = std::tuple<Arguments...>;
  if constexpr ((asked_about<std::tuple_element_t<I, all>>::may_be_kept && ...) &&
                std::is_invocable_v<Asked const&, Comm const&, asked_as<std::tuple_element_t<I, all>>...>)
    return std::is_same_v<std::tuple_element_t<sizeof...(I), all>,
                          typename question<Asked, Comm, std::tuple_element_t<I, all>...>::answer&>;
  else return false;
}
/// The arguments of such a call, followed by the variable for the answer.
template <class Asked, class Comm, class... Arguments>
concept starts = sizeof...(Arguments) > 0 &&
                 can_be_asked<Asked, Comm>(static_cast<std::tuple<Arguments&&...>*>(nullptr),
                                           std::make_index_sequence<sizeof...(Arguments) - 1>{});

/// Ranges by reference, everything else as a copy.
template <class T>
decltype(auto) to_be_kept(T& argument) {
  if constexpr (std::ranges::range<T>) return (argument);
  else return std::decay_t<T>(argument);
}
template <made How, class Asked, class Comm, class... Arguments>
made_t<How> ask_for(Asked const& asked, Comm const& comm, Arguments&... arguments) {
  auto const all = std::tie(arguments...);
  constexpr std::size_t last = sizeof...(Arguments) - 1;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return make_question<How>(asked, comm, [&](auto&... inputs) {
      return ask<How>(comm, asked(comm, to_be_kept(inputs)...), std::get<last>(all));
    }, std::get<I>(all)...);
  }(std::make_index_sequence<last>{});
}

/// The type of a mistaken call, with the message.
template <class Asked, class... Arguments>
struct no_answer : mistake {
  static constexpr bool apart = ((std::ranges::range<Arguments> && !contiguous<Arguments>) || ...);
  static_assert(!apart,
                "colligo: elements have to be contiguous, one after the other in memory (std::vector, std::array, "
                "std::span ...): copy those of a list, a deque, a map or a view into a std::vector");
  template <class Its>
  static constexpr bool lists = std::is_same_v<Asked, Its> && !apart;
  static_assert(!lists<asked_sum>, "colligo: sum takes (comm, range of float, double, half types or integers)");
  static_assert(!lists<asked_dot>,
                "colligo: dot takes (comm, range of float, double, half types or integers, range of the same)");
  static_assert(!lists<asked_norm2>,
                "colligo: norm2 takes (comm, range of float, double or half types); for integers write "
                "std::sqrt(colligo::dot(comm, range, range))");
  static_assert(!lists<asked_mean_and_variance>,
                "colligo: mean_and_variance takes (comm, range of float, double or half types); integers have to be "
                "converted");
  static_assert(!lists<asked_minimum_of>,
                "colligo: minimum_of takes (comm, range of what travels as bytes and has a default constructor)");
  static_assert(!lists<asked_maximum_of>,
                "colligo: maximum_of takes (comm, range of what travels as bytes and has a default constructor)");
  static_assert(!lists<asked_extremes>,
                "colligo: extremes takes (comm, range of what travels as bytes and has a default constructor)");
  static_assert(!lists<asked_sums>, "colligo: sums takes (comm, range or colligo::factors(range, range), ...)");
  static_assert(!lists<asked_top>,
                "colligo: top takes (comm, range of what travels as bytes, k[, compare[, projection]])");
  static_assert(!lists<asked_accumulate>,
                "colligo: accumulate takes (comm, range of what travels as bytes and has a default constructor, "
                "functor on its elements)");
};
/// The same of a request, whose arguments may be those of the blocking call.
template <class Asked, class Comm, class... Arguments>
struct no_request : mistake {
  static_assert(sizeof...(Arguments) == 0,
                "colligo: a request takes the arguments of the blocking call, ranges that are no temporaries, functors "
                "that can be copied, and last a variable of the type that the blocking call returns");
};

}  // namespace colligo

/// iNAME and NAME_init of a call whose blocking form is above, and the overload for arguments that no form accepts.
#define COLLIGO_QUESTION(name)                                                                                       \
  template <communicator Comm, class... Arguments>                                                                   \
    requires detail::asks_of_packed<detail::asked_##name, Comm, Arguments...>                                        \
  auto name(Comm const& comm, Arguments&&... arguments) {                                                            \
    detail::asked_##name const asked;                                                                                \
    return detail::make_question<detail::made::at_once>(                                                             \
        asked, comm, [&](auto&... inputs) { return answered(comm, asked(comm, inputs...)); }, arguments...);         \
  }                                                                                                                  \
  template <communicator Comm, class... Arguments>                                                                   \
    requires detail::starts<detail::asked_##name, Comm, Arguments...>                                                \
  request i##name(Comm const& comm, Arguments&&... arguments) {                                                      \
    return detail::ask_for<detail::made::started>(detail::asked_##name(), comm, arguments...);                       \
  }                                                                                                                  \
  template <communicator Comm, class... Arguments>                                                                   \
    requires detail::starts<detail::asked_##name, Comm, Arguments...>                                                \
  persistent name##_init(Comm const& comm, Arguments&&... arguments) {                                               \
    return detail::ask_for<detail::made::ready>(detail::asked_##name(), comm, arguments...);                         \
  }                                                                                                                  \
  template <communicator Comm, class... Arguments>                                                                   \
    requires(!requires(Comm const& comm, Arguments&&... arguments) {                                                 \
      colligo::name(comm, static_cast<Arguments&&>(arguments)...);                                                   \
    })                                                                                                               \
  detail::no_answer<detail::asked_##name, Comm, Arguments...> name(Comm const&, Arguments&&...) { return {}; }       \
  template <communicator Comm, class... Arguments>                                                                   \
    requires(!detail::starts<detail::asked_##name, Comm, Arguments...>)                                              \
  detail::no_request<detail::asked_##name, Comm, Arguments...> i##name(Comm const&, Arguments&&...) { return {}; }   \
  template <communicator Comm, class... Arguments>                                                                   \
    requires(!detail::starts<detail::asked_##name, Comm, Arguments...>)                                              \
  detail::no_request<detail::asked_##name, Comm, Arguments...> name##_init(Comm const&, Arguments&&...) {            \
    return {};                                                                                                       \
  }                                                                                                                  \
  COLLIGO_COMMUNICATOR_FIRST(name)                                                                                   \
  COLLIGO_COMMUNICATOR_FIRST(i##name)                                                                                \
  COLLIGO_COMMUNICATOR_FIRST(name##_init)
