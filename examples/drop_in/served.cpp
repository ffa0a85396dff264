// SPDX-License-Identifier: BSL-1.0
// The collectives, by this library; and which calls are passed on. What decides that is the same on all ranks of a
// call, or makes it a wrong call, which MPI refuses.
#include "requests.hpp"
#include "settings.hpp"

#include <colligo/transport/memory/shared_host.hpp>

namespace drop_in {
namespace {

using colligo::byte_calls;
using colligo::collective;
using colligo::mpi_communicator;

colligo::registered_element const& plain_bytes() {
  static auto const element = colligo::registered_element::of<std::byte>();
  return element;
}
void require(bool is_right) {
  if (!is_right) throw refused{};
}

/// f(), which makes a call of this library. If it throws before that, other ranks may be in theirs: they are told. Not
/// if it refuses: of a call that MPI refuses it tells nobody, so a program may make it alone, or once more.
template <class F>
void in_step(collective what, MPI_Comm comm, F f) {
  auto& state = colligo::detail::mpi_endpoint(comm);
  colligo::detail::refused const call{state, what, (state.before() & colligo::detail::agreement) != 0};
  std::uint32_t const before = colligo::detail::calls_of(call);
  try {
    f();
  } catch (refused const&) {
    throw;
  } catch (...) {
    bool const counts_are_known = what != collective::gatherv && what != collective::scatterv;   // else a call for them
    colligo::detail::refuse_rest(call, before, counts_are_known ? 1 : 2);
    throw;
  }
}

/// An input where its result comes is forbidden: MPICH looks, and its error is wanted; Open MPI takes it.
void refuse_alias_if_mpi_looks() {
  static bool const looks = [] {
    int both = 0;
    return MPI_Allreduce(&both, &both, 1, MPI_INT, MPI_SUM, self()) != MPI_SUCCESS;
  }();
  require(!looks);
}
void require_no_alias(bool is_aliased) {
  if (is_aliased) refuse_alias_if_mpi_looks();
}
/// The same of a vector that is a block of another one, `displacement` elements behind its beginning.
void require_no_alias(vector const& own, void const* all, std::ptrdiff_t displacement, MPI_Datatype type) {
  if (own.count > 0 && own.type == type)
    require_no_alias(own.at == static_cast<std::byte const*>(all) + displacement * layout::of(type).size);
}

/// Ranks of another MPI_COMM_WORLD may have no such library, or other settings. All ranks of `comm` see some.
bool is_of_one_world(MPI_Comm comm) {
  MPI_Group all, ours, others;
  int n = 0;
  PMPI_Comm_group(comm, &all);
  PMPI_Comm_group(MPI_COMM_WORLD, &ours);
  PMPI_Group_difference(all, ours, &others);
  PMPI_Group_size(others, &n);
  for (MPI_Group* const group : {&all, &ours, &others})
    if (*group != MPI_GROUP_EMPTY) PMPI_Group_free(group);
  return n == 0;
}
/// At the first call on a communicator: whether its calls are served. MPI's errors meanwhile are not the program's.
reason decide(MPI_Comm comm) {
  int is_inter = 0, p = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) return reason::intercommunicator;
  PMPI_Comm_size(comm, &p);
  if (p == 1) return reason::one_rank;
  if (!is_of_one_world(comm)) return reason::other_world;
  MPI_Errhandler handler;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  reason why = reason::none;
  try {
    colligo::prepare(mpi_communicator(comm));
  } catch (...) {   // what it fails with, it fails with on all ranks
    why = reason::no_state;
  }
  PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);
  return why;
}

/// Whether a request is served, on a communicator whose calls are. Its start must not wait for other ranks, and its
/// progress must not call MPI.
reason reason_for_request(collective what, MPI_Comm comm) {
  if (what == collective::gatherv || what == collective::scatterv) return reason::request_counts;
  auto const& state = colligo::detail::mpi_state::of(comm);
  std::string const& algorithm = state.setting(what);
  bool const by_messages = algorithm.find("vendor") != algorithm.npos || algorithm.find("@messages") != algorithm.npos,
             by_files = state.table_setting().is_set() || state.reduce_tree_setting().is_set() ||
                        state.broadcast_tree_setting().is_set();
  if ((state.before() & (colligo::detail::agreement | colligo::detail::adaptation)) != 0 || by_messages || by_files)
    return reason::request_messages;
  try {
    auto const* const host = state.shared();
    return host && host->whole() ? reason::none : reason::request_messages;
  } catch (colligo::error const&) {   // COLLIGO_SHARED_MEMORY=required, which blocking calls say
    return reason::request_messages;
  }
}

/// What a thread keeps of its latest communicators: what MPI is asked otherwise takes as long as a short call.
struct kept_communicators {
  std::array<std::optional<mpi_communicator>, 4> latest;
  unsigned next, freed_before;
};
thread_local kept_communicators kept_by_thread{};

/// The communicator of a call that can be served; empty if it is passed on.
[[gnu::noinline]] std::optional<mpi_communicator> accepted_anew(collective what, MPI_Comm comm, bool is_request) {
  if (reason const why = settings::reason_for(what); why != reason::none) return count(what, why), std::nullopt;
  if (comm == MPI_COMM_NULL) return count(what, reason::no_communicator), std::nullopt;
  if (being_freed::has(comm)) return count(what, reason::being_freed), std::nullopt;
  static int const key = [] {   // of what was decided
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  void* kept = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key, &kept, &found);
  if (!found && is_request) return count(what, reason::first_request), std::nullopt;
  reason const why = found ? static_cast<reason>(reinterpret_cast<std::intptr_t>(kept)) : decide(comm);
  if (!found) PMPI_Comm_set_attr(comm, key, reinterpret_cast<void*>(static_cast<std::intptr_t>(why)));
  if (why != reason::none) return count(what, why), std::nullopt;
  auto& [latest, next, freed_before] = kept_by_thread;
  return latest[next++ % latest.size()] = mpi_communicator(comm);
}
inline std::optional<mpi_communicator> accepted(collective what, MPI_Comm comm, bool is_request) {
  // The library hears of each communicator that is freed, whose handle may come again.
  auto& [latest, next, freed_before] = kept_by_thread;
  unsigned const freed = colligo::detail::mpi_states_freed.load(std::memory_order_acquire);
  if (freed != freed_before) [[unlikely]] latest = {}, freed_before = freed;
  else if (settings::reason_for(what) == reason::none && !being_freed::any())
    for (auto const& kept : latest)
      if (kept && *kept == comm) return kept;
  return accepted_anew(what, comm, is_request);
}

/// A call that is served, while it is made. A template, so that blocking calls have no code of requests.
template <bool IsRequest>
struct served_call {
  perhaps_made& made;
  mpi_communicator const& group;
  colligo::request* started = nullptr;

  /// run(calls) makes the call.
  template <class Run>
  void make(Run run) const {
    if constexpr (IsRequest) {
      made.own_types();
      *started = run(colligo::ibyte_calls(group));
    } else run(byte_calls(group));
  }
};

template <class F>
[[gnu::noinline]] int serve_request(MPI_Request* request, collective what, MPI_Comm comm, F const& f) {
  auto const group = accepted(what, comm, true);
  if (!group) return not_served;
  reason why = reason_for_request(what, comm);
  if (why == reason::none && !begins_progress()) why = reason::request;
  if (why != reason::none) return count(what, why), not_served;
  turn const mine;
  int const code = answered(what, comm, [&] {
    auto open = std::make_unique<open_request>(what, comm);
    in_step(what, comm, [&] { f(served_call<true>{open->made, *group, &open->started}); });
    open_request::give(std::move(open), request);
  });
  if (code != not_served) count(what, reason::none);
  return code;
}
/// Makes a call by f(served_call), which may refuse, and whose exceptions become errors of MPI.
template <class F>
int serve(MPI_Request* request, collective what, MPI_Comm comm, F const& f) {
  if (request) return serve_request(request, what, comm, f);
  turn const mine;
  auto const group = accepted(what, comm, false);
  if (!group) return not_served;
  int const code = answered(what, comm, [&] {
    in_step(what, comm, [&] {
      perhaps_made made;
      f(served_call<false>{made, *group});
      made.write();
    });
  });
  if (code != not_served) count(what, reason::none);
  return code;
}

/// Calls that combine n elements, of which this rank gets `results`: run(calls, in, out, element).
template <bool IsRequest, class Run>
void combine(served_call<IsRequest> const& call, void const* in, void* out, std::ptrdiff_t n, std::ptrdiff_t results,
             MPI_Datatype type, MPI_Op op, Run run) {
  bool const is_aliased = in == out && results != 0, is_in_place = in == MPI_IN_PLACE || is_aliased;
  require_no_alias(is_aliased);
  void const* from = is_in_place ? out : in;
  require(n >= 0);
  auto element = built_in(type, op);
  if (!element) {
    if (IsRequest) throw refused{reason::request_operation};   // it would run in a thread that is not the program's
    made_for_call& made = call.made();
    made.by_mpi = reduction::of(type, op);
    if (!made.by_mpi) throw refused{reason::operation};
    element = made.by_mpi->element();
    if (!made.by_mpi->is_plain()) {
      made.in.emplace(from, n, type, true, region{}, made.by_mpi->spacing());
      made.out.emplace(out, results, type, false, region{}, made.by_mpi->spacing());
      return call.make([&](auto const& calls) { return run(calls, made.in->bytes(), made.out->bytes(), *element); });
    }
  }
  if (n > 0) require_buffer(from, true);
  if (results > 0) require_buffer(out, true);
  auto const size = static_cast<std::ptrdiff_t>(element->size());
  auto* const first = static_cast<std::byte*>(const_cast<void*>(from));
  auto* const result = static_cast<std::byte*>(out);
  if (!is_in_place && region{first, first + n * size}.overlaps({result, result + results * size})) {
    memory& copy = call.made().copy = bytes(n * size);
    std::memcpy(copy.get(), from, static_cast<std::size_t>(n * size));
    from = copy.get();
  }
  call.make([&](auto const& calls) {
    return run(calls, is_in_place ? colligo::in_place_bytes : from, out, *element);
  });
}

}  // namespace

int served::all_reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) const {
  return serve(request_, collective::all_reduce, comm, [&](auto const& call) {
    combine(call, in, out, n, n, type, op, [&](auto const& calls, void const* from, void* to, auto const& element) {
      return calls.all_reduce(from, to, n, element);
    });
  });
}
int served::reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm) const {
  return serve(request_, collective::reduce, comm, [&](auto const& call) {
    bool const is_root = call.group.rank() == root;
    require(root >= 0 && root < call.group.size() && (is_root || in != MPI_IN_PLACE));
    if (is_root && in == out && n > 0) {   // Open MPI looks here alone
      static bool const looks = [] {
        int both = 0;
        return MPI_Reduce(&both, &both, 1, MPI_INT, MPI_SUM, 0, self()) != MPI_SUCCESS;
      }();
      require(!looks);
    }
    combine(call, in, out, n, is_root ? n : 0, type, op,
            [&](auto const& calls, void const* from, void* to, auto const& element) {
              return calls.reduce(from, to, n, element, root);
            });
  });
}
int served::scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) const {
  return serve(request_, collective::scan, comm, [&](auto const& call) {
    combine(call, in, out, n, n, type, op, [&](auto const& calls, void const* from, void* to, auto const& element) {
      return calls.scan(from, to, n, element);
    });
  });
}
int served::exclusive_scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) const {
  return serve(request_, collective::exclusive_scan, comm, [&](auto const& call) {
    require_no_alias(in == out && n > 0);   // on rank 0 too, which has no result
    combine(call, in, out, n, call.group.rank() == 0 ? 0 : n, type, op,
            [&](auto const& calls, void const* from, void* to, auto const& element) {
              return calls.exclusive_scan(from, to, n, element);
            });
  });
}
int served::reduce_scatter(void const* in, void* out, list_of_counts counts, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) const {
  return serve(request_, collective::reduce_scatter, comm, [&](auto const& call) {
    require(static_cast<bool>(counts));
    std::vector<std::ptrdiff_t> shares;
    std::ptrdiff_t n = 0;
    for (int i = 0; i < call.group.size(); ++i) {
      require(counts[i] >= 0);
      shares.push_back(counts[i]), n += counts[i];
    }
    combine(call, in, out, n, counts[call.group.rank()], type, op,
            [&](auto const& calls, void const* from, void* to, auto const& element) {
              return calls.reduce_scatter(from, to, shares, element);
            });
  });
}
int served::reduce_scatter_block(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm) const {
  return serve(request_, collective::reduce_scatter_block, comm, [&](auto const& call) {
    combine(call, in, out, n * call.group.size(), n, type, op,
            [&](auto const& calls, void const* from, void* to, auto const& element) {
              return calls.reduce_scatter_block(from, to, n, element);
            });
  });
}

int served::barrier(MPI_Comm comm) const {
  return serve(request_, collective::barrier, comm, [&](auto const& call) {
    call.make([](auto const& calls) { return calls.barrier(); });
  });
}
int served::broadcast(void* both, std::ptrdiff_t n, MPI_Datatype type, int root, MPI_Comm comm) const {
  return serve(request_, collective::broadcast, comm, [&](auto const& call) {
    require(root >= 0 && root < call.group.size());
    bool const is_root = call.group.rank() == root;
    moved_vector& all = (is_root ? call.made().in : call.made().out).emplace(both, n, type, is_root);
    call.make([&](auto const& calls) { return calls.broadcast(all.bytes(), all.size(), plain_bytes(), root); });
  });
}

int served::all_gather(vector in, vector out, MPI_Comm comm) const {
  return serve(request_, collective::all_gather, comm, [&](auto const& call) {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    int const p = call.group.size();
    auto& all = call.made().out.emplace(out.at, out.count * p, out.type, is_in_place);
    auto& own = call.made().in;
    if (in.count == out.count) require_no_alias(in, out.at, call.group.rank() * out.count, out.type);
    if (!is_in_place) own.emplace(in.at, in.count, in.type, true, all.as_it_lies());
    call.make([&](auto const& calls) {
      return calls.all_gather(own ? own->bytes() : colligo::in_place_bytes, all.bytes(), all.size() / p, plain_bytes());
    });
  });
}
int served::all_gatherv(vector in, vector_of_blocks out, MPI_Comm comm) const {
  return serve(request_, collective::all_gatherv, comm, [&](auto const& call) {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    auto& all = call.made().out_blocks.emplace(out, call.group.size(), is_in_place);
    auto& own = call.made().in;
    require_no_alias(in, out.at, out.displacements[call.group.rank()], out.type);
    if (!is_in_place) own.emplace(in.at, in.count, in.type, true, all.as_it_lies());
    call.make([&](auto const& calls) {
      return calls.all_gatherv(own ? own->bytes() : colligo::in_place_bytes, all.bytes(), all.places(), plain_bytes());
    });
  });
}
int served::gather(vector in, vector out, int root, MPI_Comm comm) const {
  return serve(request_, collective::gather, comm, [&](auto const& call) {
    int const p = call.group.size();
    require(root >= 0 && root < p);
    bool const is_root = call.group.rank() == root, is_in_place = is_root && in.at == MPI_IN_PLACE;
    auto &own = call.made().in, &all = call.made().out;
    if (is_root) all.emplace(out.at, out.count * p, out.type, is_in_place);
    if (is_root && in.count == out.count) require_no_alias(in, out.at, root * out.count, out.type);
    if (!is_in_place) own.emplace(in.at, in.count, in.type, true, is_root ? all->as_it_lies() : region{});
    std::ptrdiff_t const n = is_root ? all->size() / p : own->size();
    call.make([&](auto const& calls) {
      return calls.gather(own ? own->bytes() : colligo::in_place_bytes, all ? all->bytes() : nullptr, n, plain_bytes(),
                          root);
    });
  });
}
int served::gatherv(vector in, vector_of_blocks out, int root, MPI_Comm comm) const {
  return serve(request_, collective::gatherv, comm, [&](auto const& call) {
    require(root >= 0 && root < call.group.size());
    bool const is_root = call.group.rank() == root, is_in_place = is_root && in.at == MPI_IN_PLACE;
    auto& own = call.made().in;
    auto& all = call.made().out_blocks;
    if (is_root) all.emplace(out, call.group.size(), is_in_place);
    if (is_root) require_no_alias(in, out.at, out.displacements[root], out.type);
    if (!is_in_place) own.emplace(in.at, in.count, in.type, true, is_root ? all->as_it_lies() : region{});
    byte_calls(call.group).gatherv(own ? own->bytes() : colligo::in_place_bytes, own ? own->size() : all->size_of(root),
                                   all ? all->bytes() : nullptr, all ? all->places() : colligo::block_places{},
                                   plain_bytes(), root);   // no request
  });
}
int served::scatter(vector in, vector out, int root, MPI_Comm comm) const {
  return serve(request_, collective::scatter, comm, [&](auto const& call) {
    int const p = call.group.size();
    require(root >= 0 && root < p);
    bool const is_root = call.group.rank() == root, is_in_place = is_root && out.at == MPI_IN_PLACE;
    auto &own = call.made().out, &all = call.made().in;
    if (!is_in_place) own.emplace(out.at, out.count, out.type, false);
    if (is_root && in.count == out.count) require_no_alias(out, in.at, root * in.count, in.type);
    if (is_root) all.emplace(in.at, in.count * p, in.type, true, own ? own->as_it_lies() : region{});
    std::ptrdiff_t const n = is_root ? all->size() / p : own->size();
    call.make([&](auto const& calls) {
      return calls.scatter(all ? all->bytes() : nullptr, own ? own->bytes() : colligo::in_place_bytes, n, plain_bytes(),
                           root);
    });
  });
}
int served::scatterv(vector_of_blocks in, vector out, int root, MPI_Comm comm) const {
  return serve(request_, collective::scatterv, comm, [&](auto const& call) {
    require(root >= 0 && root < call.group.size());
    bool const is_root = call.group.rank() == root, is_in_place = is_root && out.at == MPI_IN_PLACE;
    auto& own = call.made().out;
    auto& all = call.made().in_blocks;
    if (!is_in_place) own.emplace(out.at, out.count, out.type, false);
    if (is_root) require_no_alias(out, in.at, in.displacements ? in.displacements[root] : 0, in.type);
    if (is_root) all.emplace(in, call.group.size(), true, own ? own->as_it_lies() : region{});
    byte_calls(call.group).scatterv(all ? all->bytes() : nullptr, all ? all->places() : colligo::block_places{},
                                    own ? own->bytes() : colligo::in_place_bytes,
                                    own ? own->size() : all->size_of(root), plain_bytes(), root);   // no request
  });
}
int served::all_to_all(vector in, vector out, MPI_Comm comm) const {
  return serve(request_, collective::all_to_all, comm, [&](auto const& call) {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    int const p = call.group.size();
    auto& got = call.made().out.emplace(out.at, out.count * p, out.type, is_in_place);
    auto& sent = call.made().in;
    require_no_alias(in.at == out.at && in.count == out.count && in.count > 0 && in.type == out.type);
    if (!is_in_place) sent.emplace(in.at, in.count * p, in.type, true, got.as_it_lies());
    call.make([&](auto const& calls) {
      return calls.all_to_all(sent ? sent->bytes() : colligo::in_place_bytes, got.bytes(), got.size() / p,
                              plain_bytes());
    });
  });
}
int served::all_to_all_v(vector_of_blocks in, vector_of_blocks out, MPI_Comm comm) const {
  return serve(request_, collective::all_to_all_v, comm, [&](auto const& call) {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    auto& got = call.made().out_blocks.emplace(out, call.group.size(), is_in_place);
    auto& sent = call.made().in_blocks;
    require_no_alias(in.at == out.at && in.counts == out.counts && in.type == out.type);
    if (!is_in_place) sent.emplace(in, call.group.size(), true, got.as_it_lies());
    call.make([&](auto const& calls) {
      return calls.all_to_all_v(sent ? sent->bytes() : colligo::in_place_bytes,
                                sent ? sent->places() : colligo::block_places{}, got.bytes(), got.places(),
                                plain_bytes());
    });
  });
}

}  // namespace drop_in
