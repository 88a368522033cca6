// Drivers of symmetric eigenproblems on the device, by the exported names: how many eigenvalues
// they find, which, and where these and the eigenvectors are; faults; numbers that are not finite.
// More kinds of matrices are in test_syevd.cpp, whose algorithm is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dispatch/calls.hpp"
#include "support/cases.hpp"
#include "support/eigen_calls.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace testing_support::eigen;

constexpr Kind kDrivers[] = {Kind::ev, Kind::evd, Kind::evr, Kind::evx};
constexpr Kind kGeneralized[] = {Kind::gv, Kind::gvd, Kind::gvx};

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A matrix with these eigenvalues, to rounding: H diag(values) H for a reflector H.
template <class T>
Padded<T> with_spectrum(const std::vector<double>& values, std::uint64_t seed = 1) {
  using W = Wide<T>;
  const Index n = static_cast<Index>(values.size());
  const auto v = widen<T>(random_matrix<T>(n, 1, seed).view());
  double square = 0, quotient = 0;
  for (Index i = 0; i < n; ++i) {
    square += std::norm(v(i, 0));
    quotient += std::norm(v(i, 0)) * values[at(i)];
  }
  const double beta = 2 / square;
  Padded<T> a(n, n, kPadding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const double factor = beta * (beta * quotient - values[at(i)] - values[at(j)]);
      const W element = v(i, 0) * conj(v(j, 0)) * factor + W(i == j ? values[at(i)] : 0.0);
      a(i, j) = i == j ? T(Real<T>(real(element))) : T(element);
    }
  }
  return a;
}

/// With a cluster of numbers that differ by roundings.
template <class T>
std::vector<double> spectrum(Index n) {
  std::vector<double> values(at(n));
  for (Index i = 0; i < n; ++i) {
    values[at(i)] = static_cast<double>(i - n / 3) / static_cast<double>(n);
    if (i > n / 3 && i <= n / 2) values[at(i)] = 0.25 + epsilon<T>() * static_cast<double>(i);
  }
  std::sort(values.begin(), values.end());
  return values;
}

/// What a call of a driver is asked, of which matrix.
template <class T>
struct Asked {
  Question q;
  Padded<T> whole;
  Real<T> vl = 0, vu = 0;

  /// The data of the call, with the least workspaces.
  Data<T> data() const {
    Question asked = q;
    asked.n = static_cast<Integer>(whole.rows());
    const bool one = asked.n == 1 && q.kind == Kind::evr;  // LAPACK before 3.12 asks for more
    Data<T> data(with_sizes<T>(asked, one ? EigenSizes{26, 24, 10} : least_sizes<T>(asked)));
    data.a = whole;
    data.a.forbid_other_triangle(uplo());
    if (q.range == 'I') data.z = Padded<T>(asked.n, q.iu - q.il + 1, kPadding);
    data.vl = vl;
    data.vu = vu;
    return data;
  }
  Uplo uplo() const { return q.uplo == 'L' ? Uplo::lower : Uplo::upper; }
  bool has_z() const { return has_range(q.kind); }
  /// That of the data.
  Padded<T> whole_b() const { return positive_definite<T>(whole.rows(), 2); }
};

template <class T>
class Drivers : public RoutedTest {
 protected:
  using R = Real<T>;
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) route(dispatch::Algorithm::tiled, 7);
  }

  /// By the device, which is to find eigenvalues first, ... of these.
  Data<T> solves(const Asked<T>& asked, const std::vector<double>& values, Range wanted,
                 double scale = 1) {
    SCOPED_TRACE(testing::Message() << asked.q << " n=" << asked.whole.rows());
    const Data<T> before = asked.data();
    Data<T> ours = before;
    Calls calls;
    device().set_observer(&calls);
    EXPECT_EQ(ours.run(), 0);
    device().set_observer(nullptr);
    EXPECT_EQ(calls.of("norm"), 1) << "the device has not begun";
    ours.expect_ends_untouched();
    if (ours.q.n > 1) {
      Data<T> theirs = before;
      theirs.run(true);
      // LAPACK's generalized drivers say more than a query, if a part of them does.
      if (!is_generalized(ours.q.kind)) {
        EXPECT_EQ(ours.work[0], theirs.work[0]);
        if (has_sizes(ours.q.kind)) ours.expect_same_sizes(theirs);
      }
      EXPECT_GE(real(ours.work[0]), static_cast<R>(least_sizes<T>(ours.q).work));
    }
    const Index count = wanted.size();
    EXPECT_EQ(ours.m, asked.has_z() ? count : kUntouched);
    std::vector<double> w(at(count));
    double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    if (is_generalized(ours.q.kind)) norm *= 30;  // the condition of B
    for (Index j = 0; j < count; ++j) {
      w[at(j)] = static_cast<double>(ours.w[at(j)]) / scale;
      EXPECT_NEAR(w[at(j)], values[at(wanted.first + j)], (10 + ours.q.n) * epsilon<T>() * norm)
          << j;
    }
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
    for (Index j = count; j < ours.q.n; ++j) EXPECT_EQ(ours.w[at(j)], before.w[at(j)]);
    if (asked.has_z() || !ours.q.vectors()) {
      EXPECT_TRUE(same_bits(ours.a, before.a)) << "the CPU has done it";
    }
    if (is_generalized(ours.q.kind)) {
      EXPECT_LE(potrf_residual<T>(asked.uplo(), before.b.view(), std::as_const(ours.b).view()),
                kMostErrors);
      EXPECT_TRUE(ours.b.other_triangle_untouched(asked.uplo()));
    }
    if (ours.q.vectors()) expect_vectors(asked, ours, before, w, scale);
    return ours;
  }
  void expect_vectors(const Asked<T>& asked, const Data<T>& ours, const Data<T>& before,
                      const std::vector<double>& w, double scale) {
    const Index n = ours.q.n, count = static_cast<Index>(w.size());
    const HostView<const T> z = asked.has_z() ? ours.z.view() : ours.a.view();
    auto a = widen<T>(asked.whole.view());
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) /= scale;
    }
    const auto vectors = widen<T>(z.block(0, 0, n, count));
    expect_small(
        is_generalized(ours.q.kind)
            ? vector_errors<T>(ours.q.itype, a, widen<T>(asked.whole_b().view()), vectors, w)
            : vector_errors<T>(a, vectors, w));
    if (!asked.has_z()) return;
    for (Index j = count; j < ours.z.cols(); ++j) {
      for (Index i = 0; i < n; ++i) EXPECT_EQ(ours.z(i, j), before.z(i, j));
    }
    const bool supports = ours.q.kind == Kind::evr && ours.q.range != 'V' && count == n;
    for (Index j = 0; j < n; ++j) {
      EXPECT_EQ(ours.isuppz[at(2 * j)], supports ? 1 : kUntouched);
      EXPECT_EQ(ours.isuppz[at(2 * j + 1)], supports ? n : kUntouched);
      EXPECT_EQ(ours.ifail[at(j)], ours.q.kind != Kind::evr && j < count ? 0 : kUntouched);
    }
  }

  template <class F>
  void for_each_question_of_two(F f) {
    for (const Integer itype : {1, 2, 3}) {
      for_each_question(
          [&](Question q) {
            q.itype = itype;
            f(q);
          },
          {std::begin(kGeneralized), std::end(kGeneralized)});
    }
  }
  template <class F>
  void for_each_question(F f, const std::vector<Kind>& kinds = {std::begin(kDrivers),
                                                                std::end(kDrivers)}) {
    for (const Kind kind : kinds) {
      for (const char jobz : {'V', 'N'}) {
        for (const char uplo : {'L', 'U'}) {
          Question q{kind, 0};
          q.jobz = jobz;
          q.uplo = uplo;
          f(q);
          if (this->HasFailure()) return;
        }
      }
    }
  }
  template <class F>
  void for_each_question_of_some(F f) {
    for_each_question([&](const Question& q) {
      if (has_range(q.kind)) f(q);
    });
  }
};
TYPED_TEST_SUITE(Drivers, Precisions);

TYPED_TEST(Drivers, AllEigenvalues) {
  using T = TypeParam;
  for (Index n = 1; n <= 80; n += n < 10 ? 1 : 7) {
    this->route(dispatch::Algorithm::tiled, 1 + n % 9);
    const auto values = spectrum<T>(n);
    const auto a = with_spectrum<T>(values);
    this->for_each_question([&](const Question& q) {
      // Of order 1 those with a range are LAPACK's.
      if (n > 1 || !has_range(q.kind)) this->solves({q, a}, values, {0, n});
    });
    if (this->HasFailure()) return;
  }
}

/// Also within a cluster, and at its borders.
TYPED_TEST(Drivers, EigenvaluesByNumber) {
  using T = TypeParam;
  for (const Index n : {2, 5, 64, 90}) {
    const auto values = spectrum<T>(n);
    const auto a = with_spectrum<T>(values);
    const Range ranges[] = {{0, 1},         {n - 1, n},
                            {0, n},         {n / 3, n / 2 + 1},
                            {n / 3, n / 2}, {n / 3 + n / 9, n / 3 + n / 9 + 1},
                            {n / 2, n}};
    for (const Range& range : ranges) {
      if (range.empty()) continue;
      this->for_each_question_of_some([&](Question q) {
        q.range = 'I';
        q.il = static_cast<Integer>(range.first + 1);
        q.iu = static_cast<Integer>(range.last);
        this->solves({q, a}, values, range);
      });
      if (this->HasFailure()) return;
    }
  }
}

/// The numbers of a spectrum that are in an interval.
Range numbers_between(const std::vector<double>& values, double low, double high) {
  const auto up_to = [&](double x) {
    return std::upper_bound(values.begin(), values.end(), x) - values.begin();
  };
  return {up_to(low), up_to(high)};
}

/// None, one, some, all. Bounds do not lie in a cluster.
TYPED_TEST(Drivers, EigenvaluesByValue) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  for (const Index n : {2, 5, 64, 90}) {
    const auto values = spectrum<T>(n);
    const auto a = with_spectrum<T>(values);
    const double gap = 0.5 / static_cast<double>(n);
    const double some = values[at(n / 5)] + gap / 2;
    const double intervals[][2] = {
        {-kAny, kAny},          {-9, 9},          {2, 3},        {-3, -2},
        {some - gap, some},     {some, kAny},     {-kAny, some}, {0.2037, 0.3037},
        {some, some + gap / 4}, {-0.1037, 0.6037}};
    for (const auto& [low, high] : intervals) {
      SCOPED_TRACE(testing::Message() << "between " << low << " and " << high);
      this->for_each_question_of_some([&, low = low, high = high](Question q) {
        q.range = 'V';
        const Range wanted = numbers_between(values, low, high);
        const auto ours = this->solves({q, a, R(low), R(high)}, values, wanted);
        for (Index j = 0; j < wanted.size(); ++j) {
          EXPECT_TRUE(ours.w[at(j)] > R(low) && ours.w[at(j)] <= R(high));
        }
      });
      if (this->HasFailure()) return;
    }
  }
}

/// The lower bound is not in the interval, and the upper one is.
TYPED_TEST(Drivers, EigenvaluesAtTheBounds) {
  using T = TypeParam;
  constexpr Index kOrder = 40;
  Padded<T> a(kOrder, kOrder, kPadding);
  std::vector<double> values(kOrder);
  for (Index j = 0; j < kOrder; ++j) {
    for (Index i = 0; i < kOrder; ++i) a(i, j) = T(0);
    values[at(j)] = static_cast<double>(j / 4);
    a(j, j) = T(static_cast<Real<T>>((kOrder - 1 - j) / 4));
  }
  for (const auto& [low, high] : {std::pair(2, 5), std::pair(0, 1), std::pair(9, 10)}) {
    this->for_each_question_of_some([&, low = low, high = high](Question q) {
      q.range = 'V';
      const Range wanted = {4 * (low + 1), std::min<Index>(4 * (high + 1), kOrder)};
      this->solves({q, a, Real<T>(low), Real<T>(high)}, values, wanted);
    });
  }
}

/// Bounds are those of the matrix as it is given.
TYPED_TEST(Drivers, OfNumbersOfAnySize) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr int kMost = std::numeric_limits<R>::max_exponent - 8;
  constexpr Index kOrder = 40;
  const auto values = spectrum<T>(kOrder);
  for (const int exponent : {-kMost / 2 - 20, kMost / 2 + 20, kMost}) {
    auto a = with_spectrum<T>(values);
    for (Index j = 0; j < kOrder; ++j) {
      for (Index i = 0; i < kOrder; ++i) a(i, j) *= std::ldexp(R(1), exponent);
    }
    const double scale = std::ldexp(1.0, exponent);
    for (const double high : {0.2037, std::numeric_limits<double>::infinity()}) {
      this->for_each_question_of_some([&](Question q) {
        q.range = 'V';
        this->solves({q, a, R(std::ldexp(-0.1037, exponent)), R(high * scale)}, values,
                     numbers_between(values, -0.1037, high), scale);
      });
    }
    if (this->HasFailure()) return;
  }
}

/// But for ?syevr, which in LAPACK may never end then.
TYPED_TEST(Drivers, LeavesWhatIsNotFiniteToTheCpu) {
  using T = TypeParam;
  for (const Index n : {1, 30}) {
    auto a = with_spectrum<T>(spectrum<T>(n));
    a(n / 2, n / 3) = a(n / 3, n / 2) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    this->for_each_question([&](const Question& q) {
      if (q.kind == Kind::evr && n > 1) return;
      SCOPED_TRACE(testing::Message() << q << " n=" << n);
      const Asked<T> asked{q, a};
      Data<T> ours = asked.data(), theirs = asked.data();
      ours.run();
      theirs.run(true);
      EXPECT_EQ(ours.info, theirs.info);
      EXPECT_EQ(ours.m, theirs.m);
      EXPECT_TRUE(same_bits(ours.a, theirs.a));
      EXPECT_TRUE(same_bits(ours.z, theirs.z));
      ours.expect_ends_untouched();
    });
  }
}

/// LAPACK's ?syevr may never end then.
TYPED_TEST(Drivers, NoEigenvalueIsBeyondABoundThatIsNotANumber) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr R kNan = std::numeric_limits<R>::quiet_NaN();
  const auto values = spectrum<T>(30);
  this->for_each_question_of_some([&](Question q) {
    q.range = 'V';
    for (const auto& [low, high] : {std::pair(kNan, R(1)), std::pair(R(0), kNan)}) {
      this->solves({q, with_spectrum<T>(values), low, high}, values, {});
    }
  });
}

/// All of it, with matrices as they were.
TYPED_TEST(Drivers, AfterAFaultTheCpuDoesTheCall) {
  using T = TypeParam;
  constexpr Index kOrder = 50;
  const auto a = with_spectrum<T>(spectrum<T>(kOrder));
  const auto fails = [&](Question q) {
    for (const char range : {'A', 'I', 'V'}) {
      if (range != 'A' && (!has_range(q.kind) || q.uplo == 'U' || q.itype > 1)) continue;
      q.range = range;
      q.il = 9;
      q.iu = 30;
      SCOPED_TRACE(testing::Message() << q);
      const Asked<T> asked{q, a, Real<T>(-0.5), Real<T>(0.1)};
      Data<T> theirs = asked.data(), without = asked.data(), ours = asked.data();
      theirs.run(true);
      without.run();
      Index by_the_cpu = 0;
      const Index stride = q.itype > 1 ? 7 : q.uplo == 'L' && sizeof(T) == 8 ? 1 : 5;
      const Index faults = this->with_faults(
          stride, [&] { ours = asked.data(); },
          [&] {
            EXPECT_EQ(ours.run(), 0);
            ours.expect_ends_untouched();
            const bool by_cpu = same_bits(ours.a, theirs.a) && same_bits(ours.z, theirs.z) &&
                                same_bits(ours.b, theirs.b);
            const Data<T>& expected = by_cpu ? theirs : without;
            EXPECT_TRUE(same_bits(ours.a, expected.a) && same_bits(ours.z, expected.z));
            EXPECT_TRUE(same_bits(ours.b, expected.b));
            EXPECT_TRUE(std::equal(ours.w.begin(), ours.w.end(), expected.w.begin()));
            EXPECT_EQ(ours.m, expected.m);
            EXPECT_EQ(ours.isuppz, expected.isuppz);
            EXPECT_EQ(ours.ifail, expected.ifail);
            by_the_cpu += by_cpu;
          });
      EXPECT_GT(faults, 6);
      EXPECT_GE(by_the_cpu, faults);
      if (this->HasFailure()) return;
    }
  };
  this->for_each_question(fails);
  this->for_each_question_of_two(fails);
}

/// The CPU LAPACK's eigenvalues of a problem with two matrices.
template <class T>
std::vector<double> eigenvalues_by_the_cpu(Question q, const Padded<T>& a) {
  q.kind = Kind::gvd;
  q.jobz = 'N';
  Data<T> data = Asked<T>{q, a}.data();
  EXPECT_EQ(data.run(true), 0);
  return {data.w.begin(), data.w.end() - 1};
}

TYPED_TEST(Drivers, GeneralizedProblems) {
  using T = TypeParam;
  using R = Real<T>;
  for (const Index n : {1, 2, 3, 16, 37, 80}) {
    this->route(dispatch::Algorithm::tiled, 1 + n % 9);
    const auto a = with_spectrum<T>(spectrum<T>(n));
    this->for_each_question_of_two([&](Question q) {
      if (n == 1 && has_range(q.kind)) return;
      const auto values = eigenvalues_by_the_cpu<T>(q, a);
      this->solves({q, a}, values, {0, n});
      if (!has_range(q.kind)) return;
      q.range = 'I';
      q.il = static_cast<Integer>(n / 3 + 1);
      q.iu = static_cast<Integer>(n / 2 + 1);
      this->solves({q, a}, values, {n / 3, n / 2 + 1});
      q.range = 'V';
      const auto behind = [&](Index i) { return R((values[at(i)] + values[at(i + 1)]) / 2); };
      const Index first = n / 5, last = n - 2;
      this->solves({q, a, R(-99), R(99)}, values, {0, n});
      this->solves({q, a, R(99), R(100)}, values, {});
      if (first >= last) return;
      this->solves({q, a, behind(first), behind(last)}, values, {first + 1, last + 1});
    });
    if (this->HasFailure()) return;
  }
}

/// LAPACK says which leading minor, and what it leaves then.
TYPED_TEST(Drivers, AMatrixBThatIsNotPositiveDefiniteIsLapacks) {
  using T = TypeParam;
  const auto a = with_spectrum<T>(spectrum<T>(30));
  for (const T bad : {T(-1), T(0), T(std::numeric_limits<Real<T>>::quiet_NaN())}) {
    this->for_each_question_of_two([&](const Question& q) {
      const Asked<T> asked{q, a};
      Data<T> ours = asked.data(), theirs = ours;
      ours.b(20, 20) = theirs.b(20, 20) = bad;
      ours.run();
      theirs.run(true);
      EXPECT_EQ(ours.info, theirs.info);
      EXPECT_TRUE(ours.info == 30 + 21 || std::isnan(real(bad)));
      EXPECT_TRUE(same_bits(ours.b, theirs.b));
      EXPECT_TRUE(same_bits(ours.a, theirs.a));
      EXPECT_EQ(ours.m, theirs.m);
    });
  }
}

TYPED_TEST(Drivers, FinishedByTheCpuWithoutMemory) {
  using T = TypeParam;
  const auto a = with_spectrum<T>(spectrum<T>(30));
  this->for_each_question_of_some([&](Question q) {
    q.range = q.uplo == 'L' ? 'A' : 'V';
    const Asked<T> asked{q, a, Real<T>(-0.5), Real<T>(0.1)};
    Data<T> theirs = asked.data(), without = asked.data();
    theirs.run(true);
    without.run();
    for (long request = 1;; request += 5) {
      Data<T> ours = asked.data();
      long requests = 0;
      {
        const ScarceMemory memory(request);
        ours.run();
        requests = ScarceMemory::count();
      }
      EXPECT_EQ(ours.info, 0);
      EXPECT_TRUE(same_bits(ours.z, theirs.z) || same_bits(ours.z, without.z));
      EXPECT_EQ(ours.m, theirs.m);
      if (requests < request || this->HasFailure()) break;
    }
  });
}

/// A, B, Z or all.
TYPED_TEST(Drivers, OfMatricesOnTheDevice) {
  using T = TypeParam;
  constexpr int kA = 1, kB = 2, kZ = 4;
  const auto a = with_spectrum<T>(spectrum<T>(70));
  const auto solves = [&](Question q) {
    q.range = has_range(q.kind) ? 'V' : 'A';
    const Asked<T> asked{q, a, Real<T>(-0.2), Real<T>(0.5)};
    Data<T> here = asked.data();
    here.run();
    for (const int where : {kA, kB, kZ, kA | kZ, kA | kB | kZ}) {
      if ((where & kB) != 0 && !is_generalized(q.kind)) continue;
      if ((where & kZ) != 0 && !(asked.has_z() && q.vectors())) continue;
      SCOPED_TRACE(testing::Message() << q << " " << where);
      Data<T> ours = asked.data();
      OnDevice<T> of_a(this->device(), ours.a), of_b(this->device(), ours.b),
          of_z(this->device(), ours.z);
      if (where & kA) ours.instead_of_a = of_a.view().data;
      if (where & kB) ours.instead_of_b = of_b.view().data;
      if (where & kZ) ours.instead_of_z = of_z.view().data;
      EXPECT_EQ(ours.run(), 0);
      if (where & kA) of_a.fetch();
      if (where & kB) of_b.fetch();
      if (where & kZ) of_z.fetch();
      EXPECT_EQ(ours.m, here.m);
      EXPECT_TRUE(same_bits(ours.a, here.a));
      EXPECT_TRUE(same_bits(ours.b, here.b));
      EXPECT_TRUE(same_bits(ours.z, here.z));
      EXPECT_EQ(ours.w, here.w);
      FaultAt fault(5);
      this->device().set_observer(&fault);
      EXPECT_EQ(ours.run(), dispatch::kNoMemory);
      this->device().set_observer(nullptr);
    }
  };
  this->for_each_question(solves);
  this->for_each_question_of_two(solves);
}

}  // namespace
}  // namespace overlapack
