// SPDX-License-Identifier: BSL-1.0
// Which bits: associations of recorded schedules against what is computed, require, COLLIGO_BITS and COLLIGO_SUM.
#include <catch2/catch.hpp>

#include <colligo/exact_sum.hpp>
#include <colligo/tools/association.hpp>
#include <colligo/predict.hpp>
#include <colligo/rules/choose.hpp>
#include <colligo/rules/recorded.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>

#include "../laws.hpp"
#include "../thorough.hpp"

using namespace colligo;

namespace {

#ifdef COLLIGO_TEST_MOST_RANKS
constexpr int most_ranks = COLLIGO_TEST_MOST_RANKS;
#else
constexpr int most_ranks = 17;
#endif

struct variable {
  char const* name;
  variable(char const* which, char const* value) : name(which) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name); }
};

// All bits of a number count, and magnitudes differ: hardly any two orders of summation agree.
double awkward(int rank, std::size_t i) {
  auto const mixed = (static_cast<std::uint64_t>(rank + 1) * 0x9e3779b97f4a7c15u) ^ ((i + 1) * 0xbf58476d1ce4e5b9u);
  auto const hash = (mixed ^ mixed >> 31) * 0x94d049bb133111ebu;
  return (hash & 1 ? -1 : 1) * std::ldexp(1 + static_cast<double>(hash >> 12) * 0x1p-52, static_cast<int>(hash % 7));
}
std::vector<double> awkward_numbers(int rank, std::size_t n) {
  std::vector<double> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = awkward(rank, i);
  return all;
}
std::vector<std::uint64_t> bits_of_all(std::vector<double> const& numbers) {
  std::vector<std::uint64_t> bits;
  for (double const x : numbers) bits.push_back(std::bit_cast<std::uint64_t>(x));
  return bits;
}

/// What one rank's result is put together of, said by the functor itself.
struct bracketed {
  std::string operator()(std::string const& a, std::string const& b) const { return '(' + a + ' ' + b + ')'; }
};
/// Neither commutative nor associative.
struct weighed {
  double operator()(double a, double b) const { return a + 0.9 * b; }
};

/// What a rank holds after the collective, of n elements in all.
template <class T, class Op>
std::vector<T> result_of(thread_communicator& comm, collective c, std::vector<T> const& in, Op op, int root,
                         auto const& algorithm) {
  auto const p = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank()), n = in.size();
  using enum collective;
  std::vector<T> out(n);
  if (c == all_reduce) colligo::all_reduce(comm, in, out, op, algorithm);
  if (c == reduce) colligo::reduce(comm, in, out, op, root, algorithm);
  if (c == scan) colligo::scan(comm, in, out, op, algorithm);
  if (c == reduce_scatter) {
    std::vector<std::size_t> counts(p, n / p);
    for (std::size_t r = 0; r < n % p; ++r) ++counts[r];
    out.resize(counts[me]);
    colligo::reduce_scatter(comm, in, out, counts, op, algorithm);
  }
  if (c == reduce && comm.rank() != root) out.clear();
  return out;
}

detail::erased_policy const* text_of(collective c, std::size_t which) {
  return detail::for_collective(c, [which]<collective C>() -> detail::erased_policy const* {
    return detail::policy_table_of<C>()[which];
  });
}

template <class T, class Op>
std::optional<bracketing> form_of(collective c, std::size_t which, chosen_algorithm by, int p, std::size_t n,
                                  operands order, int root = 0, std::vector<int> const& hosts = {}) {
  by.policy = text_of(c, which);
  if (by.policy == nullptr || by.policy->run == nullptr) return std::nullopt;
  detail::call const call{c, &detail::element_of<T, Op>, nullptr, nullptr, blocks{{0, n}, p}, {}, {}, root};
  return association(detail::recorded_call(call, by, {hosts}, std::size_t{1} << 30).value(), order, root);
}

struct candidate {
  std::string name;
  std::size_t which;
  chosen_algorithm by;
};
// All that are made of steps and go over any wire.
std::vector<candidate> candidates() {
  std::vector<candidate> all;
  std::size_t which = 0;
  for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (laws::takes_words<Tag>) all.push_back({std::string(Tag::name), which, tag});
    ++which;
  });
  return all;
}

constexpr std::array combining{collective::all_reduce, collective::reduce, collective::reduce_scatter,
                               collective::scan};

}  // namespace

TEST_CASE("associations are those by which algorithms combine, p = 2..17") {
  for (int p = 2; p <= most_ranks; p += p < 9 ? 1 : tested::at_most(8, 1))
    for (std::size_t const n : {5u, 300u}) {   // direct takes the latter in slices
      if (n == 300 && p > 9) continue;
      int const root = p / 3;
      for (collective const c : combining)
        for (auto const& [name, which, by] : candidates()) {
          auto const form = form_of<std::string, bracketed>(c, which, by, p, n, operands::ordered, root);
          if (!form) continue;
          std::vector<std::vector<std::string>> got(static_cast<std::size_t>(p));
          run_threads(p, [&, &by = by](thread_communicator& comm) {
            std::vector<std::string> const in(n, std::to_string(comm.rank()));
            got[static_cast<std::size_t>(comm.rank())] =
                result_of(comm, c, in, as_commutative(bracketed{}), root, by);
          });
          INFO(name_of(c) << ' ' << name << ", p = " << p << ", n = " << n);
          std::size_t first = 0;
          bool right = true;
          for (int r = 0; r < p; ++r) {
            auto const& result = got[static_cast<std::size_t>(r)];
            std::size_t const offset = c == collective::reduce_scatter ? first : 0;
            for (std::size_t i = 0; i < result.size(); ++i) right &= form->text(r, offset + i) == result[i];
            first += result.size();
          }
          CHECK(right);
        }
    }
}

TEST_CASE("equal associations give equal bits, others different ones: sums and what does not commute, p = 2..17") {
  constexpr std::size_t n = 170;
  auto const compare = [&](int p, collective c, auto op, operands order) {
    using functor = decltype(op);
    struct outcome {
      std::string name;
      bracketing form;
      std::vector<std::vector<std::uint64_t>> bits;
    };
    std::vector<outcome> all;
    std::vector<candidate> some;
    for (auto const& each : candidates()) {
      auto const form = form_of<double, functor>(c, each.which, each.by, p, n, order);
      if (!form || (order == operands::ordered && !text_of(c, each.which)->ordered)) continue;
      all.push_back({each.name, *form, std::vector<std::vector<std::uint64_t>>(static_cast<std::size_t>(p))});
      some.push_back(each);
    }
    run_threads(p, [&](thread_communicator& comm) {
      for (std::size_t i = 0; i < some.size(); ++i)
        all[i].bits[static_cast<std::size_t>(comm.rank())] = bits_of_all(
            result_of(comm, c, awkward_numbers(comm.rank(), n), op, 0, some[i].by));
    });
    for (auto const& a : all)
      for (auto const& b : all) {
        INFO(name_of(c) << ", p = " << p << ": " << a.name << " and " << b.name);
        CHECK((a.form == b.form) == (a.bits == b.bits));
      }
    for (auto const& a : all) {
      INFO(name_of(c) << ", p = " << p << ": " << a.name);
      bool const same = std::ranges::all_of(a.bits, [&](auto const& rank) { return rank == a.bits[0]; });
      if (c == collective::all_reduce) CHECK(a.form.same_on_all_ranks() == same);
    }
  };
  for (int p = 2; p <= most_ranks; ++p)
    for (collective const c : combining) {
      compare(p, c, std::plus<>{}, operands::commute);
      compare(p, c, weighed{}, operands::ordered);
    }
}

TEST_CASE("at p = 2 all sums have the same bits; cards promise nothing that schedules do not keep") {
  bool first = true;
  std::optional<bracketing> one;
  for (auto const& [name, which, by] : candidates())
    for (collective const c : combining)
      for (int p = 1; p <= most_ranks; ++p)
        for (std::size_t const n : {1u, 3u, 64u, 3000u}) {
          auto const form = form_of<double, std::plus<>>(c, which, by, p, n, operands::commute);
          if (!form) continue;
          INFO(name_of(c) << ' ' << name << ", p = " << p << ", n = " << n);
          if (text_of(c, which)->same_bits) CHECK(form->same_on_all_ranks());
          if (text_of(c, which)->sequential) CHECK(form->sequential());
          if (p != 2 || c != collective::all_reduce || n != 64) continue;
          if (std::exchange(first, false)) one = form;
          CHECK(*form == *one);
        }
  CHECK(one);
}

TEST_CASE("COLLIGO_BITS=stable: one association for every length, root, host and transport") {
  for (int p = 2; p <= 2 * most_ranks; ++p) {
    std::vector<int> by_twos;
    for (int r = 0; r < p; ++r) by_twos.push_back(r / 2 * 2);
    std::map<collective, std::string> of;
    for (collective const c : combining)
      for (std::size_t const n : {std::size_t{1}, std::size_t{9}, std::size_t{3000}, std::size_t{1} << 18})
        for (auto const& hosts : {std::vector<int>{}, by_twos})
          for (bool const shared : {false, true}) {
            int const root = static_cast<int>(n) % p;
            hierarchy const by_host = hierarchy::of_hosts(hosts);
            auto const chosen = choose(c, {.vector = {{0, n}, p}, .element_size = 8, .stable = true,
                                           .shared = shared, .hosts = hosts.empty() ? nullptr : &by_host});
            auto const form = form_of<double, std::plus<>>(c, chosen.index(), chosen, p, n,
                                                           operands::ordered, root, hosts);
            INFO(name_of(c) << ", p = " << p << ", n = " << n);
            REQUIRE(form);
            CHECK(form->uniform());
            CHECK(form->same_on_all_ranks());
            auto const& last = form->stretches().back();
            if (c == collective::reduce_scatter && n < static_cast<std::size_t>(p)) continue;
            std::string const said = form->text(last.rank, last.elements.first);
            CHECK(of.try_emplace(c, said).first->second == said);
          }
    CHECK(of[collective::all_reduce] == of[collective::reduce]);
    CHECK(of[collective::all_reduce] == of[collective::reduce_scatter]);
  }
}

namespace {

/// Every rank's results, as bits, of a call that is made twice: what was decided is kept.
std::vector<std::vector<std::uint64_t>> bits_of_ranks(int p, std::size_t n, auto call) {
  std::vector<std::vector<std::uint64_t>> all(static_cast<std::size_t>(p));
  run_threads(p, [&](thread_communicator& comm) {
    for (int i = 0; i < 2; ++i)
      all[static_cast<std::size_t>(comm.rank())] = bits_of_all(call(comm, awkward_numbers(comm.rank(), n)));
  });
  return all;
}
auto bits_of_call(int p, std::size_t n, auto const& algorithm, collective c, int root = 0) {
  return bits_of_ranks(p, n, [&](thread_communicator& comm, std::vector<double> const& in) {
    return result_of(comm, c, in, std::plus<>{}, root, algorithm);
  });
}
template <class Op = std::plus<>>
auto bits_of_call(int p, std::size_t n, auto const& algorithm, Op op = {}) {
  return bits_of_ranks(p, n, [&](thread_communicator& comm, std::vector<double> both) {
    colligo::all_reduce(comm, in_place(both), op, algorithm);
    return both;
  });
}

template <class Op = std::plus<>>
std::vector<std::uint64_t> in_one_process(int p, std::size_t n, Op op = {}) {
  auto sum = awkward_numbers(0, n);
  for (int r = 1; r < p; ++r)
    for (std::size_t i = 0; i < n; ++i) sum[i] = op(sum[i], awkward(r, i));
  return bits_of_all(sum);
}

}  // namespace

TEST_CASE("require: the bits that are asked for, of the best algorithm that has them") {
  for (int const p : {2, 3, 5, 8, 9})
    for (std::size_t const n : {1u, 40u, 3000u}) {
      if (p > most_ranks) continue;
      INFO("p = " << p << ", n = " << n);
      auto const same = bits_of_call(p, n, require{same_bits | run_to_run});
      CHECK(std::ranges::all_of(same, [&](auto const& rank) { return rank == same[0]; }));
      auto const expected = in_one_process(p, n);
      auto const sequential = bits_of_call(p, n, require{as_sequential});
      CHECK(std::ranges::all_of(sequential, [&](auto const& rank) { return rank == expected; }));
      CHECK(bits_of_call(p, n, require{as_sequential}, weighed{})[0] == in_one_process(p, n, weighed{}));
      CHECK(bits_of_call(p, n, require{as_sequential}, collective::reduce, p - 1).back() == expected);
      CHECK(bits_of_call(p, n, require{as_sequential}, collective::scan).back() == expected);
      CHECK(bits_of_call(p, n, require{like(ring{})}) == bits_of_call(p, n, ring{}));
      CHECK(bits_of_call(p, n, require{like(halving_tree{})}) == bits_of_call(p, n, halving_tree{}));
      CHECK(bits_of_call(p, n, require{like(rotating_ring{})}) == bits_of_call(p, n, rotating_ring{}));
      CHECK(bits_of_call(p, n, require{like(binary_blocks{})}, weighed{}) ==
            bits_of_call(p, n, binary_blocks{}, weighed{}));
      auto const tree = trees::chain(p);
      CHECK(bits_of_call(p, n, require{like(configured{tree})}, weighed{}) ==
            bits_of_call(p, n, configured{tree}, weighed{}));
    }
}

TEST_CASE("require{like()} tells tags apart that differ in a tag within them, or in levels") {
  auto const fours = hierarchy::of_sizes(8, std::array{4}), twos = hierarchy::of_sizes(8, std::array{2});
  run_threads(std::min(8, most_ranks), [&](thread_communicator& comm) {
    auto const bits = [&](auto const& algorithm) {
      std::vector<double> in(3), out(3);
      for (std::size_t i = 0; i < 3; ++i) in[i] = awkward(comm.rank(), i);
      colligo::reduce(comm, in, out, weighed{}, 0, algorithm);
      return out;
    };
    using by_host = hierarchical<knomial_tree, recursive_doubling>;
    for (int times = 0; times < 2; ++times)
      for (std::size_t const radix : {2u, 8u, 3u}) {
        by_host const tag{.within = {radix}};
        if (bits(require{like(tag)}) != bits(tag)) throw std::runtime_error("another radix's bits");
      }
    for (auto const* const levels : {&fours, &twos})
      if (leaders_by_level const tag{levels}; comm.size() == 8 && bits(require{like(tag)}) != bits(tag))
        throw std::runtime_error("other levels' bits");
  });
}

TEST_CASE("require takes another algorithm than the one named where it is quicker, and says so") {
  auto const text = [](int p, std::size_t n, auto const& op, auto const& algorithm) {
    std::string said;
    run_threads(p, [&](thread_communicator& comm) {
      auto const mine = explain<double>(comm, collective::all_reduce, n, op, algorithm);
      if (comm.rank() == 0) said = mine;
    });
    return said;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(text(8, 100000, std::plus<>{}, require{like(binary_tree{})}),
             Contains("halving_doubling over shared memory of threads, chosen among those that have the required "
                      "property"));
  CHECK_THAT(text(8, 1, std::plus<>{}, require{like(halving_doubling{})}), Contains("recursive_doubling over"));
  CHECK_THAT(text(5, 1, std::plus<>{}, require{like(ring{})}), Contains("ring over shared memory"));
  CHECK_THAT(text(5, 1, std::plus<>{}, require{as_sequential}), Contains("grouped_doubling over shared memory"));
  CHECK_THAT(text(5, 100000, std::plus<>{}, require{as_sequential}), Contains("slices_by_level over shared memory"));
  // What automatic takes has the property already; where all orders give the same bits it is left alone.
  CHECK_THAT(text(5, 1, std::plus<>{}, require{same_bits}), Contains("grouped_doubling over shared memory"));
  run_threads(7, [](thread_communicator& comm) {
    auto const said = explain<int>(comm, collective::all_reduce, 1, std::plus<>{}, require{as_sequential});
    if (said.find("papers' rules") == said.npos) throw std::runtime_error("sums of integers are not left to automatic");
  });
  // A knob makes another algorithm of the same tag.
  CHECK(bits_of_call(5, 1000, require{like(direct{.slices = 1})}) == bits_of_call(5, 1000, direct{}));
  variable const wish("COLLIGO_ALL_REDUCE", "ring");
  CHECK_THAT(text(5, 1, std::plus<>{}, require{as_sequential}), Contains("grouped_doubling over shared memory"));
}

TEST_CASE("COLLIGO_SUM=exact: sums that are left to the library are exact and rounded once") {
  constexpr std::array sums{collective::all_reduce, collective::reduce, collective::scan, collective::reduce_scatter};
  auto const exactly = [](int p, std::size_t n) {
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < n; ++i) {
      exact_sum<double> sum;
      for (int r = 0; r < p; ++r) sum += awkward(r, i);
      all.push_back(std::bit_cast<std::uint64_t>(sum.value()));
    }
    return all;
  };
  for (int const p : {1, 2, 5, 8})
    for (std::size_t const n : {std::size_t{0}, std::size_t{40}, std::size_t{5000}}) {   // in two parts
      auto const expected = exactly(p, n), plain = bits_of_call(p, n, ring{})[0];
      CHECK((n == 0 || p < 5 || plain != expected));
      for (char const* const algorithm : {"automatic", "ring", "vendor", "halving_doubling", "binary_tree"}) {
        if (n > 40 && algorithm != std::string("automatic")) continue;
        INFO("p = " << p << ", n = " << n << ", " << algorithm);
        variable const exact("COLLIGO_SUM", "exact"), algorithm_set("COLLIGO_ALL_REDUCE", algorithm);
        CHECK(bits_of_call(p, n, automatic{}) == std::vector(static_cast<std::size_t>(p), expected));
        CHECK(bits_of_call(p, n, named("automatic"), std::plus<double>{})[0] == expected);
        CHECK(bits_of_call(p, n, ring{})[0] == plain);   // pinned
        CHECK(bits_of_ranks(p, n, [](thread_communicator& comm, std::vector<double> const& in) {
          std::vector<double> out(in.size()), again = in;
          auto started = colligo::iall_reduce(comm, in, out, std::plus<>{});
          auto ready = colligo::all_reduce_init(comm, in_place(again), std::plus<>{});
          started.wait();
          for (int i = 0; i < 2; ++i) again = in, ready.start(), ready.wait();
          if (again != out) throw std::runtime_error("requests");
          return out;
        })[0] == expected);
      }
      variable const exact("COLLIGO_SUM", "exact");
      for (collective const c : sums) {
        INFO("p = " << p << ", n = " << n << ", " << name_of(c));
        std::vector<std::uint64_t> joined;   // of reduce_scatter, rank by rank
        auto const got = bits_of_call(p, n, automatic{}, c);
        for (auto const& rank : got) joined.insert(joined.end(), rank.begin(), rank.end());
        CHECK((c == collective::reduce_scatter ? joined : c == collective::scan ? got.back() : got[0]) == expected);
      }
      if (n <= 40) bits_of_ranks(p, n, [&](thread_communicator& comm, std::vector<double> const& in) {
        std::vector<double> out(in.size());
        for (double const init : {0.0, 0.1, -1e17}) {
          std::vector<std::uint64_t> right(n, std::bit_cast<std::uint64_t>(init));
          for (std::size_t i = 0; comm.rank() != 0 && i < n; ++i) {
            exact_sum<double> sum(init);
            for (int r = 0; r < comm.rank(); ++r) sum += awkward(r, i);
            right[i] = std::bit_cast<std::uint64_t>(sum.value());
          }
          colligo::exclusive_scan(comm, in, out, init, std::plus<>{});
          if (bits_of_all(out) != right) throw std::runtime_error("exclusive_scan");
          colligo::exclusive_scan(comm, in, out, init, std::plus<>{}, require{any_order});
          if (bits_of_all(out) != right) throw std::runtime_error("exclusive_scan in any order");
          auto again = colligo::exclusive_scan_init(comm, in, out, init, std::plus<>{});
          for (int i = 0; i < 2; ++i) again.start(), again.wait();
          if (bits_of_all(out) != right) throw std::runtime_error("exclusive_scan_init");
        }
        return out;
      });
    }
  using Catch::Matchers::Contains;
  {
    variable const exact("COLLIGO_SUM", "exact");
    run_threads(3, [](thread_communicator& comm) {
      auto const said = [&](auto x, auto op) { return explain<decltype(x)>(comm, collective::all_reduce, 1, op); };
      constexpr auto words = "papers' rules, exact because of COLLIGO_SUM\n";
      bool const is_said = said(1.0, std::plus<>{}).find(words) != std::string::npos &&
                           said(1.0f, std::plus<float>{}).find(words) != std::string::npos;
      bool const is_silent = said(1, std::plus<>{}).find("COLLIGO_SUM") == std::string::npos &&
                             said(1.0, maximum{}).find("COLLIGO_SUM") == std::string::npos;
      if (!is_said || !is_silent) throw std::runtime_error(said(1.0, std::plus<>{}));
    });
  }
  variable const unknown("COLLIGO_SUM", "right"), strict("COLLIGO_STRICT", "1");
  CHECK_THROWS_WITH(bits_of_call(1, 1, automatic{}), Contains("COLLIGO_SUM=right: the known value is exact"));
}

TEST_CASE("prefixes in any order know nothing of the numbers of later ranks") {
  double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (int const p : {1, 2, 3, 5})
    for (double const last : {inf, -inf, nan, 1e300, 1e-300})
      REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
        bool const is_last = comm.rank() == p - 1;
        std::vector<double> const in(3, is_last ? last : 1.5);
        std::vector<double> out(3);
        auto const check = [&](double expected, char const* what) {
          if (!(out[2] == expected || (out[2] != out[2] && expected != expected))) throw std::runtime_error(what);
        };
        colligo::scan(comm, in, out, std::plus<>{}, require{any_order});
        check(is_last ? 1.5 * (p - 1) + last : 1.5 * (comm.rank() + 1), "scan");
        colligo::exclusive_scan(comm, in, out, 3.0, std::plus<>{}, require{any_order});
        check(3 + 1.5 * comm.rank(), "exclusive_scan");
      }));
}

TEST_CASE("COLLIGO_BITS=stable holds for automatic; other values are told, or refused") {
  auto const first = [](int p, std::size_t n, collective c) {
    auto bits = bits_of_call(p, n, automatic{}, c)[0];
    bits.resize(40);   // what rank 0 has of all of them
    return bits;
  };
  for (int const p : {5, 7, 9}) {
    if (p > most_ranks) continue;
    CHECK(first(p, 400, collective::all_reduce) != first(p, 100000, collective::all_reduce));   // otherwise
    variable const stable("COLLIGO_BITS", "stable");
    auto const of_short = first(p, 400, collective::all_reduce);
    for (collective const c : {collective::all_reduce, collective::reduce, collective::reduce_scatter})
      CHECK(of_short == first(p, 100000, c));
  }
  {
    variable const stable("COLLIGO_BITS", "stable");
    run_threads(3, [](thread_communicator& comm) {
      auto const said = [&](auto x) { return explain<decltype(x)>(comm, collective::all_reduce, 1, std::plus<>{}); };
      if (said(1.0).find("chosen for COLLIGO_BITS=stable") == std::string::npos ||
          said(1).find("COLLIGO_BITS") != std::string::npos)
        throw std::runtime_error(said(1.0) + said(1));
    });
  }
  variable const unknown("COLLIGO_BITS", "steady"), strict("COLLIGO_STRICT", "1");
  CHECK_THROWS_AS(first(3, 40, collective::all_reduce), argument_error);
}

// Nothing of them is recorded.
TEST_CASE("explain and predict of vectors that nobody has, and of more than can be addressed") {
  run_threads(3, [](thread_communicator& comm) {
    for (collective const c : collectives)
      for (std::size_t const n : {std::size_t{1} << 40, std::size_t{1} << 43, std::size_t{1} << 61, SIZE_MAX}) {
        bool refused = false;
        try {
          bool const is_said = !explain<int>(comm, c, n).empty() && !predict<int>(comm, c, n).empty();
          if (!is_said) throw std::runtime_error(std::string(name_of(c)) + " is not explained");
        } catch (argument_error const&) {
          refused = true;
        }
        if (refused != (n > std::size_t{1} << 43)) throw std::runtime_error("refused, or not, at the wrong length");
      }
  });
}
