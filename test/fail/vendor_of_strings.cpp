// SPDX-License-Identifier: BSL-1.0
// expect: colligo: vendor is the MPI library's own collective: it needs a communicator over MPI and elements that
//         travel as bytes
#include <colligo/all_reduce.hpp>

#include <string>

#ifdef COLLIGO_MUST_FAIL
using text = std::string;
#else
using text = double;
#endif

text all(boost::mpi::communicator& comm, text const& mine) {
  return colligo::all_reduce(comm, mine, std::plus<>{}, colligo::vendor{});
}
