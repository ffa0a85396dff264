// SPDX-License-Identifier: BSL-1.0
/// @file
/// Memory that the MPI ranks of one host share. Each process has one file of it (arena.hpp), which the others map once;
/// a communicator gets parts of it when it is first used, by agreement of all its ranks, and gives them back when
/// it is freed.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../core/row.hpp"
#include "../core/strings.hpp"
#include "../engine/port.hpp"
#include "../memory/arena.hpp"
#include "../memory/shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What a rank says of itself to all others when a communicator is first used.
struct mpi_rank_info {
  std::uint64_t host;            ///< a hash: equal for those that can share memory
  arena_address memory;          ///< no file: this rank can not or does not want to
  std::uint32_t settings;        ///< bytes of what its environment sets
  std::uint32_t asks;            ///< that its environment does, as bits: trace
  std::uint32_t setting;         ///< missing_memory::flag
  std::int32_t trouble;          ///< why it has no file, as errno says
  std::int32_t lowest;           ///< rank of its host: find_hosts() says it
  std::uint32_t has_no_port;     ///< for lack of memory; nothing else is said then
  core_domains domains;          ///< of its cores

  static constexpr std::uint32_t trace = 1;
};
mpi_rank_info mpi_rank_info_of_this_process(settings* environment);

/// The host of each rank, as the lowest rank there; empty where all are on one. Takes no memory if the capacity of
/// `hosts` is enough.
void find_hosts(std::span<mpi_rank_info> ranks, std::vector<int>& hosts);

/// What a rank says of its share in the communicator's memory.
struct mpi_segment {
  std::uint64_t at;     ///< in its file; 0: it has none, so nobody shall
  std::uint64_t reads;  ///< whether it may read the memory of all ranks of its host
};

/// Why ranks of a host do not share memory, and what COLLIGO_SHARED_MEMORY makes of that: the same on all ranks.
class missing_memory {
 public:
  enum flag : std::uint32_t { off = 1, required = 2, unknown = 4, strict = 8 };
  /// What this process's environment asks for. `strict`: something unknown, and that shall be an error.
  static std::uint32_t setting();

  explicit missing_memory(int rank) : rank_(rank) {}
  /// Collective if some rank's setting is unknown. Without memory for the message it is shorter.
  void hear_of(MPI_Comm comm, std::span<mpi_rank_info const> ranks, std::vector<int> const& hosts);
  /// All had a file, but not all a segment.
  void hear_of(std::span<mpi_segment const> all);

  /// Null, or an exception.
  shared_host* none() const;
  /// The same for elements that are too large for the memory there is. `whole`: it has all ranks.
  shared_host* none_for(std::size_t element_size, bool whole) const;
  /// In words. Precondition: there is none, or none that two ranks have in common.
  std::string why() const;
  bool has_neighbours() const { return has_neighbours_; }

 private:
  void tell(std::initializer_list<concat_piece> why, bool to_user);

  int rank_;
  std::uint32_t flags_ = 0;       // of any rank
  bool has_neighbours_ = false;   // some rank
  std::string why_;
};

/// The share of one rank in the memory of a communicator.
class mpi_shared final : public host_memory {
 public:
  /// Whether all ranks have a file.
  static bool possible(std::span<mpi_rank_info const> ranks);

  /// `comm` is for progress while a rank waits. Takes all the memory of its process that there is to take.
  /// Precondition: possible(ranks).
  mpi_shared(MPI_Comm comm, int rank, std::span<mpi_rank_info const> ranks);
  ~mpi_shared();
  mpi_shared(mpi_shared const&) = delete;
  mpi_shared& operator=(mpi_shared const&) = delete;

  /// For all others. It may turn out that there is no memory.
  mpi_segment segment() const;
  /// With the segments of all ranks. No messages are read where they lie if some can not.
  /// Precondition: each rank has a segment.
  void open(std::span<mpi_segment const> all, memory_limits limits);

  /// Null until it is opened.
  shared_host* host() { return is_open_ ? host_.get() : nullptr; }

  COLLIGO_BODY std::uint64_t allocate(std::size_t bytes) override;
  COLLIGO_BODY void take_back() override;
  COLLIGO_BODY std::byte* at(int place, std::uint64_t offset) const override;

 private:
  /// Before a segment: what its rank says of itself to those of its host.
  struct alignas(cache_line) head {
    std::atomic<std::uint32_t> left;   ///< ranks that will not look into this one's memory any more
    std::int32_t job_ranks;            ///< of the host, as far as this one knows
    std::int32_t most_cores;           ///< that its control group has
    std::int32_t bound;                ///< to cores, by the launcher
    cpu_set_t cores;                   ///< that it may run on
  };
  static constexpr int not_opened = -2;
  struct neighbour {
    int rank;
    pid_t process;
    std::byte* memory;
    std::uint64_t segment = 0;
    int handle = not_opened;   // of the process, once it is looked at
  };

  head& head_of(neighbour const& n) const { return *reinterpret_cast<head*>(n.memory + n.segment); }
  void describe(head& mine) const;
  bool has_cores(bool for_job) const;
  static bool read(void* self, int from, std::byte* into, std::byte const* address, std::size_t n);
  static void wait(void* self);
  static bool gone(void* self, int place);

  MPI_Comm comm_;
  arena& arena_;
  std::size_t me_ = 0;                  // of the host's
  row<neighbour> neighbours_;   // the ranks of the host, this one too
  row<arena::part> parts_;      // this rank's: the segment, then what channels have asked for
  bool reads_ = true, is_open_ = false;
  unsigned waits_ = 0;
  owner<shared_host> host_;
};

}  // namespace colligo
