// SPDX-License-Identifier: BSL-1.0
// The lines of examples/guide/porting-from-boost.md beside those of Boost.MPI: what they leave in memory is the same.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <boost/mpi.hpp>
#include <boost/mpi/collectives/all_gatherv.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <colligo/colligo.hpp>

#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace mpi = boost::mpi;

double made(double, int i) { return 3 * i + 1; }
int made(int, int i) { return 3 * i + 1; }
std::string made(std::string const&, int i) { return "<" + std::to_string(i) + ">"; }

struct plus {
  template <class T>
  T operator()(T const& a, T const& b) const { return a + b; }
};

/// Commutes, as only Boost.MPI's trait says.
struct known_to_boost {
  using pair = std::pair<int, double>;
  pair operator()(pair const& a, pair const& b) const { return {a.first + b.first, std::max(a.second, b.second)}; }
};

}  // namespace

template <>
struct boost::mpi::is_commutative<known_to_boost, known_to_boost::pair> : boost::mpl::true_ {};

namespace {

/// All that the lines read and write, on one rank.
template <class T>
struct memory {
  T value, result;
  std::vector<T> in, out;               ///< n each
  std::vector<T> empty;
  std::vector<T> out_all;               ///< p n
  std::vector<T> list;                  ///< `mine` elements, on no two ranks the same number
  std::vector<T> into;                  ///< as many
  std::vector<T> each_at_root, joined;  ///< at the root: p elements, and all lists' elements
  std::vector<std::vector<T>> lists;    ///< at the root: p of different lengths
  std::vector<T> each, out_each;        ///< p elements
  std::vector<T> all;                   ///< p n
  std::vector<T> spaced;                ///< all lists' elements and p * p more
  friend bool operator==(memory const&, memory const&) = default;
};

template <class T>
class porting {
 public:
  explicit porting(int root_rank) : root(root_rank) {
    counts.resize(static_cast<std::size_t>(p));
    std::iota(counts.begin(), counts.end(), 1);
    for (int r = 0; r < p; ++r) {
      offsets.push_back(r * (r + 1) / 2);
      displs.push_back(offsets.back() + r * p);
      shuffled.push_back(p * (p + 1) / 2 - offsets.back() - counts[static_cast<std::size_t>(r)]);
    }
  }

  memory<T> fresh() const {
    auto const some = [first = 100 * world.rank()](auto count) {
      std::vector<T> made_here;
      for (int i = 0; i < static_cast<int>(count); ++i) made_here.push_back(made(T{}, first + i));
      return made_here;
    };
    memory<T> m{some(1)[0], T{}, some(n), std::vector<T>(static_cast<std::size_t>(n)), {},
                std::vector<T>(static_cast<std::size_t>(p * n)),
                some(mine), std::vector<T>(static_cast<std::size_t>(mine)), {}, {}, {}, some(p),
                std::vector<T>(static_cast<std::size_t>(p)), some(p * n), some(p * (3 * p + 1) / 2)};
    if (at_root) {
      m.each_at_root = some(p), m.joined = some(p * (p + 1) / 2);
      for (int r = 0; r < p; ++r) m.lists.push_back(some(r));
    }
    return m;
  }

  void run() const;

 private:
  mpi::communicator const world{};
  int const p = world.size(), root, n = 4, mine = world.rank() + 1;
  bool const at_root = world.rank() == root;
  plus const op{};
  std::vector<int> counts, offsets;      // of all lists, one after the other
  std::vector<int> displs, shuffled;     // with gaps; the last rank's first
  std::vector<int> const ones = std::vector<int>(static_cast<std::size_t>(p), 1);
};

// Boost.MPI's line, and this library's.
#define COLLIGO_MEMBERS                                                                                   \
  value, result, in, out, empty, out_all, list, into, each_at_root, joined, lists, each, out_each, all, spaced
#define BESIDE(boosts, ours)                       \
  do {                                             \
    memory<T> expected = fresh(), got = expected;  \
    {                                              \
      auto& [COLLIGO_MEMBERS] = expected;          \
      boosts;                                      \
    }                                              \
    {                                              \
      auto& [COLLIGO_MEMBERS] = got;               \
      ours;                                        \
    }                                              \
    BOOST_CHECK_MESSAGE(got == expected, #ours);   \
  } while (false)
#define BESIDE_ITSELF(colligos) BESIDE(mpi::colligos, colligo::colligos)
// The root writes one line, the others another.
#define BESIDE_AT_ROOT(colligos, elsewhere)                        \
  BESIDE(at_root ? void(mpi::colligos) : void(mpi::elsewhere),     \
         at_root ? void(colligo::colligos) : void(colligo::elsewhere))

template <class T>
void porting<T>::run() const {
  BESIDE(result = mpi::all_reduce(world, value, op), result = colligo::all_reduce(world, value, op));
  BESIDE_ITSELF(all_reduce(world, value, result, op));
  BESIDE_ITSELF(all_reduce(world, in.data(), n, out.data(), op));
  BESIDE_ITSELF(all_reduce(world, mpi::inplace(value), op));
  BESIDE_ITSELF(all_reduce(world, mpi::inplace(in.data()), n, op));
  BESIDE(mpi::all_reduce(world, mpi::inplace(value), op),
         colligo::all_reduce(world, colligo::in_place(value), op));
  BESIDE(mpi::all_reduce(world, mpi::inplace(in.data()), n, op),
         colligo::all_reduce(world, colligo::in_place(in), op));
  BESIDE(mpi::all_reduce(world, in.data(), n, out.data(), op),
         colligo::all_reduce(world, in, out, op));

  BESIDE_ITSELF(reduce(world, value, result, op, root));
  BESIDE_AT_ROOT(reduce(world, value, result, op, root), reduce(world, value, op, root));
  BESIDE_ITSELF(reduce(world, in.data(), n, out.data(), op, root));
  BESIDE_AT_ROOT(reduce(world, in.data(), n, out.data(), op, root),
                 reduce(world, in.data(), n, op, root));
  BESIDE_ITSELF(reduce(world, in, empty, op, root));
  BESIDE_AT_ROOT(reduce(world, in, empty, op, root), reduce(world, in, op, root));

  BESIDE_ITSELF(broadcast(world, value, root));
  BESIDE_ITSELF(broadcast(world, in.data(), n, root));
  BESIDE(mpi::broadcast(world, list, root), colligo::broadcast(world, colligo::resized(list), root));
  BESIDE(mpi::broadcast(world, empty, root), colligo::broadcast(world, empty, root));   // empty everywhere
  BESIDE(mpi::broadcast(world, mpi::skeleton(lists), root); result = made(T{}, static_cast<int>(lists.size())),
         colligo::broadcast(world, mpi::skeleton(lists), root); result = made(T{}, static_cast<int>(lists.size())));
  if constexpr (std::is_arithmetic_v<T>)
    BESIDE(mpi::broadcast(world, mpi::skeleton(list), root); mpi::broadcast(world, mpi::get_content(list), root),
           colligo::broadcast(world, mpi::skeleton(list), root);
           colligo::broadcast(world, mpi::get_content(list), root));

  BESIDE_ITSELF(all_gather(world, value, empty));
  BESIDE_ITSELF(all_gather(world, value, out_all.data()));
  BESIDE_ITSELF(all_gather(world, in.data(), n, empty));
  BESIDE_ITSELF(all_gather(world, in.data(), n, out_all.data()));
  BESIDE_ITSELF(all_gather(world, list, lists));
  BESIDE_ITSELF(all_gatherv(world, list, empty, counts));
  BESIDE_ITSELF(all_gatherv(world, list.data(), out_all.data(), counts));
  BESIDE_ITSELF(all_gatherv(world, value, out_all.data(), ones));
  if constexpr (std::is_arithmetic_v<T>) {   // what Boost's serialises goes elsewhere than displacements say
    BESIDE_ITSELF(all_gatherv(world, list.data(), spaced.data(), counts, displs));
    BESIDE(mpi::all_gatherv(world, &value, spaced.data(), ones, displs),   // Boost's does not compile for a value
           colligo::all_gatherv(world, value, spaced.data(), ones, displs));
    BESIDE_ITSELF(all_gatherv(world, list, empty, counts, shuffled));
  }
  BESIDE(mpi::all_gatherv(world, list, empty, counts), empty = colligo::all_gatherv(world, list).data);

  BESIDE_ITSELF(gather(world, value, empty, root));
  BESIDE_ITSELF(gather(world, value, out_all.data(), root));
  BESIDE_AT_ROOT(gather(world, value, empty, root), gather(world, value, root));
  BESIDE_ITSELF(gather(world, in.data(), n, empty, root));
  BESIDE_ITSELF(gather(world, in.data(), n, out_all.data(), root));
  if constexpr (std::is_arithmetic_v<T>)   // Boost's does not compile for others
    BESIDE_AT_ROOT(gather(world, in.data(), n, empty, root), gather(world, in.data(), n, root));
  BESIDE_ITSELF(gather(world, list, lists, root));
  BESIDE_AT_ROOT(gather(world, list, lists, root), gather(world, list, root));
  BESIDE_AT_ROOT(gatherv(world, list, out_all.data(), counts, root), gatherv(world, list, root));
  BESIDE_AT_ROOT(gatherv(world, list.data(), mine, out_all.data(), counts, root),
                 gatherv(world, list.data(), mine, root));
  BESIDE_ITSELF(gatherv(world, list, out_all.data(), counts, offsets, root));
  if constexpr (std::is_arithmetic_v<T>) {
    BESIDE_AT_ROOT(gatherv(world, list, spaced.data(), counts, displs, root), gatherv(world, list, root));
    BESIDE_ITSELF(gatherv(world, list.data(), mine, spaced.data(), counts, displs, root));
  }

  BESIDE_ITSELF(scatter(world, each_at_root, result, root));
  BESIDE_ITSELF(scatter(world, std::as_const(each_at_root).data(), result, root));
  BESIDE_AT_ROOT(scatter(world, each_at_root, result, root), scatter(world, result, root));
  BESIDE_ITSELF(scatter(world, out_all, out.data(), n, root));
  BESIDE_ITSELF(scatter(world, out_all.data(), out.data(), n, root));
  BESIDE_AT_ROOT(scatter(world, out_all, out.data(), n, root), scatter(world, out.data(), n, root));
  BESIDE_ITSELF(scatter(world, lists, list, root));
  BESIDE_AT_ROOT(scatterv(world, joined, counts, into.data(), root), scatterv(world, into.data(), mine, root));
  BESIDE_AT_ROOT(scatterv(world, joined.data(), counts, into.data(), root), scatterv(world, into.data(), mine, root));
  BESIDE_AT_ROOT(scatterv(world, joined, counts, into.data(), root), scatterv(world, empty, into.data(), mine, root));
  BESIDE_AT_ROOT(scatterv(world, joined.data(), counts, into.data(), root),
                 scatterv(world, std::as_const(empty).data(), into.data(), mine, root));
  BESIDE_AT_ROOT(scatterv(world, joined, counts, offsets, into.data(), mine, root),
                 scatterv(world, into.data(), mine, root));
  if constexpr (std::is_arithmetic_v<T>) {
    BESIDE_AT_ROOT(scatterv(world, spaced, counts, displs, into.data(), mine, root),
                   scatterv(world, into.data(), mine, root));
    BESIDE_AT_ROOT(scatterv(world, std::as_const(spaced).data(), counts, shuffled, into.data(), mine, root),
                   scatterv(world, into.data(), mine, root));
  }

  BESIDE(result = mpi::scan(world, value, op), result = colligo::scan(world, value, op));
  BESIDE_ITSELF(scan(world, value, result, op));
  BESIDE_ITSELF(scan(world, in.data(), n, out.data(), op));

  BESIDE_ITSELF(all_to_all(world, each, empty));
  BESIDE_ITSELF(all_to_all(world, all, n, empty));
  BESIDE_ITSELF(all_to_all(world, each.data(), out_each.data()));
  BESIDE_ITSELF(all_to_all(world, all.data(), n, out_all.data()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(porting_from_boost_mpi)

BOOST_AUTO_TEST_CASE(every_line_does_what_boost_mpi_s_does) {
  for (int const root : {0, mpi::communicator().size() - 1}) {
    porting<double>(root).run();
    porting<std::string>(root).run();
  }
}

// What Boost.MPI does not have, beside MPI's own.
BOOST_AUTO_TEST_CASE(exclusive_scans_give_offsets) {
  mpi::communicator const world;
  long const mine = world.rank() + 3;
  long offset = 0;
  MPI_Exscan(&mine, &offset, 1, MPI_LONG, MPI_SUM, world);
  BOOST_CHECK_EQUAL(colligo::exclusive_scan(world, mine, std::plus<>{}), offset);
  BOOST_CHECK_EQUAL(colligo::exclusive_scan(world, mine, 1000, std::plus<>{}), 1000 + offset);
  std::vector<long> values(5, mine);
  colligo::exclusive_scan(world, colligo::in_place(values), 7, std::plus<>{}, colligo::doubling_123{});
  BOOST_CHECK(values == std::vector<long>(5, 7 + offset));
  // No operand that the functor does not see: nothing but words that the ranks have.
  std::string const before = colligo::exclusive_scan(world, std::string("x"), std::plus<>{});
  BOOST_CHECK_EQUAL(before, std::string(static_cast<std::size_t>(world.rank()), 'x'));
}

BOOST_AUTO_TEST_CASE(counts_that_nobody_knows_are_found) {
  mpi::communicator const world;
  int const p = world.size(), root = p / 2;
  std::string const mine(static_cast<std::size_t>(world.rank()), static_cast<char>('a' + world.rank()));
  std::string all;
  for (int r = 0; r < p; ++r) all += std::string(static_cast<std::size_t>(r), static_cast<char>('a' + r));
  auto const at_root = colligo::gatherv(world, mine, root);
  BOOST_CHECK_EQUAL(std::string(at_root.data.begin(), at_root.data.end()), world.rank() == root ? all : "");
  auto const everywhere = colligo::all_gatherv(world, mine.data(), mine.size());
  BOOST_CHECK_EQUAL(std::string(everywhere.data.begin(), everywhere.data.end()), all);
  for (std::size_t r = 0; r < at_root.counts.size(); ++r)
    BOOST_CHECK(at_root.counts[r] == r && everywhere.counts[r] == r);
}

/// Blocks with gaps between them, the last rank's first: where they come to, and back again.
template <class T>
void run_displaced() {
  mpi::communicator const world;
  int const p = world.size(), me = world.rank(), root = p - 1;
  auto const n_of = [](int rank) { return static_cast<std::size_t>(rank % 3); };   // rank 0 has none
  std::vector<T> const mine(n_of(me), made(T{}, me)), before(static_cast<std::size_t>(3 * p), made(T{}, -1));
  std::vector<int> sizes, displs;
  auto expected = before;
  for (int r = 0; r < p; ++r) {
    sizes.push_back(static_cast<int>(n_of(r)));
    displs.push_back(3 * (p - 1 - r));
    std::fill_n(expected.begin() + displs.back(), n_of(r), made(T{}, r));
  }
  auto got = before;
  colligo::all_gatherv(world, mine, got, sizes, displs);
  BOOST_CHECK(got == expected);
  got = before;
  colligo::gatherv(world, mine, got.data(), sizes, displs, root, colligo::binary_tree{});
  BOOST_CHECK(got == (me == root ? expected : before));
  std::vector<T> back(n_of(me));
  if (me != root) got.clear(), sizes.clear(), displs.clear();   // nobody else needs them
  colligo::scatterv(world, got, sizes, displs, back.data(), back.size(), root, colligo::binary_tree{});
  BOOST_CHECK(back == mine);
}

BOOST_AUTO_TEST_CASE(blocks_go_where_displacements_say) {
  run_displaced<int>();
  run_displaced<std::string>();
}

/// By these algorithms: for all_gather, for the rooted ones, for scan.
template <class T>
void run_in_place(std::string const& everywhere, std::string const& rooted, std::string const& scanning) {
  colligo::named const all_gathered(everywhere), by_root(rooted), scanned(scanning);
  mpi::communicator const world;
  int const p = world.size(), me = world.rank(), root = p - 1;
  auto const n = static_cast<std::size_t>(3), all_n = n * static_cast<std::size_t>(p);
  T const absent = made(T{}, -1);
  auto const of = [&](int rank) { return std::vector<T>(n, made(T{}, rank)); };
  std::vector<T> everything, sums = of(0), mine(all_n, absent);
  for (int r = 0; r < p; ++r) everything.insert(everything.end(), n, made(T{}, r));
  for (int r = 1; r < p; ++r)
    for (auto& sum : sums) sum = sum + made(T{}, r);
  std::copy_n(of(me).begin(), n, mine.begin() + static_cast<std::ptrdiff_t>(n) * me);
  std::vector<int> const counts(static_cast<std::size_t>(p), 3);

  auto values = mine;
  colligo::all_gather(world, colligo::in_place(values), all_gathered);
  BOOST_CHECK(values == everything);
  values = mine;
  colligo::all_gatherv(world, colligo::in_place(values), counts, all_gathered);
  BOOST_CHECK(values == everything);
  for (bool const by_counts : {false, true}) {
    values = me == root ? mine : of(me);
    if (by_counts) colligo::gatherv(world, colligo::in_place(values), counts, root, by_root);
    else colligo::gather(world, mpi::inplace(values), root, by_root);
    BOOST_CHECK(values == (me == root ? everything : of(me)));
    values = me == root ? everything : std::vector<T>(n);
    if (by_counts) colligo::scatterv(world, colligo::in_place(values), counts, root, by_root);
    else colligo::scatter(world, colligo::in_place(values), root, by_root);
    BOOST_CHECK(values == (me == root ? everything : of(me)));
  }
  values = of(me);
  colligo::reduce(world, colligo::in_place(values), plus{}, root, by_root);
  BOOST_CHECK(values == (me == root ? sums : of(me)));
  values = of(me);
  colligo::scan(world, colligo::in_place(values), plus{}, scanned);
  BOOST_CHECK(me != root || values == sums);
  values = of(me);
  colligo::exclusive_scan(world, colligo::in_place(values), T{}, plus{}, scanned);
  for (auto& value : values) value = value + made(T{}, me);   // what the inclusive one gives
  BOOST_CHECK(me != root || values == sums);
}

BOOST_AUTO_TEST_CASE(in_place_is_there_wherever_mpi_has_it) {
  run_in_place<double>("automatic", "automatic", "automatic");
  run_in_place<double>("vendor", "vendor", "vendor");
  run_in_place<double>("ring", "binary_tree", "pipelined_chain");
  run_in_place<std::string>("linear_ring", "binary_tree", "recursive_doubling");
}

BOOST_AUTO_TEST_CASE(pairs_of_numbers_travel_as_bytes_and_boost_s_word_counts) {
  using pair = known_to_boost::pair;
  static_assert(colligo::travels_as_bytes<pair> && !colligo::travels_as_bytes<std::pair<int, std::string>>);
  static_assert(colligo::commutative<known_to_boost, pair> && !colligo::commutative<known_to_boost, double>);
  mpi::communicator const world;
  int const p = world.size();
  pair const sum = colligo::all_reduce(world, pair(1, 0.5 * world.rank()), known_to_boost{}, colligo::ring{});
  BOOST_CHECK(sum == pair(p, 0.5 * (p - 1)));
}

BOOST_AUTO_TEST_CASE(what_a_broadcast_brings_is_the_root_s_or_an_error) {
  mpi::communicator const world;
  bool const at_root = world.rank() == 0;
  std::string text = at_root ? "long enough to be told from nothing" : "";
  colligo::broadcast(world, text, 0);
  BOOST_CHECK_EQUAL(text, "long enough to be told from nothing");
  std::vector<int> list(at_root ? 5 : static_cast<std::size_t>(world.rank()), 1);
  colligo::broadcast(world, colligo::resized(list), 0);
  BOOST_CHECK(list == std::vector<int>(5, 1));
  // Boost's line, where elements are serialised; a container that is not empty has to fit.
  std::vector<std::string> words(at_root ? 3 : 0, "word"), none(at_root || world.rank() == 1 ? 0 : 2);
  colligo::broadcast(world, words, 0);
  BOOST_CHECK(words == std::vector<std::string>(3, "word"));
  if (none.empty()) colligo::broadcast(world, none, 0);
  else BOOST_CHECK_THROW(colligo::broadcast(world, none, 0), colligo::argument_error);
  BOOST_CHECK_EQUAL(colligo::all_reduce(world, 1, std::plus<>{}), world.size());
  // Of bytes it is an error that says what to write, not the beginning of the next broadcast.
  if (world.size() == 1) return;
  for (auto const* const name : {"automatic", "binary_tree@messages", "vendor"})
    for (std::size_t const n : {5u, 8u}) {
      mpi::communicator const comm(world, mpi::comm_duplicate), pair = comm.split(world.rank() / 2);
      if (pair.size() != 2) continue;
      std::vector<int> never_sized(pair.rank() == 0 ? n : 0, 1);
      auto const call = [&] { colligo::broadcast(pair, never_sized, 0, colligo::named(name)); };
      auto const says = [&](colligo::error const& e) {
        BOOST_TEST_MESSAGE(e.what());
        return std::string(e.what()).find("resized(container)") != std::string::npos;
      };
      if (pair.rank() == 0) call();
      else BOOST_CHECK_EXCEPTION(call(), colligo::error, says);
    }
}

BOOST_AUTO_TEST_CASE(sizes_that_are_wrong_are_refused) {
  mpi::communicator const alone = mpi::communicator().split(mpi::communicator().rank());
  double in[2] = {1, 2}, out[2] = {};
  std::vector<int> const wrong{1};
  BOOST_CHECK_THROW(colligo::all_reduce(alone, in, -1, out, std::plus<>{}), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::gatherv(alone, in, 2, &out[0], wrong, 0), colligo::argument_error);
  // The root, without an output or an input.
  BOOST_CHECK_THROW(colligo::reduce(alone, in, 2, std::plus<>{}, 0), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::gather(alone, 1.0, 0), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::scatter(alone, out[0], 0), colligo::argument_error);
  std::vector<int> const one{1}, far{2}, before{-1}, all{0, 0};
  BOOST_CHECK_THROW(colligo::gatherv(alone, in, 1, &out[0], one, all, 0), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::scatterv(alone, std::vector<double>(2), one, far, &out[0], 1, 0), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::scatterv(alone, std::span(in), one, before, &out[0], 1, 0), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::all_gatherv(alone, std::span(in, 1), out, one, far), colligo::argument_error);
  BOOST_CHECK_EQUAL(out[0], 0);
}

BOOST_AUTO_TEST_SUITE_END()
