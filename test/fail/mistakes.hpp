// SPDX-License-Identifier: BSL-1.0
// What the calls in mistakes.txt are made with.
// Without what makes units long, for it is compiled for each call: the messages are the same.
#define COLLIGO_WITHOUT_BOOST_MPI
#include <colligo/all_gatherv.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/barrier.hpp>
#include <colligo/binned_sum.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/each.hpp>
#include <colligo/exchange/sparse_all_to_all.hpp>
#include <colligo/gather.hpp>
#include <colligo/halo.hpp>
#include <colligo/neighbours.hpp>
#include <colligo/reduce.hpp>
#include <colligo/reduce_scatter.hpp>
#include <colligo/require.hpp>
#include <colligo/scan.hpp>
#include <colligo/scatter.hpp>
#include <colligo/sequence.hpp>
#include <colligo/sparse.hpp>

#include <boost/multi_array.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <vector>

struct point { double x, y; };
struct owner { std::unique_ptr<double> value; };
class with_pair { std::pair<int, double> value; };
struct adding {
  double value;
  adding operator+(adding const& other) { return {value + other.value}; }
  adding plus(adding const& other) const { return {value + other.value}; }
};
struct frozen { double const value; };
struct unordered_place { int row; };
struct watcher { double const& seen; int rank; };
struct sums_owner {
  std::unique_ptr<int> kept;
  double operator()(double a, double b) const { return a + b; }
};
struct metres {
  double value;
  explicit metres(double n) : value(n) {}
  metres operator+(metres const& other) const { return metres(value + other.value); }
  friend bool operator<(metres const& a, metres const& b) { return a.value < b.value; }
};
struct halves {   // an mdspan whose accessor makes elements
  using element_type = double;
  using reference = double;
  static constexpr std::size_t rank() { return 1; }
  int stride(std::size_t) const;
  int extent(std::size_t) const;
  halves const& mapping() const;
  halves const& extents() const;
  double* data_handle() const;
};
struct with_name {
  char name[8];
  double value;
};
struct with_constant_name {
  static constexpr char const* name = "sum";
  point operator()(point const& a, point const&) const { return a; }
};
struct with_long_name {
  std::string name;
  double value;
};
struct sharer { std::shared_ptr<double> value; };

extern colligo::mpi_communicator world;
extern colligo::thread_communicator thread;
extern colligo::neighbours<colligo::mpi_communicator> graph;
extern std::vector<double> in, out, all;
extern std::vector<double> const fixed;
extern std::vector<float> floats;
extern std::vector<int> counts, displs, integers;
extern std::vector<bool> bits;
extern std::vector<point> points;
extern std::vector<owner> owners;
extern std::vector<colligo::located<double, unordered_place>> unordered_places;
extern std::vector<metres> lengths;
extern double volatile changing;
extern with_name named_point;
extern with_long_name long_named;
extern std::vector<sharer> sharers;
extern std::vector<with_pair> with_pairs;
extern std::vector<adding> hasty;
extern std::vector<frozen> of_constants;
extern std::vector<watcher> watchers;
extern halves halved;
extern std::pair<std::string, int> word_and_number;
extern std::vector<std::array<double, 3>> triples;
extern std::vector<std::vector<double>> lists;
extern std::list<double> list;
extern std::deque<double> deque;
extern std::map<int, double> map;
extern std::string text;
extern double value, other, plane[2][3], plane_of_sums[2][3];
extern double *pointer, *to;
extern boost::multi_array<double, 2> grid, grid_of_sums;
extern Eigen::VectorXd vector;
extern Eigen::MatrixXd matrix;

std::map<int, double> merged(std::map<int, double> const&, std::map<int, double> const&);
Eigen::MatrixXd multiplied(Eigen::MatrixXd const&, Eigen::MatrixXd const&);
std::vector<double> made(int);
double sum(double, double);
float sum(float, float);
#ifdef __clang__   // whose version 14 can not compile this standard library's views
extern std::deque<double> doubled, reversed, positive;
#else
inline auto const doubled = std::views::transform(in, [](double x) { return 2 * x; });
inline auto const reversed = std::views::reverse(in);
inline auto positive = std::views::filter(in, [](double x) { return x > 0; });
#endif
