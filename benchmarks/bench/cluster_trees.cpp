// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_reduce of short vectors on several hosts: LAM-MPI's trees, trees made for the hosts, hierarchical algorithms,
/// and the MPI library's own, in one run, with ranks placed on the hosts in several ways:
///   bench/cluster/cluster --hosts 8 --ranks-per-host 4 --rate 1mbit --delay 10ms cluster_trees
/// or two clusters joined by a WAN, with and without a last process that is misplaced:
///   bench/cluster/cluster --hosts 16 --ranks-per-host 4 --rate 100mbit --delay 1ms --split 8 --wan 15ms
///     cluster_trees --clusters 8
/// After  Bjorndalen, Anshus, Vinter, Larsen: The Performance of Configurable Collective Communication for LAM-MPI in
///        Clusters and Multi-Clusters
#include <colligo/all_reduce.hpp>
#include <colligo/record.hpp>
#include <colligo/topology/host_map.hpp>
#include <colligo/trees.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>

#include "launch.hpp"
#include "network.hpp"
#include "options.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

struct options {
  std::vector<std::string> placements{"in-order", "cyclic", "shuffled"};
  int elements = 1, calls = 5, rounds = 5, clusters = 0, pretended = 0, late_us = 0;
  std::vector<std::string> only;
  unsigned seed = 1;
  std::string csv;
  bool progress = false;
};

std::optional<int> parse(int argc, char** argv, int rank, options& o) {
  CLI::App app(
      "Times all_reduce of a few ints on several hosts: LAM-MPI's trees, trees made for the hosts, "
      "hierarchical, and MPI's own.\n"
      "Every result is checked. Calls are timed in loops, contenders take turns, in an order of its own in each round; "
      "the slowest rank counts.",
      "cluster_trees");
  app.add_option("--placement", o.placements,
                 "of ranks on hosts: in-order (one host after the other), cyclic (as LAM-MPI deals them out), shuffled")
      ->delimiter(',')
      ->check(CLI::IsMember({"in-order", "cyclic", "shuffled"}))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of shuffled")->capture_default_str();
  app.add_option("--clusters", o.clusters,
                 "the first so many hosts are one cluster, the others another: instead of the placements "
                 "all but one host's ranks\n"
                 "of the first, then all of the second; and the same with one rank more, on the first cluster")
      ->check(CLI::Range(1, 200));
  app.add_option("--elements", o.elements, "ints")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  app.add_option("--calls", o.calls, "in a loop that is timed")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--rounds", o.rounds, "loops of each contender")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--pretend", o.pretended, "take so many ranks in a row for a host, whatever hosts there are")
      ->check(CLI::Range(1, 100000));
  app.add_option("--late", o.late_us, "microseconds by which rank 1, rank 0's first child, is late for each call")
      ->check(CLI::Range(0, 10'000'000));
  app.add_option("--only", o.only, "these contenders, beside lam and mpi");
  app.add_option("--csv", o.csv, "write the table to this file too");
  app.add_flag("--progress", o.progress, "tell on stderr which round it is");
  return read_options(app, argc, argv, rank);
}

/// Ranks on hosts, in some order.
struct placement {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;       ///< null on a rank that takes no part
  std::vector<int> hosts, clusters;    ///< of each of its ranks
};

struct contender {
  std::string name;
  std::function<void(std::span<int const>, std::span<int>)> call;
  std::optional<colligo::schedule> schedule;   ///< none: of the MPI library's own nothing is known
  std::vector<double> us{};
};

struct scene {
  placement where;
  std::vector<contender> contenders;
};

/// The world's ranks in the order of a placement.
std::vector<int> order_of(std::string const& name, colligo::host_map const& map, unsigned seed) {
  std::vector<int> order(static_cast<std::size_t>(map.p));
  std::iota(order.begin(), order.end(), 0);
  auto const key = [&](int r) {
    return name == "cyclic" ? std::pair(map.place(r), map.host_of(r)) : std::pair(map.host_of(r), map.place(r));
  };
  std::ranges::sort(order, {}, key);
  std::mt19937 random(seed);
  if (name == "shuffled")   // by hand: std::shuffle differs between libraries
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

placement place(std::string name, std::vector<int> const& order, std::vector<int> const& world_hosts,
                std::vector<int> const& world_clusters) {
  placement made{std::move(name), {}, {}, {}};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const mine = std::ranges::find(order, rank);
  MPI_Comm_split(MPI_COMM_WORLD, mine == order.end() ? MPI_UNDEFINED : 0, static_cast<int>(mine - order.begin()),
                 &made.comm);
  for (int const r : order) {
    made.hosts.push_back(world_hosts[static_cast<std::size_t>(r)]);
    made.clusters.push_back(world_clusters[static_cast<std::size_t>(r)]);
  }
  return made;
}

std::vector<placement> placements_of(options const& o) {
  auto const hosts = hosts_of({MPI_COMM_WORLD}, o.pretended);
  colligo::host_map const map{hosts, static_cast<int>(hosts.size())};
  std::vector<int> clusters(hosts.size());
  std::vector<placement> all;
  if (o.clusters == 0) {
    for (auto const& name : o.placements) all.push_back(place(name, order_of(name, map, o.seed), hosts, clusters));
    return all;
  }
  if (o.clusters >= map.host_count())
    throw agreed_error(fmt::format("--clusters: {} hosts are all there are, of {}", o.clusters, map.host_count()));
  std::vector<int> order[2], spare;
  for (int const r : order_of("in-order", map, 0)) {
    int const host = map.host_of(r);
    clusters[static_cast<std::size_t>(r)] = host >= o.clusters;
    (host == o.clusters - 1 ? spare : order[host >= o.clusters]).push_back(r);
  }
  order[0].insert(order[0].end(), order[1].begin(), order[1].end());
  for (int const more : {0, 1}) {
    if (more == 1) order[0].push_back(spare.front());
    all.push_back(place(fmt::format("{} ranks", order[0].size()), order[0], hosts, clusters));
  }
  return all;
}

/// Who competes on a placement, which has to stay where it is.
std::vector<contender> contenders_on(placement const& where, int elements, std::vector<std::string> const& only) {
  std::vector<contender> all;
  int const p = static_cast<int>(where.hosts.size());
  auto const n = static_cast<std::size_t>(elements);
  auto const add = [&](std::string name, auto const& algorithm) {
    auto const call = [comm = where.comm, by = colligo::over_messages{algorithm}](std::span<int const> in,
                                                                                  std::span<int> out) {
      colligo::all_reduce(colligo::mpi_communicator(comm), in, out, std::plus<>(), by);
    };
    all.push_back({std::move(name), call, colligo::record<int>(algorithm, colligo::collective::all_reduce, p, n)});
  };
  namespace trees = colligo::trees;
  auto const by_host = [&](trees::by_host_options options) {
    options.clusters = where.clusters;
    return colligo::configured{trees::by_host(where.hosts, options)};
  };
  add("lam", colligo::configured{trees::lam_reduce(p), trees::lam_broadcast(p)});
  // Everybody reports to rank 0: what the paper calls the linear scheme.
  add("flat", colligo::configured{trees::flat(p)});
  add("flat, arrival", colligo::configured{trees::flat(p), trees::flat(p), true});
  add("by_host flat, flat", by_host({.within = trees::flat, .between = trees::flat}));
  add("by_host flat, two groups", by_host({.within = trees::flat, .groups = 2, .between = trees::flat}));
  add("by_host binomial, flat", by_host({.within = trees::binomial, .between = trees::flat}));
  add("by_host binomial", by_host({.within = trees::binomial, .between = trees::binomial}));
  int const hosts = colligo::host_map{where.hosts, p}.host_count();
  add("hierarchical", colligo::hierarchical<>{.hosts = where.hosts});
  add("hierarchical flat between", colligo::hierarchical<colligo::binary_tree, colligo::configured>{
                                       .between = {trees::flat(hosts)}, .hosts = where.hosts});
  add("hierarchical direct between",
      colligo::hierarchical<colligo::binary_tree, colligo::direct>{.hosts = where.hosts});
  add("multi_leader", colligo::multi_leader<>{.hosts = where.hosts});
  add("binary_tree", colligo::binary_tree{});
  add("recursive_doubling", colligo::recursive_doubling{});
  auto const automatic = [comm = where.comm](std::span<int const> in, std::span<int> out) {
    colligo::all_reduce(colligo::mpi_communicator(comm), in, out, std::plus<>());
  };
  auto const mpi = [comm = where.comm](std::span<int const> in, std::span<int> out) {
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, MPI_SUM, comm);
  };
  all.push_back({"automatic", automatic, std::nullopt});
  all.push_back({"mpi", mpi, std::nullopt});
  std::erase_if(all, [&](contender const& c) {
    return !only.empty() && c.name != "lam" && c.name != "mpi" && std::ranges::find(only, c.name) == only.end();
  });
  return all;
}

/// The slowest rank of each loop, of each contender.
void time_all(std::vector<scene>& scenes, options const& o, int rank) {
  std::vector<turns> orders;
  for (auto const& s : scenes) orders.emplace_back(s.contenders.size());
  for (int round = 0; round < o.rounds; ++round) {
    if (rank == 0 && o.progress) fmt::print(stderr, "round {} of {}\n", round + 1, o.rounds);
    for (std::size_t i = 0; i < scenes.size(); ++i)
      for (std::size_t const which : orders[i].next_round()) {
        scene& s = scenes[i];
        auto& c = s.contenders[which];
        // A rank that takes no part waits for the others at the end.
        c.us.push_back(s.where.comm == MPI_COMM_NULL
                           ? 0
                           : back_to_back(s.where.comm, o.elements, o.calls, c.call, s.where.name + ": " + c.name,
                                          std::chrono::microseconds(o.late_us)));
      }
  }
  for (auto& s : scenes)
    for (auto& c : s.contenders)
      MPI_Allreduce(MPI_IN_PLACE, c.us.data(), static_cast<int>(c.us.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

struct close {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

void report(std::vector<scene> const& scenes, options const& o, std::FILE* csv) {
  if (csv != nullptr)
    fmt::print(csv,
               "placement,algorithm,ranks,hosts,elements,messages_between_hosts,hops,messages_between_clusters,"
               "cluster_hops,rounds,min_us,median_us,max_us,x_lam,x_mpi\n");
  for (auto const& s : scenes) {
    auto const median = [&](std::string_view name) {
      return statistics_of(std::ranges::find(s.contenders, name, &contender::name)->us).median;
    };
    int const p = static_cast<int>(s.where.hosts.size()), hosts = colligo::host_map{s.where.hosts, p}.host_count();
    fmt::print("\n{}: {} ranks on {} hosts\n", s.where.name, p, hosts);
    fmt::print("  {:<28} {:>10} {:>10} {:>10} {:>7} {:>7}   {:>13} {:>5}{}\n", "algorithm", "min ms", "median ms",
               "max ms", "x lam", "x mpi", "between hosts", "hops", o.clusters != 0 ? "   between clusters  hops" : "");
    for (auto const& c : s.contenders) {
      auto const us = statistics_of(c.us);
      double const over_lam = median("lam") / us.median, over_mpi = median("mpi") / us.median;
      fmt::print("  {:<28} {:>10.2f} {:>10.2f} {:>10.2f} {:>7.2f} {:>7.2f}", c.name, us.min / 1e3, us.median / 1e3,
                 us.max / 1e3, over_lam, over_mpi);
      std::string counts = ",,,";
      if (c.schedule) {
        auto const h = crossings_of(*c.schedule, s.where.hosts), w = crossings_of(*c.schedule, s.where.clusters);
        fmt::print("   {:>13} {:>5}", h.messages, h.hops);
        if (o.clusters != 0) fmt::print("   {:>16} {:>5}", w.messages, w.hops);
        counts = fmt::format("{},{},{},{}", h.messages, h.hops, w.messages, w.hops);
      }
      fmt::print("\n");
      if (csv != nullptr)
        fmt::print(csv, "{},\"{}\",{},{},{},{},{},{:.2f},{:.2f},{:.2f},{:.3f},{:.3f}\n", s.where.name, c.name, p, hosts,
                   o.elements, counts, o.rounds, us.min, us.median, us.max, over_lam, over_mpi);
    }
  }
}

int cluster_trees(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  if (auto const code = parse(argc, argv, rank, o)) return *code;
  std::unique_ptr<std::FILE, close> csv;
  int reason = 0;
  if (rank == 0 && !o.csv.empty()) {
    csv.reset(std::fopen(o.csv.c_str(), "w"));
    reason = csv ? 0 : errno;
  }
  MPI_Bcast(&reason, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (reason != 0) throw agreed_error(fmt::format("cannot write {}: {}", o.csv, std::strerror(reason)));

  std::vector<scene> scenes;
  for (auto& where : placements_of(o)) scenes.push_back({std::move(where), {}});
  for (auto& s : scenes) s.contenders = contenders_on(s.where, o.elements, o.only);
  if (rank == 0)
    fmt::print("all_reduce of {} int{}, {}; medians of {} loops of {} calls; messages counted in the schedules\n",
               o.elements, o.elements == 1 ? "" : "s", mpi_library(), o.rounds, o.calls);
  time_all(scenes, o, rank);
  if (rank == 0) report(scenes, o, csv.get());
  for (auto& s : scenes)
    if (s.where.comm != MPI_COMM_NULL) MPI_Comm_free(&s.where.comm);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::cluster_trees(argc, argv); });
}
