// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_port.hpp: how a port is made, kept and freed.
#pragma once

#include <sched.h>

#include <algorithm>
#include <optional>

#include "../core/error.hpp"
#include "../request.hpp"
#include "mpi_port.hpp"
#include "mpi_shared.hpp"
#include "mpi_steps.hpp"
#include "mpi_vendor.hpp"
#include "requests.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

struct mpi_port::steps_memory : mpi_steps_memory {
  std::optional<mpi_steps> over_messages, over_memory;
};

namespace mpi {

inline mpi_element const& element_of(call const& its) { return *static_cast<mpi_element const*>(its.wire); }

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
    : port_base(all_requests()), steps_memory_(std::make_unique<steps_memory>()) {
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(user, &inter), "MPI_Comm_test_inter");
  if (inter)
    throw argument_error(
        "colligo: an intercommunicator was given; the collectives of this library run within one group");
  meet(user);
  check_mpi(MPI_Comm_dup(user, &comm_), "MPI_Comm_dup");
  try {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    int threads = MPI_THREAD_SINGLE;
    check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
    if (threads == MPI_THREAD_MULTIPLE) requests().share();
    settings all = rank_ == 0 ? settings_of_environment() : settings{};
    // Launchers do not always pass the environment on, so that ranks could disagree.
    all.for_each_text([this](std::string& text) {
      auto length = static_cast<int>(text.size());
      check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, comm_), "MPI_Bcast");
      text.resize(static_cast<std::size_t>(length));
      if (length != 0) check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm_), "MPI_Bcast");
    });
    take(std::move(all));
    find_hosts();
    if (follow_mpi) trace = follow_mpi(comm_, hosts);
    else if (rank_ == 0) tell_that_nothing_is_traced();
  } catch (...) {
    MPI_Comm_free(&comm_);
    throw;
  }
}

// Before blocking calls of MPI's: a rank that has not come may wait for a request that needs this one.
[[gnu::cold]] COLLIGO_BODY void mpi_port::meet(MPI_Comm comm) const {
  MPI_Request all = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm, &all), "MPI_Ibarrier");
  for (int come = 0;; sched_yield()) {
    check_mpi(MPI_Test(&all, &come, MPI_STATUS_IGNORE), "MPI_Test");
    if (come) return;
    if (requests().busy()) requests().progress();
  }
}

[[gnu::cold]] COLLIGO_BODY void mpi_port::find_hosts() {
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int lowest = rank_;
  check_mpi(MPI_Bcast(&lowest, 1, MPI_INT, 0, host), "MPI_Bcast");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  hosts.resize(static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  if (std::all_of(hosts.begin(), hosts.end(), [](int h) { return h == 0; })) hosts.clear();
}

[[gnu::cold]] COLLIGO_BODY mpi_port::~mpi_port() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (!finalised) MPI_Comm_free(&comm_);
}

[[gnu::cold]] COLLIGO_BODY mpi_port& mpi_port::look_up(MPI_Comm user) {
  static int const key = make_key();
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(user, key, &value, &found), "MPI_Comm_get_attr");
  if (found) return *static_cast<mpi_port*>(value);
  std::unique_ptr<mpi_port> port(new mpi_port(user));
  check_mpi(MPI_Comm_set_attr(user, key, port.get()), "MPI_Comm_set_attr");
  return *port.release();
}

[[gnu::cold]] COLLIGO_BODY endpoint& look_up_mpi_port(MPI_Comm user) { return mpi_port::look_up(user); }

[[gnu::cold]] COLLIGO_BODY int mpi_port::make_key() {
  int initialised = 0, key = MPI_KEYVAL_INVALID;
  MPI_Initialized(&initialised);
  if (!initialised)
    throw error("colligo: MPI is not initialised (make a boost::mpi::environment or call MPI_Init first)");
  auto const free = [](MPI_Comm, int, void* port, void*) -> int {
    delete static_cast<mpi_port*>(port);
    mpi_ports_freed.fetch_add(1, std::memory_order_release);
    return MPI_SUCCESS;
  };
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free, &key, nullptr), "MPI_Comm_create_keyval");
  return key;
}

// Requests that go through memory never call MPI, but a peer may be in a send to this rank that needs it.
COLLIGO_BODY void mpi_port::give_way(unsigned& polls) const {
  constexpr unsigned spins = 256;
  if (++polls < spins) return relax();
  sched_yield();
  if (polls % 64 != 0) return;
  int flag = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

COLLIGO_BODY shared_host* mpi_port::shared() {
  if (!shared_) [[unlikely]] {
    meet(comm_);
    shared_ = std::make_unique<mpi_shared>(comm_);
  }
  shared_host* const host = shared_->host();
  return host ? host : shared_->none();
}
COLLIGO_BODY shared_host* mpi_port::shared_for(element const& of) {
  if (of.objects) return nullptr;
  shared_host* const host = shared();
  if (!host || host->fits(of.size)) return host;
  return shared_->none_for(of.size, rank_);
}

COLLIGO_BODY bool mpi_port::has_vendor(call const& its) const { return mpi::element_of(its).vendor; }
COLLIGO_BODY void const* mpi_port::wire_of_bytes() const { return &mpi_element_of<std::byte, no_functor>; }
COLLIGO_BODY bool mpi_port::has_builtin(call const& its) const {
  mpi_element const& wire = mpi::element_of(its);
  return wire.type() != MPI_DATATYPE_NULL && wire.operation() != MPI_OP_NULL;
}

COLLIGO_BODY void mpi_port::perform(working_vector& data, call const& its, text_run const& run, transport over) {
  shared_host* const host = over == transport::shared_memory ? shared_for(*its.of) : nullptr;
  auto& kept = host ? steps_memory_->over_memory : steps_memory_->over_messages;
  if (!kept) [[unlikely]] kept.emplace(*this, memory, host, *steps_memory_);
  kept->work_on(data, mpi::element_of(its));
  kept->enter(identity_of(its, run.what, run.number));
  run_on(*kept, its, run);
}

COLLIGO_BODY bool mpi_port::uses_memory(call const& its, transport over) {
  return over == transport::shared_memory && shared_for(*its.of) != nullptr;
}
COLLIGO_BODY std::unique_ptr<moving_step> mpi_port::steps_for_request(working_vector& data, call const& its,
                                                                      transport over) {
  shared_host* const host = over == transport::shared_memory ? shared_for(*its.of) : nullptr;
  return std::make_unique<mpi::request_steps>(*this, data, its, host);
}

COLLIGO_BODY std::size_t mpi_port::exchange_pieces(std::byte const* out, std::size_t out_bytes, int to, std::byte* in,
                                                   std::size_t in_bytes, int from, int tag) {
  std::size_t got_all = 0;
  do {
    std::size_t const sent = std::min(out_bytes, longest_piece), got = std::min(in_bytes, longest_piece);
    int const out_count = static_cast<int>(sent), in_count = static_cast<int>(got);
    MPI_Status status;
    if (got == 0) {
      check_mpi(MPI_Send(out, out_count, MPI_BYTE, to, tag, comm_), "MPI_Send");
    } else if (sent == 0) {
      int const code = MPI_Recv(in, in_count, MPI_BYTE, from, tag, comm_, &status);
      got_all += received(code, "MPI_Recv", status, got);
    } else {
      int const code =
          MPI_Sendrecv(out, out_count, MPI_BYTE, to, tag, in, in_count, MPI_BYTE, from, tag, comm_, &status);
      got_all += received(code, "MPI_Sendrecv", status, got);
    }
    out += sent, out_bytes -= sent, in += got, in_bytes -= got;
  } while (out_bytes != 0 || in_bytes != 0);
  return got_all;
}

[[gnu::cold]] COLLIGO_BODY void mpi_port::check_unless_cut_off(int code, char const* by) {
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  if (kind != MPI_ERR_TRUNCATE) check_mpi(code, by);
}

// Those who wait in memory look; those who wait for messages are sent one, that of a sender who has failed. Not for a
// refusal: as a rule all ranks refuse alike, and nobody would ever receive these.
[[gnu::cold]] COLLIGO_BODY void mpi_port::give_up(std::uint32_t number, std::string_view why, bool begun) noexcept {
  shared_host* const host = shared_ ? shared_->host() : nullptr;
  if (host) host->give_up(number, why);
  if (!begun || (host && host->whole())) return;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_ || (host && host->has(r))) continue;
    MPI_Send(nullptr, 0, MPI_BYTE, r, tag_of(number), comm_);   // short: does not wait
  }
}

}  // namespace colligo

#include "mpi_shared_body.hpp"
#include "mpi_vendor_body.hpp"
