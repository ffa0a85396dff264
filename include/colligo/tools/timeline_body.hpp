// SPDX-License-Identifier: BSL-1.0
/// @file
/// The timeline of trace_file.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/strings.hpp"
#include "iterations_body.hpp"
#include "svg.hpp"
#include "trace_file_body.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The first of these strings that fits.
inline std::string_view fitting(double wide, std::initializer_list<std::string_view> texts) {
  for (std::string_view const text : texts)
    if (6.2 * static_cast<double>(text.size()) + 6 < wide) return text;
  return {};
}

/// A time in the unit that fits: 471 ms, 12.3 us.
inline std::string fitting_time(double ns, int digits = 3) {
  constexpr std::pair<double, char const*> units[]{{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
  auto const fits = [ns](auto const& unit) { return ns >= unit.first || unit.first == 1; };
  auto const [unit, name] = *std::ranges::find_if(units, fits);
  return in_digits(ns / unit, digits) + name;
}

/// Where a time is drawn. Iterations that repeat, and long stretches in which no rank is in a call, are folded.
class time_axis {
 public:
  struct stretch {
    std::int64_t begin, end;
    std::string says;   ///< of one that is folded
    double x, wide;     ///< pixels
    bool folded() const { return !says.empty(); }
  };

  time_axis(std::span<trace_log const> logs, trace_span const& times, std::span<iterations const> repeated, double left,
            double width) {
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
    for (auto& [begin, end] : gaps)   // what of them is not within iterations
      for (iterations const& folded : repeated) {
        if (end <= folded.begin || folded.end <= begin) continue;
        idle -= std::min(end, folded.end) - std::max(begin, folded.begin);
        begin < folded.begin ? end = folded.begin : begin = std::min(end, folded.end);
      }
    std::int64_t busy = times.last - times.first - idle;
    for (iterations const& folded : repeated) busy -= folded.end - folded.begin;
    std::erase_if(gaps, [&](auto const& gap) { return gap.second - gap.first <= busy / 4; });

    std::int64_t shown = times.last - times.first;
    auto const fold = [&](std::int64_t begin, std::int64_t end, std::string const& what, double wide) {
      stretches.push_back({begin, end, what + fitting_time(static_cast<double>(end - begin)), 0, wide});
      shown -= end - begin;
    };
    for (auto const& [begin, end] : gaps) fold(begin, end, "idle ", 76);
    for (iterations const& i : repeated)
      fold(i.begin, i.end,
           concat({i.times, " times the same ", i.calls == 1 ? "call" : with_number(i.calls, "call"), ", "}), 200);
    std::ranges::sort(stretches, {}, &stretch::begin);
    scale = width / static_cast<double>(std::max<std::int64_t>(1, shown));

    std::vector<stretch> all;
    double at = left;
    auto const add = [&](stretch s) {
      s.x = at;
      at += s.wide;
      all.push_back(std::move(s));
    };
    auto const add_plain = [&](std::int64_t begin, std::int64_t end) {
      add({begin, end, {}, 0, static_cast<double>(end - begin) * scale});
    };
    std::int64_t from = times.first;
    for (stretch const& s : stretches) add_plain(from, s.begin), add(s), from = s.end;
    add_plain(from, times.last);
    stretches = std::move(all);
    right = at;
  }

  double operator()(std::int64_t t) const {
    auto const next = std::ranges::upper_bound(stretches, t, {}, &stretch::begin);
    stretch const& here = next == stretches.begin() ? *next : *std::prev(next);
    double const since = static_cast<double>(t - here.begin);
    return here.x + (here.folded() ? here.wide * since / static_cast<double>(here.end - here.begin) : since * scale);
  }

  std::vector<stretch> stretches;
  double scale = 1, right = 0;   ///< pixels a nanosecond; where it ends
};

}  // namespace detail

COLLIGO_BODY void write_timeline(std::ostream& out, std::span<trace_log const> logs) {
  constexpr double left = 86, top = 60, call_height = 34, step_height = 16, lane_height = call_height + 3,
                   between_rows = 9;
  detail::trace_span const times(logs);
  auto const lanes = detail::lanes_of(logs);
  auto const messages = messages_of(logs);
  std::vector<detail::iterations> repeated;
  auto const is_folded = [&](trace_event const& e) {
    return std::ranges::any_of(repeated, [&](detail::iterations const& i) { return i.cover(e.begin, e.end); });
  };
  // Of the rank with most, which sets the width of the picture.
  auto const most_of = [&](trace_event::kind what) {
    std::size_t most = 0;
    for (trace_log const& log : logs) {
      auto const count =
          std::ranges::count_if(log.events(), [&](auto const& e) { return e.what == what && !is_folded(e); });
      most = std::max(most, static_cast<std::size_t>(count));
    }
    return most;
  };
  std::size_t ends = 0;   // of messages
  for (trace_log const& log : logs)
    ends += static_cast<std::size_t>(std::ranges::count_if(log.events(), &trace_event::is_operand));
  // Long programs would be a thicket: iterations are folded, and if that is not enough calls have no steps.
  constexpr std::size_t few_steps = 40, most_steps = 250;
  if (most_of(trace_event::kind::step) > few_steps) repeated = detail::iterations_of(logs);
  std::size_t const steps = most_of(trace_event::kind::step), calls = most_of(trace_event::kind::call);
  bool const by_call = steps > most_steps;
  std::map<int, double> y_of;
  double bottom = top;
  for (auto const& [row, of_row] : lanes) y_of[row] = bottom, bottom += lane_height * of_row.count() + between_rows;
  double const width = std::clamp(24.0 * static_cast<double>(by_call ? calls : steps), 1000.0, 20000.0);
  detail::time_axis const x(logs, times, repeated, left, width);
  auto const y = [&](int row, trace_event const& e) { return y_of[row] + lane_height * lanes.at(row)(e); };

  // The title also says what the picture lacks.
  auto const since = [&](std::int64_t t) { return detail::fitting_time(static_cast<double>(t - times.first), 6); };
  auto const lasting = [](std::int64_t ns) { return detail::fitting_time(static_cast<double>(ns), 4); };
  std::string title = detail::concat({detail::with_number(logs.size(), "rank"), ", ",
                                      detail::fitting_time(static_cast<double>(times.last - times.first))});
  if (times.dropped)
    title += detail::concat({", ", times.dropped, " later event", times.dropped == 1 ? "" : "s", " dropped"});
  if (auto const alone = ends - 2 * messages.size())
    title += detail::concat({", ", detail::with_number(alone, "message"), " of which one end is missing"});
  if (by_call || !repeated.empty())
    title += detail::concat({by_call ? "; calls alone" : "", repeated.empty() ? "" : "; repeated calls are folded",
                             ": COLLIGO_TRACE=trace.json has each step, for ui.perfetto.dev"});
  svg picture(x.right + (times.dropped ? 110 : 24), bottom + 30);
  picture.text(left, 20, title, "class='title'");
  double at = left;
  for (auto const& [colour, what] : {std::pair("#e4e9f0", "call"),
                                     {"#c3d5e8", "step that sends"},
                                     {"#c5e1c0", "receives"},
                                     {"#fad6ad", "receives to combine"},
                                     {"#f28e2b", "its share of combining, put last"}}) {
    if (by_call && at > left) break;
    picture.box(at, 30, 12, 12, "stroke='#8593a5' stroke-width='.5' fill='" + std::string(colour) + '\'');
    picture.text(at + 17, 40, what);
    at += 34 + 7 * static_cast<double>(std::string_view(what).size());
  }
  constexpr char const* by_message = "#444' stroke-opacity='.55", * through_memory = "#7b3294' stroke-dasharray='5 2";
  for (auto const& [stroke, what] : {std::pair(by_message, "message"), {through_memory, "through shared memory"}}) {
    bool const shown = !by_call && std::ranges::any_of(messages, [&, memory = stroke == through_memory](auto const& m) {
                         return m.sent.shared_memory == memory;
                       });
    if (!shown) continue;
    picture.arrow(at, 36, at + 26, 36, "stroke='" + std::string(stroke) + '\'');
    picture.text(at + 32, 40, what);
    at += 55 + 7 * static_cast<double>(std::string_view(what).size());
  }
  for (auto const& stretch : x.stretches)
    if (stretch.folded()) {
      picture.box(stretch.x, top - 6, stretch.wide, bottom - top + 6, "fill='#f1f1f1'");
      picture.text(stretch.x + stretch.wide / 2, bottom - 4, stretch.says, "text-anchor='middle' class='small'");
    }
  // Ticks at 1, 2 or 5 times a power of ten, some 100 pixels apart.
  double const wanted = 100 / x.scale, power = std::pow(10, std::floor(std::log10(wanted)));
  double const tick = std::max(1.0, power * (wanted / power > 5   ? 10
                                             : wanted / power > 2 ? 5
                                             : wanted / power > 1 ? 2
                                                                  : 1));
  // Each stretch has its own, because folds may be long; none if its label does not fit.
  double labelled = 0;
  for (auto const& stretch : x.stretches) {
    if (stretch.folded()) continue;
    double const begin = static_cast<double>(stretch.begin - times.first),
                 end = static_cast<double>(stretch.end - times.first);
    for (double t = std::ceil(begin / tick) * tick; t <= end; t += tick) {
      double const place = x(times.first + static_cast<std::int64_t>(t));
      picture.line(place, top - 6, place, bottom, "stroke='#e3e3e3'");
      std::string const label = t > 0 ? detail::fitting_time(t, 6) : "0";
      double const half = 3.2 * static_cast<double>(label.size());
      if (place - half < labelled) continue;
      picture.text(place, bottom + 16, label, "text-anchor='middle' class='small'");
      labelled = place + half + 6;
    }
  }
  for (trace_log const& log : logs) {
    double const base_line = y_of[log.row()] + call_height / 2 + 4;
    picture.text(left - 10, base_line, detail::concat({"rank ", log.row()}), "text-anchor='end'");
    if (!log.dropped()) continue;
    std::int64_t complete_to = times.first;
    for (trace_event const& e : log.events())   // of the last call, steps may be missing
      complete_to = std::max(complete_to, e.what == trace_event::kind::call ? e.begin : e.end);
    double const from = x(complete_to);
    picture.box(from, y_of[log.row()], x.right - from + 6, call_height, "fill='#d62728' fill-opacity='.12'",
                "from here on this rank's events were dropped");
    picture.text(x.right + 8, base_line, detail::concat({log.dropped(), " dropped"}), "fill='#d62728' class='small'");
  }

  // Labels are drawn last, on the colour of their boxes, so that no arrow goes through them.
  struct label_at { double x, y; std::string text, colour; };
  std::vector<label_at> labels;
  for (trace_log const& log : logs)
    for (std::size_t i = 0; i < log.events().size(); ++i) {
      trace_event const& e = log.events()[i];
      bool const call = e.what == trace_event::kind::call;
      if (e.is_operand() || (by_call && !call) || is_folded(e)) continue;
      double const begin = x(e.begin), wide = std::max(1.0, x(e.end) - begin);
      double const from = y(log.row(), e) + (call ? 0 : call_height - step_height - 1);
      std::string const name = call ? detail::title_of(e) : detail::title_of_step(log.events(), i);
      std::string tip = detail::concat({name, "\nrank ", log.row(), ", begins at ", since(e.begin), ", lasts ",
                                        lasting(e.end - e.begin)});
      if (e.combining > 0) tip += detail::concat({"\ncombining ", lasting(e.combining), ", else waiting and moving"});
      if (call)
        tip += detail::concat({"\n", detail::with_number(static_cast<std::size_t>(e.elements), "element"), ", ",
                               detail::with_number(static_cast<std::size_t>(e.bytes), "byte")});
      bool folds = false, receives = false;
      for (std::size_t k = i + 1; !call && k < log.events().size() && log.events()[k].is_operand(); ++k) {
        trace_event const& o = log.events()[k];
        tip += detail::concat({"\n", detail::name_of(o.what), " ", o.peer, ": ",
                               detail::with_number(static_cast<std::size_t>(o.bytes), "byte"),
                               o.shared_memory ? " through shared memory" : ""});
        folds |= o.what == trace_event::kind::fold, receives |= o.what == trace_event::kind::recv;
      }
      char const* const colour = call ? "#e4e9f0" : folds ? "#fad6ad" : receives ? "#c5e1c0" : "#c3d5e8";
      std::string const look = "stroke-width='.5' stroke='#8593a5' fill='" + std::string(colour) + '\'';
      picture.box(begin, from, wide, call ? call_height : step_height, look, tip);
      if (!call && e.combining > 0) {
        double const lasts = static_cast<double>(std::max(e.combining, e.end - e.begin));
        double const solid = wide * static_cast<double>(e.combining) / lasts;
        picture.box(begin + wide - solid, from, solid, step_height, "fill='#f28e2b'", tip);
      }
      // The part of its name that fits.
      std::string const first = name.substr(0, name.find(call ? ' ' : ',')) + (call ? "" : " ..");
      std::string_view const label = detail::fitting(wide, {name, first});
      if (!label.empty()) labels.push_back({begin + 4, from + 12, std::string(label), colour});
    }
  for (traced_message const& m : messages) {
    if (by_call) break;
    if (is_folded(m.sent) || is_folded(m.received)) continue;
    double const leaves = y(m.from, m.sent) + call_height, arrives = y(m.to, m.received) + call_height;
    bool const down = leaves < arrives;
    picture.arrow(x(m.sent.begin), leaves - (down ? 1 : step_height + 1), x(m.received.end),
                  arrives - (down ? step_height + 1 : 1),
                  "stroke='" + std::string(m.sent.shared_memory ? through_memory : by_message) + '\'',
                  detail::concat({"rank ", m.from, " to ", m.to, ": ",
                                    detail::with_number(static_cast<std::size_t>(m.sent.bytes), "byte"), "\nfrom ",
                                    since(m.sent.begin), " to ", since(m.received.end),
                                    m.sent.shared_memory ? ", through shared memory" : ""}));
  }
  for (label_at const& label : labels) {
    picture.box(label.x - 1, label.y - 9, 6.2 * static_cast<double>(label.text.size()), 11,
                "fill='" + label.colour + '\'');
    picture.text(label.x, label.y, label.text, "class='small'");
  }
  out << std::move(picture).str();
}

}  // namespace colligo
