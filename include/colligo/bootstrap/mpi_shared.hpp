// SPDX-License-Identifier: BSL-1.0
/// @file
/// Memory that the MPI ranks of one host share. Each process has one file in memory (arena.hpp), which the others map
/// once. A communicator gets parts of the files in its first use, if all of its ranks can, and gives them back when it
/// is freed.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "../core/small_vector.hpp"
#include "../core/step.hpp"
#include "../core/strings.hpp"
#include "../core/view.hpp"
#include "../engine/communicator_state.hpp"
#include "../environment/cache_line.hpp"
#include "../environment/core_domains.hpp"
#include "../transport/memory/arena.hpp"
#include "../transport/memory/shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The rank info that all ranks exchange when a communicator is first used.
struct mpi_rank_info {
  std::uint64_t host;            ///< a hash, the same for ranks that can share memory
  arena_address memory;          ///< in communicators of many ranks known for ranks of the same host alone
  std::uint64_t segment;         ///< its offset there, exchanged later; 0: there is none
  std::int32_t lowest;           ///< the lowest rank of its host, which the receiver finds
  // From here on ints (mpi_rank_table_body.hpp).
  std::uint32_t settings;        ///< bytes of the settings of its environment
  std::uint32_t asks;            ///< bits of features that its environment turns on: trace
  std::uint32_t setting;         ///< missing_memory::flag
  std::uint32_t has_file;        ///< 0: the rank can not or may not share memory
  std::int32_t trouble;          ///< why it can not: an errno
  std::uint16_t state;            ///< no_state: for lack of memory; then nothing else is set
  std::uint16_t line;             ///< bytes of a cache line of its machine
  core_domains domains;          ///< of the cores that it may run on

  static constexpr std::uint32_t trace = 1;
  static constexpr std::uint16_t not_come = 0, has_state = 1, no_state = 2;
};
mpi_rank_info mpi_rank_info_of_this_process(settings* environment);

namespace mpi_rank_table {
/// Up to this many ranks exchange their info by a gather and a broadcast, more in a tree. Tests set less.
inline constexpr std::size_t few = 256;
inline std::size_t most_gathered = few;
/// Up to this many ranks rank 0 can name those that have not come, for a message from each to it instead of a tree.
inline constexpr std::size_t most_named = 64;
/// The trees of a first use have different roots, to share the work. The root on a host is the host's last rank.
enum class tree_of { rank_table, states, neighbours, segments };
inline int root(tree_of which, int p) { return std::min(static_cast<int>(which), p - 1); }
/// What a place does in a binomial tree of n places, up to place 0 and down again. On the way up it receives the values
/// of a subtree, receive_of(first, count), and sends them together with its own, send_of(to, count); place 0 to nobody.
/// On the way down it receives the values of all places, receive_all(from), and sends them on, send_all(to).
template <class ReceiveOf, class SendOf, class ReceiveAll, class SendAll>
void up_and_down(int place, int n, ReceiveOf const& receive_of, SendOf const& send_of, ReceiveAll const& receive_all,
                 SendAll const& send_all) {
  int distance = 1;
  for (; distance < n && (place & distance) == 0; distance *= 2)
    if (place + distance < n) receive_of(place + distance, std::min(distance, n - place - distance));
  send_of(place == 0 ? nobody : place - distance, std::min(distance, n - place));
  if (place != 0) receive_all(place - distance);
  for (int half = distance / 2; half > 0; half /= 2)
    if (place + half < n) send_all(place + half);
}
/// The info of consecutive ranks, except for their memory: the hosts, then as runs the number of each rank's host and
/// each column.
std::vector<int> write(view<mpi_rank_info const> ranks);
/// Reads what write() has written.
void read(std::vector<int> const& words, view<mpi_rank_info> ranks);
}  // namespace mpi_rank_table

/// Why ranks of a host do not share memory, and the effect of COLLIGO_SHARED_MEMORY: the same on all ranks.
class missing_memory {
 public:
  enum flag : std::uint32_t { off = 1, required = 2, unknown = 4, strict = 8 };
  /// The setting of this process's environment. `strict`: it is unknown, which is an error.
  static std::uint32_t setting();

  explicit missing_memory(int rank) : rank_(rank) {}
  /// Finds the reason from the info of all ranks. Collective if some rank's setting is unknown.
  void find_reason(MPI_Comm comm, view<mpi_rank_info const> ranks, std::vector<int> const& hosts);
  /// All ranks have a file, but this one does not have all memory.
  void set_rank_without(int rank_without);

  /// Returns null, or throws if memory is required.
  shared_host* none() const;
  /// The same for elements that are too large for the shared memory. `whole`: all ranks are on one host.
  shared_host* none_for(std::size_t element_size, bool whole) const;
  /// The reason in words. Precondition: no two ranks share memory.
  std::string why() const;
  bool has_neighbours() const { return has_neighbours_; }

 private:
  void set_reason(std::initializer_list<concat_piece> why, bool to_user);

  int rank_;
  std::uint32_t flags_ = 0;       // set by any rank
  bool has_neighbours_ = false;   // some host has several ranks
  std::string why_;
};

/// One rank's part of the memory of a communicator, and its view of the others' parts.
class mpi_shared final : public host_memory {
 public:
  /// Whether all ranks have files.
  static bool possible(view<mpi_rank_info const> ranks);

  /// `comm` is for progress while a rank waits; `line`: bytes of the longest cache line of its ranks. Precondition:
  /// possible(ranks).
  mpi_shared(MPI_Comm comm, int rank, view<mpi_rank_info const> ranks, std::size_t line);
  ~mpi_shared();
  mpi_shared(mpi_shared const&) = delete;
  mpi_shared& operator=(mpi_shared const&) = delete;

  /// The offset of this rank's segment in its file; 0: there is no memory.
  std::uint64_t segment() const { return neighbours_[me_].segment; }
  /// Maps the files of the other ranks. True if this rank has all memory; if one rank has not, no rank shares any.
  bool map(view<mpi_rank_info const> ranks);
  /// Opens the segments of all ranks. Messages are read in place only if all ranks can. Precondition: map() was true on
  /// all ranks.
  void open(view<mpi_rank_info const> ranks, memory_limits limits);

  /// Null until it is opened.
  shared_host* host() { return is_open_ ? host_.get() : nullptr; }

  COLLIGO_BODY std::uint64_t allocate(std::size_t bytes) override;
  COLLIGO_BODY void take_back() override;
  COLLIGO_BODY std::byte* at(std::uint64_t address) const override;

 private:
  /// The head of a segment: what the rank reports to the other ranks of its host.
  struct alignas(lines_apart) head {
    std::atomic<std::uint32_t> left;   ///< the number of ranks that no longer read this rank's memory
    std::int32_t job_ranks;            ///< the job's ranks on this host, as far as this rank knows
    std::int32_t most_cores;           ///< that its control group allows
    std::int32_t bound;                ///< the launcher has bound the rank to cores
    std::int32_t reads;                ///< it may read the memory of all ranks of its host
    core_set cores;                    ///< that it may run on
  };
  struct neighbour {
    int rank;
    pid_t process;
    std::byte* memory;
    std::uint64_t segment = 0;
  };

  // An address is 2^48 * (place of the rank whose memory it is in, counted from 1) + (offset in its file).
  static constexpr int offset_bits = 48;

  head& head_of(neighbour const& n) const { return *reinterpret_cast<head*>(n.memory + n.segment); }
  void describe(head& mine) const;
  bool has_cores(bool for_job) const;
  static bool read(void* self, int from, std::byte* into, std::byte const* address, std::size_t n);
  static void wait(void* self);
  static bool gone(void* self, int place);

  MPI_Comm comm_;
  arena& arena_;
  std::size_t me_ = 0;          // index of this rank in neighbours_
  small_vector<neighbour> neighbours_;   // all ranks of the host
  small_vector<arena::part> parts_;      // of this rank: the segment, then the channels
  bool is_open_ = false;
  unsigned waits_ = 0;
  owner<shared_host> host_;
};

}  // namespace colligo
