// SPDX-License-Identifier: BSL-1.0
/// @file
/// Elements that stand one after the other, in functions of the library alone. std::span would work, but to make one a
/// unit checks some thirty templates of ranges and iterators for each type of elements.
#pragma once

#include <cstddef>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class T>
class view {
 public:
  view() = default;
  view(T* first, std::size_t n) : first_(first), n_(n) {}
  /// Of a container that outlives the view.
  template <class Elements>
  view(Elements&& all) : first_(all.data()), n_(all.size()) {}

  T* data() const { return first_; }
  std::size_t size() const { return n_; }
  std::size_t size_bytes() const { return n_ * sizeof(T); }
  bool empty() const { return n_ == 0; }
  T* begin() const { return first_; }
  T* end() const { return first_ + n_; }
  T& operator[](std::size_t i) const { return first_[i]; }
  view part(std::size_t first, std::size_t n) const { return {first_ + first, n}; }

 private:
  T* first_ = nullptr;
  std::size_t n_ = 0;
};

}  // namespace colligo
