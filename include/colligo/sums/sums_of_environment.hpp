// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_SUM=exact: sums of float and double by std::plus travel as exact_sum and are rounded once, at the end, in
/// calls whose algorithm the library chooses. Then their bits do not depend on algorithms, transports or the placement
/// of ranks.
#pragma once

#include "../engine/communicator_state.hpp"
#include "summing.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The functions of exact_summing.
struct sums_of_environment {
  static call as_exact(communicator_state& state, call const& call);
  static bool holds_for(communicator_state& state, call const& call, choice const& by);
  static void run(communicator_state& state, call const& asked, choice const& by,
                  void (*run)(communicator_state& state, call const& call, choice const& by));
  static call own(communicator_state& state, call const& rounded, owner<owned_by_request>& kept);
};

inline constexpr exact_summing sums_exactly{&sums_of_environment::as_exact, &sums_of_environment::holds_for,
                                            &sums_of_environment::run, &sums_of_environment::own};
inline bool const sums_may_be_exact = (sum_exactly = &sums_exactly, true);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <algorithm>
#include <utility>

#include "sums_of_calls.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The data that a request keeps.
template <class T>
struct owned_sums final : owned_by_request {
  owned_sums(call& call, owner<owned_by_request> before)
      : kept(std::move(before)), numbers_in(call.in), numbers_out(call.out), init(call.init),
        sums(call.in.covers.size(), call.out.covers.size()) {
    sums.stand_for(call);
  }
  void begin() override {
    if (kept) kept->begin();
    sums.take(numbers_in.data, numbers_in.covers.size());
    std::ranges::fill(sums.out, exact_sum<T>());
  }
  void finish() override {
    sums.give(numbers_out.data, numbers_out.covers.size(), init);
    if (kept) kept->finish();
  }

  owner<owned_by_request> kept;
  values<std::byte const> numbers_in;
  values<std::byte> numbers_out;
  initial_value* init;
  sums_of_call<T> sums;
};

COLLIGO_BODY call sums_of_environment::as_exact(communicator_state& state, call const& call) {
  return on_exact_sums(state, call);
}
COLLIGO_BODY bool sums_of_environment::holds_for(communicator_state& state, call const& call, choice const& by) {
  switch (by.who) {
    case decided_by::pinned: case decided_by::named: case decided_by::required: case decided_by::tried:
    case decided_by::measured: return false;
    default: return as_exact(state, call).of != call.of;
  }
}
COLLIGO_BODY void sums_of_environment::run(communicator_state& state, call const& asked, choice const& by,
                                           void (*run)(communicator_state& state, call const& call, choice const& by)) {
  auto const run_part = [&](call const& part) { run(state, part, by); };
  if (adds_up<double>(*asked.of)) run_on_exact_sums<double>(state, asked, run_part);
  else run_on_exact_sums<float>(state, asked, run_part);
}
COLLIGO_BODY call sums_of_environment::own(communicator_state& state, call const& rounded,
                                           owner<owned_by_request>& kept) {
  call made = as_exact(state, rounded);
  made.before = 0;
  if (adds_up<double>(*rounded.of)) kept = make_owner<owned_sums<double>>(made, std::move(kept));
  else kept = make_owner<owned_sums<float>>(made, std::move(kept));
  return made;
}

}  // namespace colligo
#endif
