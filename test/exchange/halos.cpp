// SPDX-License-Identifier: BSL-1.0
// Halos over threads against the array as a whole, and the loops that pack them.
#include <catch2/catch.hpp>

#include <colligo/exchange.hpp>
#include <colligo/request.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "../memory/counted_host.hpp"
#include "../most_ranks.hpp"

using namespace colligo;

namespace {

constexpr int untouched = -7;
constexpr int most_cells = COLLIGO_TEST_MOST_RANKS < 9 ? 8 : 24;   // of a grid

/// A rank's part of an array whose element at x has the value of(x, time); calls f(i) for all i of its part and ghosts.
template <std::size_t D>
struct part_of_array {
  std::array<std::size_t, D> whole{}, first{}, extents{};
  std::array<bool, D> periodic{};
  std::size_t width;
  corners which;
  std::vector<int> memory;
  strided_view<int, D> view;

  /// `more`: cells of each rank along each axis.
  part_of_array(grid<thread_communicator, D> const& on, std::size_t ghosts, corners has, bool column_major,
                std::size_t more)
      : periodic(on.periodic()), width(ghosts), which(has) {
    for (std::size_t d = 0; d < D; ++d) {
      whole[d] = static_cast<std::size_t>(on.ranks()[d]) * (ghosts + more) + 3 * d + 1;
      auto const mine = on.part(whole[d], d);
      first[d] = mine.first, extents[d] = mine.size() + 2 * ghosts;
    }
    view = {nullptr, extents, {}};
    std::ptrdiff_t next = 1;   // column by column there is also room between columns
    for (std::size_t k = 0; k < D; ++k) {
      std::size_t const d = column_major ? k : D - 1 - k;
      view.strides[d] = next;
      next *= static_cast<std::ptrdiff_t>(extents[d] + (column_major ? 2 : 0));
    }
    memory.assign(static_cast<std::size_t>(next), untouched);
    view.data = memory.data();
  }

  template <class F>
  void for_each(F f) const {
    std::array<std::size_t, D> i{};
    for (;;) {
      f(i);
      std::size_t d = D;
      while (d > 0 && ++i[d - 1] == extents[d - 1]) i[--d] = 0;
      if (d == 0) return;
    }
  }
  bool is_ghost(std::array<std::size_t, D> const& i, std::size_t d) const {
    return i[d] < width || i[d] >= extents[d] - width;
  }
  int& at(std::array<std::size_t, D> const& i) {
    std::ptrdiff_t place = 0;
    for (std::size_t d = 0; d < D; ++d) place += static_cast<std::ptrdiff_t>(i[d]) * view.strides[d];
    return memory[static_cast<std::size_t>(place)];
  }
  /// What the element i has after an exchange at this time.
  int wanted(std::array<std::size_t, D> const& i, int time) const {
    std::size_t outside = 0;
    int value = time;
    for (std::size_t d = 0; d < D; ++d) {
      outside += is_ghost(i, d);
      std::size_t const x = first[d] + i[d] + whole[d] - width;   // whole[d] too large
      if (!periodic[d] && (x < whole[d] || x >= 2 * whole[d])) return untouched;
      value = value * 31 + static_cast<int>(x % whole[d]);
    }
    return outside <= 1 || which == corners::with ? value : untouched;
  }
  void fill(int time) {
    std::fill(memory.begin(), memory.end(), untouched);
    for_each([&](auto const& i) {
      bool own = true;
      for (std::size_t d = 0; d < D; ++d) own = own && !is_ghost(i, d);
      if (own) at(i) = wanted(i, time);
    });
  }
  int wrong(int time) {
    int count = 0;
    for_each([&](auto const& i) { count += at(i) != wanted(i, time); });
    return count;
  }
};

template <std::size_t D>
void exchange_on(std::array<int, D> const& ranks, unsigned periodic_axes, std::size_t width, corners which,
                 bool column_major, std::size_t more = 0) {
  std::array<bool, D> periodic{};
  for (std::size_t d = 0; d < D; ++d) periodic[d] = (periodic_axes >> d & 1) != 0;
  int const p = std::accumulate(ranks.begin(), ranks.end(), 1, std::multiplies<>{});
  std::atomic<int> wrong = 0;
  run_threads(p, [&](thread_communicator& comm) {
    grid<thread_communicator, D> const on(comm, ranks, periodic);
    part_of_array<D> part(on, width, which, column_major, more);
    auto const h = halo(on, part.view, width, which);
    auto kept = exchange_init(h);
    int time = 0;
    auto const run = [&](auto by) {
      part.fill(++time);
      by();
      wrong += part.wrong(time);
    };
    for (int times = 0; times < 3; ++times) {
      run([&] { exchange(h); });
      run([&] { iexchange(h, along_edges{.window = 1}).wait(); });
      run([&] { kept.start(), kept.wait(); });
    }
  });
  INFO(D << " axes, " << p << " ranks, periodic " << periodic_axes << ", width " << width);
  CHECK(wrong == 0);
}
template <std::size_t D>
void exchange_in_all_ways(std::array<int, D> const& ranks) {
  for (std::size_t const width : {1u, 2u, 3u})
    for (unsigned periodic = 0; periodic < 1u << D; ++periodic)
      for (corners const which : {corners::without, corners::with})
        exchange_on(ranks, periodic, width, which, (width + periodic) % 2 == 0);
}

template <class Error, class F>
std::string said_by(F f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("ghosts have the neighbours' elements, on every grid of one and two axes") {
  for (int const a : {1, 2, 3, 5, 8}) exchange_in_all_ways<1>({a});
  for (int p = 1; p <= most_cells; ++p)
    for (int a = 1; a <= p; ++a)
      if (p % a == 0) {
        if (p <= 6) exchange_in_all_ways<2>({a, p / a});
        else exchange_on<2>({a, p / a}, static_cast<unsigned>(p % 4), 1, corners::with, a % 2 == 0);
      }
}
TEST_CASE("and of three axes") {
  for (auto const& ranks : {std::array{1, 1, 1}, std::array{2, 1, 2}, std::array{2, 2, 2}})
    exchange_in_all_ways<3>(ranks);
  for (int p = 3; p <= most_cells; p += 3)
    for (int a = 1; a <= p; ++a)
      for (int b = 1; p % a == 0 && b <= p / a; ++b)
        if (p / a % b == 0)
          exchange_on<3>({a, b, p / a / b}, static_cast<unsigned>((p + a + b) % 8), 2, corners::with, false);
}

TEST_CASE("and of arrays of more than 8 KiB, of which a repeated exchange is played") {
  for (bool const column_major : {false, true}) {
    exchange_on<2>({2, 1}, 3, 2, corners::with, column_major, 60);
    exchange_on<2>({3, 1}, 1, 1, corners::without, column_major, 60);
  }
}
TEST_CASE("what a record has to be like to be played") {
  counted::host host(2);
  detail::sender& to = host[0].to(1);
  detail::receiver& from = host[0].from(1);
  std::vector<std::byte> field(20'000), packed(100);
  range const cells{0, field.size()};
  detail::call const one{.what = collective::exchange, .of = &detail::element_of<std::byte, detail::no_functor>,
                         .wire = nullptr, .op = nullptr, .vector = {}, .in = {field.data(), cells},
                         .out = {field.data(), cells},
                         .beyond = {packed.data(), {cells.last, cells.last + packed.size()}}};
  detail::small_vector<detail::action> actions;
  actions.reserve(9);
  // Of as many messages, one after the other, of so many lines; then as many are taken.
  auto const played = [&](int messages, std::uint32_t lines, std::byte* memory) {
    detail::run_record record(one, actions);
    record.begin(&actions, nullptr, 25);
    for (int k = 0; k < messages; ++k) record.put(to, nullptr, 1, memory, 64, lines);
    for (int k = 0; k < messages; ++k) record.take(from, 1, memory, 64, lines, 64);
    record.finish();
    return actions.size();
  };
  std::vector<std::byte> other(64);
  CHECK(played(2, 2, field.data() + 19'000) == 4);
  CHECK(played(2, 2, packed.data()) == 4);
  CHECK(actions[0].from == detail::action::place{detail::action::where::beyond, 0});
  CHECK(played(1, 25, field.data()) == 2);
  CHECK(played(4, 6, field.data()) == 8);
  CHECK(played(2, 13, field.data()) == 0);   // more lines than of one message
  CHECK(played(2, detail::action::in_a_chunk, field.data()) == 0);
  CHECK(played(1, detail::action::one_way, field.data()) == 2);
  CHECK(played(1, 2, other.data()) == 0);    // sends what nobody has given
}

TEST_CASE("a grid chooses its sides as MPI_Dims_create does, deals out places, and knows neighbours") {
  std::atomic<int> wrong = 0;
  run_threads(12, [&](thread_communicator& comm) {
    wrong += grid(comm, {0, 0}).ranks() != std::array{4, 3};
    wrong += grid(comm, {0, 2, 0}).ranks() != std::array{3, 2, 2};
    wrong += grid(comm, {0}).ranks() != std::array{12};
    grid const on(comm, {3, 4}, {true, false});
    int const row = comm.rank() / 4, column = comm.rank() % 4;
    wrong += on.coordinates() != std::array{row, column};
    wrong += on.neighbour({-1, 0}) != (row + 2) % 3 * 4 + column;
    wrong += on.neighbour({0, 1}) != (column == 3 ? nobody : comm.rank() + 1);
    wrong += on.neighbour({-7, -1}) != (column == 0 ? nobody : (row + 2) % 3 * 4 + column - 1);
    wrong += on.neighbour({0, 4}) != nobody;
    auto const part = on.part(10, 1);
    wrong += part.first != static_cast<std::size_t>(column * 10 / 4) || part.size() != (column % 2 == 0 ? 2 : 3);
    wrong += said_by<argument_error>([&] { on.part(10, 2); }) != "colligo: grid::part: axis 2 of 2: the first one is 0";
    int sides[]{3, 4}, circles[]{0, 1};   // as for MPI_Cart_create
    wrong += grid(comm, sides, circles).periodic() != std::array{false, true};
    wrong += grid(comm, std::array{3, 0}, true).periodic() != std::array{true, true};
    wrong += grid(comm, std::array{3, 0}).ranks() != std::array{3, 4};
    wrong += said_by<argument_error>([&] { grid(comm, {5, 2}); }) !=
             "colligo: grid of 12 ranks: it is described with 10 ranks";
    wrong += said_by<argument_error>([&] { grid(comm, {5, 0}); }) !=
             "colligo: grid of 12 ranks: it is described with 5 ranks along some axes, which do not divide them";
    wrong += said_by<argument_error>([&] { grid(comm, {-3, -4}); }) !=
             "colligo: grid of 12 ranks: -3 ranks along an axis";
  });
  CHECK(wrong == 0);
}

TEST_CASE("halos that can not be: an error on that rank, and on those that wait for it") {
  auto const refusal_of = [](auto make) {
    std::string said;
    CHECK_THROWS_AS(run_threads(2, [&](thread_communicator& comm) {
      grid const on(comm, {2, 1}, true);
      std::vector<int> u(100);
      try {
        if (comm.rank() == 1) make(on, u.data());
        else exchange(halo(on, row_major(u.data(), {10, 10}), 1));
      } catch (argument_error const& e) {
        said = e.what();
        throw;
      }
    }), error);
    return said;
  };
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, row_major(u, {10, 10}), 0); }) ==
        "colligo: halo on rank 1 of 2: its width is 0");
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, row_major(u, {10, 5}), 2); }) ==
        "colligo: halo on rank 1 of 2: axis 1 has 5 elements, too few for 2 layers of its own and as many ghosts on "
        "both sides");
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, strided(u, {10, 10}, {10, -1}), 1); }) ==
        "colligo: halo on rank 1 of 2: the stride of axis 1 is negative");
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, strided(u, {10, 10}, {5, 1}), 1); }) ==
        "colligo: halo on rank 1 of 2: elements of the output overlap along axis 0, whose stride is 5");
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, row_major(u, {10, 10}), -1); }) ==
        "colligo: halo on rank 1 of 2: its width is -1");
  CHECK(refusal_of([](auto const& on, int*) { halo(on, row_major(static_cast<int*>(nullptr), {10, 10}), 1); }) ==
        "colligo: halo on rank 1 of 2: the array is a null pointer");
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, row_major(u, {-10, 10}), 1); }) ==
        "colligo: halo on rank 1 of 2: the extent of axis 0 is -10");
  CHECK(refusal_of([](auto const& on, int* u) { halo(on, row_major(u, {1ll << 40, 1ll << 40}), 1); }) ==
        "colligo: halo on rank 1 of 2: with 1099511627776 elements along axis 0 it is larger than any memory");
  std::optional<grid<thread_communicator, 1>> left;
  run_threads(1, [&](thread_communicator& comm) { left = grid(comm, {1}); });
  std::vector<int> u(5);
  CHECK(said_by<error>([&] { halo(*left, row_major(u.data(), {5}), 1); }) ==
        "colligo: this grid is on a communicator that has been freed");
}

TEST_CASE("a halo that has been moved from stays one") {
  std::atomic<int> wrong = 0;
  run_threads(2, [&](thread_communicator& comm) {
    std::vector<int> u(3, comm.rank());
    auto h = halo(grid(comm, {2}, true), row_major(u.data(), {3}), 1);
    auto const moved = std::move(h);
    exchange(h);
    wrong += u[0] != 1 - comm.rank() || moved.edges().size() != 2;
  });
  CHECK(wrong == 0);
}
TEST_CASE("sides of different lengths do not match") {
  CHECK_THROWS_AS(run_threads(2, [&](thread_communicator& comm) {
    grid const on(comm, {2, 1});
    std::vector<int> u(200);
    exchange(halo(on, row_major(u.data(), {10, comm.rank() == 0 ? 10u : 12u}), 1));
  }), error);
}

TEST_CASE("two exchanges of one halo at once are refused, until the program has seen the first one complete") {
  std::atomic<int> wrong = 0, refused = 0;
  run_threads(3, [&](thread_communicator& comm) {
    int const me = comm.rank(), left = (me + 2) % 3, right = (me + 1) % 3;
    std::vector<int> u(3 * 3, me);   // a row, and columns that are packed
    auto const h = halo(grid(comm, {1, 3}, true), row_major(u.data(), {3, 3}), 1), same = h;
    auto const is_refused = [&](auto start) {
      refused += said_by<argument_error>(start).ends_with(
          ": an earlier exchange of this halo fills the same ghosts: wait for it first");
    };
    {
      auto first = iexchange(h);
      while (!first.complete()) {}   // the program has not seen it
      is_refused([&] { exchange(same); });
      is_refused([&] { iexchange(same).wait(); });
      first.wait();
    }
    exchange(h);
    auto again = exchange_init(h), other = exchange_init(same);
    for (int round = 0; round < 3; ++round) {
      again.start();
      is_refused([&] { other.start(); });
      again.wait();
      other.start(), other.wait();
    }
    wrong += u[3] != left || u[5] != right || u[4] != me;
  });
  CHECK(wrong == 0);
  CHECK(refused == 3 * 5);
}

TEST_CASE("halos of other widths are told in checked mode, though their sides are equally long") {
  std::vector<std::string> said(2);
  run_threads(2, [&](thread_communicator& threads) {
    auto const comm = checked(threads);
    std::vector<int> u(100);
    std::size_t const width = comm.rank() == 0 ? 1 : 2, rows = 4 / width + 2 * width;
    auto const h = halo(grid(comm, {1, 2}), row_major(u.data(), {rows, std::size_t{8}}), width);
    auto ready = exchange_init(halo(grid(comm, {1, 2}), row_major(u.data(), {std::size_t{6}, std::size_t{8}}), 1));
    said[static_cast<std::size_t>(comm.rank())] = said_by<mismatch_error>([&] { exchange(h); });
    ready.start(), ready.wait();
  });
  CHECK(said[0] == said[1]);
  CHECK(said[0] == "colligo: ranks make different calls: rank 0 calls exchange of int (4 bytes each), width 1, "
                   "along_edges; rank 1 calls exchange of int (4 bytes each), width 2, along_edges");
}

TEST_CASE("elements that do not lie side by side are packed in the order of the view") {
  std::vector<int> memory(4000);
  std::iota(memory.begin(), memory.end(), 0);
  auto const check = [&](auto const& view) {
    std::vector<int> wanted, packed(view.size()), back(memory.size(), -1);
    auto const& extents = view.extents;
    for (std::size_t i = 0; i < extents[0]; ++i)
      for (std::size_t j = 0; j < extents[1]; ++j)
        for (std::size_t k = 0; k < extents[2]; ++k)
          wanted.push_back(*view.part({i, j, k}, {1, 1, 1}).data);
    detail::pack(view, packed.data());
    CHECK(packed == wanted);
    auto other = view;
    other.data = back.data() + (view.data - memory.data());
    detail::unpack(packed.data(), other);
    packed.assign(packed.size(), 0);
    detail::pack(other, packed.data());
    CHECK(packed == wanted);
    CHECK(std::count_if(back.begin(), back.end(), [](int i) { return i != -1; }) == std::ssize(wanted));
  };
  int* const m = memory.data();
  check(strided(m, {3, 4, 5}, {20, 5, 1}));       // contiguous
  check(strided(m, {3, 4, 5}, {100, 10, 1}));     // runs
  check(strided(m, {3, 40, 33}, {1, 3, 120}));    // in tiles
  check(strided(m, {2, 17, 50}, {1700, 2, 34}));
  check(strided(m, {1, 7, 1}, {1, 9, 1}));        // a column
  check(strided(m + 3999, {2, 3, 4}, {-1000, -100, -1}));
  check(strided(m, {2, 0, 4}, {1, 1, 1}));
  check(strided(m, {4, 4, 4}, {1, 4, 16}));
  CHECK(row_major(m, {3, 4}).is_contiguous());
  CHECK(!strided(m, 3, 2).is_contiguous());
  CHECK(strided(m, {1, 4}, {77, 1}).is_contiguous());
  CHECK(strided(m, {2, 3}, {1, 0}).overlapping_axis() == 1);
  CHECK(strided(m, {2, 3}, {1, 2}).overlapping_axis() == 2);
  CHECK(strided(m, {2, 3}, {3, 2}).overlapping_axis() == 2);   // 0 2 4 3 5 7
  CHECK(strided(m, {3, 4}, {3, 2}).overlapping_axis() == 0);   // 6 twice
}
