// SPDX-License-Identifier: BSL-1.0
/// @file
/// Exchanges with known neighbours, the lines of a short halo, and elements that do not lie side by side, each beside
/// what one writes with MPI:
///   mpirun -n 2 neighbours
/// Every result is checked before it is timed.
#include <colligo/broadcast.hpp>
#include <colligo/exchange.hpp>
#include <colligo/request.hpp>
#include <colligo/views.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "options.hpp"
#include "state.hpp"

namespace bench {
namespace {

/// Ways of doing one thing on memory that stays, each a function.
class ways : public contest {
 public:
  std::vector<std::string> const& names() const override { return names_; }
  std::size_t element_size() const override { return 1; }
  int calls_per_input() const override { return 1 << 16; }
  void refresh(std::size_t, int) override {}
  void run(std::size_t contender, int calls) override {
    for (int i = 0; i < calls; ++i) runs_[contender]();
  }

 protected:
  void add(std::string name, std::function<void()> run) {
    names_.push_back(std::move(name)), runs_.push_back(std::move(run));
  }
  std::string wrong(std::size_t contender, bool is_right) const {
    return is_right ? std::string() : names_[contender] + ": wrong result";
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::function<void()>> runs_;
};

/// A block to each of the k ranks above, which wrap round. A field changes before each exchange: each call's time has
/// that of writing a byte of each cache line of the input.
class blocks_of_neighbours final : public ways {
 public:
  explicit blocks_of_neighbours(int most)
      : targets_(ranks(most, true)), sources_(ranks(most, false)), edges_(library_, sources_, targets_) {
    int const k = neighbours();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, k, sources_.data(), MPI_UNWEIGHTED, k, targets_.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
    int p = 1;
    MPI_Comm_size(graph_, &p);
    MPI_Comm_rank(graph_, &rank_);
    for (auto* const list : {&counts_, &places_, &places_in_}) list->resize(static_cast<std::size_t>(p));
    add("all_to_all", [this] { colligo::all_to_all(edges_, in_, out_); });
    add("persistent", [this] { kept_.start(), kept_.wait(); });
    add("MPI_Neighbor_alltoallv", [this] {
      MPI_Neighbor_alltoallv(in_.data(), blocks_.data(), at_.data(), MPI_CHAR, out_.data(), blocks_.data(), at_.data(),
                             MPI_CHAR, graph_);
    });
    add("MPI_Startall", [this] {
      int const all = static_cast<int>(requests_.size());
      MPI_Startall(all, requests_.data());
      MPI_Waitall(all, requests_.data(), MPI_STATUSES_IGNORE);
    });
    add("MPI_Alltoallv", [this] {
      MPI_Alltoallv(in_.data(), counts_.data(), places_.data(), MPI_CHAR, out_.data(), counts_in_.data(),
                    places_in_.data(), MPI_CHAR, graph_);
    });
  }
  ~blocks_of_neighbours() override {
    end();
    MPI_Comm_free(&graph_);
  }
  blocks_of_neighbours(blocks_of_neighbours const&) = delete;
  blocks_of_neighbours& operator=(blocks_of_neighbours const&) = delete;

  int neighbours() const { return static_cast<int>(targets_.size()); }
  void resize(std::size_t bytes) override {
    end();
    bytes_ = bytes;
    int const n = static_cast<int>(bytes);
    in_.assign(bytes * targets_.size(), static_cast<char>(rank_)), out_.assign(in_.size(), -1);
    blocks_.assign(targets_.size(), n), at_.resize(targets_.size());
    for (std::size_t i = 0; i < at_.size(); ++i) {
      at_[i] = static_cast<int>(i) * n;
      auto const to = static_cast<std::size_t>(targets_[i]), from = static_cast<std::size_t>(sources_[i]);
      counts_[to] = n, places_[to] = at_[i], places_in_[from] = at_[i];
    }
    counts_in_.assign(counts_.size(), 0);
    for (int const from : sources_) counts_in_[static_cast<std::size_t>(from)] = n;
    requests_.resize(2 * targets_.size());
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      MPI_Recv_init(out_.data() + at_[i], n, MPI_CHAR, sources_[i], 0, graph_, &requests_[i]);
      MPI_Send_init(in_.data() + at_[i], n, MPI_CHAR, targets_[i], 0, graph_, &requests_[i + targets_.size()]);
    }
    kept_ = colligo::all_to_all_init(edges_, in_, out_);
  }
  void run(std::size_t contender, int calls) override {
    for (int i = 0; i < calls; ++i) {
      for (std::size_t at = 0; at < in_.size(); at += line) in_[at] = static_cast<char>(rank_);
      ways::run(contender, 1);
    }
  }
  std::string check(std::size_t contender) override {
    std::fill(out_.begin(), out_.end(), static_cast<char>(-1));
    run(contender, 1);
    bool right = true;
    for (std::size_t i = 0; i < out_.size(); ++i) right = right && out_[i] == static_cast<char>(sources_[i / bytes_]);
    return wrong(contender, right);
  }

 private:
  static std::vector<int> ranks(int most, bool above) {
    int rank = 0, p = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    std::vector<int> all;
    for (int d = 1; d <= std::min(most, p - 1); ++d) all.push_back((rank + (above ? d : p - d)) % p);
    return all;
  }
  void end() {
    for (MPI_Request& one : requests_) MPI_Request_free(&one);
    requests_.clear();
  }

  static constexpr std::size_t line = 64;
  int rank_ = 0;
  std::size_t bytes_ = 0;
  MPI_Comm graph_ = MPI_COMM_NULL;
  std::vector<int> const targets_, sources_;
  communicator const library_ = world();
  colligo::neighbours<communicator> const edges_;
  std::vector<int> blocks_, at_, counts_, counts_in_, places_, places_in_;
  std::vector<char> in_, out_;
  std::vector<MPI_Request> requests_;
  colligo::persistent kept_;
};

/// A periodic halo of 64 bytes a side between two ranks, each of which is the other's neighbour on both sides, beside
/// its bare lines: each rank writes two messages of two lines, with a number in each, and waits for the other's.
class lines_of_a_halo final : public ways {
 public:
  lines_of_a_halo() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    void* at = nullptr;
    MPI_Aint bytes = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(memory)) : 0;
    int unit = 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &window_);
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &at);
    if (rank_ == 0) ::new (at) memory;
    shared_ = static_cast<memory*>(at);
    MPI_Barrier(MPI_COMM_WORLD);
    add("halo, persistent", [this] { kept_.start(), kept_.wait(); });
    add("halo", [this] { colligo::exchange(halo_); });
    add("bare lines", [this] { exchange_lines(); });
  }
  ~lines_of_a_halo() override { MPI_Win_free(&window_); }
  lines_of_a_halo(lines_of_a_halo const&) = delete;
  lines_of_a_halo& operator=(lines_of_a_halo const&) = delete;

  void resize(std::size_t) override {}
  std::string check(std::size_t contender) override {
    for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = i < 8 || i >= 24 ? -1 : 100 * rank_ + static_cast<double>(i);
    run(contender, 1);
    bool right = true;
    for (std::size_t i = 0; i < 8; ++i)
      right = right && u_[i] == 100 * (1 - rank_) + static_cast<double>(i + 16) &&
              u_[24 + i] == 100 * (1 - rank_) + static_cast<double>(i + 8);
    return wrong(contender, right);
  }

 private:
  struct alignas(64) line {
    std::atomic<std::uint64_t> call = 0;
    std::array<double, 7> values{};
  };
  using message = std::array<line, 2>;
  using memory = std::array<std::array<std::array<message, 2>, 2>, 2>;   // by call, by rank, by side

  void exchange_lines() {
    std::uint64_t const call = ++calls_;
    auto& at = (*shared_)[call & 1];
    for (std::size_t side : {0u, 1u}) {
      double const* const from = u_.data() + (side == 0 ? 8 : 16);
      message& to = at[static_cast<std::size_t>(rank_)][side];
      std::memcpy(to[0].values.data(), from, 56);
      to[1].values[0] = from[7];
      for (line& one : to) one.call.store(call, std::memory_order_release);
    }
    for (std::size_t side : {0u, 1u}) {
      double* const into = u_.data() + (side == 0 ? 24 : 0);
      message& from = at[static_cast<std::size_t>(1 - rank_)][side];
      for (line& one : from)
        for (unsigned polls = 0; one.call.load(std::memory_order_acquire) != call;)
          if (++polls % 65536 == 0) sched_yield();
      std::memcpy(into, from[0].values.data(), 56);
      into[7] = from[1].values[0];
    }
  }

  int rank_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
  memory* shared_ = nullptr;
  std::uint64_t calls_ = 0;
  std::vector<double> u_ = std::vector<double>(32);
  communicator const library_ = world();
  decltype(colligo::halo(colligo::grid(library_, {0}, true), colligo::row_major(u_.data(), {32}), 8)) halo_ =
      colligo::halo(colligo::grid(library_, {0}, true), colligo::row_major(u_.data(), {32}), 8);
  colligo::persistent kept_ = colligo::exchange_init(halo_);
};

/// A broadcast of elements in a layout, the same on all ranks.
class layouts final : public ways {
 public:
  using view = colligo::strided_view<double, 2>;
  static constexpr std::array names_of_layouts{"stride 2",      "stride 8", "stride 1024", "rows",
                                               "planes' rows", "columns",  "transpose"};

  explicit layouts(std::size_t layout) : layout_(layout) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    add("view", [this] { colligo::broadcast(library_, view_, 0); });
    add("loop", [this] {
      if (rank_ == 0) by_hand([](double& packed, double& element) { packed = element; });
      colligo::broadcast(library_, packed_, 0);
      if (rank_ != 0) by_hand([](double& packed, double& element) { element = packed; });
    });
    add("derived datatype", [this] { MPI_Bcast(memory_.data(), 1, type_, 0, MPI_COMM_WORLD); });
  }
  ~layouts() override { end(); }
  layouts(layouts const&) = delete;
  layouts& operator=(layouts const&) = delete;

  /// Of as many elements as there may be; 0: the array would take more than 128 MiB.
  static view of(std::size_t layout, std::size_t bytes) {
    std::size_t const n = bytes / sizeof(double);
    auto const side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    auto const line = static_cast<std::ptrdiff_t>(side);
    view all{nullptr, {n, 1}, {1, 1}};
    switch (layout) {
      case 0: all.strides[0] = 2; break;
      case 1: all.strides[0] = 8; break;
      case 2: all.strides[0] = 1024; break;
      case 3: all = {nullptr, {side, side}, {2 * line, 1}}; break;             // half of each row of a matrix
      case 4: all = {nullptr, {side, side}, {line * line, 1}}; break;          // a face of a cube, a run in each plane
      case 5: all = {nullptr, {side, side}, {line * line, line}}; break;       // a face of a cube, in single elements
      default: all = {nullptr, {side, side}, {1, line}};
    }
    if (memory_of(all) > (std::size_t{128} << 20) / sizeof(double)) all.extents[0] = 0;
    return all;
  }

  void resize(std::size_t bytes) override {
    end();
    view_ = of(layout_, bytes);
    memory_.assign(memory_of(view_), -1);
    view_.data = memory_.data();
    packed_.resize(view_.size());
    auto const of_bytes = [](std::ptrdiff_t n) { return static_cast<MPI_Aint>(n) * 8; };
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(view_.extents[1]), 1, of_bytes(view_.strides[1]), MPI_DOUBLE, &inner);
    MPI_Type_create_hvector(static_cast<int>(view_.extents[0]), 1, of_bytes(view_.strides[0]), inner, &type_);
    MPI_Type_free(&inner);
    MPI_Type_commit(&type_);
  }
  std::string check(std::size_t contender) override {
    double next = 0;
    for_each([&](double& element) { element = rank_ == 0 ? ++next : -1; });
    run(contender, 1);
    bool right = true;
    next = 0;
    for_each([&](double& element) { right = right && element == ++next; });
    return wrong(contender, right);
  }

 private:
  static std::size_t memory_of(view const& of) {
    return of.size() == 0 ? 0
                          : (of.extents[0] - 1) * static_cast<std::size_t>(of.strides[0]) +
                                (of.extents[1] - 1) * static_cast<std::size_t>(of.strides[1]) + 1;
  }
  template <class F>
  void for_each(F f) {
    for (std::size_t i = 0; i < view_.extents[0]; ++i)
      for (std::size_t j = 0; j < view_.extents[1]; ++j) f(*view_.part({i, j}, {1, 1}).data);
  }
  // What one writes for each layout; f moves one element. A compiler makes a copy of a run of what lies side by side.
  template <class F>
  void by_hand(F f) {
    double* const packed = packed_.data();
    double* const first = view_.data;
    std::size_t const n = view_.extents[0], m = view_.extents[1];
    auto const s = static_cast<std::size_t>(view_.strides[0]), t = static_cast<std::size_t>(view_.strides[1]);
    if (m == 1) {
      for (std::size_t i = 0; i < n; ++i) f(packed[i], first[i * s]);
    } else if (t == 1) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) f(packed[i * m + j], first[i * s + j]);
    } else if (s != 1) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) f(packed[i * m + j], first[i * s + j * t]);
    } else {
      constexpr std::size_t tile = 16;
      for (std::size_t column = 0; column < m; column += tile)
        for (std::size_t row = 0; row < n; row += tile)
          for (std::size_t i = row; i < std::min(n, row + tile); ++i)
            for (std::size_t j = column; j < std::min(m, column + tile); ++j) f(packed[i * m + j], first[i + j * t]);
    }
  }
  void end() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  std::size_t layout_;
  int rank_ = 0;
  view view_;
  std::vector<double> memory_, packed_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  communicator const library_ = world();
};

int neighbours(int argc, char** argv) {
  int rank = 0, p = 1, most = 4;
  std::vector<std::size_t> sizes{8, 1024, 65536}, strided_sizes;
  plan how;
  bool no_pin = false;
  std::string path;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  for (std::size_t bytes = 8; bytes <= std::size_t{8} << 20; bytes *= 32) strided_sizes.push_back(bytes);
  CLI::App app("Times exchanges with neighbours, halos and views beside MPI and loops by hand.", "neighbours");
  app.add_option("--neighbours", most, "of a rank, at most p - 1")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--bytes", sizes, "of a block for a neighbour")->delimiter(',')->capture_default_str();
  app.add_option("--strided-bytes", strided_sizes, "of a view")->delimiter(',')->capture_default_str();
  app.add_option("--repeats", how.repeats, "samples of each")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--sample-us", how.sample_us, "least length of a sample")->capture_default_str();
  app.add_flag("--no-pin", no_pin, "leave the ranks where the launcher has put them");
  app.add_option("--csv", path, "write the table to this file too");
  if (auto const code = read_options(app, argc, argv, rank)) return *code;
  auto const seats = take_seats(!no_pin);
  how.crowded = seats.crowded;
  distance_gauge gauge(seats);
  std::string table = "what,algorithm,ranks,bytes,min_us,median_us,mpi,state\n";
  auto const time = [&](ways& all, std::string const& what, std::size_t bytes) {
    auto const before = gauge.measure();
    auto const found = measure(all, bytes, how, [](std::string const&) {});
    std::string const state = gauge.between(before, gauge.measure());
    if (rank != 0) return;
    fmt::print("{}, {} B ({}), median us:", what, bytes, state);
    for (auto const& way : found) {
      fmt::print("  {} {:.3f}", way.name, way.us.median);
      table += fmt::format("\"{}\",\"{}\",{},{},{:.4f},{:.4f},{},{}\n", what, way.name, p, bytes, way.us.min,
                           way.us.median, mpi_name(), state);
    }
    fmt::print("\n");
  };
  if (rank == 0) fmt::print("{}\n{}\n", mpi_library(), describe(seats, p));
  {
    blocks_of_neighbours all(most);
    for (std::size_t const bytes : sizes) time(all, fmt::format("neighbours: {}", all.neighbours()), bytes);
  }
  if (p == 2) {
    lines_of_a_halo all;
    time(all, "halo of two sides", 64);
  }
  for (std::size_t layout = 0; layout < layouts::names_of_layouts.size(); ++layout)
    for (std::size_t const bytes : strided_sizes) {
      if (layouts::of(layout, bytes).size() == 0) continue;
      layouts all(layout);
      time(all, layouts::names_of_layouts[layout], bytes);
    }
  if (rank == 0 && !path.empty()) write_file(path, table);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::neighbours(argc, argv); });
}
