// SPDX-License-Identifier: BSL-1.0
/// @file
/// The interface between public headers and the engine: a communicator's endpoint, and a call of a collective in bytes.
/// Kept small, because every unit that makes a call compiles it. A transport specialises state_of for its communicator
/// type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "../core/element.hpp"
#include "../core/owner.hpp"
#include "../core/policy.hpp"
#include "../core/small_vector.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Transports specialise it: `static detail::endpoint& open(Comm const&)`; `carries<T>`, whether elements that are not
/// bytes can be sent; `has_vendor<T>`, whether the MPI library's own collectives accept such elements;
/// `wire<T, Op, MayBeVendor>()`, the transport's own description of them, or null. With a member `checks_calls` all
/// calls are checked.
template <class Comm>
struct state_of {};

/// A type that the collectives accept as communicator.
template <class Comm>
concept communicator = requires(Comm const& comm) { state_of<Comm>::open(comm); };

namespace detail {

/// Elements that can be sent over such a communicator: as bytes, or as objects that are constructed and copied.
template <class T, class Comm>
concept travels_over =
    std::is_object_v<T> && !std::is_volatile_v<T> &&
    (travels_as_bytes<std::remove_cv_t<T>> ||
     (std::semiregular<std::remove_cv_t<T>> && state_of<Comm>::template carries<std::remove_cv_t<T>>));

/// Bits for the steps before a call; usually none, which costs one test.
enum before_call : std::uint8_t {
  agreement = 1,     ///< the ranks compare their calls
  explanation = 2,   ///< this rank prints the choice
  adaptation = 4,    ///< automatic measures its candidates
  exactness = 8,     ///< sums of which the library chooses the algorithm are exact
  in_functor = 16,   ///< an error: this rank is in a functor of a call on this communicator
  hooked = 32,       ///< a tool is told (hook.hpp)
};

/// The outside of a state (communicator_state.hpp).
class endpoint {
 public:
  endpoint(endpoint const&) = delete;
  endpoint& operator=(endpoint const&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The steps before every call.
  std::uint8_t before() const { return before_; }

  small_vector<std::size_t> offsets;   ///< of the blocks of the latest v-collective
  static constexpr std::uint64_t new_distribution = 1;
  std::uint64_t distribution = new_distribution;   ///< the number of these offsets; new_distribution: not numbered yet
  std::uint64_t newest_distribution = new_distribution;   ///< the largest number so far
  block_lengths lengths;      ///< of these blocks
  small_vector<edge> edges;   ///< of the latest exchange over a graph
  edge_list listed{};         ///< these edges

 protected:
  endpoint() = default;
  ~endpoint() = default;

  int rank_ = 0, size_ = 1;
  std::uint8_t before_ = 0;
};

/// The values of a stretch of the vector.
template <class Byte>
struct values {
  Byte* data = nullptr;
  range covers{};
};

/// Behind every element.
inline constexpr range behind_all{static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)};

/// The left-most operand of an exclusive scan.
struct initial_value {
  void const* value;
  bool is_in_result = false;   ///< otherwise the caller combines it with the result
};

/// One call of a collective on one rank: `in` is its contribution, `out` its result, each a stretch of the vector.
struct call {
  collective what;
  element const* of;
  void const* wire;   ///< the transport's own description of elements and functor
  void* op;
  blocks vector;
  values<std::byte const> in;
  values<std::byte> out;
  int root = 0;
  std::uint8_t before = 0;   ///< before_call
  bool output_is_free = false;   ///< elements of `out` that the algorithm does not write may have any value
  initial_value* init = nullptr;   ///< of an exclusive scan
  values<std::byte> beyond{nullptr, behind_all};   ///< of an exchange: elements behind the vector, in other memory

  bool checked() const { return (before & agreement) != 0; }
};

/// What a request owns for its user: the functor, and work to be done before each start and after its last message.
class owned_by_request {
 public:
  bool const* is_active = nullptr;   ///< from before begin() on: of the request
  virtual ~owned_by_request() = default;
  virtual void begin() {}
  virtual void finish() {}
};

/// The same round what else a request owns: its beginning comes first, its end last.
struct round_request : owned_by_request {
  owner<owned_by_request> within;
  owner<round_request> next;   ///< round this one, until the request is made
};

/// A collective that is performed step by step (requests.hpp).
class running;
/// The deleter for owners that do not know the complete type.
struct end_running {
  void operator()(running* request) const;
};
using owned_running = std::unique_ptr<running, end_running>;

}  // namespace detail
}  // namespace colligo
