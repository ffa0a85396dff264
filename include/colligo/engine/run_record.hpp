// SPDX-License-Identifier: BSL-1.0
/// @file
/// What one rank does with bytes in a call whose messages all travel in lines: the record of one run, which later calls
/// play (prepared_calls.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "../core/row.hpp"
#include "call.hpp"
#include "scratch.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class outlet;
class inlet;
class audience;

/// One thing that a rank does: puts a message into a channel, takes one from it, combines, or copies. A fold combines
/// straight from the line that it takes.
struct action {
  enum class kind : std::uint8_t { put, take, fold, combine, copy };
  /// Data of the call's arguments or of the prepared call's own memory.
  enum class where : std::uint8_t { input, output, own, line };
  struct place {
    where in = where::own;
    std::uint32_t offset = 0;   ///< bytes

    friend bool operator==(place const&, place const&) = default;
  };

  kind what;
  bool is_padded = false;        ///< take: `into` has room for the whole last line
  std::int32_t peer = 0;         ///< of a message
  std::uint32_t bytes = 0, lines = 0, n = 0;   ///< n: elements that are combined
  place from{}, right{}, into{};   ///< combine: into = op(from, right)
  outlet* to = nullptr;          ///< put
  audience* all = nullptr;       ///< put: whose outlet it is; null: to one peer
  inlet* by = nullptr;           ///< take, fold
};

struct prepared_call;
/// Plays a prepared call. Returns what the functor has thrown.
using player = std::exception_ptr (*)(prepared_call const& prepared, call const& now, scratch& memory,
                                      std::uint32_t number);

/// Records a run. It is kept only if every byte that it reads has been written by what it has recorded, and every byte
/// of the output as well: so what the record does not see can not be lost.
class run_record {
 public:
  static constexpr std::size_t most_actions = 256, most_bytes = 16 * 1024;

  explicit run_record(call const& recorded) : call_(recorded) {}

  /// All ranks share memory, and these steps of the transport perform the call.
  void begin(void* steps, player play) { steps_ = steps, play_ = play; }
  /// The run does something that can not be played.
  void spoil() { steps_ = nullptr; }
  void put(outlet& to, audience* all, int peer, std::byte const* from, std::size_t bytes, std::uint32_t lines);
  /// `room`: the bytes that may be written from `into` on.
  void take(inlet& from, int peer, std::byte* into, std::size_t bytes, std::uint32_t lines, std::size_t room);
  void combine(std::byte const* left, std::byte const* right, std::byte* into, std::size_t n);
  void copy(std::byte const* from, std::size_t bytes, std::byte* to);

  void* steps() const { return steps_; }
  player play() const { return play_; }
  /// The actions with places instead of addresses, and the bytes of own memory that they need. Empty if the run can not
  /// be played.
  row<action> finish(std::size_t& own_bytes);

 private:
  struct stretch {
    std::byte const *first, *last;
  };
  struct addresses {
    stretch from{}, right{}, into{};
  };
  void add(action const& what, addresses const& data);
  bool place_data(std::size_t& own_bytes);
  bool is_complete(std::size_t own_bytes) const;
  void fold_from_lines();

  call const& call_;
  void* steps_ = nullptr;
  player play_ = nullptr;
  row<action> actions_;
  row<addresses> data_;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "run_record_body.hpp"
#endif
