// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of core_domains.hpp.
#pragma once

#include <algorithm>
#include <climits>

#include "../core/strings.hpp"
#include "core_domains.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY cpu_set_t cores_in(std::string_view list) {
  cpu_set_t none, all;
  CPU_ZERO(&none);
  CPU_ZERO(&all);
  while (!list.empty() && list.back() == '\n') list.remove_suffix(1);
  auto const number = [&](int& into) {
    auto const its = digits_in(list);
    if (!its || *its >= CPU_SETSIZE) return false;
    into = static_cast<int>(*its);
    return true;
  };
  while (!list.empty()) {
    int first = 0, last = 0;
    if (!number(first)) return none;
    last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      if (!number(last)) return none;
    }
    for (int core = first; core <= last; ++core) CPU_SET(core, &all);
    if (list.empty()) break;
    if (list.front() != ',') return none;
    list.remove_prefix(1);
  }
  return all;
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> sizes_in(std::string_view text) {
  std::vector<int> sizes;
  for (;;) {
    auto const n = digits_in(text);
    if (!n || *n < 1 || *n > INT_MAX) return {};
    sizes.push_back(static_cast<int>(*n));
    if (text.empty()) return sizes;
    if (text.front() != 'x') return {};
    text.remove_prefix(1);
  }
}

// The lowest core of `group` if the group contains all of `cores`; otherwise unknown.
inline std::int32_t group_with(cpu_set_t const& cores, cpu_set_t const& group) {
  cpu_set_t both;
  CPU_AND(&both, &cores, &group);
  if (CPU_COUNT(&cores) == 0 || !CPU_EQUAL(&both, &cores)) return core_domains::unknown;
  std::int32_t lowest = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(lowest), &group)) ++lowest;
  return lowest;
}

[[gnu::cold]] COLLIGO_BODY core_domains domains_of(cpu_set_t const& cores, std::string const& root) {
  core_domains found;
  if (CPU_COUNT(&cores) == 0) return found;
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &cores)) ++first;
  std::string const system = concat({root, "/sys/devices/system/"}), core = concat({system, "cpu/cpu", first});
  auto const text = [](std::initializer_list<concat_piece> path) __attribute__((noinline)) {
    std::string its = read_file(concat(path).c_str(), 1 << 16).text;
    while (!its.empty() && its.back() == '\n') its.pop_back();
    return its;
  };
  auto const look = [&](std::size_t level, std::initializer_list<concat_piece> path) __attribute__((noinline)) {
    found.group[level] = group_with(cores, cores_in(text(path)));
  };
  enum : std::size_t { threads, cache, node, die, socket };
  look(threads, {core, "/topology/thread_siblings_list"});
  int highest = 0;
  for (int i = 0; i < 10; ++i) {
    std::string const its = concat({core, "/cache/index", i}), its_level = text({its, "/level"});
    if (its_level.empty()) break;
    if (text({its, "/type"}) != "Unified" || its_level[0] - '0' <= std::max(highest, 2))
      continue;   // the third or higher
    highest = its_level[0] - '0';
    look(cache, {its, "/shared_cpu_list"});
  }
  cpu_set_t const nodes = cores_in(text({system, "node/online"}));
  for (std::size_t n = 0; n < CPU_SETSIZE && found.group[node] < 0; ++n)
    if (CPU_ISSET(n, &nodes)) look(node, {system, "node/node", n, "/cpulist"});
  look(die, {core, "/topology/die_cpus_list"});
  look(socket, {core, "/topology/core_siblings_list"});
  return found;
}

[[gnu::cold]] COLLIGO_BODY core_domains const& domains_of_process() {
  static core_domains const its = [] {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
    return domains_of(cores);
  }();
  return its;
}

}  // namespace colligo
