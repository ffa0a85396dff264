// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the library throws. Every message says the call, the rank and what was wrong.
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

/// A name that is no algorithm of this collective, a knob that it does not have, or a functor that it must not be
/// given.
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
/// is the same on all ranks, nothing has been written, and calls that were refused on some ranks count.
class mismatch_error : public error {
 public:
  using error::error;
};

/// The call has failed on another rank, where a functor threw, memory was short, or arguments were refused: this rank's
/// result is good for nothing. Later calls are right if all ranks have made this one.
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

/// This rank has waited in a call as long as COLLIGO_PATIENCE allows, which asks for an exception then. The call is
/// abandoned: the other ranks fail as with any error.
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
