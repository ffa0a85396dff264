// SPDX-License-Identifier: BSL-1.0
// Locales in which numbers are written "1.234,5", C++'s and C's.
#pragma once

#include <clocale>
#include <cstdlib>
#include <locale>
#include <stdexcept>
#include <string>

/// They hold while it lives; streams that are made meanwhile have them.
class other_locales {
  struct commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }   // of one digit: no number of two is as it was
  };

 public:
  other_locales() : before_(std::locale::global(std::locale(std::locale(), new commas))) {
    ::setenv("LOCPATH", COLLIGO_TEST_LOCALES, 1);
    if (!std::setlocale(LC_NUMERIC, "commas")) throw std::runtime_error("no locale in " COLLIGO_TEST_LOCALES);
    if (std::strtod("1,5", nullptr) != 1.5) throw std::runtime_error("a locale without commas");
  }
  ~other_locales() {
    std::locale::global(before_);
    std::setlocale(LC_NUMERIC, "C");
  }
  other_locales(other_locales const&) = delete;

 private:
  std::locale before_;
};
