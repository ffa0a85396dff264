// SPDX-License-Identifier: BSL-1.0
/// @file
/// The only kind of step that compiled algorithms see. Its implementations execute, record, trace or measure them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "small_vector.hpp"
#include "step.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A pair of contiguous messages, one out and one in; nobody or an empty range where there is none.
struct pair_of {
  int to, from;
};
struct pair_kind {
  own sent = own::result;
  bool folds = false;
  own with = own::result;
};

class any_step {
 public:
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::size_t element_size() const { return element_size_; }   ///< bytes

  /// Accepts lists as_they_come; implementations that do not see arrivals combine in the order listed.
  static constexpr bool sees_arrivals = true;

  void operator()(send const& s) { pair(s, {}, nobody, {s.from, false, own::result}); }
  void operator()(recv const& r) { pair({nobody, {}}, r.what, r.from, {}); }
  void operator()(fold const& f) { pair({nobody, {}}, f.what, f.from, {own::result, true, f.with}); }
  void operator()(send const& s, recv const& r) { pair(s, r.what, r.from, {s.from, false, own::result}); }
  void operator()(send const& s, fold const& f) { pair(s, f.what, f.from, {s.from, true, f.with}); }
  void operator()(copy const& c) { move_if_any(c); }
  void operator()(merge const& m) { move_if_any(m); }
  template <class... Operands>
    requires(std::is_convertible_v<Operands, operand> && ...)
  void operator()(Operands const&... operands) { (*this)(std::array{operand(operands)...}); }

  template <operand_list List>
  void operator()(List const& operands) {
    list_kind kind = list_kind::plain;
    if constexpr (requires { operands.kind; }) kind = operands.kind;
    if constexpr (std::is_convertible_v<List const&, std::span<operand const>>) list(operands, kind);
    else list(generated(operands), kind);
  }
  template <operand_list List>
  void operator()(as_they_come<List> const& folds) { list(generated(folds.list), list_kind::as_they_come); }

  /// The implementation. exchange() takes ranges by value, in registers; operands would go through memory.
  virtual void exchange(range out, range in, pair_of peers, pair_kind kind) {
    list(operands_of(out, in, peers, kind), list_kind::plain);
  }
  /// Some of the operands may vanish.
  virtual void list(std::span<operand const> operands, list_kind kind) = 0;
  /// Copies or combines elements of this rank. Precondition: the ranges are not empty.
  virtual void move(operand const& alone) = 0;
  /// Messages between this rank and `peer` go through memory that both share.
  virtual bool shares_memory_with(int) const { return false; }

 protected:
  /// `operands`: memory for lists that are no arrays (`listed`).
  any_step(int rank, int size, std::size_t element_size, detail::small_vector<operand>& operands)
      : rank_(rank), size_(size), element_size_(element_size), operands_(operands) {}
  /// A view of another step, with the same memory for lists.
  any_step(int rank, int size, any_step& other) : any_step(rank, size, other.element_size_, other.operands_) {}
  any_step(any_step const&) = delete;
  any_step& operator=(any_step const&) = delete;
  ~any_step() = default;

  static std::array<operand, 2> operands_of(cyclic_range out, cyclic_range in, pair_of peers, pair_kind kind) {
    return {send{peers.to, out, kind.sent},
            kind.folds ? operand(fold{peers.from, in, kind.with}) : operand(recv{peers.from, in})};
  }

  detail::small_vector<operand>& list_memory() { return operands_; }
  /// Elements of the next run have this size.
  void set_element_size(std::size_t bytes) { element_size_ = bytes; }

 private:
  void move_if_any(operand const& o) {
    if (o.moves()) move(o);
  }
  void pair(send const& s, cyclic_range const& in, int from, pair_kind kind) {
    if (s.what.tail.empty() && in.tail.empty() && s.from != own::both) [[likely]]
      return exchange(s.what.head, in.head, {s.to, from}, kind);
    list(operands_of(s.what, in, {s.to, from}, kind), list_kind::plain);
  }

  template <operand_list List>
  std::span<operand const> generated(List const& source) {
    std::size_t count = 0;
    operands_.resize(source.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      operands_[count] = source[i];
      if (!operands_[count].vanishes()) ++count;
    }
    return {operands_.data(), count};
  }

  int rank_, size_;
  std::size_t element_size_;
  detail::small_vector<operand>& operands_;
};

static_assert(steps<any_step>);

}  // namespace colligo
