// SPDX-License-Identifier: BSL-1.0
// A rank is killed in the middle of a soak, and the launcher lets the others go on: they get an error, soon. With
// "messages" behind the number they wait for these, and get it by COLLIGO_PATIENCE: in sums or, behind that, as root
// of a "broadcast" of long vectors or of "short" ones, or where they "test" a request. With "memory" they wait for
// "requests" beside each other, or "test" one. Or all exchange with "neighbours", or with ranks that do not know who
// sends to them ("sparse", and "by_host", which ranks of several hosts may do).
#include <signal.h>
#include <unistd.h>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/exchange.hpp>
#include <colligo/patience.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "on_stderr.hpp"

int main(int argc, char** argv) {
  boost::mpi::environment const env(argc, argv);
  boost::mpi::communicator const world;
  int const victim = world.size() / 2;
  int const after = argc > 1 ? std::atoi(argv[1]) : 500;   // calls; memory is shared from the first one on
  bool const by_messages = argc > 2 && argv[2] == std::string("messages");
  std::string const what = argc > 3 ? argv[3] : "sum";
  int const p = world.size();
  std::vector<int> const before{(world.rank() + p - 1) % p}, behind{(world.rank() + 1) % p};
  std::optional<colligo::neighbours<boost::mpi::communicator>> ring;   // making it takes calls, which are counted
  if (what == "neighbours") ring.emplace(world, before, behind);
  captured_stderr const captured;
  using clock = std::chrono::steady_clock;
  auto latest = clock::now();
  try {
    for (int call = 0;; ++call) {
      std::size_t const n = call % 7 == 0 ? 20000 : call % 3 == 0 ? 300 : 1;
      std::vector<long> const in(n, 1);
      std::vector<long> out(n);
      if (call == after && world.rank() == victim) ::raise(SIGKILL);
      if (what == "broadcast" || what == "short") {
        std::vector<long> all(what == "short" ? 1 : 200000, world.rank() == 0 ? world.size() : 0);
        colligo::broadcast(world, all, 0, colligo::over_messages{colligo::binary_tree{}});
        out = all;
      } else if (what == "test") {
        auto sum = colligo::iall_reduce(world, in, out, std::plus<>{},
                                        colligo::named(by_messages ? "ring@messages" : "automatic"));
        while (!sum.test()) {}
      } else if (what == "requests") {
        std::vector<long> const ones(3, 1);
        std::vector<long> sums(3);
        auto first = colligo::iall_reduce(world, ones, sums, std::plus<>{});
        auto second = colligo::iall_reduce(world, in, out, std::plus<>{});
        second.wait();
        first.wait();
      } else if (what == "neighbours") {
        colligo::all_to_all(*ring, in, out, colligo::named(by_messages ? "along_edges@messages" : "automatic"));
        out[0] *= p;
      } else if (what == "sparse") {
        std::vector<std::pair<int, std::vector<long>>> const sent{{behind[0], in}};
        out = colligo::sparse_all_to_all(world, sent).data;
        out[0] *= p;
      } else if (what == "by_host") {
        std::vector<std::pair<int, std::vector<long>>> const sent{{behind[0], in}};
        auto exchange = colligo::isparse_all_to_all(world, sent, colligo::by_host{});
        while (!exchange.test()) {}
        out = exchange.in().data;
        out[0] *= p;
      } else if (by_messages) {
        colligo::all_reduce(world, in, out, std::plus<>{}, colligo::over_messages{colligo::ring{}});
      } else {
        colligo::all_reduce(world, in, out, std::plus<>{});
      }
      if (out[0] != world.size()) return std::puts("a wrong sum"), 1;
      latest = clock::now();
    }
  } catch (colligo::error const& e) {
    double const seconds = std::chrono::duration<double>(clock::now() - latest).count();
    auto const* const lost = dynamic_cast<colligo::rank_lost const*>(&e);
    bool const another_lost_patience = what == "by_host" && dynamic_cast<colligo::failed_elsewhere const*>(&e);
    bool const counts_its_own = what == "neighbours" || what == "sparse" || what == "by_host";
    std::string const latest_call = counts_its_own ? "" : std::to_string(after);
    bool const names_it =
        by_messages ? captured.count(": not seen from here, since it shares no memory") == 1 ||   // on another host
                          (captured.count("  rank " + std::to_string(victim) + ": its process (pid ") == 1 &&
                           captured.count(") is gone; its latest call was #" + latest_call) == 1)
                    : lost && lost->rank() == victim;
    bool const right = (names_it || another_lost_patience) && seconds < 5;
    std::printf("rank %d of %d: %s after %.1f s: %s\n", world.rank(), world.size(), right ? "told" : "not told",
                seconds, e.what());
    std::fflush(stdout);
    sleep(1);               // or others would find this one gone as well
    _exit(right ? 0 : 1);   // MPI_Finalize would wait for the rank that is gone
  }
}
