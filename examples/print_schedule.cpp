// SPDX-License-Identifier: BSL-1.0
// Prints a schedule, checks it against the laws, and prices it. Needs neither MPI nor mpirun.
//
//   print_schedule ring 4 8
//   print_schedule binary_tree 6 1000 reduce 2
//   print_schedule pipelined_chain:block=8 4 4 broadcast
#include <CLI/CLI.hpp>
#include <colligo/record.hpp>

#include <cstddef>
#include <iostream>
#include <string>

#include "collective_named.hpp"

// A cluster of today, roughly: 2 microseconds a message, 10 GB/s on the wire, 5 GB/s for combining.
constexpr colligo::machine cluster{.alpha = 2e-6, .beta = 1e-10, .gamma = 2e-10};

int main(int argc, char** argv) {
  std::string algorithm = "ring", collective = "all_reduce";
  int p = 4, root = 0;
  std::size_t n = 8;
  CLI::App app("Prints the schedule of an algorithm of the colligo library, and its price");
  app.add_option("algorithm", algorithm, "by name")->capture_default_str();
  app.add_option("p", p, "ranks")->capture_default_str()->check(CLI::Range(1, 1024));
  app.add_option("n", n, "elements, of 8 bytes each")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000'000}));
  app.add_option("collective", collective, "all_reduce, reduce, broadcast ...")->capture_default_str();
  app.add_option("root", root, "of reduce, broadcast ...")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  try {
    if (root < 0 || root >= p)
      throw colligo::argument_error("root " + std::to_string(root) + " is not a rank, ranks are 0 to " +
                                    std::to_string(p - 1));
    auto const schedule = colligo::record<double>(colligo::named(algorithm), collective_named(collective), p, n, root);
    std::cout << schedule;
    schedule.verify();
    std::cout << "every law holds; " << 1e6 * price(schedule, cluster, sizeof(double)) << " us on a machine with "
              << 1e6 * cluster.alpha << " us a message, " << 1e-9 / cluster.beta << " GB/s sent, "
              << 1e-9 / cluster.gamma << " GB/s combined\n";
  } catch (colligo::error const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
