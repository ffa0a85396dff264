// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that no form accepts: the compiler's message says what to write. A correct call instantiates nothing of this.
#pragma once

#include "mistaken.hpp"

namespace colligo::inline COLLIGO_MODE {
namespace detail {

/// Converts to any result, so that the message is the only error, but to nothing else that containers are assigned.
struct mistake {
  template <class T>
    requires(!std::is_null_pointer_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, char const*> &&
             !(std::ranges::range<T> && std::is_trivially_copyable_v<T> && !std::is_aggregate_v<T>))
  operator T() const;
  void start() const, wait() const;
  bool test() const;
  /// Printing it would list all conversions.
  template <class Out>
  friend Out& operator<<(Out& out, mistake const&) { return out; }
};

/// The result type of a mistaken call, with the message: compilers print little context for it.
template <collective C, made How, class... Arguments>
struct answer : mistake {
  using enum mistaken;
  static constexpr mistaken what = mistaken_in<C, How, Arguments...>();
  static constexpr bool lists_forms = what == something || what == order;
  static_assert(what != communicator, "colligo: the first argument is no communicator of the library, which comes "
                "before all others: for an MPI_Comm write colligo::mpi_communicator(comm)");
  static_assert(what != name,
                "colligo: an algorithm is a tag or a name: write colligo::ring{} or colligo::named(\"ring\")");
  static_assert(what != addresses, "colligo: elements that are addresses (pointers, references, spans, string_views) "
                "mean nothing on another rank: send what they point to");
  static_assert(what != uncopyable, "colligo: this element type can not be sent: it is not trivially copyable, and has "
                "no copy or no default constructor (std::unique_ptr has no copy): send what it holds");
  static_assert(what != unserialised, "colligo: this element type can not be sent: make it trivially copyable, or, "
                "with Boost.MPI, give it a Boost.Serialization serialize() (for those of the standard library include "
                "<boost/serialization/vector.hpp>, <boost/serialization/map.hpp>, <boost/serialization/utility.hpp> "
                "for std::pair ...), or specialise colligo::travels_as_bytes if it can be copied byte by byte (a class "
                "with a private std::pair, a matrix of fixed size)");
  static_assert(what != bits, "colligo: std::vector<bool> has bits instead of elements: write std::vector<char>");
  static_assert(what != apart, "colligo: elements have to be contiguous, one after the other in memory (std::vector, "
                "std::array, std::span ...): copy those of a list, a deque, a map or a view into a std::vector");
  static_assert(what != grid, "colligo: for a multi-dimensional array write std::span(its.data(), its.num_elements())");
  static_assert(what != matrix, "colligo: this is no range of elements: write std::span(its.data(), its.size())");
  static_assert(what != rows, "colligo: the elements of an array of arrays are arrays, which the functor does not "
                "combine: write std::span(&its[0][0], count)");
  static_assert(what != untyped, "colligo: a void* has no element type: write std::span(pointer, count), and "
                "in_place(range) for MPI_IN_PLACE");
  static_assert(what != pointer,
                "colligo: a pointer does not say how many elements there are: write std::span(pointer, count)");
  static_assert(what != pointer_and_count,
                "colligo: there is no such form with a pointer and a count: write std::span(pointer, count)");
  static_assert(what != types, "colligo: input and output must have the same element type");
  static_assert(what != temporary_output, "colligo: the output is a temporary, which is destroyed when the call "
                "returns: give it a name; a view (std::span) of a named object may be a temporary");
  static_assert(what != constant_output, "colligo: the output is const: the call can not write to it");
  static_assert(what != changing, "colligo: volatile elements can not be sent: copy them");
  static_assert(what != temporary_input, "colligo: a request reads its input until it is complete, but a temporary is "
                "destroyed before: give it a name, and keep it until wait()");
  static_assert(what != locates, "colligo: maxloc and minloc combine values with their places: write "
                "colligo::located<T, Index>{value, index}, both with operator< (an Index is an integer, a "
                "std::pair{rank, i} ...), or colligo::maximum for the value alone");
  static_assert(what != no_functor, "colligo: a functor is missing, a callable T(T const&, T const&): std::plus<>{} "
                "for MPI_SUM, colligo::maximum{} for MPI_MAX, std::logical_and<>{} for MPI_LAND, a lambda ...");
  static_assert(what != returns_nothing,
                "colligo: the functor has to return the combination of two elements, as a value of their type");
  static_assert(what != changes_operands,
                "colligo: the functor must not change its operands: take them as T const&, and return the result");
  static_assert(what != operator_changes, "colligo: the operator that the functor calls must not change its operands: "
                "declare it as T operator+(T const&) const, or as a function of two T const&");
  static_assert(what != functor_before, "colligo: the functor comes after the ranges: (comm, in, out, op)");
  static_assert(what != algorithm_before,
                "colligo: the algorithm is the last argument: all_reduce(comm, in, out, op, colligo::ring{})");
  static_assert(what != counts, "colligo: counts and displacements are integers (but no characters): std::vector<int>, "
                "std::array<std::size_t, p> ...");
  static_assert(what != unassignable,
                "colligo: elements that are combined have to be assignable: a struct with a const member is not");
  static_assert(what != compares_elements, "colligo: std::less and its like compare, and a bool is no combination of "
                "two elements: write colligo::minimum{} or colligo::maximum{}");
  static_assert(what != narrows_elements, "colligo: the functor's result can not hold all values of the elements "
                "(std::plus<int> on double): write std::plus<>{}, or let it return the elements' type");
  static_assert(what != combines_nothing, "colligo: the functor does not combine two elements: op(a, b) has to return "
                "one of their type; std::plus<>{} needs their operator+, and arrays and containers have none");
  static_assert(what != root,
                "colligo: the root, a rank and so an integer, is the last argument (but for an algorithm): "
                "reduce(comm, in, out, op, root), broadcast(comm, range, root), gather(comm, in, out, root)");
  static_assert(what != no_root, "colligo: this call has no root, for every rank gets a result: leave the last "
                "argument out, or call reduce, gather or scatter, which have one");
  static_assert(what != no_output, "colligo: a range without an output: write in_place(range), or give an output");
  static_assert(what != no_init, "colligo: exclusive_scan of ranges, and of what has no default constructor, has a "
                "value for rank 0 before the functor: exclusive_scan(comm, in, out, init, op)");
  static_assert(what != displacements, "colligo: blocks lie one after the other in the order of ranks; displacements "
                "are for all_gatherv(comm, in, out, counts, displs), gatherv(comm, in, out, counts, displs, root), "
                "scatterv(comm, in, counts, displs, out, root) and all_to_all_v(comm, in, counts, displs, out, "
                "out_counts, out_displs)");
  static_assert(what != skeleton,
                "colligo: broadcast alone takes skeletons, contents and archives: include <colligo/skeleton.hpp>");
  static_assert(what != value, "colligo: requests and persistent collectives take ranges, which stay where they are: "
                "for one value write std::span(&value, 1)");
  static_assert(!lists_forms || C != collective::all_reduce, "colligo: all_reduce takes (comm, in, out, op), "
                "(comm, in_place(range), op), (comm, value, op), and an algorithm after them");
  static_assert(!lists_forms || C != collective::reduce, "colligo: reduce takes (comm, in, out, op, root), (comm, "
                "in_place(range), op, root), (comm, value, op, root), and an algorithm after them");
  static_assert(!lists_forms || C != collective::broadcast, "colligo: broadcast takes (comm, range, root), (comm, "
                "value, root), and an algorithm after them");
  static_assert(!lists_forms || C != collective::all_gather, "colligo: all_gather takes (comm, in, out), (comm, "
                "in_place(range)), (comm, value, out), and an algorithm after them");
  static_assert(!lists_forms || C != collective::all_gatherv, "colligo: all_gatherv takes (comm, in, out, counts), "
                "(comm, in_place(range), counts), (comm, in), and an algorithm after them");
  static_assert(!lists_forms || C != collective::gather, "colligo: gather takes (comm, in, out, root), where the out "
                "of ranks other than the root may be empty, (comm, in_place(range), root), (comm, value, out, root), "
                "off the root (comm, value, root), and an algorithm after them");
  static_assert(!lists_forms || C != collective::gatherv, "colligo: gatherv takes (comm, in, out, counts, root), "
                "(comm, in_place(range), counts, root), (comm, in, root), and an algorithm after them");
  static_assert(!lists_forms || C != collective::scatter, "colligo: scatter takes (comm, in, out, root), (comm, "
                "in_place(range), root), and an algorithm after them");
  static_assert(!lists_forms || C != collective::scatterv, "colligo: scatterv takes (comm, in, counts, out, root), "
                "(comm, in_place(range), counts, root), and an algorithm after them");
  static_assert(!lists_forms || C != collective::reduce_scatter, "colligo: reduce_scatter takes (comm, in, out, "
                "counts, op), and an algorithm after them");
  static_assert(!lists_forms || C != collective::reduce_scatter_block, "colligo: reduce_scatter_block takes (comm, "
                "in, out, op), and an algorithm after them");
  static_assert(!lists_forms || C != collective::scan, "colligo: scan takes (comm, in, out, op), (comm, "
                "in_place(range), op), (comm, value, op), and an algorithm after them");
  static_assert(!lists_forms || C != collective::exclusive_scan, "colligo: exclusive_scan takes (comm, in, out, "
                "init, op), (comm, in_place(range), init, op), (comm, value, init, op), (comm, value, op), and an "
                "algorithm after them");
  static_assert(!lists_forms || C != collective::barrier, "colligo: barrier takes (comm), and an algorithm after it");
  static_assert(!lists_forms || C != collective::all_to_all, "colligo: all_to_all takes (comm, in, out), (comm, "
                "in_place(range)), and an algorithm after them");
  static_assert(!lists_forms || C != collective::all_to_all_v, "colligo: all_to_all_v takes (comm, in, counts, "
                "out, out_counts), (comm, in_place(range), counts), (comm, in, counts), and an algorithm after them");
  static_assert(!lists_forms || C != collective::exchange, "colligo: all_gather and all_to_all take (graph, in, "
                "out), all_to_all_v (graph, in, counts, out, out_counts), reduce (graph, in, out, op), reduce_v "
                "(graph, in, counts, out, op), and an algorithm");
  static_assert(static_cast<int>(collective::exchange) == 16, "each collective has its line above");
};

/// The type of wait_all, wait_any and test_all of what is no range of requests.
template <class... Arguments>
struct no_requests : mistake {
  static_assert(sizeof...(Arguments) > 99, "colligo: wait_all, wait_any and test_all take one range of requests: "
                "std::vector<colligo::request>, std::array ..., or of persistent ones");
};

/// Arguments that in_place() does not accept.
template <class T>
concept can_not_stand_in_place = !stands_for_elements<std::remove_reference_t<T>> &&
                                 !requires(T&& x) { colligo::in_place(static_cast<T&&>(x)); };

}  // namespace detail

namespace by_name {

/// For arguments that can not be written: the message says why.
template <class T>
  requires detail::can_not_stand_in_place<T>
in_place_range<std::span<detail::element_in_t<T>>> in_place(T&&) {
  static_assert(!detail::can_not_stand_in_place<T> || std::is_lvalue_reference_v<T>,
                "colligo: the call writes to in_place, but a temporary is destroyed when it returns: give it a name");
  static_assert(!std::is_lvalue_reference_v<T>, "colligo: the call writes to in_place, but this is const");
  return {};
}

#define COLLIGO_NO_REQUESTS(name) \
  template <class... Arguments> \
    requires(sizeof...(Arguments) != 1 || !(detail::range_of_requests<Arguments> && ...)) \
  detail::no_requests<Arguments...> name(Arguments&&...) { return {}; }
COLLIGO_NO_REQUESTS(wait_all)
COLLIGO_NO_REQUESTS(wait_any)
COLLIGO_NO_REQUESTS(test_all)
#undef COLLIGO_NO_REQUESTS

}  // namespace by_name

}  // namespace colligo
