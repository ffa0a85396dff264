// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of packed.hpp.
#pragma once

#include <array>
#include <atomic>

#include "../engine/communicator_state.hpp"
#include "packed.hpp"

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
