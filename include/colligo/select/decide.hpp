// SPDX-License-Identifier: BSL-1.0
/// @file
/// From the last argument of a call to the text that runs: what is named or automatic is resolved here, and everything is refused here that is
/// not known to be wrong when the call is compiled.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "../algorithm/catalogue.hpp"
#include "../core/text.hpp"
#include "../transport/call.hpp"
#include "named.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The texts of a collective in the order of the catalogue, null where an algorithm has no form for it.
using text_table = std::array<text const*, catalogue_size>;

template <collective C, class Tag>
constexpr text const* text_if_any() {
  if constexpr (offers<Tag, C, any_element, any_functor>) return &text_for<C, Tag>;
  else return nullptr;
}
template <collective C>
inline constexpr text_table texts_for = []<class... Tags>(list_of_tags<Tags...>) {
  return text_table{text_if_any<C, Tags>()...};
}(catalogue_of_tags{});

/// A text, its tag, and how its messages travel. Holds until the next decision for the same collective over the same port.
struct decision {
  text const* what;
  void const* tag;
  transport over;
};

#if COLLIGO_HAS_BODIES
template <collective C>
text_table const& texts() { return texts_for<C>; }
#else
text_table const& compiled_texts(collective what);
template <collective C>
text_table const& texts() { return compiled_texts(C); }
#endif

/// The texts are asked for only where the latest decision does not do.
decision decide_automatic(endpoint& port, call const& its, text_table const& (*texts)());
decision decide_named(endpoint& port, call const& its, std::string_view name, text_table const& (*texts)());
decision decide_chosen(endpoint& port, call const& its, chosen_algorithm const& chosen, text_table const& (*texts)());

/// The algorithm that a text names, "ring", "pipelined_ring:block=65536" or "ring@shared_memory". `where` begins an error ("all_reduce on
/// rank 0: "). Throws algorithm_error with the names that are known.
chosen_algorithm parse(text_table const& texts, std::string_view whole, std::string const& where);

/// The text of a tag that is known when the call is compiled; the library's own are compiled for any element.
template <collective C, class Tag, class T, class Op>
decision decide_pinned(Tag const& tag) {
  if constexpr (requires { typename Tag::over_memory; }) {
    decision inner = decide_pinned<C, typename Tag::over_memory, T, Op>(tag);
    inner.over = transport::shared_memory;
    return inner;
  } else if constexpr (in_catalogue<Tag>) {
#if COLLIGO_HAS_BODIES
    return {&text_for<C, Tag>, &tag, transport_of<Tag>()};
#else
    return {compiled_texts(C)[index_in_catalogue<Tag>()], &tag, transport_of<Tag>()};
#endif
  } else {
    return {&text_for<C, Tag, T, Op>, &tag, transport_of<Tag>()};
  }
}

/// Runs the call. Throws, before anything is written, what the decision makes impossible on all ranks alike.
void run_decided(endpoint& port, call const& its, decision const& by);
/// decide_automatic() and run_decided() at once.
void run_automatic(endpoint& port, call const& its, text_table const& (*texts)());

/// The same as a request that has not been started.
std::unique_ptr<running> prepare_decided(endpoint& port, call const& its, decision const& by, std::unique_ptr<owned_by_request> owned,
                                         bool persistent);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "decide_body.hpp"
#endif
