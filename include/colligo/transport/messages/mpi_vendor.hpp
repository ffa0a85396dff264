// SPDX-License-Identifier: BSL-1.0
/// @file
/// MPI's own datatypes and operations for element types and functors, as a value for the engine.
#pragma once

#include <mpi.h>

#include <complex>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

#include "../../core/element.hpp"
#include "../../core/functor.hpp"
#include "../../core/owner.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

struct call;
class moving_step;
class mpi_state;

/// The MPI library's collective, as a call and as a request, with its datatype and operation. Pointers, so that units
/// that never call it do not compile it.
struct vendor_operations {
  MPI_Datatype (*type)();          ///< built-in; MPI_DATATYPE_NULL where MPI has none
  MPI_Op (*operation)();           ///< built-in; MPI_OP_NULL where MPI has none
  void (*run)(mpi_state& state, call const& call, bool blocking);
  owner<moving_step> (*request)(mpi_state& state, call const& call, bool persistent);
};
void run_vendor_call(mpi_state& state, call const& call, bool blocking);
owner<moving_step> vendor_request(mpi_state& state, call const& call, bool persistent);

/// The MPI transport's description of an element type and a functor.
struct mpi_element {
  vendor_operations const* vendor;   ///< null: the call never uses MPI's own collective
  void (*encode)(std::byte const* first, std::size_t n, std::vector<char>& into);   ///< null: they travel as bytes
  std::size_t (*decode)(std::vector<char>& from, std::byte* into, std::size_t n);   ///< how many there are
};

/// MPI allocates operands of its own with the alignment of malloc.
template <class T>
concept vendor_takes = travels_as_bytes<T> && alignof(T) <= alignof(std::max_align_t);

/// MPI's datatype of an element type, MPI_DATATYPE_NULL if it has none. The pairs are those of MPI_MAXLOC.
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

/// MPI's operation that means what the functor means on T; MPI_OP_NULL if there is none. For NaN, MPI's maxima and
/// minima of floating point numbers, with an index or without, follow rules of their own.
template <class Op, class T>
MPI_Op builtin_op() {
  constexpr bool integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  constexpr bool number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
  constexpr bool integer_with_index = requires { requires std::is_integral_v<decltype(T::value)>; };
  // Sums and products saturate in Open MPI 4.1 with AVX, instead of wrapping round as C++ does.
  constexpr bool saturates = integer && sizeof(T) < sizeof(int);
  // Maxima and minima: MPICH 4.0 takes all unsigned integers for signed ones (pmodels/mpich#6083), Open MPI 4.1.2 to
  // 4.1.4 some (open-mpi/ompi#10525).
  constexpr bool compares = integer && std::is_signed_v<T>;
  constexpr bool adds = number || is_complex<T>::value;
  if constexpr (adds && !saturates && any_of<Op, T, std::plus>) return MPI_SUM;
  else if constexpr (adds && !saturates && any_of<Op, T, std::multiplies>) return MPI_PROD;
  else if constexpr (compares && (std::is_same_v<Op, maximum> || any_boost<Op, T, boost::mpi::maximum>)) return MPI_MAX;
  else if constexpr (compares && (std::is_same_v<Op, minimum> || any_boost<Op, T, boost::mpi::minimum>)) return MPI_MIN;
  else if constexpr (std::is_integral_v<T> && any_of<Op, T, std::logical_and>) return MPI_LAND;
  else if constexpr (std::is_integral_v<T> && any_of<Op, T, std::logical_or>) return MPI_LOR;
  else if constexpr (std::is_integral_v<T> && any_boost<Op, T, boost::mpi::logical_xor>) return MPI_LXOR;
  else if constexpr (integer && (any_of<Op, T, std::bit_and> || any_boost<Op, T, boost::mpi::bitwise_and>))
    return MPI_BAND;
  else if constexpr (integer && (any_of<Op, T, std::bit_or> || any_boost<Op, T, boost::mpi::bitwise_or>))
    return MPI_BOR;
  else if constexpr (integer && (any_of<Op, T, std::bit_xor> || any_boost<Op, T, boost::mpi::bitwise_xor>))
    return MPI_BXOR;
  else if constexpr (integer_with_index && std::is_same_v<Op, maxloc>) return MPI_MAXLOC;
  else if constexpr (integer_with_index && std::is_same_v<Op, minloc>) return MPI_MINLOC;
  else return MPI_OP_NULL;
}

/// Elements that do not travel as bytes: serialised.hpp defines it for the types that Boost.Serialization can write.
template <class T>
struct serialised;

template <class T, class Op>
inline constexpr vendor_operations vendor_operations_of{&builtin_type<T>, &builtin_op<std::remove_cv_t<Op>, T>,
                                                        &run_vendor_call, &vendor_request};

template <class T, class Op, bool MayBeVendor>
constexpr mpi_element make_mpi_element() {
  mpi_element made{nullptr, nullptr, nullptr};
  if constexpr (MayBeVendor && vendor_takes<T>) made.vendor = &vendor_operations_of<T, Op>;
  if constexpr (!travels_as_bytes<T>) {
    made.encode = &serialised<T>::encode;
    made.decode = &serialised<T>::decode;
  }
  return made;
}
template <class T, class Op, bool MayBeVendor>
inline constexpr mpi_element mpi_element_of = make_mpi_element<T, Op, MayBeVendor>();

}  // namespace colligo
