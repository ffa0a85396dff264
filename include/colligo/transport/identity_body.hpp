// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of identity.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "../core/words.hpp"
#include "identity.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::string in_words(call_identity const& its) {
  packed_name const letters = its.algorithm;
  std::array<char, sizeof letters> name;
  std::memcpy(name.data(), letters.data(), name.size());
  return sentence({name_of(its.what), " of ", its.n, " elements of ", its.element_size, " bytes with root ", its.root,
                   ", ", name.data()});
}

[[gnu::cold]] COLLIGO_BODY bool rank_record::knows(call_identity& its) const {
  entry const& e = entries_[its.number % kept];
  if (e.number.load(std::memory_order_acquire) != its.number) return false;
  std::uint64_t const what = e.what.load(relaxed);
  its.what = static_cast<collective>(what >> 32);
  its.root = static_cast<int>(static_cast<std::uint32_t>(what));
  its.n = e.n.load(relaxed);
  its.element_size = e.element_size.load(relaxed);
  for (std::size_t i = 0; i < e.algorithm.size(); ++i) its.algorithm[i] = e.algorithm[i].load(relaxed);
  return true;
}
[[gnu::cold]] COLLIGO_BODY std::uint32_t rank_record::latest() const {
  std::uint32_t latest = entries_[0].number.load(std::memory_order_acquire);
  for (entry const& e : entries_)
    if (std::uint32_t const n = e.number.load(std::memory_order_acquire); static_cast<std::int32_t>(n - latest) > 0)
      latest = n;
  return latest;
}
[[gnu::cold]] COLLIGO_BODY void rank_record::give_up(std::uint32_t number, std::string_view why) {
  end& its = given_up_[number % given_up_.size()];
  for (std::size_t i = 0; i < its.why.size(); ++i) {
    std::array<char, sizeof(std::uint64_t)> part{};
    std::string_view const rest = why.substr(std::min(why.size(), i * part.size()));
    std::copy_n(rest.begin(), std::min(rest.size(), part.size()), part.begin());
    its.why[i].store(std::bit_cast<std::uint64_t>(part), relaxed);
  }
  its.number.store(number, std::memory_order_release);
}
[[gnu::cold]] COLLIGO_BODY std::string rank_record::gave_up(std::uint32_t number) const {
  end const& its = given_up_[number % given_up_.size()];
  if (number == 0 || its.number.load(std::memory_order_acquire) != number) return {};
  std::string why;
  for (auto const& part : its.why) {
    auto const letters = std::bit_cast<std::array<char, sizeof(std::uint64_t)>>(part.load(relaxed));
    why.append(letters.begin(), std::find(letters.begin(), letters.end(), '\0'));
  }
  return why.empty() ? "no reason is known" : why;
}

}  // namespace colligo
