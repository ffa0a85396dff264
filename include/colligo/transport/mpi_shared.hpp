// SPDX-License-Identifier: BSL-1.0
/// @file
/// Memory that the MPI ranks of one host share: mapped when a communicator first asks for it, by agreement of all its
/// ranks, unmapped with the communicator. The name in /dev/shm is gone as soon as all have it mapped, so that nothing
/// stays behind, however the program ends.
#pragma once

#include <mpi.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "shared_channel.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The ranks of one host, and their segments one after the other.
class mpi_shared {
 public:
  /// Collective over comm. Afterwards host() is there on all ranks or on none.
  explicit mpi_shared(MPI_Comm comm);
  ~mpi_shared();
  mpi_shared(mpi_shared const&) = delete;
  mpi_shared& operator=(mpi_shared const&) = delete;

  shared_host* host() { return host_.get(); }
  /// Why ranks of a host do not share memory, the same text on all ranks; empty where they do, or each has a host of
  /// its own.
  std::string const& missing() const { return missing_; }
  /// For those who find no memory: null, or what COLLIGO_SHARED_MEMORY makes of it, the same exception on all ranks.
  shared_host* none() const;
  /// For elements that are too large for it. `rank`: of this process.
  shared_host* none_for(std::size_t element_size, int rank) const;

 private:
  // Bytes of a host: a communicator of more than some 110 of its ranks goes over messages.
  static constexpr std::size_t most = std::size_t{256} << 20;

  // What one rank has to say, or any of them.
  enum flag : unsigned { off = 1, required = 2, unknown = 4, has_neighbours = 8, failed = 16 };

  static unsigned shared_memory_wish();
  unsigned flags_of_all(unsigned mine) const;
  void find_out_why(int rank);
  std::string told_by_one(std::string const& mine, int rank) const;
  std::size_t segment() const;
  std::size_t bytes() const { return segment() * static_cast<std::size_t>(ranks_); }
  bool agree(bool mine) const;
  bool map(MPI_Comm node);
  void open(MPI_Comm node);
  std::vector<int> places(MPI_Comm node) const;
  bool has_cores(MPI_Comm node) const;
  bool can_read(MPI_Comm node);
  bool copy(int from, std::byte* into, std::byte const* address, std::size_t n) const;
  static void read(void* self, int from, std::byte* into, std::byte const* address, std::size_t n);
  static void wait(void* self);
  static bool gone(void* self, int place);

  MPI_Comm comm_;
  int me_ = 0, ranks_ = 1;
  void* memory_ = MAP_FAILED;
  std::vector<pid_t> processes_;
  std::vector<int> handles_;   // of the processes, once they are looked at
  unsigned waits_ = 0, flags_ = 0;
  std::string missing_;
  std::unique_ptr<shared_host> host_;
};

}  // namespace colligo
