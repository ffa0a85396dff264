// SPDX-License-Identifier: BSL-1.0
/// @file
/// What each way of sparse_all_to_all costs: of formulas of the calls that it makes, and of its letters.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "../rules/choose.hpp"
#include "../rules/choose_body.hpp"
#include "sparse_ways.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What a rank does to send one letter and to take another: it looks for one, receives it, and asks for what it has
/// sent.
inline constexpr double of_letter = 0.2e-6;
/// Bytes of a letter by host, and what a message in it takes beside its own bytes (exchange_by_host.hpp).
inline constexpr double letter_head = 8, message_heading = 6;

/// Seconds for the letters of a rank, of so many bytes each, where `sharing` ranks share a link.
inline double price_of_letters(machine const& m, double letters, double sharing, double bytes) {
  if (letters <= 0) return 0;
  double const further = std::max({0.0, (letters * sharing - 1) * m.alpha_further(), (letters - 1) * of_letter});
  return m.alpha + further + letters * sharing * bytes * m.beta;
}

/// Seconds of each way, in the order of sparse_ways, where each rank sends up to `messages` messages of up to `bytes`
/// bytes to others by chance. `padded`: in a dense exchange they may travel together. The ranks of a host share its
/// link to the network, as in all collectives.
inline std::array<double, sparse_ways.size()> prices_of_ways(situation const& given, double messages, double bytes,
                                                             bool padded) {
  int const p = given.p(), level = given.hosts ? given.hosts->level_within(distance::network) : -1;
  int const hosts = given.hosts ? given.hosts->parts(level, {0, p}) : p;
  int const most = given.hosts ? given.hosts->largest(level) : 1;
  auto const by_distance = machines_by_distance(given);
  machine const& near = by_distance[static_cast<std::size_t>(distance::host)];
  machine const& link = given.hosts ? by_distance.back() : given.network;
  machine const far = link.shared_by(most);
  auto const with_elements = [&](std::size_t bytes_of_one) {
    situation s = given;
    s.vector = {{0, static_cast<std::size_t>(p)}, p}, s.element_size = bytes_of_one;
    return s;
  };
  double const others = p - 1, sent = std::min(messages, others);
  double const away = others == 0 ? 0 : sent * (p - most) / others, nearby = sent - away;
  double const straight = price_of_letters(link, away, most, bytes) + price_of_letters(near, nearby, 1, bytes);
  // A letter is taken when its sender is told so: start-ups do not overlap.
  int const rounds = !given.hosts || given.hosts->consecutive() ? ceil_lg(hosts) : ceil_lg(p);   // between hosts
  double const agreed = (2 + rounds + away) * far.alpha + away * bytes * far.beta +
                        (ceil_lg(p) - rounds + nearby) * near.alpha + nearby * bytes * near.beta;
  double counted = 8 * (p - most) * link.beta;   // at least: to price many ranks' calls takes long
  if (counted < agreed) counted = price_by_formulas<collective::reduce_scatter_block>(with_elements(8)) + straight;

  std::size_t const word = padded ? 16 : 8;   // what the ranks tell each other first
  double exchanged = others * static_cast<double>(word) * far.beta;   // at least
  if (exchanged < std::min(counted, agreed)) {
    exchanged = price_by_formulas<collective::all_to_all>(with_elements(word));
    situation blocks = with_elements(1);
    auto const count = static_cast<std::size_t>(std::ceil(sent));
    auto const longest = static_cast<std::size_t>(std::max(1.0, bytes));
    blocks.exchanged = {.longest = longest, .usual = sent * 10 > others ? longest : 0,
                        .longer = sent * 10 > others ? 0 : count, .messages = count};
    exchanged += padded ? ceil_lg(p) * far.exchange(sizeof blocks.exchanged) : straight;   // ranks agree on lengths
    if (padded && count != 0) exchanged += price_by_formulas<collective::all_to_all_v>(blocks);
  }

  // Three stages, of which those within a host concentrate on its ranks that lead for pairs of hosts; or one, between
  // ranks of which each counts as a host. Each message is copied into a letter and out of it.
  bool const staged = most > 1;
  double const length = bytes + message_heading;
  double const leaders = std::max(1, std::min(most, hosts - 1)), pairs = hosts - 1;   // of a host
  double const within = staged ? price_of_letters(near, most - 1, 1, letter_head) +
                                     std::max(sent, away * most / leaders) * length * near.beta
                               : 0;
  double const between =
      price_of_letters(link, std::ceil(pairs / leaders), leaders, letter_head) + away * most * length * link.beta;
  double const copies = 2 * (staged ? 3 : 1) * sent * (given.network.own.move + length * given.network.own.copied);
  return {counted, agreed, exchanged, 2 * within + between + copies};
}

}  // namespace colligo
