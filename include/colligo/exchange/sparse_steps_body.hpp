// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of sparse_steps.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../algorithm/recursive_doubling.hpp"
#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/handles.hpp"
#include "../engine/requests.hpp"
#include "../rules/kept_topology.hpp"
#include "../rules/policies.hpp"
#include "exchange_by_host.hpp"
#include "exchange_on_rank.hpp"
#include "sparse_prices.hpp"
#include "sparse_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

using counting_functor = commutative_functor<add_counters>;

// The names of the ways for requests, traces and checked mode; no algorithms of the catalogue.
template <class Way>
inline constexpr erased_policy policy_of_way{.name = Way::name, .short_name = packed(Way::name)};
[[gnu::cold]] inline choice choice_of(sparse_way way) {
  choice chosen;
  chosen.policy = way == sparse_way::counters    ? &policy_of_way<counters>
                  : way == sparse_way::consensus ? &policy_of_way<consensus>
                  : way == sparse_way::dense     ? &policy_of_way<dense>
                                                 : &policy_of_way<by_host>;
  chosen.over = transport::messages;
  return chosen;
}
// As an all_to_all_v with no vector: that is what the ranks' calls have in common.
inline call as_call(sparse_call const& asked) {
  call made{collective::all_to_all_v, &asked.of, asked.wire, nullptr, {{}, asked.at.size()}, {}, {}};
  made.before = asked.at.before();
  return made;
}

// What a state keeps of its exchanges.
struct kept_exchanges final : kept_with_state {
  struct priced {
    exchange_pattern of;
    std::array<double, sparse_ways.size()> seconds{};   // 0: not priced yet
  };

  exchange_pattern latest = few_messages;
  std::array<priced, 2> prices;   // of blocking calls, of requests
  std::string explained;

  static kept_exchanges& of(communicator_state& state) {
    if (!state.exchanges) state.exchanges = make_owner<kept_exchanges>();
    return static_cast<kept_exchanges&>(*state.exchanges);
  }
};

COLLIGO_BODY std::string where_sparse(endpoint const& at) {
  return concat({"colligo: sparse_all_to_all on rank ", at.rank(), " of ", at.size(), ": "});
}
COLLIGO_BODY std::string reason_of(endpoint const& at, std::exception_ptr const& error) {
  std::string why;
  try {
    std::rethrow_exception(error);
  } catch (...) {
    why = handled_reason();
  }
  std::string const here = where_sparse(at);
  if (why.starts_with(here)) why.erase(0, here.size());
  return why;
}
[[gnu::cold]] COLLIGO_BODY void refuse_for(endpoint const& at, int rank, std::string const& why) {
  throw failed_elsewhere(concat({where_sparse(at), "rank ", rank, " has refused the call: ", why}));
}

// Refuses what this rank has not made of the two calls that the other ranks make; `before`: its calls before these.
[[gnu::cold]] inline void refuse_both(communicator_state& state, std::uint32_t before, char const* why) {
  if (state.requests().is_inside(state)) return;   // of a functor, whose call the other ranks do not make
  while (static_cast<std::int32_t>(before + 2 - state.calls) > 0) state.refuse(why);
}

COLLIGO_BODY void keep_pattern(endpoint& at, exchange_pattern pattern) {
  kept_exchanges::of(state_at(at)).latest = pattern;   // way_of() has made it
}

[[gnu::cold]] inline void explain_way(communicator_state& state, sparse_call const& call, sparse_way way,
                                      std::string_view why, std::span<double const> prices) {
  auto& kept = kept_exchanges::of(state);
  std::string line = concat({"colligo: sparse_all_to_all of ", call.of.name(), ": by ",
                             sparse_ways[static_cast<std::size_t>(way)], ", ", why, "; for at most ",
                             in_digits(exchange_pattern::at_most(kept.latest.messages), 4), " messages of ",
                             in_digits(exchange_pattern::at_most(kept.latest.bytes), 4), " bytes a rank, as before,"});
  for (std::size_t i = 0; i < prices.size() && prices[i] != beyond_all; ++i)
    line += concat({i == 0 ? " " : ", ", sparse_ways[i], " ", in_digits(1e6 * prices[i], 4), " us"});
  if (line == kept.explained) return;
  kept.explained = line;
  std::fprintf(stderr, "%s\n", line.c_str());
}

// Kept, because a pattern comes again.
inline auto const& prices_for(communicator_state& state, bool is_request) {
  kept_exchanges& kept = kept_exchanges::of(state);
  kept_exchanges::priced& known = kept.prices[is_request];
  if (known.seconds[0] == 0 || known.of != kept.latest) {
    call const counting{collective::reduce_scatter_block, &element_of<std::uint64_t, counting_functor>, nullptr,
                        nullptr, {{0, static_cast<std::size_t>(state.size())}, state.size()}, {}, {}};
    known = {kept.latest, prices_of_ways(situation_of(state, counting), exchange_pattern::at_most(kept.latest.messages),
                                         exchange_pattern::at_most(kept.latest.bytes), !is_request)};
  }
  return known.seconds;
}

COLLIGO_BODY sparse_way way_of(sparse_call const& call, std::string_view asked, bool has_letters) {
  communicator_state& state = state_at(call.at);
  if ((call.at.before() & in_functor) != 0) throw_in_functor(state);
  std::string_view why = "named by the program";
  std::array<double, sparse_ways.size()> prices{};
  sparse_way way{};
  auto const find = [&](std::string_view name) {
    for (std::size_t i = 0; i < sparse_ways.size(); ++i)
      if (sparse_ways[i] == name) return way = static_cast<sparse_way>(i), true;
    return false;
  };
  try {
    prices = prices_for(state, call.is_request);
    auto& bundled = prices[static_cast<std::size_t>(sparse_way::by_host)];
    if (call.of.objects) bundled = beyond_all;
    std::string const& set = state.sparse_setting();
    if (asked != "automatic") {
      if (!find(asked))
        throw algorithm_error(concat({where_sparse(state), "no way is named ", printable(asked),
                                      "; the known ones are ", names_of_ways}));
    } else if (!set.empty() && set != "automatic" && find(set)) {
      why = "set by COLLIGO_SPARSE_ALL_TO_ALL";
    } else {
      if (!set.empty() && set != "automatic") {
        std::string const text = concat({"COLLIGO_SPARSE_ALL_TO_ALL=", set, ": the known values are ", names_of_ways});
        if (state.strict()) throw argument_error("colligo: " + text);
        if (state.rank() == 0) warn_once(text + "; the library chooses");
      }
      way = static_cast<sparse_way>(std::min_element(prices.begin(), prices.end()) - prices.begin());
      why = "chosen by price";
      // Ranks that share memory read each other's counts there: letters take three times as long.
      shared_host const* const memory = call.is_request ? nullptr : state.automatic_memory(call.of);
      if (memory && memory->whole() && state.size() <= few_for_direct)
        way = sparse_way::dense, why = "because the ranks share memory";
    }
    if (way == sparse_way::by_host && call.of.objects)
      way = sparse_way::counters, why = "because elements that do not travel as bytes go straight";
    if (!has_letters) way = sparse_way::dense;
  } catch (std::exception const& e) {
    if (call.checked) report_refusal(state, true, e.what());
    else refuse_both(state, state.calls, e.what());
    throw;
  }
  if ((call.at.before() & explanation) != 0 && state.rank() == 0) explain_way(state, call, way, why, prices);
  if (call.checked)
    agree_on(state, as_call(call), choice_of(way), call.is_request ? made::started : made::at_once);
  return way;
}

[[gnu::cold]] COLLIGO_BODY void refuse_way(endpoint const& at, sparse_way mine, std::string const& others) {
  throw mismatch_error(concat({where_sparse(at), "ranks name different ways: this one ",
                               sparse_ways[static_cast<std::size_t>(mine)], others}));
}
COLLIGO_BODY void require_one_way(sparse_call const& call, sparse_way mine, sparse_counter const& all) {
  int const others = all.ways & ~(1 << static_cast<int>(mine));
  if (others == 0) [[likely]] return;
  std::string words;
  for (std::size_t i = 0; i < sparse_ways.size(); ++i)
    if ((others >> i & 1) != 0) words += concat({", others ", sparse_ways[i]});
  refuse_way(call.at, mine, words);
}

COLLIGO_BODY sparse_counter counter_of(sparse_call const& call, sparse_way way, letters const* over) {
  sparse_counter mine;
  mine.set_way(way);
  if (call.refused) return mine.refusals = 1, mine;
  std::size_t messages = 0, longest = 0;
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    if (call.out[i].to == call.at.rank()) continue;
    ++messages;
    longest = std::max(longest, over ? over->bytes(i) : call.of.bytes(call.out[i].elements));
  }
  mine.pattern = {exchange_pattern::code(messages), exchange_pattern::code(longest)};
  return mine;
}

// Begins with the calls that count or agree, takes letters, and knows when all have come.
class exchange_of_letters final : public exchange_on_rank {
 public:
  exchange_of_letters(sparse_call call, sparse_way way, arrivals& in, owner<letters> over)
      : exchange_on_rank(std::move(call), way, in, std::move(over)) {
    if (!call_.refused) {
      try {
        over_->prepare(call_.out);
      } catch (...) {
        call_.refused = std::current_exception();
      }
    }
    if (call_.refused) {
      why_ = std::make_unique<std::string const>(reason_of(call_.at, call_.refused));
      call_.out = {};
      over_->prepare_to_refuse();
    }
    mine_ = counter_of(call_, way_, over_.get());
    p_ = state_.size();
    auto const p = static_cast<std::size_t>(p_);
    if (way_ == sparse_way::consensus) {
      prepare_agreement();
    } else {
      words_.assign(p, mine_.word());
      for (std::size_t i = 0; i < call_.out.size(); ++i) {
        auto counter = mine_;
        counter.letters = static_cast<std::uint32_t>(call_.out[i].to == state_.rank() ? 0 : over_->parts(i));
        words_[static_cast<std::size_t>(call_.out[i].to)] = counter.word();
      }
      result_.assign(way_ == sparse_way::dense ? p : 1, 0);
      prepare_counting();
    }
  }

  void begin() override {
    if (way_ == sparse_way::consensus) begin_without_counting();
    else counting_->start_as(first_.number = state_.next_call());   // a part of this call, which tools know
  }
  bool advance() override {
    if (!has_counted_ && !count()) {   // one that has failed may have told in this call alone
      look_for_others();
      if (looks_ % 256 == 0 && over_->take(in_)) ++taken_;
      return false;
    }
    if (!has_sent_) send();
    while (taken_ < expected_ && over_->take(in_)) ++taken_;
    bool const are_sent = over_->are_sent();
    if (!are_sent) return look_for_others(), false;
    if (way_ == sparse_way::consensus) {
      if (!std::exchange(is_agreeing_, true)) counting_->start_as(first_.number);
      if (counting_->in_progress()) return look_for_others(), false;
      counting_->test();   // throws
      total_ = sparse_counter::of(result_[0]);
      require_one_way(call_, way_, total_);
    } else if (taken_ != expected_) {
      return look_for_others(), false;
    }
    if (total_.refusals == 0 && !call_.is_request) keep_pattern(call_.at, total_.pattern);
    return true;
  }
  void abandon() noexcept override {
    if (counting_->in_progress()) {
      counting_->fail(std::current_exception());
      if (!state_.are_threads()) static_cast<void>(*new auto(std::move(words_)));   // may be on its way still
    } else if (way_ == sparse_way::consensus || ways_differ_) {   // others may wait for it there
      state_.abandon_call_now(first_.number);
    }
    exchange_on_rank::abandon();
  }

 private:
  bool count() {
    if (way_ != sparse_way::consensus) {
      if (counting_->in_progress()) return false;
      counting_->test();   // throws
      std::uint64_t sum = 0;
      for (std::uint64_t const word : result_) sum = add_counters{}(sum, word);
      total_ = sparse_counter::of(sum);
      ways_differ_ = true;
      require_one_way(call_, way_, total_);
      ways_differ_ = false;
      expected_ = total_.refusals == 0 ? total_.letters : total_.refusals - std::size_t{call_.refused != nullptr};
    } else {
      expected_ = static_cast<std::size_t>(-1);   // until all agree
    }
    return has_counted_ = true;
  }
  void send() {
    has_sent_ = true;
    bool const acknowledged = way_ == sparse_way::consensus;
    if (call_.refused) return over_->refuse(*why_);
    if (total_.refusals != 0) return;
    for (std::size_t i = 0; i < call_.out.size(); ++i) {
      outgoing_message const& one = call_.out[i];
      if (one.to != state_.rank()) over_->send(i, acknowledged);
      else call_.of.copy(one.data, one.elements, in_.add(one.to, one.elements));
    }
  }

  void leave_what_is_sent() noexcept override {
    exchange_on_rank::leave_what_is_sent();
    static_cast<void>(why_.release());
  }

  call counting(collective what, blocks const& vector, range in, range out) {
    static counting_functor op;   // has no state
    return {what, &element_of<std::uint64_t, counting_functor>, state_.wire_of_bytes(), &op, vector,
            {reinterpret_cast<std::byte const*>(words_.data()), in},
            {reinterpret_cast<std::byte*>(result_.data()), out}};
  }
  void prepare_counting() {
    auto const p = static_cast<std::size_t>(p_), me = static_cast<std::size_t>(state_.rank());
    blocks const each{{0, p}, p_};
    if (way_ == sparse_way::dense) {
      call const call = counting(collective::all_to_all, each, {0, p}, {p, 2 * p});
      counting_ = prepare_by_rules(state_, call, &policy_table_of<collective::all_to_all>, {}, false);
    } else {
      call const call = counting(collective::reduce_scatter_block, each, {0, p}, {me, me + 1});
      counting_ = prepare_by_rules(state_, call, &policy_table_of<collective::reduce_scatter_block>, {}, false);
    }
  }
  // Over messages, because it is started whenever this rank's messages have been taken: calls over shared memory run in
  // the order of their starts.
  void prepare_agreement() {
    words_.assign(1, mine_.word());
    result_.assign(1, 0);
    call const call = counting(collective::all_reduce, {{0, 1}, p_}, {0, 1}, {0, 1});
    choice by{erased_policy_for<collective::all_reduce, recursive_doubling>, recursive_doubling{}, transport::messages};
    counting_ = prepare_call(state_, call, by, {}, false);
  }

  std::unique_ptr<std::string const> why_;   // is sent
  sparse_counter mine_, total_;
  int p_ = 1;
  std::vector<std::uint64_t> words_, result_;
  owned_running counting_;   // or agreeing
  std::size_t taken_ = 0, expected_ = 0;
  bool has_counted_ = false, has_sent_ = false, is_agreeing_ = false, ways_differ_ = false;
};

COLLIGO_BODY owned_running prepare_exchange(sparse_call const& call, sparse_way way, arrivals& in,
                                            owner<letters> (*open)(endpoint&, element const&, void const*)) {
  communicator_state& state = state_at(call.at);
  std::uint32_t const before = state.calls;
  try {
    owner<exchange_on_rank> run;
    if (way == sparse_way::by_host)
      run = make_owner<exchange_by_host>(
          call, in, open(call.at, element_of<std::byte, no_functor>, state.wire_of_bytes()));
    else run = make_owner<exchange_of_letters>(call, way, in, open(call.at, call.of, call.wire));
    auto steps = make_owner<exchange_steps>(*run);
    return owned_running(
        new running(state, as_call(call), choice_of(way), std::move(steps), owner<owned_by_request>(std::move(run))));
  } catch (std::exception const& e) {
    refuse_both(state, before, e.what());
    throw;
  }
}

}  // namespace colligo
