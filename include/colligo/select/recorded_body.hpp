// SPDX-License-Identifier: BSL-1.0
/// @file
/// The body of recorded.hpp.
#pragma once

#include <utility>
#include <vector>

#include "../plan/walk.hpp"
#include "recorded.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::optional<recorded_steps> recorded_call(call const& its, text const& what,
                                                                       void const* tag, known_ranks const& known,
                                                                       std::size_t most_operands) {
  // Of all_to_all_v a rank knows its own blocks alone.
  if (what.run == nullptr || its.what == collective::all_to_all_v) return std::nullopt;
  int const p = its.vector.parts;
  std::vector<std::vector<schedule::step>> ranks;
  std::vector<operand> memory;
  std::size_t operands = 0;
  bool by_arrival = false;
  for (int r = 0; r < p; ++r) {
    rank_plan plan;
    planner step(r, p, its.of->size, plan, memory);
    what.run(tag, known, step, its.vector, its.root);
    if ((operands += plan.operands.size()) > most_operands) return std::nullopt;
    auto& its_steps = ranks.emplace_back();
    for (auto const& s : plan.steps) {
      if (s.kind == list_kind::copies) continue;
      by_arrival |= s.kind == list_kind::as_they_come;
      auto const said = plan.operands_of(s);
      its_steps.emplace_back(said.begin(), said.end());
    }
  }
  std::size_t const n = has_two_vectors(its.what) ? vectors_of(its.what, its.vector, 0).out.whole.last
                                                  : its.vector.whole.size();
  return recorded_steps{schedule(its.what, n, std::move(ranks)), by_arrival};
}

/// A recorder for texts that are compiled.
class any_recorder final : public any_step {
 public:
  any_recorder(int rank, int size, std::size_t element_size, std::vector<operand>& memory)
      : any_step(rank, size, element_size, memory), said_(rank, size) {}

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    send const sent{peers.to, out, kind.sent};
    if (kind.folds) said_(sent, fold{peers.from, in, kind.with});
    else said_(sent, recv{peers.from, in});
  }
  void list(std::span<operand const> said, list_kind) override { said_(said); }
  void move(range from, range into) override { said_(copy{from, into}); }

  std::vector<schedule::step> take() && { return std::move(said_).take(); }

 private:
  recorder said_;
};

[[gnu::cold]] COLLIGO_BODY saying recorded_saying(chosen_algorithm const& algorithm, collective what,
                                                  text_table const& texts, std::size_t element_size, int rank, int p,
                                                  blocks const& vector, int root) {
  decision const by = decision_for(algorithm, texts, decided_by::pinned);
  auto const name = name_of(algorithm.algorithm);
  require_form(by.what != nullptr, by.what != nullptr && by.what->run != nullptr, what, name);
  if (by.what->fits) require_ranks(by.what->fits(by.tag, {}, p).made_for, p, what, name);
  saying said;
  if (by.what->scratch) said.scratch = by.what->scratch(by.tag, vector, element_size);
  std::vector<operand> memory;
  any_recorder step(rank, p, element_size, memory);
  by.what->run(by.tag, {}, step, vector, root);
  said.steps = std::move(step).take();
  return said;
}

}  // namespace colligo
