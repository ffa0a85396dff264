// SPDX-License-Identifier: BSL-1.0
// Labelled trees, all or some, by their Pruefer codes.
#pragma once

#include <colligo/shape/ranked_tree.hpp>

#include <random>
#include <vector>

/// The tree with this code (p - 2 ranks, those that occur most have most neighbours), hung up at `root`.
inline colligo::tree tree_of_code(int p, std::vector<int> const& code, int root) {
  auto const at = [](int r) { return static_cast<std::size_t>(r); };
  std::vector<std::vector<int>> neighbours(at(p));
  std::vector<int> degree(at(p), 1);
  for (int const r : code) ++degree[at(r)];
  auto const join = [&](int a, int b) {
    neighbours[at(a)].push_back(b), neighbours[at(b)].push_back(a);
    --degree[at(a)], --degree[at(b)];
  };
  auto const leaf = [&](int from) {
    while (from < p && degree[at(from)] != 1) ++from;
    return from;
  };
  for (int const r : code) join(leaf(0), r);
  if (p > 1) {
    int const last = leaf(0);
    join(last, leaf(last + 1));
  }
  std::vector<int> parents(at(p), colligo::nobody), reached{root};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (int const n : neighbours[at(reached[i])])
      if (n != parents[at(reached[i])]) parents[at(n)] = reached[i], reached.push_back(n);
  return colligo::tree::of_parents(parents);
}

template <class F>
void for_each_tree(int p, F f) {
  std::vector<int> code(static_cast<std::size_t>(std::max(0, p - 2)), 0);
  for (bool more = true; more;) {
    for (int root = 0; root < p; ++root) f(tree_of_code(p, code, root));
    more = false;
    for (int& r : code) {
      r = r == p - 1 ? 0 : r + 1;
      if (r == 0) continue;
      more = true;
      break;
    }
  }
}

/// With its children in random order, so that it is hardly ever in order.
inline colligo::tree random_tree(int p, std::mt19937& random) {
  auto const any = [&] { return std::uniform_int_distribution(0, p - 1)(random); };
  std::vector<int> code(static_cast<std::size_t>(std::max(0, p - 2)));
  for (int& r : code) r = any();
  auto const t = tree_of_code(p, code, any());
  std::vector<std::vector<int>> children;
  for (int r = 0; r < p; ++r) {
    children.emplace_back(t.children(r).begin(), t.children(r).end());
    std::ranges::shuffle(children.back(), random);
  }
  return colligo::tree::of_children(children);
}
