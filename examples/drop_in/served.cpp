// SPDX-License-Identifier: BSL-1.0
// The collectives, by this library; and which calls are passed on. What decides that is the same on all ranks of a
// call, or makes it a wrong call, which MPI refuses.
#include "arguments.hpp"

#include "settings.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <optional>

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

/// Tells the program of an error as MPI does.
int answer(collective what, MPI_Comm comm, int error_class, char const* text) {
  count(what, reason::none);
  std::fprintf(stderr, "%s\n", text);
  PMPI_Comm_call_errhandler(comm, error_class);
  return error_class;
}
/// f(), which makes a call of this library. If it throws before that, other ranks may be in theirs: they are told.
template <class F>
void in_step(collective what, MPI_Comm comm, F f) {
  auto& state = colligo::detail::mpi_endpoint(comm);
  std::uint32_t const before = colligo::detail::calls_of(state);
  colligo::detail::refused const call{state, what, (state.before() & colligo::detail::agreement) != 0};
  auto const tell = [&] {
    bool const counts_are_known = what != collective::gatherv && what != collective::scatterv;   // else a call for them
    if (colligo::detail::calls_of(state) == before) colligo::detail::refuse_request(call);
    colligo::detail::refuse_rest(call, before + (counts_are_known ? 1 : 2));
  };
  try {
    f();
  } catch (refused const& e) {
    if (e.why == reason::arguments) tell();   // others are passed on by all ranks
    throw;
  } catch (...) {
    tell();
    throw;
  }
}
/// f(), which may refuse, and whose exceptions become errors of MPI.
template <class F>
int serve(collective what, MPI_Comm comm, F f) {
  try {
    in_step(what, comm, f);
    count(what, reason::none);
    return MPI_SUCCESS;
  } catch (refused const& e) {
    return count(what, e.why), not_served;
  } catch (colligo::stalled const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    PMPI_Abort(comm, 1);
    return MPI_ERR_OTHER;
  } catch (colligo::mismatch_error const& e) {
    return answer(what, comm, MPI_ERR_TRUNCATE, e.what());
  } catch (colligo::argument_error const& e) {
    return answer(what, comm, MPI_ERR_ARG, e.what());
  } catch (colligo::mpi_error const& e) {
    int error_class = MPI_ERR_OTHER;
    PMPI_Error_class(e.code(), &error_class);
    return answer(what, comm, error_class, e.what());
  } catch (std::bad_alloc const&) {
    return answer(what, comm, MPI_ERR_NO_MEM, "colligo: out of memory");
  } catch (std::exception const& e) {
    return answer(what, comm, MPI_ERR_OTHER, e.what());
  }
}

/// Of arguments that are wrong.
int refuse(collective what, MPI_Comm comm) {
  return serve(what, comm, [] { throw refused(); });
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

/// The communicator of a call that can be served; empty if it is passed on. A thread keeps its latest ones: what MPI is
/// asked here takes as long as a short call.
std::optional<mpi_communicator> accepted(collective what, MPI_Comm comm) {
  if (reason const why = settings::reason_for(what); why != reason::none) return count(what, why), std::nullopt;
  if (comm == MPI_COMM_NULL) return count(what, reason::no_communicator), std::nullopt;
  if (being_freed::has(comm)) return count(what, reason::being_freed), std::nullopt;

  // The library hears of each communicator that is freed, whose handle may come again.
  static thread_local std::array<std::optional<mpi_communicator>, 4> latest{};
  static thread_local unsigned next = 0, freed_before = 0;
  unsigned const freed = colligo::detail::mpi_states_freed.load(std::memory_order_acquire);
  if (freed != freed_before) latest = {}, freed_before = freed;
  for (auto const& kept : latest)
    if (kept && *kept == comm) return kept;

  static int const key = [] {   // of what was decided
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  void* kept = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key, &kept, &found);
  reason const why = found ? static_cast<reason>(reinterpret_cast<std::intptr_t>(kept)) : decide(comm);
  if (!found) PMPI_Comm_set_attr(comm, key, reinterpret_cast<void*>(static_cast<std::intptr_t>(why)));
  if (why != reason::none) return count(what, why), std::nullopt;
  return latest[next++ % latest.size()] = mpi_communicator(comm);
}

/// Calls that combine n elements, of which this rank gets `results`: run(calls, in, out, element).
template <class Run>
int combining(collective what, void const* in, void* out, std::ptrdiff_t n, std::ptrdiff_t results, MPI_Datatype type,
              MPI_Op op, mpi_communicator const& group, Run run) {
  return serve(what, group, [&] {
    bool const is_in_place = in == MPI_IN_PLACE || (in == out && results != 0);
    void const* const from = is_in_place ? out : in;
    require(n >= 0);
    auto element = built_in(type, op);
    std::optional<reduction> by_mpi;
    if (!element) {
      by_mpi = reduction::of(type, op);
      if (!by_mpi) throw refused{reason::operation};
      element = by_mpi->element();
    }
    if (by_mpi && !by_mpi->is_plain()) {
      moved_vector const input(from, n, type, true);
      moved_vector output(out, results, type, false);
      run(byte_calls(group), input.bytes(), output.bytes(), *element);
      return output.write();
    }
    if (n > 0) require_buffer(from, true);
    if (results > 0) require_buffer(out, true);
    auto const size = static_cast<std::ptrdiff_t>(element->size());
    auto* const first = static_cast<std::byte*>(const_cast<void*>(from));
    auto* const result = static_cast<std::byte*>(out);
    memory kept;
    if (!is_in_place && region{first, first + n * size}.overlaps({result, result + results * size})) {
      kept = bytes(n * size);
      std::memcpy(kept.get(), from, static_cast<std::size_t>(n * size));
    }
    run(byte_calls(group), is_in_place ? colligo::in_place_bytes : kept ? kept.get() : from, out, *element);
  });
}

}  // namespace

int all_reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  auto const group = accepted(collective::all_reduce, comm);
  if (!group) return not_served;
  return combining(collective::all_reduce, in, out, n, n, type, op, *group,
                   [&](auto const& calls, void const* from, void* to, auto const& element) {
                     calls.all_reduce(from, to, n, element);
                   });
}
int reduce(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  auto const group = accepted(collective::reduce, comm);
  if (!group) return not_served;
  if (root < 0 || root >= group->size() || (group->rank() != root && in == MPI_IN_PLACE))
    return refuse(collective::reduce, *group);
  return combining(collective::reduce, in, out, n, group->rank() == root ? n : 0, type, op, *group,
                   [&](auto const& calls, void const* from, void* to, auto const& element) {
                     calls.reduce(from, to, n, element, root);
                   });
}
int scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  auto const group = accepted(collective::scan, comm);
  if (!group) return not_served;
  return combining(collective::scan, in, out, n, n, type, op, *group,
                   [&](auto const& calls, void const* from, void* to, auto const& element) {
                     calls.scan(from, to, n, element);
                   });
}
int exclusive_scan(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  auto const group = accepted(collective::exclusive_scan, comm);
  if (!group) return not_served;
  return combining(collective::exclusive_scan, in, out, n, group->rank() == 0 ? 0 : n, type, op, *group,
                   [&](auto const& calls, void const* from, void* to, auto const& element) {
                     calls.exclusive_scan(from, to, n, element);
                   });
}
int reduce_scatter(void const* in, void* out, list_of_counts counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  auto const group = accepted(collective::reduce_scatter, comm);
  if (!group) return not_served;
  std::ptrdiff_t n = 0;
  bool is_right = static_cast<bool>(counts);
  for (int i = 0; i < group->size() && is_right; ++i) n += counts[i], is_right = counts[i] >= 0;
  if (!is_right) return refuse(collective::reduce_scatter, *group);
  return combining(collective::reduce_scatter, in, out, n, counts[group->rank()], type, op, *group,
                   [&](auto const& calls, void const* from, void* to, auto const& element) {
                     std::vector<std::ptrdiff_t> shares;
                     for (int i = 0; i < group->size(); ++i) shares.push_back(counts[i]);
                     calls.reduce_scatter(from, to, shares, element);
                   });
}
int reduce_scatter_block(void const* in, void* out, std::ptrdiff_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  auto const group = accepted(collective::reduce_scatter_block, comm);
  if (!group) return not_served;
  return combining(collective::reduce_scatter_block, in, out, n * group->size(), n, type, op, *group,
                   [&](auto const& calls, void const* from, void* to, auto const& element) {
                     calls.reduce_scatter_block(from, to, n, element);
                   });
}

int barrier(MPI_Comm comm) {
  auto const group = accepted(collective::barrier, comm);
  if (!group) return not_served;
  return serve(collective::barrier, *group, [&] { byte_calls(*group).barrier(); });
}
int broadcast(void* both, std::ptrdiff_t n, MPI_Datatype type, int root, MPI_Comm comm) {
  auto const group = accepted(collective::broadcast, comm);
  if (!group) return not_served;
  return serve(collective::broadcast, *group, [&] {
    require(root >= 0 && root < group->size());
    moved_vector all(both, n, type, group->rank() == root);
    byte_calls(*group).broadcast(all.bytes(), all.size(), plain_bytes(), root);
    if (group->rank() != root) all.write();
  });
}

int all_gather(vector in, vector out, MPI_Comm comm) {
  auto const group = accepted(collective::all_gather, comm);
  if (!group) return not_served;
  return serve(collective::all_gather, *group, [&] {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    moved_vector all(out.at, out.count * group->size(), out.type, is_in_place);
    std::ptrdiff_t const n = all.size() / group->size();
    if (is_in_place) {
      byte_calls(*group).all_gather(colligo::in_place_bytes, all.bytes(), n, plain_bytes());
    } else {
      moved_vector const own(in.at, in.count, in.type, true, all.as_it_lies());
      byte_calls(*group).all_gather(own.bytes(), all.bytes(), n, plain_bytes());
    }
    all.write();
  });
}
int all_gatherv(vector in, vector_of_blocks out, MPI_Comm comm) {
  auto const group = accepted(collective::all_gatherv, comm);
  if (!group) return not_served;
  return serve(collective::all_gatherv, *group, [&] {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    moved_blocks all(out, group->size(), is_in_place);
    if (is_in_place) {
      byte_calls(*group).all_gatherv(colligo::in_place_bytes, all.bytes(), all.places(), plain_bytes());
    } else {
      moved_vector const own(in.at, in.count, in.type, true, all.as_it_lies());
      byte_calls(*group).all_gatherv(own.bytes(), all.bytes(), all.places(), plain_bytes());
    }
    all.write();
  });
}
int gather(vector in, vector out, int root, MPI_Comm comm) {
  auto const group = accepted(collective::gather, comm);
  if (!group) return not_served;
  return serve(collective::gather, *group, [&] {
    require(root >= 0 && root < group->size());
    bool const is_root = group->rank() == root, is_in_place = is_root && in.at == MPI_IN_PLACE;
    std::optional<moved_vector> own, all;
    if (is_root) all.emplace(out.at, out.count * group->size(), out.type, is_in_place);
    if (!is_in_place) own.emplace(in.at, in.count, in.type, true, is_root ? all->as_it_lies() : region{});
    std::ptrdiff_t const n = is_root ? all->size() / group->size() : own->size();
    byte_calls(*group).gather(is_in_place ? colligo::in_place_bytes : own->bytes(), is_root ? all->bytes() : nullptr, n,
                            plain_bytes(), root);
    if (is_root) all->write();
  });
}
int gatherv(vector in, vector_of_blocks out, int root, MPI_Comm comm) {
  auto const group = accepted(collective::gatherv, comm);
  if (!group) return not_served;
  return serve(collective::gatherv, *group, [&] {
    require(root >= 0 && root < group->size());
    bool const is_root = group->rank() == root, is_in_place = is_root && in.at == MPI_IN_PLACE;
    std::optional<moved_vector> own;
    std::optional<moved_blocks> all;
    if (is_root) all.emplace(out, group->size(), is_in_place);
    if (!is_in_place) own.emplace(in.at, in.count, in.type, true, is_root ? all->as_it_lies() : region{});
    byte_calls(*group).gatherv(is_in_place ? colligo::in_place_bytes : own->bytes(),
                             is_in_place ? all->size_of(root) : own->size(), is_root ? all->bytes() : nullptr,
                             is_root ? all->places() : colligo::block_places{}, plain_bytes(), root);
    if (is_root) all->write();
  });
}
int scatter(vector in, vector out, int root, MPI_Comm comm) {
  auto const group = accepted(collective::scatter, comm);
  if (!group) return not_served;
  return serve(collective::scatter, *group, [&] {
    require(root >= 0 && root < group->size());
    bool const is_root = group->rank() == root, is_in_place = is_root && out.at == MPI_IN_PLACE;
    std::optional<moved_vector> own, all;
    if (!is_in_place) own.emplace(out.at, out.count, out.type, false);
    if (is_root)
      all.emplace(in.at, in.count * group->size(), in.type, true, is_in_place ? region{} : own->as_it_lies());
    std::ptrdiff_t const n = is_root ? all->size() / group->size() : own->size();
    byte_calls(*group).scatter(is_root ? all->bytes() : nullptr,
                             is_in_place ? colligo::in_place_bytes : own->bytes(), n, plain_bytes(), root);
    if (!is_in_place) own->write();
  });
}
int scatterv(vector_of_blocks in, vector out, int root, MPI_Comm comm) {
  auto const group = accepted(collective::scatterv, comm);
  if (!group) return not_served;
  return serve(collective::scatterv, *group, [&] {
    require(root >= 0 && root < group->size());
    bool const is_root = group->rank() == root, is_in_place = is_root && out.at == MPI_IN_PLACE;
    std::optional<moved_vector> own;
    std::optional<moved_blocks> all;
    if (!is_in_place) own.emplace(out.at, out.count, out.type, false);
    if (is_root) all.emplace(in, group->size(), true, is_in_place ? region{} : own->as_it_lies());
    byte_calls(*group).scatterv(is_root ? all->bytes() : nullptr, is_root ? all->places() : colligo::block_places{},
                              is_in_place ? colligo::in_place_bytes : own->bytes(),
                              is_in_place ? all->size_of(root) : own->size(), plain_bytes(), root);
    if (!is_in_place) own->write();
  });
}
int all_to_all(vector in, vector out, MPI_Comm comm) {
  auto const group = accepted(collective::all_to_all, comm);
  if (!group) return not_served;
  return serve(collective::all_to_all, *group, [&] {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    moved_vector got(out.at, out.count * group->size(), out.type, is_in_place);
    std::ptrdiff_t const n = got.size() / group->size();
    if (is_in_place) {
      byte_calls(*group).all_to_all(colligo::in_place_bytes, got.bytes(), n, plain_bytes());
    } else {
      moved_vector const sent(in.at, in.count * group->size(), in.type, true, got.as_it_lies());
      byte_calls(*group).all_to_all(sent.bytes(), got.bytes(), n, plain_bytes());
    }
    got.write();
  });
}
int all_to_all_v(vector_of_blocks in, vector_of_blocks out, MPI_Comm comm) {
  auto const group = accepted(collective::all_to_all_v, comm);
  if (!group) return not_served;
  return serve(collective::all_to_all_v, *group, [&] {
    bool const is_in_place = in.at == MPI_IN_PLACE;
    moved_blocks got(out, group->size(), is_in_place);
    if (is_in_place) {
      byte_calls(*group).all_to_all_v(colligo::in_place_bytes, {}, got.bytes(), got.places(), plain_bytes());
    } else {
      moved_blocks const sent(in, group->size(), true, got.as_it_lies());
      byte_calls(*group).all_to_all_v(sent.bytes(), sent.places(), got.bytes(), got.places(), plain_bytes());
    }
    got.write();
  });
}

}  // namespace drop_in
