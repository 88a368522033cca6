// The columns of Q from reflectors, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/qr/orgqr.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::at;

/// Reflectors below the diagonal of A, as ?geqrf makes them, and what orgqr() is to make of it.
template <class T>
struct Reflectors {
  Padded<T> a;
  std::vector<T> tau;

  /// k of them in a matrix with n columns. Those in `units` are I, whatever stands there.
  Reflectors(Index m, Index n, Index k, const std::vector<Index>& units = {})
      : a(random_matrix<T>(m, n, 1, 3)), tau(at(k)) {
    for (Index j = 0; j < k; ++j) {
      long double squares = 1;
      for (Index i = j + 1; i < m; ++i) {
        a(i, j) /= static_cast<Real<T>>(std::sqrt(static_cast<double>(m)));
        squares += std::norm(Wide<T>(a(i, j)));
      }
      // Unitary: 2 Re(tau) = |tau|^2 v^H v. Of complex ones the phase is any.
      Wide<T> direction(1);
      if constexpr (is_complex<T>) direction = std::polar(Real<Wide<T>>(1), Real<Wide<T>>(j % 3));
      tau[at(j)] = T(direction * static_cast<Real<Wide<T>>>(2 * std::real(direction) / squares));
      if (std::find(units.begin(), units.end(), j) != units.end()) tau[at(j)] = T(0);
    }
  }

  /// The first `columns` of the product, by applying one reflector after the other.
  Padded<Wide<T>> product(Index columns) const {
    using W = Wide<T>;
    const Index m = a.rows();
    Padded<W> q(m, columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < m; ++i) q(i, j) = W(i == j ? 1 : 0);
      for (Index h = static_cast<Index>(tau.size()) - 1; h >= 0; --h) {
        W sum = q(h, j);
        for (Index i = h + 1; i < m; ++i) sum += conj(W(a(i, h))) * q(i, j);
        sum *= W(tau[at(h)]);
        q(h, j) -= sum;
        for (Index i = h + 1; i < m; ++i) q(i, j) -= W(a(i, h)) * sum;
      }
    }
    return q;
  }

  HostView<const T> taus() const {
    return HostView<const T>(tau.data(), static_cast<Index>(tau.size()));
  }
};

template <class T>
class Orgqr : public RoutedTest {
 protected:
  void call(Padded<T>& a, const Reflectors<T>& given, Index nb, Index& committed) {
    algorithms::Options options;
    options.nb = nb;
    options.threads = 2;
    algorithms::orgqr<T>(this->device(), options, a.view(), given.taus(), committed);
  }
  /// The last `committed` columns are those of Q, and all others as they were.
  void expect_right(const Padded<T>& a, const Reflectors<T>& given, Index committed) {
    const auto q = given.product(a.cols());
    const double limit = kThreshold * epsilon<T>();
    for (Index j = 0; j < a.cols(); ++j) {
      const bool is_final = j >= a.cols() - committed;
      for (Index i = 0; i < a.rows(); ++i) {
        const auto wanted = is_final ? q(i, j) : Wide<T>(given.a(i, j));
        ASSERT_LE(std::abs(Wide<T>(a(i, j)) - wanted), is_final ? limit : 0) << i << ", " << j;
      }
    }
    EXPECT_TRUE(a.padding_untouched());
  }
};
TYPED_TEST_SUITE(Orgqr, Precisions);

struct Case {
  Index m, n, k;
};

TYPED_TEST(Orgqr, OfAllShapes) {
  using T = TypeParam;
  for (const Case& c : {Case{1, 1, 1}, Case{33, 33, 33}, Case{70, 70, 70}, Case{90, 35, 35},
                        Case{90, 60, 35}, Case{200, 3, 1}, Case{64, 64, 16}, Case{130, 129, 128}}) {
    for (const Index nb : {16, 48}) {
      SCOPED_TRACE(testing::Message()
                   << c.m << " x " << c.n << ", " << c.k << " reflectors, nb " << nb);
      const Reflectors<T> given(c.m, c.n, c.k);
      auto a = given.a;
      Index committed = 0;
      this->call(a, given, nb, committed);
      EXPECT_EQ(committed, c.n);
      this->expect_right(a, given, committed);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Orgqr, ReflectorsMayBeTheUnitMatrix) {
  using T = TypeParam;
  const Reflectors<T> given(40, 30, 20, {0, 7, 16, 19});
  auto a = given.a;
  Index committed = 0;
  this->call(a, given, 8, committed);
  this->expect_right(a, given, committed);
}

TYPED_TEST(Orgqr, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  const Reflectors<T> given(50, 40, 33);
  auto a = given.a;
  OnDevice<T> there(this->device(), a);
  algorithms::Options options;
  options.nb = 16;
  Index committed = 0;
  algorithms::orgqr<T>(this->device(), options, there.view(), given.taus(), committed);
  there.fetch();
  this->expect_right(a, given, committed);
}

TYPED_TEST(Orgqr, FaultsAtEveryAction) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  const Reflectors<T> given(60, 50, 45);
  auto a = given.a;
  Index committed = 0;
  const Index faults = this->with_faults(
      every ? 1 : 11, [&] { a = given.a, committed = 0; },
      [&] {
        try {
          this->call(a, given, 16, committed);
          EXPECT_EQ(committed, a.cols());
        } catch (const DeviceError&) {
        }
        this->expect_right(a, given, committed);
      });
  EXPECT_GT(faults, 1);
}

}  // namespace
}  // namespace overlapack
