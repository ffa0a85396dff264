// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's plan: the steps of an algorithm on one rank, as a list of operands, to be performed later step by step.
#pragma once

#include <cstddef>
#include <span>

#include "../core/any_step.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The steps of one rank, one after the other.
struct rank_plan {
  struct step {
    std::size_t first, count;   ///< operands
    list_kind kind;
    bool pair = false;   ///< issued as an exchange: two operands, of which one may vanish
  };
  small_vector<operand> operands;
  small_vector<step> steps;

  std::span<operand const> operands_of(step const& s) const { return {operands.data() + s.first, s.count}; }
  void clear() {
    operands.clear();
    steps.clear();
  }
};

/// Thrown where a plan would have more operands or steps than asked for.
struct plan_is_long {};

/// Keeps an algorithm's steps. Operands that vanish are left out.
class planner final : public any_step {
 public:
  planner(int rank, int size, std::size_t element_size, rank_plan& plan, small_vector<operand>& memory,
          std::size_t most = static_cast<std::size_t>(-1))
      : any_step(rank, size, element_size, memory), plan_(plan), most_(most) {}

  void list(std::span<operand const> operands, list_kind kind) override {
    std::size_t const first = plan_.operands.size();
    if (first > most_ || lists_++ > most_) throw plan_is_long();
    for (operand const& o : operands)
      if (!o.vanishes()) plan_.operands.push_back(o);
    if (plan_.operands.size() != first) plan_.steps.push_back({first, plan_.operands.size() - first, kind});
  }
  void move(operand const& alone) override {
    if (plan_.steps.empty() || plan_.steps.back().kind != list_kind::moves)
      plan_.steps.push_back({plan_.operands.size(), 0, list_kind::moves});
    plan_.operands.push_back(alone);
    ++plan_.steps.back().count;
  }

 private:
  rank_plan& plan_;
  std::size_t most_, lists_ = 0;   // empty lists count too: they take time
};

}  // namespace colligo
