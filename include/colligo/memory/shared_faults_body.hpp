// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_steps.hpp for calls that differ, or ranks that have abandoned a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// After a complete step nothing is left.
COLLIGO_BODY void shared_steps::abandon() {
  for (incoming& i : traffic_.in)
    if (i.by == way::memory && i.done < i.bytes) i.from->has_read();   // its sender no longer waits, but counts
  for (outgoing& o : traffic_.out)
    if (o.by == way::memory && !o.to->all_read())
      o.to->withdraw([&](std::size_t k) {
        return host_.is_gone(o.all ? host_.rank_at(static_cast<std::size_t>(o.all->reader(k))) : o.peer);
      });
  traffic_.clear();
  listed_ = {};
  is_short_ = false;
}

[[gnu::cold]] COLLIGO_BODY std::string shared_steps::this_call() const {
  return name_of_call(its_, data_->of().name());
}

[[gnu::cold]] COLLIGO_BODY bool shared_steps::hears(int from, std::uint64_t expected, std::uint64_t tag) {
  if ((tag ^ expected) == message_tag::failed) {
    if (!data_->has_failed()) hear_of_failure(from);
    return true;
  }
  std::uint32_t const number = its_.number + static_cast<std::uint32_t>(tag_.ahead(tag));
  // Data of a call that this rank abandoned, or never made, or that the sender abandoned before it went on, is skipped.
  // Data of a call that this rank has completed shows that another rank made a different call. A request's call may be
  // older than one that has been abandoned.
  if (number != its_.number && static_cast<std::int32_t>(number - host_.latest_abandoned()) <= 0) return false;
  rank_record const& theirs = host_.record_of(from);
  bool const went_on = static_cast<std::int32_t>(theirs.latest() - number) > 0;
  if (number != its_.number && went_on && theirs.abandoned.has(number)) return false;
  if (number != its_.number || !follows(from, (tag ^ expected) & ~std::uint64_t{message_tag::failed}))
    throw_mismatch(from, number);
  if (((tag ^ expected) & message_tag::failed) && !data_->has_failed()) hear_of_failure(from);
  return true;
}

// Whether tags differ only because the calls before differ, which is right if one of the two ranks has abandoned one.
// The calls of a rank that is far ahead are unknown; then the answer is yes.
[[gnu::cold]] COLLIGO_BODY bool shared_steps::follows(int peer, std::uint64_t difference) const {
  rank_record const& theirs = host_.record_of(peer);
  call_identity same{.number = its_.number};
  bool const is_known = theirs.knows(same);
  std::uint64_t const before = is_known ? theirs.before(its_.number) : 0, mine = message_tag::after(before_.hash);
  if (is_known && (same != its_ || difference != (mine ^ message_tag::after(before)))) return false;
  if (before_.hash != 0 && before != 0) throw_mismatch(peer, before_.number);
  return before_.hash == 0 || difference == mine;
}

[[gnu::cold]] COLLIGO_BODY void shared_steps::hear_of_failure(int peer) try {
  data_->fail(std::make_exception_ptr(failed_elsewhere(
      concat({"colligo: ", this_call(), " on rank ", rank_, ": rank ", peer,
                " has failed in this call, so this rank's result is invalid"}))));
} catch (std::bad_alloc const&) {   // of the words
  data_->fail(std::current_exception());
}

[[gnu::cold]] COLLIGO_BODY void shared_steps::throw_if_abandoned(int peer) const {
  std::string const why = host_.record_of(peer).abandoned.reason(its_.number);
  if (why.empty()) return;
  if (int const rank = gone_rank(); rank != nobody) throw_lost(rank);   // perhaps the reason
  throw failed_elsewhere(concat({"colligo: ", this_call(), " on rank ", rank_, abandoned_by, why}));
}

// A rank that is gone, or nobody. If ranks may leave, one that has nothing left to do does not count.
[[gnu::cold]] COLLIGO_BODY int shared_steps::gone_rank() const {
  for (std::size_t place = 0; place < host_.records().size() && !host_.ranks_may_leave(); ++place)
    if (int const rank = host_.rank_at(place); rank != rank_ && host_.is_gone(rank)) return rank;
  return nobody;
}
[[gnu::cold]] COLLIGO_BODY void shared_steps::throw_lost(int rank) const {
  throw rank_lost(concat({"colligo: ", this_call(), " on rank ", rank_, ": rank ", rank, " is gone"}), rank);
}

[[gnu::cold]] COLLIGO_BODY void shared_steps::throw_mismatch(int peer, std::uint32_t number) const {
  auto const called = [](rank_record const& its, std::uint32_t call) {
    call_identity known{.number = call};
    bool const is_known = its.knows(known);
    return concat({"number ", call, is_known ? ", " : "", is_known ? name_of_call(known, its.type_of(call)) : ""});
  };
  if (static_cast<std::int32_t>(number - its_.number) > 0) number = its_.number;   // the peer is ahead
  throw_if_abandoned(peer);
  rank_record const& theirs = host_.record_of(peer);
  std::string const said =
      concat({"colligo: ranks make different calls on this communicator: rank ", rank_, " made call ",
                called(host_.my_record(), number), "; rank ", peer, " call ", called(theirs, number)});
  std::uint32_t const latest = theirs.latest();
  throw mismatch_error(latest == number ? said : concat({said, ", and then ", called(theirs, latest)}));
}

// Checks for every rank of the host whether it makes the same call, and whether it has abandoned it. `alone`: the one
// message that is awaited; null: those of the step.
[[gnu::cold]] COLLIGO_BODY void shared_steps::look_around(lone const* alone) {
  auto const records = host_.records();
  for (std::size_t place = 0; place < records.size(); ++place) {
    int const rank = host_.rank_at(place);
    call_identity theirs{.number = its_.number};
    if (records[place]->knows(theirs) && theirs != its_) throw_mismatch(rank, its_.number);
    throw_if_abandoned(rank);
  }
  std::int64_t const now = now_in_ns();
  if (now - looked_ >= 100 * ns_per_ms) looked_ = now, looks_out_ = true;
  bool const hopeless = is_hopeless(alone);
  if (hopeless && std::exchange(suspicious_, true)) {   // it may have come in between, so not at the first time
    if (host_.is_gone(hopeless_)) throw_lost(hopeless_);
    throw_mismatch(hopeless_, its_.number);
  }
  suspicious_ = hopeless;
  looks_out_ = looks_out_ && hopeless;
}

// The peer is gone or has gone on to a later call, or its message belongs to another call. Returns the peer. Looks last
// for messages: a rank that has gone on has sent and read everything.
[[gnu::cold]] COLLIGO_BODY bool shared_steps::is_hopeless(lone const* alone) {
  auto const has_left = [&](int peer) {
    hopeless_ = peer;
    return static_cast<std::int32_t>(host_.record_of(peer).latest() - its_.number) > 0 ||
           (looks_out_ && host_.is_gone(peer));
  };
  auto const has_passed = [](outgoing const& o) {
    return o.is_complete() || (o.by == way::memory && o.to->all_read());
  };
  if (alone) {
    bool const left = has_left(alone->message.from) || alone->from.has_news(tag_);
    bool const is_there = alone->by == way::lines ? alone->from.has_line(alone->message)
                                                  : alone->from.chunk(1, alone->message) != nullptr;
    if (is_there) return false;
    if (left) return true;
  }
  for (outgoing const& o : traffic_.out)
    if (o.peer != nobody && has_left(o.peer) && !has_passed(o)) return true;
  for (incoming& i : traffic_.in)
    if (i.done < i.bytes && has_turn(traffic_.in, i.after) && (has_left(i.what.peer) || i.from->has_news(tag_)) &&
        !has_come(i))
      return true;
  hopeless_ = looks_out_ ? gone_rank() : nobody;
  return hopeless_ != nobody;
}
// The next part of a message, unless it no longer comes through a channel.
[[gnu::cold]] COLLIGO_BODY bool shared_steps::has_come(incoming& i) {
  switch (i.by) {
    case way::memory: return true;
    case way::ring: return i.from->chunk(1, message(i)) != nullptr;
    case way::announced: return i.from->has_line(message(i.what.peer, i.bytes, message_tag::address));
    case way::lines: return i.fetched == i.bytes || i.from->has_line(message(i));
  }
  return true;
}

}  // namespace colligo
