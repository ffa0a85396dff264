// SPDX-License-Identifier: BSL-1.0
/// @file
/// The port of a rank that is a thread.
#pragma once

#include <memory>
#include <utility>

#include "port.hpp"
#include "requests.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

class thread_group;

class thread_port final : public port_base {
 public:
  thread_port(thread_group& all, int rank, int size, settings const& environment);
  COLLIGO_BODY ~thread_port() override;

  /// The same protocol as between processes, over memory of this one.
  shared_host* shared();
  shared_host* shared_for(element const& of);

  /// Messages, which tell who waits for whom when ranks make different calls.
  shared_host* automatic_memory(element const&) override { return nullptr; }
  bool has_builtin(call const&) const override { return false; }
  bool has_vendor(call const&) const override { return false; }
  COLLIGO_BODY std::unique_ptr<moving_step> steps_for_request(working_vector& data, call const& its, transport over) override;
  std::unique_ptr<moving_step> vendor_request(call const&, bool) override { return nullptr; }
  COLLIGO_BODY bool uses_memory(call const& its, transport over) override;

  thread_group& group;

 private:
  COLLIGO_BODY void perform(working_vector& data, call const& its, text_run const& run, transport over) override;
  void run_vendor(call const&) override {}   // refused before

  struct steps_memory;
  std::unique_ptr<steps_memory> steps_memory_;
  std::unique_ptr<shared_host> shared_;
  requests_of_rank own_requests_;
};

}  // namespace detail

namespace detail {

/// Traces the ranks of a group if that is asked for (trace/traced_program.hpp): set by those who include it.
class trace_of_threads {
 public:
  virtual ~trace_of_threads() = default;
  virtual std::unique_ptr<observer> of(int rank) = 0;
  virtual void write() = 0;
};
inline std::unique_ptr<trace_of_threads> (*follow_threads)(int p) = nullptr;

}  // namespace detail
}  // namespace colligo
