// SPDX-License-Identifier: BSL-1.0
/// @file
/// Checked mode for calls in which each rank has counts of its own: compares what a rank sends with what is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/error.hpp"
#include "../core/small_vector.hpp"
#include "../core/strings.hpp"
#include "run_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A block as one of its two ranks knows it: the `which`-th from one to the other.
struct known_block {
  int from, to;
  std::size_t which, elements;
  bool is_sent;

  /// Those of its two ranks cancel out if the lengths are equal; others do as little as random numbers.
  std::uint64_t weight() const {
    std::uint64_t mixed = 0;
    for (std::size_t const n : {static_cast<std::size_t>(from), static_cast<std::size_t>(to), which, elements}) {
      mixed = (mixed ^ n) + 0x9e3779b97f4a7c15u;
      mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
      mixed ^= mixed >> 31;
    }
    return is_sent ? mixed : 0 - mixed;
  }
};

/// Calls f for all blocks that this rank sends to one rank, or expects of one.
template <class F>
void for_each_own_block(call const& call, int rank, F f) {
  if (edge_list const* const edges = call.vector.edges) {
    for (std::size_t i = 0, which = 0; i < edges->count; ++i) {   // those between two ranks follow each other
      edge const& e = (*edges)[i];
      which = i != 0 && (*edges)[i - 1].peer == e.peer && (*edges)[i - 1].sends == e.sends ? which + 1 : 0;
      f(known_block{e.sends ? rank : e.peer, e.sends ? e.peer : rank, which, e.elements.size(), e.sends});
    }
  } else if (call.what == collective::all_to_all_v && call.vector.offsets) {   // a sparse exchange has no counts
    auto const vectors = vectors_of(call.what, call.vector, rank);
    for (int r = 0; r < call.vector.parts; ++r) {
      f(known_block{rank, r, 0, vectors.in[r].size(), true});
      f(known_block{r, rank, 0, vectors.out[r].size(), false});
    }
  }
}

struct add_up {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

/// Returns on all ranks if each block that is sent is expected, of that length; otherwise throws mismatch_error on all.
/// Takes 8 bytes, or 8 p to find the ranks that differ. Collective over the state.
class block_comparison {
 public:
  block_comparison(communicator_state& state, call const& call) : state_(state), call_(call) {}

  // `words`: the call's description.
  void run(std::string_view words) const {
    auto const of_all = [](known_block const&) { return true; };
    if (sums(1, of_all, [](known_block const& b) { return entry{0, b.weight()}; })[0] == 0) return;
    auto const p = static_cast<std::size_t>(state_.size());
    numbers const by_receiver = sums(p, of_all, [](known_block const& b) {
      return entry{static_cast<std::size_t>(b.to), b.weight()};
    });
    int const to = first_of(by_receiver);
    int const from = first_of(sums(p, [to](known_block const& b) { return b.to == to; }, [](known_block const& b) {
      return entry{static_cast<std::size_t>(b.from), b.weight()};
    }));
    auto const between = [=](known_block const& b) { return b.from == from && b.to == to; };
    std::size_t const ends = sums(1, between, [](known_block const&) { return entry{0, 1}; })[0];
    numbers const lengths = sums(2 * ends, between, [](known_block const& b) {
      return entry{2 * b.which + !b.is_sent, b.elements};
    });
    std::size_t which = 0, others = 0;
    while (which + 1 < ends && lengths[2 * which] == lengths[2 * which + 1]) ++which;
    for (std::size_t const sum : by_receiver) others += sum != 0;
    std::string const place = concat({" (block ", which + 1, " of ", ends / 2, " between them)"});
    std::string const more = concat({"; blocks for ", with_number(others - 1, "other rank"), " do not fit either"});
    throw mismatch_error(concat({"colligo: ranks make different calls: all call ", words, ", but rank ", from,
                                 " sends ", with_number(lengths[2 * which], "element"), " to rank ", to,
                                 ", which expects ", lengths[2 * which + 1], ends > 2 ? place : "",
                                 others > 1 ? more : ""}));
  }

 private:
  using numbers = small_vector<std::uint64_t>;
  struct entry { std::size_t at; std::uint64_t number; };

  // n sums over the blocks of all ranks.
  template <class Wanted, class Entry>
  numbers sums(std::size_t n, Wanted is_wanted, Entry entry_of) const {
    numbers all(n);
    for_each_own_block(call_, state_.rank(), [&](known_block const& b) {
      if (!is_wanted(b)) return;
      entry const added = entry_of(b);
      all[added.at] += added.number;
    });
    combine_among_ranks(state_, add_up{}, view<std::uint64_t>(all));
    return all;
  }
  static int first_of(numbers const& differ) {
    std::size_t r = 0;
    while (r + 1 < differ.size() && differ[r] == 0) ++r;
    return static_cast<int>(r);
  }

  communicator_state& state_;
  call const& call_;
};

[[gnu::cold]] COLLIGO_BODY void compare_own_blocks(communicator_state& state, call const& call,
                                                   std::string_view words) {
  block_comparison(state, call).run(words);
}

/// Sets compare_blocks in units that use it: those that make such calls.
template <class Lazy = void>
inline bool const blocks_are_compared = (compare_blocks = &compare_own_blocks, true);

}  // namespace colligo
