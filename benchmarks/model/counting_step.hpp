// SPDX-License-Identifier: BSL-1.0
/// @file
/// A step that counts what one rank says, and does nothing.
#pragma once

#include <algorithm>
#include <span>

#include <colligo/core/any_step.hpp>

namespace bench {

/// What one rank says.
struct said_by_rank {
  std::size_t operands = 0, messages = 0;
  std::size_t sent = 0, longest = 0;   ///< elements in all messages, and in the longest
  std::size_t received = 0, folded = 0;   ///< elements, folded ones among those received
  std::size_t moves = 0, copied = 0;   ///< copies and merges, which are operands too; elements of copies
};

class counting_step final : public colligo::any_step {
 public:
  counting_step(int rank, int size, std::size_t element_size, colligo::detail::small_vector<colligo::operand>& memory)
      : any_step(rank, size, element_size, memory) {}
  void exchange(colligo::range out, colligo::range in, colligo::pair_of peers, colligo::pair_kind kind) override {
    if (peers.to != colligo::nobody && !out.empty()) sends(out.size());
    if (peers.from != colligo::nobody && !in.empty()) receives(in.size(), kind.folds);
  }
  void list(std::span<colligo::operand const> said, colligo::list_kind) override {
    for (colligo::operand const& o : said) {
      if (o.vanishes()) continue;
      if (o.sends()) sends(o.elements.size());
      else receives(o.elements.size(), o.folds());
    }
  }
  void move(colligo::operand const& o) override {
    ++counted.operands, ++counted.moves;
    if (!o.merges()) counted.copied += o.elements.head.size();
  }

  said_by_rank counted;

 private:
  void receives(std::size_t elements, bool folds) {
    ++counted.operands;
    counted.received += elements;
    if (folds) counted.folded += elements;
  }
  void sends(std::size_t elements) {
    ++counted.operands, ++counted.messages;
    counted.sent += elements;
    counted.longest = std::max(counted.longest, elements);
  }
};

}  // namespace bench
