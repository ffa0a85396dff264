// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a rank has got of the others, and its own messages, joined by target.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../arguments/call_arguments.hpp"
#include "../core/error.hpp"
#include "../core/stable_order.hpp"
#include "letters.hpp"
#include "sparse_steps.hpp"

namespace colligo::inline COLLIGO_MODE {

/// What a rank has got of the others: the messages one after the other, in ascending order of their senders. To iterate
/// gives (rank, span of its elements).
template <class T>
struct received {
  std::vector<T> data;
  std::vector<int> sources;           ///< ascending, each once
  std::vector<std::size_t> counts;    ///< elements of each source; 0: its messages were empty

  class iterator {
   public:
    using value_type = std::pair<int, std::span<T const>>;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    iterator(received const& of, std::size_t at) : of_(&of), at_(at) {}
    value_type operator*() const { return {of_->sources[at_], {of_->data.data() + first_, of_->counts[at_]}}; }
    iterator& operator++() { return first_ += of_->counts[at_++], *this; }
    iterator operator++(int) {
      iterator const now = *this;
      return ++*this, now;
    }
    friend bool operator==(iterator const& a, iterator const& b) { return a.at_ == b.at_; }

   private:
    received const* of_ = nullptr;
    std::size_t at_ = 0, first_ = 0;
  };
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, sources.size()}; }
  std::size_t size() const { return sources.size(); }   ///< sources
  bool empty() const { return sources.empty(); }
};

namespace detail {

template <class Pair>
using target_of = std::remove_cvref_t<decltype(std::get<0>(std::declval<Pair&>()))>;
template <class Pair>
using message_of = std::remove_cvref_t<decltype(std::get<1>(std::declval<Pair&>()))>;

/// A message's elements. Those that do not lie side by side are packed: see views.hpp.
template <class M>
struct message_elements;
template <contiguous M>
  requires(!std::is_array_v<std::ranges::range_value_t<M>>)
struct message_elements<M> {
  using element = std::ranges::range_value_t<M>;
  template <class Given>
  static constexpr bool lasts = lasting_range<Given>;
  static std::span<element const> side_by_side(M const& values, std::vector<std::vector<element>>&) { return values; }
};

/// A range of (rank, elements).
template <class R>
concept addressed_messages = std::ranges::forward_range<R> && requires {
  requires std::tuple_size<std::remove_cvref_t<std::ranges::range_reference_t<R>>>::value == 2;
  requires standard_integer<target_of<std::remove_cvref_t<std::ranges::range_reference_t<R>>>>;
  typename message_elements<message_of<std::remove_cvref_t<std::ranges::range_reference_t<R>>>>::element;
};
template <class R>
using element_of_messages =
    typename message_elements<message_of<std::remove_cvref_t<std::ranges::range_reference_t<R>>>>::element;

/// Reading the range makes messages that own their elements: they are gone when the next one is read.
template <class R, class Pair = std::ranges::range_reference_t<R>>
inline constexpr bool makes_messages =
    !std::is_reference_v<Pair> && !std::is_reference_v<std::tuple_element_t<1, std::remove_cvref_t<Pair>>> &&
    !message_elements<message_of<Pair>>::template lasts<message_of<Pair>>;

/// A rank's messages, joined by target, and those that arrive.
template <class T>
class exchange_of final : public arrivals {
 public:
  explicit exchange_of(endpoint& at) : at_(at) {}

  template <addressed_messages Out>
  void take(Out const& out) {
    for (auto const& [to, values] : out) {
      [[maybe_unused]] std::size_t const before = packed_.size();
      std::span<T const> all =
          message_elements<std::remove_cvref_t<decltype(values)>>::side_by_side(values, packed_);
      if constexpr (makes_messages<Out const&>)
        if (packed_.size() == before) all = packed_.emplace_back(all.begin(), all.end());
      add_message(to, all);
    }
    join();
  }
  template <class Targets, class Counts, class In>
  void take(Targets const& targets, Counts const& counts, In const& one_range) {
    std::span<T const> const joined = message_elements<In>::side_by_side(one_range, packed_);
    auto const n = std::ranges::size(targets);
    if (std::ranges::size(counts) != n)
      refuse_call("there are " + std::to_string(n) + " targets and " + std::to_string(std::ranges::size(counts)) +
                  " counts");
    auto count = std::ranges::begin(counts);
    std::size_t first = 0;
    for (auto const to : targets) {
      auto const now = *count++;
      if (std::cmp_less(now, 0)) refuse_call("a count is negative: " + std::to_string(now));
      auto const length = static_cast<std::size_t>(now);
      if (length > joined.size() - first)
        refuse_call("the counts are larger together than the range, which has " + std::to_string(joined.size()) +
                    " elements");
      add_message(to, joined.subspan(first, length));
      first += length;
    }
    if (first != joined.size())
      refuse_call("the range has " + std::to_string(joined.size()) + " elements, the counts are " +
                  std::to_string(first) + " together");
    join();
  }
  std::span<outgoing_message const> out() const { return out_; }

  void leave_messages() noexcept override {
    static_cast<void>(*new std::pair(std::move(joined_), std::move(packed_)));
  }
  std::byte* add(int from, std::size_t n) override {
    in.sources.push_back(from), in.counts.push_back(n);
    std::size_t const first = in.data.size();
    in.data.resize(first + n);
    return reinterpret_cast<std::byte*>(in.data.data() + first);
  }
  // In the order of sources; letters of one source stay in order and become one message.
  void complete() override {
    auto const& sources = in.sources;
    if (std::is_sorted(sources.begin(), sources.end(), std::less_equal<>{})) return;   // each once too
    std::vector<std::size_t> first(sources.size());
    for (std::size_t i = 0, sum = 0; i < first.size(); sum += in.counts[i++]) first[i] = sum;
    received<T> sorted;
    sorted.data.reserve(in.data.size());
    for (std::size_t const i : stable_order(sources, std::identity{})) {
      auto const from = in.data.begin() + static_cast<std::ptrdiff_t>(first[i]);
      sorted.data.insert(sorted.data.end(), std::make_move_iterator(from),
                         std::make_move_iterator(from + static_cast<std::ptrdiff_t>(in.counts[i])));
      if (!sorted.sources.empty() && sorted.sources.back() == sources[i]) sorted.counts.back() += in.counts[i];
      else sorted.sources.push_back(sources[i]), sorted.counts.push_back(in.counts[i]);
    }
    in = std::move(sorted);
  }

  received<T> in;

 private:
  [[noreturn]] void refuse_call(std::string const& why) const { throw argument_error(where_sparse(at_) + why); }

  template <standard_integer Rank>
  void add_message(Rank to, std::span<T const> values) {
    if (std::cmp_less(to, 0) || std::cmp_greater_equal(to, at_.size()))
      refuse_call("message " + std::to_string(out_.size()) + " is for rank " + std::to_string(to) +
                  ", ranks are 0 to " + std::to_string(at_.size() - 1));
    out_.push_back({static_cast<int>(to), reinterpret_cast<std::byte const*>(values.data()), values.size()});
  }
  // One message for each target. Those of a single one stay where they are.
  void join() {
    if (!std::ranges::is_sorted(out_, {}, &outgoing_message::to))
      sort_stably(out_, [](outgoing_message const& one) { return one.to; });
    auto const end_of = [&](std::size_t i) {
      std::size_t j = i + 1;
      while (j < out_.size() && out_[j].to == out_[i].to) ++j;
      return j;
    };
    std::size_t several = 0, kept = 0;
    for (std::size_t i = 0, j; i < out_.size(); i = j)
      if ((j = end_of(i)) > i + 1)
        for (std::size_t k = i; k < j; ++k) several += out_[k].elements;
    joined_.reserve(several);
    for (std::size_t i = 0, j; i < out_.size(); i = j) {
      outgoing_message one = out_[i];
      if ((j = end_of(i)) > i + 1) {
        one.elements = 0;
        one.data = reinterpret_cast<std::byte const*>(joined_.data() + joined_.size());
        for (std::size_t k = i; k < j; ++k) {
          auto const* const from = reinterpret_cast<T const*>(out_[k].data);
          joined_.insert(joined_.end(), from, from + out_[k].elements);
          one.elements += out_[k].elements;
        }
      }
      out_[kept++] = one;
    }
    out_.resize(kept);
  }

  endpoint& at_;
  std::vector<outgoing_message> out_;
  std::vector<T> joined_;
  std::vector<std::vector<T>> packed_;
};

}  // namespace detail
}  // namespace colligo
