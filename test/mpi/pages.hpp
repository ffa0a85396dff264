// SPDX-License-Identifier: BSL-1.0
// What the blocks of the README and the guide may use without saying so. pages.cmake makes a program of them.
#pragma once

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <boost/mpi.hpp>
#include <colligo/bytes.hpp>
#include <colligo/colligo.hpp>
#include <colligo/tools/draw.hpp>
#include <colligo/progress.hpp>
#include <colligo/table.hpp>
#include <colligo/trace.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#undef NDEBUG
#include <cassert>

struct names {
  boost::mpi::communicator const world{};
  int const p = world.size(), rank = world.rank(), root = 0, n = 2, mine = rank + 1;
  std::plus<> const op{};
  double const value = rank + 1;
  double result = 0;
  std::string text = "rank " + std::to_string(rank);
  std::vector<double> const in{value, value};
  std::vector<double> out = in, all = of(2 * p), each = of(p), list = of(mine), joined = of(p * (p + 1) / 2);
  std::vector<double> values = of(100), sums = values, out_all = all, out_each = each;
  std::vector<double> spaced = of(2 * p * p);   // each block with a gap behind it
  std::vector<double> zeros = std::vector<double>(in.size());
  std::vector<int> const counts = from(1), ones = std::vector<int>(counts.size(), 1), places = from(0);
  std::vector<int> const displs = multiples(2 * p);
  std::vector<int> const offsets = before(counts), numbers{rank + 1, rank + 2};
  std::vector<int> out_numbers = numbers;
  MPI_Request request = MPI_REQUEST_NULL;

  static void something_else() {}

  auto written() const {
    return std::tie(result, text, out, all, each, list, joined, values, sums, out_all, out_each, spaced, zeros,
                    out_numbers);
  }

  std::vector<int> from(int first) const {   // p of them
    std::vector<int> ranks(static_cast<std::size_t>(p));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
  }

 private:
  std::vector<double> of(int count) const { return std::vector<double>(static_cast<std::size_t>(count), value); }
  std::vector<int> multiples(int of) const {
    std::vector<int> ranks;
    for (int r = 0; r < p; ++r) ranks.push_back(of * r);
    return ranks;
  }
  static std::vector<int> before(std::vector<int> const& lengths) {
    std::vector<int> sums_before(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), sums_before.begin(), 0);
    return sums_before;
  }
};

/// The library's call of a row and MPI's leave the same in memory.
template <class Row>
void compare(char const* call) {
  Row ours, theirs;
  ours.run();
  theirs.run_mpi();
  BOOST_TEST_CONTEXT(call) BOOST_TEST((ours.written() == theirs.written()));
}
