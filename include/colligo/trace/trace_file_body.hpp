// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bodies of trace_file.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/words.hpp"
#include "../plan/svg.hpp"
#include "trace_file.hpp"

namespace colligo::inline COLLIGO_MODE {

COLLIGO_BODY std::vector<traced_message> messages_of(std::span<trace_log const> logs) {
  std::map<std::tuple<std::uint64_t, int, int>, std::vector<trace_event>> sends;
  for (trace_log const& log : logs)
    for (trace_event const& e : log.events())
      if (e.what == trace_event::kind::send) sends[{e.communicator, log.row(), e.peer}].push_back(e);
  std::map<std::tuple<std::uint64_t, int, int>, std::size_t> received;
  std::vector<traced_message> all;
  for (trace_log const& log : logs)
    for (trace_event const& e : log.events()) {
      if (!e.is_operand() || e.what == trace_event::kind::send) continue;
      std::tuple const way(e.communicator, e.peer, log.row());
      auto const& offered = sends[way];
      if (std::size_t const k = received[way]++; k < offered.size()) all.push_back({e.peer, log.row(), offered[k], e});
    }
  return all;
}

namespace detail {

inline std::string_view name_of(trace_event::kind kind) {
  constexpr std::array<std::string_view, 5> names{"call", "step", "send", "recv", "fold"};
  return names[static_cast<std::size_t>(kind)];
}

inline std::string title_of(trace_event const& call) {
  return std::string(colligo::name_of(call.call_of)) + ' ' + std::string(call.algorithm_name());
}

/// "send 3, fold 5 (64 bytes each)" of the step at events[at].
inline std::string title_of_step(std::vector<trace_event> const& events, std::size_t at) {
  std::string title;
  for (std::size_t i = at + 1; i < events.size() && events[i].is_operand(); ++i)
    title += (title.empty() ? "" : ", ") + std::string(name_of(events[i].what)) + ' ' + std::to_string(events[i].peer);
  return title;
}

/// The stretch of time that has events. Times are written as microseconds since its beginning.
struct trace_span {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  std::uint64_t dropped = 0;

  explicit trace_span(std::span<trace_log const> logs) {
    for (trace_log const& log : logs) {
      dropped += log.dropped();
      for (trace_event const& e : log.events()) first = std::min(first, e.begin), last = std::max(last, e.end);
    }
    if (first > last) first = last = 0;
  }
  std::string us(std::int64_t t) const { return duration(t - first); }
  static std::string duration(std::int64_t ns) {
    std::string const thousandths = std::to_string(ns % 1000);
    return std::to_string(ns / 1000) + '.' + std::string(3 - thousandths.size(), '0') + thousandths;
  }
};

inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace detail

COLLIGO_BODY void write_chrome_trace(std::ostream& out, std::span<trace_log const> logs) {
  using detail::quoted, detail::sentence;   // numbers as no locale writes them
  detail::trace_span const times(logs);
  out << sentence({R"({"displayTimeUnit":"ns","otherData":{"dropped_events":)", times.dropped,
                   "},\"traceEvents\":[\n", R"({"ph":"M","pid":0,"tid":0,"name":"process_name",)",
                   R"("args":{"name":"colligo"}})"});
  for (trace_log const& log : logs) {
    int const row = log.row();
    auto const in_row = [row](char const* phase) {
      return sentence({",\n{\"ph\":\"", phase, "\",\"pid\":0,\"tid\":", row});
    };
    out << in_row("M") << sentence({R"(,"name":"thread_name","args":{"name":"rank )", row, "\"}}"})
        << in_row("M") << sentence({R"(,"name":"thread_sort_index","args":{"sort_index":)", row, "}}"});
    for (std::size_t i = 0; i < log.events().size(); ++i) {
      trace_event const& e = log.events()[i];
      if (e.is_operand()) continue;
      bool const call = e.what == trace_event::kind::call;
      std::string const title = call ? detail::title_of(e) : detail::title_of_step(log.events(), i);
      out << in_row("X")
          << sentence({R"(,"cat":")", detail::name_of(e.what), R"(","ts":)", times.us(e.begin), R"(,"dur":)",
                       times.duration(e.end - e.begin), R"(,"name":)", quoted(title), R"(,"args":{"number":)",
                       e.number, R"(,"communicator":)", e.communicator});
      if (call) {
        out << sentence({R"(,"collective":)", quoted(name_of(e.call_of)), R"(,"algorithm":)",
                         quoted(e.algorithm_name()), R"(,"elements":)", e.elements, R"(,"bytes":)", e.bytes});
      } else {
        out << R"(,"operands":[)";
        for (std::size_t k = i + 1; k < log.events().size() && log.events()[k].is_operand(); ++k) {
          trace_event const& o = log.events()[k];
          out << sentence({k == i + 1 ? "" : ",", R"({"kind":")", detail::name_of(o.what), R"(","peer":)", o.peer,
                           R"(,"elements":)", o.elements, R"(,"bytes":)", o.bytes, R"(,"through":")",
                           o.shared_memory ? "shared memory" : "messages", "\"}"});
        }
        out << ']';
      }
      out << "}}";
    }
  }
  for (std::size_t id = 0; traced_message const& m : messages_of(logs)) {
    // An arrow is tied to the box around its time, so it has to end before the box does.
    std::int64_t const end = std::max(m.received.begin, m.received.end - 1);
    for (bool const start : {true, false})
      out << sentence({",\n{\"ph\":\"", start ? "s" : "f\",\"bp\":\"e",
                       R"(","cat":"message","name":"message","pid":0,"id":)", id, R"(,"tid":)", start ? m.from : m.to,
                       R"(,"ts":)", times.us(start ? m.sent.begin : end), R"(,"args":{"bytes":)", m.sent.bytes, "}}"});
    ++id;
  }
  out << "\n]}\n";
}

namespace detail {

/// Where a time is drawn. Stretches in which no rank is in a call are folded where they are long beside what there is.
class time_axis {
 public:
  static constexpr double fold = 76;   ///< pixels of a stretch that is folded
  struct stretch {
    std::int64_t begin, end;
    bool folded;
    double x;
  };

  time_axis(std::span<trace_log const> logs, trace_span const& times, double left, double width) {
    std::vector<std::pair<std::int64_t, std::int64_t>> calls;
    for (trace_log const& log : logs)
      for (trace_event const& e : log.events())
        if (!e.is_operand()) calls.emplace_back(e.begin, e.end);
    std::ranges::sort(calls);
    std::int64_t idle = 0, busy_until = times.first;
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    for (auto const& [begin, end] : calls) {
      if (begin > busy_until) gaps.emplace_back(busy_until, begin), idle += begin - busy_until;
      busy_until = std::max(busy_until, end);
    }
    std::int64_t const busy = times.last - times.first - idle;
    std::erase_if(gaps, [&](auto const& gap) { return gap.second - gap.first <= busy / 4; });
    std::int64_t shown = times.last - times.first, from = times.first;
    for (auto const& [begin, end] : gaps) shown -= end - begin;
    scale = width / static_cast<double>(std::max<std::int64_t>(1, shown));
    double at = left;
    auto const add = [&](std::int64_t begin, std::int64_t end, bool folded) {
      stretches.push_back({begin, end, folded, at});
      at += folded ? fold : static_cast<double>(end - begin) * scale;
    };
    for (auto const& [begin, end] : gaps) add(from, begin, false), add(begin, end, true), from = end;
    add(from, times.last, false);
    right = at;
  }

  double operator()(std::int64_t t) const {
    auto const next = std::ranges::upper_bound(stretches, t, {}, &stretch::begin);
    stretch const& its = next == stretches.begin() ? *next : *std::prev(next);
    double const since = static_cast<double>(t - its.begin);
    return its.x + (its.folded ? fold * since / static_cast<double>(its.end - its.begin) : since * scale);
  }

  std::vector<stretch> stretches;
  double scale = 1, right = 0;   ///< pixels a nanosecond; where it ends
};

}  // namespace detail

COLLIGO_BODY void write_timeline(std::ostream& out, std::span<trace_log const> logs) {
  constexpr double left = 86, top = 60, row_height = 46, call_height = 34, step_height = 16;
  detail::trace_span const times(logs);
  std::size_t steps = 0;   // of the rank that has most: the picture is as wide as that needs, and can be scrolled
  std::map<int, double> y_of;
  for (trace_log const& log : logs) {
    y_of[log.row()] = 0;
    steps = std::max(
        steps, static_cast<std::size_t>(std::ranges::count(log.events(), trace_event::kind::step, &trace_event::what)));
  }
  for (double y = top; auto& [row, its] : y_of) its = y, y += row_height;
  double const width = std::clamp(24.0 * static_cast<double>(steps), 1000.0, 20000.0),
               bottom = top + row_height * static_cast<double>(y_of.size());
  detail::time_axis const x(logs, times, left, width);

  svg picture(x.right + 24, bottom + 30);
  picture.text(left, 20,
               std::to_string(logs.size()) + " ranks, " + times.us(times.last) + " us" +
                   (times.dropped ? ", " + std::to_string(times.dropped) + " later events dropped" : ""),
               "class='title'");
  double at = left;
  for (auto const& [colour, what] : {std::pair("#4e79a7", "step that sends"),
                                     {"#59a14f", "receives"},
                                     {"#f28e2b", "receives and combines"},
                                     {"#d7dee8", "call"}}) {
    picture.box(at, 30, 12, 12, "fill='" + std::string(colour) + '\'');
    picture.text(at + 17, 40, what);
    at += 40 + 7 * static_cast<double>(std::strlen(what));
  }
  constexpr char const* by_message = "#444' stroke-opacity='.55", * through_memory = "#7b3294' stroke-dasharray='5 2";
  for (auto const& [stroke, what] : {std::pair(by_message, "message"), {through_memory, "through shared memory"}}) {
    picture.arrow(at, 36, at + 26, 36, "stroke='" + std::string(stroke) + '\'');
    picture.text(at + 32, 40, what);
    at += 55 + 7 * static_cast<double>(std::strlen(what));
  }
  for (auto const& its : x.stretches)
    if (its.folded) {
      picture.box(its.x, top - 6, x.fold, bottom - top + 6, "fill='#f1f1f1'");
      double const ms = static_cast<double>(its.end - its.begin) * 1e-6;
      std::string const lasts = detail::in_digits(ms >= 1 ? ms : 1000 * ms, 3) + (ms >= 1 ? " ms" : " us");
      picture.text(its.x + x.fold / 2, bottom - 4, "idle " + lasts, "text-anchor='middle' class='small'");
    }
  // Ticks at 1, 2 or 5 times a power of ten, some 100 pixels apart.
  double const wanted = 100 / x.scale, power = std::pow(10, std::floor(std::log10(wanted)));
  double const tick = std::max(1.0, power * (wanted / power > 5   ? 10
                                             : wanted / power > 2 ? 5
                                             : wanted / power > 1 ? 2
                                                                  : 1));
  // Each stretch has its own, for folds may be long; none where there is no room for its label.
  double labelled = 0;
  for (auto const& its : x.stretches) {
    if (its.folded) continue;
    double const begin = static_cast<double>(its.begin - times.first), end = static_cast<double>(its.end - times.first);
    for (double t = std::ceil(begin / tick) * tick; t <= end; t += tick) {
      double const place = x(times.first + static_cast<std::int64_t>(t));
      picture.line(place, top - 6, place, bottom, "stroke='#e3e3e3'");
      std::string us = times.duration(static_cast<std::int64_t>(t));
      us.erase(tick >= 1000 ? us.find('.') : us.find_last_not_of('0') + 1);
      us += " us";
      double const half = 3.2 * static_cast<double>(us.size());
      if (place - half < labelled) continue;
      picture.text(place, bottom + 16, us, "text-anchor='middle' class='small'");
      labelled = place + half + 6;
    }
  }
  for (auto const& [row, y] : y_of)
    picture.text(left - 10, y + call_height / 2 + 4, "rank " + std::to_string(row), "text-anchor='end'");

  // Words come last, over boxes and arrows, and where none are yet: requests of a rank may overlap.
  struct words {
    double x, y;
    std::string text;
    bool of_call;
  };
  std::vector<words> labels;
  std::map<double, double> said_until;
  for (trace_log const& log : logs)
    for (std::size_t i = 0; i < log.events().size(); ++i) {
      trace_event const& e = log.events()[i];
      if (e.is_operand()) continue;
      bool const call = e.what == trace_event::kind::call;
      double const wide = std::max(1.0, x(e.end) - x(e.begin)), y = y_of[log.row()];
      std::string const name = call ? detail::title_of(e) : detail::title_of_step(log.events(), i);
      std::string tip = name + "\nrank " + std::to_string(log.row()) + ", " + times.us(e.begin) + " us, lasts " +
                        times.duration(e.end - e.begin) + " us";
      if (call) tip += "\n" + std::to_string(e.elements) + " elements, " + std::to_string(e.bytes) + " bytes";
      bool folds = false, receives = false;
      for (std::size_t k = i + 1; !call && k < log.events().size() && log.events()[k].is_operand(); ++k) {
        trace_event const& o = log.events()[k];
        // Not a literal + std::string, of which g++ 12 warns at -O3 without cause (-Wrestrict).
        tip.append("\n").append(detail::name_of(o.what)) +=
            ' ' + std::to_string(o.peer) + ": " + std::to_string(o.bytes) + " bytes";
        if (o.shared_memory) tip += " through shared memory";
        folds |= o.what == trace_event::kind::fold, receives |= o.what == trace_event::kind::recv;
      }
      char const* const colour = call       ? "#d7dee8' stroke='#8593a5"
                                 : folds    ? "#f28e2b' stroke='#fff"
                                 : receives ? "#59a14f' stroke='#fff"
                                            : "#4e79a7' stroke='#fff";
      double const from = call ? y : y + call_height - step_height - 1, height = call ? call_height : step_height;
      picture.box(x(e.begin), from, wide, height, "stroke-width='.5' fill='" + std::string(colour) + '\'', tip);
      double const room = 6.2 * static_cast<double>(name.size()) + 6;
      if (wide <= room || x(e.begin) < said_until[from]) continue;
      said_until[from] = x(e.begin) + room;
      labels.push_back({x(e.begin) + 4, from + 12, name, call});
    }
  for (traced_message const& m : messages_of(logs)) {
    bool const down = y_of[m.from] < y_of[m.to];
    picture.arrow(x(m.sent.begin), y_of[m.from] + call_height - (down ? 1 : step_height + 1), x(m.received.end),
                  y_of[m.to] + call_height - (down ? step_height + 1 : 1),
                  "stroke='" + std::string(m.sent.shared_memory ? through_memory : by_message) + '\'',
                  "rank " + std::to_string(m.from) + " to " + std::to_string(m.to) + ": " +
                      std::to_string(m.sent.bytes) + " bytes\n" + times.us(m.sent.begin) + " us to " +
                      times.us(m.received.end) + " us" + (m.sent.shared_memory ? ", through shared memory" : ""));
  }
  for (words const& its : labels)
    picture.text(its.x, its.y, its.text, its.of_call ? "class='small'" : "class='small light'");
  out << std::move(picture).str();
}

}  // namespace colligo
