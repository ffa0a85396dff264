// SPDX-License-Identifier: BSL-1.0
// libFuzzer: whatever the input, as a table it is refused with its line or its rows are in order, and what a row names
// means the same when it is said in full; as COLLIGO_NETWORK it is refused, or a machine.
#include <colligo/table.hpp>
#include <colligo/engine/communicator_state_body.hpp>

#include <cstdint>
#include <cstdlib>

using namespace colligo;

namespace {

void demand(bool sound) {
  if (!sound) std::abort();
}

std::vector<detail::measured_row> rows_of(std::string const& text) {
  try {
    return detail::measured_table::parse(text, "fuzz").rows;
  } catch (argument_error const& e) {
    std::string_view const said = e.what();
    demand(said.starts_with("fuzz:") && said.find_first_not_of("0123456789", 5) == said.find(": ", 5));
    return {};
  }
}

/// "ring:block=65536@messages"
std::string in_full(chosen_algorithm const& algorithm) {
  std::string name(name_of(algorithm));
  detail::with_tag(algorithm, [&]<class Tag>(Tag const& tag) {
    if constexpr (requires { Tag::knobs; })
      for (char before = ':'; auto const& knob : Tag::knobs) {
        name.append(1, before).append(knob.name) += '=' + std::to_string(tag.*knob.member);
        before = ',';
      }
  });
  return algorithm.over == transport::best ? name : name + '@' + std::string(name_of(algorithm.over));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  auto rows = rows_of(text);
  for (auto const& row : rows_of("all_reduce any any 4 8 " + text)) rows.push_back(row);   // a name alone
  for (std::size_t r = 0; auto const& row : rows) {
    demand(row.hosts >= 1 && row.hosts <= row.ranks && row.line >= 1);
    auto const again = rows_of("all_reduce any any 4 8 " + in_full(row.take));
    demand(again.size() == 1 && in_full(again[0].take) == in_full(row.take));
    if (r > 0 && row.line > 1) demand(rows[r - 1].what <= row.what);
    ++r;
  }
  if (auto const m = detail::network_in(text)) {
    auto const positive = [](double x) { return x > 0 && x < 1e300; };
    demand(positive(m->alpha) && positive(m->beta) && positive(m->gamma));
    demand(m->f_further >= 0 && m->f_further <= 1);
  }
  detail::settings all;
  detail::take_rows_that_set(text, all);
  return 0;
}
