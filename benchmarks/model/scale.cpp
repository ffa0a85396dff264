// SPDX-License-Identifier: BSL-1.0
// A million ranks on paper: what one rank does for itself in a call, for each collective and what `automatic` takes
// over messages, the worst of 8 ranks. Starts no MPI: the text runs on a step that counts and sends nothing.
//
//   scale [--ranks MOST] [--check]
//   scale --communicator [--ranks MOST]
//   scale --memory
//   scale --table
//
// CSV: times in microseconds, minima of a few runs; the price is the card's formula for even blocks, own work included.
// 8 bytes a rank for what has blocks, else in all. `steps`: what the card says, and 20 for each operand: a nanosecond
// each in prices. sparse_all_to_all: 16 messages of 64 bytes; `deciding` is the first time that ranks send so many, the
// text is what a rank does beside letters and calls. --check prints nothing of times and fails where a rank has more
// than 4 lg p messages, or says more than 16 lg p operands, in a regular collective but all_to_all, which moves p
// blocks; or where what a communicator knows of its ranks takes 1 MiB, or the first use of 100000 ranks has a message
// of 64 KiB, or that of 100 to 10^6 has 4 lg p messages of a rank.
// --communicator: what a rank keeps of all ranks (their hosts, what their cores share, hierarchies of both, places on
// its host), on hosts of 64 with 8 to a cache, in order or dealt out; how long it takes to make, and what the first use
// sends: most messages of a rank, both ways, counted in binomial trees, and bytes of the longest.
// --memory: MiB of a communicator on one host, of all ranks together: shared, and their own with scratch; unused, after
// all collectives of 8 B to 1 MiB by what `automatic` takes but all_to_all, and after all_to_all too.
// --table: the rows of a million ranks in model/README.md.
#include <malloc.h>

#include <colligo/bootstrap/mpi_shared.hpp>
#include <colligo/exchange/received.hpp>
#include <colligo/exchange/sparse_prices.hpp>
#include <colligo/record.hpp>
#include <colligo/rules/choose.hpp>
#include <colligo/rules/kept_choices.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "../../test/distributions.hpp"
#include "../../test/first_use.hpp"
#include "../../test/memory/counted_host.hpp"
#include "counting_step.hpp"

namespace {

using namespace colligo;

template <class F>
double least_us(F f) {
  double least = 1e30;
  for (int i = 0; i < 3; ++i) {
    auto const began = std::chrono::steady_clock::now();
    f();
    std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - began;
    least = std::min(least, took.count());
  }
  return least;
}

template <collective C>
double price_of(chosen_algorithm const& algorithm, blocks const& vector, std::size_t bytes) {
  return detail::with_tag(algorithm, [&]<class Tag>(Tag const& tag) {
    if constexpr (offers<Tag, C, std::byte, detail::any_functor>) {
      auto const policy = make_policy<C, Tag, std::byte, detail::any_functor>(tag);
      machine const& m = typical;
      double const own = m.alone(work_of(policy, vector, 8), 8);
      if constexpr (requires { policy.cost(m, 1, bytes); }) return 1e6 * (policy.cost(m, vector.parts, bytes) + own);
    }
    return std::nan("");
  });
}

struct row_of_table {
  enum class kind { regular, exchange, irregular, sparse } of;
  double deciding_us, text_us;
};

struct question {
  bool check = false, table = false, holds = true;
  std::vector<row_of_table> rows{};

  template <collective C>
  void ask(int p, char const* distribution, std::vector<std::size_t> const& counts) {
    auto const ranks = static_cast<std::size_t>(p);
    std::vector<std::size_t> offsets(1);
    for (std::size_t const count : counts) offsets.push_back(offsets.back() + count);
    std::size_t const n = !counts.empty() ? offsets.back() : has_blocks(C) ? ranks : C == collective::barrier ? 2 : 1;
    blocks vector{{0, n}, p, counts.empty() ? nullptr : offsets.data()};
    block_lengths const lengths{vector.longest(), vector.shortest()};   // known from when offsets are summed up
    if (vector.offsets) vector.lengths = &lengths;
    situation const s{.vector = vector, .element_size = 8};
    chosen_algorithm by;
    double const deciding = least_us([&] { by = choose(C, s); });
    detail::erased_policy const& policy = *detail::policies_of<>(C)()[by.index()];
    detail::small_vector<operand> memory;
    memory.reserve(64);
    std::size_t operands = 0, messages = 0;
    double text = 0;
    for (int k = 0; k < std::min(8, p); ++k) {
      int const rank = k < 4 ? k : p - 1 - (k - 4) * (p / 4);   // at the root, and spread
      if (rank < 0) continue;
      text = std::max(text, least_us([&] {
        bench::counting_step step(rank, p, 8, memory);
        policy.run(by.tag(), {}, step, vector, 0);
        operands = std::max(operands, step.counted.operands);
        messages = std::max(messages, step.counted.messages);
      }));
    }
    double const q = std::max(1, ceil_lg(p));
    bool const bounded = static_cast<double>(messages) <= 4 * q && static_cast<double>(operands) <= 16 * q;
    if (check && counts.empty() && !has_two_vectors(C) && !bounded) {
      holds = false;
      std::cerr << name_of(C) << " on " << p << " ranks by " << policy.name << ": " << messages << " messages, "
                << operands << " operands\n";
    }
    own_work const work = policy.work ? policy.work(by.tag(), vector, 8) : own_work{};
    using enum row_of_table::kind;
    if (table) rows.push_back({has_two_vectors(C) ? exchange : counts.empty() ? regular : irregular, deciding, text});
    else if (!check)
      std::cout << p << ',' << name_of(C) << ',' << distribution << ',' << policy.name << ',' << deciding << ',' << text
                << ',' << operands << ',' << messages << ',' << work.steps + 20 * static_cast<double>(operands) << ','
                << price_of<C>(by, vector, n * 8) << '\n' << std::flush;
  }

  // 16 messages of 64 bytes, from 16 ranks as many.
  void ask_sparse(int p) {
    struct alone : detail::endpoint {
      explicit alone(int p) { size_ = p; }
    } at(p);
    situation const s{.vector = {{0, static_cast<std::size_t>(p)}, p}, .element_size = 8};
    int const messages = std::min(16, p - 1);
    std::array<double, detail::sparse_ways.size()> prices{};
    double const deciding = least_us([&] { prices = detail::prices_of_ways(s, messages, 64, true); });
    auto const way = static_cast<std::size_t>(std::ranges::min_element(prices) - prices.begin());
    std::vector<std::pair<int, std::vector<double>>> out;
    for (int i = 1; i <= messages; ++i) out.emplace_back(i * (p / (messages + 1)), std::vector<double>(8, i));
    double const text = least_us([&] {
      detail::exchange_of<double> own(at);
      own.take(out);
      for (int i = messages; i > 0; --i) own.add(i * 7 % p, 8);
      own.complete();
    });
    if (table) rows.push_back({row_of_table::kind::sparse, deciding, text});
    else if (!check)
      std::cout << p << ",sparse_all_to_all,," << detail::sparse_ways[way] << ',' << deciding << ',' << text << ",,"
                << messages << ",," << 1e6 * prices[way] << '\n' << std::flush;
  }
};

std::size_t heap() {
  auto const info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// What a rank knows of all ranks: as mpi_bootstrap and kept_choices make it.
struct knowledge {
  static constexpr int on_host = 64, in_cache = 8;

  detail::run_list hosts, places;
  std::array<detail::run_list, detail::domain_levels> domains;
  std::optional<hierarchy> by_host, levels;
  std::size_t bytes = 0;
  double made_ms = 0;

  knowledge(int p, bool dealt_out) {
    std::size_t const before = heap();
    made_ms = least_us([&] { make(p, dealt_out); }) / 1000;
    bytes = heap() - before;
  }
  void make(int p, bool dealt_out) {
    int const hosts_in_all = (p + on_host - 1) / on_host;
    auto const list = [p](auto of) {
      std::vector<int> all;
      for (int r = 0; r < p; ++r) all.push_back(of(r));
      return all;
    };
    auto const place = [&](int r) { return dealt_out ? r / hosts_in_all : r % on_host; };
    auto const lowest = [&](int r) { return dealt_out ? r % hosts_in_all : r - r % on_host; };
    hosts = list(lowest);
    places = list([&](int r) { return lowest(r) == 0 ? place(r) : -1; });
    for (detail::run_list& level : domains)
      level = detail::by_lowest(list([&](int r) { return lowest(r) * on_host + place(r) / in_cache; }));
    by_host.emplace(hierarchy::without_columns(hosts.list()));
    levels.emplace(hierarchy::of_domains(p, domains, hosts));
  }
};

// Sent and received by the rank that has most: up and down binomial trees of all ranks, and of those of its host.
int messages_of_first_use(int p, int on_host, bool dealt_out) {
  int const hosts = (p + on_host - 1) / on_host;
  int most = 0;
  for (int r = 0; r < p; ++r) {
    bool const is_few = static_cast<std::size_t>(p) <= detail::mpi_rank_table::most_gathered;
    int const place = dealt_out ? r / hosts : r % on_host;
    int const ranks = dealt_out ? (p - r % hosts - 1) / hosts + 1 : std::min(on_host, p - (r - place));
    most = std::max(most, is_few ? first_use::messages_of_few(r, p) : first_use::messages(r, p, place, ranks));
  }
  return most;
}

// What goes to all ranks.
std::size_t longest_message(int p, bool dealt_out) {
  std::vector<detail::mpi_rank_info> all(static_cast<std::size_t>(p));
  if (all.size() <= detail::mpi_rank_table::most_gathered) return all.size() * sizeof all[0];
  int const hosts = (p + knowledge::on_host - 1) / knowledge::on_host;
  for (int r = 0; r < p; ++r) {
    int const host = dealt_out ? r % hosts : r / knowledge::on_host;
    int const core = dealt_out ? r / hosts : r % knowledge::on_host;
    auto& info = all[static_cast<std::size_t>(r)];
    info.host = static_cast<std::uint64_t>(host);
    info.domains.group = {core, core / knowledge::in_cache * knowledge::in_cache, 0, 0, 0};
  }
  return detail::mpi_rank_table::write(all).size() * sizeof(int);
}

void print_communicators(int most) {
  std::cout << "p,ranks,bytes,made_ms,messages_of_first_use,longest_message\n";
  for (int p = 10; p <= most; p *= 10)
    for (bool const dealt_out : {false, true}) {
      knowledge const known(p, dealt_out);
      std::cout << p << ',' << (dealt_out ? "dealt out" : "in order") << ',' << known.bytes << ',' << known.made_ms
                << ',' << messages_of_first_use(p, knowledge::on_host, dealt_out) << ','
                << longest_message(p, dealt_out) << '\n';
    }
}

void print_memory() {
  struct host_size { int p; std::vector<int> levels; };
  std::cout << "p,levels,used_by,shared_MiB,own_MiB\n";
  for (auto const& [p, sizes] : {host_size{2, {}}, {8, {}}, {16, {4}}, {32, {4}}, {64, {4, 16}}, {128, {4, 16}},
                                 {72, {}}, {281, {72}}, {288, {72}}}) {
    hierarchy const levels = hierarchy::of_sizes(p, sizes);
    std::size_t const before = heap();
    counted::host host(static_cast<std::size_t>(p));
    auto const print = [&, p = p](char const* by) {
      double const mebibyte = 1 << 20, shared = static_cast<double>(host.shared_bytes()) / mebibyte;
      std::cout << p << ',' << levels.text() << ',' << by << ',' << shared << ','
                << static_cast<double>(heap() - before) / mebibyte - shared << '\n';
    };
    print("nobody");
    counted::prepare_all(host, p, levels);
    print("automatic");
    for (std::size_t const block : {1u, 1024u})
      host.prepare(collective::all_to_all, direct{}, {}, block * static_cast<std::size_t>(p));
    print("all_to_all");
  }
}

// Rows for the page: ranges of all collectives of a kind.
void print_table(int p, std::vector<row_of_table> const& rows) {
  auto const print = [&](char const* kind, row_of_table::kind of) {
    double least = 1e30, most = 0, decided = 0;
    for (row_of_table const& r : rows) {
      if (r.of != of) continue;
      least = std::min(least, r.text_us), most = std::max(most, r.text_us);
      decided = std::max(decided, r.deciding_us);
    }
    std::cout << "| " << kind << " | " << decided << " | " << least << " to " << most << " |\n";
  };
  std::cout << "| collectives | deciding, at most | the steps |\n|---|---|---|\n";
  print("regular but all_to_all", row_of_table::kind::regular);
  print("all_to_all", row_of_table::kind::exchange);
  print("irregular, the first time", row_of_table::kind::irregular);
  print("sparse_all_to_all, 16 messages", row_of_table::kind::sparse);
  knowledge const known(p, false);
  std::cout << "\nWhat a rank knows of " << p << " ranks in order on hosts of 64: " << known.bytes << " bytes, made in "
            << known.made_ms << " ms.\n";
}

}  // namespace

int main(int argc, char** argv) {
  question question;
  int most = 1000000;
  bool communicators = false;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--check") question.check = true;
    else if (word == "--table") question.table = true;
    else if (word == "--communicator") communicators = true;
    else if (word == "--memory") return print_memory(), 0;
    else if (word == "--ranks" && i + 1 < argc) most = std::atoi(argv[++i]);
    else return std::cerr << "scale [--ranks MOST] [--check] [--communicator] [--memory] [--table]\n", 2;
  }
  if (communicators) return print_communicators(most), 0;
  if (question.check && knowledge(100000, false).bytes + knowledge(5000, true).bytes >= 1u << 20)
    question.holds = false, std::cerr << "what a communicator knows of its ranks takes 1 MiB\n";
  for (bool const dealt_out : {false, true})
    if (question.check && longest_message(100000, dealt_out) >= 1u << 16)
      question.holds = false, std::cerr << "the first use of 100000 ranks has a message of 64 KiB\n";
  for (int p = 100; question.check && p <= 1000000; p += p / 8)
    for (int const on_host : {1, 7, 48, 64, 1000})
      for (bool const dealt_out : {false, true})
        if (int const messages = messages_of_first_use(p, on_host, dealt_out); messages >= 4 * std::log2(p))
          question.holds = false, std::cerr << "the first use of " << p << " ranks on hosts of " << on_host << " has "
                                            << messages << " messages of a rank\n";
  if (!question.check && !question.table)
    std::cout << "p,collective,counts,algorithm,deciding_us,text_us,operands,messages,steps,price_us\n";
  using enum collective;
  for (int p = question.table ? most : 2; p <= most; p = p == 2 ? 10 : 10 * p) {
    question.ask<all_reduce>(p, "", {});
    question.ask<reduce>(p, "", {});
    question.ask<broadcast>(p, "", {});
    question.ask<all_gather>(p, "", {});
    question.ask<gather>(p, "", {});
    question.ask<scatter>(p, "", {});
    question.ask<reduce_scatter_block>(p, "", {});
    question.ask<scan>(p, "", {});
    question.ask<exclusive_scan>(p, "", {});
    question.ask<all_to_all>(p, "", {});
    question.ask<barrier>(p, "", {});
    question.ask_sparse(p);
    for (auto const& [name, distribution] : distributions::all) {
      question.ask<all_gatherv>(p, name, distribution(p, 8));
      question.ask<reduce_scatter>(p, name, distribution(p, 8));
      question.ask<gatherv>(p, name, distribution(p, 8));
    }
  }
  if (question.table) print_table(most, question.rows);
  return question.holds ? 0 : 1;
}
