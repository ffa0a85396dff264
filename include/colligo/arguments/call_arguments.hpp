// SPDX-License-Identifier: BSL-1.0
/// @file
/// The common part of the public headers: the checks of a call's arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "../core/indexed.hpp"
#include "accepted.hpp"
#include "accepted_types.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Input and output as spans.
template <class In, class Out>
auto spans_of(In const& in, Out& out) {
  using T = std::ranges::range_value_t<Out>;
  return std::pair(std::span<T const>(in), std::span<T>(out));
}

/// These elements as the values of a stretch of the vector.
template <class T>
auto values_of(std::span<T> elements, range stretch) {
  using byte = std::conditional_t<std::is_const_v<T>, std::byte const, std::byte>;
  return values<byte>{reinterpret_cast<byte*>(elements.data()), stretch};
}

/// Copies member by member: a wide load after narrow stores stalls.
inline blocks memberwise(blocks const& b) {
  return {{b.whole.first, b.whole.last}, b.parts, b.offsets, b.idle, b.finer, b.lengths, b.edges};
}

/// Ranks compare every call over such a communicator.
template <class Comm>
inline constexpr bool checks_calls = requires { state_of<Comm>::checks_calls; };

/// A call on one rank: checks its arguments.
template <collective C, communicator Comm>
class call_arguments {
 public:
  explicit call_arguments(Comm const& comm) : state_(state_of<Comm>::open(comm)) {}
  /// Of a call on a graph, which knows the state.
  explicit call_arguments(endpoint& state) : state_(state) {}
  /// Of a call with a root.
  call_arguments(Comm const& comm, int root) : call_arguments(comm) {
    if (root < 0 || root >= size()) [[unlikely]] refuse_root(as_refused(), root);
  }

  bool is_call = true;   ///< false: what is refused is a part of a later call

  int rank() const { return state_.rank(); }
  int size() const { return state_.size(); }
  bool at(int root) const { return state_.rank() == root; }

  /// `call`: its name in the error; null: the collective's.
  void require_size(std::size_t is, std::size_t wanted, char const* which, char const* call = nullptr) const {
    if (is == wanted) [[likely]] return;
    if constexpr (has_blocks(C)) refuse_length(as_refused(call), is, wanted, which);
    else refuse_size(as_refused(call), is, wanted, which);
  }
  template <std::integral N>
  void require_count(N count, char const* call = nullptr) const {
    if (std::cmp_less(count, 0)) [[unlikely]] refuse_count(as_refused(call), std::to_string(count));
  }
  template <class T>
  void require_disjoint(std::span<T const> in, std::span<T> out, char const* call = nullptr) const {
    std::less<T const*> const before;
    if (!in.data() || !out.data()) return;
    bool const apart = in.empty() || out.empty() || !before(in.data(), out.data() + out.size()) ||
                       !before(out.data(), in.data() + in.size());
    auto const within = [&](auto a, auto b) {
      return !before(a.data(), b.data()) && !before(b.data() + b.size(), a.data() + a.size());
    };
    if (!apart) [[unlikely]] detail::refuse_overlap(as_refused(call), within(in, out) || within(out, in));
  }

  refused as_refused(char const* call = nullptr) const {
    return {state_, C, (before() & agreement) != 0, call, is_call};
  }
  /// Throws on a rank with an empty container that has received a broadcast of elements.
  [[noreturn]] void refuse_empty_container(char const* note) const { detail::refuse_empty_container(state_, note); }
  /// Calls f() and reports its exception to the other ranks, which may wait for this one.
  template <class F>
  void attempt(F f) const {
    try {
      f();
    } catch (...) {
      refuse_request(as_refused());
      throw;
    }
  }
  /// Calls f(), which makes n calls. If it throws, refuses the calls that f() has not made: other ranks may make them.
  template <class F>
  decltype(auto) make_calls(std::uint32_t n, F f) const {
    std::uint32_t const before_them = calls_of(as_refused());
    try {
      return f();
    } catch (...) {
      refuse_rest(as_refused(), before_them, n);
      throw;
    }
  }

  /// Checks the counts of a v-collective and returns its blocks.
  template <std::ranges::sized_range Counts>
  blocks blocks_of(Counts const& counts) const {
    set_hooks_of_counts<void>();
    std::size_t* const offsets = room_for_offsets(static_cast<std::size_t>(size()) + 1);
    std::size_t const sum = make_calls(1, [&] { return *add_blocks(counts, offsets); });
    blocks vector = numbered({{0, sum}, size(), offsets});
    vector.lengths = &state_.lengths;
    return vector;
  }
  /// The same for all_to_all_v, which has two vectors: see vectors_of().
  template <std::ranges::sized_range In, std::ranges::sized_range Out>
  blocks blocks_of(In const& in, Out const& out) const {
    set_hooks_of_counts<void>();
    std::size_t* const offsets = room_for_offsets(offsets_of(C, size()));
    make_calls(1, [&] { return add_blocks(out, add_blocks(in, offsets)); });
    return numbered({{}, size(), offsets});
  }
  /// Blocks of n elements each.
  blocks blocks_of(std::size_t n) const { return {{0, n * static_cast<std::size_t>(size())}, size()}; }

  /// `in` is this rank's contribution, `out` its result, each a stretch of `vector`.
  template <class T>
  accepted<C, Comm, T> accept(blocks const& vector, std::span<T const> in, range in_covers, std::span<T> out,
                              range out_covers, int root = 0) const {
    if (!in.data() && !in_covers.empty()) [[unlikely]] refuse_null(as_refused(), "the input", in_covers.size());
    if (!out.data() && !out_covers.empty()) [[unlikely]] refuse_null(as_refused(), "the output", out_covers.size());
    return {state_,
            {C, nullptr, nullptr, nullptr, memberwise(vector), values_of(in, in_covers), values_of(out, out_covers),
             root, before(), C == collective::exclusive_scan && state_.rank() == 0}};   // rank 0 gets init
  }
  /// `in` and `out` are the whole vector, or empty on a rank that contributes nothing or gets nothing.
  template <class T>
  auto accept_whole(std::span<T const> in, std::span<T> out, int root = 0) const {
    blocks const vector{{0, std::max(in.size(), out.size())}, size()};
    return accept(vector, in, {0, in.size()}, out, {0, out.size()}, root);
  }
  template <class T>
  auto accept_whole(std::span<T> both) const { return accept_whole(std::span<T const>(both), both); }

 private:
  std::uint8_t before() const {
    return checks_calls<Comm> ? static_cast<std::uint8_t>(state_.before() | agreement) : state_.before();
  }
  std::size_t* room_for_offsets(std::size_t n) const {
    if (state_.offsets.size() != n) [[unlikely]]   // of another kind of call: one vector or two
      attempt([&] { state_.offsets.resize(n), state_.distribution = endpoint::new_distribution; });
    return state_.offsets.data();
  }
  // Writes the ends of the blocks. If they equal those of the latest call, the distribution keeps its number, by which
  // choices and plans are found again.
  template <std::ranges::sized_range Counts>
  std::size_t* add_blocks(Counts const& counts, std::size_t* end) const {
    require_size(std::ranges::size(counts), static_cast<std::size_t>(size()), "the list of counts");
    std::ranges::range_value_t<Counts> least = 0;
    std::size_t sum = *end;
    bool others = false;
    std::uint64_t const number = std::exchange(state_.distribution, endpoint::new_distribution);   // counts may throw
    for (auto const count : counts) {
      least = std::min(least, count);
      sum += static_cast<std::size_t>(count);
      others |= *++end != sum;
      *end = sum;
    }
    if (!others) [[likely]] state_.distribution = number;
    require_count(least);
    return end;
  }
  blocks numbered(blocks const& vector) const {
    if (state_.distribution == endpoint::new_distribution) [[unlikely]] number_blocks(as_refused(), vector);
    return vector;
  }

  endpoint& state_;
};

}  // namespace colligo
