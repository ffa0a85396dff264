// SPDX-License-Identifier: BSL-1.0
/// @file
/// The library's exceptions. Every message says the call, the rank and what was wrong.
#pragma once

#include "mode.hpp"

#include <stdexcept>
#include <string>

namespace colligo::inline COLLIGO_MODE {

/// Base of all exceptions of the library.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sizes that do not fit, a root out of range, ranges that overlap. Nothing has been written.
class argument_error : public error {
 public:
  using error::error;
};

/// An unknown algorithm for this collective, an unknown knob, or a functor that the algorithm must not use.
class algorithm_error : public error {
 public:
  using error::error;
};

/// The MPI library reported a failure.
class mpi_error : public error {
 public:
  mpi_error(std::string const& what, int code) : error(what), code_(code) {}
  int code() const { return code_; }   ///< as MPI returned it

 private:
  int code_;
};

/// Ranks make different calls: another collective, length, root, element size or algorithm. In checked mode the message
/// is the same on all ranks, nothing has been written, and a call that some rank refuses is a mismatch too.
class mismatch_error : public error {
 public:
  using error::error;
};

/// The call has failed on another rank, where a functor threw, memory was short, or arguments were refused. This rank's
/// result is invalid. Later calls are right if all ranks have made this one.
class failed_elsewhere : public error {
 public:
  using error::error;
};

/// A rank that this one waits for is gone.
class rank_lost : public error {
 public:
  rank_lost(std::string const& what, int rank) : error(what), rank_(rank) {}
  int rank() const { return rank_; }   ///< in the communicator of the call

 private:
  int rank_;
};

/// This rank has waited in a call as long as COLLIGO_PATIENCE=...,throw allows. The rank abandons the call, and the
/// other ranks fail as with any error.
class stalled : public error {
 public:
  using error::error;
};

/// A recorded schedule breaks a law of core/step.hpp.
class broken_law : public error {
 public:
  using error::error;
};

}  // namespace colligo
