// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_state.hpp: how a state is made, kept and freed.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <climits>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../engine/handles.hpp"
#include "../engine/requests.hpp"
#include "mpi_bootstrap_body.hpp"
#include "../transport/messages/mpi_state.hpp"
#include "mpi_shared.hpp"
#include "../transport/messages/mpi_steps.hpp"
#include "../transport/messages/mpi_vendor.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

struct mpi_state::steps_memory : mpi_steps_memory {
  std::optional<mpi_steps> over_messages, over_both;      // both: where only some of the ranks share memory
  std::optional<memory_steps<among_processes>> over_memory;
};

namespace mpi {

// Steps with their own memory.
struct request_steps final : private mpi_steps_memory, public mpi_steps {
  request_steps(mpi_state& state, working_vector& data, call const& call, shared_host* host)
      : mpi_steps(state, data.memory(), host, static_cast<mpi_steps_memory&>(*this)) {
    work_on(data, element_of(call));
  }
};

}  // namespace mpi

[[gnu::cold]] COLLIGO_BODY requests_of_rank& mpi_state::all_requests() {
  static auto& all = *new requests_of_rank;   // MPI_Finalize may come after static objects have been destroyed
  return all;
}

[[gnu::cold]] COLLIGO_BODY mpi_state::mpi_state(MPI_Comm user)
    : communicator_state(all_requests()), steps_memory_(make_owner<steps_memory>()), wire_(user) {
  rank_ = wire_.rank(), size_ = wire_.size();
  int threads = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
  if (threads == MPI_THREAD_MULTIPLE) requests().share();
  if (size_ == 1) return;
  missing_ = make_owner<missing_memory>(rank_);
  if (mpi_states_left.fetch_sub(1) <= 0) mpi_states_left.fetch_add(1), throw std::bad_alloc();
}

[[gnu::cold]] COLLIGO_BODY mpi_state::~mpi_state() {
  spare_requests = {};   // their steps use this state
  if (host_)   // abort messages of a call in which this rank has waited for nobody may still be under way
    for (rank_record const* const record : host_->records())
      if (record->abandoned.are_any()) wire_.hears_aborts();
  if (size_ > 1) mpi_states_left.fetch_add(1);
}

[[gnu::cold]] COLLIGO_BODY mpi_state& mpi_state::look_up(MPI_Comm user) {
  require_mpi();
  static int const key = make_key();
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(user, key, &value, &found), "MPI_Comm_get_attr");
  if (found) return *static_cast<mpi_state*>(value);
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(user, &inter), "MPI_Comm_test_inter");
  if (inter)
    throw argument_error(
        "colligo: the communicator is an intercommunicator; the collectives of this library run within one group: "
        "merge the two with MPI_Intercomm_merge, or pass the local group's communicator");
  std::shared_ptr<communicator_state> const life = mpi_bootstrap::make_state(user);
  auto* const state = static_cast<mpi_state*>(life.get());
  check_mpi(MPI_Comm_set_attr(user, key, state), "MPI_Comm_set_attr");
  state->life = life;
  return *state;
}

// MPI is asked for a young state at each call, because it may have been made in an attribute's delete callback, while
// the user's communicator is freed: then MPI deletes no attribute, and the handle may come again.
[[gnu::cold]] COLLIGO_BODY endpoint& look_up_mpi_state(MPI_Comm user, unsigned& freed) {
  mpi_state& state = mpi_state::look_up(user);
  if (state.look_ups < 100) ++state.look_ups, --freed;
  return state;
}

// Weak references, so that no program needs -ldl, as it would with a glibc before 2.34. A program without dlopen has no
// object that could be closed.
#if defined(__linux__)
static decltype(::dlopen) dlopen_if_there __attribute__((weakref("dlopen")));
static decltype(::dladdr) dladdr_if_there __attribute__((weakref("dladdr")));
#endif

// Keeps the shared object of a function loaded: MPI_Finalize calls the function, when a plugin may have been closed.
[[gnu::cold]] COLLIGO_BODY void stay_in_memory(void const* function) {
  Dl_info object{};
#if defined(__linux__)
  if (dlopen_if_there && dladdr_if_there && dladdr_if_there(function, &object) != 0 && object.dli_fname)
    dlopen_if_there(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#else   // where they are part of the C library
  if (dladdr(function, &object) != 0 && object.dli_fname)
    dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

[[gnu::cold]] COLLIGO_BODY int mpi_state::make_key() {
  int key = MPI_KEYVAL_INVALID, at_end = MPI_KEYVAL_INVALID;
  auto const free = [](MPI_Comm, int, void* value, void*) -> int {
    auto& state = *static_cast<mpi_state*>(value);
    state.wire_.outlive_user();
    std::shared_ptr<communicator_state> const lent = std::move(state.life_of_request), last = std::move(state.life);
    mpi_states_freed.fetch_add(1, std::memory_order_release);
    return MPI_SUCCESS;
  };
  stay_in_memory(reinterpret_cast<void const*>(+free));
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free, &key, nullptr), "MPI_Comm_create_keyval");
  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF: from then on the cached state is not used.
  auto const forget = [](MPI_Comm, int, void*, void*) -> int {
    all_requests().end();
    mpi_states_freed.fetch_add(1, std::memory_order_release);
    return MPI_SUCCESS;
  };
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &at_end, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr), "MPI_Comm_set_attr");
  return key;
}

// Now and then lets MPI make progress, because requests over shared memory never call it. Over shared memory a rank
// yields as seldom as in a blocking call: where the cores have other work each time costs milliseconds.
COLLIGO_BODY void mpi_state::yield_core(unsigned& polls) const {
  unsigned const spins = host_ ? host_->waits.polls_before_yield() : 256;
  if (++polls % spins != 0) return relax();
  sched_yield();
  if (polls % 64 == 0 || left_calls::any()) let_mpi_progress(wire_.comm(), wire_.rank());
}

[[gnu::cold]] COLLIGO_BODY shared_host* mpi_state::no_memory() const { return missing_ ? missing_->none() : nullptr; }

COLLIGO_BODY shared_host* mpi_state::shared_for(element const& of) const {
  if (of.objects) return nullptr;
  shared_host* const host = shared();
  if (!host || host->fits(of.size)) return host;
  return missing_->none_for(of.size, host->whole());
}

COLLIGO_BODY std::string mpi_state::why_no_memory(element const& of) {
  if (of.objects) return "elements that do not travel as bytes do not go through it";
  if (size_ == 1) return {};
  shared_host* const host = shared();
  if (!host || !missing_->has_neighbours()) return missing_->why();
  // If this host has some of the ranks only, ranks of other hosts may have memory for such elements.
  return host->whole() && !host->fits(of.size) ? too_large_for_memory(of.size) : std::string();
}

COLLIGO_BODY void const* mpi_state::wire_of_bytes() const { return &mpi_element_of<std::byte, no_functor, false>; }

COLLIGO_BODY void mpi_state::perform(working_vector& data, policy_run const& run) {
  call const& call = run.call;
  shared_host* const host = run.by.over == transport::messages ? nullptr : shared_for(*call.of);
  if (host && host->whole()) {
    auto& kept = steps_memory_->over_memory;
    if (!kept) [[unlikely]] kept.emplace(rank_, size_, *host, memory, among_processes{*this});
    kept->work_on(data);
    return run_on(*kept, *kept, data, run, [&] { kept->abandon(); });
  }
  auto& kept = host ? steps_memory_->over_both : steps_memory_->over_messages;
  if (!kept) [[unlikely]] kept.emplace(*this, memory, host, *steps_memory_);
  kept->work_on(data, mpi::element_of(call));
  run_on(*kept, *kept, data, run, [&] { kept->leave_memory(); });   // abandon_call() does the rest
}
COLLIGO_BODY bool mpi_state::goes_on_without_memory(call const& call, transport over) {
  return !uses_memory(call, over) || !host_->whole();
}

COLLIGO_BODY bool mpi_state::uses_memory(call const& call, transport over) {
  return over != transport::messages && shared_for(*call.of) != nullptr;
}
COLLIGO_BODY owner<moving_step> mpi_state::steps_for_request(working_vector& data, call const& call, transport over) {
  shared_host* const host = over == transport::messages ? nullptr : shared_for(*call.of);
  if (!host || !host->whole()) return make_owner<mpi::request_steps>(*this, data, call, host);
  auto made = make_owner<memory_steps<among_processes>>(rank_, size_, *host, data.memory(), among_processes{*this});
  made->work_on(data);
  return made;
}

[[gnu::cold]] COLLIGO_BODY void mpi_state::forget_calls() noexcept {
  if (shared_host* const host = shared_ ? shared_->host() : nullptr) host->calls.forget(calls);
}
// Ranks that wait in shared memory see the rank's record; ranks that wait for messages get an abort message. If all
// ranks refuse the call, none receives the abort messages, and they are dropped later. The rank completes its own
// messages in progress last, because its peers may be abandoning the call too.
[[gnu::cold]] COLLIGO_BODY void mpi_state::abandon_call(std::uint32_t number, std::string_view why,
                                                       bool begun) noexcept {
  shared_host* const host = shared_ ? shared_->host() : nullptr;
  if (host) host->calls.abandon(number, why);
  if (!wire_.owns_comm()) return;
  wire_.leave_call(number);
  for (int r = 0; r < size_; ++r) {
    if (r == rank_ || (host && host->has(r) && host->is_gone(r))) continue;
    try {
      wire_.send_abort(r, number);
    } catch (std::exception const&) {   // an error of MPI's: other ranks may be reached
    }
  }
  if (!begun) return;
  for (auto* const steps : {&steps_memory_->over_messages, &steps_memory_->over_both})
    if (*steps) (*steps)->leave();
  if (steps_memory_->over_memory) steps_memory_->over_memory->abandon();
}

// Other vectors go in segments. Of an all_to_all_v a rank knows its own lengths alone.
[[gnu::cold]] COLLIGO_BODY bool is_counted_by_int(call const& call) {
  if (call.what == collective::all_to_all_v || !has_blocks(call.what)) return true;
  return std::cmp_less_equal(has_counts(call.what) ? call.vector.whole.size() : call.vector[0].size(), INT_MAX);
}
COLLIGO_BODY bool mpi_state::has_vendor(call const& call) const {
  bool const is_aligned = !combines(call.what) || call.of->alignment <= alignof(std::max_align_t);   // MPI's operands
  return mpi::element_of(call).vendor != nullptr && call.of->by_index == nullptr && is_aligned &&
         is_counted_by_int(call);
}
COLLIGO_BODY void mpi_state::run_vendor(call const& call, bool blocking) {
  mpi::element_of(call).vendor->run(*this, call, blocking);
}
COLLIGO_BODY owner<moving_step> mpi_state::vendor_request(call const& call, bool persistent) {
  return mpi::element_of(call).vendor->request(*this, call, persistent);
}

}  // namespace colligo

#include "mpi_shared_body.hpp"
