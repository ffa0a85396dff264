// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive: for calls that repeat. The first calls of a size class (powers of two, of bytes) try the candidates in
/// turn and are timed. When each has been tried often enough the ranks compare their times once, and keep the best.
///
///   for (...) colligo::all_reduce(world, in, out, std::plus<>{}, colligo::adaptive{});
///
/// ../adaptive.hpp adds COLLIGO_ADAPTIVE, which does the same for `automatic`.
#pragma once

#include <string_view>

#include "../arguments/call_arguments.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Measures and decides. A template, so only units that use it compile it.
template <class Lazy = void>
struct adapting {
  static void run(endpoint& at, call const& asked, policies_of_collective policies);
  /// The same for calls without an algorithm, unless the environment names one.
  static void run_for_automatic(endpoint& at, call const& asked, policies_of_collective policies);
  /// The decision for such calls; until there is one, the choice of `automatic`.
  static choice decide(endpoint& at, call const& call, policies_of_collective policies);

 private:
  struct size_class;
  static size_class& class_of(communicator_state& state, call const& call, policies_of_collective policies);
  static owner<size_class> new_class(communicator_state& state, call const& asked, policy_table const& policies);
  static bool agree(communicator_state& state, size_class& size);
};

}  // namespace detail

/// The last argument of a collective. The number of the call on its communicator, which is the same on all ranks,
/// decides which candidate a call tries, never a clock: some calls in a row try one candidate, the next ones another.
/// The ranks compare the lower quartiles of rows by an all_reduce; the largest of any rank counts, and the choice of
/// `automatic` is replaced only by a candidate that is 3 % faster. There are at most seven candidates: the choice of
/// `automatic`, the MPI library's own, and the fastest by prediction that give all ranks the same bits, one of those
/// with equal predictions; with COLLIGO_BITS=stable only that class.
/// Requests use the decision of blocking calls; checked mode tries nothing. Cost: about 600 calls of a class up to 64
/// KiB, 300 of a longer one, some by slow algorithms, and a dozen small all_reduces; afterwards a look-up, which
/// allocates nothing.
struct adaptive {
  static constexpr std::string_view name = "adaptive";
  static constexpr bool decides_itself = true;

  template <collective, class, class, class>
  static constexpr void check() {}
  template <collective, class, class>
  detail::choice decide(detail::endpoint& state, detail::call const& call,
                        detail::policies_of_collective policies) const {
    return detail::adapting<>::decide(state, call, policies);
  }
  template <class Lazy = void>
  void run(detail::endpoint& state, detail::call const& asked, detail::policies_of_collective policies) const {
    detail::adapting<Lazy>::run(state, asked, policies);
  }
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/small_vector.hpp"
#include "candidates_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Only the number of a call decides what it does, so a rank whose call was refused agrees with the others in the next
// one. Numbers are hashed, because calls of several classes may alternate.
inline std::uint32_t mixed(std::uint32_t number, std::uint32_t salt) {
  std::uint64_t const x = (std::uint64_t{number} + 1) * 0x9e3779b97f4a7c15u + std::uint64_t{salt} * 0xbf58476d1ce4e5b9u;
  return static_cast<std::uint32_t>((x ^ x >> 29) * 0x94d049bb133111ebu >> 33);
}

/// Calls that are measured together.
template <class Lazy>
struct adapting<Lazy>::size_class {
  static constexpr std::size_t most = 7;              // candidates
  static constexpr std::uint32_t calls_to_meet = 16;   // the ranks compare times in one of so many calls
  static constexpr std::size_t enough = 5;             // rows of each candidate, beside the first

  /// Consecutive calls with one candidate. A call's time depends on the one before, so the first does not count, unless
  /// it is alone because calls of many classes alternate.
  struct row {
    std::uint32_t number = ~0u;
    std::size_t candidate = 0;
    int calls = 0;
    double first = 0, others = 0;   ///< seconds

    void add(double seconds) { (calls++ == 0 ? first : others) += seconds; }
    double seconds() const { return calls > 1 ? others / (calls - 1) : first; }   ///< a call
  };

  // The calls that belong to it.
  collective what;
  element const* of;
  int size;   ///< bit width of the bytes of the vector
  // What was tried.
  std::uint32_t calls_in_row;
  std::vector<choice> candidates{};   ///< once it is decided, the first one is taken
  std::vector<std::vector<double>> tried{};   ///< of each candidate: seconds of a call, one number for each row
  row now{};
  bool decided = false;
  size_class* next = nullptr;

  static constexpr std::size_t bytes() { return 1; }   // they are alike
  bool is_for(call const& call) const {
    return what == call.what && size == size_of(call) && of->is_like(*call.of);
  }
  static int size_of(call const& call) {
    return static_cast<int>(std::bit_width(call.of->bytes(call.vector.whole.size())));
  }
  /// A typical vector of the class, so that candidates do not depend on which call comes first.
  static blocks typical_vector(call const& call) {
    int const size = size_of(call);
    std::size_t const n = size == 0 ? 0 : std::max<std::size_t>(1, (std::size_t{1} << (size - 1)) / call.of->size);
    return {{0, n}, call.vector.parts};
  }
  /// The lower quartile, because disturbances only add; beyond_all while there are too few rows. The first row, with
  /// memory not used before, does not count.
  static double seconds(std::vector<double> const& all) {
    if (all.size() <= enough) return detail::beyond_all;
    std::vector<double> rows(all.begin() + 1, all.end());
    auto const quarter = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 4);
    std::nth_element(rows.begin(), quarter, rows.end());
    return *quarter;
  }
  void decide() {
    candidates[0].who = decided_by::measured;
    decided = true;
    tried.clear();
  }
  /// Which candidate the call with this number tries.
  std::size_t candidate_for(std::uint32_t number) {
    if (number / calls_in_row == now.number) return now.candidate;
    auto& before = tried[now.candidate];
    if (now.calls > 0 && before.size() < before.capacity()) before.push_back(now.seconds());
    now = {number / calls_in_row, mixed(number / calls_in_row, 2) % candidates.size()};
    return now.candidate;
  }
};

template <class Lazy>
auto adapting<Lazy>::class_of(communicator_state& state, call const& call, policies_of_collective policies)
    -> size_class& {
  constexpr auto all = static_cast<std::size_t>(-1);   // none is dropped: it may be trying candidates
  auto& kept = kept_decisions<size_class>::of(kept_choices::of(state).adapted, all);
  if (auto* const found = kept.find([&](size_class const& one) { return one.is_for(call); })) [[likely]] return *found;
  return announcing_refusal(state, call, [&]() -> size_class& { return kept.add(new_class(state, call, policies())); });
}

template <class Lazy>
auto adapting<Lazy>::new_class(communicator_state& state, call const& asked, policy_table const& policies)
    -> owner<size_class> {
  int const size = size_class::size_of(asked);
  auto made = make_owner<size_class>(size_class{asked.what, asked.of, size, size <= 17 ? 8u : size <= 22 ? 4u : 3u});
  call rule = asked;
  rule.vector = size_class::typical_vector(asked);
  situation const s = situation_of(state, rule);
  auto const add = [&](choice const& one) {
    bool const is_known = is_any(made->candidates, [&](choice const& other) { return other.index() == one.index(); });
    if (!is_known && made->candidates.size() < size_class::most)
      made->candidates.push_back(bound(one, policies, decided_by::tried));
  };
  add(policies.choose(s));
  bool const is_stable = s.stable && !s.exact && combines(asked.what);
  if (is_stable && asked.what == collective::all_reduce) add(recursive_doubling{}), add(halving_doubling{});
  if (!is_stable && state.size() > 1) {
    constexpr std::size_t most_predicted = 4;
    double latest = -1;   // price: candidates with equal prices usually have the same steps, so one is enough
    for (candidate const& one : candidates_for<>(state, rule, policies, s.network)) {
      erased_policy const& what = *one.by.policy;
      bool const promises = asked.what != collective::all_reduce || s.exact || what.same_bits;
      if (what.is_vendor && asked.what == collective::all_to_all_v) continue;   // throws where int can not count
      if (!promises && !what.is_vendor) continue;   // automatic takes none whose results may differ between ranks
      bool const is_direct = s.shared && one.by.as<direct>() != nullptr;
      bool const is_other = one.seconds < 1e9 && one.seconds > latest * (1 + 1e-9);
      if (what.is_vendor || is_direct || (is_other && made->candidates.size() <= most_predicted)) add(one.by);
      if (is_other) latest = one.seconds;
    }
  }
  for (auto& tried = made->tried; tried.size() < made->candidates.size();) {
    tried.emplace_back();
    tried.back().reserve(4 * size_class::enough);
  }
  if (made->candidates.size() == 1) made->decide();
  return made;
}

// True if all ranks have tried all candidates often enough: then they have chosen the same one.
template <class Lazy>
bool adapting<Lazy>::agree(communicator_state& state, size_class& size) {
  std::array<double, size_class::most> seconds{};
  std::size_t const count = size.candidates.size();
  for (std::size_t i = 0; i < count; ++i) seconds[i] = size.seconds(size.tried[i]);
  combine_among_ranks(state, maximum{}, view(seconds.data(), count));
  auto const end = seconds.begin() + static_cast<std::ptrdiff_t>(count);
  if (*std::max_element(seconds.begin(), end) == detail::beyond_all) return false;
  auto const best = static_cast<std::size_t>(std::min_element(seconds.begin(), end) - seconds.begin());
  constexpr double worthwhile = 0.97;   // to replace the choice of `automatic`: two measurements may differ that much
  if (seconds[best] < worthwhile * seconds[0]) std::swap(size.candidates[0], size.candidates[best]);
  return true;
}

template <class Lazy>
void adapting<Lazy>::run(endpoint& at, call const& asked, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  size_class& all = class_of(state, asked, policies);
  if (all.decided) [[likely]] return run_call(at, asked, all.candidates[0]);
  // A rank that refuses its call would match this comparison instead of that of checked mode.
  if (asked.checked()) return run_call(at, asked, by_rules(at, asked, policies));
  std::uint32_t const number = state.calls;
  if (mixed(number, 1) % size_class::calls_to_meet == 0 && agree(state, all)) {
    all.decide();
    return run_call(at, asked, all.candidates[0]);
  }
  std::size_t const which = all.candidate_for(number);
  std::int64_t const began = now_in_ns();
  run_call(at, asked, all.candidates[which]);
  all.now.add(seconds_since(began));
}

template <class Lazy>
void adapting<Lazy>::run_for_automatic(endpoint& at, call const& asked, policies_of_collective policies) {
  call left = asked;
  left.before = static_cast<std::uint8_t>(asked.before & ~adaptation);
  choice const& by = by_rules(at, left, policies);
  if (by.who == decided_by::environment || by.who == decided_by::tree_file) run_call(at, left, by);
  else run(at, left, policies);
}

template <class Lazy>
choice adapting<Lazy>::decide(endpoint& at, call const& call, policies_of_collective policies) {
  size_class& all = class_of(state_at(at), call, policies);
  return all.decided ? all.candidates[0] : by_rules(at, call, policies);
}

}  // namespace colligo
#endif
