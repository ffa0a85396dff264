// SPDX-License-Identifier: BSL-1.0
// The table in examples/guide/algorithms.md has every tag of the catalogue, its collectives, its order, its knobs and
// their defaults, and no other line.
#include <catch2/catch.hpp>

#include <colligo/algorithm/catalogue.hpp>
#include <colligo/core/knob.hpp>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

using namespace colligo;

namespace {

struct line {
  std::string collectives, order, knobs;
};
std::map<std::string, line> lines_of_page() {
  std::map<std::string, line> found;
  std::ifstream page(COLLIGO_TEST_GUIDE "/algorithms.md");
  std::string text;
  while (std::getline(page, text) && text != "| tag | collectives | order | knobs and defaults | good for |") {}
  std::regex const row(R"(\| `(\w+)` \| ([^|]*) \| ([^|]*) \| ([^|]*)\| [^|]+ \|)");
  for (std::smatch cells; std::getline(page, text) && !text.empty();)
    if (std::regex_match(text, cells, row)) found[cells[1]] = {cells[2], cells[3], cells[4]};
  return found;
}

std::set<std::string> matches(std::string const& text, std::string const& pattern) {
  std::regex const each(pattern);
  std::set<std::string> all;
  for (std::sregex_iterator i(text.begin(), text.end(), each), end; i != end; ++i) all.insert((*i)[i->size() - 1]);
  return all;
}
// all_gather(v) stands for two.
std::set<std::string> collectives_in(std::string const& text) {
  auto all = matches(text, R"(([a-z_]+)(?![a-z_)]))");
  for (auto const& both : matches(text, R"([a-z_]+\([a-z_]+\))")) {
    auto const at = both.find('(');
    all.insert(both.substr(0, at));
    all.insert(both.substr(0, at) + both.substr(at + 1, both.size() - at - 2));
  }
  return all;
}

}  // namespace

TEST_CASE("algorithms.md has every algorithm, for what, in which order, and its knobs") {
  auto lines = lines_of_page();
  for_each_algorithm([&]<class Tag>(Tag const& tag) {
    std::string const name(Tag::name);
    INFO(name);
    REQUIRE(lines.contains(name));
    line const row = lines[name];
    lines.erase(name);

    std::set<std::string> known;
    int combining = 0, kept = 0, sequential = 0;
    for (std::size_t c = 0; c < collective_count; ++c)
      detail::for_collective(static_cast<collective>(c), [&]<collective C>() {
        if constexpr (offers<Tag, C, detail::any_element, detail::any_functor>) {
          known.emplace(name_of(C));
          if constexpr (combines(C)) {
            using policy = typename detail::policy_of<C, Tag, detail::any_element, detail::any_functor>::type;
            ++combining, kept += keeps_order<policy>(), sequential += is_sequential<policy>();
          }
        }
      });
    CHECK(collectives_in(row.collectives) == known);
    CHECK(row.order == (combining == 0 ? "-" : combining == sequential ? "left to right" : kept ? "kept" : "any"));
    CHECK((kept == 0 || kept == combining));

    std::set<std::string> knobs;
    if constexpr (requires { Tag::knobs; })
      for (auto const& each : Tag::knobs)
        knobs.insert("`" + std::string(each.name) + "` " + std::to_string(tag.*each.member));
    CHECK(matches(row.knobs, R"((`[a-z_]+` [0-9]+))") == knobs);
  });
  CHECK(lines.empty());
}
