// SPDX-License-Identifier: BSL-1.0
// A unit that names its algorithms, beside units that leave the choice to the library: also algorithms that ask the
// communicator for its hosts and levels.
#ifdef COLLIGO_COMPILED
#undef COLLIGO_COMPILED
#endif
#define COLLIGO_PINNED
#include <colligo/algorithm/direct_by_level.hpp>
#include <colligo/algorithm/hierarchical.hpp>
#include <colligo/algorithm/recursive_doubling.hpp>
#include <colligo/algorithm/ring.hpp>
#include <colligo/all_gatherv.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <functional>

#include "sum.hpp"

namespace colligo::inline COLLIGO_MODE {
template <class Tag>
constexpr bool is_defined = requires { sizeof(Tag); };
static_assert(is_defined<ring> && !is_defined<binary_blocks>, "a pinned unit includes all algorithms");
}  // namespace colligo

std::vector<double> sums_pinned(int p) {
  std::vector<double> results(3);
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    auto const sum = [&](auto const& algorithm) {
      return colligo::all_reduce(comm, comm.rank() + 0.5, std::plus<>{}, algorithm);
    };
    double const all[]{sum(colligo::hierarchical<>{}), sum(colligo::direct_by_level{}), sum(colligo::ring{})};
    double const in[]{all[0]}, list[]{1.0 * comm.rank()};
    double out[1];
    colligo::iall_reduce(comm, in, out, colligo::maximum{}, colligo::recursive_doubling{}).wait();
    std::vector<double> ranks(static_cast<std::size_t>(p));
    colligo::all_gatherv(comm, list, ranks, std::vector<int>(ranks.size(), 1), colligo::ring{});
    if (comm.rank() == 0 && out[0] == all[0] && ranks.back() == p - 1) results.assign(all, all + 3);
  });
  return results;
}
