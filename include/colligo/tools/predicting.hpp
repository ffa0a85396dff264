// SPDX-License-Identifier: BSL-1.0
/// @file
/// predict: the time that each algorithm is expected to take for a call, on a given machine, or one measured on the
/// communicator.
///
///   auto const here = colligo::measured_machine<double>(world, std::plus<>{});       // alpha, beta, gamma
///   for (auto const& each : colligo::predict<double>(world, colligo::collective::all_reduce, n, std::plus<>{}, here))
///     std::cout << each.name << ' ' << each.seconds << '\n';
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../core/clock.hpp"
#include "../core/machine.hpp"
#include "../plan/recorder.hpp"
#include "../arguments/call_arguments.hpp"
#include "../rules/policies.hpp"
#include "../rules/recorded.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The predicted time of an algorithm.
struct prediction {
  std::string_view name;
  double seconds;
  bool by_formula;   ///< of its card; otherwise by its recorded schedule
};

namespace detail {

/// The implementation of predict(). A template, so only units that use it compile it.
template <class Lazy = void>
struct predicting {
  static std::vector<prediction> predict(endpoint& at, call const& call, policy_table const& policies,
                                         machine const& m);
  /// Seconds per message and per byte, between ranks that share a host or, `between`, do not. Collective.
  static machine network(endpoint& at, bool between);
  /// The largest of all ranks' values.
  static double largest_of_ranks(endpoint& at, double mine);

 private:
  struct kept;
};

/// Seconds for combining one byte, by the fastest of a few runs over a vector in cache.
template <class T, class Op>
double gamma_of(Op& op) {
  constexpr std::size_t n = sizeof(T) < 4096 ? 16384 / sizeof(T) : 4;
  auto const left = std::make_unique<T[]>(n), right = std::make_unique<T[]>(n), out = std::make_unique<T[]>(n);
  double best = 1;
  std::int64_t const begin = now_in_ns();
  do {
    std::int64_t const began = now_in_ns();
    combine(left.get(), right.get(), out.get(), n, op);
    best = std::min(best, seconds_since(began));
  } while (seconds_since(begin) < 2e-3);
  return best / static_cast<double>(n * sizeof(T));
}

}  // namespace detail

namespace by_name {

/// The machine that the communicator runs on: alpha and beta of messages to and fro between two ranks (on one host, or
/// on two where `between_hosts` and there are several), over the wire that calls take, gamma of this type and functor,
/// the largest of any rank. Measured in some 30 ms the first time, and kept with the communicator; gamma, 2 ms, is
/// measured each time. The same on all ranks. It combines elements made by T(). Collective over comm.
template <class T, communicator Comm, class Op>
machine measured_machine(Comm const& comm, Op op, bool between_hosts = false) {
  static_assert(std::is_default_constructible_v<T>,
                "colligo: the time of a functor is measured on elements made by T()");
  auto& at = state_of<Comm>::open(comm);
  machine m = detail::predicting<>::network(at, between_hosts);
  m.gamma = detail::predicting<>::largest_of_ranks(at, detail::gamma_of<T>(op));
  return m;
}

/// The predicted times of the algorithms for a call of this collective with n elements of type T (for collectives on
/// blocks: each), the fastest first: by the formula of the card if it has one, otherwise by the recorded schedule. Long
/// schedules, the MPI library's own and algorithms that the call would refuse are missing. Prices are those of
/// messages: over shared memory, where a vector is published once and read by all, they compare volumes, not waiting
/// times. Cost: microseconds, milliseconds where schedules are recorded. Collective.
template <class T, communicator Comm, class Op>
  requires(!std::is_same_v<Op, machine>)
std::vector<prediction> predict(Comm const& comm, collective what, std::size_t n, Op const& op,
                                machine const& m = typical) {
  return detail::predicting<>::predict(state_of<Comm>::open(comm), detail::call_in_question<T>(comm, what, n, op),
                                       detail::policies_of(what)(), m);
}
/// The same for collectives without a functor.
template <class T, communicator Comm>
std::vector<prediction> predict(Comm const& comm, collective what, std::size_t n, machine const& m = typical) {
  return colligo::predict<T>(comm, what, n, detail::no_functor{}, m);
}

}  // namespace by_name

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <array>
#include <optional>

#include "candidates_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Two ranks swap halves, the others do nothing.
struct pair_exchange {
  static constexpr std::string_view name = "pair_exchange";

  int first = 0, second = 1;

  template <class T, class Op>
  struct all_reduce {
    pair_exchange const& pair;
    static constexpr bool ordered = true;

    template <steps Step>
    void operator()(Step& step, range all) const {
      if (step.rank() == pair.first)
        step(send{pair.second, low_half(all)}, recv{pair.second, high_half(all)});
      else if (step.rank() == pair.second)
        step(send{pair.first, high_half(all)}, recv{pair.first, low_half(all)});
    }
  };
};

template <class Lazy>
double predicting<Lazy>::largest_of_ranks(endpoint& at, double mine) {
  combine_among_ranks(state_at(at), maximum{}, view(&mine, 1));
  return mine;
}

/// The measurements on a communicator, within hosts and between them.
template <class Lazy>
struct predicting<Lazy>::kept final : kept_with_state {
  std::array<std::optional<machine>, 2> networks;
};

// Seconds for one exchange of `bytes` bytes each way, the same on all ranks.
template <class Lazy>
double seconds_of_exchange(communicator_state& state, pair_exchange const& pair, std::size_t bytes, int batches,
                                  int calls) {
  std::vector<unsigned char> both(2 * bytes);
  auto* const data = reinterpret_cast<std::byte*>(both.data());
  blocks const vector{{0, both.size()}, state.size()};
  no_functor nothing;
  call const exchange{collective::all_reduce, &element_of<unsigned char, no_functor>, state.wire_of_bytes(), &nothing,
                      vector, {data, vector.whole}, {data, vector.whole}};
  double best = detail::beyond_all;
  for (int i = 0; i < batches; ++i) {
    std::int64_t const began = now_in_ns();
    for (int k = 0; k < calls; ++k)
      state.execute(exchange, {erased_policy_for<collective::all_reduce, pair_exchange>, pair});
    best = std::min(best, seconds_since(began) / calls);
  }
  bool const takes_part = state.rank() == pair.first || state.rank() == pair.second;
  return predicting<Lazy>::largest_of_ranks(state, takes_part ? best : 0);
}

template <class Lazy>
machine predicting<Lazy>::network(endpoint& at, bool between) {
  communicator_state& state = state_at(at);
  if (state.size() == 1) return typical;
  auto& known = kept_choices::of(state).measured;
  if (!known) known = make_owner<kept>();
  auto& measured = static_cast<kept&>(*known).networks[between];
  if (measured) return *measured;
  auto const on_host_of_0 = [&state](int r) {
    return state.hosts.empty() || state.hosts[static_cast<std::size_t>(r)] == 0;
  };
  pair_exchange pair;
  for (int r = state.size() - 1; r > 0; --r)
    if (on_host_of_0(r) != between) pair.second = r;   // the lowest; rank 1 where there is none
  constexpr std::size_t few = 8, many = 1 << 18;
  double const alpha = seconds_of_exchange<Lazy>(state, pair, few, 12, 100);
  double const longer = seconds_of_exchange<Lazy>(state, pair, many, 6, 4);
  measured = typical;
  measured->alpha = alpha;
  measured->beta = std::max(longer - alpha, alpha / many) / (many - few);
  return *measured;
}

template <class Lazy>
std::vector<prediction> predicting<Lazy>::predict(endpoint& at, call const& call, policy_table const& policies,
                                                  machine const& m) {
  std::vector<prediction> all;
  for (candidate const& one : candidates_for<>(state_at(at), call, policies, m))
    if (one.seconds < detail::beyond_all)
      all.push_back({one.by.policy->name, one.seconds, one.by_formula});
  return all;
}

}  // namespace colligo
#endif
