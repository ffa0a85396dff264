// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of sums_of_environment.hpp.
#pragma once

#include <algorithm>
#include <new>
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
  std::size_t const n = its.vector.whole.size(), part = has_blocks(its.what) ? n : std::min(n, most),
                    in = its.in.covers.size(), out = its.out.covers.size();
  auto sums = [&] {
    try {
      return sums_of_call<T>(std::min(in, part), std::min(out, part));
    } catch (std::bad_alloc const& e) {
      port.refuse(e.what());
      throw;
    }
  }();
  call made = sums_of_environment::as_exact(port, its);
  sums.stand_for(made);
  std::size_t done = 0;
  do {
    std::size_t const now = std::min(part, n - done), taken = std::min(in - std::min(in, done), part),
                      given = std::min(out - std::min(out, done), part);
    if (part != n) {
      made.vector.whole = {0, now};
      made.in.covers = {0, taken}, made.out.covers = {0, given};
    }
    sums.take(its.in.data + done * sizeof(T), taken);
    if (its.what == collective::exclusive_scan) std::ranges::fill(sums.out, exact_sum<T>());
    run(port, made, by);
    sums.give(its.out.data + done * sizeof(T), given);
    done += now;
  } while (done < n);
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
