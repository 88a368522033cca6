// How accurate QR and LQ by the exported names are, for the types of matrices of LAPACK's own tests
// and for conditions up to 1e16.
//
// For larger matrices OVERLAPACK_TEST_ORDER sets their order. With 4000, say, on a GPU, and with as
// many threads for the CPU LAPACK as there are, since products are its.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/lapack.hpp"
#include "cpu/qr.hpp"
#include "support/cases.hpp"
#include "support/environment_number.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using cpu::Reflectors;

/// Of the types 1 to 8 of LAPACK's tests of QR (dlatb4): diagonal, triangular, of three conditions,
/// and near what underflows and overflows. Type 9 is singular to precision.
template <class T>
Padded<T> matrix_of_type(int type, Index n) {
  using R = Real<T>;
  const double eps = epsilon<T>();
  const R small = std::numeric_limits<R>::min() / static_cast<R>(eps);
  const double conditions[] = {2, std::sqrt(0.1 / eps), 0.1 / eps, 2, 2, 1e16};
  const R sizes[] = {1, 1, 1, small, 1 / small, 1};
  auto a = type <= 3 ? random_matrix<T>(n, n, 5) : conditioned<T>(n, conditions[type - 4], false);
  const R size = type <= 3 ? R(1) : sizes[type - 4];
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const bool is_zero = (type == 1 && i != j) || (type == 2 && i > j) || (type == 3 && i < j);
      a(i, j) = is_zero ? T(0) : a(i, j) * size;
    }
  }
  return a;
}

/// What a routine of QR leaves, or the adjoints of what one of LQ does.
template <class T>
struct Factors {
  Padded<T> a;
  std::vector<T> tau;
  Padded<T> q;  ///< its first columns
};

template <class T>
class QrAccuracy : public RoutedTest {
 protected:
  using W = Wide<T>;

  void SetUp() override {
    RoutedTest::SetUp();
    if (IsSkipped()) return;
    const Index usual = device().emulated() ? 100 : 700;
    n_ = number_in("OVERLAPACK_TEST_ORDER", usual);
    route(dispatch::Algorithm::tiled, n_ == usual ? 16 : 0);
  }

  Factors<T> factor(Reflectors kind, const Padded<T>& of) {
    const bool rows = kind == Reflectors::rows;
    const Index count = std::min(of.rows(), of.cols());
    auto a = rows ? adjoint(of) : of;
    std::vector<T> tau(static_cast<std::size_t>(count));
    WorkWithEnd<T> work(of.cols());
    const std::size_t before = uploaded();
    EXPECT_EQ(geqrf<T>(kind, a.view(), tau.data(), work), 0);
    if (!rows) {
      EXPECT_GT(uploaded(), before) << "the call did not reach the device";
    }
    auto q = a;
    const HostView<T> lines =
        rows ? q.view().block(0, 0, count, q.cols()) : q.view().block(0, 0, q.rows(), count);
    EXPECT_EQ(orgqr<T>(kind, lines, count, tau.data(), work), 0);
    return {rows ? adjoint(a) : a, tau, rows ? adjoint(q) : q};
  }
  Factors<T> factor_by_cpu(const Padded<T>& of) {
    Factors<T> factors{
        of, std::vector<T>(static_cast<std::size_t>(std::min(of.rows(), of.cols()))), {}};
    const Index size = 64 * of.cols();
    std::vector<T> work(static_cast<std::size_t>(size));
    EXPECT_EQ(cpu::geqrf<T>(cpu::lapack<T>(cpu::Family::lp64), Reflectors::columns,
                            factors.a.view(), factors.tau.data(), {work.data(), size}),
              0);
    return factors;
  }

  /// ||A - Q R|| / (m ||A|| eps) and ||I - Q^H Q|| / (m eps), as in dqrt01.
  void expect_accurate(const Padded<T>& a, const Factors<T>& factors) {
    constexpr double kMost = 10;
    const auto count = static_cast<Index>(factors.tau.size());
    const auto m = static_cast<double>(a.rows());
    Padded<W> q(a.rows(), count), r(count, a.cols());
    for (Index j = 0; j < count; ++j) {
      for (Index i = 0; i < a.rows(); ++i) q(i, j) = W(factors.q(i, j));
    }
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < count; ++i) r(i, j) = i <= j ? W(factors.a(i, j)) : W(0);
    }
    const auto wide = widen<T>(a.view());
    EXPECT_LT(scaled(norm1(difference(wide, Op::none, q, r)), m * norm1(wide), epsilon<T>()),
              kMost);
    EXPECT_LT(
        scaled(norm1(difference(unit_matrix<W>(count), Op::conj_trans, q, q)), m, epsilon<T>()),
        kMost);
  }

  /// Of the diagonal of R. Each is the other way round than that of the element alpha for which the
  /// reflector was made, and is chance where alpha is rounding.
  void expect_same_signs(const Factors<T>& ours, const Factors<T>& cpus) {
    const double noise = static_cast<double>(cpus.a.rows()) * epsilon<T>() * size(cpus);
    Index compared = 0;
    for (std::size_t j = 0; j < cpus.tau.size(); ++j) {
      const Real<T> r = diagonal(cpus, j), alpha = r * real(T(1) - cpus.tau[j]);
      if (!(std::abs(static_cast<double>(alpha)) > noise)) continue;
      EXPECT_EQ(std::signbit(diagonal(ours, j)), std::signbit(r)) << j;
      ++compared;
    }
    EXPECT_GT(compared, 0);
  }

  /// R, V and tau of a well-conditioned matrix are the same to rounding.
  void expect_same(const Factors<T>& ours, const Factors<T>& cpus) {
    const double limit = 100 * static_cast<double>(cpus.tau.size()) * epsilon<T>();
    const double of_r = limit * size(cpus);
    for (std::size_t j = 0; j < cpus.tau.size(); ++j) {
      EXPECT_LE(std::abs(ours.tau[j] - cpus.tau[j]), limit) << j;
    }
    EXPECT_TRUE(all_elements({ours.a.rows(), ours.a.cols()}, [&](Index i, Index j) {
      return std::abs(ours.a(i, j) - cpus.a(i, j)) <= (i > j ? limit : of_r);
    }));
  }

  Index n_ = 0;

 private:
  static Real<T> diagonal(const Factors<T>& factors, std::size_t j) {
    return real(factors.a(static_cast<Index>(j), static_cast<Index>(j)));
  }
  /// Of columns of A, which the largest elements on the diagonal of R are about as long as.
  static double size(const Factors<T>& factors) {
    Real<T> largest = 0;
    for (std::size_t j = 0; j < factors.tau.size(); ++j) {
      largest = std::max(largest, std::abs(diagonal(factors, j)));
    }
    return static_cast<double>(largest);
  }
  /// C - op(A) B.
  static Padded<W> difference(Padded<W> c, Op op, const Padded<W>& a, const Padded<W>& b) {
    cpu::lapack<W>(cpu::Family::lp64).gemm(op, Op::none, W(-1), a.view(), b.view(), W(1), c.view());
    return c;
  }
};
TYPED_TEST_SUITE(QrAccuracy, Precisions);

TYPED_TEST(QrAccuracy, IsLapacksForLapacksMatrices) {
  using T = TypeParam;
  for (int type = 1; type <= 9; ++type) {
    const auto a = matrix_of_type<T>(type, this->n_);
    const auto cpus = this->factor_by_cpu(a);
    for (const Reflectors kind : {Reflectors::columns, Reflectors::rows}) {
      SCOPED_TRACE(testing::Message()
                   << (kind == Reflectors::rows ? "LQ" : "QR") << " of type " << type);
      const auto ours = this->factor(kind, a);
      this->expect_accurate(a, ours);
      this->expect_same_signs(ours, cpus);
    }
  }
}

TYPED_TEST(QrAccuracy, FactorsOfAWellConditionedMatrixAreLapacks) {
  using T = TypeParam;
  const Index n = this->n_;
  for (const Shape& shape : {Shape{n, n}, Shape{n, n / 2}, Shape{n / 2, n}}) {
    auto a = random_matrix<T>(shape.rows, shape.cols, 7);
    const auto size = static_cast<Real<T>>(3 * std::sqrt(static_cast<double>(n)));
    for (Index j = 0; j < std::min(a.rows(), a.cols()); ++j)
      a(j, j) += T(j % 3 == 1 ? -size : size);
    const auto cpus = this->factor_by_cpu(a);
    for (const Reflectors kind : {Reflectors::columns, Reflectors::rows}) {
      SCOPED_TRACE(testing::Message()
                   << (kind == Reflectors::rows ? "LQ of the adjoint, " : "QR, ") << shape);
      const auto ours = this->factor(kind, a);
      this->expect_accurate(a, ours);
      this->expect_same(ours, cpus);
    }
  }
}

}  // namespace
}  // namespace overlapack
