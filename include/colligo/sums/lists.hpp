// SPDX-License-Identifier: BSL-1.0
/// @file
/// Elements whose size is known in the call: lists with a capacity, for top() and accumulate().
///
/// accumulate(): a rank has the combinations of dyadic intervals of the sequence's places, x 2^l .. (x + 1) 2^l - 1,
/// the fewest that cover its stretch: at most 2 lg n. Joining the lists of two consecutive stretches combines pairs of
/// intervals that form a larger one. So every combination belongs to a tree over places that does not depend on the
/// cuts of the sequence.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../communicators/communicators.hpp"
#include "../arguments/forms.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A list in memory: the number of places of its stretch, the number of entries, and the entries. If making the list
/// threw, the rank where it did, and -1.
template <class Entry>
class list_view {
 public:
  static constexpr std::size_t head = 16;   // bytes before the entries
  static_assert(travels_as_bytes<Entry>, "colligo: elements have to travel as bytes");
  static_assert(alignof(Entry) <= head, "colligo: elements of top and accumulate may have at most an alignment of 16");
  static constexpr std::size_t bytes(std::size_t capacity) { return head + capacity * sizeof(Entry); }

  explicit list_view(std::byte const* at) : at_(at) {}
  std::int64_t places() const { return word(0); }
  bool is_missing() const { return word(1) == missing; }
  std::int64_t missing_from() const { return word(0); }
  std::span<Entry const> entries() const {
    return {reinterpret_cast<Entry const*>(at_ + head), static_cast<std::size_t>(word(1))};
  }
  static void write(std::byte* at, std::int64_t places, std::span<Entry const> entries) {
    write_words(at, places, static_cast<std::int64_t>(entries.size()));
    std::copy(entries.begin(), entries.end(), reinterpret_cast<Entry*>(at + head));
  }
  static void write_missing(std::byte* at, std::int64_t rank) { write_words(at, rank, missing); }

 private:
  static constexpr std::int64_t missing = -1;
  static void write_words(std::byte* at, std::int64_t first, std::int64_t second) {
    std::int64_t const words[]{first, second};
    std::memcpy(at, words, sizeof words);
  }
  std::int64_t word(std::size_t i) const {
    std::int64_t value;
    std::memcpy(&value, at_ + 8 * i, sizeof value);
    return value;
  }
  std::byte const* at_;
};

/// Element and functor of lists with room for `capacity` entries. join(left, right) gives the entries for both
/// stretches.
template <class Entry, class Join>
element const& element_of_lists(std::size_t capacity) {
  using lists = list_view<Entry>;
  return kept_element({lists::bytes(rounded_size(capacity)), lists::head, false, false, nullptr, &name_of_type<Entry>,
                       &name_of_type<Join>,
                       [](void* op, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n) {
                         if (n == 0) return;   // else 1: a call has one list
                         lists const l(left), r(right);
                         if (l.is_missing() || r.is_missing())
                           return lists::write_missing(out, (l.is_missing() ? l : r).missing_from());
                         std::int64_t const places = l.places() + r.places();
                         lists::write(out, places, (*static_cast<Join*>(op))(l, r));
                       }});
}

/// A rank's list. If making it throws, the rank completes the call, so that the others learn of it, and then rethrows.
template <class Question>
class list_in_call {
  using view = list_view<typename Question::entry>;

 public:
  list_in_call(std::size_t capacity, int rank) : bytes(view::bytes(rounded_size(capacity))), rank_(rank) {}
  void write(Question& question) {
    try {
      view::write(bytes.data(), question.places(), question.local());
      thrown_ = nullptr;
    } catch (...) {
      thrown_ = std::current_exception();
      view::write_missing(bytes.data(), rank_);
    }
  }
  typename Question::answer read(Question& question) {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    view const all(bytes.data());
    if (all.is_missing())
      throw failed_elsewhere("colligo: rank " + std::to_string(all.missing_from()) +
                             " has failed in this call, while it worked on its range");
    return question.result(all.entries());
  }

  std::vector<std::byte> bytes;

 private:
  int rank_;
  std::exception_ptr thrown_;
};

/// Joins the lists of all ranks, in their order.
template <class Comm, class Question>
auto accept_list(Comm const& comm, std::span<std::byte> list, Question& joins) {
  call_arguments<collective::all_reduce, Comm> const arguments(comm);
  auto accepted = arguments.accept_whole(list.first(1));   // one element, to the engine
  accepted.call.of = &element_of_lists<typename Question::entry, Question>(joins.capacity());
  accepted.call.wire =
      state_of<Comm>::template wire<std::byte, no_functor, false>();   // bytes, which MPI does not know
  accepted.call.op = &joins;
  return accepted;
}

/// Answers a question whose summary is a list: `local()` makes a rank's list, the call operator joins two.
template <class Comm, class Question>
  requires requires { typename Question::entry; }
typename Question::answer answered(Comm const& comm, Question question) {
  call_arguments<collective::all_reduce, Comm> const at(comm);
  std::optional<list_in_call<Question>> list;
  at.attempt([&] { list.emplace(question.capacity(), at.rank()); });
  list->write(question);
  auto accepted = detail::accept_list(comm, list->bytes, question);
  run_by_rules(accepted.state, accepted.call, &policy_table_of<collective::all_reduce>);
  return list->read(question);
}

/// The data that a request keeps.
template <class Question>
struct owned_list final : owned_by_request {
  owned_list(Question from, typename Question::answer& to, int rank)
      : question(std::move(from)), out(to), list(question.capacity(), rank) {}
  void begin() override { list.write(question); }
  void finish() override { out = list.read(question); }

  Question question;
  typename Question::answer& out;
  list_in_call<Question> list;
};
template <made How, class Comm, class Question>
  requires requires { typename Question::entry; }
made_t<How> ask(Comm const& comm, Question question, typename Question::answer& out) {
  call_arguments<collective::all_reduce, Comm> const at(comm);
  owner<owned_list<Question>> owned;
  at.attempt([&] { owned = make_owner<owned_list<Question>>(std::move(question), out, at.rank()); });
  auto accepted = detail::accept_list(comm, owned->list.bytes, owned->question);
  return made_t<How>(prepare_by_rules(accepted.state, accepted.call, &policy_table_of<collective::all_reduce>,
                                      std::move(owned), How == made::ready));
}

/// The question of top(). Entries are in the order of before(): better ones first, NaNs last, equal ones by place.
template <class T, class Compare, class Projection>
class best_of_lists {
 public:
  using entry = located<T>;
  using answer = std::vector<entry>;
  best_of_lists(std::span<T const> all, std::size_t k, Compare compare, Projection projection)
      : all_(all), k_(k), compare_(std::move(compare)), projection_(std::move(projection)) {}
  std::size_t capacity() const { return k_; }
  std::int64_t places() const { return std::ssize(all_); }
  static answer result(std::span<entry const> found) { return {found.begin(), found.end()}; }

  bool before(entry const& a, entry const& b) {
    auto const &x = std::invoke(projection_, a.value), &y = std::invoke(projection_, b.value);
    if (unordered(x) != unordered(y)) return unordered(y);
    if (!unordered(x)) {
      if (std::invoke(compare_, x, y)) return true;
      if (std::invoke(compare_, y, x)) return false;
    }
    return a.index < b.index;
  }
  std::span<entry const> local() {
    best_.clear();
    if (k_ == 0) return best_;
    std::size_t const room = k_ + std::max<std::size_t>(k_, 256);
    best_.reserve(std::min(room, all_.size()));
    // Most elements are not among the best k so far and are compared once. The others are collected until there are
    // enough of them to find the best k again.
    T const* limit = nullptr;
    for (auto at = all_.begin(); (at = limit ? first_better(at, all_.end(), *limit) : at) != all_.end(); ++at) {
      best_.push_back({*at, at - all_.begin()});
      if (best_.size() == room) limit = all_.data() + cut().index;
    }
    if (best_.size() > k_) cut();
    std::ranges::sort(best_, [this](entry const& a, entry const& b) { return before(a, b); });
    return best_;
  }
  std::span<entry const> operator()(list_view<entry> const& left, list_view<entry> const& right) {
    best_.clear();
    auto const l = left.entries(), r = right.entries();
    for (std::size_t i = 0, j = 0; best_.size() < k_ && (i < l.size() || j < r.size());) {
      bool const from_left = j == r.size() || (i < l.size() && before(l[i], moved(r[j], left.places())));
      best_.push_back(from_left ? l[i++] : moved(r[j++], left.places()));
    }
    return best_;
  }

 private:
  static entry moved(entry const& e, std::int64_t by) { return {e.value, e.index + by}; }
  /// The first element that is better than `other`, which is at a lower place; equal ones are not.
  template <class At>
  At first_better(At at, At end, T const& other) {
    auto const& limit = std::invoke(projection_, other);
    if (unordered(limit))
      return std::find_if(at, end, [&](T const& value) { return !unordered(std::invoke(projection_, value)); });
    return std::find_if(at, end, [&](T const& value) {
      return static_cast<bool>(std::invoke(compare_, std::invoke(projection_, value), limit));
    });
  }
  /// Keeps the best k, and returns the last of them.
  entry cut() {
    auto const last = best_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(best_.begin(), last, best_.end(), [this](entry const& a, entry const& b) { return before(a, b); });
    best_.erase(last + 1, best_.end());
    return best_.back();
  }

  std::span<T const> all_;
  std::size_t k_;
  Compare compare_;
  Projection projection_;
  std::vector<entry> best_;
};

/// The combination of the elements at `size` places from `place` on.
template <class T>
struct combined_interval {
  std::int64_t place, size;
  T value;

  /// The two are the halves of a dyadic interval.
  bool precedes(combined_interval const& next) const {
    return size == next.size && place + size == next.place && place % (2 * size) == 0;
  }
};

/// The question of accumulate().
template <class T, class Op>
class intervals_of_lists {
 public:
  using entry = combined_interval<T>;
  using answer = T;
  /// Of n places in all, of which the range has those from `first` on. Op is a functor or a reference to one.
  intervals_of_lists(std::span<T const> all, std::int64_t first, std::int64_t n, Op op)
      : all_(all),
        first_(first),
        capacity_(2 * static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(n))) + 2),
        op_(static_cast<Op&&>(op)) {}
  std::size_t capacity() const { return capacity_; }
  std::int64_t places() const { return std::ssize(all_); }
  answer result(std::span<entry const> found) {
    if (found.empty()) return {};
    T result_so_far = found.front().value;
    for (auto const& next : found.subspan(1)) result_so_far = static_cast<T>(op_(result_so_far, next.value));
    return result_so_far;
  }

  std::span<entry const> local() {
    intervals_.clear();
    std::int64_t place = first_;
    for (T const& value : all_) add({place++, 1, value});
    return intervals_;
  }
  std::span<entry const> operator()(list_view<entry> const& left, list_view<entry> const& right) {
    auto const l = left.entries();
    intervals_.assign(l.begin(), l.end());
    for (entry const& next : right.entries()) add(next);
    return intervals_;
  }

 private:
  void add(entry next) {
    for (; !intervals_.empty() && intervals_.back().precedes(next); intervals_.pop_back())
      next = {intervals_.back().place, 2 * next.size, static_cast<T>(op_(intervals_.back().value, next.value))};
    intervals_.push_back(next);
  }

  std::span<T const> all_;
  std::int64_t first_;
  std::size_t capacity_;
  Op op_;
  std::vector<entry> intervals_;
};

}  // namespace colligo
