// SPDX-License-Identifier: BSL-1.0
/// @file
/// Tags of messages, and reports on calls that ranks write for each other in shared memory: from these, ranks see when
/// they make different calls, and when one of them has abandoned its call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "../core/element.hpp"
#include "../core/policy.hpp"
#include "../core/erased_policy.hpp"
#include "call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Identifies the message of a line or a chunk: 24 bits of the number of the call, 22 that depend on the call, the one
/// before it and the length of the message, and two flags. So a reader sees that ranks make different calls, or have
/// made different ones without waiting for each other (two roots that only send), and skips data that an abandoned call
/// left.
class message_tag {
 public:
  enum flag : std::uint64_t { none = 0, failed = 1, address = 2 };   // the sender has failed; an address, not data

  constexpr message_tag() = default;
  constexpr message_tag(std::uint32_t number, std::uint64_t call, std::uint64_t before = 0)
      : bits_(std::uint64_t{number & 0xffffff} << 24 | (hash(call) ^ after(before))) {}

  /// A tag's bits of the call before; none if it is not known (0).
  static constexpr std::uint64_t after(std::uint64_t before) { return hash(before << 32 | before >> 32); }

  /// The tag of a message of that length.
  constexpr std::uint64_t of(std::size_t bytes, std::uint64_t flags = none) const {
    return bits_ ^ hash(bytes) ^ flags;
  }
  /// By how many calls the sender of a message with this tag was ahead; negative: behind.
  constexpr std::int32_t ahead(std::uint64_t tag) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>((tag >> 24) - (bits_ >> 24)) << 8) >> 8;
  }

 private:
  static constexpr std::uint64_t hash(std::uint64_t n) { return n * 0x9e3779b97f4a7c15u >> 42 << 2; }
  std::uint64_t bits_ = 0;
};

/// A reader of channels.
class listener {
 public:
  /// The next message of `from` is not `expected`. True: accept it; false: skip it. Throws if calls differ.
  virtual bool hears(int from, std::uint64_t expected, std::uint64_t tag) = 0;

 protected:
  ~listener() = default;
};
/// A message that a rank waits for.
struct awaited {
  listener* by;
  int from;
  std::uint64_t tag;
};

/// The report of a call to other ranks.
struct call_identity {
  std::uint32_t number = 0;   ///< of the call on its communicator
  collective what{};
  int root = 0;
  std::size_t n = 0, element_size = 1;
  packed_name algorithm{};

  friend bool operator==(call_identity const&, call_identity const&) = default;

  /// The bits that tags of its messages carry.
  std::uint64_t hash() const {
    // Independent products.
    std::uint64_t const mixed = n * 29791 + element_size * 961 + static_cast<std::uint64_t>(root) * 31 +
                                static_cast<std::uint64_t>(what);
    return (mixed ^ algorithm[0]) * 0x9e3779b97f4a7c15u ^ algorithm[1];
  }
};
/// The report of a call of which the number is not known yet.
inline call_identity identity_of(call const& call, erased_policy const& policy) {
  return {0, call.what, call.root, call.vector.whole.size(), call.of->size, policy.short_name};
}
/// "reduce of 8 double (64 bytes) with root 1, binary_tree"; without a known type "8 elements of 8 bytes".
std::string name_of_call(call_identity const& identity, std::string_view type = {});

/// A rank's current call, for reports of ranks that have lost patience.
struct noted_call {
  static constexpr std::size_t most = 8;   ///< ranks awaited, by name

  call_identity call;                ///< number 0: none
  std::uint32_t step = 0;            ///< the step in which it waits, from 1 on; 0: it does not wait
  bool in_memory = false, is_vendor = false;
  std::int32_t awaited = 0;          ///< the number of ranks that it waits for
  std::array<std::int32_t, most> first{};
  std::array<char, 48> element{};    ///< its name
  std::array<char, 64> elsewhere{};  ///< its call on another communicator, if it is in none on this one
};

/// A rank's current call, written only if COLLIGO_PATIENCE is set.
class rank_notice {
 public:
  std::atomic<std::uint32_t> process;    ///< 0: it says nothing
  std::atomic<std::uint32_t> latest;     ///< number of its latest call
  std::atomic<std::uint32_t> requests;   ///< in progress
  std::array<std::atomic<std::uint32_t>, 4> reported;   ///< numbers of calls that the ranks of this host have reported

  void put(noted_call const& noted);
  noted_call get() const;

 private:
  using words = std::array<std::uint64_t, (sizeof(noted_call) + 7) / 8>;
  std::atomic<std::uint32_t> version_;   // odd: it is being written
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<words>> words_;
};

/// The calls that a rank has abandoned. The latest reasons are known, and the numbers of more.
class abandoned_calls {
 public:
  /// Does nothing for a call that is there: its first reason stays.
  void add(std::uint32_t number, std::string_view why);
  bool has(std::uint32_t number) const { return find(number).it != nullptr || is_listed(number); }
  bool are_any() const { return count_.load(std::memory_order_relaxed) != 0; }
  /// Empty if it has not been abandoned.
  std::string reason(std::uint32_t number) const;
  /// A call before all that are known may have been abandoned too.
  bool may_have_forgotten(std::uint32_t number) const;
  /// Forgets those of more than so many calls before this one.
  static constexpr std::uint32_t remembered = 1u << 30;
  void forget_before(std::uint32_t number);

 private:
  // Its number is 0 while the other words change.
  struct alignas(cache_line) entry {
    std::atomic<std::uint32_t> number, first;   // all calls from `first` to `number` have been abandoned
    std::array<std::atomic<std::uint64_t>, 31> why;
  };
  struct found {
    entry const* it = nullptr;
    std::uint32_t last = 0;   ///< its number
  };
  found find(std::uint32_t number) const;
  bool is_listed(std::uint32_t number) const;

  std::array<entry, 4> latest_;
  std::array<std::atomic<std::uint32_t>, 128> numbers_;   // the latest; 0: none yet
  std::atomic<std::uint32_t> count_;
};

/// A rank's reports of its calls, read only when something is wrong. A reader may be interrupted while the rank makes
/// its next calls and writes the same entry again. So the number of an entry is not its call's while the other words
/// change, and a reader looks at it before and after it has read them.
class rank_record {
 public:
  /// `before`: the bits that its tags carry of the call before; `name`: of the element type, if it has one.
  void enter(call_identity const& identity, std::uint64_t before, element_name const& name = {}) {
    std::uint32_t type = latest_type_.load(relaxed);
    if (types_[type % types_.size()].name.load(relaxed) != name.key()) [[unlikely]] type = place_of(name);
    entry& e = entries_[identity.number % kept];
    e.number.store(identity.number - 1, relaxed);   // has another entry
    std::atomic_thread_fence(std::memory_order_release);
    e.type.store(type, relaxed);
    e.what.store(static_cast<std::uint64_t>(identity.what) << 32 | static_cast<std::uint32_t>(identity.root), relaxed);
    e.n.store(identity.n, relaxed);
    e.element_size.store(identity.element_size, relaxed);
    for (std::size_t i = 0; i < e.algorithm.size(); ++i) e.algorithm[i].store(identity.algorithm[i], relaxed);
    e.before.store(before, relaxed);
    e.number.store(identity.number, std::memory_order_release);
  }
  /// What enter() was told, and the name of the type, empty if it has been overwritten.
  struct report {
    call_identity call;
    std::uint64_t before = 0;
    std::string type{};
  };
  /// Takes the report of call number `into.call.number`. False if it is not known or has been overwritten.
  bool read(report& into) const;
  /// The same of the call alone.
  bool knows(call_identity& identity) const { return read(identity, nullptr, nullptr); }
  /// The number of its latest call over this memory.
  std::uint32_t latest() const;

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr std::uint32_t kept = 8;
  struct alignas(cache_line) entry {
    std::atomic<std::uint32_t> number, type;
    std::atomic<std::uint64_t> what, n, element_size;
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<packed_name>> algorithm;
    std::atomic<std::uint64_t> before;
  };
  /// An element type. Numbers begin with 0, and places are reused.
  struct named_type {
    std::atomic<std::uintptr_t> name;   // its key, valid only on the rank itself
    std::atomic<std::uint32_t> number;
    std::array<std::atomic<std::uint64_t>, 12> letters;
  };
  std::uint32_t place_of(element_name const& name);
  bool read(call_identity& identity, std::uint64_t* before, std::uint32_t* type) const;

  std::atomic<std::uint32_t> latest_type_, newest_type_;
  std::array<named_type, 8> types_;
  std::array<entry, kept> entries_;

 public:
  abandoned_calls abandoned;
  rank_notice notice;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "identity_body.hpp"
#endif
