// SPDX-License-Identifier: BSL-1.0
// What goes by levels: hierarchies of ranks, counts that stand for quality on many cores, laws, order, bits and words
// over all factorings and random hierarchies.
#include <catch2/catch.hpp>

#include <colligo/environment/core_domains.hpp>
#include <colligo/environment/host.hpp>
#include <colligo/explain.hpp>
#include <colligo/tools/association.hpp>
#include <colligo/rules/choose.hpp>
#include <colligo/rules/kept_choices.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "../laws.hpp"
#include "../recorded_ranks.hpp"
#include "priced.hpp"

#ifndef COLLIGO_TEST_MOST_RANKS
#define COLLIGO_TEST_MOST_RANKS 33
#endif

using namespace std::string_view_literals;
using namespace colligo;

namespace {

/// Every way to write p as a product of factors above 1.
std::vector<std::vector<int>> factorings(int p) {
  if (p == 1) return {{}};
  std::vector<std::vector<int>> all;
  for (int f = 2; f <= p; ++f)
    if (p % f == 0)
      for (auto rest : factorings(p / f)) rest.insert(rest.begin(), f), all.push_back(rest);
  return all;
}

/// Groups of 1 to 5 within groups of 1 to 5, up to p ranks, which are dealt out at random if `shuffled`.
hierarchy random_hierarchy(int p, std::mt19937& random, bool shuffled) {
  std::vector<int> order(static_cast<std::size_t>(p));
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) std::ranges::shuffle(order, random);
  std::vector<std::vector<int>> levels;
  std::vector<int> below = order;   // of each rank its group; at first it alone
  std::iota(below.begin(), below.end(), 0);
  for (int groups = p; groups > 1;) {
    std::vector<int> joined;
    for (int made = 0; static_cast<int>(joined.size()) < groups; ++made)
      joined.insert(joined.end(), 1 + random() % 5, made);
    groups = joined[static_cast<std::size_t>(groups - 1)] + 1;
    for (int& g : below) g = joined[static_cast<std::size_t>(g)];
    auto& level = levels.emplace_back(static_cast<std::size_t>(p));
    for (std::size_t i = 0; i < order.size(); ++i) level[static_cast<std::size_t>(order[i])] = below[i];
  }
  return hierarchy(p, levels);
}

template <class F>
void for_each_tag(hierarchy const& groups, F f) {
  f(direct_by_level{.levels = &groups});
  f(slices_by_level{.levels = &groups});
}

/// Of an association's text.
bool has_each_once(std::string const& text, int p, bool in_order) {
  std::vector<int> ranks;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      ranks.push_back(std::stoi(text.substr(at)));
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
    }
  if (!in_order) std::ranges::sort(ranks);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r] != static_cast<int>(r)) return false;
  return static_cast<int>(ranks.size()) == p;
}

/// The schedule obeys the laws; all ranks put each element together in one way, in order if the levels keep it.
void check_laws(hierarchy const& groups, std::size_t n) {
  for_each_tag(groups, [&]<class Tag>(Tag const& tag) {
    INFO(Tag::name << ", " << groups.size() << " ranks, " << groups.text() << ", n = " << n);
    auto const said = record(tag, collective::all_reduce, groups.size(), n);
    CHECK_NOTHROW(said.verify());
    auto const form = association(said, groups.consecutive() ? operands::ordered : operands::commute);
    CHECK(form.same_on_all_ranks());
    for (std::size_t i = 0; i < n; ++i) CHECK(has_each_once(form.text(0, i), groups.size(), groups.consecutive()));
    CHECK_NOTHROW(record(direct_by_level{.levels = &groups}, collective::barrier, groups.size(), 0).verify());
    CHECK_NOTHROW(record(leaders_by_level{.levels = &groups}, collective::barrier, groups.size(), 0).verify());
    for (int const root : {0, groups.size() / 3, groups.size() - 1})
      for (collective const c : {collective::reduce, collective::broadcast})
        for (std::size_t const at_once : {0u, 1u}) {
          auto const one = record(leaders_by_level{&groups, at_once}, c, groups.size(), n, root);
          CHECK_NOTHROW(one.verify());
          CHECK(one.total_messages() == static_cast<std::size_t>(groups.size() - 1));
          int rounds = 0;
          for (int level = -1; level < groups.levels() - 1; ++rounds)
            level = at_once ? groups.named_after(level) : level + 1;
          CHECK(one.rounds() <= rounds);
        }
  });
  for (int const root : {0, groups.size() / 3, groups.size() - 1}) {
    pipelines_by_level const tag{.levels = &groups, .block = 16};
    CHECK_NOTHROW(record(tag, collective::broadcast, groups.size(), n, root).verify());
    auto const one = record(tag, collective::reduce, groups.size(), n, root);
    CHECK_NOTHROW(one.verify());
    auto const form = association(one, operands::commute, root);
    for (std::size_t i = 0; i < n; ++i) CHECK(has_each_once(form.text(root, i), groups.size(), false));
  }
  for (collective const c : {collective::scan, collective::exclusive_scan}) {
    if (groups.size() > 32) break;
    scan_by_level const tag{.levels = &groups};
    auto const one = record(tag, c, groups.size(), n);
    CHECK_NOTHROW(one.verify());
    if (groups.consecutive()) CHECK(one.rounds() < 2 * groups.levels());
  }
  if (groups.size() > 24 || n == 1) return;
  CHECK_NOTHROW(record(bundles_by_level{.levels = &groups}, collective::all_to_all, groups.size(), n).verify());
  // Blocks of several lengths.
  std::vector<std::size_t> counts(static_cast<std::size_t>(groups.size()));
  for (std::size_t r = 0; r < counts.size(); ++r) counts[r] = (7 * r + 3) % 5 * n / 2;
  for (collective const c : {collective::all_gatherv, collective::reduce_scatter}) {
    CHECK_NOTHROW(record(slices_by_level{.levels = &groups}, c, groups.size(), counts).verify());
    CHECK_NOTHROW(record(leaders_by_level{.levels = &groups}, c, groups.size(), counts).verify());
  }
  for (collective const c : {collective::gatherv, collective::scatterv}) {
    auto const one = record(leaders_by_level{.levels = &groups}, c, groups.size(), counts, groups.size() / 3);
    CHECK_NOTHROW(one.verify());
    CHECK(one.total_messages() <= static_cast<std::size_t>(groups.size() - 1));
  }
}

/// Of a schedule on a machine where so many ranks share a cache, a socket, ...; a line or an element per message.
struct counts {
  std::vector<int> hops, read;     // by level, of rank 0
  int steps = 0, pairs = 0;        // that rank 0 sends in, and sends
  std::vector<double> most_read;   // elements by level, of any rank
  std::vector<double> entering;    // elements into a group of each level but the last, the most of any
  counts(schedule const& s, std::vector<int> const& sizes)
      : hops(sizes.size()), read(sizes.size()), most_read(sizes.size()), entering(sizes.size() - 1) {
    auto const level = [&](int a, int b) {
      std::size_t l = 0;
      while (l + 1 < sizes.size() && a / sizes[l] != b / sizes[l]) ++l;
      return l;
    };
    std::vector<std::map<int, double>> into(entering.size());
    for (int r = 0; r < s.size(); ++r) {
      std::vector<double> elements(sizes.size());
      for (auto const& step : s.steps_of(r)) {
        std::size_t far = 0;
        bool reads = false, sends = false;
        for (operand const& o : step) {
          if (o.sends()) pairs += r == 0, sends = true;
          else {
            std::size_t const l = level(r, o.peer);
            far = std::max(far, l), reads = true;
            read[l] += r == 0;
            elements[l] += static_cast<double>(o.elements.size());
            for (std::size_t k = 0; k < l; ++k) into[k][r / sizes[k]] += static_cast<double>(o.elements.size());
          }
        }
        if (r == 0) hops[far] += reads, steps += sends;
      }
      for (std::size_t l = 0; l < sizes.size(); ++l) most_read[l] = std::max(most_read[l], elements[l]);
    }
    for (std::size_t k = 0; k < into.size(); ++k)
      for (auto const& [group, sum] : into[k]) entering[k] = std::max(entering[k], sum);
  }
};

hierarchy hierarchy_of(int p, std::vector<int> const& sizes) { return hierarchy::of_sizes(p, sizes); }

using ints = std::vector<int>;

/// A folder like the system's, of cores of which so many share a cache, a NUMA node, a socket. `looked_at`: those that
/// are there; null: all.
class fake_system {
 public:
  fake_system(int cores, int cache, int node, int socket, bool (*looked_at)(int core) = nullptr)
      : root_(std::filesystem::temp_directory_path() / "colligo_XXXXXX") {
    std::string name = root_.string();
    root_ = mkdtemp(name.data());
    std::string const system = "/sys/devices/system/";
    auto const group = [](int core, int size) {
      return std::to_string(core / size * size) + '-' + std::to_string(core / size * size + size - 1);
    };
    for (int c = 0; c < cores; ++c) {
      if (looked_at && !looked_at(c)) continue;
      std::string const core = system + "cpu/cpu" + std::to_string(c);
      write(core + "/topology/thread_siblings_list", std::to_string(c));
      write(core + "/topology/core_siblings_list", group(c, socket));
      write(core + "/cache/index0/level", "1"), write(core + "/cache/index0/type", "Data");
      write(core + "/cache/index1/level", "2"), write(core + "/cache/index1/type", "Unified");
      write(core + "/cache/index1/shared_cpu_list", std::to_string(c));
      if (cache == 0) continue;
      write(core + "/cache/index2/level", "3"), write(core + "/cache/index2/type", "Unified");
      write(core + "/cache/index2/shared_cpu_list", group(c, cache));
    }
    write(system + "node/online", "0-" + std::to_string(cores / node - 1));
    for (int n = 0; n < cores / node; ++n)
      write(system + "node/node" + std::to_string(n) + "/cpulist", group(n * node, node));
  }
  ~fake_system() { std::filesystem::remove_all(root_); }
  fake_system(fake_system const&) = delete;
  fake_system& operator=(fake_system const&) = delete;

  detail::core_domains of(std::string const& cores) const {
    return detail::domains_of(detail::cores_in(cores), root_.string());
  }
  /// The levels of ranks bound to these cores, as a communicator finds them.
  std::string levels(std::vector<std::string> const& cores_of_ranks) const {
    std::vector<detail::core_domains> domains;
    for (std::string const& cores : cores_of_ranks) domains.push_back(of(cores));
    std::array<detail::run_list, detail::domain_levels> groups;
    for (std::size_t level = 0; level < groups.size(); ++level) {
      std::vector<int> group;
      detail::number_groups(group, domains.size(), {}, detail::core_set::most,
                            [&](std::size_t r) { return domains[r].group[level]; });
      groups[level] = std::move(group);
    }
    return hierarchy::of_domains(static_cast<int>(domains.size()), groups, {}).text();
  }
  std::string levels(int ranks) const {
    std::vector<std::string> cores;
    for (int r = 0; r < ranks; ++r) cores.push_back(std::to_string(r));
    return levels(cores);
  }

 private:
  void write(std::string const& path, std::string const& text) const {
    std::filesystem::path const whole = root_.string() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << '\n';
  }
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("what the system says of cores: Rome with one and four nodes a socket, SNC, Grace, odd masks, nothing") {
  {
    fake_system const rome(32, 4, 16, 16);   // smaller than the real ones
    CHECK(rome.of("5").group == std::array<std::int32_t, 5>{5, 4, 0, -1, 0});
    CHECK(rome.of("4-7").group == std::array<std::int32_t, 5>{-1, 4, 0, -1, 0});
    CHECK(rome.of("3-4").group == std::array<std::int32_t, 5>{-1, -1, 0, -1, 0});
    CHECK(rome.levels(32) == "4 x 4 x 2");
    CHECK(rome.levels(16) == "4 x 4");
    CHECK(rome.levels({"0", "16", "1", "17", "4", "20", "5", "21"}) == "2 x 2 x 2");   // dealt out over the sockets
    CHECK(rome.levels({"0", "1", "2-5", "8", "9", "20"}) == "1..5 x 2");   // a rank on two caches: without them
  }
  CHECK(fake_system(32, 4, 8, 16).levels(32) == "4 x 2 x 2 x 2");
  CHECK(fake_system(24, 12, 6, 12).levels(24) == "6 x 2 x 2");   // a cache over two nodes
  CHECK(fake_system(32, 8, 8, 8).levels(32) == "8 x 4");
  CHECK(fake_system(8, 0, 8, 8).levels(8) == "8");
  CHECK(fake_system(12, 4, 12, 12).levels({"1", "3", "5", "6", "7", "9"}) == "1..3 x 3");   // a container's cores
  CHECK(detail::domains_of(detail::cores_in("0"), "/nowhere").group == detail::core_domains{}.group);
  CHECK(detail::cores_in("0-3,8,10-11\n").size() == 7);
  for (char const* wrong : {"", "x", "0-", "3,,4", "8192", "99999"}) CHECK(detail::cores_in(wrong).empty());
  fake_system const large(1152, 96, 576, 576, [](int core) {   // more cores than a cpu_set_t has bits
    return core < 3 || core == 500 || core == 501 || (core >= 1000 && core < 1056) || core >= 1150;
  });
  CHECK(large.of("1151").group == std::array<std::int32_t, 5>{1151, 1056, 576, -1, 576});
  CHECK(large.of("1000-1055").group == std::array<std::int32_t, 5>{-1, 960, 576, -1, 576});
  CHECK(large.levels({"1", "2", "500", "501", "1024", "1025", "1150", "1151"}) == "2 x 2 x 2");
  CHECK_FALSE(detail::core_set::of_process().empty());
}

TEST_CASE("Slurm's list of tasks: how many of them are on a node") {
  for (auto const& [list, node, tasks] : std::initializer_list<std::tuple<char const*, char const*, int>>{
           {"4", "0", 4}, {"16(x2),8", "1", 16}, {"16(x2),8", "2", 8}, {"3,5(x10),1", "10", 5}, {"3,5(x10),1", "11", 1},
           {"4", "1", 0}, {"4(x", "0", 0}, {"4(x0)", "0", 0}, {"", "0", 0}, {"x", "0", 0}, {"4;2", "1", 0},
           {"4", "", 0}, {"4", "0a", 0}})
    CHECK(std::pair(list, detail::tasks_on_node(list, node)) == std::pair(list, tasks));
}

TEST_CASE("COLLIGO_LEVELS: the rules decide as on such a host, and explain says which; what it can not be is told") {
  auto const said = [](int p, std::size_t n, auto const& op, char const* levels, char const* strict = nullptr) {
    setenv("COLLIGO_LEVELS", levels, 1);
    if (strict) setenv("COLLIGO_STRICT", strict, 1);
    std::string text;
    auto const run = [&] {
      run_threads(p, [&](thread_communicator& comm) {
        std::vector<double> const in(n, 1);
        std::vector<double> out(n);
        colligo::all_reduce(comm, in, out, op);
        for (double const x : out) laws::expect(x == p, "all_reduce by levels", p, n);
        colligo::barrier(comm);
        auto const explanation = colligo::explain<double>(comm, collective::all_reduce, n, op);
        if (comm.rank() == 0) text = explanation;
      });
    };
    try {
      run();
    } catch (argument_error const& e) {
      text = e.what();
    }
    unsetenv("COLLIGO_LEVELS"), unsetenv("COLLIGO_STRICT");
    return text;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(
      said(32, 1, std::plus<>{}, "4x4x2"),
      Contains("direct_by_level over shared memory of threads, chosen by the rules for ranks with a core each, levels "
               "4 x 4 x 2, "
               "as COLLIGO_LEVELS says"));
  CHECK_THAT(said(32, 1000, std::plus<>{}, "4x4x2"), Contains("slices_by_level over shared memory of threads"));
  CHECK_THAT(said(6, 1, std::plus<>{}, "3x2"), Contains("direct_by_level"));
  CHECK_THAT(said(6, 1, std::plus<>{}, "6"), Contains("by the papers' rules"));
  CHECK_THAT(said(30, 1, std::plus<>{}, "4x4x2"), Contains("levels 2..4 x 4 x 2"));
  CHECK_THAT(said(32, 1, std::plus<>{}, "4x4"), Contains("by the papers' rules"));
  CHECK_THAT(said(32, 1, std::plus<>{}, "4x4", "1"), Contains("COLLIGO_LEVELS=4x4 is for fewer than the 32 ranks"));
  for (char const* wrong : {"4x", "x4", "0x4", "4x4y", "many", "-1"})
    CHECK_THAT(said(4, 1, std::plus<>{}, wrong, "1"), Contains("as 4x16x2, or off"));
  CHECK_THAT(said(9, 1, std::plus<>{}, "off"), Contains("by the papers' rules"));
}

TEST_CASE("a hierarchy of many ranks, kept in runs: ranks and places, groups, columns") {
  constexpr int p = 5003, hosts = 79;
  for (char const* const placed : {"in order", "dealt out", "in blocks dealt out", "anyhow"}) {
    std::vector<int> host;
    std::mt19937 random(7);
    for (int r = 0; r < p; ++r)
      host.push_back(placed == "in order"sv              ? r / 64
                     : placed == "dealt out"sv           ? r % hosts
                     : placed == "in blocks dealt out"sv ? r / 8 % hosts
                     : r < hosts                         ? r   // numbered in the order of their lowest ranks
                                                         : static_cast<int>(random() % hosts));
    detail::run_list const kept(host);
    hierarchy const groups = hierarchy::of_hosts(host);
    int const level = groups.level_within(distance::network);
    std::vector<int> columns;
    bool right = groups.consecutive() == (placed == "in order"sv) && groups.parts(level, {0, p}) == hosts &&
                 kept.kept().empty() == (placed != "anyhow"sv) && kept.list() == host;
    for (int r = 0; r < p; ++r) {
      int const place = groups.place_of(r);
      auto const group = groups.group_at(level, place);
      int const own_host = host[static_cast<std::size_t>(r)];
      right = right && groups.rank_at(place) == r && kept[static_cast<std::size_t>(r)] == own_host &&
              group.first <= place && place < group.last && groups.part_of(level, {0, p}, place) == own_host &&
              group.size() == std::ranges::count(host, own_host);
      columns.push_back(groups.place_in_columns(r));
    }
    std::ranges::sort(columns);
    for (int r = 0; r < p; ++r) right = right && columns[static_cast<std::size_t>(r)] == r;
    INFO(placed);
    CHECK(right);
  }
}

TEST_CASE("a hierarchy: rounds of 4 to 9, groups that hierarchy, order, places") {
  CHECK(hierarchy_of(128, {4, 16, 2}).text() == "4 x 16 x 2");
  CHECK(hierarchy_of(128, {4, 16, 2}).levels() == 4);   // 16 in two short rounds
  CHECK(hierarchy_of(288, {72, 4}).text() == "8 x 9 x 4");
  CHECK(hierarchy(72).text() == "8 x 9");
  CHECK(hierarchy_of(10, {4, 4}).text() == "2..4 x 3");
  CHECK(hierarchy(4, {{0, 1, 1, 2}, {0, 0, 1, 1}}).text() == "2 x 2");   // the finer one crosses: left out
  CHECK(hierarchy(4, {{0, 1, 2, 3}, {7, 7, 7, 7}}).levels() == 1);
  hierarchy const dealt(6, {{0, 1, 0, 1, 0, 1}});
  CHECK_FALSE(dealt.consecutive());
  CHECK(dealt.rank_at(1) == 2);
  CHECK(dealt.place_of(1) == 3);
  CHECK(dealt.text() == "3 x 2");
  hierarchy const crossed(6, {{0, 1, 1, 0, 2, 2}});
  CHECK(crossed.text() == "2 x 3");
  CHECK_FALSE(crossed.pairs_off());   // 0 with 1, but 3 with 2
  CHECK(dealt.pairs_off());
  for (int const size : {0, -4})
    CHECK_THROWS_WITH(hierarchy_of(8, {2, size}), Catch::Matchers::Contains("a size is " + std::to_string(size)));
  CHECK_THROWS_WITH(hierarchy(8, {{0, 0, 1}}), "colligo: a hierarchy of 8 ranks: level 0 has the groups of 3");
}

TEST_CASE("where groups differ others are joined, some over a level: for whole vectors, for short and long slices") {
  auto const of_sockets = [](int p) {
    std::vector<int> sockets;
    for (int r = 0; r < p; ++r) sockets.push_back(r / 72);
    return hierarchy(p, {sockets}, {distance::cache});
  };
  hierarchy const groups = of_sockets(145);
  CHECK(groups.for_whole().text() == "1..8 x 3..4 x 5");
  CHECK(groups.for_slices(1024).text() == "6..7 x 6 x 4");
  CHECK(groups.for_slices(1 << 20).text() == "12..13 x 6 x 2");
  CHECK(groups.for_slices(1 << 20).busiest_at(2).messages[2] > 0);   // of another socket
  hierarchy const similar = of_sockets(178);   // the same peers, where others would hardly be quicker
  CHECK(similar.for_slices(1024).text() == similar.for_whole().text());
  CHECK(similar.for_slices(1 << 20).text() == "11..12 x 3 x 5");
  CHECK(hierarchy_of(13, {4}).for_slices().text() == "13");
  for (hierarchy const& even : {hierarchy_of(128, {4, 16, 2}), hierarchy_of(288, {72, 4})})
    CHECK((&even.for_slices() == &even && &even.for_whole() == &even));
}

TEST_CASE("short vectors on many cores: a line's way, lines read and written") {
  struct target {
    int p;
    ints cores, sizes, hops, read;
    int groups, pairs;
  };
  for (auto const& [p, cores, sizes, hops, read, groups, pairs] :
       {target{128, {4, 64, 128}, {4, 16, 2}, {1, 2, 1}, {3, 6, 1}, 4, 10},
        target{16, {4, 64}, {4}, {1, 1}, {3, 3}, 2, 6}, target{32, {4, 64}, {4}, {1, 1}, {3, 7}, 2, 10},
        target{64, {4, 64}, {4}, {1, 2}, {3, 6}, 3, 9}, target{72, {72}, {}, {2}, {15}, 2, 15},
        target{288, {72, 288}, {72}, {2, 1}, {15, 3}, 3, 18}}) {
    hierarchy const of_sizes = hierarchy_of(p, sizes);
    counts const is(record(direct_by_level{.levels = &of_sizes}, collective::all_reduce, p, 1), cores);
    INFO("p = " << p);
    CHECK(is.hops == hops);
    CHECK(is.read == read);
    CHECK(is.steps == groups);
    CHECK(is.pairs == pairs);
    if (p == 128) CHECK(is.entering.back() == 64);
    if (p == 288) CHECK(is.entering.back() == 216);
  }
}

TEST_CASE("long vectors on many cores: what is read, and what enters a cache and a socket") {
  double const n = 128 * 9 * 4;
  auto const of = [&](int p, ints const& sizes, ints const& cores) {
    hierarchy const groups = hierarchy_of(p, sizes);
    return counts(record(slices_by_level{.levels = &groups}, collective::all_reduce, p, static_cast<std::size_t>(n)),
                  cores);
  };
  auto const rome = of(128, {4, 16, 2}, {4, 64, 128});
  CHECK(rome.most_read[0] + rome.most_read[1] + rome.most_read[2] == Approx(2 * n * 127 / 128));
  CHECK(rome.most_read[1] + rome.most_read[2] <= 2 * n / 4);
  CHECK(rome.entering[0] <= 2 * n);
  CHECK(rome.entering[1] == n);
  auto const grace = of(288, {72, 4}, {72, 288});
  CHECK(grace.most_read[0] + grace.most_read[1] == Approx(2 * n * 287 / 288));
  CHECK(grace.entering[0] == 1.5 * n);
  // Where groups differ most ranks lead a slice nevertheless, and little of what they read enters a cache, a socket; of
  // 65 ranks in eights, where one is alone in its socket, more.
  for (auto const& [p, sizes, cores, most] : {std::tuple{23, ints{4}, ints{4, 64}, 3}, {65, {4, 16, 2}, {4, 128}, 6},
                                              {156, {72, 4}, {72, 288}, 12}}) {
    CHECK(of(p, sizes, {p}).most_read[0] <= 2.5 * n);
    CHECK(of(p, sizes, cores).entering[0] <= most * n);
  }
}

TEST_CASE(
    "levels in all factorings obey the laws: each rank once, in order, the same bits; formulas are the schedules'") {
  int exact = 0;
  for (int p = 1; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += p < 33 ? 1 : 1 + p % 3)
    for (auto const& sizes : factorings(p)) {
      hierarchy const groups = hierarchy_of(p, sizes);
      check_laws(groups, p < 13 ? 3 : 1);
      for (machine const& m : priced::machines)
        for_each_tag(groups, [&]<class Tag>(Tag const& tag) {
          if (p > 32 || !groups.even()) return;
          std::size_t const n = priced::divisible(p);
          auto const [recorded, formula] = priced::both<collective::all_reduce>(tag, m, p, n);
          INFO(Tag::name << ", " << p << " ranks, " << groups.text());
          auto const holds = make_policy<collective::all_reduce, Tag, double, priced::any>(tag).exact_for(m, p, n);
          if (holds != formula::exact) return;
          CHECK(recorded == Approx(formula).epsilon(1e-12));
          ++exact;
        });
      if (p > 32 || !groups.even()) continue;
      scan_by_level const tag{.levels = &groups};
      for (machine const& m : priced::machines) {
        auto const scanned = priced::both<collective::scan>(tag, m, p, 3);
        auto const excluded = priced::both<collective::exclusive_scan>(tag, m, p, 3);
        CHECK(scanned.recorded == Approx(scanned.formula).epsilon(1e-12));
        CHECK(excluded.recorded == Approx(excluded.formula).epsilon(1e-12));
      }
    }
  CHECK(exact > (COLLIGO_TEST_MOST_RECORDED_RANKS > 32 ? 500 : 100));
}

TEST_CASE("prices by level: closed formulas are what schedules cost where ranks are as far apart as a hierarchy says") {
  std::array<machine, distances> costs{machine{64, 2, 1}, {256, 4, 1}, {512, 8, 1}, {4096, 16, 1}};
  for (machine& at : costs) at.f_further = 0.125, at.fetched = true;
  machine own{4096, 16, 1};
  own.levels = costs.data();
  auto const host_of = [](int p, int ranks) {
    ints hosts;
    for (int r = 0; r < p; ++r) hosts.push_back(r / ranks);
    return hosts;
  };
  auto const both = [&]<collective C>(auto const& tag, hierarchy const& groups, std::size_t n) {
    return priced::pair{price(record<double>(tag, C, groups.size(), n), own, sizeof(double), groups),
                        priced::formula_of<C>(tag, own, groups.size(), n)};
  };
  using enum collective;
  for (hierarchy const& groups :
       std::array{hierarchy_of(16, {4}), hierarchy_of(32, {4}), hierarchy_of(64, {4}), hierarchy_of(128, {4, 16, 2}),
                  hierarchy(72, {ints(72, 0)}, {distance::cache}), hierarchy_of(288, {72, 4}),
                  hierarchy::of_hosts(host_of(32, 4)), hierarchy::of_sizes(64, std::array{4, 2, 4}, host_of(64, 8))})
    for (std::size_t const n : {std::size_t{1}, priced::divisible(groups.size())}) {
      INFO(groups.size() << " ranks, " << groups.text() << ", n = " << n);
      direct_by_level const whole{&groups};
      slices_by_level const cut{&groups};
      for (auto const& [recorded, formula] : {both.operator()<all_reduce>(whole, groups, n),
                                              both.operator()<reduce>(leaders_by_level{&groups}, groups, n),
                                              both.operator()<broadcast>(leaders_by_level{&groups}, groups, n),
                                              both.operator()<reduce>(leaders_by_level{&groups, 1}, groups, n),
                                              both.operator()<broadcast>(leaders_by_level{&groups, 1}, groups, n)})
        CHECK(recorded == Approx(formula).epsilon(1e-12));
      CHECK(price(record(leaders_by_level{&groups}, barrier, groups.size(), 0), own, 1, groups) ==
            Approx(priced::formula_of<barrier>(leaders_by_level{&groups}, own, groups.size(), 0)).epsilon(1e-12));
      if (n == 1) continue;
      for (auto const& [recorded, formula] : {both.operator()<gather>(leaders_by_level{&groups}, groups, n),
                                              both.operator()<scatter>(leaders_by_level{&groups}, groups, n),
                                              both.operator()<scan>(scan_by_level{&groups}, groups, n)})
        CHECK(recorded == Approx(formula).epsilon(1e-12));
      auto const [recorded, formula] = both.operator()<all_reduce>(cut, groups, n);
      CHECK(recorded == Approx(formula).epsilon(1e-12));
      // Rounds of recursive doubling, by the distance of 0 and d.
      if (!is_power_of_two(groups.size())) continue;
      double rounds = 0, bytes = static_cast<double>(n * sizeof(double));
      for (int d = 1; d < groups.size(); d *= 2)
        rounds += own.at(groups.how_far(0, d)).exchange(bytes) + own.combine(bytes);
      CHECK(price(record<double>(recursive_doubling{}, all_reduce, groups.size(), n), own, sizeof(double), groups) ==
            Approx(rounds).epsilon(1e-12));
    }
  // A host's only way to the network: where each of its ranks has a message their bytes add up; start-ups as well, if
  // they do not overlap.
  costs[3].ways = 1, costs[3].fetched = false, costs[3].f_further = 1;
  hierarchy const hosts = hierarchy::of_hosts(host_of(8, 4));
  auto const [recorded, formula] = both.operator()<all_reduce>(direct_by_level{&hosts}, hosts, 64);
  CHECK(recorded == Approx(formula).epsilon(1e-12));
  CHECK(recorded == 512 + 2 * 64 + 3 * 8 * 512. + 3 * 512 + 4 * (4096 + 16 * 512) + 512);
  costs[3].ways = 2;
  auto const [two_ways, two_by_formula] = both.operator()<all_reduce>(direct_by_level{&hosts}, hosts, 64);
  CHECK(two_ways == Approx(recorded - 2 * (4096 + 16 * 512)).epsilon(1e-12));
  CHECK(two_ways == Approx(two_by_formula).epsilon(1e-12));
}

TEST_CASE("bytes of a group share its way in, while each core waits for its own lines") {
  machine at{512, 1, 2};
  at.f_further = 0.125, at.ways = 2;
  CHECK(at.shared_by(8).exchange(100, true) == Approx(4 * 64 + 4 * 100));
  at.fetched = true;
  CHECK(at.shared_by(8).exchange(100, true) == 64 + 4 * 100);
  std::array const costs{at, at, at};
  auto const wait = [&](int messages, int sharing, double bytes, double gamma) {
    return detail::wait_for(costs, {{0, messages, 0}, {0, sharing, 0}}, bytes, gamma);
  };
  CHECK(wait(3, 8, 8, 2) == 448 + 3 * (64 + 3 * 8));   // its own lines take longer
  CHECK(wait(3, 8, 100, 0) == 448 + 3 * 4 * 100);      // the way does
  CHECK(wait(3, 2, 100, 0) == 448 + 3 * (64 + 100));
  // 17 ranks by four a cache: of whole vectors of 1 KiB 4 come from afar to each rank, of slices 16 of a line.
  ints fours;
  for (int r = 0; r < 17; ++r) fours.push_back(r / 4);
  hierarchy const groups(17, {fours}, {distance::cache, distance::socket});
  auto const taken = [&](std::size_t n) {
    return name_of(choose(collective::all_reduce, {.vector = blocks{{0, n}, 17}, .element_size = 1, .shared = true,
                                                   .cores = true, .levels = &groups}));
  };
  CHECK(taken(512) == direct_by_level::name);
  CHECK(taken(1024) == slices_by_level::name);
}

TEST_CASE("levels with hosts among them: within a host by its sizes, beyond it racks and sites") {
  ints hosts;
  for (int r = 0; r < 64; ++r) hosts.push_back(r / 8);
  auto const far = [](hierarchy const& groups) {
    std::string said;
    for (int level = 0; level < groups.levels(); ++level) said += "csh-"[static_cast<int>(groups.how_far(level))];
    return said;
  };
  hierarchy const racks = hierarchy::of_sizes(64, std::array{4, 2, 4}, hosts);
  CHECK(racks.text() == "4 x 2 x 4 x 2");
  CHECK(far(racks) == "cs--");
  CHECK(racks.level_within(distance::network) == 1);
  hierarchy const sites = hierarchy::of_sizes(64, std::array{32, 2}, hosts);   // hosts need not be said
  CHECK(sites.text() == "8 x 4 x 2");
  CHECK(far(sites) == "h--");
  CHECK(hierarchy::of_hosts(hosts).text() == "8 x 8");
  CHECK(far(hierarchy_of(128, {4, 16, 2})) == "cssh");
  CHECK(hierarchy::of_hosts(ints{5, 3, 1}).level_within(distance::network) == -1);
  CHECK(hierarchy::of_hosts(ints{5, 5, 5}).level_within(distance::network) == 0);
  // Sizes that do not fit the hosts are left out; the hosts stay.
  for (ints const& at : {ints{0, 0, 0, 1, 1, 1}, ints{0, 1, 2, 0, 1, 2}})
    for (ints const& sizes : {ints{2, 3}, ints{2, 6}, ints{4, 2}, ints{}}) {
      hierarchy const groups = hierarchy::of_sizes(6, sizes, at);
      CHECK(groups.text() == hierarchy::of_hosts(at).text());
      CHECK(groups.level_within(distance::network) == 0);
    }
  CHECK(hierarchy::of_sizes(12, std::array{2, 3, 2}, ints{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}).text() == "2 x 2 x 3");
  CHECK_THROWS_AS(hierarchy::of_sizes(8, std::array{2}, ints{0, 0, 1}), argument_error);
  // Each block crosses from site to site once.
  auto const into_site = [&](auto const& tag, collective what) {
    std::size_t sum = 0;
    for (message const& m : record(tag, what, 64, 64).messages_in_order())
      if (m.from / 32 == 0 && m.to / 32 == 1) sum += m.sent.elements.size();
    return sum;
  };
  CHECK(into_site(leaders_by_level{&sites}, collective::all_gather) == 32);
  CHECK(into_site(slices_by_level{&sites}, collective::all_gather) == 32);
  CHECK(into_site(leaders_by_level{&sites}, collective::broadcast) == 64);
  CHECK(into_site(slices_by_level{&sites}, collective::all_reduce) == 64);
}

TEST_CASE("blocks cross each host's link once, whichever ranks are on it; formulas are the schedules'") {
  std::mt19937 random(7);
  int exact = 0;   // of all_to_all
  for (auto const& [p, sizes] : {std::pair{32, ints{4}}, {24, {2, 3}}, {21, {4}}, {9, {2, 2}}, {16, {2}}, {64, {8}}})
    for (bool const shuffled : {false, true}) {
      if (p > COLLIGO_TEST_MOST_RECORDED_RANKS) continue;
      int const on_host = sizes.back() * (sizes.size() > 1 ? sizes[0] : 1);
      std::vector<int> at(static_cast<std::size_t>(p));   // of each rank, where it is
      std::iota(at.begin(), at.end(), 0);
      if (shuffled) std::ranges::shuffle(at, random);
      std::vector<std::vector<int>> levels;
      for (int together = 1; int const n : sizes) {
        together *= n;
        auto& level = levels.emplace_back();
        for (int const i : at) level.push_back(i / together);
      }
      std::vector<distance> far(sizes.size(), distance::host);
      far.front() = sizes.size() > 1 ? distance::cache : distance::host, far.push_back(distance::network);
      hierarchy const groups(p, levels, far);
      std::vector<int> const& hosts = levels.back();
      auto const ranks_of = [&](int host) { return static_cast<std::size_t>(std::ranges::count(hosts, host)); };
      INFO(p << " ranks, " << groups.text() << (shuffled ? ", shuffled" : ""));
      // Elements of blocks of `length` into and out of each host, and messages between hosts.
      auto const crossing = [&, p = p](schedule const& s) {
        std::map<int, std::size_t> into, out;
        std::size_t messages = 0;
        for (int r = 0; r < p; ++r)
          for (auto const& step : s.steps_of(r))
            for (operand const& o : step) {
              int const mine = hosts[static_cast<std::size_t>(r)], theirs = hosts[static_cast<std::size_t>(o.peer)];
              if (mine == theirs) continue;
              (o.sends() ? out : into)[mine] += o.elements.size();
              messages += o.sends();
            }
        return std::tuple(into, out, messages);
      };
      std::size_t const ranks = static_cast<std::size_t>(p), length = 3, n = ranks * length;
      auto const host_count = (p + on_host - 1) / on_host;
      std::size_t fewest = ranks;
      for (int h = 0; h < host_count; ++h) fewest = std::min(fewest, ranks_of(h));
      slices_by_level const slices{.levels = &groups};
      for (collective const c : {collective::all_gather, collective::reduce_scatter}) {
        auto const [into, out, messages] = crossing(record(slices, c, p, n));
        if (host_count <= 9 && sizes.size() == 1)
          CHECK(messages == fewest * static_cast<std::size_t>(host_count * (host_count - 1)));
        for (int h = 0; h < host_count; ++h)
          CHECK((c == collective::all_gather ? into : out).at(h) == (ranks - ranks_of(h)) * length);
      }
      {
        auto const [into, out, messages] =
            crossing(record(leaders_by_level{.levels = &groups}, collective::all_gather, p, n));
        CHECK(messages == static_cast<std::size_t>(host_count * (host_count - 1)));
        for (int h = 0; h < host_count; ++h) CHECK(into.at(h) == (ranks - ranks_of(h)) * length);
      }
      {
        bundles_by_level const bundles{.levels = &groups};
        auto const [into, out, messages] = crossing(record(bundles, collective::all_to_all, p, n));
        if (sizes.size() == 1) CHECK(messages == static_cast<std::size_t>(host_count * (host_count - 1)));
        for (int h = 0; h < host_count; ++h) {
          CHECK(into.at(h) == ranks_of(h) * (ranks - ranks_of(h)) * length);
          CHECK(out.at(h) == into.at(h));
        }
        auto const priced_policy = make_policy<collective::all_to_all, bundles_by_level, double, priced::any>(bundles);
        auto const said = record(bundles, collective::all_to_all, p, n);
        own_work const work = priced_policy.work(blocks{{0, n}, p}, 8);
        for (int r = 0; r < p; ++r) {
          auto const moves = said.moves_of(r);
          double copied = 0;
          for (auto const& move : moves) copied += static_cast<double>(move.what.elements.tail.size());
          CHECK((static_cast<double>(moves.size()) <= work.moves && copied <= work.copied));
        }
        for (machine const& m : priced::machines) {
          if (priced_policy.exact_for(m, p, n) != formula::exact) continue;
          auto const [recorded, formula] = priced::both<collective::all_to_all>(bundles, m, p, n);
          CHECK(recorded == Approx(formula).epsilon(1e-12));
          ++exact;
        }
      }
      if (!shuffled && host_count <= 9 && sizes.size() == 1) {   // the last rank of each host tells all higher ones
        auto const [into, out, messages] =
            crossing(record(scan_by_level{.levels = &groups}, collective::scan, p, length));
        CHECK(messages == static_cast<std::size_t>(host_count * (host_count - 1) / 2));
        CHECK(into.at(host_count - 1) == static_cast<std::size_t>(host_count - 1) * length);
      }
      for (int const root : {0, p / 2}) {
        int const own_host = hosts[static_cast<std::size_t>(root)];
        leaders_by_level const tag{.levels = &groups};
        auto const [into, out, messages] = crossing(record(tag, collective::gather, p, n, root));
        auto const [into_others, from_root, scattered] = crossing(record(tag, collective::scatter, p, n, root));
        CHECK(messages == static_cast<std::size_t>(host_count - 1));
        CHECK(scattered == messages);
        CHECK(into.at(own_host) == (ranks - ranks_of(own_host)) * length);
        CHECK(from_root.at(own_host) == into.at(own_host));
        for (int h = 0; h < host_count; ++h)
          if (h != own_host) CHECK((out.at(h) == ranks_of(h) * length && into_others.at(h) == out.at(h)));
      }
      if (!groups.even()) continue;
      std::size_t const even = priced::divisible(p);
      for (machine const& m : priced::machines) {
        auto const gathered = priced::both<collective::all_gather>(slices, m, p, even);
        auto const scattered = priced::both<collective::reduce_scatter>(slices, m, p, even);
        if (make_policy<collective::all_gather, slices_by_level, double, priced::any>(slices).exact_for(m, p, even) !=
            formula::exact)
          continue;
        CHECK(gathered.recorded == Approx(gathered.formula).epsilon(1e-12));
        CHECK(scattered.recorded == Approx(scattered.formula).epsilon(1e-12));
      }
    }
  CHECK(exact == (COLLIGO_TEST_MOST_RECORDED_RANKS > 31 ? 28 : 0));
}

TEST_CASE("levels in random hierarchies obey the laws") {
  std::mt19937 random(28);
  int others = 0;
  for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 8)
    for (int times = 0; times < 6; ++times) {
      hierarchy const groups = random_hierarchy(p, random, times % 3 == 2);
      check_laws(groups, 7);
      if (&groups.for_slices() == &groups.for_slices(0)) continue;   // others for long vectors
      check_laws(groups.for_slices(), 7);
      ++others;
    }
  for (int p = 1; p <= 140; p += 1 + p / 4) check_laws(hierarchy(p), 1);
  CHECK((others > 0) == (COLLIGO_TEST_MOST_RECORDED_RANKS > 31));
}

TEST_CASE("levels combine each rank's word exactly once over threads") {
  std::mt19937 random(5);
  for (int p = 1; p <= std::min(33, COLLIGO_TEST_MOST_RANKS); p += 1 + p / 4)
    for (bool const shuffled : {false, true}) {
      hierarchy const groups = random_hierarchy(p, random, shuffled);
      REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
        for (std::size_t const n : {0u, 1u, 64u})
          for_each_tag(groups, [&]<class Tag>(Tag const& tag) {
            std::vector<std::string> out(n);
            colligo::all_reduce(comm, laws::words_of(comm.rank(), n), out, as_commutative(laws::concatenation{}), tag);
            laws::expect_words(out, p, groups.consecutive(), std::string(Tag::name));
          });
        colligo::barrier(comm, direct_by_level{.levels = &groups});
        colligo::barrier(comm, leaders_by_level{.levels = &groups});
        leaders_by_level const tag{.levels = &groups};
        for (int root = 0; root < p; ++root) {
          auto const mine = laws::words_of(comm.rank(), 3);
          std::vector<std::string> out(comm.rank() == root ? 3 : 0), sent(3);
          if (comm.rank() == root) sent = mine;
          colligo::reduce(comm, mine, out, as_commutative(laws::concatenation{}), root, tag);
          if (comm.rank() == root) laws::expect_words(out, p, groups.consecutive(), "reduce by levels");
          colligo::broadcast(comm, sent, root, tag);
          laws::expect(sent == laws::words_of(root, 3), "broadcast by levels", p, 3);
          pipelines_by_level const pipes{.levels = &groups, .block = 1};
          std::vector<std::string> piped(comm.rank() == root ? 3 : 0), heard(comm.rank() == root ? mine : out);
          heard.resize(3);
          colligo::reduce(comm, mine, piped, as_commutative(laws::concatenation{}), root, pipes);
          if (comm.rank() == root) laws::expect_words(piped, p, false, "reduce in pipelines");
          colligo::broadcast(comm, heard, root, pipes);
          laws::expect(heard == laws::words_of(root, 3), "broadcast in pipelines", p, 3);
        }
        auto const before = [&](int ranks) {
          std::string all;
          for (int r = 0; r < ranks; ++r) all += laws::words_of(r, 1)[0];
          return all;
        };
        std::string const word = laws::words_of(comm.rank(), 1)[0];
        scan_by_level const scans{.levels = &groups};
        laws::expect(colligo::scan(comm, word, laws::concatenation{}, scans) == before(comm.rank() + 1),
                     "scan by levels", p, 1);
        laws::expect(colligo::exclusive_scan(comm, word, std::string{}, laws::concatenation{}, scans) ==
                         before(comm.rank()), "exclusive_scan by levels", p, 1);
        std::vector<std::string> for_each, from_each(static_cast<std::size_t>(2 * p));
        for (int r = 0; r < 2 * p; ++r) for_each.push_back(std::to_string(comm.rank()) + " to " + std::to_string(r));
        colligo::all_to_all(comm, for_each, from_each, bundles_by_level{.levels = &groups});
        for (int r = 0; r < 2 * p; ++r)
          laws::expect(from_each[static_cast<std::size_t>(r)] ==
                           std::to_string(r / 2) + " to " + std::to_string(2 * comm.rank() + r % 2),
                       "all_to_all by levels", p, 2);
        auto const here = static_cast<std::size_t>(comm.rank());
        for (auto const& counts : laws::distributions(p, 5)) {
          auto const all = laws::words_of_all(counts);
          auto const mine = laws::words_of(comm.rank(), counts[here]);
          auto const by = [&](auto const& used) {
            std::vector<std::string> gathered(all.size()), combined(counts[here]);
            colligo::all_gatherv(comm, mine, gathered, counts, used);
            laws::expect(gathered == all, "all_gatherv by levels", p, 5);
            colligo::reduce_scatter(comm, laws::words_of(comm.rank(), all.size()), combined, counts,
                                    as_commutative(laws::concatenation{}), used);
            laws::expect_words(combined, p, groups.consecutive(), "reduce_scatter by levels",
                               std::reduce(counts.begin(), counts.begin() + comm.rank()));
          };
          by(slices_by_level{.levels = &groups});
          by(tag);
          int const root = static_cast<int>(all.size()) % p;
          std::vector<std::string> to_root(comm.rank() == root ? all.size() : 0), from_root(counts[here]);
          colligo::gatherv(comm, mine, to_root, counts, root, tag);
          laws::expect(comm.rank() != root || to_root == all, "gatherv by levels", p, 5);
          colligo::scatterv(comm, comm.rank() == root ? all : std::vector<std::string>{}, counts, from_root, root, tag);
          laws::expect(from_root == mine, "scatterv by levels", p, 5);
        }
      }));
    }
}

TEST_CASE("64 and 128 ranks that share memory, by levels of several shapes: in order, early and late") {
  struct affine { std::uint64_t by, plus; bool operator==(affine const&) const = default; };
  auto const compose = [](affine const& f, affine const& g) { return affine{f.by * g.by, f.by * g.plus + f.plus}; };
  auto const of = [](int rank, std::size_t i) { return affine{2 * static_cast<std::uint64_t>(rank) + 3, i + 1}; };
  for (auto const& [ranks, sizes] :
       {std::pair{64, ints{4, 16}}, {64, {2, 4, 8}}, {128, {4, 16, 2}}, {128, {5, 3, 9}}}) {
    int const p = COLLIGO_TEST_MOST_RANKS < 33 ? COLLIGO_TEST_MOST_RANKS : ranks;   // the sanitizers' builds say less
    hierarchy const groups = hierarchy_of(p, sizes);
    REQUIRE_NOTHROW(run_threads(p, [&, p = p](thread_communicator& comm) {
      for (std::size_t const n : {1u, 28u, 300u, 3000u})   // of 16 bytes
        for_each_tag(groups, [&]<class Tag>(Tag const& tag) {
          if (comm.rank() % 7 == static_cast<int>(n) % 7) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          std::vector<affine> in(n), out(n);
          for (std::size_t i = 0; i < n; ++i) in[i] = of(comm.rank(), i);
          colligo::all_reduce(comm, in, out, compose, over_shared_memory{tag});
          for (std::size_t i = 0; i < n; i += 97) {
            affine expected = of(0, i);
            for (int r = 1; r < p; ++r) expected = compose(expected, of(r, i));
            laws::expect(out[i] == expected, std::string(Tag::name), p, n);
          }
          colligo::barrier(comm, over_shared_memory{direct_by_level{.levels = &groups}});
        });
    }));
  }
}
