// SPDX-License-Identifier: BSL-1.0
// Elements whose type is known at run time alone: so many numbers as the command line says, of which the functor takes
// the sum of all but the last, and of that one the maximum.
//
//   mpirun -n 4 described_element [numbers in an element] [algorithm]
#include <boost/mpi/environment.hpp>
#include <colligo/bytes.hpp>
#include <colligo/colligo.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

// left, right and into are n elements, each of *context numbers.
void combine(void* context, std::byte const* left, std::byte const* right, std::byte* into, std::size_t n) {
  std::size_t const width = *static_cast<std::size_t const*>(context);
  auto const *a = reinterpret_cast<double const*>(left), *b = reinterpret_cast<double const*>(right);
  auto* const c = reinterpret_cast<double*>(into);
  for (std::size_t i = 0; i < n * width; ++i) c[i] = (i + 1) % width == 0 ? std::max(a[i], b[i]) : a[i] + b[i];
}

}   // namespace

int main(int argc, char** argv) {
  boost::mpi::environment const environment(argc, argv);
  boost::mpi::communicator const world;
  try {
    std::size_t width = argc > 1 ? std::stoul(argv[1]) : 3;
    colligo::registered_element const records(colligo::byte_element{.size = width * sizeof(double),
                                                                    .alignment = alignof(double),
                                                                    .combine = &combine,
                                                                    .context = &width,
                                                                    .commutative = true,
                                                                    .name = "record",
                                                                    .functor = "sums and a maximum"});
    std::ptrdiff_t const n = 2;
    std::vector<double> const mine(static_cast<std::size_t>(n) * width, world.rank() + 1.0);
    std::vector<double> all(mine.size());
    colligo::byte_calls(world).all_reduce(mine.data(), all.data(), n, records, argc > 2 ? argv[2] : "");
    if (world.rank() == 0) std::cout << "sum " << all[0] << ", maximum " << all.back() << '\n';
    return EXIT_SUCCESS;
  } catch (std::exception const& e) {
    if (world.rank() == 0) std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
  }
}
