// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_PATIENCE=30s: a rank that has waited so long in a step of a call prints once on stderr which ranks wait for
/// which, and goes on waiting; COLLIGO_PATIENCE=30s,throw: it throws stalled and abandons the call. Rank 0's value
/// holds. Header-only programs have to include this or <colligo/environment.hpp>; there is nothing to call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "../core/mutex.hpp"
#include "../core/small_vector.hpp"
#include "../engine/communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Observes the calls of a state, to report a wait.
class impatient_rank final : public patience {
 public:
  impatient_rank(communicator_state& state, patience_setting setting, shared_host* host, std::string communicator);
  COLLIGO_BODY ~impatient_rank() override;

  COLLIGO_BODY void watch(policy_run const& run, any_step& step, working_vector& data, observer* trace) override;
  COLLIGO_BODY void waits() override;
  COLLIGO_BODY void waits_for(call const& call, erased_policy const& what, std::uint32_t number, bool in_memory,
                              std::size_t step, std::span<operand const> operands) override;
  COLLIGO_BODY void starts(std::uint32_t number) override;
  COLLIGO_BODY void completes(std::uint32_t number) override;
  bool is_abandoned(std::uint32_t number) const override { return latest_abandoned_ == number; }
  COLLIGO_BODY void enter(call const& call, erased_policy const& what, std::uint32_t number) override;
  COLLIGO_BODY void leave() override;

 private:
  class announced_step;
  /// Of the blocking call, or of a request in progress: each loses patience by itself.
  struct wait {
    noted_call now;
    std::span<operand const> operands;   // of the step, or
    int peer = nobody;                   // of a step of one message
    std::uint32_t step = 0;
    bool is_new = true, reported = false, reported_elsewhere = false;
    std::int64_t looked = 0, waited = 0;   // ns: at its latest look, and for how long
  };
  struct ending;

  static noted_call noted(call const& call, erased_policy const& what, std::uint32_t number);
  void next_step(std::span<operand const> operands, int peer);
  wait* of_request(std::uint32_t number);
  void looks(wait& in_vain);
  void note_awaited(wait& new_one);
  void note();
  void put_note();
  void report(noted_call const& mine) const;
  void report_elsewhere(wait& by, std::string_view what);
  std::string rank_text(int rank, noted_call const& mine) const;
  std::string awaited_text(noted_call const& noted) const;
  bool has_come(int rank, std::uint32_t number) const;

  communicator_state& state_;
  patience_setting setting_;
  shared_host* host_;
  std::string communicator_;
  owner<rank_notice> own_;   // where no memory is shared
  rank_notice* notice_;
  mutex writes_;                     // held by who writes the notice, or the calls of which it notes one
  wait wait_;
  small_vector<wait> of_requests_;   // in the order of their starts
  std::uint32_t latest_abandoned_ = 0;
};

/// Units that include this turn COLLIGO_PATIENCE on.
inline bool const waits_are_watched = (
    watch_waits = [](communicator_state& state, patience_setting const& setting, shared_host* host, std::string name)
        -> owner<patience> { return make_owner<impatient_rank>(state, setting, host, std::move(name)); },
    true);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "waiting_for_body.hpp"
#endif
