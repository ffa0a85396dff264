// SPDX-License-Identifier: BSL-1.0
/// @file
/// sparse_all_to_all: ranks know to whom they send, and learn who sends to them.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "../arguments/call_arguments.hpp"
#include "../arguments/forms.hpp"
#include "../arguments/misplaced.hpp"
#include "../arguments/mistakes.hpp"
#include "../communicators/communicators.hpp"
#include "../rules/policies.hpp"
#include "letters.hpp"
#include "received.hpp"
#include "sparse_steps.hpp"
#include "sparse_ways.hpp"
#if COLLIGO_HAS_BODIES
#include "../arguments/counts_body.hpp"
#include "thread_letters_body.hpp"
#if __has_include(<mpi.h>)
#include "mpi_letters_body.hpp"
#endif
#endif

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Way>
concept way_of_sparse = std::same_as<Way, automatic> || std::same_as<Way, named> || std::same_as<Way, counters> ||
                        std::same_as<Way, consensus> || std::same_as<Way, dense> || std::same_as<Way, by_host>;
template <way_of_sparse Way>
std::string_view name_of_way(Way const& way) {
  if constexpr (std::same_as<Way, named>) return way.text();
  else return Way::name;
}

template <class Comm>
concept has_letters = requires(endpoint& at, element const& of) { state_of<Comm>::open_letters(at, of, nullptr); };

/// Makes what an exchange needs before it begins. If that fails, reports it to the other ranks.
template <class Comm, class F>
void before_exchange(Comm const& comm, F make) {
  call_arguments<collective::all_to_all, Comm> const arguments(comm);
  arguments.make_calls(2, [&] { arguments.attempt(make); });
}

template <class T>
inline constexpr bool can_arrive = std::default_initializable<T> && !std::is_same_v<T, bool>;
template <class T>
constexpr void require_sparse_elements() {
  static_assert(!std::is_same_v<T, bool>,
                "colligo: sparse_all_to_all: std::vector<bool> has no elements: use char instead of bool");
  static_assert(!address<T>, "colligo: sparse_all_to_all: an address means nothing on another rank");
  static_assert(std::default_initializable<T>,
                "colligo: sparse_all_to_all: elements need a default constructor, because they arrive in a vector");
}

/// The type of a mistaken call, with the message.
template <class... Arguments>
struct no_messages : mistake {
  static_assert(sizeof...(Arguments) > 99,
                "colligo: sparse_all_to_all takes (comm, messages), pairs of a rank and a range, "
                "std::vector{std::pair{rank, std::vector{1.0, 2.0}}}, or (comm, targets, counts, joined); for a block "
                "to each rank write all_to_all_v");
};

/// All of a call but its result.
template <class Comm, class T>
struct sparse_exchange {
  Comm const& comm;
  exchange_of<T>& own;
  sparse_call call;

  template <class... Out>
  sparse_exchange(Comm const& over, exchange_of<T>& exchange, Out const&... out)
      : comm(over), own(exchange),
        call{.at = state_of<Comm>::open(over), .of = element_of<T, no_functor>,
             .wire = state_of<Comm>::template wire<T, no_functor, false>(), .out = {}, .refused = nullptr} {
    call.checked = checks_calls<Comm> || (call.at.before() & agreement) != 0;
    try {
      own.take(out...);
      call.out = own.out();
    } catch (...) {   // this rank takes part in the discovery and tells the others
      call.refused = std::current_exception();
    }
  }

  sparse_way way(std::string_view asked) const { return way_of(call, asked, has_letters<Comm>); }
  owned_running prepare(sparse_way by) {
    if constexpr (has_letters<Comm>)
      return prepare_exchange(call, by, own, &state_of<Comm>::open_letters);
    else
      static_assert(!std::is_same_v<T, T>, "colligo: isparse_all_to_all: this transport has no letters");
  }

  // By collectives alone, over any transport.
  void run_dense() {
    call_arguments<collective::all_to_all, Comm> const first(comm);
    auto const p = static_cast<std::size_t>(first.size());
    first.make_calls(2, [&] {
      std::vector<std::uint64_t> to, from;
      std::vector<std::size_t> counts, out_counts;
      first.attempt([&] { to.resize(2 * p), from.resize(2 * p), counts.resize(p), out_counts.resize(p); });
      sparse_counter const mine = counter_of(call, sparse_way::dense, nullptr);
      for (std::size_t r = 0; r < p; ++r) to[2 * r + 1] = mine.word();
      for (outgoing_message const& one : call.out) {
        auto const r = static_cast<std::size_t>(one.to);
        to[2 * r] = one.elements + 1;   // 0: no message
        counts[r] = one.elements;
      }
      blocks const each{{0, 2 * p}, first.size()};
      first.accept(each, std::span<std::uint64_t const>(to), {0, 2 * p}, std::span(from), {2 * p, 4 * p})
          .template make<made::at_once>(no_functor{}, automatic{});
      sparse_counter all;
      int refuses = -1;
      for (std::size_t r = 0; r < p; ++r) {
        all = sparse_counter::of(add_counters{}(all.word(), from[2 * r + 1]));
        if (refuses < 0 && sparse_counter::of(from[2 * r + 1]).refusals != 0) refuses = static_cast<int>(r);
      }
      require_one_way(call, sparse_way::dense, all);
      if (refuses >= 0) return tell_reason(refuses);
      std::vector<T> joined;
      first.attempt([&] {
        for (outgoing_message const& one : call.out) {
          auto const* const values = reinterpret_cast<T const*>(one.data);
          joined.insert(joined.end(), values, values + one.elements);
        }
        std::size_t sum = 0;
        for (std::size_t r = 0; r < p; ++r) {
          if (from[2 * r] == 0) continue;
          own.in.sources.push_back(static_cast<int>(r)), own.in.counts.push_back(from[2 * r] - 1);
          sum += out_counts[r] = from[2 * r] - 1;
        }
        own.in.data.resize(sum);
      });
      call_arguments<collective::all_to_all_v, Comm> const second(comm);
      blocks const vector = second.blocks_of(counts, out_counts);
      std::size_t const n = joined.size();
      std::span<T> const into(own.in.data);
      second.accept(vector, std::span<T const>(joined), {0, n}, into, {n, n + into.size()})
          .template make<made::at_once>(no_functor{}, automatic{});
      keep_pattern(call.at, all.pattern);
    });
  }
  // The second of two calls: the reason of the lowest rank that refuses.
  void tell_reason(int refuses) {
    std::array<char, 256> words{};
    call_arguments<collective::broadcast, Comm> const here(comm);
    if (here.rank() == refuses) reason_of(call.at, call.refused).copy(words.data(), words.size() - 1);
    std::span<char> const both(words);
    here.accept_whole(std::span<char const>(both), both, refuses)
        .template make<made::at_once>(no_functor{}, automatic{});
    if (call.refused) std::rethrow_exception(call.refused);
    refuse_for(call.at, refuses, words.data());
  }
};

template <class T, class Comm, class Way, class... Out>
received<T> exchange_now(Comm const& comm, Way const& way, Out const&... out) {
  require_sparse_elements<T>();
  exchange_of<T> own(state_of<Comm>::open(comm));
  sparse_exchange<Comm, T> exchange(comm, own, out...);
  sparse_way const by = exchange.way(name_of_way(way));
  if constexpr (has_letters<Comm>) {
    // Letters are encoded before any is sent, so that all ranks hear of one that can not be.
    if (by != sparse_way::dense || !travels_as_bytes<T>) {
      request(exchange.prepare(by)).wait();
      return std::move(own.in);
    }
  }
  try {
    exchange.run_dense();
  } catch (...) {
    keep_pattern(exchange.call.at, few_messages);
    throw;
  }
  return std::move(own.in);
}

}  // namespace detail

/// A sparse_all_to_all that has been started. Move-only. The destructor waits until it is complete, and so does an
/// assignment to it.
template <class T>
class [[nodiscard("keep the request: its wait() returns what has come")]] sparse_request {
 public:
  sparse_request() = default;
  sparse_request(std::unique_ptr<detail::exchange_of<T>> own, detail::owned_running made)
      : own_(std::move(own)), request_(std::move(made)) {}
  sparse_request(sparse_request&&) noexcept = default;
  sparse_request& operator=(sparse_request&& other) noexcept {
    request_ = std::move(other.request_);   // waits for the old one, which uses own_
    own_ = std::move(other.own_);
    return *this;
  }

  /// Makes progress; true if it is complete, and in() is there.
  bool test() { return request_.test(); }
  /// Returns in() when it is complete. Throws what sparse_all_to_all throws.
  received<T>& wait() { return request_.wait(), own_->in; }
  /// Precondition: it is complete.
  received<T>& in() { return own_->in; }

 private:
  std::unique_ptr<detail::exchange_of<T>> own_;   // first, so that it outlives the request
  request request_;
};

namespace detail {

template <class T, class Comm, class Way, class... Out>
sparse_request<T> exchange_later(Comm const& comm, Way const& way, Out const&... out) {
  require_sparse_elements<T>();
  std::unique_ptr<exchange_of<T>> own;
  before_exchange(comm, [&] { own = std::make_unique<exchange_of<T>>(state_of<Comm>::open(comm)); });
  sparse_exchange<Comm, T> exchange(comm, *own, out...);
  exchange.call.is_request = true;
  auto made = exchange.prepare(exchange.way(name_of_way(way)));
  return {std::move(own), std::move(made)};
}

/// The ranks that have this one as a target, ascending; as often as they name it.
template <communicator Comm, std::ranges::forward_range Targets, way_of_sparse Way = automatic>
std::vector<int> sources_of(Comm const& comm, Targets const& targets, Way const& way = {}) {
  std::vector<std::pair<std::ranges::range_value_t<Targets>, std::array<int, 1>>> out;   // wide ones are refused there
  before_exchange(comm, [&] {
    for (auto const to : targets) out.push_back({to, {1}});
  });
  received<int> const in = exchange_now<int>(comm, way, out);
  std::vector<int> sources;
  for (auto const& [rank, each] : in) sources.insert(sources.end(), each.size(), rank);
  return sources;
}

}  // namespace detail

namespace by_name {

/// Sends messages to some ranks, and returns those of all ranks for this one, whoever they are.
/// @param comm  communicator, all of whose ranks make the call
/// @param out   range of (rank, contiguous range of T): pairs, tuples, a map. Messages to one rank are joined in the
///              order given; one to oneself is copied; an empty one is delivered. May be empty. With views.hpp also
///              views and ranges that lie apart, which are packed.
/// @param way   counters{}, consensus{}, dense{}, by_host{}, named("consensus"); automatic{}: as
///              COLLIGO_SPARSE_ALL_TO_ALL says, or the cheapest for what the ranks sent in their latest blocking such
///              call, the same on all
/// T travels as in other collectives, and has a default constructor.
/// Throws argument_error if a rank is out of range; then the other ranks throw failed_elsewhere with its reason, and
/// nothing has been sent. Throws algorithm_error (unknown name), mismatch_error (other types or ways), and what a
/// serialisation throws, on that rank. Cost: see the ways (exchange/sparse_ways.hpp). Collective over comm; no barrier
/// behind it.
template <communicator Comm, detail::addressed_messages Out, detail::way_of_sparse Way = automatic>
  requires detail::travels_over<detail::element_of_messages<Out>, Comm>
received<detail::element_of_messages<Out>> sparse_all_to_all(Comm const& comm, Out const& out, Way const& way = {}) {
  return detail::exchange_now<detail::element_of_messages<Out>>(comm, way, out);
}
/// The same for messages that lie one after the other in `joined`: counts[i] elements for rank targets[i]. Also throws
/// argument_error if a count is negative, or the counts together are not the length of `joined`.
template <communicator Comm, detail::integers Targets, detail::integers Counts, class In,
          detail::way_of_sparse Way = automatic>
  requires(detail::travels_over<typename detail::message_elements<In>::element, Comm>)
received<typename detail::message_elements<In>::element> sparse_all_to_all(Comm const& comm, Targets const& targets,
                                                                  Counts const& counts, In const& joined,
                                                                  Way const& way = {}) {
  return detail::exchange_now<typename detail::message_elements<In>::element>(comm, way, targets, counts, joined);
}

/// The same as a request: `auto pending = isparse_all_to_all(world, out);`, and later `pending.wait()` returns what has
/// come. `out` has to live until then.
template <communicator Comm, detail::addressed_messages Out, detail::way_of_sparse Way = automatic>
  requires detail::travels_over<detail::element_of_messages<Out>, Comm>
sparse_request<detail::element_of_messages<Out>> isparse_all_to_all(Comm const& comm, Out&& out,
                                                                                 Way const& way = {}) {
  static_assert(std::is_lvalue_reference_v<Out>,
                "colligo: isparse_all_to_all: the messages have to live until the request is complete: pass no "
                "temporary");
  return detail::exchange_later<detail::element_of_messages<Out>>(comm, way, out);
}
template <communicator Comm, detail::integers Targets, detail::integers Counts, class In,
          detail::way_of_sparse Way = automatic>
  requires(detail::travels_over<typename detail::message_elements<std::remove_cvref_t<In>>::element, Comm>)
auto isparse_all_to_all(Comm const& comm, Targets const& targets, Counts const& counts, In&& joined,
                                      Way const& way = {}) {
  using message = detail::message_elements<std::remove_cvref_t<In>>;
  static_assert(message::template lasts<In>,
                "colligo: isparse_all_to_all: the messages have to live until the request is complete: pass no "
                "temporary");
  return detail::exchange_later<typename message::element>(comm, way, targets, counts, joined);
}

/// For arguments that no form accepts: the message says what to write.
template <communicator Comm, class... Arguments>
  requires(!requires(Comm const& comm, Arguments&&... arguments) {
    colligo::sparse_all_to_all(comm, static_cast<Arguments&&>(arguments)...);
  })
detail::no_messages<Arguments...> sparse_all_to_all(Comm const&, Arguments&&...) { return {}; }
template <communicator Comm, class... Arguments>
  requires(!requires(Comm const& comm, Arguments&&... arguments) {
    colligo::isparse_all_to_all(comm, static_cast<Arguments&&>(arguments)...);
  })
detail::no_messages<Arguments...> isparse_all_to_all(Comm const&, Arguments&&...) { return {}; }
COLLIGO_COMMUNICATOR_FIRST(sparse_all_to_all)
COLLIGO_COMMUNICATOR_FIRST(isparse_all_to_all)

}  // namespace by_name

}  // namespace colligo
