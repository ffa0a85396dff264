// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelines by level: a reduce cuts the vector into one slice per rank within each host, level by level, as
/// slices_by_level does; the ranks with the same slice on all hosts combine it in blocks (pipelined_circulant), and the
/// root's host collects the slices. A broadcast is the same backwards. Each byte enters or leaves a host about
/// once, and all ranks of a host use its link at once.
/// Picture  hosts 0-1 2-3, root 0, vector AB   reduce: 0-1 2-3   2->0 A, 3->1 B, in blocks   1->0 B
/// Cost     within hosts that of a reduce_scatter by slices_by_level, and of collecting the root's slices; between h
///          hosts pipelined_circulant's on h ranks for one slice, whose messages share the host's link with the other
///          slices'; as exact as pipelined_circulant's where there is one level, otherwise an estimate
/// Own work finding peers in groups, which prices count as part of alpha, and pipelined_circulant's schedule for h
///          ranks
/// Needs    any p, any levels, any root; a commutative functor
/// Order    not kept
/// Prefer   long vectors on several hosts.   Avoid: short ones (see leaders_by_level)
/// Source   Traff's broadcast in blocks between hosts, a leader per slice as in multi_leader within them
#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "../core/stage.hpp"
#include "../shape/level_costs.hpp"
#include "../shape/slices_of_level.hpp"
#include "pipelined_circulant.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Passes the slice `left`, from `level` outwards; between(step, range, root) runs among its leaders on all hosts.
template <steps Step, class Between>
void pass_in_slices(hierarchy const& groups, Step& step, range left, int level, int root, bool outwards,
                    Between const& between) {
  int const outermost = groups.levels() - 1, hosts = groups.named_before(outermost);
  if (level > hosts) {
    slices_of_level<Step> const here{.groups = groups, .step = step, .level = outermost, .below = hosts};
    renumbered among(step, here.mine, here.parts, [&here](int part) { return here.peer(part); });
    return between(among, left, groups.part_of(hosts, here.all, groups.place_of(root)));
  }
  slices_of_level const here{groups, step, level};
  auto const slice = [cut = blocks{left, here.slices}](int part) { return cut[part]; };
  if (outwards) here.pass(slice, root, true);
  else here.combine(slice);
  if (here.leads())
    pass_in_slices(groups, step, slice(here.mine), groups.long_round_after(level), root, outwards, between);
  if (outwards) here.collect(slice);
  else here.pass(slice, root, false);
}

}  // namespace detail

struct pipelines_by_level {
  static constexpr std::string_view name = "pipelines_by_level";

  hierarchy const* levels = nullptr;   ///< null: as the communicator knows
  std::size_t block = 0;          ///< bytes; 0: chosen from the length of a slice and the number of hosts

  static constexpr std::array knobs{knob<pipelines_by_level>{"block", &pipelines_by_level::block}};

 private:
  template <collective C, class T, class Op>
  struct one_way : detail::over_levels<pipelines_by_level> {
    static constexpr bool outwards = C == collective::broadcast;
    using between = detail::stage<C, pipelined_circulant, void, T, Op>;

    template <class F>
    auto with_hosts(int p, F const& f) const {
      pipelined_circulant const tag_between{.block = this->tag.block};
      between const among_hosts(tag_between);
      return this->with(p, [&](hierarchy const& all) {
        hierarchy const& groups = all.for_slices();
        int const hosts = groups.named_before(groups.levels() - 1);
        return f(groups, hosts, groups.parts(hosts, {0, p}), among_hosts);
      });
    }
    bool in_order(int) const { return false; }

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      with_hosts(step.size(), [&](hierarchy const& groups, int, int, between const& among_hosts) {
        detail::pass_in_slices(groups, step, all, groups.long_round_after(-1), root, outwards, among_hosts);
      });
    }

    own_work work(blocks const& vector, std::size_t) const {
      return with_hosts(vector.parts, [&](hierarchy const&, int, int parts, between const&) {
        return pipelined_circulant::broadcast<T>::work({vector.whole, parts}, 1);
      });
    }
    double cost(machine const& m, int p, std::size_t n) const {
      return with_hosts(p, [&](hierarchy const& groups, int hosts, int parts, between const& among_hosts) {
        double all = 0, left = static_cast<double>(n);
        for (int level = groups.long_round_after(-1); level <= hosts; level = groups.long_round_after(level)) {
          int const others = groups.most_in_long(level) - 1;
          left /= groups.fewest_in_long(level);
          double const bytes = left * sizeof(T);
          all += detail::exchanged_messages(detail::on_level(m, groups, level), others + 1, bytes) +
                 detail::one_way_messages(m.at(groups.how_far(level)), others, bytes);
          if (!outwards) all += others * m.combine(bytes);
        }
        return n == 0 ? 0.0 : all + among_hosts.cost(detail::on_level(m, groups, groups.levels() - 1), parts,
                                                     static_cast<std::size_t>(std::ceil(left)));
      });
    }
    formula exact_for(machine const& m, int p, std::size_t n) const {
      return with_hosts(p, [&](hierarchy const&, int hosts, int parts, between const& among_hosts) {
        return hosts < 0 ? among_hosts.exact_for(m, parts, n) : formula::estimate;
      });
    }
  };

 public:
  template <class T, class Op>
  struct reduce : one_way<collective::reduce, T, Op> {
    static constexpr bool ordered = false;
  };
  template <class T>
  struct broadcast : one_way<collective::broadcast, T, void> {};
};

}  // namespace colligo
