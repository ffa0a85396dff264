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
///   ours(arguments, algorithm)   mpi(arguments)   boost(arguments)
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <colligo/select/call.hpp>
#include <colligo/select/chosen.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../launch.hpp"
#include "offers.hpp"

namespace bench {

/// Of one call.
template <class T>
struct arguments {
  std::span<T const> in;
  std::span<T> out;
  int root;
};

template <class Definition>
class contest_of final : public contest {
 public:
  using T = typename Definition::element;
  using Op = typename Definition::functor;
  static_assert(std::is_trivially_copyable_v<T>);

  explicit contest_of(request const& r) : definition_(r), root_(r.root) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    std::string const wanted = r.algorithms == "all" ? known() : r.algorithms;
    for (std::string const& name : split(wanted)) add(name);
  }

  std::vector<std::string> const& names() const override { return names_; }
  std::size_t element_size() const override { return sizeof(T); }

  void resize(std::size_t elements) override {
    in_size_ = definition_.in_size(elements, size_);
    out_size_ = definition_.out_size(elements, size_);
    // Every call has an input of its own, written before the row of calls is timed: as many as a first-level cache
    // holds, at least 16 if a second-level cache holds those. A row is long against its start, and no call pays for its
    // input to be written.
    constexpr std::size_t first_level = 1 << 15, second_level = 1 << 20, most = 1024;
    std::size_t const bytes = std::max<std::size_t>(1, (in_size_ + out_size_) * sizeof(T));
    slots_ = std::clamp<std::size_t>(first_level / bytes, std::clamp<std::size_t>(second_level / bytes, 1, 16), most);
    in_.assign(slots_ * in_size_, T{});
    out_.assign(slots_ * out_size_, T{});
  }

  int calls_per_input() const override { return static_cast<int>(slots_); }

  void refresh(int calls) override {
    ++round_;
    auto& written = Definition::in_place ? out_ : in_;
    std::size_t const n = static_cast<std::size_t>(calls) * (written.size() / slots_);
    for (std::size_t i = 0; i < n; ++i) written[i] = input<T>(round_, rank_, i);
  }

  void run(std::size_t contender, int calls) override { run_[contender](turn_[contender], calls); }

  std::string check(std::size_t contender) override {
    int const calls = Definition::rooted && !root_ ? size_ : 1;
    std::string wrong;
    for (int i = 0; i < calls; ++i) {
      refresh(1);
      arguments<T> const asked = call(0, turn_[contender]);
      std::vector<T> expected(asked.out.begin(), asked.out.end());
      definition_.mpi({asked.in, expected, asked.root});
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
    return wrong;
  }

 private:
  static constexpr bool has_boost = requires(Definition const& d, arguments<T> const& a) { d.boost(a); };

  template <class Tag>
  static constexpr bool offered = colligo::offers<Tag, Definition::what, T, Op>;

  /// Names with commas between; "name:knob=value,knob=value" is one name.
  static std::vector<std::string> split(std::string const& wanted) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= wanted.size();) {
      std::size_t const comma = std::min(wanted.find(',', at), wanted.size());
      std::string const part = wanted.substr(at, comma - at);
      bool const knob = part.find('=') != part.npos && part.find(':') == part.npos;
      if (knob && !parts.empty()) parts.back() += "," + part;
      else parts.push_back(part);
      at = comma + 1;
    }
    return parts;
  }

  static std::string known() {
    std::string all = has_boost ? "mpi,boost_mpi," : "mpi,";
    all += colligo::automatic::name;
    colligo::for_each_algorithm([&]<class Tag>(Tag) {
      if constexpr (offered<Tag>) all += "," + std::string(Tag::name);
    });
    return all;
  }

  void add(std::string const& name) {
    names_.push_back(name);
    turn_.push_back(root_.value_or(0));
    if (name == "mpi") return add_row([this](auto const& a) { definition_.mpi(a); });
    if constexpr (has_boost)
      if (name == "boost_mpi") return add_row([this](auto const& a) { definition_.boost(a); });
    if (name == colligo::automatic::name) return add(colligo::automatic{});
    try {
      // Resolved once, so that what is timed is the algorithm and not the look-up of its name. Where it does not apply it says so when it
      // is called.
      add(colligo::detail::parse(colligo::detail::texts<Definition::what>(), name, ""));
    } catch (colligo::algorithm_error const& e) {
      throw agreed_error(fmt::format("--algorithms: {}\nknown here are: all or {}", e.what(), known()));
    }
  }

  template <class Algorithm>
  void add(Algorithm const& algorithm) {
    add_row([this, algorithm](auto const& a) { definition_.ours(a, algorithm); });
  }

  /// The loop lies inside of what is stored, so that a call costs here what it costs in a user's loop.
  template <class Call>
  void add_row(Call const& one) {
    run_.push_back([this, one](int& root, int calls) {
      for (int i = 0; i < calls; ++i) {
        one(call(static_cast<std::size_t>(i), root));
        // A root that takes turns has to wait for the call before; one that stays lets the others run ahead, which
        // times something else.
        if (!root_ && ++root == size_) root = 0;
      }
    });
  }

  template <class Tag>
  static constexpr bool applies() {
    if constexpr (!offered<Tag>) return false;
    else return colligo::keeps_order<colligo::policy_t<Definition::what, Tag, T, Op>>() || colligo::commutative<Op, T>;
  }

  /// The call on the input of that slot.
  arguments<T> call(std::size_t slot, int root) {
    return {std::span<T const>(in_).subspan(slot * in_size_, in_size_),
            std::span<T>(out_).subspan(slot * out_size_, out_size_), root};
  }

  Definition definition_;
  std::optional<int> root_;
  int rank_ = 0, size_ = 1;
  std::size_t in_size_ = 0, out_size_ = 0, slots_ = 1;
  std::uint64_t round_ = 0;
  std::vector<T> in_, out_;
  std::vector<std::string> names_;
  std::vector<int> turn_;   // the next root, of each contender
  std::vector<std::function<void(int& root, int calls)>> run_;
};

}  // namespace bench
