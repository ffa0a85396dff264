// SPDX-License-Identifier: BSL-1.0
/// @file
/// record: returns the schedule of an algorithm, given by a tag (plan/recorder.hpp), a name, or a value
/// (chosen_algorithm). Needs no MPI.
#pragma once

#include "plan/price.hpp"
#include "plan/recorder.hpp"
#include "select/chosen.hpp"
#include "select/decide.hpp"
#include "select/recorded.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Lazy = void>
chosen_algorithm parse_for(collective what, named const& algorithm) {
  return parse<Lazy>(policies_of<Lazy>(what)(), algorithm.text(), std::string(name_of(what)) + ": ");
}

/// The steps of one of the library's algorithms, which are compiled once, on a rank.
template <class T>
auto steps_by_policy(chosen_algorithm const& algorithm, collective what, int p, int root) {
  require_ranks_and_root(what, p, root);
  return [&algorithm, what, p, root](int rank, blocks const& vector) {
    return recorded_rank(algorithm, what, policies_of(what)(), sizeof(T), rank, p, vector, root);
  };
}

}  // namespace detail

/// The schedule of one of the library's algorithms as a value. It runs the code of calls, which is compiled once and
/// not for each algorithm. Throws as record(tag) does.
template <class T = std::byte>
schedule record(chosen_algorithm const& algorithm, collective what, int p, std::size_t n, int root = 0) {
  return detail::record_blocks(what, blocks{{0, n}, p}, detail::steps_by_policy<T>(algorithm, what, p, root));
}
template <class T = std::byte, std::ranges::sized_range Counts>
schedule record(chosen_algorithm const& algorithm, collective what, int p, Counts const& counts, int root = 0) {
  return detail::record_counts(what, p, counts, detail::steps_by_policy<T>(algorithm, what, p, root));
}

/// The same for a tag of the library; schedules in constant expressions use plan/recorder.hpp.
template <class T = std::byte, algorithm Tag>
  requires detail::in_catalogue<Tag>
COLLIGO_CONSTEXPR schedule record(Tag const& tag, collective what, int p, std::size_t n, int root = 0) {
  if (std::is_constant_evaluated())
    return detail::record_blocks(what, blocks{{0, n}, p}, detail::steps_by<T>(tag, what, p, root));
  return colligo::record<T>(chosen_algorithm(tag), what, p, n, root);
}
template <class T = std::byte, algorithm Tag, std::ranges::sized_range Counts>
  requires detail::in_catalogue<Tag>
COLLIGO_CONSTEXPR schedule record(Tag const& tag, collective what, int p, Counts const& counts, int root = 0) {
  if (std::is_constant_evaluated())
    return detail::record_counts(what, p, counts, detail::steps_by<T>(tag, what, p, root));
  return colligo::record<T>(chosen_algorithm(tag), what, p, counts, root);
}

/// The same by name, with knobs: record(named("pipelined_ring:block=65536"), ...). Throws algorithm_error with the
/// names that are known.
template <class T = std::byte>
schedule record(named const& algorithm, collective what, int p, std::size_t n, int root = 0) {
  return colligo::record<T>(detail::parse_for<>(what, algorithm), what, p, n, root);
}
template <class T = std::byte, std::ranges::sized_range Counts>
schedule record(named const& algorithm, collective what, int p, Counts const& counts, int root = 0) {
  return colligo::record<T>(detail::parse_for<>(what, algorithm), what, p, counts, root);
}

}  // namespace colligo
