// SPDX-License-Identifier: BSL-1.0
/// @file
/// Scan by level: within each innermost group a rank receives the values of all lower ranks. So the group's last rank
/// has its total; the last ranks do the same on the next level. Then each hands its group's prefix down to its group.
/// Picture  levels 4 x 2   up: 0->1 0->2 0->3 1->2 1->3 2->3, likewise 4-7   3->7   down: 7->4 7->5 7->6
/// Cost     with f parts joined by a level, the sum over levels of f - 1 messages in turn, the last one-way, and as
///          many combinations, and over all but the last level of f - 1 one-way messages and at most two
///          combinations: equal to the recorded schedule where groups of a level have as many parts
/// Own work with f parts joined by a level, at most f + 1 copies and merges; n elements are copied beyond two levels,
///          exclusive_scan 2 n; without levels 87 p steps
/// Needs    any p; levels whose groups hold consecutive ranks: others are ignored; memory for as many vectors as there
///          are levels, and groups that a level joins
/// Order    kept
/// Prefer   short vectors on several hosts or many cores: only totals and prefixes cross a host's link, one way at a
///          time.   Avoid: long vectors (see pipelined_chain)
/// Source   Sanders, Traff, Parallel Prefix (Scan) Algorithms for MPI, 2006, which has hosts of several ranks too
#pragma once

#include <string_view>

#include "../core/policy.hpp"
#include "../topology/hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Behind the vector: for each level the prefix of the part whose last rank this is, then what other parts have sent.
template <bool Inclusive, steps Step>
void scan_along(hierarchy const& groups, Step& step, range all) {
  int const me = step.rank();
  auto const behind = [all](int i) {
    std::size_t const first = all.last + static_cast<std::size_t>(i) * all.size();
    return range{first, first + all.size()};
  };
  auto const is_last = [&](int level) { return groups.group_at(level, me).last == me + 1; };
  auto const last_of = [&](hierarchy::group of, int level, int part) { return groups.part(level, of, part).last - 1; };
  for (int level = 0; level < groups.levels() && is_last(level - 1); ++level) {
    hierarchy::group const own = groups.group_at(level, me);
    int const parts = groups.parts(level - 1, own), mine = groups.part_of(level - 1, own, me);
    auto const received = [&](int part) { return behind(part == 0 ? level : groups.levels() + part - 1); };
    // The nearest peers first, so that all ranks are busy in each turn.
    step(listed{2 * (parts - 1), [&](int i) -> operand {
                  int const up = mine + i / 2 + 1, down = mine - i / 2 - 1;
                  if (i % 2 == 0) return send{up < parts ? last_of(own, level - 1, up) : nobody, all};
                  return recv{down >= 0 ? last_of(own, level - 1, down) : nobody, received(std::max(down, 0))};
                }});
    for (int part = 1; part < mine; ++part) step(merge{received(part), received(0), merge::side::right});
    if (mine > 0) step(merge{received(0), all});
  }
  for (int level = groups.levels() - 1; level > 0; --level) {
    hierarchy::group const part = groups.group_at(level - 1, me);
    if (part.first == 0 || !is_last(level - 2)) continue;   // no prefix, or another rank receives it
    bool const hands_down = me + 1 == part.last;
    int const others = groups.parts(level - 2, part) - 1, mine = groups.part_of(level - 2, part, me);
    range const before = behind(hands_down ? level : groups.levels());
    if (hands_down) {
      step(listed{others, [&](int i) { return send{last_of(part, level - 2, i), before}; }});
    } else {
      step(recv{part.last - 1, before});
      step(merge{before, all});
    }
    if (Inclusive && level == 1) continue;
    if (mine > 0) step(merge{before, behind(level - 1)});
    else step(copy{before, behind(level - 1)});
  }
  if (!Inclusive && me > 0) step(copy{behind(0), all});
}

}  // namespace detail

struct scan_by_level {
  static constexpr std::string_view name = "scan_by_level";

  hierarchy const* levels = nullptr;   ///< null: as the communicator knows

 private:
  template <class T, bool Inclusive>
  struct form {
    scan_by_level const& tag;

    static constexpr bool ordered = true;

    int made_for(int p) const { return tag.levels ? tag.levels->size() : p; }
    template <class F>
    auto with(int p, F const& f) const {
      return detail::with_hierarchy(tag.levels && tag.levels->consecutive() ? tag.levels : nullptr, p, f);
    }
    std::size_t scratch(blocks const& vector, std::size_t) const {
      return with(vector.parts, [&](hierarchy const& groups) {
        return static_cast<std::size_t>(groups.levels() + most_parts(groups)) * vector.whole.size();
      });
    }
    own_work work(blocks const& vector, std::size_t) const {
      return with(vector.parts, [&](hierarchy const& groups) {
        double moves = 2 * (groups.levels() - 1) + !Inclusive;
        for (int level = 0; level < groups.levels(); ++level) moves += groups.most(level) - 1;
        double const without = tag.levels && !tag.levels->consecutive() ? 87 * vector.parts : 0;
        int const copies = (groups.levels() > 2 || !Inclusive) + !Inclusive;
        return own_work{moves, copies * static_cast<double>(vector.whole.size()), without};
      });
    }

    template <steps Step>
    void operator()(Step& step, range all) const {
      with(step.size(), [&](hierarchy const& groups) { detail::scan_along<Inclusive>(groups, step, all); });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      return with(p, [&](hierarchy const& groups) {
        double all = 0;
        for (int level = 0; level < groups.levels() && n != 0; ++level) {
          machine const& at = m.at(groups.how_far(level));
          int const others = groups.most(level) - 1;
          for (int i = 1; i < others; ++i) all += at.exchange(bytes, i > 1);
          if (others > 0) all += at.one_way(bytes, others > 1) + others * m.combine(bytes);
          if (level + 1 == groups.levels()) break;
          for (int i = 0; i < (at.fetched ? 1 : others); ++i) all += at.one_way(bytes, i > 0);
          all += (others > 1 && (level > 0 || !Inclusive) ? 2 : 1) * m.combine(bytes);
        }
        return all;
      });
    }
    formula exact_for(machine const&, int p, std::size_t) const {
      return exact_if(with(p, [](hierarchy const& groups) { return groups.even(); }));
    }

   private:
    static int most_parts(hierarchy const& groups) {
      int most = 0;
      for (int level = 0; level < groups.levels(); ++level)
        most = std::max(most, groups.most(level));
      return most;
    }
  };

 public:
  template <class T, class Op>
  struct scan : form<T, true> {};
  template <class T, class Op>
  struct exclusive_scan : form<T, false> {};
};

}  // namespace colligo
