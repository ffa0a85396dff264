// SPDX-License-Identifier: BSL-1.0
// A program for compilers, processors, C libraries and options that the other tests do not run with: header-only, ranks
// that are threads, choices of the rules and named algorithms, exact sums. Prints "at home" and the digest of the sums.
#include <colligo/all_gather.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/barrier.hpp>
#include <colligo/record.hpp>
#include <colligo/tools/draw.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "../sums/exact_numbers.hpp"

namespace {

int wrong = 0;
void check(bool right, char const* what, int p) {
  if (!right && ++wrong < 10) std::printf("%s is wrong on %d ranks\n", what, p);
}

// Whole numbers, so that all orders give the same sum.
void sums(int p, std::size_t n, char const* by) {
  std::vector<int> right(static_cast<std::size_t>(p));
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    std::vector<double> in(n), out(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = comm.rank() + static_cast<double>(i % 1000);
    if (by) colligo::all_reduce(comm, in, out, std::plus<>{}, colligo::named(by));
    else colligo::all_reduce(comm, in, out, std::plus<>{});
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) all &= out[i] == p * static_cast<double>(i % 1000) + p * (p - 1) / 2;
    std::vector<int> ranks(static_cast<std::size_t>(p));
    colligo::all_gather(comm, comm.rank(), ranks);
    for (int r = 0; r < p; ++r) all &= ranks[static_cast<std::size_t>(r)] == r;
    colligo::barrier(comm);
    right[static_cast<std::size_t>(comm.rank())] = all;
  });
  for (int const one : right) check(one == 1, by ? by : "the rules' choice", p);
}

void words(int p) {
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    std::string const letter(1, static_cast<char>('a' + comm.rank()));
    std::string const all = colligo::all_reduce(comm, letter, std::plus<>{});
    if (comm.rank() == p - 1) check(all == std::string("abcdefgh").substr(0, static_cast<std::size_t>(p)), "a word", p);
  });
}

}  // namespace

int main() {
  for (int const p : {1, 2, 3, 5}) {
    for (std::size_t const n : {std::size_t{1}, std::size_t{100}, std::size_t{20000}}) {
      sums(p, n, nullptr);
      for (char const* const by : {"ring", "recursive_doubling", "halving_doubling", "binary_tree"}) sums(p, n, by);
    }
    words(p);
    auto const schedule = colligo::record(colligo::named("halving_doubling"), colligo::collective::all_reduce, p, 64);
    check(schedule.size() == p && (p == 1 || price(schedule, colligo::typical) > 0), "a price", p);
  }
  if (setenv("COLLIGO_ALL_REDUCE", "circulant", 1) == 0) sums(4, 10, nullptr);
  if (wrong == 0) std::printf("at home %016" PRIx64 "\n", exact_numbers::digest());
  return wrong != 0;
}
