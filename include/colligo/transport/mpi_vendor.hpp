// SPDX-License-Identifier: BSL-1.0
/// @file
/// The `vendor` algorithm of models over MPI: the library's own collective with the built-in operation and datatype where T and Op have
/// them, otherwise with an operation made for the call. MPI gives such an operation no context; here the functor travels as an
/// attribute of the datatype, so stateful functors work, calls may run at the same time, and nothing is process-wide.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <complex>
#include <cstddef>
#include <exception>
#include <functional>
#include <type_traits>
#include <vector>

#include "../core/functor.hpp"
#include "memory.hpp"
#include "mpi_port.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE {
struct vendor;
}

namespace colligo::inline COLLIGO_MODE::detail {

/// MPI's name of an element type, MPI_DATATYPE_NULL where it has none. The pairs are those of MPI_MAXLOC.
template <class T>
MPI_Datatype builtin_type() {
  if constexpr (std::is_same_v<T, bool>) return MPI_CXX_BOOL;
  else if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, long double>) return MPI_LONG_DOUBLE;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return MPI_C_FLOAT_COMPLEX;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return MPI_C_DOUBLE_COMPLEX;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1) return std::is_signed_v<T> ? MPI_INT8_T : MPI_UINT8_T;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 2) return std::is_signed_v<T> ? MPI_INT16_T : MPI_UINT16_T;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) return std::is_signed_v<T> ? MPI_INT32_T : MPI_UINT32_T;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return std::is_signed_v<T> ? MPI_INT64_T : MPI_UINT64_T;
  else if constexpr (std::is_same_v<T, located<float, int>>) return MPI_FLOAT_INT;
  else if constexpr (std::is_same_v<T, located<double, int>>) return MPI_DOUBLE_INT;
  else if constexpr (std::is_same_v<T, located<long, int>>) return MPI_LONG_INT;
  else if constexpr (std::is_same_v<T, located<int, int>>) return MPI_2INT;
  else return MPI_DATATYPE_NULL;
}

/// MPI's name of a functor on T, MPI_OP_NULL where it has none. For NaN, MPI's maximum and minimum follow their own rule.
template <class Op, class T>
MPI_Op builtin_op() {
  constexpr bool number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  constexpr bool saturates = integer && sizeof(T) < sizeof(int);   // sums in Open MPI 4.1 with AVX, instead of wrapping round as C++ does
  if constexpr ((number || is_complex<T>::value) && !saturates && any_of<Op, T, std::plus>) return MPI_SUM;
  else if constexpr ((number || is_complex<T>::value) && any_of<Op, T, std::multiplies>) return MPI_PROD;
  else if constexpr (number && (std::is_same_v<Op, maximum> || any_boost<Op, T, boost::mpi::maximum>)) return MPI_MAX;
  else if constexpr (number && (std::is_same_v<Op, minimum> || any_boost<Op, T, boost::mpi::minimum>)) return MPI_MIN;
  else if constexpr (std::is_integral_v<T> && any_of<Op, T, std::logical_and>) return MPI_LAND;
  else if constexpr (std::is_integral_v<T> && any_of<Op, T, std::logical_or>) return MPI_LOR;
  else if constexpr (std::is_integral_v<T> && any_boost<Op, T, boost::mpi::logical_xor>) return MPI_LXOR;
  else if constexpr (integer && (any_of<Op, T, std::bit_and> || any_boost<Op, T, boost::mpi::bitwise_and>)) return MPI_BAND;
  else if constexpr (integer && (any_of<Op, T, std::bit_or> || any_boost<Op, T, boost::mpi::bitwise_or>)) return MPI_BOR;
  else if constexpr (integer && (any_of<Op, T, std::bit_xor> || any_boost<Op, T, boost::mpi::bitwise_xor>)) return MPI_BXOR;
  else if constexpr (std::is_same_v<Op, maxloc>) return MPI_MAXLOC;
  else if constexpr (std::is_same_v<Op, minloc>) return MPI_MINLOC;
  else return MPI_OP_NULL;
}

template <class T, class Op>
bool mpi_port::has_builtin() { return builtin_type<T>() != MPI_DATATYPE_NULL && builtin_op<Op, T>() != MPI_OP_NULL; }

/// MPI counts elements with int.
inline int count_of(std::size_t n) {
  if (n > static_cast<std::size_t>(INT_MAX)) throw argument_error("vendor: " + std::to_string(n) + " elements are more than MPI's int can count");
  return static_cast<int>(n);
}

/// A datatype for T: MPI's own or, for the time of a call, so many bytes.
template <class T>
class element_type {
 public:
  explicit element_type(bool own_bytes = builtin_type<T>() == MPI_DATATYPE_NULL) : made_(own_bytes) {
    if (!made_) return;
    check_mpi(MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type_), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~element_type() {
    if (made_) MPI_Type_free(&type_);
  }
  element_type(element_type const&) = delete;
  element_type& operator=(element_type const&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  bool made_;
  MPI_Datatype type_ = builtin_type<T>();
};

/// An operation, and the datatype on which it works, for one call.
template <class T, class Op>
class operation {
 public:
  explicit operation(Op& functor) : functor_(functor), type_(op_ == MPI_OP_NULL) {
    if (op_ != MPI_OP_NULL) return;
    made_ = true;
    check_mpi(MPI_Type_set_attr(type_.get(), key(), this), "MPI_Type_set_attr");
    check_mpi(MPI_Op_create(&apply, commutative<std::remove_cv_t<Op>, T>, &op_), "MPI_Op_create");
  }
  ~operation() {
    if (made_ && op_ != MPI_OP_NULL) MPI_Op_free(&op_);
  }
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;

  MPI_Datatype type() const { return type_.get(); }
  MPI_Op get() const { return op_; }

  /// To be called after the collective: what the functor threw comes out here.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  static int key() {
    static int const made = [] {
      int k = MPI_KEYVAL_INVALID;
      check_mpi(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &k, nullptr), "MPI_Type_create_keyval");
      return k;
    }();
    return made;
  }

  // MPI's callback: the lower ranks' values are `in`.
  static void apply(void* in, void* in_out, int* n, MPI_Datatype* type) {
    void* value = nullptr;
    int found = 0;
    MPI_Type_get_attr(*type, key(), &value, &found);
    auto& call = *static_cast<operation*>(value);
    try {
      if (call.thrown_) return;   // exceptions must not cross MPI
      auto const* left = static_cast<T const*>(in);
      auto* right = static_cast<T*>(in_out);
      for (int i = 0; i < *n; ++i) right[i] = static_cast<T>(call.functor_(left[i], right[i]));
    } catch (...) {
      call.thrown_ = std::current_exception();
    }
  }

  Op& functor_;
  MPI_Op op_ = builtin_type<T>() == MPI_DATATYPE_NULL ? MPI_OP_NULL : builtin_op<std::remove_cv_t<Op>, T>();
  element_type<T> type_;
  bool made_ = false;
  std::exception_ptr thrown_;
};

/// Calls run(first element, how many) for pieces that fit an int, as element-wise collectives allow.
template <class T, class Run>
void in_pieces(std::size_t n, Run run) {
  std::size_t at = 0;
  do {
    std::size_t const piece = std::min(n - at, longest_piece / sizeof(T) + 1);
    run(at, static_cast<int>(piece));
    at += piece;
  } while (at < n);
}

/// Counts and displacements as MPI wants them.
struct int_blocks {
  std::vector<int> counts, first;

  explicit int_blocks(blocks const& block) {
    for (int i = 0; i < block.parts; ++i) counts.push_back(count_of(block[i].size())), first.push_back(count_of(block[i].first));
  }
};

/// The MPI library's collective C. In place where input and output are the same memory.
template <collective C, class T, class Op>
void run_vendor(vendor const&, mpi_port& port, blocks const& block, values<T const> in, values<T> out, Op& op, int root) {
  using enum collective;
  MPI_Comm const comm = port.comm();
  bool const at_root = port.rank() == root, same = in.data == out.data && (C != reduce || at_root);
  std::size_t const n = block.whole.size();
  if constexpr (C == all_reduce || C == reduce || C == scan || C == exclusive_scan) {
    operation<T, Op> const combination(op);
    in_pieces<T>(n, [&](std::size_t at, int count) {
      void const* const from = same ? MPI_IN_PLACE : in.data + at;
      if constexpr (C == all_reduce) check_mpi(MPI_Allreduce(from, out.data + at, count, combination.type(), combination.get(), comm), "MPI_Allreduce");
      if constexpr (C == reduce) check_mpi(MPI_Reduce(from, at_root ? out.data + at : nullptr, count, combination.type(), combination.get(), root, comm), "MPI_Reduce");
      if constexpr (C == scan) check_mpi(MPI_Scan(from, out.data + at, count, combination.type(), combination.get(), comm), "MPI_Scan");
      if constexpr (C == exclusive_scan) check_mpi(MPI_Exscan(from, out.data + at, count, combination.type(), combination.get(), comm), "MPI_Exscan");
    });
    combination.rethrow();
  } else if constexpr (C == reduce_scatter || C == reduce_scatter_block) {
    operation<T, Op> const combination(op);
    if constexpr (C == reduce_scatter)
      check_mpi(MPI_Reduce_scatter(in.data, out.data, int_blocks(block).counts.data(), combination.type(), combination.get(), comm), "MPI_Reduce_scatter");
    else
      check_mpi(MPI_Reduce_scatter_block(in.data, out.data, count_of(out.covers.size()), combination.type(), combination.get(), comm), "MPI_Reduce_scatter_block");
    combination.rethrow();
  } else if constexpr (C == barrier) {
    check_mpi(MPI_Barrier(comm), "MPI_Barrier");
  } else {
    element_type<T> const element;
    MPI_Datatype const type = element.get();
    int const mine = count_of((C == scatter || C == scatterv ? out.covers : in.covers).size());
    if constexpr (C == broadcast) in_pieces<T>(n, [&](std::size_t at, int count) { check_mpi(MPI_Bcast(out.data + at, count, type, root, comm), "MPI_Bcast"); });
    if constexpr (C == all_gather) check_mpi(MPI_Allgather(in.data, mine, type, out.data, mine, type, comm), "MPI_Allgather");
    if constexpr (C == gather) check_mpi(MPI_Gather(in.data, mine, type, out.data, mine, type, root, comm), "MPI_Gather");
    if constexpr (C == scatter) check_mpi(MPI_Scatter(in.data, mine, type, out.data, mine, type, root, comm), "MPI_Scatter");
    if constexpr (C == all_gatherv || C == gatherv || C == scatterv) {
      int_blocks const ints(block);
      int const *counts = ints.counts.data(), *first = ints.first.data();
      if constexpr (C == all_gatherv) check_mpi(MPI_Allgatherv(in.data, mine, type, out.data, counts, first, type, comm), "MPI_Allgatherv");
      if constexpr (C == gatherv) check_mpi(MPI_Gatherv(in.data, mine, type, out.data, counts, first, type, root, comm), "MPI_Gatherv");
      if constexpr (C == scatterv) check_mpi(MPI_Scatterv(in.data, counts, first, type, out.data, mine, type, root, comm), "MPI_Scatterv");
    }
  }
}

}  // namespace colligo::detail
