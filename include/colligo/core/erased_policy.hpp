// SPDX-License-Identifier: BSL-1.0
/// @file
/// An algorithm for one collective, compiled against any_step, with the types of its tag erased.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "any_step.hpp"
#include "element.hpp"
#include "knob.hpp"
#include "policy.hpp"
#include "transport.hpp"

namespace colligo::inline COLLIGO_MODE {

class tree;     // shape/ranked_tree.hpp
class hierarchy;           // topology/hierarchy.hpp
struct vendor;  // algorithm/vendor.hpp

/// Facts about a communicator that a tag may leave open.
struct topology {
  std::span<int const> hosts{};         ///< the host of each rank; empty: all ranks on one, or see by_host
  tree const* reduce_tree = nullptr;    ///< null: none
  tree const* broadcast_tree = nullptr;
  hierarchy const* by_host = nullptr;        ///< the hosts as a hierarchy of one level; null: follows from `hosts`
  hierarchy const* levels = nullptr;         ///< null: all pairs of ranks are equally near
};

namespace detail {

class communicator_state;   // engine/communicator_state.hpp

/// The parts of a topology that a tag may leave open.
enum class left_open : std::uint8_t { nothing, trees, hosts, levels };

/// Whether a tag's policy can run on p ranks and their topology.
struct fitness {
  int made_for;    ///< the number of ranks that the tag is made for; p if it is made for any number
  bool in_order;   ///< operands keep their order
};

/// The first letters of a name, to be sent to other processes.
using packed_name = std::array<std::uint64_t, 3>;
constexpr packed_name packed(std::string_view name) {
  std::array<char, sizeof(packed_name)> letters{};
  for (std::size_t i = 0; i < std::min(name.size(), letters.size() - 1); ++i) letters[i] = name[i];
  return std::bit_cast<packed_name>(letters);
}

struct erased_policy {
  std::string_view name;
  packed_name short_name;
  transport over = transport::best;   ///< that the tag asks for
  bool ordered = true, keeps_input = false, writes_output_alone = false, is_vendor = false;
  bool same_bits = false, sequential = false;   ///< for every p and n, as the card says
  bool runs_beside =
      false;   ///< for communicator_state::run_beside(): it packs, or its plans of uneven blocks are kept
  void (*run)(void const* tag, topology const& known, any_step& step, blocks const& vector, int root) = nullptr;
  void (*make_tag)(void* at) = nullptr;   ///< constructs a tag with default knobs; null: the tag is not held by value
  /// Bytes of its tags if equal bytes mean equal tags, because they contain only knobs, and perhaps hosts.
  std::size_t tag_bytes = more_than_knobs;
  static constexpr std::size_t more_than_knobs = static_cast<std::size_t>(-1);
  /// Whether the tag refers to hosts of the user, which may change; null: it never does.
  bool (*has_hosts)(void const* tag) = nullptr;
  bool equals_by_bytes(void const* tag) const { return tag_bytes <= most_held && !(has_hosts && has_hosts(tag)); }
  /// The number of elements beyond the vector that the algorithm uses; null: none.
  std::size_t (*scratch)(void const* tag, blocks const& vector, std::size_t element_size) = nullptr;
  /// A rank's own work; null: only messages.
  own_work (*work)(void const* tag, blocks const& vector, std::size_t element_size) = nullptr;
  /// null: any number of ranks, order as `ordered` says.
  fitness (*fits)(void const* tag, topology const& known, int p) = nullptr;
  left_open open = left_open::nothing;
  /// Asks the state for the open parts; null: the tag leaves none open.
  void (*find_out)(communicator_state& state, collective c, topology& known) = nullptr;
  knob_reader knob = nullptr;   ///< null: its tags have none
  /// For policies whose transport depends on the tag; null: `over`.
  transport (*needs)(void const* tag) = nullptr;
  /// A hash of the trees that the tag names, 0: none; null: it never names any.
  std::size_t (*trees)(void const* tag) = nullptr;
};

/// The tag takes trees from its communicator: `Other completed(topology const&) const`.
template <class Tag>
concept completed_by_trees = requires(Tag const& tag, topology const& known) { tag.completed(known); };
template <class Tag>
concept completed_by_hosts = requires(Tag const& tag) { tag.hosts.empty(); };
template <class Tag>
inline constexpr bool is_knobs_and_hosts = requires {
  requires sizeof(Tag) == Tag::knobs.size() * sizeof(std::size_t) + sizeof(Tag::hosts) + sizeof(Tag::by_host);
};
template <class Tag>
concept completed_by_levels = std::is_same_v<decltype(Tag::levels), hierarchy const*>;

template <class Tag>
constexpr left_open open_in() {
  if constexpr (completed_by_trees<Tag>) return left_open::trees;
  else if constexpr (completed_by_hosts<Tag>) return left_open::hosts;
  else if constexpr (completed_by_levels<Tag>) return left_open::levels;
  else return left_open::nothing;
}
/// Fills in the open parts (rules/run_body.hpp). A template: units compile only parts that are open, and only these
/// need complete types.
template <left_open What, class Hierarchy = hierarchy, class Tree = tree>
void find_out(communicator_state& state, collective c, topology& known);

/// The tag with its open parts filled in: itself, if it leaves none open.
template <class Tag>
constexpr decltype(auto) completed(Tag const& tag, topology const& known) {
  if constexpr (completed_by_trees<Tag>) {
    return tag.completed(known);
  } else if constexpr (completed_by_hosts<Tag>) {
    Tag whole = tag;
    if (whole.hosts.empty()) {
      whole.hosts = known.hosts;
      if constexpr (requires { whole.by_host; }) whole.by_host = known.by_host;
    }
    return whole;
  } else if constexpr (completed_by_levels<Tag>) {
    Tag whole = tag;
    if (!whole.levels) whole.levels = known.levels;
    return whole;
  } else {
    return tag;
  }
}

template <class Tag>
constexpr std::size_t tag_bytes_of() {
  if constexpr (completed_by_trees<Tag>) return erased_policy::more_than_knobs;
  else if constexpr (std::is_empty_v<Tag>) return 0;
  else return is_held<Tag> && (is_knobs_alone<Tag> || is_knobs_and_hosts<Tag>) ? sizeof(Tag)
                                                                              : erased_policy::more_than_knobs;
}

/// The part that depends on the tag alone, not on the collective.
template <class Tag>
constexpr erased_policy erase_tag() {
  erased_policy made{.name = Tag::name, .short_name = packed(Tag::name),
                     .is_vendor = std::is_base_of_v<vendor, Tag>,
                     .tag_bytes = tag_bytes_of<Tag>(),
                     .open = open_in<Tag>(),
                     .knob = knob_reader_of<Tag>()};
  if constexpr (requires { Tag::over; }) made.over = Tag::over;
  if constexpr (is_held<Tag> && std::is_default_constructible_v<Tag>)
    made.make_tag = [](void* at) { ::new (at) Tag{}; };
  if constexpr (completed_by_hosts<Tag>)
    made.has_hosts = [](void const* held) { return !tag_at<Tag>(held).hosts.empty(); };
  if constexpr (open_in<Tag>() != left_open::nothing) made.find_out = &find_out<open_in<Tag>()>;
  if constexpr (requires(Tag const& tag) { tag.transport_needed(); })
    made.needs = [](void const* held) { return tag_at<Tag>(held).transport_needed(); };
  if constexpr (requires(Tag const& tag) { tag.fingerprint(); })
    made.trees = [](void const* held) -> std::size_t { return tag_at<Tag>(held).fingerprint(); };
  return made;
}
template <class Tag>
inline constexpr erased_policy erased_tag = erase_tag<Tag>();

/// Runs the algorithm: its text names this step's operands.
template <collective C, class Tag, class T, class Op>
void run_policy(void const* held, topology const& known, any_step& step, blocks const& vector, int root) {
  auto&& tag = completed(tag_at<Tag>(held), known);
  apply<C>(make_policy<C, std::remove_cvref_t<decltype(tag)>, T, Op>(tag), step, vector, root);
}

template <collective C, class Tag, class T, class Op>
constexpr erased_policy erase_policy() {
  erased_policy made = erased_tag<Tag>;
  using policy = policy_t<C, Tag, T, Op>;
  made.ordered = keeps_order<policy>();
  made.same_bits = gives_same_bits<policy>();
  made.sequential = is_sequential<policy>();
  made.writes_output_alone = writes_output_alone<policy>();
  // Whether the input must not be read from the output's memory: an exclusive scan's own input, data for other ranks.
  made.keeps_input = keeps_input<policy>() || C == collective::exclusive_scan || has_two_vectors(C);
  if constexpr (is_made_of_steps<policy>()) made.run = &run_policy<C, Tag, T, Op>;
  if constexpr (requires(policy const& one) { one.made_for(1); } || requires(policy const& one) { one.in_order(1); })
    made.fits = [](void const* held, topology const& known, int p) {
      auto&& tag = completed(tag_at<Tag>(held), known);
      auto const whole = make_policy<C, std::remove_cvref_t<decltype(tag)>, T, Op>(tag);
      return fitness{colligo::made_for(whole, p), keeps_order_over(whole, p)};
    };
  if constexpr (packs<policy>)
    made.scratch = [](void const* held, blocks const& vector, std::size_t element_size) {
      return make_policy<C, Tag, T, Op>(tag_at<Tag>(held)).scratch(vector, element_size);
    };
  made.runs_beside = packs<policy> || (says_own_work<policy> && has_blocks(C));
  if constexpr (says_own_work<policy>)
    made.work = [](void const* held, blocks const& vector, std::size_t element_size) {
      return make_policy<C, Tag, T, Op>(tag_at<Tag>(held)).work(vector, element_size);
    };
  return made;
}

template <collective C, class Tag, class T = any_element, class Op = any_functor>
inline constexpr erased_policy erased_policy_for = erase_policy<C, Tag, T, Op>();

}  // namespace detail
}  // namespace colligo
