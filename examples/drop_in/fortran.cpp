// SPDX-License-Identifier: BSL-1.0
// Fortran's names, of mpif.h, mpi and mpi_f08, for Open MPI, whose bindings call the MPI library by its other names.
// Those of MPICH call MPI's C functions, which entries.cpp has, but for four of mpi_f08 that have no buffers.
#include "drop_in.hpp"

#include <initializer_list>

#if defined(OPEN_MPI)

// Where Fortran's constants are; some of these names a compiler uses.
extern "C" {
extern int mpi_fortran_in_place __attribute__((weak)), mpi_fortran_in_place_ __attribute__((weak)),
    mpi_fortran_in_place__ __attribute__((weak)), MPI_FORTRAN_IN_PLACE __attribute__((weak)),
    mpi_fortran_bottom __attribute__((weak)), mpi_fortran_bottom_ __attribute__((weak)),
    mpi_fortran_bottom__ __attribute__((weak)), MPI_FORTRAN_BOTTOM __attribute__((weak));
}

namespace {

void* of_c(void* at) {
  for (void* const fortran : {&mpi_fortran_in_place, &mpi_fortran_in_place_, &mpi_fortran_in_place__,
                              &MPI_FORTRAN_IN_PLACE})
    if (at == fortran && at != nullptr) return MPI_IN_PLACE;
  for (void* const fortran : {&mpi_fortran_bottom, &mpi_fortran_bottom_, &mpi_fortran_bottom__, &MPI_FORTRAN_BOTTOM})
    if (at == fortran) return MPI_BOTTOM;
  return at;
}
MPI_Datatype type_of(MPI_Fint const* type) { return PMPI_Type_f2c(*type); }
MPI_Op op_of(MPI_Fint const* op) { return PMPI_Op_f2c(*op); }
MPI_Comm comm_of(MPI_Fint const* comm) { return PMPI_Comm_f2c(*comm); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

// mpi_NAME_ is what programs call; what mpi_f08 calls is ompi_NAME_f.
#define FORTRAN(name, parameters, ...)                                     \
  void ompi_##name##_f parameters {                                        \
    *error = [&] { __VA_ARGS__; }();                                       \
  }                                                                        \
  void mpi_##name##_ parameters __attribute__((alias("ompi_" #name "_f"))); \
  void mpi_##name##__ parameters __attribute__((alias("ompi_" #name "_f"))); \
  void mpi_##name parameters __attribute__((alias("ompi_" #name "_f")));

void ompi_init_f(MPI_Fint* error) {
  *error = PMPI_Init(nullptr, nullptr);
  if (*error == MPI_SUCCESS) drop_in::begin();
}
void ompi_init_thread_f(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  *error = PMPI_Init_thread(nullptr, nullptr, *required, provided);
  if (*error == MPI_SUCCESS) drop_in::begin();
}
void ompi_finalize_f(MPI_Fint* error) {
  drop_in::end();
  *error = PMPI_Finalize();
}
void mpi_init_(MPI_Fint* error) __attribute__((alias("ompi_init_f")));
void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error)
    __attribute__((alias("ompi_init_thread_f")));
void mpi_finalize_(MPI_Fint* error) __attribute__((alias("ompi_finalize_f")));

FORTRAN(allreduce, (void* in, void* out, MPI_Fint* n, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Allreduce(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm)),
               all_reduce(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm))))
FORTRAN(reduce, (void* in, void* out, MPI_Fint* n, MPI_Fint* type, MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm,
        MPI_Fint* error),
        SERVED(MPI_Reduce(of_c(in), of_c(out), *n, type_of(type), op_of(op), *root, comm_of(comm)),
               reduce(of_c(in), of_c(out), *n, type_of(type), op_of(op), *root, comm_of(comm))))
FORTRAN(scan, (void* in, void* out, MPI_Fint* n, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Scan(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm)),
               scan(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm))))
FORTRAN(exscan, (void* in, void* out, MPI_Fint* n, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Exscan(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm)),
               exclusive_scan(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm))))
FORTRAN(reduce_scatter, (void* in, void* out, MPI_Fint* counts, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm,
        MPI_Fint* error),
        SERVED(MPI_Reduce_scatter(of_c(in), of_c(out), counts, type_of(type), op_of(op), comm_of(comm)),
               reduce_scatter(of_c(in), of_c(out), counts, type_of(type), op_of(op), comm_of(comm))))
FORTRAN(reduce_scatter_block, (void* in, void* out, MPI_Fint* n, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm,
        MPI_Fint* error),
        SERVED(MPI_Reduce_scatter_block(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm)),
               reduce_scatter_block(of_c(in), of_c(out), *n, type_of(type), op_of(op), comm_of(comm))))
FORTRAN(barrier, (MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Barrier(comm_of(comm)),
               barrier(comm_of(comm))))
FORTRAN(bcast, (void* both, MPI_Fint* n, MPI_Fint* type, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Bcast(of_c(both), *n, type_of(type), *root, comm_of(comm)),
               broadcast(of_c(both), *n, type_of(type), *root, comm_of(comm))))
FORTRAN(allgather, (void* in, MPI_Fint* n, MPI_Fint* type, void* out, MPI_Fint* out_n, MPI_Fint* out_type, MPI_Fint*
        comm, MPI_Fint* error),
        SERVED(MPI_Allgather(of_c(in), *n, type_of(type), of_c(out), *out_n, type_of(out_type), comm_of(comm)),
               all_gather({of_c(in), *n, type_of(type)}, {of_c(out), *out_n, type_of(out_type)}, comm_of(comm))))
FORTRAN(allgatherv, (void* in, MPI_Fint* n, MPI_Fint* type, void* out, MPI_Fint* counts, MPI_Fint* displs, MPI_Fint*
        out_type, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Allgatherv(of_c(in), *n, type_of(type), of_c(out), counts, displs, type_of(out_type),
               comm_of(comm)),
               all_gatherv({of_c(in), *n, type_of(type)}, {of_c(out), counts, displs, type_of(out_type)},
               comm_of(comm))))
FORTRAN(gather, (void* in, MPI_Fint* n, MPI_Fint* type, void* out, MPI_Fint* out_n, MPI_Fint* out_type, MPI_Fint*
        root, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Gather(of_c(in), *n, type_of(type), of_c(out), *out_n, type_of(out_type), *root, comm_of(comm)),
               gather({of_c(in), *n, type_of(type)}, {of_c(out), *out_n, type_of(out_type)}, *root, comm_of(comm))))
FORTRAN(gatherv, (void* in, MPI_Fint* n, MPI_Fint* type, void* out, MPI_Fint* counts, MPI_Fint* displs, MPI_Fint*
        out_type, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Gatherv(of_c(in), *n, type_of(type), of_c(out), counts, displs, type_of(out_type), *root,
               comm_of(comm)),
               gatherv({of_c(in), *n, type_of(type)}, {of_c(out), counts, displs, type_of(out_type)}, *root,
               comm_of(comm))))
FORTRAN(scatter, (void* in, MPI_Fint* n, MPI_Fint* type, void* out, MPI_Fint* out_n, MPI_Fint* out_type, MPI_Fint*
        root, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Scatter(of_c(in), *n, type_of(type), of_c(out), *out_n, type_of(out_type), *root, comm_of(comm)),
               scatter({of_c(in), *n, type_of(type)}, {of_c(out), *out_n, type_of(out_type)}, *root, comm_of(comm))))
FORTRAN(scatterv, (void* in, MPI_Fint* counts, MPI_Fint* displs, MPI_Fint* type, void* out, MPI_Fint* out_n, MPI_Fint*
        out_type, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Scatterv(of_c(in), counts, displs, type_of(type), of_c(out), *out_n, type_of(out_type), *root,
               comm_of(comm)),
               scatterv({of_c(in), counts, displs, type_of(type)}, {of_c(out), *out_n, type_of(out_type)}, *root,
               comm_of(comm))))
FORTRAN(alltoall, (void* in, MPI_Fint* n, MPI_Fint* type, void* out, MPI_Fint* out_n, MPI_Fint* out_type, MPI_Fint*
        comm, MPI_Fint* error),
        SERVED(MPI_Alltoall(of_c(in), *n, type_of(type), of_c(out), *out_n, type_of(out_type), comm_of(comm)),
               all_to_all({of_c(in), *n, type_of(type)}, {of_c(out), *out_n, type_of(out_type)}, comm_of(comm))))
FORTRAN(alltoallv, (void* in, MPI_Fint* counts, MPI_Fint* displs, MPI_Fint* type, void* out, MPI_Fint* out_counts,
        MPI_Fint* out_displs, MPI_Fint* out_type, MPI_Fint* comm, MPI_Fint* error),
        SERVED(MPI_Alltoallv(of_c(in), counts, displs, type_of(type), of_c(out), out_counts, out_displs,
               type_of(out_type), comm_of(comm)),
               all_to_all_v({of_c(in), counts, displs, type_of(type)}, {of_c(out), out_counts, out_displs,
               type_of(out_type)}, comm_of(comm))))

#pragma GCC visibility pop
}

#elif defined(MPICH_VERSION)

extern "C" {
#pragma GCC visibility push(default)

// `error` is null where a program leaves it out.
void mpi_init_f08_(MPI_Fint* error) {
  int const code = MPI_Init(nullptr, nullptr);
  if (error != nullptr) *error = code;
}
void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  int const code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (error != nullptr) *error = code;
}
void mpi_finalize_f08_(MPI_Fint* error) {
  int const code = MPI_Finalize();
  if (error != nullptr) *error = code;
}
void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  int const code = MPI_Barrier(PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

#pragma GCC visibility pop
}

#endif
