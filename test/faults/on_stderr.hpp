// SPDX-License-Identifier: BSL-1.0
// What this process and others write on stderr, in a file that all of them see while they write it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

/// While it lives, stderr goes there.
class captured_stderr {
 public:
  /// A file that there is, or one of this process alone.
  explicit captured_stderr(std::string path = "") : path_(std::move(path)), before_(dup(2)) {
    int const file = path_.empty() ? memfd_create("captured", 0) : open(path_.c_str(), O_WRONLY | O_APPEND);
    if (before_ < 0 || file < 0 || dup2(file, 2) != 2) throw std::runtime_error("stderr can not be redirected");
    close(file);
    if (path_.empty()) path_ = "/proc/self/fd/2";
  }
  ~captured_stderr() {
    dup2(before_, 2);
    close(before_);
  }
  captured_stderr(captured_stderr const&) = delete;
  captured_stderr& operator=(captured_stderr const&) = delete;

  std::string const& path() const { return path_; }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }
  int count(std::string const& words) const {
    std::string const all = text();
    int n = 0;
    for (auto at = all.find(words); at != all.npos; at = all.find(words, at + 1)) ++n;
    return n;
  }
  /// Waits until it is there so often; a minute at most.
  void await(std::string const& words, int times = 1) const {
    auto const late = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (count(words) < times) {
      if (std::chrono::steady_clock::now() > late) throw std::runtime_error("not on stderr: " + words + "\n" + text());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  std::string path_;
  int before_;
};
