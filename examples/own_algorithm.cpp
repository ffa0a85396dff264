// SPDX-License-Identifier: BSL-1.0
// An algorithm of your own, outside of the library: written once against steps, then recorded and verified, run as
// threads of one process, and run over MPI.
//
//   mpirun -n 5 own_algorithm
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/plan/recorder.hpp>

#include <functional>
#include <iostream>
#include <string>
#include <string_view>

// Two chains that meet in the middle: 0 -> 1 -> 2 <- 3 <- 4, and the same way back. Half the rounds of one chain, and
// ranks exchange messages only with their neighbours.
struct meet_in_the_middle {
  static constexpr std::string_view name = "meet_in_the_middle";

  template <class T, class Op>
  struct all_reduce {
    // Only neighbouring stretches of ranks are combined, so any associative functor works.
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;   // one rank computes the result, the others get a copy

    template <colligo::steps Step>
    constexpr void operator()(Step& step, colligo::range all) const {
      using namespace colligo;
      int const me = step.rank(), middle = step.size() / 2;
      int const left = me == 0 ? nobody : me - 1;
      int const right = me == step.size() - 1 ? nobody : me + 1;
      if (me == middle) {
        step(fold{left, all}, fold{right, all});
        step(send{left, all}, send{right, all});
      } else {
        int const inner = me < middle ? right : left, outer = me < middle ? left : right;
        step(fold{outer, all});   // vanishes at the ends of the chains, where outer is nobody
        step(send{inner, all});
        step(recv{inner, all});
        step(send{outer, all});
      }
    }
  };
};

// Longer than one character and order matters: a rank out of place would show.
template <class Comm>
std::string ranks_in_order(Comm const& comm) {
  std::string const mine = comm.rank() == 0 ? "0" : ' ' + std::to_string(comm.rank());
  return colligo::all_reduce(comm, mine, std::plus<>{}, meet_in_the_middle{});
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;

  // The recorder finds deadlocks and overwritten data before anything runs; it throws the law that is broken.
  if (world.rank() == 0) {
    for (int p = 1; p <= 64; ++p)
      colligo::record(meet_in_the_middle{}, colligo::collective::all_reduce, p, 10).verify();
    std::cout << colligo::record(meet_in_the_middle{}, colligo::collective::all_reduce, 5, 10);

    colligo::run_threads(7, [](colligo::thread_communicator const& comm) {
      std::string const ranks = ranks_in_order(comm);
      if (comm.rank() == 0) std::cout << "threads:  " << ranks << '\n';
    });
  }

  std::string const ranks = ranks_in_order(world);
  if (world.rank() == 0) std::cout << "over MPI: " << ranks << '\n';
}
