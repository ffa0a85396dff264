// SPDX-License-Identifier: BSL-1.0
// A program's calls of MPI collectives, served by this library: what entries.cpp and fortran.cpp, which have MPI's
// names, call. Counts are numbers of elements of the types beside them.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>

namespace drop_in {

/// Instead of an MPI error code: the call has to be passed on.
inline constexpr int not_served = INT_MIN;

/// Counts and displacements as MPI has them, int or MPI_Count and MPI_Aint.
struct list_of_counts {
  void const* at = nullptr;
  bool is_wide = false;
  list_of_counts(int const* counts) : at(counts) {}
#if MPI_VERSION >= 4
  list_of_counts(MPI_Count const* counts) : at(counts), is_wide(true) {}
#endif
  std::ptrdiff_t operator[](int i) const {
    return is_wide ? static_cast<std::ptrdiff_t>(static_cast<MPI_Count const*>(at)[i])
                   : static_cast<int const*>(at)[i];
  }
};

/// One vector of a call.
struct vector {
  void const* at;
  std::ptrdiff_t count;
  MPI_Datatype type;
};
/// A vector with a block for each rank. Without displacements block i begins i * count elements after the first one.
struct vector_of_blocks {
  void const* at;
  list_of_counts counts, displacements;
  MPI_Datatype type;
};

int all_reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int exclusive_scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int reduce_scatter(void const* in, void* out, list_of_counts counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int reduce_scatter_block(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int barrier(MPI_Comm comm);
int broadcast(void* both, std::ptrdiff_t n, MPI_Datatype type, int root, MPI_Comm comm);
int all_gather(vector in, vector out, MPI_Comm comm);
int all_gatherv(vector in, vector_of_blocks out, MPI_Comm comm);
int gather(vector in, vector out, int root, MPI_Comm comm);
int gatherv(vector in, vector_of_blocks out, int root, MPI_Comm comm);
int scatter(vector in, vector out, int root, MPI_Comm comm);
int scatterv(vector_of_blocks in, vector out, int root, MPI_Comm comm);
int all_to_all(vector in, vector out, MPI_Comm comm);
int all_to_all_v(vector_of_blocks in, vector_of_blocks out, MPI_Comm comm);

/// After MPI_Init: whether this library fits the program's MPI, and all ranks have the same settings. Collective.
void begin();
/// Before MPI_Finalize: the report. Collective.
void end();

/// Why calls are passed on.
enum class reason { none, off, not_begun, wrong_mpi, settings_differ, no_communicator, intercommunicator, one_rank, arguments,
                    operation, no_state };
inline constexpr int reasons = 11;

/// The times of calls, if a report is wanted.
class timed_call {
 public:
  explicit timed_call(int collective);
  /// The call is served, with this code, or is passed on now.
  bool served(int code);
  ~timed_call();

 private:
  int collective_;
  bool served_ = false;
  double begun_;
};

}  // namespace drop_in
