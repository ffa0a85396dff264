// SPDX-License-Identifier: BSL-1.0
// Collectives over MPI_Comm without Boost, against sums known beforehand, on a communicator and on one in the reverse
// order: as programs make them whose MPI library has no Boost.MPI.
#include <mpi.h>

#include <colligo/colligo.hpp>
#include <colligo/environment.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  long calls = 0, wrong = 0;
  {
    MPI_Comm split;
    int rank, p;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &split);
    // As on machines with lines of 64, 128 and 256 bytes: they agree on the longest.
    auto const line_of = [](int r) { return std::size_t{64} << std::min(r, 2); };
    if (p > 1) colligo::detail::cache_line_told = line_of(rank);
    for (MPI_Comm const c : {MPI_COMM_WORLD, split}) {
      colligo::mpi_communicator const comm{c};
      int me;
      MPI_Comm_rank(c, &me);
      std::size_t const agreed = colligo::detail::mpi_state::of(c).latencies().line;
      auto const check = [&](bool right, char const* what) {
        ++calls;
        if (!right && ++wrong < 5) std::printf("rank %d of %d: %s is wrong\n", me, p, what);
      };
      check(p == 1 || agreed == line_of(p - 1), "the line on which ranks agree");
      for (std::size_t const n : {std::size_t{1}, std::size_t{13}, std::size_t{1000}, std::size_t{70000}}) {
        std::vector<double> in(n), out(n);
        for (std::size_t i = 0; i < n; ++i) in[i] = me + static_cast<double>(i);
        auto const sum = [&](std::size_t i, int q) { return q * static_cast<double>(i) + q * (q - 1) / 2.0; };
        for (char const* const by : {"direct", "ring", "recursive_doubling", "halving_doubling", "binary_tree",
                                     "halving_tree", "vendor", "ring@messages", "circulant@messages", "circulant"}) {
          std::fill(out.begin(), out.end(), -1);
          colligo::all_reduce(comm, in, out, std::plus<>{}, colligo::named(by));
          bool right = true;
          for (std::size_t i = 0; i < n; ++i) right &= out[i] == sum(i, p);
          check(right, by);
          std::fill(out.begin(), out.end(), -1);
          auto r = colligo::iall_reduce(comm, in, out, std::plus<>{}, colligo::named(by));
          auto q = colligo::ibarrier(comm);
          q.wait(), r.wait();
          right = true;
          for (std::size_t i = 0; i < n; ++i) right &= out[i] == sum(i, p);
          check(right, (std::string("request by ") + by).c_str());
        }
        // MPICH 4.0.2 itself has a wrong minimum of unsigned numbers.
        std::vector<unsigned short> const own(n, static_cast<unsigned short>(me == 0 ? 1 : 65535));
        std::vector<unsigned short> least(n);
        colligo::all_reduce(comm, own, least, colligo::minimum{}, colligo::named("vendor"));
        check(least[0] == 1 && least[n - 1] == 1, "minimum of unsigned numbers");
        {
          auto again = colligo::all_reduce_init(comm, in, out, std::plus<>{});
          for (int k = 0; k < 3; ++k) again.start(), again.wait();
          check(out[n - 1] == sum(n - 1, p), "persistent");
        }
        for (char const* const by : {"vendor", "direct"}) {
          auto again = colligo::all_reduce_init(comm, in, out, std::plus<>{}, colligo::named(by));
          for (int k = 0; k < 3; ++k) again.start(), again.wait();
          check(out[n - 1] == sum(n - 1, p), "persistent by name");
        }
        std::vector<double> all(n * static_cast<std::size_t>(p));
        colligo::all_gather(comm, in, all);
        bool right = true;
        for (std::size_t r = 0; r < static_cast<std::size_t>(p); ++r)
          for (std::size_t i = 0; i < n; ++i)
            right &= all[r * n + i] == static_cast<double>(r) + static_cast<double>(i);
        check(right, "all_gather");
        std::vector<double> to_each(all.size()), from_each(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) to_each[i] = me * 1e6 + static_cast<double>(i / n);
        colligo::all_to_all(comm, to_each, from_each);
        right = true;
        for (std::size_t i = 0; i < all.size(); ++i) right &= from_each[i] == static_cast<double>(i / n) * 1e6 + me;
        check(right, "all_to_all");
        colligo::scan(comm, in, out, std::plus<>{});
        check(out[n - 1] == sum(n - 1, me + 1), "scan");
        colligo::reduce_scatter_block(comm, all, out, std::plus<>{});
        check(out[0] == static_cast<double>(p) * me, "reduce_scatter_block");
        for (int root = 0; root < p; ++root) {
          std::vector<double> v = in;
          colligo::broadcast(comm, v, root);
          check(v[n - 1] == root + static_cast<double>(n - 1), "broadcast");
          colligo::reduce(comm, in, out, std::plus<>{}, root);
          check(me != root || out[n - 1] == sum(n - 1, p), "reduce");
          colligo::gather(comm, in, all, root);
          check(me != root || all[all.size() - 1] == p - 1 + static_cast<double>(n - 1), "gather");
        }
      }
      colligo::exact_sum<double> e(std::vector<double>{1e300, static_cast<double>(me), -1e300});
      e = colligo::all_reduce(comm, e, std::plus<>{});
      check(static_cast<double>(e) == p * (p - 1) / 2.0, "exact_sum");
    }
    int told = 0;
    if (p > 1) {
      try {
        colligo::mpi_communicator const comm{split};
        std::vector<int> in(rank == 0 ? 3 : 4), out(in.size());
        colligo::all_reduce(comm, in, out, std::plus<>{});
      } catch (colligo::error const&) {
        told = 1;
      }
      if (!told) ++wrong, std::printf("rank %d: mismatch not told\n", rank);
    }
    MPI_Comm_free(&split);
  }
  std::printf("%ld checks, %ld wrong\n", calls, wrong);
  MPI_Finalize();
  return wrong != 0;
}
