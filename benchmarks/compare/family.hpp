// SPDX-License-Identifier: BSL-1.0
/// @file
/// The definitions of the other collectives for contests. Bytes are those that a rank contributes, or gets; for
/// collectives with counts they are the base count c of the distributions of Traff et al.
#pragma once

#include <colligo/colligo.hpp>

#include <algorithm>
#include <numeric>

#include "../../test/distributions.hpp"
#include "contenders.hpp"
#include "mpi_words.hpp"
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

  communicator comm = world();
  mpi_words<T, sum> words;
  std::size_t n = 0;
};

template <class T>
struct broadcast_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::broadcast;
  static constexpr bool in_place = true;

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::broadcast(this->comm, a.out, a.root, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Bcast(a.out.data(), this->count(), this->words.type, a.root, MPI_COMM_WORLD);
  }
#ifndef COLLIGO_WITHOUT_BOOST_MPI
  void boost(arguments<T> const& a) const { boost::mpi::broadcast(this->comm, a.out.data(), this->count(), a.root); }
#endif
};

template <class T>
struct all_gather_of : moved<T, times::one, times::ranks> {
  using moved<T, times::one, times::ranks>::moved;
  static constexpr auto what = colligo::collective::all_gather;

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::all_gather(this->comm, a.in, a.out, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Allgather(a.in.data(), this->count(), this->words.type, a.out.data(), this->count(), this->words.type,
                  MPI_COMM_WORLD);
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

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::gather(this->comm, a.in, a.out, a.root, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Gather(a.in.data(), this->count(), this->words.type, a.out.data(), this->count(), this->words.type, a.root,
               MPI_COMM_WORLD);
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

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::scatter(this->comm, a.in, a.out, a.root, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Scatter(a.in.data(), this->count(), this->words.type, a.out.data(), this->count(), this->words.type, a.root,
                MPI_COMM_WORLD);
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

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::reduce_scatter_block(this->comm, a.in, a.out, sum{}, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Reduce_scatter_block(a.in.data(), a.out.data(), this->count(), this->words.type, this->words.op,
                             MPI_COMM_WORLD);
  }
};

template <class T>
struct scan_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::scan;

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::scan(this->comm, a.in, a.out, sum{}, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Scan(a.in.data(), a.out.data(), this->count(), this->words.type, this->words.op, MPI_COMM_WORLD);
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

  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::exclusive_scan(this->comm, a.in, a.out, T{}, sum{}, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Exscan(a.in.data(), a.out.data(), this->count(), this->words.type, this->words.op, MPI_COMM_WORLD);
    if (this->comm.rank() == 0) std::ranges::fill(a.out, T{});   // MPI leaves it as it was
  }
};

template <class T>
struct barrier_of : moved<T, times::one, times::one> {
  using moved<T, times::one, times::one>::moved;
  static constexpr auto what = colligo::collective::barrier;

  std::size_t out_size(std::size_t, int) { return 0; }
  void ours(arguments<T> const&, auto const& algorithm) const { colligo::barrier(this->comm, algorithm); }
  void mpi(arguments<T> const&) const { MPI_Barrier(MPI_COMM_WORLD); }
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
  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::all_gatherv(this->comm, a.in.first(this->own()), a.out, this->counts, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Allgatherv(a.in.data(), static_cast<int>(this->own()), this->words.type, a.out.data(), this->ints.data(),
                   this->first.data(), this->words.type, MPI_COMM_WORLD);
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
  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::gatherv(this->comm, a.in.first(this->own()), a.out, this->counts, a.root, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Gatherv(a.in.data(), static_cast<int>(this->own()), this->words.type, a.out.data(), this->ints.data(),
                this->first.data(), this->words.type, a.root, MPI_COMM_WORLD);
  }
};

template <class T>
struct scatterv_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::scatterv;

  std::size_t in_size(std::size_t c, int p) { return std::max<std::size_t>(1, total = this->lay_out(c, p)); }
  std::size_t out_size(std::size_t, int) { return this->own(); }
  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::scatterv(this->comm, a.in.first(total), this->counts, a.out, a.root, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Scatterv(a.in.data(), this->ints.data(), this->first.data(), this->words.type, a.out.data(),
                 static_cast<int>(this->own()), this->words.type, a.root, MPI_COMM_WORLD);
  }

  std::size_t total = 0;
};

template <class T>
struct reduce_scatter_of : uneven<T> {
  using uneven<T>::uneven;
  static constexpr auto what = colligo::collective::reduce_scatter;

  std::size_t in_size(std::size_t c, int p) { return std::max<std::size_t>(1, total = this->lay_out(c, p)); }
  std::size_t out_size(std::size_t, int) { return this->own(); }
  void ours(arguments<T> const& a, auto const& algorithm) const {
    colligo::reduce_scatter(this->comm, a.in.first(total), a.out, this->counts, sum{}, algorithm);
  }
  void mpi(arguments<T> const& a) const {
    MPI_Reduce_scatter(a.in.data(), a.out.data(), this->ints.data(), this->words.type, this->words.op, MPI_COMM_WORLD);
  }

  std::size_t total = 0;
};

}  // namespace bench
