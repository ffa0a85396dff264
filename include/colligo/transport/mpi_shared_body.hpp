// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_shared.hpp.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "mpi_error.hpp"
#include "mpi_shared.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// What COLLIGO_SHARED_MEMORY wishes on this rank: mpi_shared::flag.
inline unsigned mpi_shared::shared_memory_wish() {
  char const* const value = std::getenv("COLLIGO_SHARED_MEMORY");
  std::string_view const wish = value ? value : "";
  return wish == "off" ? off : wish == "required" ? required : wish.empty() || wish == "on" ? 0u : unknown;
}

// Once in a program.
[[gnu::cold]] COLLIGO_BODY void tell_that_memory_is_missing(std::string const& reason) {
  static std::atomic<bool> told = false;
  if (!told.exchange(true))
    std::fprintf(stderr, "colligo: shared memory is not used between the ranks of a host: %s\n", reason.c_str());
}

COLLIGO_BODY mpi_shared::mpi_shared(MPI_Comm comm) : comm_(comm) {
  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(node, &me_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(node, &ranks_), "MPI_Comm_size");
  unsigned const mine = shared_memory_wish() | (ranks_ > 1 ? has_neighbours : 0u);
  flags_ = flags_of_all(mine | (map(node) ? 0u : failed));
  if ((flags_ & (failed | unknown)) == 0) open(node);
  else find_out_why(rank);
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
}
COLLIGO_BODY mpi_shared::~mpi_shared() {
  if (memory_ != MAP_FAILED) munmap(memory_, bytes());
  for (int const handle : handles_)
    if (handle >= 0) close(handle);
}

// Whole pages, so that each rank's segment comes from its own part of the machine; one more, or segments of many ranks
// would compete for the same lines of a cache.
COLLIGO_BODY std::size_t mpi_shared::segment() const {
  std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (segment_layout(ranks_).bytes() + page - 1) / page * page + page;
}

COLLIGO_BODY bool mpi_shared::agree(bool mine) const {
  int const here = mine;
  int all = 0;
  check_mpi(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_LAND, comm_), "MPI_Allreduce");
  return all != 0;
}

COLLIGO_BODY unsigned mpi_shared::flags_of_all(unsigned mine) const {
  unsigned all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED, MPI_BOR, comm_), "MPI_Allreduce");
  return all;
}

// What the lowest rank says that has anything to say, on all ranks.
[[gnu::cold]] COLLIGO_BODY std::string mpi_shared::told_by_one(std::string const& mine, int rank) const {
  int const me = mine.empty() ? std::numeric_limits<int>::max() : rank;
  int who = 0, length = static_cast<int>(mine.size());
  check_mpi(MPI_Allreduce(&me, &who, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (who == std::numeric_limits<int>::max()) return {};
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, who, comm_), "MPI_Bcast");
  std::string text = mine;
  text.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, who, comm_), "MPI_Bcast");
  return text;
}

[[gnu::cold]] COLLIGO_BODY void mpi_shared::find_out_why(int rank) {
  unsigned const mine = shared_memory_wish();
  if (flags_ & unknown) missing_ = (mine & unknown) ? std::getenv("COLLIGO_SHARED_MEMORY") : "";
  else if (flags_ & off) missing_ = (mine & off) ? "COLLIGO_SHARED_MEMORY=off on rank " + std::to_string(rank) : "";
  else if ((flags_ & has_neighbours) == 0) missing_.clear();
  missing_ = told_by_one(missing_, rank);
  if ((flags_ & (unknown | off | required)) == 0 && rank == 0 && !missing_.empty())
    tell_that_memory_is_missing(missing_);
}

[[gnu::cold]] COLLIGO_BODY shared_host* mpi_shared::none() const {
  if (flags_ & unknown)
    throw argument_error("colligo: COLLIGO_SHARED_MEMORY=" + missing_ + ": known values are on, off, required");
  if ((flags_ & required) && !missing_.empty())
    throw error("colligo: COLLIGO_SHARED_MEMORY=required, and shared memory can not be used between the ranks of a "
                "host: " + missing_);
  return nullptr;
}
[[gnu::cold]] COLLIGO_BODY shared_host* mpi_shared::none_for(std::size_t element_size, int rank) const {
  if ((flags_ & has_neighbours) == 0) return nullptr;
  std::string const why = "elements of " + std::to_string(element_size) + " bytes are too large for it";
  // Ranks of other hosts may find room for them, and would wait for this one.
  if ((flags_ & required) && host_->whole())
    throw argument_error("colligo: COLLIGO_SHARED_MEMORY=required, and " + why);
  if (rank == 0) tell_that_memory_is_missing(why);
  return nullptr;
}

// False where there is none to be had. Every rank takes part to the end.
COLLIGO_BODY bool mpi_shared::map(MPI_Comm node) {
  std::array<char, 64> name{};
  int file = -1;
  auto const fail = [this](char const* what, int why) {   // the first reason is kept
    if (missing_.empty()) missing_ = std::string(what) + ": " + std::strerror(why);
  };
  bool const wanted = shared_memory_wish() != off;
  if (bytes() > most)
    missing_ = std::to_string(ranks_) + " ranks would need " + std::to_string(bytes() >> 20) + " MiB, more than " +
               std::to_string(most >> 20);
  if (me_ == 0 && wanted && bytes() <= most)
    for (int attempt = 0; file < 0 && attempt < 1000; ++attempt) {
      std::snprintf(name.data(), name.size(), "/colligo.%ld.%d", static_cast<long>(getpid()), attempt);
      file = shm_open(name.data(), O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
      if (file < 0 && errno != EEXIST) break;
    }
  if (me_ == 0 && wanted && bytes() <= most && file < 0) fail("shm_open", errno);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes())) != 0) {
    fail("ftruncate of a file in /dev/shm", errno);
    close(std::exchange(file, -1));
    shm_unlink(name.data());
  }
  if (file < 0) name[0] = 0;
  check_mpi(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, node), "MPI_Bcast");
  if (me_ != 0 && name[0] != 0 && (file = shm_open(name.data(), O_RDWR, 0)) < 0) fail("shm_open", errno);
  bool good = file >= 0 && wanted;
  // Reserved now: memory that is not there would end the program when it is touched.
  if (good) {
    int const why = posix_fallocate(file, static_cast<off_t>(segment() * static_cast<std::size_t>(me_)),
                                    static_cast<off_t>(segment()));
    if (why != 0) fail("posix_fallocate in /dev/shm", why);
    good = why == 0;
  }
  int all_good = good;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &all_good, 1, MPI_INT, MPI_LAND, node), "MPI_Allreduce");
  if (me_ == 0 && file >= 0) shm_unlink(name.data());
  if (all_good) memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (all_good && memory_ == MAP_FAILED) fail("mmap of a file in /dev/shm", errno);
  if (file >= 0) close(file);
  return all_good && memory_ != MAP_FAILED;
}

COLLIGO_BODY void mpi_shared::open(MPI_Comm node) {
  std::vector<std::byte*> segments;
  for (int r = 0; r < ranks_; ++r)
    segments.push_back(static_cast<std::byte*>(memory_) + segment() * static_cast<std::size_t>(r));
  host_ = std::make_unique<shared_host>(me_, segments, places(node),
                                        surroundings{this, has_cores(node), &wait, can_read(node) ? &read : nullptr,
                                                     &gone});
  if (host_->can_read() && host_->spins()) host_->announce_from(768 * 1024);
}

// Of every rank of the communicator; empty where all are here.
COLLIGO_BODY std::vector<int> mpi_shared::places(MPI_Comm node) const {
  MPI_Group all, here;
  int size = 0;
  check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  if (size == ranks_) return {};
  check_mpi(MPI_Comm_group(comm_, &all), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(node, &here), "MPI_Comm_group");
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
  check_mpi(MPI_Group_translate_ranks(all, size, ranks.data(), here, found.data()), "MPI_Group_translate_ranks");
  for (int& place : found) place = place == MPI_UNDEFINED ? -1 : place;
  check_mpi(MPI_Group_free(&all), "MPI_Group_free");
  check_mpi(MPI_Group_free(&here), "MPI_Group_free");
  return found;
}

// Whether the cores that these ranks may use are as many as they.
COLLIGO_BODY bool mpi_shared::has_cores(MPI_Comm node) const {
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
  check_mpi(MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
  return CPU_COUNT(&all) >= ranks_;
}

// Whether every rank may read the memory of its neighbour: it may be forbidden. Agreed.
COLLIGO_BODY bool mpi_shared::can_read(MPI_Comm node) {
  struct whereabouts { long process; std::uint64_t const* probe; };
  std::uint64_t const probe = 0x636f6c6c69676f00u + static_cast<std::uint64_t>(me_);
  whereabouts const mine{getpid(), &probe};
  std::vector<whereabouts> all(static_cast<std::size_t>(ranks_));
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node), "MPI_Allgather");
  for (whereabouts const& w : all) processes_.push_back(static_cast<pid_t>(w.process));
  int const next = (me_ + 1) % ranks_;
  std::uint64_t seen = 0;
  bool const right = copy(next, reinterpret_cast<std::byte*>(&seen),
                          reinterpret_cast<std::byte const*>(all[static_cast<std::size_t>(next)].probe), sizeof seen) &&
                     seen == 0x636f6c6c69676f00u + static_cast<std::uint64_t>(next);
  return agree(right);   // also keeps the probes where they are until all have read
}

COLLIGO_BODY bool mpi_shared::copy(int from, std::byte* into, std::byte const* address, std::size_t n) const {
  while (n != 0) {
    iovec const here{into, n}, there{const_cast<std::byte*>(address), n};
    ssize_t const got = process_vm_readv(processes_[static_cast<std::size_t>(from)], &here, 1, &there, 1, 0);
    if (got <= 0) return false;
    into += got, address += got, n -= static_cast<std::size_t>(got);
  }
  return true;
}
COLLIGO_BODY void mpi_shared::read(void* self, int from, std::byte* into, std::byte const* address, std::size_t n) {
  if (!static_cast<mpi_shared*>(self)->copy(from, into, address, n))
    throw error(std::string("colligo: reading another rank's memory failed: ") + std::strerror(errno));
}

// Whether a rank's process has ended. A handle stays with the process, whose number may be used again.
COLLIGO_BODY bool mpi_shared::gone(void* self, int place) {
  auto& me = *static_cast<mpi_shared*>(self);
  constexpr int unknown = -2;
  if (me.handles_.empty()) me.handles_.assign(me.processes_.size(), unknown);
  auto const at = static_cast<std::size_t>(place);
  int& handle = me.handles_[at];
  if (handle == unknown) handle = static_cast<int>(syscall(SYS_pidfd_open, me.processes_[at], 0));
  if (handle < 0) return kill(me.processes_[at], 0) != 0 && errno == ESRCH;
  pollfd ended{handle, POLLIN, 0};
  return poll(&ended, 1, 0) == 1;
}

// Gives way, and lets MPI make progress: a peer may be in a send to this rank that needs it.
COLLIGO_BODY void mpi_shared::wait(void* self) {
  auto& me = *static_cast<mpi_shared*>(self);
  sched_yield();
  if (!me.host_->spins() && ++me.waits_ % 64 != 0) return;
  int flag = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, me.comm_, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace colligo
