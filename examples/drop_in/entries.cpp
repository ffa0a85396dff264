// SPDX-License-Identifier: BSL-1.0
// MPI's names, both of them: programs call MPI_Allreduce, Fortran's bindings and tools before this library call
// PMPI_Allreduce. Each call is served, or passed on to the MPI library.
#include "collectives.hpp"
#include "drop_in.hpp"
#include "settings.hpp"

#include <dlfcn.h>

namespace {

/// The MPI library's own function, by its other name if it has that.
template <class Function>
Function* behind(char const* name) {
  void* const other = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(other != nullptr ? other : dlsym(RTLD_NEXT, name + 1));
}

}  // namespace

extern "C" {

#define FUNCTION(name, parameters, arguments, ...)                                              \
  [[gnu::visibility("hidden")]] int next_##name parameters {                                    \
    static auto* const next = behind<int parameters>("P" #name);                                \
    return next arguments;                                                                      \
  }                                                                                             \
  [[gnu::visibility("default")]] int name parameters { __VA_ARGS__; }                           \
  [[gnu::visibility("default")]] int P##name parameters __attribute__((alias(#name)));

FUNCTION(MPI_Init, (int* argc, char*** argv), (argc, argv), return drop_in::begin(next_MPI_Init(argc, argv)))
FUNCTION(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided), (argc, argv, required, provided),
         return drop_in::begin(next_MPI_Init_thread(argc, argv, required, provided)))
FUNCTION(MPI_Finalize, (void), (), return drop_in::end(), next_MPI_Finalize())
FUNCTION(MPI_Comm_free, (MPI_Comm* comm), (comm), drop_in::being_freed const mark(comm);
         return next_MPI_Comm_free(comm))
FUNCTION(MPI_Comm_disconnect, (MPI_Comm* comm), (comm), drop_in::being_freed const mark(comm);
         return next_MPI_Comm_disconnect(comm))
#if defined(MPICH_VERSION)   // MPI_Request_get_status of MPICH 4.0 does not ask the request
FUNCTION(MPI_Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), (request, flag, status),
         drop_in::look_at(request); return next_MPI_Request_get_status(request, flag, status))
#endif
FUNCTIONS

}
