// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a front door asks of a model: the thin communicator concept. A model specialises port_of for its communicator type; open(comm)
/// gives the port, which is kept with the communicator: rank, size, scratch, the settings of the environment, and the way to run steps.
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/policy.hpp"
#include "memory.hpp"
#include "trace.hpp"

namespace colligo {

/// Specialised by models: static Port& open(Comm const&).
template <class Comm>
struct port_of {};

/// Something that the collectives can run over.
template <class Comm>
concept communicator = requires(Comm const& comm) { port_of<Comm>::open(comm); };

namespace detail {

/// The value of each collective's environment variable, empty where it is not set.
using settings = std::array<std::string, collectives.size()>;

inline settings settings_of_environment() {
  settings all;
  for (collective const c : collectives)
    if (char const* value = std::getenv(std::string(environment_variable(c)).c_str())) all[static_cast<std::size_t>(c)] = value;
  return all;
}

/// One contiguous part of an operand: what models execute. A range that wraps round the end of the vector has two.
struct piece {
  operand::kind what;
  int peer;
  range elements;
  own which;

  bool sends() const { return what == operand::kind::send; }
  bool folds() const { return what == operand::kind::fold; }
  bool combines_first() const { return sends() && which == own::both; }
};

/// Calls f for every piece of a step's operands in the order listed; those that vanish have none.
template <operand_list List, class F>
void for_each_piece(List const& list, F f) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    operand const o = list[i];
    if (o.vanishes()) continue;
    f(piece{o.what, o.peer, o.elements.head, o.which});
    if (!o.elements.tail.empty()) f(piece{o.what, o.peer, o.elements.tail, o.which});
  }
}

/// Whether an operand is one more fold into the same range.
inline bool joins(operand const& next, operand const& first) {
  return next.folds() && next.peer != nobody && next.which == own::result && next.elements == first.elements;
}

/// How many folds in a row, from the i-th operand on, combine into one range at once.
template <operand_list List>
std::size_t group_of_folds(List const& list, std::size_t i) {
  operand const first = list[i];
  std::size_t count = 1;
  if (first.elements.tail.empty() && first.which == own::result)
    while (i + count < list.size() && joins(list[i + count], first)) ++count;
  return count;
}

/// Combines into the vector what a step's folds have received, one after the other from `received` on.
template <operand_list List, class T, class Data>
void combine_received(List const& list, T const* received, int me, Data& data) {
  for (std::size_t i = 0, count; i < list.size(); i += count) {
    operand const o = list[i];
    count = 1;
    if (o.vanishes() || !o.folds()) continue;
    count = group_of_folds(list, i);
    range const head = o.elements.head, tail = o.elements.tail;
    if (count == 1) {
      data.combine(head, std::exchange(received, received + head.size()), o.peer < me, o.which);
      if (!tail.empty()) data.combine(tail, std::exchange(received, received + tail.size()), o.peer < me, o.which);
    } else {
      data.combine_in_order(head, me, count, [&](std::size_t k) { return std::pair(operand(list[i + k]).peer, received + k * head.size()); });
      received += count * head.size();
    }
  }
}

/// How many elements of scratch a step needs.
struct scratch_sizes {
  std::size_t received = 0, combined = 0, sends = 0;

  template <operand_list List>
  explicit scratch_sizes(List const& list) {
    for_each_piece(list, [this](piece const& p) {
      if (p.folds()) received += p.elements.size();
      if (p.combines_first()) combined += p.elements.size();
      if (p.sends()) ++sends;
    });
  }
};

/// What every port keeps.
class port_base {
 public:
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string const& setting(collective c) const { return settings_[static_cast<std::size_t>(c)]; }

  buffer received;   ///< what folds receive
  buffer combined;   ///< what sends combine before they leave
  buffer result;     ///< the working vector where the user gives none
  buffer input;      ///< the input where an in-place run needs it to the end
  std::vector<std::size_t> offsets;   ///< of the blocks of a v-collective
  std::vector<int> hosts;             ///< the host of each rank, as the lowest rank there; empty where all are on one
  std::unique_ptr<tracer> trace;      ///< none: its calls are not traced

 protected:
  int rank_ = 0, size_ = 1;
  settings settings_;
};

}  // namespace detail
}  // namespace colligo
