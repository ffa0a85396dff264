// SPDX-License-Identifier: BSL-1.0
/// @file
/// The stretch of the vector for which a rank needs memory, found by a dry run of the algorithm. An algorithm is
/// written as if every rank had the whole vector; but a leaf of a gather needs no memory, and an inner node needs
/// memory for its subtree.
#pragma once

#include <span>

#include "../core/any_step.hpp"

namespace colligo::inline COLLIGO_MODE {

/// holds() covers all ranges that the rank writes to, and the ranges that it sends or copies if they overlap these.
class extent final : public any_step {
 public:
  extent(int rank, int size, std::size_t element_size, detail::small_vector<operand>& memory)
      : any_step(rank, size, element_size, memory) {}

  void exchange(range out, range in, pair_of peers, pair_kind) override {
    if (peers.to != nobody) sees(out, true);
    if (peers.from != nobody) sees(in, false);
  }
  void list(std::span<operand const> operands, list_kind) override {
    for (operand const& o : operands) sees(o);
  }
  void move(operand const& alone) override {
    sees(alone.elements.head, true);
    sees(alone.elements.tail, false);
  }
  void sees(operand const& o) {
    if (o.vanishes()) return;
    sees(o.elements.head, o.sends());
    sees(o.elements.tail, o.sends());
  }

  range holds() const { return holds_; }

 private:
  void sees(range fragment, bool sent) {
    if (!fragment.empty() && (!sent || overlap(fragment, holds_))) holds_ = joined(holds_, fragment);
  }

  range holds_{};
};

}  // namespace colligo
