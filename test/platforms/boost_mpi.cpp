// SPDX-License-Identifier: BSL-1.0
// What the tests call of the compiled part of Boost.MPI, which Debian has for Open MPI alone: so the sources of
// test/mpi and test/faults run over other MPI libraries as they are. Boost's headers declare it.
#include <mpi.h>

#include <boost/mpi/cartesian_communicator.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/detail/offsets.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/exception.hpp>
#include <boost/mpi/intercommunicator.hpp>
#include <boost/mpi/request.hpp>

#include <exception>
#include <string>
#include <vector>

namespace {

// What the MPI function has said, as an exception if it is not MPI_SUCCESS.
void check(int code, char const* function) {
  if (code != MPI_SUCCESS) throw boost::mpi::exception(function, code);
}

// Owns a communicator until MPI is finalised.
boost::shared_ptr<MPI_Comm> owned(MPI_Comm comm) {
  return {new MPI_Comm(comm), [](MPI_Comm* one) {
            int finalized = 0;
            MPI_Finalized(&finalized);
            if (!finalized) MPI_Comm_free(one);
            delete one;
          }};
}

}  // namespace

namespace boost::mpi {

exception::exception(char const* routine, int code) : routine_(routine), result_code_(code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  message = std::string(routine) + ": " + text;
}
exception::~exception() throw() {}

environment::environment(int& argc, char**& argv, bool abort)
    : environment(argc, argv, threading::single, abort) {}
environment::environment(int& argc, char**& argv, threading::level level, bool abort)
    : i_initialized(true), abort_on_exception(abort) {
  int given = 0;
  check(MPI_Init_thread(&argc, &argv, level, &given), "MPI_Init_thread");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}
environment::~environment() {
  if (abort_on_exception && std::uncaught_exceptions() > 0) MPI_Abort(MPI_COMM_WORLD, -1);
  MPI_Finalize();
}

communicator::communicator() : comm_ptr(new MPI_Comm(MPI_COMM_WORLD)) {}
communicator::communicator(MPI_Comm const& comm, comm_create_kind kind) {
  if (comm == MPI_COMM_NULL) return;
  if (kind == comm_attach) {
    comm_ptr.reset(new MPI_Comm(comm));
  } else if (kind == comm_take_ownership) {
    comm_ptr = owned(comm);
  } else {
    MPI_Comm copy = MPI_COMM_NULL;
    check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
    comm_ptr = owned(copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  }
}
communicator::operator MPI_Comm() const { return comm_ptr ? *comm_ptr : MPI_COMM_NULL; }
int communicator::rank() const {
  int rank = 0;
  check(MPI_Comm_rank(*this, &rank), "MPI_Comm_rank");
  return rank;
}
int communicator::size() const {
  int size = 0;
  check(MPI_Comm_size(*this, &size), "MPI_Comm_size");
  return size;
}
communicator communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(*this, color, key, &part), "MPI_Comm_split");
  return {part, comm_take_ownership};
}
communicator communicator::split(int color) const { return split(color, rank()); }
void communicator::barrier() const { check(MPI_Barrier(*this), "MPI_Barrier"); }

cartesian_communicator::cartesian_communicator(communicator const& comm, cartesian_topology const& topology,
                                               bool reorder) {
  std::vector<int> lengths, periods;
  for (cartesian_dimension const& one : topology.stl()) lengths.push_back(one.size), periods.push_back(one.periodic);
  MPI_Comm grid = MPI_COMM_NULL;
  check(MPI_Cart_create(comm, static_cast<int>(lengths.size()), lengths.data(), periods.data(), reorder, &grid),
        "MPI_Cart_create");
  if (grid != MPI_COMM_NULL) comm_ptr = owned(grid);
}

intercommunicator::intercommunicator(communicator const& local, int local_leader, communicator const& peer,
                                     int remote_leader) {
  constexpr int tag = 31000;   // of no other message
  MPI_Comm both = MPI_COMM_NULL;
  check(MPI_Intercomm_create(local, local_leader, peer, remote_leader, tag, &both),
        "MPI_Intercomm_create");
  comm_ptr = owned(both);
}

request::handler::~handler() = default;
request::trivial_handler::trivial_handler() : m_request(MPI_REQUEST_NULL) {}
status request::trivial_handler::wait() {
  status ended;
  check(MPI_Wait(&m_request, &ended.m_status), "MPI_Wait");
  return ended;
}
optional<status> request::trivial_handler::test() {
  status ended;
  int done = 0;
  check(MPI_Test(&m_request, &done, &ended.m_status), "MPI_Test");
  return done ? optional<status>(ended) : optional<status>();
}
void request::trivial_handler::cancel() { check(MPI_Cancel(&m_request), "MPI_Cancel"); }
bool request::trivial_handler::active() const { return m_request != MPI_REQUEST_NULL; }
optional<MPI_Request&> request::trivial_handler::trivial() { return m_request; }

void detail::sizes2offsets(std::vector<int> const& sizes, std::vector<int>& offsets) {
  offsets.resize(sizes.size());
  int sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) offsets[i] = sum, sum += sizes[i];
}

}  // namespace boost::mpi
