// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the front doors share: the checks of a call's arguments, and the way from its last argument to the text that runs.
#pragma once

#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "../core/error.hpp"
#include "../core/functor.hpp"
#include "../plan/extent.hpp"
#include "../transport/port.hpp"
#include "../transport/working_vector.hpp"
#include "choose.hpp"
#include "known_trees.hpp"
#include "named.hpp"

namespace colligo::inline COLLIGO_MODE {

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
concept functor_on = std::is_invocable_r_v<T, std::remove_reference_t<Op>&, T const&, T const&>;

/// Input and output as spans of the same element type.
template <class In, class Out>
auto spans(In const& in, Out& out) {
  using T = std::ranges::range_value_t<Out>;
  static_assert(std::is_same_v<T, std::ranges::range_value_t<In>>, "colligo: input and output must have the same element type");
  return std::pair(std::span<T const>(in), std::span<T>(out));
}

/// A span that holds this stretch of the vector.
template <class T>
values<T> holding(std::span<T> elements, range stretch) { return {elements.data(), stretch}; }

/// What collectives that combine nothing pass as functor.
struct no_functor {
  template <class T>
  T operator()(T const& a, T const&) const { return a; }
};
template <class Op, class T>
constexpr bool may_reorder() { return commutative<Op, T> || std::is_same_v<Op, no_functor>; }

/// Runs a text on this rank. Memory beside the user's is needed only for what the text touches outside of `out`.
template <class Port, class T, class Op, class Text>
void execute(Port& port, transport over, range whole, values<T const> in, values<T> out, Op& op, bool keeps_input, Text text) {
  range holds = out.covers;
  if (out.covers != whole) {
    extent needed(port.rank(), port.size());
    text(needed);
    holds = needed.holds();
  }
  bool const direct = contains(out.covers, holds), copy = keeps_input && in.data == out.data;
  room<T> result(port.result, direct ? 0 : holds.size()), input(port.input, copy ? in.covers.size() : 0);
  if (copy) in.data = std::copy_n(in.data, in.covers.size(), input.data()) - in.covers.size();
  working_vector<T, Op> data(in, direct ? out : values<T>{result.data(), holds}, op);
  auto step = port.steps(data, over);
  text(step);
  if (direct) data.complete();
  else std::copy_n(data.read(out.covers), out.covers.size(), out.data);
}

/// One call of a collective on one rank.
template <collective C, class Port>
class call {
 public:
  explicit call(Port& its_port) : port(its_port) {}

  int rank() const { return port.rank(); }
  int size() const { return port.size(); }
  bool at(int root) const { return port.rank() == root; }

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

  /// Checks the counts of a v-collective and says where its blocks lie.
  template <std::ranges::sized_range Counts>
  blocks blocks_of(Counts const& counts) const {
    require_size(std::ranges::size(counts), static_cast<std::size_t>(port.size()), "the list of counts");
    port.offsets.assign(1, 0);
    for (auto const count : counts) {
      if (std::cmp_less(count, 0)) throw argument_error(explain() + "a count is negative: " + std::to_string(count));
      port.offsets.push_back(port.offsets.back() + static_cast<std::size_t>(count));
    }
    return {{0, port.offsets.back()}, port.size(), port.offsets.data()};
  }
  /// A vector of n elements that has no blocks of its own.
  blocks vector_of(std::size_t n) const { return {{0, n}, port.size()}; }
  /// Blocks of n elements each.
  blocks blocks_of(std::size_t n) const { return {{0, n * static_cast<std::size_t>(port.size())}, port.size()}; }

  /// Runs the algorithm on this rank's share: `in` is what it contributes, `out` what it wants, each a stretch of `vector`.
  template <class T, class Op, class Algorithm>
  void run(Algorithm const& algorithm, blocks const& vector, values<T const> in, values<T> out, Op& op, int root = 0) const {
    if (port.trace) [[unlikely]] run_traced(algorithm, vector, in, out, op, root);
    else run<false>(algorithm, vector, in, out, op, root);
  }

 private:
  // A copy of the vector: if the untraced way had its address taken here, the vector would go through memory.
  template <class T, class Op, class Algorithm>
  [[gnu::noinline, gnu::cold]] void run_traced(Algorithm const& algorithm, blocks vector, values<T const> in, values<T> out, Op& op, int root) const {
    run<true>(algorithm, vector, in, out, op, root);
  }

  template <bool Traced, class T, class Op, class Algorithm>
  void run(Algorithm const& algorithm, blocks const& vector, values<T const> in, values<T> out, Op& op, int root) const {
    using functor = std::remove_cv_t<Op>;
    with<T, functor>(algorithm, vector, [&]<class Tag>(Tag const& tag, [[maybe_unused]] transport over) {
      [[maybe_unused]] auto const log = [&] {
        if constexpr (Traced) return traced_call(*port.trace, C, Tag::name, vector.whole.size(), sizeof(T));
        else return 0;
      }();
      if constexpr (std::is_same_v<Tag, vendor>) {
        run_vendor<C>(tag, port, vector, in, out, op, root);
      } else {
        auto const known = with_what_is_known(tag);
        auto const policy = make_policy<C, std::remove_const_t<decltype(known)>, T, functor>(known);
        if (int const p = made_for(policy, size()); p != size())
          refuse_arguments(Tag::name, " is made for " + std::to_string(p) + " ranks, the communicator has " + std::to_string(size()));
        if constexpr (!may_reorder<functor, T>())
          if (!keeps_order_over(policy, size())) refuse(Tag::name, reorders);
        auto const text = [&]<class Step>(Step& step) {
          if constexpr (Traced && !std::is_same_v<Step, extent>) {
            traced each(step, log);
            apply<C>(policy, each, vector, root);
          } else {
            apply<C>(policy, step, vector, root);
          }
        };
        execute(port, over, vector.whole, in, out, op, keeps_input<decltype(policy)>(), text);
      }
    });
  }

  // What the tag leaves open and the communicator knows: trees, hosts.
  template <class Tag>
  auto with_what_is_known(Tag const& tag) const {
    if constexpr (std::is_convertible_v<Tag const&, along_trees>) {
      return with_known_trees(tag, port, C, [this] { return explain(); });
    } else {
      Tag known = tag;
      if constexpr (requires { known.hosts; })
        if (known.hosts.empty()) known.hosts = port.hosts;
      return known;
    }
  }

  // Resolves the algorithm and calls run(tag) with a tag that offers C for T and Op and may be given this functor.
  template <class T, class Op, class Algorithm, class Run>
  void with(Algorithm const& algorithm, blocks const& vector, Run run) const {
    if constexpr (std::is_same_v<Algorithm, automatic> || std::is_same_v<Algorithm, named>) {
      visit<T, Op>(resolve<T, Op>(algorithm, vector), run);
    } else if constexpr (std::is_same_v<Algorithm, chosen_algorithm>) {
      visit<T, Op>(algorithm, run);
    } else {
      static_assert(offers<Algorithm, C, T, Op>, "colligo: this algorithm has no form for this collective");
      if constexpr (offers<Algorithm, C, T, Op>) {
        static_assert(keeps_order<policy_t<C, Algorithm, T, Op>>() || may_reorder<Op, T>(),
                      "colligo: this algorithm reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), "
                      "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order");
        static_assert(!std::is_same_v<Algorithm, vendor> || Port::template has_vendor<T>,
                      "colligo: vendor is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes");
        run(algorithm, transport_of<Algorithm>());
      }
    }
  }


  template <class T, class Op>
  chosen_algorithm resolve(named const& algorithm, blocks const& vector) const {
    if (algorithm.text() == automatic::name) return resolve<T, Op>(automatic{}, vector);
    return parse<C>(algorithm.text(), [this] { return explain(); });
  }
  template <class T, class Op>
  chosen_algorithm resolve(automatic, blocks const& vector) const {
    std::string const& setting = port.setting(C);
    if (!setting.empty()) return parse<C>(setting, [this] { return explain() + environment_variable(C) + ": "; });
    if (has_tree_setting(port, C)) return along_trees{};
    auto const* const memory = port.template automatic_memory<T>();
    bool const shared = memory && memory->whole();
    return choose(C, {vector, sizeof(T), may_reorder<Op, T>(), exact<Op, T>, Port::template has_builtin<T, Op>(), shared, port.hosts});
  }

  template <class T, class Op, class Run>
  void visit(chosen_algorithm const& chosen, Run& run) const {
    std::visit([&]<class Tag>(Tag const& tag) {
      if constexpr (!offers<Tag, C, T, Op>)
        refuse(Tag::name, " has no form for this collective");
      else if constexpr (!keeps_order<policy_t<C, Tag, T, Op>>() && !may_reorder<Op, T>())
        refuse(Tag::name, reorders);
      else if constexpr (std::is_same_v<Tag, vendor> && !Port::template has_vendor<T>)
        refuse(Tag::name, " is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes");
      else
        run(tag, chosen.over == transport::messages ? transport_of<Tag>() : chosen.over);
    }, chosen.algorithm);
  }
  static constexpr char const* reorders = " reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), specialise "
                                          "colligo::commutative<Op, T>, or choose an algorithm that keeps order";
  [[noreturn]] void refuse_arguments(std::string_view name, std::string const& why) const { throw argument_error(explain() + std::string(name) + why); }
  [[noreturn]] void refuse(std::string_view name, char const* why) const { throw algorithm_error(explain() + std::string(name) + why); }

 public:
  Port& port;
};

template <collective C, communicator Comm>
auto enter(Comm const& comm) {
  auto& port = port_of<Comm>::open(comm);
  return call<C, std::remove_reference_t<decltype(port)>>(port);
}

}  // namespace detail
}  // namespace colligo
