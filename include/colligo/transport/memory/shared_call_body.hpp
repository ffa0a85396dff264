// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_call.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "../../core/clock.hpp"
#include "../../core/error.hpp"
#include "../../faults/sentences.hpp"
#include "shared_call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::string shared_call::this_call() const {
  return name_of_call(call_, data_->of().name());
}

[[gnu::cold]] COLLIGO_BODY std::string shared_call::at_this_call() const {
  return concat({"colligo: ", this_call(), " on rank ", rank_, ": "});
}

[[gnu::cold]] COLLIGO_BODY bool shared_call::hears(int from, std::uint64_t expected, std::uint64_t tag) {
  if ((tag ^ expected) == message_tag::failed) {
    if (!data_->has_failed()) hear_of_failure(from);
    return true;
  }
  std::uint32_t const number = call_.number + static_cast<std::uint32_t>(tag_.ahead(tag));
  // Skips data of a call that this rank abandoned or never made, or that the sender abandoned before it went on. Data
  // of a call that this rank has completed shows that another rank made a different one. A request's may be the older.
  if (number != call_.number && static_cast<std::int32_t>(number - host_.calls.latest_abandoned()) <= 0 &&
      (tag_.ahead(tag) < 0 || host_.calls.record().abandoned.has(number))) return false;
  rank_record const& theirs = host_.record_of(from);
  bool const went_on = static_cast<std::int32_t>(theirs.latest() - number) > 0;
  if (number != call_.number && went_on && theirs.abandoned.has(number)) return false;
  if (number != call_.number || !follows(from, (tag ^ expected) & ~std::uint64_t{message_tag::failed}))
    throw_mismatch(from, number, expected, tag);
  if (((tag ^ expected) & message_tag::failed) && !data_->has_failed()) hear_of_failure(from);
  return true;
}

// Whether tags differ only because the two ranks entered different calls before this one, which is right if one of them
// has abandoned a call. True if the peer is so far ahead that its call is no longer known.
[[gnu::cold]] COLLIGO_BODY bool shared_call::follows(int peer, std::uint64_t difference) const {
  rank_record const& theirs = host_.record_of(peer);
  rank_record::report same{.call = {.number = call_.number}};
  bool is_known, has_reported;
  do {   // the first messages of a call that is played come before its report
    has_reported = static_cast<std::int32_t>(theirs.latest() - call_.number) >= 0 || host_.is_gone(peer);
    is_known = theirs.read(same);
    if (!has_reported) sched_yield();
  } while (!is_known && !has_reported);
  std::uint64_t const before = is_known ? same.before : 0, mine = message_tag::after(before_.hash);
  if (is_known && (same.call != call_ || difference != (mine ^ message_tag::after(before)))) return false;
  if (before_.hash != 0 && before != 0) throw_mismatch(peer, before_.number);
  return before_.hash == 0 || difference == mine;
}

[[gnu::cold]] COLLIGO_BODY void shared_call::hear_of_failure(int peer) try {
  data_->fail(std::make_exception_ptr(failed_elsewhere(failed_there(at_this_call(), peer))));
} catch (std::bad_alloc const&) {   // for the message of the error
  data_->fail(std::current_exception());
}

[[gnu::cold]] COLLIGO_BODY void shared_call::throw_if_abandoned(int peer) const {
  std::string const why = host_.record_of(peer).abandoned.reason(call_.number);
  if (why.empty()) return;
  if (int const rank = gone_rank(); rank != nobody) throw_lost(rank);   // probably why the peer has abandoned the call
  throw failed_elsewhere(concat({"colligo: ", this_call(), " on rank ", rank_, abandoned_by, why}));
}

// A rank that is gone, or nobody. Always nobody where ranks may leave after their last call.
[[gnu::cold]] COLLIGO_BODY int shared_call::gone_rank() const {
  for (std::size_t place = 0; place < host_.records().size() && !host_.ranks_may_leave(); ++place)
    if (int const rank = host_.rank_at(place); rank != rank_ && host_.is_gone(rank)) return rank;
  return nobody;
}

[[gnu::cold]] COLLIGO_BODY void shared_call::throw_lost(int rank) const {
  std::string const at = at_this_call();
  throw rank_lost(host_.ranks_may_leave() ? left_before(at, rank) : concat({at, "rank ", rank, " is gone"}), rank);
}

// The letters of the name, because a shared library may have a function of its own that says it.
[[gnu::cold]] COLLIGO_BODY void shared_call::learn_type(element const& of) {
  named_ = of.name, type_ = 0;
  for (char const letter : named_.key() ? named_() : std::string_view())
    type_ = (type_ ^ static_cast<unsigned char>(letter)) * 0x9e3779b97f4a7c15u;
}

// "3 double (24 bytes)" if it has this tag, or nothing. Lengths below 1.8 MB differ; few longer ones look short.
[[gnu::cold]] COLLIGO_BODY std::string shared_call::elements_of(std::uint64_t tag) const {
  element const& of = data_->of();
  std::size_t const most = of.bytes(data_->longest()) < 1800000 ? 1800000 : 1 << 16;   // bytes
  std::size_t n = 0;
  while (of.bytes(n) < most && (tag_.of(of.bytes(n)) ^ tag) > message_tag::failed) ++n;
  return of.bytes(n) < most ? concat({n, " ", of.name(), " (", with_number(of.bytes(n), "byte"), ")"}) : "";
}

[[gnu::cold]] COLLIGO_BODY void shared_call::throw_mismatch(int peer, std::uint32_t number, std::uint64_t tag,
                                                            std::uint64_t sent) const {
  auto const called = [](rank_record const& record, std::uint32_t call) {
    rank_record::report known{.call = {.number = call}};
    bool const is_known = record.read(known);
    return concat({"number ", call, is_known ? ", " : "", is_known ? name_of_call(known.call, known.type) : ""});
  };
  if (static_cast<std::int32_t>(number - call_.number) > 0) number = call_.number;   // the peer is ahead
  throw_if_abandoned(peer);
  rank_record const& theirs = host_.record_of(peer);
  if (theirs.abandoned.may_have_forgotten(call_.number))
    throw failed_elsewhere(concat({"colligo: ", this_call(), " on rank ", rank_, abandoned_by, "rank ", peer,
                                   ", or the ranks make different calls: no reason is known any more"}));
  rank_record::report mine{.call = {.number = number}}, other = mine;
  if (host_.calls.record().read(mine) && theirs.read(other) && mine.call == other.call && mine.type == other.type) {
    std::string const at = at_call(rank_, number, name_of_call(mine.call, mine.type)), sends = elements_of(sent),
                      wanted = number == call_.number ? elements_of(tag & ~std::uint64_t{message_tag::address}) : "";
    if (!wanted.empty())
      throw mismatch_error(other_elements(at, peer, wanted, sends.empty() ? "another number" : sends));
    throw mismatch_error(concat({at, "ranks make different calls: rank ", peer, " does not send or take what this rank "
                                 "expects: counts, knobs or trees differ; COLLIGO_CHECK=1 compares them"}));
  }
  bool const by_counts =
      has_counts(mine.call.what) && mine.call.what == other.call.what && mine.call.n != other.call.n;
  std::string const said =
      concat({"colligo: ranks make different calls on this communicator",
                by_counts ? ", with other counts (COLLIGO_CHECK=1 compares them)" : "", ": rank ", rank_, " made call ",
                called(host_.calls.record(), number), "; rank ", peer, " call ", called(theirs, number)});
  std::uint32_t const latest = theirs.latest();
  throw mismatch_error(latest == number ? said : concat({said, ", and then ", called(theirs, latest)}));
}

// Checks for every rank of the host whether it makes the same call, and whether it has abandoned the call.
[[gnu::cold]] COLLIGO_BODY void shared_call::check_others() {
  auto const records = host_.records();
  for (std::size_t place = 0; place < records.size(); ++place) {
    int const rank = host_.rank_at(place);
    call_identity theirs{.number = call_.number};
    if (records[place]->knows(theirs) && theirs != call_) throw_mismatch(rank, call_.number);
    throw_if_abandoned(rank);
  }
  std::int64_t const now = now_in_ns();
  if (now - checked_gone_at_ >= 100 * ns_per_ms) checked_gone_at_ = now, checks_gone_ = true;
}

[[gnu::cold]] COLLIGO_BODY bool shared_call::has_left(int peer, std::uint64_t awaited) {
  hopeless_peer_ = peer, hopeless_tag_ = awaited;
  return static_cast<std::int32_t>(host_.record_of(peer).latest() - call_.number) > 0 ||
         (checks_gone_ && host_.is_gone(peer));
}

[[gnu::cold]] COLLIGO_BODY bool shared_call::is_anyone_gone() {
  hopeless_peer_ = checks_gone_ ? gone_rank() : nobody;
  return hopeless_peer_ != nobody;
}

[[gnu::cold]] COLLIGO_BODY void shared_call::end_if(bool hopeless) {
  if (hopeless && std::exchange(was_hopeless_, true)) {   // at the first time a message may have come meanwhile
    if (host_.is_gone(hopeless_peer_)) throw_lost(hopeless_peer_);
    throw_mismatch(hopeless_peer_, call_.number, hopeless_tag_);
  }
  was_hopeless_ = hopeless;
  checks_gone_ = checks_gone_ && hopeless;
}

}  // namespace colligo
