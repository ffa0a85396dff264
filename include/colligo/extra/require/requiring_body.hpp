// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of requiring.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../plan/association.hpp"
#include "../../select/decide_body.hpp"
#include "../predict/expected_time_body.hpp"
#include "requiring.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline knob_values knobs_of(decision const& by) {
  knob_values its;
  for_each_knob(*by.what, by.tag, [&its](std::string_view, std::size_t value) {
    if (its.count < its.values.size()) its.values[its.count] = value;
    ++its.count;
  });
  return its;
}

/// What was decided for calls that repeat; the oldest makes way where there are many.
template <class Lazy>
struct requiring<Lazy>::kept final : kept_with_port {
  struct entry {
    // What for.
    element const* of;   ///< null: never found again
    collective what;
    property asks;
    std::size_t n;
    int root;
    std::vector<std::size_t> offsets;
    erased_policy const* like;
    knob_values knobs;
    // What was decided.
    chosen_algorithm chosen{binary_tree{}};
    decision by{};
    bool is_like = false;   ///< that tag itself

    bool is_for(call const& its, requirement const& its_asks) const {
      return of != nullptr && of->is_like(*its.of) && what == its.what && n == its.vector.whole.size() &&
             asks == its_asks.what && root == its.root && like == (its_asks.like ? its_asks.like->what : nullptr) &&
             (like == nullptr || knobs == knobs_of(*its_asks.like)) &&
             std::equal(offsets.begin(), offsets.end(), its.vector.offsets,
                        its.vector.offsets ? its.vector.offsets + its.vector.parts + 1 : its.vector.offsets);
    }
  };
  static constexpr std::size_t most = 64;
  std::vector<std::unique_ptr<entry>> entries;
  std::size_t latest = 0, oldest = 0;

  static kept& of(port_base& port) {
    auto& its = deciding<>::kept_decisions::of(port).required;
    if (!its) its = std::make_unique<kept>();
    return static_cast<kept&>(*its);
  }
  entry* find(call const& its, requirement const& asks) {
    if (latest < entries.size() && entries[latest]->is_for(its, asks)) return entries[latest].get();
    for (latest = 0; latest < entries.size(); ++latest)
      if (entries[latest]->is_for(its, asks)) return entries[latest].get();
    return nullptr;
  }
  entry& add(entry its) {
    if (entries.size() < most) entries.push_back(nullptr), latest = entries.size() - 1;
    else latest = std::exchange(oldest, (oldest + 1) % most);
    entries[latest] = std::make_unique<entry>(std::move(its));
    return *entries[latest];
  }
};

/// Looks for the best algorithm that has what is asked for.
template <class Lazy>
struct requiring<Lazy>::search {
  static constexpr std::size_t most_operands = std::size_t{1} << 19;

  port_base& port;
  call const& its;
  policy_table const& texts;
  requirement const& asks;
  std::optional<bracketing> wanted;   ///< of like()

  std::optional<bracketing> form_of(decision const& by, topology const& known) const {
    auto const said = recorded_call(its, *by.what, by.tag, known, most_operands);
    if (!said || said->by_arrival) return std::nullopt;
    return association(said->steps, its.of->commutes ? operands::commute : operands::ordered, its.vector, its.root);
  }

  // What it gives is known, of the same call on all ranks.
  bool has(decision const& by, topology const& known) const {
    bool const alike = !asks.what.has(same_bits) || its.what != collective::all_reduce || by.what->same_bits;
    bool const in_turn = !asks.what.has(as_sequential) || by.what->sequential;
    bool const proven_by_card = alike && in_turn && asks.like == nullptr;
    if (proven_by_card && !by.what->asks_for_trees) return true;   // no tree: no order of arrival
    auto const form = form_of(by, known);
    return form && (alike || form->same_on_all_ranks()) && (in_turn || form->sequential()) &&
           (asks.like == nullptr || (wanted && *form == *wanted));
  }

  bool takes(chosen_algorithm const& chosen) const {
    decision const by = decision_for(chosen, texts, decided_by::required);
    topology known{port.hosts};
    return is_possible<>(port, its, by, known) && by.what->run != nullptr && has(by, known);
  }

  std::optional<chosen_algorithm> best(situation const& s) const {
    if (chosen_algorithm const first = choose(its.what, s); takes(first)) return first;
    for (possible_algorithm const& one : possible_algorithms<>(port, its, texts, s.network))
      if (takes(one.its)) return one.its;
    return std::nullopt;
  }

  std::string name_of_call() const {
    std::string words;
    auto const add = [&](property p, char const* name) {
      if (asks.what.has(p)) (words += words.empty() ? "" : " | ") += name;
    };
    add(same_bits, "same_bits");
    add(run_to_run, "run_to_run");
    add(as_sequential, "as_sequential");
    return words;
  }
};

template <class Lazy>
decision requiring<Lazy>::decide(endpoint& at, call const& its, deciding<>::policies_of_collective texts,
                                 requirement const& asks) {
  port_base& port = port_at(at);
  return deciding<>::announcing_refusal(port, its, [&]() -> decision {
    if (asks.what.has(any_p))
      refuse(port, its.what, "require{any_p}",
             concat({": what ", its.of->functor_name(), " makes of ", its.of->name(),
                     " depends on the number of ranks; take elements of colligo::exact_sum<double> and std::plus<>{}, "
                     "or colligo::sum(comm, range), or colligo::accumulate(comm, range, op)"}));
    kept& all = kept::of(port);
    if (auto const* const found = asks.keeps ? all.find(its, asks) : nullptr) [[likely]]
      return found->is_like ? *asks.like : found->by;
    situation s = deciding<>::situation_of(port, its);
    s.stable = false;
    search look{port, its, texts(), asks, std::nullopt};
    if (asks.like) {
      topology known{port.hosts};
      if (auto const refused = deciding<>::why_not(port, its, *asks.like, known).why; !refused.empty())
        refuse(port, its.what, asks.like->what->name, refused);
      look.wanted = look.form_of(*asks.like, known);
    }
    auto const found = look.best(s);
    if (!found && !asks.like)
      refuse(port, its.what, "require{" + look.name_of_call() + "}", ": no algorithm is known to have that");
    if (!found && !asks.keeps) return *asks.like;
    auto const* const offsets = its.vector.offsets;
    auto& made = all.add({its.of, its.what, asks.what, its.vector.whole.size(), its.root,
                          offsets ? std::vector(offsets, offsets + its.vector.parts + 1) : std::vector<std::size_t>{},
                          asks.like ? asks.like->what : nullptr, asks.like ? knobs_of(*asks.like) : knob_values{}});
    made.is_like = !found;
    if (!found) return *asks.like;
    made.chosen = *found;
    made.by = decision_for(made.chosen, look.texts, decided_by::required);
    if (!asks.keeps || made.knobs.count > made.knobs.values.size()) made.of = nullptr;
    return made.by;
  });
}

}  // namespace colligo
