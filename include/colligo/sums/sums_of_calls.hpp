// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that add up floating point numbers, made on exact sums instead, and rounded once. COLLIGO_SUM=exact and
/// require{any_order} recognise them, and make a call on a long vector in parts.
#pragma once

#include <algorithm>
#include <functional>
#include <new>
#include <string_view>
#include <vector>

#include "../engine/communicator_state.hpp"
#include "summing.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The functor adds up elements of this type. By names: addresses of functions may differ between shared libraries.
template <class T>
bool adds_up(element const& of) {
  std::string_view const functor = of.functor_name();
  return of.name() == name_of_type<T>() &&
         (functor == name_of_type<std::plus<>>() || functor == name_of_type<std::plus<T>>());
}

/// Makes a call in parts of at most `most` elements, so that other types of elements need little memory; in one part if
/// the vector consists of blocks. allocate(length): for parts of that length. run(part, done): the call on the elements
/// from `done` on, with the pointers of the whole.
template <class Allocate, class Run>
void run_in_parts(communicator_state& state, call const& whole, std::size_t most, Allocate allocate, Run run) {
  std::size_t const n = whole.vector.whole.size(), length = has_blocks(whole.what) ? n : std::min(n, most);
  try {
    allocate(length);
  } catch (std::bad_alloc const& e) {
    state.refuse(e.what());
    throw;
  }
  std::size_t done = 0;
  do {
    call part = whole;
    if (length != n)
      for (range* const cut : {&part.vector.whole, &part.in.covers, &part.out.covers})
        *cut = {0, std::min(cut->size(), std::min(length, n - done))};
    run(part, done);
    done += length;
  } while (done < n);
}

/// The call on exact sums; the same call if it adds up no floating point numbers.
inline call on_exact_sums(communicator_state& state, call const& rounded) {
  call made = rounded;
  if (adds_up<double>(*rounded.of)) made.of = &element_of<exact_sum<double>, std::plus<>>;
  else if (adds_up<float>(*rounded.of)) made.of = &element_of<exact_sum<float>, std::plus<>>;
  else return made;
  made.wire = state.wire_of_bytes();
  return made;
}

/// A rank's exact sums, contributed and received.
template <class T>
struct sums_of_call {
  std::vector<exact_sum<T>> in, out;

  sums_of_call(std::size_t contributed, std::size_t wanted) : in(contributed), out(wanted) {}
  void take(std::byte const* from, std::size_t n) {
    auto const* const numbers = reinterpret_cast<T const*>(from);
    for (std::size_t i = 0; i < n; ++i) in[i] = exact_sum<T>(numbers[i]);
  }
  /// Rounds once, with `init` in the sums; null: there is none.
  void give(std::byte* to, std::size_t n, initial_value* init) {
    if (init) {
      init->is_in_result = true;
      for (std::size_t i = 0; i < n; ++i) out[i] += *static_cast<T const*>(init->value);
    }
    for (std::size_t i = 0; i < n; ++i) reinterpret_cast<T*>(to)[i] = out[i].value();
  }
  /// Turns the call into one on these.
  void stand_for(call& call) {
    call.in.data = reinterpret_cast<std::byte const*>(in.data());
    call.out.data = reinterpret_cast<std::byte*>(out.data());
  }
};

/// Sums are up to 39 times as long as numbers, so long vectors are sent in parts if possible.
template <class T, class Run>
void run_on_exact_sums(communicator_state& state, call const& rounded, Run run) {
  constexpr std::size_t most = 4096;
  sums_of_call<T> sums(0, 0);
  auto const allocate = [&](std::size_t length) {
    sums = {std::min(rounded.in.covers.size(), length), std::min(rounded.out.covers.size(), length)};
  };
  run_in_parts(state, on_exact_sums(state, rounded), most, allocate, [&](call part, std::size_t done) {
    sums.stand_for(part);
    sums.take(rounded.in.data + done * sizeof(T), part.in.covers.size());
    if (rounded.what == collective::exclusive_scan) std::ranges::fill(sums.out, exact_sum<T>());
    run(part);
    sums.give(rounded.out.data + done * sizeof(T), part.out.covers.size(), rounded.init);
  });
}

}  // namespace colligo
