// SPDX-License-Identifier: BSL-1.0
/// @file
/// A grid of ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../communicators/communicators.hpp"
#include "../core/error.hpp"
#include "../core/range.hpp"
#include "../core/step.hpp"
#include "../core/strings.hpp"
#include "graph.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <std::size_t D>
constexpr std::array<bool, D> as_truths(std::array<int, D> const& given) {
  std::array<bool, D> all{};
  for (std::size_t d = 0; d < D; ++d) all[d] = given[d] != 0;
  return all;
}

}  // namespace detail

/// The ranks of a communicator as a grid of D dimensions, in row-major order: the last coordinate is the fastest, as in
/// MPI_Cart_create. A value; it makes no communicator. Halos of it throw error after its communicator has been freed.
template <communicator Comm, std::size_t D>
class grid {
  static_assert(D >= 1 && D <= 8, "colligo: a grid of ranks has 1 to 8 dimensions");

 public:
  /// ranks: along each axis; 0: chosen, so that the grid has all ranks and its sides differ little. periodic: whether
  /// the first and the last rank along an axis are neighbours. Throws argument_error if the grid does not have as many
  /// ranks as comm. Local after the first use of comm.
  grid(Comm const& comm, int const (&ranks)[D], bool const (&periodic)[D])
      : grid(comm, std::to_array(ranks), std::to_array(periodic)) {}
  /// As for MPI_Cart_create.
  grid(Comm const& comm, int const (&ranks)[D], int const (&periodic)[D])
      : grid(comm, std::to_array(ranks), detail::as_truths(std::to_array(periodic))) {}
  /// The same for all axes.
  template <std::same_as<bool> Periodic = bool>   // no pointer
  grid(Comm const& comm, int const (&ranks)[D], Periodic periodic = false)
      : grid(comm, std::to_array(ranks), same(periodic)) {}
  template <std::same_as<bool> Periodic = bool>
  explicit grid(Comm const& comm, std::array<int, D> const& ranks, Periodic periodic = false)
      : grid(comm, ranks, same(periodic)) {}
  grid(Comm const& comm, std::array<int, D> const& ranks, std::array<bool, D> const& periodic)
      : state_(state_of<Comm>::open(comm)), ranks_(ranks), periodic_(periodic) {
    choose_ranks(state().size());
    int rest = state().rank();
    for (std::size_t d = D; d-- > 0; rest /= ranks_[d]) at_[d] = rest % ranks_[d];
  }
  template <class... Wrong>
  explicit grid(Comm const& comm, Wrong const&...) : grid(comm, std::array<int, D>{}) {
    static_assert(sizeof...(Wrong) > 99,
                  "colligo: a grid takes a number for each axis, in braces or as std::array, and whether it is "
                  "periodic, one bool or one for each: grid(comm, {0, 0}, {true, false}); 0: chosen");
  }

  std::array<int, D> const& ranks() const { return ranks_; }          ///< along each axis
  std::array<int, D> const& coordinates() const { return at_; }       ///< of this rank
  std::array<bool, D> const& periodic() const { return periodic_; }
  detail::endpoint& state() const { return state_.get("this grid is on"); }   ///< of the communicator

  /// This rank's part of n places along an axis: parts differ by at most one place. Throws argument_error if the grid
  /// has no such axis.
  range part(std::size_t n, std::size_t axis) const {
    if (axis >= D)
      throw argument_error(detail::concat({"colligo: grid::part: axis ", axis, " of ", D, ": the first one is 0"}));
    auto const at = static_cast<std::size_t>(at_[axis]), of = static_cast<std::size_t>(ranks_[axis]);
    auto const first = [&](std::size_t i) { return n / of * i + n % of * i / of; };
    return {first(at), first(at + 1)};
  }
  /// The rank `steps` places further along each axis; nobody behind a border.
  int neighbour(std::array<int, D> const& steps) const {
    int rank = 0;
    for (std::size_t d = 0; d < D; ++d) {
      int const n = ranks_[d];
      int place = at_[d] + steps[d] % n;
      if (periodic_[d]) place = (place + n) % n;
      if (place < 0 || place >= n || (!periodic_[d] && (steps[d] >= n || steps[d] <= -n))) return nobody;
      rank = rank * n + place;
    }
    return rank;
  }

 private:
  static constexpr std::array<bool, D> same(bool periodic) {
    std::array<bool, D> all{};
    all.fill(periodic);
    return all;
  }
  // The largest prime factor goes to the axis with the fewest ranks so far.
  void choose_ranks(int p) {
    std::string const where = detail::concat({"colligo: grid of ", p, " ranks: "});
    std::int64_t given = 1;
    std::array<std::size_t, D> open{};
    std::size_t count = 0;
    for (std::size_t d = 0; d < D; ++d) {
      if (ranks_[d] < 0) throw argument_error(where + std::to_string(ranks_[d]) + " ranks along an axis");
      if (ranks_[d] == 0) open[count++] = d;
      else given = std::min<std::int64_t>(given * ranks_[d], std::int64_t{1} << 31);
    }
    if (count == 0 ? given != p : p % given != 0)
      throw argument_error(where + "it is described with " + std::to_string(given) + " ranks" +
                           (count == 0 ? "" : " along some axes, which do not divide them"));
    for (std::size_t k = 0; k < count; ++k) ranks_[open[k]] = 1;
    std::array<int, 32> primes{};
    std::size_t found = 0;
    int rest = count == 0 ? 1 : static_cast<int>(p / given);
    for (int prime = 2; rest > 1; ++prime) {
      if (static_cast<std::int64_t>(prime) * prime > rest) prime = rest;
      for (; rest % prime == 0; rest /= prime) primes[found++] = prime;
    }
    while (found-- > 0) {
      std::size_t fewest = open[0];
      for (std::size_t k = 1; k < count; ++k)
        if (ranks_[open[k]] < ranks_[fewest]) fewest = open[k];
      ranks_[fewest] *= primes[found];
    }
    std::array<int, D> sorted{};   // the first of the chosen ones is the largest, as in MPI_Dims_create
    for (std::size_t k = 0; k < count; ++k) sorted[k] = ranks_[open[k]];
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count), [](int a, int b) { return a > b; });
    for (std::size_t k = 0; k < count; ++k) ranks_[open[k]] = sorted[k];
  }

  detail::state_if_alive state_;
  std::array<int, D> ranks_, at_{};
  std::array<bool, D> periodic_;
};
template <class Comm, class... Wrong>   // for the message
grid(Comm const&, Wrong const&...) -> grid<Comm, 1>;

}  // namespace colligo
