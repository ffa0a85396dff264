// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of predicting.hpp.
#pragma once

#include <array>
#include <optional>

#include "candidates_body.hpp"
#include "predicting.hpp"

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
