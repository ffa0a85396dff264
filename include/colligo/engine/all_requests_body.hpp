// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of requests.hpp for all requests of a rank.
#pragma once

#include <cstdio>
#include <exception>

#include "../core/error.hpp"
#include "requests.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr char const* ended_with_mpi = "MPI has been finalised; a request has to be complete before that";
inline constexpr char const* is_of_parent = "this is a child of fork(), which can not complete its parent's requests";

COLLIGO_BODY void requests_of_rank::add(running& r, std::uint32_t number) {
  auto const turn = lock();
  r.begin(number);
  in_progress_.push_back(&r);
  count_.store(static_cast<int>(in_progress_.size()), std::memory_order_release);
  if (!advance_alone(r, false)) progress();
}

COLLIGO_BODY bool requests_of_rank::advance_alone(running& r, bool waits) {
  if (!r.plays_ || shared_ || walks_ != 0 || in_progress_.size() != 1 || are_of_parent()) return false;
  ++walks_;
  r.advancing_ = true;
  bool const complete = r.advance(waits);
  r.advancing_ = false;
  --walks_;
  if (complete) {
    in_progress_[0] = nullptr;
    r.in_progress_.store(false, std::memory_order_release);
    if (in_progress_.size() != 1) [[unlikely]] return drop_complete(), true;   // the functor has started others
    in_progress_.clear();
    count_.store(0, std::memory_order_release);
  }
  return true;
}

[[gnu::cold]] COLLIGO_BODY void requests_of_rank::end() {
  auto const turn = lock();
  ended_ = true;
  char const* const why = are_of_parent() ? is_of_parent : ended_with_mpi;
  for (running* const r : in_progress_) {
    if (!r) continue;
    auto const text = where(r->state_, r->call_.what) + why;
    if (why == ended_with_mpi) std::fprintf(stderr, "%s\n", text.c_str());   // nobody may wait for it any more
    r->failed_ = std::make_exception_ptr(error(text));
    r->begun_ = r->reusable_ = false;
    r->in_progress_.store(false, std::memory_order_release);
  }
  in_progress_.clear();
  count_.store(0, std::memory_order_release);
}

COLLIGO_BODY void requests_of_rank::make_room(int one_more_or_less) {
  auto const turn = lock();
  made_ += static_cast<std::size_t>(one_more_or_less);
  if (made_ > in_progress_.capacity()) in_progress_.reserve(2 * made_);
  run_among = &running::run_among;
  advance_all = [](requests_of_rank& all) { return all.advance(); };
}

COLLIGO_BODY bool requests_of_rank::is_inside(communicator_state const& state) {
  if (of_vendor == &state) return true;   // in any call of MPI's
  auto const turn = lock();
  return walks_ != 0 && !are_of_parent() &&
         is_any(in_progress_, [&](running const* r) { return r && r->advancing_ && &r->state_ == &state; });
}
COLLIGO_BODY void requests_of_rank::refuse_inside(communicator_state const& state) {
  if (is_inside(state)) throw_in_functor(state);
}

// A thread inside a request's functor makes progress for the other requests.
COLLIGO_BODY bool requests_of_rank::advance() {
  auto const turn = lock();
  if (are_of_parent()) {   // the child would take its parent's messages
    end();
    return true;
  }
  ++walks_;
  bool completes = false;
  std::uint64_t const walk = ++walk_;
  for (std::size_t k = 0; k < in_progress_.size(); ++k) {
    running* const r = in_progress_[k];
    if (!r) continue;
    // Requests over one state's shared memory run one after the other, in the order of their starts. One has no turn if
    // this walk, or one nested in it, has met an earlier one.
    bool const has_turn = !r->uses_memory_ || r->state_.memory_in_use < walk;
    if (!r->advancing_ && (has_turn || r->stalled_)) {
      r->advancing_ = true;
      bool const complete = r->advance();
      r->advancing_ = false;
      if (complete) {
        completes = true;
        in_progress_[k] = nullptr;
        r->in_progress_.store(false, std::memory_order_release);   // it may be destroyed from here on
        continue;
      }
    }
    if (r->uses_memory_) r->state_.memory_in_use = walk_;
  }
  if (--walks_ == 0) drop_complete();
  return completes;
}

COLLIGO_BODY void requests_of_rank::drop_complete() {
  std::size_t left = 0;
  for (running* const r : in_progress_)
    if (r) in_progress_[left++] = r;
  in_progress_.resize(left);
  count_.store(static_cast<int>(in_progress_.size()), std::memory_order_release);
}

}  // namespace colligo
