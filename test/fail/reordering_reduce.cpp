// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this algorithm reorders operands and the functor is not known to commute: wrap it,
//         colligo::as_commutative(op), specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order
#include <colligo/reduce.hpp>

struct add {
  int operator()(int a, int b) const { return a + b; }
};

int sum(boost::mpi::communicator& comm) {
#ifdef COLLIGO_MUST_FAIL
  return colligo::reduce(comm, 1, add{}, 0, colligo::halving_tree{});
#else
  return colligo::reduce(comm, 1, colligo::as_commutative(add{}), 0, colligo::halving_tree{});
#endif
}
