// SPDX-License-Identifier: BSL-1.0
/// @file
/// std::unique_ptr without deleters: for each type a unit compiles some twenty functions fewer.
#pragma once

#include <utility>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class T>
class owner {
 public:
  owner(std::nullptr_t = nullptr) {}
  explicit owner(T* object) : object_(object) {}
  owner(owner&& other) noexcept : object_(other.release()) {}
  template <class Derived>
  owner(owner<Derived>&& other) noexcept : object_(other.release()) {}
  owner& operator=(owner other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~owner() { delete object_; }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* release() {
    T* const object = object_;
    object_ = nullptr;
    return object;
  }
  void reset() { delete release(); }

 private:
  T* object_ = nullptr;
};

template <class T, class... Arguments>
owner<T> make_owner(Arguments&&... arguments) {
  return owner<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace colligo
