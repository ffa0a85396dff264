// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a public header sees of a communicator and hands to the engine: a call of a collective, in bytes. Kept
/// small, for every unit that makes a call compiles it. A transport specialises port_of for its communicator type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "../core/element.hpp"
#include "../core/owner.hpp"
#include "../core/policy.hpp"
#include "../core/row.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Specialised by transports: `static detail::endpoint& open(Comm const&)`; `carries<T>`, whether such elements can be
/// sent, which are not bytes; `has_vendor<T>`, whether the MPI library's own collectives can take such elements;
/// `wire<T, Op, MayBeVendor>()`, what the transport itself has to know of them, or null.
/// `checks_calls`, if there is such a member: all calls are checked.
template <class Comm>
struct port_of {};

/// Something that the collectives can run over.
template <class Comm>
concept communicator = requires(Comm const& comm) { port_of<Comm>::open(comm); };

namespace detail {

/// Such elements can be sent over such a communicator: as bytes, or as objects that are made and copied on the way.
template <class T, class Comm>
concept travels_over =
    std::is_object_v<T> &&
    (travels_as_bytes<std::remove_cv_t<T>> ||
     (std::semiregular<std::remove_cv_t<T>> && port_of<Comm>::template carries<std::remove_cv_t<T>>));

/// What is done before a call begins, as bits; as a rule nothing, which is one test a call.
enum before_call : std::uint8_t {
  agreement = 1,     ///< the ranks agree that all make the same call
  explanation = 2,   ///< this rank prints what was chosen
  adaptation = 4,    ///< what automatic takes is measured
  exactness = 8,     ///< sums whose algorithm is left to the library are exact on the way
};

/// The outside of a port (port.hpp).
class endpoint {
 public:
  endpoint(endpoint const&) = delete;
  endpoint& operator=(endpoint const&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Before every call.
  std::uint8_t before() const { return before_; }

  row<std::size_t> offsets;   ///< of the blocks of a v-collective
  std::uint64_t distribution = 1;   ///< a number for these offsets: others have another one
  block_lengths lengths;            ///< of these blocks

 protected:
  endpoint() = default;
  ~endpoint() = default;

  int rank_ = 0, size_ = 1;
  std::uint8_t before_ = 0;
};

/// Values of some stretch of the vector.
template <class Byte>
struct values {
  Byte* data = nullptr;
  range covers{};
};

/// One call of a collective on one rank: `in` is what the rank contributes, `out` what it wants, each a stretch of the
/// vector.
struct call {
  collective what;
  element const* of;
  void const* wire;   ///< what the transport itself has to know of the elements and the functor
  void* op;
  blocks vector;
  values<std::byte const> in;
  values<std::byte> out;
  int root = 0;
  std::uint8_t before = 0;   ///< before_call

  bool checked() const { return (before & agreement) != 0; }
};

/// What a request owns for its user: the functor, what is to be done each time before it starts, and what is left to do
/// when all messages are through.
class owned_by_request {
 public:
  virtual ~owned_by_request() = default;
  virtual void begin() {}
  virtual void finish() {}
};

/// A collective that is performed step by step (requests.hpp).
class running;
/// Ends it where it is known, so that those who own one need not know it.
struct end_running {
  void operator()(running* its) const;
};
using owned_running = std::unique_ptr<running, end_running>;

}  // namespace detail
}  // namespace colligo
