// SPDX-License-Identifier: BSL-1.0
/// @file
/// The host of this process: which one it is, how many cores its control groups allow, and what the job's launcher says
/// of its ranks there, in variables (users read of these in examples/guide/platforms.md).
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A hash, the same for processes that can share memory. `node`: the host's name by MPI. Containers may share the host
/// name or the boot identifier, emulated hosts share the latter. Process numbers are valid only in one name space.
[[gnu::cold]] inline std::uint64_t hash_of_host(std::string_view node) {
  std::string const boot = read_file("/proc/sys/kernel/random/boot_id", 64).text;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  struct stat processes{};
  if (stat("/proc/self/ns/pid", &processes) != 0) processes.st_ino = 0;
  // Units that compile another length of a cache line have other layouts.
  return fnv_1a(concat({boot, "\n", name.data(), "\n", node, "\n", processes.st_ino, " ", COLLIGO_CACHE_LINE}));
}

// Reads the numbers at the beginning of a file. Numbers that are not there keep their values.
[[gnu::cold]] inline void read_numbers(std::initializer_list<concat_piece> path, std::initializer_list<double*> into) {
  std::FILE* const file = std::fopen(concat(path).c_str(), "r");
  if (!file) return;
  for (double* const number : into)
    if (std::fscanf(file, "%lf", number) != 1) break;   // "max"
  std::fclose(file);
}

// The least number of cores that a control group or one of its parents allows.
[[gnu::cold]] inline double cores_of_groups(char const* folder, std::string path, bool second_version) {
  double least = INT_MAX;
  for (;; path.resize(path.rfind('/'))) {
    double quota = 0, period = 0;   // -1: no limit
    if (second_version) read_numbers({folder, path, "/cpu.max"}, {&quota, &period});
    else {
      read_numbers({folder, path, "/cpu.cfs_quota_us"}, {&quota});
      read_numbers({folder, path, "/cpu.cfs_period_us"}, {&period});
    }
    if (period > 0 && quota > 0) least = std::min(least, quota / period);
    if (path.rfind('/') == path.npos) return least;
  }
}

/// The number of cores that this process's control groups allow, rounded down to at least one.
[[gnu::cold]] inline int cores_of_control_group() {
  double least = INT_MAX;
  std::string const groups = read_file("/proc/self/cgroup", std::size_t{1} << 20).text;
  for (std::size_t at = 0, end; at < groups.size(); at = end + 1) {
    end = std::min(groups.find('\n', at), groups.size());
    std::string line = groups.substr(at, end - at);   // number:controllers:path
    auto const first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    line[first] = line[second] = ',';
    auto const controllers = std::string_view(line).substr(first, second - first + 1);
    std::string const path = line.substr(second + 1), below = path == "/" ? "" : path;
    if (controllers == ",,") least = std::min(least, cores_of_groups("/sys/fs/cgroup", below, true));
    if (controllers.find(",cpu,") != controllers.npos)
      least = std::min(least, cores_of_groups("/sys/fs/cgroup/cpu", below, false));
  }
  return std::max(1, static_cast<int>(least));
}

/// Slurm's list of tasks per node, "16(x2),8": those of the node with this number, from 0 on; 0 if a text is invalid.
[[gnu::cold]] inline int tasks_on_node(std::string_view tasks, std::string_view node) {
  auto const wanted = digits_in(node);
  for (std::size_t before = 0; wanted && node.empty();) {
    auto const n = digits_in(tasks);
    if (!n || *n > INT_MAX) return 0;
    std::size_t nodes = 1;
    if (tasks.starts_with("(x")) {
      tasks.remove_prefix(2);
      nodes = digits_in(tasks).value_or(0);
      if (nodes == 0 || !tasks.starts_with(')')) return 0;
      tasks.remove_prefix(1);
    }
    if (*wanted - before < nodes) return static_cast<int>(*n);
    before += nodes;
    if (!tasks.starts_with(',')) return 0;
    tasks.remove_prefix(1);
  }
  return 0;
}

/// The job's ranks on this host; 0: the launcher does not say.
[[gnu::cold]] inline int ranks_of_job() {
  for (char const* const variable : {"OMPI_COMM_WORLD_LOCAL_SIZE",   // Open MPI's mpirun
                                     "MPI_LOCALNRANKS",              // Hydra: MPICH, Intel MPI
                                     "MV2_COMM_WORLD_LOCAL_SIZE",    // MVAPICH
                                     "PALS_LOCAL_SIZE",              // PALS, HPE's
                                     "PMI_LOCAL_SIZE"})              // Cray's PMI
    if (char const* const value = std::getenv(variable))
      if (int const ranks = std::atoi(value); ranks > 0) return ranks;
  char const* const tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  char const* const node = std::getenv("SLURM_NODEID");
  return tasks && node ? tasks_on_node(tasks, node) : 0;
}

/// The launcher says that it has bound each rank to cores. Others bind too, and do not say so: then masks differ.
[[gnu::cold]] inline bool is_bound_by_launcher() {
  if (std::getenv("OMPI_MCA_orte_bound_at_launch")) return true;   // Open MPI's, up to 4
  char const* const by_slurm = std::getenv("SLURM_CPU_BIND_TYPE");   // "mask_cpu:", "none"
  return by_slurm && *by_slurm != '\0' && !std::string_view(by_slurm).starts_with("none");
}

}  // namespace colligo
