// SPDX-License-Identifier: BSL-1.0
/// @file
/// Letters between ranks that are threads: the receiver copies from the sender's memory.
#pragma once

#include <deque>
#include <exception>
#include <string>
#include <utility>

#include "../transport/threads/thread_state.hpp"
#include "letters.hpp"
#include "sparse_steps.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Lazy = void>
class thread_letters final : public letters {
 public:
  thread_letters(typename over_threads<Lazy>::state& state, element const& of) : state_(state), of_(of) {}

  void prepare(std::span<outgoing_message const> out) override { out_ = out; }
  std::size_t bytes(std::size_t i) const override { return of_.bytes(out_[i].elements); }
  void enter(std::uint32_t number, sparse_way way) override { number_ = number, way_ = way; }
  void send(std::size_t i, bool) override { post(out_[i], nullptr); }
  void refuse(std::string const& why) override {
    for (int r = 0; r < state_.size(); ++r)
      if (r != state_.rank()) post({r, nullptr, 0}, &why);
  }
  bool take(arrivals& in) override {
    letter* const one = state_.ranks.take_letter(state_.rank(), number_);
    if (!one) {
      if (state_.ranks.failed()) throw typename over_threads<Lazy>::abandoned{};
      if (++looks_ % 64 == 0) state_.ranks.require_all_in_call(state_.rank(), number_);
      return false;
    }
    struct taken {   // the sender may reuse it, whatever is thrown
      typename over_threads<Lazy>::group& ranks;
      letter& one;
      ~taken() { ranks.took(one.from, one); }
    } const at_end{state_.ranks, *one};
    if (one->way != static_cast<int>(way_))
      refuse_way(state_, way_, concat({", rank ", one->from, " ", sparse_ways[static_cast<std::size_t>(one->way)]}));
    if (one->refusal) return in.refuse(one->from, *one->refusal), true;
    if (one->of->name() != of_.name())
      throw mismatch_error(other_elements(at_call(state_.rank(), number_, "sparse_all_to_all"), one->from,
                                          concat({"elements of type ", of_.name()}),
                                          concat({"elements of type ", one->of->name()})));
    try {
      of_.copy(one->data, one->n, in.add(one->from, one->n));
    } catch (...) {
      in.fail(std::current_exception());
    }
    return true;
  }
  shared_host* host() override { return state_.shared(); }
  bool are_sent(std::size_t most) override {
    for (; sent_ < posted_.size(); ++sent_)
      if (most-- == 0 || !state_.ranks.is_taken(state_.rank(), posted_[sent_], false)) return false;
    return true;
  }
  bool abandon() noexcept override {
    for (letter const& one : posted_) state_.ranks.withdraw(state_.rank(), one);
    posted_.clear();
    return true;
  }

 private:
  using letter = typename group_of_threads<Lazy>::letter;

  void post(outgoing_message const& message, std::string const* refusal) {
    letter one;
    static_cast<typename group_of_threads<Lazy>::parcel&>(one) = {message.data, message.elements, &of_, message.to,
                                                                  number_};
    one.from = state_.rank(), one.refusal = refusal, one.way = static_cast<int>(way_);
    posted_.push_back(one);
    state_.ranks.post(posted_.back());
  }

  typename over_threads<Lazy>::state& state_;
  element const& of_;
  std::span<outgoing_message const> out_;
  std::deque<letter> posted_;   // receivers have pointers
  std::size_t sent_ = 0;
  std::uint32_t number_ = 0;
  sparse_way way_{};
  unsigned looks_ = 0;
};

}  // namespace detail

COLLIGO_BODY detail::owner<detail::letters> state_of<thread_communicator>::open_letters(detail::endpoint& at,
                                                                                        detail::element const& of,
                                                                                        void const*) {
  using state = detail::thread_state;
  return detail::make_owner<detail::thread_letters<>>(static_cast<state&>(at), of);
}

}  // namespace colligo
