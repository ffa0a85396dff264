// SPDX-License-Identifier: BSL-1.0
// COLLIGO_DROP_IN, a switch or a list of collectives, COLLIGO_DROP_IN_REPORT=1, and what happens in MPI_Init and
// MPI_Finalize.
#include "settings.hpp"

#include "drop_in.hpp"

#include <colligo/bytes.hpp>
#include <colligo/core/lines.hpp>
#include <colligo/core/strings.hpp>
#include <colligo/environment/settings.hpp>
#include <colligo/table.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace drop_in {
namespace {

using colligo::collective;

constexpr std::array served_collectives{
    collective::all_reduce,  collective::reduce,        collective::broadcast,      collective::all_gather,
    collective::all_gatherv, collective::gather,        collective::gatherv,        collective::scatter,
    collective::scatterv,    collective::reduce_scatter, collective::reduce_scatter_block, collective::scan,
    collective::exclusive_scan, collective::all_to_all, collective::all_to_all_v,   collective::barrier};
constexpr std::size_t collectives = 32;

constexpr std::array<char const*, reasons> words{
    "", "COLLIGO_DROP_IN does not name it", "before MPI_Init, after MPI_Finalize, or in a session",
    "the library was built for another MPI", "the ranks' settings differ", "no communicator", "an intercommunicator",
    "one rank", "arguments that MPI forbids", "an operation that MPI does not define on the type",
    "the communicator could not be prepared, or 128 others are served", "processes outside of MPI_COMM_WORLD",
    "within MPI_Comm_free or MPI_Comm_disconnect", "a request: this MPI library asks nobody to make progress with it",
    "a persistent request", "a request, and no blocking call on the communicator before",
    "a request whose counts the root alone knows", "a request by an operation that is not the library's own",
    "a request that would not go through shared memory alone"};
static_assert(most_served == 128);

struct counted {   // of reason none: served
  std::array<std::atomic<std::uint64_t>, reasons> calls{}, nanoseconds{};
};
std::array<counted, collectives> counts;
thread_local int latest = -1;   // collective of this thread's latest call
thread_local reason latest_reason = reason::none;

std::uint64_t wanted_by_environment() {
  char const* const text = std::getenv("COLLIGO_DROP_IN");
  std::uint64_t all = 0, named = 0;
  for (collective const c : served_collectives) all |= std::uint64_t{1} << static_cast<int>(c);
  if (text == nullptr || *text == '\0') return all;
  std::string_view rest = text;
  if (auto const on = colligo::detail::switch_in(rest)) return *on ? all : 0;
  while (!rest.empty()) {
    auto const end = std::min(rest.find(','), rest.size());
    std::string_view const name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    bool known = false;
    for (collective const c : served_collectives)
      if (name_of(c) == name) named |= std::uint64_t{1} << static_cast<int>(c), known = true;
    if (known) continue;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
      std::fprintf(stderr, "colligo: COLLIGO_DROP_IN: no collective is named \"%.*s\"; all are served\n",
                   static_cast<int>(name.size()), name.data());
    return all;
  }
  return named;
}

/// Whether the ranks may get different bits of an all_reduce.
bool gives_other_bits(colligo::detail::choice const& by) {
  auto const* const policy = colligo::detail::compiled_policies(collective::all_reduce)[by.index()];
  return policy != nullptr && !policy->same_bits && !policy->is_vendor;
}
bool gives_other_bits(std::string_view algorithm) {
  try {
    return gives_other_bits(colligo::detail::parse(colligo::detail::compiled_policies(collective::all_reduce),
                                                   algorithm, ""));
  } catch (colligo::algorithm_error const&) {   // the library says why
    return false;
  }
}
void say_not_used(std::string const& what) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr, "colligo: drop_in: %s is not used: its ranks may get different bits, which MPI forbids; the "
                         "library chooses\n", what.c_str());
}
/// MPI gives all ranks of an MPI_Allreduce the same bits. An algorithm that does not is not used, whether it is set by
/// name or in rows of a table.
void ignore_other_bits() {
  char const* const text = std::getenv("COLLIGO_ALL_REDUCE");
  if (text != nullptr && gives_other_bits(text)) {
    say_not_used(std::string("COLLIGO_ALL_REDUCE=") + text);
    unsetenv("COLLIGO_ALL_REDUCE");
  }
  char const* const path = std::getenv("COLLIGO_TABLE");
  if (path == nullptr) return;
  colligo::detail::file_setting const file = colligo::detail::file_of("COLLIGO_TABLE", path);
  std::string kept, found;
  try {
    auto const rows = colligo::detail::measured_table::parse(file.text, path).rows;
    colligo::detail::text_lines lines{file.text};
    for (; lines.next(); kept += '\n') {
      auto const row = std::find_if(rows.begin(), rows.end(), [&](auto const& one) {
        return one.line == lines.number && one.what == collective::all_reduce && gives_other_bits(one.take);
      });
      if (row == rows.end()) kept += lines.line;
      else found = colligo::detail::name_of(row->take);
    }
    if (found.empty()) return;
    colligo::use_table(kept, path);
  } catch (colligo::argument_error const&) {   // then the library does not use it
    return;
  }
  say_not_used(found + " in " + path);
  unsetenv("COLLIGO_TABLE");
}

/// Of all variables that begin with COLLIGO_, in any order.
std::uint64_t hash_of_settings() {
  std::vector<std::string_view> all;
  for (char** at = environ; *at; ++at)
    if (std::strncmp(*at, "COLLIGO_", 8) == 0) all.push_back(*at);
  std::sort(all.begin(), all.end());
  std::uint64_t hash = 14695981039346656037u;   // FNV-1a
  for (auto const text : all)
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// Whether the program's MPI has the binary interface of MPI 5: the standard says how its library's file is named.
bool has_standard_interface() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&PMPI_Get_library_version), &found) == 0) return false;
  std::string_view const path = found.dli_fname;
  return path.substr(path.rfind('/') + 1).find("mpi_abi") != path.npos;
}
bool fits() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
#if defined(OPEN_MPI)
  return !has_standard_interface() && std::strstr(text.data(), "Open MPI") != nullptr;
#elif defined(MPICH_VERSION)
  return !has_standard_interface() && std::strstr(text.data(), "MPICH") != nullptr;
#else
  return has_standard_interface();
#endif
}

void print_report() {
  struct sum {
    std::uint64_t calls, nanoseconds;
  };
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::array<std::array<sum, reasons>, collectives> mine{}, all{};
  for (std::size_t c = 0; c < collectives; ++c)
    for (std::size_t r = 0; r < reasons; ++r) mine[c][r] = {counts[c].calls[r], counts[c].nanoseconds[r]};
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(sizeof all / sizeof(std::uint64_t)), MPI_UINT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  if (rank != 0) return;
  int p = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &p);
  auto const number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  auto const seconds = [p](sum const& of) { return 1e-9 * static_cast<double>(of.nanoseconds) / p; };
  // Served, passed on, and on one rank, where there is nothing to serve.
  auto const column_of = [](std::size_t r) { return r == 0 ? 0u : r == static_cast<int>(reason::one_rank) ? 2u : 1u; };
  std::array<std::uint64_t, 3> calls{};
  std::fprintf(stderr, "colligo: drop_in: calls of all %d ranks, and seconds of a rank in the mean\n", p);
  for (collective const c : served_collectives) {
    auto const& by_reason = all[static_cast<std::size_t>(c)];
    std::array<sum, 3> own{};
    for (std::size_t r = 0; r < reasons; ++r) {
      auto const [n, nanoseconds] = by_reason[r];
      own[column_of(r)].calls += n, own[column_of(r)].nanoseconds += nanoseconds, calls[column_of(r)] += n;
    }
    if (own[0].calls + own[1].calls + own[2].calls == 0) continue;
    std::fprintf(stderr, "colligo: drop_in: %-20.*s %10llu served %9.3f s %10llu passed on %9.3f s"
                         " %10llu on one rank %9.3f s\n",
                 static_cast<int>(name_of(c).size()), name_of(c).data(), number(own[0].calls), seconds(own[0]),
                 number(own[1].calls), seconds(own[1]), number(own[2].calls), seconds(own[2]));
    for (std::size_t r = 0; r < reasons; ++r)
      if (column_of(r) == 1 && by_reason[r].calls != 0)
        std::fprintf(stderr, "colligo: drop_in:   passed on %llu: %s\n", number(by_reason[r].calls), words[r]);
  }
  std::fprintf(stderr, "colligo: drop_in: %llu of %llu calls served; %llu on one rank, which has nothing to serve\n",
               number(calls[0]), number(calls[0] + calls[1]), number(calls[2]));
}

}  // namespace

void count_for_report(collective what, reason why) {
  counts[static_cast<std::size_t>(what)].calls[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
  latest = static_cast<int>(what), latest_reason = why;
}

void pass_on_persistent(collective what) {
  reason const why = settings::reason_for(what);
  count(what, why == reason::none ? reason::persistent_request : why);
}

void timed_call::count() const {
  if (latest < 0) return;
  auto const took = static_cast<std::uint64_t>(1e9 * (PMPI_Wtime() - begun_));
  counts[static_cast<std::size_t>(latest)].nanoseconds[static_cast<std::size_t>(latest_reason)]
      .fetch_add(took, std::memory_order_relaxed);
}

int begin(int code) {
  if (code != MPI_SUCCESS || settings::everywhere.load() != reason::not_begun) return code;
  if (!fits()) {
    std::fprintf(stderr, "colligo: drop_in: this library was built for another MPI than the program's; all calls are "
                         "passed on\n");
    settings::everywhere = reason::wrong_mpi;
    return code;
  }
  settings::wanted = wanted_by_environment();
  std::uint64_t const mine = hash_of_settings();
  // Bits that all have, and bits that nobody has: minima of unsigned numbers are wrong in some MPI libraries.
  std::array<std::uint64_t, 2> const own{mine, ~mine};
  std::array<std::uint64_t, 2> of_all{};
  MPI_Allreduce(own.data(), of_all.data(), 2, MPI_UINT64_T, MPI_BAND, MPI_COMM_WORLD);
  bool const same = of_all[0] == ~of_all[1];
  if (!same) {
    int rank = 0, p = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &p);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(p));
    MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    auto const other = std::find_if(all.begin(), all.end(), [&](std::uint64_t h) { return h != all[0]; });
    if (rank == 0)
      std::fprintf(stderr, "colligo: drop_in: rank %d has other COLLIGO_ variables than rank 0 (mpirun -x "
                           "forgotten?); all calls are passed on\n", static_cast<int>(other - all.begin()));
  }
  int wants = colligo::detail::environment_value("COLLIGO_DROP_IN_REPORT") != nullptr, all_want = 0;
  MPI_Allreduce(&wants, &all_want, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  reports = all_want != 0;
  ignore_other_bits();
  colligo::detail::mpi_states_left = most_served;
  settings::everywhere.store(same ? reason::none : reason::settings_differ, std::memory_order_release);
  return code;
}

void end() {
  end_progress();
  if (reports) print_report();
  settings::everywhere = reason::not_begun;
}

}  // namespace drop_in
