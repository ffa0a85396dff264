// SPDX-License-Identifier: BSL-1.0
// What every algorithm has to obey, over the whole catalogue or over any tag of your own.
#pragma once

#include <colligo/algorithm/catalogue.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/model/cost.hpp>
#include <colligo/model/record.hpp>
#include <colligo/reduce.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace laws {

using namespace colligo;

/// Algorithms that are made of steps.
template <class Tag>
inline constexpr bool has_text = !std::is_same_v<Tag, vendor>;

template <collective C, class F>
void for_each_text(F f) {
  for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (has_text<Tag> && offers<Tag, C, double, std::plus<>>) f(tag);
  });
}

/// The roots worth trying: all where there are few.
inline std::vector<int> roots(int p, int all_up_to) {
  std::vector<int> some;
  if (p <= all_up_to) {
    for (int r = 0; r < p; ++r) some.push_back(r);
  } else {
    some = {0, 1, p / 2, p - 2, p - 1};
  }
  return some;
}

// The free monoid: nothing is lost, doubled or swapped without being seen. A letter says the rank, a second one the element.
inline std::string word(int rank, std::size_t i) { return {static_cast<char>('!' + rank), static_cast<char>('!' + i % 90)}; }

struct concatenation {
  std::string operator()(std::string const& a, std::string const& b) const { return a + b; }
};

inline std::vector<std::string> words_of(int rank, std::size_t n) {
  std::vector<std::string> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = word(rank, i);
  return words;
}

/// Throws unless every element holds each rank's word exactly once, in order if that is asked for.
inline void expect_words(std::vector<std::string> got, int p, bool in_order, std::string const& what) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::vector<std::string> letters;
    for (std::size_t at = 0; at < got[i].size(); at += 2) letters.push_back(got[i].substr(at, 2));
    if (!in_order) std::ranges::sort(letters);
    std::vector<std::string> expected;
    for (int r = 0; r < p; ++r) expected.push_back(word(r, i));
    if (letters != expected) throw std::runtime_error(what + ", p = " + std::to_string(p) + ", n = " + std::to_string(got.size()) + ": element " + std::to_string(i) + " is " + got[i]);
  }
}

/// Concatenation that a reordering algorithm is allowed to take.
template <class Policy>
auto fitting_concatenation() {
  if constexpr (keeps_order<Policy>()) return concatenation{};
  else return as_commutative(concatenation{});
}

/// all_reduce and reduce of words on this communicator, for one algorithm.
template <class Comm, class Tag>
void words(Comm& comm, Tag const& tag, std::size_t n, int all_roots_up_to) {
  int const p = comm.size();
  auto const in = words_of(comm.rank(), n);
  if constexpr (offers<Tag, collective::all_reduce, std::string, concatenation>) {
    using policy = policy_t<collective::all_reduce, Tag, std::string, concatenation>;
    auto const what = "all_reduce by " + std::string(Tag::name);
    std::vector<std::string> out(n);
    colligo::all_reduce(comm, in, out, fitting_concatenation<policy>(), tag);
    expect_words(out, p, keeps_order<policy>(), what);
    auto both = in;
    colligo::all_reduce(comm, in_place(both), fitting_concatenation<policy>(), tag);
    expect_words(both, p, keeps_order<policy>(), what + " in place");
  }
  if constexpr (offers<Tag, collective::reduce, std::string, concatenation>) {
    using policy = policy_t<collective::reduce, Tag, std::string, concatenation>;
    for (int const root : roots(p, all_roots_up_to)) {
      std::vector<std::string> out(comm.rank() == root ? n : 0);
      colligo::reduce(comm, in, out, fitting_concatenation<policy>(), root, tag);
      expect_words(out, p, keeps_order<policy>(), "reduce to " + std::to_string(root) + " by " + std::string(Tag::name));
    }
  }
}

}  // namespace laws
