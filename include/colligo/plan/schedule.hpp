// SPDX-License-Identifier: BSL-1.0
/// @file
/// The schedule as data: record() (record.hpp) returns it, to be counted, priced, verified against the laws and
/// printed. Needs no MPI; works at compile time.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/policy.hpp"
#include "../core/stable_order.hpp"
#include "../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE {

/// One message of a schedule: the `from_step`th step of rank `from` meets the `to_step`th of rank `to`.
struct message {
  int from, to;
  std::size_t from_step, to_step;
  operand sent, received;
  int round = 0;   ///< 1 + the longest chain of rounds that either end has behind it
};

namespace detail {

// A copy or merge of a rank.
struct recorded_move {
  std::size_t after;   // the number of the rank's steps before it
  operand what;
};

// One rank's steps.
struct rank_steps {
  std::vector<std::vector<operand>> steps{};   // the operands of each
  std::vector<recorded_move> moves{};
  std::size_t scratch = 0;   // elements beyond the vector
  double arithmetic = 0;     // own_work::steps, before the first message
  std::string_view algorithm{};   // its name, a literal
  bool by_arrival = false;   // some folds are combined in order of arrival
};

// Base of clocks for machines on which ranks share no links and fetch nothing.
struct own_ways {
  static COLLIGO_CONSTEXPR bool fetches(message const&) { return false; }
  static COLLIGO_CONSTEXPR double free_at(message const&) { return 0; }
  static COLLIGO_CONSTEXPR void take(message const&, double) {}
};

// Every message takes one round.
struct rounds_clock : own_ways {
  static constexpr bool one_port = false;
  COLLIGO_CONSTEXPR double transfer(message const&, bool, bool) const { return 1; }
  COLLIGO_CONSTEXPR double combine(std::size_t) const { return 0; }
  COLLIGO_CONSTEXPR double alone(own_work const&) const { return 0; }
};

// The largest sum over a rank's operands.
template <class Count>
COLLIGO_CONSTEXPR std::size_t most_of_any_rank(std::vector<rank_steps> const& ranks, Count count) {
  std::size_t most = 0;
  for (rank_steps const& rank : ranks) {
    std::size_t sum = 0;
    for (auto const& operands : rank.steps)
      for (operand const& o : operands) sum += count(o);
    for (recorded_move const& alone : rank.moves) sum += count(alone.what);
    most = std::max(most, sum);
  }
  return most;
}

/// "0..4,8..10"
template <class Lazy = void>
std::string text_of(cyclic_range const& r) {
  auto const& [head, tail] = r;
  if (tail.empty()) return concat({head.first, "..", head.last});
  return concat({head.first, "..", head.last, ",", tail.first, "..", tail.last});
}

}  // namespace detail

/// All steps of all ranks. Operands that vanish are not in it.
class schedule {
 public:
  using step = std::vector<operand>;   ///< the operands of one step

  /// From each rank's steps.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR schedule(collective what, std::size_t n, std::vector<detail::rank_steps> ranks)
      : what_(what), n_(n), ranks_(std::move(ranks)) {
    for (detail::rank_steps const& one : ranks_) {
      scratch_ = std::max(scratch_, one.scratch);
      arithmetic_ = std::max(arithmetic_, one.arithmetic);
      by_arrival_ = by_arrival_ || one.by_arrival;
      if (!one.algorithm.empty()) algorithm_ = one.algorithm;
    }
  }

  COLLIGO_CONSTEXPR collective what() const { return what_; }
  COLLIGO_CONSTEXPR std::string_view algorithm() const { return algorithm_; }             ///< its name, without knobs
  COLLIGO_CONSTEXPR int size() const { return static_cast<int>(ranks_.size()); }          ///< p
  COLLIGO_CONSTEXPR std::size_t elements() const { return n_; }                           ///< n
  COLLIGO_CONSTEXPR std::vector<step> const& steps_of(int rank) const { return of(rank).steps; }
  /// A rank's copies and merges, and after how many of its steps.
  COLLIGO_CONSTEXPR std::vector<detail::recorded_move> const& moves_of(int rank) const { return of(rank).moves; }
  /// Indices beyond the vector that the algorithm uses.
  COLLIGO_CONSTEXPR std::size_t scratch() const { return scratch_; }
  /// Some folds are combined in order of arrival, which is unknown over messages.
  COLLIGO_CONSTEXPR bool by_arrival() const { return by_arrival_; }
  /// The most own work of any rank: moves and copied elements as recorded, steps as the policy declares.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR own_work work() const {
    auto const moves = detail::most_of_any_rank(ranks_, [](operand const& o) { return std::size_t{o.moves()}; });
    auto const copied = detail::most_of_any_rank(ranks_, [](operand const& o) {
      return o.what == operand::kind::copy ? o.elements.head.size() : 0;
    });
    return {static_cast<double>(moves), static_cast<double>(copied), arithmetic_};
  }

  /// Rounds on the critical path: the longest chain of steps of which each needs the one before.
  template <class Clock = detail::rounds_clock>
  COLLIGO_CONSTEXPR int rounds() const { return static_cast<int>(play(Clock{})); }
  /// The most messages that any rank sends.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t messages() const {
    return detail::most_of_any_rank(ranks_, [](operand const& o) { return std::size_t{o.sends()}; });
  }
  /// The most elements that any rank sends.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t elements_sent() const {
    return detail::most_of_any_rank(ranks_, [](operand const& o) { return o.sends() ? o.elements.size() : 0; });
  }
  /// The most elements that any rank combines.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t elements_folded() const {
    return detail::most_of_any_rank(ranks_, [](operand const& o) { return o.combined(); });
  }
  /// Messages of all ranks together.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t total_messages() const {
    std::size_t all = 0;
    for (detail::rank_steps const& rank : ranks_)
      for (step const& operands : rank.steps)
        for (operand const& o : operands) all += o.sends();
    return all;
  }

  /// Every message with its round, in an order in which they can happen when sends do not buffer. Throws as verify()
  /// does.
  template <class Clock = detail::rounds_clock>
  COLLIGO_CONSTEXPR std::vector<message> messages_in_order() const {
    std::vector<message> all;
    play(Clock{}, &all);
    return all;
  }

  /// The time when the last rank is done, by this clock (see plan/price.hpp for seconds). Throws as verify() does.
  template <class Clock>
  COLLIGO_CONSTEXPR double play(Clock clock, std::vector<message>* happened = nullptr) const;

  /// Throws broken_law, with the law and the place, unless every send meets a receive of the same size in order, no
  /// rank waits for ever even if sends do not buffer, the range of a recv overlaps nothing else in its step, peers
  /// exist and ranges lie in the vector.
  template <class Clock = detail::rounds_clock>
  COLLIGO_CONSTEXPR void verify() const {
    for (int r = 0; r < size(); ++r) {
      for (step const& operands : steps_of(r)) verify_step(r, operands);
      verify_moves(r);
    }
    play(Clock{});
  }

  /// Prints the algorithm's name and the messages, round by round; `n..m` are elements n to m - 1, `+` means that the
  /// receiver combines.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, schedule const& s) {
    auto all = s.messages_in_order();
    detail::sort_stably(all, [](message const& m) { return std::pair(m.round, m.from); });
    using detail::concat, detail::with_number;   // independent of the locale
    auto const number = [](auto n, std::string_view of) { return with_number(static_cast<std::size_t>(n), of); };
    out << concat({s.algorithm(), s.algorithm().empty() ? "" : ": ", name_of(s.what()), ", p = ", s.size(),
                     ", n = ", s.elements(), ": ", number(s.rounds(), "round"), ", at most ",
                     number(s.messages(), "message"), ", ", number(s.elements_sent(), "element"), " sent and ",
                     s.elements_folded(), " combined by any rank\n"});
    for (int round = 0; message const& m : all) {
      if (m.round != round) out << concat({round == 0 ? "" : "\n", "  round ", m.round, ":"});
      round = m.round;
      out << concat({"  ", m.from, m.received.folds() ? "->+" : "->", m.to, " ", detail::text_of(m.sent.elements)});
    }
    return out << (all.empty() ? "" : "\n");
  }

 private:
  COLLIGO_CONSTEXPR detail::rank_steps const& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  template <class Lazy = void>
  [[noreturn]] void fail(int rank, std::string const& why) const;
  template <class Lazy = void>
  COLLIGO_CONSTEXPR void verify_step(int r, step const& operands) const;
  template <class Lazy = void>
  COLLIGO_CONSTEXPR void verify_moves(int r) const;
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::vector<message> matched() const;

  collective what_;
  std::size_t n_, scratch_ = 0;
  double arithmetic_ = 0;
  std::string_view algorithm_{};
  bool by_arrival_ = false;
  std::vector<detail::rank_steps> ranks_;
};

}  // namespace colligo

#include "play.hpp"
#include "verify.hpp"
