// SPDX-License-Identifier: BSL-1.0
/// @file
/// Plays the steps of all ranks against a clock: the body of schedule::play(), at compile time too.
#pragma once

#include <functional>

#include "schedule.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// How far a rank has come.
struct rank_at_play {
  std::size_t step = 0;      // the number of the step that it is in
  std::size_t first = 0;     // the step's first message among those of the rank
  std::size_t open = 0;      // the step's messages that have not happened
  std::size_t moved = 0;     // copies and merges done
  double began = 0;          // when the step began
  double out = 0;            // when the link out is free
  double in = 0;             // when the link in is free
  bool sends = false;        // in this step
  bool receives = false;     // in this step
  bool sent = false;         // in this step, already
  bool received = false;     // in this step, already
};

// A message happens when both ends have reached its step; a step ends when all its messages have happened and been
// combined. Of those that can begin, the earliest begins, by a heap: its time for a message may be too early, if an end
// has become busy since, but never too late.
template <class Clock>
class clockwork {
 public:
  // All ranks begin their first steps after their own arithmetic.
  COLLIGO_CONSTEXPR clockwork(std::vector<rank_steps> const& ranks, std::vector<message> messages, double arithmetic,
                              Clock const& clock)
      : clock_(clock), ranks_(ranks), messages_(std::move(messages)), of_rank_(ranks.size()), at_(ranks.size()) {
    for (std::size_t i = 0; i < messages_.size(); ++i)
      of_rank_[from(i)].push_back(i), of_rank_[to(i)].push_back(i);
    for (std::size_t r = 0; r < of_rank_.size(); ++r)
      std::sort(of_rank_[r].begin(), of_rank_[r].end(), [this, r](std::size_t i, std::size_t j) {
        return std::pair(step_at(i, r), i) < std::pair(step_at(j, r), j);
      });
    for (std::size_t r = 0; r < at_.size(); ++r) at_[r].began = clock_.alone({0, 0, arithmetic}), enter(r);
  }

  // Plays until nothing can begin. Appends what happens to `happened`, if it is not null.
  COLLIGO_CONSTEXPR void run(std::vector<message>* happened) {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
      auto const [expected, i] = heap_.back();
      heap_.pop_back();
      double const start = start_of(i);
      if (start > expected) {
        offer(i);
        continue;
      }
      move(i, start);
      if (happened) happened->push_back(messages_[i]);
      for (std::size_t const r : {from(i), to(i)})
        if (--at_[r].open == 0) leave(r);
    }
  }
  // The time when the last rank is done.
  COLLIGO_CONSTEXPR double finish() const { return finish_; }
  // The number of the step that a rank is in, from 0 on; all of its steps: it is done.
  COLLIGO_CONSTEXPR std::size_t step_of(std::size_t r) const { return at_[r].step; }

 private:
  COLLIGO_CONSTEXPR std::size_t from(std::size_t i) const { return static_cast<std::size_t>(messages_[i].from); }
  COLLIGO_CONSTEXPR std::size_t to(std::size_t i) const { return static_cast<std::size_t>(messages_[i].to); }
  COLLIGO_CONSTEXPR std::size_t step_at(std::size_t i, std::size_t r) const {
    return from(i) == r ? messages_[i].from_step : messages_[i].to_step;
  }

  COLLIGO_CONSTEXPR double start_of(std::size_t i) {
    rank_at_play const &sender = at_[from(i)], &receiver = at_[to(i)];
    if (!Clock::one_port) return std::max(sender.began, receiver.began);
    message const& m = messages_[i];
    return std::max({clock_.fetches(m) ? sender.began : sender.out, receiver.in, clock_.free_at(m)});
  }
  COLLIGO_CONSTEXPR void offer(std::size_t i) {
    heap_.push_back({start_of(i), i});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }

  // The rank's copies and merges before its step, then the step: its messages whose other end is there are offered.
  COLLIGO_CONSTEXPR void enter(std::size_t r) {
    rank_at_play& me = at_[r];
    for (auto const& alone = ranks_[r].moves; me.moved < alone.size() && alone[me.moved].after == me.step; ++me.moved)
      if (operand const& o = alone[me.moved].what; o.merges())
        me.began += clock_.combine(o.combined()) + clock_.alone({1});
      else me.began += clock_.alone({1, static_cast<double>(o.elements.head.size())});
    finish_ = std::max(finish_, me.began);
    me.out = me.in = me.began;
    me.sends = me.receives = me.sent = me.received = false;
    me.open = me.step < ranks_[r].steps.size() ? ranks_[r].steps[me.step].size() : 0;
    if (me.open != 0)
      for (operand const& o : ranks_[r].steps[me.step]) {
        (o.sends() ? me.sends : me.receives) = true;
        if (o.sends()) me.out += clock_.combine(o.combined());   // before it can leave
      }
    for (std::size_t k = me.first; k < me.first + me.open; ++k) {
      std::size_t const i = of_rank_[r][k], peer = from(i) == r ? to(i) : from(i);
      if (at_[peer].open != 0 && at_[peer].step == step_at(i, peer)) offer(i);
    }
  }
  // A message occupies its links.
  COLLIGO_CONSTEXPR void move(std::size_t i, double start) {
    message& m = messages_[i];
    rank_at_play &sender = at_[from(i)], &receiver = at_[to(i)];
    bool const fetched = clock_.fetches(m);
    bool const further = !fetched && sender.out >= receiver.in ? sender.sent : receiver.received;
    double const end = start + clock_.transfer(m, sender.receives || receiver.sends, further);
    clock_.take(m, start);
    m.round = 1 + static_cast<int>(start);
    if (!fetched) sender.out = std::max(sender.out, end), sender.sent = true;
    receiver.in = std::max(receiver.in, end), receiver.received = true;
  }
  // All messages of the rank's step have happened: it combines, and enters the next one.
  COLLIGO_CONSTEXPR void leave(std::size_t r) {
    rank_at_play& me = at_[r];
    me.began = std::max(me.out, me.in);
    auto const& done = ranks_[r].steps[me.step];
    for (operand const& o : done)
      if (o.folds()) me.began += clock_.combine(o.combined());
    me.first += done.size();
    ++me.step;
    enter(r);
  }

  Clock clock_;
  std::vector<rank_steps> const& ranks_;
  std::vector<message> messages_;
  std::vector<std::vector<std::size_t>> of_rank_;      // of each rank, its messages in the order of its steps
  std::vector<rank_at_play> at_;
  std::vector<std::pair<double, std::size_t>> heap_;   // when a message can begin, and its index
  double finish_ = 0;
};

}  // namespace detail

template <class Clock>
COLLIGO_CONSTEXPR double schedule::play(Clock clock, std::vector<message>* happened) const {
  detail::clockwork<Clock> played(ranks_, matched<Clock>(), arithmetic_, clock);
  played.run(happened);
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (played.step_of(r) < ranks_[r].steps.size())
      fail(static_cast<int>(r),
           "waits for ever in its step " + std::to_string(played.step_of(r) + 1) + " if sends do not buffer");
  return played.finish();
}

}  // namespace colligo
