// SPDX-License-Identifier: BSL-1.0
/// @file
/// Memory of a process that other processes of its host can map: one file without a name (memfd_create), so that
/// nothing is left behind however the program ends. The file is sparse, and all communicators of the process get parts
/// of it. Linux has such files; elsewhere there is no arena, and processes exchange messages.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../../core/element.hpp"
#include "../../core/mutex.hpp"
#include "../../core/small_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// How other processes find the file of a process, and check that it is the right one.
struct arena_address {
  std::uint64_t cookie = 0;   ///< random; the first bytes of the file
  std::uint64_t begin = 0;    ///< the address at which its own process has mapped it
  std::int32_t process = 0;
  std::int32_t file = -1;     ///< the file descriptor in that process; -1: there is no file
};

/// Reads n bytes of another process's memory; returns how many it got, which may be fewer, or -1.
std::ptrdiff_t read_process(std::int32_t process, void* into, void const* address, std::size_t n);

/// The file of this process, and those of other processes that it has mapped. Thread-safe.
class arena {
 public:
  struct part {
    std::uint64_t at;    ///< offset in the file, in bytes: a multiple of lines_apart; never 0
    std::size_t bytes;
  };
  static constexpr int not_opened = -2;
  /// Another process's file.
  struct peer {
    std::uint64_t cookie = 0;
    std::byte* begin = nullptr;   ///< null: mapping failed
    bool readable = false;        ///< process_vm_readv can read the rest of its memory
    pid_t process = 0;
    int handle = not_opened;      ///< a pidfd of the process, opened by the first has_ended()
  };

  /// This process's arena, made on first use; null if the system refuses the file.
  static arena* of_process();
  /// Why there is none: an errno.
  static int trouble();
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;

  arena_address address() const;
  std::byte* begin() const { return begin_; }

  /// The offset of memory with undefined contents; 0: there is no more. It is backed: touching it does not fail.
  std::uint64_t allocate(std::size_t bytes);
  void free(part which);
  /// Frees the parts once the counter `left` in one of them reaches `ranks`: until then other ranks may read them.
  void free_after(std::atomic<std::uint32_t> const& left, std::uint32_t ranks, small_vector<part> parts);

  /// The file of another process; the first call maps it.
  peer map(arena_address const& at);
  /// Whether the process whose file is mapped at `begin` has ended. Precondition: a file that map() has mapped.
  bool has_ended(std::byte const* begin);

  /// Bytes that are allocated, and bytes that are backed by memory.
  std::size_t used() const;
  std::size_t reserved() const;

 private:
  struct retired {
    std::atomic<std::uint32_t> const* left;
    std::uint32_t ranks;
    small_vector<part> parts;
  };
  // The arena has memory backed, and releases it, in units of this many bytes: the calls take no noticeable time.
  static constexpr std::size_t granule = 64 * 1024;
  // Bytes of free memory that stay backed, for programs that make and free communicators again and again.
  static constexpr std::size_t idle = 4 * 1024 * 1024;

  arena(int file, std::byte* begin, std::size_t size, std::uint64_t cookie);
  static arena* make();
  bool reserve(part which);
  bool set_reserved(std::size_t begin, std::size_t end, bool reserved);
  void release(part which);
  void collect();

  int file_;
  std::byte* begin_;
  std::uint64_t cookie_;
  mutex mutable mutex_;
  small_vector<part> free_;               // sorted by offset; adjacent parts are one
  small_vector<char> reserved_;           // for each granule: 1 if it is backed
  std::size_t used_ = 0, reserved_bytes_ = 0;
  small_vector<retired*> retired_;        // owned
  std::size_t next_retired_ = 0; // the one that collect() checks next
  small_vector<peer> peers_;              // by cookie; mapped until the process ends
};

}  // namespace colligo
