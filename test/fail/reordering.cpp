// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this algorithm reorders operands and the functor is not known to commute: wrap it,
//         colligo::as_commutative(op), specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order
#include <colligo/all_reduce.hpp>

int sum(colligo::thread_communicator& comm) {
  auto const op = [](int a, int b) { return a + b; };
#ifdef COLLIGO_MUST_FAIL
  return colligo::all_reduce(comm, 1, op, colligo::ring{});
#else
  return colligo::all_reduce(comm, 1, colligo::as_commutative(op), colligo::ring{}) +
         colligo::all_reduce(comm, 1, op, colligo::halving_doubling{});
#endif
}
