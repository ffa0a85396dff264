// SPDX-License-Identifier: BSL-1.0
/// @file
/// The schedule as data: record() (record.hpp) returns it, to be counted, priced, verified against the laws and
/// printed. Needs no MPI; works at compile time.
#pragma once

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/strings.hpp"
#include "verify.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// The largest sum over a rank's operands.
template <class Count>
COLLIGO_CONSTEXPR std::size_t most_of_any_rank(recorded const& all, Count count) {
  std::size_t most = 0;
  for (std::size_t r = 0; r < all.ranks.size(); ++r) {
    std::size_t sum = 0;
    for (auto const& operands : all.ranks[r])
      for (operand const& o : operands) sum += count(o);
    for (recorded_move const& alone : all.moves_of(r)) sum += count(alone.what);
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
  using step = detail::recorded_step;   ///< the operands of one step

  /// From each rank's steps.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR schedule(collective what, std::size_t n, std::vector<detail::rank_steps> said) : all_{what, n} {
    for (detail::rank_steps& one : said) {
      all_.scratch = std::max(all_.scratch, one.scratch);
      all_.arithmetic = std::max(all_.arithmetic, one.arithmetic);
      if (!one.algorithm.empty()) all_.algorithm = one.algorithm;
      all_.ranks.push_back(std::move(one.steps));
      all_.moves.push_back(std::move(one.moves));
    }
  }

  constexpr collective what() const { return all_.what; }
  constexpr std::string_view algorithm() const { return all_.algorithm; }   ///< its name, without knobs
  constexpr int size() const { return all_.size(); }          ///< p
  constexpr std::size_t elements() const { return all_.n; }   ///< n
  COLLIGO_CONSTEXPR std::vector<step> const& steps_of(int rank) const { return all_.steps_of(rank); }
  /// Indices beyond the vector that the algorithm uses.
  constexpr std::size_t scratch() const { return all_.scratch; }
  /// The most own work of any rank: moves and copied elements as recorded, steps as the policy declares.
  template <class Lazy = void>
  constexpr own_work work() const {
    auto const count = [this](auto its) {
      std::size_t most = 0;
      for (auto const& of_rank : all_.moves) {
        std::size_t sum = 0;
        for (detail::recorded_move const& alone : of_rank) sum += its(alone.what);
        most = std::max(most, sum);
      }
      return static_cast<double>(most);
    };
    return {count([](operand const&) { return std::size_t{1}; }),
            count([](operand const& o) { return o.merges() ? 0 : o.elements.head.size(); }), all_.arithmetic};
  }
  /// A rank's copies and merges, and after how many of its steps.
  COLLIGO_CONSTEXPR std::span<detail::recorded_move const> moves_of(int rank) const {
    return all_.moves_of(static_cast<std::size_t>(rank));
  }

  /// Rounds on the critical path: the longest chain of steps of which each needs the one before.
  template <class Clock = detail::rounds_clock>
  COLLIGO_CONSTEXPR int rounds() const { return static_cast<int>(play(Clock{})); }
  /// The most messages that any rank sends.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t messages() const {
    return detail::most_of_any_rank(all_, [](operand const& o) { return std::size_t{o.sends()}; });
  }
  /// The most elements that any rank sends.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t elements_sent() const {
    return detail::most_of_any_rank(all_, [](operand const& o) { return o.sends() ? o.elements.size() : 0; });
  }
  /// The most elements that any rank combines.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t elements_folded() const {
    return detail::most_of_any_rank(all_, [](operand const& o) { return o.combined(); });
  }
  /// Messages of all ranks together.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::size_t total_messages() const {
    std::size_t all = 0;
    for (auto const& rank : all_.ranks)
      for (auto const& operands : rank)
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
  COLLIGO_CONSTEXPR double play(Clock const& clock, std::vector<message>* happened = nullptr) const {
    return all_.play(clock, happened);
  }

  /// Throws broken_law, with the law and the place, unless every send meets a receive of the same size in order, no
  /// rank waits for ever even if sends do not buffer, the range of a recv overlaps nothing else in its step, peers
  /// exist and ranges lie in the vector.
  template <class Clock = detail::rounds_clock>
  COLLIGO_CONSTEXPR void verify() const {
    for (int r = 0; r < size(); ++r) {
      for (auto const& operands : steps_of(r)) all_.verify_step(r, operands);
      all_.verify_moves(r);
    }
    play(Clock{});
  }

  /// Prints the algorithm's name and the messages, round by round; `n..m` are elements n to m - 1, `+` means that the
  /// receiver combines.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, schedule const& s) {
    auto all = s.messages_in_order();
    std::stable_sort(all.begin(), all.end(), [](message const& a, message const& b) {
      return std::pair(a.round, a.from) < std::pair(b.round, b.from);
    });
    using detail::concat;   // independent of the locale
    out << concat({s.algorithm(), s.algorithm().empty() ? "" : ": ", name_of(s.what()), ", p = ", s.size(),
                     ", n = ", s.elements(), ": ", s.rounds(), " rounds, at most ", s.messages(), " messages, ",
                     s.elements_sent(), " elements sent and ", s.elements_folded(), " combined by any rank\n"});
    for (int round = 0; message const& m : all) {
      if (m.round != round) out << concat({round == 0 ? "" : "\n", "  round ", m.round, ":"});
      round = m.round;
      out << concat({"  ", m.from, m.received.folds() ? "->+" : "->", m.to, " ", detail::text_of(m.sent.elements)});
    }
    return out << (all.empty() ? "" : "\n");
  }

 private:
  detail::recorded all_;
};

}  // namespace colligo
