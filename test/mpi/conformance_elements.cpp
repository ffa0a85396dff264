// SPDX-License-Identifier: BSL-1.0
// What travels as bytes, what is written by its serialize(), and what is refused because it holds addresses.
#define BOOST_TEST_NO_MAIN
#include <boost/mpi/communicator.hpp>
#include <boost/serialization/is_bitwise_serializable.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>

#include <complex>
#include <list>
#include <memory>
#include <optional>
#include <system_error>
#include <typeindex>
#include <variant>

namespace of_elements {

// serialize() leaves out what belongs to the rank, and follows a pointer.
struct job {
  int step, rank;
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & step; }
};
struct node {
  int value;
  node* next;
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & value & next; }
};
struct closed final {
  std::string text;
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & text; }
};
// Their authors say that their bytes are enough.
struct bitwise {
  int a;
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & a; }
};
struct datatype : bitwise {};
struct handle { int* of_all_ranks; };

struct with_job { double a; job inner; };
struct with_pair { std::pair<int, double> pair; long n; };
struct with_string { std::pair<int, std::string> pair; long n; };
struct with_pointer { int a; char const* text; };
struct nested { double a; with_pointer inner; };
struct with_span { std::span<int> all; };
struct with_view { int a[3]; std::string_view text; };
struct with_pointers { int a; int* all[3]; };
struct with_arrays { int a[3]; double b[2]; };
struct with_optional { std::optional<int> a; int b; };
union either { double a; int b; };
enum class color { red };

}  // namespace of_elements

BOOST_IS_BITWISE_SERIALIZABLE(of_elements::bitwise)
namespace boost::mpi {
template <> struct is_mpi_datatype<of_elements::datatype> : mpl::true_ {};
}
template <> inline constexpr bool colligo::travels_as_bytes<of_elements::handle> = true;

namespace of_elements {

using colligo::travels_as_bytes, colligo::located;

template <class T>
constexpr bool is_refused = !colligo::elements<std::vector<T>> && !travels_as_bytes<T>;
template <class T>
constexpr bool is_serialised = colligo::elements<std::vector<T>> && !travels_as_bytes<T> &&
                               colligo::detail::travels_over<T, boost::mpi::communicator>;

static_assert(travels_as_bytes<double> && travels_as_bytes<color> && travels_as_bytes<std::complex<float>> &&
              travels_as_bytes<with_pair> && travels_as_bytes<with_arrays> && travels_as_bytes<either> &&
              travels_as_bytes<with_optional> && travels_as_bytes<std::array<with_pair, 3>> &&
              travels_as_bytes<std::tuple<int, std::pair<int, handle>>> && travels_as_bytes<std::plus<>>);
static_assert(travels_as_bytes<bitwise> && travels_as_bytes<datatype> && travels_as_bytes<handle>);
static_assert(travels_as_bytes<std::optional<double>> && travels_as_bytes<std::variant<int, double>> &&
              travels_as_bytes<located<std::pair<int, int>>>);
static_assert(is_serialised<job> && is_serialised<node> && is_serialised<closed> && is_serialised<std::string>);
static_assert(!travels_as_bytes<with_job> && !travels_as_bytes<std::pair<job, int>>);
static_assert(!travels_as_bytes<with_string> && !travels_as_bytes<located<double, std::string>>);
static_assert(is_refused<int*> && is_refused<with_pointer> && is_refused<nested> && is_refused<with_span> &&
              is_refused<with_view> && is_refused<with_pointers> && is_refused<located<double, char const*>>);
static_assert(is_refused<std::optional<std::string_view>> && is_refused<std::variant<double, int*>> &&
              is_refused<std::vector<int>::iterator> && is_refused<std::list<int>::const_iterator> &&
              is_refused<std::error_code> && is_refused<std::error_condition> && is_refused<std::type_index>);

}  // namespace of_elements

BOOST_AUTO_TEST_SUITE(elements)

BOOST_AUTO_TEST_CASE(a_class_s_own_serialize_says_what_travels) {
  using namespace of_elements;
  boost::mpi::communicator const world;
  int const root = world.size() - 1, me = world.rank();
  job one{me == root ? 7 : 0, me};
  colligo::broadcast(world, one, root);
  BOOST_CHECK(one.step == 7 && one.rank == me);

  node third{3, nullptr}, second{2, &third}, first{0, nullptr};
  if (me == root) first = {1, &second};
  colligo::broadcast(world, first, root);
  BOOST_REQUIRE(first.next && first.next->next);
  BOOST_CHECK(first.value == 1 && first.next->value == 2 && first.next->next->value == 3 && !first.next->next->next);
  if (me != root) {   // as Boost made them
    std::unique_ptr<node> const last(first.next->next), middle(first.next);
  }

  closed words;
  if (me == root) words.text = "from the root";
  colligo::broadcast(world, words, root);
  BOOST_CHECK_EQUAL(words.text, "from the root");
}

BOOST_AUTO_TEST_CASE(structs_of_pairs_travel_as_their_members) {
  using namespace of_elements;
  boost::mpi::communicator const world;
  with_pair const mine{{world.rank(), 0.5}, 3};
  std::vector<with_pair> all(static_cast<std::size_t>(world.size()));
  colligo::all_gather(world, std::span(&mine, 1), all);
  for (int r = 0; r < world.size(); ++r) {
    with_pair const& one = all[static_cast<std::size_t>(r)];
    BOOST_CHECK(one.pair.first == r && one.pair.second == 0.5 && one.n == 3);
  }
}

BOOST_AUTO_TEST_SUITE_END()
