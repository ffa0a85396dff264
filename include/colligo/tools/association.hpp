// SPDX-License-Identifier: BSL-1.0
/// @file
/// association(schedule): the grouping and order in which every element of the result is combined, in a canonical form.
/// Equal forms prove equal bits for any functor: they mean the same combinations of the same operands. Needs no MPI;
/// works at compile time.
///   association(record(ring{}, collective::all_reduce, 4, 8)).text(0, 0)      // "(((0 1) 2) 3)"
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bracketing.hpp"
#include "../plan/schedule.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// Performs a schedule on expressions, as working_vector does on bytes. The vector is cut into intervals wherever a
// range of the schedule begins or ends.
template <class Lazy = void>
class association_maker {
 public:
  COLLIGO_CONSTEXPR association_maker(schedule const& recorded, operands order, blocks const& vector, int root)
      : schedule_(recorded), values_(recorded.size(), order) {
    cuts_ = {0, recorded.elements() + recorded.scratch()};
    auto const cut = [this](range r) { cuts_.push_back(r.first), cuts_.push_back(r.last); };
    for (int r = 0; r < recorded.size(); ++r) {
      for (schedule::step const& operands : recorded.steps_of(r))
        for (operand const& o : operands) cut(o.elements.head), o.elements.tail.empty() ? void() : cut(o.elements.tail);
      for (auto const& [after, alone] : recorded.moves_of(r)) cut(alone.elements.head), cut(alone.elements.tail);
      cut(result_of(r, vector, root));
    }
    sort_cuts();
    if (recorded.scratch() != 0) cut_alike();
    ranks_.resize(static_cast<std::size_t>(recorded.size()));
    for (int r = 0; r < recorded.size(); ++r) rank(r).holds.assign(cuts_.size() - 1, {r, false});
    perform();
  }

  COLLIGO_CONSTEXPR bracketing results(blocks const& vector, int root) const {
    std::vector<bracketing::value> numbers;
    std::vector<bracketing::combination> kept;
    std::vector<bracketing::stretch> all;
    for (int r = 0; r < schedule_.size(); ++r) {
      range const wanted = result_of(r, vector, root);
      for (std::size_t i = index(wanted.first); i < index(wanted.last); ++i) {
        int const made = values_.renumbered(ranks_[static_cast<std::size_t>(r)].holds[i].made, numbers, kept);
        if (!all.empty() && all.back().rank == r && all.back().made == made) all.back().elements.last = cuts_[i + 1];
        else all.push_back({r, {cuts_[i], cuts_[i + 1]}, made});
      }
    }
    return {schedule_.what(), schedule_.size(), std::move(kept), std::move(all)};
  }

 private:
  COLLIGO_CONSTEXPR void sort_cuts() {
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }
  // Where elements move to another place, both places are cut into the same intervals.
  COLLIGO_CONSTEXPR void cut_alike() {
    std::vector<std::pair<range, range>> places;
    for (int r = 0; r < schedule_.size(); ++r)
      for (auto const& [after, o] : schedule_.moves_of(r)) places.emplace_back(o.elements.head, o.elements.tail);
    for (message const& m : schedule_.messages_in_order())
      if (range const a = m.sent.elements.head, b = m.received.elements.head; a != b && a.size() == b.size())
        places.emplace_back(a, b);
    for (std::size_t before = 0; before != cuts_.size(); sort_cuts()) {
      before = cuts_.size();
      std::vector<std::size_t> more;
      for (auto const& [a, b] : places)
        for (auto const& [from, to] : {std::pair(a, b), std::pair(b, a)})
          for (std::size_t i = index(from.first); i < index(from.last); ++i)
            more.push_back(to.first + (cuts_[i] - from.first));
      cuts_.insert(cuts_.end(), more.begin(), more.end());
    }
  }

  struct fragment_of_rank {
    bracketing::value made;
    bool written;
  };
  struct packet {
    int from;
    std::vector<bracketing::value> made;
  };
  struct state {
    std::vector<fragment_of_rank> holds;
    std::vector<packet> arrived;   // what the rank's step has received so far
    std::size_t step = 0, moved = 0, open = 0;   // the step, moves done, the step's messages that have not happened
  };

  // The range of a rank's result; empty where a collective combines nothing.
  COLLIGO_CONSTEXPR range result_of(int r, blocks const& vector, int root) const {
    collective const what = schedule_.what();
    if (!combines(what) || (has_root(what) && r != root)) return {};
    if (what == collective::exclusive_scan && r == 0) return {};
    return has_blocks(what) ? vector[r] : vector.whole;
  }

  COLLIGO_CONSTEXPR state& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }
  COLLIGO_CONSTEXPR std::size_t index(std::size_t at) const {
    return static_cast<std::size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), at) - cuts_.begin());
  }
  template <class F>
  COLLIGO_CONSTEXPR void for_each_fragment_in(cyclic_range const& r, F f) const {
    for (range const part : {r.head, r.tail})
      if (!part.empty())
        for (std::size_t i = index(part.first); i < index(part.last); ++i) f(i);
  }

  COLLIGO_CONSTEXPR std::size_t fragments_in(cyclic_range const& r) const {
    std::size_t count = 0;
    for_each_fragment_in(r, [&](std::size_t) { ++count; });
    return count;
  }
  // Performs the rank's copies and merges before its next step, and opens that step.
  COLLIGO_CONSTEXPR void begin_step(int r) {
    state& me = rank(r);
    auto const& moves = schedule_.moves_of(r);
    for (; me.moved < moves.size() && moves[me.moved].after == me.step; ++me.moved) {
      operand const& o = moves[me.moved].what;
      std::size_t from = index(o.elements.head.first);
      for_each_fragment_in(o.elements.tail, [&](std::size_t i) {
        bracketing::value made = me.holds[from++].made;
        if (o.what == operand::kind::merge_left) made = values_.combine(made, me.holds[i].made);
        if (o.what == operand::kind::merge_right) made = values_.combine(me.holds[i].made, made);
        me.holds[i] = {made, true};
      });
    }
    auto const& steps = schedule_.steps_of(r);
    me.open = me.step < steps.size() ? steps[me.step].size() : 0;
  }

  COLLIGO_CONSTEXPR bool is_touched(state const& me, cyclic_range const& r) const {
    bool touched = false;
    for_each_fragment_in(r, [&](std::size_t i) { touched |= me.holds[i].written; });
    return touched;
  }
  // The rank's own values that an operand refers to.
  COLLIGO_CONSTEXPR bracketing::value own_value(int r, std::size_t i, own which, bool touched) {
    bracketing::value const holds = rank(r).holds[i].made;
    if (which == own::result) return holds;
    return which == own::input || !touched ? r : values_.combine(holds, r);
  }

  // What a message carries. A step sends before it receives, so these are the values before the step.
  COLLIGO_CONSTEXPR packet sent(message const& m) {
    bool const touched = is_touched(rank(m.from), m.sent.elements);
    packet p{m.from, {}};
    for_each_fragment_in(m.sent.elements,
                         [&](std::size_t i) { p.made.push_back(own_value(m.from, i, m.sent.which, touched)); });
    return p;
  }

  COLLIGO_CONSTEXPR void combine(int r, operand const& o, packet const& p) {
    bool const touched = is_touched(rank(r), o.elements);
    std::size_t k = 0;
    for_each_fragment_in(o.elements, [&](std::size_t i) {
      bracketing::value const theirs = p.made[k++];
      bracketing::value made = theirs;
      if (o.folds()) {
        bracketing::value const mine = own_value(r, i, o.which, touched);
        made = o.peer < r ? values_.combine(theirs, mine) : values_.combine(mine, theirs);
      }
      rank(r).holds[i] = {made, true};
    });
  }
  // Several folds into one range: in the order of ranks, the rank's own values at their place.
  COLLIGO_CONSTEXPR void combine_in_order(int r, operand const& o, packet const* first, std::size_t count) {
    std::size_t k = 0;
    for_each_fragment_in(o.elements, [&](std::size_t i) {
      bracketing::value const mine = rank(r).holds[i].made;
      bracketing::value left = -1;
      auto const take = [&](bracketing::value right) { left = left < 0 ? right : values_.combine(left, right); };
      bool own_taken = false;
      for (std::size_t j = 0; j < count; ++j) {
        if (!own_taken && first[j].from > r) take(mine), own_taken = true;
        take(first[j].made[k]);
      }
      if (!own_taken) take(mine);
      rank(r).holds[i] = {left, true};
      ++k;
    });
  }

  // Combines what the step has received, in the order listed.
  COLLIGO_CONSTEXPR void end_step(int r) {
    state& me = rank(r);
    std::vector<operand> takes;
    std::vector<packet> received;
    for (operand const& o : schedule_.steps_of(r)[me.step]) {
      if (o.sends()) continue;
      auto const from_peer = [&o](packet const& p) { return p.from == o.peer; };
      auto const next = std::find_if(me.arrived.begin(), me.arrived.end(), from_peer);
      takes.push_back(o), received.push_back(std::move(*next));
      me.arrived.erase(next);
    }
    for (std::size_t i = 0, count; i < takes.size(); i += count) {
      operand const& o = takes[i];
      count = 1;
      if (o.folds() && o.elements.tail.empty() && o.which == own::result)
        while (i + count < takes.size() && takes[i + count].folds() && takes[i + count].which == own::result &&
               takes[i + count].elements == o.elements)
          ++count;
      if (count == 1) combine(r, o, received[i]);
      else combine_in_order(r, o, &received[i], count);
    }
    ++me.step;
  }

  COLLIGO_CONSTEXPR void perform() {
    for (int r = 0; r < schedule_.size(); ++r) begin_step(r);
    for (message const& m : schedule_.messages_in_order()) {
      auto const &from = m.sent.elements, &to = m.received.elements;
      if (schedule_.scratch() == 0 ? from != to : fragments_in(from) != fragments_in(to))
        throw argument_error("colligo: association: rank " + std::to_string(m.to) + " receives elements at another " +
                             "place than where rank " + std::to_string(m.from) + " has them");
      rank(m.to).arrived.push_back(sent(m));
      for (int const r : {m.from, m.to})
        if (--rank(r).open == 0) end_step(r), begin_step(r);
    }
  }

  schedule const& schedule_;
  combinations<Lazy> values_;
  std::vector<std::size_t> cuts_;
  std::vector<state> ranks_;
};

}  // namespace detail

/// The grouping and order of the results of a recorded schedule; empty for collectives that combine nothing. `root` as
/// it was recorded. Throws broken_law if the schedule deadlocks, argument_error if elements change their places. Cost:
/// proportional to the schedule.
template <class Lazy = void>
COLLIGO_CONSTEXPR bracketing association(schedule const& s, operands order = operands::ordered, int root = 0) {
  blocks const vector{{0, s.elements()}, s.size()};
  return detail::association_maker<Lazy>(s, order, vector, root).results(vector, root);
}
/// The same for a schedule that was recorded with blocks that lie elsewhere than record() puts them.
template <class Lazy = void>
COLLIGO_CONSTEXPR bracketing association(schedule const& s, operands order, blocks const& vector, int root = 0) {
  return detail::association_maker<Lazy>(s, order, vector, root).results(vector, root);
}

}  // namespace colligo
