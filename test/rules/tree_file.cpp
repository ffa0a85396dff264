// SPDX-License-Identifier: BSL-1.0
// The corpus of tree files: test/trees/good, whose first line says "# p", and test/trees/bad, whose first line says
// "# p line: reason".
#include <catch2/catch.hpp>

#include <colligo/rules/tree_file.hpp>
#include <colligo/rules/named_trees.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

using namespace colligo;
using Catch::Matchers::Contains, Catch::Matchers::StartsWith;

namespace {

template <class F>
int for_each_file(std::string const& folder, F f) {
  int files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(std::string(COLLIGO_TEST_TREES) + '/' + folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream first(text.substr(0, text.find('\n')));
    char hash = 0;
    int p = 0;
    std::string expected;
    REQUIRE((first >> hash >> p && hash == '#'));
    std::getline(first >> std::ws, expected);
    INFO(entry.path());
    f(text, p, entry.path().filename().string(), expected);
    ++files;
  }
  return files;
}

}  // namespace

TEST_CASE("good tree files are read, and what is written of them reads back") {
  CHECK(7 == for_each_file("good", [](std::string const& text, int p, std::string const& name, std::string const&) {
    tree const t = parse_tree(text, p, name);
    std::ostringstream written;
    written << t;
    CHECK(parse_tree(written.str(), p) == t);
  }));
  CHECK(parse_tree("0: 2 1 # as they report", 3) == tree::of_children({{2, 1}, {}, {}}));
}

TEST_CASE("bad tree files are refused with file, line and reason") {
  CHECK(30 ==
        for_each_file("bad", [](std::string const& text, int p, std::string const& name, std::string const& expected) {
          REQUIRE_FALSE(expected.empty());
          CHECK_THROWS_AS(parse_tree(text, p, name), argument_error);
          CHECK_THROWS_WITH(parse_tree(text, p, name), StartsWith("colligo: " + name + ':' + expected));
        }));
  CHECK_THROWS_WITH(parse_tree("0:", 0, "here"), StartsWith("colligo: here:1: a tree over 0 ranks"));
}

TEST_CASE("a file that never ends being wrong costs no more memory than its tree would") {
  std::string endless = "0:";
  for (int i = 0; i < 100000; ++i) endless += " 1";
  CHECK_THROWS_WITH(parse_tree(endless, 3, "file"), Contains("file:1: rank 1 is a child of 0 twice"));
  CHECK_THROWS_WITH(parse_tree(std::string(100000, '\n') + "0: 1", 3, "file"),
                    Contains("file:100001: rank 2 is not in the tree"));
}
