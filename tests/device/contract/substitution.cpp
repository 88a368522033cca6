// Substitution with few right-hand sides.
#include <cmath>
#include <limits>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

struct SubstitutionCase {
  Shape shape;  // of the right-hand sides
  Uplo uplo;
  Diag diag;

  std::string name() const {
    return (testing::Message() << shape << " " << char(uplo) << char(diag)).GetString();
  }
};

/// What is left of a row of B - A X, and what its sum is made of. |B - A X| <= c eps |A| |X| holds
/// row by row.
struct RowError {
  double error, size;
};
template <class T>
RowError row_error(const SubstitutionCase& c, const Padded<T>& a, const Padded<T>& b,
                   const Padded<T>& x, Index i, Index column) {
  using W = Wide<T>;
  W sum(b(i, column));
  double size = 0;
  const bool lower = c.uplo == Uplo::lower;
  for (Index j = lower ? 0 : i; j < (lower ? i + 1 : a.cols()); ++j) {
    const W factor = i == j && c.diag == Diag::unit ? W(1) : W(a(i, j));
    const W product = factor * W(x(j, column));
    sum -= product;
    size += std::abs(product);
  }
  return {std::abs(sum), size};
}
template <class T>
double row_bound(Index n) {
  return 30 * std::sqrt(static_cast<double>(n)) * epsilon<T>();
}

template <class T>
class SubstitutionContract : public DeviceContract<T> {
 protected:
  /// X := A^-1 X, in work space behind which there is something to be left alone.
  void substitute(Uplo uplo, Diag diag, DeviceView<const T> a, DeviceView<T> x) {
    const auto& kernels = this->kernels();
    const auto links = this->upload(Padded<Index>(kernels.substitution_links(a.rows), 1, 1));
    const auto progress =
        this->upload(Padded<Index>(kernels.substitution_progress(a.rows, x.cols), 1, 1));
    if (kernels.substitution_links(1) > 0) {
      this->queue().enqueue(FindLinks<T>{uplo, diag, a, links});
    }
    this->queue().enqueue(Substitute<T>{uplo, diag, a, links, x, progress});
    EXPECT_TRUE(this->download(links).padding_untouched());
    EXPECT_TRUE(this->download(progress).padding_untouched());
  }

  void substitutes(const SubstitutionCase& c) {
    const auto [n, nrhs] = c.shape;
    auto a = random_matrix<T>(n, n, 1, 3);
    a.forbid_other_triangle(c.uplo);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool inside = c.uplo == Uplo::lower ? i > j : i < j;
        if (inside) a(i, j) /= std::sqrt(static_cast<Real<T>>(n));
      }
      a(j, j) = c.diag == Diag::unit ? sentinel<T>() : a(j, j) + T(2);
    }
    const auto b = random_matrix<T>(n, nrhs, 2, 1);
    const auto da = this->upload(a), dx = this->upload(b);
    substitute(c.uplo, c.diag, da, dx);
    const auto x = this->download(dx);
    EXPECT_TRUE(x.padding_untouched());
    EXPECT_TRUE(all_elements(c.shape, [&](Index i, Index column) {
      const auto [error, size] = row_error(c, a, b, x, i, column);
      return error <= row_bound<T>(a.cols()) * size;
    }));
  }
};
TYPED_TEST_SUITE(SubstitutionContract, Precisions);

TYPED_TEST(SubstitutionContract, SubstitutesForAFewRightHandSides) {
  constexpr Index kOrders[] = {1, 2, 63, 64, 65, 128, 200}, kNumbers[] = {1, 3, 4, 5, 9};
  auto shapes = cross<Shape>(kOrders, kNumbers);
  // Of large systems few, since they take long to check.
  for (const Index n : {Index{1000}, Index{this->device().emulated() ? 1300 : 2500}}) {
    shapes.insert(shapes.end(), {{n, 1}, {n, 5}});
  }
  for (const auto& c : cross<SubstitutionCase>(shapes, kUplos, kDiags)) {
    SCOPED_TRACE(c.name());
    this->substitutes(c);
  }
}

TYPED_TEST(SubstitutionContract, SubstitutionKeepsToTheRangeOfItsNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  const Index n = 100;  // diagonals whose inverses are subnormal, or no numbers of this precision
  for (const R scale : {std::numeric_limits<R>::min() / 1000, std::numeric_limits<R>::max() / 4}) {
    for (const Uplo uplo : kUplos) {
      Padded<T> a(n, n), b(n, 1);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) a(i, j) = T(i == j ? scale : R(0));
        b(j, 0) = T(scale);
      }
      const auto da = this->upload(a), dx = this->upload(b);
      this->substitute(uplo, Diag::non_unit, da, dx);
      const auto x = this->download(dx);
      for (Index i = 0; i < n; ++i) {
        ASSERT_LE(std::abs(x(i, 0) - T(1)), 4 * std::numeric_limits<R>::epsilon()) << i;
      }
    }
  }
}

TYPED_TEST(SubstitutionContract, SubstitutionGivesZerosNoSign) {
  using T = TypeParam;
  const Index n = 200;
  for (const Uplo uplo : kUplos) {
    auto a = random_matrix<T>(n, n, 1, 3);
    for (Index j = 0; j < n; ++j) a(j, j) += T(2);
    Padded<T> zeros(n, 1);
    for (Index i = 0; i < n; ++i) zeros(i, 0) = T(0);
    const auto da = this->upload(a), dx = this->upload(zeros);
    this->substitute(uplo, Diag::non_unit, da, dx);
    const auto x = this->download(dx);
    for (Index i = 0; i < n; ++i) {
      ASSERT_EQ(x(i, 0), T(0)) << i;
      ASSERT_FALSE(std::signbit(std::real(x(i, 0))) || std::signbit(std::imag(x(i, 0)))) << i;
    }
  }
}

/// As divisions are, so that whole numbers stay such.
TYPED_TEST(SubstitutionContract, QuotientsAreExactIfTheyCanBe) {
  using T = TypeParam;
  const Index n = 300;
  for (const Uplo uplo : kUplos) {
    Padded<T> a(n, n), b(n, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) = T(i == j ? static_cast<Real<T>>(i + 1) : Real<T>(0));
      b(j, 0) = a(j, j) * T(static_cast<Real<T>>(j % 7));
    }
    const auto da = this->upload(a), dx = this->upload(b);
    this->substitute(uplo, Diag::non_unit, da, dx);
    const auto x = this->download(dx);
    for (Index i = 0; i < n; ++i) {
      ASSERT_LE(std::abs(x(i, 0) - T(static_cast<Real<T>>(i % 7))),
                is_complex<T> ? 8 * epsilon<T>() * 7 : 0)
          << i;
    }
  }
}

/// Where a block on the diagonal is ill conditioned, too: what is left is as small.
TYPED_TEST(SubstitutionContract, IsAsAccurateWithIllConditionedBlocks) {
  using T = TypeParam;
  const Index n = 200;
  for (const Uplo uplo : kUplos) {
    auto a = random_matrix<T>(n, n, 3, 1);  // solutions grow by orders of magnitude
    for (Index j = 0; j < n; ++j) a(j, j) = T(Real<T>(j % 5 != 0 ? 1 : kSplits<T> ? 0.3 : 0.01));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) *= Real<T>(i == j ? 1 : 0.25);
    }
    const auto b = random_matrix<T>(n, 2, 4, 1);
    const auto da = this->upload(a), dx = this->upload(b);
    this->substitute(uplo, Diag::non_unit, da, dx);
    const auto x = this->download(dx);
    EXPECT_TRUE(all_elements({n, 2}, [&](Index i, Index column) {
      const auto [error, size] = row_error<T>({{n, 2}, uplo, Diag::non_unit}, a, b, x, i, column);
      // Some are beyond the range of single precision.
      return !std::isfinite(size) || error <= row_bound<T>(n) * size;
    }));
  }
}

}  // namespace
}  // namespace overlapack
