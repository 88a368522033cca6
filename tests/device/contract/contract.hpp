// What the tests of a device's operations share: a device with a queue, matrices in its memory, and
// products by their definition.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack::testing_support {

template <class Scalar>
class DeviceContract : public DeviceTest {
 protected:
  using T = Scalar;

  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) queue_ = std::make_unique<QueueLease>(device());
  }
  void TearDown() override {
    queue_.reset();
    DeviceTest::TearDown();
  }

  Queue& queue() { return **queue_; }
  Kernels<T>& kernels() { return device().template kernels<T>(); }

  template <class U>
  Uploaded<U> upload(const Padded<U>& a) {
    return testing_support::upload(queue(), a);
  }
  template <class U>
  Padded<U> download(const Uploaded<U>& a) {
    return testing_support::download(queue(), a);
  }
  Uploaded<Index> upload_index(Index value) {
    Padded<Index> one(1, 1);
    one(0, 0) = value;
    return upload(one);
  }
  Index download_index(const Uploaded<Index>& a) { return download(a)(0, 0); }

  std::unique_ptr<QueueLease> queue_;
};

/// op(A) as a matrix of its own, by definition.
template <class T>
Padded<Wide<T>> applied(Op op, const Padded<T>& a) {
  const bool same = op == Op::none;
  Padded<Wide<T>> result(same ? a.rows() : a.cols(), same ? a.cols() : a.rows());
  for (Index j = 0; j < result.cols(); ++j) {
    for (Index i = 0; i < result.rows(); ++i) {
      const auto x = Wide<T>(same ? a(i, j) : a(j, i));
      result(i, j) = op == Op::conj_trans ? conj(x) : x;
    }
  }
  return result;
}

/// alpha A B + beta C by the definition, in double precision, independent of any library.
template <class W, class T>
Padded<W> multiply_add(W alpha, const Padded<W>& a, const Padded<W>& b, W beta,
                       const Padded<T>& c) {
  Padded<W> result(c.rows(), c.cols());
  for (Index j = 0; j < c.cols(); ++j) {
    for (Index i = 0; i < c.rows(); ++i) {
      W sum(0);
      for (Index l = 0; l < a.cols(); ++l) sum += a(i, l) * b(l, j);
      result(i, j) = alpha * sum + (beta == W(0) ? W(0) : beta * W(c(i, j)));
    }
  }
  return result;
}

/// The largest |got - expected| over a part of the matrix that `select(i, j)` chooses; NaN if any
/// is NaN.
template <class T, class Select>
double max_difference(const Padded<T>& got, const Padded<Wide<T>>& expected, Select select) {
  double worst = 0;
  for (Index j = 0; j < got.cols(); ++j) {
    for (Index i = 0; i < got.rows(); ++i) {
      if (!select(i, j)) continue;
      const double difference = std::abs(Wide<T>(got(i, j)) - expected(i, j));
      if (std::isnan(difference)) return difference;
      worst = std::max(worst, difference);
    }
  }
  return worst;
}
template <class T>
double max_difference(const Padded<T>& got, const Padded<Wide<T>>& expected) {
  return max_difference(got, expected, [](Index, Index) { return true; });
}

/// A bound for the rounding errors of sums of k products of numbers of modulus up to 2.
template <class T>
double sum_bound(Index k) {
  return 8 * static_cast<double>(k + 4) * epsilon<T>() * (is_complex<T> ? 4 : 1);
}

template <class T>
T scalar(double re, double im) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
  } else {
    return static_cast<T>(re);
  }
}

constexpr Op kOps[] = {Op::none, Op::trans, Op::conj_trans};
constexpr Side kSides[] = {Side::left, Side::right};
constexpr Diag kDiags[] = {Diag::non_unit, Diag::unit};

/// Places on a diagonal of order n.
enum class Where { first, middle, last };
constexpr Where kWhere[] = {Where::first, Where::middle, Where::last};
inline Index position(Where where, Index n) {
  return where == Where::first ? 0 : where == Where::middle ? n / 2 : n - 1;
}

}  // namespace overlapack::testing_support
