// SPDX-License-Identifier: BSL-1.0
/// @file
/// The file of COLLIGO_TRACE, and how ranks that are threads use it.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/strings.hpp"
#include "tracing.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A trace and its file, which is opened at once, so that a bad name is an error before the program has run.
class trace_file {
 public:
  /// Events that each rank keeps. A browser draws far fewer boxes than Perfetto.
  static std::size_t most_events(std::string_view path) {
    return path.ends_with(".svg") ? std::size_t{1} << 12 : std::size_t{1} << 16;
  }

  /// The path that COLLIGO_TRACE asks for, empty if it does not.
  static std::string asked_for() {
    char const* const path = environment_value("COLLIGO_TRACE");
    return path == nullptr ? "" : path;
  }

  /// trace.json, part 2: trace.2.json.
  static std::string part(std::string const& path, int number) {
    auto const dot = path.rfind('.');
    return path.substr(0, dot) + '.' + std::to_string(number) + (dot == path.npos ? "" : path.substr(dot));
  }

  explicit trace_file(std::string path) : path_(std::move(path)) {
    if (!path_.ends_with(".svg") && !path_.ends_with(".json")) {
      complain("the name has to end in .json or .svg");
    } else if (struct ::stat known; ::stat(path_.c_str(), &known) == 0 && !S_ISREG(known.st_mode)) {
      complain("it is no regular file");   // to open a FIFO would wait for its reader
    } else {
      out_.open(path_);
      if (!out_) complain(std::strerror(errno));
    }
  }
  explicit operator bool() const { return out_.is_open() && out_.good(); }

  void write(std::span<trace_log const> logs) {
    if (!*this) return;
    path_.ends_with(".svg") ? write_timeline(out_, logs) : write_chrome_trace(out_, logs);
    out_.close();
    if (!out_) complain(std::strerror(errno));
  }
  /// For a file that is no longer needed.
  void discard() {
    if (out_.is_open()) out_.close(), std::remove(path_.c_str());
  }

 private:
  void complain(char const* why) const {
    std::fprintf(stderr, "colligo: COLLIGO_TRACE: %s can not be written: %s\n", path_.c_str(), why);
  }

  std::string path_;
  std::ofstream out_;
};

class thread_trace final : public trace_of_threads {
 public:
  explicit thread_trace(int p) {
    static std::atomic<int> groups = 0;
    std::string const path = trace_file::asked_for();
    if (path.empty()) return;
    int const group = ++groups;
    file_.emplace(group == 1 ? path : trace_file::part(path, group));
    if (!*file_) return;
    logs_.reserve(static_cast<std::size_t>(p));
    for (int r = 0; r < p; ++r) logs_.emplace_back(r, trace_file::most_events(path));
  }

  owner<observer> of(int rank) override {
    return logs_.empty() ? nullptr : make_owner<tracer>(logs_[static_cast<std::size_t>(rank)]);
  }
  void write() override {
    if (!logs_.empty()) file_->write(logs_);
  }

 private:
  std::vector<trace_log> logs_;
  std::optional<trace_file> file_;
};

COLLIGO_BODY owner<trace_of_threads> trace_threads(int p) { return make_owner<thread_trace>(p); }

}  // namespace colligo
