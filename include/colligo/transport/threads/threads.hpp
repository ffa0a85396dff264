// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ranks that are threads of one process, for tests without mpirun, also of other projects. Bytes take the channels of
/// shared memory. Other elements, and calls over_messages, are copied from the sender: such sends do not buffer, so an
/// algorithm that deadlocks under rendezvous deadlocks there. Elements are never serialised.
#pragma once

#include "../../engine/call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {
class letters;
}

/// One rank of run_threads.
class thread_communicator {
 public:
  explicit thread_communicator(detail::endpoint& state) : state_(state) {}
  thread_communicator(thread_communicator const&) = delete;
  thread_communicator& operator=(thread_communicator const&) = delete;

  int rank() const { return state_.rank(); }
  int size() const { return state_.size(); }

 private:
  friend struct state_of<thread_communicator>;
  detail::endpoint& state_;
};

template <>
struct state_of<thread_communicator> {
  static detail::endpoint& open(thread_communicator const& comm) { return comm.state_; }
  template <class T>
  static constexpr bool carries = true;
  template <class T>
  static constexpr bool has_vendor = false;
  template <class T, class Op, bool MayBeVendor>
  static void const* wire() { return nullptr; }
  static detail::owner<detail::letters> open_letters(detail::endpoint& at, detail::element const& of,
                                                      void const* wire);   // exchange/
};

namespace detail {

/// Runs f(context, comm) as p ranks.
template <class Lazy = void>
void run_ranks(int p, void (*f)(void* context, thread_communicator& comm), void* context);

}  // namespace detail

namespace by_name {

/// Runs f(comm) as p ranks, each a thread of this process, and waits for all. If ranks throw, waiting ranks wake up,
/// and the first exception is rethrown. Precondition: p >= 1.
template <class F>
void run_threads(int p, F f) {
  detail::run_ranks<>(p, [](void* context, thread_communicator& comm) { (*static_cast<F*>(context))(comm); }, &f);
}

}  // namespace by_name

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "thread_state.hpp"
#endif
