// SPDX-License-Identifier: BSL-1.0
// Reads a Chrome trace back and says what is wrong with it.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// What a trace holds. Throws std::runtime_error where it is no JSON, or is not as a viewer needs it.
struct checked_trace {
  std::map<int, std::string> rows;
  std::vector<nlohmann::json> calls, steps;
  std::size_t sends = 0, receives = 0, arrows = 0;
  std::uint64_t dropped = 0;

  explicit checked_trace(std::istream& in) {
    auto const all = nlohmann::json::parse(in);
    dropped = all.at("otherData").at("dropped_events");
    std::map<int, std::pair<nlohmann::json, nlohmann::json>> ends;   // of each arrow
    for (auto const& e : all.at("traceEvents")) {
      std::string const phase = e.at("ph");
      if (phase == "M" && e.at("name") == "thread_name") rows[e.at("tid")] = e.at("args").at("name");
      if (phase == "X") (e.at("cat") == "call" ? calls : steps).push_back(e);
      if (phase == "s") ends[e.at("id")].first = e;
      if (phase == "f") ends[e.at("id")].second = e;
    }
    for (auto const& box : calls)
      require(rows.contains(box.at("tid")) && box.at("ts") >= 0 && box.at("dur") >= 0, "a call in no row", box);
    in_order(calls), in_order(steps);
    for (auto const& step : steps) {
      require(count_around(calls, step, step.at("ts")) == 1 && count_around(calls, step, end_of(step)) == 1,
              "a step in no call", step);
      require(!step.at("args").at("operands").empty(), "a step without operands", step);
      for (auto const& o : step.at("args").at("operands")) ++(o.at("kind") == "send" ? sends : receives);
    }
    for (auto const& [id, arrow] : ends) {
      auto const& [s, f] = arrow;
      require(!s.is_null() && !f.is_null(), "an arrow with one end", s.is_null() ? f : s);
      require(s.at("ts") <= f.at("ts"), "an arrow that goes back in time", s);
      require(count_around(steps, s, s.at("ts"), "send", row_of(f)) > 0, "an arrow that leaves from no send", s);
      require(count_around(steps, f, f.at("ts"), "", row_of(s)) > 0, "an arrow that ends in no receive", f);
    }
    arrows = ends.size();
  }

 private:
  // Calls of a rank that overlap have tracks of their own.
  static int row_of(nlohmann::json const& e) { return e.at("tid").get<int>() % 1000000; }
  static double end_of(nlohmann::json const& box) { return box.at("ts").get<double>() + box.at("dur").get<double>(); }
  static void require(bool good, std::string const& what, nlohmann::json const& where) {
    if (!good) throw std::runtime_error(what + ": " + where.dump());
  }
  // Boxes of one kind in a row stand one after the other.
  static void in_order(std::vector<nlohmann::json> const& boxes) {
    std::map<int, double> last;
    for (auto const& box : boxes) {
      require(box.at("ts") >= last[box.at("tid")] - rounding, "a box that begins before the one before it ends", box);
      last[box.at("tid")] = end_of(box);
    }
  }
  // Boxes in the row of `of` that are around t, and hold such an operand: sends, or anything that receives.
  static int count_around(std::vector<nlohmann::json> const& boxes, nlohmann::json const& of, double t,
                          std::string const& kind = "any", int peer = -1) {
    int count = 0;
    for (auto const& box : boxes) {
      if (box.at("tid") != of.at("tid") || t < box.at("ts").get<double>() - rounding || t > end_of(box) + rounding)
        continue;
      bool found = kind == "any";
      if (!found)
        for (auto const& o : box.at("args").at("operands"))
          found |= o.at("peer") == peer && (kind == "send") == (o.at("kind") == "send");
      count += found;
    }
    return count;
  }
  static constexpr double rounding = 1e-4;   // microseconds; times have three digits after the point
};
