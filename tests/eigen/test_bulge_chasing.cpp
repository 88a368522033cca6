// The reduction of a band matrix to a tridiagonal one on the device, and products with its Q.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/eigen/bulge_chasing.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::BulgeChasing;
using algorithms::Options;

/// LAPACK's ratios are to be below this.
constexpr double kMost = 10;

template <class T>
class BulgeChasingTest : public DeviceTest {
 protected:
  using W = Wide<T>;
  using R = Real<T>;

  struct Result {
    std::vector<R> d, e;
    Padded<T> q;  // if it is wanted
  };

  /// The lower part of a random band; numbers of no meaning in all other places.
  static Padded<T> random_band(Index n, Index width) {
    auto band = random_matrix<T>(2 * width, n, static_cast<std::uint64_t>(n + width));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < 2 * width; ++i) {
        if (i > width || i + j >= n) band(i, j) = nan<T>();
      }
    }
    return band;
  }

  Result reduce(const Padded<T>& band, Index width, bool vectors) {
    const Index n = band.cols();
    const Options options;
    const BulgeChasing<T> chasing(device(), options, n, width, vectors);
    const Buffer<T> staged(device(), Space::host, band.rows() * n);
    Result result{{}, {}, unit_matrix<T>(vectors ? n : 0)};
    const QueueLease queue(device());
    EXPECT_GE(chasing.band().rows, 2 * width);
    EXPECT_EQ(chasing.band().cols, n);
    std::copy_n(band.view().data, band.rows() * n, staged.data());
    queue->copy<T>(chasing.band().block(0, 0, band.rows(), n),
                   HostView<const T>(staged.data(), band.rows(), n, band.rows()));
    chasing.reduce(*queue);
    chasing.fetch(*queue);
    if (vectors && n > 0) {
      auto z = upload(*queue, result.q);
      chasing.prepare(*queue);
      const Index half = n / 2;  // columns are independent
      chasing.multiply(*queue, z.view.block(0, 0, n, half));
      chasing.multiply(*queue, z.view.block(0, half, n, n - half));
      result.q = download(*queue, z);
    }
    queue->synchronize();
    if (n > 0) {
      result.d.assign(chasing.d_here(), chasing.d_here() + n);
      result.e.assign(chasing.e_here(), chasing.e_here() + n - 1);
    }
    return result;
  }

  /// ||B - Q T Q^H|| / (n ||B|| eps) and ||I - Q^H Q|| / (n eps).
  static void expect_reduced(const Padded<T>& band, Index width, const Result& x) {
    const Index n = band.cols();
    Padded<W> b(n, n), t(n, n), qt(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j; i < n; ++i) {
        b(i, j) = i - j <= width ? W(band(i - j, j)) : W(0);
        b(j, i) = conj(b(i, j));
        const auto at = static_cast<std::size_t>(j);
        t(i, j) = t(j, i) = i == j ? W(x.d[at]) : i == j + 1 ? W(x.e[at]) : W(0);
      }
      b(j, j) = W(real(b(j, j)));
    }
    const auto q = widen<T>(x.q.view());
    reference::gemm<W>(Op::none, Op::none, W(1), q.view(), t.view(), W(0), qt.view());
    const double order = static_cast<double>(n);
    EXPECT_LT(
        scaled(norm1(rest(b, Op::none, qt, Op::conj_trans, q)), order * norm1(b), epsilon<T>()),
        kMost);
    const auto one = widen<T>(unit_matrix<T>(n).view());
    EXPECT_LT(scaled(norm1(rest(one, Op::conj_trans, q, Op::none, q)), order, epsilon<T>()), kMost);
  }
};
TYPED_TEST_SUITE(BulgeChasingTest, Precisions);

TYPED_TEST(BulgeChasingTest, ReducesAndMultiplies) {
  using T = TypeParam;
  const Index widest = this->device().template kernels<T>().limits().chase_bandwidth;
  std::vector<Index> orders = {0, 1, 2, 3, 9, 40, 75};
  if (!this->device().emulated()) orders.insert(orders.end(), {128, 300, 517});
  for (const Index width : {Index{1}, Index{2}, Index{8}, Index{16}, widest}) {
    for (const Index n : orders) {
      SCOPED_TRACE(testing::Message() << n << ", width " << width);
      const auto band = this->random_band(n, width);
      const auto result = this->reduce(band, width, true);
      this->expect_reduced(band, width, result);
      const auto values = this->reduce(band, width, false);
      EXPECT_EQ(values.d, result.d);
      EXPECT_EQ(values.e, result.e);
    }
  }
}

TYPED_TEST(BulgeChasingTest, SaysHowMuchMemoryItTakes) {
  using T = TypeParam;
  for (const bool vectors : {false, true}) {
    for (const Index n : {0, 1, 100}) {
      const std::size_t before = this->device().pool_use(Space::device).leased;
      const Options options;
      const BulgeChasing<T> chasing(this->device(), options, n, 8, vectors);
      // Leases may be of larger blocks.
      EXPECT_LE(BulgeChasing<T>::bytes(this->device(), options, n, 8, vectors),
                this->device().pool_use(Space::device).leased - before);
    }
  }
}

TYPED_TEST(BulgeChasingTest, AFaultAnywhereIsOneOfTheCall) {
  const auto band = this->random_band(30, 8);
  constexpr Index kMostActions = 100;
  Index faults = 0;
  for (bool done = false; !done && faults < kMostActions;) {
    FaultAt fault(faults + 1);
    this->device().set_observer(&fault);
    try {
      this->reduce(band, 8, true);
      done = true;
    } catch (const DeviceError&) {
      ++faults;
    }
  }
  this->device().set_observer(nullptr);
  EXPECT_GT(faults, 5);
  EXPECT_LT(faults, kMostActions);
  this->expect_reduced(band, 8, this->reduce(band, 8, true));
}

}  // namespace
}  // namespace overlapack
