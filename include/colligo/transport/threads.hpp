// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ranks that are threads of one process, for tests, downstream unit tests too, without mpirun. Sends do not buffer: a step ends when its
/// messages have been taken, so a text that deadlocks under rendezvous deadlocks here. Elements are copied, never serialised.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "port.hpp"
#include "requests.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

class thread_group;

class thread_port final : public port_base {
 public:
  thread_port(thread_group& all, int rank, int size, settings const& environment);
  ~thread_port() override;

  /// The same protocol as between processes, over memory of this one.
  shared_host* shared();
  shared_host* shared_for(element const& of);

  /// Messages, which tell who waits for whom when ranks make different calls.
  shared_host* automatic_memory(element const&) override { return nullptr; }
  bool has_builtin(call const&) const override { return false; }
  bool has_vendor(call const&) const override { return false; }
  requests_of_rank& requests() override { return requests_; }
  std::unique_ptr<moving_step> steps_for_request(working_vector& data, call const& its, transport over) override;
  std::unique_ptr<moving_step> vendor_request(call const&, bool) override { return nullptr; }
  bool uses_memory(call const& its, transport over) override;

  thread_group& group;

 private:
  void perform(working_vector& data, call const& its, text_run const& run, transport over) override;
  void run_vendor(call const&) override {}   // refused before

  struct steps_memory;
  std::unique_ptr<steps_memory> steps_memory_;
  std::unique_ptr<shared_host> shared_;
  requests_of_rank requests_;
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
  template <class T>
  static constexpr bool has_vendor = false;
  template <class T, class Op>
  static void const* wire() { return nullptr; }
};

namespace detail {

/// Runs f(context, comm) as p ranks.
void run_ranks(int p, void (*f)(void* context, thread_communicator& comm), void* context);

/// Traces the ranks of a group if that is asked for (trace/traced_program.hpp): set by those who include it.
class trace_of_threads {
 public:
  virtual ~trace_of_threads() = default;
  virtual std::unique_ptr<observer> of(int rank) = 0;
  virtual void write() = 0;
};
inline std::unique_ptr<trace_of_threads> (*follow_threads)(int p) = nullptr;

}  // namespace detail

/// Runs f(comm) as p ranks, each a thread of this process, and waits for all. If ranks throw, the others are woken where they wait,
/// and the first exception is rethrown. Precondition: p >= 1.
template <class F>
void run_threads(int p, F f) {
  detail::run_ranks(p, [](void* context, thread_communicator& comm) { (*static_cast<F*>(context))(comm); }, &f);
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "threads_body.hpp"
#endif
