// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the contests of all collectives have in common: contenders by name, whose calls go round the inputs and the
/// roots.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <colligo/core/error.hpp>
#include <colligo/rules/decide.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "question.hpp"

namespace bench {

/// Of one call: the slot of its input, and its root.
struct turn {
  std::size_t slot;
  int root;
};

class named_contest : public contest {
 public:
  named_contest(named_contest const&) = delete;
  named_contest& operator=(named_contest const&) = delete;

  std::vector<std::string> const& names() const override { return names_; }
  int calls_per_input() const override { return static_cast<int>(slots_); }
  // Rotating contenders go on where the one before has stopped, so that none finds its inputs in a cache.
  void run(std::size_t contender, int calls) override {
    run_[contender](next(contender), calls);
    slot_ = next_[contender].slot;
  }

 protected:
  named_contest(request const& r, bool has_root)
      : mode_(r.how), rotates_(r.rotating), root_(r.root), turns_(!r.root && has_root) {
    MPI_Comm_rank(compared_ranks, &rank_);
    MPI_Comm_size(compared_ranks, &size_);
  }

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

  static std::string known(colligo::detail::policy_table const& texts, bool boost_too) {
    std::string all = boost_too ? "mpi,boost_mpi," : "mpi,";
    all += colligo::automatic::name;
    for (auto const* text : texts)
      if (text != nullptr) all += "," + std::string(text->name);
    return all;
  }
  /// The same, every algorithm over each way that it has.
  static std::string known_ways(colligo::detail::policy_table const& texts, bool boost_too) {
    std::string all = known({}, boost_too);
    for (auto const* text : texts) {
      if (text == nullptr || text->over != colligo::transport::best) continue;   // direct by another name
      std::string const name(text->name);
      all += "," + (text->is_vendor ? name : name + "@messages," + name + "@shared_memory");
    }
    return all;
  }

  /// Every call has an input of its own, written before the row of calls is timed: as many as a first-level cache
  /// holds, at least 16 if a second-level cache holds those. A row is long against its start, and no call pays for its
  /// input to be written. Rotating inputs are written once, more than any cache holds.
  void make_slots(std::size_t bytes) {
    constexpr std::size_t first_level = 1 << 15, second_level = 1 << 20, rotating = 1 << 26;
    bytes = std::max<std::size_t>(1, bytes);
    // What is made for each input has to fit into a cache too, and is made for one root.
    std::size_t const most = mode_ == mode::persistent ? 64 : 1024;
    slots_ = std::clamp<std::size_t>(first_level / bytes, std::clamp<std::size_t>(second_level / bytes, 1, 16), most);
    if (rotates_) slots_ = std::clamp<std::size_t>(rotating / bytes, 2, mode_ == mode::persistent ? most : rotating);
    slot_ = 0;
    auto const roots = static_cast<std::size_t>(mode_ == mode::persistent && turns_ ? size_ : 1);
    slots_ = (slots_ + roots - 1) / roots * roots;
    next_.assign(names_.size(), {0, root_.value_or(0)});
  }
  turn& next(std::size_t contender) {
    if (rotates_) next_[contender] = {slot_, root_ ? *root_ : static_cast<int>(slot_) % size_};
    return next_[contender];
  }
  std::size_t after(std::size_t slot) const { return slot + 1 == slots_ ? 0 : slot + 1; }

  /// So that a check sees all roots, and that what is kept is right again.
  int calls_to_check() const {
    return mode_ == mode::persistent ? 2 * static_cast<int>(slots_) : turns_ ? size_ : 1;
  }

  /// The MPI library's own may be wrong in a form that few use; nothing is compared with it then. Collective.
  static void leave_out_if(bool wrong_here) {
    int const mine = wrong_here;
    int wrong = 0;
    MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong != 0) throw colligo::algorithm_error("its results are wrong");
  }

  /// The loop lies inside of what is stored, so that a call costs here what it costs in a user's loop.
  template <class Call>
  void add_row(Call const& one) {
    make_.emplace_back();
    forget_.emplace_back();
    run_.push_back([this, one](turn& next, int calls) {
      for (int i = 0; i < calls; ++i) {
        one(next);
        next.slot = after(next.slot);
        // A root that takes turns has to wait for the call before; one that stays lets the others run ahead, which
        // times something else.
        if (!root_ && ++next.root == size_) next.root = 0;
      }
    });
  }

  /// What make(turn) gives is made for each slot before the first call at a size, and kept.
  template <class Make, class After>
  void add_kept(Make const& make, After const& after_wait) {
    auto const kept = std::make_shared<std::vector<decltype(make(turn{}))>>();
    add_row([kept, after_wait](turn t) {
      auto& made = (*kept)[t.slot];
      made.start();
      made.wait();
      after_wait(t);
    });
    make_.back() = [this, kept, make] {
      int root = root_.value_or(0);
      for (std::size_t slot = 0; slot < slots_; ++slot, root = root_ ? *root_ : (root + 1) % size_)
        kept->push_back(make({slot, root}));
    };
    forget_.back() = [kept] { kept->clear(); };
  }
  void make(std::size_t contender) {
    if (make_[contender]) make_[contender]();
  }
  void forget_kept() {
    for (auto const& forget : forget_)
      if (forget) forget();
  }

  mode const mode_;
  bool const rotates_;
  std::optional<int> const root_;
  bool const turns_;   ///< the root does
  int rank_ = 0, size_ = 1;
  std::size_t slots_ = 1, slot_ = 0;   ///< the latter is the next of rotating ones
  std::vector<std::string> names_;
  // Of each contender.
  std::vector<turn> next_;

 private:
  std::vector<std::function<void(turn& next, int calls)>> run_;
  std::vector<std::function<void()>> make_, forget_;
};

/// MPI's persistent request, to be used as the library's is.
struct mpi_persistent {
  MPI_Request request = MPI_REQUEST_NULL;

  mpi_persistent() = default;
  mpi_persistent(mpi_persistent&& other) noexcept : request(std::exchange(other.request, MPI_REQUEST_NULL)) {}
  mpi_persistent& operator=(mpi_persistent&&) = delete;
  ~mpi_persistent() {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  void start() { MPI_Start(&request); }
  void wait() { MPI_Wait(&request, MPI_STATUS_IGNORE); }
};

}  // namespace bench
