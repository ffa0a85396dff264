// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bodies of trace_file.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "../core/strings.hpp"
#include "trace_file.hpp"

namespace colligo::inline COLLIGO_MODE {

COLLIGO_BODY std::vector<traced_message> messages_of(std::span<trace_log const> logs) {
  std::map<std::tuple<std::uint64_t, std::uint32_t, int, int>, std::vector<trace_event>> sends;
  for (trace_log const& log : logs)
    for (trace_event const& e : log.events())
      if (e.what == trace_event::kind::send) sends[{e.communicator, e.call, log.row(), e.peer}].push_back(e);
  std::map<std::tuple<std::uint64_t, std::uint32_t, int, int>, std::size_t> received;
  std::vector<traced_message> all;
  for (trace_log const& log : logs)
    for (trace_event const& e : log.events()) {
      if (!e.is_operand() || e.what == trace_event::kind::send) continue;
      std::tuple const way(e.communicator, e.call, e.peer, log.row());
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

/// "send 3, fold 5" for the step at events[at].
inline std::string title_of_step(std::vector<trace_event> const& events, std::size_t at) {
  std::string title;
  for (std::size_t i = at + 1; i < events.size() && events[i].is_operand(); ++i)
    title += (title.empty() ? "" : ", ") + std::string(name_of(events[i].what)) + ' ' + std::to_string(events[i].peer);
  return title;
}

/// The lanes of a log's calls: calls that overlap, as requests do, are below each other, with their steps.
class trace_lanes {
 public:
  explicit trace_lanes(std::vector<trace_event> const& events) {
    std::vector<std::int64_t> free_from;
    for (trace_event const& e : events) {
      if (e.what != trace_event::kind::call) continue;
      auto const free = std::ranges::find_if(free_from, [&](std::int64_t end) { return end <= e.begin; });
      of_call_[{e.communicator, e.call}] = static_cast<int>(free - free_from.begin());
      if (free == free_from.end()) free_from.push_back(e.end);
      else *free = e.end;
    }
    count_ = std::max(1, static_cast<int>(free_from.size()));
  }
  int count() const { return count_; }
  int operator()(trace_event const& e) const {
    auto const found = of_call_.find({e.communicator, e.call});
    return found == of_call_.end() ? 0 : found->second;   // a step whose call is not in the log
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> of_call_;
  int count_ = 1;
};

inline std::map<int, trace_lanes> lanes_of(std::span<trace_log const> logs) {   // by row
  std::map<int, trace_lanes> all;
  for (trace_log const& log : logs) all.emplace(log.row(), log.events());
  return all;
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
  using detail::quoted, detail::concat;   // independent of the locale
  detail::trace_span const times(logs);
  out << concat({R"({"displayTimeUnit":"ns","otherData":{"dropped_events":)", times.dropped,
                   "},\"traceEvents\":[\n", R"({"ph":"M","pid":0,"tid":0,"name":"process_name",)",
                   R"("args":{"name":"colligo"}})"});
  auto const lanes = detail::lanes_of(logs);
  // A track for each lane, because boxes of one track have to be nested.
  auto const track = [](int row, int lane) { return row + 1000000 * lane; };
  for (trace_log const& log : logs) {
    int const row = log.row();
    auto const& lane = lanes.at(row);
    auto const in_lane = [&](char const* phase, int number) {
      return concat({",\n{\"ph\":\"", phase, "\",\"pid\":0,\"tid\":", track(row, number)});
    };
    for (int number = 0; number < lane.count(); ++number)
      out << in_lane("M", number)
          << concat({R"(,"name":"thread_name","args":{"name":"rank )", row,
                             number > 0 ? ", at the same time" : "", "\"}}"})
          << in_lane("M", number)
          << concat({R"(,"name":"thread_sort_index","args":{"sort_index":)", 64 * row + number, "}}"});
    for (std::size_t i = 0; i < log.events().size(); ++i) {
      trace_event const& e = log.events()[i];
      if (e.is_operand()) continue;
      bool const call = e.what == trace_event::kind::call;
      std::string const title = call ? detail::title_of(e) : detail::title_of_step(log.events(), i);
      out << in_lane("X", lane(e))
          << concat({R"(,"cat":")", detail::name_of(e.what), R"(","ts":)", times.us(e.begin), R"(,"dur":)",
                       times.duration(e.end - e.begin), R"(,"name":)", quoted(title), R"(,"args":{"number":)",
                       e.number, R"(,"communicator":)", e.communicator, R"(,"combining_us":)",
                       times.duration(e.combining)});
      if (call) {
        out << concat({R"(,"collective":)", quoted(name_of(e.call_of)), R"(,"algorithm":)",
                         quoted(e.algorithm_name()), R"(,"elements":)", e.elements, R"(,"bytes":)", e.bytes});
      } else {
        out << R"(,"operands":[)";
        for (std::size_t k = i + 1; k < log.events().size() && log.events()[k].is_operand(); ++k) {
          trace_event const& o = log.events()[k];
          out << concat({k == i + 1 ? "" : ",", R"({"kind":")", detail::name_of(o.what), R"(","peer":)", o.peer,
                           R"(,"elements":)", o.elements, R"(,"bytes":)", o.bytes, R"(,"through":")",
                           o.shared_memory ? "shared memory" : "messages", "\"}"});
        }
        out << ']';
      }
      out << "}}";
    }
  }
  for (std::size_t id = 0; traced_message const& m : messages_of(logs)) {
    // An arrow belongs to the box around its time, so it has to end before the box does.
    std::int64_t const end = std::max(m.received.begin, m.received.end - 1);
    for (bool const start : {true, false})
      out << concat({",\n{\"ph\":\"", start ? "s" : "f\",\"bp\":\"e",
                       R"(","cat":"message","name":"message","pid":0,"id":)", id, R"(,"tid":)",
                       start ? track(m.from, lanes.at(m.from)(m.sent)) : track(m.to, lanes.at(m.to)(m.received)),
                       R"(,"ts":)", times.us(start ? m.sent.begin : end), R"(,"args":{"bytes":)", m.sent.bytes, "}}"});
    ++id;
  }
  out << "\n]}\n";
}

}  // namespace colligo

#include "timeline_body.hpp"
