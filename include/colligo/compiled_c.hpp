// SPDX-License-Identifier: BSL-1.0
/// @file
/// The source of the C interface (colligo.h) in the compiled library, and of what the Fortran module calls: the same
/// functions with a communicator of Fortran, named ..._f.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <variant>

#include "bytes.hpp"
#include "colligo.h"
#include "core/known_elements.hpp"

struct colligo_request_object {
  std::variant<colligo::request, colligo::persistent> call;
};

namespace colligo::inline COLLIGO_MODE::detail {

/// Of this thread.
inline std::string& latest_error() {
  static thread_local std::string text;
  return text;
}
inline int failed_as(int code, char const* what) {
  try {
    latest_error() = what;
  } catch (...) {
    latest_error().clear();
  }
  return code;
}
/// No exception leaves a C function.
template <class F>
int as_code(F f) {
  try {
    f();
    return COLLIGO_SUCCESS;
  } catch (argument_error const& e) {
    return failed_as(COLLIGO_ARGUMENT, e.what());
  } catch (algorithm_error const& e) {
    return failed_as(COLLIGO_ALGORITHM, e.what());
  } catch (mpi_error const& e) {
    return failed_as(COLLIGO_MPI, e.what());
  } catch (mismatch_error const& e) {
    return failed_as(COLLIGO_MISMATCH, e.what());
  } catch (failed_elsewhere const& e) {
    return failed_as(COLLIGO_FAILED_ELSEWHERE, e.what());
  } catch (rank_lost const& e) {
    return failed_as(COLLIGO_RANK_LOST, e.what());
  } catch (stalled const& e) {
    return failed_as(COLLIGO_STALLED, e.what());
  } catch (std::bad_alloc const& e) {
    return failed_as(COLLIGO_NO_MEMORY, "colligo: out of memory");
  } catch (std::exception const& e) {
    return failed_as(COLLIGO_ERROR, e.what());
  } catch (...) {
    return failed_as(COLLIGO_ERROR, "colligo: an exception of an unknown type");
  }
}

/// Elements as C sees them.
inline registered_element element_from(colligo_element const& colligo_element) {
  return {static_cast<element const*>(colligo_element.moved), static_cast<element const*>(colligo_element.combined),
          colligo_element.context};
}
inline colligo_element element_for_c(registered_element const& registered_element) {
  return {&registered_element.moved(), &registered_element.combined(), registered_element.context()};
}
/// Pointers and names as C++ sees them.
template <class Byte>
Byte* from_c(Byte* at) {
  return at == static_cast<void const*>(colligo_in_place_storage) ? in_place_bytes : at;
}
inline std::string_view from_c(char const* algorithm) {
  return algorithm ? std::string_view(algorithm) : std::string_view();
}
inline block_places places_from_c(ptrdiff_t const* counts, ptrdiff_t const* displacements, int p) {
  auto const n = static_cast<std::size_t>(p);
  block_places block_places;
  if (counts) block_places.counts = {counts, n};
  if (displacements) block_places.displacements = {displacements, n};
  return block_places;
}

/// Makes a request, which is in *request only if that has succeeded.
template <class F>
int as_request(colligo_request* request, F make) {
  *request = nullptr;
  return as_code([&] {
    auto made = std::make_unique<colligo_request_object>();
    made->call = make();
    *request = made.release();
  });
}
/// It still is after a wait that was refused: in a functor.
inline bool is_active(colligo_request request) {
  return std::visit([](auto const& call) { return call.active(); }, request->call);
}
inline int wait_for(colligo_request request) {
  return as_code([&] { std::visit([](auto& call) { call.wait(); }, request->call); });
}
inline void free_if_complete(colligo_request* request) {
  if (!is_active(*request)) delete std::exchange(*request, nullptr);
}
inline void free_if_started(colligo_request* request) {
  if (std::holds_alternative<colligo::request>((*request)->call)) free_if_complete(request);
}

}  // namespace colligo

extern "C" {

char colligo_in_place_storage[1];

char const* colligo_error_text(void) { return colligo::detail::latest_error().c_str(); }

int colligo_describe(colligo_description const* description, colligo_element* element) {
  return colligo::detail::as_code([&] {
    colligo::byte_element described{
        description->size,    description->alignment,        nullptr,
        description->context, description->commutative != 0, description->exact != 0};
    // void const* and std::byte const* are passed alike.
    described.combine = reinterpret_cast<decltype(described.combine)>(description->combine);
    if (description->name) described.name = description->name;
    if (description->functor) described.functor = description->functor;
    *element = colligo::detail::element_for_c(described);
  });
}
int colligo_known_element(colligo_type type, colligo_op op, colligo_element* element) {
  return colligo::detail::as_code([&] {
    auto const known = colligo::known_element(static_cast<colligo::known_type>(type),
                                              static_cast<colligo::known_functor>(op));
    if (!known) throw colligo::argument_error("colligo: colligo_known_element: this type has no such operation");
    *element = colligo::detail::element_for_c(*known);
  });
}

int colligo_wait(colligo_request* request) {
  if (*request == nullptr) return COLLIGO_SUCCESS;
  int const code = colligo::detail::wait_for(*request);
  colligo::detail::free_if_started(request);
  return code;
}
int colligo_test(colligo_request* request, int* complete) {
  *complete = 1;
  if (*request == nullptr) return COLLIGO_SUCCESS;
  int const code = colligo::detail::as_code([&] { std::visit([](auto& call) { call.test(); }, (*request)->call); });
  *complete = !colligo::detail::is_active(*request);
  colligo::detail::free_if_started(request);
  return code;
}
int colligo_start(colligo_request request) {
  return colligo::detail::as_code([&] {
    auto* const call = request ? std::get_if<colligo::persistent>(&request->call) : nullptr;
    if (!call) throw colligo::argument_error("colligo: colligo_start: the request is not persistent");
    call->start();
  });
}
int colligo_request_free(colligo_request* request) {
  if (*request == nullptr) return COLLIGO_SUCCESS;
  int const code = colligo::detail::is_active(*request) ? colligo::detail::wait_for(*request) : COLLIGO_SUCCESS;
  colligo::detail::free_if_complete(request);
  return code;
}

// The forms of a collective, with a communicator of C and of Fortran. `call`: of calls_on_bytes; `call_of_request`: the
// same for requests, where its arguments differ.
#define COLLIGO_LIST(...) __VA_ARGS__
#define COLLIGO_FORM(name, made_by, handle, parameters, ...)                                                         \
  int name(handle comm, parameters, colligo_request* request) {                                                      \
    return colligo::detail::as_request(request, [&] {                                                                \
      colligo::mpi_communicator const over(COLLIGO_COMM_OF_##handle(comm));                                          \
      return colligo::made_by(over).__VA_ARGS__;                                                                     \
    });                                                                                                              \
  }
#define COLLIGO_BLOCKING_FORM(name, handle, parameters, ...)                                                         \
  int name(handle comm, parameters) {                                                                                \
    return colligo::detail::as_code([&] {                                                                            \
      colligo::mpi_communicator const over(COLLIGO_COMM_OF_##handle(comm));                                          \
      colligo::byte_calls(over).__VA_ARGS__;                                                                         \
    });                                                                                                              \
  }
#define COLLIGO_COMM_OF_MPI_Comm(comm) comm
#define COLLIGO_COMM_OF_MPI_Fint(comm) MPI_Comm_f2c(comm)
#define COLLIGO_REQUEST_FORMS(name, parameters, ...)                                                                 \
  COLLIGO_FORM(colligo_i##name, ibyte_calls, MPI_Comm, COLLIGO_LIST(parameters), __VA_ARGS__)                        \
  COLLIGO_FORM(colligo_##name##_init, byte_calls_init, MPI_Comm, COLLIGO_LIST(parameters), __VA_ARGS__)              \
  COLLIGO_FORM(colligo_i##name##_f, ibyte_calls, MPI_Fint, COLLIGO_LIST(parameters), __VA_ARGS__)                    \
  COLLIGO_FORM(colligo_##name##_init_f, byte_calls_init, MPI_Fint, COLLIGO_LIST(parameters), __VA_ARGS__)
#define COLLIGO_BLOCKING_FORMS(name, parameters, ...)                                                                \
  COLLIGO_BLOCKING_FORM(colligo_##name, MPI_Comm, COLLIGO_LIST(parameters), __VA_ARGS__)                             \
  COLLIGO_BLOCKING_FORM(colligo_##name##_f, MPI_Fint, COLLIGO_LIST(parameters), __VA_ARGS__)
#define COLLIGO_FORMS(name, parameters, ...)                                                                         \
  COLLIGO_BLOCKING_FORMS(name, COLLIGO_LIST(parameters), name(__VA_ARGS__))                                          \
  COLLIGO_REQUEST_FORMS(name, COLLIGO_LIST(parameters), name(__VA_ARGS__))

using colligo::detail::element_from, colligo::detail::from_c, colligo::detail::places_from_c;

#define COLLIGO_ON_VECTORS(name)                                                                                     \
  COLLIGO_FORMS(name, COLLIGO_LIST(void const* in, void* out, ptrdiff_t n, colligo_element element, char const* by), \
                from_c(in), from_c(out), n, element_from(element), from_c(by))
#define COLLIGO_ON_VECTORS_AND_ROOT(name)                                                                            \
  COLLIGO_FORMS(name,                                                                                                \
                COLLIGO_LIST(void const* in, void* out, ptrdiff_t n, colligo_element element, int root,              \
                             char const* by),                                                                        \
                from_c(in), from_c(out), n, element_from(element), root, from_c(by))

COLLIGO_ON_VECTORS(all_reduce)
COLLIGO_ON_VECTORS_AND_ROOT(reduce)
COLLIGO_FORMS(broadcast,
              COLLIGO_LIST(void* both, ptrdiff_t n, colligo_element element, int root, char const* by),
              from_c(both), n, element_from(element), root, from_c(by))
COLLIGO_ON_VECTORS(scan)
COLLIGO_ON_VECTORS(exclusive_scan)
COLLIGO_FORMS(barrier, char const* by, from_c(by))
COLLIGO_ON_VECTORS(all_gather)
COLLIGO_FORMS(all_gatherv,
              COLLIGO_LIST(void const* in, void* out, ptrdiff_t const* counts, ptrdiff_t const* displacements,
                           colligo_element element, char const* by),
              from_c(in), from_c(out), places_from_c(counts, displacements, over.size()), element_from(element),
              from_c(by))
COLLIGO_ON_VECTORS_AND_ROOT(gather)
#define COLLIGO_GATHERV                                                                                              \
  COLLIGO_LIST(void const* in, [[maybe_unused]] ptrdiff_t n, void* out, ptrdiff_t const* counts,                     \
               ptrdiff_t const* displacements, colligo_element element, int root, char const* by)
COLLIGO_BLOCKING_FORMS(gatherv, COLLIGO_GATHERV,
                       gatherv(from_c(in), n, from_c(out), places_from_c(counts, displacements, over.size()),
                               element_from(element), root, from_c(by)))
COLLIGO_REQUEST_FORMS(gatherv, COLLIGO_GATHERV,
                      gatherv(from_c(in), from_c(out), places_from_c(counts, displacements, over.size()),
                              element_from(element), root, from_c(by)))
COLLIGO_ON_VECTORS_AND_ROOT(scatter)
#define COLLIGO_SCATTERV                                                                                             \
  COLLIGO_LIST(void const* in, ptrdiff_t const* counts, ptrdiff_t const* displacements, void* out,                   \
               [[maybe_unused]] ptrdiff_t n, colligo_element element, int root, char const* by)
COLLIGO_BLOCKING_FORMS(scatterv, COLLIGO_SCATTERV,
                       scatterv(from_c(in), places_from_c(counts, displacements, over.size()), from_c(out), n,
                                element_from(element), root, from_c(by)))
COLLIGO_REQUEST_FORMS(scatterv, COLLIGO_SCATTERV,
                      scatterv(from_c(in), places_from_c(counts, displacements, over.size()), from_c(out),
                               element_from(element), root, from_c(by)))
COLLIGO_FORMS(reduce_scatter,
              COLLIGO_LIST(void const* in, void* out, ptrdiff_t const* counts, colligo_element element,
                           char const* by),
              from_c(in), from_c(out), places_from_c(counts, nullptr, over.size()).counts, element_from(element),
              from_c(by))
COLLIGO_ON_VECTORS(reduce_scatter_block)
COLLIGO_ON_VECTORS(all_to_all)
COLLIGO_FORMS(all_to_all_v,
              COLLIGO_LIST(void const* in, ptrdiff_t const* counts, ptrdiff_t const* displacements, void* out,
                           ptrdiff_t const* out_counts, ptrdiff_t const* out_displacements, colligo_element element,
                           char const* by),
              from_c(in), places_from_c(counts, displacements, over.size()), from_c(out),
              places_from_c(out_counts, out_displacements, over.size()), element_from(element), from_c(by))

}  // extern "C"
