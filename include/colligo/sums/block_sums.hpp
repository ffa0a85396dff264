// SPDX-License-Identifier: BSL-1.0
/// @file
/// Exact sums of blocks of numbers at the speed of ordinary ones. A number x is added to a constant so much larger that
/// the sum is a multiple of a known power of two; the rounding error is exactly x's part below that power, and is added
/// to a second constant, and the error there to a third one. So the parts' sums are exact if nothing remains, which is
/// checked; else mantissas are added as integers. A product is two numbers, the rounded product and its error (T. J.
/// Dekker, A floating-point technique for extending the available precision, Numer. Math. 18, 1971; a fused
/// multiplication gives it where the processor has one).
///
/// This needs IEEE arithmetic to nearest without flushing subnormal numbers to zero: without it (another rounding mode,
/// FTZ, DAZ, -ffast-math, -fassociative-math, x87) all is done as integers.
/// Source: J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64(7), 2015; S. M. Rump,
/// T. Ogita, S. Oishi, Accurate floating-point summation I, SIAM J. Sci. Comput. 31(1), 2008.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "fixed_point.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t block_length = 2048;
inline constexpr int most_levels = 3;   // a fourth would take longer than the table of sums_by_exponent

/// The sum of a block: multiples[i] 2^exponents[i] for i < count; count < 0: more levels are needed.
struct block_sum {
  int count = -1;
  std::array<std::int64_t, 8> multiples;   ///< below 2^56
  std::array<int, 8> exponents;
};

/// Whether this thread's arithmetic is now as block sums need it.
bool arithmetic_is_plain();
/// The sum of up to block_length numbers, or of products a[i] b[i], by two or three constants (levels). Precondition:
/// arithmetic_is_plain().
template <class T>
block_sum sum_of_block(std::size_t n, int levels, T const* x);
template <class T>
block_sum sum_of_block(std::size_t n, int levels, T const* a, T const* b);

/// A table: for each sign and exponent the sum of the numbers that have it. For any numbers.
/// Source: R. M. Neal, Fast exact summation using small and large superaccumulators, arXiv 1505.05571, 2015.
template <class T>
struct sums_by_exponent {
  static constexpr std::size_t most = std::size_t{1} << 32;   ///< numbers between two calls of empty()
  static constexpr int low_bits = 32;

  struct fractions { std::uint64_t sum; std::int64_t carried; };   ///< carried counts 2^low_bits
  std::array<fractions, std::size_t{2} << format_of<T>.exponent> of{};
  std::array<std::uint16_t, std::size_t{2} << format_of<T>.exponent> added{};   ///< numbers since the last carry()
  std::int64_t special = 0;

  void add(std::size_t n, T const* x);
  /// Calls give(multiple, exponent) for all sums and becomes empty.
  template <class F>
  void empty(F const& give) {
    for (std::size_t place = 0; place < of.size(); ++place) {
      carry(place);
      auto const [low, high] = std::exchange(of[place], {});
      auto const exponent = static_cast<int>(place & (of.size() / 2 - 1));
      auto const sign = place < of.size() / 2 ? std::int64_t{1} : std::int64_t{-1};
      int const shift = exponent - (exponent != 0) + format_of<T>.least();
      if (low != 0) give(sign * static_cast<std::int64_t>(low), shift);
      if (high != 0) give(sign * high, shift + low_bits);
    }
  }

 private:
  static constexpr std::uint16_t most_added = 1024;   // so many numbers of 53 bits have a sum below 2^64
  void carry(std::size_t place) {
    std::uint64_t const first_bit = place % (of.size() / 2) != 0, n = std::exchange(added[place], std::uint16_t{0});
    std::uint64_t const all = of[place].sum + (first_bit * n << format_of<T>.fraction);
    of[place].carried += static_cast<std::int64_t>(all >> low_bits);
    of[place].sum = all & ((std::uint64_t{1} << low_bits) - 1);
  }
};

/// A table: for each exponent the sum of the products that have it. For any factors.
template <class T>
struct products_by_exponent {
  static constexpr std::size_t most = std::size_t{1} << 20;
  __extension__ using wide = __int128;

  std::array<wide, std::size_t{2} << format_of<T>.exponent> of{};
  std::int64_t special = 0;

  void add(std::size_t n, T const* a, T const* b);
  template <class F>
  void empty(F const& give) {
    constexpr int part = 48;
    constexpr wide low = (wide{1} << part) - 1;
    for (int shift = 2 * format_of<T>.least(); wide& sum : of) {
      for (int at = shift; sum != 0; at += part) {
        bool const last = sum >> part == 0 || sum >> part == -1;
        give(static_cast<std::int64_t>(last ? sum : sum & low), at);
        sum = last ? 0 : sum >> part;
      }
      ++shift;
    }
  }

 private:
  void add_rare(integer_form const& x, integer_form const& y);
};

inline constexpr std::size_t worth_blocks = 64;   ///< fewer numbers are added one by one

/// Adds numbers, or products, block by block, each block in the fastest exact way. Calls f(multiple, exponent) for the
/// multiples of powers of two that the sum consists of.
template <class Table, class F>
class adder {
 public:
  explicit adder(F f) : give_(f), plain_(arithmetic_is_plain()) {}

  /// All of x, or the products of both.
  template <class T, class... More>
  void add_all(std::size_t n, T const* x, More const*... y) {
    int levels = 2;   // as many as the block before needed: the next one is similar
    for (std::size_t at = 0; at < n; at += block_length)
      add(std::min(block_length, n - at), levels, x + at, (y + at)...);
  }
  /// The flags for NaN and infinities.
  std::int64_t finish() {
    if (in_table_ != 0) table_->empty(give_);
    return table_ ? table_->special : 0;
  }

 private:
  // `levels` above most_levels: the table adds this block and some more.
  template <class... T>
  void add(std::size_t n, int& levels, T const*... x) {
    for (; plain_ && levels <= most_levels; ++levels) {
      block_sum const sum = sum_of_block(n, levels, x...);
      if (sum.count < 0) continue;
      for (std::size_t i = 0; i < static_cast<std::size_t>(sum.count); ++i) give_(sum.multiples[i], sum.exponents[i]);
      return;
    }
    constexpr int blocks_until_next_try = 64;
    if (++levels > most_levels + 1 + blocks_until_next_try) levels = 2;
    if (!table_) table_.emplace();
    if (in_table_ > Table::most - n) table_->empty(give_), in_table_ = 0;
    table_->add(n, x...);
    in_table_ += n;
  }

  F give_;
  bool plain_;
  std::optional<Table> table_;
  std::size_t in_table_ = 0;
};

}  // namespace colligo

#if COLLIGO_HAS_REST
#include "block_sums_body.hpp"
#endif
