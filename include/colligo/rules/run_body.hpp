// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp that run a call: what happens before it, and the call.
#pragma once

#include <new>
#include <utility>

#include "../algorithm/recursive_doubling.hpp"
#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../core/view.hpp"
#include "../engine/communicator_state_body.hpp"
#include "../engine/requests.hpp"
#include "decide.hpp"
#include "kept_topology.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Makes a call that is not played: asks whether its algorithm is possible, and runs it.
inline void run_checked(communicator_state& state, call const& call, choice const& by, bool records = false);
/// Takes the steps before a call that call::before asks for, then calls run(), which makes the call without them.
template <class Run>
[[gnu::cold, gnu::noinline]] void run_after(communicator_state& state, call const& call, choice const& by, Run run);

COLLIGO_BODY void run_call(endpoint& at, call const& call, choice const& by) {
  communicator_state& state = state_at(at);
  if (call.before) [[unlikely]] return run_after(state, call, by, [&] { run_checked(state, call, by); });
  bool records = false;
  if (!state.play(call, &by, records)) run_checked(state, call, by, records);
}

/// Returns on all ranks if they make the same call, by the same algorithm over the same transport; otherwise throws
/// mismatch_error on all ranks. Nothing of the call has been sent by then. Collective over the state.
void agree_on(communicator_state& state, call const& call, choice const& by, made how);
/// The same for blocks of which two ranks alone know the length. compare_blocks.hpp sets it where there are such calls.
inline void (*compare_blocks)(communicator_state& state, call const& call, std::string_view words) = nullptr;

/// Reports to the other ranks, which may wait for this one, that this rank's call is refused for this reason. In
/// checked mode, where it is collective over the state, the rank takes part in their comparison, so that they throw
/// mismatch_error. Returns.
void report_refusal(communicator_state& state, bool checked, std::string_view why);

/// The ranks combine these values, element by element. Over messages, which always work.
template <class T, class Op>
void combine_among_ranks(communicator_state& state, Op op, view<T> values) {
  blocks const all{{0, values.size()}, state.size()};
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  state.execute({collective::all_reduce, &element_of<T, Op>, state.wire_of_bytes(), &op, all, {bytes, all.whole},
                 {bytes, all.whole}},
                {erased_policy_for<collective::all_reduce, recursive_doubling>, recursive_doubling{},
                 transport::messages});
}

// Whether the exception that is handled is this rank's alone. Those that come from messages are not: all ranks throw
// them, or have been told.
[[gnu::cold]] inline bool handles_refusal() noexcept try { throw; }
catch (argument_error const&) { return true; }
catch (algorithm_error const&) { return true; }
catch (std::bad_alloc const&) { return true; }
catch (...) { return false; }

/// Calls f() and reports its errors to the other ranks, which may wait for this one.
template <class F>
decltype(auto) announcing_refusal(communicator_state& state, call const& call, F const& f) {
  try {
    return f();
  } catch (...) {
    if (handles_refusal()) report_refusal(state, call.checked(), handled_reason());
    throw;
  }
}

constexpr bool walks_up(collective c) { return c == collective::reduce || c == collective::all_reduce; }
constexpr bool walks_down(collective c) { return c == collective::broadcast || c == collective::all_reduce; }

// The tree of a file that the environment names, otherwise trees::by_host; null if all ranks are on one host.
template <class Tree>
[[gnu::cold]] Tree const* tree_of_setting(communicator_state& state, collective c, file_setting const& setting,
                                          Tree& kept) {
  if (!setting.is_set() && state.hosts.empty()) return nullptr;
  if (kept.size() == 0) {
    if (!make_tree)
      throw argument_error(concat(
          {where(state, c), not_included(setting.is_set() ? setting.where : "trees::by_host", "trees.hpp")}));
    make_tree(state, c, setting, kept);
  }
  return &kept;
}

template <left_open What, class Hierarchy, class Tree>
[[gnu::cold]] void find_out(communicator_state& state, collective c, topology& known) {
  if constexpr (What == left_open::levels) {
    known.levels = &kept_hierarchies<Hierarchy>::levels_of(state);
  } else if constexpr (What == left_open::hosts) {
    known.by_host = kept_hierarchies<Hierarchy>::hosts_of(state);
  } else {
    auto& kept = kept_trees<Tree>::of(state);
    if (walks_up(c)) known.reduce_tree = tree_of_setting(state, c, state.reduce_tree_setting(), kept.reduce);
    if (walks_down(c))
      known.broadcast_tree = tree_of_setting(state, c, state.broadcast_tree_setting(), kept.broadcast);
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(communicator_state const& state, collective c,
                                                          std::string_view name, std::string const& why) {
  throw algorithm_error(concat({where(state, c), name, why}));
}

struct obstacle {
  std::string why;                ///< empty: there is none
  bool is_of_arguments = false;   ///< an argument_error
};

/// Why a choice is impossible, the same on all ranks. Fills in the state's topology for the policy.
inline obstacle why_not(communicator_state& state, call const& call, choice const& by) {
  erased_policy const& what = *by.policy;
  state.known.hosts = state.hosts.kept();
  if (what.is_vendor) {
    if (state.has_vendor(call)) return {};
    if (call.of->by_index)
      return {" is the MPI library's own collective, which does not know the index of the elements that it combines"};
    return {" is the MPI library's own collective: it needs a communicator over MPI and elements, fewer than 2^31 in "
            "a block, that travel as bytes and need no alignment above 16"};
  }
  if (by.over == transport::shared_memory)
    if (std::string const why = state.why_no_memory(*call.of); !why.empty())
      return {concat({" needs shared memory, which can not be used: ", why})};
  if (what.find_out) what.find_out(state, call.what, state.known);
  bool in_order = what.ordered;
  if (what.fits) {
    fitness const fit = what.fits(by.tag(), state.known, state.size());
    in_order = fit.in_order;
    if (fit.made_for != state.size())
      return {concat({" is made for ", fit.made_for, " ranks, the communicator has ", state.size()}), true};
  }
  if (in_order || call.of->commutes) return {};
  return {" reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), "
          "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order"};
}

// Most algorithms are, and do not need the topology.
inline bool is_always_possible(call const& call, choice const& by) {
  erased_policy const& what = *by.policy;
  return !what.is_vendor && what.open == left_open::nothing && what.fits == nullptr &&
         (what.ordered || call.of->commutes) && by.over != transport::shared_memory;
}
// Reports to the other ranks if it is impossible.
inline void require_possible(communicator_state& state, call const& call, choice const& by) {
  announcing_refusal(state, call, [&] {
    obstacle const found = why_not(state, call, by);
    if (found.why.empty()) return;
    if (!found.is_of_arguments) refuse(state, call.what, by.policy->name, found.why);
    throw argument_error(concat({where(state, call.what), by.policy->name, found.why}));
  });
}

// The steps before a call that call::before asks for.
[[gnu::cold]] inline void before_call_begins(communicator_state& state, call const& call, choice const& by, made how) {
  if ((call.before & in_functor) != 0) throw_in_functor(state);
  require_possible(state, call, by);
  if ((call.before & explanation) != 0 && explain_call) explain_call(state, call, by);
  if (call.checked()) agree_on(state, call, by, how);
}

inline void run_checked(communicator_state& state, call const& call, choice const& by, bool records) {
  if (!is_always_possible(call, by)) [[unlikely]] {
    require_possible(state, call, by);
    if (by.policy->is_vendor) return state.execute_vendor(call, by);
  }
  state.execute(call, by, records);
}

// Tells a tool that a call begins and ends, also if it throws.
class hooked_run {
 public:
  hooked_run(communicator_state& state, call const& call, choice const& by)
      : hook_((call.before & hooked) != 0 ? hook_of_calls : nullptr) {
    if (hook_) call_ = as_hooked(state, call, by, false), begun_ = hook_->begin(call_);
  }
  ~hooked_run() {
    if (hook_) hook_->end(call_, begun_);
  }
  hooked_run(hooked_run const&) = delete;
  hooked_run& operator=(hooked_run const&) = delete;

 private:
  call_hook const* hook_;
  hooked_call call_{};
  std::uintptr_t begun_ = 0;
};

// Out of line, so that other calls need no stack for it. Only some ranks may have steps before a call, such as
// explanation, so `run` is what follows without them.
template <class Run>
void run_after(communicator_state& state, call const& call, choice const& by, Run run) {
  hooked_run const told(state, call, by);
  before_call_begins(state, call, by, made::at_once);
  if ((call.before & exactness) != 0 && sum_exactly->holds_for(state, call, by))
    return sum_exactly->run(state, call, by, [](communicator_state& at, detail::call const& sums, choice const& same) {
      run_checked(at, sums, same);
    });
  run();
}

COLLIGO_BODY owned_running prepare_call(endpoint& at, call const& asked, choice const& by,
                                        owner<owned_by_request> owned, bool persistent) {
  communicator_state& state = state_at(at);
  while (owner<round_request> around = std::move(state.around)) {
    state.around = std::move(around->next);
    around->within = std::move(owned), owned = std::move(around);
  }
  if (asked.before) [[unlikely]]
    before_call_begins(state, asked, by, persistent ? made::ready : made::started);
  if (!is_always_possible(asked, by)) [[unlikely]] require_possible(state, asked, by);
  if ((asked.before & exactness) != 0 && sum_exactly->holds_for(state, asked, by)) [[unlikely]] {
    call const sums = announcing_refusal(state, asked, [&] { return sum_exactly->own(state, asked, owned); });
    return prepare_call(state, sums, by, std::move(owned), persistent);   // sums.before is 0
  }
  auto const turn = state.requests().lock();   // another thread may advance requests over this state
  try {
    if (!persistent)
      if (auto again = running::kept(state, asked, by.is_by_rules() ? nullptr : &by, owned)) return again;
    owned_running made(new running(state, asked, by, std::move(owned), persistent));
    if (persistent) state.next_call();   // a call, although nothing is sent: a rank that refuses it counts one too
    return made;
  } catch (...) {
    state.refuse(handled_reason());
    throw;
  }
}

}  // namespace colligo

#include "agree_body.hpp"
