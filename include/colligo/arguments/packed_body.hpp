// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of packed.hpp.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "../engine/communicator_state.hpp"
#include "packed.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Packed memory of a state that nothing uses now.
class spare_packed_memory final : public kept_with_state {
 public:
  ~spare_packed_memory() override {
    for (auto& spare : spares_) delete spare.load();
  }
  packed_memory* take() {
    for (auto& spare : spares_)
      if (packed_memory* const one = spare.exchange(nullptr, std::memory_order_acquire)) return one;
    return nullptr;
  }
  bool keep(packed_memory* one) {
    for (auto& spare : spares_)
      if (packed_memory* none = nullptr; spare.compare_exchange_strong(none, one, std::memory_order_release)) return true;
    return false;
  }

 private:
  std::array<std::atomic<packed_memory*>, 4> spares_{};   // a thread may end a request while others make calls
};

COLLIGO_BODY packed_memory& take_packed_memory(endpoint& at) {
  communicator_state& state = state_at(at);
  if (!state.packed) state.packed = make_owner<spare_packed_memory>();
  if (auto* const spare = static_cast<spare_packed_memory&>(*state.packed).take()) return *spare;
  return *new packed_memory(at);
}
COLLIGO_BODY void leave_packed_memory(packed_memory& memory) noexcept {
  if (!static_cast<spare_packed_memory&>(*state_at(memory.of).packed).keep(&memory)) delete &memory;
}
COLLIGO_BODY void put_round_next_request(endpoint& state, owner<round_request> around) noexcept {
  state_at(state).around = std::move(around);
}

}  // namespace colligo
