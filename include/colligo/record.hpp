// SPDX-License-Identifier: BSL-1.0
/// @file
/// record: the schedule of an algorithm as a value, for tags (plan/record.hpp) and for names. Needs no MPI.
#pragma once

#include "plan/price.hpp"
#include "plan/record.hpp"
#include "select/chosen.hpp"
#include "select/decide.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

inline chosen_algorithm parse_for(collective what, named const& algorithm) {
  return for_collective(what, [&]<collective C>() {
    return deciding<>::parse(texts<C>(), algorithm.text(), std::string(name_of(C)) + ": ");
  });
}

}  // namespace detail

/// The same by name, with knobs: record(named("pipelined_ring:block=65536"), ...). Throws algorithm_error with the
/// names that are known.
template <class T = std::byte>
schedule record(named const& algorithm, collective what, int p, std::size_t n, int root = 0) {
  return std::visit([&](auto const& tag) { return record<T>(tag, what, p, n, root); },
                    detail::parse_for(what, algorithm).algorithm);
}
template <class T = std::byte, std::ranges::sized_range Counts>
schedule record(named const& algorithm, collective what, int p, Counts const& counts, int root = 0) {
  return std::visit([&](auto const& tag) { return record<T>(tag, what, p, counts, root); },
                    detail::parse_for(what, algorithm).algorithm);
}

}  // namespace colligo
