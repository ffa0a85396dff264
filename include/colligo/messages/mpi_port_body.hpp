// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_port.hpp: how a port is made, kept and freed.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/handles.hpp"
#include "../engine/requests.hpp"
#include "mpi_meeting_body.hpp"
#include "mpi_port.hpp"
#include "mpi_shared.hpp"
#include "mpi_steps.hpp"
#include "mpi_vendor.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

struct mpi_port::steps_memory : mpi_steps_memory {
  std::optional<mpi_steps> over_messages, over_memory;
};

namespace mpi {

// Steps that bring along all that they need.
struct request_steps final : private mpi_steps_memory, public mpi_steps {
  request_steps(mpi_port& port, working_vector& data, call const& its, shared_host* host)
      : mpi_steps(port, data.memory(), host, static_cast<mpi_steps_memory&>(*this)) {
    work_on(data, element_of(its));
  }
};

}  // namespace mpi

[[gnu::cold]] COLLIGO_BODY requests_of_rank& mpi_port::all_requests() {
  static auto& all = *new requests_of_rank;   // MPI may end after static objects have
  return all;
}

[[gnu::cold]] COLLIGO_BODY mpi_port::mpi_port(MPI_Comm user)
    : port_base(all_requests()), comm_(user), steps_memory_(std::make_unique<steps_memory>()) {
  check_mpi(MPI_Comm_rank(user, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(user, &size_), "MPI_Comm_size");
  int *most_tags = nullptr, found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tags, &found), "MPI_Comm_get_attr");
  if (found) tags_ = std::bit_floor(static_cast<std::uint32_t>(*most_tags) + 1) / 2 - 1;   // half are for remarks
  int threads = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
  if (threads == MPI_THREAD_MULTIPLE) requests().share();
  if (int of_all = 0; MPI_Comm_rank(MPI_COMM_WORLD, &of_all) == MPI_SUCCESS && of_all == 0) warn_of_unknown_variables();
  if (rank_ == 0) environment_ = settings_of_environment();
  if (size_ == 1) return;
  ranks_.resize(static_cast<std::size_t>(size_));
  ranks_[static_cast<std::size_t>(rank_)] = mpi_rank_info_of_this_process(environment_.get());
  segments_.resize(ranks_.size());
  hosts.reserve(ranks_.size());
  domains.reserve(ranks_.size());
  missing_ = std::make_unique<missing_memory>(rank_);
}

// All that ranks have to know of each other, and whether each has a port: a rank that has no memory for one learns it
// in a place of its own, for the others wait for it.
[[gnu::cold]] COLLIGO_BODY void mpi_port::meet(MPI_Comm user, mpi_port* port, std::exception_ptr const& trouble) {
  std::array<mpi_rank_info, 128> few;
  int size = 0, rank = 0;
  check_mpi(MPI_Comm_size(user, &size), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(user, &rank), "MPI_Comm_rank");
  auto const ranks = static_cast<std::size_t>(size);
  if (size == 1 && trouble) std::rethrow_exception(trouble);
  if (size > 1) {
    bool const is_few = ranks <= few.size();
    if (!is_few) agree(user, trouble);
    mpi_rank_info mine{};
    if (port) mine = port->ranks_[static_cast<std::size_t>(rank)];
    mine.has_no_port = port == nullptr;
    std::span<mpi_rank_info> const all = is_few ? std::span(few).first(ranks) : std::span(port->ranks_);
    exchange_values(user, mine, all);
    if (trouble) std::rethrow_exception(trouble);
    if (std::ranges::any_of(all, [](mpi_rank_info const& r) { return r.has_no_port != 0; })) throw_no_memory();
    if (is_few) std::ranges::copy(all, port->ranks_.begin());
    port->comm_ = make_communicator_like(user);
    port->owns_comm_ = true;
  }
  port->learn();
  if (!port->ranks_.empty()) port->open_memory();
  if (size > 1 && port->watches_waits()) port->lose_patience(port->host_, mpi::name_of(user));
}

// Takes memory only for what the environment asks: as a rule there is nothing to agree on.
[[gnu::cold]] COLLIGO_BODY void mpi_port::learn() {
  if (size_ == 1) return learn_what_is_asked(0, environment_value("COLLIGO_TRACE") != nullptr);
  std::size_t const settings = ranks_[0].settings;
  std::uint32_t const asks = ranks_[0].asks;
  find_hosts(ranks_, hosts);
  for (mpi_rank_info const& r : ranks_) domains.push_back(r.domains);
  missing_->hear_of(comm_, ranks_, hosts);
  if (!mpi_shared::possible(ranks_)) ranks_.clear();
  if (settings == 0 && asks == 0) return;
  std::exception_ptr trouble;
  try {
    learn_what_is_asked(settings, (asks & mpi_rank_info::trace) != 0);
  } catch (std::bad_alloc const&) {   // all else is the same on all ranks
    trouble = std::current_exception();
  }
  agree(comm_, trouble);
}

[[gnu::cold]] COLLIGO_BODY void mpi_port::learn_what_is_asked(std::size_t settings, bool trace_too) {
  if (settings != 0) take_settings(settings);
  take(std::exchange(environment_, nullptr));
  if (!trace_too) return;
  if (follow_mpi) trace = follow_mpi(comm_, hosts);
  else if (rank_ == 0) warn_that_nothing_is_traced();
}

// An error is the user's communicator's, and may end the program.
[[gnu::cold]] COLLIGO_BODY MPI_Comm make_communicator_like(MPI_Comm user) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group ranks = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(user, &ranks), "MPI_Comm_group");
  int const code = MPI_Comm_create(user, ranks, &made);
  MPI_Group_free(&ranks);
  check_mpi(code, "MPI_Comm_create");
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

// Launchers do not always pass the environment on, so that ranks could disagree: rank 0's holds. Each string goes
// with its length before it.
[[gnu::cold]] COLLIGO_BODY void mpi_port::take_settings(std::size_t bytes) {
  std::string texts;
  texts.reserve(bytes);
  if (!environment_) environment_ = std::make_shared<settings>();
  if (rank_ == 0)
    for (std::string const* const text : environment_->texts()) {
      auto const length = static_cast<std::uint32_t>(text->size());
      texts.append(reinterpret_cast<char const*>(&length), sizeof length).append(*text);
    }
  texts.resize(bytes);
  check_mpi(MPI_Bcast(texts.data(), static_cast<int>(bytes), MPI_CHAR, 0, comm_), "MPI_Bcast");
  std::size_t at = 0;
  for (std::string* const text : environment_->texts()) {
    std::uint32_t length = 0;
    std::memcpy(&length, texts.data() + at, sizeof length);
    text->assign(texts, at + sizeof length, length);
    at += sizeof length + length;
  }
}

[[gnu::cold]] COLLIGO_BODY void mpi_port::free_own() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (owns_comm_ && !keeps_comm_ && !finalised) MPI_Comm_free(&comm_);
}

[[gnu::cold]] COLLIGO_BODY mpi_port::~mpi_port() {
  spare_requests = {};   // they have steps over this port
  free_own();
}

[[gnu::cold]] COLLIGO_BODY mpi_port& mpi_port::look_up(MPI_Comm user) {
  require_mpi();
  static int const key = make_key();
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(user, key, &value, &found), "MPI_Comm_get_attr");
  if (found) return *static_cast<mpi_port*>(value);
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(user, &inter), "MPI_Comm_test_inter");
  if (inter)
    throw argument_error(
        "colligo: an intercommunicator was given; the collectives of this library run within one group");
  std::shared_ptr<mpi_port> port;
  std::exception_ptr trouble;
  try {
    port.reset(new mpi_port(user));
  } catch (std::bad_alloc const&) {
    trouble = std::current_exception();
  }
  meet(user, port.get(), trouble);
  check_mpi(MPI_Comm_set_attr(user, key, port.get()), "MPI_Comm_set_attr");
  port->life = port;
  return *port;
}

[[gnu::cold]] COLLIGO_BODY endpoint& look_up_mpi_port(MPI_Comm user) { return mpi_port::look_up(user); }

// Weak references, so that no program needs -ldl, as it would with a glibc before 2.34. Without them there is no object
// that could be closed.
static decltype(::dlopen) dlopen_if_there __attribute__((weakref("dlopen")));
static decltype(::dladdr) dladdr_if_there __attribute__((weakref("dladdr")));

// The object that this function is in stays loaded: MPI calls it in MPI_Finalize, when a plugin may have been closed.
[[gnu::cold]] COLLIGO_BODY void stay_in_memory(void const* function) {
  Dl_info its{};
  if (dlopen_if_there && dladdr_if_there && dladdr_if_there(function, &its) != 0 && its.dli_fname)
    dlopen_if_there(its.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

[[gnu::cold]] COLLIGO_BODY int mpi_port::make_key() {
  int key = MPI_KEYVAL_INVALID, at_end = MPI_KEYVAL_INVALID;
  auto const free = [](MPI_Comm, int, void* its, void*) -> int {
    auto& port = *static_cast<mpi_port*>(its);
    if (!port.owns_comm_) port.comm_ = MPI_COMM_SELF;
    std::shared_ptr<port_base> const last = std::move(port.life);
    mpi_ports_freed.fetch_add(1, std::memory_order_release);
    return MPI_SUCCESS;
  };
  stay_in_memory(reinterpret_cast<void const*>(+free));
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free, &key, nullptr), "MPI_Comm_create_keyval");
  // MPI_Finalize deletes this one's attributes first: from then on no port is found without being looked for.
  auto const forget = [](MPI_Comm, int, void*, void*) -> int {
    all_requests().end();
    mpi_ports_freed.fetch_add(1, std::memory_order_release);
    return MPI_SUCCESS;
  };
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &at_end, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr), "MPI_Comm_set_attr");
  return key;
}

// Requests that go through memory never call MPI, but a peer may be in a send to this rank that needs it.
COLLIGO_BODY void mpi_port::yield_core(unsigned& polls) const {
  constexpr unsigned spins = 256;
  if (++polls < spins) return relax();
  sched_yield();
  if (polls % 64 != 0) return;
  int flag = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

// Before it is known whether a call will need it: a rank that refuses its call would not come then.
[[gnu::cold]] COLLIGO_BODY void mpi_port::open_memory() {
  mpi_segment mine{};
  try {
    shared_ = std::make_unique<mpi_shared>(comm_, rank_, ranks_);
    mine = shared_->segment();
  } catch (std::bad_alloc const&) {   // the others hear of it
  }
  exchange_values(comm_, mine, std::span(segments_));
  if (std::ranges::any_of(segments_, [](mpi_segment const& s) { return s.at == 0; })) {
    shared_.reset();
    missing_->hear_of(segments_);
  } else {
    shared_->open(segments_, limits());
    host_ = shared_->host();
  }
  ranks_ = {};
  segments_ = {};
}

[[gnu::cold]] COLLIGO_BODY shared_host* mpi_port::no_memory() const { return missing_ ? missing_->none() : nullptr; }

COLLIGO_BODY shared_host* mpi_port::shared_for(element const& of) const {
  if (of.objects) return nullptr;
  shared_host* const host = shared();
  if (!host || host->fits(of.size)) return host;
  return missing_->none_for(of.size, host->whole());
}

COLLIGO_BODY std::string mpi_port::why_no_memory(element const& of) {
  if (of.objects) return "elements that do not travel as bytes do not go through it";
  if (size_ == 1) return {};
  shared_host* const host = shared();
  if (!host || !missing_->has_neighbours()) return missing_->why();
  // Ranks of other hosts may have memory.
  return host->whole() && !host->fits(of.size) ? too_large_for_memory(of.size) : std::string();
}

COLLIGO_BODY void const* mpi_port::wire_of_bytes() const { return &mpi_element_of<std::byte, no_functor, false>; }

COLLIGO_BODY void mpi_port::perform(working_vector& data, call const& its, policy_run const& run, transport over) {
  shared_host* const host = over == transport::messages ? nullptr : shared_for(*its.of);
  auto& kept = host ? steps_memory_->over_memory : steps_memory_->over_messages;
  if (!kept) [[unlikely]] kept.emplace(*this, memory, host, *steps_memory_);
  kept->work_on(data, mpi::element_of(its));
  kept->enter(its, run.what, run.number);
  try {
    run_on(*kept, data, its, run);
  } catch (...) {
    kept->leave_memory();
    throw;
  }
}
COLLIGO_BODY bool mpi_port::goes_on_without_memory(call const& its, transport over) {
  return !uses_memory(its, over) || !host_->whole();
}

COLLIGO_BODY bool mpi_port::uses_memory(call const& its, transport over) {
  return over != transport::messages && shared_for(*its.of) != nullptr;
}
COLLIGO_BODY std::unique_ptr<moving_step> mpi_port::steps_for_request(working_vector& data, call const& its,
                                                                      transport over) {
  shared_host* const host = over == transport::messages ? nullptr : shared_for(*its.of);
  return std::make_unique<mpi::request_steps>(*this, data, its, host);
}

COLLIGO_BODY std::size_t mpi_port::exchange_long(std::byte const* out, std::size_t out_bytes, int to, std::byte* in,
                                                 std::size_t in_bytes, int from, int tag) {
  int const out_count = static_cast<int>(out_bytes), in_count = static_cast<int>(in_bytes);
  MPI_Status status;
  if (in_bytes == 0) {
    check_mpi(MPI_Send(out, out_count, MPI_BYTE, to, tag, comm_), "MPI_Send");
    return 0;
  }
  if (out_bytes == 0) {
    int const code = MPI_Recv(in, in_count, MPI_BYTE, from, tag, comm_, &status);
    return received(code, "MPI_Recv", status, in_bytes);
  }
  int const code = MPI_Sendrecv(out, out_count, MPI_BYTE, to, tag, in, in_count, MPI_BYTE, from, tag, comm_, &status);
  return received(code, "MPI_Sendrecv", status, in_bytes);
}

[[gnu::cold]] COLLIGO_BODY void mpi_port::check_unless_cut_off(int code, char const* by) {
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  if (kind != MPI_ERR_TRUNCATE) check_mpi(code, by);
}

// Those who wait in memory look; those who wait for messages are sent one. If all ranks refuse alike nobody waits for
// it: it is dropped later. What this rank has in progress of the call is finished last, for others do the same.
[[gnu::cold]] COLLIGO_BODY void mpi_port::abandon_call(std::uint32_t number, std::string_view why,
                                                       bool begun) noexcept {
  shared_host* const host = shared_ ? shared_->host() : nullptr;
  if (host) host->abandon_call(number, why);
  if (!owns_comm_) return;
  if (has_left_calls_) drop_what_is_left();
  left_[number % left_.size()] = {number};
  has_left_calls_ = true;
  hears_aborts();
  for (int r = 0; r < size_; ++r) {
    if (r == rank_ || (host && host->has(r) && host->is_gone(r))) continue;
    try {
      send_empty(r, number, remark::abort_message);
    } catch (std::exception const&) {   // MPI's: the others can be reached
    }
  }
  for (auto* const steps : {&steps_memory_->over_messages, &steps_memory_->over_memory})
    if (begun && *steps) (*steps)->leave();
}

}  // namespace colligo

#include "mpi_shared_body.hpp"
#include "mpi_vendor_body.hpp"
