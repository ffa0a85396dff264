// SPDX-License-Identifier: BSL-1.0
/// @file
/// Schedules and trees as SVG pictures. With a map of the hosts, messages between hosts are red, and counted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../plan/recorder.hpp"
#include "svg.hpp"

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
      throw argument_error("colligo: draw: " + std::to_string(hosts.size()) + " hosts for " + std::to_string(p) +
                           " ranks");
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
  // The attributes of a message's or an edge's line.
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

namespace detail {

/// A column of a schedule's picture: one round, or several whose messages have the same ends.
struct folded_rounds {
  int first = 1, last = 1;
  std::map<int, std::vector<message const*>> sent;   // in round `first`, by sender

  int count() const { return last - first + 1; }
  std::string title() const {
    return count() == 1 ? "round " + std::to_string(first)
                        : "rounds " + std::to_string(first) + " to " + std::to_string(last) + " (x " +
                              std::to_string(count()) + ')';
  }
  bool has_ends_of(folded_rounds const& other) const {
    return std::ranges::equal(sent, other.sent, [](auto const& a, auto const& b) {
      return a.first == b.first && std::ranges::equal(a.second, b.second, [](message const* one, message const* two) {
               return one->to == two->to && one->received.folds() == two->received.folds();
             });
    });
  }
};

/// Three or more such rounds in a row are one column; two remain two.
inline std::vector<folded_rounds> fold_rounds(std::vector<message> const& all, int rounds) {
  std::vector<folded_rounds> each(static_cast<std::size_t>(rounds));
  for (int round = 1; auto& one : each) one.first = one.last = round++;
  for (message const& m : all) each[static_cast<std::size_t>(m.round - 1)].sent[m.from].push_back(&m);
  std::vector<folded_rounds> columns;
  for (auto next = each.begin(); next != each.end();) {
    auto const end = std::find_if_not(next, each.end(), [&](auto const& other) { return other.has_ends_of(*next); });
    if (end - next >= 3) columns.push_back(*next), columns.back().last = (end - 1)->last;
    else columns.insert(columns.end(), next, end);
    next = end;
  }
  return columns;
}

}  // namespace detail

/// The schedule as SVG: a row per rank, a column per round, and each message from its sender to its receiver with the
/// elements that it carries; a plus where the receiver combines. Three or more rounds in a row whose messages have the
/// same ends are one column, with the elements of the first. hosts[r] is the host of rank r; none: not shown. `name`
/// begins the title; none: the algorithm's. Throws argument_error as between_hosts does, broken_law.
inline std::string draw(schedule const& s, std::span<int const> hosts = {}, std::string_view name = {}) {
  if (name.empty()) name = s.algorithm();
  detail::host_rows const map(s.size(), hosts);
  auto const all = s.messages_in_order();
  auto const columns = detail::fold_rounds(all, s.rounds());
  auto const label = [](detail::folded_rounds const& rounds, std::vector<message const*> const& messages) {
    bool const same =
        std::ranges::all_of(messages, [&](message const* m) { return m->sent.elements == messages[0]->sent.elements; });
    return detail::text_of(messages[0]->sent.elements) + (same ? "" : " +" + std::to_string(messages.size() - 1)) +
           (rounds.count() > 1 ? " ..." : "");
  };
  std::size_t longest = 4;
  for (auto const& rounds : columns)
    for (auto const& [_, messages] : rounds.sent) longest = std::max(longest, label(rounds, messages).size());

  std::string caption = detail::concat({name, name.empty() ? "" : ": ", name_of(s.what()), ", p = ", s.size(),
                                          ", n = ", s.elements(), ": ",
                                          detail::with_number(static_cast<std::size_t>(s.rounds()), "round"), ", ",
                                          detail::with_number(all.size(), "message")});
  if (map.known())
    caption += detail::concat({", ", between_hosts(s, hosts), " of them between ",
                               detail::with_number(static_cast<std::size_t>(map.count()), "host")});
  double const count = static_cast<double>(columns.size());
  double const row = s.size() <= 16 ? 40 : 28, top = 76, left = map.known() ? 150 : 80;
  double const stub = .85 * detail::width_of(longest) + 10;
  std::size_t title = 0;
  for (auto const& rounds : columns) title = std::max(title, rounds.title().size());
  double const column =
      std::max(stub + std::clamp(6.0 * s.size(), 60.0, 130.0) + 24, detail::width_of(title) + 16);
  double const width =
      std::max({left + column * count + 30, detail::width_of(caption.size()) * 1.25 + 20, 560.0});
  double const bottom = top + row * s.size() + 20, height = bottom + 26;
  svg picture(width, height);
  picture.text(16, 24, caption, "class='title'");

  // Ranks of a host are neighbours.
  std::vector<double> y_of(static_cast<std::size_t>(s.size()));
  auto const y = [&](int rank) -> double& { return y_of[static_cast<std::size_t>(rank)]; };
  double next = top;
  auto const seat = [&](int rank) {
    y(rank) = next + row / 2;
    picture.text(left - 14, y(rank) + 4, std::to_string(rank), "text-anchor='end'");
    picture.line(left, y(rank), left + column * count, y(rank), "stroke='#000' stroke-opacity='.13'");
    next += row;
  };
  for (int h = 0; h < map.count(); ++h) {
    picture.box(10, next + 2, width - 20, row * static_cast<double>(map.ranks(h).size()) - 4,
                "rx='6' fill-opacity='.55' " + map.fill(h));
    picture.text(20, next + row * static_cast<double>(map.ranks(h).size()) / 2 + 4, map.name(h));
    std::ranges::for_each(map.ranks(h), seat);
  }
  for (int r = 0; r < s.size() && !map.known(); ++r) seat(r);
  picture.text(left - 14, 50, "rank", "text-anchor='end'");

  auto const combined = [&](double at_x, double at_y, std::string const& colour, std::string const& tip) {
    picture.disc(at_x, at_y, 6, "fill='#fff' " + colour, tip);
    picture.line(at_x - 3, at_y, at_x + 3, at_y, colour);
    picture.line(at_x, at_y - 3, at_x, at_y + 3, colour);
  };
  double left_of = left;
  for (auto const& rounds : columns) {
    double const x = left_of;
    left_of += column;
    picture.text(x + column / 2, 50, rounds.title(), "text-anchor='middle'");
    picture.line(x, 58, x, bottom - 14, "stroke='#000' stroke-opacity='.2' stroke-dasharray='2 4'");
    for (auto const& [from, messages] : rounds.sent) {
      double const begin = x + 6 + stub, end = left_of - 12;
      picture.text(x + 8, y(from) - 4, label(rounds, messages), "class='small'");
      for (message const* m : messages) {
        char const* const within = map.known() ? "#5b6570" : m->received.folds() ? "#e07b12" : "#3a6ea5";
        auto const colour = map.stroke(from, m->to, within);
        std::string const tip = map.where(from) + " to " + map.where(m->to) + ": elements " +
                                detail::text_of(m->sent.elements) + (m->received.folds() ? ", combined" : "");
        picture.line(x + 6, y(from), begin, y(from), colour, tip);
        if (m->received.folds()) {
          picture.line(begin, y(from), end, y(m->to), colour, tip);
          combined(end, y(m->to), colour, tip);
        } else {
          picture.arrow(begin, y(from), end + 6, y(m->to), colour, tip);
        }
      }
    }
  }

  // The legend, of what there is.
  double at = 16;
  auto const explain = [&](std::string const& stroke, bool combines, std::string_view words) {
    std::string const colour = "stroke='" + stroke + "' stroke-width='1.5'";
    if (combines) picture.line(at, bottom, at + 20, bottom, colour), combined(at + 20, bottom, colour, {});
    else picture.arrow(at, bottom, at + 26, bottom, colour);
    picture.text(at + 34, bottom + 4, words, "class='small'");
    at += 54 + 6 * static_cast<double>(words.size());
  };
  auto const folds = [](message const& m) { return m.received.folds(); };
  bool const combines = std::ranges::any_of(all, folds), copies = !std::ranges::all_of(all, folds);
  if (copies) explain(map.known() ? "#5b6570" : "#3a6ea5", false, "elements sent, and copied");
  if (combines) explain(map.known() ? "#5b6570" : "#e07b12", true, "elements sent, and combined");
  if (between_hosts(s, hosts) > 0) explain("#d62728", false, "between hosts");
  return std::move(picture).str();
}

/// The tree as SVG, its root on top, children in the order in which they report; nodes are coloured by host.
/// hosts[r] is the host of rank r; none: not shown. Throws argument_error as between_hosts does.
/// `name` begins the title. Precondition: it is a tree.
template <drawable_tree Tree>
std::string draw(Tree const& t, std::span<int const> hosts = {}, std::string_view name = {}) {
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

  std::string caption = detail::concat({name, name.empty() ? "" : ": ",
                                        detail::with_number(static_cast<std::size_t>(p), "rank"), ", depth ", depth});
  if (map.known())
    caption += detail::concat({" on ", detail::with_number(static_cast<std::size_t>(map.count()), "host"), ": ",
                               between_hosts(t, hosts), " of ", std::max(0, p - 1),
                                 " edges between hosts"});
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
      std::max({2 * left + slot * (leaves - 1), detail::width_of(caption.size()) * 1.25 + 20, swatch + 20});
  int const in_line = std::max(1, static_cast<int>((width - 20) / swatch));
  int const lines = (map.count() + in_line - 1) / in_line;
  svg picture(width, bottom + 22 * lines + 10);
  picture.text(16, 24, caption, "class='title'");
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
