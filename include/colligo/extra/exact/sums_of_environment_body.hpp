// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of sums_of_environment.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "plain_sums.hpp"
#include "sums_of_environment.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A rank's exact sums, contributed and received.
template <class T>
struct sums_of_call {
  std::vector<exact_sum<T>> in, out;

  sums_of_call(std::size_t contributed, std::size_t wanted) : in(contributed), out(wanted) {}
  void take(std::byte const* from, std::size_t n) {
    auto const* const numbers = reinterpret_cast<T const*>(from);
    for (std::size_t i = 0; i < n; ++i) in[i] = exact_sum<T>(numbers[i]);
  }
  void give(std::byte* to, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) reinterpret_cast<T*>(to)[i] = out[i].value();
  }
  /// Turns the call into one on these.
  void stand_for(call& its) {
    its.in.data = reinterpret_cast<std::byte const*>(in.data());
    its.out.data = reinterpret_cast<std::byte*>(out.data());
  }
};

/// Sums are up to 39 times as long as numbers, so long vectors are sent in parts if possible.
template <class T, class Run>
void run_exactly(port_base& port, call const& its, choice const& by, Run run) {
  constexpr std::size_t most = 4096;
  sums_of_call<T> sums(0, 0);
  auto const allocate = [&](std::size_t length) {
    sums = {std::min(its.in.covers.size(), length), std::min(its.out.covers.size(), length)};
  };
  run_in_parts(port, sums_of_environment::as_exact(port, its), most, allocate, [&](call part, std::size_t done) {
    sums.stand_for(part);
    sums.take(its.in.data + done * sizeof(T), part.in.covers.size());
    if (its.what == collective::exclusive_scan) std::ranges::fill(sums.out, exact_sum<T>());
    run(port, part, by);
    sums.give(its.out.data + done * sizeof(T), part.out.covers.size());
  });
}

/// The data that a request keeps.
template <class T>
struct owned_sums final : owned_by_request {
  owned_sums(call& its, owner<owned_by_request> before)
      : kept(std::move(before)), numbers_in(its.in), numbers_out(its.out),
        sums(its.in.covers.size(), its.out.covers.size()) {
    sums.stand_for(its);
  }
  void begin() override {
    if (kept) kept->begin();
    sums.take(numbers_in.data, numbers_in.covers.size());
    std::ranges::fill(sums.out, exact_sum<T>());
  }
  void finish() override {
    sums.give(numbers_out.data, numbers_out.covers.size());
    if (kept) kept->finish();
  }

  owner<owned_by_request> kept;
  values<std::byte const> numbers_in;
  values<std::byte> numbers_out;
  sums_of_call<T> sums;
};

COLLIGO_BODY call sums_of_environment::as_exact(port_base& port, call const& its) {
  call made = its;
  if (adds_up<double>(*its.of)) made.of = &element_of<exact_sum<double>, std::plus<>>;
  else if (adds_up<float>(*its.of)) made.of = &element_of<exact_sum<float>, std::plus<>>;
  else return made;
  made.wire = port.wire_of_bytes();
  return made;
}
COLLIGO_BODY bool sums_of_environment::holds_for(port_base& port, call const& its, choice const& by) {
  switch (by.who) {
    case decided_by::pinned: case decided_by::named: case decided_by::required: case decided_by::tried:
    case decided_by::measured: return false;
    default: return as_exact(port, its).of != its.of;
  }
}
COLLIGO_BODY void sums_of_environment::run(port_base& port, call const& its, choice const& by,
                                           void (*run)(port_base& port, call const& its, choice const& by)) {
  if (adds_up<double>(*its.of)) run_exactly<double>(port, its, by, run);
  else run_exactly<float>(port, its, by, run);
}
COLLIGO_BODY call sums_of_environment::own(port_base& port, call const& its, owner<owned_by_request>& kept) {
  call made = as_exact(port, its);
  made.before = 0;
  if (adds_up<double>(*its.of)) kept = make_owner<owned_sums<double>>(made, std::move(kept));
  else kept = make_owner<owned_sums<float>>(made, std::move(kept));
  return made;
}

}  // namespace colligo
