// SPDX-License-Identifier: BSL-1.0
/// @file
/// From a tag to the algorithm that runs: a tag names an algorithm and holds its knobs, the policy nested in it is a
/// template on element type and functor (Tag::all_reduce<T, Op>, Tag::reduce<T, Op>, ...).
#pragma once

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "error.hpp"
#include "renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The collectives of the library. `exchange` is over a graph of in and out edges: its ranks send a block on each edge.
enum class collective {
  all_reduce, reduce, broadcast, all_gather, all_gatherv, gather, gatherv, scatter, scatterv,
  reduce_scatter, reduce_scatter_block, scan, exclusive_scan, all_to_all, all_to_all_v, barrier, exchange
};

constexpr std::string_view name_of(collective c) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(collective::exchange) + 1> names{
      "all_reduce", "reduce",     "broadcast",      "all_gather",     "all_gatherv",          "gather",
      "gatherv",    "scatter",    "scatterv",       "reduce_scatter", "reduce_scatter_block", "scan",
      "exclusive_scan", "all_to_all", "all_to_all_v", "barrier", "exchange"};
  return names[static_cast<std::size_t>(c)];
}

/// All but `exchange`, which is on a graph, not on p and n alone.
inline constexpr auto collectives = [] {
  std::array<collective, static_cast<std::size_t>(collective::exchange)> all{};
  for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<collective>(c);
  return all;
}();

/// The number of all of them.
inline constexpr std::size_t collective_count = collectives.size() + 1;

/// The variable that overrides `automatic` for this collective: COLLIGO_ALL_REDUCE ...
inline std::string environment_variable(collective c) {
  std::string variable = "COLLIGO_";
  for (char const letter : name_of(c)) variable += letter == '_' ? '_' : static_cast<char>(letter - 'a' + 'A');
  return variable;
}

namespace detail {

/// Calls f.operator()<C>() for a collective that is known only at run time.
template <class F>
constexpr decltype(auto) for_collective(collective what, F f) {
  using enum collective;
  switch (what) {
    case all_reduce: return f.template operator()<all_reduce>();
    case reduce: return f.template operator()<reduce>();
    case broadcast: return f.template operator()<broadcast>();
    case all_gather: return f.template operator()<all_gather>();
    case all_gatherv: return f.template operator()<all_gatherv>();
    case gather: return f.template operator()<gather>();
    case gatherv: return f.template operator()<gatherv>();
    case scatter: return f.template operator()<scatter>();
    case scatterv: return f.template operator()<scatterv>();
    case reduce_scatter: return f.template operator()<reduce_scatter>();
    case reduce_scatter_block: return f.template operator()<reduce_scatter_block>();
    case scan: return f.template operator()<scan>();
    case exclusive_scan: return f.template operator()<exclusive_scan>();
    case all_to_all: return f.template operator()<all_to_all>();
    case all_to_all_v: return f.template operator()<all_to_all_v>();
    case barrier: return f.template operator()<barrier>();
    case exchange: return f.template operator()<exchange>();
  }
  throw argument_error("colligo: no such collective");
}

}  // namespace detail

/// One rank is the root.
constexpr bool has_root(collective c) {
  using enum collective;
  return c == reduce || c == broadcast || c == gather || c == gatherv || c == scatter || c == scatterv;
}

/// A functor combines the ranks' values.
constexpr bool combines(collective c) {
  using enum collective;
  return c == all_reduce || c == reduce || c == reduce_scatter || c == reduce_scatter_block || c == scan ||
         c == exclusive_scan;
}

/// The vector consists of one block per rank; algorithms get the places of the blocks instead of the vector alone.
constexpr bool has_blocks(collective c) {
  using enum collective;
  return c == all_gather || c == all_gatherv || c == gather || c == gatherv || c == scatter || c == scatterv ||
         c == reduce_scatter || c == reduce_scatter_block || c == all_to_all || c == all_to_all_v;
}

/// Input and output are two vectors: in the ranges of operands the second one lies behind the first. A rank's block for
/// itself is in its place before the algorithm begins.
constexpr bool has_two_vectors(collective c) { return c == collective::all_to_all || c == collective::all_to_all_v; }

/// The blocks for, and from, each rank.
struct two_vectors {
  blocks in, out;
};
/// The two vectors of such a collective on one rank. all_to_all: `vector` is the first one, in blocks for all ranks.
/// all_to_all_v: a rank knows only its own blocks, so `vector` is empty but has 2 p + 1 offsets, of the blocks of both.
constexpr two_vectors vectors_of(collective c, blocks const& vector, int rank) {
  auto const p = static_cast<std::size_t>(vector.parts);
  if (c == collective::all_to_all) {
    std::size_t const from = vector.whole.last, n = p * vector[rank].size();
    return {vector, {{from, from + n}, vector.parts}};
  }
  std::size_t const* const offsets = vector.offsets;
  return {{{0, offsets[p]}, vector.parts, offsets}, {{offsets[p], offsets[2 * p]}, vector.parts, offsets + p}};
}
/// The number of offsets, if there are any.
constexpr std::size_t offsets_of(collective c, int p) {
  return static_cast<std::size_t>(c == collective::all_to_all_v ? 2 * p : p) + 1;
}

/// Anything that can stand as the last argument of a collective: a tag, named("..."), automatic{}. Its name is static.
template <class Tag>
concept algorithm = requires { { std::remove_cvref_t<Tag>::name } -> std::convertible_to<std::string_view>; } &&
                    !std::is_member_pointer_v<decltype(&std::remove_cvref_t<Tag>::name)>;

namespace detail {

/// Each rank has counts of its own: what a block's two ranks alone know.
constexpr bool has_own_counts(collective c) { return c == collective::all_to_all_v || c == collective::exchange; }
/// All ranks know the counts of all ranks.
constexpr bool has_counts(collective c) {
  using enum collective;
  return c == all_gatherv || c == gatherv || c == scatterv || c == reduce_scatter;
}

// Tag::all_reduce<T, Op>, Tag::broadcast<T> ... A tag with the form for any counts also has the regular one.
template <collective C, class Tag, class T, class Op>
struct policy_of {};
template <class Tag, class T, class Op>
struct policy_of<collective::all_gather, Tag, T, Op> : policy_of<collective::all_gatherv, Tag, T, Op> {};
template <class Tag, class T, class Op>
struct policy_of<collective::gather, Tag, T, Op> : policy_of<collective::gatherv, Tag, T, Op> {};
template <class Tag, class T, class Op>
struct policy_of<collective::scatter, Tag, T, Op> : policy_of<collective::scatterv, Tag, T, Op> {};
template <class Tag, class T, class Op>
struct policy_of<collective::reduce_scatter_block, Tag, T, Op> : policy_of<collective::reduce_scatter, Tag, T, Op> {};
template <class Tag, class T, class Op>
struct policy_of<collective::all_to_all, Tag, T, Op> : policy_of<collective::all_to_all_v, Tag, T, Op> {};
#define COLLIGO_POLICY(name, ...)                                                                          \
  template <class Tag, class T, class Op>                                                                  \
    requires requires { typename Tag::template name<__VA_ARGS__>; }                                        \
  struct policy_of<collective::name, Tag, T, Op> { using type = typename Tag::template name<__VA_ARGS__>; };
COLLIGO_POLICY(all_reduce, T, Op)
COLLIGO_POLICY(reduce, T, Op)
COLLIGO_POLICY(broadcast, T)
COLLIGO_POLICY(all_gather, T)
COLLIGO_POLICY(all_gatherv, T)
COLLIGO_POLICY(gatherv, T)
COLLIGO_POLICY(scatterv, T)
COLLIGO_POLICY(reduce_scatter, T, Op)
COLLIGO_POLICY(scan, T, Op)
COLLIGO_POLICY(exclusive_scan, T, Op)
COLLIGO_POLICY(all_to_all, T)
COLLIGO_POLICY(all_to_all_v, T)
COLLIGO_POLICY(exchange, T)
#undef COLLIGO_POLICY
template <class Tag, class T, class Op>
  requires requires { typename Tag::barrier; }
struct policy_of<collective::barrier, Tag, T, Op> { using type = typename Tag::barrier; };

template <class Policy>
constexpr bool any_size() { return !requires { requires !Policy::any_size; }; }

}  // namespace detail

/// The tag has an algorithm for this collective.
template <class Tag, collective C, class T, class Op>
concept offers = requires { typename detail::policy_of<C, Tag, T, Op>::type; };

/// The policy itself, or the policy in the wrapper that lifts its restriction to p = 2^k.
template <collective C, class Tag, class T, class Op>
  requires offers<Tag, C, T, Op>
constexpr auto make_policy(Tag const& tag) {
  using policy = typename detail::policy_of<C, Tag, T, Op>::type;
  auto const made = [&] {
    if constexpr (requires { policy{tag}; }) return policy{tag};
    else return policy{};
  }();
  if constexpr (detail::any_size<policy>()) return made;
  else return folded<policy, T>{made};
}

template <collective C, class Tag, class T, class Op>
using policy_t = decltype(make_policy<C, Tag, T, Op>(std::declval<Tag const&>()));

/// Operands stay in rank order, so any associative functor works. A policy that does not declare it reorders.
template <class Policy>
constexpr bool keeps_order() { return requires { requires Policy::ordered; }; }

/// A policy may keep order under a condition that is known only at run time, for example of its tree:
/// `bool in_order(int p) const` beside `ordered`.
template <class Policy>
constexpr bool keeps_order_over(Policy const& policy, int p) {
  if constexpr (requires { policy.in_order(p); }) return policy.in_order(p);
  else return keeps_order<Policy>();
}

/// A policy may hold something for a given number of ranks, such as a tree: `int made_for(int p) const` returns that
/// number, or p.
template <class Policy>
constexpr int made_for(Policy const& policy, int p) {
  if constexpr (requires { policy.made_for(p); }) return policy.made_for(p);
  else return p;
}

/// The machines, p and n for which its `cost` is exact:
/// `formula exact_for(machine const& m, int p, std::size_t n) const` beside it. Without it the formula is always exact.
template <class Policy>
constexpr formula formula_of(Policy const& policy, machine const& m, int p, std::size_t n) {
  if constexpr (requires { policy.exact_for(m, p, n); }) return policy.exact_for(m, p, n);
  else return formula::exact;
}

/// The policy consists of steps; it is no call of another library.
template <class Policy>
constexpr bool is_made_of_steps() { return !requires { requires !Policy::is_made_of_steps; }; }

/// The algorithm packs: it uses indices beyond the vector, as many as `std::size_t scratch(blocks const& vector,
/// std::size_t element_size) const` returns, the same on all ranks. element_size is in bytes.
template <class Policy>
concept packs = requires(Policy const& policy, blocks const& vector) { policy.scratch(vector, std::size_t{1}); };

/// A rank's own work in a policy, at most: `own_work work(blocks const& vector, std::size_t element_size) const`, as
/// scratch(). Without it the policy has only messages.
template <class Policy>
concept says_own_work = requires(Policy const& policy, blocks const& vector) { policy.work(vector, std::size_t{1}); };
template <class Policy>
constexpr own_work work_of(Policy const& policy, blocks const& vector, std::size_t element_size) {
  if constexpr (says_own_work<Policy>) return policy.work(vector, element_size);
  else return {};
}

/// Calls a policy with its collective's arguments: the vector or its blocks, or both vectors' blocks, and any root.
template <collective C, class Policy, steps Step>
constexpr void apply(Policy const& policy, Step& step, blocks const& vector, int root = 0) {
  if constexpr (C == collective::barrier) policy(step);
  else if constexpr (C == collective::exchange) policy(step, *vector.edges);
  else if constexpr (has_two_vectors(C)) {
    auto const [in, out] = vectors_of(C, vector, step.rank());
    policy(step, in, out);
  }
  else if constexpr (has_blocks(C) && has_root(C)) policy(step, vector, root);
  else if constexpr (has_blocks(C)) policy(step, vector);
  else if constexpr (has_root(C)) policy(step, vector.whole, root);
  else policy(step, vector.whole);
}

/// All ranks get the same bits even if the functor is associative only up to rounding, as sums of floating point
/// numbers are.
template <class Policy>
constexpr bool gives_same_bits() { return requires { requires Policy::same_bits; }; }

/// Every element is combined from the lowest rank to the highest, ((a0 op a1) op a2) ..., for every p and n.
template <class Policy>
constexpr bool is_sequential() { return requires { requires Policy::sequential; }; }

/// The algorithm folds the rank's own contribution again after combining it, so the result must not overwrite it.
template <class Policy>
constexpr bool keeps_input() { return requires { requires Policy::keeps_input; }; }

/// The algorithm writes to the rank's output alone, so no run has to find out where else it needs memory.
template <class Policy>
constexpr bool writes_output_alone() { return requires { requires Policy::writes_output_alone; }; }

}  // namespace colligo
