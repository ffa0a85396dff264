// SPDX-License-Identifier: BSL-1.0
/// @file
/// Checked mode: before a call begins the ranks check that all make the same one. They compare descriptions of their
/// calls in words, so the error message can show every difference.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "../core/small_vector.hpp"
#include "../core/strings.hpp"
#include "run_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The description of a rank's call: a hash of all of it, and its beginning as text. Travels as bytes.
class description {
 public:
  void add(std::string_view words) {
    hash_ = fnv_1a(words, hash_);
    show(words, end_of_part_);
  }
  void add(std::initializer_list<concat_piece> pieces) {   // allocates nothing
    std::array<char, 20> digits;
    for (auto const& [text, number] : pieces)
      if (text) add(number == concat_piece::up_to_zero ? std::string_view(text) : std::string_view(text, number));
      else add(std::string_view(digits.begin(), std::to_chars(digits.begin(), digits.end(), number).ptr));
  }
  /// Shows at most `most` of the characters that f adds.
  template <class F>
  void add_part(std::size_t characters, F f) {
    end_of_part_ = std::min(longest, length_ + characters);
    is_cut_ = false;
    f();
    end_of_part_ = longest;
    if (is_cut_) show("...", longest);
  }

  std::string_view text() const { return {text_.data(), length_}; }
  /// Not 0.
  std::uint64_t hash() const { return hash_ | 1; }

  bool is_refusal = false;

 private:
  static constexpr std::size_t longest = 480;   // characters

  void show(std::string_view words, std::size_t end) {
    is_cut_ = is_cut_ || words.size() > end - length_;
    words = words.substr(0, end - length_);
    std::copy_n(words.data(), words.size(), text_.data() + length_);
    length_ += words.size();
  }

  std::uint64_t hash_ = fnv_1a("");
  std::size_t length_ = 0, end_of_part_ = longest;
  bool is_cut_ = false;
  std::array<char, longest> text_{};
};

/// The operand of the comparison. The combination is associative.
struct verdict {
  std::uint64_t call;     // 0: refused
  std::uint64_t differ;   // 0: all alike so far
};
struct compare_calls {
  verdict operator()(verdict const& a, verdict const& b) const {
    return {a.call, a.differ | b.differ | std::uint64_t{a.call != b.call}};
  }
};

// "8 double (64 bytes)"
[[gnu::cold]] COLLIGO_BODY void describe_elements(call const& call, description& words) {
  constexpr std::size_t type_shown = 120, counts_shown = 100;   // characters
  if (has_own_counts(call.what)) {
    words.add_part(type_shown, [&] { words.add(call.of->name()); });
    return words.add({" (", call.of->size, " bytes each)"});
  }
  bool const even = has_blocks(call.what) && !has_counts(call.what);
  std::size_t const n = even ? call.vector[0].size() : call.vector.whole.size();
  if (has_counts(call.what))
    words.add_part(counts_shown, [&] {
      for (int r = 0; r < call.vector.parts; ++r) words.add({r == 0 ? "" : ", ", call.vector[r].size()});
    });
  else words.add({n});
  words.add(" ");
  words.add_part(type_shown, [&] { words.add(call.of->name()); });
  words.add({" (", call.of->bytes(n), even ? " bytes) a rank" : " bytes)"});   // types of one name may differ in size
}

// "pipelined_chain:block=512@shared_memory", without knobs that have their default.
[[gnu::cold]] COLLIGO_BODY void describe_algorithm(choice const& by, description& words) {
  words.add(by.policy->name);
  choice const untouched = by.policy->make_tag ? choice(*by.policy, by.index()) : choice();
  char const* before = ":";
  std::size_t which = 0;
  for_each_knob(by, [&](std::string_view knob, std::size_t value) {
    bool const has_default = untouched.policy && by.policy->knob;
    std::size_t const* const usual = has_default ? by.policy->knob(untouched.tag(), which++, knob) : nullptr;
    if (!usual || *usual != value) words.add({std::exchange(before, ","), knob, "=", value});
  });
  if (by.over == transport::best || by.over == by.policy->over) return;
  words.add({"@", name_of(by.over)});
}

// "reduce of 8 double (64 bytes) with root 1, binary_tree, std::plus<void>"
[[gnu::cold]] COLLIGO_BODY description described(call const& call, choice const& by, made how) {
  constexpr std::size_t functor_shown = 120, details_shown = 200;   // characters
  description words;
  words.add({how == made::started ? "i" : "", name_of(call.what), how == made::ready ? "_init" : ""});
  if (call.what != collective::barrier) {
    words.add(" of ");
    describe_elements(call, words);
  }
  if (has_root(call.what)) words.add({" with root ", call.root});
  if (call.vector.edges && call.vector.edges->width != 0) words.add({", width ", call.vector.edges->width});
  words.add(", ");
  describe_algorithm(by, words);
  if (combines(call.what)) {
    words.add(", ");
    words.add_part(functor_shown, [&] { words.add(call.of->functor_name()); });
  }
  if (call.of->details) {
    words.add(": ");
    words.add_part(details_shown, [&] { words.add(call.of->details(call.op)); });
  }
  return words;
}

// Calls that few ranks make come first.
[[gnu::cold]] COLLIGO_BODY std::string difference_text(view<description const> all) {
  constexpr std::size_t most = 8;   // calls
  auto const is_same = [](description const& a, description const& b) {
    return a.hash() == b.hash() && a.is_refusal == b.is_refusal;
  };
  auto const ranks_that_call = [&](description const& wanted) {
    small_vector<int> ranks;
    for (std::size_t r = 0; r < all.size(); ++r)
      if (is_same(all[r], wanted)) ranks.push_back(static_cast<int>(r));
    return ranks;
  };
  small_vector<std::size_t> calls, frequent;   // by the lowest ranks that make them; how many do
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::size_t call = 0;
    while (call < calls.size() && !is_same(all[calls[call]], all[r])) ++call;
    if (call == calls.size()) calls.push_back(r), frequent.push_back(0);
    ++frequent[call];
  }
  std::string words = "colligo: ranks make different calls: ";
  for (std::size_t shown = 0; shown < calls.size(); ++shown) {
    if (shown == most) return concat({words, "; and ", calls.size() - most, " more"});
    auto const next = std::min_element(frequent.begin(), frequent.end());
    description const& one = all[calls[static_cast<std::size_t>(next - frequent.begin())]];
    *next = all.size() + 1;   // listed
    small_vector<int> const ranks = ranks_that_call(one);
    words += concat({shown == 0 ? "" : "; ", ranks_text(ranks), one.is_refusal ? " refuse" : " call",
                       ranks.size() == 1 ? "s" : "", one.is_refusal ? ": " : " ", one.text()});
    bool const is_unclear = is_any(all, [&](description const& other) {
      return other.text() == one.text() && !is_same(other, one);
    });
    if (is_unclear) words += concat({" [", one.hash(), "]"});   // they differ in characters that are not shown
  }
  return words;
}

struct take_known {
  description operator()(description const& a, description const& b) const { return a.text().empty() ? b : a; }
};
[[gnu::cold]] COLLIGO_BODY void compare_with_others(communicator_state& state, description const& mine) {
  if (state.size() == 1) return;
  verdict all{mine.is_refusal ? 0 : mine.hash(), 0};
  auto const earlier = std::exchange(state.differed, ++state.compared);   // also if the comparison throws
  combine_among_ranks(state, compare_calls{}, view(&all, 1));
  if (all.differ == 0 && !mine.is_refusal) state.differed = earlier;
  if (all.differ == 0) return;
  small_vector<description> theirs(static_cast<std::size_t>(state.size()));
  theirs[static_cast<std::size_t>(state.rank())] = mine;
  combine_among_ranks(state, take_known{}, view<description>(theirs));
  if (!mine.is_refusal) throw mismatch_error(difference_text(theirs));
}

[[gnu::cold]] COLLIGO_BODY void agree_on(communicator_state& state, call const& call, choice const& by, made how) {
  if (state.size() == 1) return;
  description const words = described(call, by, how);
  compare_with_others(state, words);
  if (has_own_counts(call.what) && compare_blocks) compare_blocks(state, call, words.text());
}

[[gnu::cold]] COLLIGO_BODY void report_refusal(communicator_state& state, bool checked, std::string_view why) {
  if ((state.before() & in_functor) != 0 || state.requests().is_inside(state)) return;   // others make no such call
  if (!checked) return state.refuse(why);
  description words;
  words.add(why);
  words.is_refusal = true;
  compare_with_others(state, words);
}

}  // namespace colligo
