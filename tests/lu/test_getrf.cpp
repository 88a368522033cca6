// ?getrf by its exported names, on every device and in both algorithms.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/lu/interchanges.hpp"
#include "cpu/lapack.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

std::set<std::pair<Index, Index>> shapes(Index nb) {
  std::set<std::pair<Index, Index>> all = {
      {0, 0},    {0, 5},    {5, 0},     {1, 1},     {2, 2},       {5, 5},       {5, 3},
      {3, 5},    {1, 50},   {50, 1},    {100, 40},  {40, 100},    {257, nb},    {nb, 257},
      {33, 257}, {257, 33}, {129, 128}, {128, 129}, {nb, nb + 1}, {nb + 1, nb}, {200, 2 * nb}};
  for (const Index n : {nb - 1, nb, nb + 1, 2 * nb, 2 * nb + 3}) all.insert({n, n});
  for (Index power = 32; power <= 256; power *= 2) {
    for (const Index n : {power - 1, power, power + 1}) all.insert({n, n});
  }
  return all;
}

template <class T>
class Getrf : public RoutedTest {
 protected:
  /// Factors `a` and checks everything that LAPACK promises, for an expected info.
  void expect_factored(const Padded<T>& a, Index expected_info = 0) {
    auto factor = a;
    std::vector<Index> pivots;
    const std::size_t before = uploaded();
    EXPECT_EQ(getrf<T>(factor.view(), pivots), expected_info);
    EXPECT_TRUE(factor.padding_untouched());
    ASSERT_TRUE(valid_pivots(pivots, a.rows()));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    if (expected_info > 0) {
      EXPECT_EQ(factor(expected_info - 1, expected_info - 1), T(0));
    }
    if (!a.view().empty()) {
      EXPECT_GT(uploaded(), before) << "the call did not reach the device";
    }
  }
};
TYPED_TEST_SUITE(Getrf, Precisions);

TYPED_TEST(Getrf, RandomMatricesOfManyShapes) {
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    for (const Index nb : {Index{16}, Index{32}}) {
      this->route(algorithm, nb);
      for (const auto& [m, n] : shapes(nb)) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " nb=" << nb << " " << m << "x" << n);
        this->expect_factored(random_matrix<TypeParam>(m, n, 1, m % 3));
      }
    }
  }
}

TYPED_TEST(Getrf, SchedulesFindTheFactorsOfTheTextbook) {
  using T = TypeParam;
  const double tolerance = 64 * std::sqrt(epsilon<T>());  // steps that are left out make more
  for (const Index nb : {Index{6}, Index{32}}) {
    for (const auto& [m, n] : {std::pair<Index, Index>{100, 100}, {130, 70}, {70, 130}}) {
      const auto a = random_matrix<T>(m, n, 1, 3);
      auto expected = a;
      std::vector<Index> expected_pivots;
      this->route(Algorithm::textbook, nb);
      EXPECT_EQ(getrf<T>(expected.view(), expected_pivots), 0);
      for (const Algorithm algorithm : this->kAlgorithms) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " nb=" << nb << " " << m << "x" << n);
        auto factor = a;
        std::vector<Index> pivots;
        this->route(algorithm, nb);
        EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
        EXPECT_EQ(pivots, expected_pivots);
        EXPECT_LT(largest_difference(factor, expected), tolerance);
      }
    }
  }
}

// What idle copy threads have done of the interchanges when the call ends depends on timing.
TYPED_TEST(Getrf, ManyPanelsGiveTheSameBitsWhateverTheTiming) {
  using T = TypeParam;
  const std::pair<Index, Index> sizes[] = {{130, 130}, {300, 60}, {60, 130}};
  for (const Algorithm algorithm : this->kAlgorithms) {
    for (const Index nb : {Index{5}, Index{40}}) {  // one group of columns in a panel, or two
      this->route(algorithm, nb);
      for (const auto& [m, n] : sizes) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " nb=" << nb << " " << m << "x" << n);
        const auto a = random_matrix<T>(m, n, 1, 3);
        this->expect_factored(a);
        auto first = a;
        std::vector<Index> pivots;
        EXPECT_EQ(getrf<T>(first.view(), pivots), 0);
        for (int round = 0; round < 2; ++round) {
          auto again = a;
          std::vector<Index> other;
          EXPECT_EQ(getrf<T>(again.view(), other), 0);
          EXPECT_EQ(other, pivots);
          EXPECT_TRUE(same_bits(first, again));
        }
      }
    }
  }
}

TYPED_TEST(Getrf, LaterInterchangesGoAsFarAsPanelsAreKnown) {
  using T = TypeParam;
  const Index m = 70, n = 40, nb = 4, home = 4, known = 8;  // panels
  const auto a = random_matrix<T>(m, n, 1, 3);
  Buffer<Index> staged(this->device(), Space::host, n);
  for (Index j = 0; j < n; ++j) staged.data()[j] = j + 1 + 37 * j % (m - j);
  Flag flag(0);
  algorithms::Interchanges interchanges{std::vector<Index>(algorithms::at(n), 0),
                                        std::vector<Index>(algorithms::at(n), 0)};
  auto moved = a, expected = a;
  // Interchanges before `end` in the columns of the first `panels`.
  const auto expect_moved = [&](Index panels, Index end) {
    for (Index j = 0; j < panels * nb; ++j) {
      Index& seen = interchanges.seen[algorithms::at(j)];
      const Index first = (j / nb + 1) * nb;
      auto column = a;
      reference::laswp(column.view(), first, std::max(first, end), staged.data(), true);
      std::copy_n(&column(0, j), m, &expected(0, j));
      EXPECT_EQ(seen, std::max(first, end)) << j;
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) ASSERT_EQ(moved(i, j), expected(i, j)) << i << "," << j;
    }
    EXPECT_TRUE(moved.padding_untouched());
  };
  algorithms::LaterInterchanges<T> later(this->device(), moved.view(), staged, flag, interchanges,
                                         nb);
  for (Index j = 0; j < home; ++j) later.arrives(j);
  EXPECT_FALSE(later.advance(home)) << "fewer than half of the panels are known";
  expect_moved(home, 0);
  flag = static_cast<std::uint32_t>(known);
  while (later.advance(home)) continue;
  expect_moved(home, known * nb);
  for (Index j = 0; j < n; ++j) {  // for a call that goes on by the CPU
    EXPECT_EQ(interchanges.pivots[algorithms::at(j)], j < known * nb ? staged.data()[j] : 0);
  }
  for (Index j = home; j < n / nb; ++j) later.arrives(j);
  later.finish(3);
  expect_moved(n / nb, n);
}

/// The next sweep may be due while a task of the one before is under way, in the same columns. By
/// timing, so it takes many rounds.
TYPED_TEST(Getrf, LaterInterchangesTakeAColumnOnceAtATime) {
  using T = TypeParam;
  const Index m = 4000, n = 2000, nb = 32, home = 2, half = n / nb / 2;
  Buffer<Index> staged(this->device(), Space::host, n);
  for (Index j = 0; j < n; ++j) staged.data()[j] = j + 1 + 7919 * j % (m - j);
  const auto a = random_matrix<T>(m, home * nb, 1);  // other columns have no part in this
  auto expected = a;
  for (Index j = 0; j < home; ++j) {
    reference::laswp(expected.view().block(0, j * nb, m, nb), (j + 1) * nb, n, staged.data(), true);
  }
  for (int round = 0; round < 40; ++round) {
    auto moved = a;
    Flag flag(static_cast<std::uint32_t>(half + 1));
    algorithms::Interchanges interchanges{std::vector<Index>(algorithms::at(n), 0),
                                          std::vector<Index>(algorithms::at(n), 0)};
    algorithms::LaterInterchanges<T> later(this->device(), moved.view(), staged, flag, interchanges,
                                           nb);
    for (Index j = 0; j < home; ++j) later.arrives(j);
    std::atomic<bool> all_known{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        while (later.advance(home) || !all_known) continue;
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // the first sweep is under way
    flag = static_cast<std::uint32_t>(quotient_up(n, nb));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    all_known = true;
    for (std::thread& thread : threads) thread.join();
    while (later.advance(home)) continue;  // if all looked while a task was still under way
    ASSERT_TRUE(same_bits(moved, expected));
  }
}

TYPED_TEST(Getrf, IdleCopyThreadsInterchangeWhatIsHome) {
  using T = TypeParam;
  if (!this->device().emulated()) GTEST_SKIP() << "on a fast device small calls have no idle time";
  const Index n = 200, nb = 8;
  this->route(Algorithm::tiled, nb);
  Timeline timeline(this->device());
  bool idle = false;  // by timing, not in every call
  for (int call = 0; call < 100 && !idle; ++call) {
    this->expect_factored(random_matrix<T>(n, n, 1));
    Index passes = 0;
    for (const TimedSpan& span : timeline.collect()) {
      passes += std::string(span.name) == "interchange";
    }
    EXPECT_GE(passes, n / nb - 1);
    idle = passes > n / nb - 1;
  }
  EXPECT_TRUE(idle) << "every panel has been passed over once only, at the end";
}

TYPED_TEST(Getrf, MatricesWithAStructure) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    SCOPED_TRACE(name_of(algorithm));
    this->expect_factored(hadamard<T>(64, 1));
    this->expect_factored(hadamard<T>(100));
    this->expect_factored(kahan<T>(90));
    this->expect_factored(graded(random_matrix<T>(100, 100, 3)));
    this->expect_factored(closed_form_spd<T>(25));
    this->expect_factored(diagonally_dominant<T>(100, 4));
  }
}

TYPED_TEST(Getrf, ElementsNearTheLargestNumber) {
  using T = TypeParam;
  const Index n = 300;
  this->route(Algorithm::tiled, 16);
  const Real<T> size = std::ldexp(Real<T>(1), std::numeric_limits<Real<T>>::max_exponent - 12);
  const auto a = random_matrix<T>(n, n, 1);
  auto factors = a;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) factors(i, j) *= size;
  }
  std::vector<Index> pivots;
  EXPECT_EQ(getrf<T>(factors.view(), pivots), 0);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) factors(i, j) /= size;
  }
  EXPECT_LT(getrf_residual<T>(a.view(), factors.view(), pivots), kThreshold);
}

TYPED_TEST(Getrf, InterchangesNothingWithoutNeed) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    // In Wilkinson's matrix every candidate ties; all its numbers are exact.
    for (auto& a : {wilkinson<T>(23), diagonally_dominant<T>(100, 4)}) {
      auto factor = a;
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
      for (std::size_t j = 0; j < pivots.size(); ++j) {
        EXPECT_EQ(pivots[j], static_cast<Index>(j) + 1) << name_of(algorithm);
      }
    }
    auto a = wilkinson<T>(23);
    std::vector<Index> pivots;
    getrf<T>(a.view(), pivots);
    for (Index i = 0; i < 23; ++i)
      EXPECT_EQ(a(i, 22), T(std::ldexp(Real<T>(1), static_cast<int>(i))));
  }
}

TYPED_TEST(Getrf, AZeroPivotIsReportedAndTheFactorizationCompleted) {
  using T = TypeParam;
  const std::pair<Index, Index> sizes[] = {{100, 100}, {100, 40}, {40, 100}};
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const auto& [m, n] : sizes) {
      const Index k = std::min(m, n);
      for (const Index position : {Index{0}, Index{15}, Index{16}, k / 2, k - 2, k - 1}) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " " << m << "x" << n << " at " << position);
        this->expect_factored(singular_at<T>(m, n, position, 1, 2), position + 1);
      }
    }
    auto twice = singular_at<T>(100, 100, 20, 1);
    for (Index i = 0; i < 100; ++i) twice(i, 70) = T(0);
    this->expect_factored(twice, 21);
    this->expect_factored(singular_at<T>(1, 1, 0, 1), 1);
  }
}

TYPED_TEST(Getrf, NaNsAndInfinitiesNeitherHangNorBreakThePivots) {
  using T = TypeParam;
  const Index n = 70;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const T bad : {nan<T>(), infinity<T>()}) {
      const std::pair<Index, Index> places[] = {{0, 0}, {40, 40}, {69, 69}, {20, 3}, {69, 33}};
      for (const auto& [i, j] : places) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " (" << i << "," << j << ") " << real(bad));
        auto a = random_matrix<T>(n, n, 1, 2);
        a(i, j) = bad;
        std::vector<Index> pivots;
        const Index info = getrf<T>(a.view(), pivots);
        EXPECT_GE(info, 0);
        EXPECT_LE(info, n);
        EXPECT_TRUE(valid_pivots(pivots, n));
        EXPECT_TRUE(a.padding_untouched());
        bool any = false;
        for (Index c = 0; c < n; ++c) {
          for (Index r = 0; r < n; ++r) any = any || is_nan(a(r, c)) || std::isinf(abs1(a(r, c)));
        }
        EXPECT_TRUE(any) << "the bad number has vanished";
      }
    }
    auto a = random_matrix<T>(n, n, 1);  // nothing but NaNs
    for (Index c = 0; c < n; ++c) {
      for (Index r = 0; r < n; ++r) a(r, c) = nan<T>();
    }
    std::vector<Index> pivots;
    getrf<T>(a.view(), pivots);
    EXPECT_TRUE(valid_pivots(pivots, n));
  }
}

TYPED_TEST(Getrf, TwoThreadsMayCallConcurrently) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    EXPECT_LT(worst_in_two_threads([](std::size_t t, std::uint64_t round) {
                const auto a = random_matrix<T>(90, 80 + 20 * static_cast<Index>(t), round);
                auto factor = a;
                std::vector<Index> pivots;
                const bool good = getrf<T>(factor.view(), pivots) == 0 && valid_pivots(pivots, 90);
                return good ? getrf_residual<T>(a.view(), factor.view(), pivots) : 1e9;
              }),
              kThreshold);
  }
}

// ---- the steps of many panels as one, which a real device does in very large matrices only ----

class LongSteps : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (device_) device_->set_observer(&calls_);
  }

  /// The reason, if there are none in small matrices.
  const char* none_in_small_matrices() {
    if (!device().emulated()) return "a real device has none in small matrices";
    const bool has_residues = device().kernels<double>().residue_products() != nullptr;
    return has_residues ? nullptr : "this device has no products of residues";
  }

  /// Factors `a` in panels of nb columns; returns how often residues have been found for that.
  template <class T>
  int expect_factored(const Padded<T>& a, Index nb) {
    route(Algorithm::tiled, nb);
    return calls_to_factor(a, "scaled_residues");
  }
  /// Factors `a`; returns how often `kernel` has been called for that.
  template <class T>
  int calls_to_factor(const Padded<T>& a, const char* kernel) {
    const int before = calls_.of(kernel);
    auto factor = a;
    std::vector<Index> pivots;
    EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(valid_pivots(pivots, a.rows()));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    return calls_.of(kernel) - before;
  }

  /// Factors a large matrix, and compares |P A x - L U x| with |L| |U| |x|, for an x.
  template <class T>
  void expect_large_factored(Index n, Index nb) {
    SCOPED_TRACE(n);
    route(Algorithm::tiled, nb);
    const auto a = random_matrix<T>(n, n, 1, 1);
    auto factor = a;
    std::vector<Index> pivots;
    const int before = calls_.of("scaled_residues");
    ASSERT_EQ(getrf<T>(factor.view(), pivots), 0);
    EXPECT_GT(calls_.of("scaled_residues"), before + 3);
    EXPECT_TRUE(factor.padding_untouched());
    std::vector<T> x(static_cast<std::size_t>(n)), ux(x), ax(x), lux(x);
    std::vector<double> bound(x.size()), lbound(x.size());
    Random random(2);
    for (T& value : x) value = random.uniform<T>();
    for (Index j = 0; j < n; ++j) {
      const auto v = static_cast<std::size_t>(j);
      for (Index i = 0; i < n; ++i) {
        const auto u = static_cast<std::size_t>(i);
        ax[u] += a(i, j) * x[v];
        if (i > j) continue;
        ux[u] += factor(i, j) * x[v];
        bound[u] += std::abs(factor(i, j) * x[v]);
      }
    }
    lux = ux;
    lbound = bound;
    for (Index j = 0; j < n; ++j) {
      for (Index i = j + 1; i < n; ++i) {
        lux[static_cast<std::size_t>(i)] += factor(i, j) * ux[static_cast<std::size_t>(j)];
        lbound[static_cast<std::size_t>(i)] +=
            std::abs(factor(i, j)) * bound[static_cast<std::size_t>(j)];
      }
    }
    for (std::size_t j = 0; j < pivots.size(); ++j) {
      std::swap(ax[j], ax[static_cast<std::size_t>(pivots[j] - 1)]);
    }
    for (std::size_t i = 0; i < ax.size(); ++i) {
      ASSERT_LE(std::abs(ax[i] - lux[i]), 4 * epsilon<double>() * lbound[i]) << i;
    }
  }

  /// Solves with nrhs right-hand sides, in panels of eight columns.
  template <class T>
  void expect_solved(Index n, Index nrhs) {
    route(Algorithm::tiled, 8);
    const auto a = random_matrix<T>(n, n, 1, 1), b = random_matrix<T>(n, nrhs, 2, 2);
    auto factor = a, x = b;
    std::vector<Index> pivots;
    const int before = calls_.of("scaled_residues");
    ASSERT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
    EXPECT_GT(calls_.of("scaled_residues"), before);
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    EXPECT_LT(solve_residual(Op::none, widen<T>(a.view()), x, b), kThreshold);
  }

  /// Has no more device memory at a time than it is told.
  class Limited : public Calls {
   public:
    void before(Action action, const char* name, double amount) override {
      Calls::before(action, name, amount);
      if (action == Action::allocate && std::string(name) == "device memory" && amount > most &&
          spared-- <= 0) {
        throw DeviceError("no memory for so much");
      }
    }
    double most = HUGE_VAL;
    int spared = 0;  // so many times it has
  };
  Limited calls_;
};

TEST_F(LongSteps, OfManyShapes) {
  if (const char* const reason = none_in_small_matrices()) GTEST_SKIP() << reason;
  // With up to 100 rows, interchanges are one permutation on the emulated device: in the second
  // long step of the smallest ones.
  for (const auto& [m, n] : {std::pair<Index, Index>{150, 150},
                             {300, 140},
                             {130, 400},
                             {257, 257},
                             {173, 179},
                             {400, 399}}) {
    SCOPED_TRACE(testing::Message() << m << "x" << n);
    EXPECT_GT(expect_factored(random_matrix<double>(m, n, 1, 3), 8), 0);
    EXPECT_GT(expect_factored(graded(random_matrix<double>(m, n, 2)), 8), 0);
    EXPECT_GT(expect_factored(random_matrix<std::complex<double>>(m, n, 3, 2), 8), 0);
  }
  EXPECT_EQ(expect_factored(random_matrix<double>(128, 128, 1), 8), 0) << "there would be one";
  EXPECT_EQ(expect_factored(random_matrix<double>(200, 200, 1), 9), 0) << "not a multiple";
  EXPECT_EQ(expect_factored(random_matrix<float>(200, 200, 1), 8), 0) << "not in this precision";
}

/// Equations in very different units: what is small must not be lost beside what is large.
TEST_F(LongSteps, RowsOfVeryDifferentSizes) {
  if (const char* const reason = none_in_small_matrices()) GTEST_SKIP() << reason;
  const Index n = 200, nb = 8;
  auto a = random_matrix<double>(n, n, 1);
  const auto size = [](Index i) { return std::pow(10., static_cast<double>(i * 37 % 100) - 50); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) *= size(i);
  }
  EXPECT_GT(expect_factored(a, nb), 0);
  auto factor = a;
  std::vector<Index> pivots;
  ASSERT_EQ(getrf<double>(factor.view(), pivots), 0);
  auto permuted = a;
  reference::laswp<double>(permuted.view(), 0, n, pivots.data());
  for (Index i = 0; i < n; ++i) {
    double worst = 0, largest = 0;
    for (Index j = 0; j < n; ++j) {
      long double sum = 0;
      for (Index k = 0; k <= std::min(i, j); ++k) {
        sum += static_cast<long double>(k < i ? factor(i, k) : 1) * factor(k, j);
      }
      worst = std::max(worst, std::abs(static_cast<double>(sum) - permuted(i, j)));
      largest = std::max(largest, std::abs(permuted(i, j)));
    }
    EXPECT_LT(worst, 1e4 * epsilon<double>() * largest) << i;
  }
}

TEST_F(LongSteps, OfManyRightHandSides) {
  if (const char* const reason = none_in_small_matrices()) GTEST_SKIP() << reason;
  expect_solved<double>(150, 101);
  expect_solved<std::complex<double>>(150, 101);
}

/// They are not needed, and take as much as the matrix.
TEST_F(LongSteps, WithoutMemoryThereAreNone) {
  if (const char* const reason = none_in_small_matrices()) GTEST_SKIP() << reason;
  const Index n = 300, nb = 8;
  const auto a = random_matrix<double>(n, n, 1);
  calls_.most = 1.5 * n * n * sizeof(double);  // in one piece; sums take more
  EXPECT_EQ(expect_factored(a, nb), 0);
  calls_.most = HUGE_VAL;
  EXPECT_GT(expect_factored(a, nb), 0);
}

/// Columns by rows take as much as the matrix, and are not needed, either. Nor are inverses then.
TEST_F(LongSteps, WithoutMemoryColumnsStayWhereTheyAre) {
  const Index n = 600;
  const auto a = random_matrix<double>(n, n, 1);
  const auto swaps = [&](std::size_t limit) {
    device_ = open_device_under_test();  // that has no memory in reserve
    device_->set_observer(&calls_);
    // Of several panels of the device, for one panel by itself stays where it is, too.
    const Index width = device_->kernels<double>().limits().getrf_panel_width;
    const Index nb = device_->emulated() ? std::max<Index>(32, 2 * width) : 256;
    dispatch::Settings settings = settings_for(Algorithm::tiled, nb);
    settings.memory_limit = limit;
    use(settings);
    const int inversions = calls_.of("find_inverses");
    const int steps = calls_to_factor(a, "interchange_and_solve_by_rows");
    EXPECT_EQ(calls_.of("find_inverses") > inversions, steps > 0);
    return steps;
  };
  EXPECT_GT(swaps(0), 0);
  EXPECT_EQ(swaps(5 << 20), 0) << "LU fits, but not twice";
  calls_.most = 0.9 * n * n * sizeof(double);
  calls_.spared = 1;
  EXPECT_EQ(swaps(0), 0) << "refused";
}

TEST_F(LongSteps, OfALargeMatrix) {
  if (device().emulated()) GTEST_SKIP() << "the emulated device has them in small ones, too";
  expect_large_factored<double>(17500, 512);
  if (!device().kernels<std::complex<double>>().scaled_residues_pay(4096, 4096, 2048)) return;
  expect_large_factored<std::complex<double>>(7100, 256);
}

TEST(GetrfOnTheCpu, ReadsNothingBehindAVeryWideMatrix) {
  // Threads of OpenBLAS do, by themselves. The last column ends where the next page cannot be read.
  using T = double;
  const Index m = 32, n = 100000;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(m * n);
  ASSERT_EQ(bytes % page, 0u);
  void* const memory =
      mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + bytes, page, PROT_NONE), 0);
  const auto a = random_matrix<T>(m, n, 1);
  const HostView<T> factor(static_cast<T*>(memory), m, n, m);
  reference::lacpy(a.view(), factor);
  std::vector<Index> pivots(static_cast<std::size_t>(m));
  EXPECT_EQ(cpu::lapack<T>(cpu::Family::lp64).getrf(factor, cpu::Pivots(pivots.data())), 0);
  EXPECT_LT(getrf_residual<T>(a.view(), factor, pivots), kThreshold);
  munmap(memory, bytes + page);
}

}  // namespace
}  // namespace overlapack
