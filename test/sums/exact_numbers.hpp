// SPDX-License-Identifier: BSL-1.0
// Numbers that sums get wrong, and their sums by other means: a digest of exact sums that has to be the same whatever
// compiled it.
#pragma once

#include <colligo/binned_sum.hpp>
#include <colligo/exact_sum.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace exact_numbers {

/// The same everywhere, without any library's distributions.
class source {
 public:
  explicit source(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }

 private:
  std::uint64_t state_;
};

inline double made_of(bool negative, int exponent, std::uint64_t fraction) {
  return std::bit_cast<double>(std::uint64_t{negative} << 63 | static_cast<std::uint64_t>(exponent) << 52 |
                               fraction >> 12);
}

/// Sets of one kind each: all finite numbers; a few binary orders; cancellation; subnormal; ties to even; -0 and 0; the
/// largest (whose sum Shewchuk's algorithm can not form).
inline constexpr int kinds = 7, kind_of_largest = 6;
inline std::vector<double> numbers(source& random, int kind, std::size_t n) {
  std::vector<double> all;
  while (all.size() < n) {
    std::uint64_t const bits = random();
    bool const negative = (random() & 1) != 0;
    switch (kind) {
      case 0: all.push_back(made_of(negative, static_cast<int>(random.below(2000)), bits)); break;
      case 1: all.push_back(made_of(negative, 1000 + static_cast<int>(random.below(40)), bits)); break;
      case 2: {
        double const x = made_of(negative, 900 + static_cast<int>(random.below(200)), bits);
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(random.below(all.size() + 1)), x);
        double const y = random.below(4) == 0 ? -x * (1 + 0x1p-52) : -x;
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(random.below(all.size() + 1)), y);
        break;
      }
      case 3: all.push_back(made_of(negative, static_cast<int>(bits & 1), bits >> random.below(50))); break;
      case 4: all.push_back(std::ldexp(negative ? -1.0 : 1.0, static_cast<int>(random.below(110)))); break;
      case 5: all.push_back(random.below(3) != 0 ? -0.0 : made_of(negative, 1023, 0)); break;
      default: all.push_back(made_of(negative, 2046 - static_cast<int>(random.below(3)), bits));
    }
  }
  return all;
}

inline std::uint64_t mixed(std::uint64_t digest, std::uint64_t word) {
  return (digest ^ word) * 0x100000001b3u ^ (digest >> 29);
}
template <class Summand>
std::uint64_t mixed(std::uint64_t digest, colligo::exact_sum<Summand> const& sum) {
  auto const words = std::bit_cast<std::array<std::uint64_t, sizeof sum / 8>>(sum.canonical());
  for (std::uint64_t const word : words) digest = mixed(digest, word);
  return mixed(digest, std::bit_cast<std::uint64_t>(static_cast<double>(sum)));
}

// K words, then pairs of words of half the length, the lower half first whatever the processor's order of bytes.
template <class T, int K>
std::uint64_t mixed(std::uint64_t digest, colligo::binned_sum<T, K> const& sum) {
  auto words = std::bit_cast<std::array<std::uint64_t, sizeof sum / 8>>(sum);
  if constexpr (std::endian::native == std::endian::big)
    for (std::size_t i = K; i < words.size(); ++i) words[i] = std::rotl(words[i], 32);
  for (std::uint64_t const word : words) digest = mixed(digest, word);
  return mixed(digest, std::bit_cast<std::uint64_t>(static_cast<double>(sum)));
}

/// Of sums of doubles and floats, and of products, short and long, with each kind of numbers.
inline std::uint64_t digest() {
  source random(1);
  std::uint64_t all = 1;
  for (int kind = 0; kind < kinds; ++kind)
    for (std::size_t const n : {1u, 3u, 20u, 100u, 2048u, 5001u}) {
      auto const x = numbers(random, kind, n), y = numbers(random, kind, n);
      std::vector<float> z;
      for (double const v : x) z.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(
                                   std::bit_cast<std::uint64_t>(v) >> 32 & 0xbfffffff)));
      all = mixed(all, colligo::exact_sum<double>(x));
      all = mixed(all, colligo::exact_sum<float>(z));
      all = mixed(all, colligo::binned_sum<double>(x));
      all = mixed(all, colligo::binned_sum<float, 2>(z));
      colligo::exact_sum<colligo::exact_product<double>> products;
      products.add_products(std::span(x).first(n), std::span(y).first(n));
      all = mixed(all, products);
      colligo::exact_sum<double> rounded;
      for (std::size_t i = 0; i < n; ++i) rounded += colligo::exact_product{x[i], y[i]};
      all = mixed(all, rounded);
    }
  return all;
}

}  // namespace exact_numbers
