// SPDX-License-Identifier: BSL-1.0
/// @file
/// neighbours: a graph of ranks that exchange blocks again and again; all_gather, all_to_all, all_to_all_v, reduce and
/// reduce_v over it, blocking, i and _init.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "all_reduce.hpp"
#include "all_to_all.hpp"
#include "exchange/combining_neighbours.hpp"
#include "exchange/graph.hpp"
#include "exchange/sparse_all_to_all.hpp"
#include "rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// A rank's list of edges that no rank of the communicator has.
struct lonely_edges {
  int at = -1, peer = -1;       ///< at: the rank that expects edges from the peer; -1: all match
  int expects = 0, has = 0;
};
struct first_lonely {
  lonely_edges operator()(lonely_edges const& a, lonely_edges const& b) const { return a.at != -1 ? a : b; }
};

/// The number of edges from or to each rank. If one is no rank, throws argument_error, and the others hear of it.
template <class Comm, class Ranks>
std::vector<int> counted_by_rank(Comm const& comm, Ranks const& ranks, char const* which) {
  call_arguments<collective::all_to_all, Comm> const arguments(comm);
  std::vector<int> counts;
  arguments.attempt([&] {
    counts.resize(static_cast<std::size_t>(arguments.size()));
    for (auto const rank : ranks) {
      if (std::cmp_less(rank, 0) || std::cmp_greater_equal(rank, arguments.size()))
        throw argument_error(
            concat({"colligo: neighbours on rank ", arguments.rank(), " of ", arguments.size(), ": among the ", which,
                    " is ", std::to_string(rank), ", ranks are 0 to ", arguments.size() - 1}));
      ++counts[static_cast<std::size_t>(rank)];
    }
  });
  return counts;
}

template <class Ranks>
std::vector<int> as_ranks(Ranks const& given) {
  std::vector<int> ranks;
  for (auto const rank : given) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

/// Throws mismatch_error on all ranks unless each edge is known to both of its ends.
template <class Comm>
void require_matching(Comm const& comm, std::vector<int> const& in, std::vector<int> const& out) {
  call_arguments<collective::all_to_all, Comm> const arguments(comm);
  std::vector<int> theirs;
  arguments.attempt([&] { theirs.resize(in.size()); });
  colligo::all_to_all(comm, out, theirs);
  lonely_edges mine;
  for (std::size_t r = in.size(); r-- > 0;)
    if (in[r] != theirs[r]) mine = {arguments.rank(), static_cast<int>(r), in[r], theirs[r]};
  lonely_edges const all = colligo::all_reduce(comm, mine, first_lonely{});
  if (all.at == -1) return;
  auto const edges = [](int n) { return n == 1 ? std::string("an edge") : concat({n, " edges"}); };
  throw mismatch_error(concat({"colligo: neighbours: rank ", all.at, " expects ",
                               all.expects == 0 ? "no edge" : edges(all.expects), " from rank ", all.peer,
                               ", which has ", all.has == 0 ? "none" : edges(all.has), " for it"}));
}

struct edges_of_rank {
  std::vector<int> sources, targets;
};
/// Both lists, when all is checked.
template <class Comm, class Sources, class Targets>
edges_of_rank matching(Comm const& comm, Sources const& sources, Targets const& targets) {
  call_arguments<collective::all_to_all, Comm> const arguments(comm);
  return arguments.make_calls(2, [&] {
    auto const in = counted_by_rank(comm, sources, "sources");
    auto const out = counted_by_rank(comm, targets, "targets");
    require_matching(comm, in, out);
    return edges_of_rank{as_ranks(sources), as_ranks(targets)};
  });
}

/// The types of mistaken graphs, with the message.
template <class... Arguments>
struct no_graph : mistake {
  static_assert(sizeof...(Arguments) > 99, "colligo: neighbours takes (comm, sources, targets), two ranges of ranks: "
                "neighbours(comm, std::vector{1}, std::vector{2}); who does not know the sources writes "
                "discover(comm, targets)");
};
template <class... Arguments>
struct no_targets : mistake {
  static_assert(sizeof...(Arguments) > 99, "colligo: discover takes (comm, range of ranks): std::vector{3} for one");
};

}  // namespace detail

/// The ranks that a rank gets blocks from, and those that it sends blocks to: a value. Copies share what has been made,
/// and the state of the communicator: no communicator is made, and a graph takes at most 1 KiB and 16 bytes an edge.
/// Calls over it throw error after the communicator has been freed.
template <communicator Comm>
class neighbours {
 public:
  /// From lists: an edge from each of `sources`, an edge to each of `targets`; a rank may be there several times, its
  /// edges then match in the order listed, and a rank may be its own neighbour. Throws argument_error if one is no
  /// rank, and mismatch_error on all ranks if the lists of two ranks differ. Collective over comm.
  template <detail::integers Sources, detail::integers Targets>
  neighbours(Comm const& comm, Sources const& sources, Targets const& targets)
      : neighbours(state_of<Comm>::open(comm), detail::matching(comm, sources, targets)) {}
  template <class... Wrong>
    requires(sizeof...(Wrong) != 0)
  explicit neighbours(Comm const&, Wrong const&...) : shared_() { static_cast<void>(detail::no_graph<Wrong...>()); }
  /// Of lists that all ranks have made alike, which is not checked. `order`: see graph. Local.
  neighbours(detail::endpoint& state, std::span<int const> sources, std::span<int const> targets,
             std::span<int const> order = {})
      : shared_(std::make_shared<detail::graph>(state, sources, targets, order)) {}
  neighbours(neighbours const&) = default;   // a move is a copy: what has been moved from stays a graph
  neighbours& operator=(neighbours const&) = default;

  int rank() const { return shared_->state().rank(); }
  std::size_t in_degree() const { return shared_->in_degree(); }
  std::size_t out_degree() const { return shared_->out_degree(); }
  std::vector<int> sources() const { return shared_->peers(false); }   ///< in the order of blocks
  std::vector<int> targets() const { return shared_->peers(true); }
  detail::graph& edges() const { return *shared_; }                    ///< for the calls

 private:
  neighbours(detail::endpoint& state, detail::edges_of_rank const& edges)
      : neighbours(state, edges.sources, edges.targets) {}

  std::shared_ptr<detail::graph> shared_;
};
template <class Comm, class... Lists>
neighbours(Comm const&, Lists const&...) -> neighbours<Comm>;

namespace detail {

/// What a sparse_all_to_all says of its messages, said of the targets of discover.
[[gnu::cold]] inline std::string of_targets(std::string text) {
  for (auto const& [said, meant] : {std::pair{"sparse_all_to_all", "discover"}, std::pair{"message ", "target "},
                                    std::pair{" is for rank ", " is rank "}})
    if (auto const at = text.find(said); at != text.npos) text.replace(at, std::string_view(said).size(), meant);
  return text;
}
template <class F>
auto speaking_of_targets(F f) {
  try {
    return f();
  } catch (argument_error const& e) {
    throw argument_error(of_targets(e.what()));
  } catch (failed_elsewhere const& e) {
    throw failed_elsewhere(of_targets(e.what()));
  } catch (mismatch_error const& e) {
    throw mismatch_error(of_targets(e.what()));
  }
}

}  // namespace detail

namespace by_name {

/// The graph in which each rank has an edge to each of `targets`: a rank may be there several times, and a rank may be
/// its own target. Its sources are in ascending order. Throws argument_error if a target is no rank, and then
/// failed_elsewhere on the other ranks. Collective over comm; costs a sparse_all_to_all of an int (exchange.hpp).
template <communicator Comm, detail::integers Targets>
neighbours<Comm> discover(Comm const& comm, Targets const& targets) {
  std::vector<int> const sources = detail::speaking_of_targets([&] { return detail::sources_of(comm, targets); });
  return {state_of<Comm>::open(comm), sources, detail::as_ranks(targets)};
}
/// For arguments that no form accepts: the message says what to write.
template <class... Arguments>
  requires(!requires(Arguments const&... arguments) { colligo::discover(arguments...); })
detail::no_targets<Arguments...> discover(Arguments const&...);

}  // namespace by_name

namespace detail {

template <class Comm>
inline constexpr bool has_forms_elsewhere<neighbours<Comm>> = true;

/// The calls over neighbours: make<How>(graph, the arguments, algorithm = {}).
template <collective C>
struct graph_calls;

template <>
struct graph_calls<collective::all_to_all_v> {
  static constexpr char const* name = "all_to_all_v over neighbours";
  template <made How, class Comm, input_of<How, Comm> In, integers Counts, output_of<How, In> Out,
            integers OutCounts, algorithm Algorithm = automatic>
  static made_t<How> make(neighbours<Comm> const& over, In&& in, Counts const& counts, Out&& out,
                          OutCounts const& out_counts, Algorithm const& algorithm = {}) {
    graph_arguments<Comm> const arguments(over.edges(), name);
    arguments.set_blocks(counts, out_counts);
    fill_empty(arguments, out, arguments.edges().elements_in());
    auto const [from, to] = detail::spans_of(in, out);
    return arguments.template make<How>(from, to, algorithm);
  }
};
template <>
struct graph_calls<collective::all_to_all> {
  static constexpr char const* name = "all_to_all over neighbours";
  template <made How, class Comm, input_of<How, Comm> In, output_of<How, In> Out, algorithm Algorithm = automatic>
  static made_t<How> make(neighbours<Comm> const& over, In&& in, Out&& out, Algorithm const& algorithm = {}) {
    graph_arguments<Comm> const arguments(over.edges(), name);
    std::size_t const k = over.out_degree(), l = over.in_degree();
    std::size_t const n = k != 0 ? std::ranges::size(in) / k : l != 0 ? std::ranges::size(out) / l : 0;
    if constexpr (resizable<std::remove_cvref_t<Out>>)
      if (k == 0 && l != 0 && n == 0) [[unlikely]]
        refuse_because(arguments.as_refused(name),
                       "a rank without targets takes the length of blocks from its output, which is empty");
    arguments.set_blocks(equal_counts{k, n}, equal_counts{l, n});
    fill_empty(arguments, out, l * n);
    auto const [from, to] = detail::spans_of(in, out);
    return arguments.template make<How>(from, to, algorithm);
  }
};
template <>
struct graph_calls<collective::all_gather> {
  static constexpr char const* name = "all_gather over neighbours";
  template <made How, class Comm, input_of<How, Comm> In, output_of<How, In> Out, algorithm Algorithm = automatic>
  static made_t<How> make(neighbours<Comm> const& over, In&& in, Out&& out, Algorithm const& algorithm = {}) {
    graph_arguments<Comm> const arguments(over.edges(), name);
    std::size_t const k = over.out_degree(), l = over.in_degree(), n = std::ranges::size(in);
    arguments.set_blocks(equal_counts{k, n}, equal_counts{l, n}, true);
    fill_empty(arguments, out, l * n);
    auto const [from, to] = detail::spans_of(in, out);
    return arguments.template make<How>(from.first(arguments.edges().elements_out()), to, algorithm);
  }
};

/// reduce and reduce_v: an exchange into memory of the call, then the functor. `shared`: all targets get one block.
template <made How, class Comm, class T, class Counts, class Op, class Algorithm>
made_t<How> make_reduce(neighbours<Comm> const& over, char const* name, std::span<T const> in, Counts const& counts,
                        bool shared, std::span<T> out, Op&& op, Algorithm const& algorithm) {
  graph_arguments<Comm> const arguments(over.edges(), name);
  arguments.set_blocks(counts, equal_counts{over.in_degree(), out.size()}, shared);
  arguments.require_disjoint(in, out, name);
  using used = std::conditional_t<How == made::at_once, std::remove_reference_t<Op>&, std::decay_t<Op>>;
  using given = std::conditional_t<How == made::at_once, used, Op&&>;
  owner<combining_neighbours<T, used>> owned;
  arguments.attempt([&] {
    owned = make_owner<combining_neighbours<T, used>>(over.edges(), out, static_cast<given>(op));
  });
  std::span<T> const received = owned->received;
  std::span<T const> const sent = shared ? in.first(arguments.edges().elements_out()) : in;
  if constexpr (How == made::at_once) {
    arguments.template make<How>(sent, received, algorithm);
    owned->finish();
  } else {
    return arguments.template make_owning<How>(sent, received, std::move(owned), algorithm);
  }
}

template <>
struct graph_calls<collective::reduce> {
  static constexpr char const* name = "reduce over neighbours";
  template <made How, class Comm, input_of<How, Comm> In, output_of<How, In> Out, functor_of<How, Out> Op,
            algorithm Algorithm = automatic>
  static made_t<How> make(neighbours<Comm> const& over, In&& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
    auto const [from, to] = detail::spans_of(in, out);
    graph_arguments<Comm>(over.edges(), name).require_size(to.size(), from.size(), "the output", name);
    return make_reduce<How>(over, name, from, equal_counts{over.out_degree(), from.size()}, true, to,
                            std::forward<Op>(op), algorithm);
  }
};
/// reduce_v, whose blocks are those of a reduce_scatter.
template <>
struct graph_calls<collective::reduce_scatter> {
  static constexpr char const* name = "reduce_v over neighbours";
  template <made How, class Comm, input_of<How, Comm> In, integers Counts, output_of<How, In> Out,
            functor_of<How, Out> Op, algorithm Algorithm = automatic>
  static made_t<How> make(neighbours<Comm> const& over, In&& in, Counts const& counts, Out&& out, Op&& op,
                          Algorithm const& algorithm = {}) {
    auto const [from, to] = detail::spans_of(in, out);
    return make_reduce<How>(over, name, from, counts, false, to, std::forward<Op>(op), algorithm);
  }
};

template <collective C, made How, class Comm, class... Arguments>
concept accepted_over_graph = requires(neighbours<Comm> const& over, Arguments&&... given) {
  graph_calls<C>::template make<How>(over, static_cast<Arguments&&>(given)...);
};

#define COLLIGO_OVER_GRAPH(name, what, how)                                                                          \
  template <communicator Comm, class... Arguments>                                                                   \
    requires detail::accepted_over_graph<collective::what, detail::made::how, Comm, Arguments...>                    \
  detail::made_t<detail::made::how> name(neighbours<Comm> const& over, Arguments&&... given) {                       \
    return detail::graph_calls<collective::what>::make<detail::made::how>(over, static_cast<Arguments&&>(given)...); \
  }
/// For arguments that no form accepts.
#define COLLIGO_NOT_OVER_GRAPH(name, what, how)                                                                      \
  template <communicator Comm, class... Arguments>                                                                   \
    requires(!requires(neighbours<Comm> const& over, Arguments&&... given) {                                         \
               colligo::name(over, static_cast<Arguments&&>(given)...);                                              \
             } &&                                                                                                    \
             !detail::has_form_for_views<collective::what, detail::made::how, neighbours<Comm>, Arguments...>)       \
  detail::answer<collective::exchange, detail::made::how, Comm const&, Arguments...> name(                           \
      neighbours<Comm> const&, Arguments&&...) {                                                                     \
    return {};                                                                                                       \
  }
#define COLLIGO_CALLS_OVER_GRAPH(name, what)                                                                         \
  COLLIGO_NOT_OVER_GRAPH(name, what, at_once)                                                                        \
  COLLIGO_OVER_GRAPH(i##name, what, started)                                                                         \
  COLLIGO_NOT_OVER_GRAPH(i##name, what, started)                                                                     \
  COLLIGO_OVER_GRAPH(name##_init, what, ready)                                                                       \
  COLLIGO_NOT_OVER_GRAPH(name##_init, what, ready)

}  // namespace detail

namespace by_name {

/// Sends a block of `in` on each edge out, and gets one of `out` on each edge in: blocks lie one after the other, in
/// the order of targets() and of sources().
/// @param over        neighbours
/// @param in          contiguous range of as many elements as `counts` together
/// @param counts      sized range of integers, elements for each target
/// @param out         contiguous range of as many elements as `out_counts` together, not overlapping `in`; an empty
///                    container is resized
/// @param out_counts  sized range of integers, elements from each source: what that rank has for the edge
/// @param algorithm   along_edges{} with another window, named("..."), automatic{}
/// Throws argument_error (sizes do not fit, ranges overlap, a count is negative), mismatch_error if the counts of an
/// edge differ (if one of them is 0, perhaps in the next call), error if the communicator has been freed. Cost: a
/// message for each edge (along_edges.hpp); a repeated call allocates nothing. Collective over the graph's
/// communicator.
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Counts,
          detail::output_like<In> Out, detail::integers OutCounts, algorithm Algorithm = automatic>
void all_to_all_v(neighbours<Comm> const& over, In const& in, Counts const& counts, Out&& out,
                  OutCounts const& out_counts, Algorithm const& algorithm = {}) {
  detail::graph_calls<collective::all_to_all_v>::make<detail::made::at_once>(over, in, counts, out, out_counts,
                                                                             algorithm);
}
/// iall_to_all_v, all_to_all_v_init over neighbours: as requests (request.hpp).
COLLIGO_CALLS_OVER_GRAPH(all_to_all_v, all_to_all_v)

/// The same for blocks of one length, the same on all ranks. A rank without targets takes it from `out`: then an empty
/// container is an argument_error.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void all_to_all(neighbours<Comm> const& over, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  detail::graph_calls<collective::all_to_all>::make<detail::made::at_once>(over, in, out, algorithm);
}
/// iall_to_all, all_to_all_init over neighbours: as requests (request.hpp).
COLLIGO_CALLS_OVER_GRAPH(all_to_all, all_to_all)

/// Sends the whole of `in` on each edge out; `out` gets the sources' vectors, in the order of sources(). All ranks have
/// as many elements.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          algorithm Algorithm = automatic>
void all_gather(neighbours<Comm> const& over, In const& in, Out&& out, Algorithm const& algorithm = {}) {
  detail::graph_calls<collective::all_gather>::make<detail::made::at_once>(over, in, out, algorithm);
}
/// iall_gather, all_gather_init over neighbours: as requests (request.hpp).
COLLIGO_CALLS_OVER_GRAPH(all_gather, all_gather)

/// Sends the whole of `in` on each edge out; `out` gets what the sources have sent combined, element by element, from
/// the lowest rank to the highest. The rank's own values are among them if it is its own neighbour; without sources
/// `out` stays as it is. All ranks have as many elements. Throws what the functor throws when all messages are through.
/// Allocates memory for all blocks that come.
template <communicator Comm, detail::elements_over<Comm> In, detail::output_like<In> Out,
          detail::functor_of_two<std::ranges::range_value_t<In>> Op = detail::overloaded_on<Out>,
          algorithm Algorithm = automatic>
void reduce(neighbours<Comm> const& over, In const& in, Out&& out, Op&& op, Algorithm const& algorithm = {}) {
  detail::graph_calls<collective::reduce>::make<detail::made::at_once>(over, in, out, std::forward<Op>(op), algorithm);
}
/// ireduce, reduce_init over neighbours: as requests (request.hpp), which copy the functor.
COLLIGO_CALLS_OVER_GRAPH(reduce, reduce)

/// The same with a block for each target, `counts` elements long: as long as that rank's `out`.
template <communicator Comm, detail::elements_over<Comm> In, detail::integers Counts,
          detail::output_like<In> Out,
          detail::functor_of_two<std::ranges::range_value_t<In>> Op = detail::overloaded_on<Out>,
          algorithm Algorithm = automatic>
void reduce_v(neighbours<Comm> const& over, In const& in, Counts const& counts, Out&& out, Op&& op,
              Algorithm const& algorithm = {}) {
  detail::graph_calls<collective::reduce_scatter>::make<detail::made::at_once>(over, in, counts, out,
                                                                               std::forward<Op>(op), algorithm);
}
/// ireduce_v, reduce_v_init over neighbours: as requests (request.hpp), which copy the functor.
COLLIGO_CALLS_OVER_GRAPH(reduce_v, reduce_scatter)

#undef COLLIGO_CALLS_OVER_GRAPH
#undef COLLIGO_NOT_OVER_GRAPH
#undef COLLIGO_OVER_GRAPH

}  // namespace by_name

}  // namespace colligo
