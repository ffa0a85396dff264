// SPDX-License-Identifier: BSL-1.0
/// @file
/// Model: executes steps over an MPI_Comm. Elements that are bytes travel as bytes; a pair send + recv or send + fold is one
/// MPI_Sendrecv, other steps are non-blocking. No allocation, virtual call or MPI object per call once a communicator is warm.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <utility>

#include "memory.hpp"
#include "mpi_port.hpp"
#include "mpi_vendor.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE {

/// An MPI_Comm as this library's communicator. Does not own it. Precondition: MPI is initialised, not an intercommunicator.
class mpi_communicator {
 public:
  mpi_communicator(MPI_Comm comm) : comm_(comm) {
    if (comm == MPI_COMM_NULL) throw argument_error("mpi_communicator: made from MPI_COMM_NULL");
    detail::check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    detail::check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 0;
};

namespace detail {

/// Elements that are not bytes: defined in serialised.hpp for the types that Boost.Serialization can write.
template <class T>
struct serialised;

template <class T, class Op>
class mpi_steps {
 public:
  /// `host`: the memory through which messages within a host go; null: all go over MPI.
  mpi_steps(mpi_port& port, working_vector<T, Op>& data, shared_host* host) : port_(port), data_(data), host_(host) {}

  int rank() const { return port_.rank(); }
  int size() const { return port_.size(); }

  void operator()(send s) { (*this)(s, recv{nobody, {}}); }
  void operator()(recv r) { (*this)(send{nobody, {}}, r); }
  void operator()(fold f) { (*this)(send{nobody, {}}, f); }

  void operator()(send const& s, recv const& r) {
    if (in_pieces(s) || !r.what.tail.empty() || several_hosts()) return (*this)(std::array{operand(s), operand(r)});
    if (host_) return shared_exchange(s, {operand::kind::recv, r.from, unless_nobody(r.from, r.what.head), own::result});
    exchange_and_write(unless_nobody(s.to, s.what.head), s.to, s.from, unless_nobody(r.from, r.what.head), r.from);
  }

  void operator()(send const& s, fold const& f) {
    if (in_pieces(s) || !f.what.tail.empty() || several_hosts()) return (*this)(std::array{operand(s), operand(f)});
    if (host_) return shared_exchange(s, {operand::kind::fold, f.from, unless_nobody(f.from, f.what.head), f.with});
    exchange_and_combine(unless_nobody(s.to, s.what.head), s.to, s.from, unless_nobody(f.from, f.what.head), f.from, f.with);
  }

  template <class... Operands>
  void operator()(Operands... operands) { (*this)(std::array{operand(operands)...}); }

  template <operand_list List>
  void operator()(List const& list) {
    if constexpr (travels_as_bytes<T>)
      if (host_ && all_here(list)) return shared_steps<T, Op>(*host_, port_.traffic, port_, data_).perform(list, published_list<List> && host_->whole());
    scratch_sizes const sizes(list);
    room<T> received(port_.received, sizes.received), combined(port_.combined, sizes.combined);
    // What is sent is made before anything is posted: the functor may throw.
    port_.sources.clear();
    T* free = combined.data();
    for_each_piece(list, [&](piece const& p) {
      if (!p.sends()) return;
      port_.sources.push_back(data_.read(p.elements, p.which, free));
      if (p.combines_first()) free += p.elements.size();
    });
    free = received.data();
    auto const target = [&](piece const& p) { return p.folds() ? std::exchange(free, free + p.elements.size()) : data_.write(p.elements); };
    auto source = [&, next = port_.sources.begin()]() mutable { return static_cast<T const*>(*next++); };
    if constexpr (travels_as_bytes<T>) {
      std::optional<shared_steps<T, Op>> here;
      if (host_) here.emplace(*host_, port_.traffic, port_, data_);
      for_each_piece(list, [&](piece const& p) {
        if (p.sends()) return;
        if (here && host_->has(p.peer)) here->add_in(host_->from(p.peer), {operand::kind::recv, p.peer, p.elements, own::result}, target(p));
        else port_.post_recv(bytes(target(p)), p.elements.size() * sizeof(T), p.peer);
      });
      for_each_piece(list, [&](piece const& p) {
        if (!p.sends()) return;
        if (here && host_->has(p.peer)) here->add_out(host_->to(p.peer), source(), p.elements.size() * sizeof(T));
        else port_.post_send(bytes(source()), p.elements.size() * sizeof(T), p.peer);
      });
      if (here) here->run();
      port_.finish();
    } else {
      serialised<T>::perform(port_, list, source, target);
    }
    combine_received(list, received.data(), rank(), data_);
  }

  static constexpr bool tells_arrival = travels_as_bytes<T>;   // how long a serialised message is shows only when it is there

  /// In order of arrival; but in the order listed where they come through shared memory or in several pieces.
  template <operand_list List>
  void operator()(as_they_come<List> const& folds) {
    room<T> received(port_.received, scratch_sizes(folds.list).received);
    T* free = received.data();
    bool one_by_one = host_ != nullptr;
    port_.arriving.clear();
    for_each_piece(folds.list, [&](piece const& p) {
      port_.arriving.emplace_back(p, std::exchange(free, free + p.elements.size()));
      one_by_one = one_by_one || p.elements.size() * sizeof(T) > longest_piece;
    });
    if (one_by_one) {
      for (auto const& [p, values] : port_.arriving) (*this)(fold{p.peer, p.elements, p.which});
      return;
    }
    for (auto const& [p, values] : port_.arriving) port_.post_recv(static_cast<std::byte*>(values), p.elements.size() * sizeof(T), p.peer);
    try {
      for (int i = port_.finish_any(); i != nobody; i = port_.finish_any()) {
        auto const& [p, values] = port_.arriving[static_cast<std::size_t>(i)];
        data_.combine(p.elements, static_cast<T const*>(values), p.peer < rank(), p.which);
      }
    } catch (...) {   // the functor's: no receive may stay behind
      port_.finish();
      throw;
    }
  }

 private:
  static range unless_nobody(int peer, range what) { return peer == nobody ? range{} : what; }
  // Neither one contiguous message nor one that can leave as it is.
  static bool in_pieces(send const& s) { return !s.what.tail.empty() || s.from == own::both; }
  static std::byte* bytes(T* p) { return reinterpret_cast<std::byte*>(p); }
  static std::byte const* bytes(T const* p) { return reinterpret_cast<std::byte const*>(p); }

  // Ranges by value travel in registers; operands would go through memory, which costs as much as all else here.
  void exchange_and_write(range out, int to, own which, range in, int from) {
    if (out.empty() && in.empty()) return;
    T const* const source = data_.read(out, which, nullptr);
    exchange(source, out.size(), to, data_.write(in), in.size(), from);
  }
  void exchange_and_combine(range out, int to, own which, range in, int from, own with) {
    if (out.empty() && in.empty()) return;
    room<T> received(port_.received, in.size());
    exchange(data_.read(out, which, nullptr), out.size(), to, received.data(), in.size(), from);
    if (!in.empty()) data_.combine(in, received.data(), from < rank(), with);
  }

  void exchange(T const* out, std::size_t n_out, int to, T* in, std::size_t n_in, int from) {
    if constexpr (travels_as_bytes<T>) port_.exchange(bytes(out), n_out * sizeof(T), to, bytes(in), n_in * sizeof(T), from);
    else serialised<T>::exchange(port_, out, n_out, to, in, n_in, from);
  }

  bool several_hosts() const { return host_ && !host_->whole(); }
  template <operand_list List>
  bool all_here(List const& list) const {
    for (std::size_t i = 0; !host_->whole() && i < list.size(); ++i)
      if (operand const o = list[i]; !o.vanishes() && !host_->has(o.peer)) return false;
    return true;
  }
  void shared_exchange(send const& s, piece const& in) {
    if constexpr (travels_as_bytes<T>) shared_steps<T, Op>(*host_, port_.traffic, port_, data_).exchange(unless_nobody(s.to, s.what.head), s.to, s.from, in);
  }

  mpi_port& port_;
  working_vector<T, Op>& data_;
  shared_host* host_;
};

}  // namespace detail

template <>
struct port_of<mpi_communicator> {
  static detail::mpi_port& open(mpi_communicator const& comm) { return detail::mpi_port::of(comm); }
};

}  // namespace colligo
