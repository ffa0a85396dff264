// SPDX-License-Identifier: BSL-1.0
/// @file
/// What is kept with a communicator, and the engine: it makes messages of a call and an algorithm.
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
#include "../core/row.hpp"
#include "../environment/core_domains.hpp"
#include "../environment/settings.hpp"
#include "call.hpp"
#include "identity.hpp"
#include "waits.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

class port_base;
class requests_of_rank;
class shared_host;

/// "all_reduce on rank 0 of 2: "
std::string where(endpoint const& port, collective what);
std::string too_large_for_memory(std::size_t element_size);

/// What a rank does in a call, worked out before (kept_plans.hpp).
struct kept_plan {
  void (*play)(kept_plan const& its, any_step& step) = nullptr;   ///< null: it is too long to be kept
  range holds{};   ///< the stretch of the vector for which the rank needs memory
};

/// An algorithm with its arguments, but for the step.
struct policy_run {
  call const& its;
  choice const& by;
  topology const& known;
  std::uint32_t number;   ///< of the call on its communicator
  kept_plan const* kept = nullptr;   ///< null: the algorithm is asked

  void operator()(any_step& step) const {
    if (kept) [[unlikely]] return kept->play(*kept, step);
    by.policy->run(by.tag(), known, step, its.vector, its.root);
  }
};

/// The plan of an irregular call whose policy has work of its own, kept with the port; null where there is no memory
/// for it: set by units that make irregular calls.
inline kept_plan const* (*keep_plan)(port_base& port, policy_run const& run) = nullptr;

/// Of a collective that has two vectors: a rank's block for itself, into where the second one lies.
inline void copy_own_block(call const& its, int rank, std::byte* second) {
  auto const [in, out] = vectors_of(its.what, its.vector, rank);
  element const& of = *its.of;
  std::byte const* const from = its.in.data + of.bytes(in[rank].first);
  std::byte* const to = second + of.bytes(out[rank].first - out.whole.first);
  if (from != to && !in[rank].empty()) of.copy(from, in[rank].size(), to);
}

/// Where a run works that holds more than the output, or elsewhere: on the output, with memory for what the algorithm
/// keeps behind it, or on memory that has all.
struct working_place {
  bool direct = true;
  range beside = behind_all;   ///< in memory that is not the user's

  working_place() = default;
  working_place(call const& its, range holds) {
    range const out = its.out.covers;
    if (contains(out, holds)) return;
    direct = out.first <= holds.first && its.vector.whole.last <= out.last;
    beside = {direct ? out.last : holds.first, holds.last};
  }

  /// Of a working vector, where `memory` is what is not the user's.
  values<std::byte> out(call const& its, std::byte* memory) const {
    return direct ? its.out : values<std::byte>{memory, beside};
  }
  values<std::byte> beyond(std::byte* memory) const {
    return direct ? values<std::byte>{memory, beside} : values<std::byte>{nullptr, behind_all};
  }
};

class moving_step;

/// An observer of calls (extra/trace/).
class observer {
 public:
  virtual ~observer() = default;
  /// Runs the algorithm on the step, or on one that records it.
  virtual void watch(policy_run const& run, any_step& step, working_vector& data) = 0;
  /// A vendor's call, or a request, from begin to end: `began` is handed back. Nanoseconds that went into
  /// combining.
  virtual std::size_t begin(call const& its, std::string_view algorithm, std::uint32_t number) = 0;
  virtual void end(std::size_t began, std::int64_t combining) = 0;
  virtual std::int64_t now() const = 0;
  /// The number-th step of a request, complete by now.
  virtual void step(call const& its, std::uint32_t number_of_call, std::size_t number,
                    std::span<operand const> operands, moving_step const& over, std::int64_t began,
                    std::int64_t combining) = 0;
};

/// Steps that are performed without waiting. Between begin() and the advance() that says true, operands and the vector
/// stay where they are.
class moving_step {
 public:
  virtual ~moving_step() = default;
  /// Before each start, with the call's number, which keeps these messages apart from those of other calls.
  virtual void enter(call const&, erased_policy const&, std::uint32_t) {}
  /// So that no such step allocates.
  virtual void make_room(std::span<operand const>, list_kind) {}
  /// Begins a step; several follow each other.
  virtual void begin(std::span<operand const> operands, list_kind kind) = 0;
  /// Does what can be done at once. True if the step is complete.
  virtual bool advance() = 0;
  /// For a step that will not be completed, since the transport has failed.
  virtual void abandon() {}
  /// As of any_step.
  virtual bool shares_memory_with(int) const { return false; }
};

/// Prints what was chosen for a call and why, if that is new: set by units that include explain.hpp.
inline void (*explain_call)(port_base& port, call const& its, choice const& by) = nullptr;

/// Sums of floating point numbers that are exact on the way, for COLLIGO_SUM. Said of a call whose port has `exactness`
/// before it.
struct exact_summing {
  /// The call as it is on its way, for what runs it to be chosen: the same, if it is no such sum.
  call (*on_the_way)(port_base& port, call const& its);
  /// It is such a sum, and its algorithm has been left to the library.
  bool (*holds_for)(port_base& port, call const& its, choice const& by);
  /// Makes the call by `run`, which is given sums instead of numbers.
  void (*run)(port_base& port, call const& its, choice const& by,
              void (*run)(port_base& port, call const& its, choice const& by));
  /// The call on sums that a request makes instead, which keeps them beside what it kept before.
  call (*own)(port_base& port, call const& its, owner<owned_by_request>& kept);
};
/// Set by units that include environment.hpp.
inline exact_summing const* sum_exactly = nullptr;

/// Watches a rank's waits: set by units that include patience.hpp. `host`: where the ranks of this host share
/// memory, or null; `name`: of the communicator.
inline owner<patience> (*watch_waits)(port_base& port, patience_setting const& setting, shared_host* host,
                                                std::string name) = nullptr;

/// What others keep with a port.
struct kept_with_port {
  virtual ~kept_with_port() = default;
};

/// What every port keeps.
class port_base : public endpoint {
 public:
  std::string const& setting(collective c) const { return asked().algorithm[static_cast<std::size_t>(c)]; }
  file_setting const& reduce_tree_setting() const { return asked().reduce_tree; }
  file_setting const& broadcast_tree_setting() const { return asked().broadcast_tree; }
  file_setting const& table_setting() const { return asked().table; }
  /// What messages cost, which the rules beyond one host count with.
  machine const& network() const { return network_; }
  /// An override of the environment that can not be taken is an error.
  bool strict() const { return strict_; }
  /// `automatic` gives the same bits whatever it chooses.
  bool stable_bits() const { return stable_bits_; }
  /// What COLLIGO_LEVELS says of the ranks, innermost level first; empty: nothing. Off: the system is not asked.
  std::vector<int> const& levels_asked() const { return levels_asked_; }
  bool levels_off() const { return levels_off_; }
  /// How long a rank waits before it says so: a call that waits does so here then, not in the MPI library.
  patience_setting const& patience_asked() const { return patience_; }
  bool watches_waits() const { return patience_.after != 0; }

  /// Runs a policy on this rank's share. What the functor throws comes out when all messages are through.
  void execute(call const& its, choice const& by);
  /// The MPI library's own collective. Pinned it is the blocking one, which makes no progress for requests; otherwise
  /// its non-blocking one, which is waited for. MPI does not let the two meet: the choice is the same on all ranks.
  void execute_vendor(call const& its, choice const& by);

  /// Where `automatic` may go; null: messages only.
  virtual shared_host* automatic_memory(element const&) { return nullptr; }
  /// Why these elements can not go through memory that ranks share, the same on all ranks; empty: they can, or there is
  /// one rank alone.
  virtual std::string why_no_memory(element const&) { return "its ranks share none"; }
  /// The MPI library's own collective can take them.
  virtual bool has_vendor(call const&) const { return false; }

  /// Requests on this rank, which make progress whenever it waits.
  requests_of_rank& requests() const { return requests_; }
  /// Steps for a request.
  virtual owner<moving_step> steps_for_request(working_vector& data, call const& its, transport over) = 0;
  /// The vendor's collective as a request; null where there is none.
  virtual owner<moving_step> vendor_request(call const&, bool) { return nullptr; }
  /// Requests that go through memory make progress one after the other; these do not go through any.
  virtual bool uses_memory(call const&, transport) { return false; }

  /// What the transport has to know of elements that are bytes, and that it knows no functor for.
  virtual void const* wire_of_bytes() const { return nullptr; }

  /// Lets other ranks have the core for a moment, and lets happen what else must.
  virtual void yield_core(unsigned& polls) const = 0;

  scratch memory;                     ///< of blocking calls
  std::vector<int> hosts;             ///< the host of each rank, as the lowest rank there; empty where all are on one
  row<core_domains> domains;          ///< of each rank; empty where the transport does not say
  topology known;                     ///< these hosts, and what policies have asked for so far; set before each call
  owner<observer> trace;              ///< none: its calls are not traced
  owner<patience> on_wait;            ///< none: its waits are not watched
  owner<kept_with_port> selection;    ///< what select/ keeps: trees, latest choices
  /// Requests that are complete, for others that ask for the same (requests.hpp).
  std::array<owner<kept_with_port>, 4> spare_requests;
  owner<kept_with_port> plans;        ///< of irregular calls (kept_plans.hpp)
  std::uint64_t memory_in_use = 0;              ///< by a request: the latest walk that saw one (requests.hpp)
  /// Itself as long as its communicator lives, then null: requests may outlive that.
  std::shared_ptr<port_base> life;
  std::uint32_t calls = 0;                      ///< so far, on all ranks alike; those that were refused count

  /// This rank leaves a call before its end, or has not begun it: reports that to those who wait in it, as far as they
  /// can be reached. Never throws.
  virtual void abandon_call(std::uint32_t number, std::string_view why, bool begun = true) noexcept = 0;
  /// The same, because of the exception that is being handled.
  void abandon_call_now(std::uint32_t number) noexcept;
  /// The same for a call that has not begun.
  void refuse(std::string_view why) noexcept { abandon_call(++calls, why, false); }

 protected:
  explicit port_base(requests_of_rank& its) : requests_(its) {
    memory.operands.reserve(64), memory.sources.reserve(64);
  }
  virtual ~port_base() = default;

  memory_limits const& limits() const { return limits_; }

  void execute_otherwise(policy_run const& run);
  /// With memory beside the user's.
  std::exception_ptr run_beside(policy_run const& run);
  virtual void perform(working_vector& data, policy_run const& run) = 0;
  /// A rank that has failed goes through its algorithm without touching the vector, for others rely on its messages.
  virtual bool goes_on_without_memory(call const&, transport) { return false; }
  virtual void run_vendor(call const&, bool) {}   // is asked only where there is one
  /// For perform(): the algorithm on these steps, shown to the observers.
  void run_on(any_step& step, working_vector& data, policy_run const& run) {
    if (on_wait) [[unlikely]] on_wait->watch(run, step, data, trace.get());
    else if (trace) [[unlikely]] trace->watch(run, step, data);
    else run(step);
  }

  /// The same settings on all ranks, null: none. Rank 0 warns of values that are unknown; where the environment is
  /// strict, all throw argument_error.
  void take(std::shared_ptr<settings const> all);
  /// For a port that watches its waits, when all else has been made.
  void lose_patience(shared_host* host, std::string name);

 private:
  bool switched(char const* variable, std::string const& value) const;
  void set_bytes(char const* variable, std::string const& value, char const* what, std::size_t& bytes) const;
  void refuse_setting(std::string const& trouble, char const* otherwise) const;

  settings const& asked() const { return settings_ ? *settings_ : nothing_set(); }

  std::shared_ptr<settings const> settings_;   // large, and as a rule there are none
  bool strict_ = false, stable_bits_ = false, levels_off_ = false;
  std::vector<int> levels_asked_;
  patience_setting patience_;
  machine network_ = typical;
  memory_limits limits_;
  requests_of_rank& requests_;
};

/// The inside of an endpoint.
inline port_base& port_at(endpoint& its) { return static_cast<port_base&>(its); }

}  // namespace detail
}  // namespace colligo
