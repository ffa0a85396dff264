// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include <colligo/each.hpp>
#include <colligo/exact_sum.hpp>

#include "../laws.hpp"

using namespace colligo;

namespace {

struct observed {
  double largest;
  short count;
  std::array<int, 2> pair;
  bool operator==(observed const&) const = default;
};
struct both_of_pairs {
  std::array<int, 2> operator()(std::array<int, 2> a, std::array<int, 2> b) const { return {a[0] * b[0], b[1]}; }
};
using of_tuple = std::tuple<double, int, exact_sum<double>>;

}  // namespace

TEST_CASE("each combines the members of tuples, pairs, arrays and aggregates") {
  CHECK(each(std::plus<>{}, maximum{})(std::tuple{1, 2.5}, std::tuple{10, 1.5}) == std::tuple{11, 2.5});
  CHECK(each(std::plus<>{}, minimum{})(std::pair{1, 2.5}, std::pair{10, 1.5}) == std::pair{11, 1.5});
  CHECK(each(std::plus<>{}, minimum{}, std::multiplies<>{})(std::array{1, 2, 3}, std::array{10, 1, 5}) ==
        std::array{11, 1, 15});
  auto const merge = each(maximum{}, std::plus<>{}, both_of_pairs{});
  CHECK(merge(observed{1, 2, {3, 4}}, observed{0, 7, {2, 9}}) == observed{1, 9, {6, 9}});

  static_assert(commutative<each<std::plus<>, maximum>, std::pair<int, double>>);
  static_assert(!exact<each<std::plus<>, maximum>, std::pair<int, double>>);
  static_assert(exact<each<std::plus<>, std::plus<>>, std::pair<int, exact_sum<float>>>);
  static_assert(!commutative<each<maximum, std::plus<>, both_of_pairs>, observed>);
  static_assert(!detail::functor_on<each<std::plus<>>, std::pair<int, int>>);
  static_assert(!detail::functor_on<each<std::plus<>, std::plus<>>, std::pair<int, std::array<int, 2>>>);
}

TEST_CASE("several reductions of different kinds are one call, by every algorithm") {
  for (int const p : {1, 2, 5, 8})
    run_threads(p, [p](thread_communicator& comm) {
      int const me = comm.rank();
      tested::for_each_algorithm([&]<class Tag>(Tag tag) {
        using op = each<maximum, std::plus<>, std::plus<>>;
        if constexpr (laws::takes_words<Tag> && offers<Tag, collective::all_reduce, of_tuple, op>) {
          ++tested::count;
          auto const got = colligo::all_reduce(comm, of_tuple{me, 1, exact_sum(0.1)}, op({}, {}, {}), tag);
          exact_sum<double> sum;
          for (int r = 0; r < p; ++r) sum += 0.1;
          if (got != of_tuple{p - 1, p, sum}) throw std::runtime_error("each: " + std::string(Tag::name));
        }
      });
    });
}
