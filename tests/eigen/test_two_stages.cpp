// The reduction of drivers in two stages: to a band matrix, and from there to a tridiagonal one,
// with all that comes before and behind it on the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "algorithms/eigen/band_reduction.hpp"
#include "algorithms/eigen/reduction.hpp"
#include "algorithms/eigen/syevd.hpp"
#include "eigen/hermitian.hpp"
#include "support/fixtures.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::BandReduction;
using algorithms::Options;
using algorithms::ReductionInTwoStages;
using algorithms::WayBack;

/// LAPACK's ratios are to be below this. (Its own limit is 20 or more.)
constexpr double kMostErrors = 10;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A matrix of order n and what it is reduced to.
struct Case {
  Index n, bandwidth;
};
std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << "n = " << c.n << ", bandwidth " << c.bandwidth;
}

/// ||A - Q B Q^H|| / (n ||A|| eps) and ||I - Q^H Q|| / (n eps).
template <class T>
void expect_reduced(const Padded<T>& a, const Padded<T>& b, const Padded<T>& q) {
  using W = Wide<T>;
  const Index n = a.rows();
  const auto wide_a = widen<T>(a.view()), wide_b = widen<T>(b.view()), wide_q = widen<T>(q.view());
  Padded<W> qb(n, n);
  reference::gemm<W>(Op::none, Op::none, W(1), wide_q.view(), wide_b.view(), W(0), qb.view());
  const double order = static_cast<double>(n), norm = norm1(wide_a);
  const double error = norm1(rest(wide_a, Op::none, qb, Op::conj_trans, wide_q));
  EXPECT_LE(norm > 0 ? scaled(error, order * norm, epsilon<T>()) : error, kMostErrors);
  const auto one = widen<T>(unit_matrix<T>(n).view());
  EXPECT_LE(scaled(norm1(rest(one, Op::conj_trans, wide_q, Op::none, wide_q)), order, epsilon<T>()),
            kMostErrors);
}

template <class T>
class TwoStages : public DeviceTest {
 protected:
  /// Its lower triangle to the device. The other one is sentinels.
  void bring(Queue& queue, Padded<T> a, DeviceView<T> to) {
    a.forbid_other_triangle(Uplo::lower);
    const Uploaded<T> there = upload(queue, a);
    queue.copy<T>(to, DeviceView<const T>(there.view));
    queue.synchronize();
  }
  /// Q, of which `multiply(queue, z)` makes products.
  template <class Multiply>
  Padded<T> q_of(Queue& queue, Index n, Multiply multiply) {
    const Uploaded<T> z = upload(queue, unit_matrix<T>(n));
    for (const Range& j : algorithms::partition(n, algorithms::vectors_at_once<T>(options(), n))) {
      multiply(queue, z.view.block({0, n}, j));
    }
    return download(queue, z);
  }
  static Options options() {
    Options options;
    options.nb = 7;
    return options;
  }

  /// The first stage of a matrix.
  void reduces_to_band(const Case& c, const Padded<T>& a) {
    SCOPED_TRACE(c);
    const Index n = c.n, bandwidth = c.bandwidth;
    const Padded<T> no_band(2 * bandwidth, n, 3);
    const QueueLease queue(this->device());
    const Uploaded<T> band = upload(*queue, no_band);
    const BandReduction<T> reduction(this->device(), n, bandwidth);
    bring(*queue, a, reduction.matrix());
    reduction.reduce(*queue);
    reduction.copy_band(*queue, band.view);
    const Padded<T> b = download(*queue, band);
    Padded<T> whole(n, n);
    for (Index j = 0; j < n; ++j) {
      EXPECT_EQ(b(0, j), T(real(b(0, j)))) << "a real diagonal";
      for (Index i = 0; i < n; ++i) whole(i, j) = T(0);
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < b.rows(); ++i) {
        if (i > bandwidth) {
          EXPECT_EQ(b(i, j), sentinel<T>());
        } else if (i + j >= n) {
          EXPECT_EQ(b(i, j), T(0));
        } else {
          whole(i + j, j) = b(i, j);
          whole(j, i + j) = conj(b(i, j));
        }
      }
    }
    if (n <= bandwidth) {
      EXPECT_TRUE(same(whole, a));
      return;
    }
    const WayBack<T> back(this->device(), options(), reduction.matrix(), bandwidth,
                          reduction.tau());
    back.prepare(*queue);
    expect_reduced(a, whole,
                   q_of(*queue, n, [&](Queue& to, DeviceView<T> z) { back.multiply(to, z); }));
  }
  /// Both stages.
  void reduces(const Case& c, const Padded<T>& a) {
    SCOPED_TRACE(c);
    const Index n = c.n;
    const QueueLease queue(this->device());
    ReductionInTwoStages<T> reduction(this->device(), options(), n, c.bandwidth, true);
    bring(*queue, a, reduction.matrix());
    reduction.reduce(*queue);
    queue->synchronize();
    Padded<T> t(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) t(i, j) = T(0);
    }
    for (Index j = 0; j < n; ++j) {
      t(j, j) = T(reduction.d_here()[j]);
      if (j + 1 < n) t(j + 1, j) = t(j, j + 1) = T(reduction.e_here()[j]);
    }
    reduction.prepare(*queue);
    expect_reduced(a, t, q_of(*queue, n, [&](Queue& to, DeviceView<T> z) {
                     reduction.begin_to_multiply(to, z);
                     reduction.multiply(to, z);
                   }));
  }
};
TYPED_TEST_SUITE(TwoStages, Precisions);

constexpr Index kBandwidths[] = {1, 2, 5, 8, 13};

TYPED_TEST(TwoStages, ToABandOfAnyWidth) {
  using T = TypeParam;
  for (Index n = 1; n <= 45; ++n) {
    for (const Index bandwidth : kBandwidths) {
      this->reduces_to_band({n, bandwidth}, make<T>(Kind::random, n));
      if (this->HasFailure()) return;
    }
  }
}

/// Of which the panels of QR are narrower than the band.
TYPED_TEST(TwoStages, OfLargerMatrices) {
  using T = TypeParam;
  std::vector<Case> cases = {{90, 8}, {91, 9}, {120, 13}, {121, 21}};
  if (!this->device().emulated()) cases.insert(cases.end(), {{300, 32}, {601, 64}, {700, 48}});
  for (const Case& c : cases) {
    this->reduces_to_band(c, make<T>(Kind::random, c.n));
    this->reduces(c, make<T>(Kind::random, c.n));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(TwoStages, OfMatricesOfAllKinds) {
  using T = TypeParam;
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
    for (const Case& c : {Case{17, 4}, {40, 13}, {64, 8}}) {
      this->reduces_to_band(c, make<T>(kind, c.n));
      this->reduces(c, make<T>(kind, c.n));
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(TwoStages, ToATridiagonalMatrix) {
  using T = TypeParam;
  for (Index n = 4; n <= 40; n += 3) {
    for (const Index bandwidth : kBandwidths) {
      if (n <= bandwidth + 1) continue;
      this->reduces({n, bandwidth}, make<T>(Kind::random, n));
      if (this->HasFailure()) return;
    }
  }
}

/// Which panels tell how many stages there were.
TYPED_TEST(TwoStages, FromTheOrderOfTheTableOn) {
  using T = TypeParam;
  if (!this->device().emulated()) GTEST_SKIP() << "the orders are large";
  const Tuning::Eigen& tuning = this->device().tuning().eigen;
  for (const bool vectors : {false, true}) {
    const Index from =
        vectors ? tuning.two_stages_from_order : tuning.two_stages_from_order_without_vectors;
    for (const bool enough : {false, true}) {
      for (const Index n : {from - 1, from}) {
        Options options = this->options();
        options.memory =
            algorithms::eigenproblem_bytes<T>(this->device(), options, false, n, vectors ? n : 0);
        if (!enough) --options.memory;
        auto a = make<T>(Kind::random, n);
        std::vector<Real<T>> w(at(n));
        Calls calls;
        this->device().set_observer(&calls);
        algorithms::solve_eigenproblem<T>(
            this->device(), options,
            {Uplo::lower, a.view(), w.data(), {0, n}, vectors ? a.view() : HostView<T>()});
        this->device().set_observer(nullptr);
        const bool two = n == from && enough;
        EXPECT_EQ(calls.of("geqrf_panel") > 0, two) << n << ", " << vectors;
        if (n == from && !enough) {
          EXPECT_GT(calls.of("sytrd_panel"), 0);
          EXPECT_LE(
              algorithms::eigenproblem_bytes<T>(this->device(), options, false, n, vectors ? n : 0),
              options.memory);
        }
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
