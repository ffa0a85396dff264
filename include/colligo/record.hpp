// SPDX-License-Identifier: BSL-1.0
/// @file
/// record: the schedule of an algorithm as a value, for tags (plan/recorder.hpp), for names, and for any algorithm of
/// the library as a value. Needs no MPI.
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

/// The steps of an algorithm of the library, which is compiled once, on a rank.
template <class T>
auto steps_by_policy(chosen_algorithm const& algorithm, collective what, int p, int root) {
  return [&algorithm, what, p, root](int rank, blocks const& vector) {
    return recorded_rank(algorithm, what, policies_of(what)(), sizeof(T), rank, p, vector, root);
  };
}

}  // namespace detail

/// The same of any algorithm of the library as a value: of the code that calls run, which is compiled once and not for
/// each of them. Throws as record(tag) does.
template <class T = std::byte>
schedule record(chosen_algorithm const& algorithm, collective what, int p, std::size_t n, int root = 0) {
  return detail::record_blocks(what, blocks{{0, n}, p}, detail::steps_by_policy<T>(algorithm, what, p, root));
}
template <class T = std::byte, std::ranges::sized_range Counts>
schedule record(chosen_algorithm const& algorithm, collective what, int p, Counts const& counts, int root = 0) {
  return detail::record_counts(what, p, counts, detail::steps_by_policy<T>(algorithm, what, p, root));
}

/// The same for a tag of the library, but for schedules that are worked out at compile time.
template <class T = std::byte, algorithm Tag>
  requires detail::in_catalogue<Tag>
constexpr schedule record(Tag const& tag, collective what, int p, std::size_t n, int root = 0) {
  if (std::is_constant_evaluated())
    return detail::record_blocks(what, blocks{{0, n}, p}, detail::steps_by<T>(tag, what, p, root));
  return colligo::record<T>(chosen_algorithm(tag), what, p, n, root);
}
template <class T = std::byte, algorithm Tag, std::ranges::sized_range Counts>
  requires detail::in_catalogue<Tag>
constexpr schedule record(Tag const& tag, collective what, int p, Counts const& counts, int root = 0) {
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
