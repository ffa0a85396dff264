// SPDX-License-Identifier: BSL-1.0
// A tool that is told of every call, also of those over shared memory, of which tools that see MPI's functions see
// nothing: calls, bytes and seconds of each collective by each algorithm.
//
//   mpirun -n 3 count_calls
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/automatic.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/hook.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace counting {

struct counted {
  std::uint64_t calls = 0, bytes = 0, nanoseconds = 0;
};
std::map<std::pair<colligo::collective, std::string_view>, counted> all;
std::mutex turn;   // requests may end in another thread

std::uintptr_t now() {
  return static_cast<std::uintptr_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
std::uintptr_t begin(colligo::hooked_call const&) { return now(); }
void end(colligo::hooked_call const& call, std::uintptr_t begun) {
  std::lock_guard const lock(turn);
  counted& here = all[{call.what, call.algorithm}];
  ++here.calls, here.bytes += call.bytes, here.nanoseconds += now() - begun;
}
constexpr colligo::call_hook tool{.begin = &begin, .end = &end};

void print() {
  for (auto const& [of, here] : all)
    std::printf("%s by %s: %llu calls, %llu bytes, %.6f s\n", std::string(name_of(of.first)).c_str(),
                std::string(of.second).c_str(), static_cast<unsigned long long>(here.calls),
                static_cast<unsigned long long>(here.bytes), 1e-9 * static_cast<double>(here.nanoseconds));
}

}   // namespace counting

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  colligo::hook_calls(counting::tool);   // before the first call
  boost::mpi::communicator const world;

  std::vector<double> numbers(1000, world.rank()), sums(1000);
  colligo::broadcast(world, numbers, 0);
  for (int i = 0; i < 10; ++i) colligo::all_reduce(world, numbers, sums, std::plus<>(), colligo::ring{});
  colligo::request r = colligo::iall_reduce(world, numbers, sums, std::plus<>(), colligo::ring{});
  r.wait();
  if (world.rank() == 0) counting::print();
}
