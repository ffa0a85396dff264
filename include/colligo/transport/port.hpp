// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a front door asks of a model: the thin communicator concept. A model specialises port_of for its communicator type; open(comm)
/// gives the port, which is kept with the communicator: rank, size, scratch, the settings of the environment, and the way to run steps.
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/policy.hpp"
#include "memory.hpp"
#include "../trace/trace.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Specialised by models: static Port& open(Comm const&).
template <class Comm>
struct port_of {};

/// Something that the collectives can run over.
template <class Comm>
concept communicator = requires(Comm const& comm) { port_of<Comm>::open(comm); };

namespace detail {

/// A tree file that the environment names: who named it, what it holds or why it can not be read. Not set: all empty.
struct tree_setting {
  std::string where, text, trouble;

  bool is_set() const { return !where.empty(); }
};

/// What the environment sets: the value of each collective's variable, empty where it is not set, and the trees of reductions and broadcasts.
struct settings {
  std::array<std::string, collectives.size()> algorithm;
  tree_setting reduce_tree, broadcast_tree;

  /// All of it, for those who hand it on.
  template <class F>
  void for_each_text(F f) {
    for (std::string& value : algorithm) f(value);
    for (tree_setting* t : {&reduce_tree, &broadcast_tree}) f(t->where), f(t->text), f(t->trouble);
  }
};

/// The file that the first of these variables that is set names.
inline tree_setting tree_of_environment(std::initializer_list<char const*> variables) {
  constexpr std::size_t longest = std::size_t{1} << 26;   // bytes; a million ranks need an eighth
  for (char const* const variable : variables) {
    char const* const path = std::getenv(variable);
    if (path == nullptr || *path == '\0') continue;
    tree_setting t{std::string(variable) + '=' + path, {}, {}};
    std::ifstream file(path, std::ios::binary);
    if (!file) return t.trouble = "cannot be opened", t;
    std::array<char, 4096> part;
    while (t.text.size() <= longest && file.read(part.data(), part.size()).gcount() > 0) t.text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (file.bad()) t.trouble = "cannot be read";
    if (t.text.size() > longest) t.trouble = "is too long for a tree, more than " + std::to_string(longest) + " bytes", t.text.clear();
    return t;
  }
  return {};
}

inline settings settings_of_environment() {
  settings all;
  for (collective const c : collectives)
    if (char const* value = std::getenv(std::string(environment_variable(c)).c_str())) all.algorithm[static_cast<std::size_t>(c)] = value;
  all.reduce_tree = tree_of_environment({"COLLIGO_REDUCE_TREE", "COLLIGO_TREE"});
  all.broadcast_tree = tree_of_environment({"COLLIGO_BROADCAST_TREE", "COLLIGO_TREE"});
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
  std::string const& setting(collective c) const { return settings_.algorithm[static_cast<std::size_t>(c)]; }
  tree_setting const& reduce_tree_setting() const { return settings_.reduce_tree; }
  tree_setting const& broadcast_tree_setting() const { return settings_.broadcast_tree; }

  buffer received;   ///< what folds receive
  buffer combined;   ///< what sends combine before they leave
  buffer result;     ///< the working vector where the user gives none
  buffer input;      ///< the input where an in-place run needs it to the end
  std::vector<std::size_t> offsets;   ///< of the blocks of a v-collective
  std::vector<int> hosts;             ///< the host of each rank, as the lowest rank there; empty where all are on one
  std::shared_ptr<void> trees;        ///< what select/known_trees.hpp has made of hosts and settings
  std::unique_ptr<tracer> trace;      ///< none: its calls are not traced

 protected:
  int rank_ = 0, size_ = 1;
  settings settings_;
};

}  // namespace detail
}  // namespace colligo
