// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of schedule.hpp that check the steps of all ranks against the laws of core/step.hpp. They work at compile
/// time too.
#pragma once

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

}  // namespace colligo
