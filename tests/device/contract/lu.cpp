// getrf_panel, row interchanges, interchange_and_solve (by columns and by rows), LuStep.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

template <class T>
class InterchangeContract : public DeviceContract<T> {};
TYPED_TEST_SUITE(InterchangeContract, Precisions);

/// What getrf_panel leaves.
template <class T>
struct Panel {
  Padded<T> factor;
  std::vector<Index> pivots;  // 1-based within the panel
  Index info;
};

template <class T>
class PanelContract : public DeviceContract<T> {
 protected:
  Panel<T> factor(const Padded<T>& a, Index offset = 0, Index info_before = 0) {
    const Index steps = std::min(a.rows(), a.cols());
    const auto da = this->upload(a);
    const auto pivots = this->upload(Padded<Index>(steps, 1));
    const auto info = this->upload_index(info_before);
    const Buffer<Index> home(this->device(), Space::host, steps);
    this->queue().enqueue(GetrfPanel<T>{da, pivots, {home.data(), steps}, info, offset});
    Panel<T> panel{this->download(da), {}, this->download_index(info)};
    auto stored = this->download(pivots);
    for (Index j = 0; j < steps; ++j) panel.pivots.push_back(stored(j, 0) - offset);
    EXPECT_TRUE(std::equal(home.data(), home.data() + steps, stored.data()));
    return panel;
  }

  /// One column with the given elements, factored.
  Panel<T> factor_column(const std::vector<T>& elements) {
    Padded<T> a(static_cast<Index>(elements.size()), 1);
    std::copy(elements.begin(), elements.end(), a.data());
    return factor(a);
  }

  /// A random matrix is factored as it should be.
  void factors(Index m, Index n) {
    SCOPED_TRACE(testing::Message() << m << "x" << n);
    const auto a = random_matrix<T>(m, n, 1, 2);
    const auto panel = factor(a, 12345);
    EXPECT_EQ(panel.info, 0);
    EXPECT_TRUE(panel.factor.padding_untouched());
    const Index steps = std::min(m, n);
    bool valid = true;
    for (Index j = 0; j < steps; ++j) {
      const Index p = panel.pivots[static_cast<std::size_t>(j)];
      valid = valid && p >= j + 1 && p <= m;
    }
    ASSERT_TRUE(valid) << "a pivot is no row below its step";
    EXPECT_LT(getrf_residual<T>(a.view(), panel.factor.view(), panel.pivots), kThreshold);
    double largest = 0;  // partial pivoting: no multiplier exceeds 1 by more than rounding
    for (Index j = 0; j < steps; ++j) {
      for (Index i = j + 1; i < m; ++i) {
        largest = std::max(largest, static_cast<double>(std::abs(panel.factor(i, j))));
      }
    }
    EXPECT_LE(largest, (is_complex<T> ? std::sqrt(2.0) : 1.0) + 10 * epsilon<T>());
  }
};

TYPED_TEST_SUITE(PanelContract, Precisions);

TYPED_TEST(PanelContract, FactorsPanelsOfAllShapes) {
  std::vector<std::pair<Index, Index>> shapes = {
      {1, 1},     {5, 5},    {100, 32}, {1000, 7}, {257, 64},
      {300, 300}, {33, 100}, {1, 40},   {64, 1},   {140000, 10}};  // the last: no GPU's registers
  for (const Index n : {33, 100, 128, 129, 200}) shapes.insert(shapes.end(), {{128, n}, {513, n}});
  if (!this->device().emulated()) {
    for (const Index m : {2048, 4096, 8192, 16384}) {
      for (const Index n : {64, 127, 128}) shapes.insert(shapes.end(), {{m, n}, {m + 1, n}});
    }
  }
  for (const auto& [m, n] : shapes) this->factors(m, n);
}

// For racecheck, under which the shapes above would take an hour: panels of one thread block, of
// one strip and of several.
TYPED_TEST(PanelContract, FactorsPanelsOfOneBlock) {
  for (const auto& [m, n] : {std::pair<Index, Index>{100, 20}, {128, 70}}) this->factors(m, n);
}

// The least panels of which the rows need all of a cluster, and several to a thread.
TYPED_TEST(PanelContract, FactorsPanelsInEveryForm) {
  for (const auto& [m, n] :
       {std::pair<Index, Index>{300, 70}, {2049, 40}, {4097, 40}, {8193, 40}, {16400, 9}}) {
    if (m < 1000 || !this->device().emulated()) this->factors(m, n);
  }
}

TYPED_TEST(PanelContract, ChoosesTheLargestAndAmongEqualsTheFirst) {
  using T = TypeParam;
  EXPECT_EQ(this->factor_column({T(1), T(-3), T(3), T(3)}).pivots[0], 2);
  EXPECT_EQ(this->factor_column({T(3), T(-3), T(3)}).pivots[0], 1);
  EXPECT_EQ(this->factor_column({T(0), T(1), T(2), T(-2), T(-4)}).pivots[0], 5);
  std::vector<T> ones(1000, T(1));
  ones[0] = T(0);
  EXPECT_EQ(this->factor_column(ones).pivots[0], 2);
  ones[0] = T(1);
  ones[999] = T(-1);
  EXPECT_EQ(this->factor_column(ones).pivots[0], 1);
}

TYPED_TEST(PanelContract, ComparesComplexPivotsByTheSumOfTheirParts) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    // |z|: 5 against 4.24; |re| + |im|: 5 against 6.
    EXPECT_EQ(this->factor_column({T(0, 5), T(3, 3), T(-5, 0)}).pivots[0], 2);
    EXPECT_EQ(this->factor_column({T(0, 5), T(3, 2), T(-5, 0)}).pivots[0], 1);  // equal sums
  } else {
    EXPECT_EQ(this->factor_column({T(5), T(6), T(-5)}).pivots[0], 2);
  }
}

TYPED_TEST(PanelContract, TiesInEveryColumnFollowTheExactElimination) {
  // L has only +-1 below its diagonal and U only small integers, so that the elimination is exact
  // and every candidate of every column ties: rows in order must stay in order.
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{40, 12},
                             {200, 20},
                             {12, 40},
                             {300, 120},
                             {3000, 70},
                             {7000, 8},
                             {14000, 8}}) {
    Random random(m);
    const Index steps = std::min(m, n);
    Padded<T> l(m, steps), u(steps, n), a(m, n);
    for (Index j = 0; j < steps; ++j) {
      for (Index i = 0; i < m; ++i) {
        l(i, j) = i < j ? T(0) : i == j ? T(1) : phase<T>(2 * random.integer(0, 1));
        if constexpr (!is_complex<T>) {
          if (i > j && random.integer(0, 1) == 1) l(i, j) = T(-1);
        }
      }
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < steps; ++i) {
        u(i, j) = i > j ? T(0) : T(static_cast<Real<T>>(i == j ? 2 : random.integer(-3, 3)));
      }
    }
    reference::gemm<T>(Op::none, Op::none, T(1), l.view(), u.view(), T(0), a.view());
    const auto panel = this->factor(a);
    EXPECT_EQ(panel.info, 0);
    for (Index j = 0; j < steps; ++j) EXPECT_EQ(panel.pivots[static_cast<std::size_t>(j)], j + 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) EXPECT_EQ(panel.factor(i, j), i > j ? l(i, j) : u(i, j));
    }
  }
}

TYPED_TEST(PanelContract, ANaNIsChosenOnlyOnTheDiagonal) {
  using T = TypeParam;
  const T bad = nan<T>();
  EXPECT_EQ(this->factor_column({T(1), bad, T(3), T(2)}).pivots[0], 3);
  EXPECT_EQ(this->factor_column({bad, T(1), T(3)}).pivots[0], 1);
  EXPECT_EQ(this->factor_column({T(1), bad, bad}).pivots[0], 1);
  EXPECT_EQ(this->factor_column({T(1), T(5), infinity<T>(), T(7)}).pivots[0], 3);
  const auto zero = this->factor_column({T(0), bad, T(0)});
  EXPECT_EQ(zero.pivots[0], 1);
  EXPECT_EQ(zero.info, 1);
}

TYPED_TEST(PanelContract, PivotsThroughNaNsAsTheUnblockedAlgorithm) {
  using T = TypeParam;
  for (const auto& [row, column] :
       {std::pair<Index, Index>{0, 0}, {3, 0}, {2, 2}, {5, 3}, {0, 3}}) {
    SCOPED_TRACE(testing::Message() << row << "," << column);
    // Powers of two times distinct small integers: no ties, and no choice that rounding could turn.
    Padded<T> a(6, 4);
    const int elements[6][4] = {{1, 7, -2, 5},  {-8, 1, 3, 1}, {2, -3, 9, 4},
                                {4, 2, 1, -11}, {1, 9, 5, 2},  {-2, 4, 7, 13}};
    for (Index j = 0; j < 4; ++j) {
      for (Index i = 0; i < 6; ++i) a(i, j) = T(static_cast<Real<T>>(elements[i][j]));
    }
    a(row, column) = nan<T>();
    auto expected = a;
    std::vector<Index> pivots(4);
    const Index info = reference::detail::getrf_block<T>(expected.view(), pivots.data());
    const auto panel = this->factor(a);
    EXPECT_EQ(panel.pivots, pivots);
    EXPECT_EQ(panel.info, info);
    for (Index j = 0; j < 4; ++j) {
      for (Index i = 0; i < 6; ++i) EXPECT_EQ(is_nan(panel.factor(i, j)), is_nan(expected(i, j)));
    }
  }
}

TYPED_TEST(PanelContract, TheNumberOfRowsMakesNoDifference) {
  // Rows around every power of two: a device divides them among threads, thread blocks and
  // clusters, and has another kernel where they do not fit. NaNs, infinities, ties and a column of
  // zeros fall on all of them. An infinite complex number is left out: it has several quotients.
  using T = TypeParam;
  constexpr Index n = 8;  // at most one block of any device, so that the unblocked order is defined
  std::vector<Index> heights = {2, 31, 33};
  for (Index power = 64; power <= 16384; power *= 2) {
    for (const Index m : {power - 1, power, power + 1}) heights.push_back(m);
  }
  for (const Index m : {70000, 140000, 280000}) heights.push_back(m);
  for (const Index m : heights) {
    SCOPED_TRACE(testing::Message() << m << " rows");
    auto a = random_matrix<T>(m, n, static_cast<std::uint64_t>(m), 3);
    for (Index i = 0; i < m; ++i) a(i, 2) = T(0);
    for (Index i = 0; i < m; ++i) a(i, 0) = T(static_cast<Real<T>>(i < m / 3 ? 1 : 2));
    a(m - 1, 6) = nan<T>();
    if (!is_complex<T>) a(m / 2, 7) = infinity<T>();
    auto expected = a;
    std::vector<Index> pivots(static_cast<std::size_t>(std::min(m, n)));
    const Index info = reference::detail::getrf_block<T>(expected.view(), pivots.data());
    const auto panel = this->factor(a, 77);
    EXPECT_EQ(panel.pivots, pivots);
    EXPECT_EQ(panel.info, info == 0 ? 0 : 77 + info);
    EXPECT_TRUE(panel.factor.padding_untouched());
    Index different = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        const T x = panel.factor(i, j), y = expected(i, j);
        const bool close = x == y || std::abs(x - y) <= 1000 * epsilon<T>() * (1 + std::abs(y));
        if (is_nan(y) ? !is_nan(x) : !close) ++different;
      }
    }
    EXPECT_EQ(different, 0);
  }
}

TYPED_TEST(PanelContract, AZeroPivotIsReportedAndTheFactorizationGoesOn) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{5, 5}, {100, 33}, {40, 64}, {300, 64}}) {
    const Index steps = std::min(m, n);
    for (const Index position : {Index{0}, steps / 2, steps - 1}) {
      SCOPED_TRACE(testing::Message() << m << "x" << n << " at " << position);
      const auto a = singular_at<T>(m, n, position, 1, 1);
      const auto panel = this->factor(a, 500);
      EXPECT_EQ(panel.info, 500 + position + 1);
      EXPECT_EQ(panel.factor(position, position), T(0));
      EXPECT_EQ(panel.pivots[static_cast<std::size_t>(position)], position + 1);
      EXPECT_LT(getrf_residual<T>(a.view(), panel.factor.view(), panel.pivots), kThreshold);
    }
  }
  // The first of several, and an info from before, win.
  auto a = singular_at<T>(20, 10, 3, 1);
  for (Index i = 0; i < 20; ++i) a(i, 7) = T(0);
  EXPECT_EQ(this->factor(a).info, 4);
  EXPECT_EQ(this->factor(a, 100, 2).info, 2);
}

TYPED_TEST(PanelContract, ASubnormalPivotGivesFiniteMultipliers) {
  using T = TypeParam;
  const Real<T> tiny = std::numeric_limits<Real<T>>::denorm_min() * 64;
  Padded<T> a(5, 2);
  for (Index i = 0; i < 5; ++i) {
    a(i, 0) = T(tiny * static_cast<Real<T>>(i + 1));
    a(i, 1) = T(static_cast<Real<T>>(i * i + 1));
  }
  const auto panel = this->factor(a);
  EXPECT_EQ(panel.pivots[0], 5);
  EXPECT_EQ(panel.info, 0);
  EXPECT_EQ(panel.factor(0, 0), T(tiny * 5));
  // Row 0 moved down to row 4; rows 1 to 3 may change places in the second step.
  std::vector<Real<T>> multipliers;
  for (Index i = 1; i < 5; ++i) multipliers.push_back(real(panel.factor(i, 0)));
  std::sort(multipliers.begin(), multipliers.end());
  for (Index i = 1; i < 5; ++i) {
    EXPECT_NEAR(static_cast<double>(multipliers[static_cast<std::size_t>(i - 1)]),
                static_cast<double>(i) / 5, 4 * epsilon<T>());
  }
}

// ---- interchanges -------------------------------------------------------------------------

/// Pivots of a matrix with that many rows, and as the device has them.
struct Pivots {
  static constexpr Index kOffset = 4000;

  /// `narrow`: most targets are repeated.
  Pivots(Index rows, Index count, bool narrow) : shifted(count, 1) {
    Random random(1);
    for (Index j = 0; j < count; ++j) {
      local.push_back(1 + random.integer(narrow ? std::max(j, rows - 3) : j, rows - 1));
      shifted(j, 0) = kOffset + local.back();
    }
  }
  std::vector<Index> local;
  Padded<Index> shifted;
};

struct InterchangeShape {
  Index rows, cols, pivots;
};
constexpr InterchangeShape kInterchangeShapes[] = {
    {1, 1, 1}, {5, 3, 2}, {64, 33, 64}, {1500, 7, 300}, {1000, 5, 1000}, {3000, 2, 1000}};

TYPED_TEST(InterchangeContract, SwapRowsFollowsThePivotsInBothDirections) {
  using T = TypeParam;
  for (const InterchangeShape& s : kInterchangeShapes) {
    for (const bool narrow : {false, true}) {
      SCOPED_TRACE(testing::Message() << s.rows << "x" << s.cols << ", " << s.pivots << " pivots"
                                      << (narrow ? ", repeated targets" : ""));
      const Pivots pivots(s.rows, s.pivots, narrow);
      const auto dp = this->upload(pivots.shifted);
      const auto a = random_matrix<T>(s.rows, s.cols, 2, 1);
      for (const bool forward : {true, false}) {
        const auto da = this->upload(a);
        this->queue().enqueue(SwapRows<T>{da, dp, Pivots::kOffset, forward});
        const auto result = this->download(da);
        auto expected = a;
        reference::laswp<T>(expected.view(), 0, s.pivots, pivots.local.data(), forward);
        EXPECT_EQ(max_difference(result, applied(Op::none, expected)), 0) << "forward " << forward;
        EXPECT_TRUE(result.padding_untouched());
      }
    }
  }
}

TYPED_TEST(InterchangeContract, SwapColumnsDoesTheSameByRows) {
  using T = TypeParam;
  const auto swaps = [this](const InterchangeShape& s, Index cols, bool narrow) {
    SCOPED_TRACE(testing::Message() << s.rows << "x" << cols << ", " << s.pivots << " pivots"
                                    << (narrow ? ", repeated targets" : ""));
    const Pivots pivots(s.rows, s.pivots, narrow);
    auto expected = random_matrix<T>(s.rows, cols, 2, 1);
    Padded<T> by_rows(cols, s.rows, 1);
    for (Index i = 0; i < s.rows; ++i) {
      for (Index j = 0; j < cols; ++j) by_rows(j, i) = expected(i, j);
    }
    const auto da = this->upload(by_rows);
    this->queue().enqueue(SwapColumns<T>{da, this->upload(pivots.shifted), Pivots::kOffset});
    const auto result = this->download(da);
    reference::laswp<T>(expected.view(), 0, s.pivots, pivots.local.data());
    EXPECT_EQ(max_difference(result, applied(Op::trans, expected)), 0);
    EXPECT_TRUE(result.padding_untouched());
  };
  for (const InterchangeShape& s : kInterchangeShapes) {
    for (const bool narrow : kBools) {
      swaps(s, s.cols, narrow);
      swaps(s, 100 * s.cols + 1, narrow);
    }
  }
}

TYPED_TEST(InterchangeContract, ComposedInterchangesOfPanelsPermuteRows) {
  using T = TypeParam;
  struct Shape {
    Index rows, pivots, nb;
  };
  const Index bound = this->kernels().limits().permutable_rows;
  const Index most = bound == 0 ? 1000 : bound;
  for (const Shape s : {Shape{1, 1, 1}, Shape{2, 1, 4}, Shape{70, 70, 16}, Shape{90, 40, 40},
                        Shape{100, 100, 7}, Shape{most, most, 256}, Shape{most, 30, 10},
                        // Just what a thread block may have without asking, with its own memory.
                        Shape{std::min<Index>(most, 12288), 30, 10}}) {
    for (const bool narrow : {false, true}) {
      SCOPED_TRACE(testing::Message() << s.rows << " rows, " << s.pivots << " pivots, panels of "
                                      << s.nb << (narrow ? ", repeated targets" : ""));
      const Pivots pivots(s.rows, s.pivots, narrow);
      const Index panels = (s.pivots + s.nb - 1) / s.nb, width = 3, cols = 3 * panels - 1;
      const auto sources = this->upload(Padded<Index>(s.rows, panels, 1));
      this->queue().enqueue(
          ComposeInterchanges<T>{this->upload(pivots.shifted), Pivots::kOffset, s.nb, sources});
      const auto a = random_matrix<T>(s.rows, cols, 2, 1);
      const auto da = this->upload(a);
      this->queue().enqueue(PermuteRows<T>{da, width, sources});
      const auto result = this->download(da);
      auto expected = a;
      for (Index p = 0; p < panels; ++p) {
        const Index c = p * width;
        reference::laswp<T>(expected.view().block(0, c, s.rows, std::min(width, cols - c)),
                            p * s.nb, s.pivots, pivots.local.data());
      }
      EXPECT_EQ(max_difference(result, applied(Op::none, expected)), 0);
      EXPECT_TRUE(result.padding_untouched());
      EXPECT_TRUE(this->download(sources).padding_untouched());
    }
  }
}

TYPED_TEST(InterchangeContract, SwapRowsBackUndoesSwapRows) {
  using T = TypeParam;
  const auto a = random_matrix<T>(50, 4, 1);
  const auto da = this->upload(a);
  Random random(2);
  Padded<Index> pivots(50, 1);
  for (Index j = 0; j < 50; ++j) pivots(j, 0) = 1 + random.integer(j, 49);
  const auto dp = this->upload(pivots);
  this->queue().enqueue(SwapRows<T>{da, dp, 0, true});
  this->queue().enqueue(SwapRows<T>{da, dp, 0, false});
  this->queue().enqueue(SwapRows<T>{da.view.block(0, 0, 50, 0), dp, 0, true});
  EXPECT_EQ(max_difference(this->download(da), applied(Op::none, a)), 0);
}

// ---- interchange_and_solve ----------------------------------------------------------------

/// A step of LU on an m x n block whose first w rows are solved for.
template <class T>
struct LuStepCase {
  Padded<T> l, a;
  std::vector<Index> pivots;  // of a's rows

  /// The pivot of row j is one of rows first(j) to last. What is not of L's triangle is a NaN, but
  /// on the diagonal there are ones if n is odd.
  template <class First>
  LuStepCase(Index m, Index n, Index w, Index last, First first)
      : l(random_matrix<T>(w, w, 1, 2)), a(random_matrix<T>(m, n, 2, 3)) {
    Random random(3);
    for (Index j = 0; j < w; ++j) {
      for (Index i = 0; i < w; ++i) {
        l(i, j) = i > j ? l(i, j) / T(static_cast<Real<T>>(w)) : nan<T>();
        if (i == j && n % 2 == 1) l(i, j) = T(1);
      }
      pivots.push_back(1 + random.integer(first(j), last));
    }
  }

  /// The result in double precision by the definition.
  Padded<Wide<T>> expected() const {
    Padded<Wide<T>> x = applied(Op::none, a);
    reference::laswp(x.view(), 0, l.rows(), pivots.data());
    for (Index c = 0; c < x.cols(); ++c) {
      for (Index i = 0; i < l.rows(); ++i) {
        for (Index j = 0; j < i; ++j) x(i, c) -= Wide<T>(l(i, j)) * x(j, c);
      }
    }
    return x;
  }
};

template <class Scalar>
class LuStepContract : public DeviceContract<Scalar> {
 protected:
  using T = Scalar;

  enum Storage { by_columns, by_rows, by_rows_with_inverses };
  static constexpr Storage kStorages[] = {by_columns, by_rows, by_rows_with_inverses};

  /// The inverses are those of `inverted`, which is L if it is null, with rows of U of size 1.
  Padded<T> result(const LuStepCase<T>& step, Storage storage, Index offset = 0,
                   const Padded<T>* inverted = nullptr) {
    Padded<Index> pivots(step.l.rows(), 1);
    for (Index j = 0; j < pivots.rows(); ++j) pivots(j, 0) = offset + step.pivots[std::size_t(j)];
    const auto dl = this->upload(step.l);
    const auto da = this->upload(storage == by_columns ? step.a : adjoint_of(step.a));
    const auto dp = this->upload(pivots);
    if (storage == by_columns) {
      this->queue().enqueue(InterchangeAndSolve<T>{dl, dp, offset, da});
    } else {
      const bool wanted = storage == by_rows_with_inverses;
      const Index elements = wanted ? this->kernels().elements_of_inverses(step.l.rows()) : 0;
      const auto inverses = this->upload(Padded<Index>(elements, 1));
      if (wanted) {
        const auto to_invert =
            this->upload(inverted == nullptr ? with_rows_of_u(step.l) : *inverted);
        this->queue().enqueue(FindInverses<T>{to_invert, inverses});
      }
      this->queue().enqueue(InterchangeAndSolveByRows<T>{dl, dp, offset, da, inverses});
    }
    const auto there = this->download(da);
    EXPECT_TRUE(there.padding_untouched());
    return storage == by_columns ? there : adjoint_of(there);
  }

  void expect_right(const LuStepCase<T>& step, Index offset = 0) {
    const Index w = step.l.rows();
    const auto expected = step.expected();
    for (const Storage storage : kStorages) {
      SCOPED_TRACE(testing::Message() << step.a.rows() << "x" << step.a.cols() << ", " << w
                                      << ", storage " << storage);
      const auto x = this->result(step, storage, offset);
      EXPECT_LT(max_difference(x, expected, [w](Index i, Index) { return i < w; }),
                sum_bound<T>(w));
      EXPECT_EQ(max_difference(x, expected, [w](Index i, Index) { return i >= w; }), 0);
    }
  }

  /// L and U, of which row i has elements of modulus size(i).
  template <class Size>
  static Padded<T> with_rows_of_u(Padded<T> l, Size size) {
    for (Index j = 0; j < l.cols(); ++j) {
      for (Index i = 0; i <= j; ++i) l(i, j) = T((i + j) % 2 == 0 ? size(i) : -size(i));
    }
    return l;
  }
  static Padded<T> with_rows_of_u(const Padded<T>& l) {
    return with_rows_of_u(l, [](Index) { return Real<T>(1); });
  }

  /// As A^H is stored where A is kept by rows.
  static Padded<T> adjoint_of(const Padded<T>& a) {
    Padded<T> adjoint(a.cols(), a.rows(), 3);
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) adjoint(j, i) = conj(a(i, j));
    }
    return adjoint;
  }
};
TYPED_TEST_SUITE(LuStepContract, Precisions);

TYPED_TEST(LuStepContract, InterchangesAndSolves) {
  using Step = LuStepCase<TypeParam>;
  for (const Index w : {1, 5, 16, 17, 64, 65, 100, 128, 150, 256, 257, 500, 512}) {
    for (const Index below : {0, 1, 3, 500}) {
      for (const Index n : {1, 16, 33}) {
        const Index m = w + below;
        this->expect_right(Step(m, n, w, m - 1, [](Index j) { return j; }), 4000);
      }
    }
  }
}

TYPED_TEST(LuStepContract, PivotsMayRepeatOrStayInTheBlock) {
  using Step = LuStepCase<TypeParam>;
  const Index n = 20;
  for (const Index w : {2, 17, 64, 128, 150, 256, 300}) {
    const Index m = 2 * w;
    this->expect_right(Step(m, n, w, m - 1, [m](Index) { return m - 2; }));  // two rows below
    this->expect_right(Step(m, n, w, w - 1, [](Index j) { return j; }));     // none below
    this->expect_right(Step(m, n, w, w - 1, [w](Index) { return w - 1; }));  // the last one
    this->expect_right(Step(m, n, w, w, [w](Index j) { return std::max(j, w - 1); }));
    auto step = Step(m, n, w, m - 1, [](Index j) { return j; });
    for (Index j = 0; j < w; ++j) step.pivots[std::size_t(j)] = j + 1;  // no interchange
    this->expect_right(step);
    for (Index j = 0; j < w; ++j) step.pivots[std::size_t(j)] = j + 2;  // row 0 sinks to row w
    this->expect_right(step);
  }
}

TYPED_TEST(LuStepContract, TakesAnyNumberOfColumns) {
  using Step = LuStepCase<TypeParam>;
  for (const Index n : {15, 17, 127, 129, 2000, 4097, 9000}) {
    this->expect_right(Step(40, n, 20, 39, [](Index j) { return j; }));
  }
  const Step step(10, 3, 4, 9, [](Index j) { return j; });
  const auto dl = this->upload(step.l), da = this->upload(step.a);
  const DeviceView<const Index> none;
  this->queue().enqueue(InterchangeAndSolve<TypeParam>{dl, none, 0, da.view.block(0, 0, 10, 0)});
  this->queue().enqueue(
      InterchangeAndSolveByRows<TypeParam>{dl, none, 0, da.view.block(0, 0, 0, 3)});
  EXPECT_EQ(max_difference(this->download(da), applied(Op::none, step.a)), 0);
}

/// Where the expected number is not finite, so is x, in the same way.
template <class T>
bool alike(T x, Wide<T> expected, Index summands) {
  if (is_nan(expected)) return is_nan(x);
  if (!std::isfinite(std::abs(expected))) return Wide<T>(x) == expected;
  return std::abs(Wide<T>(x) - expected) < sum_bound<T>(summands);
}

TYPED_TEST(LuStepContract, WhatIsNotFiniteStaysInItsColumnAndBelow) {
  using T = TypeParam;
  for (const Index w : {5, 40, 128, 150, 300}) {
    for (const Index row : {Index{0}, w / 2, w - 1, w + 7}) {
      LuStepCase<T> step(w + 10, 35, w, w + 9, [](Index j) { return j; });
      step.a(row, 3) = nan<T>();
      if (!is_complex<T>) step.a(row, 20) = infinity<T>();
      const auto expected = step.expected();
      for (const auto storage : TestFixture::kStorages) {
        SCOPED_TRACE(testing::Message() << w << ", row " << row << ", storage " << storage);
        const auto x = this->result(step, storage);
        EXPECT_TRUE(all_elements({x.rows(), x.cols()}, [&](Index i, Index j) {
          return alike<T>(x(i, j), expected(i, j), w);
        }));
      }
    }
  }
}

/// Whole steps on an m x n block. What is not of L in the panel's first rows is a NaN, and so is
/// what lies right of the panel.
TYPED_TEST(LuStepContract, WholeSteps) {
  using T = TypeParam;
  Index done = 0;
  const auto expect_right = [&](LuStepCase<T> step, bool with_nan) {
    const Index m = step.a.rows(), w = step.l.rows(), offset = 4000;
    SCOPED_TRACE(testing::Message() << m << "x" << step.a.cols() << ", " << w);
    Padded<T> panel = random_matrix<T>(m, w + 3, 7, 3);
    for (Index j = 0; j < w + 3; ++j) {
      for (Index i = 0; i < m; ++i) {
        if (j >= w) panel(i, j) = nan<T>();
        if (j < w && i < w) panel(i, j) = step.l(i, j);
      }
    }
    if (with_nan) step.a(m - 1, 0) = nan<T>();
    Padded<Wide<T>> expected = step.expected();
    for (Index c = 0; c < expected.cols(); ++c) {
      for (Index j = 0; j < w; ++j) {
        for (Index i = w; i < m; ++i) expected(i, c) -= Wide<T>(panel(i, j)) * expected(j, c);
      }
    }
    Padded<Index> pivots(w, 1);
    for (Index j = 0; j < w; ++j) pivots(j, 0) = offset + step.pivots[std::size_t(j)];
    const auto dp = this->upload(panel), da = this->upload(step.a);
    const auto dpivots = this->upload(pivots);
    const bool has_step = this->kernels().has_lu_step(m, w, step.a.cols());
    if (has_step) {
      this->queue().enqueue(LuStep<T>{dp.view.block(0, 0, m, w), dpivots, offset, da});
    }
    const auto x = this->download(da);
    EXPECT_TRUE(x.padding_untouched());
    if (!has_step) {
      EXPECT_EQ(max_difference(x, applied(Op::none, step.a),
                               [&](Index i, Index j) { return !is_nan(step.a(i, j)); }),
                0);
      return;
    }
    ++done;
    EXPECT_TRUE(all_elements(
        {m, x.cols()}, [&](Index i, Index j) { return alike<T>(x(i, j), expected(i, j), 2 * w); }));
  };
  for (const Index w : {1, 5, 16, 17, 100, 128}) {
    for (const Index below : {1, 3, 16, 127, 129, 500, 1024, 1025, 3000}) {
      for (const Index n : {1, 4, 17, 128}) {
        if (n == 128 && below > 1025) continue;  // which takes long here
        const Index m = w + below;
        expect_right(LuStepCase<T>(m, n, w, m - 1, [](Index j) { return j; }), false);
      }
    }
    const Index m = 3 * w + 2, n = 3;
    expect_right(LuStepCase<T>(m, n, w, m - 1, [m](Index) { return m - 2; }), false);
    expect_right(LuStepCase<T>(m, n, w, w - 1, [](Index j) { return j; }), false);
    expect_right(LuStepCase<T>(m, n, w, w, [w](Index j) { return std::max(j, w - 1); }), false);
    expect_right(LuStepCase<T>(m, n, w, m - 1, [](Index j) { return j; }), true);
    auto sinking = LuStepCase<T>(m, n, w, m - 1, [](Index j) { return j; });
    for (Index j = 0; j < w; ++j) sinking.pivots[std::size_t(j)] = j + 2;  // row 0 sinks to row w
    expect_right(sinking, false);
  }
  if (done == 0) GTEST_SKIP() << "this device has no such kernel";
}

/// L is what partial pivoting makes of rows of very different sizes, and A has such rows, too. Each
/// element of A - L X is compared with those of |L| |X|: substitution has a few eps.
TYPED_TEST(LuStepContract, RowsMayBeOfVeryDifferentSizes) {
  using T = TypeParam;
  const Index most = std::is_same_v<Real<T>, float> ? 30 : 120;  // of exponents
  for (const Index w : {16, 128, 300}) {
    for (unsigned seed = 1; seed <= (w == 16 ? 100 : 3); ++seed) {
      Random random(seed);
      LuStepCase<T> step(w, 60, w, w - 1, [](Index j) { return j; });
      Padded<T> lu = random_matrix<T>(w, w, 100 + seed, 2);
      const auto sizes = random_exponents(random, w, most);
      scale(lu, sizes, std::vector<int>(static_cast<std::size_t>(w)));
      scale(step.a, sizes, std::vector<int>(static_cast<std::size_t>(step.a.cols())));
      ASSERT_EQ(reference::detail::getrf_block<T>(lu.view(), step.pivots.data()), 0);
      step.l = lu;
      const LuFactors<T> factors(std::as_const(lu).view(), step.pivots);
      const auto a = factors.interchanged(widen<T>(step.a.view()));
      for (const auto storage : TestFixture::kStorages) {
        const auto x = widen<T>(this->result(step, storage, 0, &lu).view());
        const double worst = worst_ratio<T>(rest(a, Op::none, factors.l, Op::none, x),
                                            bound(Op::none, factors.l, Op::none, x));
        EXPECT_LT(worst, 20) << w << ", seed " << seed << ", storage " << storage;
      }
    }
  }
}

/// Inverses that are not those of L tell whether A was multiplied by them.
TYPED_TEST(LuStepContract, MultipliesByModerateInversesOnly) {
  using T = TypeParam;
  using R = Real<T>;
  if (this->kernels().elements_of_inverses(1) == 0) GTEST_SKIP() << "this device has no inverses";
  for (const Index w : {20, 128, 256, 300}) {
    LuStepCase<T> step(w + 3, 40, w, w + 2, [](Index j) { return j; });
    const Index last = std::min<Index>(w, FindInverses<T>::kOrder) - 1;  // of the first block
    for (Index j = 0; j < w; ++j) {
      for (Index i = j + 1; i < w; ++i) step.l(i, j) = T(0);
    }
    // `size`: of row 0 of U. Those of other rows are 1.
    const auto expect = [&](T corner, R size, bool multiplied) {
      Padded<T> inverted =
          TestFixture::with_rows_of_u(step.l, [size](Index i) { return i == 0 ? size : R(1); });
      inverted(last, 0) = corner;
      if (multiplied) step.l(last, 0) = corner;
      const auto expected = step.expected();
      step.l(last, 0) = T(0);
      const auto x = this->result(step, TestFixture::by_rows_with_inverses, 0, &inverted);
      EXPECT_LT(max_difference(x, expected), 40 * sum_bound<T>(w))
          << corner << ", " << size << ", " << w;
    };
    expect(T(1), 1, true);
    expect(T(15), 1, true);
    expect(T(17), 1, false);
    expect(nan<T>(), 1, false);
    expect(infinity<T>(), 1, false);
    // A row that is so much larger than another one makes more of it.
    expect(T(1), 15, true);
    expect(T(1), 17, false);
    expect(T(R(0.25)), 50, true);
    expect(T(31), R(0.25), true);
    // Of what has no size nobody knows how it compares.
    expect(T(1), 0, false);
    expect(T(1), real(nan<T>()), false);
    expect(T(1), real(infinity<T>()), false);
  }
}

/// Views of no rows, whatever they point to: here to what would lead elsewhere.
TYPED_TEST(LuStepContract, EmptyPivotsAndInversesAreNone) {
  using T = TypeParam;
  const Index w = 40;
  LuStepCase<T> step(w, 20, w, w - 1, [](Index j) { return j; });
  Padded<T> unit = step.l;
  Padded<Index> pivots(w, 1), inverses(this->kernels().elements_of_inverses(w), 1);
  for (Index j = 0; j < w; ++j) {
    pivots(j, 0) = w;
    for (Index i = j + 1; i < w; ++i) unit(i, j) = T(0);
    step.pivots[std::size_t(j)] = j + 1;
  }
  const auto dl = this->upload(step.l), da = this->upload(this->adjoint_of(step.a));
  const auto du = this->upload(TestFixture::with_rows_of_u(unit));
  const auto dp = this->upload(pivots), di = this->upload(inverses);
  this->queue().enqueue(FindInverses<T>{du, di});
  this->queue().enqueue(InterchangeAndSolveByRows<T>{dl, dp.view.block(0, 0, 0, 1), 0, da,
                                                     di.view.block(0, 0, 0, 1)});
  EXPECT_LT(max_difference(this->adjoint_of(this->download(da)), step.expected()), sum_bound<T>(w));
}

/// Where products would lose all digits: L^-1 has elements of 2^62.
TYPED_TEST(LuStepContract, IsAccurateWhereInversesAreLarge) {
  using T = TypeParam;
  const Index w = 64, n = 20;
  LuStepCase<T> step(w, n, w, w - 1, [](Index j) { return j; });
  for (Index j = 0; j < w; ++j) {
    for (Index i = j + 1; i < w; ++i) step.l(i, j) = T(-1);
    step.pivots[std::size_t(j)] = j + 1;
  }
  Padded<T> x = random_matrix<T>(w, n, 5, 2);
  for (Index c = 0; c < n; ++c) {  // A = L X
    for (Index i = 0; i < w; ++i) {
      x(i, c) = T(std::round(8 * real(x(i, c))));  // so that A is exact
      step.a(i, c) = x(i, c);
      for (Index j = 0; j < i; ++j) step.a(i, c) -= x(j, c);
    }
  }
  for (const auto storage : TestFixture::kStorages) {
    EXPECT_EQ(max_difference(this->result(step, storage), applied(Op::none, x)), 0) << storage;
  }
}

}  // namespace
}  // namespace overlapack
