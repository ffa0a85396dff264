// SPDX-License-Identifier: BSL-1.0
/// @file
/// Scratch memory that models keep with their communicator, so that a call allocates nothing once it is warm.
#pragma once

#include "../core/mode.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace colligo::inline COLLIGO_MODE {

/// The element travels as the bytes that it is.
template <class T>
concept travels_as_bytes = std::is_trivially_copyable_v<T>;

namespace detail {

inline constexpr std::size_t cache_line = 64;

/// Uninitialised bytes at a cache line's boundary. Grows, never shrinks; growing forgets the contents.
class buffer {
 public:
  bool empty() const { return size_ == 0; }
  std::byte* of_size(std::size_t bytes) {
    if (bytes > size_) grow(bytes);
    return memory_.get();
  }

 private:
  [[gnu::noinline]] void grow(std::size_t bytes) {
    memory_.reset();
    size_ = bytes + bytes / 2;
    memory_.reset(static_cast<std::byte*>(::operator new(size_, std::align_val_t(cache_line))));
  }

  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(cache_line)); }
  };
  std::unique_ptr<std::byte, release> memory_;
  std::size_t size_ = 0;
};

/// Room for n elements: in the buffer if they are bytes, otherwise as constructed objects of its own.
template <class T>
class room {
 public:
  room(buffer& memory, std::size_t n) {
    if constexpr (travels_as_bytes<T>) {
      static_assert(alignof(T) <= cache_line, "colligo: element types may ask for the alignment of a cache line at most");
      data_ = reinterpret_cast<T*>(memory.of_size(n * sizeof(T)));
    } else {
      objects_.resize(n);
      data_ = objects_.data();
    }
  }
  T* data() { return data_; }

 private:
  struct nothing {
    void resize(std::size_t) {}
    T* data() { return nullptr; }
  };
  std::conditional_t<travels_as_bytes<T>, nothing, std::vector<T>> objects_;
  T* data_;
};

/// Room for N elements on the stack, uninitialised if they are bytes.
template <class T, std::size_t N>
class local_room {
 public:
  T* data() { return reinterpret_cast<T*>(memory_); }

 private:
  alignas(cache_line) std::byte memory_[N * sizeof(T)];
};
template <class T, std::size_t N>
  requires(!travels_as_bytes<T>)
class local_room<T, N> {
 public:
  T* data() { return objects_.data(); }

 private:
  std::vector<T> objects_{std::vector<T>(N)};
};

}  // namespace detail
}  // namespace colligo
