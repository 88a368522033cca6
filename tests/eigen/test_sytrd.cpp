// The reduction to tridiagonal form on the device: by the algorithm, and by the exported names of
// ?sytrd and ?hetrd.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithms/eigen/sytrd.hpp"
#include "cpu/calling.hpp"
#include "cpu/householder.hpp"
#include "dispatch/calls.hpp"
#include "overlapack/lapack.h"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using Integer = std::int32_t;

/// LAPACK's ratios of a reduction are to be below this. (Its own limit is 20 or more.)
constexpr double kMostOfReduction = 10;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// What a reduction is given, and what it leaves. The triangle that it must not touch is sentinels,
/// and so is an element behind each vector.
template <class T>
struct Reduced {
  using R = Real<T>;
  Reduced(Uplo of, const Padded<T>& whole)
      : uplo(of),
        a(whole),
        d(at(a.rows() + 1), sentinel<R>()),
        e(at(std::max<Index>(a.rows(), 1)), sentinel<R>()),
        tau(e.size(), sentinel<T>()) {
    a.forbid_other_triangle(uplo);
  }
  Index n() const { return a.rows(); }

  void expect_rest_untouched() const {
    EXPECT_TRUE(a.padding_untouched());
    EXPECT_TRUE(a.other_triangle_untouched(uplo));
    EXPECT_EQ(d.back(), sentinel<R>());
    EXPECT_EQ(e.back(), sentinel<R>());
    EXPECT_EQ(tau.back(), sentinel<T>());
  }
  bool same_bits_as(const Reduced& other) const {
    return same_bits(a, other.a) && d == other.d && e == other.e && tau == other.tau;
  }

  Uplo uplo;
  Padded<T> a;
  std::vector<R> d, e;
  std::vector<T> tau;
};

/// A matrix in reverse order of its rows and columns.
template <class W>
Padded<W> turned(const Padded<W>& a) {
  const Index n = a.rows();
  Padded<W> result(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) result(i, j) = a(n - 1 - i, n - 1 - j);
  }
  return result;
}

/// ||A - Q T Q^H|| / (n ||A|| eps) and ||I - Q^H Q|| / (n eps). An upper triangle is looked at as
/// the lower one that it is when it is turned.
template <class T>
void expect_reduced(const Padded<T>& whole, Reduced<T> result) {
  using W = Wide<T>;
  const Index n = result.n();
  result.expect_rest_untouched();
  if (n == 0) return;
  auto a = widen_hermitian<T>(result.uplo, whole.view());
  auto v = widen<T>(result.a.view());
  if (result.uplo == Uplo::upper) {
    a = turned(a);
    v = turned(v);
    std::reverse(result.d.begin(), result.d.end() - 1);
    std::reverse(result.e.begin(), result.e.end() - 1);
    std::reverse(result.tau.begin(), result.tau.end() - 1);
  }
  Padded<W> t(n, n), q(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const bool beside = i == j + 1 || j == i + 1;
      t(i, j) = i == j ? W(result.d[at(i)]) : beside ? W(result.e[at(std::min(i, j))]) : W(0);
      q(i, j) = W(i == j);
    }
    EXPECT_EQ(v(j, j), t(j, j)) << j;
    EXPECT_TRUE(j + 1 == n || v(j + 1, j) == t(j + 1, j)) << j;
  }
  for (Index j = n - 2; j >= 0; --j) {
    reference::apply_householder<W>(W(result.tau[at(j)]), &v(j + 1, j),
                                    q.view().block(j + 1, j + 1, n - j - 1, n - j - 1));
  }
  Padded<W> qt(n, n);
  reference::gemm<W>(Op::none, Op::none, W(1), q.view(), t.view(), W(0), qt.view());
  const double order = static_cast<double>(n);
  EXPECT_LT(scaled(norm1(rest(a, Op::none, qt, Op::conj_trans, q)), order * norm1(a), epsilon<T>()),
            kMostOfReduction);
  EXPECT_LT(scaled(norm1(rest(widen<T>(unit_matrix<T>(n).view()), Op::conj_trans, q, Op::none, q)),
                   order, epsilon<T>()),
            kMostOfReduction);
}

/// Random, with real numbers on its diagonal. What stands there as imaginary parts is ignored.
template <class T>
Padded<T> hermitian(Index n, std::uint64_t seed, Index padding = 0) {
  auto a = random_matrix<T>(n, n, seed, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) a(i, j) = conj(a(j, i));
  }
  return a;
}

/// The CPU LAPACK's ?sytrd, with the least workspace.
template <class T>
void reduce_by_lapack(Reduced<T>& x) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  const char uplo = static_cast<char>(x.uplo);
  const Integer n = static_cast<Integer>(x.n()), lda = static_cast<Integer>(x.a.ld());
  const Integer lwork = 1;
  T work[lwork];
  Integer info = 1;
  const auto run = [&](auto* routine) {
    routine(&uplo, &n, x.a.data(), &lda, x.d.data(), x.e.data(), x.tau.data(), work, &lwork, &info,
            1);
  };
  using Types = cpu::Signature<T, Integer>;
  if constexpr (is_complex<T>) {
    run(cpu::as<typename Types::hetrd>(lapack.find(row_of("hetrd"), false)));
  } else {
    run(cpu::as<typename Types::sytrd>(lapack.find(row_of("sytrd"), false)));
  }
  EXPECT_EQ(info, 0);
}

/// The exported one, with the least workspace. Returns info.
template <class T>
Index reduce_by_name(Reduced<T>& x, T* in_place_of_a = nullptr) {
  const char uplo = static_cast<char>(x.uplo);
  const Integer n = static_cast<Integer>(x.n()), lda = static_cast<Integer>(x.a.ld()), lwork = 1;
  T* const a = in_place_of_a != nullptr ? in_place_of_a : x.a.data();
  T work[] = {sentinel<T>(), sentinel<T>()};
  Integer info = 1;
  if constexpr (is_complex<T>) {
    Exported<T>::hetrd(&uplo, &n, a, &lda, x.d.data(), x.e.data(), x.tau.data(), work, &lwork,
                       &info, 1);
  } else {
    Exported<T>::sytrd(&uplo, &n, a, &lda, x.d.data(), x.e.data(), x.tau.data(), work, &lwork,
                       &info, 1);
  }
  EXPECT_TRUE(info != 0 || real(work[0]) >= 1);
  EXPECT_EQ(work[1], sentinel<T>());
  return info;
}

template <class T>
class Sytrd : public RoutedTest {
 protected:
  static algorithms::Options options(Index nb) {
    algorithms::Options options;
    options.nb = nb;
    options.threads = 2;
    return options;
  }
  Reduced<T> reduce(Uplo uplo, const Padded<T>& a, Index nb) {
    Reduced<T> result(uplo, a);
    algorithms::sytrd<T>(device(), options(nb), uplo, result.a.view(), result.d.data(),
                         result.e.data(), result.tau.data());
    return result;
  }
  void expect_reduces(const Padded<T>& a, Index nb = 7) {
    for (const Uplo uplo : kUplos) expect_reduced(a, reduce(uplo, a, nb));
  }
};
TYPED_TEST_SUITE(Sytrd, Precisions);

TYPED_TEST(Sytrd, RandomMatricesOfAllSmallOrders) {
  for (Index n = 1; n <= 70; ++n) {
    SCOPED_TRACE(n);
    this->expect_reduces(hermitian<TypeParam>(n, 1, n % 3), 1 + n % 9);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(Sytrd, RandomMatricesOfSomeBlocks) {
  std::vector<Index> orders = {127, 128, 129, 200, 300};
  if (!this->device().emulated()) orders.insert(orders.end(), {511, 513});
  for (const Index n : orders) {
    for (const Index nb : {8, 64}) {
      SCOPED_TRACE(testing::Message() << n << ", blocks of " << nb);
      this->expect_reduces(hermitian<TypeParam>(n, 2, n % 2), nb);
    }
  }
}

TYPED_TEST(Sytrd, IsThatOfTheCpuLapack) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 17, 64, 150}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << static_cast<char>(uplo));
      // Reflectors of matrices like this one depend little on its last digits.
      auto a = positive_definite<T>(n, 3, 2);
      for (Index i = 0; i + 1 < n; ++i) {
        a(i + 1, i) += T(static_cast<Real<T>>(i % 2 == 0 ? 4 : -4));
        a(i, i + 1) = conj(a(i + 1, i));
      }
      const Reduced<T> ours = this->reduce(uplo, a, 8);
      Reduced<T> theirs(uplo, a);
      reduce_by_lapack(theirs);
      const double tolerance = 100 * static_cast<double>(n) * epsilon<T>();
      const auto expect_near = [&](const auto& x, const auto& y, double size) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          EXPECT_LE(std::abs(x[i] - y[i]), tolerance * size) << i;
        }
      };
      expect_near(ours.d, theirs.d, 8);
      expect_near(ours.e, theirs.e, 8);
      expect_near(ours.tau, theirs.tau, 1);
      EXPECT_LE(largest_difference(ours.a, theirs.a), 8 * tolerance);
    }
  }
}

TYPED_TEST(Sytrd, ImaginaryPartsOfTheDiagonalAreIgnored) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    auto a = hermitian<T>(50, 12);
    for (Index j = 0; j < a.cols(); ++j) {
      a(j, j) = T(a(j, j).real(), std::numeric_limits<Real<T>>::quiet_NaN());
    }
    this->expect_reduces(a);
  }
}

/// Where there is nothing to reflect, tau is 0.
TYPED_TEST(Sytrd, MatricesWithAStructure) {
  using T = TypeParam;
  const Index n = 40;
  auto diagonal = unit_matrix<T>(n);
  Padded<T> zero(n, n), rank_one(n, n), tridiagonal(n, n);
  const auto x = random_matrix<T>(n, 1, 1);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      zero(i, j) = tridiagonal(i, j) = T(0);
      rank_one(i, j) = x(i, 0) * conj(x(j, 0));
    }
    tridiagonal(j, j) = T(2);
    if (j == 0) continue;
    tridiagonal(j, j - 1) = phase<T>(j);
    tridiagonal(j - 1, j) = conj(phase<T>(j));
  }
  for (const Uplo uplo : kUplos) {
    for (const auto& [a, value] : {std::pair{zero, 0}, std::pair{diagonal, 1}}) {
      const Reduced<T> result = this->reduce(uplo, a, 8);
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(result.d[at(j)], static_cast<Real<T>>(value));
        if (j + 1 == n) continue;
        EXPECT_EQ(result.e[at(j)], Real<T>(0));
        EXPECT_EQ(result.tau[at(j)], T(0));
      }
    }
  }
  this->expect_reduces(zero);
  this->expect_reduces(diagonal);
  this->expect_reduces(rank_one);
  this->expect_reduces(tridiagonal);
  this->expect_reduces(hadamard<T>(64));
}

TYPED_TEST(Sytrd, OfNumbersOfAnySize) {
  using T = TypeParam;
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 12;
  for (const int exponent : {-kMost, -kMost / 2, kMost / 2, kMost}) {
    SCOPED_TRACE(exponent);
    auto a = hermitian<T>(50, 4);
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) a(i, j) *= std::ldexp(Real<T>(1), exponent);
    }
    for (const Uplo uplo : kUplos) {
      const Reduced<T> whole = this->reduce(uplo, a, 8);
      // Back among ordinary numbers, where the ratios can be computed.
      auto scaled_a = a;
      Reduced<T> result = whole;
      const auto back = [&](auto& number) { number *= std::ldexp(Real<T>(1), -exponent); };
      for (Index j = 0; j < a.cols(); ++j) {
        for (Index i = 0; i < a.rows(); ++i) {
          back(scaled_a(i, j));
          if (i == j || i == j + (uplo == Uplo::lower ? 1 : -1)) back(result.a(i, j));
        }
        back(result.d[at(j)]);
        if (j + 1 < a.cols()) back(result.e[at(j)]);
      }
      expect_reduced(scaled_a, result);
    }
  }
}

/// Columns that are tiny beside others, and graded matrices.
TYPED_TEST(Sytrd, OfGradedMatrices) {
  using T = TypeParam;
  const Index n = 60;
  for (const int step : {-1, 1}) {
    auto a = hermitian<T>(n, 5);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        a(i, j) *= std::ldexp(Real<T>(1), step * static_cast<int>(i + j - n));
      }
    }
    this->expect_reduces(a);
  }
}

TYPED_TEST(Sytrd, NumbersThatAreNotFiniteEndInNaNs) {
  using T = TypeParam;
  using R = Real<T>;
  for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    for (const Uplo uplo : kUplos) {
      for (const Index place : {0, 20, 49}) {
        auto a = hermitian<T>(50, 6);
        a(place, 20) = a(20, place) = T(bad);
        const Reduced<T> result = this->reduce(uplo, a, 8);
        const auto not_finite = [](R x) { return !std::isfinite(x); };
        EXPECT_TRUE(std::any_of(result.d.begin(), result.d.end(), not_finite));
        EXPECT_TRUE(result.a.other_triangle_untouched(uplo));
      }
    }
  }
}

TYPED_TEST(Sytrd, TheSameBitsWhateverTheTiming) {
  using T = TypeParam;
  const auto a = hermitian<T>(140, 7);
  for (const Uplo uplo : kUplos) {
    const Reduced<T> first = this->reduce(uplo, a, 8);
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(first.same_bits_as(this->reduce(uplo, a, 8)));
    }
  }
}

// ---- By the exported names ----------------------------------------------------------------------

/// With a fault the CPU does the call, with what the caller had.
TYPED_TEST(Sytrd, FaultsAtEveryAction) {
  using T = TypeParam;
  const auto a = hermitian<T>(75, 8, 3);
  for (const Uplo uplo : kUplos) {
    Reduced<T> theirs(uplo, a);
    reduce_by_lapack(theirs);
    Index by_the_cpu = 0;
    const Index faults = this->with_faults(
        1, [&] { this->route(dispatch::Algorithm::tiled, 8); },
        [&] {
          Reduced<T> result(uplo, a);
          EXPECT_EQ(reduce_by_name(result), 0);
          expect_reduced(a, result);
          by_the_cpu += result.same_bits_as(theirs);
        });
    EXPECT_GT(faults, 20);
    EXPECT_GE(by_the_cpu, faults);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(Sytrd, FinishedByTheCpuWithoutMemory) {
  using T = TypeParam;
  this->route(dispatch::Algorithm::tiled, 8);
  const auto a = hermitian<T>(30, 9);
  for (const Uplo uplo : kUplos) {
    Reduced<T> first(uplo, a);
    EXPECT_EQ(reduce_by_name(first), 0);  // for what is made once and for all
    for (long request = 1;; request += 3) {
      Reduced<T> result(uplo, a);
      long requests = 0;
      {
        const ScarceMemory memory(request);
        EXPECT_EQ(reduce_by_name(result), 0);
        requests = ScarceMemory::count();
      }
      expect_reduced(a, result);
      if (requests < request || this->HasFailure()) break;
    }
  }
}

TYPED_TEST(Sytrd, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  this->route(dispatch::Algorithm::tiled, 8);
  const auto a = hermitian<T>(100, 10, 4);
  for (const Uplo uplo : kUplos) {
    Reduced<T> here(uplo, a), there(uplo, a);
    EXPECT_EQ(reduce_by_name(here), 0);
    OnDevice<T> on_device(this->device(), there.a);
    EXPECT_EQ(reduce_by_name(there, on_device.view().data), 0);
    on_device.fetch();
    EXPECT_TRUE(here.same_bits_as(there));
    expect_reduced(a, there);
    Reduced<T> failing(uplo, a);
    OnDevice<T> lost(this->device(), failing.a);
    FaultAt fault(5);
    this->device().set_observer(&fault);
    EXPECT_EQ(reduce_by_name(failing, lost.view().data), dispatch::kNoMemory);
    this->device().set_observer(nullptr);
  }
}

TYPED_TEST(Sytrd, SmallCallsAndEmptyOnes) {
  using T = TypeParam;
  this->route(dispatch::Algorithm::tiled, 8);
  for (const Index n : {0, 1, 2, 3}) {
    for (const Uplo uplo : kUplos) {
      const auto a = hermitian<T>(n, 11, 1);
      Reduced<T> result(uplo, a);
      EXPECT_EQ(reduce_by_name(result), 0);
      expect_reduced(a, result);
    }
  }
}

}  // namespace
}  // namespace overlapack
