// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the front doors share: the checks of a call's arguments, and the way from its last argument to the text that runs.
#pragma once

#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "../core/error.hpp"
#include "../core/functor.hpp"
#include "../model/port.hpp"
#include "choose.hpp"
#include "named.hpp"

namespace colligo {

/// A contiguous, sized range: std::vector, std::span, std::array ...
template <class R>
concept elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

/// A range that stands for input and output at once: see in_place().
template <elements R>
struct in_place_range {
  std::span<std::ranges::range_value_t<R>> elements;
};

/// Input and output in one: all_reduce(comm, in_place(values), op).
template <elements R>
in_place_range<R> in_place(R&& range) { return {std::span(range)}; }

namespace detail {

template <class R>
inline constexpr bool is_in_place = false;
template <class R>
inline constexpr bool is_in_place<in_place_range<R>> = true;

template <class Op, class T>
concept functor_on = std::is_invocable_r_v<T, Op&, T const&, T const&>;

/// One call of a collective on one rank.
template <collective C, class Port>
class call {
 public:
  explicit call(Port& its_port) : port(its_port) {}

  std::string explain() const { return std::string(name_of(C)) + " on rank " + std::to_string(port.rank()) + " of " + std::to_string(port.size()) + ": "; }

  void require_size(std::size_t is, std::size_t wanted, char const* which) const {
    if (is != wanted) throw argument_error(explain() + which + " has " + std::to_string(is) + " elements, expected " + std::to_string(wanted));
  }
  void require_root(int root) const {
    if (root < 0 || root >= port.size()) throw argument_error(explain() + "root " + std::to_string(root) + " is not a rank, ranks are 0 to " + std::to_string(port.size() - 1));
  }
  template <class T>
  void require_disjoint(std::span<T const> in, std::span<T> out) const {
    std::less<T const*> const before;
    bool const apart = in.empty() || out.empty() || !before(in.data(), out.data() + out.size()) || !before(out.data(), in.data() + in.size());
    if (!apart) throw argument_error(explain() + "input and output overlap; in_place(range) is for one range that is both");
  }

  /// Resolves the algorithm and calls run(tag) with a tag that offers C for T and Op and may be given this functor.
  template <class T, class Op, class Algorithm, class Run>
  void with(Algorithm const& algorithm, std::size_t n, Run run) const {
    if constexpr (std::is_same_v<Algorithm, automatic>) {
      std::string const& setting = port.setting(C);
      if (!setting.empty())
        visit<T, Op>(parse<C, T, Op>(setting, [&] { return explain() + std::string(environment_variable(C)) + ": "; }), run);
      else
        visit<T, Op>(choose(C, {port.size(), n * sizeof(T), commutative<Op, T>, Port::template has_vendor<T>}), run);
    } else if constexpr (std::is_same_v<Algorithm, named>) {
      visit<T, Op>(parse<C, T, Op>(algorithm.text(), [&] { return explain(); }), run);
    } else {
      static_assert(offers<Algorithm, C, T, Op>, "colligo: this algorithm has no form for this collective");
      if constexpr (offers<Algorithm, C, T, Op>) {
        static_assert(keeps_order<policy_t<C, Algorithm, T, Op>>() || commutative<Op, T>,
                      "colligo: this algorithm reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), "
                      "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order");
        static_assert(!std::is_same_v<Algorithm, vendor> || Port::template has_vendor<T>,
                      "colligo: vendor is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes");
        run(algorithm);
      }
    }
  }

  Port& port;

 private:
  template <class T, class Op, class Run>
  void visit(any_algorithm const& any, Run& run) const {
    std::visit([&]<class Tag>(Tag const& tag) {
      if constexpr (!offers<Tag, C, T, Op>)
        throw algorithm_error(explain() + std::string(Tag::name) + " has no form for this collective");
      else if constexpr (!keeps_order<policy_t<C, Tag, T, Op>>() && !commutative<Op, T>)
        throw algorithm_error(explain() + std::string(Tag::name) + " reorders operands and the functor is not known to commute: wrap it, "
                              "colligo::as_commutative(op), specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order");
      else if constexpr (std::is_same_v<Tag, vendor> && !Port::template has_vendor<T>)
        throw algorithm_error(explain() + "vendor is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes");
      else
        run(tag);
    }, any);
  }
};

template <collective C, communicator Comm>
auto enter(Comm const& comm) {
  auto& port = port_of<Comm>::open(comm);
  return call<C, std::remove_reference_t<decltype(port)>>(port);
}

}  // namespace detail
}  // namespace colligo
