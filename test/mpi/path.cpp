// SPDX-License-Identifier: BSL-1.0
// The path of a call: the functions between the user's line and the functor, in an all_reduce of 8 bytes over shared
// memory that names its algorithm, when it is made for the first time and when it is played. Not optimised, so that no
// function is inlined. Rank 0 prints both.
#define COLLIGO_PINNED
#include <cxxabi.h>
#include <execinfo.h>

#include <boost/mpi/environment.hpp>
#include <colligo/algorithm/recursive_doubling.hpp>
#include <colligo/all_reduce.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace path {   // not without a name: functions that are exported are known by name

constexpr std::size_t most_of_text = 22, most_when_played = 10;

struct call_stack {
  std::array<void*, 200> frames{};
  int depth = 0;
  void take() { depth = backtrace(frames.data(), static_cast<int>(frames.size())); }
};

struct add_and_look {
  call_stack* seen;
  double operator()(double a, double b) const {
    seen->take();
    return a + b;
  }
};

// Of "program(mangled+0x12) [address]": without template arguments and parameters.
inline std::string function_of(std::string_view symbol) {
  std::size_t const open = symbol.find('('), plus = symbol.find('+', open);
  if (open == symbol.npos || plus == symbol.npos) return std::string(symbol);
  std::string const mangled(symbol.substr(open + 1, plus - open - 1));
  int wrong = 0;
  char* const words = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &wrong);
  if (wrong != 0) return mangled;
  std::string name;
  int nested = 0;
  for (char const* at = words; *at && !(nested == 0 && *at == '(' && !std::string_view(at).starts_with("()")); ++at) {
    nested += *at == '<';
    if (nested == 0) name += *at;
    nested -= *at == '>';
  }
  std::free(words);
  return name.substr(name.rfind(' ') + 1);
}

// From the functor to the user's line, neither included.
inline std::vector<std::string> functions_between(call_stack const& seen, call_stack const& user) {
  std::vector<std::string> functions;
  char** const symbols = backtrace_symbols(seen.frames.data(), seen.depth);
  for (int i = 2; i < seen.depth - user.depth; ++i) functions.push_back(function_of(symbols[i]));   // 0: take()
  std::free(symbols);
  return functions;
}

}  // namespace path

int main(int argc, char** argv) {
  boost::mpi::environment const environment(argc, argv);
  boost::mpi::communicator const world;
  path::call_stack user, first, last;
  user.take();
  auto const reduce = [&world](path::call_stack& seen) {
    double const in[]{1};
    double out[1];
    colligo::all_reduce(world, in, out, path::add_and_look{&seen}, colligo::recursive_doubling{});
    return out[0] == world.size();
  };
  bool right = reduce(first);
  for (int i = 0; i < 10; ++i) right = reduce(last) && right;
  auto const of_text = path::functions_between(first, user), when_played = path::functions_between(last, user);
  if (world.rank() == 0) {
    std::cout << "played: " << when_played.size() << " functions, at most " << path::most_when_played << '\n';
    for (auto const& function : when_played) std::cout << "  " << function << '\n';
    std::cout << "its algorithm: " << of_text.size() << " functions, at most " << path::most_of_text << '\n';
    for (auto const& function : of_text) std::cout << "  " << function << '\n';
  }
  auto const has = [](std::vector<std::string> const& functions, std::string_view words) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](std::string const& function) { return function.find(words) != function.npos; });
  };
  bool const whole = has(when_played, "::play") && has(of_text, "recursive_doubling") && has(of_text, "all_reduce");
  return right && whole && when_played.size() <= path::most_when_played && of_text.size() <= path::most_of_text ? 0 : 1;
}
