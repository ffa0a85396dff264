// SPDX-License-Identifier: BSL-1.0
/// @file
/// Arguments whose elements do not lie side by side: they are packed into memory of the communicator's state before a
/// call, and unpacked after it; by a request at each start, and when it is complete.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "../engine/scratch.hpp"
#include "call_arguments.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Memory for one call or one request at a time. A state keeps a few, so that a repeated call allocates nothing.
struct packed_memory {
  packed_memory(endpoint& state, std::size_t number) : of(state), place(number) {}
  endpoint& of;
  std::size_t place;   // among the state's
  buffer input, output, request;
  buffer places, places_out;   // of blocks at displacements
  buffer counts;               // of all ranks
};
packed_memory& take_packed_memory(endpoint& state);
void leave_packed_memory(packed_memory& memory) noexcept;
/// The next request on this state owns this as well.
void put_round_next_request(endpoint& state, owner<round_request> around) noexcept;

/// Packed memory, as long as this exists.
class borrowed_memory {
 public:
  explicit borrowed_memory(endpoint& state) : state_(state) {}
  ~borrowed_memory() {
    if (memory_) leave_packed_memory(*memory_);
  }
  borrowed_memory(borrowed_memory const&) = delete;
  borrowed_memory& operator=(borrowed_memory const&) = delete;

  packed_memory& get() {
    if (!memory_) memory_ = &take_packed_memory(state_);
    return *memory_;
  }
  endpoint& state() const { return state_; }
  /// Somebody else leaves it.
  void release() { memory_ = nullptr; }

 private:
  endpoint& state_;
  packed_memory* memory_ = nullptr;
};

/// What becomes of an argument on this rank.
struct use {
  bool reads, writes;
};

/// An argument in a layout: size(), side_by_side() (a pointer, or null), pack(to), unpack(from).
template <class T, class Layout>
class packed_argument {
 public:
  packed_argument(Layout layout, use on_this_rank) : layout_(std::move(layout)), use_(on_this_rank) {
    if (is_used()) at_ = const_cast<T*>(layout_.side_by_side()), size_ = layout_.size();
    packs_ = at_ == nullptr && size_ != 0;
  }

  bool packs() const { return packs_; }
  void make_room(buffer& memory) {
    if (!packs_) return;
    room_.make(memory, element_of<T, no_functor>, size_);
    at_ = reinterpret_cast<T*>(room_.data());
  }
  std::span<T> elements() const { return {at_, size_}; }
  void before() {
    if (packs_ && use_.reads) layout_.pack(at_);
  }
  void after() {
    if constexpr (requires { layout_.unpack(at_); })
      if (packs_ && use_.writes) layout_.unpack(at_);
  }

 private:
  bool is_used() const { return use_.reads || use_.writes; }

  Layout layout_;
  use use_;
  bool packs_ = false;
  T* at_ = nullptr;
  std::size_t size_ = 0;
  room room_;
};
/// An argument that needs nothing of all this.
struct plain_argument {
  static constexpr bool packs() { return false; }
  static void make_room(buffer&) {}
  static void before() {}
  static void after() {}
};

/// The arguments of one call.
template <class In, class Out>
struct packed_arguments {
  In in;
  Out out;

  bool pack() const { return in.packs() || out.packs(); }
  void make_room(packed_memory& memory) { in.make_room(memory.input), out.make_room(memory.output); }
  void before() { in.before(), out.before(); }
  void after() { in.after(), out.after(); }
};
template <class In, class Out>
packed_arguments(In, Out) -> packed_arguments<In, Out>;   // clang++ before 17 deduces none for aggregates

/// Of a request. It lies in the memory that it has borrowed.
template <class Arguments>
class packing_request final : public round_request {
 public:
  static owner<packing_request> make(borrowed_memory& memory, Arguments&& given) {
    static_assert(alignof(packing_request) <= lines_apart);
    std::byte* const at = memory.get().request.of_size(lines_apart + sizeof(packing_request));
    ::new (at) packed_memory*(&memory.get());
    owner<packing_request> made(::new (at + lines_apart) packing_request(std::move(given)));
    memory.release();
    return made;
  }
  void begin() override {
    arguments.before();
    if (within) within->begin();
  }
  void finish() override {
    if (within) within->finish();
    arguments.after();
  }
  static void operator delete(void* at) {
    leave_packed_memory(**reinterpret_cast<packed_memory**>(static_cast<std::byte*>(at) - lines_apart));
  }

  Arguments arguments;

 private:
  explicit packing_request(Arguments&& given) : arguments(std::move(given)) {}
};

/// While it exists, the next request on a state packs.
class packing_next {
 public:
  packing_next(endpoint& state, owner<round_request> request) : state_(state) {
    put_round_next_request(state_, std::move(request));
  }
  ~packing_next() { put_round_next_request(state_, nullptr); }
  packing_next(packing_next const&) = delete;
  packing_next& operator=(packing_next const&) = delete;

 private:
  endpoint& state_;
};

/// make(arguments) makes the call on their elements, which lie side by side then. If it returns something, they are no
/// outputs.
template <made How, class Checked, class In, class Out, class Make>
auto make_packed(Checked const& checked, borrowed_memory& memory, packed_arguments<In, Out> arguments, Make make)
    -> decltype(make(arguments)) {
  if (!arguments.pack()) return make(arguments);
  if constexpr (How == made::at_once) {
    checked.attempt([&] {
      arguments.make_room(memory.get());
      arguments.before();   // copies may allocate
    });
    if constexpr (!std::is_void_v<decltype(make(arguments))>) return make(arguments);
    else make(arguments), arguments.after();
  } else {
    using packing = packing_request<packed_arguments<In, Out>>;
    owner<packing> request;
    checked.attempt([&] {
      arguments.make_room(memory.get());
      request = packing::make(memory, std::move(arguments));
    });
    auto& placed = request->arguments;
    packing_next const now(memory.state(), std::move(request));
    return make(placed);
  }
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <array>
#include <atomic>

#include "../engine/communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Packed memory of a state that nothing uses now.
class spare_packed_memory final : public kept_with_state {
 public:
  ~spare_packed_memory() override {
    for (auto& spare : spares_) delete spare.load();
  }
  packed_memory& take(endpoint& state) {
    for (auto& spare : spares_)
      if (packed_memory* const one = spare.exchange(nullptr, std::memory_order_acquire)) return *one;
    return *new packed_memory(state, made_++ % spares_.size());
  }
  // Each at its place, so that calls that overlap in the same way again find their memory again.
  bool keep(packed_memory* one) {
    for (std::size_t i = 0; i < spares_.size(); ++i) {
      packed_memory* none = nullptr;
      auto& spare = spares_[(one->place + i) % spares_.size()];
      if (spare.compare_exchange_strong(none, one, std::memory_order_release)) return true;
    }
    return false;
  }

 private:
  std::array<std::atomic<packed_memory*>, 4> spares_{};   // a thread may end a request while others make calls
  std::size_t made_ = 0;
};

COLLIGO_BODY packed_memory& take_packed_memory(endpoint& at) {
  communicator_state& state = state_at(at);
  if (!state.packed) state.packed = make_owner<spare_packed_memory>();
  return static_cast<spare_packed_memory&>(*state.packed).take(at);
}
COLLIGO_BODY void leave_packed_memory(packed_memory& memory) noexcept {
  if (!static_cast<spare_packed_memory&>(*state_at(memory.of).packed).keep(&memory)) delete &memory;
}
COLLIGO_BODY void put_round_next_request(endpoint& state, owner<round_request> around) noexcept {
  if (around) around->next = std::move(state_at(state).around);
  state_at(state).around = std::move(around);
}

}  // namespace colligo
#endif
