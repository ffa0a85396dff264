// SPDX-License-Identifier: BSL-1.0
// A program's calls of MPI collectives, served by this library: what entries.cpp, which has MPI's names,
// calls. Counts are numbers of elements of the types beside them.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drop_in {

/// Instead of an MPI error code: the call has to be passed on.
inline constexpr int not_served = INT_MIN;

/// Counts and displacements as MPI has them, of int or of 64 bits.
class list_of_counts {
 public:
  template <class T>
  list_of_counts(T const* at) : at_(at), is_wide_(sizeof(T) == sizeof(std::int64_t)) {
    static_assert(sizeof(T) == sizeof(std::int64_t) || sizeof(T) == sizeof(int));
  }
  explicit operator bool() const { return at_ != nullptr; }
  bool operator==(list_of_counts const& other) const { return at_ == other.at_; }
  std::ptrdiff_t operator[](int i) const {
    if (!is_wide_) return static_cast<int const*>(at_)[i];
    std::int64_t value;   // a long long or a long
    std::memcpy(&value, static_cast<std::byte const*>(at_) + static_cast<std::size_t>(i) * sizeof value, sizeof value);
    return value;
  }

 private:
  void const* at_;
  bool is_wide_;
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

/// The collectives, as blocking calls or as requests. They return MPI's code, or `not_served`.
class served {
 public:
  /// `request`: where the program wants it; null for a blocking call.
  explicit served(MPI_Request* request = nullptr) : request_(request) {}

  int all_reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) const;
  int reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) const;
  int scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) const;
  int exclusive_scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) const;
  int reduce_scatter(void const* in, void* out, list_of_counts counts, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) const;
  int reduce_scatter_block(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) const;
  int barrier(MPI_Comm comm) const;
  int broadcast(void* both, std::ptrdiff_t n, MPI_Datatype type, int root, MPI_Comm comm) const;
  int all_gather(vector in, vector out, MPI_Comm comm) const;
  int all_gatherv(vector in, vector_of_blocks out, MPI_Comm comm) const;
  int gather(vector in, vector out, int root, MPI_Comm comm) const;
  int gatherv(vector in, vector_of_blocks out, int root, MPI_Comm comm) const;
  int scatter(vector in, vector out, int root, MPI_Comm comm) const;
  int scatterv(vector_of_blocks in, vector out, int root, MPI_Comm comm) const;
  int all_to_all(vector in, vector out, MPI_Comm comm) const;
  int all_to_all_v(vector_of_blocks in, vector_of_blocks out, MPI_Comm comm) const;

 private:
  MPI_Request* request_;
};

/// After MPI_Init, if that has succeeded: whether this library fits the program's MPI, and all ranks have the same
/// settings. Collective. Returns the code.
int begin(int code);
/// Before MPI_Finalize: the report. Collective.
void end();
/// Makes progress, and tells MPI if the request is complete. For MPICH.
void look_at(MPI_Request of);
/// Ends what makes progress with them.
void end_progress();

/// A communicator that this thread frees: calls on it, by delete callbacks of its attributes, are passed on. A state
/// made then would never be freed, and found when the handle comes again.
class being_freed {
 public:
  explicit being_freed(MPI_Comm const* comm) : comm_(comm ? *comm : MPI_COMM_NULL) { latest = this; }
  ~being_freed() { latest = outer_; }
  being_freed(being_freed const&) = delete;
  static bool any() { return latest != nullptr; }
  static bool has(MPI_Comm comm) {
    for (being_freed const* at = latest; at; at = at->outer_)
      if (at->comm_ == comm) return true;
    return false;
  }

 private:
  static inline thread_local being_freed const* latest = nullptr;
  MPI_Comm comm_;
  being_freed const* outer_ = latest;
};

/// A report is wanted.
inline bool reports = false;
/// The time of a call, for the report.
class timed_call {
 public:
  timed_call() {
    if (reports) begun_ = PMPI_Wtime();
  }
  ~timed_call() {
    if (reports) count();
  }

 private:
  void count() const;
  double begun_ = 0;
};

}  // namespace drop_in

/// The body of an entry: returns what the call returns if it is served, or passes it on. `request`: null, or where the
/// program wants its request.
#define SERVED(request, call, ...)                                \
  drop_in::timed_call const timed_call;                           \
  int const code = drop_in::served(request).__VA_ARGS__;          \
  return code != drop_in::not_served ? code : next_##call
/// The same of a call that makes a persistent request. All of them are passed on.
#define NOT_SERVED(what, call)                              \
  drop_in::timed_call const timed_call;                     \
  drop_in::pass_on_persistent(colligo::collective::what);   \
  return next_##call
