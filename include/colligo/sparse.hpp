// SPDX-License-Identifier: BSL-1.0
/// @file
/// Sums of sparse vectors: all_reduce and reduce_scatter of lists of indices and values, as in assembling finite
/// elements or in top-k gradients. An element is combined from the ranks that have it; the result lacks an element that
/// no rank has.
///
///   auto const sum = colligo::all_reduce(world, colligo::sparse(indices, values), std::plus<>{});
///   // sum.indices, sum.values
///
/// The range of indices is cut into p parts that hold about equally many elements, by samples of all lists. Each rank
/// sends the others their parts, merges what it receives, and for all_reduce sends the result to all: k - k/p elements
/// each way. A dense result travels with a bit for each index instead of a list of indices. If that needs fewer bytes,
/// an ordinary all_reduce or reduce_scatter combines the vectors as blocks of 64 elements, each with a bit that says
/// whether it is there.
#pragma once

#include <array>
#include <numeric>
#include <string>

#include "all_gather.hpp"
#include "all_gatherv.hpp"
#include "all_reduce.hpp"
#include "all_to_all.hpp"
#include "sums/index_lists.hpp"
#include "reduce_scatter.hpp"
#include "rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace by_name {

/// values[i] is the element at indices[i]; indices are ascending. `length` is the vector's, the same on all ranks; left
/// out, the vector ends after the last index of any rank. A view: both ranges have to live until the call has returned.
template <detail::contiguous Indices, elements Values>
  requires std::integral<std::ranges::range_value_t<Indices>>
auto sparse(Indices const& indices, Values const& values, std::int64_t length = -1) {
  return sparse_range<std::ranges::range_value_t<Values>, std::ranges::range_value_t<Indices>>{indices, values, length};
}
/// For other arguments: the message says what it takes.
template <class... Arguments>
  requires(!requires(Arguments const&... arguments) { colligo::sparse(arguments...); })
decltype(auto) sparse(Arguments const&...) {   // the body's message comes before others
  static_assert(sizeof...(Arguments) > 99, "colligo: sparse takes two contiguous ranges, integers as indices and their "
                "values, and a length: copy what does not lie side by side into a std::vector");
  return sparse_range<double, int>{};
}

}  // namespace by_name

/// How sparse vectors travel: in the form with fewer bytes to send and combine, as lists, or as blocks (only elements
/// that travel as bytes).
enum class sparse_form : std::int64_t { fewest_bytes, lists, blocks };

namespace detail {

template <class T, class Index>
inline constexpr bool has_forms_elsewhere<sparse_range<T, Index>> = true;

/// What all ranks know of each rank's list: the samples are the indices at which equal parts of it begin.
struct state_of_list {
  mistake_of_list mistake{};
  std::int64_t length = 0, end = 0, count = 0, form = 0;
  std::array<std::int64_t, 32> samples{};
};

/// What is wrong with a rank's list; `who` is the subject of the sentence.
template <class Lazy = void>
std::string words_of(mistake_of_list const& mistake, std::string const& who) {
  std::string const first = std::to_string(mistake.first), second = std::to_string(mistake.second);
  switch (mistake.what) {
    case mistake_of_list::no_length: return who + " passes " + first + " as length of the vector";
    case mistake_of_list::unequal: return who + " has " + first + " indices and " + second + " values";
    case mistake_of_list::negative: return who + " has a negative index, " + first;
    case mistake_of_list::beyond:
      return who + " has the index " + std::to_string(static_cast<std::uint64_t>(mistake.first)) +
             ", but the vector ends at " + second;
    case mistake_of_list::unsorted: return who + " has the index " + first + " after " + second + ": sort them";
    default: return who + " has the index " + first + " twice: combine its values before";
  }
}

/// The states of all ranks, if all lists are valid. Otherwise all ranks throw.
template <collective C, class Comm, class T, class Index>
std::vector<state_of_list> states_of(Comm const& comm, sparse_range<T, Index> const& list, sparse_form form) {
  call_arguments<collective::all_gather, Comm> const here(comm);
  std::vector<state_of_list> states;
  here.attempt([&] { states.resize(static_cast<std::size_t>(here.size())); });
  state_of_list mine{mistake_in(list), list.length, 0, static_cast<std::int64_t>(list.indices.size()),
                     static_cast<std::int64_t>(form), {}};
  if (std::size_t const n = list.indices.size(); mine.mistake.what == mistake_of_list::none && n != 0) {
    mine.end = static_cast<std::int64_t>(list.indices[n - 1]) + 1;
    for (std::size_t i = 0; i < mine.samples.size(); ++i)
      mine.samples[i] = static_cast<std::int64_t>(list.indices[i * n / mine.samples.size()]);
  }
  colligo::all_gather(comm, one(mine), states);
  auto const call = [&] {   // no allocation here unless all ranks throw
    return "colligo: " + std::string(name_of(C)) + " of a sparse vector on rank " + std::to_string(here.rank()) +
           " of " + std::to_string(here.size()) + ": ";
  };
  for (int r = 0; r < here.size(); ++r) {
    state_of_list const& theirs = states[static_cast<std::size_t>(r)];
    if (theirs.mistake.what != mistake_of_list::none) {
      if (mine.mistake.what != mistake_of_list::none)
        throw argument_error(call() + words_of(mine.mistake, "this rank"));
      throw failed_elsewhere(call() + words_of(theirs.mistake, "rank " + std::to_string(r)));
    }
    if (theirs.length != states[0].length || theirs.form != states[0].form)
      throw mismatch_error(call() + "rank " + std::to_string(r) + " and rank 0 pass different " +
                           (theirs.form != states[0].form ? "forms" : "lengths of the vector"));
  }
  if (list.length < 0) {
    std::int64_t end = 0;
    for (state_of_list const& theirs : states) end = std::max(end, theirs.end);
    for (state_of_list& theirs : states) theirs.length = end;
  }
  return states;
}

/// Whether the vectors travel as blocks: by the bytes that the rank with most sends and combines. As lists, every
/// element goes once to the rank that merges it, in lg p passes, and the result, estimated for independent indices, to
/// all. A call before others counts as the bytes that could be sent meanwhile.
template <class T, class Index>
bool are_blocks_less(std::span<state_of_list const> states, bool to_all) {
  if constexpr (!travels_as_bytes<T>) return false;
  double const p = static_cast<double>(states.size()), n = static_cast<double>(states[0].length);
  if (n == 0) return false;
  double longest = 0, missing = 1;
  for (state_of_list const& state : states) {
    longest = std::max(longest, static_cast<double>(state.count));
    missing *= 1 - static_cast<double>(state.count) / n;
  }
  double const passes = ceil_lg(static_cast<int>(states.size())), sent = (p - 1) / p, result = (1 - missing) * n;
  double const further = (to_all ? 6 : 3) * passes * typical.alpha / typical.beta;   // all calls but one
  double const as_lists =
      further + longest * (sizeof(T) + sizeof(Index)) * (sent + passes) +
      (to_all ? sent * (result * sizeof(T) + std::min(n / 8, result * sizeof(Index))) : 0);
  return n * (sizeof(T) + 0.125) * sent * (to_all ? 3 : 2) < as_lists;
}

/// Where parts 0 .. p of the vector begin, so that they hold about equally many elements of all lists.
template <class Lazy = void>
std::vector<std::int64_t> cut_by_samples(std::span<state_of_list const> states) {
  struct sample {
    std::int64_t index;
    double weight;
  };
  std::vector<sample> all;
  double sum = 0;
  for (state_of_list const& state : states)
    for (std::int64_t const index : state.samples) {
      double const weight = static_cast<double>(state.count);
      if (state.count != 0) all.push_back({index, weight}), sum += weight;
    }
  std::sort(all.begin(), all.end(), [](sample const& a, sample const& b) { return a.index < b.index; });
  std::vector<std::int64_t> begin(states.size() + 1, states[0].length);
  begin[0] = 0;
  double before = 0;
  std::size_t part = 1;
  for (sample const& sample : all) {
    double const parts = before / sum * static_cast<double>(states.size());
    for (; part < states.size() && parts >= static_cast<double>(part); ++part) begin[part] = sample.index;
    before += sample.weight;
  }
  return begin;
}

/// This rank's part of the sum; the parts begin at `begin`. Other ranks may wait for it in an all_gather.
template <class Comm, class T, class Index, class Op>
sparse_vector<T, Index> part_of_sum(Comm const& comm, sparse_range<T, Index> const& list,
                                    std::span<std::int64_t const> begin, Op& op, bool others_wait) {
  call_arguments<collective::all_to_all, Comm> const here(comm);
  auto const p = static_cast<std::size_t>(here.size());
  std::vector<std::size_t> to, from;
  here.attempt([&] {
    to.resize(p), from.resize(p);
    for (std::size_t r = 0; r < p; ++r)
      to[r] = first_not_below(list.indices, begin[r + 1]) - first_not_below(list.indices, begin[r]);
  });
  colligo::all_to_all(comm, to, from);
  sparse_vector<T, Index> lists;
  here.attempt([&] {
    std::size_t const n = std::reduce(from.begin(), from.end());
    lists.indices.resize(n), lists.values.resize(n);
  });
  colligo::all_to_all_v(comm, list.indices, to, lists.indices, from);
  colligo::all_to_all_v(comm, list.values, to, lists.values, from);
  auto const merge = [&] {
    std::inclusive_scan(from.begin(), from.end(), from.begin());
    merge_all(lists, std::move(from), op);
  };
  if (others_wait) call_arguments<collective::all_gather, Comm>(comm).attempt(merge);
  else merge();
  return lists;
}

/// The parts of all ranks, one after the other.
template <class Comm, class T, class Index>
sparse_vector<T, Index> all_parts(Comm const& comm, sparse_vector<T, Index> const& mine,
                                  std::span<std::int64_t const> begin) {
  call_arguments<collective::all_gather, Comm> const here(comm);
  auto const p = static_cast<std::size_t>(here.size()), me = static_cast<std::size_t>(here.rank());
  std::vector<std::size_t> counts, bytes;
  std::vector<std::byte> code, codes;
  sparse_vector<T, Index> all;
  here.attempt([&] { counts.resize(p), bytes.resize(p); });
  std::size_t const n = mine.indices.size();
  colligo::all_gather(comm, one(n), counts);
  auto const coded = [&](std::size_t r) { return coded_indices<Index>{begin[r], begin[r + 1], counts[r]}; };
  here.attempt([&] {
    for (std::size_t r = 0; r < p; ++r) bytes[r] = coded(r).bytes();
    code.resize(bytes[me]);
    coded(me).encode(mine.indices, code);
    codes.resize(std::reduce(bytes.begin(), bytes.end()));
    std::size_t const sum = std::reduce(counts.begin(), counts.end());
    all.indices.resize(sum), all.values.resize(sum);
  });
  colligo::all_gatherv(comm, code, codes, bytes);
  colligo::all_gatherv(comm, mine.values, all.values, counts);
  std::size_t from = 0, into = 0;
  for (std::size_t r = 0; r < p; from += bytes[r], into += counts[r], ++r)
    coded(r).decode(std::span(codes).subspan(from, bytes[r]), std::span(all.indices).subspan(into, counts[r]));
  return all;
}

}  // namespace detail

namespace by_name {

/// Combines the ranks' sparse vectors; every rank gets the result, a sparse_vector with indices in ascending order.
/// @param comm  communicator, all of whose ranks make the call
/// @param list  sparse(indices, values) or sparse(indices, values, length); ranks may have different numbers of
///              elements, also none
/// @param op    associative callable T(T const&, T const&); operands are in the order of ranks
/// @param form  lists, blocks, or the one with fewer bytes; the same on every rank
/// Throws argument_error, and failed_elsewhere on the other ranks, if a list is not in order, has an index twice, below
/// 0 or beyond the length, or has not one value for each index; mismatch_error (lengths or forms differ); otherwise as
/// all_reduce. The result has the same bits on all ranks.
/// Cost for k elements on a rank and K in the result: as lists 7 collectives, 4 of them short, which send k - k/p
/// elements and, if they spread evenly, at most K - K/p; as blocks two.
template <communicator Comm, class T, class Index, class Op>
  requires(detail::travels_over<T, Comm> && detail::functor_of_two<Op, T>)
auto all_reduce(Comm const& comm, sparse_range<T, Index> const& list, Op&& op,
                sparse_form form = sparse_form::fewest_bytes) {
  static_assert(std::default_initializable<T> && !std::is_same_v<T, bool>,
                "colligo: values of sparse vectors need a default constructor and can not be bool, because "
                "std::vector<bool> has no elements: use char");
  auto const states = detail::states_of<collective::all_reduce>(comm, list, form);
  bool const blocks = form == sparse_form::blocks ||
                      (form != sparse_form::lists && detail::are_blocks_less<T, Index>(states, true));
  if constexpr (travels_as_bytes<T>) {
    if (blocks) {
      detail::call_arguments<collective::all_reduce, Comm> const here(comm);
      std::vector<detail::sparse_block<T>> all;
      here.attempt([&] {
        all = detail::blocks_of_list<std::remove_reference_t<Op>>(list, std::array{std::int64_t{0}, states[0].length});
      });
      detail::combined_blocks<std::remove_reference_t<Op>> combined{op};
      colligo::all_reduce(comm, in_place(all), combined);
      return detail::list_of_blocks<Index, T>(all, 0);
    }
  }
  detail::call_arguments<collective::all_to_all, Comm> const first(comm);
  return first.make_calls(6, [&] {
    std::vector<std::int64_t> begin;
    first.attempt([&] { begin = detail::cut_by_samples(states); });
    return detail::all_parts(comm, detail::part_of_sum(comm, list, begin, op, true), begin);
  });
}

/// The same, but rank r gets only the elements of its block: counts[r] indices from the end of rank r - 1's block on.
/// The length of the vector is the sum of all counts, which are the same on every rank. Indices remain those of the
/// vector.
template <communicator Comm, class T, class Index, detail::integers Counts, class Op>
  requires(detail::travels_over<T, Comm> && detail::functor_of_two<Op, T>)
auto reduce_scatter(Comm const& comm, sparse_range<T, Index> const& list, Counts const& counts, Op&& op,
                    sparse_form form = sparse_form::fewest_bytes) {
  detail::call_arguments<collective::reduce_scatter, Comm> const here(comm);
  auto const p = static_cast<std::size_t>(here.size()), me = static_cast<std::size_t>(here.rank());
  here.require_size(std::ranges::size(counts), p, "the list of counts");
  std::vector<std::int64_t> begin;
  here.attempt([&] { begin.push_back(0); });
  for (auto const count : counts) {
    here.require_count(count);
    here.attempt([&] {
      std::size_t const end = static_cast<std::size_t>(begin.back()) + static_cast<std::size_t>(count);
      begin.push_back(static_cast<std::int64_t>(end));
      if (begin.back() < begin.end()[-2])
        throw argument_error("colligo: reduce_scatter: the sum of the counts is larger than any vector");
    });
  }
  sparse_range<T, Index> const whole{list.indices, list.values, begin.back()};
  auto const states = detail::states_of<collective::reduce_scatter>(comm, whole, form);
  bool const blocks = form == sparse_form::blocks ||
                      (form != sparse_form::lists && detail::are_blocks_less<T, Index>(states, false));
  if constexpr (travels_as_bytes<T>) {
    if (blocks) {
      std::vector<detail::sparse_block<T>> all, mine;
      std::vector<std::size_t> of_rank;
      here.attempt([&] {
        all = detail::blocks_of_list<std::remove_reference_t<Op>>(whole, begin);
        for (std::size_t r = 0; r < p; ++r)
          of_rank.push_back(static_cast<std::size_t>((begin[r + 1] - begin[r] + detail::block_width - 1) /
                                                     detail::block_width));
        mine.resize(of_rank[me]);
      });
      detail::combined_blocks<std::remove_reference_t<Op>> combined{op};
      colligo::reduce_scatter(comm, all, mine, of_rank, combined);
      return detail::list_of_blocks<Index, T>(mine, begin[me]);
    }
  }
  return here.make_calls(3, [&] { return detail::part_of_sum(comm, whole, begin, op, false); });
}

}  // namespace by_name

}  // namespace colligo
