// SPDX-License-Identifier: BSL-1.0
/// @file
/// record(algorithm, collective, p, n) runs the algorithm for every rank and records its steps as a schedule. Needs no
/// MPI; works at compile time.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../core/element.hpp"
#include "../core/policy.hpp"
#include "schedule.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The step that records one rank's operands.
class recorder {
 public:
  template <class Lazy = void>
  COLLIGO_CONSTEXPR recorder(int rank, int size) : rank_(rank), size_(size) {}

  COLLIGO_CONSTEXPR int rank() const { return rank_; }
  COLLIGO_CONSTEXPR int size() const { return size_; }

  template <class... Operands>
  COLLIGO_CONSTEXPR void operator()(Operands... operands) { (*this)(std::array{operand(operands)...}); }
  template <operand_list List>
  COLLIGO_CONSTEXPR void operator()(List const& list) {
    schedule::step kept;
    for (std::size_t i = 0; i < list.size(); ++i) {
      operand const o = list[i];
      if (o.moves()) recorded_.moves.push_back({recorded_.steps.size(), o});
      else if (!o.vanishes()) kept.push_back(o);
    }
    if (!kept.empty()) recorded_.steps.push_back(std::move(kept));
  }

  template <class Lazy = void>
  COLLIGO_CONSTEXPR detail::rank_steps take() && { return std::move(recorded_); }

 private:
  int rank_, size_;
  detail::rank_steps recorded_;
};

static_assert(steps<recorder>);

namespace detail {

template <class Lazy = void>
[[noreturn]] void not_recorded(collective what, std::string_view algorithm, std::string const& why) {
  throw algorithm_error(std::string(name_of(what)) + ": " + std::string(algorithm) + why);
}
COLLIGO_CONSTEXPR void require_form(bool offered, bool is_made_of_steps, collective what, std::string_view algorithm) {
  if (!offered) not_recorded(what, algorithm, " is no algorithm of this collective");
  if (!is_made_of_steps) not_recorded(what, algorithm, " has no schedule, it is not made of steps");
}
COLLIGO_CONSTEXPR void require_ranks(int made_for, int p, collective what, std::string_view algorithm) {
  if (made_for != p)
    throw argument_error(std::string(name_of(what)) + ": " + std::string(algorithm) + " is made for " +
                         std::to_string(made_for) + " ranks, not for " + std::to_string(p));
}

/// A number of elements, or a count.
template <std::integral N>
COLLIGO_CONSTEXPR std::size_t elements_of(N n) {
  if (n != 0 && !(n > 0)) throw argument_error("colligo: record: a count is negative: " + std::to_string(n));
  return static_cast<std::size_t>(n);
}
COLLIGO_CONSTEXPR void require_ranks_and_root(collective what, int p, int root) {
  auto const refuse = [what](std::string const& why) {
    throw argument_error("colligo: record: " + std::string(name_of(what)) + ": " + why);
  };
  if (p < 1) refuse(std::to_string(p) + " ranks, at least 1 is needed");
  if (has_root(what) && (root < 0 || root >= p))
    refuse("root " + std::to_string(root) + " is not a rank, ranks are 0 to " + std::to_string(p - 1));
}

/// The schedule of p ranks; rank r's steps are steps_of(r, vector_of(r)).
template <class VectorOf, class StepsOf>
COLLIGO_CONSTEXPR schedule record_vectors(collective what, int p, VectorOf vector_of, StepsOf steps_of) {
  std::vector<rank_steps> ranks;
  std::size_t n = 2;   // of a barrier
  for (int r = 0; r < p; ++r) {
    blocks const vector = vector_of(r);
    if (has_two_vectors(what)) n = std::max(n, vectors_of(what, vector, r).out.whole.last);
    else if (what != collective::barrier) n = vector.whole.size();
    ranks.push_back(steps_of(r, vector));
  }
  return schedule(what, n, std::move(ranks));
}

/// The schedule of all_to_all_v in which rank s has counts[s p + d] elements for rank d.
template <class StepsOf>
COLLIGO_CONSTEXPR schedule record_matrix(int p, std::vector<std::size_t> const& counts, StepsOf steps_of) {
  std::vector<std::size_t> offsets;
  return record_vectors(collective::all_to_all_v, p, [&](int r) {
    auto const count = [&](int s, int d) { return counts[static_cast<std::size_t>(s * p + d)]; };
    offsets.assign(1, 0);
    for (int to = 0; to < p; ++to) offsets.push_back(offsets.back() + count(r, to));
    for (int from = 0; from < p; ++from) offsets.push_back(offsets.back() + count(from, r));
    return blocks{{}, p, offsets.data()};
  }, steps_of);
}

/// The schedule if all ranks have blocks of the same sizes; in all_to_all_v block i is for rank i.
template <class StepsOf>
COLLIGO_CONSTEXPR schedule record_blocks(collective what, blocks const& vector, StepsOf steps_of) {
  if (what != collective::all_to_all_v)
    return record_vectors(what, vector.parts, [&](int) { return vector; }, steps_of);
  std::vector<std::size_t> counts;   // of all ranks
  for (int r = 0; r < vector.parts; ++r)
    for (int to = 0; to < vector.parts; ++to) counts.push_back(vector[to].size());
  return record_matrix(vector.parts, counts, steps_of);
}

/// The same for blocks of these sizes: one for each rank, or p p of all_to_all_v.
template <std::ranges::sized_range Counts, class StepsOf>
COLLIGO_CONSTEXPR schedule record_counts(collective what, int p, Counts const& counts, StepsOf steps_of) {
  std::vector<std::size_t> all;
  for (auto const count : counts) all.push_back(elements_of(count));
  auto const ranks = static_cast<std::size_t>(p);
  if (what == collective::all_to_all_v && p > 1 && all.size() == ranks * ranks) return record_matrix(p, all, steps_of);
  if (all.size() != ranks)
    throw argument_error("colligo: record: " + std::to_string(all.size()) + " counts for " + std::to_string(p) +
                         " ranks");
  all.insert(all.begin(), 0);
  for (std::size_t i = 1; i < all.size(); ++i) all[i] += all[i - 1];
  return record_blocks(what, blocks{{0, all.back()}, p, all.data()}, steps_of);
}

/// The same for a number of elements, in blocks as even as possible, or for counts.
template <class Elements, class StepsOf>
COLLIGO_CONSTEXPR schedule record_elements(collective what, int p, Elements const& n, StepsOf steps_of) {
  if constexpr (std::integral<Elements>)
    return record_blocks(what, blocks{{0, elements_of(n)}, p}, steps_of);
  else return record_counts(what, p, n, steps_of);
}
/// Its argument.
template <class T>
concept elements_or_counts = std::integral<T> || std::ranges::sized_range<T>;

/// The steps of a tag's algorithm, for a recorder.
template <class T, class Tag>
COLLIGO_CONSTEXPR auto steps_by(Tag const& tag, collective what, int p, int root) {
  require_ranks_and_root(what, p, root);
  return [&tag, what, p, root](int rank, blocks const& vector) {
    return for_collective(what, [&]<collective C>() {
      rank_steps recorded;
      require_form(offers<Tag, C, T, any_functor>, true, C, Tag::name);
      if constexpr (offers<Tag, C, T, any_functor>) {
        require_form(true, is_made_of_steps<policy_t<C, Tag, T, any_functor>>(), C, Tag::name);
        if constexpr (is_made_of_steps<policy_t<C, Tag, T, any_functor>>()) {
          auto const policy = make_policy<C, Tag, T, any_functor>(tag);
          require_ranks(made_for(policy, p), p, C, Tag::name);
          recorder step(rank, p);
          apply<C>(policy, step, vector, root);
          recorded = std::move(step).take();
          recorded.algorithm = Tag::name;
          if constexpr (packs<decltype(policy)>) recorded.scratch = policy.scratch(vector, sizeof(T));
          recorded.arithmetic = work_of(policy, vector, sizeof(T)).steps;
        }
      }
      return recorded;
    });
  };
}

}  // namespace detail

namespace by_name {

/// The schedule of all p ranks. `n` is the number of elements of the vector: for collectives on blocks all blocks
/// together, as even as possible. Or it is a range of counts: n[i] elements for rank i; all_to_all_v takes p p counts
/// as well, rank s has n[s p + d] elements for rank d. Knobs in bytes use the size of T, by default one byte an
/// element. Throws argument_error unless p >= 1, 0 <= root < p and n >= 0. Cost: proportional to the schedule.
template <class T = std::byte, algorithm Tag, detail::elements_or_counts N>
COLLIGO_CONSTEXPR schedule record(Tag const& tag, collective what, int p, N const& n, int root = 0) {
  return detail::record_elements(what, p, n, detail::steps_by<T>(tag, what, p, root));
}

}  // namespace by_name

}  // namespace colligo
