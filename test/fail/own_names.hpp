// SPDX-License-Identifier: BSL-1.0
// A user's own functions, called without their namespace: arguments of the library's types must not bring its functions
// in. OWN(name) is there for every public function (own_names.cmake). Headers of all public functions come first.
#include <type_traits>
#include <utility>

namespace own {

struct result {};

/// What the user's arguments are made of; namespace std, which has functions of such names too, belongs to none.
struct row {
  double* begin() const;
  double* end() const;
};
template <class T>
struct list {};

template <class... Public>
struct types {};

template <class... Tags>
types<Tags...> public_tags(colligo::list_of_tags<Tags...>);
using tags = decltype(public_tags(colligo::catalogue_of_tags{}));

// Without errors, whose base class belongs to namespace std.
using others = types<
    colligo::thread_communicator, colligo::mpi_communicator, colligo::checked_communicator<colligo::mpi_communicator>,
    colligo::request, colligo::persistent, colligo::automatic, colligo::named, colligo::adaptive,
    colligo::chosen_algorithm, colligo::configured, colligo::over_messages<colligo::ring>,
    colligo::over_shared_memory<colligo::ring>, colligo::located<double>, colligo::located<row, int>,
    colligo::exact_sum<double>, colligo::exact_product<double>, colligo::binned_sum<double>, colligo::moments,
    colligo::maxloc, colligo::minloc, colligo::maximum, colligo::minimum,
    colligo::each<colligo::minimum, colligo::maximum>, colligo::commutative_functor<colligo::maximum>,
    colligo::in_place_range<row>, colligo::batch<colligo::thread_communicator>, colligo::sparse_vector<double, long>,
    colligo::sparse_range<double, int>, colligo::sparse_form, colligo::collective, colligo::gathered<double>,
    colligo::resized_container<row>, colligo::machine, colligo::prediction, colligo::property,
    colligo::require<colligo::property>, colligo::bits_of<colligo::ring>, colligo::schedule, colligo::bracketing,
    colligo::tree, colligo::hierarchy, colligo::trees::by_host_options, colligo::range, colligo::blocks, colligo::send,
    colligo::tracing<colligo::thread_communicator>, colligo::tracer, colligo::trace_log, colligo::trace_event,
    colligo::traced_message, colligo::progress_thread>;

}  // namespace own

/// Calls with an object of each type first, behind a communicator, in a list, and among others.
#define OWN(name)                                                                                                    \
  namespace own {                                                                                                    \
  template <class... Arguments>                                                                                      \
  result name(Arguments const&...);                                                                                  \
  template <class... Arguments>                                                                                      \
  concept name##_is_own =                                                                                            \
      requires(Arguments... arguments) { requires std::is_same_v<decltype(name(arguments...)), result>; };           \
  template <class T>                                                                                                 \
  constexpr bool name##_with() {                                                                                     \
    using comm = colligo::thread_communicator;                                                                       \
    static_assert(name##_is_own<T&> && name##_is_own<T const&, long>, "colligo took " #name);                        \
    static_assert(name##_is_own<T&, T&> && name##_is_own<T const&, row&>, "colligo took " #name);                    \
    static_assert(name##_is_own<list<T>&, long> && name##_is_own<list<T>&, list<T>&, T&>, "colligo took " #name);    \
    static_assert(name##_is_own<comm&, T&> && name##_is_own<comm&, row&, T&>, "colligo took " #name);                \
    static_assert(name##_is_own<comm&, T&, colligo::maximum&, int>, "colligo took " #name);                          \
    return true;                                                                                                     \
  }                                                                                                                  \
  template <class... Public>                                                                                         \
  constexpr bool name##_with_all(types<Public...>) { return (name##_with<Public>() && ...); }                        \
  static_assert(name##_with_all(tags{}) && name##_with_all(others{}));                                               \
  }
