// SPDX-License-Identifier: BSL-1.0
// Sums whose order does not matter, other than exact ones: binned_sum, require{any_order}.
#include <catch2/catch.hpp>

#include <colligo/binned_sum.hpp>
#include <colligo/exact_sum.hpp>
#include <colligo/reduce_scatter.hpp>
#include <colligo/require.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "../laws.hpp"
#include "../most_ranks.hpp"
#include "exact_numbers.hpp"

using namespace colligo;
using exact_numbers::source;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN(), huge = std::numeric_limits<double>::max(),
                 least = std::numeric_limits<double>::denorm_min();

template <class T>
bool same_bytes(T const& a, T const& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <int K>
int wrong_bins(source& random) {
  int wrong = 0;
  for (int set = 0; set < 1000; ++set) {
    auto all = exact_numbers::numbers(random, set % exact_numbers::kinds,
                                      set % 20 == 0 ? 64 + random.below(5000) : random.below(60));
    if (set % 11 == 0)
      for (double& x : all) x = std::ldexp(x, -static_cast<int>(random.below(400)));
    using sum = binned_sum<double, K>;
    sum one_by_one;
    for (double const x : all) one_by_one += x;
    std::span const numbers(all);
    std::size_t const cut = random.below(all.size() + 1);
    sum const at_once(all), in_parts = sum(numbers.subspan(cut)) + sum(numbers.first(cut));
    double const exactly = exact_sum<double>(all).value(), got = one_by_one.value();
    double most = 0;
    for (double const x : all) most = std::max(most, std::abs(x));
    std::ranges::reverse(all);
    wrong += !same_bytes(one_by_one, at_once) + !same_bytes(one_by_one, in_parts) + !same_bytes(one_by_one, sum(all));
    double const bound =
        static_cast<double>(all.size()) * std::ldexp(most, -40 * (K - 1)) + std::abs(exactly) * 0x1p-52;
    wrong += std::isfinite(exactly) && !(std::abs(got - exactly) <= bound);
  }
  return wrong;
}

}  // namespace

TEST_CASE("binned sums have the same bytes in any order and grouping, and lose no more than they say") {
  source random(3);
  CHECK(wrong_bins<1>(random) == 0);
  CHECK(wrong_bins<2>(random) == 0);
  CHECK(wrong_bins<3>(random) == 0);
  CHECK(wrong_bins<4>(random) == 0);
  int wrong = 0;
  for (int set = 0; set < 100; ++set) {   // floats; whole numbers in two bins are exact
    std::vector<float> all(random.below(3000));
    for (float& x : all) x = static_cast<float>(random.below(1 << 24)) - 0x1p23f;
    binned_sum<float, 2> const sum(all);
    wrong += !same_bytes(double(sum), double(exact_sum<float>(all))) || sum.value() != exact_sum<float>(all).value();
  }
  CHECK(wrong == 0);
  static_assert(sizeof(binned_sum<double>) == 40 && sizeof(binned_sum<double, 2>) == 32);
  static_assert(exact<std::plus<>, binned_sum<double>> && travels_as_bytes<binned_sum<float>>);
}

TEST_CASE("integers in binned sums: all digits, and the bytes of the same floating point numbers") {
  source random(19);
  int wrong = 0;
  for (int i = 0; i < 10000; ++i) {
    auto const word = static_cast<std::int64_t>(random() >> random.below(64));
    binned_sum<double> sum(word);
    wrong += !same_bytes(double(sum), double(exact_sum<double>(word)));   // in three bins
    sum -= word & ~std::int64_t{2047};
    wrong += double(sum) != static_cast<double>(word & 2047);
    // A double of 57 bits, a little more than half of the bin's unit above an even multiple.
    std::int64_t const number = (std::int64_t{512 + i % 512 * 2} << 46) + (std::int64_t{1} << 45) + 1024;
    wrong += !same_bytes(binned_sum<double, 1>(number), binned_sum<double, 1>(static_cast<double>(number)));
  }
  CHECK(wrong == 0);
  binned_sum<float> s(16777217);
  s += 1;
  CHECK(s.value() == 16777218);
  s += std::numeric_limits<std::uint64_t>::max(), s -= std::numeric_limits<std::int64_t>::min();
  CHECK(s.value() == 0x1.8p64f);
}

TEST_CASE("binned sums of very many and of what is no number") {
  auto const sum = [](std::vector<double> const& all) { return binned_sum<double>(all).value(); };
  CHECK(sum({huge, huge, -huge, -huge, 1}) == 0);   // 1 is far below the third bin
  CHECK(sum({huge, huge}) == infinite);
  CHECK(same_bytes(sum({-0.0}), 0.0));
  CHECK(sum({infinite, 1, -huge}) == infinite);
  CHECK(sum({-infinite, 1}) == -infinite);
  CHECK(std::isnan(sum({-infinite, infinite})));
  CHECK(std::isnan(sum({not_a_number, 1})));
  std::vector<double> many(300, 1.0);
  many[299] = -infinite;
  CHECK(sum(many) == -infinite);
  many[7] = not_a_number;
  CHECK(std::isnan(sum(many)));
  for (double const x : {1.5, -0x1.fffffffffffffp1023, least, -1e-300}) {
    binned_sum<double> doubled(x);
    for (int i = 0; i < 52; ++i) doubled += doubled;   // of 2^52 numbers
    CHECK(doubled.value() == std::ldexp(x, 52));
    exact_sum<double> exactly(x);
    for (int i = 0; i < 52; ++i) exactly += exactly;
    CHECK((doubled + binned_sum<double>(x)).value() == (exactly + exact_sum<double>(x)).value());
  }
  std::ostringstream text;
  text << binned_sum<double>(std::vector{0.1, 0.2}) << ' ' << binned_sum<float>(0.1f);
  CHECK(text.str() == "0.30000000000000004 0.1");
}

TEST_CASE("every algorithm gives binned sums the same bytes, for any number of ranks and cut") {
  source random(5);
  auto const all = exact_numbers::numbers(random, 1, 200);
  binned_sum<double, 2> const expected(all);
  for (int const p : {1, 2, 3, 5, 8, 13, 33}) {
    if (p > COLLIGO_TEST_MOST_RANKS) continue;
    auto const cut = random.below(all.size());
    run_threads(p, [&](thread_communicator& comm) {
      auto const mine = [&](std::size_t i) { return static_cast<int>((i + cut) * 7 % 31) % p == comm.rank(); };
      binned_sum<double, 2> in;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (mine(i)) in += all[i];
      tested::for_each_algorithm([&]<class Tag>(Tag tag) {
        using sum = binned_sum<double, 2>;
        if constexpr (laws::takes_words<Tag> && offers<Tag, collective::all_reduce, sum, std::plus<>>)
          if (!same_bytes(colligo::all_reduce(comm, in, std::plus<>{}, tag), expected))
            throw std::runtime_error("binned: " + std::string(Tag::name));
      });
      if (!same_bytes(colligo::all_reduce(comm, in, std::plus<>{}, require{any_p}), expected))
        throw std::runtime_error("require{any_p}");
    });
  }
}

namespace {

/// Contributions of rank r to element i: of many sizes, and those of one element of few or of many.
template <class T>
T contribution(std::size_t seed, int rank, std::size_t i) {
  source random(seed * 1000003 + static_cast<std::size_t>(rank) * 10007 + i);
  random();
  int const around = static_cast<int>(i * 37 % 2000) - 1010, spread = i % 3 == 0 ? 100 : 5;
  if (i % 97 == 5) return rank == 1 ? T(infinite) : T(1);
  if (i % 97 == 6) return rank == 0 ? T(-infinite) : rank == 2 ? T(not_a_number) : T(1);
  if (i % 97 == 7) return rank == 0 ? T(-0.0) : T(0);
  if (i % 97 == 8) return std::numeric_limits<T>::max();
  int const scale = std::is_same_v<T, float> ? around / 9 : around;
  return static_cast<T>(std::ldexp(static_cast<double>(random()) - 0x1p63,
                                   scale - 63 + static_cast<int>(random.below(static_cast<std::size_t>(spread)))));
}

/// What all ranks' vectors come to, of ranks in this order.
template <class T>
std::vector<T> sums_in_any_order(thread_communicator& comm, std::size_t n, std::size_t seed, std::span<int const> as) {
  auto const me = static_cast<std::size_t>(comm.rank()), p = static_cast<std::size_t>(comm.size());
  std::vector<T> in(n), out(n), prefix(n), before(n), both(n), of_root(comm.rank() == 0 ? n : 0);
  for (std::size_t i = 0; i < n; ++i) in[i] = contribution<T>(seed, as[me], i);
  auto const bits = [](std::vector<T> const& values) { return std::as_bytes(std::span(values)); };
  auto const check = [&](std::vector<T> const& values, std::string_view what) {
    if (!std::ranges::equal(bits(values), bits(out)))
      throw std::runtime_error("not as all_reduce: " + std::string(what));
  };
  require const asked{any_order};
  colligo::all_reduce(comm, in, out, std::plus<>{}, asked);
  both = in;
  colligo::all_reduce(comm, in_place(both), std::plus<T>{}, asked);
  check(both, "in place");
  colligo::reduce(comm, in, of_root, std::plus<>{}, 0, asked);
  if (comm.rank() == 0) check(of_root, "reduce");
  auto const of_first = [&](std::size_t ranks) {   // scans are exact
    std::vector<T> sums(n);
    for (std::size_t i = 0; i < n; ++i) {
      exact_sum<T> sum;
      for (std::size_t r = 0; r < ranks; ++r) sum += contribution<T>(seed, as[r], i);
      sums[i] = sum.value();
    }
    return sums;
  };
  colligo::scan(comm, in, prefix, std::plus<>{}, asked);
  if (!std::ranges::equal(bits(prefix), bits(of_first(me + 1)))) throw std::runtime_error("scan");
  colligo::exclusive_scan(comm, in, before, T(0), std::plus<>{}, asked);
  if (!std::ranges::equal(bits(before), bits(of_first(me)))) throw std::runtime_error("exclusive_scan");
  std::vector<std::size_t> counts(p, n / p);
  counts.back() += n % p;
  std::vector<T> block(counts[me]);
  colligo::reduce_scatter(comm, in, block, counts, std::plus<>{}, asked);
  auto const expected = std::span<T const>(out).subspan(me * (n / p), block.size());
  if (!std::ranges::equal(bits(block), std::as_bytes(expected))) throw std::runtime_error("reduce_scatter");
  return out;
}

template <class T>
void check_any_order(std::size_t n) {
  source random(n);
  for (int const p : {1, 2, 3, 6, 9}) {
    std::vector<T> expected;
    std::vector<int> as(static_cast<std::size_t>(p));
    for (int r = 0; r < p; ++r) as[static_cast<std::size_t>(r)] = r;
    for (char const* const by : {"", "ring", "recursive_doubling", "direct", "circulant"}) {
      ::setenv("COLLIGO_ALL_REDUCE", by, 1);
      std::vector<T> got;
      run_threads(p, [&](thread_communicator& comm) {
        auto mine = sums_in_any_order<T>(comm, n, n, as);
        if (comm.rank() == p - 1) got = std::move(mine);
      });
      if (expected.empty()) expected = got;
      CHECK(std::ranges::equal(std::as_bytes(std::span(got)), std::as_bytes(std::span(expected))));
      for (std::size_t i = as.size(); i > 1; --i) std::swap(as[i - 1], as[random.below(i)]);
    }
    ::unsetenv("COLLIGO_ALL_REDUCE");
    int wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      exact_sum<T> sum;
      double most = 0;
      for (int r = 0; r < p; ++r) {
        T const x = contribution<T>(n, r, i);
        sum += x;
        most = std::max(most, std::abs(static_cast<double>(x)));
      }
      T const exactly = sum.value(), binned = expected[i];
      int const log_p = static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1)));
      double const lost = p * std::ldexp(most, log_p - 62),
                   rounded = std::abs(double(sum)) * std::numeric_limits<T>::epsilon();
      if (std::isnan(exactly)) wrong += !std::isnan(binned);
      else if (std::isinf(exactly) || exactly == 0) wrong += !same_bytes(binned, exactly);
      else wrong += !(std::abs(double(binned) - double(sum)) <= lost + rounded + least);
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("require{any_order}: the same bits whichever rank contributes what, by any algorithm") {
  check_any_order<double>(1000);
  check_any_order<float>(1000);
  check_any_order<double>(3);
  run_threads(2, [](thread_communicator& comm) {
    std::vector<double> const none;
    std::vector<double> in(40000, 0.1 * (comm.rank() + 1)), out(in.size()), nothing;
    for (double& x : std::span(in).subspan(32768)) x *= 0x1p600;   // the second part
    colligo::all_reduce(comm, in, out, std::plus<>{}, require{any_order});
    colligo::all_reduce(comm, none, nothing, std::plus<>{}, require{any_order});
    bool const right = std::ranges::count(out, 0.1 + 0.2) == 32768 &&
                       std::ranges::count(out, 0x1p600 * (0.1 + 0.2)) == std::ssize(out) - 32768 &&
                       colligo::all_reduce(comm, 1, std::plus<>{}, require{any_order}) == 2;
    if (!right) throw std::runtime_error("parts");
  });
}
