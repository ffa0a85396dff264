// SPDX-License-Identifier: BSL-1.0
/// @file
/// Model: record(algorithm, collective, p, n) runs the text for every rank and keeps what it says, as a schedule. Needs
/// no MPI; works at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "../core/element.hpp"
#include "../core/policy.hpp"
#include "schedule.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The model itself: keeps what one rank says.
class recorder {
 public:
  constexpr recorder(int rank, int size) : rank_(rank), size_(size) {}

  constexpr int rank() const { return rank_; }
  constexpr int size() const { return size_; }

  template <class... Operands>
  constexpr void operator()(Operands... operands) { (*this)(std::array{operand(operands)...}); }
  template <operand_list List>
  constexpr void operator()(List const& list) {
    schedule::step said;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (operand const o = list[i]; !o.vanishes()) said.push_back(o);
    if (!said.empty()) steps_.push_back(std::move(said));
  }

  constexpr std::vector<schedule::step> take() && { return std::move(steps_); }

 private:
  int rank_, size_;
  std::vector<schedule::step> steps_;
};

static_assert(steps<recorder>);

namespace detail {

/// The schedule of one algorithm of the collective C.
template <collective C, class T, class Tag>
constexpr schedule record_blocks(Tag const& tag, blocks const& vector, int root) {
  std::vector<std::vector<schedule::step>> ranks;
  for (int r = 0; r < vector.parts; ++r) {
    recorder step(r, vector.parts);
    if constexpr (!offers<Tag, C, T, any_functor>)
      throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Tag::name) +
                            " is no algorithm of this collective");
    else if constexpr (!has_text<policy_t<C, Tag, T, any_functor>>())
      throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Tag::name) +
                            " has no schedule, it is not made of steps");
    else {
      auto const policy = make_policy<C, Tag, T, any_functor>(tag);
      if (int const p = made_for(policy, vector.parts); p != vector.parts)
        throw argument_error(std::string(name_of(C)) + ": " + std::string(Tag::name) + " is made for " +
                             std::to_string(p) + " ranks, not for " + std::to_string(vector.parts));
      apply<C>(policy, step, vector, root);
    }
    ranks.push_back(std::move(step).take());
  }
  return schedule(C, C == collective::barrier ? 2 : vector.whole.size(), std::move(ranks));
}

}  // namespace detail

/// The schedule of all p ranks for a vector of n elements: for collectives on blocks all blocks together, which are as
/// even as can be. Knobs in bytes count with T, by default one byte an element. Precondition: p >= 1, 0 <= root < p.
/// Cost: as the schedule is long.
template <class T = std::byte, algorithm Tag>
constexpr schedule record(Tag const& tag, collective what, int p, std::size_t n, int root = 0) {
  return detail::for_collective(what, [&]<collective C>() {
    return detail::record_blocks<C, T>(tag, blocks{{0, n}, p}, root);
  });
}

/// The same for blocks of these sizes: counts[i] elements for rank i.
template <class T = std::byte, algorithm Tag, std::ranges::sized_range Counts>
constexpr schedule record(Tag const& tag, collective what, int p, Counts const& counts, int root = 0) {
  if (std::ranges::size(counts) != static_cast<std::size_t>(p))
    throw argument_error("record: " + std::to_string(std::ranges::size(counts)) + " counts for " + std::to_string(p) +
                         " ranks");
  std::vector<std::size_t> offsets{0};
  for (auto const count : counts) offsets.push_back(offsets.back() + static_cast<std::size_t>(count));
  return detail::for_collective(what, [&]<collective C>() {
    return detail::record_blocks<C, T>(tag, blocks{{0, offsets.back()}, p, offsets.data()}, root);
  });
}

}  // namespace colligo
