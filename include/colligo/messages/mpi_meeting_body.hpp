// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_port.hpp for when the ranks of a communicator meet: what they exchange, and how they wait for
/// those who do not come.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/requests.hpp"
#include "mpi_port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi {

[[gnu::cold]] COLLIGO_BODY std::string name_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  check_mpi(MPI_Comm_get_name(comm, name.data(), &length), "MPI_Comm_get_name");
  return std::string(name.data(), static_cast<std::size_t>(length));
}

// A rank's patience with those that do not come to a communicator's first use. Their settings are not known yet, so
// this rank's own environment holds, and it only warns: collectives of MPI's can not be left.
class first_meeting {
 public:
  [[gnu::cold]] explicit first_meeting(MPI_Comm comm) : comm_(comm) {}
  [[gnu::cold]] COLLIGO_BODY void waits() {
    if (++looks_ < before_asking) return;
    auto const now = std::chrono::steady_clock::now();
    if (looks_ == before_asking) {
      char const* const wish = environment_value("COLLIGO_PATIENCE");
      wish_ = patience_in(wish ? wish : "").value_or(patience_setting{});
      began_ = now;
    }
    if (wish_.after.count() == 0 || now - began_ < wish_.after) return;
    int rank = 0, size = 0;
    check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
    std::string const name = name_of(comm_);
    std::fputs(concat({"colligo: rank ", rank, " has waited ", name_of_call(wish_), " in the first use of ",
                         name.empty() ? "a communicator without a name" : "communicator ", name, ", for some of its ",
                         size, " ranks have made no call on it\n"}).c_str(), stderr);
    wish_ = {};
  }

 private:
  static constexpr unsigned before_asking = 1024;
  MPI_Comm comm_;
  unsigned looks_ = 0;
  patience_setting wish_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace mpi

[[noreturn, gnu::cold]] inline void throw_no_memory() {
  throw failed_elsewhere("colligo: a rank has no memory for what is kept with a communicator");
}

// Not a blocking call of MPI's: a rank that has not come may wait for a request that needs this one.
[[gnu::cold]] COLLIGO_BODY void mpi_port::complete(MPI_Comm comm, MPI_Request request, char const* by) {
  requests_of_rank& all = all_requests();
  mpi::first_meeting meeting(comm);
  for (int done = 0;; sched_yield()) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), by);
    if (done) return;
    if (all.busy()) all.progress();
    meeting.waits();
  }
}

// Every rank's value on every rank, in two messages a rank: as MPI_Iallgather it can be one from each rank to each.
template <class Value>
void mpi_port::exchange_values(MPI_Comm comm, Value const& mine, std::span<Value> all) {
  auto const bytes = static_cast<int>(sizeof mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Igather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, comm, &request), "MPI_Igather");
  complete(comm, request, "MPI_Igather");
  check_mpi(MPI_Ibcast(all.data(), static_cast<int>(all.size_bytes()), MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  complete(comm, request, "MPI_Ibcast");
}

// Throws on all ranks if one of them is in trouble.
[[gnu::cold]] COLLIGO_BODY void mpi_port::agree(MPI_Comm comm, std::exception_ptr const& trouble) {
  int const mine = trouble ? 0 : 1;
  int all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ireduce(&mine, &all, 1, MPI_INT, MPI_MIN, 0, comm, &request), "MPI_Ireduce");
  complete(comm, request, "MPI_Ireduce");
  check_mpi(MPI_Ibcast(&all, 1, MPI_INT, 0, comm, &request), "MPI_Ibcast");
  complete(comm, request, "MPI_Ibcast");
  if (trouble) std::rethrow_exception(trouble);
  if (!all) throw_no_memory();
}

}  // namespace colligo
