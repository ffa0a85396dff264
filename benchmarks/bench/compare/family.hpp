// SPDX-License-Identifier: BSL-1.0
/// @file
/// The definitions of the other collectives for contests. Bytes are those that a rank contributes, or gets; for
/// collectives with counts they are the base count c of the distributions of Traff et al.
#pragma once

#include <algorithm>
#include <colligo/all_gather.hpp>
#include <colligo/all_gatherv.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/barrier.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/gather.hpp>
#include <colligo/reduce_scatter.hpp>
#include <colligo/scan.hpp>
#include <colligo/scatter.hpp>
#include <numeric>

#include "../../../test/distributions.hpp"
#include "contenders.hpp"
#include "mpi_names.hpp"
#ifndef COLLIGO_WITHOUT_BOOST_MPI
#include <boost/mpi/collectives.hpp>
#endif

namespace bench {

/// What all have in common. P is how many times n the input is, Q the output: 1, or as many as there are ranks.
enum class times { one, ranks };
template <class T, times P, times Q>
struct moved {
  using element = T;
  using functor = sum;
  static constexpr bool rooted = false, in_place = false;

  moved() = default;
  explicit moved(request const&) {}

  std::size_t in_size(std::size_t size, int p) {
    return n = size, P == times::one ? n : n * static_cast<std::size_t>(p);
  }
  std::size_t out_size(std::size_t size, int p) { return Q == times::one ? size : size * static_cast<std::size_t>(p); }
  int count() const { return static_cast<int>(n); }

  communicator comm = compared();
  mpi_words<T, sum> words;
  std::size_t n = 0;
};

template <class T>
struct broadcast_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::broadcast;
  static constexpr bool in_place = true;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(broadcast), this->comm, a.out, a.root);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Bcast, bcast), a.out.data(), this->count(), this->words.type, a.root, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const { boost::mpi::broadcast(this->comm, a.out.data(), this->count(), a.root); }
#endif
};

template <class T>
struct all_gather_of : moved<T, times::one, times::ranks> {
  using moved<T, times::one, times::ranks>::moved;
  static constexpr auto what = colligo::collective::all_gather;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(all_gather), this->comm, a.in, a.out);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Allgather, allgather), a.in.data(), this->count(), this->words.type, a.out.data(), this->count(),
            this->words.type, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::all_gather(this->comm, a.in.data(), this->count(), a.out.data());
  }
#endif
};

template <class T>
struct gather_of : moved<T, times::one, times::ranks> {
  using moved<T, times::one, times::ranks>::moved;
  static constexpr auto what = colligo::collective::gather;
  static constexpr bool rooted = true;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(gather), this->comm, a.in, a.out, a.root);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Gather, gather), a.in.data(), this->count(), this->words.type, a.out.data(), this->count(),
            this->words.type, a.root, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::gather(this->comm, a.in.data(), this->count(), a.out.data(), a.root);
  }
#endif
};

template <class T>
struct scatter_of : moved<T, times::ranks, times::one> {
  using moved<T, times::ranks, times::one>::moved;
  static constexpr auto what = colligo::collective::scatter;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(scatter), this->comm, a.in, a.out, a.root);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Scatter, scatter), a.in.data(), this->count(), this->words.type, a.out.data(), this->count(),
            this->words.type, a.root, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::scatter(this->comm, a.in.data(), a.out.data(), this->count(), a.root);
  }
#endif
};

template <class T>
struct reduce_scatter_block_of : moved<T, times::ranks, times::one> {
  using moved<T, times::ranks, times::one>::moved;
  static constexpr auto what = colligo::collective::reduce_scatter_block;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(reduce_scatter_block), this->comm, a.in, a.out, sum{});
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Reduce_scatter_block, reduce_scatter_block), a.in.data(), a.out.data(), this->count(),
            this->words.type, this->words.op, compared_ranks);
  }
};

template <class T>
struct scan_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::scan;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(scan), this->comm, a.in, a.out, sum{});
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Scan, scan), a.in.data(), a.out.data(), this->count(), this->words.type, this->words.op,
            compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::scan(this->comm, a.in.data(), this->count(), a.out.data(), std::plus<T>{});
  }
#endif
};

template <class T>
struct exclusive_scan_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::exclusive_scan;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(exclusive_scan), this->comm, a.in, a.out, T{}, sum{});
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Exscan, exscan), a.in.data(), a.out.data(), this->count(), this->words.type, this->words.op,
            compared_ranks);
  }
  void after_mpi(arguments<T> const& a) const {
    if (this->comm.rank() == 0) std::ranges::fill(a.out, T{});   // MPI leaves it as it was
  }
};

template <class T>
struct all_to_all_of : moved<T, times::ranks, times::ranks> {
  using moved<T, times::ranks, times::ranks>::moved;
  static constexpr auto what = colligo::collective::all_to_all;

  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(all_to_all), this->comm, a.in, a.out);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Alltoall, alltoall), a.in.data(), this->count(), this->words.type, a.out.data(), this->count(),
            this->words.type, compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const {
    boost::mpi::all_to_all(this->comm, a.in.data(), this->count(), a.out.data());
  }
#endif
};

template <class T>
struct barrier_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::barrier;

  std::size_t out_size(std::size_t, int) { return 0; }
  auto ours(arguments<T> const&, auto const& perform) const { return perform(BENCH_COLLIGO(barrier), this->comm); }
  void mpi(arguments<T> const&, auto const& perform) const {
    perform(BENCH_MPI(Barrier, barrier), compared_ranks);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const&) const { this->comm.barrier(); }
#endif
};

/// With counts: every rank has room for what the largest contribution takes, and uses its own count of it.
template <class T>
struct uneven : moved<T, times::one, times::one> {
  explicit uneven(request const& r) : distribution(r.distribution) {}

  std::size_t lay_out(std::size_t c, int p) {
    counts = distribution(p, c);
    ints.assign(counts.begin(), counts.end());
    first.assign(counts.size(), 0);
    std::exclusive_scan(ints.begin(), ints.end(), first.begin(), 0);
    return std::reduce(counts.begin(), counts.end());
  }
  std::size_t own() const { return counts[static_cast<std::size_t>(this->comm.rank())]; }

  std::vector<std::size_t> (*distribution)(int, std::size_t);
  std::vector<std::size_t> counts;
  std::vector<int> ints, first;
};

template <class T>
struct all_gatherv_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::all_gatherv;

  std::size_t in_size(std::size_t c, int p) {
    return this->lay_out(c, p), std::max<std::size_t>(1, std::ranges::max(this->counts));
  }
  std::size_t out_size(std::size_t c, int p) { return this->lay_out(c, p); }
  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(all_gatherv), this->comm, a.in.first(this->own()), a.out, this->counts);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Allgatherv, allgatherv), a.in.data(), static_cast<int>(this->own()), this->words.type,
            a.out.data(), this->ints.data(), this->first.data(), this->words.type, compared_ranks);
  }
};

template <class T>
struct gatherv_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::gatherv;
  static constexpr bool rooted = true;

  std::size_t in_size(std::size_t c, int p) {
    return this->lay_out(c, p), std::max<std::size_t>(1, std::ranges::max(this->counts));
  }
  std::size_t out_size(std::size_t c, int p) { return this->lay_out(c, p); }
  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(gatherv), this->comm, a.in.first(this->own()), a.out, this->counts, a.root);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Gatherv, gatherv), a.in.data(), static_cast<int>(this->own()), this->words.type, a.out.data(),
            this->ints.data(), this->first.data(), this->words.type, a.root, compared_ranks);
  }
};

template <class T>
struct scatterv_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::scatterv;

  std::size_t in_size(std::size_t c, int p) { return std::max<std::size_t>(1, total = this->lay_out(c, p)); }
  std::size_t out_size(std::size_t, int) { return this->own(); }
  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(scatterv), this->comm, a.in.first(total), this->counts, a.out, a.root);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Scatterv, scatterv), a.in.data(), this->ints.data(), this->first.data(), this->words.type,
            a.out.data(), static_cast<int>(this->own()), this->words.type, a.root, compared_ranks);
  }

  std::size_t total = 0;
};

/// Every rank has for rank d what the distribution says of d.
template <class T>
struct all_to_all_v_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::all_to_all_v;

  std::size_t in_size(std::size_t c, int p) { return std::max<std::size_t>(1, total = this->lay_out(c, p)); }
  std::size_t out_size(std::size_t c, int p) {
    this->lay_out(c, p);
    received.assign(this->counts.size(), static_cast<int>(this->own()));
    places.assign(received.size(), 0);
    std::exclusive_scan(received.begin(), received.end(), places.begin(), 0);
    return this->own() * received.size();
  }
  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(all_to_all_v), this->comm, a.in.first(total), this->counts, a.out, received);
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Alltoallv, alltoallv), a.in.data(), this->ints.data(), this->first.data(), this->words.type,
            a.out.data(), received.data(), places.data(), this->words.type, compared_ranks);
  }

  std::size_t total = 0;
  std::vector<int> received, places;
};

template <class T>
struct reduce_scatter_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::reduce_scatter;

  std::size_t in_size(std::size_t c, int p) { return std::max<std::size_t>(1, total = this->lay_out(c, p)); }
  std::size_t out_size(std::size_t, int) { return this->own(); }
  auto ours(arguments<T> const& a, auto const& perform) const {
    return perform(BENCH_COLLIGO(reduce_scatter), this->comm, a.in.first(total), a.out, this->counts, sum{});
  }
  void mpi(arguments<T> const& a, auto const& perform) const {
    perform(BENCH_MPI(Reduce_scatter, reduce_scatter), a.in.data(), a.out.data(), this->ints.data(), this->words.type,
            this->words.op, compared_ranks);
  }

  std::size_t total = 0;
};

}  // namespace bench
