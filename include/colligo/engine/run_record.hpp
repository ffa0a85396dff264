// SPDX-License-Identifier: BSL-1.0
/// @file
/// What one rank does with bytes in a call whose messages travel in lines, or in one chunk each: the record of one run,
/// which later calls play (prepared_calls.hpp).
#pragma once

#include <algorithm>
#include <array>
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

#if COLLIGO_HAS_BODIES
[[gnu::cold]] COLLIGO_BODY void run_record::add(action what) {
  if (is_spoilt_ || actions_.size() == actions_.capacity()) return spoil();
  what.written = std::max(what.written, what.bytes);
  actions_.push_back(what);
}
[[gnu::cold]] COLLIGO_BODY void run_record::put(sender& to, reader_group* all, int peer, std::byte const* from,
                                                std::size_t bytes, std::uint32_t lines) {
  add({.what = action::kind::put, .peer = peer, .bytes = static_cast<std::uint32_t>(bytes), .lines = lines,
       .from = action::place::of(from), .to = &to, .all = all});
}
[[gnu::cold]] COLLIGO_BODY void run_record::take(receiver& from, int peer, std::byte* into, std::size_t bytes,
                                                 std::uint32_t lines, std::size_t written) {
  add({.what = action::kind::take, .peer = peer, .bytes = static_cast<std::uint32_t>(bytes), .lines = lines,
       .written = static_cast<std::uint32_t>(written), .into = action::place::of(into), .by = &from});
}
[[gnu::cold]] COLLIGO_BODY void run_record::combine(std::byte const* left, std::byte const* right, std::byte* into,
                                                    std::size_t n) {
  add({.what = action::kind::combine, .bytes = static_cast<std::uint32_t>(call_.of->bytes(n)),
       .n = static_cast<std::uint32_t>(n), .from = action::place::of(left), .right = action::place::of(right),
       .into = action::place::of(into), .to = nullptr});
}
[[gnu::cold]] COLLIGO_BODY void run_record::copy(std::byte const* from, std::size_t bytes, std::byte* to) {
  if (bytes != 0)
    add({.what = action::kind::copy, .bytes = static_cast<std::uint32_t>(bytes), .from = action::place::of(from),
         .into = action::place::of(to), .to = nullptr});
}

// f(its bytes, its place) for everything that the actions read and write.
template <class F>
void run_record::for_each_stretch(F f) {
  auto const at = [&](action::place& place, std::size_t bytes) {
    f(stretch{place.address(), place.address() + bytes}, place);
  };
  for (action& a : actions_) {
    if (a.what != action::kind::take) at(a.from, a.bytes);
    if (a.what == action::kind::combine) at(a.right, a.bytes);
    if (a.what != action::kind::put) at(a.into, a.written);
  }
}

[[gnu::cold]] COLLIGO_BODY bool run_record::always_finds_room() const {
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    std::uint32_t together = 0;
    for (std::size_t k = i + 1; k-- > 0 && actions_[k].what != action::kind::take;)
      if (actions_[k].what == action::kind::put && actions_[k].to == actions_[i].to)
        together += std::min(actions_[k].lines - 1, most_lines_ - 1) + 1;   // a chunk is as much as a message may be
    if (together > most_lines_) return false;
  }
  return true;
}

// Gives each address its place: in the output, in the input, behind the vector, or in memory of the call's own, where
// the stretches that the run used lie one after the other.
[[gnu::cold]] COLLIGO_BODY bool run_record::place_data(std::size_t& own_bytes) {
  element const& of = *call_.of;
  auto const memory_of = [&](auto const& v) { return stretch{v.data, v.data + of.bytes(v.covers.size())}; };
  std::array const given{memory_of(call_.out), memory_of(call_.in), memory_of(call_.beyond)};   // by action::where
  struct part {
    stretch used;
    std::size_t offset;
  };
  std::array<part, 64> own;   // disjoint
  std::size_t parts = 0;
  bool is_possible = !is_any(given, [](auto& g) { return g.last - g.first > UINT32_MAX; });
  for_each_stretch([&](stretch used, action::place&) {
    if (is_any(given, [&](auto& g) { return g.holds(used); })) return;
    for (std::size_t k = 0; k < parts;) {
      if (!own[k].used.meets(used)) {
        ++k;
        continue;
      }
      used = {std::min(used.first, own[k].used.first), std::max(used.last, own[k].used.last)};
      own[k] = own[--parts];
      k = 0;
    }
    is_possible = is_possible && parts < own.size() && !is_any(given, [&](auto& g) { return g.meets(used); });
    if (is_possible) own[parts++] = {used, 0};
  });
  if (!is_possible) return false;
  own_bytes = 0;
  for (std::size_t k = 0; k < parts; ++k) {   // alignment stays
    own_bytes = (own_bytes + lines_apart - 1) / lines_apart * lines_apart;
    own[k].offset = own_bytes + reinterpret_cast<std::uintptr_t>(own[k].used.first) % lines_apart;
    own_bytes = own[k].offset + static_cast<std::size_t>(own[k].used.last - own[k].used.first);
  }
  for_each_stretch([&](stretch const& used, action::place& place) {
    auto const at = [&](action::where in, std::byte const* first, std::size_t offset = 0) {
      place = {in, static_cast<std::uint32_t>(offset + static_cast<std::size_t>(used.first - first))};
    };
    for (std::size_t k = 0; k < given.size(); ++k)
      if (given[k].holds(used)) return at(static_cast<action::where>(k), given[k].first);
    std::size_t k = 0;
    while (!own[k].used.holds(used)) ++k;
    at(action::where::own, own[k].used.first, own[k].offset);
  });
  return own_bytes <= most_bytes;
}

// Bytes of which it is known whether they have been written, or of which all have.
class written_bytes {
 public:
  written_bytes(bool all) : all_(all) {}
  void add(std::size_t first, std::size_t bytes) {
    for_each_word(first, bytes, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
  }
  bool contain(std::size_t first, std::size_t bytes) {
    bool all = true;
    for_each_word(first, bytes, [&](std::uint64_t word, std::uint64_t mask) { all = all && (word & mask) == mask; });
    return all;
  }

 private:
  template <class F>
  void for_each_word(std::size_t first, std::size_t bytes, F f) {
    for (std::size_t const last = all_ ? first : first + bytes; first < last;) {
      std::size_t const at = first % 64, n = std::min(64 - at, last - first);
      f(words_[first / 64], (~std::uint64_t{0} >> (64 - n)) << at);
      first += n;
    }
  }
  bool all_;
  std::array<std::uint64_t, run_record::most_bytes / 64> words_{};
};

// Whether the actions read only what the user gave or they have written, and write the whole output.
[[gnu::cold]] COLLIGO_BODY bool run_record::is_complete() const {
  std::size_t const bytes_in = call_.of->bytes(call_.in.covers.size());
  std::size_t const bytes_out = call_.of->bytes(call_.out.covers.size()), behind = in_behind_out(call_);
  bool const is_given = behind == 0 && bytes_in >= bytes_out;   // all of the output: a halo's is a whole array
  if (!is_given && bytes_out > most_bytes) return false;
  std::array<written_bytes, 4> written{is_given, true, true, false};   // by action::where
  if (behind < bytes_out) written[0].add(behind, std::min(bytes_in, bytes_out - behind));
  auto const in = [&](action::place const& at) -> written_bytes& { return written[static_cast<std::size_t>(at.in)]; };
  for (action const& a : actions_) {
    auto const is_read = [&](action::place const& at) { return in(at).contain(at.offset, a.bytes); };
    if (a.what != action::kind::take && !is_read(a.from)) return false;
    if (a.what == action::kind::combine && !is_read(a.right)) return false;
    if (a.what == action::kind::put) continue;
    if (a.into.in == action::where::input) return false;
    in(a.into).add(a.into.offset, a.bytes);
  }
  return call_.output_is_free || written[0].contain(0, bytes_out);
}

// Combines straight from a line or a chunk what is taken only to be combined.
[[gnu::cold]] COLLIGO_BODY void run_record::fold_from_lines() {
  auto const meet = [](action::place const& a, action::place const& b, std::size_t bytes_a, std::size_t bytes_b) {
    return a.in == b.in && a.offset < b.offset + bytes_b && b.offset < a.offset + bytes_a;
  };
  auto const is_read_later = [&](std::size_t i, action::place const& at, std::size_t bytes) {
    for (; i < actions_.size(); ++i) {
      action const& a = actions_[i];
      if (a.what != action::kind::take && meet(a.from, at, a.bytes, bytes)) return true;
      if (a.what == action::kind::combine && meet(a.right, at, a.bytes, bytes)) return true;
      bool const overwrites = a.what != action::kind::put && a.into.in == at.in && a.into.offset <= at.offset &&
                              at.offset + bytes <= a.into.offset + a.bytes;
      if (overwrites) return false;
    }
    return false;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    action const taken = actions_[i];
    action& next = actions_[kept++] = taken;
    if (taken.what != action::kind::take || taken.lines > 1 || i + 1 == actions_.size()) continue;
    if (taken.lines == 1 && call_.of->alignment > sizeof(std::uint64_t)) continue;   // its bytes begin behind a stamp
    action const use = actions_[i + 1];
    bool const is_left = use.from == taken.into, is_right = use.right == taken.into;
    if (use.what != action::kind::combine || use.bytes != taken.bytes || taken.into.in != action::where::own ||
        is_left == is_right || meet(is_left ? use.right : use.from, taken.into, use.bytes, use.bytes) ||
        meet(use.into, taken.into, use.bytes, use.bytes) || is_read_later(i + 2, taken.into, taken.bytes))
      continue;
    next = use;
    next.what = action::kind::fold;
    next.peer = taken.peer, next.lines = taken.lines, next.by = taken.by;
    (is_left ? next.from : next.right) = {action::where::channel};
    ++i;
  }
  while (actions_.size() > kept) actions_.pop_back();
}

[[gnu::cold]] COLLIGO_BODY std::size_t run_record::finish() {
  std::size_t own_bytes = 0;
  if (steps_ && !is_spoilt_ && always_finds_room() && place_data(own_bytes) && is_complete()) fold_from_lines();
  else actions_.clear();
  return own_bytes;
}
#endif

}  // namespace colligo
