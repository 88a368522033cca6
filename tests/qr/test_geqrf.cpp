// The QR and LQ factorizations of algorithms/qr, on every device: schedule and textbook, and what
// the CPU finishes after a fault. An LQ factorization is looked at as the QR factorization of the
// adjoint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/qr/qr.hpp"
#include "cpu/householder.hpp"
#include "cpu/lapack.hpp"
#include "cpu/qr.hpp"
#include "qr/kinds.hpp"
#include "qr/reflectors.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using cpu::Reflectors;

/// What ?geqrf leaves.
template <class T>
struct Factors {
  Padded<T> a;
  std::vector<T> tau;

  Index steps() const { return static_cast<Index>(tau.size()); }
};

template <class T>
class Geqrf : public RoutedTest {
 protected:
  using W = Wide<T>;

  static algorithms::Options options(Index nb, bool textbook = false) {
    algorithms::Options options;
    options.nb = nb;
    options.textbook = textbook;
    options.threads = 2;
    return options;
  }
  /// What a routine is given for A = Q R. That of LQ gets the adjoint.
  static Factors<T> input(Reflectors kind, const Padded<T>& a) {
    return {kind == Reflectors::rows ? adjoint(a, a.ld() - a.rows()) : a,
            std::vector<T>(static_cast<std::size_t>(std::min(a.rows(), a.cols())), sentinel<T>())};
  }
  /// What it has left, as of A = Q R.
  static Factors<T> output(Reflectors kind, const Factors<T>& left) {
    EXPECT_TRUE(left.a.padding_untouched());
    return {kind == Reflectors::rows ? adjoint(left.a) : left.a, left.tau};
  }

  /// By the device. All columns are committed, but by the textbook.
  Factors<T> factor(Reflectors kind, const Padded<T>& a, const algorithms::Options& options) {
    Factors<T> factors = input(kind, a);
    Index committed = 0;
    algorithms::geqrf<T>(device(), options, kind, factors.a.view(), factors.tau.data(), committed);
    EXPECT_EQ(committed, options.textbook || a.view().empty() ? 0 : a.cols());
    return output(kind, factors);
  }
  Factors<T> factor(const Padded<T>& a, Index nb) {
    return factor(Reflectors::columns, a, options(nb));
  }

  /// The first steps() columns of Q.
  static Padded<W> q_of(const Factors<T>& factors) {
    const Index m = factors.a.rows(), k = factors.steps();
    const auto a = widen<T>(factors.a.view());
    Padded<W> q(m, k);
    std::vector<W> v(static_cast<std::size_t>(m));
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < m; ++i) q(i, j) = W(i == j);
    }
    for (Index j = k - 1; j >= 0; --j) {
      for (Index i = j + 1; i < m; ++i) v[static_cast<std::size_t>(i - j)] = a(i, j);
      reference::apply_householder<W>(W(factors.tau[static_cast<std::size_t>(j)]), v.data(),
                                      q.view().block(j, j, m - j, k - j));
    }
    return q;
  }
  static Padded<W> r_of(const Factors<T>& factors) {
    Padded<W> r(factors.steps(), factors.a.cols());
    for (Index j = 0; j < r.cols(); ++j) {
      for (Index i = 0; i < r.rows(); ++i) r(i, j) = i <= j ? W(factors.a(i, j)) : W(0);
    }
    return r;
  }

  /// ||A - Q R|| / (m ||A|| eps) and ||I - Q^H Q|| / (m eps), LAPACK's ratios.
  static void expect_factors(const Padded<T>& a, const Factors<T>& factors) {
    if (a.view().empty()) return;
    const double m = static_cast<double>(std::max(a.rows(), a.cols()));
    const auto q = q_of(factors), wide = widen<T>(a.view());
    EXPECT_LT(scaled(norm1(rest(wide, Op::none, q, Op::none, r_of(factors))), m * norm1(wide),
                     epsilon<T>()),
              kThreshold);
    EXPECT_LT(scaled(norm1(rest(widen<T>(unit_matrix<T>(q.cols()).view()), Op::conj_trans, q,
                                Op::none, q)),
                     m, epsilon<T>()),
              kThreshold);
    for (Index j = 0; is_complex<T> && j < factors.steps(); ++j) {
      EXPECT_EQ(factors.a(j, j), T(real(factors.a(j, j)))) << j;
    }
  }

  /// R, V and tau are the same to rounding, as they are for well-conditioned matrices. Signs, too.
  static void expect_same(const Factors<T>& one, const Factors<T>& other) {
    const double n = static_cast<double>(std::max(one.a.rows(), one.a.cols()));
    const double tolerance = 100 * n * epsilon<T>();
    double size = 1;
    for (Index j = 0; j < one.a.cols(); ++j) {
      for (Index i = 0; i <= std::min(j, one.steps() - 1); ++i) {
        size = std::max(size, static_cast<double>(std::abs(one.a(i, j))));
      }
    }
    EXPECT_TRUE(all_elements({one.a.rows(), one.a.cols()}, [&](Index i, Index j) {
      return std::abs(one.a(i, j) - other.a(i, j)) <= tolerance * (i > j ? 1 : size);
    }));
    for (std::size_t j = 0; j < one.tau.size(); ++j) {
      EXPECT_LE(std::abs(one.tau[j] - other.tau[j]), tolerance) << j;
    }
  }

  static Factors<T> by_lapack(Reflectors kind, const Padded<T>& a) {
    Factors<T> factors = input(kind, a);
    const Index lwork = 64 * std::max<Index>(a.cols(), 1);
    std::vector<T> work(static_cast<std::size_t>(lwork));
    const Index info = cpu::geqrf<T>(cpu::lapack<T>(cpu::Family::lp64), kind, factors.a.view(),
                                     factors.tau.data(), {work.data(), lwork});
    EXPECT_EQ(info, 0);
    return output(kind, factors);
  }

  static constexpr Shape kShapes[] = {{1, 1},    {5, 5},    {2, 1},     {1, 7},    {50, 1},
                                      {33, 32},  {64, 64},  {100, 40},  {40, 100}, {129, 128},
                                      {70, 200}, {200, 70}, {130, 131}, {257, 33}, {33, 150}};
};
TYPED_TEST_SUITE(Geqrf, Precisions);

/// A factorization of each kind and form.
struct FactorCase {
  Reflectors kind;
  bool textbook;
  Index nb;
  Shape shape;
};
std::ostream& operator<<(std::ostream& out, const FactorCase& c) {
  return out << (c.textbook ? "textbook " : "") << name_of(c.kind) << c.nb << " " << c.shape;
}

TYPED_TEST(Geqrf, RandomMatricesOfManyShapes) {
  constexpr Index kBlocks[] = {5, 16, 200};
  for (const auto& c : cross<FactorCase>(kKinds, kBools, kBlocks, this->kShapes)) {
    SCOPED_TRACE(testing::Message() << c);
    const auto a = random_matrix<TypeParam>(c.shape.rows, c.shape.cols, 1, c.shape.rows % 3);
    this->expect_factors(a, this->factor(c.kind, a, this->options(c.nb, c.textbook)));
  }
}

TYPED_TEST(Geqrf, FactorsAreThoseOfTheCpuLapack) {
  constexpr Index kBlocks[] = {7, 32};
  for (const auto& c : cross<FactorCase>(kKinds, kBools, kBlocks, this->kShapes)) {
    SCOPED_TRACE(testing::Message() << c);
    const auto a = well_conditioned<TypeParam>(c.shape.rows, c.shape.cols);
    this->expect_same(this->by_lapack(c.kind, a),
                      this->factor(c.kind, a, this->options(c.nb, c.textbook)));
  }
}

TYPED_TEST(Geqrf, TheSameNumbersWhateverTheTimingByColumnsAndByRows) {
  for (const Shape& shape : {Shape{130, 130}, Shape{300, 60}, Shape{60, 130}}) {
    const auto a = random_matrix<TypeParam>(shape.rows, shape.cols, 1);
    const auto first = this->factor(a, 8);
    for (const Reflectors kind : {Reflectors::columns, Reflectors::rows, Reflectors::rows}) {
      const auto again = this->factor(kind, a, this->options(8));
      // cuBLAS adjoins a zero to one of another sign.
      if (kind == Reflectors::columns) {
        EXPECT_TRUE(same_bits(first.a, again.a)) << shape;
      }
      EXPECT_EQ(largest_difference(first.a, again.a), 0) << shape;
      EXPECT_EQ(first.tau, again.tau) << shape;
    }
  }
}

TYPED_TEST(Geqrf, MatricesWithAStructure) {
  using T = TypeParam;
  const auto expect_factored = [&](const Padded<T>& a) {
    this->expect_factors(a, this->factor(a, 16));
  };
  auto dependent = random_matrix<T>(100, 60, 2);
  for (Index j = 30; j < 60; ++j) {
    for (Index i = 0; i < 100; ++i) dependent(i, j) = dependent(i, j - 30);
  }
  expect_factored(dependent);
  expect_factored(hadamard<T>(64, 1));
  expect_factored(kahan<T>(90));
  expect_factored(graded(random_matrix<T>(100, 100, 3)));
  expect_factored(conditioned<T>(100, 1 / epsilon<T>(), false));
  expect_factored(singular_at<T>(100, 70, 20, 1));
  // Nothing is reflected: R is A itself.
  auto triangle = random_matrix<T>(90, 70, 4, 1);
  for (Index j = 0; j < 70; ++j) {
    for (Index i = j + 1; i < 90; ++i) triangle(i, j) = T(0);
    triangle(j, j) = T(real(triangle(j, j)));
  }
  const auto factors = this->factor(triangle, 16);
  EXPECT_TRUE(equal_elements(factors.a, triangle));
  for (const T tau : factors.tau) EXPECT_EQ(tau, T(0));
}

TYPED_TEST(Geqrf, ColumnsOfAnySize) {
  using T = TypeParam;
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 12;
  const auto a = well_conditioned<TypeParam>(120, 90);
  auto scaled_a = a;
  Random random(3);
  const auto exponents = random_exponents(random, 90, kMost);
  const std::vector<int> none(120);
  scale(scaled_a, none, exponents);
  auto factors = this->factor(scaled_a, 16);
  for (Index j = 0; j < 90; ++j) {
    for (Index i = 0; i <= j; ++i) {
      factors.a(i, j) *= std::ldexp(Real<T>(1), -exponents[static_cast<std::size_t>(j)]);
    }
  }
  this->expect_factors(a, factors);
  this->expect_same(this->factor(a, 16), factors);
}

TYPED_TEST(Geqrf, WhatIsNotFiniteStaysInItsColumnAndThoseBehind) {
  using T = TypeParam;
  const auto a = random_matrix<T>(90, 70, 5, 1);
  const auto finite = this->factor(a, 16);
  for (const Reflectors kind : kKinds) {
    for (const T bad : {nan<T>(), infinity<T>()}) {
      for (const Index column : {0, 20, 69}) {
        auto with = a;
        with(50, column) = bad;
        const auto factors = this->factor(kind, with, this->options(16));
        for (Index j = 0; j < column; ++j) {
          for (Index i = 0; i < 90; ++i) {
            ASSERT_EQ(factors.a(i, j), finite.a(i, j)) << i << "," << j;
          }
        }
        bool any = false;
        for (Index i = 0; i < 90; ++i) any = any || !std::isfinite(abs1(factors.a(i, column)));
        EXPECT_TRUE(any) << "the bad number has vanished";
      }
    }
  }
}

TYPED_TEST(Geqrf, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  constexpr Index kBlocks[] = {16};
  constexpr Shape kShapes[] = {{100, 40}, {40, 100}, {130, 130}};
  for (const auto& c : cross<FactorCase>(kKinds, kBools, kBlocks, kShapes)) {
    SCOPED_TRACE(testing::Message() << c);
    const auto a = random_matrix<T>(c.shape.rows, c.shape.cols, 6, 2);
    Factors<T> factors = this->input(c.kind, a);
    OnDevice<T> there(this->device(), factors.a);
    Index committed = 0;
    algorithms::geqrf<T>(this->device(), this->options(c.nb, c.textbook), c.kind, there.view(),
                         factors.tau.data(), committed);
    there.fetch();
    this->expect_factors(a, this->output(c.kind, factors));
  }
}

TYPED_TEST(Geqrf, NothingToDo) {
  using T = TypeParam;
  for (const Reflectors kind : kKinds) {
    for (const Shape& shape : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}}) {
      this->factor(kind, Padded<T>(shape.rows, shape.cols), this->options(16));
    }
  }
}

TYPED_TEST(Geqrf, TheCpuFinishesFromWhereverTheDeviceFails) {
  using T = TypeParam;
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  Index resumed[2] = {0, 0};
  struct Case {
    Reflectors kind;
    Shape shape;
    Index nb, stride;
  };
  // Of the last one, blocks go home in several pieces.
  for (const Case& c :
       {Case{Reflectors::columns, {60, 44}, 9, 1}, Case{Reflectors::columns, {30, 70}, 9, 1},
        Case{Reflectors::columns, {150, 120}, 9, 5}, Case{Reflectors::rows, {60, 44}, 9, 1},
        Case{Reflectors::rows, {30, 70}, 9, 1}, Case{Reflectors::rows, {300, 70}, 32, 2}}) {
    SCOPED_TRACE(testing::Message() << name_of(c.kind) << c.shape);
    const auto a = well_conditioned<TypeParam>(c.shape.rows, c.shape.cols);
    const auto options = this->options(c.nb);
    const auto expected = this->factor(c.kind, a, options);
    Factors<T> factors;
    std::vector<T> work(algorithms::at(c.shape.cols));
    const Index faults = this->with_faults(
        this->device().emulated() ? c.stride : 7, [&] { factors = this->input(c.kind, a); },
        [&] {
          Index committed = 0;
          try {
            algorithms::geqrf<T>(this->device(), options, c.kind, factors.a.view(),
                                 factors.tau.data(), committed);
          } catch (const DeviceError&) {
            resumed[c.kind == Reflectors::rows] += committed > 0 && committed < c.shape.cols;
            cpu::finish_geqrf<T>(cpu, c.kind, factors.a.view(), factors.tau.data(), committed,
                                 {work.data(), c.shape.cols});
          }
          this->expect_same(expected, this->output(c.kind, factors));
        });
    EXPECT_GT(faults, this->device().emulated() ? 50 : 10);
  }
  // A GPU takes all uploads before the first result comes home.
  if (this->device().emulated()) {
    for (const Index times : resumed) EXPECT_GT(times, 0) << "no fault came in the middle";
  }
}

TYPED_TEST(Geqrf, TheCpuFinishesFromAnyColumn) {
  using T = TypeParam;
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  for (const Reflectors kind : kKinds) {
    for (const Shape& shape : {Shape{70, 50}, Shape{40, 60}}) {
      const auto a = well_conditioned<TypeParam>(shape.rows, shape.cols);
      const auto expected = this->factor(a, 16);
      std::vector<T> work(algorithms::at(shape.cols));
      for (Index committed = 0; committed <= shape.cols; ++committed) {
        SCOPED_TRACE(testing::Message() << name_of(kind) << committed);
        auto begun = a;
        for (Index j = 0; j < committed; ++j) {
          std::copy_n(&expected.a(0, j), shape.rows, &begun(0, j));
        }
        Factors<T> factors = this->input(kind, begun);
        std::copy_n(expected.tau.begin(), std::min(committed, factors.steps()),
                    factors.tau.begin());
        cpu::finish_geqrf<T>(cpu, kind, factors.a.view(), factors.tau.data(), committed,
                             {work.data(), shape.cols});
        this->expect_same(expected, this->output(kind, factors));
      }
    }
  }
}

TYPED_TEST(Geqrf, TakesTheMemoryThatItSays) {
  using T = TypeParam;
  for (const Reflectors kind : kKinds) {
    for (const Shape& shape : {Shape{400, 300}, Shape{200, 500}, Shape{700, 40}}) {
      const auto options = this->options(32);
      const auto [rows, cols] = kind == Reflectors::rows ? Shape{shape.cols, shape.rows} : shape;
      this->device().set_memory_limit(1);  // idle blocks go: a lease counts with the whole block
      this->device().set_memory_limit(0);
      this->device().reset_peak_use();
      this->factor(kind, random_matrix<T>(shape.rows, shape.cols, 1), options);
      const std::size_t peak = this->device().pool_use(Space::device).peak;
      const std::size_t said =
          algorithms::geqrf_bytes<T>(this->device(), options, kind, rows, cols);
      EXPECT_LE(peak, said) << name_of(kind) << shape;
      EXPECT_GE(peak, said - said / 5) << name_of(kind) << shape;
    }
  }
}

}  // namespace
}  // namespace overlapack
