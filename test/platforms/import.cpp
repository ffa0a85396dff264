// SPDX-License-Identifier: BSL-1.0
// A program that imports the module. Ranks are threads.
#include <cstdio>
#include <functional>
#include <vector>

import colligo;

int main() {
  bool right = true;
  colligo::run_threads(3, [&](colligo::thread_communicator& comm) {
    std::vector<double> in(10, comm.rank()), out(10);
    colligo::all_reduce(comm, in, out, std::plus<>{});
    colligo::iall_reduce(comm, in, out, colligo::maximum{}, colligo::ring{}).wait();
    std::vector<int> ranks(3);
    colligo::all_gather(comm, comm.rank(), ranks, colligo::named("circulant"));
    colligo::barrier(comm);
    if (comm.rank() == 1) right = out[9] == 2 && ranks == std::vector{0, 1, 2};
  });
  auto const schedule = colligo::record(colligo::ring{}, colligo::collective::all_reduce, 4, 100);
  right = right && price(schedule, colligo::typical) > 0 && colligo::trees::binomial(4).depth() == 2;
  std::puts(right ? "imported" : "wrong");
}
