// Matrices that lie in the device's memory are used in place, by the exported names.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

template <class T>
class Resident : public RoutedTest {
 protected:
  /// The factors of A by LU in the device's memory, all of whose pivots are expected not to be
  /// zero. Counts what the device does meanwhile.
  Padded<T> factored_there(const Padded<T>& a, std::vector<Index>& pivots, Calls& calls) {
    auto factors = a;
    OnDevice<T> there(device(), factors);
    device().set_observer(&calls);
    EXPECT_EQ(getrf<T>(there.view(), pivots), 0);
    device().set_observer(nullptr);
    there.fetch();
    return factors;
  }
};
TYPED_TEST_SUITE(Resident, Precisions);

TYPED_TEST(Resident, CholeskyInPlace) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      for (const Index n : {64, 100, 131}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo) << " " << n);
        auto a = positive_definite<T>(n, 1, 3);
        a.forbid_other_triangle(uplo);
        auto factor = a;
        OnDevice<T> there(this->device(), factor);
        EXPECT_EQ(potrf<T>(uplo, there.view()), 0);
        there.fetch();
        EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold);
        EXPECT_TRUE(factor.padding_untouched());
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      }
    }
  }
}

TYPED_TEST(Resident, CholeskyKeepsTheLeadingMinorOfAnIndefiniteMatrix) {
  using T = TypeParam;
  for (const Uplo uplo : kUplos) {
    for (const Index position : {0, 17, 50, 99}) {
      SCOPED_TRACE(testing::Message() << char(uplo) << " at " << position);
      this->route(Algorithm::tiled, 16);
      auto a = indefinite_at<T>(100, position, 1, 3);
      a.forbid_other_triangle(uplo);
      auto factor = a;
      OnDevice<T> there(this->device(), factor);
      EXPECT_EQ(potrf<T>(uplo, there.view()), position + 1);
      there.fetch();
      EXPECT_TRUE(factor.padding_untouched());
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      EXPECT_LT(partial_potrf_residual<T>(uplo, a.view(), factor.view(), position + 1), kThreshold);
    }
  }
}

TYPED_TEST(Resident, LuInPlace) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const auto& [m, n] :
         {std::pair<Index, Index>{100, 100}, {131, 70}, {70, 131}, {300, 280}}) {  // many panels
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << m << "x" << n);
      const auto a = random_matrix<T>(m, n, 1, 3);
      auto factors = a;
      OnDevice<T> there(this->device(), factors);
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<T>(there.view(), pivots), 0);
      there.fetch();
      EXPECT_LT(getrf_residual<T>(a.view(), factors.view(), pivots), kThreshold);
      EXPECT_TRUE(factors.padding_untouched());
    }
  }
}

TYPED_TEST(Resident, LuOfFewPanelsMakesNoCopy) {
  using T = TypeParam;
  for (const auto& [panels, copies] : {std::pair<Index, bool>{16, false}, {17, true}}) {
    this->route(Algorithm::tiled, 16);
    const auto a = random_matrix<T>(16 * panels + 9, 16 * panels, 1, 3);
    std::vector<Index> pivots;
    Calls calls;
    const auto factors = this->factored_there(a, pivots, calls);
    EXPECT_LT(getrf_residual<T>(a.view(), factors.view(), pivots), kThreshold);
    EXPECT_EQ(calls.of("copy on device") > 0, copies) << panels << " panels";
  }
}

TYPED_TEST(Resident, LuInterchangesFewPanelsAndThenMoreTogether) {
  using T = TypeParam;
  if (this->device().template kernels<T>().limits().permutable_rows == 0) {
    GTEST_SKIP() << "this device interchanges rows one by one";
  }
  const bool emulated = this->device().emulated();  // where all of this begins with fewer columns
  const Index n = emulated ? 98 : 2400;
  this->route(Algorithm::tiled, emulated ? 4 : 128);
  const auto a = random_matrix<T>(n, n, 1);
  std::vector<Index> pivots;
  Calls calls;
  const auto factors = this->factored_there(a, pivots, calls);
  EXPECT_LT(getrf_residual_of_product<T>(a.view(), factors.view(), pivots), kThreshold);
  EXPECT_GT(calls.of("compose_interchanges"), 1);
}

TYPED_TEST(Resident, SolvesWithRightHandSidesHereAndThere) {
  using T = TypeParam;
  const Index n = 100, nrhs = 7;
  for (const auto& [a_is_there, b_there, symmetric] :
       {std::tuple(true, true, true), std::tuple(true, true, false), std::tuple(true, false, true),
        std::tuple(true, false, false), std::tuple(false, true, true),
        std::tuple(false, true, false)}) {
    for (const Index min_n : {1, 1000}) {  // of whatever size
      SCOPED_TRACE(testing::Message() << a_is_there << b_there << symmetric << " " << min_n);
      this->route(Algorithm::tiled, 16, min_n);
      const auto a = symmetric ? positive_definite<T>(n, 1, 3) : random_matrix<T>(n, n, 1, 3);
      const auto b = random_matrix<T>(n, nrhs, 2, 2);
      auto factor = a, x = b;
      OnDevice<T> a_there(this->device(), factor), x_there(this->device(), x);
      const HostView<T> solution = b_there ? x_there.view() : x.view();
      const HostView<T> matrix = a_is_there ? a_there.view() : factor.view();
      std::vector<Index> pivots;
      EXPECT_EQ(
          symmetric ? posv<T>(Uplo::upper, matrix, solution) : gesv<T>(matrix, pivots, solution),
          0);
      if (b_there) x_there.fetch();
      EXPECT_LT(solve_residual(Op::none, widen<T>(a.view()), x, b), kThreshold);
      EXPECT_TRUE(x.padding_untouched());
    }
  }
}

TYPED_TEST(Resident, SingularSystemsLeaveTheRightHandSides) {
  using T = TypeParam;
  const Index n = 100, nrhs = 7, position = 40;
  for (const bool a_is_there : {true, false}) {
    for (const bool b_is_there : {true, false}) {
      if (!a_is_there && !b_is_there) continue;
      for (const bool symmetric : {true, false}) {
        SCOPED_TRACE(testing::Message() << a_is_there << b_is_there << symmetric);
        this->route(Algorithm::tiled, 16);
        auto a =
            symmetric ? indefinite_at<T>(n, position, 1, 3) : singular_at<T>(n, n, position, 1, 3);
        const auto b = random_matrix<T>(n, nrhs, 2, 2);
        auto x = b;
        OnDevice<T> a_there(this->device(), a), x_there(this->device(), x);
        const HostView<T> matrix = a_is_there ? a_there.view() : a.view();
        const HostView<T> solution = b_is_there ? x_there.view() : x.view();
        std::vector<Index> pivots;
        EXPECT_EQ(
            symmetric ? posv<T>(Uplo::lower, matrix, solution) : gesv<T>(matrix, pivots, solution),
            position + 1);
        if (b_is_there) x_there.fetch();
        EXPECT_TRUE(same_bits(x, b));
      }
    }
  }
}

TYPED_TEST(Resident, InterchangesThatAreNoneAreRefused) {  // the device would follow them
  using T = TypeParam;
  const Index n = 100;
  this->route(Algorithm::tiled, 16);
  auto factors = random_matrix<T>(n, n, 1);
  std::vector<Index> pivots;
  ASSERT_EQ(getrf<T>(factors.view(), pivots), 0);
  auto x = random_matrix<T>(n, 3, 2, 2);
  const auto b = x;
  OnDevice<T> there(this->device(), x);
  for (const Index wild : {Index{0}, Index{-1}, n + 1}) {
    auto wrong = pivots;
    wrong[50] = wild;
    EXPECT_EQ(getrs<T>(Op::none, factors.view(), wrong, there.view()), -1010) << wild;
    there.fetch();
    EXPECT_TRUE(same_bits(x, b)) << wild;
  }
}

TYPED_TEST(Resident, MixedPrecision) {
  using T = TypeParam;
  if constexpr (std::is_same_v<Real<T>, double>) {
    const Index n = 100, nrhs = 3;
    this->route(Algorithm::tiled, 16);
    for (const bool symmetric : {true, false}) {
      for (const bool overflows : {true, false}) {
        SCOPED_TRACE(testing::Message() << symmetric << overflows);
        const auto a = symmetric ? positive_definite<T>(n, 1, 3) : random_matrix<T>(n, n, 1, 3);
        auto factor = a, b = random_matrix<T>(n, nrhs, 2, 2), x = Padded<T>(n, nrhs, 1);
        if (overflows) b(50, 1) = T(1e300);  // in A it would leave the residuals nothing to see
        OnDevice<T> a_there(this->device(), factor), b_there(this->device(), b),
            x_there(this->device(), x);
        const MixedResult result =
            symmetric ? mixed_posv<T>(Uplo::lower, a_there.view(), b_there.view(), x_there.view())
                      : mixed_gesv<T>(a_there.view(), b_there.view(), x_there.view());
        EXPECT_EQ(result.info, 0);
        const bool in_double = overflows || !this->rounds();
        EXPECT_EQ(result.iter < 0, in_double);
        a_there.fetch();
        x_there.fetch();
        EXPECT_LT(solve_residual(Op::none, a, x, b), kThreshold);
        EXPECT_TRUE(x.padding_untouched());
        EXPECT_TRUE(factor.padding_untouched());
        if (in_double && symmetric) {
          EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), factor.view()), kThreshold);
        } else if (in_double) {
          EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), result.pivots), kThreshold);
        }
      }
    }
  }
}

TYPED_TEST(Resident, UpdatesOfAFactorInPlace) {
  using T = TypeParam;
  const Index k = 5;
  this->route(Algorithm::tiled, 16);
  for (const bool v_there : {true, false}) {
    for (const Uplo uplo : kUplos) {
      for (const Index n : {64, 100, 131}) {
        SCOPED_TRACE(testing::Message() << v_there << " " << char(uplo) << " " << n);
        auto a = positive_definite<T>(n, 1, 3);
        const auto original = a;
        auto v = random_matrix<T>(n, k, 2, 1);
        const auto v_before = v;
        auto updated = a;  // A + V V^H
        reference::herk<T>(uplo, Op::none, 1, v.view(), 1, updated.view());
        auto factor = a;
        reference::potrf<T>(uplo, factor.view());
        factor.forbid_other_triangle(uplo);
        OnDevice<T> there(this->device(), factor), v_on_device(this->device(), v);
        const HostView<T> vectors = v_there ? v_on_device.view() : v.view();
        const auto update = [&](int sigma) {
          Index info = -1;
          Exported<T>::cholupdate(static_cast<char>(uplo), n, k, there.view().data, there.view().ld,
                                  vectors.data, vectors.ld, sigma, &info);
          return info;
        };
        EXPECT_EQ(update(1), 0);
        there.fetch();
        EXPECT_LT(potrf_residual<T>(uplo, updated.view(), factor.view()), kThreshold);
        EXPECT_TRUE(factor.padding_untouched());
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));
        EXPECT_EQ(update(-1), 0);
        there.fetch();
        EXPECT_LT(potrf_residual<T>(uplo, original.view(), factor.view()), 10 * kThreshold);
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));

        // A downdate that is not possible.
        auto before = factor;
        v(n / 2, 0) += T(Real<T>(1000));
        const OnDevice<T> long_v(this->device(), v);
        Index info = -1;
        Exported<T>::cholupdate(static_cast<char>(uplo), n, k, there.view().data, there.view().ld,
                                long_v.view().data, v.ld(), -1, &info);
        EXPECT_GT(info, 0);
        EXPECT_LE(info, n / 2 + 1);
        there.fetch();
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) ASSERT_EQ(factor(i, j), before(i, j));
        }

        v(3, 1) = nan<T>();
        const OnDevice<T> bad_v(this->device(), v);
        Exported<T>::cholupdate(static_cast<char>(uplo), n, k, there.view().data, there.view().ld,
                                bad_v.view().data, v.ld(), 1, &info);
        EXPECT_EQ(info, -6);
      }
    }
  }
}

TYPED_TEST(Resident, UpdatesRefuseAFactorThatIsNotFinite) {
  using T = TypeParam;
  const Index n = 100, k = 3;
  this->route(Algorithm::tiled, 16);
  const auto v = random_matrix<T>(n, k, 2);
  std::vector<T> bad = {nan<T>(), infinity<T>()};
  if constexpr (is_complex<T>) bad.emplace_back(1, infinity<Real<T>>());
  for (const Uplo uplo : kUplos) {
    auto good = positive_definite<T>(n, 1, 3);
    ASSERT_EQ(reference::potrf<T>(uplo, good.view()), 0);
    for (const T& x : bad) {
      for (const auto& [i, j] : {std::pair<Index, Index>{50, 50}, {99, 3}}) {
        for (const int sigma : {1, -1}) {
          SCOPED_TRACE(testing::Message() << char(uplo) << x << " at " << i << "," << j << sigma);
          auto factor = good;
          (uplo == Uplo::lower ? factor(i, j) : factor(j, i)) = x;
          const auto before = factor;
          OnDevice<T> there(this->device(), factor);
          Index info = -1;
          Exported<T>::cholupdate(static_cast<char>(uplo), n, k, there.view().data, there.view().ld,
                                  v.view().data, v.ld(), sigma, &info);
          EXPECT_EQ(info, -4);
          there.fetch();
          EXPECT_TRUE(same_bits(factor, before));
        }
      }
    }
  }
}

TYPED_TEST(Resident, UpdatesByOneVectorWithTheirRotations) {
  using T = TypeParam;
  const Index n = 100;
  const auto order = static_cast<std::int32_t>(n);
  this->route(Algorithm::tiled, 16);
  auto factor = positive_definite<T>(n, 1);
  reference::potrf<T>(Uplo::upper, factor.view());
  const auto before = factor;
  const auto x = random_matrix<T>(n, 1, 2);
  OnDevice<T> there(this->device(), factor);
  const auto ld = static_cast<std::int32_t>(factor.ld());
  auto u = x;
  std::vector<Real<T>> c(static_cast<std::size_t>(n));
  Exported<T>::ch1up(&order, there.view().data, &ld, u.data(), c.data());
  u = x;
  std::int32_t info = -1;
  Exported<T>::ch1dn(&order, there.view().data, &ld, u.data(), c.data(), &info);
  EXPECT_EQ(info, 0);
  there.fetch();
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      EXPECT_LT(std::abs(factor(i, j) - before(i, j)), 1e4 * epsilon<T>()) << i << " " << j;
    }
  }
  u = x;
  for (Index i = 0; i < n; ++i) u(i, 0) *= Real<T>(100);
  Exported<T>::ch1dn(&order, there.view().data, &ld, u.data(), c.data(), &info);
  EXPECT_EQ(info, 1);
}

// The diagonal is not real, which qrupdate does not ask for, or there is not enough memory.
TYPED_TEST(Resident, UpdatesByOneVectorThatTheDeviceCannotMake) {
  using T = TypeParam;
  const Index n = 100;
  const auto order = static_cast<std::int32_t>(n);
  for (const bool no_memory : {true, false}) {
    SCOPED_TRACE(no_memory);
    auto settings = this->settings_for(Algorithm::tiled, 16);
    if (no_memory) settings.memory_limit = 1000;
    this->use(settings);
    auto factor = positive_definite<T>(n, 1, 3);
    reference::potrf<T>(Uplo::upper, factor.view());
    if constexpr (is_complex<T>) {
      for (Index j = 5; j < n && !no_memory; ++j) factor(5, j) *= T(Real<T>(0.6), Real<T>(-0.8));
    }
    const auto ld = static_cast<std::int32_t>(factor.ld());
    auto here = factor;
    OnDevice<T> there(this->device(), factor);
    auto u = random_matrix<T>(n, 1, 2), v = u;
    std::vector<Real<T>> c(static_cast<std::size_t>(n), Real<T>(-7)), d = c;
    const auto expect_same = [&](const char* what) {
      there.fetch();
      double worst = 0;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          worst = std::max<double>(worst, std::abs(factor(i, j) - here(i, j)));
        }
        const auto at = static_cast<std::size_t>(j);
        worst = std::max<double>(worst, std::abs(u(j, 0) - v(j, 0)) + std::abs(c[at] - d[at]));
      }
      EXPECT_LT(worst, 1e3 * epsilon<T>()) << what;
      EXPECT_TRUE(factor.padding_untouched());
    };
    Exported<T>::ch1up(&order, there.view().data, &ld, u.data(), c.data());
    Exported<T>::ch1up(&order, here.data(), &ld, v.data(), d.data());
    expect_same("update");
    u = v = random_matrix<T>(n, 1, 2);
    std::int32_t info = -1;
    Exported<T>::ch1dn(&order, there.view().data, &ld, u.data(), c.data(), &info);
    EXPECT_EQ(info, 0);
    Exported<T>::ch1dn(&order, here.data(), &ld, v.data(), d.data(), &info);
    EXPECT_EQ(info, 0);
    expect_same("downdate");
  }
}

TYPED_TEST(Resident, IsServedByTheDeviceHoweverSmall) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16, 100000);
  const auto a = positive_definite<T>(64, 1);
  auto factor = a;
  OnDevice<T> there(this->device(), factor);
  EXPECT_EQ(potrf<T>(Uplo::lower, there.view()), 0);
  there.fetch();
  EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), factor.view()), kThreshold);
}

TYPED_TEST(Resident, WaitsForWhatTheProgramHasEnqueued) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  const Index n = 100;
  const auto a = positive_definite<T>(n, 1), nothing = random_matrix<T>(n, n, 2);
  auto result = nothing;
  const Index count = n * n;
  const Buffer<T> wrong(this->device(), Space::host, count),
      right(this->device(), Space::host, count);
  std::copy_n(nothing.view().data, count, wrong.data());
  std::copy_n(a.view().data, count, right.data());
  OnDevice<T> there(this->device(), result);
  const QueueLease queue(this->device());  // stands for a stream of the program
  const auto make_matrix = [&] {
    const DeviceView<T> matrix(there.view().data, count);
    for (Index i = 0; i < 200; ++i) {
      queue->template copy<T>(matrix, HostView<const T>(wrong.data(), count));
    }
    queue->template copy<T>(matrix, HostView<const T>(right.data(), count));
  };
  make_matrix();
  EXPECT_EQ(potrf<T>(Uplo::lower, there.view()), 0);
  there.fetch();
  EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), result.view()), kThreshold);
  make_matrix();
  EXPECT_EQ(lange<T>('M', there.view()), lange<T>('M', a.view()));
  queue->synchronize();
}

/// Sees to it that whoever does something with the device has a turn.
class TurnIsTaken : public Observer {
 public:
  void before(Action, const char* name, double) override {
    EXPECT_TRUE(dispatch::Context::instance().turns().in_use()) << name << " without a turn";
    ++count_;
  }
  Index count() const { return count_; }

 private:
  std::atomic<Index> count_{0};
};

TYPED_TEST(Resident, CallsDoNothingWithoutATurn) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  const Index n = 64, k = 2;
  auto there_a = positive_definite<T>(n, 1), here_a = there_a;
  auto v = random_matrix<T>(n, k, 2);
  OnDevice<T> there(this->device(), there_a), v_there(this->device(), v);
  TurnIsTaken observer;
  Index done = 0;
  const auto expect_more = [&] {
    EXPECT_GT(observer.count(), done);
    done = observer.count();
  };
  this->device().set_observer(&observer);
  for (HostView<T> a : {there.view(), here_a.view()}) {
    EXPECT_EQ(potrf<T>(Uplo::lower, a), 0);
    expect_more();
    for (const HostView<T>& vectors : {v_there.view(), v.view()}) {
      Index info = -1;
      Exported<T>::cholupdate('L', n, k, a.data, a.ld, vectors.data, vectors.ld, 1, &info);
      EXPECT_EQ(info, 0);
      expect_more();
    }
  }
  EXPECT_GT(lange<T>('M', there.view()), 0);
  expect_more();
  // What the device cannot do the CPU does with a copy.
  dispatch::Settings settings = this->settings_for(Algorithm::tiled, 16);
  settings.memory_limit = 1000;
  this->use(settings);
  const auto order = static_cast<std::int32_t>(n), ld = static_cast<std::int32_t>(there.view().ld);
  std::vector<Real<T>> c(static_cast<std::size_t>(n));
  auto u = random_matrix<T>(n, 1, 3);
  Exported<T>::ch1up(&order, there.view().data, &ld, u.data(), c.data());
  EXPECT_NE(u(0, 0), T(0));
  expect_more();
  this->device().set_observer(nullptr);
}

TYPED_TEST(Resident, ComplexNumbersThatBeginWhereRealOnesMayAreRefused) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    const Index n = 64;
    this->route(Algorithm::tiled, 16);
    Buffer<Real<T>> memory(this->device(), Space::device, 2 * n * n + 1);
    auto* const first = reinterpret_cast<T*>(memory.data() + 1);
    const DeviceView<T> there(first, n, n, n);
    {
      const QueueLease queue(this->device());
      queue->zero(first, sizeof(T) * static_cast<std::size_t>(n * n));
      queue->synchronize();
    }
    const std::size_t kernels = this->device().counters().kernels;
    std::vector<Index> pivots;
    EXPECT_EQ(potrf<T>(Uplo::lower, as_argument(there)), -1010);
    EXPECT_EQ(getrf<T>(as_argument(there), pivots), -1010);
    auto v = random_matrix<T>(n, 2, 1), a = positive_definite<T>(n, 1);
    Index info = 0;
    Exported<T>::cholupdate('L', n, 2, as_argument(there).data, n, v.data(), v.ld(), 1, &info);
    EXPECT_EQ(info, -1010);
    Exported<T>::cholupdate('L', n, 2, a.data(), a.ld(), as_argument(there).data, n, 1, &info);
    EXPECT_EQ(info, -1010);
    EXPECT_EQ(this->device().counters().kernels, kernels);
    // There is no such answer of a norm, which therefore is that of a copy.
    EXPECT_EQ(lange<T>('M', as_argument(there)), 0);
    EXPECT_EQ(this->device().counters().kernels, kernels);
    EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), 0) << "the device is as good as before";
  }
}

TYPED_TEST(Resident, ADeviceThatFailsIsReportedAsMissingMemory) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  auto a = positive_definite<T>(64, 1);
  OnDevice<T> there(this->device(), a);
  FaultAt fault(20, false);
  this->device_->set_observer(&fault);
  EXPECT_EQ(potrf<T>(Uplo::lower, there.view()), -1010);
  this->device_->set_observer(nullptr);
  // ?ch1dn has no such code.
  auto u = random_matrix<T>(64, 1, 2);
  std::vector<Real<T>> w(64);
  const std::int32_t order = 64;
  std::int32_t info = -1;
  FaultAt once_more(20, false);
  this->device_->set_observer(&once_more);
  Exported<T>::ch1dn(&order, there.view().data, &order, u.data(), w.data(), &info);
  EXPECT_EQ(info, 1);
  this->device_->set_observer(nullptr);
  // The CPU could not read the right-hand sides, either.
  auto b = random_matrix<T>(64, 2, 2), factor = positive_definite<T>(64, 1);
  OnDevice<T> b_there(this->device(), b);
  FaultAt again(20, false);
  this->device_->set_observer(&again);
  EXPECT_EQ(posv<T>(Uplo::lower, factor.view(), b_there.view()), -1010);
  this->device_->set_observer(nullptr);
}

// The factor may have been changed, and nobody can read it: no second attempt with a copy of it.
TYPED_TEST(Resident, AnUpdateByOneVectorThatFailsMakesNoRotations) {
  using T = TypeParam;
  const Index n = 100;
  const auto order = static_cast<std::int32_t>(n);
  this->route(Algorithm::tiled, 16);
  auto factor = positive_definite<T>(n, 1);
  reference::potrf<T>(Uplo::upper, factor.view());
  const auto ld = static_cast<std::int32_t>(factor.ld());
  auto small = random_matrix<T>(n, 1, 2);
  for (Index i = 0; i < n; ++i) small(i, 0) *= Real<T>(0.01);
  bool failed = true;
  Index failures = 0;
  for (Index at = 1; failed; ++at) {
    failed = false;
    for (const bool update : {true, false}) {
      SCOPED_TRACE(testing::Message() << "fault at action " << at << (update ? " up" : " down"));
      auto a = factor;
      OnDevice<T> there(this->device(), a);
      auto u = small;
      std::vector<Real<T>> c(static_cast<std::size_t>(n), Real<T>(-7));
      std::int32_t info = 0;
      FaultAt fault(at);
      this->device_->set_observer(&fault);
      if (update) {
        Exported<T>::ch1up(&order, there.view().data, &ld, u.data(), c.data());
      } else {
        Exported<T>::ch1dn(&order, there.view().data, &ld, u.data(), c.data(), &info);
      }
      this->device_->set_observer(nullptr);
      if (fault.count() < at) continue;
      failed = true;
      there.fetch();
      const bool none =
          update ? c[0] == 1 && u(0, 0) == T(0) && c.back() == 1 && u(n - 1, 0) == T(0) : info == 1;
      if (none) {
        ++failures;
        continue;
      }
      // It had not begun: then all of it has been done with a copy.
      auto expected = factor;
      auto w = small;
      std::vector<Real<T>> d(c.size());
      if (update) {
        Exported<T>::ch1up(&order, expected.data(), &ld, w.data(), d.data());
      } else {
        Exported<T>::ch1dn(&order, expected.data(), &ld, w.data(), d.data(), &info);
      }
      for (Index j = 0; j < n; ++j) {
        EXPECT_LT(std::abs(c[static_cast<std::size_t>(j)] - d[static_cast<std::size_t>(j)]),
                  1e3 * epsilon<T>());
        for (Index i = 0; i <= j; ++i) {
          ASSERT_LT(std::abs(a(i, j) - expected(i, j)), 1e3 * epsilon<T>());
        }
      }
    }
  }
  EXPECT_GT(failures, 10);
}

/// With a copy of them the CPU finishes an update of a factor in ordinary memory.
/// With a device that fails and without.
TYPED_TEST(Resident, VectorsOnTheDeviceForAFactorInOrdinaryMemory) {
  using T = TypeParam;
  const Index n = 100, k = 3;
  this->route(Algorithm::tiled, 16);
  auto a = positive_definite<T>(n, 1, 3);
  auto v = random_matrix<T>(n, k, 2, 1);
  auto updated = a;
  reference::herk<T>(Uplo::upper, Op::none, 1, v.view(), 1, updated.view());
  reference::potrf<T>(Uplo::upper, a.view());
  const OnDevice<T> there(this->device(), v);
  /// How many actions of the device there were.
  const auto update_with_fault_at = [&](Index at) {
    auto factor = a;
    FaultAt fault(at);
    this->device_->set_observer(&fault);
    Index info = -1;
    Exported<T>::cholupdate('U', n, k, factor.data(), factor.ld(), there.view().data,
                            there.view().ld, 1, &info);
    this->device_->set_observer(nullptr);
    EXPECT_EQ(info, 0) << "fault at action " << at;
    EXPECT_LT(potrf_residual<T>(Uplo::upper, updated.view(), factor.view()), kThreshold);
    return fault.count();
  };
  const Index all = update_with_fault_at(std::numeric_limits<Index>::max());  // none
  Index faults = 0;  // a GPU is asked now more often, now less, whether work is done
  for (const Index at : {all / 2, 2 * all / 3, 3 * all / 4}) {
    faults += update_with_fault_at(at) >= at;
  }
  EXPECT_GT(faults, 0);
}

TEST_F(RoutedTest, ADeviceLostTwiceIsNotDestroyed) {
  if (!device().emulated()) GTEST_SKIP() << "the tests themselves keep a GPU's";
  this->route(Algorithm::tiled, 16);
  const std::weak_ptr<Device> device = device_;
  device_.reset();
  auto& context = dispatch::Context::instance();
  context.lose_device("once");
  context.lose_device("twice");
  EXPECT_FALSE(device.expired());
}

}  // namespace
}  // namespace overlapack
