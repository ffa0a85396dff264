// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of ../patience.hpp: the notes on calls and waits, and the report.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <vector>

#include "../core/error.hpp"
#include "../core/mutex.hpp"
#include "../core/strings.hpp"
#include "../transport/memory/shared_host.hpp"
#include "waiting_for.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// "all_reduce #17 of 8 double"
[[gnu::cold]] COLLIGO_BODY std::string call_text(noted_call const& c) {
  std::string text = concat({name_of(c.call.what), " #", c.call.number});
  if (c.call.what != collective::barrier) text += concat({" of ", c.call.n, " ", c.element.data()});
  return has_root(c.call.what) ? concat({text, ", root ", c.call.root}) : text;
}

[[gnu::cold]] COLLIGO_BODY std::string communicator_text(std::string const& communicator) {
  return communicator.empty() ? "a communicator without a name" : "communicator " + communicator;
}

// "direct, over shared memory"
[[gnu::cold]] COLLIGO_BODY std::string algorithm_text(noted_call const& c, shared_host const* host) {
  std::array<char, sizeof(packed_name)> name;
  std::memcpy(name.data(), c.call.algorithm.data(), name.size());
  if (c.is_vendor) return concat({name.data(), ", in the MPI library"});
  return concat({name.data(), !c.in_memory           ? ", over messages"
                                : host && host->whole() ? ", over shared memory"
                                                        : ", over shared memory and messages"});
}

/// The states of all communicators.
struct impatient_states {
  detail::mutex mutex;
  std::vector<impatient_rank*> states;

  static impatient_states& of_process() {
    static auto& one = *new impatient_states;   // states may outlive static objects
    return one;
  }
};

COLLIGO_BODY impatient_rank::impatient_rank(communicator_state& state, patience_setting setting, shared_host* host,
                                            std::string communicator)
    : state_(state), setting_(setting), host_(host), communicator_(std::move(communicator)),
      own_(host ? nullptr : make_owner<rank_notice>()), notice_(host ? &host->calls.record().notice : own_.get()) {
  notice_->process.store(static_cast<std::uint32_t>(getpid()), std::memory_order_release);
  // Ranks of a host write there what they wait for, also for messages.
  if (host) host->waits.report_to(this);
  auto& all = impatient_states::of_process();
  locked const lock(all.mutex);
  all.states.push_back(this);
}
COLLIGO_BODY impatient_rank::~impatient_rank() {
  auto& all = impatient_states::of_process();
  locked const lock(all.mutex);
  std::erase(all.states, this);
}

// Tells ranks that wait for this one on other communicators in which call it waits: `what`, or in none.
[[gnu::cold]] COLLIGO_BODY void impatient_rank::report_elsewhere(wait& by, std::string_view what) {
  by.reported_elsewhere = !what.empty();
  noted_call in_none;
  std::copy_n(what.data(), std::min(what.size(), in_none.elsewhere.size() - 1), in_none.elsewhere.data());
  auto& all = impatient_states::of_process();
  locked const lock(all.mutex);
  for (impatient_rank* const other : all.states) {
    if (other == this || &other->state_.requests() != &state_.requests()) continue;
    locked const turn(other->writes_);
    if (other->notice_->get().call.number == 0) other->notice_->put(in_none);
  }
}

COLLIGO_BODY void impatient_rank::note() {
  locked const turn(writes_);
  put_note();
}
// Of several requests that wait the first is noted.
COLLIGO_BODY void impatient_rank::put_note() {
  noted_call const* now = &wait_.now;
  for (std::size_t i = of_requests_.size(); i-- > 0 && wait_.now.call.number == 0;)
    if (of_requests_[i].now.step != 0) now = &of_requests_[i].now;
  notice_->put(*now);
}

/// The steps of a call, which announce the next operands.
class impatient_rank::announced_step final : public any_step {
 public:
  announced_step(any_step& step, impatient_rank& to)
      : any_step(step.rank(), step.size(), step.element_size(), operands_), step_(step), to_(to) {}

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    int const from = in.empty() ? nobody : peers.from, into = out.empty() ? nobody : peers.to;
    if (from != nobody || into != nobody) to_.next_step({}, from != nobody ? from : into);
    step_.exchange(out, in, peers, kind);
  }
  void list(std::span<operand const> operands, list_kind kind) override {
    if (!std::ranges::all_of(operands, &operand::vanishes)) to_.next_step(operands, nobody);
    step_.list(operands, kind);
  }
  void move(operand const& alone) override { step_.move(alone); }
  bool shares_memory_with(int peer) const override { return step_.shares_memory_with(peer); }

 private:
  any_step& step_;
  impatient_rank& to_;
  small_vector<operand> operands_;
};

// A functor may make calls of its own.
struct impatient_rank::ending {
  impatient_rank& to;
  wait before = to.wait_;
  ~ending() {
    to.leave();
    to.wait_ = before;
    to.note();
  }
};

COLLIGO_BODY void impatient_rank::watch(policy_run const& run, any_step& step, working_vector& data,
                                        observer* trace) {
  ending const end{*this};
  enter(run.call, *run.by.policy, run.number);
  wait_.now.in_memory = step.shares_memory_with(step.rank());
  announced_step each(step, *this);
  trace ? trace->watch(run, each, data) : run(each);
}

COLLIGO_BODY noted_call impatient_rank::noted(call const& call, erased_policy const& what, std::uint32_t number) {
  noted_call now;
  now.call = {number, call.what, call.root, call.vector.whole.size(), call.of->size, what.short_name};
  now.is_vendor = what.is_vendor;
  std::string_view const name = call.of->name();
  std::copy_n(name.data(), std::min(name.size(), now.element.size() - 1), now.element.data());
  return now;
}

COLLIGO_BODY void impatient_rank::enter(call const& call, erased_policy const& what, std::uint32_t number) {
  wait_ = {};
  wait_.now = noted(call, what, number);
  note();
  notice_->latest.store(number, std::memory_order_release);
}
COLLIGO_BODY void impatient_rank::leave() {
  if (wait_.reported_elsewhere) report_elsewhere(wait_, {});
  wait_ = {};
  note();
}
COLLIGO_BODY void impatient_rank::starts(std::uint32_t number) {
  notice_->requests.fetch_add(1, std::memory_order_relaxed);
  notice_->latest.store(number, std::memory_order_release);
  wait one;
  one.now.call.number = number;
  locked const turn(writes_);
  try {
    of_requests_.push_back(one);
  } catch (std::bad_alloc const&) {   // it is not watched
  }
}
COLLIGO_BODY void impatient_rank::completes(std::uint32_t number) {
  notice_->requests.fetch_sub(1, std::memory_order_relaxed);
  wait* const one = of_request(number);
  if (one == of_requests_.end()) return;
  if (one->reported_elsewhere) report_elsewhere(*one, {});
  locked const turn(writes_);
  bool const is_noted = one->now.step != 0;
  of_requests_.erase(one);
  if (is_noted) put_note();
}
COLLIGO_BODY impatient_rank::wait* impatient_rank::of_request(std::uint32_t number) {
  return std::ranges::find(of_requests_, number, [](wait const& w) { return w.now.call.number; });
}

COLLIGO_BODY void impatient_rank::next_step(std::span<operand const> operands, int peer) {
  ++wait_.step;
  wait_.operands = operands;
  wait_.peer = peer;
  wait_.is_new = true;
  if (wait_.reported_elsewhere) report_elsewhere(wait_, {});
  if (wait_.now.step != 0) wait_.now.step = 0, note();
}

// The ranks that a step receives from or, if it only sends, those that it sends to.
COLLIGO_BODY void impatient_rank::note_awaited(wait& new_one) {
  noted_call now = new_one.now;
  now.awaited = 0;
  auto const add = [&](int rank) {
    auto const known = std::min<std::size_t>(static_cast<std::size_t>(now.awaited), now.first.size());
    if (rank == nobody || std::find(now.first.begin(), now.first.begin() + known, rank) != now.first.begin() + known)
      return;
    if (known < now.first.size()) now.first[known] = rank;
    ++now.awaited;
  };
  add(new_one.peer);
  for (bool const sends : {false, true})
    for (operand const& o : new_one.operands)
      if (!o.vanishes() && o.sends() == sends && (now.awaited == 0 || !sends)) add(o.peer);
  now.step = std::max(1u, new_one.step);
  locked const turn(writes_);
  new_one.now = now;
  put_note();
}

COLLIGO_BODY void impatient_rank::waits() {
  if (wait_.now.call.number != 0) looks(wait_);
}

COLLIGO_BODY void impatient_rank::waits_for(call const& call, erased_policy const& what, std::uint32_t number,
                                            bool in_memory, std::size_t step, std::span<operand const> operands) {
  if (wait_.now.call.number != 0) return;   // within a call's functor
  wait* const one = of_request(number);
  if (one == of_requests_.end()) return;
  if (one->step == 0) {
    noted_call now = noted(call, what, number);
    now.in_memory = in_memory;
    locked const turn(writes_);
    one->now = now;
  }
  if (auto const n = static_cast<std::uint32_t>(step + 1); one->step != n) {
    if (one->reported_elsewhere) report_elsewhere(*one, {});
    one->step = n, one->is_new = true, one->operands = operands;
  }
  looks(*one);
}

// A rank has looked in vain. What it does between two looks is no wait, but for half of its patience.
COLLIGO_BODY void impatient_rank::looks(wait& in_vain) {
  std::uint32_t const number = in_vain.now.call.number;
  std::int64_t const now = now_in_ns(), longest = setting_.after * ns_per_ms;
  if (std::exchange(in_vain.is_new, false)) {
    in_vain.waited = 0, in_vain.looked = now;
    note_awaited(in_vain);
  }
  in_vain.waited += std::min(now - in_vain.looked, longest / 2);
  in_vain.looked = now;
  if (!in_vain.reported_elsewhere && in_vain.waited >= longest / 2)
    report_elsewhere(in_vain, concat({call_text(in_vain.now), " of ", communicator_text(communicator_)}));
  if (in_vain.waited < longest) return;
  if (!std::exchange(in_vain.reported, true)) report(in_vain.now);
  if (!setting_.throws || in_vain.now.is_vendor) return;   // a rank can not leave MPI's own collective
  latest_abandoned_ = number;
  throw stalled(concat({where(state_, in_vain.now.call.what), "call #", number, " has waited ",
                        patience_text(setting_), awaited_text(in_vain.now)}));
}

[[gnu::cold]] COLLIGO_BODY bool impatient_rank::has_come(int rank, std::uint32_t number) const {
  if (!host_ || !host_->has(rank)) return false;
  return static_cast<std::int32_t>(host_->record_of(rank).notice.latest.load(std::memory_order_acquire) - number) >= 0;
}

// " for ranks ..." that `noted` waits for: those that have not come to this call or, if all have, all.
[[gnu::cold]] COLLIGO_BODY std::string impatient_rank::awaited_text(noted_call const& noted) const {
  if (noted.awaited == 0) return {};
  auto const known = std::min<std::size_t>(static_cast<std::size_t>(noted.awaited), noted.first.size());
  std::vector<int> ranks(noted.first.begin(), noted.first.begin() + static_cast<std::ptrdiff_t>(known)), late;
  std::ranges::sort(ranks);
  std::ranges::copy_if(ranks, std::back_inserter(late), [&](int r) { return !has_come(r, noted.call.number); });
  auto const more = static_cast<std::size_t>(noted.awaited) - known;
  std::string text = " for " + ranks_text(late.empty() ? ranks : late);
  return more == 0 ? text : concat({text, " and ", more, " more"});
}

// What a rank is doing, seen from the call in which this one waits.
[[gnu::cold]] COLLIGO_BODY std::string impatient_rank::rank_text(int rank, noted_call const& mine) const {
  bool const is_own = rank == state_.rank();
  rank_notice const& notice = is_own ? *notice_ : host_->record_of(rank).notice;
  noted_call const now = is_own ? mine : notice.get();
  std::uint32_t const latest = notice.latest.load(std::memory_order_acquire), requests = notice.requests.load();
  std::string const process = concat({"its process (pid ", notice.process.load(), ")"});
  if (!is_own && host_->is_gone(rank))
    return concat({host_->ranks_may_leave() ? "has left" : process + " is gone", "; its latest call was #", latest});
  if (notice.process.load(std::memory_order_acquire) == 0) return "says nothing of itself";
  if (now.call.number != 0) {
    bool const same =
        now.call.number == mine.call.number && now.call.what == mine.call.what && now.call.root == mine.call.root;
    std::string const what = same ? "it" : call_text(now);
    std::string const how = same && now.call.algorithm == mine.call.algorithm && now.in_memory == mine.in_memory
                                ? std::string()
                                : " (" + algorithm_text(now, host_) + ")";
    if (now.is_vendor) return concat({"in ", what, how});
    if (now.step == 0) return concat({"in ", what, how, ", and does not wait for anybody"});
    return concat({"in ", what, how, ", step ", now.step, ", waiting", awaited_text(now)});
  }
  std::string text = "has made no call";
  if (latest != 0) text = concat({"has not called since #", latest});
  if (has_come(rank, mine.call.number)) text = "has been in it";
  if (requests != 0)
    text += concat({", with ", requests, " request", requests == 1 ? "" : "s",
                      " in progress, which continue when it tests or waits for one"});
  if (now.elsewhere[0] != '\0') text += concat({"; it waits in ", now.elsewhere.data()});
  return host_->ranks_may_leave() ? text : concat({text, "; ", process, " is alive"});
}

[[gnu::cold]] COLLIGO_BODY void impatient_rank::report(noted_call const& mine) const {
  std::uint32_t const number = mine.call.number;
  if (host_) {   // one of the host's ranks reports for all
    auto& reported = host_->records()[0]->notice.reported;
    auto& latest = reported[number % reported.size()];
    std::uint32_t seen = latest.load();
    do {
      if (seen == number) return;
    } while (!latest.compare_exchange_weak(seen, number));
  }
  std::string all = concat({"colligo: after ", patience_text(setting_), " in ", call_text(mine), " over ",
                              state_.size(), " ranks of ", communicator_text(communicator_), " (",
                              algorithm_text(mine, host_), "):\n"});
  std::vector<std::pair<std::string, std::vector<int>>> lines;
  for (int rank = 0; rank < state_.size(); ++rank) {
    std::string const says = rank == state_.rank() || (host_ && host_->has(rank)) ? rank_text(rank, mine)
                             : "not seen from here, since it shares no memory with this rank";
    auto line = std::ranges::find(lines, says, [](auto const& l) -> auto& { return l.first; });
    if (line == lines.end()) line = lines.insert(line, {says, {}});
    line->second.push_back(rank);
  }
  for (auto const& [says, ranks] : lines)
    all += concat({"  ", ranks_text(ranks), ": ", says, "\n"});
  std::fputs(all.c_str(), stderr);
}

}  // namespace colligo
