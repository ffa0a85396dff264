// SPDX-License-Identifier: BSL-1.0
/// @file
/// all_to_all_v by the rules: where padding may pay, ranks tell each other their longest block first.
#pragma once

#include "agree_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class Lazy>
[[gnu::noinline]] void run_exchange(port_base& port, call const& its, choice const& by,
                                    policies_of_collective policies) {
  if (by.who != decided_by::rules || !by.as<padded_bruck>()) return run_checked(port, its, by);
  situation s = situation_of(port, its);
  std::size_t const mine = vectors_of(its.what, its.vector, port.rank()).in.longest();
  exchange_among_ranks<collective::all_reduce, recursive_doubling>(port, maximum{}, {{0, 1}, port.size()}, &mine,
                                                                   {0, 1}, &s.longest);
  run_checked(port, its, s.longest == 0 ? by : bound(policies().choose(s), policies(), decided_by::rules));
}

}  // namespace colligo
