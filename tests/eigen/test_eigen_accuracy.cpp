// How accurate eigenvalues and eigenvectors by the exported names are, for the types of matrices of
// LAPACK's own tests: in one stage and in two. And for many matrices of small and middle orders.
//
// For larger matrices OVERLAPACK_TEST_ORDER sets their order. With 8192, say, on a GPU, and with as
// many threads for the CPU LAPACK as there are, since products are its. From the order of the table
// on there are two stages, and one where memory is scarce, as it is here on purpose.
//
// OVERLAPACK_TEST_CALLS sets the number of matrices, OVERLAPACK_TEST_SEED the seed of the first,
// and OVERLAPACK_TEST_SECONDS when to stop before: the test says how far it has come, and another
// run may go on from there.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "algorithms/eigen/syevd.hpp"
#include "cpu/lapack.hpp"
#include "eigen/evd.hpp"
#include "eigen/hermitian.hpp"
#include "support/environment_number.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace testing_support::evd;

/// Both errors are to be at most this. (LAPACK's own limit is 50.)
constexpr double kMost = 10;

/// Eigenvalues of modulus 1 down to eps, as in dchkst: one of many is large, or one is small.
enum class Spectrum { evenly, geometric, one_at_one, one_at_eps, logarithmic, around_one, random };
constexpr Spectrum kSpectra[] = {Spectrum::evenly,     Spectrum::geometric,   Spectrum::one_at_one,
                                 Spectrum::one_at_eps, Spectrum::logarithmic, Spectrum::around_one,
                                 Spectrum::random};
constexpr Spectrum kClustered[] = {Spectrum::one_at_one, Spectrum::one_at_eps,
                                   Spectrum::around_one};

/// With signs at random, but for those around one.
template <class T>
Padded<T> matrix_of(Spectrum spectrum, Index n, Random& random) {
  const double eps = 2 * epsilon<T>();
  std::vector<double> values;
  for (Index j = 0; j < n; ++j) {
    const double place = static_cast<double>(j) / static_cast<double>(std::max<Index>(n - 1, 1)),
                 sign = random.integer(0, 1) == 0 ? -1 : 1, any = random.uniform<double>();
    switch (spectrum) {
      case Spectrum::evenly:
        values.push_back(sign * (1 - place * (1 - eps)));
        break;
      case Spectrum::geometric:
        values.push_back(sign * std::pow(eps, place));
        break;
      case Spectrum::one_at_one:
        values.push_back(sign * (j == 0 ? 1 : eps));
        break;
      case Spectrum::one_at_eps:
        values.push_back(sign * (j == 0 ? eps : 1));
        break;
      case Spectrum::logarithmic:
        values.push_back(sign * std::pow(eps, std::abs(any)));
        break;
      case Spectrum::around_one:
        values.push_back(1 + 10 * eps * any);
        break;
      default:
        break;
    }
  }
  if (spectrum != Spectrum::random) return with_eigenvalues<T>(values, random);
  return hermitian_of<T>(n, 0, [&](Index, Index) { return random.uniform<T>(); });
}

/// C - op(A) B, by the CPU LAPACK.
template <class W>
Padded<W> difference(Padded<W> c, Op op, const Padded<W>& a, const Padded<W>& b, Op op_b) {
  cpu::lapack<W>(cpu::Family::lp64).gemm(op, op_b, W(-1), a.view(), b.view(), W(1), c.view());
  return c;
}

/// ||A - Z diag(w) Z^H|| / (n ||A|| eps) and ||I - Z^H Z|| / (n eps), as in dstt21.
struct Errors {
  double residual, orthonormality;
};
/// Of a matrix that has been multiplied by a power of two.
template <class T>
Errors errors_of(const Padded<T>& whole, HostView<const T> vectors, const Real<T>* w,
                 int exponent = 0) {
  using W = Wide<T>;
  const Index n = whole.rows();
  auto a = widen<T>(whole.view());
  multiply(a, -exponent);
  const auto z = widen<T>(vectors);
  auto zw = z;
  for (Index j = 0; j < n; ++j) {
    const double value = std::ldexp(static_cast<double>(w[j]), -exponent);
    for (Index i = 0; i < n; ++i) zw(i, j) *= value;
  }
  const double order = static_cast<double>(n), norm = norm1(a);
  return {scaled(norm1(difference(std::move(a), Op::none, zw, z, Op::conj_trans)), order * norm,
                 epsilon<T>()),
          scaled(norm1(difference(unit_matrix<W>(n), Op::conj_trans, z, z, Op::none)), order,
                 epsilon<T>())};
}

/// How far apart they are, beside the largest: in the unit of ||A - Z diag(w) Z^H||.
template <class R>
double distance(Index n, const R* x, const R* y) {
  const double norm =
      std::max(std::abs(static_cast<double>(x[0])), std::abs(static_cast<double>(x[n - 1])));
  double largest = 0;
  for (Index j = 0; j < n; ++j) {
    largest = std::max(largest, std::abs(static_cast<double>(x[j]) - static_cast<double>(y[j])));
  }
  return scaled(largest, norm * static_cast<double>(n), epsilon<R>());
}

algorithms::Options options_for(const Device& device) {
  algorithms::Options options;
  options.nb = device.emulated() ? 16 : device.tuning().qr.reflector_columns;
  options.threads = 2;
  return options;
}

template <class T>
class EigenAccuracy : public RoutedTest {
 protected:
  using R = Real<T>;

  void SetUp() override {
    RoutedTest::SetUp();
    if (IsSkipped()) return;
    const Index usual = device().emulated() ? 100 : 700;
    n_ = number_in("OVERLAPACK_TEST_ORDER", usual);
    options_ = options_for(device());
  }

  /// Of the order, with both numbers of stages that it may have.
  void for_each_number_of_stages(char jobz, const std::function<void()>& solve) {
    const Tuning::Eigen& tuning = device().tuning().eigen;
    const bool two_may_be = n_ >= (jobz == 'V' ? tuning.two_stages_from_order
                                               : tuning.two_stages_from_order_without_vectors);
    for (const bool two : {false, true}) {
      if (two && !two_may_be) continue;
      SCOPED_TRACE(testing::Message() << "n = " << n_ << ", jobz = " << jobz << ", "
                                      << (two ? "two stages" : "one stage"));
      auto settings = settings_for(dispatch::Algorithm::tiled, options_.nb);
      if (!two && two_may_be) {
        settings.memory_limit =
            algorithms::eigenproblem_bytes<T>(device(), options_, false, n_, jobz == 'V' ? n_ : 0) -
            1;
      }
      use(settings);
      Calls calls;
      device().set_observer(&calls);
      solve();
      device().set_observer(nullptr);
      EXPECT_GT(calls.of("norm"), 0) << "the call did not reach the device";
      EXPECT_EQ(calls.of("geqrf_panel") > 0, two);
      if (this->HasFailure()) return;
    }
  }

  Result<T> solve_sorted(const Question<T>& q) {
    Result<T> ours = solve(q);
    EXPECT_EQ(ours.info, 0);
    EXPECT_TRUE(std::is_sorted(ours.w.begin(), ours.w.end() - 1));
    return ours;
  }
  void expect_accurate(const Padded<T>& a, int exponent) {
    const Uplo uplo = kUplos[exponent > 0];
    // The CPU LAPACK takes long.
    const bool compared = n_ <= 1000;
    Errors cpus{};
    std::vector<R> w;
    if (compared) {
      const Result<T> theirs = solve<T>({'V', uplo, a}, true);
      EXPECT_EQ(theirs.info, 0);
      cpus = errors_of<T>(a, theirs.a.view(), theirs.w.data(), exponent);
    }
    for_each_number_of_stages('V', [&] {
      const Result<T> ours = solve_sorted({'V', uplo, a});
      w = ours.w;
      const Errors errors = errors_of<T>(a, ours.a.view(), ours.w.data(), exponent);
      // What is far below one is chance.
      const auto limit = [&](double cpu) {
        return compared ? std::min(std::max(2 * cpu, 0.5), kMost) : kMost;
      };
      EXPECT_LE(errors.residual, limit(cpus.residual));
      EXPECT_LE(errors.orthonormality, limit(cpus.orthonormality));
    });
    if (HasFailure()) return;
    for_each_number_of_stages('N', [&] {
      const Result<T> values = solve_sorted({'N', uplo, a});
      EXPECT_LE(distance(n_, values.w.data(), w.data()), 1);
    });
  }

  Index n_ = 0;
  algorithms::Options options_;
};
TYPED_TEST_SUITE(EigenAccuracy, Precisions);

TYPED_TEST(EigenAccuracy, IsLapacksForLapacksMatrices) {
  using T = TypeParam;
  constexpr int kMostExponent = std::numeric_limits<Real<T>>::max_exponent - 16;
  for (const Spectrum spectrum : kSpectra) {
    Random random(7);
    const auto a = matrix_of<T>(spectrum, this->n_, random);
    const bool of_all_sizes = spectrum == Spectrum::evenly || spectrum == Spectrum::random;
    for (const int exponent : {0, -kMostExponent, kMostExponent}) {
      if (exponent != 0 && !of_all_sizes) continue;
      SCOPED_TRACE(testing::Message()
                   << "type " << static_cast<int>(spectrum) << ", times 2^" << exponent);
      auto of_size = a;
      multiply(of_size, exponent);
      this->expect_accurate(of_size, exponent);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(EigenAccuracy, GivesTheSameBitsTwice) {
  using T = TypeParam;
  for (const Spectrum spectrum : {Spectrum::around_one, Spectrum::random}) {
    Random random(8);
    const auto a = matrix_of<T>(spectrum, this->n_, random);
    for (const char jobz : {'V', 'N'}) {
      this->for_each_number_of_stages(jobz, [&] {
        const Question<T> q{jobz, Uplo::lower, a};
        EXPECT_TRUE(solve(q).same_bits_as(solve(q)));
      });
    }
  }
}

// ---- Many matrices ------------------------------------------------------------------------------

/// What has become of them.
struct Tally {
  void add(const char* what, const Errors& errors) {
    const std::lock_guard<std::mutex> lock(mutex);
    ++done;
    failed += *what != 0;
    largest = {std::max(largest.residual, errors.residual),
               std::max(largest.orthonormality, errors.orthonormality)};
  }
  void say(std::int64_t first) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::cout << done << " matrices from seed " << first << " on, " << failed
              << " of them wrong; largest residual " << largest.residual << ", orthonormality "
              << largest.orthonormality << std::endl;
  }

  std::mutex mutex;
  Index done = 0, failed = 0;
  Errors largest{0, 0};
};

template <class T>
class ManyEigenproblems : public DeviceTest {
 protected:
  using R = Real<T>;

  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    options_ = options_for(device());
  }

  /// As many as there is time for, of matrix(n, random). Threads make and judge them, and have them
  /// solved one at a time.
  void solve_many(const std::function<Padded<T>(Index, Random&)>& matrix) {
    using Clock = std::chrono::steady_clock;
    const Index first = number_in("OVERLAPACK_TEST_SEED", 1),
                end = first + number_in("OVERLAPACK_TEST_CALLS", device().emulated() ? 20 : 100);
    const auto stop =
        Clock::now() + std::chrono::seconds(number_in("OVERLAPACK_TEST_SECONDS", 24 * 3600));
    std::atomic<Index> next{first};
    std::atomic<bool> over{false};
    Tally tally;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(std::thread::hardware_concurrency(), 1u); ++t) {
      threads.emplace_back([&] {
        for (Index seed = next++; seed < end && Clock::now() < stop; seed = next++) {
          Random random(static_cast<std::uint64_t>(seed));
          const Index n = random.integer(50, device().emulated() ? 120 : 700);
          judge(matrix(n, random), seed, tally);
        }
      });
    }
    std::thread teller([&] {
      auto at = Clock::now() + kBetweenReports;
      while (!over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (Clock::now() < at) continue;
        tally.say(first);
        at += kBetweenReports;
      }
    });
    for (std::thread& thread : threads) thread.join();
    over = true;
    teller.join();
    tally.say(first);
    EXPECT_EQ(tally.failed, 0);
    EXPECT_GT(tally.done, 0);
    RecordProperty("matrices", static_cast<int>(tally.done));
  }

 private:
  static constexpr std::chrono::seconds kBetweenReports{10};

  /// By the algorithm itself, behind which no CPU LAPACK stands if an iteration does not converge.
  void run(HostView<T> a, R* w, HostView<T> z) {
    const std::lock_guard<std::mutex> lock(mutex_);
    algorithms::solve_eigenproblem<T>(device(), options_, {Uplo::lower, a, w, {0, a.rows}, z});
  }
  void judge(const Padded<T>& whole, Index seed, Tally& tally) {
    const Index n = whole.rows();
    auto a = whole, z = whole;
    std::vector<R> w(at(n)), values(at(n));
    Errors errors{0, 0};
    const char* what = "";
    try {
      run(z.view(), w.data(), z.view());
      run(a.view(), values.data(), {});
      errors = errors_of<T>(whole, std::as_const(z).view(), w.data());
      // A NaN is not at most anything.
      if (!(errors.residual <= kMost)) what = "residual";
      if (!(errors.orthonormality <= kMost)) what = "orthonormality";
      if (!(distance(n, values.data(), w.data()) <= 1)) what = "eigenvalues without vectors";
      if (!std::is_sorted(w.begin(), w.end())) what = "order of eigenvalues";
    } catch (const DeviceError&) {
      what = "an iteration that does not converge";
    }
    tally.add(what, errors);
    if (*what != 0) ADD_FAILURE() << what << ": n = " << n << ", OVERLAPACK_TEST_SEED=" << seed;
  }

  std::mutex mutex_;
  algorithms::Options options_;
};
TYPED_TEST_SUITE(ManyEigenproblems, Precisions);

TYPED_TEST(ManyEigenproblems, Random) {
  using T = TypeParam;
  this->solve_many(
      [](Index n, Random& random) { return matrix_of<T>(Spectrum::random, n, random); });
}

TYPED_TEST(ManyEigenproblems, Clustered) {
  using T = TypeParam;
  this->solve_many([](Index n, Random& random) {
    return matrix_of<T>(kClustered[random.integer(0, std::size(kClustered) - 1)], n, random);
  });
}

}  // namespace
}  // namespace overlapack
