// SPDX-License-Identifier: BSL-1.0
/// @file
/// Letters over MPI: messages with the call's tag, received from any source. A letter without elements is an empty
/// message with a remark behind it, like those of ranks that have failed (transport/messages/mpi_wire.hpp).
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "../core/clock.hpp"
#include "../core/strings.hpp"
#include "../transport/messages/mpi_state.hpp"
#include "letters.hpp"
#include "sparse_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class mpi_letters final : public letters {
 public:
  mpi_letters(mpi_state& state, element const& of, mpi_element const& wire) : state_(state), of_(of), wire_(wire) {}

  // An encoded message ends with the number of its elements.
  void prepare(std::span<outgoing_message const> out) override {
    out_ = out;
    std::size_t all = 0;
    if (wire_.encode) {
      encoded_.resize(out.size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i].elements == 0) continue;
        wire_.encode(out[i].data, out[i].elements, encoded_[i]);
        std::uint64_t const n = out[i].elements, length = encoded_[i].size() + sizeof n;
        char const* const words = reinterpret_cast<char const*>(&n);
        encoded_[i].insert(encoded_[i].end(), words, words + sizeof n);
        std::memcpy(encoded_[i].data(), &length, sizeof length);
      }
    }
    for (std::size_t i = 0; i < out.size(); ++i) all += bytes(i) / longest_segment + 1;
    requests_.reserve(requests_.size() + all);
  }
  void prepare_to_refuse() override {
    prepare({});
    requests_.reserve(2 * static_cast<std::size_t>(state_.size()));   // a remark and a reason for each rank
  }
  std::size_t bytes(std::size_t i) const override {
    return wire_.encode ? encoded_[i].size() : of_.bytes(out_[i].elements);
  }
  std::size_t parts(std::size_t i) const override {   // the receiver of an encoded one knows its length
    return wire_.encode ? 1 : std::max<std::size_t>(1, (bytes(i) + segment() - 1) / segment());
  }
  void enter(std::uint32_t number, sparse_way way) override {
    number_ = number, way_ = way, tag_ = state_.wire().tags().of_letters(number, kind_of(way));
  }

  void send(std::size_t i, bool acknowledged) override {
    auto const* const from = wire_.encode ? encoded_[i].data() : reinterpret_cast<char const*>(out_[i].data);
    std::size_t const all = bytes(i);
    if (all == 0) return send_remark(out_[i].to, mpi_wire::remark::no_elements, acknowledged);
    for (std::size_t at = 0; at < all; at += segment())
      post(from + at, std::min(all - at, segment()), out_[i].to, acknowledged);
  }
  void refuse(std::string const& why) override {
    for (int r = 0; r < state_.size(); ++r) {
      if (r == state_.rank()) continue;
      send_remark(r, mpi_wire::remark::refusal, false);
      post(why.data(), why.size(), r, true);
    }
  }

  bool take(arrivals& in) override {
    int there = 0, count = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_, comm(), &there, &status), "MPI_Iprobe");
    if (!there) return false;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    int const from = status.MPI_SOURCE;
    auto const got = static_cast<std::size_t>(count);
    if (got == 0) take_remark(from, in);
    else if (wire_.encode) take_encoded(from, got, in);
    else if (got % of_.size == 0) receive(in.add(from, got / of_.size), got, from);
    else refuse_length(from, got);
    return true;
  }

  // Messages of a rank that abandons the call have the tags of all calls, the first one as counters' letters.
  [[gnu::cold]] void look_for_others() override {
    mpi_tags const& tags = state_.wire().tags();
    for (int kind = 0; kind < tags.all_kinds(); ++kind) {
      int const tag = tags.of(number_, kind);
      int there = 0, count = 0;
      MPI_Status status;
      if (tag != tag_ && kind != tags.kinds())
        check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm(), &there, &status), "MPI_Iprobe");
      if (!there) continue;
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
      int const from = status.MPI_SOURCE;
      if (kind == 0 && count == 0) {
        check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, from, tag, comm(), MPI_STATUS_IGNORE), "MPI_Recv");
        if (state_.wire().receive_remark(from, number_) == mpi_wire::remark::abort_message) throw_abandoned(from);
      }
      bool const is_letter = kind == 0 || kind > tags.kinds();
      if (count == 0 && !is_letter) continue;
      refuse_way(state_, way_, concat({", rank ", from, " ", !is_letter ? "makes another call"
                                                                : kind == 0 ? "counters or dense"
                                                                : kind == tags.kinds() + 1 ? consensus::name
                                                                                           : by_host::name}));
    }
  }
  shared_host* host() override { return state_.shared(); }
  bool are_sent(std::size_t most) override {
    for (; sent_ < requests_.size(); ++sent_) {
      int done = 0;
      if (most-- == 0) return false;
      check_mpi(MPI_Test(&requests_[sent_], &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (!done) return false;
    }
    return true;
  }
  // As mpi_messages::leave(): their receivers take them, or drop them when they see that the call is abandoned.
  bool abandon() noexcept override {
    bool const is_out_of_patience = state_.on_wait && state_.on_wait->is_abandoned(number_);
    std::int64_t const end = now_in_ns() + 200 * ns_per_ms;
    bool is_left = false;
    for (; sent_ < requests_.size();) {
      int done = 0;
      if (MPI_Test(&requests_[sent_], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) {
        ++sent_;
      } else if (is_out_of_patience && now_in_ns() > end) {
        MPI_Request_free(&requests_[sent_++]);   // the memory of the message is MPI's until MPI_Finalize
        is_left = true;
      } else {
        left_calls::drop_messages();
        sched_yield();
      }
    }
    if (is_left) static_cast<void>(*new std::vector<std::vector<char>>(std::move(encoded_)));
    return !is_left;
  }

 private:
  // Ways that begin with a call that counts tell in it that they differ.
  static int kind_of(sparse_way way) { return way == sparse_way::consensus ? 1 : way == sparse_way::by_host ? 2 : 0; }
  MPI_Comm comm() { return state_.wire().comm(); }
  // Bytes of the longest MPI message: whole elements.
  std::size_t segment() const {
    return wire_.encode ? longest_segment : std::max<std::size_t>(1, longest_segment / of_.size) * of_.size;
  }
  void post(void const* from, std::size_t n, int to, bool acknowledged) {
    MPI_Request& request = requests_.push_back(MPI_REQUEST_NULL);
    auto const send = acknowledged ? &MPI_Issend : &MPI_Isend;
    check_mpi(send(from, static_cast<int>(n), MPI_BYTE, to, tag_, comm(), &request), "MPI_Isend");
  }
  void send_remark(int to, mpi_wire::remark why, bool acknowledged) {
    static constexpr mpi_wire::remark says[]{mpi_wire::remark::no_elements, mpi_wire::remark::refusal};
    post(nullptr, 0, to, acknowledged);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(&says[why == says[0] ? 0 : 1], 1, MPI_BYTE, to, state_.wire().tags().of_remark(number_), comm(),
                        &request),
              "MPI_Isend");
    check_mpi(MPI_Request_free(&request), "MPI_Request_free");
  }
  void receive(void* into, std::size_t n, int from) {
    check_mpi(MPI_Recv(into, static_cast<int>(n), MPI_BYTE, from, tag_, comm(), MPI_STATUS_IGNORE), "MPI_Recv");
  }
  void take_remark(int from, arrivals& in) {
    receive(nullptr, 0, from);
    auto const why = state_.wire().receive_remark(from, number_);
    if (why == mpi_wire::remark::no_elements) return static_cast<void>(in.add(from, 0));
    if (why == mpi_wire::remark::refusal) {
      int count = 0;
      MPI_Status status;
      check_mpi(MPI_Probe(from, tag_, comm(), &status), "MPI_Probe");
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
      std::string words(static_cast<std::size_t>(count), ' ');
      receive(words.data(), words.size(), from);
      return in.refuse(from, std::move(words));
    }
    throw_abandoned(from);
  }
  [[noreturn]] void throw_abandoned(int from) {
    state_.wire().hears_aborts();
    throw failed_elsewhere(abandoned_there(at_call(state_.rank(), number_, "sparse_all_to_all"), from));
  }
  // The first 8 bytes of a message are its length.
  void take_encoded(int from, std::size_t first, arrivals& in) {
    std::uint64_t all = 0, n = 0;
    taken_.resize(first);
    receive(taken_.data(), first, from);
    if (first >= 2 * sizeof all) std::memcpy(&all, taken_.data(), sizeof all);
    if (std::min<std::size_t>(all, longest_segment) != first) refuse_length(from, first);
    taken_.resize(all);
    for (std::size_t at = first; at < all; at += longest_segment)
      receive(taken_.data() + at, std::min<std::size_t>(all - at, longest_segment), from);
    std::memcpy(&n, taken_.data() + all - sizeof n, sizeof n);
    try {
      wire_.decode(taken_, in.add(from, n), n);
    } catch (...) {
      in.fail(std::current_exception());
    }
  }
  [[noreturn]] void refuse_length(int from, std::size_t got) {
    throw mismatch_error(other_elements(at_call(state_.rank(), number_, "sparse_all_to_all"), from,
                                        concat({"elements of type ", of_.name()}), with_number(got, "byte")));
  }

  mpi_state& state_;
  element const& of_;
  mpi_element const& wire_;
  std::span<outgoing_message const> out_;
  std::vector<std::vector<char>> encoded_;
  small_vector<MPI_Request> requests_;
  std::vector<char> taken_;
  std::size_t sent_ = 0;
  std::uint32_t number_ = 0;
  sparse_way way_{};
  int tag_ = 0;
};

COLLIGO_BODY owner<letters> over_mpi::open_letters(endpoint& at, element const& of, void const* wire) {
  return make_owner<mpi_letters>(static_cast<mpi_state&>(state_at(at)), of, *static_cast<mpi_element const*>(wire));
}

}  // namespace colligo
