// SPDX-License-Identifier: BSL-1.0
// Heat spreads over a plate of 48 x 56 places that a grid of ranks deals out. Each part has a halo of one layer of
// ghosts: the border travels while the interior is computed. The result is compared with one process, to the last bit.
//
//   mpirun -n 6 heat            # steps, the residual, and whether both plates are the same
//   mpirun -n 6 heat pictures   # also heat.ppm, the plate in its parts, and heat.svg, the schedule of the exchange
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/exchange.hpp>
#include <colligo/gather.hpp>
#include <colligo/record.hpp>
#include <colligo/request.hpp>
#include <colligo/sequence.hpp>
#include <colligo/tools/draw.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

constexpr std::size_t rows = 48, columns = 56;
constexpr int steps = 30;
double at_first(std::size_t i, std::size_t j) {
  return std::sin(3.1 / rows * static_cast<double>(i)) * std::cos(2.2 / columns * static_cast<double>(j)) + (i == j);
}

// A part of the plate, with ghosts all round, and one step of it. Ghosts beyond the plate stay 0.
struct part {
  colligo::range down, across;
  std::size_t width = across.size() + 2;
  std::vector<double> now = std::vector<double>((down.size() + 2) * width), next = now;
  std::vector<double> change = std::vector<double>(down.size() * across.size());

  void fill() {
    for (std::size_t i = 0; i < down.size(); ++i)
      for (std::size_t j = 0; j < across.size(); ++j)
        now[(i + 1) * width + j + 1] = at_first(down.first + i, across.first + j);
  }
  void compute(std::size_t i, std::size_t j) {
    std::size_t const at = i * width + j;
    double const d = 0.2 * (now[at - width] + now[at + width] + now[at - 1] + now[at + 1] - 4 * now[at]);
    change[(i - 1) * across.size() + j - 1] = d;
    next[at] = now[at] + d;
  }
  void compute_interior() {
    for (std::size_t i = 2; i < down.size(); ++i)
      for (std::size_t j = 2; j < across.size(); ++j) compute(i, j);
  }
  void compute_border() {
    for (std::size_t i = 1; i <= down.size(); ++i)
      for (std::size_t j = 1; j <= across.size(); ++j)
        if (i == 1 || i == down.size() || j == 1 || j == across.size()) compute(i, j);
  }
};

// A pixel for each place, from blue, 0, to red, 1; black where parts begin. And the exchange as it is performed.
void draw_plate_and_schedule(boost::mpi::communicator const& world, part const& mine,
                             std::vector<colligo::graph_edge> const& edges) {
  auto const places = colligo::gatherv(world, std::vector{mine.down, mine.across}, 0);
  auto const plates = colligo::gatherv(world, mine.now, 0);
  auto const all_edges = colligo::gatherv(world, edges, 0);
  if (world.rank() != 0) return;
  std::string pixels(rows * columns * 3, '\0');
  double const* heat = plates.data.data();
  for (auto at = places.data.begin(); at != places.data.end(); at += 2)
    for (std::size_t i = at[0].first; i < at[0].last + 2; ++i)   // with ghosts
      for (std::size_t j = at[1].first; j < at[1].last + 2; ++j, ++heat) {
        if (i < at[0].first + 2 || j < at[1].first + 2 || i > at[0].last || j > at[1].last) continue;
        char* const pixel = &pixels[((i - 1) * columns + j - 1) * 3];
        pixel[0] = static_cast<char>(255 * std::clamp(*heat, 0.0, 1.0)), pixel[2] = static_cast<char>(255 - pixel[0]);
      }
  std::ofstream plate("heat.ppm"), halo("heat.svg");
  plate << "P6 " << columns << ' ' << rows << " 255\n" << pixels;
  auto const schedule = colligo::record<double>(colligo::along_edges{}, world.size(), all_edges.data);
  halo << draw(schedule, {}, "halo");
  if (!plate.flush() || !halo.flush()) std::cerr << "heat: heat.ppm and heat.svg can not be written here\n";
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;

  colligo::grid const ranks(world, {0, 0});
  part mine{ranks.part(rows, 0), ranks.part(columns, 1)};
  mine.fill();
  auto const halo_of = [&](std::vector<double>& u) {
    return colligo::halo(ranks, colligo::row_major(u.data(), {mine.down.size() + 2, mine.width}), 1);
  };
  auto halo = halo_of(mine.now), next_halo = halo_of(mine.next);
  double residual = 0;
  for (int step = 0; step < steps; ++step) {
    auto ghosts = colligo::iexchange(halo);
    mine.compute_interior();
    ghosts.wait();
    mine.compute_border();
    residual = colligo::norm2(world, mine.change);   // the same for any number of ranks
    std::swap(mine.now, mine.next), std::swap(halo, next_halo);
  }

  boost::mpi::communicator const alone(MPI_COMM_SELF, boost::mpi::comm_attach);
  part whole{{0, rows}, {0, columns}};
  whole.fill();
  for (int step = 0; step < steps; ++step) {
    whole.compute_interior(), whole.compute_border();
    std::swap(whole.now, whole.next);
  }
  bool same = residual == colligo::norm2(alone, whole.change);
  for (std::size_t i = 1; i <= mine.down.size(); ++i)
    for (std::size_t j = 1; j <= mine.across.size(); ++j)
      same = same &&
             mine.now[i * mine.width + j] == whole.now[(mine.down.first + i) * whole.width + mine.across.first + j];
  same = colligo::all_reduce(world, same, std::logical_and<>{});
  if (world.rank() == 0)
    std::cout << steps << " steps on " << ranks.ranks()[0] << " x " << ranks.ranks()[1] << " ranks, residual "
              << residual << (same ? ", as in one process\n" : ", NOT as in one process\n");
  if (argc > 1) draw_plate_and_schedule(world, mine, halo.edges());
  return same ? 0 : 1;
}
