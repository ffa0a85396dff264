// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which caches, nodes and sockets the cores of a process share with others, as the system says.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/strings.hpp"
#include "core_set.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Innermost first: the hardware threads of a core, a last-level cache, a NUMA node, a die, a socket.
inline constexpr std::size_t domain_levels = 5;

/// The group of a process on each level, named by the lowest core of the group. Unknown if the system does not say, or
/// if the process may run on cores of several groups.
struct core_domains {
  static constexpr std::int32_t unknown = -1;
  std::array<std::int32_t, domain_levels> group{unknown, unknown, unknown, unknown, unknown};
};

/// The domains of a process that may run on these cores. `root`: the folder that contains /sys.
core_domains domains_of(core_set const& cores, std::string const& root = "");
/// Those of this process, by its affinity at the first call.
core_domains const& domains_of_process();

/// Reads a list of cores, "0-3,8"; empty if the text is invalid.
core_set cores_in(std::string_view list);

#if COLLIGO_HAS_BODIES
[[gnu::cold]] COLLIGO_BODY core_set cores_in(std::string_view list) {
  core_set all;
  while (!list.empty() && list.back() == '\n') list.remove_suffix(1);
  auto const number = [&](std::size_t& into) {
    auto const n = digits_in(list);
    into = n.value_or(core_set::most);
    return into < core_set::most;
  };
  while (!list.empty()) {
    std::size_t first = 0, last = 0;
    if (!number(first)) return {};
    last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      if (!number(last)) return {};
    }
    for (std::size_t core = first; core <= last; ++core) all.add(core);
    if (list.empty()) break;
    if (list.front() != ',') return {};
    list.remove_prefix(1);
  }
  return all;
}

// The lowest core of `group` if the group contains all of `cores`; otherwise unknown.
inline std::int32_t group_with(core_set const& cores, core_set const& group) {
  return cores.empty() || !group.has(cores) ? core_domains::unknown : static_cast<std::int32_t>(group.lowest());
}

[[gnu::cold]] COLLIGO_BODY core_domains domains_of(core_set const& cores, std::string const& root) {
  core_domains found;
  if (cores.empty()) return found;
  std::string const system = concat({root, "/sys/devices/system/"}), core = concat({system, "cpu/cpu", cores.lowest()});
  auto const text = [](std::initializer_list<concat_piece> path) __attribute__((noinline)) {
    std::string content = read_file(concat(path).c_str(), 1 << 16).text;
    while (!content.empty() && content.back() == '\n') content.pop_back();
    return content;
  };
  auto const look = [&](std::size_t level, std::initializer_list<concat_piece> path) __attribute__((noinline)) {
    found.group[level] = group_with(cores, cores_in(text(path)));
  };
  enum : std::size_t { threads, cache, node, die, socket };
  look(threads, {core, "/topology/thread_siblings_list"});
  int highest = 0;
  for (int i = 0; i < 10; ++i) {
    std::string const index = concat({core, "/cache/index", i}), cache_level = text({index, "/level"});
    if (cache_level.empty()) break;
    if (text({index, "/type"}) != "Unified" || cache_level[0] - '0' <= std::max(highest, 2))
      continue;   // the third or higher
    highest = cache_level[0] - '0';
    look(cache, {index, "/shared_cpu_list"});
  }
  core_set const nodes = cores_in(text({system, "node/online"}));   // a list of the same form
  for (std::size_t n = 0; n < core_set::most && found.group[node] < 0; ++n)
    if (nodes.has(n)) look(node, {system, "node/node", n, "/cpulist"});
  look(die, {core, "/topology/die_cpus_list"});
  look(socket, {core, "/topology/core_siblings_list"});
  return found;
}

[[gnu::cold]] COLLIGO_BODY core_domains const& domains_of_process() {
  static core_domains const domains = domains_of(core_set::of_process());
  return domains;
}
#endif

}  // namespace colligo
