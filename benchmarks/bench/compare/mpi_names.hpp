// SPDX-License-Identifier: BSL-1.0
/// @file
/// The elements and functors in the words of MPI and of Boost.MPI, as a user who knows them well would put it.
#pragma once

#include <mpi.h>

#include <colligo/core/functor.hpp>
#include <type_traits>

#include "../elements.hpp"

namespace bench {

/// Datatype and operation: built in where MPI has them, otherwise made once and kept, so that calls alone are timed.
template <class T, class Op>
class mpi_words {
 public:
  mpi_words() {
    if constexpr (type_made) {
      MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type);
      MPI_Type_commit(&type);
    }
    if constexpr (op_made) MPI_Op_create(&apply, colligo::commutative<Op, T>, &op);
  }
  ~mpi_words() {
    if constexpr (op_made) MPI_Op_free(&op);
    if constexpr (type_made) MPI_Type_free(&type);
  }
  mpi_words(mpi_words const&) = delete;
  mpi_words& operator=(mpi_words const&) = delete;

 private:
  static constexpr bool type_made = std::is_same_v<T, summary> || std::is_same_v<T, matrix>;
#ifdef COLLIGO_BENCH_SIMULATED
  static constexpr bool op_made = type_made || std::is_same_v<Op, sum>;   // MPI's own would take no time
#else
  static constexpr bool op_made = type_made;
#endif

  static MPI_Datatype type_of() {
    if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
    else if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
    else if constexpr (std::is_same_v<T, int>) return MPI_INT;
    else if constexpr (std::is_same_v<T, place>) return MPI_DOUBLE_INT;
    else return MPI_DATATYPE_NULL;
  }
  static MPI_Op op_of() {
    if constexpr (std::is_same_v<Op, sum>) return MPI_SUM;
    else if constexpr (std::is_same_v<Op, colligo::maximum>) return MPI_MAX;
    else if constexpr (std::is_same_v<Op, colligo::maxloc>) return MPI_MAXLOC;
    else return MPI_OP_NULL;
  }

  static void apply(void* in, void* in_out, int* n, MPI_Datatype*) {
    auto const* const left = static_cast<T const*>(in);
    auto* const right = static_cast<T*>(in_out);
    for (int i = 0; i < *n; ++i) right[i] = Op{}(left[i], right[i]);
#ifdef COLLIGO_BENCH_SIMULATED
    if constexpr (std::is_same_v<Op, sum>) simulated::combine(static_cast<double>(*n) * sizeof(T));
#endif
  }

 public:
  MPI_Datatype type = type_of();
  MPI_Op op = op_of();
};

}  // namespace bench

#ifndef COLLIGO_WITHOUT_BOOST_MPI
#include <boost/mpi/datatype.hpp>
#include <boost/mpi/operations.hpp>

// Without these Boost.MPI would serialise element by element.
template <>
struct boost::mpi::is_mpi_datatype<bench::place> : boost::mpl::true_ {};
template <>
struct boost::mpi::is_mpi_datatype<bench::summary> : boost::mpl::true_ {};
template <>
struct boost::mpi::is_mpi_datatype<bench::matrix> : boost::mpl::true_ {};
template <>
struct boost::mpi::is_commutative<colligo::maxloc, bench::place> : boost::mpl::true_ {};
template <>
struct boost::mpi::is_commutative<bench::merge, bench::summary> : boost::mpl::true_ {};

namespace boost::serialization {
template <class Archive>
void serialize(Archive& archive, bench::place& p, unsigned) { archive & p.value & p.index; }
template <class Archive>
void serialize(Archive& archive, bench::summary& s, unsigned) {
  archive & s.count & s.mean & s.squares & s.least & s.greatest;
}
template <class Archive>
void serialize(Archive& archive, bench::matrix& m, unsigned) { archive & m.a & m.b & m.c & m.d; }
}  // namespace boost::serialization

namespace bench {

/// The functor under the name that Boost.MPI maps to MPI's.
template <class T, class Op>
struct boost_functor { using type = Op; };
template <class T>
struct boost_functor<T, sum> { using type = std::plus<T>; };
template <class T>
struct boost_functor<T, colligo::maximum> { using type = boost::mpi::maximum<T>; };

}  // namespace bench
#endif
