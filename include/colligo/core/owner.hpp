// SPDX-License-Identifier: BSL-1.0
/// @file
/// std::unique_ptr without deleters, which costs a unit twenty functions less for each type.
#pragma once

#include <utility>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class T>
class owner {
 public:
  owner(std::nullptr_t = nullptr) {}
  explicit owner(T* its) : its_(its) {}
  owner(owner&& other) noexcept : its_(other.release()) {}
  template <class Derived>
  owner(owner<Derived>&& other) noexcept : its_(other.release()) {}
  owner& operator=(owner other) noexcept {
    std::swap(its_, other.its_);
    return *this;
  }
  ~owner() { delete its_; }

  T* get() const { return its_; }
  T* operator->() const { return its_; }
  T& operator*() const { return *its_; }
  explicit operator bool() const { return its_ != nullptr; }
  T* release() { return std::exchange(its_, nullptr); }
  void reset() { delete release(); }

 private:
  T* its_ = nullptr;
};

template <class T, class... Arguments>
owner<T> make_owner(Arguments&&... its) {
  return owner<T>(new T(std::forward<Arguments>(its)...));
}

}  // namespace colligo
