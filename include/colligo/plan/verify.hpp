// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of schedule.hpp that check the steps of all ranks against the laws of core/step.hpp, and play them
/// against a clock. They work at compile time too.
#pragma once

#include <functional>
#include <tuple>

#include "../core/error.hpp"
#include "schedule.hpp"

namespace colligo::inline COLLIGO_MODE {

template <class Lazy>
void schedule::fail(int rank, std::string const& why) const {
  throw broken_law(std::string(name_of(what_)) + ", p = " + std::to_string(size()) + ", n = " + std::to_string(n_) +
                   ", rank " + std::to_string(rank) + ": " + why);
}

template <class Lazy>
COLLIGO_CONSTEXPR void schedule::verify_step(int r, step const& operands) const {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    operand const& a = operands[i];
    if (a.peer < 0 || a.peer >= size()) fail(r, "names rank " + std::to_string(a.peer) + ", which does not exist");
    if (a.peer == r) fail(r, "sends to itself");
    for (range const part : {a.elements.head, a.elements.tail})
      if (part.first > part.last || part.last > n_ + scratch_) fail(r, "names elements outside of the vector");
    bool const grouped = i > 0 && a.folds() && operands[i - 1].folds() && a.elements == operands[i - 1].elements;
    if (grouped && a.peer < operands[i - 1].peer)
      fail(r, "folds into one range from ranks that are not listed in ascending order (law 2)");
    if (a.what != operand::kind::recv) continue;
    for (std::size_t j = 0; j < operands.size(); ++j)
      if (i != j && operands[j].which != own::input && overlap(a.elements, operands[j].elements))
        fail(r, "receives over elements that the same step uses (law 2)");
  }
}

template <class Lazy>
COLLIGO_CONSTEXPR void schedule::verify_moves(int r) const {
  for (auto const& [after, o] : moves_of(r)) {
    auto const& [from, into] = o.elements;
    if (std::max(from.last, into.last) > n_ + scratch_) fail(r, "copies or merges elements outside of the vector");
    if (from.size() != into.size() || overlap(from, into))
      fail(r, "copies or merges a range into one of another length, or that overlaps it");
  }
}

// Law 5: between two ranks, the k-th send meets the k-th receive. The messages are in the order in which they are sent:
// by rank, and for each rank in its order.
template <class Lazy>
COLLIGO_CONSTEXPR std::vector<message> schedule::matched() const {
  struct end { int from, to; std::size_t step, number; operand const* what; };   // numbers in the order of steps
  std::vector<end> sends, receives;
  for (int r = 0; r < size(); ++r)
    for (std::size_t s = 0; s < steps_of(r).size(); ++s)
      for (operand const& o : steps_of(r)[s]) {
        auto& of_kind = o.sends() ? sends : receives;
        of_kind.push_back({o.sends() ? r : o.peer, o.sends() ? o.peer : r, s, of_kind.size(), &o});
      }
  auto const by_ends = [](end const& a, end const& b) {
    return std::tie(a.from, a.to, a.number) < std::tie(b.from, b.to, b.number);
  };
  std::sort(sends.begin(), sends.end(), by_ends);
  std::sort(receives.begin(), receives.end(), by_ends);
  std::vector<message> all(sends.size());
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    bool const both =
        i < sends.size() && i < receives.size() && sends[i].from == receives[i].from && sends[i].to == receives[i].to;
    if (!both) {
      bool const send_is_lonely =
          i >= receives.size() ||
          (i < sends.size() && std::pair(sends[i].from, sends[i].to) < std::pair(receives[i].from, receives[i].to));
      end const& e = send_is_lonely ? sends[i] : receives[i];
      fail(send_is_lonely ? e.from : e.to,
           send_is_lonely ? "sends to rank " + std::to_string(e.to) + ", which does not receive (law 5)"
                          : "receives from rank " + std::to_string(e.from) + ", which does not send (law 5)");
    }
    operand const &sent = *sends[i].what, &received = *receives[i].what;
    if (sent.elements.size() != received.elements.size())
      fail(sends[i].from, "sends " + std::to_string(sent.elements.size()) + " elements to rank " +
                              std::to_string(sends[i].to) + ", which expects " +
                              std::to_string(received.elements.size()) + " (law 5)");
    all[sends[i].number] = {sends[i].from, sends[i].to, sends[i].step, receives[i].step, sent, received};
  }
  return all;
}

// A message happens when both ends have reached its step; a step ends when all its messages have happened and been
// combined. Of those that can begin, the earliest begins, by a heap: its time for a message may be too early, if an end
// has become busy since, but never too late.
template <class Clock>
COLLIGO_CONSTEXPR double schedule::play(Clock clock, std::vector<message>* happened) const {
  auto all = matched<Clock>();
  auto const p = ranks_.size();
  auto const index = [](int rank) { return static_cast<std::size_t>(rank); };
  std::vector<std::vector<std::size_t>> of_rank(p);
  auto const step_at = [&](std::size_t i, std::size_t r) {
    return index(all[i].from) == r ? all[i].from_step : all[i].to_step;
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    of_rank[index(all[i].from)].push_back(i), of_rank[index(all[i].to)].push_back(i);
  for (std::size_t r = 0; r < p; ++r)
    std::sort(of_rank[r].begin(), of_rank[r].end(), [&](std::size_t i, std::size_t j) {
      return std::pair(step_at(i, r), i) < std::pair(step_at(j, r), j);
    });

  struct state {   // of a rank
    std::size_t step = 0, first = 0, open = 0;   // first of its messages in of_rank, those that have not happened
    std::size_t moved = 0;                       // copies and merges done
    double began = 0, out = 0, in = 0;           // when the step began, when the links out and in are free
    bool sends = false, receives = false;        // in this step
    bool sent = false, received = false;         // in this step, already
  };
  std::vector<state> at(p);
  using candidate = std::pair<double, std::size_t>;   // when a message can begin, its index in `all`
  std::vector<candidate> heap;
  auto const start_of = [&](std::size_t i) {
    state const &from = at[index(all[i].from)], &to = at[index(all[i].to)];
    if (!Clock::one_port) return std::max(from.began, to.began);
    return std::max({clock.fetches(all[i]) ? from.began : from.out, to.in, clock.free_at(all[i])});
  };
  auto const offer = [&](std::size_t i) {
    heap.push_back({start_of(i), i});
    std::push_heap(heap.begin(), heap.end(), std::greater<>{});
  };
  double finish = 0;
  auto const enter = [&](std::size_t r) {
    state& me = at[r];
    for (auto const& alone = ranks_[r].moves; me.moved < alone.size() && alone[me.moved].after == me.step; ++me.moved)
      if (operand const& o = alone[me.moved].what; o.merges())
        me.began += clock.combine(o.combined()) + clock.alone({1});
      else me.began += clock.alone({1, static_cast<double>(o.elements.head.size())});
    finish = std::max(finish, me.began);
    me.out = me.in = me.began;
    me.sends = me.receives = me.sent = me.received = false;
    me.open = me.step < ranks_[r].steps.size() ? ranks_[r].steps[me.step].size() : 0;
    if (me.open != 0)
      for (operand const& o : ranks_[r].steps[me.step]) {
        (o.sends() ? me.sends : me.receives) = true;
        if (o.sends()) me.out += clock.combine(o.combined());   // before it can leave
      }
    for (std::size_t k = me.first; k < me.first + me.open; ++k) {
      std::size_t const i = of_rank[r][k], peer = index(all[i].from) == r ? index(all[i].to) : index(all[i].from);
      if (at[peer].open != 0 && at[peer].step == step_at(i, peer)) offer(i);
    }
  };
  for (std::size_t r = 0; r < p; ++r) at[r].began = clock.alone({0, 0, arithmetic_}), enter(r);

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    auto const [expected, i] = heap.back();
    heap.pop_back();
    double const start = start_of(i);
    if (start > expected) {
      offer(i);
      continue;
    }
    message& m = all[i];
    auto const from = index(m.from), to = index(m.to);
    bool const fetched = clock.fetches(m);
    bool const further = !fetched && at[from].out >= at[to].in ? at[from].sent : at[to].received;
    double const end = start + clock.transfer(m, at[from].receives || at[to].sends, further);
    clock.take(m, start);
    m.round = 1 + static_cast<int>(start);
    if (happened) happened->push_back(m);
    if (!fetched) at[from].out = std::max(at[from].out, end), at[from].sent = true;
    at[to].in = std::max(at[to].in, end), at[to].received = true;
    for (std::size_t const r : {from, to}) {
      state& me = at[r];
      if (--me.open != 0) continue;
      me.began = std::max(me.out, me.in);
      step const& done = ranks_[r].steps[me.step];
      for (operand const& o : done)
        if (o.folds()) me.began += clock.combine(o.combined());
      me.first += done.size();
      ++me.step;
      enter(r);
    }
  }
  for (std::size_t r = 0; r < p; ++r)
    if (at[r].step < ranks_[r].steps.size())
      fail(static_cast<int>(r),
           "waits for ever in its step " + std::to_string(at[r].step + 1) + " if sends do not buffer");
  return finish;
}

}  // namespace colligo
