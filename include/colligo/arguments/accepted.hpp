// SPDX-License-Identifier: BSL-1.0
/// @file
/// The step from types to bytes: makes a call of arguments that call_arguments.hpp has accepted. No template on element
/// type and functor goes further.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "../engine/handles.hpp"
#include "../rules/decide.hpp"
#include "refusals.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The result type of a call.
template <made How>
using made_t = std::conditional_t<How == made::at_once, void,
                                  std::conditional_t<How == made::started, request, persistent>>;

/// A functor that a request keeps.
template <class Op>
struct owned_functor : owned_by_request {
  explicit owned_functor(Op f) : op(std::move(f)) {}
  Op op;
};

/// Checks at compile time that an algorithm fits the element type and the functor.
template <collective C, class Algorithm, class T, class Op, class Comm>
constexpr void check_laws() {
  constexpr bool has_form = offers<Algorithm, C, T, Op>;   // the concept itself would be explained in six lines
  static_assert(has_form, "colligo: this algorithm has no form for this collective: those that have are in the table "
                "\"Algorithms and knobs\" of examples/guide/algorithms.md, and in what colligo::named(\"?\") throws");
  if constexpr (has_form) {
    static_assert(keeps_order<policy_t<C, Algorithm, T, Op>>() || may_reorder<Op, T>(),
                  "colligo: this algorithm reorders operands and the functor is not known to commute: wrap it, "
                  "colligo::as_commutative(op), "
                  "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order");
    static_assert(!std::is_same_v<Algorithm, vendor> || state_of<Comm>::template has_vendor<T>,
                  "colligo: vendor is the MPI library's own collective: it needs a communicator over MPI and elements "
                  "that travel as bytes");
    static_assert(!std::is_same_v<Algorithm, vendor> || !takes_index<Op, T>,
                  "colligo: vendor is the MPI library's own collective, which does not know the index of the elements "
                  "that it combines");
  }
}

/// A call whose arguments have been accepted, except functor and algorithm.
template <collective C, class Comm, class T>
class accepted {
 public:
  endpoint& state;
  detail::call call;

  /// Makes the call, and returns when it is complete on this rank; or makes a request that keeps the functor.
  template <made How = made::at_once, class Op, class Algorithm>
  made_t<How> make(Op&& op, Algorithm const& algorithm) {
    static_assert(!(is_decided_at_run_time<Algorithm> || std::is_base_of_v<vendor, Algorithm>) ||
                      requires { sizeof(all_policies<Algorithm>); },
                  "colligo: with COLLIGO_PINNED a call names its algorithm by a tag: include <colligo/automatic.hpp> "
                  "for others, and for vendor");
    using functor = std::remove_reference_t<Op>;
    if constexpr (How != made::at_once) return make_request<How>(std::forward<Op>(op), algorithm);
    else if constexpr (std::is_function_v<functor>) make<How>(&op, algorithm);
    else {
      set_functor<Algorithm>(op);
      if constexpr (std::is_same_v<Algorithm, automatic>) run_by_rules(state, call, &policy_table_of<C>);
      else if constexpr (requires { algorithm.run(state, call, &policy_table_of<C>); }) {
        Algorithm::template check<C, T, std::remove_cv_t<functor>, Comm>();
        algorithm.run(state, call, &policy_table_of<C>);
      } else run_call(state, call, decide<functor>(algorithm));
    }
  }

  /// An object that a request will own. If there is no memory, tells the other ranks.
  template <class Owned, class... Arguments>
  owner<Owned> allocate(Arguments&&... arguments) {
    try {
      return make_owner<Owned>(std::forward<Arguments>(arguments)...);
    } catch (...) {
      refuse_request({state, C, call.checked()});
      throw;
    }
  }
  /// Makes a request that owns such an object, which has the functor.
  template <made How, class Op, class Owned, class Algorithm>
  made_t<How> make_owning(owner<Owned> owned, Algorithm const& algorithm) {
    set_functor<Algorithm>(owned->op);
    return prepare<How, Op>(algorithm, std::move(owned));
  }

 private:
  // Makes a request that keeps the functor.
  template <made How, class Op, class Algorithm>
  made_t<How> make_request(Op&& op, Algorithm const& algorithm) {
    using kept = std::decay_t<Op>;
    static_assert(std::is_constructible_v<kept, Op>, "colligo: a request keeps the functor, which can not be copied: "
                  "write std::move(op), or std::ref(op), and keep it until wait()");
    if constexpr (!std::is_constructible_v<kept, Op>) return made_t<How>();
    else if constexpr (std::is_empty_v<kept> && std::is_trivially_copyable_v<kept>) {
      static kept without_state(std::forward<Op>(op));   // for all requests: equal, because it is empty
      set_functor<Algorithm>(without_state);
      return prepare<How, kept>(algorithm, {});
    } else {
      return make_owning<How, kept>(allocate<owned_functor<kept>>(std::forward<Op>(op)), algorithm);
    }
  }

  template <class Algorithm, class Op>
  void set_functor(Op& op) {
    static_assert(!travels_as_bytes<T> || alignof(T) <= cache_line,
                  "colligo: element types may have at most the alignment of a cache line");
    call.of = &element_of<T, Op>;
    call.wire = state_of<Comm>::template wire<T, Op, may_be_vendor<Algorithm>>();
    call.op = const_cast<void*>(static_cast<void const*>(std::addressof(op)));
  }

  template <made How, class Op, class Algorithm>
  made_t<How> prepare(Algorithm const& algorithm, owner<owned_by_request> owned) const {
    if constexpr (std::is_same_v<Algorithm, automatic>)
      return made_t<How>(prepare_by_rules(state, call, &policy_table_of<C>, std::move(owned), How == made::ready));
    else return made_t<How>(prepare_call(state, call, decide<Op>(algorithm), std::move(owned), How == made::ready));
  }

  template <class Op, class Algorithm>
  decltype(auto) decide(Algorithm const& algorithm) const {
    using op = std::remove_cv_t<Op>;
    if constexpr (decides_itself<Algorithm>) Algorithm::template check<C, T, op, Comm>();
    else if constexpr (!is_decided_at_run_time<Algorithm>) check_laws<C, Algorithm, T, op, Comm>();
    if constexpr (is_decided_at_run_time<Algorithm> || offers<Algorithm, C, T, op>)
      return detail::decide<C, T, op>(state, call, algorithm);
    else return choice();   // the message above is the only error
  }
};

}  // namespace colligo
