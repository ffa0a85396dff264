// SPDX-License-Identifier: BSL-1.0
/// @file
/// Growing arrays of trivially copyable values, for the engine. std::vector would work, but a header-only unit would
/// compile some sixty of its functions for each of two dozen types. One function grows all rows.
#pragma once

#include "mode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace colligo::inline COLLIGO_MODE::detail {

/// Allocates memory for max(wanted, 2 capacity) elements of `size` bytes, copies those of `old`, frees `old` and sets
/// the capacity.
[[gnu::cold, gnu::noinline]] inline void* grown(void* old, std::size_t& capacity, std::size_t wanted,
                                                std::size_t size) {
  std::size_t const more = std::max(wanted, 2 * capacity);
  void* const fresh = ::operator new(more * size);
  if (capacity != 0) std::memcpy(fresh, old, capacity * size);
  ::operator delete(old);
  capacity = more;
  return fresh;
}

/// std::any_of, and the index of the first match (the length if there is none). The functions of <algorithm> are
/// unrolled, and compile a dozen functions each.
template <class Range, class F>
constexpr bool is_any(Range const& all, F const& is) {
  for (auto const& each : all)
    if (is(each)) return true;
  return false;
}
template <class Range, class F>
constexpr std::size_t place_of(Range const& all, F const& is) {
  std::size_t place = 0;
  for (auto const& each : all) {
    if (is(each)) break;
    ++place;
  }
  return place;
}

/// Sorts distinct numbers in place (heap sort) by less(context, a, b).
[[gnu::cold, gnu::noinline]] inline void sort_numbers(int* all, std::size_t n, void const* context,
                                                      bool (*less)(void const* context, int a, int b)) {
  auto const sink = [&](std::size_t at, std::size_t end) {
    for (std::size_t next; (next = 2 * at + 1) < end; at = next) {
      if (next + 1 < end && less(context, all[next], all[next + 1])) ++next;
      if (!less(context, all[at], all[next])) return;
      std::swap(all[at], all[next]);
    }
  };
  std::size_t sorted = 1;   // usually all
  while (sorted < n && less(context, all[sorted - 1], all[sorted])) ++sorted;
  if (sorted >= n) return;
  for (std::size_t at = n / 2; at > 0; --at) sink(at - 1, n);
  for (std::size_t end = n; end > 1; --end) {
    std::swap(all[0], all[end - 1]);
    sink(0, end - 1);
  }
}

/// The part of a small_vector that does not depend on T: a unit compiles it once.
class small_vector_base {
 public:
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void pop_back() { --size_; }

 protected:
  small_vector_base() = default;
  small_vector_base(small_vector_base&& other) noexcept { swap(other); }
  small_vector_base& operator=(small_vector_base&& other) noexcept {
    small_vector_base(std::move(other)).swap(*this);
    return *this;
  }
  ~small_vector_base() { ::operator delete(first_); }

  void* first_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;

 private:
  void swap(small_vector_base& other) noexcept {
    std::swap(first_, other.first_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
  }
};

/// As std::vector, with the same names, for trivially copyable T.
template <class T>
class small_vector : public small_vector_base {
 public:
  small_vector() = default;
  explicit small_vector(std::size_t n) { resize(n); }
  small_vector(T const* first, T const* last) { append(first, last); }
  small_vector(small_vector&&) noexcept = default;
  small_vector& operator=(small_vector&&) noexcept = default;
  small_vector(small_vector const& other) : small_vector(other.begin(), other.end()) {}
  small_vector& operator=(small_vector const& other) { return *this = small_vector(other); }
  friend bool operator==(small_vector const& a, small_vector const& b) {
    bool equal = a.size_ == b.size_;
    for (std::size_t i = 0; equal && i < a.size_; ++i) equal = a[i] == b[i];
    return equal;
  }

  T* data() { return static_cast<T*>(first_); }
  T const* data() const { return static_cast<T const*>(first_); }
  T* begin() { return data(); }
  T const* begin() const { return data(); }
  T* end() { return data() + size_; }
  T const* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  T const& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return *data(); }
  T& back() { return data()[size_ - 1]; }
  T const& back() const { return data()[size_ - 1]; }

  void reserve(std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));
    if (n > capacity_) [[unlikely]] first_ = grown(first_, capacity_, n, sizeof(T));
  }
  void resize(std::size_t n) {
    reserve(n);
    for (T *next = end(), *behind = data() + n; next < behind; ++next) ::new (next) T();
    size_ = n;
  }
  T& push_back(T const& value) {
    if (size_ == capacity_) [[unlikely]] {
      T const copy = value;   // may be one of these
      reserve(size_ + 1);
      return *::new (data() + size_++) T(copy);
    }
    return *::new (data() + size_++) T(value);
  }
  void append(T const* first, T const* last) {
    auto const n = static_cast<std::size_t>(last - first);
    reserve(size_ + n);
    if (n != 0) std::memcpy(static_cast<void*>(end()), first, n * sizeof(T));
    size_ += n;
  }
  T* insert(T* before, T const& value) {
    std::size_t const at = static_cast<std::size_t>(before - data());
    T const copy = value;   // may be one of these
    resize(size_ + 1);
    std::memmove(static_cast<void*>(data() + at + 1), data() + at, (size_ - at - 1) * sizeof(T));
    return ::new (data() + at) T(copy);
  }
  void erase(T* at) {
    std::memmove(static_cast<void*>(at), at + 1, static_cast<std::size_t>(end() - at - 1) * sizeof(T));
    --size_;
  }
};

/// Lists of numbers, stored one after the other in one small_vector.
class row_of_lists {
 public:
  void add(std::span<int const> list) { all_.append(list.data(), list.data() + list.size()), end_list(); }
  void push_back(int number) { all_.push_back(number); }   ///< to a list that end_list ends
  void end_list() { ends_.push_back(all_.size()); }
  void pop_back() {
    ends_.pop_back();
    all_.resize(ends_.empty() ? 0 : ends_.back());
  }
  std::size_t size() const { return ends_.size(); }
  std::span<int const> operator[](std::size_t i) const {
    std::size_t const first = i == 0 ? 0 : ends_[i - 1];
    return {all_.data() + first, ends_[i] - first};
  }
  friend bool operator==(row_of_lists const&, row_of_lists const&) = default;

 private:
  small_vector<int> all_;
  small_vector<std::size_t> ends_;
};

}  // namespace colligo
