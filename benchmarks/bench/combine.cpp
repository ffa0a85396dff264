// SPDX-License-Identifier: BSL-1.0
/// @file
/// How fast vectors are combined: the loop of the library, a plain loop and memcpy, on vectors that lie in the
/// first-level cache. bytes_per_second counts what is written.
#include <benchmark/benchmark.h>

#include <colligo/core/element.hpp>
#include <colligo/engine/scratch.hpp>
#include <cstring>

#include "elements.hpp"

namespace bench {
namespace {

constexpr std::size_t vector_bytes = 16384;

struct library {
  template <class T, class Op>
  void operator()(T const* left, T const* right, T* out, std::size_t n, Op& op) const {
    colligo::detail::combine(left, right, out, n, op);
  }
};
struct plain {
  template <class T, class Op>
  void operator()(T const* left, T const* right, T* out, std::size_t n, Op& op) const {
    for (std::size_t i = 0; i < n; ++i) out[i] = op(left[i], right[i]);
  }
};
struct copy {
  template <class T, class Op>
  void operator()(T const* left, T const*, T* out, std::size_t n, Op&) const {
    std::memcpy(out, left, n * sizeof(T));
  }
};

template <class T, class Op, class Loop>
void combined(benchmark::State& state) {
  std::size_t n = vector_bytes / sizeof(T);
  colligo::detail::buffer memory[3];
  T* vectors[3];
  for (int v = 0; v < 3; ++v) {
    vectors[v] = reinterpret_cast<T*>(memory[v].of_size(vector_bytes));
    for (std::size_t i = 0; i < n; ++i) vectors[v][i] = input<T>(1, v, i);
  }
  Op op;
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);   // a length known at compile time would be a different loop
    Loop{}(vectors[0], vectors[1], vectors[2], n, op);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(n * sizeof(T)));
}

template <class T, class Op>
void all_loops(char const* what) {
  benchmark::RegisterBenchmark(fmt::format("{}/combine", what).c_str(), combined<T, Op, library>);
  benchmark::RegisterBenchmark(fmt::format("{}/plain_loop", what).c_str(), combined<T, Op, plain>);
  benchmark::RegisterBenchmark(fmt::format("{}/memcpy", what).c_str(), combined<T, Op, copy>);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  all_loops<double, sum>("sum of double");
  all_loops<float, sum>("sum of float");
  all_loops<int, sum>("sum of int");
  all_loops<double, colligo::maximum>("max of double");
  all_loops<float, colligo::maximum>("max of float");
  all_loops<int, colligo::maximum>("max of int");
  all_loops<place, colligo::maxloc>("maxloc of located");
  all_loops<summary, merge>("merge of 40 bytes");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
