// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_steps.hpp.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "mpi_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold, gnu::noinline]] COLLIGO_BODY mpi_steps::mpi_steps(mpi_port& port, scratch& values, shared_host* host,
                                                              mpi_steps_memory& memory)
    : any_step(port.rank(), port.size(), 1, values.operands), port_(port), memory_(memory), host_(host),
      whole_(host && host->whole()) {
  if (host) here_.emplace(*host, memory.traffic, port.rank());
}

COLLIGO_BODY void mpi_steps::exchange(range out, range in, pair_of peers, pair_kind kind) {
  if (peers.to == nobody) out = {};
  if (peers.from == nobody) in = {};
  if (whole_) {
    operand::kind const what = kind.folds ? operand::kind::fold : operand::kind::recv;
    return here_->exchange(out, peers.to, kind.sent, {what, peers.from, in, kind.with});
  }
  if (out.empty() && in.empty()) return;
  std::size_t const size = element_size(), out_bytes = out.size() * size, in_bytes = in.size() * size;
  if (!is_plain_ || data_->has_failed() || (out_bytes | in_bytes) > longest_segment) {
    operand const received = kind.folds ? operand(fold{peers.from, in, kind.with}) : operand(recv{peers.from, in});
    return list(std::array{operand(send{peers.to, out, kind.sent}), received}, list_kind::plain);
  }
  std::byte const* const source = data_->read(out, kind.sent, nullptr);
  std::byte* into = nullptr;
  try {
    into = kind.folds ? data_->memory().received.of_size(in_bytes) : data_->write(in);
  } catch (std::bad_alloc const&) {
    data_->fail(std::current_exception());
    return exchange(out, in, peers, kind);
  }
  std::size_t const got = port_.wire().exchange(source, out_bytes, peers.to, into, in_bytes, peers.from, tag_);
  if (got != in_bytes && !note(peers.from, got, in_bytes)) [[unlikely]] throw_aborted(peers.from);
  if (kind.folds && in_bytes != 0) data_->combine(in, into, peers.from < rank(), kind.with);
}

COLLIGO_BODY void mpi_steps::list(std::span<operand const> operands, list_kind kind) {
  if (whole_) return here_->perform(operands, kind);
  if (data_->has_failed()) return hollow(operands);
  bool const any_order = kind == list_kind::as_they_come && !wire_->encode && !host_ && !port_.looks_itself();
  bool begun = false;
  try {
    if (host_ && !port_.wire().has_left_calls() && all_here(operands)) return here_->perform(operands, kind);
    host_ ? make_room(operands, kind) : prepare(operands);   // before the first message leaves or comes
    if (!any_order) begin(operands, kind);
    begun = true;
    finish_in_memory();
  } catch (...) {
    if (!goes_on()) throw;
    if (!begun) return hollow(operands);
  }
  if (any_order) return fold_as_they_come(operands);
  if (alone_in_memory_) return;
  bool const waits = !port_.looks_itself();
  while (!take_encoded(waits) || !finish_messages(waits)) port_.linger();
  end_step();
}

// All that a step allocates, but for encoded elements.
COLLIGO_BODY void mpi_steps::prepare(std::span<operand const> operands) {
  scratch_sizes const sizes(operands);
  scratch& memory = data_->memory();
  element const& of = data_->of();
  if (!of.objects) {
    memory.received.of_size(of.bytes(sizes.received));
    memory.combined.of_size(of.bytes(sizes.combined));
  }
  memory.sources.reserve(2 * operands.size());
  memory.pieces.reserve(2 * operands.size());
  std::size_t messages = 0;
  for (piece const p : fragments(operands)) messages += of.bytes(p.elements.size()) / longest_segment + 1;
  memory_.make_room(messages);
}

COLLIGO_BODY bool mpi_steps::shares_memory_with(int peer) const { return host_ && host_->has(peer); }

COLLIGO_BODY void mpi_steps::make_room(std::span<operand const> operands, list_kind kind) {
  prepare(operands);
  if (here_) here_->make_room(operands, kind);
}

COLLIGO_BODY void mpi_steps::begin(std::span<operand const> operands, list_kind kind) {
  operands_ = operands;
  alone_in_memory_ = host_ && all_here(operands);
  through_memory_ = host_ != nullptr;
  if (alone_in_memory_) return here_->begin(operands, kind);
  element const& of = data_->of();
  scratch_sizes const sizes(operands);
  received_.clear();
  received_.make(data_->memory().received, of, sizes.received);
  room combined(data_->memory().combined, of, sizes.combined);
  // What is sent is made before anything is posted.
  auto& sources = data_->memory().sources;
  sources.clear();
  std::byte* free = combined.data();
  std::size_t encoded = 0;
  for (piece const p : fragments(operands)) {
    if (!p.sends()) continue;
    std::byte const* const source = data_->read(p.elements, p.which, free);
    if (p.combines_first()) free += of.bytes(p.elements.size());
    sources.push_back(source);
    if (!wire_->encode) continue;
    if (memory_.encoded.size() == encoded) {
      memory_.encoded.reserve(encoded + 1);
      memory_.encoded.push_back(new std::vector<char>);
    }
    try {
      if (!data_->has_failed()) wire_->encode(source, p.elements.size(), *memory_.encoded[encoded]);
    } catch (...) {
      data_->fail(std::current_exception());
    }
    ++encoded;
  }
  prepare(operands);
  free_ = received_.data();
  next_encoded_ = 0;
  if (!wire_->encode)
    for (piece const p : fragments(operands)) {
      if (p.sends()) continue;
      std::size_t const bytes = of.bytes(p.elements.size());
      std::byte* const into = p.folds() ? std::exchange(free_, free_ + bytes) : data_->write(p.elements);
      if (host_ && host_->has(p.peer))
        here_->add_in({operand::kind::recv, p.peer, p.elements, own::result}, false, into);
      else post_recv(into, bytes, p.peer);
    }
  std::size_t next = 0;
  for (piece const p : fragments(operands)) {
    if (!p.sends()) continue;
    std::size_t const i = next++, bytes = of.bytes(p.elements.size());
    if (wire_->encode)
      post_send(reinterpret_cast<std::byte const*>(memory_.encoded[i]->data()),
                data_->has_failed() ? 1 : memory_.encoded[i]->size(), p.peer);
    else if (host_ && host_->has(p.peer)) here_->add_out(p.peer, false, sources[i], bytes);
    else post_send(sources[i], bytes, p.peer);
  }
  if (host_) here_->begin_added();
}

COLLIGO_BODY bool mpi_steps::advance() {
  if (through_memory_) {
    auto now = here_->advance();
    while (now == shared_steps::state::moved) now = here_->advance();
    if (now != shared_steps::state::done && alone_in_memory_) return false;
    through_memory_ = now != shared_steps::state::done;
  }
  if (alone_in_memory_) return true;
  if (!take_encoded(false) || !finish_messages(false) || through_memory_) return false;
  end_step();
  return true;
}

COLLIGO_BODY void mpi_steps::finish_in_memory() {
  for (unsigned polls = 0; through_memory_;) {
    auto const now = here_->advance();
    through_memory_ = now != shared_steps::state::done;
    if (now != shared_steps::state::stuck) polls = 0;
    else here_->wait(polls);
    // A rank of this host may wait for one of another that waits until this one takes its message.
    if (port_.wire().has_left_calls()) port_.drop_what_is_left();
  }
}

COLLIGO_BODY void mpi_steps::end_step() {
  combine_received(operands_, received_.data(), rank(), *data_);
  received_.clear();
}

// In order of arrival; but in the order listed where they come in several fragments.
COLLIGO_BODY void mpi_steps::fold_as_they_come(std::span<operand const> operands) {
  element const& of = data_->of();
  bool one_by_one = false;
  for (piece const p : fragments(operands)) one_by_one |= of.bytes(p.elements.size()) > longest_segment;
  if (one_by_one) return list(operands, list_kind::plain);
  room received(data_->memory().received, of, scratch_sizes(operands).received);
  std::byte* free = received.data();
  auto& sources = data_->memory().sources;
  sources.clear();
  row<piece>& arriving = data_->memory().pieces;
  arriving.clear();
  for (piece const p : fragments(operands)) {
    arriving.push_back(p);
    sources.push_back(free);
    post_recv(free, of.bytes(p.elements.size()), p.peer);
    free += of.bytes(p.elements.size());
  }
  for (;;) {
    int which = MPI_UNDEFINED;
    MPI_Status status;
    int const code = MPI_Waitany(static_cast<int>(memory_.requests.size()), memory_.requests.data(), &which, &status);
    if (which == MPI_UNDEFINED) break;
    auto const i = static_cast<std::size_t>(which);
    auto const [from, wanted] = memory_.messages[i];
    if (from == nobody) continue;
    std::size_t const got = mpi_wire::received(code, "MPI_Waitany", status, wanted);
    if (got != wanted && !note(from, got, wanted)) [[unlikely]] expect_nothing_of(from);   // others are on their way
    if (left_ != nobody) continue;
    data_->combine(arriving[i].elements, sources[i], arriving[i].peer < rank(), arriving[i].which);
  }
  memory_.requests.clear(), memory_.messages.clear();
  if (left_ != nobody) throw_aborted(left_);
}

COLLIGO_BODY bool mpi_steps::all_here(std::span<operand const> operands) const {
  return whole_ || !is_any(operands, [&](operand const& o) { return !o.vanishes() && !host_->has(o.peer); });
}

COLLIGO_BODY void mpi_steps::post_send(std::byte const* out, std::size_t bytes, int to) {
  for (std::size_t at = 0; at < bytes; at += longest_segment) {
    std::size_t const now = std::min(bytes - at, longest_segment);
    if (data_->has_failed()) {
      port_.wire().send_empty(to, number_, mpi_wire::remark::goes_on);
      continue;
    }
    memory_.messages.push_back({nobody, now});
    check_mpi(MPI_Isend(out + at, static_cast<int>(now), MPI_BYTE, to, tag_, port_.wire().comm(),
                        &memory_.requests.push_back(MPI_REQUEST_NULL)),
              "MPI_Isend");
  }
}
COLLIGO_BODY void mpi_steps::post_recv(std::byte* in, std::size_t bytes, int from) {
  for (std::size_t at = 0; at < bytes; at += longest_segment) {
    std::size_t const now = std::min(bytes - at, longest_segment);
    memory_.messages.push_back({from, now});
    check_mpi(MPI_Irecv(in + at, static_cast<int>(now), MPI_BYTE, from, tag_, port_.wire().comm(),
                        &memory_.requests.push_back(MPI_REQUEST_NULL)),
              "MPI_Irecv");
  }
}
// One after the other, as they were posted: of two that come from one rank the second does not come if the first says
// that its sender has left. False if one is not through.
COLLIGO_BODY bool mpi_steps::finish_messages(bool waits) {
  for (; finished_ < memory_.messages.size(); ++finished_) {
    auto const [from, wanted] = memory_.messages[finished_];
    MPI_Request& its = memory_.requests[finished_];
    MPI_Status status;
    int done = 1;
    int const code = waits ? MPI_Wait(&its, &status) : MPI_Test(&its, &done, &status);
    if (code == MPI_SUCCESS && !done) return false;
    if (from == nobody) {
      check_mpi(code, "MPI_Wait");
      continue;
    }
    std::size_t const got = mpi_wire::received(code, "MPI_Wait", status, wanted);
    if (got != wanted && !note(from, got, wanted)) [[unlikely]] expect_nothing_of(from);
  }
  memory_.requests.clear(), memory_.messages.clear();
  finished_ = 0;
  if (left_ != nobody) [[unlikely]] throw_aborted(left_);
  return true;
}

// Messages whose length only the sender knows, in the order listed. False if one has not come.
COLLIGO_BODY bool mpi_steps::take_encoded(bool waits) {
  if (!wire_->encode) return true;
  std::size_t number = 0;
  for (piece const p : fragments(operands_)) {
    if (p.sends() || number++ < next_encoded_) continue;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int there = 1, first = 0;
    if (waits) check_mpi(MPI_Mprobe(p.peer, tag_, port_.wire().comm(), &message, &status), "MPI_Mprobe");
    else check_mpi(MPI_Improbe(p.peer, tag_, port_.wire().comm(), &there, &message, &status), "MPI_Improbe");
    if (!there) return false;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &first), "MPI_Get_count");
    make_taken(static_cast<std::size_t>(first));
    check_mpi(MPI_Mrecv(memory_.taken.data(), first, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    ++next_encoded_;
    std::byte* const into =
        p.folds() ? std::exchange(free_, free_ + data_->of().bytes(p.elements.size())) : data_->write(p.elements);
    take_rest(p.peer, static_cast<std::size_t>(first));
    if (data_->has_failed()) continue;
    try {
      wire_->decode(memory_.taken, into, p.elements.size());
    } catch (...) {
      data_->fail(std::current_exception());
    }
  }
  return true;
}

// The first 8 bytes say how long a message is in all: what is longer than MPI counts comes in several.
COLLIGO_BODY void mpi_steps::take_rest(int from, std::size_t first) {
  std::uint64_t bytes = 0;
  if (first >= sizeof bytes) std::memcpy(&bytes, memory_.taken.data(), sizeof bytes);
  std::size_t const expected = std::clamp<std::size_t>(bytes, sizeof bytes, longest_segment);
  if (first != expected) {
    if (!note(from, first, expected)) throw_aborted(from);
    return;
  }
  if (bytes > first) memory_.taken.resize(bytes);
  for (std::size_t at = first; at < bytes; at += longest_segment)
    check_mpi(MPI_Recv(memory_.taken.data() + at, static_cast<int>(std::min<std::size_t>(bytes - at, longest_segment)),
                       MPI_BYTE, from, tag_, port_.wire().comm(), MPI_STATUS_IGNORE),
              "MPI_Recv");
}

}  // namespace colligo

#include "mpi_faults_body.hpp"
