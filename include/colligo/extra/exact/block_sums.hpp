// SPDX-License-Identifier: BSL-1.0
/// @file
/// Exact sums of blocks of numbers at the speed of ordinary ones. A number x is added to a constant so much larger that
/// the sum's last bit is a multiple of a known power of two; what is lost is exactly x's part below that power, and is
/// added to a second constant, and what is lost there to a third one. So the parts' sums are exact as long as nothing
/// is left, which is checked; else
/// mantissas are added as integers.
///
/// This needs IEEE arithmetic to nearest without flushing subnormal numbers to zero: without it (another rounding mode,
/// FTZ, DAZ, -ffast-math, x87) all is done as integers.
/// Source: J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64(7), 2015; S. M. Rump,
/// T. Ogita, S. Oishi, Accurate floating-point summation I, SIAM J. Sci. Comput. 31(1), 2008.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "fixed_point.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t block_length = 2048;

/// The sum of a block: multiples[i] 2^exponents[i] for i < count; count < 0: can not be made so.
struct block_sum {
  int count = -1;
  std::array<std::int64_t, 3> multiples;   ///< below 2^56
  std::array<int, 3> exponents;
};

/// Arithmetic is as block sums need it, on this thread now.
bool arithmetic_is_plain();
/// Of up to block_length numbers, in two constants or three. Precondition: arithmetic_is_plain().
block_sum sum_of_block(double const* x, std::size_t n, int levels);
block_sum sum_of_block(float const* x, std::size_t n, int levels);
/// a[i] b[i] = products[i] + errors[i], both exact. False: not all of them can be made so. What follows them up to
/// a multiple of 8 is written too. Precondition: arithmetic_is_plain().
bool products_of_block(double const* a, double const* b, std::size_t n, double* products, double* errors);

/// Sums of the numbers that have the same exponent, in two parts of their mantissas: whatever numbers there are, each
/// costs two additions.
struct sums_by_exponent {
  static constexpr std::size_t most = std::size_t{1} << 24;   ///< so many may be added
  static constexpr int low_bits = 32;

  struct both { std::int64_t low, high; };
  std::array<both, 2048> of{};
  std::int64_t special = 0;

  void add(double const* x, std::size_t n);
  void add(float const* x, std::size_t n);
};

inline constexpr std::size_t worth_blocks = 64;   ///< fewer numbers are added one by one

/// Adds blocks, each in the way that is fastest for it: gives f(multiple, exponent) multiples of powers of two.
template <class F>
class adder {
 public:
  explicit adder(F f) : give_(f), plain_(arithmetic_is_plain()) {}

  /// `levels`: those of the block before this one, which is much alike; 4 and more: the table, for this many more.
  template <class T>
  void add(std::span<T const> block, int& levels) {
    for (; plain_ && levels <= 3; ++levels) {
      block_sum const sum = sum_of_block(block.data(), block.size(), levels);
      if (sum.count < 0) continue;
      for (std::size_t i = 0; i < static_cast<std::size_t>(sum.count); ++i) give_(sum.multiples[i], sum.exponents[i]);
      return;
    }
    constexpr int blocks_until_next_try = 64;
    if (++levels > 4 + blocks_until_next_try) levels = 2;
    if (!by_exponent_) by_exponent_.emplace();
    by_exponent_->add(block.data(), block.size());
    if ((in_table_ += block.size()) > sums_by_exponent::most - block_length) empty_table();
  }
  /// What has been seen that is no number.
  std::int64_t finish() {
    empty_table();
    return by_exponent_ ? by_exponent_->special : 0;
  }

 private:
  void empty_table() {
    if (in_table_ == 0) return;
    for (int exponent = format_of<double>.least(); auto& [low, high] : by_exponent_->of) {
      if (low != 0) give_(std::exchange(low, 0), exponent);
      if (high != 0) give_(std::exchange(high, 0), exponent + sums_by_exponent::low_bits);
      ++exponent;
    }
    in_table_ = 0;
  }

  F give_;
  bool plain_;
  std::optional<sums_by_exponent> by_exponent_;
  std::size_t in_table_ = 0;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "block_sums_body.hpp"
#endif
