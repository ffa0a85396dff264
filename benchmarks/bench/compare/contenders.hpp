// SPDX-License-Identifier: BSL-1.0
/// @file
/// From the definition of a collective to a contest: the algorithms of the catalogue that offer it, `automatic`, MPI by
/// hand, Boost.MPI.
///
/// A definition says what one call is and how much it moves; another collective is another
/// definition (reductions.hpp has two):
///   element, functor             types
///   what                         colligo::collective
///   rooted                       only the root has a result
///   in_place                     the input lies where the result is wanted
///   in_size(n, p), out_size(n, p), asked in this order
///   ours(arguments, perform), mpi(arguments, perform)
///                                give the three forms of the call (forms.hpp) and its arguments to perform
///   after_mpi(arguments)         what MPI's call leaves to do, if it does
///   boost(arguments)             Boost.MPI's call, if there is one
#pragma once

#include <mpi.h>

#include <colligo/explain.hpp>
#include <colligo/arguments/call_arguments.hpp>
#include <colligo/rules/chosen.hpp>
#include <colligo/engine/requests.hpp>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../elements.hpp"
#include "../launch.hpp"
#include "named_contest.hpp"

namespace bench {

/// Of one call.
template <class T>
struct arguments {
  std::span<T const> in;
  std::span<T> out;
  int root;
};

template <class Definition>
class contest_of final : public named_contest {
 public:
  using T = typename Definition::element;
  using Op = typename Definition::functor;
  static_assert(std::is_trivially_copyable_v<T>);

  explicit contest_of(request const& r)
      : named_contest(r, colligo::has_root(Definition::what)), definition_(r) {
    auto const& policies = colligo::detail::policy_table_of<Definition::what>();
    std::string const wanted = r.algorithms == "all" ? known_ways(policies, boost_too()) : r.algorithms;
    for (std::string const& name : split(wanted)) add(name);
  }
  ~contest_of() override { forget_kept(); }

  std::size_t element_size() const override { return sizeof(T); }

  void resize(std::size_t elements) override {
    forget_kept();
    in_size_ = definition_.in_size(elements, size_);
    out_size_ = definition_.out_size(elements, size_);
    make_slots((in_size_ + out_size_) * sizeof(T));
    in_.assign(slots_ * in_size_, T{});
    out_.assign(slots_ * out_size_, T{});
    if (rotates_) write(0, static_cast<int>(slots_));
  }

  void refresh(std::size_t contender, int calls) override {
    if (!rotates_) write(next_[contender].slot, calls);
  }
  void write(std::size_t slot, int calls) {
    ++round_;
    auto& written = Definition::in_place ? out_ : in_;
    std::size_t const n = written.size() / slots_, results = Definition::in_place ? 0 : out_size_;
    for (; calls > 0; --calls, slot = after(slot)) {
      for (std::size_t i = slot * n; i < (slot + 1) * n; ++i) written[i] = input<T>(round_, rank_, i);
      // An MPI library may have read its results on another core, and the next contender would pay to have them back.
      std::memset(static_cast<void*>(out_.data() + slot * results), 0xA5, results * sizeof(T));
    }
  }

  std::string check(std::size_t contender) override {
    make(contender);
    std::string wrong;
    for (int i = calls_to_check(); i > 0; --i) {
      refresh(contender, 1);
      arguments<T> const asked = arguments_of(next(contender));
      std::vector<T> expected(asked.out.begin(), asked.out.end());
#ifdef COLLIGO_BENCH_SIMULATED
      simulated::take_together(Definition::what, simulated::reference);
      constexpr bool inclusive = Definition::what == colligo::collective::scan;
      if constexpr (inclusive || Definition::what == colligo::collective::exclusive_scan)
        definition_.mpi(arguments<T>{asked.in, expected, asked.root},
                        [](auto, auto, auto, auto... all) { simulated::scan_in_turn(inclusive, all...); });
      else mpi({asked.in, expected, asked.root});
      MPI_Barrier(MPI_COMM_WORLD);
#else
      mpi({asked.in, expected, asked.root});
#endif
      // What an earlier call left must not pass.
      if (!Definition::in_place) std::memset(static_cast<void*>(asked.out.data()), 0xA5, asked.out.size_bytes());
      run(contender, 1);
      if (Definition::rooted && rank_ != asked.root) continue;
      for (std::size_t at = 0; at < out_size_ && wrong.empty(); ++at)
        if (!agree<Op>(expected[at], asked.out[at], size_))
          wrong = fmt::format("{}: wrong result for {} bytes on rank {} at index {}: {}, but MPI's own is {}",
                              names_[contender], out_size_ * sizeof(T), rank_, at, text_of(asked.out[at]),
                              text_of(expected[at]));
    }
    if (names_[contender] == "mpi" && mode_ != mode::blocking) leave_out_if(!wrong.empty());
    return wrong;
  }

  std::string took(std::size_t contender) const override {
    return names_[contender] == colligo::automatic::name ? colligo::latest_choice(compared(), Definition::what) : "";
  }

 private:
  static constexpr bool has_boost = requires(Definition const& d, arguments<T> const& a) { d.boost(a); };

  bool boost_too() const { return has_boost && mode_ == mode::blocking; }
  std::string known_here() const { return known(colligo::detail::policy_table_of<Definition::what>(), boost_too()); }

  void add(std::string const& name) {
    names_.push_back(name);
#ifdef COLLIGO_BENCH_SIMULATED
    if (name == "mpi" && mode_ == mode::blocking && simulated::take(Definition::what, simulated::reference))
      return add_simgrid(simulated::reference);
#endif
    if (name == "mpi") return add_mpi();
    if constexpr (has_boost)
      if (name == "boost_mpi" && mode_ == mode::blocking)
        return add_row([this](turn t) { definition_.boost(arguments_of(t)); });
#ifdef COLLIGO_BENCH_SIMULATED
    if (name.starts_with(simulated::prefix)) return add_simgrid(name.substr(simulated::prefix.size()));
#endif
    if (name == colligo::automatic::name) return add_ours(std::nullopt);
    try {
      // Resolved once, so that what is timed is the algorithm and not the look-up of its name. Where it does not apply
      // it says so when it is called.
      add_ours(colligo::detail::parse(colligo::detail::policy_table_of<Definition::what>(), name, ""));
    } catch (colligo::algorithm_error const& e) {
      throw agreed_error(fmt::format("--algorithms: {}\nknown here are: all or {}", e.what(), known_here()));
    }
  }

  /// None: automatic.
  void add_ours(std::optional<colligo::chosen_algorithm> const& algorithm) {
    auto const with_algorithm = [algorithm](auto const& form, auto&&... all) {
      return algorithm ? form(std::forward<decltype(all)>(all)..., *algorithm)
                       : form(std::forward<decltype(all)>(all)..., colligo::automatic{});
    };
    switch (mode_) {
      case mode::blocking:
        return add_row([this, with_algorithm](turn t) {
          definition_.ours(arguments_of(t), [&](auto blocking, auto, auto, auto&&... all) {
            with_algorithm(blocking, std::forward<decltype(all)>(all)...);
          });
        });
      case mode::nonblocking:
        return add_row([this, with_algorithm](turn t) {
          definition_.ours(arguments_of(t), [&](auto, auto nonblocking, auto, auto&&... all) {
            with_algorithm(nonblocking, std::forward<decltype(all)>(all)...).wait();
          });
        });
      case mode::persistent:
        return add_kept([this, with_algorithm](turn t) {
          return definition_.ours(arguments_of(t), [&](auto, auto, auto init, auto&&... all) {
            return with_algorithm(init, std::forward<decltype(all)>(all)...);
          });
        }, [](turn) {});
    }
  }

  void add_mpi() {
    if (mode_ == mode::blocking) return add_row([this](turn t) { mpi(arguments_of(t)); });
    if (mode_ == mode::nonblocking || !mpi_has_persistent)
      return add_row([this](turn t) {
        arguments<T> const a = arguments_of(t);
        MPI_Request started = MPI_REQUEST_NULL;
        definition_.mpi(a, [&](auto, auto nonblocking, auto, auto... all) { nonblocking(all..., &started); });
        MPI_Wait(&started, MPI_STATUS_IGNORE);
        finish_mpi(a);
      });
    add_kept([this](turn t) {
      mpi_persistent made;
      definition_.mpi(arguments_of(t), [&](auto, auto, auto init, auto... all) {
        if constexpr (mpi_has_persistent) init(all..., MPI_INFO_NULL, &made.request);
      });
      return made;
    }, [this](turn t) { finish_mpi(arguments_of(t)); });
  }

#ifdef COLLIGO_BENCH_SIMULATED
  /// One of SimGrid's algorithms. Every rank says which, in every call, and none is in a call before all have left the
  /// one before.
  void add_simgrid(std::string const& name) {
    if (mode_ != mode::blocking || !simulated::take(Definition::what, name))
      throw agreed_error(fmt::format("--algorithms: SimGrid has no choice of {}, or none that is not blocking",
                                     name_of(Definition::what)));
    simulated::take(Definition::what, simulated::reference);
    add_row([this, name](turn t) {
      simulated::take(Definition::what, name);
      mpi(arguments_of(t));
      // Whoever has left an all_reduce knows that all are in it. The loop around this one has all_reduces of its own,
      // which some of SimGrid's algorithms are too short for.
      if constexpr (Definition::what == colligo::collective::all_reduce)
        simulated::take(Definition::what, simulated::reference);
    });
  }
#endif

  void mpi(arguments<T> const& a) {
    definition_.mpi(a, [](auto blocking, auto, auto, auto... all) { blocking(all...); });
    finish_mpi(a);
  }
  void finish_mpi(arguments<T> const& a) {
    if constexpr (requires { definition_.after_mpi(a); }) definition_.after_mpi(a);
  }

  arguments<T> arguments_of(turn t) {
    return {std::span<T const>(in_).subspan(t.slot * in_size_, in_size_),
            std::span<T>(out_).subspan(t.slot * out_size_, out_size_), t.root};
  }

  Definition definition_;
  std::size_t in_size_ = 0, out_size_ = 0;
  std::uint64_t round_ = 0;
  std::vector<T> in_, out_;
};

}  // namespace bench
