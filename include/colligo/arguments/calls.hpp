// SPDX-License-Identifier: BSL-1.0
/// @file
/// The parts of public headers. Each collective specialises calls<C>: make<How>(comm, the arguments of a form for
/// ranges, algorithm = {}) checks them and makes a blocking call, a request or a persistent request. The functions for
/// requests are here, once for all collectives.
#pragma once

#include "../communicators/communicators.hpp"
#include "call_arguments.hpp"
#include "mistakes.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <collective C>
struct calls;

/// Makes a request; for arguments that no form accepts, make() returns an `answer`, which prints what is wrong.
template <collective C, made How, class... Arguments>
struct requested {
  using type = answer<C, How, Arguments...>;
  static type make(Arguments&&...) { return {}; }
};
template <collective C, made How, class... Arguments>
  requires(!has_fractional_root<C, Arguments...>() && requires(Arguments&&... arguments) {
    calls<C>::template make<How>(static_cast<Arguments&&>(arguments)...);
  })
struct requested<C, How, Arguments...> {
  using type = made_t<How>;
  static type make(Arguments&&... arguments) {
    return calls<C>::template make<How>(static_cast<Arguments&&>(arguments)...);
  }
};

/// Two vectors of one length, the same on every rank.
template <collective C, class Comm, class T>
auto accept_elementwise(call_arguments<C, Comm> const& arguments, std::span<T const> from, std::span<T> to) {
  arguments.require_size(to.size(), from.size(), "the output");
  arguments.require_disjoint(from, to);
  return arguments.accept_whole(from, to);
}
/// The calls (comm, in, out, op) and (comm, in_place(range), op) of collectives that combine vectors of one length.
template <collective C>
struct elementwise_calls {
  template <made How, communicator Comm, input_of<How, Comm> In, output_of<How, In> Out, functor_of<How, Out> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, In&& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
    auto const [from, to] = detail::spans_of(in, out);
    return detail::accept_elementwise(call_arguments<C, Comm>(comm), from, to)
        .template make<How>(std::forward<Op>(op), algorithm);
  }
  template <made How, communicator Comm, in_place_over<Comm> Both, functor_in_place<Both> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Both both, Op&& op, Algorithm const& algorithm = {}) {
    return call_arguments<C, Comm>(comm)
        .accept_whole(span_for<Op>(both))
        .template make<How>(std::forward<Op>(op), algorithm);
  }
};

}  // namespace colligo

/// iNAME and NAME_init, with the arguments of the collective's forms for ranges and in place. The last three overloads
/// are for a set of overloaded functions as functor, whose type nothing can deduce; their message says so.
#define COLLIGO_REQUESTS(name)                                                                                       \
  COLLIGO_REQUEST(i##name, name, request, started)                                                                   \
  COLLIGO_REQUEST(name##_init, name, persistent, ready)
#define COLLIGO_REQUEST(name, what, result, how)                                                                     \
  template <communicator Comm, class... Arguments>                                                                   \
  typename detail::requested<collective::what, detail::made::how, Comm const&, Arguments...>::type                   \
  name(Comm const& comm, Arguments&&... arguments) {                                                                 \
    return detail::requested<collective::what, detail::made::how, Comm const&, Arguments...>::make(                  \
        comm, static_cast<Arguments&&>(arguments)...);                                                               \
  }                                                                                                                  \
  COLLIGO_NO_COMMUNICATOR(name, what, how)                                                                           \
  template <communicator Comm, class In, class Out, class... More>                                                   \
    requires(combines(collective::what))                                                                             \
  result name(Comm const&, In const&, Out const&, detail::overloaded_on<In>, More const&...);                        \
  template <communicator Comm, class In, class Out, class Between, class... More>                                    \
    requires(combines(collective::what))                                                                             \
  result name(Comm const&, In const&, Out const&, Between const&, detail::overloaded_on<In>,                         \
                            More const&...);                                                                         \
  template <communicator Comm, class Both, class... More>                                                            \
    requires(combines(collective::what))                                                                             \
  result name(Comm const&, Both, detail::overloaded_in<Both>, More const&...);

/// For calls without a communicator. By const&: where a program opens this namespace, its own template matches better.
#define COLLIGO_NO_COMMUNICATOR(name, what, how)                                                                     \
  template <class First, class... More>                                                                              \
    requires(!communicator<First> && !detail::has_forms_elsewhere<First>)                                            \
  detail::answer<collective::what, detail::made::how, First const&, More const&...> name(First const&,               \
                                                                                               More const&...) {     \
    return {};                                                                                                       \
  }

/// The last overloads of a blocking call, for arguments that no form accepts. The concept sees only the forms above it,
/// because a qualified name is looked up where it is written. The message is that of detail::answer.
#define COLLIGO_NO_OTHER_FORM(name)                                                                                  \
  namespace colligo::inline COLLIGO_MODE::by_name {                                                                  \
  template <communicator Comm, class... Arguments>                                                                   \
    requires(detail::has_fractional_root<collective::name, Arguments...>() ||                                        \
             (!requires(Comm const& comm, Arguments&&... arguments) {                                                \
               colligo::name(comm, static_cast<Arguments&&>(arguments)...);                                          \
             } && !(detail::has_forms_elsewhere<std::remove_cvref_t<Arguments>> || ...) &&                           \
             !detail::has_form_for_views<collective::name, detail::made::at_once, Comm, Arguments...>))              \
  detail::answer<collective::name, detail::made::at_once, Comm const&, Arguments...> name(Comm const&,               \
                                                                                          Arguments&&...) {          \
    return {};                                                                                                       \
  }                                                                                                                  \
  COLLIGO_NO_COMMUNICATOR(name, name, at_once)                                                                       \
  }

// The algorithms and the rules, for calls that do not name a tag, and for tags that a unit has not included.
#if !defined(COLLIGO_PINNED)
#include "../rules/policies.hpp"
#endif
