// SPDX-License-Identifier: BSL-1.0
// Trees that fit the machine: one message per host and direction. Prints the tree as a file, so any program can use it
// without being recompiled:
//
//   mpirun -n 8 configured_tree            hosts as MPI finds them
//   mpirun -n 8 configured_tree 4          as if every 4 ranks had a host
//   mpirun -n 8 configured_tree 4 > two_hosts.tree;  COLLIGO_TREE=two_hosts.tree mpirun -n 8 hello
#include <CLI/CLI.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/algorithm/hierarchical.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/trees.hpp>

#include <functional>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  int ranks_per_host = 0;
  CLI::App app("Prints a tree that fits the hosts of the ranks, and reduces along it");
  app.add_option("ranks_per_host", ranks_per_host,
                 "as if every so many ranks had a host of their own; otherwise as MPI finds them")
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return world.rank() == 0 ? app.exit(e) : e.get_exit_code();
  }

  // On each host all ranks report to the lowest rank, and these report to rank 0.
  colligo::trees::by_host_options const flat{.within = colligo::trees::flat, .between = colligo::trees::flat};
  std::vector<int> hosts;
  for (int r = 0; r < world.size() && ranks_per_host > 0; ++r) hosts.push_back(r / ranks_per_host);
  colligo::tree const tree =
      hosts.empty() ? colligo::trees::by_host(world, flat) : colligo::trees::by_host(hosts, flat);

  int const me = world.rank();
  int const along_the_tree = colligo::all_reduce(world, me, std::plus<>{}, colligo::configured{tree});
  // Or compose two algorithms over the same hosts: here the lowest ranks of the hosts exchange instead of reporting to
  // rank 0.
  int const over_hosts = colligo::all_reduce(world, me, std::plus<>{}, colligo::hierarchical<>{.hosts = hosts});

  if (me == 0) {
    std::cout << "# " << world.size() << " ranks, depth " << tree.depth() << ", at most " << tree.most_children()
              << " children\n"
              << tree;
    std::cout << "# sum of the ranks: " << along_the_tree << " along the tree, " << over_hosts << " over the hosts\n";
  }
}
