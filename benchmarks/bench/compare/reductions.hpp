// SPDX-License-Identifier: BSL-1.0
/// @file
/// The definitions of all_reduce and reduce for contests.
#pragma once

#include <colligo/all_reduce.hpp>
#include <colligo/reduce.hpp>

#include "contenders.hpp"
#include "mpi_names.hpp"
#ifndef COLLIGO_WITHOUT_BOOST_MPI
#include <boost/mpi/collectives/all_reduce.hpp>
#include <boost/mpi/collectives/reduce.hpp>
#endif

namespace bench {

template <class T, class Op>
struct reduction {
  using element = T;
  using functor = Op;

  static std::size_t in_size(std::size_t n, int) { return n; }
  static std::size_t out_size(std::size_t n, int) { return n; }
  explicit reduction(request const&) {}

  static int count(arguments<T> const& a) { return static_cast<int>(a.in.size()); }

  communicator comm = compared();
  mpi_words<T, Op> words;
};

template <class T, class Op>
struct all_reduce_of : reduction<T, Op> {
  using reduction<T, Op>::reduction;
  static constexpr auto what = colligo::collective::all_reduce;
  static constexpr bool rooted = false, in_place = false;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(all_reduce), this->comm, a.in, a.out, Op{});
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Allreduce, allreduce), a.in.data(), a.out.data(), this->count(a), this->words.type,
            this->words.op, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::all_reduce(this->comm, a.in.data(), this->count(a), a.out.data(),
                           typename boost_functor<T, Op>::type{});
  }
#endif
};

template <class T, class Op>
struct reduce_of : reduction<T, Op> {
  using reduction<T, Op>::reduction;
  static constexpr auto what = colligo::collective::reduce;
  static constexpr bool rooted = true, in_place = false;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(reduce), this->comm, a.in, a.out, Op{}, a.root);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Reduce, reduce), a.in.data(), a.out.data(), this->count(a), this->words.type, this->words.op,
            a.root, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::reduce(this->comm, a.in.data(), this->count(a), a.out.data(), typename boost_functor<T, Op>::type{},
                       a.root);
  }
#endif
};

template <class T, class Op>
std::unique_ptr<contest> reduction_of(request const& r) {
  if (r.what == colligo::collective::reduce) return std::make_unique<contest_of<reduce_of<T, Op>>>(r);
  return std::make_unique<contest_of<all_reduce_of<T, Op>>>(r);
}

}  // namespace bench
