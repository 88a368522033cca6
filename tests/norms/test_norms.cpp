// Norms by the exported names (dlange_ and so on), of matrices in ordinary and in device memory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cpu/reference.hpp"
#include "overlapack/lapack.h"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

constexpr Norm kNorms[] = {Norm::max, Norm::one, Norm::infinity, Norm::frobenius};

/// A norm that the library is asked for, by a letter.
struct Question {
  char letter;
  Symmetry symmetry = Symmetry::none;
  char uplo = 'L';

  Norm norm() const {
    const int upper = std::toupper(letter);
    return upper == 'E' ? Norm::frobenius : upper == '1' ? Norm::one : static_cast<Norm>(upper);
  }
  bool uses_work() const {
    return norm() == Norm::infinity || (symmetry != Symmetry::none && norm() == Norm::one);
  }
};

template <class T>
std::vector<Question> questions() {
  std::vector<Question> all;
  for (const char letter : {'M', 'm', 'O', 'o', '1', 'I', 'i', 'F', 'f', 'E', 'e'}) {
    all.push_back({letter});
    for (const char uplo : {'L', 'l', 'U', 'u'}) {
      all.push_back({letter, Symmetry::symmetric, uplo});
      if constexpr (is_complex<T>) all.push_back({letter, Symmetry::hermitian, uplo});
    }
  }
  return all;
}

/// Asks through the exported symbol. `work` may be null.
template <class T>
Real<T> ask(const Question& q, HostView<const T> a, Real<T>* work) {
  const Sizes s(a);
  if (q.symmetry == Symmetry::none) {
    return Exported<T>::lange(&q.letter, &s.rows, &s.cols, a.data, &s.ld, work, 1);
  }
  if (q.symmetry == Symmetry::symmetric) {
    return Exported<T>::lansy(&q.letter, &q.uplo, &s.rows, a.data, &s.ld, work, 1, 1);
  }
  if constexpr (is_complex<T>) {
    return Exported<T>::lanhe(&q.letter, &q.uplo, &s.rows, a.data, &s.ld, work, 1, 1);
  }
  return -1;
}

template <class T>
Real<T> expected_norm(const Question& q, HostView<const T> a) {
  std::vector<Real<T>> sums(static_cast<std::size_t>(a.rows));
  return reference::norm<T>(q.norm(), q.symmetry,
                            q.uplo == 'U' || q.uplo == 'u' ? Uplo::upper : Uplo::lower, a,
                            sums.data());
}

template <class T>
double bound(HostView<const T> a) {
  return static_cast<double>(a.rows + a.cols + 40) * epsilon<T>();
}

template <class T>
class Norms : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (device_) route(Algorithm::tiled, 16);
  }
  void TearDown() override {
    RoutedTest::TearDown();
    dispatch::Context::instance().use_device(nullptr);
  }
};
TYPED_TEST_SUITE(Norms, Precisions);

TYPED_TEST(Norms, OfOrdinaryMemoryAreTheCpus) {
  using T = TypeParam;
  const std::size_t kernels = this->device().counters().kernels;
  for (const Index n : {1, 2, 42, 133}) {
    for (const Index padding : {0, 3}) {
      const auto a = random_matrix<T>(n, n, 1, padding);
      for (const Question& q : questions<T>()) {
        SCOPED_TRACE(testing::Message() << n << " " << q.letter << q.uplo << int(q.symmetry));
        std::vector<Real<T>> work(static_cast<std::size_t>(n) + 1, sentinel<Real<T>>());
        const Real<T> expected = expected_norm<T>(q, a.view());
        EXPECT_NEAR(ask<T>(q, a.view(), work.data()), expected,
                    bound<T>(a.view()) * static_cast<double>(expected));
        EXPECT_EQ(work.back(), sentinel<Real<T>>());
        if (!q.uses_work()) {
          EXPECT_EQ(ask<T>(q, a.view(), nullptr), ask<T>(q, a.view(), work.data()));
        }
      }
    }
  }
  const auto wide = random_matrix<T>(7, 90, 1, 2);
  std::vector<Real<T>> work(7);
  for (const Norm norm : kNorms) {
    const Question q{static_cast<char>(norm)};
    const Real<T> expected = expected_norm<T>(q, wide.view());
    EXPECT_NEAR(ask<T>(q, wide.view(), work.data()), expected,
                bound<T>(wide.view()) * static_cast<double>(expected));
  }
  EXPECT_EQ(this->device().counters().kernels, kernels) << "the device was used";
}

TYPED_TEST(Norms, OfDeviceMemoryAreTheDevices) {
  using T = TypeParam;
  for (const Index n : {1, 2, 42, 133}) {
    for (const Index padding : {0, 3}) {
      auto a = random_matrix<T>(n, n, 1, padding);
      const OnDevice<T> there(this->device(), a);
      for (const Question& q : questions<T>()) {
        SCOPED_TRACE(testing::Message() << n << " " << q.letter << q.uplo << int(q.symmetry));
        const std::size_t kernels = this->device().counters().kernels;
        const Real<T> expected = expected_norm<T>(q, a.view());
        EXPECT_NEAR(ask<T>(q, there.view(), nullptr), expected,
                    bound<T>(a.view()) * static_cast<double>(expected));
        EXPECT_GT(this->device().counters().kernels, kernels);
      }
    }
  }
  const std::pair<Index, Index> shapes[] = {{3000, 2}, {2, 3000}, {7, 42}, {666, 42}};
  for (const auto& [m, n] : shapes) {
    auto a = random_matrix<T>(m, n, 1, 1);
    const OnDevice<T> there(this->device(), a);
    for (const Norm norm : kNorms) {
      const Question q{static_cast<char>(norm)};
      const Real<T> expected = expected_norm<T>(q, a.view());
      EXPECT_NEAR(ask<T>(q, there.view(), nullptr), expected,
                  bound<T>(a.view()) * static_cast<double>(expected));
    }
  }
}

/// A norm of a triangle that the library is asked for, by letters.
struct TriangleQuestion {
  char letter, uplo, diag;

  /// The matrix that is meant, all of it.
  template <class T>
  Padded<T> meant(const Padded<T>& a) const {
    Padded<T> all(a.rows(), a.cols());
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) {
        const bool is_given = uplo == 'U' || uplo == 'u' ? i <= j : i >= j;
        const bool is_one = i == j && (diag == 'U' || diag == 'u');
        all(i, j) = is_one ? T(1) : is_given ? a(i, j) : T(0);
      }
    }
    return all;
  }
  /// NaNs in place of what must not be read.
  template <class T>
  Padded<T> given(const Padded<T>& a) const {
    const Padded<T> all = meant(a);
    Padded<T> result(a.rows(), a.cols(), a.ld() - a.rows());
    std::fill_n(result.data(), a.ld() * a.cols(), nan<T>());
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) {
        if (all(i, j) == a(i, j)) result(i, j) = a(i, j);
      }
    }
    return result;
  }
  template <class T>
  Real<T> expected(const Padded<T>& a) const {
    return expected_norm<T>({letter}, meant(a).view());
  }
  template <class T>
  Real<T> ask(HostView<const T> a, Real<T>* work) const {
    const Sizes s(a);
    return Exported<T>::lantr(&letter, &uplo, &diag, &s.rows, &s.cols, a.data, &s.ld, work, 1, 1,
                              1);
  }
};

const std::vector<TriangleQuestion> kTriangleQuestions = [] {
  std::vector<TriangleQuestion> all;
  for (const char letter : {'M', 'm', 'O', 'o', '1', 'I', 'i', 'F', 'f', 'E', 'e'}) {
    for (const char uplo : {'L', 'u'}) {
      for (const char diag : {'N', 'U', 'u'}) all.push_back({letter, uplo, diag});
    }
  }
  all.push_back({'1', 'l', 'n'});
  all.push_back({'1', 'U', 'n'});
  return all;
}();

TYPED_TEST(Norms, OfTriangles) {
  using T = TypeParam;
  const std::pair<Index, Index> shapes[] = {{1, 1}, {5, 9}, {9, 5}, {70, 70}, {64, 90}};
  for (const auto& [m, n] : shapes) {
    for (const Index padding : {0, 3}) {
      const auto a = random_matrix<T>(m, n, 1, padding);
      for (const TriangleQuestion& q : kTriangleQuestions) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << " " << q.letter << q.uplo << q.diag);
        auto given = q.given(a);
        const Real<T> expected = q.expected(a);
        const double most = bound<T>(a.view()) * static_cast<double>(expected);
        std::vector<Real<T>> work(static_cast<std::size_t>(m) + 1, sentinel<Real<T>>());
        const bool uses_work = q.letter == 'I' || q.letter == 'i';
        EXPECT_NEAR(q.ask<T>(given.view(), uses_work ? work.data() : nullptr), expected, most);
        EXPECT_EQ(work.back(), sentinel<Real<T>>());
        const OnDevice<T> there(this->device(), given);
        EXPECT_NEAR(q.ask<T>(there.view(), nullptr), expected, most) << "on the device";
      }
    }
  }
}

TYPED_TEST(Norms, OfTrianglesOfNothingAreZero) {
  using T = TypeParam;
  auto a = random_matrix<T>(3, 3, 1);
  const HostView<const T> view = a.view();
  for (const TriangleQuestion& q : kTriangleQuestions) {
    for (const auto& [m, n] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}}) {
      EXPECT_EQ(q.ask<T>(view.block(0, 0, m, n), nullptr), 0) << q.letter << q.uplo << q.diag;
    }
  }
  EXPECT_EQ((TriangleQuestion{'X', 'L', 'N'}.ask<T>(view, nullptr)), 0);
}

/// The device only copies it. If that fails, nobody can read it.
TYPED_TEST(Norms, OfATriangleOnADeviceThatFails) {
  using T = TypeParam;
  auto a = random_matrix<T>(90, 90, 1, 2);
  const OnDevice<T> there(this->device(), a);
  const TriangleQuestion q{'F', 'L', 'N'};
  const Real<T> expected = q.expected(a);
  for (Index at = 1;; ++at) {
    ASSERT_LT(at, 100);
    FaultAt fault(at);
    this->device().set_observer(&fault);
    const Real<T> norm = q.ask<T>(there.view(), nullptr);
    this->device().set_observer(nullptr);
    if (fault.count() < at) {
      EXPECT_NEAR(norm, expected, bound<T>(a.view()) * static_cast<double>(expected));
      EXPECT_GT(at, 1) << "the device was not asked";
      break;
    }
    EXPECT_TRUE(std::isnan(norm)) << at;
  }
}

TEST(NormsWithWideIntegers, AreTheSame) {
  const auto a = random_matrix<std::complex<float>>(40, 40, 1, 3);
  const auto b = random_matrix<double>(30, 50, 2, 1);
  const auto c = random_matrix<std::complex<double>>(20, 25, 3, 1);
  const std::int64_t wide_rows = 20, wide_cols = 25, wide_ld = c.ld();
  std::vector<float> swork(40);
  std::vector<double> dwork(30);
  for (const Norm norm : kNorms) {
    const char letter = static_cast<char>(norm), uplo = 'U';
    const std::int64_t n = a.rows(), lda = a.ld(), rows = b.rows(), cols = b.cols(), ldb = b.ld();
    EXPECT_EQ(
        clanhe_64_(&letter, &uplo, &n, a.view().data, &lda, swork.data(), 1, 1),
        ask<std::complex<float>>({letter, Symmetry::hermitian, uplo}, a.view(), swork.data()));
    EXPECT_EQ(
        zlantr_64_(&letter, &uplo, "N", &wide_rows, &wide_cols, c.view().data, &wide_ld,
                   dwork.data(), 1, 1, 1),
        (TriangleQuestion{letter, uplo, 'N'}.ask<std::complex<double>>(c.view(), dwork.data())));
    EXPECT_EQ(dlange_64_(&letter, &rows, &cols, b.view().data, &ldb, dwork.data(), 1),
              ask<double>({letter}, b.view(), dwork.data()));
  }
}

TYPED_TEST(Norms, NaNsAndInfinitiesEverywhere) {
  using T = TypeParam;
  const Index n = 70;
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {69, 3}, {44, 44}, {69, 69}}) {
    for (const T x : {infinity<T>(), nan<T>()}) {
      auto a = random_matrix<T>(n, n, 1, 1);
      a(i, j) = x;
      const OnDevice<T> there(this->device(), a);
      std::vector<Real<T>> work(static_cast<std::size_t>(n));
      for (const Question& q : questions<T>()) {
        if (q.uplo == 'U' || q.uplo == 'u') continue;
        SCOPED_TRACE(testing::Message() << i << " " << j << q.letter << int(q.symmetry));
        for (const Real<T> norm :
             {ask<T>(q, a.view(), work.data()), ask<T>(q, there.view(), nullptr)}) {
          EXPECT_EQ(std::isnan(norm), is_nan(x)) << norm;
          EXPECT_FALSE(std::isfinite(norm)) << norm;
        }
      }
    }
  }
}

TYPED_TEST(Norms, OfNothingAndOfUnknownKindsAreZero) {
  using T = TypeParam;
  auto a = random_matrix<T>(3, 3, 1);
  const OnDevice<T> there(this->device(), a);
  for (const HostView<const T>& view :
       {HostView<const T>(a.view()), HostView<const T>(there.view())}) {
    for (const Question& q : questions<T>()) {
      EXPECT_EQ(ask<T>(q, view.block(0, 0, 0, 0), nullptr), 0);
      if (q.symmetry != Symmetry::none) continue;
      EXPECT_EQ(ask<T>(q, view.block(0, 0, 0, 3), nullptr), 0);
      EXPECT_EQ(ask<T>(q, view.block(0, 0, 3, 0), nullptr), 0);
    }
    EXPECT_EQ(ask<T>({'X'}, view, nullptr), 0);
  }
}

TYPED_TEST(Norms, ADeviceThatFailsLeavesTheRestToTheCpu) {
  using T = TypeParam;
  auto a = random_matrix<T>(90, 90, 1, 2);
  const OnDevice<T> there(this->device(), a);
  for (const Question& q : questions<T>()) {
    const Real<T> expected = expected_norm<T>(q, a.view());
    for (Index at = 1;; ++at) {
      SCOPED_TRACE(testing::Message() << q.letter << int(q.symmetry) << ", fault at " << at);
      ASSERT_LT(at, 100);
      FaultAt fault(at);
      this->device().set_observer(&fault);
      EXPECT_NEAR(ask<T>(q, there.view(), nullptr), expected,
                  bound<T>(a.view()) * static_cast<double>(expected));
      this->device().set_observer(nullptr);
      if (fault.count() < at) {
        EXPECT_GT(at, 3) << "the device was not asked";
        break;
      }
    }
  }
}

TYPED_TEST(Norms, TakeNoMoreMemoryThanTheyMay) {
  using T = TypeParam;
  auto a = random_matrix<T>(90, 90, 1, 2);
  const OnDevice<T> there(this->device(), a);
  const Question sums{'1', Symmetry::symmetric};  // which take a number for each row
  const Real<T> expected = expected_norm<T>(sums, a.view());
  for (const std::size_t limit : {std::size_t{1}, std::size_t{1} << 30, std::size_t{0}}) {
    auto settings = this->settings_for(Algorithm::tiled, 16);
    settings.memory_limit = limit;
    this->use(settings);
    const std::size_t kernels = this->device().counters().kernels;
    EXPECT_NEAR(ask<T>(sums, there.view(), nullptr), expected,
                bound<T>(a.view()) * static_cast<double>(expected));
    // The CPU's from a copy, or the device's.
    EXPECT_EQ(this->device().counters().kernels > kernels, limit != 1) << limit;
  }
}

TYPED_TEST(Norms, OfALargeMatrixIfTheDeviceFails) {  // which is copied piece by piece
  using T = TypeParam;
  auto a = random_matrix<T>(600, 2000, 1, 1);
  a(0, 0) = T(1000);
  a(599, 1999) = T(2000);
  const OnDevice<T> there(this->device(), a);
  for (const Norm norm : kNorms) {
    const Question q{static_cast<char>(norm)};
    const Real<T> expected = expected_norm<T>(q, a.view());
    FaultAt fault(1);
    this->device().set_observer(&fault);
    EXPECT_NEAR(ask<T>(q, there.view(), nullptr), expected,
                bound<T>(a.view()) * static_cast<double>(expected))
        << q.letter;
    this->device().set_observer(nullptr);
  }
}

TYPED_TEST(Norms, ALostDeviceMakesNaNs) {
  using T = TypeParam;
  auto a = random_matrix<T>(90, 90, 1, 2);
  const OnDevice<T> there(this->device(), a);
  for (const Index at : {1, 4, 6}) {
    this->route(Algorithm::tiled, 16);
    FaultAt fault(at, true);
    this->device().set_observer(&fault);
    EXPECT_TRUE(std::isnan(ask<T>({'F'}, there.view(), nullptr))) << at;
    EXPECT_EQ(dispatch::Context::instance().device(), nullptr) << at;
    this->device().set_observer(nullptr);
  }
}

}  // namespace
}  // namespace overlapack
