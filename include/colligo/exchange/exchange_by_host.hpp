// SPDX-License-Identifier: BSL-1.0
/// @file
/// A sparse exchange by host on one rank: letters with the messages of several ranks, in three stages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../faults/sentences.hpp"
#include "../rules/kept_topology.hpp"
#include "../topology/host_map.hpp"
#include "exchange_on_rank.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Messages of some ranks for some ranks that travel as one letter: a head, then a heading and bytes for each. All
/// letters of a host share its way to the network, so headings are short: 7 bits of a number in each byte.
class bundle {
 public:
  struct head {
    std::uint64_t bytes : 40;   ///< of the letter
    std::uint64_t stage : 8;
    exchange_pattern told;      ///< of all ranks that this one has heard of
  };
  static_assert(sizeof(head) == 8);
  struct heading {
    int from, to;   ///< to: nobody: `from` refuses the call, and the bytes are its reason
    std::size_t bytes;
  };

  void add(heading const& of, void const* data) {
    append(static_cast<std::size_t>(of.from)), append(static_cast<std::size_t>(of.to + 1)), append(of.bytes);
    auto const* const first = static_cast<std::byte const*>(data);
    letter_.insert(letter_.end(), first, first + of.bytes);
  }
  std::span<std::byte const> with_head(exchange_pattern told, std::size_t stage) {
    head const first{letter_.size() & ((std::uint64_t{1} << 40) - 1), stage & 0xff, told};
    std::memcpy(letter_.data(), &first, sizeof first);
    return letter_;
  }
  static head head_of(std::span<std::byte const> letter) {
    head first;
    std::memcpy(&first, letter.data(), sizeof first);
    return first;
  }
  /// Calls f(heading, bytes).
  template <class F>
  static void for_each(std::span<std::byte const> letter, F f) {
    std::byte const *at = letter.data() + sizeof(head), *const end = letter.data() + letter.size();
    while (at < end) {
      auto const from = static_cast<int>(number(at)), to = static_cast<int>(number(at)) - 1;
      heading const of{from, to, number(at)};
      f(of, at);
      at += of.bytes;
    }
  }

 private:
  void append(std::size_t n) {
    for (; n >= 0x80; n >>= 7) letter_.push_back(static_cast<std::byte>(n | 0x80));
    letter_.push_back(static_cast<std::byte>(n));
  }
  static std::size_t number(std::byte const*& at) {
    std::size_t n = 0;
    for (int shift = 0;; shift += 7) {
      auto const next = static_cast<std::size_t>(*at++);
      n |= (next & 0x7f) << shift;
      if (next < 0x80) return n;
    }
  }

  std::vector<std::byte> letter_ = std::vector<std::byte>(sizeof(head));
};

/// Stage 0: to each rank of the host, what that rank passes on or keeps; 1: from the rank that leads for a pair of
/// hosts to the other host's; 2: to each rank of the host, what has come for it. Every letter is sent, so a rank knows
/// how many come. Letters of a later stage may come early.
class exchange_by_host final : public exchange_on_rank, private arrivals {
 public:
  exchange_by_host(sparse_call call, arrivals& in, owner<letters> over)
      : exchange_on_rank(std::move(call), sparse_way::by_host, in, std::move(over)),
        hosts_{{}, state_.size(), kept_hierarchies<>::hosts_of(state_)},
        here_(hosts_.host_of(state_.rank())),
        told_(counter_of(call_, sparse_way::by_host, nullptr).pattern) {
    int const me = state_.rank(), mates = hosts_.ranks_with(me), hosts = hosts_.host_count();
    for (int i = 0; i < mates; ++i)
      if (int const mate = hosts_.member(me, i); mate != me) {
        out_[0][mate];
        if (hosts > 1) out_[2][mate];
      }
    for (int host = 0; host < hosts; ++host)
      if (host != here_ && leader(here_, host) == me) out_[1][leader(host, here_)];
    if (call_.refused) in_.refuse(me, reason_of(call_.at, call_.refused)), call_.out = {};
    for (outgoing_message const& one : call_.out)
      pass({me, one.to, call_.of.bytes(one.elements)}, one.data, 0);
  }

  void begin() override { begin_without_counting(); }   // as many calls as other ways: a rank may refuse one of any way

  bool advance() override {
    if (stage_ == 0) send();
    while (came_[2] < out_[2].size() || stage_ < 3) {
      if (stage_ < 3 && came_[stage_ - 1] == out_[stage_ - 1].size()) {
        send();
      } else {
        if (!over_->take(*this)) {
          over_->are_sent(1);   // throws if a rank that is to take one has left
          look_for_others();
          return false;
        }
        if (arrivals::failure()) std::rethrow_exception(arrivals::failure());
        read();
      }
    }
    if (!over_->are_sent()) return look_for_others(), false;
    if (in_.refuses() < 0 && !call_.is_request) keep_pattern(call_.at, told_);
    return true;
  }

  void abandon() noexcept override {
    state_.abandon_call_now(first_.number);
    exchange_on_rank::abandon();
  }

 private:
  void leave_what_is_sent() noexcept override { static_cast<void>(*new auto(std::move(out_))); }

  // Of a pair of hosts, the rank of the first one: hosts' pairs take turns, and so do a host's ranks.
  int leader(int host, int other) const {
    int const any = hosts_.lowest(host);
    return hosts_.member(any, (host + other) % hosts_.host_count() % hosts_.ranks_with(any));
  }
  // On to the rank that it is for, or to one that is nearer to it. `within`: the stage of letters within the host.
  void pass(bundle::heading const& of, void const* data, std::size_t within) {
    int const me = state_.rank();
    if (of.to == me) return deliver(of, data);
    if (hosts_.together(of.to, me)) return out_[within].at(of.to).add(of, data);
    int const there = hosts_.host_of(of.to), leads = leader(here_, there);
    if (leads == me) out_[1].at(leader(there, here_)).add(of, data);
    else out_[0].at(leads).add(of, data);
  }
  void deliver(bundle::heading const& of, void const* data) {
    std::size_t const size = call_.of.size;
    if (of.bytes % size != 0) refuse_letter(of.from, of.bytes);
    try {
      std::byte* const into = in_.add(of.from, of.bytes / size);
      if (of.bytes != 0) std::memcpy(into, data, of.bytes);
    } catch (...) {
      in_.fail(std::current_exception());
    }
  }

  // The ranks have named different ways, or types.
  [[noreturn]] void refuse_letter(int from, std::size_t bytes) const {
    throw mismatch_error(other_elements(at_call(state_.rank(), number_, "sparse_all_to_all"), from,
                                        concat({"elements of type ", call_.of.name(), " by host"}),
                                        with_number(bytes, "byte")));
  }

  void send() {
    std::vector<outgoing_message> all;
    for (auto& [to, letter] : out_[stage_]) {
      if (in_.refuses() >= 0) letter.add({in_.refuses(), nobody, in_.reason().size()}, in_.reason().data());
      auto const bytes = letter.with_head(told_, stage_);
      all.push_back({to, bytes.data(), bytes.size()});
    }
    over_->prepare(all);
    for (std::size_t i = 0; i < all.size(); ++i) over_->send(i, false);
    ++stage_;
  }

  std::byte* add(int from, std::size_t bytes) override {
    auto& letter = arriving_[latest_ = from];
    letter.resize(letter.size() + bytes);
    return letter.data() + (letter.size() - bytes);
  }
  void complete() override {}
  // What has been taken, if it is a whole letter: long ones come in parts.
  void read() {
    auto const found = arriving_.find(latest_);
    if (found->second.size() < sizeof(bundle::head)) refuse_letter(latest_, found->second.size());
    bundle::head const head = bundle::head_of(found->second);
    if (head.stage >= out_.size() || head.bytes < found->second.size()) refuse_letter(latest_, found->second.size());
    if (found->second.size() != head.bytes) return;
    auto const letter = std::move(found->second);
    arriving_.erase(found);
    ++came_[head.stage];
    told_ = told_.with(head.told);
    bundle::for_each(letter, [&](bundle::heading const& of, std::byte const* data) {
      if (of.to != nobody) return pass(of, data, 2);
      in_.refuse(of.from, {reinterpret_cast<char const*>(data), static_cast<std::size_t>(of.bytes)});
    });
  }

  host_map hosts_;
  int here_;   // this rank's host
  exchange_pattern told_;
  std::array<std::map<int, bundle>, 3> out_;   // of each stage, by receiver: as many letters come as are sent
  std::array<std::size_t, 3> came_{};
  std::size_t stage_ = 0;   // letters of earlier ones have been sent
  std::map<int, std::vector<std::byte>> arriving_;   // by sender
  int latest_ = nobody;
};

}  // namespace colligo
