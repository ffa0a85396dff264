// SPDX-License-Identifier: BSL-1.0
/// @file
/// Model: the stretch of the vector for which a rank needs memory, found by running the text without doing anything. Texts are written as
/// if every rank had all of the vector; a leaf of a gather then needs nothing, an inner node room for its subtree.
#pragma once

#include "../core/step.hpp"

namespace colligo::inline COLLIGO_MODE {

/// holds() covers all that the rank receives or combines, and what it sends of that together with other elements.
class extent {
 public:
  constexpr extent(int rank, int size) : rank_(rank), size_(size) {}

  constexpr int rank() const { return rank_; }
  constexpr int size() const { return size_; }

  template <class... Operands>
  constexpr void operator()(Operands... operands) { (see(operands), ...); }
  template <operand_list List>
  constexpr void operator()(List const& list) {
    for (std::size_t i = 0; i < list.size(); ++i) see(list[i]);
  }

  constexpr range holds() const { return holds_; }

 private:
  constexpr void see(operand const& o) {
    if (o.vanishes()) return;
    for (range const piece : {o.elements.head, o.elements.tail})
      if (!o.sends() || overlap(piece, holds_)) holds_ = joined(holds_, piece);
  }

  int rank_, size_;
  range holds_{};
};

static_assert(steps<extent>);

}  // namespace colligo
