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

/// The ranks of a communicator make different calls, or some of them a call that was refused: found in checked mode
/// alone. The same text on all ranks. Nothing has been written, and later calls are right.
class mismatch_error : public error {
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

/// A recorded schedule breaks a law of core/step.hpp.
class broken_law : public error {
 public:
  using error::error;
};

}  // namespace colligo
