// SPDX-License-Identifier: BSL-1.0
/// @file
/// Model: the schedule as data. record(algorithm, collective, p, n) runs the text for every rank and keeps what it says; the schedule
/// is counted, priced, verified against the laws and printed. Needs no MPI; works at compile time.
#pragma once

#include <algorithm>
#include <ostream>
#include <ranges>
#include <string>
#include <tuple>
#include <vector>

#include "../core/error.hpp"
#include "../core/policy.hpp"

namespace colligo::inline COLLIGO_MODE {

/// One message of a schedule: the `from_step`th step of rank `from` meets the `to_step`th of rank `to`.
struct message {
  int from, to;
  std::size_t from_step, to_step;
  operand sent, received;
  int round = 0;   ///< 1 + the longest chain of rounds that either end has behind it
};

namespace detail {

// Every message takes one round.
struct rounds_clock {
  static constexpr bool one_port = false;
  constexpr double transfer(std::size_t, bool) const { return 1; }
  constexpr double combine(std::size_t) const { return 0; }
};

// The largest sum over a rank's operands.
template <class Count>
constexpr std::size_t most_of_any_rank(std::vector<std::vector<std::vector<operand>>> const& ranks, Count count) {
  std::size_t most = 0;
  for (auto const& rank : ranks) {
    std::size_t sum = 0;
    for (auto const& operands : rank)
      for (operand const& o : operands) sum += count(o);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace detail

/// All steps of all ranks. Operands that vanish are not in it.
class schedule {
 public:
  using step = std::vector<operand>;   ///< the operands of one step

  constexpr schedule(collective what, std::size_t n, std::vector<std::vector<step>> ranks) : what_(what), n_(n), ranks_(std::move(ranks)) {}

  constexpr collective what() const { return what_; }
  constexpr int size() const { return static_cast<int>(ranks_.size()); }                          ///< p
  constexpr std::size_t elements() const { return n_; }                                           ///< n
  constexpr std::vector<step> const& steps_of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  /// Rounds on the critical path: the longest chain of steps of which each needs the one before.
  constexpr int rounds() const { return static_cast<int>(play(detail::rounds_clock{})); }
  /// The most messages that any rank sends.
  constexpr std::size_t messages() const { return detail::most_of_any_rank(ranks_, [](operand const& o) { return std::size_t{o.sends()}; }); }
  /// The most elements that any rank sends.
  constexpr std::size_t elements_sent() const { return detail::most_of_any_rank(ranks_, [](operand const& o) { return o.sends() ? o.elements.size() : 0; }); }
  /// The most elements that any rank combines.
  constexpr std::size_t elements_folded() const {
    return detail::most_of_any_rank(ranks_, [](operand const& o) { return o.combined(); });
  }
  /// Messages of all ranks together.
  constexpr std::size_t total_messages() const {
    std::size_t all = 0;
    for (auto const& rank : ranks_)
      for (auto const& operands : rank) all += static_cast<std::size_t>(std::ranges::count_if(operands, &operand::sends));
    return all;
  }

  /// Every message with its round, in an order in which they can happen when sends do not buffer. Throws as verify() does.
  constexpr std::vector<message> messages_in_order() const;

  /// When the last rank is done, by this clock (see plan/price.hpp for seconds). Throws as verify() does.
  template <class Clock>
  constexpr double play(Clock const& clock, std::vector<message>* happened = nullptr) const;

  /// Throws broken_law, saying which and where: every send meets a receive of the same size in order; nobody waits for ever even if
  /// sends do not buffer; what recv writes overlaps nothing else in its step; peers exist and ranges lie in the vector.
  constexpr void verify() const {
    for (int r = 0; r < size(); ++r)
      for (auto const& operands : steps_of(r)) verify_step(r, operands);
    play(detail::rounds_clock{});
  }

  /// Prints who sends what to whom, round by round; `n..m` are elements n to m - 1, `+` means that the receiver combines.
  friend std::ostream& operator<<(std::ostream& out, schedule const& s) {
    auto all = s.messages_in_order();
    std::ranges::stable_sort(all, {}, [](message const& m) { return std::pair(m.round, m.from); });
    out << name_of(s.what_) << ", p = " << s.size() << ", n = " << s.n_ << ": " << s.rounds() << " rounds, at most " << s.messages()
        << " messages, " << s.elements_sent() << " elements sent and " << s.elements_folded() << " combined by any rank\n";
    for (int round = 0; message const& m : all) {
      if (m.round != round) out << (round == 0 ? "" : "\n") << "  round " << m.round << ':';
      round = m.round;
      auto const& [head, tail] = m.sent.elements;
      out << "  " << m.from << (m.received.folds() ? "->+" : "->") << m.to << ' ' << head.first << ".." << head.last;
      if (!tail.empty()) out << ',' << tail.first << ".." << tail.last;
    }
    return out << (all.empty() ? "" : "\n");
  }

 private:
  [[noreturn]] void fail(int rank, std::string const& why) const {
    throw broken_law(std::string(name_of(what_)) + ", p = " + std::to_string(size()) + ", n = " + std::to_string(n_) + ", rank " +
                     std::to_string(rank) + ": " + why);
  }

  constexpr void verify_step(int r, step const& operands) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operand const& a = operands[i];
      if (a.peer < 0 || a.peer >= size()) fail(r, "names rank " + std::to_string(a.peer) + ", which does not exist");
      if (a.peer == r) fail(r, "sends to itself");
      for (range const piece : {a.elements.head, a.elements.tail})
        if (piece.first > piece.last || piece.last > n_) fail(r, "names elements outside of the vector");
      bool const grouped = i > 0 && a.folds() && operands[i - 1].folds() && a.elements == operands[i - 1].elements;
      if (grouped && a.peer < operands[i - 1].peer) fail(r, "folds into one range from ranks that are not listed in ascending order (law 2)");
      if (a.what != operand::kind::recv) continue;
      for (std::size_t j = 0; j < operands.size(); ++j)
        if (i != j && operands[j].which != own::input && overlap(a.elements, operands[j].elements)) fail(r, "receives over elements that the same step uses (law 2)");
    }
  }

  constexpr std::vector<message> matched() const;

  collective what_;
  std::size_t n_;
  std::vector<std::vector<step>> ranks_;
};

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

/// Calls f.operator()<C>() for a collective that is known at run time only.
template <class F>
constexpr auto for_collective(collective what, F f) {
  using enum collective;
  switch (what) {
    case all_reduce: return f.template operator()<all_reduce>();
    case reduce: return f.template operator()<reduce>();
    case broadcast: return f.template operator()<broadcast>();
    case all_gather: return f.template operator()<all_gather>();
    case all_gatherv: return f.template operator()<all_gatherv>();
    case gather: return f.template operator()<gather>();
    case gatherv: return f.template operator()<gatherv>();
    case scatter: return f.template operator()<scatter>();
    case scatterv: return f.template operator()<scatterv>();
    case reduce_scatter: return f.template operator()<reduce_scatter>();
    case reduce_scatter_block: return f.template operator()<reduce_scatter_block>();
    case scan: return f.template operator()<scan>();
    case exclusive_scan: return f.template operator()<exclusive_scan>();
    case barrier: return f.template operator()<barrier>();
  }
  throw argument_error("colligo: no such collective");
}

struct any_functor {};

/// The schedule of one algorithm of the collective C.
template <collective C, class T, class Tag>
constexpr schedule record_blocks(Tag const& tag, blocks const& vector, int root) {
  std::vector<std::vector<schedule::step>> ranks;
  for (int r = 0; r < vector.parts; ++r) {
    recorder step(r, vector.parts);
    if constexpr (!offers<Tag, C, T, any_functor>)
      throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Tag::name) + " is no algorithm of this collective");
    else if constexpr (!has_text<policy_t<C, Tag, T, any_functor>>())
      throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Tag::name) + " has no schedule, it is not made of steps");
    else {
      auto const policy = make_policy<C, Tag, T, any_functor>(tag);
      if (int const p = made_for(policy, vector.parts); p != vector.parts)
        throw argument_error(std::string(name_of(C)) + ": " + std::string(Tag::name) + " is made for " + std::to_string(p) + " ranks, not for " + std::to_string(vector.parts));
      apply<C>(policy, step, vector, root);
    }
    ranks.push_back(std::move(step).take());
  }
  return schedule(C, C == collective::barrier ? 2 : vector.whole.size(), std::move(ranks));
}

}  // namespace detail

/// The schedule of all p ranks for a vector of n elements: for collectives on blocks all blocks together, which are as even as can be.
/// Knobs in bytes count with T, by default one byte an element. Precondition: p >= 1, 0 <= root < p. Cost: as the schedule is long.
template <class T = std::byte, algorithm Tag>
constexpr schedule record(Tag const& tag, collective what, int p, std::size_t n, int root = 0) {
  return detail::for_collective(what, [&]<collective C>() { return detail::record_blocks<C, T>(tag, blocks{{0, n}, p}, root); });
}

/// The same for blocks of these sizes: counts[i] elements for rank i.
template <class T = std::byte, algorithm Tag, std::ranges::sized_range Counts>
constexpr schedule record(Tag const& tag, collective what, int p, Counts const& counts, int root = 0) {
  if (std::ranges::size(counts) != static_cast<std::size_t>(p)) throw argument_error("record: " + std::to_string(std::ranges::size(counts)) + " counts for " + std::to_string(p) + " ranks");
  std::vector<std::size_t> offsets{0};
  for (auto const count : counts) offsets.push_back(offsets.back() + static_cast<std::size_t>(count));
  return detail::for_collective(what, [&]<collective C>() { return detail::record_blocks<C, T>(tag, blocks{{0, offsets.back()}, p, offsets.data()}, root); });
}

// Law 5: between two ranks, the k-th send meets the k-th receive.
constexpr std::vector<message> schedule::matched() const {
  struct end { int from, to; std::size_t step, place; operand what; };
  std::vector<end> sends, receives;
  for (int r = 0; r < size(); ++r)
    for (std::size_t s = 0; s < steps_of(r).size(); ++s)
      for (std::size_t i = 0; i < steps_of(r)[s].size(); ++i) {
        operand const& o = steps_of(r)[s][i];
        (o.sends() ? sends : receives).push_back(o.sends() ? end{r, o.peer, s, i, o} : end{o.peer, r, s, i, o});
      }
  auto const key = [](end const& e) { return std::tuple(e.from, e.to, e.step, e.place); };
  std::ranges::sort(sends, {}, key);
  std::ranges::sort(receives, {}, key);
  std::vector<message> all;
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    bool const both = i < sends.size() && i < receives.size() && sends[i].from == receives[i].from && sends[i].to == receives[i].to;
    if (!both) {
      bool const send_is_lonely = i >= receives.size() || (i < sends.size() && std::pair(sends[i].from, sends[i].to) < std::pair(receives[i].from, receives[i].to));
      end const& e = send_is_lonely ? sends[i] : receives[i];
      fail(send_is_lonely ? e.from : e.to, send_is_lonely ? "sends to rank " + std::to_string(e.to) + ", which does not receive (law 5)"
                                                          : "receives from rank " + std::to_string(e.from) + ", which does not send (law 5)");
    }
    if (sends[i].what.elements.size() != receives[i].what.elements.size())
      fail(sends[i].from, "sends " + std::to_string(sends[i].what.elements.size()) + " elements to rank " + std::to_string(sends[i].to) +
                              ", which expects " + std::to_string(receives[i].what.elements.size()) + " (law 5)");
    all.push_back({sends[i].from, sends[i].to, sends[i].step, receives[i].step, sends[i].what, receives[i].what});
  }
  return all;
}

// A message happens when both ends have reached its step; a step ends when all its messages have happened and been combined.
template <class Clock>
constexpr double schedule::play(Clock const& clock, std::vector<message>* happened) const {
  auto all = matched();
  auto const p = ranks_.size();
  auto const index = [](int rank) { return static_cast<std::size_t>(rank); };
  std::vector<std::vector<std::size_t>> of_rank(p);
  auto const step_at = [&](std::size_t i, std::size_t r) { return index(all[i].from) == r ? all[i].from_step : all[i].to_step; };
  for (std::size_t i = 0; i < all.size(); ++i) of_rank[index(all[i].from)].push_back(i), of_rank[index(all[i].to)].push_back(i);
  for (std::size_t r = 0; r < p; ++r) std::ranges::sort(of_rank[r], {}, [&](std::size_t i) { return std::pair(step_at(i, r), i); });

  // Per rank: the step that it is in and when that began, when its ways out and in are free, where its messages begin.
  struct state { std::size_t step = 0, first = 0, open = 0; double began = 0, out = 0, in = 0; };
  std::vector<state> at(p);
  std::vector<std::size_t> candidates;
  auto const enter = [&](std::size_t r) {
    state& me = at[r];
    me.out = me.in = me.began;
    if (me.step < ranks_[r].size())
      for (operand const& o : ranks_[r][me.step])
        if (o.sends()) me.out += clock.combine(o.combined());   // before it can leave
    me.open = me.step < ranks_[r].size() ? ranks_[r][me.step].size() : 0;
    for (std::size_t k = me.first; k < me.first + me.open; ++k) {
      std::size_t const i = of_rank[r][k], peer = index(all[i].from) == r ? index(all[i].to) : index(all[i].from);
      if (at[peer].open != 0 && at[peer].step == step_at(i, peer)) candidates.push_back(i);
    }
  };
  auto const start_of = [&](std::size_t i) {
    state const &from = at[index(all[i].from)], &to = at[index(all[i].to)];
    return Clock::one_port ? std::max(from.out, to.in) : std::max(from.began, to.began);
  };
  for (std::size_t r = 0; r < p; ++r) enter(r);

  double finish = 0;
  while (!candidates.empty()) {
    auto const chosen = std::ranges::min_element(candidates, {}, [&](std::size_t i) { return std::pair(start_of(i), i); });
    message& m = all[*chosen];
    double const start = start_of(*chosen);
    candidates.erase(chosen);
    auto const from = index(m.from), to = index(m.to);
    bool const both_ways = !std::ranges::all_of(ranks_[from][m.from_step], &operand::sends) || std::ranges::any_of(ranks_[to][m.to_step], &operand::sends);
    double const end = start + clock.transfer(m.sent.elements.size(), both_ways);
    m.round = 1 + static_cast<int>(start);
    if (happened) happened->push_back(m);
    at[from].out = std::max(at[from].out, end);
    at[to].in = std::max(at[to].in, end);
    for (std::size_t const r : {from, to}) {
      state& me = at[r];
      if (--me.open != 0) continue;
      me.began = std::max(me.out, me.in);
      for (operand const& o : ranks_[r][me.step])
        if (o.folds()) me.began += clock.combine(o.combined());
      finish = std::max(finish, me.began);
      me.first += ranks_[r][me.step].size();
      ++me.step;
      enter(r);
    }
  }
  for (std::size_t r = 0; r < p; ++r)
    if (at[r].step < ranks_[r].size()) fail(static_cast<int>(r), "waits for ever in its step " + std::to_string(at[r].step + 1) + " if sends do not buffer");
  return finish;
}

constexpr std::vector<message> schedule::messages_in_order() const {
  std::vector<message> all;
  play(detail::rounds_clock{}, &all);
  return all;
}

}  // namespace colligo
