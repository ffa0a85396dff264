// SPDX-License-Identifier: BSL-1.0
/// @file
/// Gives every rank the info of all ranks of a large communicator. The info travels up and down a binomial tree as
/// runs: if ranks are placed on hosts in blocks or in turn, it takes a few ints, and 8 bytes for each host.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include "../core/run_list.hpp"
#include "../transport/messages/mpi_error.hpp"
#include "mpi_shared.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi_rank_table {

// The members of rank info from `settings` on are ints: a column each.
inline constexpr std::size_t columns = (sizeof(mpi_rank_info) - offsetof(mpi_rank_info, settings)) / sizeof(int);
static_assert(sizeof(mpi_rank_info) == offsetof(mpi_rank_info, domains) + sizeof(core_domains));
inline std::array<int, columns> numbers_of(mpi_rank_info const& info) {
  std::array<int, columns> all;
  std::memcpy(all.data(), &info.settings, sizeof all);
  return all;
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> write(view<mpi_rank_info const> ranks) {
  small_vector<std::uint64_t> hosts;
  std::vector<int> places(64, 0);   // a hash table: numbers of hosts, counted from 1; 0: empty
  auto const slot_of = [&](std::uint64_t host) -> int& {
    std::size_t at = host % places.size();   // a power of two
    while (places[at] != 0 && hosts[static_cast<std::size_t>(places[at]) - 1] != host) at = (at + 1) % places.size();
    return places[at];
  };
  number_runs number;
  std::array<number_runs, columns> all;
  for (mpi_rank_info const& r : ranks) {
    int& slot = slot_of(r.host);
    if (slot == 0) hosts.push_back(r.host), slot = static_cast<int>(hosts.size());
    number.push_back(slot - 1);
    if (2 * hosts.size() > places.size()) {
      places.assign(2 * places.size(), 0);
      for (std::size_t h = 0; h < hosts.size(); ++h) slot_of(hosts[h]) = static_cast<int>(h) + 1;
    }
    for (std::size_t c = 0; int const value : numbers_of(r)) all[c++].push_back(value);
  }
  std::vector<int> words{static_cast<int>(hosts.size())};
  for (std::uint64_t const host : hosts)
    words.push_back(static_cast<int>(host & 0xffffffff)), words.push_back(static_cast<int>(host >> 32));
  number.write(words);
  for (number_runs const& column : all) column.write(words);
  return words;
}

[[gnu::cold]] COLLIGO_BODY void read(std::vector<int> const& words, view<mpi_rank_info> ranks) {
  int const* const hosts = words.data() + 1;
  int const* at = hosts + 2 * words[0];
  number_runs numbers;
  numbers.read(at, ranks.size());
  mpi_rank_info* next = ranks.data();
  std::vector<int> lowest;
  numbers.for_each([&](int number) {
    int const* const host = hosts + 2 * number;
    if (number == static_cast<int>(lowest.size())) lowest.push_back(static_cast<int>(next - ranks.data()));
    next->host = static_cast<std::uint32_t>(host[0]) | std::uint64_t{static_cast<std::uint32_t>(host[1])} << 32;
    next++->lowest = lowest[static_cast<std::size_t>(number)];
  });
  for (std::size_t column = 0; column < columns; ++column) {
    numbers.read(at, ranks.size());
    next = ranks.data();
    numbers.for_each([&](int number) {
      auto* const to = reinterpret_cast<std::byte*>(&next++->settings);
      std::memcpy(to + column * sizeof number, &number, sizeof number);
    });
  }
}

/// Collective. Returns this rank's std::bad_alloc, or null. A rank without memory sends empty messages, so other ranks
/// may not get the info of all: the caller has to make all ranks agree.
[[gnu::cold]] COLLIGO_BODY std::exception_ptr exchange(MPI_Comm comm, int rank, view<mpi_rank_info> ranks) {
  std::vector<int> words;
  bool has_memory = true;
  std::exception_ptr trouble;
  auto const try_to = [&](auto const& f) {
    try {
      if (has_memory) f();
    } catch (std::bad_alloc const&) {
      trouble = std::current_exception(), has_memory = false, words.clear();
    }
  };
  auto const ranks_from = [&](int first, int n) {
    return ranks.part(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  };
  auto const send = [&](int to) {
    check_mpi(MPI_Send(words.data(), static_cast<int>(words.size()), MPI_INT, to, 0, comm), "MPI_Send");
  };
  auto const receive = [&](int from) {
    MPI_Status status;
    int n = 0;
    check_mpi(MPI_Probe(from, 0, comm, &status), "MPI_Probe");
    check_mpi(MPI_Get_count(&status, MPI_INT, &n), "MPI_Get_count");
    try_to([&] { words.resize(static_cast<std::size_t>(n)); });
    has_memory = has_memory && n != 0;
    int const code = MPI_Recv(words.data(), static_cast<int>(words.size()), MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    if (has_memory) check_mpi(code, "MPI_Recv");   // without memory the message is truncated
  };
  up_and_down(
      rank, static_cast<int>(ranks.size()),
      [&](int from, int n) {
        receive(from);
        try_to([&] { read(words, ranks_from(from, n)); });
      },
      [&](int to, int n) {
        try_to([&] { words = write(ranks_from(rank, n)); });
        if (to != nobody) send(to);
      },
      receive, send);
  try_to([&] { read(words, ranks); });
  return trouble;
}

}  // namespace mpi_rank_table
}  // namespace colligo
