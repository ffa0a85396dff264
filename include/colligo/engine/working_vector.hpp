// SPDX-License-Identifier: BSL-1.0
/// @file
/// The vector of a run. The user's input is never copied first: a range is read from the input until it has been
/// written in the output, so the first fold is out = op(in, received).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include "../core/clock.hpp"
#include "../core/indexed.hpp"
#include "../core/step.hpp"
#include "call.hpp"
#include "run_record.hpp"
#include "scratch.hpp"
#include "written_ranges.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t cached_stretch = 8192;   // bytes that stay in a first-level cache

inline constexpr std::size_t copied_at_once = 4096;   // bytes: then a waiting rank looks for messages again

/// One rank's contribution to a range.
struct contribution {
  int rank;
  std::byte const* values;
};

/// Several ranks' contributions to one range, from the lowest rank to the highest. A function of an erased type, which
/// has to outlive this, returns the k-th one.
class contributions {
 public:
  template <class F>
  contributions(F const& f)
      : f_(&f), call_([](void const* held, std::size_t k) { return (*static_cast<F const*>(held))(k); }) {}
  contribution operator()(std::size_t k) const { return call_(f_, k); }

 private:
  void const* f_;
  contribution (*call_)(void const* f, std::size_t k);
};

/// A rank's input, and the memory for received and combined data.
class working_vector {
 public:
  /// On the user's input and output.
  working_vector(call const& call, scratch& memory) : working_vector(call, call.in, call.out, call.beyond, memory) {}
  /// On this memory; the same memory as input and output means in place. `beyond`: the elements behind the vector, if
  /// `out` does not have them. Takes references: all have to outlive this.
  working_vector(call const& call, values<std::byte const> const& in, values<std::byte> const& out,
                 values<std::byte> const& beyond, scratch& memory)
      : call_(call), in_(in), out_(out), beyond_(beyond), memory_(memory),
        written_(in.data == out.data ? out.covers : range{}) {}

  element const& of() const { return *call_.of; }
  collective what() const { return call_.what; }
  scratch& memory() const { return memory_; }
  /// No operand has more elements.
  std::size_t longest() const { return std::max({call_.vector.whole.size(), in_.covers.size(), out_.covers.size()}); }

  /// The current values of a range.
  std::byte const* read(range const& r) {
    range const own = common(r, in_.covers);
    if (written_.contain(own)) return out_at(r);
    if (own == r && !written_.touch(r)) return at(in_, r);
    copy_rest();
    return out_at(r);
  }

  /// The rank's own values that an operand refers to; a combination is made in `free`.
  std::byte const* read(range const& r, own which, std::byte* free) {
    if (which == own::result) return read(r);
    if (which == own::input || !written_.touch(r)) return at(in_, r);
    combine(read(r), at(in_, r), free, r.size(), r.first);
    return free;
  }

  /// The memory for new values of a range, which counts as written from now on.
  std::byte* write(range const& r) {
    if (!written_.add(common(r, in_.covers))) copy_rest();
    return out_at(r);
  }

  /// Combines values from a lower or a higher rank into a range.
  void combine(range const& r, std::byte const* received, bool from_lower, own with) {
    std::byte const* const mine = read(r, with, out_at(r));
    std::byte* const into = write(r);
    combine(from_lower ? received : mine, from_lower ? mine : received, into, r.size(), r.first);
  }

  /// Combines values from n ranks, with the rank's own values at their place in the order of ranks: the same grouping,
  /// and so the same bits, on every rank.
  [[gnu::noinline]] void combine_in_order(range const& r, int me, std::size_t n, contributions const& from) {
    std::size_t const stretch =
        of().bytes(r.size()) <= cached_stretch ? r.size() : std::max<std::size_t>(1, cached_stretch / of().size);
    for (std::size_t first = r.first; first < r.last; first += std::min(stretch, r.last - first)) {
      range const part{first, std::min(r.last, first + stretch)};
      std::byte const* const own = read(part);
      std::byte* const into = write(part);
      std::byte const* left = nullptr;
      std::size_t operands = 0;
      auto const take = [&](std::byte const* right) {
        if (left) combine(left, right, into, part.size(), part.first);
        left = ++operands == 1 ? right : into;
      };
      bool const late = own == into && n > 1 && contribution(from(1)).rank < me;   // overwritten before it is combined
      room kept;
      try {
        kept.make(memory_.kept, of(), late ? part.size() : 0);
        if (late) of().copy(own, part.size(), kept.data());
      } catch (...) {
        return fail(std::current_exception());
      }
      if (late && record_) [[unlikely]] record_->copy(own, of().bytes(part.size()), kept.data());
      bool own_taken = false;
      for (std::size_t k = 0; k < n; ++k) {
        contribution const theirs = from(k);
        if (!own_taken && theirs.rank > me) {
          take(late ? kept.data() : own);
          own_taken = true;
        }
        take(theirs.values + of().bytes(first - r.first));
      }
      if (!own_taken) take(late ? kept.data() : own);
    }
  }

  /// Copies the current values of a range to another one, or combines them into the values there.
  void move(operand const& alone) {
    auto const [from, into] = alone.elements;
    if (of().by_index) [[unlikely]] learn(from, into);
    if (alone.merges()) return combine(into, read(from), alone.what == operand::kind::merge_left, own::result);
    if (failed_) [[unlikely]] return;
    std::byte const* const source = read(from);
    copy(source, from.size(), write(into));
  }

  /// The memory for the values of a range.
  std::byte* place(range const& r) const { return out_at(r); }

  /// An exception of a functor, or of reading a serialised element, waits until the algorithm has ended, because the
  /// other ranks rely on its messages. From then on nothing is combined: this call's results are invalid.
  void fail(std::exception_ptr why) {
    if (!failed_) failed_ = std::move(why);
    combines_at_once_ = false;
    if (record_) record_->spoil();
  }
  /// From now on records what happens to data.
  void record(run_record* record) {
    record_ = record;
    combines_at_once_ = combines_at_once_ && !record;
  }
  run_record* record() const { return record_; }
  /// Combines n values, the vector's from `first` on.
  void combine(std::byte const* left, std::byte const* right, std::byte* out, std::size_t n, std::size_t first = 0) {
    auto const now = of().combine;   // null: the functor takes an index
    if (!combines_at_once_ || !now) [[unlikely]] return combine_otherwise(left, right, out, first, first + n);
    try {
      now(call_.op, left, right, out, n);
    } catch (...) {
      fail(std::current_exception());
    }
  }
  /// From now on adds the time of combining to *nanoseconds; null: it is not measured.
  void watch_combining(std::int64_t* nanoseconds) {
    watched_ = nanoseconds;
    combines_at_once_ = !watched_ && !failed_;
  }
  bool has_failed() const { return failed_ != nullptr; }
  std::exception_ptr const& failure() const { return failed_; }
  void rethrow() {
    if (failed_) [[unlikely]] std::rethrow_exception(std::exchange(failed_, nullptr));
  }

  /// Copies to the output the ranges that have not been written there, unless they do not matter.
  void complete() {
    if (call_.output_is_free) return;
    if (!written_.contain(common(in_.covers, out_.covers))) copy_rest();
  }

  /// For a rank that waits: does a part of complete(). False if all of it is done, or if the call combines.
  bool complete_some() {
    range const both = common(in_.covers, out_.covers);
    if (combines(what()) || call_.output_is_free || of().objects || record_ || written_.contain(both)) return false;
    copy_some(both);
    return true;
  }

 private:
  [[gnu::noinline]] void combine_otherwise(std::byte const* left, std::byte const* right, std::byte* out,
                                           std::size_t first, std::size_t last) {
    if (failed_) return;
    std::int64_t const began = now_in_ns();
    try {
      if (auto const* const by = of().by_index)
        by->places->combine(places(), call_.vector.whole, of(), call_.op, {first, last}, left, right, out);
      else of().combine(call_.op, left, right, out, last - first);
      if (record_) record_->combine(left, right, out, last - first);
    } catch (...) {
      fail(std::current_exception());
    }
    if (watched_) *watched_ += now_in_ns() - began;
  }

  // Without the indices of the previous run.
  small_vector<std::size_t>& places() {
    if (!std::exchange(has_learnt_, true)) memory_.places.clear();
    return memory_.places;
  }
  [[gnu::noinline]] void learn(range from, range into) {
    try {
      of().by_index->places->learn(places(), call_.vector.whole, from, into);
    } catch (...) {   // there is no memory
      fail(std::current_exception());
    }
  }

  template <class Byte>
  Byte* at(values<Byte> const& v, range const& r) const {
    return r.empty() ? v.data : v.data + (r.first - v.covers.first) * of().size;
  }

  std::byte* out_at(range const& r) const { return at(r.first < beyond_.covers.first ? out_ : beyond_, r); }

  // The first unwritten range in `both` from `first` on; empty if there is none.
  range unwritten(std::size_t first, range const& both) const {
    range rest{first, both.last};
    for (range const part : written_)
      if (part.first <= first && first < part.last) rest.first = std::min(part.last, both.last);
    for (range const part : written_)
      if (rest.first < part.first) rest.last = std::min(rest.last, part.first);
    return rest;
  }
  void copy(std::byte const* from, std::size_t n, std::byte* to) {
    if (record_) [[unlikely]] record_->copy(from, of().bytes(n), to);
    try {
      of().copy(from, n, to);
    } catch (...) {   // of an element that is no bytes
      fail(std::current_exception());
    }
  }
  [[gnu::noinline]] void copy_rest() {
    range const both = common(in_.covers, out_.covers);
    for (range r = unwritten(both.first, both); !r.empty(); r = unwritten(r.last, both))
      copy(at(in_, r), r.size(), out_at(r));
    written_ = written_ranges(both);
  }
  [[gnu::noinline]] void copy_some(range const& both) {
    range r = unwritten(both.first, both);
    r.last = std::min(r.last, r.first + std::max<std::size_t>(1, copied_at_once / of().size));
    copy(at(in_, r), r.size(), out_at(r));
    if (!written_.add(r)) copy_rest();
  }

  call const& call_;
  values<std::byte const> const& in_;
  values<std::byte> const &out_, &beyond_;
  scratch& memory_;
  written_ranges written_;
  std::exception_ptr failed_;
  std::int64_t* watched_ = nullptr;
  run_record* record_ = nullptr;   // null: as usual
  bool combines_at_once_ = true;   // as usual: nothing has failed, and the time of combining is not measured
  bool has_learnt_ = false;        // memory_.places are of this run
};

/// Iterates over the fragments of a step's operands in the order listed; operands that vanish have none.
class fragments {
 public:
  struct end_of_list {};

  explicit fragments(std::span<operand const> list) : at_(list.data()), end_(list.data() + list.size()) { skip(); }
  fragments begin() const { return *this; }
  end_of_list end() const { return {}; }
  bool operator!=(end_of_list) const { return at_ != end_; }
  fragment operator*() const {
    return {at_->what, at_->peer, is_in_tail_ ? at_->elements.tail : at_->elements.head, at_->which};
  }
  void operator++() {
    is_in_tail_ = !is_in_tail_ && !at_->elements.tail.empty();
    if (!is_in_tail_) ++at_, skip();
  }

 private:
  void skip() {
    while (at_ != end_ && at_->vanishes()) ++at_;
  }

  operand const* at_;
  operand const* end_;
  bool is_in_tail_ = false;
};

/// The number of folds in a row, from the i-th operand on, that combine into one range at once.
inline std::size_t group_of_folds(std::span<operand const> list, std::size_t i) {
  operand const& first = list[i];
  std::size_t count = 1;
  if (first.elements.tail.empty() && first.which == own::result)
    while (i + count < list.size() && list[i + count].folds() && list[i + count].peer != nobody &&
           list[i + count].which == own::result && list[i + count].elements == first.elements)
      ++count;
  return count;
}

/// Whether there are folds into ranges that overlap, other than those that combine into one range at once: they have to
/// be combined in the order listed, not in the order of arrival.
inline bool order_matters(std::span<operand const> list) {
  for (std::size_t i = 0, count; i < list.size(); i += count) {
    count = 1;
    if (list[i].vanishes() || !list[i].folds()) continue;
    count = group_of_folds(list, i);
    for (operand const& before : list.first(i))
      if (before.folds() && !before.vanishes() && overlap(before.elements, list[i].elements)) return true;
  }
  return false;
}

/// Combines the received data of a step's folds into the vector; it lies one after the other from `received` on.
inline void combine_received(std::span<operand const> list, std::byte const* received, int me, working_vector& data) {
  auto const next = [&](range r) { return std::exchange(received, received + data.of().bytes(r.size())); };
  for (std::size_t i = 0, count; i < list.size(); i += count) {
    operand const& o = list[i];
    count = 1;
    if (o.vanishes() || !o.folds()) continue;
    count = group_of_folds(list, i);
    range const head = o.elements.head, tail = o.elements.tail;
    if (count == 1) {
      data.combine(head, next(head), o.peer < me, o.which);
      if (!tail.empty()) data.combine(tail, next(tail), o.peer < me, o.which);
    } else {
      std::size_t const bytes = data.of().bytes(head.size());
      data.combine_in_order(head, me, count, [&](std::size_t k) {
        return contribution{list[i + k].peer, received + k * bytes};
      });
      received += count * bytes;
    }
  }
}

/// The number of elements of scratch that a step needs.
struct scratch_sizes {
  std::size_t received = 0, combined = 0;

  explicit scratch_sizes(std::span<operand const> list) {
    for (fragment const p : fragments(list)) {
      if (p.folds()) received += p.elements.size();
      if (p.combines_first()) combined += p.elements.size();
    }
  }
};

}  // namespace colligo
