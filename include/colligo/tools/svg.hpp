// SPDX-License-Identifier: BSL-1.0
/// @file
/// As much of SVG as the pictures of this library take: boxes, discs, lines, arrows, text, each with a tooltip.
#pragma once

#include "../core/strings.hpp"

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace colligo::inline COLLIGO_MODE {

/// A picture while it is made; str() ends it. Attributes are SVG's own: "fill='red'".
class svg {
 public:
  svg(double width, double height) {
    out_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height << "' viewBox='0 0 "
         << width << " " << height
         << "' font-family='DejaVu Sans, Verdana, sans-serif' font-size='12' fill='#222'>\n"
            "<style>.title{font-size:14px;font-weight:bold} .small{font-size:10px} "
            "path[stroke]:hover{stroke-width:3}</style>\n"
            "<rect width='100%' height='100%' fill='#fff'/>\n";
  }
  std::string str() && {
    out_ << "</svg>\n";
    return std::move(out_.all);
  }

  void text(double x, double y, std::string_view words, std::string_view attributes = {}) {
    out_ << "<text x='" << x << "' y='" << y << "' " << attributes << ">" << escaped(words) << "</text>\n";
  }
  void box(double x, double y, double width, double height, std::string_view attributes, std::string_view tip = {}) {
    out_ << "<rect x='" << x << "' y='" << y << "' width='" << width << "' height='" << height << "' " << attributes;
    close("rect", tip);
  }
  void disc(double x, double y, double radius, std::string_view attributes, std::string_view tip = {}) {
    out_ << "<circle cx='" << x << "' cy='" << y << "' r='" << radius << "' " << attributes;
    close("circle", tip);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view attributes, std::string_view tip = {}) {
    out_ << "<path d='M" << x1 << " " << y1 << "L" << x2 << " " << y2 << "' fill='none' " << attributes;
    close("path", tip);
  }
  /// Leaves and arrives vertically.
  void curve(double x1, double y1, double x2, double y2, std::string_view attributes, std::string_view tip = {}) {
    double const middle = (y1 + y2) / 2;
    out_ << "<path d='M" << x1 << " " << y1 << "C" << x1 << " " << middle << " " << x2 << " " << middle << " " << x2
         << " " << y2 << "' fill='none' " << attributes;
    close("path", tip);
  }
  /// A line with a head at (x2, y2).
  void arrow(double x1, double y1, double x2, double y2, std::string_view attributes, std::string_view tip = {}) {
    double const length = std::hypot(x2 - x1, y2 - y1);
    double const ux = length > 0 ? (x2 - x1) / length : 1, uy = length > 0 ? (y2 - y1) / length : 0;
    constexpr double head = 7, half = 3;
    out_ << "<path d='M" << x1 << " " << y1 << "L" << x2 << " " << y2 << "M" << x2 - head * ux - half * uy << " "
         << y2 - head * uy + half * ux << "L" << x2 << " " << y2 << "L" << x2 - head * ux + half * uy << " "
         << y2 - head * uy - half * ux << "' fill='none' " << attributes;
    close("path", tip);
  }

 private:
  void close(std::string_view element, std::string_view tip) {
    if (tip.empty()) out_ << "/>\n";
    else out_ << "><title>" << escaped(tip) << "</title></" << element << ">\n";
  }
  static std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
      if (c == '<') out += "&lt;";
      else if (c == '&') out += "&amp;";
      else out += c;
    }
    return out;
  }

  struct text_of_picture {
    std::string all;
    text_of_picture& operator<<(std::string_view words) { return all += words, *this; }
    text_of_picture& operator<<(std::floating_point auto number) { return all += detail::in_digits(number, 6), *this; }
  } out_;
};

}  // namespace colligo
