// SPDX-License-Identifier: BSL-1.0
/// @file
/// Every collective over elements that are described at run time: for bindings of other languages, for programs that
/// learn their types from a file, and for whoever has bytes and a function that combines them.
///
///   colligo::registered_element const element(colligo::byte_element{.size = 24, .alignment = 8, .combine = &add});
///   colligo::byte_calls(comm).all_reduce(in, out, n, element);                      // automatic
///   colligo::byte_calls(comm).all_reduce(colligo::in_place_bytes, out, n, element, "ring");
///   colligo::request r = colligo::ibyte_calls(comm).all_reduce(in, out, n, element);
///   colligo::persistent again = colligo::byte_calls_init(comm).all_reduce(in, out, n, element);
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "all_gather.hpp"
#include "arguments/moved_bytes.hpp"
#include "barrier.hpp"
#include "core/byte_element.hpp"
#include "request.hpp"
#if COLLIGO_HAS_BODIES
#include "arguments/counts_body.hpp"
#endif

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// All collectives over a communicator. `How` says what a function returns: nothing, when it is complete on this rank;
/// a request; a persistent request. Pointers are to elements of the call's element; lengths, counts and displacements
/// are numbers of elements. `algorithm`: a name, as named() takes it; empty: the library chooses. Every function throws
/// argument_error (a negative length, a root out of range, vectors that overlap, in_place_bytes for a vector that can
/// not be in place, an element that does not combine where it has to), algorithm_error and mpi_error, as the call of
/// this name on ranges does, before anything is written; all are collective. Vectors, counts and the element's context
/// have to live until a request is complete, counts only until it is made. What lies apart is copied: blocks whose
/// displacements leave gaps, the result of a reduce_scatter in place.
template <made How, communicator Comm>
class calls_on_bytes {
 public:
  explicit calls_on_bytes(Comm const& comm) : comm_(comm) {}

  /// out[i] = the combination of all ranks' in[i], on every rank.
  made_t<How> all_reduce(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                         std::string_view algorithm = {}) const {
    return elementwise<collective::all_reduce>(in, out, n, element, algorithm);
  }
  /// The same, on the root alone, the only one that uses `out`; in place is for the root.
  made_t<How> reduce(void const* in, void* out, std::ptrdiff_t n, registered_element const& element, int root,
                     std::string_view algorithm = {}) const {
    arguments<collective::reduce> const checked(comm_, root);
    require_combination(checked, element), checked.require_count(n);
    range const all = length(n), here = checked.at(root) ? all : range{};
    if (checked.at(root)) {
      if (in == in_place_bytes) in = out;
      else require_apart(checked, in, all, out, all, element);
    }
    return make(checked.accept({all, checked.size()}, input(in), all, checked.at(root) ? output(out) : output(nullptr),
                               here, root),
                element, algorithm);
  }
  /// Copies the root's n elements to every rank.
  made_t<How> broadcast(void* both, std::ptrdiff_t n, registered_element const& element, int root,
                        std::string_view algorithm = {}) const {
    arguments<collective::broadcast> const checked(comm_, root);
    checked.require_count(n);
    range const all = length(n), here = checked.at(root) ? all : range{};
    return make(checked.accept({all, checked.size()}, checked.at(root) ? input(both) : input(nullptr), here,
                               output(both), all, root),
                element, algorithm);
  }
  /// out[i] = the combination of in[i] of the ranks up to this one, in their order.
  made_t<How> scan(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                   std::string_view algorithm = {}) const {
    return elementwise<collective::scan>(in, out, n, element, algorithm);
  }
  /// The same of the ranks before this one. Rank 0's `out` stays as it is, for which rank 0 allocates.
  made_t<How> exclusive_scan(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                             std::string_view algorithm = {}) const {
    arguments<collective::exclusive_scan> const checked(comm_);
    require_combination(checked, element), checked.require_count(n);
    range const all = length(n);
    if (in == in_place_bytes) in = out;
    else if (checked.rank() != 0) require_apart(checked, in, all, out, all, element);
    owner<moved_bytes> moved;
    if (checked.rank() == 0 && n > 0)
      checked.attempt([&] {
        moved = make_owner<moved_bytes>();
        out = moved->make_room(static_cast<std::size_t>(n) * element.size());
      });
    return make(checked.accept({all, checked.size()}, input(in), all, output(out), all), element, algorithm,
                std::move(moved));
  }
  /// Returns when every rank has called.
  made_t<How> barrier(std::string_view algorithm = {}) const {
    arguments<collective::barrier> const checked(comm_);
    static constexpr std::size_t most = 2;   // one to send, one to receive
    owner<moved_bytes> moved;
    std::array<std::byte, most> here{};
    std::byte* both = here.data();
    if constexpr (How != made::at_once)
      checked.attempt([&] {
        moved = make_owner<moved_bytes>();
        both = moved->make_room(most);
      });
    return make(checked.accept({{0, most}, checked.size()}, input(both), {0, most}, output(both), {0, most}),
                registered_element::of<std::byte>(), algorithm, std::move(moved));
  }

  /// Every rank gets all ranks' n elements, in the order of ranks. In place: a rank's own are at their place in `out`.
  made_t<How> all_gather(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                         std::string_view algorithm = {}) const {
    arguments<collective::all_gather> const checked(comm_);
    checked.require_count(n);
    return gather_all(checked, checked.blocks_of(length(n).size()), in, out, {}, element, algorithm);
  }
  /// The same of to.counts[rank] elements of each rank.
  made_t<How> all_gatherv(void const* in, void* out, block_places const& to, registered_element const& element,
                          std::string_view algorithm = {}) const {
    arguments<collective::all_gatherv> const checked(comm_);
    blocks const all = blocks_at(checked, to);
    return gather_all(checked, all, in, out, to, element, algorithm);
  }
  /// The same on the root alone, the only one that uses `out`; in place is for the root.
  made_t<How> gather(void const* in, void* out, std::ptrdiff_t n, registered_element const& element, int root,
                     std::string_view algorithm = {}) const {
    arguments<collective::gather> const checked(comm_, root);
    checked.require_count(n);
    return gather_at_root(checked, checked.blocks_of(length(n).size()), in, out, {}, element, root, algorithm);
  }
  /// All ranks give the counts.
  made_t<How> gatherv(void const* in, void* out, block_places const& to, registered_element const& element, int root,
                      std::string_view algorithm = {}) const {
    arguments<collective::gatherv> const checked(comm_, root);
    blocks const all = blocks_at(checked, to);
    return gather_at_root(checked, all, in, out, to, element, root, algorithm);
  }
  /// The counts count at the root alone, as MPI has it; another rank gives the number of its own elements. Costs an
  /// all_gather of the numbers first.
  void gatherv(void const* in, std::ptrdiff_t n, void* out, block_places const& to, registered_element const& element,
               int root, std::string_view algorithm = {}) const requires(How == made::at_once) {
    with_counts<collective::gatherv>(n, to, root, in == in_place_bytes, [&](block_places const& known) {
      gatherv(in, out, known, element, root, algorithm);
    });
  }
  /// Every rank gets its n of the root's elements. In place: the root's `out`, whose own stay where they are.
  made_t<How> scatter(void const* in, void* out, std::ptrdiff_t n, registered_element const& element, int root,
                      std::string_view algorithm = {}) const {
    arguments<collective::scatter> const checked(comm_, root);
    checked.require_count(n);
    return scatter_from_root(checked, checked.blocks_of(length(n).size()), in, {}, out, element, root, algorithm);
  }
  /// All ranks give the counts.
  made_t<How> scatterv(void const* in, block_places const& from, void* out, registered_element const& element, int root,
                       std::string_view algorithm = {}) const {
    arguments<collective::scatterv> const checked(comm_, root);
    blocks const all = blocks_at(checked, from);
    return scatter_from_root(checked, all, in, from, out, element, root, algorithm);
  }
  /// The counts count at the root alone, as MPI has it. Costs an all_gather of the numbers first.
  void scatterv(void const* in, block_places const& from, void* out, std::ptrdiff_t n,
                registered_element const& element, int root, std::string_view algorithm = {}) const
      requires(How == made::at_once) {
    with_counts<collective::scatterv>(n, from, root, out == in_place_bytes, [&](block_places const& known) {
      scatterv(in, known, out, element, root, algorithm);
    });
  }

  /// Combines the ranks' `in` of counts elements together; each rank gets its block. In place: the input is in `out`,
  /// and the block comes to its beginning.
  made_t<How> reduce_scatter(void const* in, void* out, std::span<std::ptrdiff_t const> counts,
                             registered_element const& element, std::string_view algorithm = {}) const {
    arguments<collective::reduce_scatter> const checked(comm_);
    return reduce_and_scatter(checked, checked.blocks_of(counts), in, out, element, algorithm);
  }
  /// The same for blocks of n elements each.
  made_t<How> reduce_scatter_block(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                                   std::string_view algorithm = {}) const {
    arguments<collective::reduce_scatter_block> const checked(comm_);
    checked.require_count(n);
    return reduce_and_scatter(checked, checked.blocks_of(length(n).size()), in, out, element, algorithm);
  }

  /// Every rank has n elements for every rank.
  made_t<How> all_to_all(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                         std::string_view algorithm = {}) const {
    arguments<collective::all_to_all> const checked(comm_);
    checked.require_count(n);
    blocks const each = checked.blocks_of(length(n).size());
    std::size_t const all = each.whole.size();
    if (in == in_place_bytes) in = out;
    else require_apart(checked, in, {0, all}, out, {0, all}, element);
    return make(checked.accept(each, input(in), {0, all}, output(out), {all, 2 * all}), element, algorithm);
  }
  /// The same for blocks of any lengths: from.counts[r] elements for rank r, to.counts[r] from it. In place: as many
  /// come from a rank as go to it, by `to`, and `from` is not used.
  made_t<How> all_to_all_v(void const* in, block_places const& from, void* out, block_places const& to,
                           registered_element const& element, std::string_view algorithm = {}) const {
    arguments<collective::all_to_all_v> const checked(comm_);
    bool const is_in_place = in == in_place_bytes;
    blocks const vector = checked.blocks_of((is_in_place ? to : from).counts, to.counts);
    require_places(checked, to);
    if (!is_in_place) require_places(checked, from);
    auto const [sent, got] = vectors_of(collective::all_to_all_v, vector, checked.rank());
    std::size_t const size = element.size(), n = sent.whole.size();
    checked.require_size(got[checked.rank()].size(), sent[checked.rank()].size(), "the block of this rank from itself");
    owner<moved_bytes> moved;
    auto* into = static_cast<std::byte*>(out);
    auto const* taken = static_cast<std::byte const*>(in);
    checked.attempt([&] {
      if (!is_in_place) {
        taken = joined_input(taken, from, size, moved);
        into = joined_output(into, to, size, moved);
      } else {
        into = joined(into, to, size, moved, [&](std::byte* there, std::size_t bytes, std::byte* here) {
          moved->before(there, bytes, here), moved->after(here, bytes, there);
        });
        taken = into;
      }
    });
    if (!is_in_place) require_apart(checked, taken, sent.whole, into, got.whole, element);
    return make(checked.accept(vector, input(taken), {0, n}, output(into), {n, n + got.whole.size()}), element,
                algorithm, std::move(moved));
  }

 private:
  template <collective C> using arguments = call_arguments<C, Comm>;

  static range length(std::ptrdiff_t n) { return {0, static_cast<std::size_t>(n)}; }
  // A span says where, the call's ranges say how many.
  static std::span<std::byte const> input(void const* at) { return {static_cast<std::byte const*>(at), at ? 1u : 0u}; }
  static std::span<std::byte> output(void* at) { return {static_cast<std::byte*>(at), at ? 1u : 0u}; }

  template <class Arguments>
  static void require_apart(Arguments const& checked, void const* in, range n, void* out, range m,
                            registered_element const& element) {
    std::span<std::byte const> const from(static_cast<std::byte const*>(in), n.size() * element.size());
    checked.require_disjoint(from, std::span<std::byte>(static_cast<std::byte*>(out), m.size() * element.size()));
  }
  /// Refuses an element that combines nothing, and tells the other ranks.
  template <class Arguments>
  static void require_combination(Arguments const& checked, registered_element const& element) {
    if (!element.combines()) [[unlikely]]
      checked.attempt([] { throw argument_error("colligo: this collective combines, but its byte_element does not"); });
  }
  template <class Arguments>
  static void require_places(Arguments const& checked, block_places const& places) {
    if (!places.displacements.empty())
      checked.require_size(places.displacements.size(), static_cast<std::size_t>(checked.size()),
                           "the list of displacements");
  }
  template <class Arguments>
  static blocks blocks_at(Arguments const& checked, block_places const& places) {
    require_places(checked, places);
    return checked.blocks_of(places.counts);
  }

  /// The rank's own block among all of them.
  template <class Arguments>
  static std::byte* own_block(Arguments const& checked, blocks const& all, void* base, block_places const& where,
                              std::size_t size) {
    auto const rank = static_cast<std::size_t>(checked.rank());
    std::ptrdiff_t const first = where.displacements.empty() ? static_cast<std::ptrdiff_t>(all[checked.rank()].first)
                                                             : where.displacements[rank];
    return static_cast<std::byte*>(base) + first * static_cast<std::ptrdiff_t>(size);
  }

  template <collective C>
  made_t<How> elementwise(void const* in, void* out, std::ptrdiff_t n, registered_element const& element,
                          std::string_view algorithm) const {
    arguments<C> const one(comm_);
    require_combination(one, element), one.require_count(n);
    range const all = length(n);
    if (in == in_place_bytes) in = out;
    else require_apart(one, in, all, out, all, element);
    return make(one.accept({all, one.size()}, input(in), all, output(out), all), element, algorithm);
  }
  template <class Arguments>
  made_t<How> gather_all(Arguments const& checked, blocks const& all, void const* in, void* out, block_places const& to,
                         registered_element const& element, std::string_view algorithm, int root = 0) const {
    range const own = all[checked.rank()];
    owner<moved_bytes> moved;
    auto* into = static_cast<std::byte*>(out);
    checked.attempt([&] { into = joined_output(into, to, element.size(), moved); });
    if (in == in_place_bytes) in = own_block(checked, all, out, to, element.size());
    else require_apart(checked, in, own, into, all.whole, element);
    return make(checked.accept(all, input(in), own, output(into), all.whole, root), element, algorithm,
                std::move(moved));
  }
  template <class Arguments>
  made_t<How> gather_at_root(Arguments const& checked, blocks const& all, void const* in, void* out,
                             block_places const& to, registered_element const& element, int root,
                             std::string_view algorithm) const {
    if (checked.at(root)) return gather_all(checked, all, in, out, to, element, algorithm, root);
    return make(checked.accept(all, input(in), all[checked.rank()], output(nullptr), {}, root), element, algorithm);
  }
  template <class Arguments>
  made_t<How> scatter_from_root(Arguments const& checked, blocks const& all, void const* in, block_places const& from,
                                void* out, registered_element const& element, int root,
                                std::string_view algorithm) const {
    range const own = all[checked.rank()];
    if (!checked.at(root))
      return make(checked.accept(all, input(nullptr), {}, output(out), own, root), element, algorithm);
    owner<moved_bytes> moved;
    auto const* taken = static_cast<std::byte const*>(in);
    checked.attempt([&] { taken = joined_input(taken, from, element.size(), moved); });
    if (out == in_place_bytes) out = const_cast<std::byte*>(taken) + own.first * element.size();   // is not written
    else require_apart(checked, taken, all.whole, out, own, element);
    return make(checked.accept(all, input(taken), all.whole, output(out), own, root), element, algorithm,
                std::move(moved));
  }
  template <class Arguments>
  made_t<How> reduce_and_scatter(Arguments const& checked, blocks const& all, void const* in, void* out,
                                 registered_element const& element, std::string_view algorithm) const {
    require_combination(checked, element);
    range const own = all[checked.rank()];
    owner<moved_bytes> moved;
    if (in == in_place_bytes) {   // the block lies where the input of others' blocks is
      checked.attempt([&] {
        moved = make_owner<moved_bytes>();
        std::size_t const bytes = own.size() * element.size();
        std::byte* const block = moved->make_room(bytes);
        moved->after(block, bytes, static_cast<std::byte*>(out));
        in = std::exchange(out, block);
      });
    } else require_apart(checked, in, all.whole, out, own, element);
    return make(checked.accept(all, input(in), all.whole, output(out), own), element, algorithm, std::move(moved));
  }
  /// Calls f(all ranks' counts), with displacements at the root, for ranks that know their own count alone.
  template <collective C, class F>
  void with_counts(std::ptrdiff_t n, block_places const& at_root, int root, bool is_in_place, F f) const {
    arguments<C> const one(comm_, root);
    one.make_calls(2, [&] {
      bool const here = one.at(root);
      if (here) {
        one.require_size(at_root.counts.size(), static_cast<std::size_t>(one.size()), "the list of counts");
        require_places(one, at_root);
        for (auto const count : at_root.counts) one.require_count(count);
      }
      if (here && is_in_place) n = at_root.counts[static_cast<std::size_t>(root)];
      one.require_count(n);
      auto const numbers = counts_of_ranks(comm_, static_cast<std::size_t>(n));
      require_counts<C>(comm_, at_root.counts, numbers, root);
      std::vector<std::ptrdiff_t> counts;
      one.attempt([&] { counts.assign(numbers.begin(), numbers.end()); });
      f(block_places{counts, here ? at_root.displacements : std::span<std::ptrdiff_t const>{}});
    });
  }

  template <collective C>
  made_t<How> make(accepted<C, Comm, std::byte> accepted, registered_element const& element, std::string_view algorithm,
                   owner<moved_bytes> moved = {}) const {
    if (accepted.call.in.data == in_place_bytes || accepted.call.out.data == in_place_bytes) [[unlikely]]
      refuse_because({accepted.state, C, accepted.call.checked()},
                     "in place stands for `in`, in scatters for `out`, and only on ranks that have both");
    struct nothing_known {};   // a type and a functor for which MPI has no datatype and no operation
    accepted.call.of = combines(C) ? &element.combined() : &element.moved();
    accepted.call.wire = state_of<Comm>::template wire<nothing_known, nothing_known, true>();
    accepted.call.op = element.context();
    constexpr policies_of_collective policies = &policy_table_of<C>;
    if constexpr (How == made::at_once) {
      if (moved) moved->begin();
      if (algorithm.empty()) run_by_rules(accepted.state, accepted.call, policies);
      else run_call(accepted.state, accepted.call, by_name(accepted.state, accepted.call, algorithm, policies));
      if (moved) moved->finish();
    } else {
      constexpr bool persistent = How == made::ready;
      if (algorithm.empty())
        return made_t<How>(prepare_by_rules(accepted.state, accepted.call, policies, std::move(moved), persistent));
      choice const& by = by_name(accepted.state, accepted.call, algorithm, policies);
      return made_t<How>(prepare_call(accepted.state, accepted.call, by, std::move(moved), persistent));
    }
  }

  Comm const& comm_;
};

}  // namespace detail

namespace by_name {

/// The collectives over `comm`, as blocking calls, as requests that are started, and as persistent requests. `comm` has
/// to live as long as the result of this function, not as long as the requests.
template <communicator Comm>
auto byte_calls(Comm const& comm) {
  return detail::calls_on_bytes<detail::made::at_once, Comm>(comm);
}
template <communicator Comm>
auto ibyte_calls(Comm const& comm) {
  return detail::calls_on_bytes<detail::made::started, Comm>(comm);
}
template <communicator Comm>
auto byte_calls_init(Comm const& comm) {
  return detail::calls_on_bytes<detail::made::ready, Comm>(comm);
}

}  // namespace by_name

}  // namespace colligo
