// SPDX-License-Identifier: BSL-1.0
/// @file
/// How long a cache line takes between the cores of this host, which is all that the rules for many cores ask of it:
///   lines --csv lines.csv        (benchmarks/bench/tune.py --levels runs it, and writes a table)
/// Threads bound to the cores measure a line's way between pairs, by what these share: a cache, a socket, the host;
/// how much longer each further reader of one line waits; and how many lines a core can wait for at once. Prints
/// "set COLLIGO_LATENCIES ...", a row of a table. Needs no MPI. Hosts of fewer than 16 cores have nothing to tell; with
/// --force they are measured too. Missing cores are shared then, and the output says so.
#include <pthread.h>
#include <sched.h>

#include <colligo/core/clock.hpp>
#include <colligo/environment/core_domains.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace colligo::detail;

constexpr std::size_t fewest_cores = 16, pairs_of_kind = 12, most_readers = 32, lines = 64;
constexpr std::array<char const*, 3> kinds{"cache", "socket", "host"};

struct alignas(128) counter {
  std::atomic<std::uint64_t> value{0};
  /// Waits for it; gives way now and then, for cores may be shared.
  void await(std::uint64_t wanted) const {
    for (unsigned polls = 1; value.load(std::memory_order_acquire) != wanted; ++polls)
      if (polls % 256 == 0) std::this_thread::yield();
  }
};

struct core {
  int number;
  core_domains domains;
};

std::vector<core> cores_of_process() {
  core_set const all = core_set::of_process();
  std::vector<core> cores;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (auto const number = static_cast<std::size_t>(c); all.has(number)) {
      core_set alone;
      alone.add(number);
      cores.push_back({c, domains_of(alone)});
    }
  return cores;
}

/// The nearest that two cores share; what the system does not say they do not.
std::size_t kind_of(core const& a, core const& b) {
  auto const share = [&](std::size_t level) {
    return a.domains.group[level] != core_domains::unknown && a.domains.group[level] == b.domains.group[level];
  };
  return share(0) || share(1) ? 0 : share(2) || share(3) || share(4) ? 1 : 2;
}

/// Runs f(i) on a thread bound to each of the cores.
void on(std::vector<core> const& cores, std::function<void(std::size_t)> const& f) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < cores.size(); ++i)
    threads.emplace_back([&, i] {
      cpu_set_t alone;
      CPU_ZERO(&alone);
      CPU_SET(cores[i].number, &alone);
      pthread_setaffinity_np(pthread_self(), sizeof alone, &alone);
      f(i);
    });
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all.empty() ? 0 : all[all.size() / 2];
}

/// Nanoseconds that a line takes one way.
double latency(core const& a, core const& b) {
  constexpr std::uint64_t rounds = 100, samples = 5;
  counter there, back;
  std::vector<double> took;
  on({a, b}, [&](std::size_t i) {
    std::uint64_t n = 0;
    for (std::uint64_t s = 0; s < samples; ++s) {
      std::int64_t const began = now_in_ns();
      for (std::uint64_t r = 0; r < rounds; ++r) {
        ++n;
        if (i == 0) there.value.store(n, std::memory_order_release), back.await(n);
        else there.await(n), back.value.store(n, std::memory_order_release);
      }
      if (i == 0) took.push_back(static_cast<double>(now_in_ns() - began) / (2 * rounds));
    }
  });
  // A line is fetched, then taken back: its way is half of a round between two lines, each of which is in both caches.
  return *std::ranges::min_element(took) / 2;
}

/// Nanoseconds until all readers have seen a line and have said so, each in its own.
double seen_by(core const& writer, std::vector<core> const& readers) {
  constexpr std::uint64_t rounds = 100, samples = 5;
  std::vector<core> all{writer};
  all.insert(all.end(), readers.begin(), readers.end());
  counter line;
  std::vector<counter> seen(all.size());
  std::vector<double> took;
  on(all, [&](std::size_t i) {
    std::uint64_t n = 0;
    for (std::uint64_t s = 0; s < samples; ++s) {
      std::int64_t const began = now_in_ns();
      for (std::uint64_t r = 0; r < rounds; ++r) {
        ++n;
        if (i != 0) line.await(n), seen[i].value.store(n, std::memory_order_release);
        else {
          line.value.store(n, std::memory_order_release);
          for (std::size_t k = 1; k < seen.size(); ++k) seen[k].await(n);
        }
      }
      if (i == 0) took.push_back(static_cast<double>(now_in_ns() - began) / rounds);
    }
  });
  return *std::ranges::min_element(took);
}

/// Nanoseconds to read so many lines that another core has just written, at once.
double read_of(core const& writer, core const& reader, std::size_t count) {
  constexpr std::uint64_t rounds = 100, samples = 5;
  std::vector<counter> written(count);
  counter go, done;
  std::vector<double> took;
  on({writer, reader}, [&](std::size_t i) {
    std::uint64_t n = 0, sum = 0;
    for (std::uint64_t s = 0; s < samples; ++s) {
      double inside = 0;
      for (std::uint64_t r = 0; r < rounds; ++r) {
        ++n;
        if (i == 0) {
          for (counter& c : written) c.value.store(n, std::memory_order_relaxed);
          go.value.store(n, std::memory_order_release);
          done.await(n);
        } else {
          go.await(n);
          std::int64_t const began = now_in_ns();
          for (counter const& c : written) sum += c.value.load(std::memory_order_relaxed);
          std::atomic_thread_fence(std::memory_order_acquire);
          inside += static_cast<double>(now_in_ns() - began);
          done.value.store(n, std::memory_order_release);
        }
      }
      if (i == 1) took.push_back(inside / rounds);
    }
    if (sum == 1) std::puts("");   // it is used
  });
  return *std::ranges::min_element(took);
}

int measure(bool force, char const* csv) {
  auto cores = cores_of_process();
  bool const few = cores.size() < fewest_cores;
  if (cores.size() < 2 || (few && !force)) {
    std::fprintf(stderr, "lines: %zu cores: latencies by distance are of use on hosts of %zu and more; --force "
                 "measures them here too\n", cores.size(), fewest_cores);
    return 2;
  }
  std::ofstream file;
  if (csv) file.open(csv);
  if (csv && !file) return std::fprintf(stderr, "lines: %s can not be written\n", csv), 2;
  file << "what,kind,core,other,count,ns\n";
  std::array<std::vector<double>, kinds.size()> all;
  std::array<std::pair<std::size_t, std::size_t>, kinds.size()> example{};
  // Neighbours, and pairs further and further apart.
  for (std::size_t apart = 1; apart < cores.size(); ++apart)
    for (std::size_t a = 0; a + apart < cores.size(); a += 1 + cores.size() / 8) {
      std::size_t const kind = kind_of(cores[a], cores[a + apart]);
      if (all[kind].size() >= pairs_of_kind) continue;
      double const ns = latency(cores[a], cores[a + apart]);
      all[kind].push_back(ns), example[kind] = {a, a + apart};
      file << "pair," << kinds[kind] << ',' << cores[a].number << ',' << cores[a + apart].number << ",1," << ns << '\n';
    }
  std::array<double, kinds.size()> ns{};
  for (std::size_t k = 0; k < kinds.size(); ++k) ns[k] = median(all[k]);
  std::printf("# %zu cores; a line's way, median of pairs that share a cache, a socket, the host:", cores.size());
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (all[k].empty()) std::printf(" none");
    else std::printf(" %.0f ns", ns[k]);
  std::puts(few ? "\n# measured with --force: too few cores to tell" : "");
  // What no pair shares counts as the next that there is.
  for (std::size_t k = kinds.size(); k-- > 1;) if (ns[k - 1] == 0) ns[k - 1] = ns[k];
  for (std::size_t k = 1; k < kinds.size(); ++k) ns[k] = std::max(ns[k], ns[k - 1]);

  double first = 0, last = 0;
  std::size_t const most = few ? 4 : std::min(most_readers, cores.size() - 1);
  std::size_t measured = 1;
  for (std::size_t k = 1; k <= most; k *= 2) {
    std::vector<core> readers;
    for (std::size_t i = 0; i < k; ++i) readers.push_back(cores[1 + i % (cores.size() - 1)]);
    last = seen_by(cores[0], readers), measured = k;
    if (k == 1) first = last;
    file << "readers,," << cores[0].number << ",," << k << ',' << last << '\n';
  }
  std::printf("# one reader of a line has answered after %.0f ns, %zu after %.0f: %.1f ns for each further one\n",
              first, measured, last, measured > 1 ? (last - first) / static_cast<double>(measured - 1) : 0);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (all[k].empty()) continue;
    auto const [a, b] = example[k];
    double const one = read_of(cores[a], cores[b], 1), many = read_of(cores[a], cores[b], lines);
    double const each = std::max(0.1, (many - one) / (lines - 1));
    file << "lines," << kinds[k] << ',' << cores[a].number << ',' << cores[b].number << ',' << lines << ',' << many
         << '\n';
    std::printf("# %zu lines at once by way of the %s: %.1f ns each, as if %.1f were under way\n", lines, kinds[k],
                each, ns[k] / each);
  }
  std::printf("set COLLIGO_LATENCIES %.0fns,%.0fns,%.0fns\n", ns[0], ns[1], ns[2]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool force = false;
  char const* csv = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--force") == 0) force = true;
    else if (std::strcmp(argv[i], "--csv") == 0 && i + 1 < argc) csv = argv[++i];
    else return std::fputs("lines [--force] [--csv FILE]\n", stderr), 2;
  }
  return measure(force, csv);
}
