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

#include "../core/functor.hpp"
#include "memory.hpp"
#include "mpi_port.hpp"

namespace colligo {
struct vendor;
}

namespace colligo::detail {

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
  if constexpr ((number || is_complex<T>::value) && any_of<Op, T, std::plus>) return MPI_SUM;
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

/// An operation and a datatype for one call.
template <class T, class Op>
class vendor_call {
 public:
  explicit vendor_call(Op& functor) : functor_(functor) {
    if (type_ != MPI_DATATYPE_NULL && op_ != MPI_OP_NULL) return;
    check_mpi(MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type_), "MPI_Type_contiguous");
    made_ = true;
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    check_mpi(MPI_Type_set_attr(type_, key(), this), "MPI_Type_set_attr");
    check_mpi(MPI_Op_create(&apply, commutative<std::remove_cv_t<Op>, T>, &op_), "MPI_Op_create");
  }
  ~vendor_call() {
    if (!made_) return;
    if (op_ != MPI_OP_NULL) MPI_Op_free(&op_);
    MPI_Type_free(&type_);
  }
  vendor_call(vendor_call const&) = delete;
  vendor_call& operator=(vendor_call const&) = delete;

  /// Calls run(first element, how many, datatype, operation) in pieces that fit an int; rethrows what the functor threw.
  template <class Run>
  void in_pieces(std::size_t n, Run run) {
    std::size_t at = 0;
    do {
      std::size_t const piece = std::min(n - at, longest_piece / sizeof(T) + 1);
      run(at, static_cast<int>(piece), type_, op_);
      at += piece;
    } while (at < n);
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
    auto& call = *static_cast<vendor_call*>(value);
    try {
      if (call.thrown_) return;   // exceptions must not cross MPI
      auto const* left = static_cast<T const*>(in);
      auto* right = static_cast<T*>(in_out);
      for (int i = 0; i < *n; ++i) right[i] = call.functor_(left[i], right[i]);
    } catch (...) {
      call.thrown_ = std::current_exception();
    }
  }

  Op& functor_;
  MPI_Datatype type_ = builtin_op<std::remove_cv_t<Op>, T>() == MPI_OP_NULL ? MPI_DATATYPE_NULL : builtin_type<T>();
  MPI_Op op_ = type_ == MPI_DATATYPE_NULL ? MPI_OP_NULL : builtin_op<std::remove_cv_t<Op>, T>();
  bool made_ = false;
  std::exception_ptr thrown_;
};

/// In place where in == out.
template <class T, class Op>
void vendor_all_reduce(vendor const&, mpi_port& port, T const* in, T* out, std::size_t n, Op& op) {
  vendor_call<T, Op>(op).in_pieces(n, [&](std::size_t at, int count, MPI_Datatype type, MPI_Op operation) {
    void const* const from = in == out ? MPI_IN_PLACE : in + at;
    check_mpi(MPI_Allreduce(from, out + at, count, type, operation, port.comm()), "MPI_Allreduce");
  });
}

/// `out` counts at the root alone; in place there where in == out.
template <class T, class Op>
void vendor_reduce(vendor const&, mpi_port& port, T const* in, T* out, std::size_t n, Op& op, int root) {
  bool const at_root = port.rank() == root;
  vendor_call<T, Op>(op).in_pieces(n, [&](std::size_t at, int count, MPI_Datatype type, MPI_Op operation) {
    void const* const from = at_root && in == out ? MPI_IN_PLACE : in + at;
    check_mpi(MPI_Reduce(from, at_root ? out + at : nullptr, count, type, operation, root, port.comm()), "MPI_Reduce");
  });
}

}  // namespace colligo::detail
