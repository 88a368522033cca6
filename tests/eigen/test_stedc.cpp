// ?stedc with eigenvectors, by the exported name, on the device: residuals beside those of the CPU
// LAPACK, for matrices that deflate in all ways; faults; numbers that are not finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "cpu/calling.hpp"
#include "cpu/eigen.hpp"
#include "dispatch/calls.hpp"
#include "overlapack/lapack.h"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using Integer = std::int32_t;

enum class Kind {
  random,
  wilkinson,
  glued,
  toeplitz,
  clustered_at_one,
  clustered_at_eps,
  equal,
  zero,
  identity,
  graded,
  graded_backwards,
  large,
  small,
  tiny_beside,
  negative_beside,
  count
};

/// The diagonal of a symmetric tridiagonal matrix, and what stands beside it.
template <class R>
struct Tridiagonal {
  std::vector<R> d, e;
  Index order() const { return static_cast<Index>(d.size()); }
};

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <class R>
Tridiagonal<R> make(Kind kind, Index n, std::uint64_t seed = 1) {
  std::mt19937_64 generator(seed + static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&] { return static_cast<R>(uniform(generator)); };
  constexpr R kEps = std::numeric_limits<R>::epsilon();
  constexpr int kExponents = std::numeric_limits<R>::max_exponent - 2;
  Tridiagonal<R> t{std::vector<R>(at(n)), std::vector<R>(at(std::max<Index>(n - 1, 0)))};
  for (Index i = 0; i < n; ++i) {
    R d = random(), e = random();
    switch (kind) {
      case Kind::wilkinson:
        d = static_cast<R>(std::abs(n - 1 - 2 * i)) / 2;
        e = 1;
        break;
      case Kind::glued:
        d = static_cast<R>(std::abs(10 - i % 21));
        e = i % 21 == 20 ? std::sqrt(kEps) : R(1);
        break;
      case Kind::toeplitz:
        d = 2;
        e = 1;
        break;
      case Kind::clustered_at_one:
        d = 1 + 10 * kEps * random();
        e *= 10 * kEps;
        break;
      case Kind::clustered_at_eps:
        d = i == 0 ? R(1) : kEps * random();
        e *= kEps;
        break;
      case Kind::equal:
        d = e = 1;
        break;
      case Kind::zero:
        d = e = 0;
        break;
      case Kind::identity:
        d = 1;
        e = 0;
        break;
      case Kind::graded:
      case Kind::graded_backwards: {
        const Index place = kind == Kind::graded ? i : n - 1 - i;
        const auto exponent =
            static_cast<int>((1 - 2 * static_cast<double>(place) / n) * kExponents);
        d = std::ldexp(d, exponent);
        e = std::ldexp(e, exponent);
        break;
      }
      case Kind::large:
        d = std::ldexp(d, kExponents);
        e = std::ldexp(e, kExponents);
        break;
      case Kind::small:
        d = std::ldexp(d, -kExponents);
        e = std::ldexp(e, -kExponents);
        break;
      case Kind::tiny_beside:
        e *= std::ldexp(kEps, i % 3 == 0 ? 4 : -4);
        break;
      case Kind::negative_beside:
        d = 2;
        e = i % 2 == 0 ? R(-1) : R(1);
        break;
      default:
        break;
    }
    t.d[at(i)] = d;
    if (i + 1 < n) t.e[at(i)] = e;
  }
  return t;
}

/// Of a call: what it is given, and what it leaves.
template <class T>
struct Result {
  std::vector<Real<T>> d, e;
  Padded<T> z;
  Integer info;
  T work;
};

template <class T>
Result<T> solve(const Tridiagonal<Real<T>>& t, char compz, const Padded<T>& z, bool theirs = false,
                T* elsewhere = nullptr) {
  using R = Real<T>;
  const auto n = static_cast<Integer>(t.order()), ldz = static_cast<Integer>(z.ld());
  Result<T> result{t.d, t.e, z, 77, T(0)};
  const cpu::EigenSizes sizes = cpu::least_sizes_of_stedc(compz, is_complex<T>, n);
  const auto lwork = static_cast<Integer>(sizes.work), lrwork = static_cast<Integer>(sizes.rwork),
             liwork = static_cast<Integer>(sizes.iwork);
  std::vector<T> work(at(sizes.work));
  std::vector<R> rwork(at(sizes.rwork));
  std::vector<Integer> iwork(at(sizes.iwork));
  T* const Z = elsewhere != nullptr ? elsewhere : result.z.data();
  const cpu::Lapack<T>& lapack = cpu::lapack<T>(cpu::Family::lp64);
  if constexpr (is_complex<T>) {
    using F = typename cpu::Signature<T, Integer>::stedc;
    F* const call = theirs ? cpu::as<F>(lapack.find(row_of("stedc"), false)) : Exported<T>::stedc;
    call(&compz, &n, result.d.data(), result.e.data(), Z, &ldz, work.data(), &lwork, rwork.data(),
         &lrwork, iwork.data(), &liwork, &result.info, 1);
  } else {
    using F = typename cpu::Signature<T, Integer>::stedc;
    F* const call = theirs ? cpu::as<F>(lapack.find(row_of("stedc"), false)) : Exported<T>::stedc;
    call(&compz, &n, result.d.data(), result.e.data(), Z, &ldz, work.data(), &lwork, iwork.data(),
         &liwork, &result.info, 1);
  }
  result.work = work[0];
  return result;
}

/// ||T - Z diag(d) Z^H|| / (n ||T|| eps) and ||Z^H Z - I|| / (n eps), in the norm of one.
struct Errors {
  double residual, orthogonality;
};
template <class T>
Errors errors_of(const Tridiagonal<Real<T>>& t, const Result<T>& result) {
  using W = Wide<T>;
  using WR = Real<W>;
  const Index n = t.order();
  Errors errors{0, 0};
  WR norm = 0;
  const auto element = [&](Index i, Index j) -> WR {
    return i == j ? t.d[at(i)] : i == j + 1 ? t.e[at(j)] : j == i + 1 ? t.e[at(i)] : 0;
  };
  // Scaled, lest the sums overflow.
  WR largest = 0;
  for (const auto x : t.d) largest = std::max<WR>(largest, std::abs(x));
  for (const auto x : t.e) largest = std::max<WR>(largest, std::abs(x));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  const auto scaled = [&](WR x) { return std::ldexp(x, -exponent); };
  Padded<W> zd(n, n);
  const auto z = widen<T>(result.z.view());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) zd(i, j) = z(i, j) * W(scaled(result.d[at(j)]));
  }
  Padded<W> product(n, n), gram(n, n);
  using reference::gemm;
  gemm<W>(Op::none, Op::conj_trans, W(1), zd.view(), z.view(), W(0), product.view());
  gemm<W>(Op::conj_trans, Op::none, W(1), z.view(), z.view(), W(0), gram.view());
  for (Index j = 0; j < n; ++j) {
    WR of_t = 0, of_product = 0, of_gram = 0;
    for (Index i = 0; i < n; ++i) {
      of_t += std::abs(scaled(element(i, j)));
      of_product += std::abs(product(i, j) - W(scaled(element(i, j))));
      of_gram += std::abs(gram(i, j) - W(i == j));
    }
    norm = std::max(norm, of_t);
    errors.residual = reference::max_or_nan(errors.residual, static_cast<double>(of_product));
    errors.orthogonality =
        reference::max_or_nan(errors.orthogonality, static_cast<double>(of_gram));
  }
  const double unit = static_cast<double>(n) * epsilon<T>();
  if (norm > 0) errors.residual /= static_cast<double>(norm) * unit;
  errors.orthogonality /= unit;
  return errors;
}

template <class T>
class Stedc : public RoutedTest {
 protected:
  using R = Real<T>;
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) route(dispatch::Algorithm::tiled, 16);
  }
  /// Room for the eigenvectors.
  static Padded<T> room(Index n) { return Padded<T>(n, n, 3); }

  /// The eigenproblem of t, whose errors are small and not much larger than the CPU LAPACK's.
  Result<T> solves(const Tridiagonal<R>& t, bool compares = true) {
    const std::size_t before = this->uploaded();
    const Result<T> ours = solve<T>(t, 'I', room(t.order()));
    EXPECT_EQ(ours.info, 0);
    EXPECT_GT(this->uploaded(), before) << "it was not on the device";
    EXPECT_TRUE(ours.z.padding_untouched());
    EXPECT_TRUE(std::is_sorted(ours.d.begin(), ours.d.end()));
    const Errors errors = errors_of<T>(t, ours);
    EXPECT_LT(errors.residual, 10);
    EXPECT_LT(errors.orthogonality, 10);
    if (compares) {
      const Result<T> theirs = solve<T>(t, 'I', room(t.order()), true);
      const Errors lapacks = errors_of<T>(t, theirs);
      // Where one of both hardly has an error: a few roundings, which are divided by n.
      const double rounding = 0.25 + 4 / static_cast<double>(t.order());
      EXPECT_LE(errors.residual, 2 * lapacks.residual + rounding);
      EXPECT_LE(errors.orthogonality, 2 * lapacks.orthogonality + rounding);
    }
    return ours;
  }
};
TYPED_TEST_SUITE(Stedc, Precisions);

TYPED_TEST(Stedc, IsAsAccurateAsTheCpuLapack) {
  using R = Real<TypeParam>;
  for (int kind = 0; kind < static_cast<int>(Kind::count); ++kind) {
    for (const Index n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 33, 45, 64, 70, 100}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", n = " << n);
      this->solves(make<R>(static_cast<Kind>(kind), n));
      if (this->HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace overlapack
