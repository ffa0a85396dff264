// SPDX-License-Identifier: BSL-1.0
/// @file
/// The state, which lives as long as its communicator, and the engine, which runs an algorithm for a call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/machine.hpp"
#include "../core/choice.hpp"
#include "../core/small_vector.hpp"
#include "../core/run_list.hpp"
#include "../environment/core_domains.hpp"
#include "../environment/settings.hpp"
#include "call.hpp"
#include "hooked_call.hpp"
#include "identity.hpp"
#include "prepared_calls.hpp"
#include "waits.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class communicator_state;
class requests_of_rank;
class shared_host;

/// "colligo: all_reduce on rank 0 of 2: "
std::string where(endpoint const& state, collective what);
std::string too_large_for_memory(std::size_t element_size);
/// A functor makes or waits for another call on the communicator of its own call.
[[noreturn]] void throw_in_functor(endpoint const& state);
/// The text of the exception that is being handled, valid as long as it is.
char const* handled_reason() noexcept;

/// A rank's steps in a call, recorded earlier (kept_plans.hpp).
struct kept_plan {
  void (*play)(kept_plan const& kept, any_step& step) = nullptr;   ///< null: too long to be kept
  range holds{};   ///< the stretch of the vector for which the rank needs memory
};

/// An algorithm with all of its arguments except the step.
struct policy_run {
  detail::call const& call;
  choice const& by;
  topology const& known;
  std::uint32_t number;   ///< of the call on its communicator
  kept_plan const* kept = nullptr;   ///< null: runs the algorithm
  run_record* record = nullptr;      ///< null: the run is not recorded

  void operator()(any_step& step) const {
    if (kept) [[unlikely]] return kept->play(*kept, step);
    by.policy->run(by.tag(), known, step, call.vector, call.root);
  }
};

/// Returns the plan of an irregular call whose policy has own work, kept with the state; null if there is no memory for
/// it. Units that make irregular calls set it.
inline kept_plan const* (*keep_plan)(communicator_state& state, policy_run const& run) = nullptr;
inline kept_plan const* plan_of(communicator_state& state, policy_run const& run) {
  return run.call.vector.offsets && run.by.policy->work && keep_plan ? keep_plan(state, run) : nullptr;
}

/// Copies n values, and records that; `record` may be null.
inline void copy_values(element const& of, std::byte const* from, std::size_t n, std::byte* to, run_record* record) {
  if (record) [[unlikely]] record->copy(from, of.bytes(n), to);
  of.copy(from, n, to);
}
/// For a collective with two vectors: copies a rank's block for itself to its place in the second one.
inline void copy_own_block(call const& call, int rank, std::byte* second, run_record* record = nullptr) {
  auto const [in, out] = vectors_of(call.what, call.vector, rank);
  element const& of = *call.of;
  range const own = in[rank];
  std::byte const* const from = call.in.data + of.bytes(own.first);
  std::byte* const to = second + of.bytes(out[rank].first - out.whole.first);
  if (from != to && !own.empty()) copy_values(of, from, own.size(), to, record);
}

/// The memory of a run that needs more than the output, which holds the stretch `holds` of the vector: the output and
/// memory for the elements behind it, or memory for the whole stretch.
struct working_place {
  bool direct = true;          ///< the algorithm writes into the output
  range beside = behind_all;   ///< the elements in memory that is not the user's

  working_place() = default;
  working_place(call const& call, range holds) {
    range const out = call.out.covers;
    if (contains(out, holds)) return;
    direct = out.first <= holds.first && call.vector.whole.last <= out.last;
    beside = {direct ? out.last : holds.first, holds.last};
  }

  /// The output of the working vector; `memory` is the memory that is not the user's.
  values<std::byte> out(call const& call, std::byte* memory) const {
    return direct ? call.out : values<std::byte>{memory, beside};
  }
  values<std::byte> beyond(call const& call, std::byte* memory) const {
    if (call.beyond.data) return call.beyond;
    return direct ? values<std::byte>{memory, beside} : values<std::byte>{nullptr, behind_all};
  }
};

class moving_step;

/// An observer of calls (tools/tracing.hpp).
class observer {
 public:
  virtual ~observer() = default;
  /// Runs the algorithm on the step, or on one that records it.
  virtual void watch(policy_run const& run, any_step& step, working_vector& data) = 0;
  /// Called before and after a call of the MPI library's, or a request. end() gets the result of begin() and the
  /// nanoseconds spent on combining.
  virtual std::size_t begin(call const& call, std::string_view algorithm, std::uint32_t number) = 0;
  virtual void end(std::size_t began, std::int64_t combining) = 0;
  virtual std::int64_t now() const = 0;
  /// The number-th step of a request has been completed.
  virtual void step(call const& call, std::uint32_t number_of_call, std::size_t number,
                    std::span<operand const> operands, moving_step const& over, std::int64_t began,
                    std::int64_t combining) = 0;
};

/// Performs steps without waiting. Operands and vector have to stay in place from begin() until advance() returns true.
class moving_step {
 public:
  virtual ~moving_step() = default;
  /// Called before each start with the call's number, which distinguishes its messages from those of other calls.
  virtual void enter(call const&, erased_policy const&, std::uint32_t) {}
  /// Reserves memory, so that a step of these operands does not allocate.
  virtual void make_room(std::span<operand const>, list_kind) {}
  /// Begins a step; steps follow each other.
  virtual void begin(std::span<operand const> operands, list_kind kind) = 0;
  /// Does as much as possible without waiting. True if the step is complete.
  virtual bool advance() = 0;
  /// The transport has failed, so the step will not be completed.
  virtual void abandon() {}
  /// Records the steps of this call, if they can be played: then begin_playing() takes the place of enter() and all
  /// steps, and play_on() of advance().
  virtual void record(run_record&) {}
  virtual void begin_playing(prepared_call const&, call const&, std::uint32_t) {}
  virtual bool play_on(bool) { return true; }
  /// As any_step's.
  virtual bool shares_memory_with(int) const { return false; }
};

/// Prints the choice for a call unlike earlier ones, and the reason. Units that include explain.hpp set it.
inline void (*explain_call)(communicator_state& state, call const& call, choice const& by) = nullptr;

/// Exact sums of floating point numbers, for COLLIGO_SUM: calls of states with the bit `exactness`.
struct exact_summing {
  /// The call on exact sums that is made instead, by which the algorithm is chosen; the same call if it is no such sum.
  call (*as_exact)(communicator_state& state, call const& call);
  /// The call is such a sum, and the library chooses its algorithm.
  bool (*holds_for)(communicator_state& state, call const& call, choice const& by);
  /// Makes the call on exact sums by `run`.
  void (*run)(communicator_state& state, call const& asked, choice const& by,
              void (*run)(communicator_state& state, call const& call, choice const& by));
  /// The call on exact sums that a request makes instead; `kept` then owns these sums too.
  call (*own)(communicator_state& state, call const& call, owner<owned_by_request>& kept);
};
/// Units that include environment.hpp set it.
inline exact_summing const* sum_exactly = nullptr;

/// Makes the watcher of a rank's waits. Units that include patience.hpp set it. `host`: the shared memory of this
/// host's ranks, or null; `name`: the communicator's.
inline owner<patience> (*watch_waits)(communicator_state& state, patience_setting const& setting, shared_host* host,
                                                std::string name) = nullptr;

/// Base of objects that other parts keep with a state.
struct kept_with_state {
  virtual ~kept_with_state() = default;
};

/// The part of a state that all transports share.
class communicator_state : public endpoint {
 public:
  std::string const& setting(collective c) const { return asked().algorithm[static_cast<std::size_t>(c)]; }
  std::string const& sparse_setting() const { return asked().sparse_all_to_all; }
  file_setting const& reduce_tree_setting() const { return asked().reduce_tree; }
  file_setting const& broadcast_tree_setting() const { return asked().broadcast_tree; }
  file_setting const& table_setting() const { return asked().table; }
  /// The costs of messages for the rules beyond one host.
  machine const& network() const { return network_; }
  /// The times of cache lines between cores, for the rules on hosts of many cores.
  line_latencies const& latencies() const { return latencies_; }
  /// Bytes of the longest cache line of the ranks' machines.
  void set_line(std::size_t bytes) { latencies_.line = bytes; }
  /// An override of the environment that can not be used is an error.
  bool strict() const { return strict_; }
  /// COLLIGO_BITS=stable: every choice of `automatic` gives the same bits.
  bool stable_bits() const { return stable_bits_; }
  /// The sizes of COLLIGO_LEVELS, innermost level first; empty: not set. Off: ignore the system's levels.
  std::vector<int> const& levels_asked() const { return levels_asked_; }
  bool levels_off() const { return levels_off_; }
  /// COLLIGO_PATIENCE is set. Calls then wait in this library's loops, not in the MPI library.
  bool watches_waits() const { return patience_.after != 0; }

  /// The number of a call's blocks, which are the latest; 0: they are even.
  std::uint64_t distribution_of(call const& call) const {
    return call.vector.offsets || call.vector.edges ? distribution : 0;
  }

  /// Runs a policy on this rank. Rethrows what the functor has thrown after the last message. `records`: keeps what the
  /// run does as a prepared call.
  void execute(call const& call, choice const& by, bool records = false);
  /// Plays a call that has been prepared; false if it has not. Then `records` says whether execute() should record it.
  /// `by`: null for automatic.
  bool play(call const& call, choice const* by, bool& records);
  /// The MPI library's own collective: the blocking one if it is pinned, which makes no progress for requests;
  /// otherwise its non-blocking one, for which this waits. MPI does not let the two match, so the choice is the same on
  /// all ranks.
  void execute_vendor(call const& call, choice const& by);

  /// The shared memory that `automatic` may use for these elements; null: messages only.
  virtual shared_host* automatic_memory(element const&) { return nullptr; }
  virtual bool are_threads() const { return false; }   ///< they use memory by themselves
  /// Why these elements can not travel through shared memory, the same on all ranks; empty: they can, or there is only
  /// one rank.
  virtual std::string why_no_memory(element const&) { return "its ranks share none"; }
  /// The MPI library's own collective accepts the call.
  virtual bool has_vendor(call const&) const { return false; }

  /// Requests on this rank, which make progress whenever it waits.
  requests_of_rank& requests() const { return requests_; }
  /// Steps for a request.
  virtual owner<moving_step> steps_for_request(working_vector& data, call const& call, transport over) = 0;
  /// The MPI library's collective as a request; null if there is none.
  virtual owner<moving_step> vendor_request(call const&, bool) { return nullptr; }
  /// Whether a request for this call uses shared memory: such requests make progress one after the other.
  virtual bool uses_memory(call const&, transport) { return false; }

  /// The transport's description of elements that are bytes, without a functor.
  virtual void const* wire_of_bytes() const { return nullptr; }

  /// Yields the core to other ranks for a moment, and makes progress for everything else.
  virtual void yield_core(unsigned& polls) const = 0;

  scratch memory;                     ///< of blocking calls
  run_list hosts;                     ///< the host of each rank, as the lowest rank there; empty where all are on one
  /// For each level and rank a number, equal for ranks that share a cache, a socket ...; empty if a rank does not know.
  std::array<run_list, domain_levels> domains;
  topology known;                     ///< `hosts`, and what policies have asked for so far; updated before each call
  owner<observer> trace;              ///< null: calls are not traced
  owner<patience> on_wait;            ///< null: waits are not watched
  owner<kept_with_state> selection;    ///< kept_choices of rules/
  owner<kept_with_state> hierarchies, trees;   ///< what tags leave open (kept_topology.hpp)
  /// Complete requests, to be reused for the same call (requests.hpp).
  std::array<owner<kept_with_state>, 4> spare_requests;
  owner<kept_with_state> distributions, plans;   ///< of irregular calls (kept_plans.hpp)
  owner<kept_with_state> exchanges;              ///< of calls whose ranks do not know who sends to them (exchange/)
  owner<kept_with_state> packed;                 ///< memory for elements that lie apart (arguments/packed.hpp)
  owner<round_request> around;                   ///< what the next request owns besides
  std::uint64_t memory_in_use = 0;              ///< by a request: the latest walk that met one (requests.hpp)
  /// This state while its communicator lives, then null: requests share it, because they may outlive the communicator.
  std::shared_ptr<communicator_state> life;
  std::shared_ptr<communicator_state> life_of_request;   ///< the same, for the next request
  std::uint32_t hopeless = 0;                   ///< a call that fails while others may send nothing more
  std::uint32_t calls = 0;                      ///< made so far, refused ones included; the same on all ranks
  std::uint32_t compared = 0, differed = 0;     ///< calls in checked mode, and the latest of them that ranks refused

  /// The number of the next call. Reports of calls long ago are forgotten, because numbers come again.
  std::uint32_t next_call() {
    if (++calls % abandoned_calls::remembered == 0) [[unlikely]] forget_calls();
    return calls;
  }
  virtual void forget_calls() noexcept {}
  /// Reports that this rank abandons a call, or has not begun it, to the ranks that wait in it, if they can be reached.
  virtual void abandon_call(std::uint32_t number, std::string_view why, bool begun = true) noexcept = 0;
  /// The same, with the exception that is being handled as reason.
  void abandon_call_now(std::uint32_t number) noexcept;
  /// The same for a call that has not begun.
  void refuse(std::string_view why) noexcept { abandon_call(next_call(), why, false); }

 protected:
  explicit communicator_state(requests_of_rank& requests) : requests_(requests) {
    memory.operands.reserve(64), memory.sources.reserve(64);
    if (hook_of_calls) before_ |= hooked;
  }
  virtual ~communicator_state() = default;

  memory_limits const& limits() const { return limits_; }
  /// From now on short calls that come again are prepared: all ranks share memory.
  void prepare_calls() { prepares_ = true; }

  /// While it exists, calls on this state are refused: they are calls of a functor. Requests do not use it, because a
  /// progress thread may run their functors while this thread calls: they have requests_of_rank::refuse_inside.
  struct in_call {
    explicit in_call(communicator_state& state) : before(state.before_) { before |= in_functor; }
    ~in_call() { before &= static_cast<std::uint8_t>(~in_functor); }
    std::uint8_t& before;
  };

  void execute_otherwise(policy_run const& run);
  void execute_recorded(policy_run const& run);
  /// Runs with memory beside the user's.
  std::exception_ptr run_beside(policy_run const& run);
  virtual void perform(working_vector& data, policy_run const& run) = 0;
  /// A rank that has failed performs its algorithm without touching the vector, because others rely on its messages.
  virtual bool goes_on_without_memory(call const&, transport) { return false; }
  virtual void run_vendor(call const&, bool) {}   // called only if there is one
  /// For perform(): runs the algorithm on these steps, with the observers. `moving` is the same object, or what `step`
  /// uses. If anything throws, calls leave().
  template <class Leave>
  void run_on(any_step& step, moving_step& moving, working_vector& data, policy_run const& run, Leave leave) {
    moving.enter(run.call, *run.by.policy, run.number);
    if (run.record) [[unlikely]] moving.record(*run.record);
    try {
      if (on_wait) [[unlikely]] on_wait->watch(run, step, data, trace.get());
      else if (trace) [[unlikely]] trace->watch(run, step, data);
      else run(step);
    } catch (...) {
      leave();
      throw;
    }
  }

  /// Takes settings that are the same on all ranks; null: none. Rank 0 warns of unknown values; with COLLIGO_STRICT=1
  /// all ranks throw argument_error.
  void take(std::shared_ptr<settings const> all);
  /// Sets on_wait. Called at the end of the construction of a state that watches its waits.
  void lose_patience(shared_host* host, std::string name);

 private:
  bool switched(char const* variable, std::string const& value) const;
  void set_bytes(char const* variable, std::string const& value, char const* what, std::size_t& bytes) const;
  void refuse_value(char const* variable, std::string const& value, char const* wanted,
                    char const* otherwise = "; it is ignored") const;
  void refuse_setting(std::string const& trouble, char const* otherwise) const;

  settings const& asked() const { return settings_ ? *settings_ : nothing_set(); }

  std::shared_ptr<settings const> settings_;   // usually null, because they are large and seldom set
  bool strict_ = false, stable_bits_ = false, levels_off_ = false;
  std::vector<int> levels_asked_;
  patience_setting patience_;
  machine network_ = typical;
  line_latencies latencies_;
  memory_limits limits_;
  requests_of_rank& requests_;
  prepared_calls prepared_;
  bool prepares_ = false;
};

/// A call as a tool sees it.
inline hooked_call as_hooked(communicator_state const& state, call const& call, choice const& by, bool is_request) {
  std::size_t const longer = std::max(call.in.covers.size(), call.out.covers.size());
  return {call.what, by.policy->name, call.of->bytes(longer), &state, state.rank(), state.size(), is_request};
}

/// The state behind an endpoint.
inline communicator_state& state_at(endpoint& at) { return static_cast<communicator_state&>(at); }

}  // namespace colligo
