// SPDX-License-Identifier: BSL-1.0
/// @file
/// Views of a step with other rank numbers, so that algorithms need not mention roots other than 0 or spare ranks.
#pragma once

#include <bit>

#include "machine.hpp"
#include "step.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The largest power of two not above p, and the papers' logarithms.
constexpr int floor_power_of_two(int p) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(p))); }
constexpr int floor_lg(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p))) - 1; }
constexpr bool is_power_of_two(int p) { return std::has_single_bit(static_cast<unsigned>(p)); }
constexpr int ceil_lg(int p) { return p <= 1 ? 0 : floor_lg(p - 1) + 1; }
/// n elements can be cut into `parts` parts of the same length.
constexpr bool divides(int parts, std::size_t n) { return n % static_cast<std::size_t>(parts) == 0; }

namespace detail {
/// Bases of policies whose cost is exact where p divides n: for every p, or for p = 2^k alone.
struct exact_for_even_blocks {
  static constexpr formula exact_for(machine const&, int p, std::size_t n) {
    return exact_if(divides(p, n), formula::rounded);
  }
};
struct exact_for_powers_of_two {
  static constexpr formula exact_for(machine const& m, int p, std::size_t n) {
    return is_power_of_two(p) ? exact_for_even_blocks::exact_for(m, p, n) : formula::estimate;
  }
};
}  // namespace detail

/// Runs an algorithm on `size` of the ranks: `real(v)` is the real rank of virtual rank v. Operands keep the order of
/// real ranks (law 3), so a monotone renumbering keeps order.
template <steps Step, class Real>
class renumbered {
 public:
  static constexpr bool sees_arrivals = in_order_of_arrival<Step>;

  constexpr renumbered(Step& step, int rank, int size, Real real)
      : step_(step), rank_(rank), size_(size), real_(real) {}

  constexpr int rank() const { return rank_; }
  constexpr int size() const { return size_; }
  constexpr Step& inner() const { return step_; }
  /// The real rank of virtual rank v.
  constexpr int real(int v) const { return v == nobody ? nobody : real_(v); }
  constexpr std::size_t element_size() const
    requires requires(Step const& step) { step.element_size(); }
  {
    return step_.element_size();
  }

  template <class... Operands>
  constexpr void operator()(Operands... operands) { step_(renamed(operands)...); }

  template <operand_list List>
  constexpr void operator()(List const& list) { step_(renamed(list)); }
  template <operand_list List>
  constexpr void operator()(as_they_come<List> const& folds) { step_(as_they_come(renamed(folds.list))); }

 private:
  template <operand_list List>
  constexpr auto renamed(List const& list) const {
    return listed{static_cast<int>(list.size()), [this, &list](int i) {
                    operand o = list[static_cast<std::size_t>(i)];
                    o.peer = real(o.peer);
                    return o;
                  }};
  }
  constexpr send renamed(send s) const { return {real(s.to), s.what, s.from}; }
  constexpr recv renamed(recv r) const { return {real(r.from), r.what}; }
  constexpr fold renamed(fold f) const { return {real(f.from), f.what, f.with}; }
  constexpr copy renamed(copy c) const { return c; }
  constexpr merge renamed(merge m) const { return m; }

  Step& step_;
  int rank_;
  int size_;
  Real real_;
};

/// The algorithm sees `root` as rank 0. The ranks are rotated, which does not keep order.
template <steps Step>
constexpr auto rooted_at(Step& step, int root) {
  int const p = step.size();
  return renumbered(step, (step.rank() - root + p) % p, p, [root, p](int v) { return (v + root) % p; });
}
/// The same with the other ranks counted downwards: a message to the next virtual rank goes between the same real ranks
/// as one to the previous virtual rank under rooted_at, so that both use the same channels of shared memory.
template <steps Step>
constexpr auto mirrored_at(Step& step, int root) {
  int const p = step.size();
  return renumbered(step, (root - step.rank() + p) % p, p, [root, p](int v) { return (root - v + p) % p; });
}

/// Extends an all_reduce for p = 2^k to any number of ranks: each spare rank sends its vector to its neighbour and gets
/// the result back. Keeps order. If p is no power of two, this adds 2 one-way messages and one fold of the vector.
template <class Inner, class T>
struct folded {
  Inner inner{};
  static constexpr bool any_size = true;
  static constexpr bool ordered = Inner::ordered;
  static constexpr bool same_bits = Inner::same_bits;

  template <steps Step>
  constexpr void operator()(Step& step, range all) const {
    int const me = step.rank(), q = floor_power_of_two(step.size()), spare = step.size() - q;
    if (spare == 0) return inner(step, all);
    bool const paired = me < 2 * spare;
    if (paired && me % 2 == 1) {
      step(send{me - 1, all});
      step(recv{me - 1, all});
      return;
    }
    int const neighbour = paired ? me + 1 : nobody;
    step(fold{neighbour, all});
    renumbered virtually(step, paired ? me / 2 : me - spare, q,
                         [spare](int v) { return v < spare ? 2 * v : v + spare; });
    inner(virtually, all);
    step(send{neighbour, all});
  }

  constexpr double cost(machine const& m, int p, std::size_t n) const {
    double const bytes = static_cast<double>(n * sizeof(T));
    double const fold_and_return =
        is_power_of_two(p) || n == 0 ? 0 : 2 * m.one_way(bytes) + m.combine(bytes);
    return fold_and_return + inner.cost(m, floor_power_of_two(p), n);
  }
  constexpr formula exact_for(machine const& m, int p, std::size_t n) const {
    if constexpr (requires { inner.exact_for(m, p, n); }) return inner.exact_for(m, floor_power_of_two(p), n);
    else return formula::exact;
  }
};

}  // namespace colligo
