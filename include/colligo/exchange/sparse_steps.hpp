// SPDX-License-Identifier: BSL-1.0
/// @file
/// A sparse exchange on one rank as a request of the engine: steps that are performed without waiting.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "../engine/call.hpp"
#include "letters.hpp"
#include "sparse_ways.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A call of sparse_all_to_all on one rank. `out`: a message for each target, in ascending order.
struct sparse_call {
  endpoint& at;
  element const& of;
  void const* wire;
  std::span<outgoing_message const> out;
  std::exception_ptr refused;   ///< this rank's arguments are refused, or can not be encoded; `out` is not used then
  bool checked = false;         ///< the ranks compare their calls
  bool is_request = false;      ///< then its pattern is not kept: when it completes depends on the rank
};

/// The way that a call takes, the same on all ranks: as asked ("consensus"; "automatic": as the environment says, or
/// the cheapest). Throws algorithm_error for an unknown name. With COLLIGO_EXPLAIN=1 rank 0 prints it. In checked mode
/// the ranks compare their calls.
sparse_way way_of(sparse_call const& call, std::string_view asked, bool has_letters);

/// A request, not yet started. `in` has to live until it is complete, as does all that `call` refers to. `open`: the
/// transport's open_letters (letters.hpp).
owned_running prepare_exchange(sparse_call const& call, sparse_way way, arrivals& in,
                               owner<letters> (*open)(endpoint& at, element const& of, void const* wire));

/// The counter for a rank that gets no letters of a rank that makes this call.
sparse_counter counter_of(sparse_call const& call, sparse_way way, letters const* over);
/// Throws mismatch_error if the counters of all ranks tell of other ways.
void require_one_way(sparse_call const& call, sparse_way mine, sparse_counter const& all);
/// Throws mismatch_error: "... ranks name different ways: this one counters", and what others do.
[[noreturn]] void refuse_way(endpoint const& at, sparse_way mine, std::string const& others);
/// Keeps the pattern that the ranks of a blocking call have agreed on, for the next choice.
void keep_pattern(endpoint& at, exchange_pattern pattern);
/// Throws on a rank whose arguments are right if those of another rank are refused.
[[noreturn]] void refuse_for(endpoint const& at, int rank, std::string const& why);
/// "colligo: sparse_all_to_all on rank 1 of 4: ".
std::string where_sparse(endpoint const& at);
/// Why a rank's arguments are refused, for other ranks: the exception's text, without where_sparse().
std::string reason_of(endpoint const& at, std::exception_ptr const& error);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "sparse_steps_body.hpp"
#endif
