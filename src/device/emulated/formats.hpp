// The formats of numbers in which the kernels compute faster than in their own: words of doubles,
// TF32 and FP16, split forms, residues. Element by element, as device.hpp and device/residues.hpp
// define them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/reference.hpp"
#include "device/device.hpp"
#include "device/residues.hpp"

namespace overlapack::emulated {

/// Whether a number is beyond the largest of single precision, as ?lag2? asks; NaNs are not.
template <class T>
bool overflows_single(T x) {
  constexpr double largest = std::numeric_limits<float>::max();
  if constexpr (is_complex<T>) {
    return overflows_single(x.real()) || overflows_single(x.imag());
  } else {
    return static_cast<double>(x) > largest || static_cast<double>(x) < -largest;
  }
}

/// The number in double precision whose words have the bits of these.
inline double join_words(float high, float low) {
  std::uint32_t words[2];  // as little-endian machines, and GPUs, store them
  std::memcpy(&words[0], &low, sizeof low);
  std::memcpy(&words[1], &high, sizeof high);
  double x;
  std::memcpy(&x, words, sizeof x);
  return x;
}
inline std::complex<double> join_words(std::complex<float> high, std::complex<float> low) {
  return {join_words(high.real(), low.real()), join_words(high.imag(), low.imag())};
}

/// 1 / p(x) of Round.
inline double inverse_power(double x) {
  if (x == 0 || !std::isfinite(x)) return 1;
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(1, -std::clamp(exponent, -500, 500));
}

/// x rounded to TF32, float's range with a significand of 11 bits: to the nearest, away from zero
/// if there are two, but never from a finite number to infinity.
inline float to_tf32(float x) {
  constexpr std::uint32_t exponent = 0x7f800000, lost = 0x1fff;  // `lost`: the bits TF32 has not
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & exponent) == exponent) return x;
  std::uint32_t rounded = (bits + (lost + 1) / 2) & ~lost;
  if ((rounded & exponent) == exponent) rounded = bits & ~lost;
  std::memcpy(&x, &rounded, sizeof x);
  return x;
}

/// x rounded to FP16, to the nearest, to even if there are two, but never from a finite number to
/// infinity.
inline float to_fp16(float x) {
  constexpr float largest = 65504;
  if (!std::isfinite(x) || x == 0) return x;
  const int exponent = std::max(std::ilogb(x) - 10, -24);  // of the last bit
  return std::clamp(std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent), -largest,
                    largest);
}

/// The bits of an FP16 number, and the number that bits stand for.
inline std::uint16_t fp16_bits(float x) {
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const float size = std::abs(x);
  unsigned bits = 0x7e00;
  if (std::isinf(x)) bits = 0x7c00;
  if (size < 0x1p-14f) bits = static_cast<unsigned>(size * 0x1p24f);
  if (size >= 0x1p-14f && std::isfinite(x)) {  // the first bit of the significand counts one up
    const int exponent = std::ilogb(size);
    bits = (static_cast<unsigned>(exponent + 14) << 10) +
           static_cast<unsigned>(std::ldexp(size, 10 - exponent));
  }
  return static_cast<std::uint16_t>(sign | bits);
}
inline float fp16_number(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  const float infinity = std::numeric_limits<float>::infinity();
  const float size = exponent == 0x1f ? (fraction == 0 ? infinity : infinity - infinity)
                     : exponent == 0
                         ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/// Two FP16 numbers as one element of a split form, and number i of such elements.
inline float fp16_pair(float first, float second) {
  const std::uint16_t two[2] = {fp16_bits(first), fp16_bits(second)};
  float element;
  std::memcpy(&element, two, sizeof element);
  return element;
}
inline float fp16_of_pairs(const float* elements, Index i) {
  std::uint16_t two[2];
  std::memcpy(two, &elements[i / 2], sizeof two);
  return fp16_number(two[i % 2]);
}

/// Writes a section of a split form in FP32 of `size` numbers (Split) to `to`, and
/// returns how many elements those are.
inline Index split_section(const float* numbers, Index size, float* to) {
  constexpr Index kPiece = SplitForm::kNumbersPerCacheLine;
  float largest = 0;
  for (Index i = 0; i < size; ++i) {
    if (std::isfinite(numbers[i])) largest = std::max(largest, std::abs(numbers[i]));
  }
  const int exponent = largest > 0 ? std::min(14 - std::ilogb(largest), 126) : 0;
  std::fill_n(to, SplitForm::kHeader, 0.f);
  to[0] = std::ldexp(1.f, -exponent);
  const float scale = std::ldexp(1.f, exponent);
  const auto high = [&](Index i) {
    const float x = i < size ? numbers[i] * scale : 0;
    return to_fp16(x);
  };
  const auto low = [&](Index i) {
    return i < size && std::isfinite(numbers[i]) ? to_fp16(numbers[i] * scale - high(i)) : 0;
  };
  Index rows = SplitForm::kHeader;
  for (Index i = 0; i < size; i += kPiece) {
    for (Index e = 0; e < kPiece / 2; ++e) {
      to[rows + e] = fp16_pair(high(i + 2 * e), high(i + 2 * e + 1));
      to[rows + kPiece / 2 + e] = fp16_pair(low(i + 2 * e), low(i + 2 * e + 1));
    }
    rows += kPiece;
  }
  return rows;
}

/// `to` := the split form of op(from), a factor of a product; as Split.
template <class T>
void split(SplitForm form, Side side, Op op, HostView<const T> from, HostView<float> to,
           HostView<const float> sizes = {}, Weigh weigh = Weigh::multiply) {
  constexpr Index reals = is_complex<T> ? 2 : 1;
  const bool left = side == Side::left;
  const Index rows = op == Op::none ? from.rows : from.cols;
  const Index cols = op == Op::none ? from.cols : from.rows;
  const Index numbers = reals * (left ? cols : rows);
  std::vector<float> column(static_cast<std::size_t>(numbers) + 1);  // a zero follows
  for (Index c = 0; c < to.cols; ++c) {
    for (Index l = 0; l < numbers / reals; ++l) {
      const Index line = left ? c / reals : c;
      T x = reference::detail::element(op, from, left ? line : l, left ? l : line);
      if (!sizes.empty()) {
        const float size = sizes(l, 0);
        const bool normal = size >= std::numeric_limits<float>::min();
        const int exponent = size >= 1 || std::isnan(size) ? 0 : normal ? std::ilogb(size) : -126;
        x *= std::ldexp(1.f, weigh == Weigh::divide ? -exponent : exponent);
      }
      if constexpr (!is_complex<T>) {
        column[static_cast<std::size_t>(l)] = x;
      } else {
        const bool second = left && c % 2 == 1;
        const float imaginary = left ? -x.imag() : x.imag();
        column[static_cast<std::size_t>(2 * l)] = second ? x.imag() : x.real();
        column[static_cast<std::size_t>(2 * l + 1)] = second ? x.real() : imaginary;
      }
    }
    Index row = 0;
    switch (form.precision) {
      case Precision::fp32:
        for (Index i = 0; i < numbers; i += reals * form.section) {
          row += split_section(&column[static_cast<std::size_t>(i)],
                               std::min(reals * form.section, numbers - i), &to(row, c));
        }
        break;
      case Precision::tf32:
        for (Index i = 0; i < numbers; ++i) to(i, c) = to_tf32(column[static_cast<std::size_t>(i)]);
        break;
      case Precision::fp16:
        for (auto x = column.data(); row < to.rows; ++row, x += 2) {
          to(row, c) = fp16_pair(to_fp16(x[0]), to_fp16(x[1]));
        }
    }
  }
}

/// What a split form in FP32 holds: the parts of each number, and the scale of each section, column
/// by column.
struct SplitParts {
  SplitParts(HostView<const float> form, Index section, Index numbers)
      : high(static_cast<std::size_t>(numbers * form.cols)),
        low(high.size()),
        scales(static_cast<std::size_t>(quotient_up(numbers, section) * form.cols)) {
    constexpr Index kPiece = SplitForm::kNumbersPerCacheLine;
    std::size_t to = 0, scale = 0;
    for (Index j = 0; j < form.cols; ++j) {
      Index row = 0;
      for (Index first = 0; first < numbers; first += section) {
        scales[scale++] = form(row, j);
        row += SplitForm::kHeader;
        const Index size = std::min(section, numbers - first);
        for (Index i = 0; i < size; ++i, ++to) {
          const float* const piece = &form(row + i / kPiece * kPiece, j);
          high[to] = fp16_of_pairs(piece, i % kPiece);
          low[to] = fp16_of_pairs(piece + kPiece / 2, i % kPiece);
        }
        row += round_up(size, kPiece);
      }
    }
  }
  std::vector<float> high, low, scales;
};

/// C := alpha A^T B + beta C for split forms in FP32 of so many numbers in a column, in sections of
/// so many numbers; as SplitGemm.
inline void split_gemm(Index section, Index numbers, float alpha, HostView<const float> a,
                       HostView<const float> b, float beta, HostView<float> c) {
  const SplitParts x(a, section, numbers), y(b, section, numbers);
  const Index sections = quotient_up(numbers, section);
  const auto element = [](const std::vector<float>& of, Index i) {
    return of[static_cast<std::size_t>(i)];
  };
  for (Index j = 0; j < c.cols; ++j) {
    for (Index i = 0; i < c.rows; ++i) {
      float sum = beta == 0 ? 0 : beta * c(i, j);
      for (Index s = 0; s < sections; ++s) {
        float large = 0, small = 0;
        for (Index l = s * section; l < std::min(numbers, (s + 1) * section); ++l) {
          const Index p = i * numbers + l, q = j * numbers + l;
          small += element(x.low, p) * element(y.high, q) + element(x.high, p) * element(y.low, q);
          large += element(x.high, p) * element(y.high, q);
        }
        const float of_x = element(x.scales, i * sections + s),
                    of_y = element(y.scales, j * sections + s);
        // The smaller one first: the sum times the larger one may overflow. A NaN remains one.
        const float product = large + small;
        sum += alpha * (of_x < of_y ? product * of_x * of_y : product * of_y * of_x);
      }
      c(i, j) = sum;
    }
  }
}

/// C := alpha A^T B + beta C for matrices of TF32 numbers (others are rounded to such) or of FP16
/// numbers, two in each element.
inline void split_gemm(Precision precision, float alpha, HostView<const float> a,
                       HostView<const float> b, float beta, HostView<float> c) {
  const bool halves = precision == Precision::fp16;
  const auto numbers = [halves](HostView<const float> x, std::vector<float>& memory) {
    for (Index j = 0; j < x.cols; ++j) {
      for (Index i = 0; i < (halves ? 2 : 1) * x.rows; ++i) {
        memory.push_back(halves ? fp16_of_pairs(&x(0, j), i) : to_tf32(x(i, j)));
      }
    }
    const Index rows = halves ? 2 * x.rows : x.rows;
    return HostView<const float>(memory.data(), rows, x.cols, std::max<Index>(1, rows));
  };
  std::vector<float> memory_a, memory_b;
  reference::gemm<float>(Op::trans, Op::none, alpha, numbers(a, memory_a), numbers(b, memory_b),
                         beta, c);
}

namespace detail {

/// A number in units of its scale, as an integer; 0 if it is far too large, or none.
inline std::int64_t in_units(double scaled) {
  if (!(std::abs(scaled) <= 2)) return 0;
  return static_cast<std::int64_t>(std::nearbyint(std::ldexp(scaled, residues::kBits)));
}

/// The residue of the smallest modulus.
inline std::int8_t residue(std::int64_t x, int number) {
  const int p = residues::kModulus[number];
  const int rest = static_cast<int>((x % p + p) % p);
  return static_cast<std::int8_t>(rest > 127 ? rest - p : rest);
}

/// The residues of number l of row i, in all planes.
template <class T, class Numbers>
void to_planes(std::int64_t re, std::int64_t im, Index l, Index i, Numbers numbers) {
  const std::int64_t planes[] = {re, im, re + im, re - im};
  for (int number = 0; number < residues::kModuli; ++number) {
    for (int plane = 0; plane < (is_complex<T> ? 4 : 1); ++plane) {
      numbers(l, i, number, plane) = residue(planes[plane], number);
    }
  }
}

}  // namespace detail

/// The residues of n rows of k numbers, element by element; as FindResidues, for T in
/// double precision. `numbers(l, i, modulus number, plane)` is where one goes.
template <class T, class Numbers>
void to_residues(Op op, HostView<const T> matrix, HostView<const double> scales,
                 HostView<const double> before, HostView<double> squares, Numbers numbers) {
  const Index n = op == Op::none ? matrix.rows : matrix.cols;
  const Index k = op == Op::none ? matrix.cols : matrix.rows;
  constexpr int kParts = is_complex<T> ? 2 : 1;
  for (Index i = 0; i < n; ++i) {
    squares(i) = before.empty() ? 0 : before(i);
    for (Index l = 0; l < k; ++l) {
      const T x = reference::detail::element(op, matrix, i, l);
      const double scaled[] = {std::real(x) / scales(i), std::imag(x) / scales(i)};
      const std::int64_t re = detail::in_units(scaled[0]), im = detail::in_units(scaled[1]);
      const std::int64_t units[] = {re, im};
      for (int part = 0; part < kParts; ++part) {
        const bool too_large = !(std::abs(scaled[part]) <= 2);
        const double rounded = std::ldexp(static_cast<double>(units[part]), -residues::kBits);
        squares(i) += too_large ? 256. * 256 : rounded * rounded;
      }
      detail::to_planes<T>(re, im, l, i, numbers);
    }
  }
}

/// The same as FindScaledResidues: by scales that it finds.
template <class T, class Numbers>
void to_scaled_residues(Op op, Weigh weigh, HostView<const T> matrix, HostView<const double> sizes,
                        HostView<double> scales, Numbers numbers) {
  const Index n = op == Op::none ? matrix.rows : matrix.cols;
  const Index k = op == Op::none ? matrix.cols : matrix.rows;
  std::vector<std::complex<double>> row(static_cast<std::size_t>(k));
  for (Index i = 0; i < n; ++i) {
    double largest = 0;
    for (Index l = 0; l < k; ++l) {
      int size = 0;
      if (!sizes.empty() && std::isfinite(sizes(l))) {
        size = sizes(l) == 0 ? -residues::kSmallestSize : std::ilogb(sizes(l));
        size = std::clamp(size, -residues::kSmallestSize, 0);
      }
      const T x = reference::detail::element(op, matrix, i, l);
      const int exponent = weigh == Weigh::divide ? -size : size;
      const double parts[] = {std::ldexp(std::real(x), exponent),
                              std::ldexp(std::imag(x), exponent)};
      row[static_cast<std::size_t>(l)] = {parts[0], parts[1]};
      for (const double part : parts) {
        if (!(std::abs(part) <= largest)) largest = std::isnan(part) ? HUGE_VAL : std::abs(part);
      }
    }
    const bool finite = std::isfinite(largest);
    int exponent = residues::kSmallestScale + residues::kSpareBits;
    if (finite && largest > 0) {
      const int size = std::ilogb(largest);
      double sum = 0;
      for (const std::complex<double>& x : row) {
        sum += std::pow(std::ldexp(x.real(), -size), 2) + std::pow(std::ldexp(x.imag(), -size), 2);
      }
      exponent = std::max(
          exponent, size + static_cast<int>(std::ceil(std::log2(sum / residues::kMaxSquares) / 2)));
    }
    scales(i) = finite ? std::ldexp(1., exponent - residues::kSpareBits) : std::nan("");
    for (Index l = 0; l < k; ++l) {
      const std::complex<double>& x = row[static_cast<std::size_t>(l)];
      detail::to_planes<T>(detail::in_units(std::ldexp(x.real(), -exponent)),
                           detail::in_units(std::ldexp(x.imag(), -exponent)), l, i, numbers);
    }
  }
}

/// The integer of modulus less than P / 2 that has the given residues, as a multiple of
/// 2^(2 kBits), by the Chinese remainder theorem.
inline double from_residues(const std::array<std::int64_t, residues::kModuli>& sums) {
  __extension__ using Wide = unsigned __int128;
  struct Theorem {
    constexpr Theorem() {
      for (const int p : residues::kModulus) all *= static_cast<Wide>(p);
      for (int i = 0; i < residues::kModuli; ++i) {
        weights[i] = all / static_cast<Wide>(residues::kModulus[i]) *
                     static_cast<Wide>(residues::inverse_of_rest(i));
      }
    }
    Wide all = 1;                          // P, of some 110 bits
    Wide weights[residues::kModuli] = {};  // 1 for one modulus, 0 for the others
  };
  constexpr Theorem theorem;
  Wide x = 0;
  for (int i = 0; i < residues::kModuli; ++i) {
    const int p = residues::kModulus[i];
    const auto rest = static_cast<int>((sums[static_cast<std::size_t>(i)] % p + p) % p);
    x += theorem.weights[i] * static_cast<Wide>(rest);
  }
  x %= theorem.all;
  const bool negative = x > theorem.all / 2;
  const double size =
      std::ldexp(static_cast<double>(negative ? theorem.all - x : x), -2 * residues::kBits);
  return negative ? -size : size;
}

}  // namespace overlapack::emulated
