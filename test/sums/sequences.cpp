// SPDX-License-Identifier: BSL-1.0
// Sequences: what is asked of them against other means, on one rank and cut in many ways among more.
#include <catch2/catch.hpp>

#include <colligo/colligo.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "../most_ranks.hpp"
#include "exact_numbers.hpp"

using namespace colligo;
using exact_numbers::source;

namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

struct everything {
  double sum, dot, norm;
  moments of_all;
  located<double> least, most;
  std::array<double, 3> at_once;
  std::vector<located<double>> top;
  double combined;
};

double log_of_sum(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

template <class Comm, class T>
everything all_of(Comm const& comm, std::span<T const> x, std::span<T const> y) {
  auto const [low, high] = colligo::extremes(comm, x);
  if (low.index != colligo::minimum_of(comm, x).index || bits(low.value) != bits(colligo::minimum_of(comm, x).value))
    throw std::runtime_error("extremes");
  return {colligo::sum(comm, x), colligo::dot(comm, x, y), colligo::norm2(comm, x),
          colligo::mean_and_variance(comm, x), low, colligo::maximum_of(comm, x),
          colligo::sums(comm, x, colligo::factors(x, y), y), colligo::top(comm, x, 10),
          colligo::accumulate(comm, x, log_of_sum)};
}
std::vector<std::uint64_t> all_bits_of(everything const& e) {
  std::vector<std::uint64_t> all;
  for (double const v : {e.sum, e.dot, e.norm, e.of_all.mean, e.of_all.variance, e.of_all.sample_variance,
                         e.least.value, e.most.value, e.at_once[0], e.at_once[1], e.at_once[2], e.combined})
    all.push_back(bits(v));
  for (std::int64_t const i : {e.of_all.count, e.least.index, e.most.index})
    all.push_back(static_cast<std::uint64_t>(i));
  for (auto const& [value, index] : e.top) all.push_back(bits(value)), all.push_back(static_cast<std::uint64_t>(index));
  return all;
}

/// The sequence cut at random among p ranks, of which some have nothing.
template <class F>
void cut(int p, std::size_t n, source& random, F f) {
  std::vector<std::size_t> cuts(static_cast<std::size_t>(p) + 1);
  for (std::size_t& one : cuts) one = random.below(n + 1);
  cuts.front() = 0, cuts.back() = n;
  std::ranges::sort(cuts);
  run_threads(p, [&](thread_communicator& comm) {
    auto const me = static_cast<std::size_t>(comm.rank());
    f(comm, cuts[me], cuts[me + 1] - cuts[me]);
  });
}

}  // namespace

TEST_CASE("what is asked of a sequence has the same bits however it is cut") {
  source random(23);
  std::mutex turn;
  for (int const kind : {0, 1, 2, 4}) {
    auto const x = exact_numbers::numbers(random, kind, 500), y = exact_numbers::numbers(random, kind, 500);
    std::vector<std::uint64_t> expected;
    for (int const p : {1, 2, 3, 4, 5, 8, 13}) {
      if (p > COLLIGO_TEST_MOST_RANKS) break;
      cut(p, 500, random, [&](thread_communicator& comm, std::size_t first, std::size_t n) {
        auto const got = all_bits_of(all_of(comm, std::span(x).subspan(first, n), std::span(y).subspan(first, n)));
        std::lock_guard const mine(turn);
        if (expected.empty()) expected = got;
        if (got != expected) throw std::runtime_error("p = " + std::to_string(comm.size()));
      });
    }
  }
}

TEST_CASE("sums, norms and moments are rounded once") {
  source random(29);
  run_threads(1, [&](thread_communicator& comm) {
    int wrong = 0;
    for (int set = 0; set < 300; ++set) {
      std::vector<double> x, y;
      double s = 0, q = 0, d = 0;   // integers below 2^53: exact
      std::size_t const n = 1 + random.below(300);
      int const scale = static_cast<int>(random.below(1800)) - 900;
      for (std::size_t i = 0; i < n; ++i) {
        auto const a = static_cast<double>(random.below(2001)) - 1000, b = static_cast<double>(random.below(2001));
        s += a, q += a * a, d += a * b;
        x.push_back(std::ldexp(a, scale)), y.push_back(b);
      }
      auto const count = static_cast<double>(n), spread = count * q - s * s;
      auto const m = colligo::mean_and_variance(comm, x);
      wrong += bits(colligo::sum(comm, x)) != bits(std::ldexp(s, scale) + 0.0);
      wrong += bits(colligo::dot(comm, x, y)) != bits(std::ldexp(d, scale) + 0.0);
      wrong += bits(colligo::norm2(comm, x)) != bits(std::ldexp(std::sqrt(q), scale));
      wrong += m.count != static_cast<std::int64_t>(n) || bits(m.mean) != bits(std::ldexp(s / count, scale) + 0.0);
      if (std::abs(scale) < 400)
        wrong += bits(m.variance) != bits(std::ldexp(spread / (count * count), 2 * scale)) ||
                 (n > 1 && bits(m.sample_variance) != bits(std::ldexp(spread / (count * (count - 1)), 2 * scale)));
      std::vector<float> const floats(y.begin(), y.end());
      wrong += bits(colligo::norm2(comm, floats)) != bits(colligo::norm2(comm, y));
      wrong += bits(colligo::mean_and_variance(comm, floats).variance) !=
               bits(colligo::mean_and_variance(comm, y).variance);
    }
    double const least = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max(),
                 infinite = std::numeric_limits<double>::infinity();
    wrong += colligo::norm2(comm, std::array{3 * least, 4 * least}) != 5 * least;
    wrong += colligo::norm2(comm, std::array{0x1.8p1021, 0x1p1022}) != 0x1.4p1022;
    wrong += colligo::norm2(comm, std::array{huge, huge}) != infinite;
    wrong += colligo::norm2(comm, std::array{-infinite}) != infinite;
    wrong += colligo::mean_and_variance(comm, std::array{huge, huge}).mean != huge;
    wrong += colligo::mean_and_variance(comm, std::array{huge, huge}).variance != 0;
    wrong += colligo::mean_and_variance(comm, std::array{-infinite, 1.0}).mean != -infinite;
    std::vector<double> const none;
    wrong += bits(colligo::sum(comm, none)) != 0 || !std::isnan(colligo::mean_and_variance(comm, none).mean) ||
             colligo::minimum_of(comm, none).index != -1 || !colligo::top(comm, none, 3).empty() ||
             colligo::accumulate(comm, none, std::plus<>{}) != 0;
    if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " are wrong");
  });
}

TEST_CASE("the first k of a sequence are those that sorting finds") {
  source random(31);
  std::vector<double> all(700);
  for (double& x : all) x = random.below(9) == 0 ? std::nan("") : static_cast<double>(random.below(60)) - 30;
  all[7] = 0.0, all[3] = -0.0;
  auto const magnitude = [](double x) { return std::abs(x); };
  for (int const p : {1, 2, 3, 6, 11})
    for (std::size_t const k : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{600}, std::size_t{1000},
                                std::numeric_limits<std::size_t>::max()}) {
      std::vector<located<double>> sorted;
      for (double const x : all) sorted.push_back({x, std::ssize(sorted)});
      std::ranges::stable_sort(sorted, [&](auto const& a, auto const& b) {
        bool const x = std::isnan(a.value), y = std::isnan(b.value);
        return x != y ? y : !x && magnitude(a.value) < magnitude(b.value);
      });
      sorted.resize(std::min(k, all.size()));
      cut(p, all.size(), random, [&](thread_communicator& comm, std::size_t first, std::size_t n) {
        auto const got = colligo::top(comm, std::span(all).subspan(first, n), k, std::less<>{}, magnitude);
        if (!std::ranges::equal(got, sorted, {}, &located<double>::index, &located<double>::index))
          throw std::runtime_error("k = " + std::to_string(k) + ", p = " + std::to_string(p));
      });
    }
}

TEST_CASE("the first -1 of a sequence are refused") {
  CHECK_THROWS_AS(run_threads(1, [](thread_communicator& comm) { top(comm, std::vector{1.0, 2.0}, -1); }),
                  argument_error);
}

TEST_CASE("what is accumulated is combined along one tree over indices, in order") {
  struct piece {   // of a text, by where it begins and ends
    std::int64_t first, last;
    std::uint64_t shape;
  };
  // The shape says how it was put together: neither associative nor commutative.
  auto const join = [](piece const& a, piece const& b) {
    return piece{a.last + 1 == b.first ? a.first : -1000000, b.last, exact_numbers::mixed(a.shape, b.shape)};
  };
  source random(37);
  for (std::size_t const n : {1u, 2u, 5u, 64u, 100u, 333u}) {
    std::vector<piece> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back({std::ssize(all), std::ssize(all), i});
    std::uint64_t expected = 0;
    for (int p = 1; p <= 9; ++p)
      cut(p, n, random, [&](thread_communicator& comm, std::size_t first, std::size_t mine) {
        auto const got = colligo::accumulate(comm, std::span(all).subspan(first, mine), join);
        if (comm.size() == 1) expected = got.shape;
        if (got.first != 0 || got.last != std::ssize(all) - 1 || got.shape != expected)
          throw std::runtime_error("p = " + std::to_string(comm.size()));
      });
  }
}

TEST_CASE("what a functor throws where a range is worked on comes out there, and the other ranks hear of it") {
  struct angry : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  for (int p = 1; p <= 4; ++p)
    for (int who = 0; who <= p; ++who)   // p: nobody
      run_threads(p, [&](thread_communicator& comm) {
        std::vector<double> const x(20, comm.rank() + 1.0);
        auto const came = [&](auto f) -> std::string {
          bool const throws = comm.rank() == who;
          try {
            f([&](auto result) {
              if (throws) throw angry("no");
              return result;
            });
            return "right";
          } catch (angry const&) {
            return "angry";
          } catch (failed_elsewhere const& e) {
            std::string const said = "rank " + std::to_string(who) + " has failed";
            return std::string(e.what()).find(said) != std::string::npos ? "told" : e.what();
          }
        };
        std::string const expected = comm.rank() == who ? "angry" : who < p ? "told" : "right";
        auto const top = came([&](auto may_throw) {
          colligo::top(comm, x, 3, [&](double a, double b) { return may_throw(a > b); });
        });
        auto const started = came([&](auto may_throw) {
          std::vector<located<double>> most;
          colligo::itop(comm, x, 3, [&](double a, double b) { return may_throw(a > b); }, most).wait();
        });
        auto const accumulated = came([&](auto may_throw) {
          colligo::accumulate(comm, x, [&](double a, double b) { return may_throw(a + b); });
        });
        if (top != expected || started != expected || accumulated != expected)
          throw std::runtime_error(top + ", " + started + ", " + accumulated);
        double const next = colligo::accumulate(comm, x, std::plus<>{});
        if (next != 10.0 * p * (p + 1)) throw std::runtime_error("the next call");
      });
}

namespace {
// Its copies throw if it does. Of equal elements none comes before the other.
struct not_copied {
  bool throws;
  explicit not_copied(bool does) : throws(does) {}
  not_copied(not_copied const& other) : throws(other.throws) {
    if (throws) throw std::out_of_range("a copy");
  }
  double operator()(double a, double b) const { return a - b; }
};
}  // namespace

TEST_CASE("requests whose functor can not be copied: the other ranks are told, and the next call is right") {
  run_threads(2, [](thread_communicator& comm) {
    std::vector<double> const x(5, 1.0);
    not_copied const op(comm.rank() == 1);
    double sum = 0;
    std::vector<located<double>> most;
    auto const is_told = [&](auto const& over, auto call) {
      bool told = false;
      try {
        call(over);
      } catch (std::out_of_range const&) {
        told = comm.rank() == 1;
      } catch (failed_elsewhere const&) {
        told = comm.rank() == 0;
      } catch (mismatch_error const&) {   // in checked mode
        told = comm.rank() == 0;
      }
      if (!told || colligo::sum(over, x) != 10) throw std::runtime_error("out of step");
    };
    auto const accumulated = [&](auto const& over) { colligo::iaccumulate(over, x, op, sum).wait(); };
    is_told(comm, accumulated), is_told(checked(comm), accumulated);
    for (int const k : {2, 5000})   // of a long one the ranks first agree on the length
      is_told(comm, [&](auto const& over) { colligo::itop(over, x, k, op, most).wait(); });
  });
}

TEST_CASE("requests read the range whenever they start; lengths that differ are refused") {
  run_threads(3, [](thread_communicator& comm) {
    std::vector<double> x(100), y(100, 0.1 * comm.rank());
    std::vector<int> whole{comm.rank() + 1, 1 << 30};
    auto const fill = [&](int time) {
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = comm.rank() + 0.25 * static_cast<double>(i * (2 + static_cast<std::size_t>(time)) % 41);
    };
    auto const magnitude = [](double v) { return std::abs(v - 4); };
    // Each call started once, and made ready and started twice, beside the blocking one.
    auto const check = [&](std::string_view what, auto call, auto started, auto made) {
      fill(0);
      auto expected = call();
      decltype(expected) got{}, again{};
      request first = started(got);
      persistent ready = made(again);
      first.wait();
      bool right = got == expected;
      for (int const time : {0, 1}) {
        fill(time);
        ready.start(), ready.wait();
        right &= again == call();
      }
      if (!right) throw std::runtime_error(std::string(what));
    };
#define CHECK_REQUESTS(name, ...)                                                                       \
  check(#name, [&] { return colligo::name(comm, __VA_ARGS__); },                                        \
        [&](auto& out) { return colligo::i##name(comm, __VA_ARGS__, out); },                            \
        [&](auto& out) { return colligo::name##_init(comm, __VA_ARGS__, out); })
    CHECK_REQUESTS(sum, x);
    CHECK_REQUESTS(sum, whole);
    CHECK_REQUESTS(dot, x, y);
    CHECK_REQUESTS(norm2, x);
    CHECK_REQUESTS(mean_and_variance, x);
    CHECK_REQUESTS(minimum_of, x);
    CHECK_REQUESTS(maximum_of, x);
    CHECK_REQUESTS(extremes, x);
    CHECK_REQUESTS(sums, x, colligo::factors(x, y), y);
    CHECK_REQUESTS(sums, x, whole);
    CHECK_REQUESTS(top, x, 7);
    CHECK_REQUESTS(top, x, 7, std::less<>{}, magnitude);
    CHECK_REQUESTS(accumulate, x, log_of_sum);
#undef CHECK_REQUESTS
    using temporary = detail::two_factors<std::vector<double>, std::vector<double>&>;
    static_assert(!detail::starts<detail::asked_sums, thread_communicator, temporary, std::array<double, 1>&>);
    bool refused = false;
    try {
      colligo::dot(comm, x, std::span(y).first(99));
    } catch (argument_error const& e) {
      refused = std::string(e.what()).find("the second range has 99 elements, expected 100") != std::string::npos;
    }
    if (!refused) throw std::runtime_error("lengths");
  });
}

TEST_CASE("sums of integers are of 64 bits, and exact where those hold them") {
  run_threads(4, [](thread_communicator& comm) {
    std::vector<std::int8_t> const small(1000, -100);
    std::vector<std::uint32_t> const large(1000, ~0u);
    std::vector<std::int64_t> const most(3, std::numeric_limits<std::int64_t>::max());   // beyond it on the way
    std::vector<std::int64_t> const other(3, comm.rank() < 2 ? 1 : -1);
    auto const [a, b, c] = colligo::sums(comm, small, large, colligo::factors(most, other));
    static_assert(std::is_same_v<decltype(colligo::sum(comm, small)), std::int64_t> &&
                  std::is_same_v<decltype(colligo::sum(comm, large)), std::uint64_t>);
    if (a != -400000 || b != 4000 * std::uint64_t{~0u} || c != 0 || colligo::sum(comm, small) != a ||
        colligo::sum(comm, large) != b || colligo::dot(comm, most, other) != c ||
        colligo::sum(comm, std::array{true}) != 4)
      throw std::runtime_error("integers");
  });
}

TEST_CASE("sums of all kinds, of pairs too, and batches need no header but colligo.hpp") {
  run_threads(2, [](thread_communicator& comm) {
    auto const binned = colligo::all_reduce(comm, binned_sum<double>(0.5), std::plus<>{}, require{any_p});
    batch calls(comm);
    auto const both = calls.all_reduce(std::pair{1, comm.rank()}, each(std::plus<>{}, maximum{}));
    calls.run();
    std::array const pairs{std::pair{comm.rank(), 0.5}};   // their bytes travel, though not as trivial copies
    auto const best = colligo::top(comm, pairs, 1), most = std::vector{colligo::maximum_of(comm, pairs)};
    auto const combined = colligo::accumulate(comm, pairs, each(std::plus<>{}, std::plus<>{}));
    if (best != most || best[0].index != 1 || combined != std::pair{1, 1.0}) throw std::runtime_error("pairs");
    std::vector<int> const indices{comm.rank()};
    std::vector<double> const values{1};
    auto const all = colligo::all_reduce(comm, sparse(indices, values), std::plus<>{});
    if (binned.value() != 1 || *both != std::pair{2, 1} || all.indices.size() != 2) throw std::runtime_error("wrong");
  });
}
