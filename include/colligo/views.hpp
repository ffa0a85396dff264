// SPDX-License-Identifier: BSL-1.0
/// @file
/// Arguments whose elements do not lie side by side, for all collectives on ranges, their requests, in_place(), blocks
/// at displacements, batches, and calls over neighbours: strided(pointer, count, stride), std::mdspan, Kokkos::View,
/// Eigen's maps and blocks, boost::multi_array; as input also random access ranges that are not contiguous (std::deque,
/// std::views::transform). Sequences (sequence.hpp), messages of sparse_all_to_all and calls that return what they get
/// take them as input.
///
///   colligo::all_reduce(comm, colligo::strided(matrix + 3, rows, columns), out, std::plus<>{});   // a column
///
/// Elements count in row-major order, whatever the strides. Input and output may have different layouts, and ranks too;
/// they need equal numbers of elements. A view whose elements lie side by side after all is not copied. Another one is
/// packed once into memory of the communicator's state, and an output is unpacked when all has come: a repeated call
/// allocates nothing. Requests pack when they start and unpack when they are complete; what a view refers to has to
/// live until then. Besides what a call throws: argument_error if elements of an output overlap, which names the axis.
#pragma once

#include "all_gather.hpp"
#include "all_gatherv.hpp"
#include "all_reduce.hpp"
#include "all_to_all.hpp"
#include "arguments/calls.hpp"
#include "broadcast.hpp"
#include "exchange/layouts.hpp"
#include "gather.hpp"
#include "reduce.hpp"
#include "reduce_scatter.hpp"
#include "scan.hpp"
#include "scatter.hpp"

namespace colligo::inline COLLIGO_MODE {

template <communicator Comm>
class neighbours;

namespace detail {

template <collective C>
struct graph_calls;

/// A call with displacements: (in, out, counts, displs), with a root or not, (in, counts, displs, out, root), (in,
/// counts, displs, out, out_counts, out_displs).
template <collective C, class... Arguments>
constexpr bool has_displacements() {
  constexpr std::size_t n = sizeof...(Arguments);
  if constexpr (C == collective::all_to_all_v) {
    return n > 5;
  } else if constexpr (n > 3) {
    using fourth = std::tuple_element_t<3, std::tuple<Arguments...>>;
    if (C == collective::scatterv) return n > 4 && !std::is_convertible_v<fourth, int>;
    return (C == collective::all_gatherv || C == collective::gatherv) && std::ranges::range<fourth>;
  } else {
    return false;
  }
}

/// What is known of a call over a communicator: its input is the first argument behind it, if that is not its output.
template <collective C, class Over, bool AtDisplacements = false>
struct call_over {
  using forms = calls<C>;
  using arguments = call_arguments<C, Over>;
  static constexpr bool counts_first = C == collective::scatterv || C == collective::all_to_all_v;
  static constexpr std::size_t output =
      C == collective::broadcast ? 0 : !counts_first ? 1 : AtDisplacements ? 3 : 2;
  /// The form for ranges takes what lies apart there, and packs its blocks.
  static constexpr bool has_blocks_at(std::size_t i) {
    return AtDisplacements && ((i == 0 && counts_first) || (i == output && C != collective::scatterv));
  }
  static constexpr bool scatters = C == collective::scatter || C == collective::scatterv;
  static constexpr bool gathers = C == collective::reduce || C == collective::gather || C == collective::gatherv;
  static constexpr bool broadcasts = C == collective::broadcast, has_root = scatters || gathers || broadcasts;
  static constexpr char const* name = nullptr;   // in errors: the collective's
  static endpoint& state(Over const& comm) { return state_of<Over>::open(comm); }
  static bool leaves_output(Over const&) { return false; }
};
/// And over neighbours.
template <collective C, class Comm>
struct call_over<C, neighbours<Comm>> {
  using forms = graph_calls<C>;
  using arguments = call_arguments<collective::exchange, Comm>;
  static constexpr std::size_t output = C == collective::all_to_all_v || C == collective::reduce_scatter ? 2 : 1;
  static constexpr bool scatters = false, gathers = false, broadcasts = false, has_root = false;
  static constexpr bool has_blocks_at(std::size_t) { return false; }
  static constexpr char const* name = forms::name;
  static endpoint& state(neighbours<Comm> const& over) { return over.edges().state(); }
  /// As it is: a reduction without sources does.
  static bool leaves_output(neighbours<Comm> const& over) {
    return (C == collective::reduce || C == collective::reduce_scatter) && over.in_degree() == 0;
  }
};
template <class Call, std::size_t I>
inline constexpr bool is_input = I == 0 && !Call::broadcasts;
template <class Call, std::size_t I, class Argument>
inline constexpr bool is_apart = (I == 0 && is_view_in_place<std::remove_cvref_t<Argument>>) ||
                                 (is_input<Call, I> && lies_apart<Argument>) ||
                                 (I == Call::output && view_apart<Argument>);
template <class Call, std::size_t I, class Argument>
inline constexpr bool is_packed = is_apart<Call, I, Argument> && !Call::has_blocks_at(I);

/// What a call's form for ranges gets for an argument.
template <class Call, std::size_t I, class Argument>
constexpr auto packed_as() {
  if constexpr (!is_packed<Call, I, Argument>) {
    return std::type_identity<Argument>();
  } else if constexpr (is_view_in_place<std::remove_cvref_t<Argument>>) {
    using T = typename element_apart<decltype(std::declval<Argument>().view)>::type;
    return std::type_identity<in_place_range<std::span<T>>>();
  } else {
    using T = typename element_apart<Argument>::type;
    return std::type_identity<std::conditional_t<is_input<Call, I>, std::span<T const>, std::span<T>>>();
  }
}
template <class Call, std::size_t I, class Argument>
using packed_as_t = typename decltype(packed_as<Call, I, Argument>())::type;

/// The forms of requests check all that those of blocking calls have checked before, and that arguments last: those of
/// a blocking call do.
template <made How, class Argument>
using checked_as = std::conditional_t<How == made::at_once, std::remove_reference_t<Argument>&, Argument>;
template <class Call, made How, class Over, class Places, class... Arguments>
inline constexpr bool accepts_packed = false;
template <class Call, made How, class Over, std::size_t... I, class... Arguments>
  requires(is_apart<Call, I, Arguments> || ...) && requires(Over const& over) {
    Call::forms::template make<made::started>(over,
                                              std::declval<checked_as<How, packed_as_t<Call, I, Arguments>>>()...);
  }
inline constexpr bool accepts_packed<Call, How, Over, std::index_sequence<I...>, Arguments...> = true;
/// A form accepts these arguments when those that lie apart are packed.
template <collective C, made How, class Over, class... Arguments>
concept accepted_with_views =
    !has_fractional_root<C, Arguments...>() &&
    accepts_packed<call_over<C, std::remove_cvref_t<Over>, has_displacements<C, Arguments...>()>, How,
                   std::remove_cvref_t<Over>, std::index_sequence_for<Arguments...>, Arguments...>;

/// Calls with views.
template <collective C, class Over, bool AtDisplacements = false>
class calls_with_views {
 public:
  template <made How, std::size_t... I, class... Arguments>
  static made_t<How> make(Over const& over, std::index_sequence<I...>, Arguments&&... arguments) {
    endpoint& state = call::state(over);
    typename call::arguments const checked(state);
    auto const given = std::forward_as_tuple(static_cast<Arguments&&>(arguments)...);
    using types = std::tuple<Arguments...>;
    using In = std::tuple_element_t<0, types>;
    constexpr bool in_place = is_view_in_place<std::remove_cvref_t<In>>;
    using Out = std::tuple_element_t<in_place ? 0 : output, types>;
    constexpr bool one_range = in_place || output == 0;
    (require_extents(checked, std::get<I>(given)), ...);
    bool const at_root = is_root(checked, given);
    use const input = {!scatters || at_root, false};
    use const result = {(one_range && (scatters || broadcasts ? at_root : true)) || call::leaves_output(over),
                        !one_range || !broadcasts ? !gathers || at_root : !at_root};
    if constexpr (in_place || is_apart<call, output, Out>)
      if (result.writes) require_unique(checked, std::get<in_place ? 0 : output>(given));
    if constexpr (!one_range && !AtDisplacements)   // gaps between blocks may be the other one's
      if (input.reads && result.writes) require_apart(checked, std::get<0>(given), std::get<output>(given));
    borrowed_memory memory(state);
    return make_packed<How>(
        checked, memory,
        packed_arguments{argument<!one_range && is_packed<call, 0, In>, In>(std::get<0>(given), input),
                         argument<in_place || is_packed<call, output, Out>, Out>(std::get<in_place ? 0 : output>(given),
                                                                                 result)},
        [&](auto const& packed) {
          return call::forms::template make<How>(over, pick<I, Arguments>(packed, std::get<I>(given))...);
        });
  }
  /// What a batch keeps of a call.
  template <class Checked, class Both, class Op>
  static auto part(Checked const& checked, Both&& both, Op&& op) {
    require_extents(checked, both);
    require_unique(checked, both);
    auto const layout = layout_of<Both>(both);
    return make_part(static_cast<Op&&>(op), layout, layout);
  }
  template <class Checked, class In, class Out, class Op>
  static auto part(Checked const& checked, In&& in, Out&& out, Op&& op) {
    require_extents(checked, in), require_extents(checked, out);
    if constexpr (view_apart<Out>) require_unique(checked, out);
    auto from = layout_of_any<In>(in);
    auto to = layout_of_any<Out>(out);
    checked.require_size(to.size(), from.size(), "the output");
    require_apart(checked, in, out);
    return make_part(static_cast<Op&&>(op), std::move(from), to);
  }

 private:
  using call = call_over<C, Over, AtDisplacements>;
  static constexpr std::size_t output = call::output;
  static constexpr bool scatters = call::scatters, gathers = call::gathers, broadcasts = call::broadcasts;

  /// The root is the last argument but for the algorithm.
  template <class Checked, class... Given>
  static bool is_root(Checked const& checked, std::tuple<Given...> const& given) {
    if constexpr (!call::has_root) {
      return true;
    } else {
      constexpr std::size_t n = sizeof...(Given);
      constexpr bool named = algorithm<std::remove_cvref_t<std::tuple_element_t<n - 1, std::tuple<Given...>>>>;
      return checked.at(static_cast<int>(std::get<n - 1 - (named ? 1 : 0)>(given)));
    }
  }
  template <class Checked, class Given>
  static void require_extents(Checked const& checked, Given& given) {
    if constexpr (is_view_in_place<std::remove_cvref_t<Given>>) {
      require_extents(checked, given.view);
    } else if constexpr (view_of_elements<Given>) {
      auto const extents = view_of(given).extents;
      for (std::size_t d = 0; d < extents.size(); ++d)
        if (auto const extent = static_cast<std::ptrdiff_t>(extents[d]); extent < 0)
          refuse_because(checked.as_refused(call::name),
                         concat({"the extent of axis ", d, " is ", std::to_string(extent)}));
    }
  }
  template <class Checked, class Given>
  static void require_unique(Checked const& checked, Given& given) {
    if constexpr (is_view_in_place<std::remove_cvref_t<Given>>) require_unique(checked, given.view);
    else if (std::string const why = why_not_written(view_of(given)); !why.empty())
      refuse_because(checked.as_refused(call::name), why);
  }
  template <class Checked, class In, class Out>
  static void require_apart(Checked const& checked, In& in, Out& out) {
    if constexpr (!range_apart<In&> && !std::is_pointer_v<std::remove_cvref_t<Out>>) {   // whose extent nobody knows
      auto const to = [&] {
        if constexpr (view_apart<Out&>) return memory_of<typename element_apart<Out&>::type>(out);
        else return memory_of<std::ranges::range_value_t<Out>>(out);
      }();
      using T = std::remove_pointer_t<decltype(to.data)>;
      auto const from = memory_of<T const>(in);
      if (combines(C) && !has_blocks(C) && from.size() != to.size()) return;   // the form for ranges names the lengths
      if (detail::share_elements(from, to)) refuse_overlap(checked.as_refused(call::name), from.data == to.data);
    }
  }
  template <bool Apart, class Argument, class Given>
  static auto argument(Given& given, use on_this_rank) {
    if constexpr (Apart) return to_be_packed<Argument>(given, on_this_rank);
    else return plain_argument{};
  }
  /// The i-th argument of the form for ranges.
  template <std::size_t I, class Argument, class Packed, class Given>
  static packed_as_t<call, I, Argument&&> pick(Packed const& packed, Given&& given) {
    if constexpr (!is_packed<call, I, Argument>) return static_cast<Argument&&>(given);
    else if constexpr (is_view_in_place<std::remove_cvref_t<Argument>>) return {packed.out.elements()};
    else if constexpr (is_input<call, I>) return packed.in.elements();
    else return packed.out.elements();
  }
};

template <class... Arguments>
constexpr void require_lasting() {
  static_assert(!(temporary_owner<Arguments> || ...),
                "colligo: a request reads its input until it is complete, but a temporary is destroyed before: give it "
                "a name, and keep it until wait()");
}
template <collective C, made How, class Over, class... Arguments>
made_t<How> make_with_views(Over const& over, Arguments&&... arguments) {
  if constexpr (How != made::at_once) require_lasting<Arguments...>();
  return calls_with_views<C, Over, has_displacements<C, Arguments...>()>::template make<How>(
      over, std::index_sequence_for<Arguments...>(), static_cast<Arguments&&>(arguments)...);
}

template <collective C, made How, class Comm, class... Arguments>
  requires accepted_with_views<C, How, Comm, Arguments...>
inline constexpr bool has_form_for_views<C, How, Comm, Arguments...> = true;

template <collective C, made How, class Comm, class... Arguments>
  requires accepted_with_views<C, How, Comm, Arguments...>
struct requested<C, How, Comm const&, Arguments...> {
  using type = made_t<How>;
  static type make(Comm const& comm, Arguments&&... arguments) {
    return make_with_views<C, How>(comm, static_cast<Arguments&&>(arguments)...);
  }
};

/// For batches (sums/batching.hpp): (in, out, op), (in_place(view), op).
template <class Comm, class... Arguments>
auto part_with_views(call_arguments<collective::all_reduce, Comm> const& checked, Arguments&&... arguments) {
  require_lasting<Arguments...>();
  return calls_with_views<collective::all_reduce, Comm>::part(checked, static_cast<Arguments&&>(arguments)...);
}

}  // namespace detail

#define COLLIGO_WITH_VIEWS(name) COLLIGO_CALL_WITH_VIEWS(Comm, name, name, at_once)
#define COLLIGO_WITH_VIEWS_OVER_GRAPH(name, what)                                                                    \
  COLLIGO_CALL_WITH_VIEWS(neighbours<Comm>, name, what, at_once)                                                     \
  COLLIGO_CALL_WITH_VIEWS(neighbours<Comm>, i##name, what, started)                                                  \
  COLLIGO_CALL_WITH_VIEWS(neighbours<Comm>, name##_init, what, ready)
#define COLLIGO_CALL_WITH_VIEWS(Over, name, what, how)                                                               \
  template <communicator Comm, class... Arguments>                                                                   \
    requires detail::accepted_with_views<collective::what, detail::made::how, Over, Arguments...>                    \
  auto name(Over const& over, Arguments&&... arguments) -> detail::made_t<detail::made::how> {                       \
    return detail::make_with_views<collective::what, detail::made::how>(over,                                        \
                                                                        static_cast<Arguments&&>(arguments)...);     \
  }

namespace by_name {

/// The collectives with views: the arguments of their forms for ranges and in place.
COLLIGO_WITH_VIEWS(all_reduce)
COLLIGO_WITH_VIEWS(reduce)
COLLIGO_WITH_VIEWS(broadcast)
COLLIGO_WITH_VIEWS(all_gather)
COLLIGO_WITH_VIEWS(all_gatherv)
COLLIGO_WITH_VIEWS(gather)
COLLIGO_WITH_VIEWS(gatherv)
COLLIGO_WITH_VIEWS(scatter)
COLLIGO_WITH_VIEWS(scatterv)
COLLIGO_WITH_VIEWS(all_to_all)
COLLIGO_WITH_VIEWS(all_to_all_v)
COLLIGO_WITH_VIEWS(reduce_scatter)
COLLIGO_WITH_VIEWS(reduce_scatter_block)
COLLIGO_WITH_VIEWS(scan)
COLLIGO_WITH_VIEWS(exclusive_scan)
/// Those over neighbours (neighbours.hpp).
COLLIGO_WITH_VIEWS_OVER_GRAPH(all_gather, all_gather)
COLLIGO_WITH_VIEWS_OVER_GRAPH(all_to_all, all_to_all)
COLLIGO_WITH_VIEWS_OVER_GRAPH(all_to_all_v, all_to_all_v)
COLLIGO_WITH_VIEWS_OVER_GRAPH(reduce, reduce)
COLLIGO_WITH_VIEWS_OVER_GRAPH(reduce_v, reduce_scatter)

}  // namespace by_name

/// Forms that return what they get.
#define COLLIGO_GATHERED_WITH_VIEWS(name)                                                                            \
  namespace detail {                                                                                                 \
  template <communicator Comm, lies_apart In, class... More>                                                         \
    requires std::same_as<decltype(colligo::name(std::declval<Comm const&>(), asked_as<In>(),                        \
                                                 std::declval<More&>()...)),                                         \
                          gathered<std::ranges::range_value_t<asked_as<In>>>>                                        \
  inline constexpr bool has_form_for_views<collective::name, made::at_once, Comm, In, More...> = true;               \
  }                                                                                                                  \
  namespace by_name {                                                                                                \
  template <communicator Comm, detail::lies_apart In, class... More>                                                 \
    requires(detail::has_form_for_views<collective::name, detail::made::at_once, Comm, In, More...> &&               \
             !detail::accepted_with_views<collective::name, detail::made::at_once, Comm, In, More...>)               \
  auto name(Comm const& comm, In&& in, More&&... more)                                                               \
      -> gathered<std::ranges::range_value_t<detail::asked_as<In>>> {                                                \
    detail::call_arguments<collective::name, Comm> const checked(comm);                                              \
    return checked.make_calls(2, [&] {                                                                               \
      return detail::with_packed<detail::made::at_once>(                                                             \
          checked, state_of<Comm>::open(comm), [&](auto& now) { return colligo::name(comm, now, more...); }, in);    \
    });                                                                                                              \
  }                                                                                                                  \
  }

COLLIGO_GATHERED_WITH_VIEWS(all_gatherv)
COLLIGO_GATHERED_WITH_VIEWS(gatherv)
COLLIGO_GATHERED_WITH_VIEWS(all_to_all_v)

#undef COLLIGO_GATHERED_WITH_VIEWS
#undef COLLIGO_WITH_VIEWS
#undef COLLIGO_WITH_VIEWS_OVER_GRAPH
#undef COLLIGO_CALL_WITH_VIEWS

}  // namespace colligo
