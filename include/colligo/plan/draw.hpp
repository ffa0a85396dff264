// SPDX-License-Identifier: BSL-1.0
/// @file
/// Schedules and trees as SVG pictures. With a map of the hosts, what goes between hosts is red, and counted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "svg.hpp"
#include "record.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A tree over the ranks: what shape/tree.hpp has, with the number of ranks as p or size().
template <class Tree>
concept drawable_tree = requires(Tree const& t) {
  { t.parent(0) } -> std::convertible_to<int>;
  { t.child(0, 0) } -> std::convertible_to<int>;
  { t.most_children() } -> std::convertible_to<int>;
} && (requires(Tree const& t) { t.size(); } || requires(Tree const& t) { t.p; });

namespace detail {

template <drawable_tree Tree>
constexpr int ranks_of(Tree const& t) {
  if constexpr (requires { t.size(); }) return static_cast<int>(t.size());
  else return t.p;
}

// The hosts of p ranks, numbered as they first appear.
class host_rows {
 public:
  host_rows(int p, std::span<int const> hosts) {
    if (!hosts.empty() && std::ssize(hosts) != p)
      throw argument_error("draw: " + std::to_string(hosts.size()) + " hosts for " + std::to_string(p) + " ranks");
    std::map<int, int> numbers;
    for (int const h : hosts) {
      int const number = numbers.emplace(h, static_cast<int>(numbers.size())).first->second;
      if (number == count()) ranks_.emplace_back(), names_.push_back("host " + std::to_string(h));
      ranks_[static_cast<std::size_t>(number)].push_back(static_cast<int>(of_.size()));
      of_.push_back(number);
    }
  }
  bool known() const { return !of_.empty(); }
  int count() const { return static_cast<int>(ranks_.size()); }
  int of(int rank) const { return known() ? of_[static_cast<std::size_t>(rank)] : 0; }
  bool apart(int a, int b) const { return of(a) != of(b); }
  std::string const& name(int host) const { return names_[static_cast<std::size_t>(host)]; }
  std::vector<int> const& ranks(int host) const { return ranks_[static_cast<std::size_t>(host)]; }

  std::string fill(int host) const {
    return "fill='hsl(" + std::to_string(known() ? 360 * host / count() : 210) + ",60%," +
           (host % 2 == 0 ? "86%" : "79%") + ")'";
  }
  // Of a message or an edge.
  std::string stroke(int a, int b, char const* within) const {
    return "stroke='" + std::string(apart(a, b) ? "#d62728" : within) + "' stroke-width='" +
           (known() && !apart(a, b) ? "2.2" : "1.5") + '\'';
  }
  std::string where(int rank) const {
    return "rank " + std::to_string(rank) + (known() ? " on " + name(of(rank)) : "");
  }

 private:
  std::vector<int> of_;
  std::vector<std::vector<int>> ranks_;
  std::vector<std::string> names_;
};

inline std::string text_of(cyclic_range const& r) {
  std::string text = std::to_string(r.head.first) + ".." + std::to_string(r.head.last);
  if (!r.tail.empty()) text += ',' + std::to_string(r.tail.first) + ".." + std::to_string(r.tail.last);
  return text;
}

template <drawable_tree Tree>
std::vector<int> children_of(Tree const& t, int rank) {
  std::vector<int> all;
  for (int i = 0; i < t.most_children(); ++i)
    if (int const c = t.child(rank, i); c != nobody) all.push_back(c);
  return all;
}

constexpr double width_of(std::size_t characters) { return 7.2 * static_cast<double>(characters); }

}  // namespace detail

/// Messages from one host to another. hosts[r] is the host of rank r. Throws argument_error unless there is one for
/// every rank (or none: one host).
inline std::size_t between_hosts(schedule const& s, std::span<int const> hosts) {
  detail::host_rows const map(s.size(), hosts);
  auto const all = s.messages_in_order();
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [&](message const& m) { return map.apart(m.from, m.to); }));
}
/// Edges from one host to another.
template <drawable_tree Tree>
std::size_t between_hosts(Tree const& t, std::span<int const> hosts) {
  int const p = detail::ranks_of(t);
  detail::host_rows const map(p, hosts);
  std::size_t count = 0;
  for (int r = 0; r < p; ++r)
    if (int const parent = t.parent(r); parent != nobody) count += map.apart(r, parent);
  return count;
}

/// The schedule as SVG: a row per rank, a column per round, and each message from its sender to its receiver with the
/// elements that it carries; a plus where the receiver combines. hosts[r] is the host of rank r; none: not shown.
/// Throws argument_error as between_hosts does, broken_law.
inline std::string draw(schedule const& s, std::span<int const> hosts = {}) {
  detail::host_rows const map(s.size(), hosts);
  auto const all = s.messages_in_order();
  std::map<std::pair<int, int>, std::vector<message const*>> sent;   // by round and sender
  for (message const& m : all) sent[{m.round, m.from}].push_back(&m);
  auto const label = [](std::vector<message const*> const& messages) {
    bool const same =
        std::ranges::all_of(messages, [&](message const* m) { return m->sent.elements == messages[0]->sent.elements; });
    return detail::text_of(messages[0]->sent.elements) + (same ? "" : " +" + std::to_string(messages.size() - 1));
  };
  std::size_t longest = 4;
  for (auto const& [_, messages] : sent) longest = std::max(longest, label(messages).size());

  std::ostringstream caption;
  caption << name_of(s.what()) << ", p = " << s.size() << ", n = " << s.elements() << ": " << s.rounds() << " rounds, "
          << all.size() << " messages";
  if (map.known()) caption << ", " << between_hosts(s, hosts) << " of them between " << map.count() << " hosts";
  double const row = s.size() <= 16 ? 40 : 28, top = 76, left = map.known() ? 150 : 80;
  double const stub = .85 * detail::width_of(longest) + 10;
  double const column = stub + std::clamp(6.0 * s.size(), 60.0, 130.0) + 24;
  double const width = std::max(left + column * s.rounds() + 30, detail::width_of(caption.str().size()) * 1.25 + 20);
  double const height = top + row * s.size() + 20;
  svg picture(width, height);
  picture.text(16, 24, caption.str(), "class='title'");

  // Ranks of a host are neighbours.
  std::vector<double> y_of(static_cast<std::size_t>(s.size()));
  auto const y = [&](int rank) -> double& { return y_of[static_cast<std::size_t>(rank)]; };
  double next = top;
  auto const seat = [&](int rank) {
    y(rank) = next + row / 2;
    picture.text(left - 14, y(rank) + 4, std::to_string(rank), "text-anchor='end'");
    picture.line(left, y(rank), left + column * s.rounds(), y(rank), "stroke='#000' stroke-opacity='.13'");
    next += row;
  };
  for (int h = 0; h < map.count(); ++h) {
    picture.box(10, next + 2, width - 20, row * static_cast<double>(map.ranks(h).size()) - 4,
                "rx='6' fill-opacity='.55' " + map.fill(h));
    picture.text(20, next + row * static_cast<double>(map.ranks(h).size()) / 2 + 4, map.name(h));
    std::ranges::for_each(map.ranks(h), seat);
  }
  for (int r = 0; r < s.size() && !map.known(); ++r) seat(r);

  auto const x = [&](int round) { return left + column * (round - 1); };
  for (int round = 1; round <= s.rounds(); ++round) {
    picture.text(x(round) + column / 2, 50, "round " + std::to_string(round), "text-anchor='middle'");
    picture.line(x(round), 58, x(round), height - 14, "stroke='#000' stroke-opacity='.2' stroke-dasharray='2 4'");
  }
  for (auto const& [at, messages] : sent) {
    auto const [round, from] = at;
    double const begin = x(round) + 6 + stub, end = x(round + 1) - 12;
    picture.text(x(round) + 8, y(from) - 4, label(messages), "class='small'");
    for (message const* m : messages) {
      char const* const within = map.known() ? "#5b6570" : m->received.folds() ? "#e07b12" : "#3a6ea5";
      auto const colour = map.stroke(from, m->to, within);
      std::string const tip = map.where(from) + " to " + map.where(m->to) + ": elements " +
                              detail::text_of(m->sent.elements) + (m->received.folds() ? ", combined" : "");
      picture.line(x(round) + 6, y(from), begin, y(from), colour, tip);
      if (!m->received.folds()) {
        picture.arrow(begin, y(from), end + 6, y(m->to), colour, tip);
        continue;
      }
      picture.line(begin, y(from), end, y(m->to), colour, tip);
      picture.disc(end, y(m->to), 6, "fill='#fff' " + colour, tip);
      picture.line(end - 3, y(m->to), end + 3, y(m->to), colour);
      picture.line(end, y(m->to) - 3, end, y(m->to) + 3, colour);
    }
  }
  return std::move(picture).str();
}

/// The tree as SVG, its root on top, children in the order in which they report; nodes are coloured by host.
/// hosts[r] is the host of rank r; none: not shown. Throws argument_error as between_hosts does.
/// Precondition: it is a tree.
template <drawable_tree Tree>
std::string draw(Tree const& t, std::span<int const> hosts = {}) {
  int const p = detail::ranks_of(t);
  detail::host_rows const map(p, hosts);
  constexpr double slot = 40, level_height = 78, radius = 14, top = 66, left = 34;

  // Leaves stand side by side, the others over the middle of their children.
  struct node { double x, y; };
  std::vector<node> nodes(static_cast<std::size_t>(p));
  int leaves = 0, depth = 0, root = nobody;
  auto const place = [&](auto const& self, int rank, int level) -> double {
    auto const children = detail::children_of(t, rank);
    double first = 0, last = 0;
    for (int const c : children) last = self(self, c, level + 1), first = c == children.front() ? last : first;
    if (children.empty()) first = last = left + slot * leaves++;
    nodes[static_cast<std::size_t>(rank)] = {(first + last) / 2, top + level_height * level};
    depth = std::max(depth, level);
    return (first + last) / 2;
  };
  for (int r = 0; r < p; ++r)
    if (t.parent(r) == nobody) root = r;
  if (root != nobody) place(place, root, 0);
  auto const at = [&](int rank) { return nodes[static_cast<std::size_t>(rank)]; };

  std::ostringstream caption;
  caption << p << " ranks, depth " << depth;
  if (map.known())
    caption << " on " << map.count() << " hosts: " << between_hosts(t, hosts) << " of " << std::max(0, p - 1)
            << " edges between hosts";
  // A swatch per host, as many in a line as fit.
  std::size_t longest = 0;
  auto const members = [&](int h) {
    std::string text = map.name(h) + ':';
    for (int const r : map.ranks(h)) text += ' ' + std::to_string(r);
    return text;
  };
  for (int h = 0; h < map.count(); ++h) longest = std::max(longest, members(h).size());
  double const swatch = detail::width_of(longest) + 36, bottom = top + level_height * depth + radius + 24;
  double const width =
      std::max({2 * left + slot * (leaves - 1), detail::width_of(caption.str().size()) * 1.25 + 20, swatch + 20});
  int const in_line = std::max(1, static_cast<int>((width - 20) / swatch));
  int const lines = (map.count() + in_line - 1) / in_line;
  svg picture(width, bottom + 22 * lines + 10);
  picture.text(16, 24, caption.str(), "class='title'");
  for (int r = 0; r < p; ++r)
    if (int const parent = t.parent(r); parent != nobody)
      picture.curve(at(parent).x, at(parent).y, at(r).x, at(r).y, map.stroke(r, parent, "#444"),
                    map.where(r) + " to " + map.where(parent));
  for (int r = 0; r < p; ++r) {
    picture.disc(at(r).x, at(r).y, radius, map.fill(map.of(r)) + " stroke='#444'", map.where(r));
    picture.text(at(r).x, at(r).y + 4, std::to_string(r), "text-anchor='middle'");
  }
  for (int h = 0; h < map.count(); ++h) {
    double const x = 16 + swatch * (h % in_line), y = bottom + 22 * (h / in_line);
    picture.box(x, y - 11, 14, 14, "stroke='#444' " + map.fill(h));
    picture.text(x + 20, y, members(h));
  }
  return std::move(picture).str();
}

}  // namespace colligo
