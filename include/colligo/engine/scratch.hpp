// SPDX-License-Identifier: BSL-1.0
/// @file
/// Scratch memory, kept with a communicator or a request, so that a warm call allocates nothing.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "../core/element.hpp"
#include "../core/small_vector.hpp"
#include "../core/step.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Uninitialised bytes, aligned to lines_apart. Grows, never shrinks; growing loses the contents. The first allocation
/// is exact, because there may be thousands of communicators that make one call each.
class buffer {
 public:
  buffer() = default;
  buffer(buffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ~buffer() { release(); }

  bool empty() const { return size_ == 0; }
  std::byte* of_size(std::size_t bytes) {
    if (bytes > size_) grow(bytes);
    return memory_;
  }

 private:
  [[gnu::noinline]] void grow(std::size_t bytes) {
    std::size_t const wanted = empty() ? bytes : bytes + bytes / 2;
    release();
    memory_ = nullptr, size_ = 0;   // as long as there is none
    memory_ = static_cast<std::byte*>(::operator new(wanted, std::align_val_t(lines_apart)));
    size_ = wanted;
  }
  void release() { ::operator delete(memory_, std::align_val_t(lines_apart)); }

  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory for n elements: in the buffer if they are bytes, otherwise constructed objects.
class room {
 public:
  room() = default;
  room(buffer& memory, element const& of, std::size_t n) { make(memory, of, n); }
  ~room() { clear(); }
  room(room&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), objects_(std::exchange(other.objects_, nullptr)),
        count_(other.count_) {}
  room(room const&) = delete;
  room& operator=(room const&) = delete;

  void clear() {
    if (objects_) end_objects();
    data_ = nullptr;
  }
  /// Precondition: it is clear, or new.
  void make(buffer& memory, element const& of, std::size_t n) {
    if (!of.objects) data_ = memory.of_size(of.bytes(n));
    else if (n != 0) make_objects(of, n);
  }
  std::byte* data() { return data_; }

 private:
  [[gnu::noinline]] void make_objects(element const& of, std::size_t n) {
    auto const boundary = std::align_val_t(of.alignment);
    data_ = static_cast<std::byte*>(::operator new(of.bytes(n), boundary));
    try {
      of.objects->construct(data_, n);
    } catch (...) {
      ::operator delete(data_, boundary);
      throw;
    }
    objects_ = &of, count_ = n;
  }
  [[gnu::noinline]] void end_objects() {
    objects_->objects->destroy(data_, count_);
    ::operator delete(data_, std::align_val_t(objects_->alignment));
    objects_ = nullptr;
  }

  std::byte* data_ = nullptr;
  element const* objects_ = nullptr;
  std::size_t count_ = 0;
};

/// A contiguous part of an operand, which transports move at once. An operand whose range wraps round has two.
struct fragment {
  operand::kind what;
  int peer;
  range elements;
  own which;

  bool sends() const { return what == operand::kind::send; }
  bool folds() const { return what == operand::kind::fold; }
  bool combines_first() const { return sends() && which == own::both; }
};

/// Memory for one run of an algorithm at a time.
struct scratch {
  buffer received;   ///< received data of folds
  buffer combined;   ///< data that is combined before it is sent
  buffer result;     ///< the working vector where the user gives none
  buffer input;      ///< the input where an in-place run needs it to the end
  buffer kept;       ///< own values that are overwritten before they are combined
  small_vector<operand> operands;            ///< of a list that is no array: any_step
  small_vector<std::byte const*> sources;    ///< where the messages of a step begin
  small_vector<fragment> arriving;           ///< folds in order of arrival
  small_vector<std::size_t> places;          ///< of elements beyond the vector (core/indexed.hpp)
  std::exception_ptr failure;                ///< of a call that was played, until its state rethrows it
};

}  // namespace colligo
