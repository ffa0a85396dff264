// SPDX-License-Identifier: BSL-1.0
// What exact sums cost: on the way beside MPI's plain sum of a double, locally beside std::accumulate, and several
// reductions in one call beside as many calls. And sums of sparse vectors beside dense ones. Pairs are timed one after
// the other, again and again; medians of their ratios are printed.
//
//   mpirun -n 2 exact
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <boost/mpi.hpp>
#include <colligo/binned_sum.hpp>
#include <colligo/each.hpp>
#include <colligo/require.hpp>
#include <colligo/sequence.hpp>
#include <colligo/sparse.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace {

using colligo::exact_sum;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> all) {
  std::ranges::nth_element(all, all.begin() + std::ssize(all) / 2);
  return all[all.size() / 2];
}

struct pair_of_times {
  double ours, theirs, ratio;   // seconds
};

// Medians over `pairs` times of `calls` calls each, of the slowest rank.
template <class Ours, class Theirs>
pair_of_times compare(boost::mpi::communicator const& world, int pairs, int calls, Ours ours, Theirs theirs) {
  std::vector<double> a, b, ratios;
  auto const time = [&](auto const& f) {
    MPI_Barrier(world);
    double const began = seconds();
    for (int i = 0; i < calls; ++i) f();
    return boost::mpi::all_reduce(world, (seconds() - began) / calls, boost::mpi::maximum<double>());
  };
  time(ours), time(theirs);
  for (int i = 0; i < pairs; ++i) {
    a.push_back(time(ours));
    b.push_back(time(theirs));
    ratios.push_back(a.back() / b.back());
  }
  return {median(a), median(b), median(ratios)};
}

void print(boost::mpi::communicator const& world, std::string_view what, std::string_view beside,
           pair_of_times const& t, double per = 1, std::string_view unit = "us", double scale = 1e6) {
  if (world.rank() != 0) return;
  fmt::print("{:<44} {:9.3f} {:<6} {:<34} {:9.3f}   ratio {:.2f}\n", what, t.ours * scale / per, unit, beside,
             t.theirs * scale / per, t.ratio);
}

// Sums of sparse vectors of n doubles beside what a program would do without them: the vector with zeros, its sum, and
// what is not zero of that; and beside either form.
void compare_sparse(boost::mpi::communicator const& world, std::size_t n, int pairs) {
  for (double const density : {0.001, 0.01, 0.1, 0.5}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(world.rank() + 1));
    std::bernoulli_distribution is_there(density);
    colligo::sparse_vector<double, std::int64_t> mine, sum;
    for (std::size_t i = 0; i < n; ++i)
      if (is_there(random)) mine.indices.push_back(static_cast<std::int64_t>(i)), mine.values.push_back(1);
    auto const list = colligo::sparse(mine.indices, mine.values, static_cast<std::int64_t>(n));
    auto const by = [&](colligo::sparse_form form) {
      return [&, form] { sum = colligo::all_reduce(world, list, std::plus<>{}, form); };
    };
    auto const dense = [&] {
      std::vector<double> all(n);
      for (std::size_t i = 0; i < mine.indices.size(); ++i)
        all[static_cast<std::size_t>(mine.indices[i])] = mine.values[i];
      colligo::all_reduce(world, colligo::in_place(all), std::plus<>{});
      sum = {};
      for (std::size_t i = 0; i < n; ++i)
        if (all[i] != 0) sum.indices.push_back(static_cast<std::int64_t>(i)), sum.values.push_back(all[i]);
    };
    auto const what = fmt::format("sparse, {:g} % of {}", 100 * density, n);
    using enum colligo::sparse_form;
    print(world, what, "dense", compare(world, pairs, 1, by(fewest_bytes), dense));
    print(world, what, "as lists", compare(world, pairs, 1, by(fewest_bytes), by(lists)));
    print(world, what, "as blocks", compare(world, pairs, 1, by(fewest_bytes), by(blocks)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  int pairs = 101, calls = 2000;
  std::size_t length = 1000000;
  bool only_sparse = false;
  std::vector<std::size_t> lengths{1000000, 20000000};
  CLI::App app("What exact sums cost beside plain ones");
  app.add_option("--pairs", pairs, "pairs of timings, whose medians are taken")->capture_default_str();
  app.add_option("--calls", calls, "calls in each")->capture_default_str();
  app.add_option("--numbers", lengths, "lengths of ranges that one rank sums up")->capture_default_str();
  app.add_option("--length", length, "of sparse vectors")->capture_default_str();
  app.add_flag("--only-sparse", only_sparse, "sums of sparse vectors alone");
  CLI11_PARSE(app, argc, argv);
  compare_sparse(world, length, std::max(2, pairs / 5));
  if (only_sparse) return 0;
  double volatile sink = 0;
  double x = world.rank() + 0.1, y = 0;
  auto const plain = [&] { MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, world); };

  exact_sum<float> f(0.1f);
  exact_sum<double> d(x);
  exact_sum<float> all_f;
  exact_sum<double> all_d;
  std::string_view const mpis = "MPI_Allreduce, MPI_SUM, a double";
  print(world, "all_reduce of an exact_sum<float>", mpis, compare(world, pairs, calls, [&] {
          colligo::all_reduce(world, std::span(&f, 1), std::span(&all_f, 1), std::plus<>{});
        }, plain));
  print(world, "all_reduce of an exact_sum<double>", mpis, compare(world, pairs, calls, [&] {
          colligo::all_reduce(world, std::span(&d, 1), std::span(&all_d, 1), std::plus<>{});
        }, plain));
  print(world, "made of a number, all_reduce, rounded", mpis, compare(world, pairs, calls, [&] {
          sink = colligo::all_reduce(world, exact_sum<double>(x), std::plus<>{}).value();
        }, plain));

  exact_sum<double> expected;
  for (int r = 0; r < world.size(); ++r) expected += r + 0.1;
  if (all_d != expected) {
    fmt::print(stderr, "the exact sum of {} ranks is wrong\n", world.size());
    return 1;
  }

  using three = std::tuple<double, double, long>;
  auto const fused = [&] {
    colligo::all_reduce(world, three{x, x, 1}, colligo::each(std::plus<>{}, colligo::maximum{}, std::plus<>{}));
  };
  print(world, "sum, maximum and count in one", "one all_reduce of a double", compare(world, pairs, calls, fused, [&] {
          sink = colligo::all_reduce(world, x, std::plus<>{});
        }));
  print(world, "sum, maximum and count in one", "three calls", compare(world, pairs, calls, fused, [&] {
          sink = colligo::all_reduce(world, x, std::plus<>{});
          sink = colligo::all_reduce(world, x, colligo::maximum{});
          colligo::all_reduce(world, 1L, std::plus<>{});
        }));

  std::vector<double> field(100000, x), of_all(field.size());
  print(world, "require{any_order}, 100000 doubles", "the plain sum", compare(world, pairs, calls / 200 + 1, [&] {
          colligo::all_reduce(world, field, of_all, std::plus<>{}, colligo::require{colligo::any_order});
        }, [&] { colligo::all_reduce(world, field, of_all, std::plus<>{}); }));
  std::vector<exact_sum<double>> const fields(field.size(), d);
  std::vector<exact_sum<double>> sums(field.size());
  print(world, "100000 of exact_sum<double>", "the plain sum", compare(world, std::max(2, pairs / 10), 1, [&] {
          colligo::all_reduce(world, fields, sums, std::plus<>{});
        }, [&] { colligo::all_reduce(world, field, of_all, std::plus<>{}); }));

  if (world.rank() != 0) return 0;
  boost::mpi::communicator const alone(MPI_COMM_SELF, boost::mpi::comm_attach);
  std::mt19937_64 random(1);
  for (std::size_t const n : lengths)
    for (int const spread : {0, 20, 1000}) {
      std::uniform_int_distribution<int> exponent(-spread, spread);
      std::normal_distribution<double> normal;
      std::vector<double> numbers(n);
      for (double& number : numbers) number = std::ldexp(normal(random), exponent(random));
      int const times = n > 10000000 ? 7 : 31;
      auto const accumulate = [&] { sink = std::accumulate(numbers.begin(), numbers.end(), 0.0); };
      print(alone, fmt::format("exact, {} numbers, exponents +-{}", n, spread), "std::accumulate",
            compare(alone, times, 1, [&] { sink = exact_sum<double>(numbers).value(); }, accumulate),
            static_cast<double>(n), "ns", 1e9);
      print(alone, fmt::format("binned, {} numbers, exponents +-{}", n, spread), "std::accumulate",
            compare(alone, times, 1, [&] { sink = colligo::binned_sum<double>(numbers).value(); }, accumulate),
            static_cast<double>(n), "ns", 1e9);
      print(alone, fmt::format("dot, {} numbers, exponents +-{}", n, spread), "std::inner_product",
            compare(alone, times, 1, [&] { sink = colligo::dot(alone, numbers, numbers); }, [&] {
              sink = std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0);
            }), static_cast<double>(n), "ns", 1e9);
      std::vector<double> first(100);
      if (spread == 0)
        print(alone, fmt::format("top 100 of {} numbers", n), "std::partial_sort_copy",
              compare(alone, times, 1, [&] { sink = colligo::top(alone, numbers, first.size()).front().value; }, [&] {
                std::ranges::partial_sort_copy(numbers, first, std::greater<>{});
              }), static_cast<double>(n), "ns", 1e9);
    }
}
