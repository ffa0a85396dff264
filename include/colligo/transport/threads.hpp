// SPDX-License-Identifier: BSL-1.0
/// @file
/// Model: ranks are threads of one process, for tests, downstream unit tests too, without mpirun. Sends do not buffer: a step ends
/// when its messages have been taken, so a text that deadlocks under rendezvous deadlocks here. Elements are copied, never serialised.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "../core/error.hpp"
#include "../core/transport.hpp"
#include "port.hpp"
#include "shared_memory.hpp"
#include "../trace/traced_program.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// A message on offer: it stands in its sender's step until the receiver has taken it.
struct parcel {
  void const* data;
  std::size_t n;
  std::type_info const* type;
  int to;
  bool accepted = false;   // guarded by the receiver's desk
  bool taken = false;      // guarded by the sender's desk
  parcel* next = nullptr;
};

// Thrown in ranks that wait when another rank has failed.
struct abandoned {};

class thread_group {
 public:
  explicit thread_group(int p) : ranks_(static_cast<std::size_t>(p)) {
    for (auto& rank : ranks_) rank.offered.resize(static_cast<std::size_t>(p));
  }

  void offer(int from, parcel& p) {
    desk& d = at(p.to);
    std::lock_guard const lock(d.mutex);
    queue& q = d.offered[static_cast<std::size_t>(from)];
    (q.first ? q.last->next : q.first) = &p;
    q.last = &p;
    d.changed.notify_all();
  }

  parcel& accept(int from, int to) {
    queue& q = at(to).offered[static_cast<std::size_t>(from)];
    wait(to, from, [&] { return q.first != nullptr; }, "waits for a message of");
    std::lock_guard const lock(at(to).mutex);
    parcel& p = *q.first;
    q.first = p.next;
    p.accepted = true;
    return p;
  }

  void took(int from, parcel& p) {
    desk& d = at(from);
    std::lock_guard const lock(d.mutex);
    p.taken = true;
    d.changed.notify_all();
  }

  void wait_until_taken(int from, parcel const& p) {
    wait(from, p.to, [&] { return p.taken; }, "has a message for");
  }

  // For a sender that fails: afterwards nobody looks at its offers any more.
  void withdraw(int from, parcel const& p) {
    {
      desk& d = at(p.to);
      std::lock_guard const lock(d.mutex);
      if (!p.accepted) return void(d.offered[static_cast<std::size_t>(from)].first = nullptr);   // all of them are of this step
    }
    desk& d = at(from);
    std::unique_lock lock(d.mutex);
    d.changed.wait(lock, [&] { return p.taken; });   // being copied at this moment
  }

  void leave(int rank, std::exception_ptr error) {
    std::lock_guard const lock(state_);
    at(rank).gone = true;
    if (error && !first_) first_ = error, failed_ = true;
    for (auto& d : ranks_) {
      std::lock_guard const wake(d.mutex);
      d.changed.notify_all();
    }
  }

  std::exception_ptr first_error() const { return first_; }

  /// One per rank, for shared_host; made when the first rank asks.
  std::vector<std::byte*> segments() {
    std::lock_guard const lock(state_);
    std::size_t const bytes = segment_layout(static_cast<int>(ranks_.size())).bytes();
    std::vector<std::byte*> begins;
    segments_.resize(ranks_.size());
    for (buffer& segment : segments_) {
      bool const fresh = segment.empty();
      begins.push_back(segment.of_size(bytes));
      if (fresh) std::memset(begins.back(), 0, bytes);
    }
    return begins;
  }
  static void wait_in_memory(void* self) {
    if (static_cast<thread_group*>(self)->failed_) throw abandoned{};
    std::this_thread::yield();
  }
  static void read(void*, int, std::byte* into, std::byte const* address, std::size_t bytes) { std::memcpy(into, address, bytes); }

 private:
  struct queue {
    parcel* first = nullptr;
    parcel* last = nullptr;
  };
  struct desk {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<queue> offered;   // by sender
    std::atomic<bool> gone = false;
  };

  desk& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  template <class Ready>
  void wait(int rank, int peer, Ready ready, char const* what) {
    desk& d = at(rank);
    std::unique_lock lock(d.mutex);
    d.changed.wait(lock, [&] { return ready() || at(peer).gone; });
    if (ready()) return;
    lock.unlock();
    std::lock_guard const state(state_);
    if (first_) throw abandoned{};
    throw error("rank " + std::to_string(rank) + ' ' + what + " rank " + std::to_string(peer) + ", which has left: not all ranks made this call");
  }

  std::vector<desk> ranks_;
  std::mutex state_;
  std::exception_ptr first_;
  std::atomic<bool> failed_ = false;
  std::vector<buffer> segments_;
};

template <class T, class Op>
class thread_steps;

class thread_port : public port_base {
 public:
  thread_port(thread_group& all, int rank, int size, settings const& environment) : group(all) {
    rank_ = rank;
    size_ = size;
    settings_ = environment;
  }

  template <class T, class Op>
  auto steps(working_vector<T, Op>& data, transport over) { return thread_steps<T, Op>(*this, data, over == transport::shared_memory ? shared_for<T>() : nullptr); }

  /// The same protocol as between processes, over memory of this one.
  shared_host* shared() {
    if (!shared_) shared_ = std::make_unique<shared_host>(rank_, group.segments(), std::vector<int>{}, surroundings{&group, false, &thread_group::wait_in_memory, &thread_group::read});
    return shared_.get();
  }
  template <class T>
  shared_host* shared_for() { return travels_as_bytes<T> && shared()->fits(sizeof(T)) ? shared() : nullptr; }
  /// Messages there, which tell who waits for whom when ranks make different calls.
  template <class T>
  static shared_host* automatic_memory() { return nullptr; }
  shared_traffic traffic;

  template <class T>
  static constexpr bool has_vendor = false;
  template <class T, class Op>
  static bool has_builtin() { return false; }

  thread_group& group;
  std::vector<parcel> outgoing;

 private:
  std::unique_ptr<shared_host> shared_;
};

template <class T, class Op>
class thread_steps {
 public:
  thread_steps(thread_port& port, working_vector<T, Op>& data, shared_host* host) : port_(port), data_(data), host_(host) {}

  int rank() const { return port_.rank(); }
  int size() const { return port_.size(); }

  template <class... Operands>
  void operator()(Operands... operands) { (*this)(std::array{operand(operands)...}); }

  template <operand_list List>
  void operator()(List const& list) {
    if constexpr (travels_as_bytes<T>)
      if (host_) return shared_steps<T, Op>(*host_, port_.traffic, port_, data_).perform(list, published_list<List>);
    scratch_sizes const sizes(list);
    room<T> received(port_.received, sizes.received), combined(port_.combined, sizes.combined);
    T* free = combined.data();
    port_.outgoing.clear();
    port_.outgoing.reserve(sizes.sends);   // parcels must not move once they are on offer
    for_each_piece(list, [&](piece const& p) {
      if (!p.sends()) return;
      port_.outgoing.push_back({data_.read(p.elements, p.which, free), p.elements.size(), &typeid(T), p.peer});
      if (p.combines_first()) free += p.elements.size();
    });
    offers const on_offer(port_);
    free = received.data();
    for_each_piece(list, [&](piece const& p) {
      if (p.sends()) return;
      take(p, p.folds() ? free : data_.write(p.elements));
      if (p.folds()) free += p.elements.size();
    });
    for (parcel const& p : port_.outgoing) port_.group.wait_until_taken(rank(), p);
    combine_received(list, received.data(), rank(), data_);
  }

 private:
  // Puts all of a step's parcels on offer; a step that fails takes them back, since they are about to be destroyed.
  struct offers {
    explicit offers(thread_port& its_port) : port(its_port) {
      for (parcel& p : port.outgoing) port.group.offer(port.rank(), p);
    }
    ~offers() {
      if (std::uncaught_exceptions() > uncaught)
        for (parcel const& p : port.outgoing) port.group.withdraw(port.rank(), p);
    }
    offers(offers const&) = delete;
    offers& operator=(offers const&) = delete;

    thread_port& port;
    int uncaught = std::uncaught_exceptions();
  };

  void take(piece const& wanted, T* into) {
    parcel& p = port_.group.accept(wanted.peer, rank());
    std::size_t const n = p.n;
    std::type_info const& type = *p.type;
    bool const expected = n == wanted.elements.size() && type == typeid(T);
    if (expected) std::copy_n(static_cast<T const*>(p.data), n, into);
    port_.group.took(wanted.peer, p);   // p is its sender's again
    if (!expected)
      throw error("rank " + std::to_string(rank()) + " expects " + std::to_string(wanted.elements.size()) + " elements of type " + typeid(T).name() +
                  " from rank " + std::to_string(wanted.peer) + ", which sends " + std::to_string(n) + " of type " + type.name() +
                  ": the ranks made different calls");
  }

  thread_port& port_;
  working_vector<T, Op>& data_;
  shared_host* host_;
};

}  // namespace detail

/// One rank of run_threads.
class thread_communicator {
 public:
  explicit thread_communicator(detail::thread_port& port) : port_(port) {}
  thread_communicator(thread_communicator const&) = delete;
  thread_communicator& operator=(thread_communicator const&) = delete;

  int rank() const { return port_.rank(); }
  int size() const { return port_.size(); }

 private:
  friend struct port_of<thread_communicator>;
  detail::thread_port& port_;
};

template <>
struct port_of<thread_communicator> {
  static detail::thread_port& open(thread_communicator const& comm) { return comm.port_; }
};

/// Runs f(comm) as p ranks, each a thread of this process, and waits for all. If ranks throw, the others are woken where they wait,
/// and the first exception is rethrown. Precondition: p >= 1.
template <class F>
void run_threads(int p, F f) {
  if (p < 1) throw argument_error("run_threads: " + std::to_string(p) + " ranks asked for, at least 1 is needed");
  detail::thread_group group(p);
  auto const environment = detail::settings_of_environment();
  detail::thread_trace trace(p);
  auto const run = [&](int rank) {
    std::exception_ptr error;
    try {
      detail::thread_port port(group, rank, p, environment);
      port.trace = trace.of(rank);
      thread_communicator comm(port);
      f(comm);
    } catch (detail::abandoned const&) {   // the cause is kept already
    } catch (...) {
      error = std::current_exception();
    }
    group.leave(rank, error);
  };
  {
    std::vector<std::jthread> others;
    for (int rank = 1; rank < p; ++rank) others.emplace_back(run, rank);
    run(0);
  }
  trace.write();
  if (auto const error = group.first_error()) std::rethrow_exception(error);
}

}  // namespace colligo
