// SPDX-License-Identifier: BSL-1.0
// Random digraphs as messages, with a std::multimap as oracle, over any communicator.
#pragma once

#include <colligo/exchange.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace digraphs {

enum class kind { nobody, all_to_one, few, one_to_all, all_to_all, neighbours };
inline constexpr std::initializer_list<kind> kinds{kind::nobody,     kind::all_to_one, kind::few,
                                                   kind::one_to_all, kind::all_to_all, kind::neighbours};
inline constexpr std::initializer_list<char const*> ways{"counters", "consensus", "dense", "by_host", "automatic"};

template <class T>
T element(int from, int number, std::size_t i) {
  std::size_t const value = static_cast<std::size_t>(from * 1000 + number * 10) + i;
  if constexpr (std::is_same_v<T, std::string>) return std::to_string(value);
  else return static_cast<T>(value);
}

/// The messages of all ranks: by (receiver, sender), in the order in which the sender gives them.
template <class T>
using messages = std::multimap<std::pair<int, int>, std::vector<T>>;
template <class T>
using own_messages = std::vector<std::pair<int, std::vector<T>>>;

/// Draws the messages of p ranks; `own` gets those of rank `me`, also duplicates, empty ones and some to itself.
template <class T>
messages<T> draw(kind what, int p, int me, unsigned seed, own_messages<T>& own) {
  messages<T> all;
  std::mt19937 random(seed);
  for (int from = 0; from < p; ++from) {
    int const sent = what == kind::nobody        ? 0
                     : what == kind::all_to_one  ? 2
                     : what == kind::few         ? static_cast<int>(random() % 5)
                     : what == kind::neighbours  ? 2
                     : what == kind::one_to_all  ? (from == p / 2 ? p : 0)
                                                 : p;
    for (int i = 0; i < sent; ++i) {
      int const to = what == kind::all_to_one   ? p - 1
                     : what == kind::few        ? static_cast<int>(random() % static_cast<unsigned>(p))
                     : what == kind::neighbours ? (from + (i == 0 ? 1 : p - 1)) % p
                                                : i;
      std::size_t const n = random() % 16 == 0 ? 3000 : random() % 4;
      std::vector<T> values;
      for (std::size_t k = 0; k < n; ++k) values.push_back(element<T>(from, i, k));
      if (from == me) own.emplace_back(to, values);
      all.emplace(std::pair(to, from), std::move(values));
    }
  }
  return all;
}

template <class T>
bool is_right(colligo::received<T> const& in, messages<T> const& all, int me) {
  std::map<int, std::vector<T>> expected;
  for (auto const& [edge, values] : all)
    if (edge.first == me) {
      auto& joined = expected[edge.second];
      joined.insert(joined.end(), values.begin(), values.end());
    }
  if (in.size() != expected.size()) return false;
  auto next = expected.begin();
  for (auto const [rank, values] : in) {
    if (rank != next->first || !std::ranges::equal(values, next->second)) return false;
    ++next;
  }
  return true;
}

/// A call by this way, blocking and as a request, by pairs and by targets, counts and a joined range.
template <class T, class Comm>
bool is_right_by(Comm const& comm, std::string const& way, kind what, unsigned seed) {
  own_messages<T> own;
  auto const all = draw<T>(what, comm.size(), comm.rank(), seed, own);
  colligo::named const by(way);
  std::vector<int> targets, counts;
  std::vector<T> joined;
  for (auto const& [to, values] : own) {
    targets.push_back(to), counts.push_back(static_cast<int>(values.size()));
    joined.insert(joined.end(), values.begin(), values.end());
  }
  bool right = is_right(colligo::sparse_all_to_all(comm, own, by), all, comm.rank());
  right = is_right(colligo::sparse_all_to_all(comm, targets, counts, joined, by), all, comm.rank()) && right;
  auto first = colligo::isparse_all_to_all(comm, own, by);
  auto second = colligo::isparse_all_to_all(comm, targets, counts, joined, by);
  right = is_right(second.wait(), all, comm.rank()) && right;
  return is_right(first.wait(), all, comm.rank()) && right;
}

}  // namespace digraphs
