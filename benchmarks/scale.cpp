// SPDX-License-Identifier: BSL-1.0
// A million ranks on paper: what one rank does for itself in a call, for each collective and what `automatic` takes
// over messages, the worst of 8 ranks. Starts no MPI: the text runs on a step that counts and sends nothing.
//
//   scale [--ranks MOST] [--check]
//   scale --memory
//
// CSV: times in microseconds, minima of a few runs; the price is the card's formula for even blocks, own work included.
// 8 bytes a rank for what has blocks, else in all. --check prints nothing of times and fails where a rank has more than
// 4 lg p messages, or says more than 16 lg p operands, in a regular collective but all_to_all, which moves p blocks.
// --memory: MiB of a communicator on one host, of all ranks together: shared, and their own with scratch; unused, after
// all collectives of 8 B to 1 MiB by what `automatic` takes but all_to_all, and after all_to_all too.
#include <malloc.h>

#include <colligo/record.hpp>
#include <colligo/select/choose.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "../test/distributions.hpp"
#include "../test/memory/counted_host.hpp"
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
double price_of(chosen_algorithm const& its, blocks const& vector, std::size_t bytes) {
  return detail::with_tag(its, [&]<class Tag>(Tag const& tag) {
    if constexpr (offers<Tag, C, std::byte, detail::any_functor>) {
      auto const policy = make_policy<C, Tag, std::byte, detail::any_functor>(tag);
      machine const& m = typical;
      double const own = m.alone(work_of(policy, vector, 8), 8);
      if constexpr (requires { policy.cost(m, 1, bytes); }) return 1e6 * (policy.cost(m, vector.parts, bytes) + own);
    }
    return std::nan("");
  });
}

struct question {
  bool check = false, holds = true;

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
    chosen_algorithm its;
    double const deciding = least_us([&] { its = choose(C, s); });
    detail::erased_policy const& policy = *detail::policies_of<>(C)()[its.index()];
    detail::row<operand> memory;
    memory.reserve(64);
    std::size_t operands = 0, messages = 0;
    double text = 0;
    for (int k = 0; k < std::min(8, p); ++k) {
      int const rank = k < 4 ? k : p - 1 - (k - 4) * (p / 4);   // at the root, and spread
      if (rank < 0) continue;
      text = std::max(text, least_us([&] {
        bench::counting_step step(rank, p, 8, memory);
        policy.run(its.tag(), {}, step, vector, 0);
        operands = std::max(operands, step.its.operands);
        messages = std::max(messages, step.its.messages);
      }));
    }
    double const q = std::max(1, ceil_lg(p));
    bool const bounded = static_cast<double>(messages) <= 4 * q && static_cast<double>(operands) <= 16 * q;
    if (check && counts.empty() && !has_two_vectors(C) && !bounded) {
      holds = false;
      std::cerr << name_of(C) << " on " << p << " ranks by " << policy.name << ": " << messages << " messages, "
                << operands << " operands\n";
    }
    if (!check)
      std::cout << p << ',' << name_of(C) << ',' << distribution << ',' << policy.name << ',' << deciding << ',' << text
                << ',' << operands << ',' << messages << ',' << price_of<C>(its, vector, n * 8) << '\n' << std::flush;
  }
};

void print_memory() {
  auto const heap = [] {
    auto const its = mallinfo2();
    return its.uordblks + its.hblkhd;
  };
  struct host_size { int p; std::vector<int> levels; };
  std::cout << "p,levels,used_by,shared_MiB,own_MiB\n";
  for (auto const& [p, sizes] : {host_size{2, {}}, {8, {}}, {16, {4}}, {32, {4}}, {64, {4, 16}}, {128, {4, 16}},
                                 {72, {}}, {288, {72}}}) {
    nest const levels = nest::of_sizes(p, sizes);
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

}  // namespace

int main(int argc, char** argv) {
  question its;
  int most = 1000000;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--check") its.check = true;
    else if (word == "--memory") return print_memory(), 0;
    else if (word == "--ranks" && i + 1 < argc) most = std::atoi(argv[++i]);
    else return std::cerr << "scale [--ranks MOST] [--check] [--memory]\n", 2;
  }
  if (!its.check) std::cout << "p,collective,counts,algorithm,deciding_us,text_us,operands,messages,price_us\n";
  using enum collective;
  for (int p = 2; p <= most; p = p == 2 ? 10 : 10 * p) {
    its.ask<all_reduce>(p, "", {});
    its.ask<reduce>(p, "", {});
    its.ask<broadcast>(p, "", {});
    its.ask<all_gather>(p, "", {});
    its.ask<gather>(p, "", {});
    its.ask<scatter>(p, "", {});
    its.ask<reduce_scatter_block>(p, "", {});
    its.ask<scan>(p, "", {});
    its.ask<exclusive_scan>(p, "", {});
    its.ask<all_to_all>(p, "", {});
    its.ask<barrier>(p, "", {});
    for (auto const& [name, distribution] : distributions::all) {
      its.ask<all_gatherv>(p, name, distribution(p, 8));
      its.ask<reduce_scatter>(p, name, distribution(p, 8));
      its.ask<gatherv>(p, name, distribution(p, 8));
    }
  }
  return its.holds ? 0 : 1;
}
