// SPDX-License-Identifier: BSL-1.0
// Calls of the family on elements of one byte, blocking and as requests, against what has to come out.
#pragma once

#include <colligo/colligo.hpp>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// By an algorithm, as far as it has a form for a collective, or automatic. Throws std::runtime_error if a result is
/// wrong. Rank r contributes n bytes, n to each rank, or r % 3 * n / 2 to it.
template <class Comm, class Algorithm>
void whole_family(Comm& comm, Algorithm const& by, std::string const& what, std::size_t n) {
  using bytes = std::vector<std::uint8_t>;
  using colligo::in_place;
  auto const p = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank()), last = p - 1;
  int const root = comm.size() - 1;
  auto const of = [](std::size_t rank, std::size_t i) { return static_cast<std::uint8_t>(rank * 37 + i * 5 + 1); };
  auto const made = [](std::size_t length, auto const& value) {
    bytes all(length);
    for (std::size_t i = 0; i < length; ++i) all[i] = value(i);
    return all;
  };
  auto const sum_over = [&](std::size_t from, std::size_t to, std::size_t i) {
    std::uint8_t sum = 0;
    for (std::size_t r = from; r < to; ++r) sum = static_cast<std::uint8_t>(sum + of(r, i));
    return sum;
  };
  auto const count_of = [&](std::size_t from, std::size_t to) { return (from + 2 * to) % 3 * n / 2; };
  std::plus<std::uint8_t> const op;
  bytes const in = made(n, [&](std::size_t i) { return of(me, i); });
  bytes const blocks = made(n * p, [&](std::size_t i) { return of(me, i); });
  bytes const sum = made(n, [&](std::size_t i) { return sum_over(0, p, i); });
  bytes const prefix = made(n, [&](std::size_t i) { return sum_over(0, me + 1, i); });
  bytes const before = made(n, [&](std::size_t i) { return static_cast<std::uint8_t>(9 + sum_over(0, me, i)); });
  bytes const block = made(n, [&](std::size_t i) { return sum_over(0, p, me * n + i); });
  bytes const all = made(n * p, [&](std::size_t i) { return of(i / n, i % n); });
  bytes const exchanged = made(n * p, [&](std::size_t i) { return of(i / n, me * n + i % n); });
  std::vector<std::size_t> counts(p), to_each(p), from_each(p);
  bytes own, joined, lists, lists_of_all;
  for (std::size_t r = 0; r < p; ++r) {
    counts[r] = count_of(r, 0), to_each[r] = count_of(me, r), from_each[r] = count_of(r, me);
    for (std::size_t i = 0; i < counts[r]; ++i) joined.push_back(of(r, i));
    for (std::size_t i = 0; i < to_each[r]; ++i) lists.push_back(of(me + r, i));
    for (std::size_t i = 0; i < from_each[r]; ++i) lists_of_all.push_back(of(r + me, i));
  }
  own = made(counts[me], [&](std::size_t i) { return of(me, i); });

  auto const check = [&](char const* name, bytes const& expected, auto call) {
    try {
      bytes out(expected.size());
      call(out);
      if (out != expected) throw std::runtime_error(name + (": wrong result, " + what));
    } catch (colligo::algorithm_error const& e) {
      std::string_view const why = e.what();
      if (why.find("no algorithm of this collective") == why.npos && why.find("as a request") == why.npos) throw;
    }
  };
  auto const at_root = [&](bytes const& expected) { return me == last ? expected : bytes(); };
  check("all_reduce", sum, [&](bytes& out) { colligo::all_reduce(comm, in, out, op, by); });
  check("all_reduce in place", sum, [&](bytes& out) { out = in, colligo::all_reduce(comm, in_place(out), op, by); });
  check("iall_reduce", sum, [&](bytes& out) { colligo::iall_reduce(comm, in, out, op, by).wait(); });
  check("reduce", at_root(sum), [&](bytes& out) { colligo::reduce(comm, in, out, op, root, by); });
  check("ireduce", at_root(sum), [&](bytes& out) { colligo::ireduce(comm, in, out, op, root, by).wait(); });
  check("scan", prefix, [&](bytes& out) { colligo::scan(comm, in, out, op, by); });
  check("exclusive_scan", me == 0 ? bytes(n, 9) : before, [&](bytes& out) {
    colligo::exclusive_scan(comm, in, out, std::uint8_t{9}, op, by);
  });
  check("reduce_scatter_block", block, [&](bytes& out) { colligo::reduce_scatter_block(comm, blocks, out, op, by); });
  check("broadcast", made(n, [&](std::size_t i) { return of(last, i); }), [&](bytes& out) {
    if (me == last) out = in;
    colligo::broadcast(comm, out, root, by);
  });
  check("all_gather", all, [&](bytes& out) { colligo::all_gather(comm, in, out, by); });
  check("all_gatherv", joined, [&](bytes& out) { colligo::all_gatherv(comm, own, out, counts, by); });
  check("gather", at_root(all), [&](bytes& out) { colligo::gather(comm, in, out, root, by); });
  check("scatter", made(n, [&](std::size_t i) { return of(last, me * n + i); }), [&](bytes& out) {
    colligo::scatter(comm, at_root(blocks), out, root, by);
  });
  check("all_to_all", exchanged, [&](bytes& out) { colligo::all_to_all(comm, blocks, out, by); });
  check("iall_to_all", exchanged, [&](bytes& out) { colligo::iall_to_all(comm, blocks, out, by).wait(); });
  check("all_to_all_v", lists_of_all, [&](bytes& out) {
    colligo::all_to_all_v(comm, lists, to_each, out, from_each, by);
  });
  check("barrier", {}, [&](bytes&) { colligo::barrier(comm, by); });
}
