// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_shared.hpp.
#pragma once

#include <sched.h>
#if defined(__linux__)
#include <sys/uio.h>
#endif
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../environment/host.hpp"
#include "../transport/messages/mpi_error.hpp"
#include "../transport/messages/mpi_state.hpp"
#include "mpi_shared.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi {

// Warns only once in a program, so that later calls allocate no text.
inline std::atomic<bool> has_warned_of_missing_memory = false;
[[gnu::cold]] COLLIGO_BODY void warn_that_memory_is_missing(std::initializer_list<concat_piece> why) {
  if (!has_warned_of_missing_memory.exchange(true))
    std::fprintf(stderr, "colligo: shared memory is not used between the ranks of a host: %s\n", concat(why).c_str());
}

inline std::string processor_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

// Ranks of some communicator on this host may run on different cores, so something has bound them; those of another
// one may all be on one socket.
inline std::atomic<bool> masks_have_differed = false;

}  // namespace mpi

[[gnu::cold]] COLLIGO_BODY mpi_rank_info mpi_rank_info_of_this_process(settings* environment) {
  static std::uint64_t const host = hash_of_host(mpi::processor_name());
  std::uint32_t const setting = missing_memory::setting();
  arena* const memory = (setting & (missing_memory::off | missing_memory::strict)) == 0 ? arena::of_process() : nullptr;
  std::size_t bytes = 0;
  if (environment)
    for (std::string const* const text : environment->texts()) bytes += text->size();
  if (bytes != 0) bytes += settings::count * sizeof(std::uint32_t);
  std::uint32_t const asks = environment_value("COLLIGO_TRACE") ? mpi_rank_info::trace : 0u;
  return {host, memory ? memory->address() : arena_address{}, 0, 0, static_cast<std::uint32_t>(bytes), asks, setting,
          memory != nullptr, memory ? 0 : arena::trouble(), 0, static_cast<std::uint16_t>(cache_line_of_machine()),
          domains_of_process()};
}

[[gnu::cold]] COLLIGO_BODY std::uint32_t missing_memory::setting() {
  char const* const value = std::getenv("COLLIGO_SHARED_MEMORY");
  std::string_view const asked = value ? value : "";
  if (asked.empty()) return 0;
  if (asked == "required") return required;
  if (auto const wanted = switch_in(asked)) return *wanted ? 0u : off;
  return unknown | (switch_of_environment("COLLIGO_STRICT") ? strict : 0u);
}

// The words may differ between ranks: a rank without memory for them goes on as the others do.
[[gnu::cold]] COLLIGO_BODY void missing_memory::set_reason(std::initializer_list<concat_piece> why, bool to_user) {
  why_ = "no memory";   // so short that the string does not allocate
  try {
    why_ = concat(why);
    if (to_user && rank_ == 0 && flags_ == 0) mpi::warn_that_memory_is_missing(why);
  } catch (std::bad_alloc const&) {
  }
}

[[gnu::cold]] COLLIGO_BODY void missing_memory::find_reason(MPI_Comm comm, view<mpi_rank_info const> ranks,
                                                        std::vector<int> const& hosts) {
  std::uint32_t all = 0;
  for (mpi_rank_info const& r : ranks) all |= r.setting;
  flags_ = all & (off | required);
  has_neighbours_ = hosts.empty();
  for (std::size_t r = 0; r < hosts.size(); ++r) has_neighbours_ |= hosts[r] != static_cast<int>(r);
  auto const first = [&](auto is) { return static_cast<int>(place_of(ranks, is)); };
  if (all & unknown) {
    std::uint32_t const which = all & strict ? strict : unknown;
    auto const who = first([which](mpi_rank_info const& r) { return (r.setting & which) != 0; });
    std::array<char, 64> value{};
    if (rank_ == who) std::snprintf(value.data(), value.size(), "%s", std::getenv("COLLIGO_SHARED_MEMORY"));
    check_mpi(MPI_Bcast(value.data(), static_cast<int>(value.size()), MPI_CHAR, who, comm), "MPI_Bcast");
    set_reason({"COLLIGO_SHARED_MEMORY=", value.data(), " on rank ", who, ": known values are on, off, required"},
               false);
    if (which == strict) {
      flags_ = strict;
      return;
    }
    try {
      if (rank_ == 0) warn_once(concat({why_, "; it is ignored"}));
    } catch (std::bad_alloc const&) {
    }
    why_.clear();
  }
  if (flags_ & off) {
    auto const who = first([](mpi_rank_info const& r) { return (r.setting & off) != 0; });
    set_reason({"COLLIGO_SHARED_MEMORY=off on rank ", who}, false);
  } else if (!mpi_shared::possible(ranks) && has_neighbours_) {
    auto const who = first([](mpi_rank_info const& r) { return !r.has_file; });
    int const trouble = ranks[static_cast<std::size_t>(who)].trouble;
    set_reason({"a file in memory on rank ", who, ": ", std::strerror(trouble)}, true);
  }
}

[[gnu::cold]] COLLIGO_BODY void missing_memory::set_rank_without(int rank_without) {
  if (!has_neighbours_) return;
  set_reason({"rank ", rank_without, " has no room in its file in memory, or can not map another rank's"}, true);
}

[[gnu::cold]] COLLIGO_BODY shared_host* missing_memory::none() const {
  if (flags_ & strict) throw argument_error(concat({"colligo: ", why_}));
  if ((flags_ & required) && !why_.empty())
    throw error(concat({"colligo: COLLIGO_SHARED_MEMORY=required, and shared memory can not be used between the "
                          "ranks of a host: ", why_}));
  return nullptr;
}
[[gnu::cold]] COLLIGO_BODY shared_host* missing_memory::none_for(std::size_t element_size, bool whole) const {
  if (!has_neighbours_) return nullptr;
  // Only if all ranks throw: ranks of other hosts may have memory for such elements, and would wait for this one.
  if ((flags_ & required) && whole)
    throw argument_error(
        concat({"colligo: COLLIGO_SHARED_MEMORY=required, and ", too_large_for_memory(element_size)}));
  if (rank_ == 0 && !mpi::has_warned_of_missing_memory)   // every call comes here, and text needs memory
    mpi::warn_that_memory_is_missing({too_large_for_memory(element_size)});
  return nullptr;
}
[[gnu::cold]] COLLIGO_BODY std::string missing_memory::why() const {
  return has_neighbours_ ? why_ : "each rank is on a host of its own";
}

[[gnu::cold]] COLLIGO_BODY bool mpi_shared::possible(view<mpi_rank_info const> ranks) {
  return !is_any(ranks, [](mpi_rank_info const& r) { return !r.has_file; });
}

[[gnu::cold]] COLLIGO_BODY mpi_shared::mpi_shared(MPI_Comm comm, int rank, view<mpi_rank_info const> ranks,
                                                  std::size_t line)
    : comm_(comm), arena_(*arena::of_process()) {
  std::uint64_t const here = ranks[static_cast<std::size_t>(rank)].host;
  std::vector<int> places;   // see shared_host
  for (int r = 0; r < static_cast<int>(ranks.size()); ++r) {
    mpi_rank_info const& other = ranks[static_cast<std::size_t>(r)];
    places.push_back(other.host == here ? static_cast<int>(neighbours_.size()) : -1);
    if (other.host != here) continue;
    if (r == rank) me_ = neighbours_.size();
    neighbours_.push_back({r, 0, nullptr});
  }
  std::size_t const bytes = sizeof(head) + segment_layout(static_cast<int>(neighbours_.size())).bytes();
  if (neighbours_.size() == ranks.size()) places.clear();
  host_ = make_owner<shared_host>(static_cast<int>(me_), neighbours_.size(), *this, std::move(places), line);
  parts_.reserve(1);
  std::uint64_t const at = arena_.allocate(bytes);
  if (at == 0) return;
  parts_.push_back({at, bytes});
  std::memset(arena_.begin() + at, 0, bytes);
  neighbours_[me_].segment = at;
}

[[gnu::cold]] COLLIGO_BODY bool mpi_shared::map(view<mpi_rank_info const> ranks) {
  bool all_mapped = segment() != 0, reads = true;
  for (neighbour& n : neighbours_) {
    arena_address const& at = ranks[static_cast<std::size_t>(n.rank)].memory;
    arena::peer const peer = arena_.map(at);
    n.process = static_cast<pid_t>(at.process), n.memory = peer.begin;
    all_mapped = all_mapped && peer.begin;
    reads = reads && peer.readable;
  }
  if (!all_mapped) return false;
  head& mine = head_of(neighbours_[me_]);
  describe(mine);
  mine.reads = reads;
  return true;
}

// Other ranks may still read the parts: a rank's messages may be in progress when it frees the communicator.
[[gnu::cold]] COLLIGO_BODY mpi_shared::~mpi_shared() {
  if (!is_open_) {
    for (arena::part const& p : parts_) arena_.free(p);
    return;
  }
  host_.reset();
  std::atomic<std::uint32_t> const& mine = head_of(neighbours_[me_]).left;
  for (neighbour const& n : neighbours_) head_of(n).left.fetch_add(1, std::memory_order_acq_rel);
  arena_.free_after(mine, static_cast<std::uint32_t>(neighbours_.size()), std::move(parts_));
}

[[gnu::cold]] COLLIGO_BODY void mpi_shared::open(view<mpi_rank_info const> ranks, memory_limits limits) {
  bool read_all = true;
  for (neighbour& n : neighbours_) {
    n.segment = ranks[static_cast<std::size_t>(n.rank)].segment;
    read_all = read_all && head_of(n).reads != 0;
  }
  auto const segment_of = [&](std::size_t place) {
    return neighbours_[place].memory + neighbours_[place].segment + sizeof(head);
  };
  host_->open(segment_of, {this, has_cores(true), has_cores(false), &wait, read_all ? &read : nullptr, &gone});
  // Ranks that share cores share caches, and would measure when they have a core.
  if (!host_->spins() && limits.stores == stores_setting::measured) limits.stores = stores_setting::cached;
  host_->limit(limits);
  is_open_ = true;
}

COLLIGO_BODY std::uint64_t mpi_shared::allocate(std::size_t bytes) {
  parts_.reserve(parts_.size() + 1);   // first, because it may throw
  std::uint64_t const at = arena_.allocate(bytes);
  if (at == 0) throw std::bad_alloc();
  parts_.push_back({at, bytes});
  return std::uint64_t{me_ + 1} << offset_bits | at;
}
COLLIGO_BODY void mpi_shared::take_back() {
  arena_.free(parts_.back());
  parts_.pop_back();
}
COLLIGO_BODY std::byte* mpi_shared::at(std::uint64_t address) const {
  return neighbours_[(address >> offset_bits) - 1].memory + (address & ((std::uint64_t{1} << offset_bits) - 1));
}

[[gnu::cold]] COLLIGO_BODY void mpi_shared::describe(head& mine) const {
  static int const job_ranks = ranks_of_job(), most_cores = cores_of_control_group();
  static std::atomic<int> most_seen = 0;   // ranks of one communicator here, where the launcher does not say
  int const here = static_cast<int>(neighbours_.size());
  for (int seen = most_seen; seen < here && !most_seen.compare_exchange_weak(seen, here);) {}
  mine.job_ranks = std::max(job_ranks, most_seen.load());
  mine.most_cores = most_cores;
  static bool const by_launcher = is_bound_by_launcher();
  mine.bound = by_launcher || mpi::masks_have_differed;
  mine.cores = core_set::of_process();
}

// Whether there is a core for each rank of the communicator on this host, or for each rank of the job (`for_job`). The
// same on all ranks of the host.
[[gnu::cold]] COLLIGO_BODY bool mpi_shared::has_cores(bool for_job) const {
  int ranks = static_cast<int>(neighbours_.size()), quota = INT_MAX;
  core_set all;
  bool bound = false, differ = false;
  for (neighbour const& n : neighbours_) {
    head const& known = head_of(n);
    if (for_job) ranks = std::max(ranks, known.job_ranks);
    quota = std::min(quota, known.most_cores);
    all.add(known.cores);
    bound = bound || known.bound;
    differ = differ || known.cores != head_of(neighbours_[0]).cores;
  }
  if (differ) mpi::masks_have_differed = bound = true;
  static int const online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));   // reads a file
  int const known = static_cast<int>(all.size());
  if (known < static_cast<int>(neighbours_.size())) return false;
  // Ranks that a launcher has bound do not use other ranks' cores.
  int const cores = bound ? std::max(known, online) : known;
  return std::min(cores, quota) >= ranks;
}

COLLIGO_BODY bool mpi_shared::read(void* self, int from, std::byte* into, std::byte const* address, std::size_t n) {
  pid_t const process = static_cast<mpi_shared*>(self)->neighbours_[static_cast<std::size_t>(from)].process;
  while (n != 0) {
    std::ptrdiff_t const got = read_process(process, into, address, n);
    if (got <= 0) return false;
    into += got, address += got, n -= static_cast<std::size_t>(got);
  }
  return true;
}

[[gnu::cold]] COLLIGO_BODY bool mpi_shared::gone(void* self, int place) {
  auto& me = *static_cast<mpi_shared*>(self);
  return me.arena_.has_ended(me.neighbours_[static_cast<std::size_t>(place)].memory);
}

COLLIGO_BODY void mpi_shared::wait(void* self) {
  auto& me = *static_cast<mpi_shared*>(self);
  sched_yield();
  mpi_state::all_requests().progress_if_free();
  if (me.host_->spins() || ++me.waits_ % 64 == 0) let_mpi_progress(me.comm_, me.neighbours_[me.me_].rank);
}

}  // namespace colligo

#include "../transport/memory/arena_body.hpp"
