// SPDX-License-Identifier: BSL-1.0
/// @file
/// The common part of the public headers: the checks of a call's arguments, the checks at compile time, and the step
/// from types to bytes. No template on element type and functor goes further.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/functor.hpp"
#include "../core/indexed.hpp"
#include "../engine/call.hpp"
#include "../engine/handles.hpp"
#include "../rules/decide.hpp"
#include "accepted_types.hpp"
#include "refusals.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Input and output as spans.
template <class In, class Out>
auto spans(In const& in, Out& out) {
  using T = std::ranges::range_value_t<Out>;
  return std::pair(std::span<T const>(in), std::span<T>(out));
}

/// These elements as the values of a stretch of the vector.
template <class T>
auto holding(std::span<T> elements, range stretch) {
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

/// A call is blocking, started as a request, or made as a persistent request.
enum class made { at_once, started, ready };
/// Its result type.
template <made How>
using made_t = std::conditional_t<How == made::at_once, void,
                                  std::conditional_t<How == made::started, request, persistent>>;

/// A functor that a request keeps.
template <class Op>
struct owned_functor : owned_by_request {
  explicit owned_functor(Op f) : op(std::move(f)) {}
  Op op;
};

/// Checks at compile time that an algorithm fits the element type and the functor.
template <collective C, class Algorithm, class T, class Op, class Comm>
constexpr void check_laws() {
  constexpr bool has_form = offers<Algorithm, C, T, Op>;   // the concept itself would be explained in six lines
  static_assert(has_form, "colligo: this algorithm has no form for this collective: those that have are in the table "
                "\"Algorithms and knobs\" of examples/guide/algorithms.md, and in what colligo::named(\"?\") throws");
  if constexpr (has_form) {
    static_assert(keeps_order<policy_t<C, Algorithm, T, Op>>() || may_reorder<Op, T>(),
                  "colligo: this algorithm reorders operands and the functor is not known to commute: wrap it, "
                  "colligo::as_commutative(op), "
                  "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order");
    static_assert(!std::is_same_v<Algorithm, vendor> || state_of<Comm>::template has_vendor<T>,
                  "colligo: vendor is the MPI library's own collective: it needs a communicator over MPI and elements "
                  "that travel as bytes");
    static_assert(!std::is_same_v<Algorithm, vendor> || !takes_index<Op, T>,
                  "colligo: vendor is the MPI library's own collective, which does not know the index of the elements "
                  "that it combines");
  }
}

/// A call whose arguments have been accepted, except functor and algorithm.
template <collective C, class Comm, class T>
class accepted {
 public:
  endpoint& state;
  detail::call call;

  /// Makes the call, and returns when it is complete on this rank; or makes a request that keeps the functor.
  template <made How = made::at_once, class Op, class Algorithm>
  made_t<How> make(Op&& op, Algorithm const& algorithm) {
    static_assert(!is_decided_at_run_time<Algorithm> || requires { sizeof(all_policies<Algorithm>); },
                  "colligo: with COLLIGO_PINNED a call names its algorithm by a tag: include <colligo/automatic.hpp> "
                  "for others");
    using functor = std::remove_reference_t<Op>;
    if constexpr (How != made::at_once) {
      using kept = std::decay_t<Op>;
      static_assert(std::is_constructible_v<kept, Op>, "colligo: a request keeps the functor, which can not be copied: "
                    "write std::move(op), or std::ref(op), and keep it until wait()");
      if constexpr (!std::is_constructible_v<kept, Op>) return made_t<How>();
      else if constexpr (std::is_empty_v<kept> && std::is_trivially_copyable_v<kept>) {
        static kept without_state(std::forward<Op>(op));   // for all requests: equal, because it is empty
        set_functor<Algorithm>(without_state);
        return prepare<How, kept>(algorithm, {});
      } else {
        return make_owning<How, kept>(own<owned_functor<kept>>(std::forward<Op>(op)), algorithm);
      }
    } else if constexpr (std::is_function_v<functor>) {
      make(&op, algorithm);
    } else {
      set_functor<Algorithm>(op);
      if constexpr (std::is_same_v<Algorithm, automatic>) run_by_rules(state, call, &policy_table_of<C>);
      else if constexpr (requires { algorithm.run(state, call, &policy_table_of<C>); }) {
        Algorithm::template check<C, T, std::remove_cv_t<functor>, Comm>();
        algorithm.run(state, call, &policy_table_of<C>);
      } else run_call(state, call, decide<functor>(algorithm));
    }
  }

  /// Makes an object that a request owns. If that fails, tells the other ranks.
  template <class Owned, class... Arguments>
  owner<Owned> own(Arguments&&... arguments) {
    try {
      return make_owner<Owned>(std::forward<Arguments>(arguments)...);
    } catch (...) {
      refuse_request({state, C, call.checked()});
      throw;
    }
  }
  template <made How, class Op, class Owned, class Algorithm>
  made_t<How> make_owning(owner<Owned> owned, Algorithm const& algorithm) {
    set_functor<Algorithm>(owned->op);
    return prepare<How, Op>(algorithm, std::move(owned));
  }

 private:
  template <class Algorithm, class Op>
  void set_functor(Op& op) {
    static_assert(!travels_as_bytes<T> || alignof(T) <= cache_line,
                  "colligo: element types may have at most the alignment of a cache line");
    call.of = &element_of<T, Op>;
    call.wire = state_of<Comm>::template wire<T, Op, may_be_vendor<Algorithm>>();
    call.op = const_cast<void*>(static_cast<void const*>(std::addressof(op)));
  }

  template <made How, class Op, class Algorithm>
  made_t<How> prepare(Algorithm const& algorithm, owner<owned_by_request> owned) const {
    if constexpr (std::is_same_v<Algorithm, automatic>)
      return made_t<How>(prepare_by_rules(state, call, &policy_table_of<C>, std::move(owned), How == made::ready));
    else return made_t<How>(prepare_call(state, call, decide<Op>(algorithm), std::move(owned), How == made::ready));
  }

  template <class Op, class Algorithm>
  decltype(auto) decide(Algorithm const& algorithm) const {
    using op = std::remove_cv_t<Op>;
    if constexpr (decides_itself<Algorithm>) Algorithm::template check<C, T, op, Comm>();
    else if constexpr (!is_decided_at_run_time<Algorithm>) check_laws<C, Algorithm, T, op, Comm>();
    if constexpr (is_decided_at_run_time<Algorithm> || offers<Algorithm, C, T, op>)
      return detail::decide<C, T, op>(state, call, algorithm);
    else return choice();   // the message above is the only error
  }
};

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
    if (is != wanted) [[unlikely]] refuse_size(as_refused(call), is, wanted, which);
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
    std::uint32_t const calls = calls_of(state_) + n;
    try {
      return f();
    } catch (...) {
      refuse_rest(as_refused(), calls);
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
            {C, nullptr, nullptr, nullptr, memberwise(vector), holding(in, in_covers), holding(out, out_covers), root,
             before(), C == collective::exclusive_scan && state_.rank() == 0}};   // rank 0 gets init
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

}  // namespace detail
}  // namespace colligo
