// SPDX-License-Identifier: BSL-1.0
// Draws a schedule, or a tree over the ranks, as SVG. Hosts get the ranks in turn or in blocks. Needs neither MPI nor
// mpirun.
//
//   draw schedule halving_doubling 8 16 > schedule.svg
//   draw schedule binary_tree 16 1000 --collective reduce --hosts 4 > reduce.svg
//   draw tree lam_reduce 32 --hosts 8 > tree.svg     # LAM-MPI's tree on 8 hosts: 28 of the 31 edges are between hosts
//   draw tree my.tree 16 > tree.svg                  # as for COLLIGO_TREE=my.tree; or flat, chain, kary:3, by_host ...
#include <CLI/CLI.hpp>
#include <colligo/tools/draw.hpp>
#include <colligo/record.hpp>
#include <colligo/shape/tree.hpp>
#include <colligo/rules/tree_file.hpp>
#include <colligo/rules/named_trees.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "collective_named.hpp"

// By the names of namespace colligo::trees, kary:3 with a number; or what a file describes.
colligo::tree tree_named(std::string const& name, int p, int root) {
  namespace trees = colligo::trees;
  if (name == "binomial") return trees::binomial(p, root);
  if (root == 0) {
    if (name == "flat") return trees::flat(p);
    if (name == "chain") return trees::chain(p);
    if (name == "lam_reduce") return trees::lam_reduce(p);
    if (name == "lam_broadcast") return trees::lam_broadcast(p);
    int k = 0;
    if (name.starts_with("kary:") &&
        std::from_chars(name.data() + 5, name.data() + name.size(), k).ptr == name.data() + name.size())
      return trees::kary(p, k);
    if (std::ifstream file(name); file) {
      std::ostringstream text;
      text << file.rdbuf();
      return colligo::parse_tree(text.str(), p, name);
    }
  }
  throw colligo::argument_error("no tree is named \"" + name + "\" with root " + std::to_string(root) +
                                "; known are binomial, and with root 0 halving, flat, chain, kary:K, lam_reduce, "
                                "lam_broadcast, by_host, and files");
}

std::string drawn_tree(std::string const& name, int p, int root, std::vector<int> const& hosts) {
  if (name == "halving" && root == 0) return draw(colligo::halving_shape{p}, hosts, name);
  if (name == "by_host") {
    if (hosts.empty()) throw colligo::argument_error("the tree by_host needs --hosts");
    return draw(colligo::trees::by_host(hosts, {.root = root}), hosts, name);
  }
  return draw(tree_named(name, p, root), hosts, name);
}

int main(int argc, char** argv) {
  std::string name, collective = "all_reduce";
  int p = 8, root = 0, hosts = 0;
  std::size_t n = 16;
  bool blocks = false;
  CLI::App app(
      "Draws schedules and trees of the colligo library as SVG:\n"
      "  draw schedule halving_doubling 8 16 > schedule.svg\n  draw tree binomial 8 > tree.svg");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  auto* const schedule = app.add_subcommand("schedule", "a row per rank, a column per round");
  auto* const tree = app.add_subcommand("tree", "the root on top");
  for (auto* const command : {schedule, tree}) {
    command->add_option("name", name, command == tree ? "of trees::, kary:3, halving, or a file" : "an algorithm")
        ->required();
    command->add_option("p", p, "ranks")->capture_default_str()->check(CLI::Range(1, 1024));
    command->add_option("--root", root, "of the tree, of reduce, broadcast ...")->capture_default_str();
    command->add_option("--hosts", hosts, "number of hosts, 0: not shown")
        ->capture_default_str()
        ->check(CLI::Range(0, 1024));
    command->add_flag("--blocks", blocks, "neighbouring ranks share a host; without, ranks are dealt out in turn");
  }
  schedule->add_option("n", n, "elements, of 8 bytes each")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 48));
  schedule->add_option("--collective", collective, "all_reduce, reduce, broadcast ...")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  try {
    if (root < 0 || root >= p)
      throw colligo::argument_error("root " + std::to_string(root) + " is not a rank, ranks are 0 to " +
                                    std::to_string(p - 1));
    std::vector<int> host_of;
    for (int r = 0; r < p && hosts > 0; ++r) host_of.push_back(blocks ? r * hosts / p : r % hosts);
    auto const drawn_schedule = [&] {
      return draw(colligo::record<double>(colligo::named(name), collective_named(collective), p, n, root), host_of,
                  name);
    };
    std::cout << (*tree ? drawn_tree(name, p, root, host_of) : drawn_schedule());
  } catch (colligo::error const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
