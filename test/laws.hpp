// SPDX-License-Identifier: BSL-1.0
// What every algorithm has to obey, over the whole catalogue or over any tag of your own.
#pragma once

#include <colligo/colligo.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tested.hpp"

namespace laws {

using namespace colligo;

/// Algorithms that words go through, which do not travel as bytes.
template <class Tag>
inline constexpr bool takes_words = tested::is_made_of_steps<Tag> && !std::is_same_v<Tag, shared_memory>;

// The free monoid: nothing is lost, doubled or swapped without being seen. A letter says the
// rank, a second one the element.
inline std::string word(int rank, std::size_t i) {
  return {static_cast<char>('!' + rank), static_cast<char>('!' + i % 90)};
}

struct concatenation {
  std::string operator()(std::string const& a, std::string const& b) const { return a + b; }
};

inline std::vector<std::string> words_of(int rank, std::size_t n) {
  std::vector<std::string> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = word(rank, i);
  return words;
}

/// Throws unless every element, beginning with the one of number `first`, holds each rank's word exactly once, in order
/// if that is asked for.
inline void expect_words(std::vector<std::string> const& got, int p, bool in_order, std::string const& what,
                         std::size_t first = 0) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::vector<std::string> letters;
    for (std::size_t at = 0; at < got[i].size(); at += 2) letters.push_back(got[i].substr(at, 2));
    if (!in_order) std::ranges::sort(letters);
    std::vector<std::string> expected;
    for (int r = 0; r < p; ++r) expected.push_back(word(r, first + i));
    if (letters != expected)
      throw std::runtime_error(what + ", p = " + std::to_string(p) + ", n = " + std::to_string(got.size()) +
                               ": element " + std::to_string(i) + " is " + got[i]);
  }
}

/// Concatenation that a reordering algorithm is allowed to take.
template <class Policy>
auto fitting_concatenation() {
  if constexpr (keeps_order<Policy>()) return concatenation{};
  else return as_commutative(concatenation{});
}

inline void expect(bool right, std::string const& what, int p, std::size_t n) {
  if (!right)
    throw std::runtime_error(what + ", p = " + std::to_string(p) + ", n = " + std::to_string(n) + ": wrong result");
}

/// Every distribution of about n elements per rank that blocks of uneven lengths should survive.
inline std::vector<std::vector<std::size_t>> distributions(int p, std::size_t n) {
  auto const make = [p](auto count) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(p));
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = count(i);
    return counts;
  };
  auto const last = static_cast<std::size_t>(p - 1);
  return {make([&](std::size_t) { return n; }),
          make([&](std::size_t i) { return i == last / 2 ? n : 0; }),
          make([&](std::size_t i) { return i % 2 ? 0 : 2 * n; }),
          make([&](std::size_t i) { return (i * 7 + 3) % 5 * n / 2; }),
          make([&](std::size_t i) { return i == 0 ? 0 : i == last ? 3 * n : n / i; })};
}

/// Words of all ranks one after the other: the word of rank r and element i is word(r, i).
inline std::vector<std::string> words_of_all(std::vector<std::size_t> const& counts) {
  std::vector<std::string> all;
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (auto const& w : words_of(static_cast<int>(r), counts[r])) all.push_back(w);
  return all;
}

/// Every collective that the tag offers, with words, on this communicator: n elements a rank, and uneven blocks.
template <class Comm, class Tag>
void words(Comm& comm, Tag const& tag, std::size_t n, int all_roots_up_to) {
  using enum collective;
  ++tested::count;
  int const p = comm.size(), me = comm.rank();
  std::size_t const here = static_cast<std::size_t>(me), ranks = static_cast<std::size_t>(p);
  auto const in = words_of(me, n);
  auto const by = [](collective c) { return std::string(name_of(c)) + " by " + std::string(Tag::name); };
  auto const some_roots = tested::roots(p, all_roots_up_to);
  auto const order_of = [&]<collective C>() { return keeps_order<policy_t<C, Tag, std::string, concatenation>>(); };
  auto const functor = [&]<collective C>() {
    return fitting_concatenation<policy_t<C, Tag, std::string, concatenation>>();
  };

  if constexpr (offers<Tag, all_reduce, std::string, concatenation>) {
    auto const op = functor.template operator()<all_reduce>();
    bool const in_order = order_of.template operator()<all_reduce>();
    std::vector<std::string> out(n);
    colligo::all_reduce(comm, in, out, op, tag);
    expect_words(out, p, in_order, by(all_reduce));
    auto both = in;
    colligo::all_reduce(comm, in_place(both), op, tag);
    expect_words(both, p, in_order, by(all_reduce) + " in place");
  }
  if constexpr (offers<Tag, reduce, std::string, concatenation>)
    for (int const root : some_roots) {
      std::vector<std::string> out(me == root ? n : 0);
      colligo::reduce(comm, in, out, functor.template operator()<reduce>(), root, tag);
      expect_words(out, p, order_of.template operator()<reduce>(), by(reduce) + " to " + std::to_string(root));
    }
  if constexpr (offers<Tag, broadcast, std::string, concatenation>)
    for (int const root : some_roots) {
      auto both = me == root ? in : std::vector<std::string>(n);
      colligo::broadcast(comm, both, root, tag);
      expect(both == words_of(root, n), by(broadcast) + " from " + std::to_string(root), p, n);
    }
  if constexpr (offers<Tag, scan, std::string, concatenation>) {
    std::vector<std::string> out(n);
    colligo::scan(comm, in, out, concatenation{}, tag);
    expect_words(out, me + 1, true, by(scan));
  }
  if constexpr (offers<Tag, exclusive_scan, std::string, concatenation>) {
    std::vector<std::string> out(n);
    colligo::exclusive_scan(comm, in, out, std::string{}, concatenation{}, tag);
    expect_words(out, me, true, by(exclusive_scan));
  }
  if constexpr (offers<Tag, all_gather, std::string, concatenation>) {
    std::vector<std::string> out(n * ranks);
    colligo::all_gather(comm, in, out, tag);
    expect(out == words_of_all(std::vector(ranks, n)), by(all_gather), p, n);
  }
  if constexpr (offers<Tag, reduce_scatter_block, std::string, concatenation>) {
    std::vector<std::string> out(n);
    colligo::reduce_scatter_block(comm, words_of(me, n * ranks), out,
                                  functor.template operator()<reduce_scatter_block>(), tag);
    expect_words(out, p, order_of.template operator()<reduce_scatter_block>(), by(reduce_scatter_block), n * here);
  }
  auto const nth = [](auto& all, std::size_t i, std::size_t size) { return std::span(all).subspan(i * size, size); };
  if constexpr (offers<Tag, all_to_all, std::string, concatenation>) {
    auto const for_all = words_of(me, n * ranks);
    std::vector<std::string> out(n * ranks);
    colligo::all_to_all(comm, for_all, out, tag);
    for (int from = 0; from < p; ++from) {
      auto const theirs = words_of(from, n * ranks);
      bool const right = std::ranges::equal(nth(out, static_cast<std::size_t>(from), n), nth(theirs, here, n));
      expect(right, by(all_to_all), p, n);
    }
    auto both = for_all;
    colligo::all_to_all(comm, in_place(both), tag);
    expect(both == out, by(all_to_all) + " in place", p, n);
  }
  if constexpr (offers<Tag, all_to_all_v, std::string, concatenation>) {
    // Rank s has (3 s + 5 d) mod 4 parts of n for rank d, none for some, and sends every one of them words of its own.
    auto const count = [&](std::size_t s, std::size_t d) { return (3 * s + 5 * d) % 4 * n / 3; };
    auto const words_for = [&](std::size_t s, std::size_t d) {
      auto some = words_of(static_cast<int>(s), count(s, d));
      for (auto& w : some) w += std::to_string(d);
      return some;
    };
    std::vector<std::string> for_all, expected;
    std::vector<std::size_t> counts, from_all;
    for (std::size_t r = 0; r < ranks; ++r) {
      counts.push_back(count(here, r)), from_all.push_back(count(r, here));
      std::ranges::copy(words_for(here, r), std::back_inserter(for_all));
      std::ranges::copy(words_for(r, here), std::back_inserter(expected));
    }
    std::vector<std::string> out(expected.size());
    colligo::all_to_all_v(comm, for_all, counts, out, from_all, tag);
    expect(out == expected, by(all_to_all_v), p, n);
  }
  for (auto const& counts : distributions(p, n)) {
    auto const all = words_of_all(counts);
    auto const mine = words_of(me, counts[here]);
    if constexpr (offers<Tag, all_gatherv, std::string, concatenation>) {
      std::vector<std::string> out(all.size());
      colligo::all_gatherv(comm, mine, out, counts, tag);
      expect(out == all, by(all_gatherv), p, n);
    }
    if constexpr (offers<Tag, reduce_scatter, std::string, concatenation>) {
      std::vector<std::string> out(counts[here]);
      colligo::reduce_scatter(comm, words_of(me, all.size()), out, counts,
                              functor.template operator()<reduce_scatter>(), tag);
      expect_words(out, p, order_of.template operator()<reduce_scatter>(), by(reduce_scatter),
                   std::reduce(counts.begin(), counts.begin() + me));
    }
    for (int const root : some_roots) {
      if constexpr (offers<Tag, gatherv, std::string, concatenation>) {
        std::vector<std::string> out(me == root ? all.size() : 0);
        colligo::gatherv(comm, mine, out, counts, root, tag);
        expect(me != root || out == all, by(gatherv) + " to " + std::to_string(root), p, n);
      }
      if constexpr (offers<Tag, scatterv, std::string, concatenation>) {
        std::vector<std::string> out(counts[here]);
        colligo::scatterv(comm, me == root ? all : std::vector<std::string>{}, counts, out, root, tag);
        expect(out == mine, by(scatterv) + " from " + std::to_string(root), p, n);
      }
    }
  }
}

}  // namespace laws
