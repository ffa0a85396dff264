// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of arena.hpp.
#pragma once

#if defined(__linux__)
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <new>
#include <string_view>
#include <utility>

#include "../../core/owner.hpp"
#include "arena.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace arenas {

inline int trouble = 0;   // an errno

inline std::size_t whole_lines(std::size_t bytes) { return (bytes + lines_apart - 1) / lines_apart * lines_apart; }

#if defined(__linux__)
// Neither mlockall(MCL_FUTURE) nor a core file is to fill all of it: locking backs nothing that can not be accessed.
[[gnu::cold]] COLLIGO_BODY void* mapped(int file, std::size_t size) {
  void* const begin = mmap(nullptr, size, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (begin == MAP_FAILED) return begin;
  munlock(begin, size), madvise(begin, size, MADV_DONTDUMP);
  if (mprotect(begin, size, PROT_READ | PROT_WRITE) == 0) return begin;
  munmap(begin, size);
  return MAP_FAILED;
}
// Backs bytes of the file of this process with memory.
[[gnu::cold]] COLLIGO_BODY bool back(int file, std::size_t at, std::size_t bytes) {
  int failed = 0;
  do failed = fallocate(file, 0, static_cast<off_t>(at), static_cast<off_t>(bytes));
  while (failed != 0 && errno == EINTR);
  return failed == 0;
}
// Gives their memory back.
[[gnu::cold]] COLLIGO_BODY bool give_back(int file, std::size_t at, std::size_t bytes) {
  constexpr int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return fallocate(file, hole, static_cast<off_t>(at), static_cast<off_t>(bytes)) == 0;
}
#else
[[gnu::cold]] COLLIGO_BODY bool back(int, std::size_t, std::size_t) { return false; }
[[gnu::cold]] COLLIGO_BODY bool give_back(int, std::size_t, std::size_t) { return false; }
#endif

}  // namespace arenas

[[gnu::cold]] COLLIGO_BODY arena* arena::of_process() {
  static arena* const all = make();   // never destroyed: communicators may be freed after static objects
  return all;
}

[[gnu::cold]] COLLIGO_BODY int arena::trouble() { return arenas::trouble; }

[[gnu::cold]] COLLIGO_BODY arena::arena(int file, std::byte* begin, std::size_t size, std::uint64_t cookie)
    : file_(file), begin_(begin), cookie_(cookie), used_(lines_apart), reserved_bytes_(granule) {
  free_.push_back({lines_apart, size - lines_apart});
  reserved_.push_back(1);
  *reinterpret_cast<std::uint64_t*>(begin) = cookie;
}

[[gnu::cold]] COLLIGO_BODY arena_address arena::address() const {
  return {cookie_, reinterpret_cast<std::uintptr_t>(begin_), static_cast<std::int32_t>(getpid()), file_};
}

[[gnu::cold]] COLLIGO_BODY std::uint64_t arena::allocate(std::size_t bytes) {
  locked const lock(mutex_);
  collect();
  bytes = arenas::whole_lines(bytes);
  part* const first = free_.begin() + place_of(free_, [&](part const& f) { return f.bytes >= bytes; });
  if (first == free_.end() || !reserve({first->at, bytes})) return 0;
  std::uint64_t const at = first->at;
  first->at += bytes, first->bytes -= bytes;
  if (first->bytes == 0) free_.erase(first);
  used_ += bytes;
  return at;
}

[[gnu::cold]] COLLIGO_BODY void arena::free(part which) {
  locked const lock(mutex_);
  release(which);
}

[[gnu::cold]] COLLIGO_BODY void arena::free_after(std::atomic<std::uint32_t> const& left, std::uint32_t ranks,
                                                  small_vector<part> parts) try {
  locked const lock(mutex_);
  owner<retired> made(new retired{&left, ranks, std::move(parts)});
  retired_.push_back(made.get());
  made.release();
  collect();
} catch (std::bad_alloc const&) {   // the parts are never used again
}

// Checks a few at a time: one late process may keep many from being freed.
[[gnu::cold]] COLLIGO_BODY void arena::collect() {
  for (std::size_t n = std::min<std::size_t>(16, retired_.size()); n > 0; --n) {
    if (next_retired_ >= retired_.size()) next_retired_ = 0;
    retired const& r = *retired_[next_retired_];
    if (r.left->load(std::memory_order_acquire) < r.ranks) {
      ++next_retired_;
      continue;
    }
    for (part const& p : r.parts) release(p);
    delete std::exchange(retired_[next_retired_], retired_.back());
    retired_.pop_back();
  }
}

// Backs the granules of a range, or gives them back.
[[gnu::cold]] COLLIGO_BODY bool arena::set_reserved(std::size_t begin, std::size_t end, bool reserved) {
  for (std::size_t g = begin, after; g < end; g = after) {
    after = g + 1;
    if (reserved_[g] == reserved) continue;
    while (after < end && reserved_[after] != reserved) ++after;
    std::size_t const bytes = (after - g) * granule;
    if (!(reserved ? arenas::back : arenas::give_back)(file_, g * granule, bytes)) return false;
    std::fill_n(reserved_.data() + g, after - g, reserved);
    reserved_bytes_ += reserved ? bytes : std::size_t{0} - bytes;
  }
  return true;
}

// Backs a part. Touching memory that can not be backed would end the program.
[[gnu::cold]] COLLIGO_BODY bool arena::reserve(part which) {
  std::size_t const begin = which.at / granule, end = (which.at + which.bytes - 1) / granule + 1;
  if (reserved_.size() < end) reserved_.resize(end);
  return set_reserved(begin, end, true);
}

[[gnu::cold]] COLLIGO_BODY void arena::release(part which) try {
  which.bytes = arenas::whole_lines(which.bytes);
  part* const next = free_.begin() + place_of(free_, [&](part const& f) { return f.at > which.at; });
  part* here = next;
  if (next != free_.begin() && next[-1].at + next[-1].bytes == which.at) {
    --here;
    here->bytes += which.bytes;
  } else {
    here = free_.insert(next, which);
  }
  used_ -= which.bytes;
  if (part* const after = here + 1; after != free_.end() && here->at + here->bytes == after->at) {
    here->bytes += after->bytes;
    free_.erase(after);
  }
  if (reserved_bytes_ - used_ > idle)
    set_reserved((here->at + granule - 1) / granule, std::min(reserved_.size(), (here->at + here->bytes) / granule),
                 false);
} catch (std::bad_alloc const&) {   // free_ can not grow: the part is never used again
}

[[gnu::cold]] COLLIGO_BODY std::size_t arena::used() const {
  locked const lock(mutex_);
  return used_;
}
[[gnu::cold]] COLLIGO_BODY std::size_t arena::reserved() const {
  locked const lock(mutex_);
  return reserved_bytes_;
}

#if defined(__linux__)

[[gnu::cold]] COLLIGO_BODY arena* arena::make() {
  constexpr std::size_t most = std::size_t{1} << 32, least = std::size_t{1} << 24;
  std::size_t size = most;
  rlimit limit{};
  // A file that grows beyond this limit ends the process by a signal.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0) size = std::min<std::size_t>(size, limit.rlim_cur);
  // A rank maps the files of all ranks of its host.
  if (getrlimit(RLIMIT_AS, &limit) == 0) size = std::min<std::size_t>(size, limit.rlim_cur / 64);
  size = size / granule * granule;
  std::uint64_t cookie = 0;
  arenas::trouble = ENOMEM;
  if (size < least || getrandom(&cookie, sizeof cookie, 0) != sizeof cookie) return nullptr;
  constexpr unsigned no_exec_seal = 8;   // MFD_NOEXEC_SEAL: from Linux 6.3 on, and some systems insist on it
  int file = memfd_create("colligo", MFD_CLOEXEC | no_exec_seal);
  if (file < 0) file = memfd_create("colligo", MFD_CLOEXEC);
  arenas::trouble = errno;
  if (file < 0) return nullptr;
  void* begin = MAP_FAILED;
  for (; begin == MAP_FAILED && size >= least; size /= 2)
    if (ftruncate(file, static_cast<off_t>(size)) == 0 && fallocate(file, 0, 0, granule) == 0) {
      begin = arenas::mapped(file, size);
      if (begin != MAP_FAILED) break;
    }
  if (begin == MAP_FAILED) {
    arenas::trouble = errno;
    close(file);
    return nullptr;
  }
  return new arena(file, static_cast<std::byte*>(begin), size, cookie);
}

// In a container a process number may denote another process, so the name and the cookie of the file are checked.
[[gnu::cold]] COLLIGO_BODY arena::peer arena::map(arena_address const& at) {
  if (at.file < 0) return {};
  if (at.cookie == cookie_) return {cookie_, begin_, true};
  locked const lock(mutex_);
  peer* const known = peers_.begin() + place_of(peers_, [&](peer const& p) { return p.cookie >= at.cookie; });
  if (known != peers_.end() && known->cookie == at.cookie) return *known;
  std::array<char, 64> path{}, target{};
  std::snprintf(path.data(), path.size(), "/proc/%ld/fd/%ld", static_cast<long>(at.process),
                static_cast<long>(at.file));
  ssize_t const length = readlink(path.data(), target.data(), target.size());
  if (length < 0 || !std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with("/memfd:colligo"))
    return {};
  int const file = open(path.data(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  struct stat status{};
  void* begin = MAP_FAILED;
  std::size_t size = 0;
  if (fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(cache_line)) {
    size = static_cast<std::size_t>(status.st_size);
    begin = arenas::mapped(file, size);
  }
  close(file);
  if (begin == MAP_FAILED) return {};
  if (*static_cast<std::uint64_t const*>(begin) != at.cookie) {
    munmap(begin, size);
    return {};
  }
  std::uint64_t seen = 0;   // reading may be forbidden
  bool const readable =
      read_process(at.process, &seen, reinterpret_cast<void const*>(at.begin), sizeof seen) == sizeof seen &&
      seen == at.cookie;
  return *peers_.insert(known, {at.cookie, static_cast<std::byte*>(begin), readable, at.process});
}

// A pidfd denotes one process for ever, while its number may be used again. All communicators share one, because a
// process may have few file descriptors.
[[gnu::cold]] COLLIGO_BODY bool arena::has_ended(std::byte const* begin) {
  locked const lock(mutex_);
  peer& other = peers_[place_of(peers_, [&](peer const& p) { return p.begin == begin; })];
#if defined(SYS_pidfd_open)   // headers of Linux 5.3 and later
  if (other.handle == not_opened) other.handle = static_cast<int>(syscall(SYS_pidfd_open, other.process, 0));
#endif
  if (other.handle < 0) return kill(other.process, 0) != 0 && errno == ESRCH;
  pollfd ended{other.handle, POLLIN, 0};
  return poll(&ended, 1, 0) == 1;
}

COLLIGO_BODY std::ptrdiff_t read_process(std::int32_t process, void* into, void const* address, std::size_t n) {
  iovec const here{into, n}, there{const_cast<void*>(address), n};
  return process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
}

#else   // of_process() returns null, and nothing else is called

[[gnu::cold]] COLLIGO_BODY arena* arena::make() {
  arenas::trouble = ENOSYS;
  return nullptr;
}
[[gnu::cold]] COLLIGO_BODY arena::peer arena::map(arena_address const&) { return {}; }
[[gnu::cold]] COLLIGO_BODY bool arena::has_ended(std::byte const*) { return false; }
COLLIGO_BODY std::ptrdiff_t read_process(std::int32_t, void*, void const*, std::size_t) { return -1; }

#endif

}  // namespace colligo
