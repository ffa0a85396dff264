// SPDX-License-Identifier: BSL-1.0
/// @file
/// The `vendor` algorithm over MPI: the MPI library's own collective with the built-in operation and datatype, if there
/// are any, otherwise with an operation made for the call. MPI passes to such an operation no context but the datatype,
/// so the call is an attribute of the datatype: functors may have state, and calls may run at the same time.
#pragma once

#include <algorithm>
#include <climits>
#include <exception>
#include <string>

#include "../../core/error.hpp"
#include "../../core/small_vector.hpp"
#include "mpi_state.hpp"
#include "mpi_vendor.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// MPI counts elements with int.
inline int count_of(std::size_t n) {
  if (n > static_cast<std::size_t>(INT_MAX))
    throw argument_error("colligo: vendor: " + std::to_string(n) + " elements are more than MPI's int can count");
  return static_cast<int>(n);
}

/// Counts and displacements of a v-collective, in elements.
struct int_blocks {
  small_vector<int> counts, first;
  bool too_long = false;   ///< what int can not count is 0 here

  int_blocks() = default;
  [[gnu::cold]] explicit int_blocks(blocks const& block) {
    auto const add = [&](small_vector<int>& to, std::size_t n) {
      bool const fits = std::cmp_less_equal(n, INT_MAX);
      too_long |= !fits, to.push_back(fits ? static_cast<int>(n) : 0);
    };
    for (int i = 0; i < block.parts; ++i) add(counts, block[i].size()), add(first, block[i].first - block.whole.first);
  }
};

/// A call of one of the MPI library's collectives: blocking, non-blocking (started) or persistent.
class vendor_call : public moving_step {
 public:
  enum class manner { blocking, started, persistent };

  vendor_call(mpi_state& state, call const& call, manner how);
  COLLIGO_BODY ~vendor_call() override;
  vendor_call(vendor_call const&) = delete;
  vendor_call& operator=(vendor_call const&) = delete;

  void run();
  COLLIGO_BODY void begin(std::span<operand const>, list_kind) override;
  COLLIGO_BODY bool advance() override;

 private:
  static int key();
  static void combine(void* in, void* in_out, int* n, MPI_Datatype* type);
  void make_operation();
  /// The call in its three forms, with the same arguments.
  template <class Blocking, class Started, class Persistent, class... Arguments>
  void make(char const* name, Blocking blocking, Started started, Persistent persistent, Arguments... arguments);
  /// run(offset in bytes, elements) for each segment that MPI's int can count. For collectives element by element.
  template <class Run>
  void in_segments(Run run) const;
  void call_reduction();
  void call_gathering();
  void call_all_to_all();
  void rethrow();
  /// An all_to_all_v is never MPI_IN_PLACE, of which a rank without elements can not know, and which Open MPI 4.1's
  /// MPI_Ialltoallv gets wrong.
  void copy_input() {
    if (call_.what != collective::all_to_all_v || call_.in.data != call_.out.data) return;
    input_.resize(call_.of->bytes(call_.in.covers.size()));
    copy_bytes(call_.in.data, input_.size(), input_.data());
  }

  mpi_state& state_;
  call const& call_;
  manner how_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  bool made_type_ = false, made_op_ = false;
  int_blocks ints_, out_ints_;   ///< out_ints_: of the second vector of an all_to_all_v
  int too_long_ = 0;                ///< for int; of an all_to_all_v on any rank
  small_vector<MPI_Request> requests_;
  small_vector<std::byte> input_;   ///< of an all_to_all_v in place
  std::exception_ptr thrown_;    ///< by the functor
};

[[gnu::cold]] COLLIGO_BODY vendor_call::vendor_call(mpi_state& state, call const& call, manner how)
    : state_(state), call_(call), how_(how) {
  vendor_operations const& known = *mpi::element_of(call).vendor;
  type_ = known.type();
  bool const reduces = combines(call.what);
  if (reduces && type_ != MPI_DATATYPE_NULL) op_ = known.operation();
  bool const own = type_ == MPI_DATATYPE_NULL || (reduces && op_ == MPI_OP_NULL);
  if (own) {
    check_mpi(MPI_Type_contiguous(static_cast<int>(call.of->size), MPI_BYTE, &type_), "MPI_Type_contiguous");
    made_type_ = true;
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  if (reduces && op_ == MPI_OP_NULL) make_operation();
  if (how != manner::blocking) requests_.reserve(2 + call.vector.whole.size() / (longest_segment / call.of->size + 1));
  using enum collective;
  if (has_counts(call.what)) ints_ = int_blocks(call.vector);
  if (call.what == all_to_all_v) {
    auto const [in, out] = vectors_of(call.what, call.vector, state.rank());
    ints_ = int_blocks(in), out_ints_ = int_blocks(out);
  }
  too_long_ = ints_.too_long || out_ints_.too_long;
}

[[gnu::cold]] COLLIGO_BODY int vendor_call::key() {
  static int const made = [] {
    int k = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &k, nullptr), "MPI_Type_create_keyval");
    return k;
  }();
  return made;
}

[[gnu::cold]] COLLIGO_BODY void vendor_call::make_operation() {
  check_mpi(MPI_Type_set_attr(type_, key(), this), "MPI_Type_set_attr");
  check_mpi(MPI_Op_create(&combine, call_.of->commutes, &op_), "MPI_Op_create");
  made_op_ = true;
}

// MPI's callback: `in` has the values of lower ranks.
COLLIGO_BODY void vendor_call::combine(void* in, void* in_out, int* n, MPI_Datatype* type) {
  void* value = nullptr;
  int found = 0;
  MPI_Type_get_attr(*type, key(), &value, &found);
  auto& me = *static_cast<vendor_call*>(value);
  if (me.thrown_) return;   // exceptions must not cross MPI
  auto* const before = std::exchange(requests_of_rank::of_vendor, &me.state_);
  try {
    auto* const right = static_cast<std::byte*>(in_out);
    me.call_.of->combine(me.call_.op, static_cast<std::byte const*>(in), right, right, static_cast<std::size_t>(*n));
  } catch (...) {
    me.thrown_ = std::current_exception();
  }
  requests_of_rank::of_vendor = before;
}

template <class Blocking, class Started, class Persistent, class... Arguments>
void vendor_call::make(char const* name, Blocking blocking, Started started, Persistent persistent,
                       Arguments... arguments) {
  if (how_ == manner::blocking) return check_mpi(blocking(arguments...), name);
  MPI_Request& request = requests_.push_back(MPI_REQUEST_NULL);
  if constexpr (!std::is_null_pointer_v<Persistent>)
    if (how_ == manner::persistent) return check_mpi(persistent(arguments..., MPI_INFO_NULL, &request), name);
  check_mpi(started(arguments..., &request), name);
}

// MPI 4 introduced persistent collectives; those of MPICH 4.0 fail, or gather wrong values (seen with 4.0.2). Without
// them a start makes a new non-blocking call.
#if MPI_VERSION >= 4 && !(defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000)
#define COLLIGO_MPI(name, i_name) "MPI_" #name, MPI_##name, MPI_I##i_name, MPI_##name##_init
inline constexpr bool mpi_has_persistent = true;
#else
#define COLLIGO_MPI(name, i_name) "MPI_" #name, MPI_##name, MPI_I##i_name, nullptr
inline constexpr bool mpi_has_persistent = false;
#endif

[[gnu::cold]] COLLIGO_BODY vendor_call::~vendor_call() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised) return;
  if (how_ == manner::persistent && mpi_has_persistent)   // other requests are complete, or the parent's of a fork()
    for (MPI_Request& r : requests_)
      if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  if (made_op_) MPI_Op_free(&op_);
  if (made_type_) MPI_Type_free(&type_);
}

template <class Run>
void vendor_call::in_segments(Run run) const {
  std::size_t const n = call_.vector.whole.size();
  std::size_t at = 0;
  do {
    std::size_t const segment = std::min(n - at, longest_segment / call_.of->size + 1);
    run(call_.of->bytes(at), static_cast<int>(segment));
    at += segment;
  } while (at < n);
}

[[gnu::cold]] COLLIGO_BODY void vendor_call::call_reduction() {
  using enum collective;
  MPI_Comm const comm = state_.wire().comm();
  bool const at_root = state_.rank() == call_.root,
             is_in_place = call_.in.data == call_.out.data && (call_.what != reduce || at_root);
  std::byte const* const in = call_.in.data;
  std::byte* const out = call_.out.data;
  if (call_.what == reduce_scatter)
    return make(COLLIGO_MPI(Reduce_scatter, reduce_scatter), in, out, ints_.counts.data(), type_, op_, comm);
  if (call_.what == reduce_scatter_block)
    return make(COLLIGO_MPI(Reduce_scatter_block, reduce_scatter_block), in, out, count_of(call_.out.covers.size()),
                type_, op_, comm);
  in_segments([&](std::size_t at, int n) {
    void const* const from = is_in_place ? MPI_IN_PLACE : in + at;
    if (call_.what == all_reduce) make(COLLIGO_MPI(Allreduce, allreduce), from, out + at, n, type_, op_, comm);
    if (call_.what == reduce)
      make(COLLIGO_MPI(Reduce, reduce), from, at_root ? out + at : nullptr, n, type_, op_, call_.root, comm);
    if (call_.what == scan) make(COLLIGO_MPI(Scan, scan), from, out + at, n, type_, op_, comm);
    if (call_.what == exclusive_scan) make(COLLIGO_MPI(Exscan, exscan), from, out + at, n, type_, op_, comm);
  });
}

[[gnu::cold]] COLLIGO_BODY void vendor_call::call_gathering() {
  using enum collective;
  MPI_Comm const comm = state_.wire().comm();
  std::byte const* const in = call_.in.data;
  std::byte* const out = call_.out.data;
  bool const scatters = call_.what == scatter || call_.what == scatterv;
  int const root = call_.root;
  // A function, because it throws for long vectors, which reductions, that come here too, send in segments.
  auto const mine = [&] { return count_of(scatters ? call_.out.covers.size() : call_.in.covers.size()); };
  int const *const counts = ints_.counts.data(), *const first = ints_.first.data();
  // In place: the rank's own block lies at its place among all blocks.
  std::size_t const own = call_.of->bytes(call_.vector[state_.rank()].first);
  bool const all_here = call_.what == all_gather || call_.what == all_gatherv || state_.rank() == root,
             is_in_place = all_here && in && (scatters ? out == in + own : in == out + own);
  void const* const from = is_in_place && !scatters ? MPI_IN_PLACE : in;
  void* const into = is_in_place && scatters ? MPI_IN_PLACE : out;
  switch (call_.what) {
    case barrier: return make(COLLIGO_MPI(Barrier, barrier), comm);
    case broadcast:
      return in_segments(
          [&](std::size_t at, int n) { make(COLLIGO_MPI(Bcast, bcast), out + at, n, type_, root, comm); });
    case all_gather: return make(COLLIGO_MPI(Allgather, allgather), from, mine(), type_, out, mine(), type_, comm);
    case all_gatherv:
      return make(COLLIGO_MPI(Allgatherv, allgatherv), from, mine(), type_, out, counts, first, type_, comm);
    case gather: return make(COLLIGO_MPI(Gather, gather), from, mine(), type_, out, mine(), type_, root, comm);
    case gatherv:
      return make(COLLIGO_MPI(Gatherv, gatherv), from, mine(), type_, out, counts, first, type_, root, comm);
    case scatter: return make(COLLIGO_MPI(Scatter, scatter), in, mine(), type_, into, mine(), type_, root, comm);
    case scatterv:
      return make(COLLIGO_MPI(Scatterv, scatterv), in, counts, first, type_, into, mine(), type_, root, comm);
    case all_to_all: case all_to_all_v: return call_all_to_all();
    default: return call_reduction();
  }
}

[[gnu::cold]] COLLIGO_BODY void vendor_call::call_all_to_all() {
  bool const is_in_place = call_.in.data == call_.out.data;
  if (call_.what == collective::all_to_all) {
    int const n = count_of(call_.vector[0].size());
    void const* const in = is_in_place ? MPI_IN_PLACE : call_.in.data;
    return make(COLLIGO_MPI(Alltoall, alltoall), in, n, type_, call_.out.data, n, type_, state_.wire().comm());
  }
  // A rank knows its own lengths alone, and all have to throw. A request can not wait for that first: then a rank whose
  // displacements do not fit sends and receives its blocks, so that the others' calls complete.
  make(COLLIGO_MPI(Allreduce, allreduce), MPI_IN_PLACE, &too_long_, 1, MPI_INT, MPI_MAX, state_.wire().comm());
  if (how_ == manner::blocking) rethrow();
  void const* const in = is_in_place ? input_.data() : call_.in.data;
  make(COLLIGO_MPI(Alltoallv, alltoallv), in, ints_.counts.data(), ints_.first.data(), type_, call_.out.data,
       out_ints_.counts.data(), out_ints_.first.data(), type_, state_.wire().comm());
}

[[gnu::cold]] COLLIGO_BODY void vendor_call::rethrow() {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (too_long_ != 0)
    throw algorithm_error(where(state_, call_.what) + "vendor: a rank has more elements than MPI's int can count");
}

COLLIGO_BODY void vendor_call::run() {
  if (how_ == manner::blocking) {
    copy_input();
    call_gathering();
    return rethrow();
  }
  begin({}, list_kind::plain);
  for (unsigned polls = 0; !advance();) {
    if (!state_.requests().progress_if_free()) state_.yield_core(polls);
    if (state_.on_wait) state_.on_wait->waits();
  }
}

COLLIGO_BODY void vendor_call::begin(std::span<operand const>, list_kind) {
  thrown_ = nullptr;
  copy_input();
  bool const keeps = how_ == manner::persistent && mpi_has_persistent;
  if (!keeps) requests_.clear();
  if (requests_.empty()) call_gathering();
  if (keeps) check_mpi(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
}

COLLIGO_BODY bool vendor_call::advance() {
  int done = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
  if (done) rethrow();
  return done != 0;
}

#undef COLLIGO_MPI

COLLIGO_BODY void run_vendor_call(mpi_state& state, call const& call, bool blocking) {
  using manner = vendor_call::manner;
  vendor_call(state, call, blocking && !state.watches_waits() ? manner::blocking : manner::started).run();
}

COLLIGO_BODY owner<moving_step> vendor_request(mpi_state& state, call const& call, bool persistent) {
  using manner = vendor_call::manner;
  return make_owner<vendor_call>(state, call, persistent ? manner::persistent : manner::started);
}

}  // namespace colligo
