// SPDX-License-Identifier: BSL-1.0
// Exact sums: against an oracle, in any order, by every algorithm, over any number of ranks.
#include <catch2/catch.hpp>

#include <colligo/exact_sum.hpp>
#include <colligo/require.hpp>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <sstream>

#include "../laws.hpp"
#include "../most_ranks.hpp"
#include "../thorough.hpp"
#include "exact_numbers.hpp"

using namespace colligo;
using exact_numbers::source;

namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// J. R. Shewchuk's sum, as Python's math.fsum has it: correctly rounded where nothing overflows.
double fsum(std::vector<double> const& all) {
  std::vector<double> parts;
  for (double x : all) {
    std::size_t kept = 0;
    for (double y : parts) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      double const high = x + y, low = y - (high - x);
      if (low != 0) parts[kept++] = low;
      x = high;
    }
    parts.resize(kept);
    parts.push_back(x);
  }
  if (parts.empty()) return 0;
  double high = parts.back(), low = 0;
  parts.pop_back();
  while (!parts.empty()) {
    double const x = high, y = parts.back();
    parts.pop_back();
    high = x + y;
    low = y - (high - x);
    if (low != 0) break;
  }
  if (low != 0 && !parts.empty() && (low < 0) == (parts.back() < 0)) {   // a tie that is none
    double const twice = 2 * low, x = high + twice;
    if (twice == x - high) high = x;
  }
  return high + 0.0;   // not -0
}

template <class Sum>
bool same_bytes(Sum const& a, Sum const& b) {
  Sum const x = a.canonical(), y = b.canonical();
  return std::memcmp(&x, &y, sizeof x) == 0 && a == b;
}

/// Any numbers, and weights up to the largest.
exact_sum<double> random_state(source& random) {
  exact_sum<double> s;
  for (double const x : exact_numbers::numbers(random, static_cast<int>(random.below(5)), random.below(150))) s += x;
  if (random.below(20) == 0) s += std::numeric_limits<double>::infinity();
  return s;
}

template <class Sum, class X>
concept takes = requires(Sum sum, X x) { sum += x; };

}  // namespace

TEST_CASE("exact sums are those of an oracle, one by one, as a range, in parts and backwards") {
  source random(7);
  int wrong = 0;
  for (int set = 0; set < 10000; ++set) {
    int const kind = set % exact_numbers::kind_of_largest;
    auto all = exact_numbers::numbers(random, kind, set % 100 == 0 ? 64 + random.below(4000) : random.below(40));
    exact_sum<double> one_by_one, in_parts;
    for (double const x : all) one_by_one += x;
    std::size_t const cut = random.below(all.size() + 1);
    in_parts += exact_sum<double>(std::span(all).subspan(cut)) + exact_sum<double>(std::span(all).first(cut));
    wrong += bits(double(one_by_one)) != bits(fsum(all)) || !same_bytes(one_by_one, in_parts);
    std::ranges::reverse(all);
    wrong += !same_bytes(one_by_one, exact_sum<double>(all));
  }
  CHECK(wrong == 0);
}

TEST_CASE("exact sums overflow in the end alone, and say what is no number") {
  double const huge = std::numeric_limits<double>::max(), infinite = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN(), least = std::numeric_limits<double>::denorm_min();
  auto const sum = [](std::vector<double> const& all) { return bits(exact_sum<double>(all).value()); };
  CHECK(sum({huge, huge, -huge, -huge, least}) == bits(least));
  CHECK(sum({huge, huge}) == bits(infinite));
  CHECK(sum({-huge, -0x1p970}) == bits(-infinite));           // a tie, to even
  CHECK(sum({-huge, -0x1p970, least}) == bits(-huge));
  CHECK(sum({huge, 0x1p969}) == bits(huge));
  CHECK(sum({1, 0x1p-53}) == bits(1));
  CHECK(sum({1, 0x1p-53, least}) == bits(1 + 0x1p-52));
  CHECK(sum({0x1p-1022, -least}) == bits(0x1p-1022 - least));
  CHECK(sum({-0.0, -0.0}) == bits(0));
  CHECK(sum({}) == bits(0));
  CHECK(sum({infinite, 1, -huge}) == bits(infinite));
  CHECK(sum({-infinite, 1}) == bits(-infinite));
  CHECK(sum({-infinite, infinite}) == 0x7ff8000000000000u);
  CHECK(sum({-nan, 1}) == 0x7ff8000000000000u);
  std::vector<double> many(300, 1.0);
  many[299] = -infinite;
  CHECK(sum(many) == bits(-infinite));
  many[7] = nan;
  CHECK(sum(many) == 0x7ff8000000000000u);
  exact_sum<double> grown(least);   // of 2^60 times the largest number, by weights that overflow again and again
  for (int i = 0; i < 60; ++i) grown = grown + grown;
  CHECK(grown.value() == std::ldexp(least, 60));
  exact_sum<double> s(huge);
  for (int i = 0; i < 63; ++i) s += s;
  CHECK(s.value() == infinite);
  CHECK((s - s).value() == 0);
  CHECK((-exact_sum<double>(infinite)).value() == -infinite);
  std::ostringstream text;
  text << exact_sum<double>(std::vector{0.1, 0.2}) << ' ' << exact_sum<float>(0.1f);
  CHECK(text.str() == "0.30000000000000004 0.1");
}

TEST_CASE("floats and half types are rounded once, to any type") {
  source random(3);
  int wrong = 0;
  for (int set = 0; set < 2000; ++set) {
    std::vector<float> all;
    __extension__ __int128 sum = 0;
    for (std::size_t n = random.below(200); n > 0; --n) {
      auto const m = static_cast<std::int64_t>(random() >> 40) - (1 << 23);
      int const shift = static_cast<int>(random.below(60));
      sum += static_cast<decltype(sum)>(m) * (std::int64_t{1} << shift);
      all.push_back(std::ldexp(static_cast<float>(m), shift - 40));
    }
    exact_sum<float> const s(all);
    wrong += s.value() != std::ldexp(static_cast<float>(sum), -40);
    wrong += double(s) != std::ldexp(static_cast<double>(sum), -40);
  }
  CHECK(wrong == 0);
  CHECK(exact_sum<float>(std::vector{0x1p127f, 0x1p127f, -0x1p127f, 0x1p-149f}).value() == 0x1p127f);
  CHECK(exact_sum<float>(std::vector{1e-45f, 1e-45f}).value() == 3e-45f);
  static_assert(sizeof(exact_sum<float>) == 56 && sizeof(exact_sum<double>) == 312);
  static_assert(takes<exact_sum<float>, int> && !takes<exact_sum<float>, double>);
#if defined(COLLIGO_HAS_BINARY16) && !defined(__clang__)
  using detail::binary16;
  std::vector<binary16> halves;
  double expected = 0;
  for (int i = 0; i < 3000; ++i) {
    halves.push_back(static_cast<binary16>(static_cast<float>(random.below(2000)) / 64 - 15));
    expected += static_cast<double>(halves.back());
  }
  exact_sum<binary16> const s(halves);
  CHECK(double(s) == expected);
  CHECK(static_cast<double>(s.value()) == static_cast<double>(static_cast<binary16>(expected)));
  static_assert(sizeof s == 24);
  std::ostringstream text;
  auto const half = [](float x) { return static_cast<binary16>(x); };
  text << exact_sum<binary16>(std::vector{half(1.5f), half(0.25f)}) << ' ' << exact_sum<binary16>(half(0.1f));
  CHECK(text.str() == "1.75 0.099975586");   // the half that is nearest to 0.1
#endif
}

TEST_CASE("integers count with all their digits") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most_unsigned = std::numeric_limits<std::uint64_t>::max();
  source random(19);
  int wrong = 0;
  auto const check = [&]<class Sum>(Sum, auto... integers) {
    __extension__ __int128 expected = 0;
    Sum sum;
    auto const add = [&](auto x) {
      for (auto const y : {x, static_cast<decltype(x)>(random() >> random.below(64))}) {
        if (random.below(2) == 0) expected += y, sum += y;
        else expected -= y, sum -= y;
      }
    };
    (add(integers), ...);
    exact_sum<double> of_words;   // three words of the expected value, each a double
    for (int shift = 0; shift < 96; shift += 32)
      of_words += std::ldexp(shift < 64 ? static_cast<double>(static_cast<std::uint32_t>(expected >> shift))
                                        : static_cast<double>(static_cast<std::int64_t>(expected >> shift)), shift);
    wrong += bits(static_cast<double>(sum)) != bits(of_words.value());
  };
  for (int round = 0; round < 200; ++round) {
    auto const check_all = [&](auto sum) {
      check(sum, 16777217, (std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53) - 1, 1);
      check(sum, most, least, std::int8_t{-128}, most);
      check(sum, most_unsigned, most_unsigned, std::numeric_limits<unsigned>::max(), true);
      check(sum, least, least, (std::int64_t{1} << 53), std::uint16_t{65535});
    };
    check_all(exact_sum<float>()), check_all(exact_sum<double>()), check_all(exact_sum<exact_product<float>>());
#if defined(COLLIGO_HAS_BINARY16) && !defined(__clang__)
    check_all(exact_sum<detail::binary16>());
    check_all(exact_sum<exact_product<detail::binary16>>());
#endif
  }
  CHECK(wrong == 0);
  std::vector<std::int64_t> const all{(std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53)};
  CHECK(exact_sum<double>(all).value() == 1);
  exact_sum<float> s;
  s += 16777217, s += 1;
  CHECK(s.value() == 16777218);
}

TEST_CASE("products are exact") {
  source random(5);
  int wrong = 0;
  for (int set = 0; set < 300; ++set) {
    int const kind = set % exact_numbers::kinds;
    std::size_t const n = set % 10 == 0 ? 3000 : random.below(60);
    auto a = exact_numbers::numbers(random, kind, n), b = exact_numbers::numbers(random, (kind + set / 7) % 7, n);
    a.resize(n), b.resize(n);
    exact_sum<exact_product<double>> at_once, one_by_one, squares;
    at_once.add_products(a, b);
    for (std::size_t i = 0; i < n; ++i) one_by_one += exact_product{b[i], a[i]};
    wrong += !same_bytes(at_once, one_by_one);
    // (a + b)^2 - (a - b)^2 = 4 a b, where those are exact.
    if (kind == 4) continue;
    exact_sum<exact_product<double>> other;
    for (std::size_t i = 0; i < n; ++i) {
      auto const small = [&](int shift) {
        return std::ldexp(static_cast<double>(random() >> 40), -shift - static_cast<int>(i % 900));
      };
      double const x = small(20), y = small(30);
      other += exact_product{x + y, x + y}, other -= exact_sum<exact_product<double>>(exact_product{x - y, x - y});
      for (int four = 0; four < 4; ++four) squares += exact_product{x, y};
    }
    wrong += !same_bytes(other, squares);
  }
  CHECK(wrong == 0);
  double const least = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max(),
               infinite = std::numeric_limits<double>::infinity();
  exact_sum<exact_product<double>> wide;
  wide += exact_product{least, least}, wide += exact_product{huge, huge}, wide += exact_product{-huge, huge};
  CHECK(wide == exact_sum<exact_product<double>>(exact_product{least, least}));
  CHECK(wide.value() == 0);
  auto const narrow = [](double x, double y) {
    exact_sum<double> s;
    s += exact_product{x, y};
    return s.value();
  };
  CHECK(narrow(0x1p-600, 0x1p-474) == least);
  CHECK(narrow(0x1p-600, -0x1.8p-475) == -least);
  CHECK(narrow(0x1p-600, 0x1p-475) == 0);              // a tie, to even
  CHECK(narrow(3 * 0x1p-600, 0x1p-475) == 2 * least);
  CHECK(narrow(least, least) == 0);
  CHECK(narrow(huge, -2) == -infinite);
  CHECK(narrow(-infinite, -1) == infinite);
  CHECK(std::isnan(narrow(infinite, 0)));
  exact_sum<double> error(exact_product(0.1, 0.1));
  CHECK((error - exact_sum<double>(0.1 * 0.1)).value() == std::fma(0.1, 0.1, -(0.1 * 0.1)));
}

TEST_CASE("what is rare in a block of numbers is found") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity(),
                   least = std::numeric_limits<double>::denorm_min();
  // Factors whose product underflows, or leaves an error that does; no numbers; what no constant reaches.
  constexpr std::pair<double, double> rare[]{
      {1, 1}, {0x1p-600, 0x1p-600}, {0x1.8p-520, 0x1.4p-520}, {least, 1}, {least, 0}, {nan, 0}, {0, -nan},
      {infinite, 0}, {-infinite, 2}, {0x1p-300, 1}, {0x1p1000, 0x1p1000}, {0x1p-60, 0x1p-60}, {0x1p-90, 0x1p-70}};
  source random(13);
  int wrong = 0;
  for (double const scale : {0.0, 0x1p-1074, 1.0, 0x1p450})
    for (std::size_t const n : {64u, 2047u, 5000u})
      for (auto const& [x, y] : rare) {
        std::vector<double> a(n), b(n);
        for (double& each : a) each = scale * (1 + static_cast<double>(random() >> 12) * 0x1p-52);
        for (double& each : b) each = scale * (1 - static_cast<double>(random() >> 12) * 0x1p-52);
        std::size_t const at = random.below(n);
        a[at] = x, b[at] = y;
        std::vector<float> const c(a.begin(), a.end()), d(b.begin(), b.end());
        exact_sum<double> sum;
        exact_sum<exact_product<double>> products, products_at_once;
        exact_sum<exact_product<float>> of_floats, of_floats_at_once;
        exact_sum<float> float_sum;
        for (std::size_t i = 0; i < n; ++i) {
          sum += a[i], float_sum += c[i];
          products += exact_product{a[i], b[i]}, of_floats += exact_product{c[i], d[i]};
        }
        products_at_once.add_products(a, b), of_floats_at_once.add_products(c, d);
        wrong += !same_bytes(sum, exact_sum<double>(a)) + !same_bytes(float_sum, exact_sum<float>(c)) +
                 !same_bytes(products, products_at_once) + !same_bytes(of_floats, of_floats_at_once);
      }
  // More numbers of one exponent than a place of the table takes at a time, far from each other.
  std::vector<double> far(20000);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = (i % 3 == 0 ? -1.75 : 1.25) * (i % 2 == 0 ? 0x1p-500 : 0x1p500);
  far[7] = infinite;
  exact_sum<double> sum;
  for (double const x : far) sum += x;
  wrong += !same_bytes(sum, exact_sum<double>(far));
  CHECK(wrong == 0);
}

TEST_CASE("the sum of states is associative and commutes, byte by byte") {
  source random(11);
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    auto const a = random_state(random), b = random_state(random), c = random_state(random);
    wrong += !same_bytes((a + b) + c, a + (b + c)) + !same_bytes(a + b, b + a) + !same_bytes(a, -(-a));
    auto sum = a;
    wrong += !same_bytes(sum += b, a + b);
  }
  CHECK(wrong == 0);
  static_assert(commutative<std::plus<>, exact_sum<float>> && exact<std::plus<exact_sum<float>>, exact_sum<float>>);
  static_assert(!commutative<std::minus<>, exact_sum<float>> && travels_as_bytes<exact_sum<double>>);
}

TEST_CASE("sums do not depend on the mode of the processor, nor does what rounds them") {
  source random(13);
  for (int kind = 0; kind < exact_numbers::kinds; ++kind) {
    auto const all = exact_numbers::numbers(random, kind, 3000);
    exact_sum<double> const expected(all);
    double const value = expected.value();
    for (int const mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      exact_sum<double> const sum(all);
      double const got = sum.value();
      std::fesetround(FE_TONEAREST);
      CHECK(same_bytes(sum, expected));
      CHECK(bits(got) == bits(value));
    }
#if defined(__SSE2__)
    unsigned const before = __builtin_ia32_stmxcsr();
    for (unsigned const mode : {0x8000u, 0x40u}) {   // flush to zero; denormals are zeros
      __builtin_ia32_ldmxcsr(before | mode);
      exact_sum<double> const sum(all);
      double const got = sum.value();
      __builtin_ia32_ldmxcsr(before);
      CHECK(same_bytes(sum, expected));
      CHECK(bits(got) == bits(value));
    }
#endif
  }
#if defined(__SSE2__)
  unsigned const before = __builtin_ia32_stmxcsr();
  for (double const x : {3 * std::numeric_limits<double>::denorm_min(), -3 * std::numeric_limits<double>::denorm_min(),
                         -1e-310, -1.5})
    for (unsigned const mode : {0u, 0x8000u, 0x40u}) {
      double mean = 0;
      run_threads(1, [&](thread_communicator& comm) {
        __builtin_ia32_ldmxcsr(before | mode);
        mean = mean_and_variance(comm, std::vector<double>(3, x)).mean;
        __builtin_ia32_ldmxcsr(before);
      });
      CHECK(bits(mean) == bits(x));
    }
#endif
}

TEST_CASE("every algorithm of every collective sums exactly: any number of ranks, order and partition") {
  source random(17);
  auto const all = exact_numbers::numbers(random, 0, 300);
  std::array const expected{exact_sum<double>(all), exact_sum<double>(std::span(all).first(100))};
  for (int p = 1; p <= COLLIGO_TEST_MOST_RANKS; p += p < 9 ? 1 : tested::at_most(8, 1)) {
    auto shuffled = all;
    for (std::size_t i = 100; i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.below(i)]);
    std::vector<std::size_t> cuts(static_cast<std::size_t>(p) + 1);   // some ranks have nothing
    for (std::size_t& cut : cuts) cut = random.below(all.size() + 1);
    cuts.front() = 0, cuts.back() = all.size();
    std::ranges::sort(cuts);
    REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
      using sum = exact_sum<double>;
      auto const me = static_cast<std::size_t>(comm.rank());
      auto const mine = std::span(shuffled).subspan(cuts[me], cuts[me + 1] - cuts[me]);
      auto const of_first = mine.first(std::min(mine.size(), 100 - std::min<std::size_t>(100, cuts[me])));
      std::array const in{sum(mine), sum(of_first)};
      auto const check = [&](std::span<sum const> got, std::string_view what) {
        if (!std::ranges::equal(got, expected) || !same_bytes(got[0], expected[0]))
          throw std::runtime_error("wrong: " + std::string(what));
      };
      tested::for_each_algorithm([&]<class Tag>(Tag tag) {
        std::array<sum, 2> out;
        if constexpr (laws::takes_words<Tag> && offers<Tag, collective::all_reduce, sum, std::plus<>>) {
          ++tested::count;
          colligo::all_reduce(comm, in, out, std::plus<>{}, tag);
          check(out, Tag::name);
          colligo::iall_reduce(comm, in, out, std::plus<>{}, tag).wait();
          check(out, "request");
        }
        if constexpr (laws::takes_words<Tag> && offers<Tag, collective::reduce, sum, std::plus<>>) {
          colligo::reduce(comm, in, out, std::plus<>{}, p - 1, tag);
          if (comm.rank() == p - 1) check(out, "reduce");
        }
        if constexpr (laws::takes_words<Tag> && offers<Tag, collective::scan, sum, std::plus<>>) {
          colligo::scan(comm, in, out, std::plus<>{}, tag);
          if (comm.rank() == p - 1) check(out, "scan");
        }
      });
      std::array<sum, 2> out;
      auto again = colligo::all_reduce_init(comm, in, out, std::plus<>{});
      for (int time = 0; time < 2; ++time) again.start(), again.wait(), check(out, "persistent");
      std::vector<sum> blocks(static_cast<std::size_t>(p), in[0]);
      std::array<sum, 1> block;
      colligo::reduce_scatter_block(comm, blocks, block, std::plus<>{});
      if (!same_bytes(block[0], expected[0])) throw std::runtime_error("reduce_scatter_block");
    }));
  }
}

TEST_CASE("require{any_p} takes what is exact, and says what to write instead of anything else") {
  run_threads(3, [](thread_communicator& comm) {
    exact_sum<double> const tenth(0.1);
    bool const right = colligo::all_reduce(comm, tenth, std::plus<>{}, require{any_p}) == tenth + tenth + tenth &&
                       colligo::all_reduce(comm, 1, std::plus<>{}, require{any_p | same_bits}) == 3;
    bool refused = false;
    try {
      colligo::all_reduce(comm, 0.1, std::plus<>{}, require{any_p});
    } catch (algorithm_error const& e) {
      std::string const what = e.what();
      refused = what.find("on double depends on the number of ranks; take elements of colligo::exact_sum") !=
                what.npos;
    }
    if (!right || !refused) throw std::runtime_error("require{any_p}");
  });
}

TEST_CASE("what is no number on some ranks is none in the result") {
  double const infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  run_threads(5, [&](thread_communicator& comm) {
    auto const sum = [&](double a, double b) {
      exact_sum<double> mine;
      if (comm.rank() == 1) mine += a;
      if (comm.rank() == 4) mine += b;
      return bits(colligo::all_reduce(comm, mine, std::plus<>{}).value());
    };
    if (sum(infinite, 1) != bits(infinite) || sum(infinite, -infinite) != 0x7ff8000000000000u ||
        sum(-1, -nan) != 0x7ff8000000000000u || sum(-0.0, -0.0) != 0)
      throw std::runtime_error("wrong");
  });
}
