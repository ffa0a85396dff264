// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_TRACE over MPI: one log per process, whatever communicators it uses. When MPI is finalised rank 0 collects
/// the logs and writes them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traced_program_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Logs are collected over the first communicator that is traced, and over one of all processes as soon as there is
/// one. If there never is, each group writes a file of its own, named after the first of its ranks: trace.4.json.
class mpi_trace {
 public:
  static owner<observer> follow(MPI_Comm comm, run_list const& hosts) {
    std::string const path = path_for(comm);
    if (path.empty()) return nullptr;
    static mpi_trace& all = *new mpi_trace(path);   // MPI ends it
    std::vector<int> rows = rows_of(comm);
    if (!all.joins(comm, rows, hosts)) return nullptr;
    std::uint64_t id = (static_cast<std::uint64_t>(rows[0]) << 32) + ++all.communicators_;
    check_mpi(MPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
    return make_owner<tracer>(all.log_, id, std::move(rows));
  }

 private:
  explicit mpi_trace(std::string path) : path_(std::move(path)), log_(world_rank(), trace_file::most_events(path_)) {
    // MPI_Finalize begins with the attributes of MPI_COMM_SELF; everything of MPI is still there.
    int key = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, [](MPI_Comm, int, void* trace, void*) -> int {
                static_cast<mpi_trace*>(trace)->finish();
                return MPI_SUCCESS;
              }, &key, nullptr), "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, this), "MPI_Comm_set_attr");
  }

  static int world_rank() {
    int rank = 0;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    return rank;
  }

  static std::string path_for(MPI_Comm comm) {
    std::string path = trace_file::asked_for();
    auto length = static_cast<int>(path.size());
    check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
    path.resize(static_cast<std::size_t>(length));
    if (length != 0) check_mpi(MPI_Bcast(path.data(), length, MPI_CHAR, 0, comm), "MPI_Bcast");
    return path;
  }

  static std::vector<int> rows_of(MPI_Comm comm) {
    MPI_Group group, world;
    int size = 0;
    check_mpi(MPI_Comm_group(comm, &group), "MPI_Comm_group");
    check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
    check_mpi(MPI_Group_size(group, &size), "MPI_Group_size");
    std::vector<int> ranks(static_cast<std::size_t>(size)), rows(ranks);
    for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = r;
    check_mpi(MPI_Group_translate_ranks(group, size, ranks.data(), world, rows.data()), "MPI_Group_translate_ranks");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return rows;
  }

  // All ranks of comm agree whether to collect over it.
  bool joins(MPI_Comm comm, std::vector<int> const& rows, run_list const& hosts) {
    int world = 0, any[]{bootstrap_ != MPI_COMM_NULL, refused_};
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    if (any[1]) return false;
    bool const everybody = static_cast<int>(rows.size()) == world;
    if (any[0] && (!everybody || whole_)) return true;
    whole_ = everybody;
    meet_over(comm, rows[0], hosts);
    return !refused_;
  }

  void meet_over(MPI_Comm comm, int first_row, run_list const& hosts) {
    if (bootstrap_ != MPI_COMM_NULL) check_mpi(MPI_Comm_free(&bootstrap_), "MPI_Comm_free");
    if (file_) file_->discard();
    file_.reset();
    bootstrap_ = make_communicator_like(comm);   // of one rank it may be the user's
    check_mpi(MPI_Comm_rank(bootstrap_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(bootstrap_, &size_), "MPI_Comm_size");
    if (rank_ == 0) refused_ = !file_.emplace(whole_ || first_row == 0 ? path_ : trace_file::part(path_, first_row));
    check_mpi(MPI_Bcast(&refused_, 1, MPI_INT, 0, bootstrap_), "MPI_Bcast");
    ahead_ = 0;
    for (int r = 1; r < size_ && !hosts.empty(); ++r)   // one host has one steady clock
      if (hosts[static_cast<std::size_t>(r)] != hosts[0] && (rank_ == 0 || rank_ == r)) compare_clocks(r);
  }

  // Rank r learns how far rank 0's clock is ahead of its own, by the exchange that took the least time.
  void compare_clocks(int r) {
    std::int64_t theirs = 0, least = INT64_MAX, ahead = 0;
    int const peer = rank_ == 0 ? r : 0;
    for (int i = 0; i < 20; ++i) {
      if (rank_ != 0) {
        check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, bootstrap_, MPI_STATUS_IGNORE), "MPI_Recv");
        theirs = trace_log::now();
        check_mpi(MPI_Send(&theirs, 1, MPI_INT64_T, peer, 0, bootstrap_), "MPI_Send");
        continue;
      }
      auto const begin = trace_log::now();
      check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, bootstrap_), "MPI_Send");
      check_mpi(MPI_Recv(&theirs, 1, MPI_INT64_T, peer, 0, bootstrap_, MPI_STATUS_IGNORE), "MPI_Recv");
      auto const end = trace_log::now();
      if (end - begin >= least) continue;
      least = end - begin;
      ahead = begin + least / 2 - theirs;
    }
    if (rank_ == 0) check_mpi(MPI_Send(&ahead, 1, MPI_INT64_T, peer, 0, bootstrap_), "MPI_Send");
    else check_mpi(MPI_Recv(&ahead_, 1, MPI_INT64_T, peer, 0, bootstrap_, MPI_STATUS_IGNORE), "MPI_Recv");
  }

  // MPI calls this, so no exception may leave it.
  void finish() noexcept try {
    if (refused_) return;
    if (bootstrap_ == MPI_COMM_NULL)
      return void(std::fprintf(stderr, "colligo: COLLIGO_TRACE: rank %d is not in the trace, it never met the others\n",
                               log_.row()));
    log_.shift(ahead_);
    std::uint64_t about[]{static_cast<std::uint64_t>(log_.row()), log_.dropped(), log_.events().size()};
    if (rank_ != 0) {
      check_mpi(MPI_Send(about, 3, MPI_UINT64_T, 0, 0, bootstrap_), "MPI_Send");
      check_mpi(
          MPI_Send(log_.events().data(), static_cast<int>(about[2] * sizeof(trace_event)), MPI_BYTE, 0, 0, bootstrap_),
          "MPI_Send");
      return;
    }
    std::vector<trace_log> logs;
    logs.push_back(std::move(log_));
    for (int r = 1; r < size_; ++r) {
      check_mpi(MPI_Recv(about, 3, MPI_UINT64_T, r, 0, bootstrap_, MPI_STATUS_IGNORE), "MPI_Recv");
      std::vector<trace_event> events(about[2]);
      check_mpi(MPI_Recv(events.data(), static_cast<int>(about[2] * sizeof(trace_event)), MPI_BYTE, r, 0, bootstrap_,
                         MPI_STATUS_IGNORE),
                "MPI_Recv");
      logs.emplace_back(static_cast<int>(about[0]), std::move(events), about[1]);
    }
    file_->write(logs);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "colligo: COLLIGO_TRACE: rank %d: %s\n", log_.row(), e.what());
  }

  std::string path_;
  trace_log log_;
  std::uint64_t communicators_ = 0;
  MPI_Comm bootstrap_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, refused_ = 0;
  bool whole_ = false;         // all processes take part
  std::int64_t ahead_ = 0;     // rank 0's clock is, in nanoseconds
  std::optional<trace_file> file_;
};

COLLIGO_BODY owner<observer> trace_mpi(MPI_Comm comm, run_list const& hosts) {
  return mpi_trace::follow(comm, hosts);
}

}  // namespace colligo
