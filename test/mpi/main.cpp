// SPDX-License-Identifier: BSL-1.0
// Boost.Test under mpirun: every rank runs every test; the program fails if any rank does.
#define BOOST_TEST_NO_MAIN
#include <mpi.h>

#include <boost/mpi/environment.hpp>
#include <boost/test/execution_monitor.hpp>
#include <boost/test/results_reporter.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/core/policy.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include "../exit_code.hpp"

namespace {

// A rank that leaves a test early would let the others wait for it in a collective for ever.
class end_all_ranks : public boost::unit_test::test_observer {
 public:
  void exception_caught(boost::execution_exception const& e) override {
    end(std::string("exception: ") + e.what().begin());
  }
  void test_unit_aborted(boost::unit_test::test_unit const& unit) override { end(unit.full_name() + " was aborted"); }
  int priority() override { return 100; }   // after the log, which says where

 private:
  static void end(std::string const& why) {
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::cout << std::flush;
    std::cerr << "rank " << rank << ": " << why << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
};

bool start() {
  static end_all_ranks observer;
  boost::unit_test::framework::register_observer(observer);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) boost::unit_test::results_reporter::set_level(boost::unit_test::NO_REPORT);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  // What the user's shell chooses is not under test.
  for (colligo::collective const c : colligo::collectives)
    unsetenv(std::string(colligo::environment_variable(c)).c_str());
  for (char const* other : {"COLLIGO_TREE", "COLLIGO_REDUCE_TREE", "COLLIGO_BROADCAST_TREE", "COLLIGO_CHECK",
                            "COLLIGO_STRICT", "COLLIGO_EXPLAIN", "COLLIGO_TABLE", "COLLIGO_NETWORK",
                            "COLLIGO_PATIENCE", "COLLIGO_LEVELS", "COLLIGO_LINES", "COLLIGO_CHUNKS",
                            "COLLIGO_READ_MEMORY", "COLLIGO_STORES", "COLLIGO_LATENCIES"})
    unsetenv(other);
  boost::mpi::environment const environment(argc, argv, boost::mpi::threading::multiple);
  int const mine = tested::exit_code(boost::unit_test::unit_test_main(&start, argc, argv));
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}
