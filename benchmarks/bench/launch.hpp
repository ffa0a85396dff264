// SPDX-License-Identifier: BSL-1.0
/// @file
/// A program under MPI: begins and ends it, gives each rank a core of its own, and prints an error once.
#pragma once

#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <colligo/communicators/communicators.hpp>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

#include "agreed_error.hpp"

namespace bench {

#ifdef COLLIGO_WITHOUT_BOOST_MPI
using communicator = colligo::mpi_communicator;
inline communicator world() { return {MPI_COMM_WORLD}; }
#else
using communicator = boost::mpi::communicator;
inline communicator world() { return {MPI_COMM_WORLD, boost::mpi::comm_attach}; }
#endif

/// The ranks that call together, where a program splits the world (compare --split).
inline MPI_Comm compared_ranks = MPI_COMM_WORLD;
#ifdef COLLIGO_WITHOUT_BOOST_MPI
inline communicator compared() { return {compared_ranks}; }
#else
inline communicator compared() { return {compared_ranks, boost::mpi::comm_attach}; }
#endif

/// Runs body() between MPI_Init and MPI_Finalize and returns its exit code, 1 after an error. `threads` is what MPI is
/// asked for; whether it is granted is for the body to see.
template <class Body>
int run_under_mpi(int argc, char** argv, Body body, int threads = MPI_THREAD_SINGLE) {
  int granted = 0;
  MPI_Init_thread(&argc, &argv, threads, &granted);
  int rank = 0, code = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    code = body();
  } catch (agreed_error const& e) {
    if (rank == 0) fmt::print(stderr, "{}\n", e.what());
  } catch (std::exception const& e) {
    fmt::print(stderr, "rank {}: {}\n", rank, e.what());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::fflush(nullptr);
  MPI_Finalize();
  return code;
}

/// Writes a file, on one rank.
inline void write_file(std::string const& path, std::string const& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw agreed_error(fmt::format("cannot write {}", path));
  fmt::print(file, "{}", text);
  std::fclose(file);
}

/// The first line of what the MPI library says of itself.
inline std::string mpi_library() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  text.resize(std::min(text.find('\n'), text.size()));
  for (char& c : text)
    if (c == '\t' || c == '\0') c = ' ';
  return text;
}

/// "Open MPI 4.1.4", "MPICH 4.0.2": name and version alone, as a column of a table has room for.
inline std::string mpi_name() {
  std::string const text = mpi_library();
  std::istringstream words(text.substr(0, text.find(',')));
  std::string name;
  for (std::string word; words >> word;) {
    if (word == "Version:") continue;
    if (word.size() > 1 && word[0] == 'v' && std::isdigit(static_cast<unsigned char>(word[1])) != 0) word.erase(0, 1);
    name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

/// Where the ranks sit.
struct seating {
  int hosts;
  int cores;     ///< that the ranks of a host may use: the smallest number of any host
  bool pinned;   ///< every rank has a core of its own
  bool crowded;  ///< some host has more ranks than cores
};

/// Pins each rank to a core of its own where all hosts have enough. What ranks may use together counts, not how the
/// launcher has dealt it out: launchers bind or do not bind, and a rank that wanders between cores would be measured as
/// a slow algorithm.
inline seating take_seats(bool pin) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &ranks);
  cpu_set_t own, all;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  MPI_Allreduce(&own, &all, static_cast<int>(sizeof own), MPI_BYTE, MPI_BOR, host);
  MPI_Comm_free(&host);

  int const cores = CPU_COUNT(&all);
  bool seated = false;
  if (pin && ranks <= cores) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0, before = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &all) && before++ == rank) CPU_SET(core, &one);
    seated = sched_setaffinity(0, sizeof one, &one) == 0;
  }

  int const mine[]{cores, seated, ranks <= cores};
  int least[3], first = rank == 0, hosts = 0;
  MPI_Allreduce(mine, least, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return {hosts, least[0], least[1] != 0, least[2] == 0};
}

/// A message for the head of a report.
inline std::string describe(seating const& s, int ranks) {
  std::string const where = s.hosts == 1 ? "" : fmt::format(" on each of {} hosts", s.hosts);
  std::string const how = s.pinned    ? "each rank pinned to a core of its own"
                          : s.crowded ? "more ranks than cores, not pinned: times include waiting for a core"
                                      : "not pinned";
  return fmt::format("{} rank{}, {} core{}{}, {}", ranks, ranks == 1 ? "" : "s", s.cores, s.cores == 1 ? "" : "s",
                     where, how);
}

}  // namespace bench
