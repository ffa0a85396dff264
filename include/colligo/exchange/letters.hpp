// SPDX-License-Identifier: BSL-1.0
/// @file
/// Letters: messages of any length, from ranks of which the receiver does not know that they send. A transport that has
/// them gives `state_of<Comm>::open_letters(endpoint, element, wire)`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "../core/element.hpp"
#include "../core/owner.hpp"
#include "sparse_ways.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class shared_host;

/// All that a rank sends to one other.
struct outgoing_message {
  int to;
  std::byte const* data;
  std::size_t elements;
};

/// Where letters arrive.
class arrivals {
 public:
  /// Constructed elements for a message from a rank, valid until the next call.
  virtual std::byte* add(int from, std::size_t elements) = 0;
  /// All have come.
  virtual void complete() = 0;

  /// The arguments of a rank are refused. The lowest such rank's reason is kept.
  void refuse(int from, std::string why) {
    if (refuses_ >= 0 && refuses_ < from) return;
    refuses_ = from, reason_ = std::move(why);
  }
  /// A letter has been taken and can not be kept. The call goes on, because other ranks rely on this one.
  void fail(std::exception_ptr error) {
    if (!failure_) failure_ = std::move(error);
  }
  /// What has been joined or packed to be sent may be read at any time: it is never freed.
  virtual void leave_messages() noexcept {}
  std::exception_ptr const& failure() const { return failure_; }
  int refuses() const { return refuses_; }   ///< a rank; -1: none
  std::string const& reason() const { return reason_; }

 protected:
  ~arrivals() = default;

 private:
  int refuses_ = -1;
  std::string reason_;
  std::exception_ptr failure_;
};

/// The letters of one rank in one call. A letter and what it is sent from stay in place until all have been sent.
class letters {
 public:
  virtual ~letters() = default;
  /// Takes this rank's messages for other ranks, encoded if they are not bytes. May throw what encoding throws. Called
  /// again, it takes the next ones: those before have been posted by send().
  virtual void prepare(std::span<outgoing_message const> out) = 0;
  /// Instead, before refuse().
  virtual void prepare_to_refuse() { prepare({}); }
  /// Letters of the i-th message; and its bytes.
  virtual std::size_t parts(std::size_t) const { return 1; }
  virtual std::size_t bytes(std::size_t i) const = 0;
  virtual void enter(std::uint32_t number, sparse_way way) = 0;
  /// Sends the i-th message. `acknowledged`: it counts as sent when its receiver has begun to take it.
  virtual void send(std::size_t i, bool acknowledged) = 0;
  /// Sends the reason why this rank's arguments are refused to all other ranks, acknowledged.
  virtual void refuse(std::string const& why) = 0;
  /// Takes a letter of this call, if there is one. Throws if a rank has abandoned the call.
  virtual bool take(arrivals& in) = 0;
  /// Throws if a rank has sent a letter of this call by another way, or has abandoned the call. For now and then.
  virtual void look_for_others() {}
  /// The memory of this host's ranks; null: none.
  virtual shared_host* host() = 0;
  /// All have been sent. Does not wait, and looks at no more than `most` of those that are on their way.
  virtual bool are_sent(std::size_t most) = 0;
  bool are_sent() { return are_sent(static_cast<std::size_t>(-1)); }
  /// The call has failed on this rank: takes back what has not been sent, or waits for it. False if the transport may
  /// still read it, at any time.
  virtual bool abandon() noexcept = 0;
};

}  // namespace colligo
