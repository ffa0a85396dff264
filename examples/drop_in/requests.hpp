// SPDX-License-Identifier: BSL-1.0
// Calls as requests of MPI's: what they keep until they are complete, and who makes progress with them.
#pragma once

#include "arguments.hpp"

#include <colligo/core/mutex.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace drop_in {

/// What is made for a call beside the program's vectors. It lives until the call is complete.
struct made_for_call {
  made_for_call() {}   // all of it would be filled with zeros else, here and below
  std::optional<moved_vector> in, out;
  std::optional<moved_blocks> in_blocks, out_blocks;
  std::optional<reduction> by_mpi;
  memory copy;

  /// The program may free its types before a request is complete.
  void own_types() {
    if (out) out->own_type();
    if (out_blocks) out_blocks->own_type();
  }
  /// Puts results that are packed where the program wants them.
  void write() {
    if (out) out->write();
    if (out_blocks) out_blocks->write();
  }
};

/// The same if it is needed: not for numbers as they lie, where each instruction counts.
struct perhaps_made {
  perhaps_made() {}
  std::optional<made_for_call> made;

  made_for_call& operator()() { return made ? *made : made.emplace(); }
  void own_types() {
    if (made) made->own_types();
  }
  void write() {
    if (made) made->write();
  }
};

/// A call that is served as a request of MPI's.
class open_request {
 public:
  open_request(colligo::collective what, MPI_Comm comm)
      : what_(what), comm_(comm), state_(colligo::detail::mpi_state::of(comm)) {}

  perhaps_made made;
  colligo::request started;   // uses what is made

  /// Gives the program a request of MPI's, which owns this one. Throws mpi_error; the call is complete then.
  static void give(std::unique_ptr<open_request> request, MPI_Request* to);

  /// Makes progress. True if MPI has been told that it is complete, now or earlier.
  bool look() { return is_complete_ || (started.complete() && (complete(), true)); }
  /// The same if it is complete; makes no progress.
  bool look_without_progress() { return is_complete_ || (!started.in_progress() && (complete(), true)); }
  MPI_Request handle() const { return handle_; }
  /// For a rank that waits for it alone.
  void yield_core() { started.yield_core(polls_); }
  int code() const { return code_; }

 private:
  void complete();

  colligo::collective what_;
  MPI_Comm comm_;
  colligo::detail::communicator_state const& state_;   // lives as long as `started`
  MPI_Request handle_ = MPI_REQUEST_NULL;
  std::list<open_request*> entry_{this};   // a list of all takes it over
  std::list<open_request*>::iterator const place_ = entry_.begin();
  unsigned polls_ = 0;
  bool is_complete_ = false;
  int code_ = MPI_SUCCESS;
};

/// Whether requests can be served: from now on a rank makes progress with them wherever it is blocked in MPI.
bool begins_progress();
/// While a thread has its turn, no other thread is in the library, unless MPI lets several of them call.
class turn {
 public:
  turn() : lock_(guard.load(std::memory_order_acquire)) { ++depth; }
  ~turn() { --depth; }
  /// This thread has its turn: MPI is called by the library.
  static bool is_taken() { return depth != 0; }

  /// Set as soon as a thread of the library's makes progress.
  static inline std::atomic<colligo::detail::recursive_mutex*> guard = nullptr;

 private:
  colligo::detail::locked lock_;
  static inline thread_local unsigned depth = 0;
};

/// Calls f(). What it throws becomes an error of MPI, of which the program is told as MPI does; returns its class, or
/// `not_served` if f() has refused.
template <class F>
int answered(colligo::collective what, MPI_Comm comm, F f) {
  auto const answer = [&](int error_class, char const* text) {
    std::fprintf(stderr, "%s\n", text);
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
  };
  try {
    f();
    return MPI_SUCCESS;
  } catch (refused const& e) {
    return count(what, e.why), not_served;
  } catch (colligo::stalled const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    PMPI_Abort(comm, 1);
    return MPI_ERR_OTHER;
  } catch (colligo::mismatch_error const& e) {
    return answer(MPI_ERR_TRUNCATE, e.what());
  } catch (colligo::argument_error const& e) {
    return answer(MPI_ERR_ARG, e.what());
  } catch (colligo::mpi_error const& e) {
    int error_class = MPI_ERR_OTHER;
    PMPI_Error_class(e.code(), &error_class);
    return answer(error_class, e.what());
  } catch (std::bad_alloc const&) {
    return answer(MPI_ERR_NO_MEM, "colligo: out of memory");
  } catch (std::exception const& e) {
    return answer(MPI_ERR_OTHER, e.what());
  }
}

}  // namespace drop_in
