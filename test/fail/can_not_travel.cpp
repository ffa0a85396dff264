// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this element type can not be sent: make it trivially copyable, or, with Boost.MPI, give it a
//         Boost.Serialization serialize()
// lines: 12
#include <colligo/all_reduce.hpp>

#include <memory>

struct list {
  std::shared_ptr<int> first;
#ifndef COLLIGO_MUST_FAIL
  template <class Archive>
  void serialize(Archive&, unsigned) {}
#endif
};

list merged(boost::mpi::communicator& comm, list const& mine) {
  return colligo::all_reduce(comm, mine, [](list const& a, list const&) { return a; }, colligo::binary_tree{});
}
