// The QR factorization of algorithms/qr, on every device: schedule and textbook, and what the CPU
// finishes after a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/qr/qr.hpp"
#include "cpu/householder.hpp"
#include "cpu/lapack.hpp"
#include "cpu/qr.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

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
  static Factors<T> input(const Padded<T>& a) {
    return {a,
            std::vector<T>(static_cast<std::size_t>(std::min(a.rows(), a.cols())), sentinel<T>())};
  }

  /// By the device. All columns are committed, but by the textbook.
  Factors<T> factor(const Padded<T>& a, const algorithms::Options& options) {
    Factors<T> factors = input(a);
    Index committed = 0;
    algorithms::geqrf<T>(device(), options, factors.a.view(), factors.tau.data(), committed);
    EXPECT_EQ(committed, options.textbook || a.view().empty() ? 0 : a.cols());
    EXPECT_TRUE(factors.a.padding_untouched());
    return factors;
  }
  Factors<T> factor(const Padded<T>& a, Index nb) { return factor(a, options(nb)); }

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
  /// Random, with a diagonal that makes it well conditioned, of all signs.
  static Padded<T> well_conditioned(Index m, Index n) {
    auto a = random_matrix<T>(m, n, static_cast<std::uint64_t>(m * n), 2);
    const auto size = static_cast<Real<T>>(3 * std::sqrt(static_cast<double>(std::min(m, n))));
    for (Index j = 0; j < std::min(m, n); ++j) {
      a(j, j) += phase<T>(j) * T(j % 3 == 1 ? -size : size);
    }
    return a;
  }

  static Factors<T> by_lapack(const Padded<T>& a) {
    Factors<T> factors = input(a);
    const Index lwork = 64 * std::max<Index>(a.cols(), 1);
    std::vector<T> work(static_cast<std::size_t>(lwork));
    const Index info = cpu::geqrf<T>(cpu::lapack<T>(cpu::Family::lp64), cpu::Reflectors::columns,
                                     factors.a.view(), factors.tau.data(), {work.data(), lwork});
    EXPECT_EQ(info, 0);
    return factors;
  }

  static constexpr Shape kShapes[] = {{1, 1},    {5, 5},    {2, 1},     {1, 7},    {50, 1},
                                      {33, 32},  {64, 64},  {100, 40},  {40, 100}, {129, 128},
                                      {70, 200}, {200, 70}, {130, 131}, {257, 33}, {33, 150}};
};
TYPED_TEST_SUITE(Geqrf, Precisions);

TYPED_TEST(Geqrf, RandomMatricesOfManyShapes) {
  for (const bool textbook : kBools) {
    for (const Index nb : {Index{5}, Index{16}, Index{200}}) {
      for (const Shape& shape : this->kShapes) {
        SCOPED_TRACE(testing::Message() << (textbook ? "textbook " : "") << nb << " " << shape);
        const auto a = random_matrix<TypeParam>(shape.rows, shape.cols, 1, shape.rows % 3);
        this->expect_factors(a, this->factor(a, this->options(nb, textbook)));
      }
    }
  }
}

TYPED_TEST(Geqrf, FactorsAreThoseOfTheCpuLapack) {
  for (const bool textbook : kBools) {
    for (const Index nb : {Index{7}, Index{32}}) {
      for (const Shape& shape : this->kShapes) {
        SCOPED_TRACE(testing::Message() << (textbook ? "textbook " : "") << nb << " " << shape);
        const auto a = this->well_conditioned(shape.rows, shape.cols);
        this->expect_same(this->by_lapack(a), this->factor(a, this->options(nb, textbook)));
      }
    }
  }
}

TYPED_TEST(Geqrf, TheSameBitsWhateverTheTiming) {
  for (const Shape& shape : {Shape{130, 130}, Shape{300, 60}, Shape{60, 130}}) {
    const auto a = random_matrix<TypeParam>(shape.rows, shape.cols, 1, 3);
    const auto first = this->factor(a, 8);
    for (int round = 0; round < 2; ++round) {
      const auto again = this->factor(a, 8);
      EXPECT_TRUE(same_bits(first.a, again.a)) << shape;
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
  const auto a = this->well_conditioned(120, 90);
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
  for (const T bad : {nan<T>(), infinity<T>()}) {
    for (const Index column : {0, 20, 69}) {
      auto with = a;
      with(50, column) = bad;
      const auto factors = this->factor(with, 16);
      for (Index j = 0; j < column; ++j) {
        for (Index i = 0; i < 90; ++i) ASSERT_EQ(factors.a(i, j), finite.a(i, j)) << i << "," << j;
      }
      bool any = false;
      for (Index i = 0; i < 90; ++i) any = any || !std::isfinite(abs1(factors.a(i, column)));
      EXPECT_TRUE(any) << "the bad number has vanished";
    }
  }
}

TYPED_TEST(Geqrf, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  for (const bool textbook : kBools) {
    for (const Shape& shape : {Shape{100, 40}, Shape{40, 100}, Shape{130, 130}}) {
      const auto a = random_matrix<T>(shape.rows, shape.cols, 6, 2);
      Factors<T> factors = this->input(a);
      OnDevice<T> there(this->device(), factors.a);
      Index committed = 0;
      algorithms::geqrf<T>(this->device(), this->options(16, textbook), there.view(),
                           factors.tau.data(), committed);
      there.fetch();
      EXPECT_TRUE(factors.a.padding_untouched());
      this->expect_factors(a, factors);
    }
  }
}

TYPED_TEST(Geqrf, NothingToDo) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}}) {
    this->factor(Padded<T>(shape.rows, shape.cols), 16);
  }
}

TYPED_TEST(Geqrf, TheCpuFinishesFromWhereverTheDeviceFails) {
  using T = TypeParam;
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  Index resumed = 0;
  for (const Shape& shape : {Shape{60, 44}, Shape{30, 70}, Shape{150, 120}}) {
    SCOPED_TRACE(shape);
    const auto a = this->well_conditioned(shape.rows, shape.cols);
    const auto expected = this->factor(a, 9);
    Factors<T> factors;
    std::vector<T> work(algorithms::at(shape.cols));
    const Index faults = this->with_faults(
        !this->device().emulated() ? 7
        : shape.rows < 100         ? 1
                                   : 5,
        [&] { factors = this->input(a); },
        [&] {
          Index committed = 0;
          try {
            algorithms::geqrf<T>(this->device(), this->options(9), factors.a.view(),
                                 factors.tau.data(), committed);
          } catch (const DeviceError&) {
            resumed += committed > 0 && committed < shape.cols;
            cpu::finish_geqrf<T>(cpu, factors.a.view(), factors.tau.data(), committed,
                                 {work.data(), shape.cols});
          }
          EXPECT_TRUE(factors.a.padding_untouched());
          this->expect_same(expected, factors);
        });
    EXPECT_GT(faults, this->device().emulated() ? 50 : 10);
  }
  // A GPU takes all uploads before the first result comes home.
  if (this->device().emulated()) {
    EXPECT_GT(resumed, 0) << "no fault came in the middle";
  }
}

TYPED_TEST(Geqrf, TheCpuFinishesFromAnyColumn) {
  using T = TypeParam;
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  for (const Shape& shape : {Shape{70, 50}, Shape{40, 60}}) {
    const auto a = this->well_conditioned(shape.rows, shape.cols);
    const auto expected = this->factor(a, 16);
    std::vector<T> work(algorithms::at(shape.cols));
    for (Index committed = 0; committed <= shape.cols; ++committed) {
      SCOPED_TRACE(committed);
      Factors<T> factors = this->input(a);
      for (Index j = 0; j < committed; ++j) {
        std::copy_n(&expected.a(0, j), shape.rows, &factors.a(0, j));
        if (j < factors.steps()) factors.tau[algorithms::at(j)] = expected.tau[algorithms::at(j)];
      }
      cpu::finish_geqrf<T>(cpu, factors.a.view(), factors.tau.data(), committed,
                           {work.data(), shape.cols});
      this->expect_same(expected, factors);
      EXPECT_TRUE(factors.a.padding_untouched());
    }
  }
}

TYPED_TEST(Geqrf, TakesTheMemoryThatItSays) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{400, 300}, Shape{200, 500}, Shape{700, 40}}) {
    const auto options = this->options(32);
    this->device().set_memory_limit(1);  // idle blocks go: a lease counts with the whole block
    this->device().set_memory_limit(0);
    this->device().reset_peak_use();
    this->factor(random_matrix<T>(shape.rows, shape.cols, 1), options);
    const std::size_t peak = this->device().pool_use(Space::device).peak;
    const std::size_t said = algorithms::geqrf_bytes<T>(options, shape.rows, shape.cols);
    EXPECT_LE(peak, said) << shape;
    EXPECT_GE(peak, said - said / 5) << shape;
  }
}

}  // namespace
}  // namespace overlapack
