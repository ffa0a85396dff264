// SPDX-License-Identifier: BSL-1.0
/// @file
/// What COLLIGO_SUM=exact and require{any_order} share: they recognise calls that add up floating point numbers, and
/// make a call on a long vector in parts.
#pragma once

#include <algorithm>
#include <functional>
#include <new>
#include <string_view>

#include "../engine/communicator_state.hpp"

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

}  // namespace colligo
