// SPDX-License-Identifier: BSL-1.0
/// @file
/// Looks for a tree that suits the hosts it runs on, by trying: shapes made for the hosts, then moves of single
/// subtrees and ranks, each against the best so far. Writes a file for COLLIGO_TREE and says what of the paper's three
/// factors (children, depth, network hops) has moved:
///   mpirun -n 32 search_tree --seconds 60 --out best.tree   and then   COLLIGO_TREE=best.tree mpirun -n 32 program
/// After  Bjorndalen, Anshus, Vinter, Larsen: The Performance of Configurable Collective Communication for LAM-MPI in
///        Clusters and Multi-Clusters, who did this by hand
#include <colligo/all_reduce.hpp>
#include <colligo/record.hpp>
#include <colligo/trees.hpp>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "launch.hpp"
#include "network.hpp"
#include "options.hpp"
#include "report.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

struct options {
  double seconds = 60;
  int elements = 1, calls = 0, pretended = 0;
  unsigned seed = 1;
  std::string out = "best.tree";
  bool apart = false, progress = false;
};

std::optional<int> parse(int argc, char** argv, int rank, options& o) {
  CLI::App app(
      "Tries trees for all_reduce of a few ints on the ranks that it is started on, and writes the best one as a file "
      "for COLLIGO_TREE.",
      "search_tree");
  app.add_option("--seconds", o.seconds, "to be spent")->check(CLI::Range(0.1, 1e6))->capture_default_str();
  app.add_option("--out", o.out,
                 "file that is written; if reduce and broadcast take different trees this is reduce's, and "
                 "FILE.broadcast the other")
      ->capture_default_str();
  app.add_flag("--apart", o.apart, "try trees that differ for reduce and broadcast");
  app.add_option("--elements", o.elements, "ints")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  app.add_option("--calls", o.calls,
                 "in a loop that is timed (default: at least 3, and as many as take 5 ms at the start)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--pretend", o.pretended, "take so many ranks in a row for a host, whatever hosts there are")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", o.seed, "of the moves")->capture_default_str();
  app.add_flag("--progress", o.progress, "tell on stderr how it stands, even if that is no terminal");
  return read_options(app, argc, argv, rank);
}

struct candidate {
  colligo::configured along;
  std::string made;   ///< of what
};

/// What the paper suspects that a tree's cost comes from, and the messages that it counts.
struct factors {
  int children, depth, hops, messages;

  factors(colligo::configured const& c, std::vector<int> const& hosts)
      : children(std::max(c.reduce_tree.most_children(), c.broadcast_tree.most_children())),
        depth(c.reduce_tree.depth() + c.broadcast_tree.depth()) {
    auto const crossed = crossings_of(
        colligo::record<int>(c, colligo::collective::all_reduce, static_cast<int>(hosts.size()), 1), hosts);
    hops = crossed.hops;
    messages = crossed.messages;
  }
};

/// Every decision rests on numbers that all ranks have agreed on, so all of them try the same.
class search {
 public:
  search(options const& o, MPI_Comm comm, int rank)
      : o_(o), comm_(comm), rank_(rank), hosts_(hosts_of({comm}, o.pretended)), random_(o.seed), progress_(o.progress) {
    int const p = static_cast<int>(hosts_.size());
    start_ = best_ = {{colligo::trees::lam_reduce(p), colligo::trees::lam_broadcast(p)}, "LAM-MPI's trees"};
  }

  void run() {
    is_new(start_);
    calls_ = o_.calls != 0 ? o_.calls : 3;
    agreed_pair(start_, start_);   // connections are made
    of_best_ = {agreed_pair(start_, start_).second};
    if (o_.calls == 0) calls_ = std::max(calls_, static_cast<int>(5000 / of_best_.front()));
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(-elapsed_), agreed_pair(start_, start_), seconds.back() += elapsed_;
    reserve_ = pairs * statistics_of(seconds).median;
    try_shapes();
    try_moves();
    for (int i = 0; i < pairs; ++i) {
      auto const [start, best] = agreed_pair(start_, best_);
      of_best_.push_back(best);
      against_start_.push_back(start / best);
    }
    progress_.clear();
  }

  void report() const {
    auto const microseconds = statistics_of(of_best_).median;
    fmt::print("best of {} in {:.1f} s: {}\n", shapes(), elapsed_, best_.made);
    fmt::print("{:.1f} us a call, {:.2f} times as fast as along {}\n\n", microseconds,
               statistics_of(against_start_).median, start_.made);
    factors const before(start_.along, hosts_), after(best_.along, hosts_);
    struct line { char const* what; int before, after; };
    for (auto const& l : {line{"children of the busiest rank", before.children, after.children},
                          line{"depth, up and down together", before.depth, after.depth},
                          line{"network hops on the longest path", before.hops, after.hops},
                          line{"messages between hosts", before.messages, after.messages}}) {
      char const* const moved = l.after < l.before ? "less" : l.after > l.before ? "more" : "as before";
      fmt::print("  {:<34} {:>5} -> {:<5} {}\n", l.what, l.before, l.after, moved);
    }
  }

  candidate const& best() const { return best_; }

 private:
  std::string shapes() const { return fmt::format("{} tree{}", tried_.size(), tried_.size() == 1 ? "" : "s"); }

  bool is_new(candidate const& c) {
    std::ostringstream text;
    text << c.along.reduce_tree << '/' << c.along.broadcast_tree;
    return tried_.insert(text.str()).second;
  }

  double loop(candidate const& c) const {
    colligo::mpi_communicator const comm(comm_);
    auto const call = [&](std::span<int const> in, std::span<int> out) {
      colligo::all_reduce(comm, in, out, std::plus<>(), c.along);
    };
    return back_to_back(comm_, o_.elements, calls_, call, c.made);
  }

  /// Microseconds a call of a and of b, one after the other, the slowest rank of each; elapsed_ goes on.
  std::pair<double, double> agreed_pair(candidate const& a, candidate const& b) {
    double mine[]{loop(a), loop(b), MPI_Wtime() - began_}, all[3];
    MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MAX, comm_);
    expected_ = std::max(0.9 * expected_, all[2] - elapsed_);   // not for ever what the slowest tree took
    elapsed_ = all[2];
    return {all[0], all[1]};
  }

  /// Time for one more pair of loops besides those at the end.
  bool time_left() const { return elapsed_ + expected_ + reserve_ < o_.seconds; }

  /// Several pairs decide, of which each may refuse; a gain within the noise is none. Returns time(c) / time(best), 1
  /// if it was known.
  double try_out(candidate const& c) {
    if (!time_left() || !is_new(c)) return 1;
    if (rank_ == 0)
      progress_.show([&] {
        return fmt::format("{:.0f} of {:.0f} s, {}, best {:.1f} us: {}", elapsed_, o_.seconds, shapes(),
                           statistics_of(of_best_).median, best_.made);
      });
    constexpr double hopeless = 1.05, better = 0.98;
    std::vector<double> ratios, of_candidate;
    do {
      auto const [mine, best] = agreed_pair(c, best_);
      ratios.push_back(mine / best);
      of_candidate.push_back(mine);
      of_best_.push_back(best);
    } while (ratios.back() < hopeless && static_cast<int>(ratios.size()) < pairs && time_left());
    double const ratio = statistics_of(ratios).median;
    if (static_cast<int>(ratios.size()) == pairs && ratio <= better) {
      best_ = c;
      of_best_ = of_candidate;
    }
    return ratio;
  }

  void try_shapes() {
    namespace trees = colligo::trees;
    struct named_shape { char const* name; trees::shape shape; };
    named_shape const shapes[]{{"flat", trees::flat},       {"binomial", trees::binomial}, {"binary", {trees::kary, 2}},
                               {"4-ary", {trees::kary, 4}}, {"8-ary", {trees::kary, 8}},   {"chain", trees::chain}};
    colligo::host_map const map{hosts_, static_cast<int>(hosts_.size())};
    constexpr double out_of_the_question = 2;
    for (auto const& between : shapes) {
      double ratio = 1;
      for (int groups = 1; groups <= map.fewest() && ratio < out_of_the_question; groups *= 2)
        for (auto const& within : shapes) {
          if (ratio >= out_of_the_question) break;
          colligo::configured const alike{
              trees::by_host(hosts_, {.within = within.shape, .groups = groups, .between = between.shape})};
          std::string const made =
              fmt::format("{} within {} per host, {} between", within.name,
                          groups == 1 ? "one group" : fmt::format("{} groups", groups), between.name);
          ratio = try_out({alike, made});
          if (!o_.apart) continue;
          try_out({{alike.reduce_tree, best_.along.broadcast_tree}, "up " + made + "; down as in " + best_.made});
          try_out({{best_.along.reduce_tree, alike.broadcast_tree}, "down " + made + "; up as in " + best_.made});
        }
    }
  }

  /// The neighbours of the best tree, until time is up or there seem to be no new ones.
  void try_moves() {
    constexpr int patience = 1000;
    int moves = 0, in_vain = 0;
    std::string const shape = best_.made;
    while (hosts_.size() > 2 && time_left() && in_vain < patience) {
      bool const both = !o_.apart, up = random_() % 2 == 0;
      colligo::configured moved = best_.along;
      if (both || up) moved.reduce_tree = neighbour(best_.along.reduce_tree);
      if (both) moved.broadcast_tree = moved.reduce_tree;
      else if (!up) moved.broadcast_tree = neighbour(best_.along.broadcast_tree);
      auto const before = tried_.size();
      candidate const c{moved, fmt::format("{}, and {} move{}", shape, moves + 1, moves == 0 ? "" : "s")};
      try_out(c);
      in_vain = tried_.size() == before ? in_vain + 1 : 0;
      if (best_.made == c.made) ++moves;
    }
  }

  /// The tree with a subtree hung elsewhere, or with two ranks exchanged.
  colligo::tree neighbour(colligo::tree const& t) {
    auto const any = [&](std::size_t n) { return static_cast<int>(random_() % n); };
    std::vector<std::vector<int>> children;
    for (int r = 0; r < t.size(); ++r) children.emplace_back(t.children(r).begin(), t.children(r).end());
    auto const of = [&](int r) -> std::vector<int>& { return children[static_cast<std::size_t>(r)]; };
    int const a = any(children.size()), b = any(children.size());
    if (random_() % 2 == 0) {
      for (auto& list : children)
        for (int& c : list) c = c == a ? b : c == b ? a : c;
      std::swap(of(a), of(b));
    } else if (t.parent(a) != colligo::nobody) {
      for (int above = b; above != colligo::nobody; above = t.parent(above))
        if (above == a) return t;   // b hangs below a
      std::erase(of(t.parent(a)), a);
      of(b).insert(of(b).begin() + any(of(b).size() + 1), a);
    }
    return colligo::tree::of_children(children);
  }

  static constexpr int pairs = 5;

  options const& o_;
  MPI_Comm comm_;
  int rank_;
  std::vector<int> hosts_;
  std::mt19937 random_;
  progress_line progress_;
  int calls_ = 0;
  // Seconds; of the next pair; for the pairs at the end.
  double began_ = MPI_Wtime(), elapsed_ = 0, expected_ = 0, reserve_ = 0;
  candidate start_, best_;
  std::set<std::string> tried_;
  std::vector<double> of_best_, against_start_;   // microseconds a call of the best one; time(start) / time(best)
};

void write(std::string const& path, colligo::tree const& t, std::string const& comment) {
  std::ofstream file(path);
  file << "# found by search_tree: " << comment << '\n' << t << std::flush;
  if (!file) throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

int search_tree(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  if (auto const code = parse(argc, argv, rank, o)) return *code;
  int reason = 0;
  if (rank == 0)
    if (std::ofstream const file(o.out, std::ios::app); !file) reason = errno;
  MPI_Bcast(&reason, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (reason != 0) throw agreed_error(fmt::format("cannot write {}: {}", o.out, std::strerror(reason)));

  search s(o, MPI_COMM_WORLD, rank);
  s.run();
  if (rank != 0) return 0;
  s.report();
  auto const& [reduce_tree, broadcast_tree, arrival] = s.best().along;
  std::string const broadcast = o.out + ".broadcast";
  write(o.out, reduce_tree, s.best().made);
  if (!(reduce_tree == broadcast_tree)) write(broadcast, broadcast_tree, s.best().made);
  fmt::print("\n{}\n", reduce_tree == broadcast_tree
                           ? "COLLIGO_TREE=" + o.out
                           : fmt::format("COLLIGO_REDUCE_TREE={} COLLIGO_BROADCAST_TREE={}", o.out, broadcast));
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::search_tree(argc, argv); });
}
