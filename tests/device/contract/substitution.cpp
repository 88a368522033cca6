// Substitution with few right-hand sides.
#include <cmath>
#include <limits>

#include "device/contract/contract.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

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
};
TYPED_TEST_SUITE(SubstitutionContract, Precisions);

TYPED_TEST(SubstitutionContract, SubstitutesForAFewRightHandSides) {
  using T = TypeParam;
  for (const Index n : {1, 2, 63, 64, 65, 128, 200, 1000, 2500}) {
    for (const Index nrhs : {1, 3, 4, 5, 9}) {
      if (n >= 1000 && nrhs != 1 && nrhs != 5) continue;  // would take long to check
      for (const Uplo uplo : kUplos) {
        for (const Diag diag : {Diag::non_unit, Diag::unit}) {
          SCOPED_TRACE(testing::Message() << n << " " << nrhs << " " << char(uplo) << char(diag));
          auto a = random_matrix<T>(n, n, 1, 3);
          a.forbid_other_triangle(uplo);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              const bool inside = uplo == Uplo::lower ? i > j : i < j;
              if (inside) a(i, j) /= std::sqrt(static_cast<Real<T>>(n));
              if (i == j) a(i, j) = diag == Diag::unit ? sentinel<T>() : a(i, j) + T(2);
            }
          }
          const auto b = random_matrix<T>(n, nrhs, 2, 1);
          const auto da = this->upload(a), dx = this->upload(b);
          this->substitute(uplo, diag, da, dx);
          const auto x = this->download(dx);
          EXPECT_TRUE(x.padding_untouched());
          // |b - A x| <= c eps |A| |x|, row by row, as substitution has it.
          for (Index c = 0; c < nrhs; ++c) {
            for (Index i = 0; i < n; ++i) {
              Wide<T> sum(b(i, c));
              double size = 0;
              for (Index j = uplo == Uplo::lower ? 0 : i; j < (uplo == Uplo::lower ? i + 1 : n);
                   ++j) {
                const Wide<T> product =
                    (i == j && diag == Diag::unit ? Wide<T>(1) : Wide<T>(a(i, j))) *
                    Wide<T>(x(j, c));
                sum -= product;
                size += std::abs(product);
              }
              ASSERT_LE(std::abs(sum), 30 * std::sqrt(static_cast<double>(n)) * epsilon<T>() * size)
                  << i << "," << c;
            }
          }
        }
      }
    }
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
    for (Index c = 0; c < 2; ++c) {
      for (Index i = 0; i < n; ++i) {
        Wide<T> sum(b(i, c));
        double size = std::abs(sum);
        const Index first = uplo == Uplo::lower ? 0 : i, end = uplo == Uplo::lower ? i + 1 : n;
        for (Index j = first; j < end; ++j) {
          sum -= Wide<T>(a(i, j)) * Wide<T>(x(j, c));
          size += std::abs(Wide<T>(a(i, j)) * Wide<T>(x(j, c)));
        }
        if (!std::isfinite(size)) continue;  // beyond the range of single precision
        ASSERT_LE(std::abs(sum), 30 * std::sqrt(static_cast<double>(n)) * epsilon<T>() * size)
            << i << "," << c;
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
