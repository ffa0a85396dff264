// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a front door asks of a model: the thin communicator concept. A model specialises port_of for its communicator type; open(comm)
/// gives the port, which is kept with the communicator: rank, size, scratch, the settings of the environment, and the way to run steps.
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <string>

#include "../core/policy.hpp"
#include "memory.hpp"

namespace colligo {

/// Specialised by models: static Port& open(Comm const&).
template <class Comm>
struct port_of {};

/// Something that the collectives can run over.
template <class Comm>
concept communicator = requires(Comm const& comm) { port_of<Comm>::open(comm); };

namespace detail {

/// The value of each collective's environment variable, empty where it is not set.
using settings = std::array<std::string, collectives.size()>;

inline settings settings_of_environment() {
  settings all;
  for (collective const c : collectives)
    if (char const* value = std::getenv(std::string(environment_variable(c)).c_str())) all[static_cast<std::size_t>(c)] = value;
  return all;
}

/// What every port keeps.
class port_base {
 public:
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string const& setting(collective c) const { return settings_[static_cast<std::size_t>(c)]; }

  buffer received;   ///< what folds receive
  buffer result;     ///< the working vector where the user gives none
  buffer input;      ///< the input where an in-place run needs it to the end

 protected:
  int rank_ = 0, size_ = 1;
  settings settings_;
};

}  // namespace detail
}  // namespace colligo
