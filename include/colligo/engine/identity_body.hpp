// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of identity.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "../core/small_vector.hpp"
#include "../core/strings.hpp"
#include "identity.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Text that a rank writes for others, in words of eight letters.
template <std::size_t N>
void write_letters(std::array<std::atomic<std::uint64_t>, N>& to, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    std::array<char, sizeof(std::uint64_t)> part{};
    std::string_view const rest = text.substr(std::min(text.size(), i * part.size()));
    std::copy_n(rest.begin(), std::min(rest.size(), part.size()), part.begin());
    to[i].store(std::bit_cast<std::uint64_t>(part), std::memory_order_relaxed);
  }
}
template <std::size_t N>
std::string read_letters(std::array<std::atomic<std::uint64_t>, N> const& from) {
  std::string text;
  for (auto const& part : from) {
    auto const letters = std::bit_cast<std::array<char, sizeof(std::uint64_t)>>(part.load(std::memory_order_relaxed));
    text.append(letters.data(), strnlen(letters.data(), letters.size()));
  }
  return text;
}

[[gnu::cold]] COLLIGO_BODY std::string name_of_call(call_identity const& identity, std::string_view type) {
  packed_name const letters = identity.algorithm;
  std::array<char, sizeof letters> name;
  std::memcpy(name.data(), letters.data(), name.size());
  std::string words(name_of(identity.what));
  if (has_own_counts(identity.what))
    words = type.empty() ? concat({words, " of elements of ", with_number(identity.element_size, "byte")})
                         : concat({words, " of ", type});
  else if (identity.what != collective::barrier)
    words = type.empty() ? concat({words, " of ", with_number(identity.n, "element"), " of ",
                                   with_number(identity.element_size, "byte")})
                         : concat({words, " of ", identity.n, " ", type, " (",
                                   with_number(identity.n * identity.element_size, "byte"), ")"});
  if (has_root(identity.what)) words = concat({words, " with root ", identity.root});
  return concat({words, ", ", name.data()});
}

// Also for a type that has lost its place to another one.
[[gnu::cold]] COLLIGO_BODY std::uint32_t rank_record::place_of(element_name const& name) {
  std::uint32_t which = 0;
  while (which < types_.size() && types_[which].name.load(relaxed) != name.key()) ++which;
  if (which < types_.size()) {
    which = types_[which].number.load(relaxed);
  } else {
    which = newest_type_.load(relaxed);
    newest_type_.store(which + 1, relaxed);
    named_type& type = types_[which % types_.size()];
    type.name.store(name.key(), relaxed);
    type.number.store(which - 1, relaxed);   // has another place
    std::atomic_thread_fence(std::memory_order_release);
    write_letters(type.letters, name.key() ? name() : std::string_view());
    type.number.store(which, std::memory_order_release);
  }
  latest_type_.store(which, relaxed);
  return which;
}
[[gnu::cold]] COLLIGO_BODY bool rank_record::read(call_identity& identity, std::uint64_t* before,
                                                  std::uint32_t* type) const {
  entry const& e = entries_[identity.number % kept];
  if (e.number.load(std::memory_order_acquire) != identity.number) return false;
  call_identity known{.number = identity.number};
  std::uint64_t const what = e.what.load(relaxed);
  known.what = static_cast<collective>(what >> 32);
  known.root = static_cast<int>(static_cast<std::uint32_t>(what));
  known.n = e.n.load(relaxed);
  known.element_size = e.element_size.load(relaxed);
  for (std::size_t i = 0; i < e.algorithm.size(); ++i) known.algorithm[i] = e.algorithm[i].load(relaxed);
  if (before) *before = e.before.load(relaxed);
  if (type) *type = e.type.load(relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (e.number.load(relaxed) != identity.number) return false;
  identity = known;
  return true;
}
[[gnu::cold]] COLLIGO_BODY bool rank_record::read(report& into) const {
  std::uint32_t which = 0;
  into.type.clear();
  if (!read(into.call, &into.before, &which)) return false;
  named_type const& type = types_[which % types_.size()];
  if (type.number.load(std::memory_order_acquire) != which) return true;
  std::string name = read_letters(type.letters);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (type.number.load(relaxed) == which) into.type = std::move(name);
  return true;
}
[[gnu::cold]] COLLIGO_BODY std::uint32_t rank_record::latest() const {
  std::uint32_t latest = entries_[0].number.load(std::memory_order_acquire);
  for (entry const& e : entries_)
    if (std::uint32_t const n = e.number.load(std::memory_order_acquire); static_cast<std::int32_t>(n - latest) > 0)
      latest = n;
  return latest;
}

[[gnu::cold]] COLLIGO_BODY void abandoned_calls::add(std::uint32_t number, std::string_view why) {
  auto const last = [](entry const& e) { return e.number.load(std::memory_order_relaxed); };
  auto const age = [&](entry const& e) { return static_cast<std::int32_t>(number - last(e)); };
  bool const is_listed_already = has(number);
  entry* oldest = &latest_[0];
  std::uint32_t first = number;
  for (entry& e : latest_) {
    if (last(e) == number) return;   // the first reason stays: under one number a reader could mix two
    if (last(e) != 0 && age(e) == 1) first = e.first.load(std::memory_order_relaxed);
    if (age(e) > age(*oldest)) oldest = &e;
  }
  oldest->number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  oldest->first.store(first, std::memory_order_relaxed);
  write_letters(oldest->why, why);
  oldest->number.store(number, std::memory_order_release);
  if (is_listed_already) return;
  std::uint32_t const count = count_.load(std::memory_order_relaxed);
  numbers_[count % numbers_.size()].store(number, std::memory_order_release);   // who sees it finds the reason
  count_.store(count + 1, std::memory_order_relaxed);
}
// Numbers wrap round.
[[gnu::cold]] COLLIGO_BODY abandoned_calls::found abandoned_calls::find(std::uint32_t number) const {
  auto const is_later = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; };
  found match;
  for (entry const& e : latest_) {
    std::uint32_t const last = e.number.load(std::memory_order_acquire);
    std::uint32_t const first = e.first.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (last == 0 || e.number.load(std::memory_order_relaxed) != last) continue;
    if (last == number) return {&e, last};
    if (is_later(last, number) && !is_later(first, number)) match = {&e, last};
  }
  return match;
}
[[gnu::cold]] COLLIGO_BODY std::string abandoned_calls::reason(std::uint32_t number) const {
  bool const listed = is_listed(number);   // first: its reason is there before it is listed
  found const match = find(number);
  if (!match.it) return listed ? "no reason is known" : "";
  std::string const why = read_letters(match.it->why);
  std::atomic_thread_fence(std::memory_order_acquire);
  bool const is_whole = match.it->number.load(std::memory_order_relaxed) == match.last;
  return why.empty() || !is_whole || match.last != number ? "no reason is known" : why;
}

[[gnu::cold]] COLLIGO_BODY bool abandoned_calls::is_listed(std::uint32_t number) const {
  return number != 0 &&
         is_any(numbers_, [=](auto const& one) { return one.load(std::memory_order_acquire) == number; });
}
[[gnu::cold]] COLLIGO_BODY bool abandoned_calls::may_have_forgotten(std::uint32_t number) const {
  if (count_.load(std::memory_order_relaxed) < numbers_.size()) return false;
  return !is_any(numbers_, [=](auto const& one) {
    return static_cast<std::int32_t>(number - one.load(std::memory_order_relaxed)) >= 0;
  });
}

[[gnu::cold]] COLLIGO_BODY void abandoned_calls::forget_before(std::uint32_t number) {
  auto const forget = [=](std::atomic<std::uint32_t>& one) {
    if (number - one.load(std::memory_order_relaxed) > remembered) one.store(0, std::memory_order_relaxed);
  };
  for (entry& e : latest_) forget(e.number);
  for (auto& one : numbers_) forget(one);
}

// get() reads again if the words change meanwhile.
COLLIGO_BODY void rank_notice::put(noted_call const& noted) {
  words all{};
  std::memcpy(all.data(), &noted, sizeof noted);
  std::uint32_t const changing = version_.load(std::memory_order_relaxed) | 1;
  version_.store(changing, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < all.size(); ++i) words_[i].store(all[i], std::memory_order_relaxed);
  version_.store(changing + 1, std::memory_order_release);
}
[[gnu::cold]] COLLIGO_BODY noted_call rank_notice::get() const {
  noted_call noted;
  for (int tries = 0; tries < 1000; ++tries) {   // a rank that is gone may have left it half written
    words all{};
    std::uint32_t const version = version_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = words_[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version % 2 != 0 || version_.load(std::memory_order_relaxed) != version) continue;
    std::memcpy(static_cast<void*>(&noted), all.data(), sizeof noted);
    break;
  }
  return noted;
}

}  // namespace colligo
