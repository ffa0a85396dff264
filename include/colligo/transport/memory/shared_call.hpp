// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's call over shared memory, as the other ranks of the host see it: its tags and its report. And what a rank
/// that waits in it finds out about the others: that they make different calls, have abandoned this one, or are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../engine/identity.hpp"
#include "../../engine/working_vector.hpp"
#include "shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A rank whose functor has thrown continues to the end of the algorithm and marks each message as failed. A rank that
/// can not go on abandons the call, and so do all ranks that wait in it. Later calls skip their data in the channels.
class shared_call : private listener {
 public:
  /// Sets the call of the next steps.
  void enter(call const& call, erased_policy const& what, std::uint32_t number) {
    call_ = identity_of(call, what);
    begin_call(number, call_.hash(), *call.of);
    report(number, *call.of);
  }

 protected:
  shared_call(shared_host& host, int rank) : host_(host), rank_(rank) {}
  ~shared_call() = default;

  void begin_call(std::uint32_t number, std::uint64_t hash, element const& of) {
    if (host_.tells_types()) hash ^= bits_of_type(of);
    before_ = host_.calls.enter(number, hash);
    tag_ = {number, hash, before_.hash};
  }
  void report(std::uint32_t number, element const& of) {
    call_.number = number;
    host_.calls.record().enter(call_, before_.hash, of.name);
  }
  std::uint64_t sent_tag(std::size_t bytes, std::uint64_t flags = message_tag::none) const {
    return tag_.of(bytes, data_->has_failed() ? flags | message_tag::failed : flags);
  }
  awaited message(int from, std::size_t bytes, std::uint64_t flags = message_tag::none) {
    return {this, from, tag_.of(bytes, flags)};
  }

  // A rank that waits calls check_others() now and then, looks whether it waits in vain by the next two, and calls
  // end_if(). The first and the last throw mismatch_error, failed_elsewhere or rank_lost.
  void check_others();
  /// Whether it has gone on to a later call, or is gone.
  bool has_left(int peer, std::uint64_t awaited = 0);   // the tag of its message, if this rank waits for one
  bool is_anyone_gone();
  void end_if(bool hopeless);
  /// A message has come.
  void has_moved() { was_hopeless_ = false; }

  shared_host& host_;
  int rank_;
  working_vector* data_ = nullptr;
  call_identity call_;
  message_tag tag_;

 private:
  COLLIGO_BODY bool hears(int from, std::uint64_t expected, std::uint64_t tag) override;
  std::uint64_t bits_of_type(element const& of) {
    if (of.name != named_) learn_type(of);
    return type_;
  }
  void learn_type(element const& of);
  std::string this_call() const;
  std::string at_this_call() const;   // "colligo: (this call) on rank 0: "
  void hear_of_failure(int peer);
  bool follows(int peer, std::uint64_t difference) const;
  void throw_if_abandoned(int peer) const;
  int gone_rank() const;
  [[noreturn]] void throw_lost(int rank) const;
  [[noreturn]] void throw_mismatch(int peer, std::uint32_t number, std::uint64_t tag = 0, std::uint64_t sent = 0) const;
  std::string elements_of(std::uint64_t tag) const;

  own_calls::entered before_;
  int hopeless_peer_ = nobody;
  std::uint64_t hopeless_tag_ = 0;   // of the message that it does not send; 0: it takes none
  bool was_hopeless_ = false;   // at the latest check, and nothing has moved since
  bool checks_gone_ = false;    // the next check includes whether ranks are gone, which takes system calls
  std::int64_t checked_gone_at_ = 0;   // ns
  element_name named_;          // of the latest type
  std::uint64_t type_ = 0;      // bits that stand for its name
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "shared_call_body.hpp"
#endif
