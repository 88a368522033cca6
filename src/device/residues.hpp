// The residue number system of FindResidues: its moduli, and what takes residues back to
// numbers.
#pragma once

#include <cstdint>

namespace overlapack::residues {

/// Pairwise coprime, so that an integer is known from its residues up to multiples of P, their
/// product; and so small that a residue, of the sign with the smaller modulus, is an int8.
inline constexpr int kModuli = 14;
inline constexpr int kModulus[kModuli] = {256, 255, 253, 251, 247, 241, 239,
                                          233, 229, 227, 223, 217, 211, 199};

/// Numbers are rounded to multiples of 2^-kBits of their scales.
inline constexpr int kBits = 54;
/// P 2^(-2 kBits), rounded.
inline constexpr double kRange = 0x1.1e3fc471eb44fp+2;

/// A row is short if the sum of its squares, in units of the square of its scale, is at most this:
/// the larger, the less is lost by rounding. By Cauchy and Schwarz, a product of two short rows is
/// no more, and must be below P / 2. And the parts of a complex number, added, must have no more
/// than 56 bits.
inline constexpr double kMaxSquares = 1.375 * 1.375;
static_assert(kMaxSquares < kRange / 2);
/// By this factor rounding errors may take the square of a norm beyond a bound known beforehand.
inline constexpr double kRounding = 1 + 0x1p-20;

/// Where scales are found for rows: they are 2^-kSpareBits times what they would have to be, lest
/// one overflow, and 2^kSmallestScale at least.
inline constexpr int kSpareBits = 16, kSmallestScale = -1022;
/// The least by which summands are multiplied or divided is 2^-kSmallestSize.
inline constexpr int kSmallestSize = 900;
/// The root of a number is not above 2 to this power.
constexpr int log2_of_root(std::int64_t k) {
  int root = 0;
  while ((std::int64_t{1} << (2 * root)) < k) ++root;
  return root;
}

/// Sums of so many products of two residues are below 127 / 128 of 2^31: they do not overflow an
/// int32, and their digits to the base 2^8 may have signs.
inline constexpr std::int64_t kSummands = (std::int64_t{127} << 24) / (128 * 128) - 1;

/// The inverse of P / p modulo p, for the modulus p of this number.
constexpr int inverse_of_rest(int number) {
  const int p = kModulus[number];
  int rest = 1, inverse = 1;
  for (int i = 0; i < kModuli; ++i) rest = i == number ? rest : rest * kModulus[i] % p;
  while (rest * inverse % p != 1) ++inverse;
  return inverse;
}

/// An integer x with the residues s (any representatives of them) is P times the fractional part
/// of the sum of all s w, where w is the weight of a modulus p: inverse_of_rest / p, which is
/// (high + low 2^-28) 2^-64 here, rounded down.
struct Weight {
  std::uint64_t high;
  std::int64_t low;
};
constexpr int kLowBits = 28;

constexpr Weight weight(int number) {
  const int p = kModulus[number];
  int remainder = inverse_of_rest(number);
  Weight w = {0, 0};
  for (int bit = 0; bit < 64 + kLowBits; ++bit) {  // long division
    remainder *= 2;
    const int digit = remainder >= p ? 1 : 0;
    remainder -= digit * p;
    if (bit < 64) {
      w.high = 2 * w.high + static_cast<std::uint64_t>(digit);
    } else {
      w.low = 2 * w.low + digit;
    }
  }
  return w;
}

}  // namespace overlapack::residues
