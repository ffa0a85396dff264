// SPDX-License-Identifier: BSL-1.0
/// @file
/// batch: calls of all_reduce with different types, lengths and functors, collected and made as one.
///
///   colligo::batch calls(world);
///   auto const sum = calls.all_reduce(x, std::plus<>{});   // a value
///   calls.all_reduce(in, out, colligo::maximum{});         // ranges, which are read and written by run()
///   calls.run();
///   use(*sum, out);
///
/// Their vectors travel as one vector. Each has its functor, which may take the index of an element in its own vector.
/// So k short calls cost little more than one. Algorithms may cut the vector between elements if alignment adds at most
/// a quarter of gaps; otherwise the batch is one element.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../engine/scratch.hpp"
#include "../communicators/communicators.hpp"
#include "../arguments/forms.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// One call of a batch; its elements begin at byte `begin` of the vector.
struct part_of_batch {
  element const& of;
  std::size_t count;
  std::byte const* in;   ///< the caller's, or a copy of a value
  std::byte* out;
  void* op;
  owner<owned_by_request> kept;   ///< owns the functor and, of a call on a value, the value and its result
  std::size_t begin = 0;
  /// Of views (../views.hpp), in place of `in` and `out`; `kept` has them.
  void (*pack)(owned_by_request& kept, std::byte* to) = nullptr;
  void (*unpack)(owned_by_request& kept, std::byte const* from) = nullptr;

  std::size_t bytes() const { return of.bytes(count); }
  /// Places the part at the first multiple of `multiple` bytes from byte `free` on. Returns its end.
  std::size_t place(std::size_t free, std::size_t multiple) {
    begin = (free + multiple - 1) / multiple * multiple;
    return begin + bytes();
  }
  /// Combines its elements within bytes first .. last of the vector. Left, right and result begin at byte `first`.
  void combine(std::size_t first, std::size_t last, std::byte const* left, std::byte const* right, std::byte* result) {
    std::size_t const from = std::max(first, begin), to = std::min(last, begin + bytes());
    if (from >= to) return;
    std::size_t const index = (from - begin) / of.size, n = (to - from) / of.size, at = from - first;
    if (of.by_index) of.by_index->combine(op, index, left + at, right + at, result + at, n);
    else of.combine(op, left + at, right + at, result + at, n);
  }
};

template <class T, class Op>
struct value_in_batch final : owned_functor<Op> {
  value_in_batch(T const& value, Op functor) : owned_functor<Op>(std::move(functor)), in(value), out(value) {}
  T in, out;
};

/// The vector of all parts, in units that are elements to the engine.
class parts_in_batch {
 public:
  parts_in_batch() = default;
  parts_in_batch(parts_in_batch const&) = delete;
  parts_in_batch& operator=(parts_in_batch const&) = delete;

  std::vector<part_of_batch> all;

  /// Fixes the places of the parts. A unit is a multiple of every element size if that leaves few gaps; otherwise it is
  /// the whole vector.
  void place() {
    std::size_t multiple = 1, alignment = 1, sum = 0;
    for (auto const& part : all) {
      commutes_ = commutes_ && part.of.commutes, exact_ = exact_ && part.of.exact;
      alignment = std::max(alignment, part.of.alignment);
      sum += part.bytes();
      if (multiple <= sum) multiple = std::lcm(multiple, part.of.size);   // otherwise gaps would be too long
    }
    bool cut = multiple * all.size() <= sum / 4;
    for (auto const& part : all) cut = cut && multiple % part.of.size == 0;
    std::size_t free = 0;
    for (auto& part : all) free = part.place(free, cut ? multiple : part.of.alignment);
    unit_ = cut ? multiple : std::max<std::size_t>(1, rounded_size((free + alignment - 1) / alignment) * alignment);
    units_ = (free + unit_ - 1) / unit_;
    alignment_ = alignment;
    bytes_ = memory_.of_size(units_ * unit_ + 1);
    std::fill_n(bytes_, units_ * unit_, std::byte{});   // gaps are sent too
  }
  std::span<std::byte> sent() { return {bytes_, units_}; }   // the engine counts units
  void take() {
    for (auto const& part : all)
      if (part.pack) part.pack(*part.kept, bytes_ + part.begin);
      else copy_bytes(part.in, part.bytes(), bytes_ + part.begin);
  }
  void give() {
    for (auto const& part : all)
      if (part.unpack) part.unpack(*part.kept, bytes_ + part.begin);
      else copy_bytes(bytes_ + part.begin, part.bytes(), part.out);
  }

  element const& unit() const {
    return kept_element({unit_, alignment_, commutes_, exact_, nullptr, &name_of_type<parts_in_batch>,
                         &name_of_type<parts_in_batch>, nullptr, &by_index, &details});
  }

 private:
  static void combine(void* parts, std::size_t first, std::byte const* left, std::byte const* right, std::byte* out,
                      std::size_t n) {
    auto& me = *static_cast<parts_in_batch*>(parts);
    for (auto& part : me.all) part.combine(first * me.unit_, (first + n) * me.unit_, left, right, out);
  }
  // "2 double std::plus<void>, 1 int colligo::maximum"
  static std::string details(void const* parts) {
    std::string words;
    for (auto const& part : static_cast<parts_in_batch const*>(parts)->all) {
      if (!words.empty()) words += ", ";
      words += std::to_string(part.count) + " " + std::string(part.of.name()) + " ";
      words += part.of.functor_name();
    }
    return words;
  }
  static constexpr indexed_combination by_index{&combine, &places_for_indices<void>::all};

  buffer memory_;
  std::byte* bytes_ = nullptr;
  std::size_t unit_ = 1, units_ = 0, alignment_ = 1;
  bool commutes_ = true, exact_ = true;
};

/// The part of a request that serves its batch.
struct run_of_batch final : owned_by_request {
  run_of_batch(parts_in_batch& all, bool& done) : parts(all), is_done(done) {}
  void begin() override {
    is_done = false;
    parts.take();
  }
  void finish() override {
    parts.give();
    is_done = true;
  }
  parts_in_batch& parts;
  bool& is_done;
};

}  // namespace detail

/// The result of a call in a batch. Precondition: the batch is alive.
template <class T>
class batched {
 public:
  batched(T const& value, bool const& done) : value_(&value), done_(&done) {}
  /// Throws error until the batch has been run.
  T const& operator*() const {
    if (!*done_) throw error("colligo: a value of a batch is read before the batch has been run");
    return *value_;
  }
  T const* operator->() const { return &**this; }
  operator T const&() const { return **this; }

 private:
  T const* value_;
  bool const* done_;
};

/// Collected calls on elements that travel as bytes. Every rank makes a batch of the same calls and runs it once: by
/// run(), by a request, or by a persistent request, which may be started again. Ranges have to live until then, the
/// batch until all of it is complete.
template <communicator Comm>
class batch {
 public:
  explicit batch(Comm const& comm) : comm_(comm) {}
  batch(batch const&) = delete;
  batch& operator=(batch const&) = delete;
  /// Prints a warning on stderr if calls have never been made and no exception is the reason.
  ~batch() {
    if (!is_used_ && !parts_.all.empty() && std::uncaught_exceptions() == exceptions_)
      std::fprintf(stderr, "colligo: a batch of %zu call%s is destroyed before it has been run\n", parts_.all.size(),
                   parts_.all.size() == 1 ? "" : "s");
  }

  /// One value per rank, which is copied now. Throws error if the batch has been run, as the other forms do.
  template <class T, class Op>
    requires(!detail::stands_in_place<T> && travels_as_bytes<T> && detail::functor_on_values<Op, T>)
  batched<T> all_reduce(T const& value, Op&& op) {
    using functor = std::decay_t<Op>;
    auto kept = detail::make_owner<detail::value_in_batch<T, functor>>(value, std::forward<Op>(op));
    auto& held = *kept;
    add<T, functor>(1, std::addressof(held.in), std::addressof(held.out), held.op, std::move(kept));
    return {held.out, is_done_};
  }
  /// Vectors of n elements each, the same n on all ranks. Throws argument_error (sizes differ, ranges overlap).
  template <detail::lasting In, detail::output_like<In> Out, class Op>
    requires(travels_as_bytes<std::ranges::range_value_t<Out>> && detail::functor_on_elements<Op, Out>)
  void all_reduce(In&& in, Out&& out, Op&& op) {
    auto const [from, to] = detail::spans_of(in, out);
    detail::call_arguments<collective::all_reduce, Comm> arguments(comm_);
    arguments.is_call = false;
    arguments.require_size(to.size(), from.size(), "the output");
    arguments.require_disjoint(from, to);
    add_vector(from, to, std::forward<Op>(op));
  }
  /// In place: all_reduce(in_place(range), op).
  template <class R, class Op>
    requires(travels_as_bytes<std::ranges::range_value_t<R>> && detail::functor_on<Op, std::ranges::range_value_t<R>>)
  void all_reduce(in_place_range<R> both, Op&& op) {
    add_vector(detail::constant(both.elements), both.elements, std::forward<Op>(op));
  }
  /// The same two with views (views.hpp).
  template <class... Arguments>
    requires((!algorithm<Arguments> && ...) &&
             detail::has_form_for_views<collective::all_reduce, detail::made::ready, Comm, Arguments...>)
  void all_reduce(Arguments&&... arguments) {
    detail::call_arguments<collective::all_reduce, Comm> checked(comm_);
    checked.is_call = false;
    auto kept = part_with_views(checked, static_cast<Arguments&&>(arguments)...);
    auto& held = *kept;
    using part = std::remove_reference_t<decltype(held)>;
    add<typename part::element, decltype(held.op)>(held.out.size(), nullptr, nullptr, held.op, std::move(kept));
    parts_.all.back().pack = &part::pack, parts_.all.back().unpack = &part::unpack;
  }

  /// Makes all calls. Throws error if the batch has been run before; otherwise as all_reduce. Collective.
  template <algorithm Algorithm = automatic>
  void run(Algorithm const& algorithm = {}) {
    make<detail::made::at_once>(algorithm);
  }
  /// The same as a request.
  template <algorithm Algorithm = automatic>
  request irun(Algorithm const& algorithm = {}) {
    return make<detail::made::started>(algorithm);
  }
  /// The same as a persistent request, which may be started any number of times and reads the ranges each time.
  template <algorithm Algorithm = automatic>
  persistent run_init(Algorithm const& algorithm = {}) {
    return make<detail::made::ready>(algorithm);
  }

 private:
  template <class T, class Op>
  void add_vector(std::span<T const> in, std::span<T> out, Op&& op) {
    using functor = std::decay_t<Op>;
    auto kept = detail::make_owner<detail::owned_functor<functor>>(std::forward<Op>(op));
    auto& held = *kept;
    add<T, functor>(out.size(), in.data(), out.data(), held.op, std::move(kept));
  }
  template <class T, class Op>
  void add(std::size_t n, T const* in, T* out, Op& op, detail::owner<detail::owned_by_request> kept) {
    static_assert(alignof(T) <= detail::cache_line,
                  "colligo: element types may have at most the alignment of a cache line");
    if (is_used_) throw error("colligo: a call is added to a batch that has been run: make another batch");
    parts_.all.push_back({detail::element_of<T, Op>, n, reinterpret_cast<std::byte const*>(in),
                          reinterpret_cast<std::byte*>(out), std::addressof(op), std::move(kept)});
  }

  template <collective C, class Op, class Accepted, class Algorithm>
  static decltype(auto) decide(Accepted& accepted, Algorithm const& algorithm) {
    return detail::decide<C, std::byte, Op>(accepted.state, accepted.call, algorithm);
  }
  template <detail::made How, class Algorithm>
  detail::made_t<How> make(Algorithm const& algorithm) {
    constexpr collective c = collective::all_reduce;
    if (std::exchange(is_used_, true))
      throw error("colligo: a batch is run twice: make another batch, or use run_init");
    detail::call_arguments<c, Comm> const arguments(comm_);
    arguments.attempt([&] { parts_.place(); });
    auto accepted = arguments.accept_whole(parts_.sent());
    accepted.call.of = &parts_.unit();
    accepted.call.wire = state_of<Comm>::template wire<std::byte, detail::no_functor, false>();   // bytes
    accepted.call.op = &parts_;
    using nothing = detail::no_functor;   // errors of the functor come when it runs
    if constexpr (How == detail::made::at_once) {
      parts_.take();
      if constexpr (std::is_same_v<Algorithm, automatic>)
        run_by_rules(accepted.state, accepted.call, &detail::policy_table_of<c>);
      else run_call(accepted.state, accepted.call, decide<c, nothing>(accepted, algorithm));
      parts_.give();
      is_done_ = true;
    } else {
      auto owned = accepted.template allocate<detail::run_of_batch>(parts_, is_done_);
      return detail::made_t<How>(detail::prepare_call(accepted.state, accepted.call,
                                                      decide<c, nothing>(accepted, algorithm), std::move(owned),
                                                      How == detail::made::ready));
    }
  }

  // A copy if possible: checked(comm) is a temporary.
  std::conditional_t<std::copy_constructible<Comm>, Comm, Comm const&> comm_;
  detail::parts_in_batch parts_;
  bool is_used_ = false, is_done_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace colligo
