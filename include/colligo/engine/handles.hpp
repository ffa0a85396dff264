// SPDX-License-Identifier: BSL-1.0
/// @file
/// Requests: iall_reduce, ibroadcast ... start a call and return a request; all_reduce_init, broadcast_init ... return
/// a persistent one, which may be started any number of times on the same memory. They take the arguments of the
/// blocking call's range and in-place forms, are collective, and throw as it does; test and wait throw what the functor
/// has thrown. Input and output have to live until a request is complete; the functor is copied.
///
/// Several may be in progress on one communicator at once, beside blocking calls and a program's own messages, and may
/// complete in any order. All ranks have to start them in the same order, as in MPI. test, wait and any other call of
/// the library on the rank make progress; so does a progress_thread (progress.hpp) while it lives.
#pragma once

#include <cstddef>
#include <exception>
#include <span>   // and the concepts of ranges: <ranges> has views too, which take a tenth of a second
#include <type_traits>

#include "call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace by_name {

/// Does now what the first call on a communicator begins with: its ranks tell each other what they have to know, which
/// waits until all of them have come. Afterwards ranks may start requests on several communicators in different orders.
/// Does nothing on a communicator that has been used. Collective over comm. Throws what a first call throws before it
/// begins: mpi_error, argument_error (settings, an intercommunicator), std::bad_alloc, failed_elsewhere.
template <communicator Comm>
void prepare(Comm const& comm) {
  state_of<Comm>::open(comm);
}

}  // namespace by_name

namespace detail {

/// The common base of requests and persistent collectives.
class handle {
 public:
  /// Makes progress. Returns true if it is complete, and throws then what the functor has thrown, once. Also true for a
  /// request that has been waited for, or was never started.
  bool test();
  /// Returns when it is complete; throws what the functor has thrown, once. Throws error if it is empty, or was never
  /// started.
  void wait();
  /// It has been started, and neither wait nor test has seen it complete.
  bool active() const;
  /// It is not complete yet. Makes no progress.
  bool in_progress() const;
  /// Makes progress. True if it is complete; unlike test() it throws nothing, and leaves the request active.
  bool complete();
  /// Yields the core to other ranks for a moment. Precondition: active.
  void yield_core(unsigned& polls) const;

 protected:
  handle();
  explicit handle(owned_running made);
  handle(handle&&) noexcept;
  handle& operator=(handle&&) noexcept;
  ~handle();

  owned_running running_;
};

}  // namespace detail

/// A collective that has been started. Move-only. The destructor waits until it is complete, and so does an assignment
/// to it. The new request has been started by then, so it must not use the memory of the old one.
class [[nodiscard("keep the request, and wait() for it later")]] request : public detail::handle {
 public:
  request() = default;
  explicit request(detail::owned_running made);   ///< for the public headers: starts it
};

/// A collective that may be started any number of times. Only its construction allocates. Move-only.
class [[nodiscard("keep it, and start() and wait()")]] persistent : public detail::handle {
 public:
  persistent() = default;
  explicit persistent(detail::owned_running made);   ///< for the public headers

  /// Throws error if it is active, or empty. Collective.
  void start();
};

namespace detail {

template <class R>
concept range_of_requests = std::ranges::forward_range<R> &&
    (std::is_same_v<std::ranges::range_value_t<R>, request> ||
     std::is_same_v<std::ranges::range_value_t<R>, persistent>);

}  // namespace detail

namespace by_name {

/// Returns when all active ones are complete, as MPI_Waitall does. If functors have thrown, it then throws the first
/// exception in the order of the range.
template <detail::range_of_requests R>
void wait_all(R&& requests) {
  std::exception_ptr first;
  for (auto& r : requests) {
    try {
      if (r.active()) r.wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

/// Waits for an active request to complete and returns its index in the range; std::ranges::size(requests) if none is
/// active. Throws what its functor has thrown.
template <detail::range_of_requests R>
std::size_t wait_any(R&& requests) {
  for (unsigned polls = 0;;) {
    std::size_t place = 0;
    std::ranges::range_value_t<R>* some = nullptr;
    for (auto& r : requests) {
      if (r.active()) {
        some = &r;
        if (r.test()) return place;
      }
      ++place;
    }
    if (!some) return place;
    some->yield_core(polls);
  }
}

/// Makes progress. Returns true if all of them are complete; if functors have thrown, it throws the first exception
/// then.
template <detail::range_of_requests R>
bool test_all(R&& requests) {
  for (auto& r : requests)
    if (r.active() && !r.complete()) return false;
  colligo::wait_all(requests);
  return true;
}

}  // namespace by_name

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "communicator_state_body.hpp"
#include "requests_body.hpp"
#endif
