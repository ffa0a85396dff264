// SPDX-License-Identifier: BSL-1.0
/// @file
/// What one rank does with bytes in a call whose messages travel in lines, or in one chunk each: the record of one run,
/// which later calls play (prepared_calls.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "../core/small_vector.hpp"
#include "call.hpp"
#include "scratch.hpp"
#include "signature.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class sender;
class receiver;
class reader_group;

/// One thing that a rank does: puts a message into a channel, takes one from it, combines, or copies. A fold combines
/// straight from the line or the chunk that it takes.
struct action {
  enum class kind : std::uint8_t { put, take, fold, combine, copy };
  enum class where : std::uint32_t { output, input, beyond, own, channel };   ///< arguments, own memory; of a fold
  /// Where data is; while the run is recorded, its address.
  struct place {
    where in = where::input;
    std::uint32_t offset = 0;   ///< bytes

    static place of(std::byte const* address) { return std::bit_cast<place>(address); }
    std::byte const* address() const { return std::bit_cast<std::byte const*>(*this); }
    friend bool operator==(place const&, place const&) = default;
  };

  /// Instead of a number of lines: the message is a chunk; and its sender has nothing to receive.
  static constexpr std::uint32_t in_a_chunk = 0, one_way = static_cast<std::uint32_t>(-1);

  kind what;
  std::int32_t peer = 0;           ///< of a message
  std::uint32_t bytes = 0, lines = 0;
  std::uint32_t written = 0;       ///< bytes from `into` on: more than `bytes` where a whole last line may be copied
  std::uint32_t n = 0;             ///< elements that are combined
  place from{}, right{}, into{};   ///< combine, fold: into = op(from, right)
  union {
    sender* to = nullptr;          ///< put
    receiver* by;                     ///< take, fold
  };
  reader_group* all = nullptr;         ///< put: whose sender it is; null: to one peer
};

struct prepared_call;
class working_vector;
/// Plays a prepared call, and waits. False if the functor has thrown: `memory.failure` is its exception.
using player = bool (*)(prepared_call const& prepared, call const& now, scratch& memory, std::uint32_t number);

/// Records a run. It can be played only if every byte that it reads has been given or written by what was recorded, and
/// every byte of the output written: so nothing is lost that the record does not see. And only if all that a rank puts
/// into one channel without taking a message in between is no more than one message may be: then the rank behind all
/// others always finds room, so no rank has to take messages while it waits to put one. Allocates nothing.
class run_record {
 public:
  static constexpr std::size_t most_bytes = 8 * 1024;   ///< of a call's vector, and of own memory

  /// Records into `actions` as far as its capacity goes.
  run_record(call const& recorded, small_vector<action>& actions) : call_(recorded), actions_(actions) {
    actions_.clear();
  }

  /// All ranks share memory, and these steps of the transport perform the call. `most`: lines of a message.
  void begin(void* steps, player by, std::uint32_t most) { steps_ = steps, play_ = by, most_lines_ = most; }
  /// The run does something that can not be played.
  void spoil() { is_spoilt_ = true; }
  void put(sender& to, reader_group* all, int peer, std::byte const* from, std::size_t bytes, std::uint32_t lines);
  /// `written`: the bytes that may be written from `into` on.
  void take(receiver& from, int peer, std::byte* into, std::size_t bytes, std::uint32_t lines, std::size_t written);
  void combine(std::byte const* left, std::byte const* right, std::byte* into, std::size_t n);
  void copy(std::byte const* from, std::size_t bytes, std::byte* to);

  void* steps() const { return steps_; }
  player play() const { return play_; }
  /// Gives the actions places instead of addresses, and returns the bytes of own memory that they need. Leaves no
  /// action if the run can not be played.
  std::size_t finish();

 private:
  struct stretch {
    std::byte const *first, *last;

    bool holds(stretch const& part) const { return first <= part.first && part.last <= last; }
    bool meets(stretch const& other) const { return first < other.last && other.first < last; }
  };
  template <class F>
  void for_each_stretch(F f);
  void add(action what);
  bool always_finds_room() const;
  bool place_data(std::size_t& own_bytes);
  bool is_complete() const;
  void fold_from_lines();

  call const& call_;
  void* steps_ = nullptr;
  player play_ = nullptr;
  std::uint32_t most_lines_ = 0;
  bool is_spoilt_ = false;
  small_vector<action>& actions_;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "run_record_body.hpp"
#endif
