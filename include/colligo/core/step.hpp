// SPDX-License-Identifier: BSL-1.0
/// @file
/// The vocabulary in which every algorithm is written: three nouns and one verb, on index ranges and ranks.
///
///   step(send{to, range})     step(recv{from, range})     step(fold{from, range})     step(send{...}, fold{...}) ...
///
/// Two operands are no messages: step(copy{from, into}) and step(merge{from, into}), which combines. An algorithm may
/// use indices beyond the vector, as many as scratch() says: to bring ranges together that are not adjacent and send
/// them as one, and to keep data that is not to be combined yet.
///
/// A step performs its operands together and returns nothing. The laws, of which plan/verify.hpp checks 2 and 5:
///  1. Oblivious: control flow depends on rank, p, root, n, counts and graph only, so a schedule is a value.
///  2. Within a step, what recv writes overlaps nothing else; folds are applied after the sends have left, in the order
///     listed. Several folds in a row into one range are listed from the lowest rank to the highest and combined in
///     that order, the rank's own values at their place among them.
///  3. fold keeps the lower rank as the left operand.
///  4. nobody as peer, or an empty range, makes an operand vanish: no special cases at borders.
///  5. Messages between two ranks match in order.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "range.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A peer that does not exist: operands with it vanish, as with MPI_PROC_NULL.
inline constexpr int nobody = -1;

/// Which of a rank's own values an operand uses: the current values (its own contribution where nothing has been
/// written yet), its own contribution as it was at the beginning, or the combination of the two, contribution last.
enum class own : std::uint8_t { result, input, both };

/// Send the elements of `what` to rank `to`.
struct send {
  int to;
  cyclic_range what;
  own from = own::result;
};

/// Receive into `what` from rank `from`, overwriting.
struct recv {
  int from;
  cyclic_range what;
};

/// Receive from rank `from` and combine into `what`; the lower rank is the left operand.
struct fold {
  int from;
  cyclic_range what;
  own with = own::result;
};

/// Copy elements of this rank to another place. A step of its own.
struct copy {
  range from, into;
};

/// Combine elements of this rank into others of it, as the left operand or as the right one. A step of its own.
struct merge {
  enum class side : std::uint8_t { left, right };
  range from, into;
  side as = side::left;
};

/// Any operand, for steps whose operands are known only at run time.
struct operand {
  enum class kind : std::uint8_t { send, recv, fold, copy, merge_left, merge_right };

  kind what{};
  int peer = nobody;
  cyclic_range elements{};
  own which = own::result;

  constexpr operand() = default;
  constexpr operand(send s) : what(kind::send), peer(s.to), elements(s.what), which(s.from) {}
  constexpr operand(recv r) : what(kind::recv), peer(r.from), elements(r.what) {}
  constexpr operand(fold f) : what(kind::fold), peer(f.from), elements(f.what), which(f.with) {}
  /// Copies and merges: the head is the source, the tail the target.
  constexpr operand(copy c) : what(kind::copy), elements(c.from, c.into) {}
  constexpr operand(merge m)
      : what(m.as == merge::side::left ? kind::merge_left : kind::merge_right), elements(m.from, m.into) {}

  constexpr bool vanishes() const { return peer == nobody || elements.empty(); }
  constexpr bool merges() const { return what == kind::merge_left || what == kind::merge_right; }
  /// A copy or a merge, so no message, of at least one element.
  constexpr bool moves() const { return (what == kind::copy || merges()) && !elements.tail.empty(); }
  constexpr bool sends() const { return what == kind::send; }
  constexpr bool folds() const { return what == kind::fold; }
  /// The number of elements that the rank combines: those of folds, and again if its own values have to be combined
  /// first.
  constexpr std::size_t combined() const {
    if (merges()) return elements.tail.size();
    return elements.size() * ((folds() ? 1u : 0u) + (which == own::both ? 1u : 0u));
  }
  friend constexpr bool operator==(operand const&, operand const&) = default;
};

/// A list of operands made at run time: an array, a vector, or `listed` below, which needs no memory.
template <class List>
concept operand_list = requires(List const& list, std::size_t i) {
  { list.size() } -> std::convertible_to<std::size_t>;
  { list[i] } -> std::convertible_to<operand>;
};

/// The list at(0), at(1), ... at(count - 1), generated while it is read.
template <class At>
struct listed {
  int count;
  At at;

  constexpr std::size_t size() const { return static_cast<std::size_t>(count); }
  constexpr operand operator[](std::size_t i) const { return at(static_cast<int>(i)); }
};
template <class At>
listed(int, At) -> listed<At>;

/// What a transport may assume of a list of operands: see the types of lists below; moves: copies and merges alone.
enum class list_kind : std::uint8_t { plain, published, published_among, as_they_come, moves };

/// A list in which a rank sends one range to every other rank, so that shared memory holds the range once. The lists of
/// all ranks in this step are published ones. Transports that send messages treat it as a plain list.
template <operand_list List>
struct published : List {
  static constexpr list_kind kind = list_kind::published;
};
template <class List>
published(List) -> published<List>;

/// The same within a group of ranks: each sends to all others of its group and to nobody else, and no range is empty.
template <operand_list List>
struct published_among : List {
  list_kind kind;

  /// `holds`: that is so; otherwise the list is a plain one.
  constexpr published_among(bool holds, List const& list)
      : List(list), kind(holds ? list_kind::published_among : list_kind::plain) {}
};

/// Folds that a step may combine in the order of arrival: only for functors that commute, and the bits of two runs may
/// differ. A step that does so has `static constexpr bool sees_arrivals = true`.
template <operand_list List>
struct as_they_come {
  List list;

  constexpr explicit as_they_come(List const& folds) : list(folds) {}
};
template <class Step>
concept in_order_of_arrival = requires { requires Step::sees_arrivals; };

/// Bytes of an element: the step's if it knows them, else T's. Algorithms that call this instead of sizeof(T) can be
/// compiled for any element.
template <class T, class Step>
constexpr std::size_t element_size(Step const& step) {
  if constexpr (requires { step.element_size(); }) return step.element_size();
  else return sizeof(T);
}

/// The concept that algorithms are written against. Every transport and the recorder is a model of it.
template <class Step>
concept steps = requires(Step& step, send s, recv r, fold f, std::array<operand, 1> const& list) {
  { step.rank() } -> std::convertible_to<int>;
  { step.size() } -> std::convertible_to<int>;
  { step(s) } -> std::same_as<void>;
  { step(r) } -> std::same_as<void>;
  { step(f) } -> std::same_as<void>;
  { step(s, r) } -> std::same_as<void>;
  { step(s, f) } -> std::same_as<void>;
  { step(list) } -> std::same_as<void>;
};

}  // namespace colligo
