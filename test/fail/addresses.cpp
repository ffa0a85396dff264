// SPDX-License-Identifier: BSL-1.0
// expect: colligo: elements that are addresses (pointers, references, spans, string_views) mean nothing on another rank
// lines: 12
#include <colligo/all_reduce.hpp>

#include <vector>

#ifdef COLLIGO_MUST_FAIL
using element = std::pair<int, double const*>;
#else
using element = std::pair<int, double>;
#endif

void first(colligo::thread_communicator& comm, std::vector<element>& values) {
  colligo::all_reduce(comm, colligo::in_place(values), [](element const& a, element const&) { return a; });
}
