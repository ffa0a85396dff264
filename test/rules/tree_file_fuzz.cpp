// SPDX-License-Identifier: BSL-1.0
// libFuzzer: whatever the input, parse_tree refuses it, or what it makes of it is written and read back as the same
// tree. The third byte says p.
#include <colligo/rules/tree_file.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  int const p = size < 3 ? 1 : std::max(1, data[2] % 16);   // files of the corpus begin with "# p"
  try {
    auto const t = colligo::parse_tree({reinterpret_cast<char const*>(data), size}, p, "fuzz");
    std::ostringstream text;
    text << t;
    if (t.size() != p || colligo::parse_tree(text.str(), p) != t) std::abort();
  } catch (colligo::argument_error const& e) {
    if (!std::string_view(e.what()).starts_with("colligo: fuzz:")) std::abort();
  }
  return 0;
}
