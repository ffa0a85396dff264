// SPDX-License-Identifier: BSL-1.0
/// @file
/// The state of the machine while it is measured: how far two ranks of a host are from each other. Hosts of virtual
/// machines move cores between core complexes within minutes, and long messages then take up to three times as long.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "launch.hpp"

namespace bench {

/// Between the first and the last rank of rank 0's host. Both numbers 0: not measured.
struct distance {
  double line_ns = 0;    ///< a cache line there and back, the least of some tries
  double copy_gbs = 0;   ///< a message of 1 MiB through a ring of 256 KiB in memory that both map, the best
};

/// siblings: of one core; near: cores that share a cache; far: different complexes, dies or sockets. By the line alone,
/// since copies depend more on the make of the processor.
inline std::string_view name_of(distance const& d) {
  return d.line_ns < 50 ? "siblings" : d.line_ns < 170 ? "near" : "far";
}

/// Of what was measured between the two.
inline std::string state_between(distance const& before, distance const& after) {
  return std::string(name_of(before) == name_of(after) ? name_of(before) : "changed");
}

/// Measures it whenever it is asked, in about a millisecond. Every function is called by all ranks of the world alike.
class distance_gauge {
 public:
  explicit distance_gauge(seating const& seats) {
#ifdef COLLIGO_BENCH_SIMULATED
    why_not_ = "simulated";
    static_cast<void>(seats);
#else
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int rank = 0, own[2]{};   // of the host: the number of ranks, and the last one's in the world
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(host, &own[0]);
    MPI_Allreduce(&rank, &own[1], 1, MPI_INT, MPI_MAX, host);
    MPI_Comm_free(&host);
    MPI_Bcast(own, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (own[0] == 1) why_not_ = "alone";
    else if (seats.crowded) why_not_ = "crowded";   // what they wait for is a core
    if (!why_not_.empty()) return;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 || rank == own[1] ? 0 : MPI_UNDEFINED, rank, &pair_);
    if (pair_ == MPI_COMM_NULL) return;
    void* memory = nullptr;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(shared) : 0, 1, MPI_INFO_NULL, pair_, &memory, &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, &memory);
    if (rank == 0) new (memory) shared();
    shared_ = static_cast<shared*>(memory);
    MPI_Barrier(pair_);
#endif
  }
  distance_gauge(distance_gauge const&) = delete;
  distance_gauge& operator=(distance_gauge const&) = delete;
  ~distance_gauge() {
    if (pair_ == MPI_COMM_NULL) return;
    MPI_Win_free(&window_);
    MPI_Comm_free(&pair_);
  }

  distance measure() {
    distance found;
    if (!why_not_.empty()) return found;
    if (shared_ != nullptr) {
      int rank = 0;
      MPI_Comm_rank(pair_, &rank);
      double line = std::numeric_limits<double>::max(), copy = line;
      for (int i = 0; i < tries; ++i) {
        pass_lines(rank, 1);   // both are there: who comes late is not measured
        line = std::min(line, time([&] { pass_lines(rank, rounds); }));
        pass_lines(rank, 1);
        copy = std::min(copy, time([&] { pass_a_message(rank); }));
      }
      found = {line / rounds * 1e9, message / copy / 1e9};
    }
    MPI_Bcast(&found, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return found;
  }

  /// A word for a column: the state, "changed", or why there is none: crowded, alone, simulated.
  std::string between(distance const& before, distance const& after) const {
    return why_not_.empty() ? state_between(before, after) : why_not_;
  }

  /// For the head of a report.
  std::string describe(distance const& d) const {
    if (!why_not_.empty()) return fmt::format("state: {}", why_not_);
    return fmt::format("state: {} (first and last rank: a line there and back {:.0f} ns, a long message {:.1f} GB/s)",
                       name_of(d), d.line_ns, d.copy_gbs);
  }

 private:
  static constexpr int tries = 10, rounds = 100;   // short, so that some try is not interrupted
  static constexpr std::size_t message = 1 << 20, ring = 1 << 18, chunk = 1 << 15;

  struct shared {
    alignas(128) std::atomic<int> there{0};
    alignas(128) std::atomic<int> back{0};
    alignas(128) std::atomic<std::size_t> written{0};
    alignas(128) std::atomic<std::size_t> read{0};
    alignas(4096) char bytes[ring];
  };

  template <class What>
  static double time(What what) {
    double const start = MPI_Wtime();
    what();
    return MPI_Wtime() - start;
  }

  void pass_lines(int rank, int times) {
    auto& mine = rank == 0 ? shared_->there : shared_->back;
    auto& other = rank == 0 ? shared_->back : shared_->there;
    for (int i = 0; i < times; ++i) {
      ++lines_;
      if (rank == 0) mine.store(lines_, std::memory_order_release);
      while (other.load(std::memory_order_acquire) != lines_) {
      }
      if (rank != 0) mine.store(lines_, std::memory_order_release);
    }
  }

  void pass_a_message(int rank) {
    if (!own_) own_ = std::make_unique<char[]>(message);
    for (std::size_t at = 0; at < message; at += chunk) {
      passed_ += chunk;
      char* const place = shared_->bytes + passed_ % ring;
      if (rank == 0) {
        while (passed_ > shared_->read.load(std::memory_order_acquire) + ring) {
        }
        std::memcpy(place, own_.get() + at, chunk);
        shared_->written.store(passed_, std::memory_order_release);
      } else {
        while (shared_->written.load(std::memory_order_acquire) < passed_) {
        }
        std::memcpy(own_.get() + at, place, chunk);
        shared_->read.store(passed_, std::memory_order_release);
      }
    }
    while (shared_->read.load(std::memory_order_acquire) < passed_) {
    }
  }

  std::string why_not_;
  MPI_Comm pair_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  shared* shared_ = nullptr;
  std::unique_ptr<char[]> own_;
  int lines_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace bench
