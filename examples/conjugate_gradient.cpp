// SPDX-License-Identifier: BSL-1.0
// Solves A x = b for a symmetric positive definite matrix in Matrix Market form by the conjugate gradient method with
// the Jacobi preconditioner (Hestenes and Stiefel, 1952). b = A * ones, so that the error is known. The ranks get
// neighbouring rows with about equally many nonzeros, so unequal numbers of rows, and an all_gatherv assembles the
// vector in every iteration.
//
//   mpirun -n 4 conjugate_gradient
//   mpirun -n 4 conjugate_gradient examples/data/bcsstk13.mtx --tolerance 1e-12
//   mpirun -n 4 conjugate_gradient --pipelined
//
// --pipelined: the form of Ghysels and Vanroose (2014), whose only reduction in an iteration is in progress while the
// matrix is multiplied: a persistent request, started before the product and waited for after it.
//
// A small residual is not a small error: bcsstk13 (condition number 1e10) converges like 1138_bus, but its error stays
// orders of magnitude above the tolerance.
#include "data_folder.hpp"

#include <CLI/CLI.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_gatherv.hpp>
#include <colligo/all_reduce.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpi = boost::mpi;
using numbers = std::vector<double>;

// --- the matrix ------------------------------------------------------------------------------------------------------

// Row and column count from 0.
struct entry {
  std::size_t row, column;
  double value;
};

struct matrix {
  std::size_t n = 0;
  std::vector<entry> lower;   // the diagonal and what is below it

  std::size_t nonzeros() const {
    auto const below = std::ranges::count_if(lower, [](entry const& e) { return e.row != e.column; });
    return lower.size() + static_cast<std::size_t>(below);
  }
};

// Matrix Market, "coordinate real symmetric": the lower triangle, indices from 1. Errors say in which line.
matrix read_matrix(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot be opened");
  std::size_t number = 0;
  std::string line;
  auto const fail = [&](std::string const& why) { throw std::runtime_error(fmt::format("line {}: {}", number, why)); };
  // False at the end of the file; skips comments and empty lines.
  auto const next = [&] {
    while (++number, std::getline(file, line))
      if (!line.starts_with('%') && line.find_first_not_of(" \t\r") != line.npos) return true;
    return false;
  };
  auto const parse = [&](char const* wanted, auto&... values) {
    std::istringstream in(line);
    if (!(in >> ... >> values) || !(in >> std::ws).eof()) fail(fmt::format("\"{}\" is not {}", line, wanted));
  };

  std::string const header = "%%MatrixMarket matrix coordinate real symmetric";
  ++number;
  if (!std::getline(file, line) || !line.starts_with(header)) fail("expected the header " + header);
  std::int64_t rows = 0, columns = 0, entries = 0, diagonal = 0;
  if (!next()) fail("the file ends, expected the size");
  parse("a size (rows columns entries)", rows, columns, entries);
  if (rows < 1 || rows != columns || entries < 0) fail("expected a square matrix");

  matrix a;
  a.n = static_cast<std::size_t>(rows);
  for (std::int64_t k = 0; k < entries; ++k) {
    std::int64_t i = 0, j = 0;
    double value = 0;
    if (!next()) fail(fmt::format("the file ends after {} entries, expected {}", k, entries));
    parse("an entry (row column value)", i, j, value);
    if (j < 1 || i < j || i > rows) fail(fmt::format("({}, {}) is outside of the lower triangle", i, j));
    if (i == j && !(value > 0)) fail("a positive definite matrix has a positive diagonal");
    diagonal += i == j;
    a.lower.push_back({static_cast<std::size_t>(i - 1), static_cast<std::size_t>(j - 1), value});
  }
  if (next()) fail(fmt::format("expected {} entries, here is one more", entries));
  if (diagonal != rows) fail(fmt::format("{} rows, but {} entries on the diagonal", rows, diagonal));
  return a;
}

// Rows per rank: a rank's rows end where its share of the nonzeros is reached.
std::vector<std::size_t> rows_by_nonzeros(matrix const& a, int ranks) {
  std::vector<std::size_t> nonzeros(a.n);
  for (auto const& [i, j, value] : a.lower) ++nonzeros[i], nonzeros[j] += i != j;
  auto const p = static_cast<std::size_t>(ranks), all = a.nonzeros();
  std::vector<std::size_t> counts(p);
  std::size_t rank = 0, seen = 0;
  for (std::size_t const in_row : nonzeros) {
    while (rank + 1 < p && seen >= all * (rank + 1) / p) ++rank;
    ++counts[rank];
    seen += in_row;
  }
  return counts;
}

// One rank's rows, both triangles, row by row.
class row_block {
 public:
  row_block(matrix const& a, colligo::range rows) : rows_(rows), begin_(rows.size() + 1), diagonal_(rows.size()) {
    auto const mine = [&](std::size_t i) { return rows.first <= i && i < rows.last; };
    auto const for_each_of_mine = [&](auto f) {
      for (auto const& [i, j, value] : a.lower) {
        if (mine(i)) f(i - rows.first, j, value);
        if (i != j && mine(j)) f(j - rows.first, i, value);
      }
    };
    for_each_of_mine([&](std::size_t row, std::size_t, double) { ++begin_[row + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    columns_.resize(begin_.back());
    values_.resize(begin_.back());
    auto free = begin_;
    for_each_of_mine([&](std::size_t row, std::size_t column, double value) {
      columns_[free[row]] = column;
      values_[free[row]++] = value;
      if (column == row + rows.first) diagonal_[row] += value;
    });
  }

  numbers const& diagonal() const { return diagonal_; }

  // These rows of A x.
  numbers operator*(numbers const& x) const {
    numbers product(rows_.size());
    for (std::size_t row = 0; row < product.size(); ++row)
      for (std::size_t k = begin_[row]; k < begin_[row + 1]; ++k) product[row] += values_[k] * x[columns_[k]];
    return product;
  }

 private:
  colligo::range rows_;
  std::vector<std::size_t> begin_, columns_;
  numbers values_, diagonal_;
};

// --- the method ------------------------------------------------------------------------------------------------------

double dot(numbers const& a, numbers const& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// Each rank's part of A x = b.
struct problem {
  mpi::communicator const& comm;
  row_block const& a;                     // this rank's rows
  numbers const& b;                       // of them too
  std::vector<std::size_t> const& rows;   // how many each rank has
  double tolerance;                       // until |r| <= tolerance |b|
  std::int64_t most;                      // iterations

  // A vector with room for all ranks' rows.
  numbers whole() const { return numbers(std::reduce(rows.begin(), rows.end())); }
  // This rank's rows of A x.
  numbers product(numbers const& x) const {
    numbers all = whole();
    colligo::all_gatherv(comm, x, all, rows);
    return a * all;
  }
  void precondition(numbers const& r, numbers& z) const {
    std::ranges::transform(r, a.diagonal(), z.begin(), std::divides<>{});
  }
};

struct solution {
  numbers mine;   // this rank's rows of x
  std::int64_t iterations = 0;
  bool converged = false;
};

// In both forms all ranks must see the same bits in the dot products: a rank that stops an iteration earlier than the
// others would leave them waiting for ever. Hence an algorithm that promises the same bits.
template <class Algorithm>
solution solve(problem const& problem, Algorithm const& algorithm) {
  auto const sum = [&](double value) { return colligo::all_reduce(problem.comm, value, std::plus<>{}, algorithm); };

  solution x{numbers(problem.b.size())};
  numbers r = problem.b, z(r.size());
  problem.precondition(r, z);
  numbers direction = z;
  double rz = sum(dot(r, z)), residual = std::sqrt(sum(dot(r, r)));
  double const goal = problem.tolerance * residual;
  for (; x.iterations < problem.most && residual > goal; ++x.iterations) {
    numbers const product = problem.product(direction);
    double const step = rz / sum(dot(direction, product));
    for (std::size_t i = 0; i < r.size(); ++i) x.mine[i] += step * direction[i], r[i] -= step * product[i];
    problem.precondition(r, z);
    // Both products in one message.
    std::array products{dot(r, z), dot(r, r)};
    colligo::all_reduce(problem.comm, colligo::in_place(products), std::plus<>{}, algorithm);
    double const turn = products[0] / rz;
    rz = products[0];
    residual = std::sqrt(products[1]);
    for (std::size_t i = 0; i < r.size(); ++i) direction[i] = z[i] + turn * direction[i];
  }
  x.converged = residual <= goal;
  return x;
}

// P. Ghysels, W. Vanroose: Hiding global synchronization latency in the preconditioned Conjugate Gradient algorithm,
// Parallel Computing 40 (2014), algorithm 4, with the paper's letters: M is the diagonal of A; u = M^-1 r, w = A u,
// m = M^-1 w, n = A m, s = A p, q = M^-1 s, z = A q, all of them updated but m and n.
template <class Algorithm>
solution solve_pipelined(problem const& problem, Algorithm const& algorithm) {
  std::size_t const size = problem.b.size();
  solution x{numbers(size)};
  numbers r = problem.b, u(size), p(size), s(size), q(size), z(size), m(size), whole_m = problem.whole();
  problem.precondition(r, u);
  numbers w = problem.product(u);

  // Made once, on memory that stays in place.
  std::array<double, 3> products{};
  colligo::persistent sums =
      colligo::all_reduce_init(problem.comm, colligo::in_place(products), std::plus<>{}, algorithm);
  colligo::persistent gathers = colligo::all_gatherv_init(problem.comm, m, whole_m, problem.rows);
  double goal = 0, gamma = 0, alpha = 0;
  for (;; ++x.iterations) {
    problem.precondition(w, m);
    gathers.start();
    products = {dot(r, u), dot(w, u), dot(r, r)};
    sums.start();
    gathers.wait();
    numbers const n = problem.a * whole_m;
    sums.wait();

    // Only now the rank knows that it has converged: a wasted product is the price of not waiting.
    if (x.iterations == 0) goal = problem.tolerance * std::sqrt(products[2]);   // r = b
    x.converged = std::sqrt(products[2]) <= goal;
    if (x.converged || x.iterations == problem.most) return x;

    double const before = std::exchange(gamma, products[0]), delta = products[1];
    double const beta = x.iterations == 0 ? 0 : gamma / before;
    alpha = x.iterations == 0 ? gamma / delta : gamma / (delta - beta * gamma / alpha);
    for (std::size_t i = 0; i < size; ++i) {
      z[i] = n[i] + beta * z[i], q[i] = m[i] + beta * q[i], s[i] = w[i] + beta * s[i], p[i] = u[i] + beta * p[i];
      x.mine[i] += alpha * p[i], r[i] -= alpha * s[i], u[i] -= alpha * q[i], w[i] -= alpha * z[i];
    }

    // Rounding: the updated vectors deviate from their definitions sooner than in the classic form, and the method
    // stagnates above the default tolerance with both matrices of examples/data. So all of them are recomputed now and
    // then.
    constexpr std::int64_t interval = 50;
    if ((x.iterations + 1) % interval == 0) {
      std::ranges::transform(problem.b, problem.product(x.mine), r.begin(), std::minus<>{});
      problem.precondition(r, u);
      w = problem.product(u);
      s = problem.product(p);
      problem.precondition(s, q);
      z = problem.product(q);
    }
  }
}

// The promise is part of an algorithm's policy: checked by the compiler for the default ...
template <class Tag>
constexpr bool same_bits = [] {
  if constexpr (colligo::offers<Tag, colligo::collective::all_reduce, double, std::plus<>>)
    return colligo::gives_same_bits<colligo::policy_t<colligo::collective::all_reduce, Tag, double, std::plus<>>>();
  else return false;
}();
static_assert(same_bits<colligo::recursive_doubling>);

// ... and by name for what the command line asks for. Unknown names are left to the library, whose
// message lists the known ones.
bool may_differ(std::string_view algorithm) {
  bool differs = false;
  colligo::for_each_algorithm([&]<class Tag>(Tag const&) {
    if (Tag::name == algorithm.substr(0, algorithm.find_first_of(":@"))) differs = !same_bits<Tag>;
  });
  return differs;
}

int main(int argc, char** argv) {
  mpi::environment const environment(argc, argv);
  mpi::communicator const world;
  bool const speaks = world.rank() == 0;

  std::string path = COLLIGO_EXAMPLE_DATA "/1138_bus.mtx", algorithm;
  double tolerance = 1e-10;
  bool pipelined = false;
  std::int64_t most = 0;
  CLI::App app("Conjugate gradient method for a Matrix Market matrix, rows shared out over the ranks");
  app.add_option("file", path, "symmetric positive definite matrix")->capture_default_str();
  app.add_option("--algorithm", algorithm,
                 "of the dot products, by name (default recursive_doubling, fixed at compile time)");
  app.add_option("--tolerance", tolerance, "of the residual, relative to b")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--max-iterations", most, "(default: 10 times the number of rows)")->check(CLI::PositiveNumber);
  app.add_flag("--pipelined", pipelined, "one reduction per iteration, behind the product with the matrix");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return speaks ? app.exit(e) : e.get_exit_code();
  }
  if (may_differ(algorithm)) {
    if (speaks)
      fmt::print(stderr, "{} does not promise the same bits on all ranks, which could disagree on when to stop\n",
                 algorithm);
    return 1;
  }

  matrix a;
  std::string complaint;
  try {
    a = read_matrix(path);
  } catch (std::exception const& e) {
    complaint = path + ": " + e.what();
  }
  try {
    // A rank that alone cannot read the file must not leave the others waiting.
    int const complains =
        colligo::all_reduce(world, complaint.empty() ? world.size() : world.rank(), colligo::minimum{});
    if (complains == world.rank()) fmt::print(stderr, "{}\n", complaint);
    if (complains != world.size()) return 1;

    if (most == 0) most = static_cast<std::int64_t>(10 * a.n);
    auto const rows = rows_by_nonzeros(a, world.size());
    std::size_t const first = std::reduce(rows.begin(), rows.begin() + world.rank());
    row_block const mine(a, {first, first + rows[static_cast<std::size_t>(world.rank())]});
    numbers const b = mine * numbers(a.n, 1.0);

    problem const problem{world, mine, b, rows, tolerance, most};
    auto const solve_with = [&](auto const& with) {
      return pipelined ? solve_pipelined(problem, with) : solve(problem, with);
    };
    solution const x =
        algorithm.empty() ? solve_with(colligo::recursive_doubling{}) : solve_with(colligo::named(algorithm));

    // The true residual of x: because of rounding the updated one deviates from it, and if they are far apart the
    // tolerance is out of reach.
    numbers whole(a.n);
    colligo::all_gatherv(world, x.mine, whole, rows);
    numbers rest = mine * whole;
    std::ranges::transform(b, rest, rest.begin(), std::minus<>{});
    std::array squares{dot(rest, rest), dot(b, b)};
    colligo::all_reduce(world, colligo::in_place(squares), std::plus<>{}, colligo::recursive_doubling{});
    double const residual = std::sqrt(squares[0] / squares[1]);
    bool const solved = x.converged && residual <= 2 * tolerance;
    double error = 0;
    for (double const value : whole) error = std::max(error, std::abs(value - 1));

    if (speaks) {
      fmt::print("matrix             {}, n = {}, {} nonzeros\n", std::filesystem::path(path).filename().string(), a.n,
                 a.nonzeros());
      fmt::print("ranks              {}\n", world.size());
      fmt::print("form               {}\n", pipelined ? "pipelined" : "classic");
      fmt::print("algorithm          {}\n", algorithm.empty() ? colligo::recursive_doubling::name : algorithm);
      fmt::print("iterations         {}\n", x.iterations);
      fmt::print("relative residual  {:.2e}\n", residual);
      fmt::print("largest error      {:.2e}\n", error);
      if (!solved)
        fmt::print(stderr, "not converged: the relative residual is above the tolerance of {:g}\n", tolerance);
    }
    return solved ? 0 : 1;
  } catch (colligo::algorithm_error const& e) {   // the same name, hence the same error, at every rank
    if (speaks) fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
