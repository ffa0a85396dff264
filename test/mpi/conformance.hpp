// SPDX-License-Identifier: BSL-1.0
// Every algorithm, in all forms of the calls, against the answer of MPI or the one by definition; and the reordering
// algorithms refuse a functor that is not known to commute. A case says the element type, the functor, the input and
// the answer:
//   struct a_case {
//     using element = ...; using functor = ...;
//     static element value(int rank, std::size_t i);
//     static std::vector<element> expected(boost::mpi::communicator const&, std::vector<element> const& in);
//   };
#pragma once

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <span>

#include "../tested.hpp"
#include "over_mpi.hpp"

namespace conformance {

using namespace over_mpi;

// Not templates: checks in every form of every call would be half of the compile time.
inline void check(bool ok, std::string const& what) { BOOST_CHECK_MESSAGE(ok, what); }
inline void check(bool ok) { BOOST_CHECK(ok); }

/// An output between elements that nobody may touch.
template <class T>
class output {
 public:
  output(std::size_t n, T const& untouched) : all_(n + 2, untouched), untouched_(untouched) {}

  std::span<T> elements() { return std::span(all_).subspan(1, all_.size() - 2); }
  bool holds(std::vector<T> const& expected) { return std::ranges::equal(elements(), expected) && border_untouched(); }
  bool untouched() const {
    return std::ranges::all_of(all_, [this](T const& x) { return x == untouched_; });
  }

 private:
  bool border_untouched() const { return all_.front() == untouched_ && all_.back() == untouched_; }
  std::vector<T> all_;
  T untouched_;
};

template <class Case, class Comm>
class forms {
  using T = typename Case::element;
  using Op = typename Case::functor;

 public:
  /// `reference` has the same ranks as comm.
  forms(Comm const& comm, boost::mpi::communicator const& reference, std::size_t n) : comm_(comm), in_(n) {
    for (std::size_t i = 0; i < n; ++i) in_[i] = Case::value(comm.rank(), i);
    expected_ = Case::expected(reference, in_);
  }

  template <class Algorithm>
  void all_reduce(Algorithm const& algorithm, std::string_view name) {
    auto const in = in_;
    output<T> out(in.size(), untouched());
    colligo::all_reduce(comm_, in, out.elements(), Op{}, algorithm);
    expect(out.holds(expected_), "all_reduce", name);
    expect(in == in_, "input of all_reduce", name);

    output<T> both(in.size(), untouched());
    std::ranges::copy(in, both.elements().begin());
    colligo::all_reduce(comm_, colligo::in_place(both.elements()), Op{}, algorithm);
    expect(both.holds(expected_), "all_reduce in place", name);

    if (in.size() == 1)
      expect(colligo::all_reduce(comm_, in[0], Op{}, algorithm) == expected_[0], "all_reduce of one value", name);
  }

  template <class Algorithm>
  void reduce(Algorithm const& algorithm, std::string_view name) {
    int const every = in_.size() == 7 ? 1 : std::max(1, comm_.size() - 1);   // root, or the first and the last one
    for (int root = 0; root < comm_.size(); root += every) {
      bool const at_root = comm_.rank() == root;
      auto const in = in_;
      output<T> out(at_root || comm_.rank() % 2 ? in.size() : 0, untouched());
      colligo::reduce(comm_, in, out.elements(), Op{}, root, algorithm);
      expect(at_root ? out.holds(expected_) : out.untouched(), "reduce", name, root);
      expect(in == in_, "input of reduce", name, root);

      if (in.size() != 1) continue;
      T const result = colligo::reduce(comm_, in[0], Op{}, root, algorithm);
      expect(!at_root || result == expected_[0], "reduce of one value", name, root);
    }
  }

  void all_reduce_throws(colligo::named const& algorithm) {
    output<T> out(in_.size(), untouched());
    auto const name = algorithm.text();
    expect(refused([&] { colligo::all_reduce(comm_, in_, out.elements(), Op{}, algorithm); }), "refusal of all_reduce",
           name);
    expect(refused([&] { colligo::all_reduce(comm_, colligo::in_place(out.elements()), Op{}, algorithm); }),
           "refusal in place", name);
    expect(out.untouched(), "output of a refused all_reduce", name);
  }
  void reduce_throws(colligo::named const& algorithm) {
    output<T> out(in_.size(), untouched());
    auto const name = algorithm.text();
    expect(refused([&] { colligo::reduce(comm_, in_, out.elements(), Op{}, 0, algorithm); }), "refusal of reduce",
           name);
    expect(out.untouched(), "output of a refused reduce", name);
  }

 private:
  static T untouched() { return Case::value(17, 4711); }
  void expect(bool ok, std::string_view what, std::string_view name, int root = 0) const {
    if (ok) check(true);
    else
      check(false, text(what, " by ", name, " on rank ", comm_.rank(), ", p = ", comm_.size(), ", n = ", in_.size(),
                        ", root ", root));
  }
  template <class Call>
  static bool refused(Call call) {
    try {
      call();
    } catch (colligo::algorithm_error const&) {
      return true;
    }
    return false;
  }

  Comm const& comm_;
  std::vector<T> in_, expected_;
};

/// A knob may decide whether order is kept.
template <collective C, class T, class Op, class Tag>
bool keeps_or_may_reorder(Tag const& tag, int p) {
  return colligo::commutative<Op, T> || colligo::keeps_order_over(colligo::make_policy<C, Tag, T, Op>(tag), p);
}

/// Each algorithm by its name, which goes the best way there is, or refuses the functor.
template <class Case, class Comm>
void conforms_by_name(forms<Case, Comm>& run) {
  using T = typename Case::element;
  using Op = typename Case::functor;
  tested::for_each_algorithm([&]<class Tag>(Tag) {
    colligo::named const by_name(Tag::name);
    auto const what = "the name of " + std::string(Tag::name);
    if constexpr (takes<collective::all_reduce, Tag, T, Op>()) run.all_reduce(by_name, what);
    else run.all_reduce_throws(by_name);
    if constexpr (takes<collective::reduce, Tag, T, Op>()) run.reduce(by_name, what);
    else run.reduce_throws(by_name);
  });
}

template <class Case>
void conforms_on(boost::mpi::communicator const& comm) {
  using T = typename Case::element;
  using Op = typename Case::functor;
  for (std::size_t const n : {0u, 1u, 2u, 7u, 64u, 1000u}) {
    forms<Case, boost::mpi::communicator> run(comm, comm, n);
    run.all_reduce(colligo::automatic{}, "automatic");
    run.reduce(colligo::automatic{}, "automatic");
    if (n == 7) conforms_by_name(run);
    tested::for_each_algorithm([&]<class Tag>(Tag tag) {
      ++tested::count;
      if constexpr (takes<collective::all_reduce, Tag, T, Op>())
        run.all_reduce(colligo::over_messages{tag}, Tag::name);
      if constexpr (takes<collective::reduce, Tag, T, Op>()) run.reduce(colligo::over_messages{tag}, Tag::name);
      if constexpr (requires { Tag::knobs; })
        for (auto const& knob : Tag::knobs) {
          if (n != 64) break;
          auto const with_knob = text(Tag::name, ":", knob.name, "=24");   // in bytes: a few elements, or less than one
          Tag turned = tag;
          turned.*knob.member = 24;
          colligo::named const by_knob(with_knob);
          if constexpr (takes<collective::all_reduce, Tag, T, Op>())
            keeps_or_may_reorder<collective::all_reduce, T, Op>(turned, comm.size())
                ? run.all_reduce(by_knob, with_knob)
                : run.all_reduce_throws(by_knob);
          if constexpr (takes<collective::reduce, Tag, T, Op>())
            keeps_or_may_reorder<collective::reduce, T, Op>(turned, comm.size())
                ? run.reduce(by_knob, with_knob)
                : run.reduce_throws(by_knob);
        }
    });
  }
}

/// On all ranks, and on each half of them, the last one first; and by name on MPI's own communicator.
template <class Case>
void conforms() {
  boost::mpi::communicator const world;
  conforms_on<Case>(world);
  conforms_on<Case>(world.split(world.rank() % 2, -world.rank()));
  colligo::mpi_communicator const raw(world);
  forms<Case, colligo::mpi_communicator> run(raw, world, 7);
  conforms_by_name(run);
}

}  // namespace conformance
