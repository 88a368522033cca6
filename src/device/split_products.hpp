// Products of split operands: the accuracy of float at the speed of FP16, or less accuracy and more
// speed. A device may have none.
//
// Tensor cores multiply FP16 matrices many times faster than other units multiply float ones. An
// FP16 number has a significand of 11 bits. A float is the sum hi + lo of two FP16 numbers to
// within 2^-23 of itself, if their small range allows it, and x y = hi hi + hi lo + lo hi to within
// 2^-21 of itself: a product of float matrices is three of FP16 matrices (Ootomo and Yokota, Int.
// J. High Perform. Comput. Appl. 36, 2022).
//
// The split form of a factor is a matrix of Real<T> whose columns run along the summation, which is
// how tensor cores read such numbers: column i is row i of a left factor or column i of a right
// one. A complex product becomes a real one first: a row of the left factor is two columns, (re,
// -im) and (im, re) for each number, and a column of the right one is (re, im) for each number.
//
// A column is a sequence of sections of so many summands, of which the last one may have fewer. A
// section begins with SplitForm::kHeader floats, the first of which is a power of two by which all
// its numbers are to be multiplied, the others zero: what is stored is at most 2^15, and, unless
// all is zero or so small that it is exact anyway, 2^14 is reached. Then follow the numbers, 32 by
// 32 with zeros at the end: their high parts, then their low parts, two to a float, the first in
// its lower half. So a number is stored to within 2^-23 of itself or 2^-39 of the largest one in
// its section, whichever is more. A form may be cut between sections.
//
// The error of element (i, j) of A B is that of float in k max_l |a_il| max_l |b_lj|, not in sum_l
// |a_il b_lj|. That makes a difference where what is large in the row and what is large in the
// column do not meet: the L and U of an LU of rows of very different sizes are such matrices. If A
// = A' D^-1 and B = D B' with the diagonal matrix D, it is D that must go: see `sizes` below.
//
// Tensor cores cut sums off where float rounds them, and always toward zero; so long sums drift.
// Therefore the sums of sections are scaled and added up in float.
//
// That is Precision::fp32. The less accurate forms have one part for each number and no sections.
// With tf32 it is a TF32 number: a float of 11 bits. With fp16 it is an FP16 number (from 2^-24 to
// 65504), rounded to the nearest, to even if there are two. Two of these share an element of the
// split form, the first in its lower half, and a zero follows an odd number of them. So a split
// form may be cut at even numbers of summands. What is finite stays so: beyond 65504 it becomes
// 65504. It is the caller's to scale numbers so that this does not happen, and that few are
// subnormal.
//
// Infinities and NaNs spread as in any sum of products, but with fp32 an infinity may become a NaN
// (it meets the low part of another number, which may be zero). Where a product overflows, or the
// left factor has numbers beyond 2^103, the result may be infinite or NaN instead of the other.
#pragma once

#include "device/format.hpp"

namespace overlapack {

template <class T>
class SplitProducts;

/// Whether split operands exist for T: in single precision. All that follows is for such T.
template <class T>
inline constexpr bool kSplits = std::is_same_v<Real<T>, float>;

/// How the factors of a product are split into parts of low precision (Split).
struct SplitForm {
  Precision precision;
  Index section;  ///< summands that have a common scale, with fp32

  /// Numbers whose parts stand together, in as many floats: a line of the cache.
  static constexpr int kNumbersPerCacheLine = 32;
  /// Floats at the beginning of a section. With as many as a piece has, pieces are lines of the
  /// cache. With eight, products would take a fifth longer.
  static constexpr int kHeader = kNumbersPerCacheLine;
};
/// SplitForm::section at most.
template <class T>
inline constexpr Index kSplitSection = is_complex<T> ? 128 : 256;

/// Rows of the split form of a factor of a product with k summands.
template <class T>
constexpr Index split_rows(SplitForm form, Index k) {
  constexpr Index kReals = is_complex<T> ? 2 : 1;
  if (form.precision == Precision::fp16) return (kReals * k + 1) / 2;
  if (form.precision == Precision::tf32) return kReals * k;
  constexpr Index kPiece = SplitForm::kNumbersPerCacheLine;
  const auto rows = [](Index numbers) {
    return numbers > 0 ? SplitForm::kHeader + round_up(numbers, kPiece) : 0;
  };
  return k / form.section * rows(kReals * form.section) + rows(kReals * (k % form.section));
}

/// Columns of the split form of a left factor with n rows, or of a right factor with n columns.
template <class T>
constexpr Index split_cols(Side side, Index n) {
  return is_complex<T> && side == Side::left ? 2 * n : n;
}

/// `to` := the split form of op(from), the factor on that side of a product.
///   Operands  if there are `sizes`, with fp32 and for both factors, summand l of one factor is
///             multiplied by the largest power of two that is not larger than sizes(l), within
///             2^-126 and 1, and that of the other one divided. So if sizes(l) are the largest
///             numbers of these, not beyond 1, they become equal
///   Writes    to; with fp32 it and its columns must lie at multiples of 32 bytes
template <class T>
struct Split {
  using Scalar = T;
  using Group = SplitProducts<T>;
  static constexpr const char* kName = "split";

  SplitForm form;
  Side side;
  Op op;
  DeviceView<const T> from;
  DeviceView<Real<T>> to;
  DeviceView<const Real<T>> sizes = {};
  Weigh weigh = Weigh::multiply;

  Index summands() const {
    return side == Side::left ? operation::cols(op, from) : operation::rows(op, from);
  }
  Index vectors() const {
    return side == Side::left ? operation::rows(op, from) : operation::cols(op, from);
  }
  bool empty() const { return from.empty(); }
  bool fits() const {
    return to.rows == split_rows<T>(form, summands()) && to.cols == split_cols<T>(side, vectors());
  }
  double flops() const { return 0; }
};

/// C := alpha A B + beta C for split forms of A and B with k summands, with sums in FP32.
///   Writes   c
template <class T>
struct SplitGemm {
  using Scalar = T;
  using Group = SplitProducts<T>;
  static constexpr const char* kName = "split_gemm";

  SplitForm form;
  Index k;
  Real<T> alpha;
  DeviceView<const Real<T>> a, b;
  Real<T> beta;
  DeviceView<T> c;

  bool empty() const { return c.empty() || (k == 0 && beta == Real<T>(1)); }
  bool fits() const {
    return a.rows == split_rows<T>(form, k) && b.rows == a.rows &&
           a.cols == split_cols<T>(Side::left, c.rows) &&
           b.cols == split_cols<T>(Side::right, c.cols);
  }
  double flops() const { return operation::flops<T>(operation::product(c.rows, c.cols, k)); }
};

/// Enqueues the operations above.
template <class T>
class SplitProducts {
 public:
  virtual ~SplitProducts() = default;

 protected:
  friend class Queue;
  virtual void run(Queue&, const Split<T>&) = 0;
  virtual void run(Queue&, const SplitGemm<T>&) = 0;
};

}  // namespace overlapack
