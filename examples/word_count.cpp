// SPDX-License-Identifier: BSL-1.0
// Which words does a text have most often? The ranks share out its lines, each counts words in a map, and one reduce
// with a functor that merges two maps brings them together: any type that Boost.Serialization knows may travel.
//
//   mpirun -n 4 word_count LICENSE
#include "data_folder.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/reduce.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using word_counts = std::map<std::string, std::int64_t>;

// A functor of two maps. It commutes, so that partial results may be merged as they arrive.
struct merge {
  word_counts operator()(word_counts const& a, word_counts const& b) const {
    word_counts both = a;
    for (auto const& [word, count] : b) both[word] += count;
    return both;
  }
};

template <>
inline constexpr bool colligo::commutative<merge, word_counts> = true;

// Words are letters one after the other; capital letters count as small ones.
void count_words(std::string const& line, word_counts& counts) {
  std::string word;
  for (char const letter : line + ' ')
    if (auto const code = static_cast<unsigned char>(letter); std::isalpha(code))
      word += static_cast<char>(std::tolower(code));
    else if (!word.empty()) ++counts[std::exchange(word, {})];
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  bool const speaks = world.rank() == 0;
  std::string const path = argc > 1 ? argv[1] : COLLIGO_EXAMPLE_DATA "/README.md";

  std::vector<std::string> lines;
  std::ifstream file(path);
  bool const opened = file.good();
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  // A rank that can not open the file does not leave the others waiting.
  if (!colligo::all_reduce(world, opened, std::logical_and<>{})) {
    if (speaks) std::fprintf(stderr, "word_count: %s can not be opened on every rank\n", path.c_str());
    return 1;
  }

  word_counts mine;
  colligo::range const share = colligo::blocks{{0, lines.size()}, world.size()}[world.rank()];
  for (std::size_t i = share.first; i < share.last; ++i) count_words(lines[i], mine);

  word_counts const all = colligo::reduce(world, mine, merge{}, 0);   // on other ranks what it returns says nothing

  if (!speaks) return 0;
  std::vector<std::pair<std::string, std::int64_t>> words(all.begin(), all.end());
  std::ranges::stable_sort(words, std::greater<>{}, &std::pair<std::string, std::int64_t>::second);
  std::int64_t sum = 0;
  for (auto const& [word, count] : words) sum += count;
  std::printf("# ranks: %d\n%lld words, %zu different ones\n", world.size(), static_cast<long long>(sum), words.size());
  if (words.size() > 10) words.resize(10);
  for (auto const& [word, count] : words) std::printf("%6lld %s\n", static_cast<long long>(count), word.c_str());
}
