// SPDX-License-Identifier: BSL-1.0
// What the blocks of the README and the guide may use without saying so. pages.cmake makes a program of them.
#pragma once

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <boost/mpi.hpp>
#include <colligo/colligo.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
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
  std::vector<int> const counts = up_to(p), ones = std::vector<int>(counts.size(), 1),
                         displs = multiples(2 * p);

  static void something_else() {}

 private:
  std::vector<double> of(int count) const { return std::vector<double>(static_cast<std::size_t>(count), value); }
  std::vector<int> multiples(int of) const {
    std::vector<int> numbers;
    for (int r = 0; r < p; ++r) numbers.push_back(of * r);
    return numbers;
  }
  static std::vector<int> up_to(int last) {
    std::vector<int> numbers(static_cast<std::size_t>(last));
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
  }
};
