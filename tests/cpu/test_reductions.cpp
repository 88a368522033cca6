// Sums and maxima by all instructions that this processor has.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cpu/reductions.hpp"
#include "support/matrices.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace overlapack::cpu;

template <class R>
class ReductionsTest : public testing::Test {
 protected:
  /// Calls test(loops, x, n) for n numbers that begin at any place within a vector.
  template <class Test>
  void for_each_length(Test test) {
    for (const Instructions instructions : kInstructions) {
      if (!supported(instructions)) continue;
      for (Index n = 0; n < 80; ++n) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(instructions) << ", " << n);
        auto numbers = random_matrix<R>(n + 3, 1, static_cast<std::uint64_t>(n) + 1);
        for (R* const around : {&numbers(0, 0), &numbers(n + 1, 0), &numbers(n + 2, 0)}) {
          *around = nan<R>();  // which would spread
        }
        test(reductions<R>(instructions), &numbers(1, 0), n);
      }
    }
  }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ReductionsTest, Reals);

/// How wrong a sum of so many numbers may be.
template <class R>
double tolerance(Index n, double sum) {
  return static_cast<double>(n) * sum * std::numeric_limits<R>::epsilon();
}

TYPED_TEST(ReductionsTest, AreThoseOfTheNumbers) {
  using R = TypeParam;
  this->for_each_length([](const Reductions<R>& loops, const R* x, Index n) {
    R largest(0);
    double sum = 0, squares = 0;
    for (Index i = 0; i < n; ++i) {
      largest = std::max(largest, std::abs(x[i]));
      sum += std::abs(static_cast<double>(x[i]));
      squares += 16 * static_cast<double>(x[i]) * x[i];
    }
    EXPECT_EQ(loops.largest(x, n), largest);
    EXPECT_NEAR(loops.sum(x, n), sum, tolerance<R>(n, sum));
    EXPECT_NEAR(loops.squares(x, n, R(4)), squares, tolerance<R>(n, squares));

    std::vector<R> sums(static_cast<std::size_t>(n) + 1, R(2));
    EXPECT_NEAR(loops.add(x, n, sums.data()), sum, tolerance<R>(n, sum));
    for (Index i = 0; i < n; ++i) {
      EXPECT_EQ(sums[static_cast<std::size_t>(i)], 2 + std::abs(x[i])) << i;
    }
    EXPECT_EQ(sums.back(), 2);
  });
}

TYPED_TEST(ReductionsTest, SpreadNaNsAndInfinities) {
  using R = TypeParam;
  this->for_each_length([](const Reductions<R>& loops, R* x, Index n) {
    for (Index i = 0; i < n; ++i) {
      const R before = x[i];
      x[i] = -infinity<R>();
      EXPECT_TRUE(std::isinf(loops.largest(x, n)) && std::isinf(loops.sum(x, n)) &&
                  std::isinf(loops.squares(x, n, R(1))))
          << i;
      x[i] = nan<R>();
      EXPECT_TRUE(std::isnan(loops.largest(x, n)) && std::isnan(loops.sum(x, n)) &&
                  std::isnan(loops.squares(x, n, R(1))))
          << i;
      if (n > 1) {  // beside an infinity, too
        R& other = x[(i + n / 2) % n];
        const R kept = other;
        if (&other != &x[i]) other = infinity<R>();
        EXPECT_TRUE(std::isnan(loops.largest(x, n))) << i;
        if (&other != &x[i]) other = kept;
      }
      x[i] = before;
    }
  });
}

TYPED_TEST(ReductionsTest, FindModuliOfComplexNumbers) {
  using R = TypeParam;
  using T = std::complex<R>;
  for (const Instructions instructions : kInstructions) {
    if (!supported(instructions)) continue;
    const auto loops = reductions<R>(instructions);
    for (const R factor : {R(1), R(0x1p+80), R(0x1p-80)}) {
      const auto x = random_matrix<T>(77, 1, 3);
      std::vector<T> scaled;
      for (Index i = 0; i < x.rows(); ++i) scaled.push_back(x(i, 0) / factor);
      for (Index n = 0; n <= x.rows(); ++n) {
        std::vector<R> moduli(static_cast<std::size_t>(n) + 1, R(-1));
        loops.moduli(scaled.data(), n, factor, moduli.data());
        for (Index i = 0; i < n; ++i) {
          const R expected = std::abs(x(i, 0)) / factor;
          ASSERT_NEAR(moduli[static_cast<std::size_t>(i)], expected,
                      3 * std::numeric_limits<R>::epsilon() * expected);
        }
        ASSERT_EQ(moduli.back(), -1);
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
