// SPDX-License-Identifier: BSL-1.0
// expect: colligo: a request keeps the functor, which can not be copied: write std::move(op), or std::ref(op)
// lines: 30
#include <colligo/all_reduce.hpp>

#include <memory>
#include <vector>

struct sum_that_counts {
  std::unique_ptr<int> calls;
  double operator()(double a, double b) const { return a + b; }
};

void start(boost::mpi::communicator const& comm, std::vector<double> const& in, std::vector<double>& out,
           sum_that_counts op) {
#ifdef COLLIGO_MUST_FAIL
  colligo::iall_reduce(comm, in, out, op).wait();
#else
  colligo::iall_reduce(comm, in, out, std::ref(op)).wait();
  colligo::iall_reduce(comm, in, out, std::move(op)).wait();
#endif
}
