// gemm, herk, her2k, trsm, add.
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// A matrix of NaNs.
template <class T>
Padded<T> all_nan(Index m, Index n, Index padding = 0) {
  Padded<T> a(m, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) a(i, j) = nan<T>();
  }
  return a;
}

/// The shapes of C (m x n) and of the sums for it (k).
struct ProductShape {
  Index m, n, k;
};
std::ostream& operator<<(std::ostream& stream, const ProductShape& s) {
  return stream << s.m << "x" << s.n << "x" << s.k;
}

struct GemmCase {
  ProductShape shape;
  Op op_a, op_b;

  std::string name() const {
    return (testing::Message() << shape << ", " << char(op_a) << char(op_b)).GetString();
  }
};

struct HerkCase {
  ProductShape shape;
  Uplo uplo;
  Op op;
  struct Factors {
    double alpha, beta;
  } factors;

  std::string name() const {
    return (testing::Message() << shape.n << "," << shape.k << ", " << char(uplo) << char(op)
                               << ", alpha " << factors.alpha << ", beta " << factors.beta)
        .GetString();
  }
};

struct TrsmCase {
  Shape shape;
  Side side;
  Uplo uplo;
  Diag diag;
  Op op;
  bool scaled;  // alpha is not 1

  Index order() const { return side == Side::left ? shape.rows : shape.cols; }
  std::string name() const {
    return (testing::Message() << shape << ", " << char(side) << char(uplo) << char(op)
                               << char(diag) << (scaled ? ", scaled" : ""))
        .GetString();
  }
};

/// A well-conditioned triangle: as it is stored, where everything that must not be referenced is a
/// NaN, and with all of its elements.
template <class T>
struct Triangle {
  Triangle(Index order, Uplo uplo, Diag diag)
      : stored(random_matrix<T>(order, order, 1, 2)), whole(order, order) {
    for (Index j = 0; j < order; ++j) {
      for (Index i = 0; i < order; ++i) {
        const bool inside = uplo == Uplo::lower ? i > j : i < j;
        const T small = stored(i, j) / T(static_cast<Real<T>>(order));
        whole(i, j) = inside ? small : T(0);
        stored(i, j) = inside ? small : nan<T>();
      }
      whole(j, j) = diag == Diag::unit ? T(1) : scalar<T>(2, 1);
      if (diag == Diag::non_unit) stored(j, j) = whole(j, j);
    }
  }
  Padded<T> stored, whole;
};

template <class T>
class ProductContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;

  void multiplies(const GemmCase& c) {
    const auto [m, n, k] = c.shape;
    const auto a = c.op_a == Op::none ? random_matrix<T>(m, k, 1, 1) : random_matrix<T>(k, m, 1, 1);
    const auto b = c.op_b == Op::none ? random_matrix<T>(k, n, 2, 3) : random_matrix<T>(n, k, 2, 3);
    const auto before = random_matrix<T>(m, n, 3, 2);
    const auto there = this->upload(before);
    const T alpha = scalar<T>(-1.5, 0.5), beta = scalar<T>(0.75, -0.25);
    this->queue().enqueue(
        Gemm<T>{c.op_a, c.op_b, alpha, this->upload(a), this->upload(b), beta, there});
    const auto result = this->download(there);
    const auto expected =
        multiply_add<W, T>(W(alpha), applied(c.op_a, a), applied(c.op_b, b), W(beta), before);
    EXPECT_LT(max_difference(result, expected), sum_bound<T>(k));
    EXPECT_TRUE(result.padding_untouched());
  }

  void updates(const HerkCase& c) {
    const Index n = c.shape.n, k = c.shape.k;
    const auto alpha = static_cast<Real<T>>(c.factors.alpha),
               beta = static_cast<Real<T>>(c.factors.beta);
    const auto a = c.op == Op::none ? random_matrix<T>(n, k, 1, 1) : random_matrix<T>(k, n, 1, 1);
    // The diagonal is complex, too. With beta = 0 nothing of it counts.
    auto before = beta == 0 ? all_nan<T>(n, n, 3) : random_matrix<T>(n, n, 2, 3);
    before.forbid_other_triangle(c.uplo);
    const auto there = this->upload(before);
    this->queue().enqueue(Herk<T>{c.uplo, c.op, alpha, this->upload(a), beta, there});
    const auto result = this->download(there);
    EXPECT_TRUE(result.padding_untouched());
    EXPECT_TRUE(result.other_triangle_untouched(c.uplo));
    for (Index j = 0; j < n; ++j) before(j, j) = T(real(before(j, j)));
    const Op adjoint = c.op == Op::none ? Op::conj_trans : Op::none;
    const auto expected =
        multiply_add<W, T>(W(alpha), applied(c.op, a), applied(adjoint, a), W(beta), before);
    const auto in_triangle = [&](Index i, Index j) { return inside(part_of(c.uplo), i, j); };
    EXPECT_LT(max_difference(result, expected, in_triangle), sum_bound<T>(k));
    for (Index j = 0; j < n; ++j) EXPECT_EQ(W(result(j, j)), W(real(result(j, j))));
  }

  void solves(const TrsmCase& c) {
    const auto [m, n] = c.shape;
    const Index order = c.order();
    const Triangle<T> a(order, c.uplo, c.diag);
    const T alpha = c.scaled ? scalar<T>(-0.5, 1) : T(1);
    const auto b = random_matrix<T>(m, n, 2, 1);
    const auto there = this->upload(b);
    this->queue().enqueue(
        Trsm<T>{c.side, c.uplo, c.op, c.diag, alpha, this->upload(a.stored), there});
    const auto x = this->download(there);
    EXPECT_TRUE(x.padding_untouched());
    // op(A) X = alpha B, or X op(A) = alpha B.
    const auto wide_x = applied(Op::none, x), wide_a = applied(c.op, a.whole);
    const auto product = c.side == Side::left ? multiply_add<W, T>(W(1), wide_a, wide_x, W(0), b)
                                              : multiply_add<W, T>(W(1), wide_x, wide_a, W(0), b);
    Padded<W> scaled_b(m, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) scaled_b(i, j) = W(alpha) * W(b(i, j));
    }
    EXPECT_LT(max_difference(product, scaled_b), sum_bound<T>(order));
  }
};
TYPED_TEST_SUITE(ProductContract, Precisions);

TYPED_TEST(ProductContract, GemmForAllOperands) {
  constexpr ProductShape kShapes[] = {
      {1, 1, 1}, {5, 7, 3}, {33, 20, 65}, {64, 64, 64}, {130, 70, 33}};
  for (const GemmCase& c : cross<GemmCase>(kShapes, kOps, kOps)) {
    SCOPED_TRACE(c.name());
    this->multiplies(c);
  }
}

/// Makes NaNs of the first rows and of those at the end, of which there are so many.
template <class T>
void forbid_rows_around(Padded<T>& a, Index first, Index behind) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      if (i < first || i >= a.rows() - behind) a(i, j) = nan<T>();
    }
  }
}

// C - A B^H for few summands has a kernel of its own, in double precision, for rows that lie at
// even places and enough tiles for 132 multiprocessors. Rows before and behind those that count are
// not finite.
TYPED_TEST(ProductContract, GemmThatSubtractsTheProductWithAnAdjoint) {
  using T = TypeParam;
  using W = Wide<T>;
  struct Case {
    Index m, n, k, pad_a, pad_b, pad_c, first;  // so many rows lie before those that count
  };
  std::vector<Case> cases = {{64, 64, 16, 0, 0, 0, 0},  {129, 65, 144, 1, 1, 1, 2},
                             {200, 70, 64, 1, 0, 0, 0}, {200, 70, 64, 0, 1, 0, 0},
                             {200, 70, 64, 0, 0, 1, 0}, {77, 89, 48, 0, 0, 0, 1},
                             {77, 90, 48, 1, 0, 1, 1},  {80, 66, 528, 0, 0, 0, 0}};
  if (std::is_same_v<T, double>) {
    const Case large[] = {
        {1152, 960, 16, 0, 0, 0, 0},  {1100, 962, 64, 2, 4, 6, 2},  {1091, 963, 48, 1, 1, 1, 0},
        {2180, 501, 32, 0, 1, 2, 2},  {2111, 449, 160, 1, 1, 3, 0}, {64, 8448, 16, 0, 0, 0, 0},
        {16901, 64, 16, 1, 0, 1, 4},  {129, 4209, 144, 1, 1, 1, 2}, {96, 8416, 192, 0, 0, 0, 0},
        {200, 4260, 256, 0, 0, 0, 2}, {78, 8450, 512, 0, 2, 0, 2},  {1090, 962, 528, 0, 0, 0, 0},
        {1090, 962, 64, 1, 0, 0, 0},  {1090, 962, 64, 0, 1, 0, 0},  {1090, 962, 64, 0, 0, 1, 0},
        {1090, 962, 64, 0, 0, 0, 1}};
    cases.insert(cases.end(), std::begin(large), std::end(large));
  }
  for (const auto& [m, n, k, pad_a, pad_b, pad_c, first] : cases) {
    constexpr Index kBehind = 2;
    auto a = random_matrix<T>(first + m + kBehind, k, 1, pad_a);
    auto b = random_matrix<T>(first + n + kBehind, k, 2, pad_b);
    const auto c = random_matrix<T>(first + m + kBehind, n + kBehind, 3, pad_c);
    forbid_rows_around(a, first, kBehind);
    forbid_rows_around(b, first, kBehind);
    const auto da = this->upload(a), db = this->upload(b);
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " from row " << first);
    const auto dc = this->upload(c);
    this->queue().enqueue(Gemm<T>{
        Op::none, Op::conj_trans, T(-1), DeviceView<const T>(da).block(first, 0, m, k),
        DeviceView<const T>(db).block(first, 0, n, k), T(1), dc.view.block(first, 0, m, n)});
    const auto result = this->download(dc);
    auto expected = applied(Op::none, c);
    reference::gemm<W>(Op::none, Op::conj_trans, W(-1),
                       applied(Op::none, a).view().block(first, 0, m, k),
                       applied(Op::none, b).view().block(first, 0, n, k), W(1),
                       expected.view().block(first, 0, m, n));
    EXPECT_LT(max_difference(result, expected), sum_bound<T>(k));
    EXPECT_TRUE(result.padding_untouched());
  }
}

TYPED_TEST(ProductContract, GemmWithZeroFactorsAndEmptyOperands) {
  using T = TypeParam;
  const Index m = 9, n = 6, k = 4;
  const auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  const auto c = random_matrix<T>(m, n, 3, 1);
  const auto da = this->upload(a), db = this->upload(b);
  const DeviceView<const T> no_columns = DeviceView<const T>(da).block(0, 0, m, 0),
                            no_rows = DeviceView<const T>(db).block(0, 0, 0, n);
  const auto poisoned = all_nan<T>(m, n, 1);
  using W = Wide<T>;
  const auto product =
      multiply_add<W, T>(W(1), applied(Op::none, a), applied(Op::none, b), W(0), c);
  auto& queue = this->queue();

  auto dc = this->upload(poisoned);  // beta = 0 does not read C
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), da, db, T(0), dc});
  EXPECT_LT(max_difference(this->download(dc), product), sum_bound<T>(k));

  dc = this->upload(poisoned);
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), no_columns, no_rows, T(0), dc});
  EXPECT_EQ(max_difference(this->download(dc), multiply_add<W, T>(W(0), applied(Op::none, a),
                                                                  applied(Op::none, b), W(0), c)),
            0);

  dc = this->upload(c);  // nothing to add: C := beta C
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), no_columns, no_rows, T(2), dc});
  const auto doubled =
      multiply_add<W, T>(W(0), applied(Op::none, a), applied(Op::none, b), W(2), c);
  EXPECT_EQ(max_difference(this->download(dc), doubled), 0);
  dc = this->upload(c);
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(0), da, db, T(2), dc});
  EXPECT_EQ(max_difference(this->download(dc), doubled), 0);

  dc = this->upload(c);  // an empty C
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), DeviceView<const T>(da).block(0, 0, 0, k), db,
                        T(1), dc.view.block(0, 0, 0, n)});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), da, DeviceView<const T>(db).block(0, 0, k, 0),
                        T(1), dc.view.block(0, 0, m, 0)});
  EXPECT_EQ(max_difference(this->download(dc), applied(Op::none, c)), 0);
}

TYPED_TEST(ProductContract, HerkUpdatesOneTriangleAndMakesTheDiagonalReal) {
  constexpr ProductShape kShapes[] = {
      {1, 1, 1}, {2, 2, 5}, {33, 33, 7}, {64, 64, 64}, {100, 100, 130}};
  constexpr Op kHerkOps[] = {Op::none, Op::conj_trans};
  constexpr HerkCase::Factors kFactors[] = {{-1, 1}, {0.5, 0}, {0, 2}};
  for (const HerkCase& c : cross<HerkCase>(kShapes, kUplos, kHerkOps, kFactors)) {
    SCOPED_TRACE(c.name());
    this->updates(c);
  }
}

TYPED_TEST(ProductContract, Her2kUpdatesATriangleAndMakesTheDiagonalReal) {
  using T = TypeParam;
  using W = Wide<T>;
  struct Case {
    Index n, k;
    double beta;
  };
  for (const auto& [n, k, beta] : {Case{1, 1, 1},
                                   {2, 5, 0.5},
                                   {33, 7, 1},
                                   {64, 64, 0},
                                   {100, 8, 1},
                                   {300, 64, 1},
                                   {40, 0, 2}}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << "," << k << " " << char(uplo));
      const auto a = random_matrix<T>(n, k, 1, 1), b = random_matrix<T>(n, k, 2, 3);
      auto before = beta == 0 ? all_nan<T>(n, n, 3) : random_matrix<T>(n, n, 3, 3);
      before.forbid_other_triangle(uplo);
      const auto there = this->upload(before);
      const T alpha = scalar<T>(-1.5, 0.5);
      this->queue().enqueue(Her2k<T>{uplo, alpha, this->upload(a), this->upload(b),
                                     static_cast<Real<T>>(beta), there});
      const auto result = this->download(there);
      EXPECT_TRUE(result.padding_untouched());
      for (Index j = 0; j < n; ++j) before(j, j) = T(real(before(j, j)));
      auto expected = multiply_add<W, T>(W(alpha), applied(Op::none, a), applied(Op::conj_trans, b),
                                         W(beta), before);
      expected = multiply_add<W, W>(conj(W(alpha)), applied(Op::none, b),
                                    applied(Op::conj_trans, a), W(1), expected);
      const auto in_triangle = [&](Index i, Index j) { return inside(part_of(uplo), i, j); };
      EXPECT_LT(max_difference(result, expected, in_triangle), 2 * sum_bound<T>(k));
      for (Index j = 0; j < n; ++j) EXPECT_EQ(W(result(j, j)), W(real(result(j, j))));
    }
  }
}

TYPED_TEST(ProductContract, HemvReadsOneTriangle) {
  using T = TypeParam;
  using W = Wide<T>;
  for (const Index n : {1, 2, 15, 16, 17, 31, 32, 33, 100, 511, 512, 513, 545, 1024, 1100}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      auto a = random_matrix<T>(n, n, 1, 3);
      const auto whole = widen_hermitian<T>(uplo, a.view());
      for (Index j = 0; j < n && is_complex<T>; ++j)
        a(j, j) = scalar<T>(real(whole(j, j)), nan<double>());
      a.forbid_other_triangle(uplo);
      const auto x = random_matrix<T>(n, 1, 2), y = random_matrix<T>(n, 1, 3, 2);
      const auto da = this->upload(a), dx = this->upload(x), dy = this->upload(y);
      const auto work = this->upload(Padded<T>(this->kernels().hemv_work(n), 1, 1));
      this->queue().enqueue(Hemv<T>{uplo, da, dx, dy, work});
      const auto got = this->download(dy);
      const auto expected = multiply_add<W, T>(W(-1), whole, applied(Op::none, x), W(1), y);
      EXPECT_LT(max_difference(got, expected), sum_bound<T>(n));
      EXPECT_TRUE(got.padding_untouched());
      EXPECT_TRUE(this->download(work).padding_untouched());

      const auto again = this->upload(y);
      this->queue().enqueue(Hemv<T>{uplo, da, dx, again, work});
      EXPECT_EQ(max_difference(this->download(again), widen<T>(got.view())), 0) << "another order";
    }
  }
}

TYPED_TEST(ProductContract, TrsmForAllOperands) {
  constexpr Shape kShapes[] = {{1, 1}, {5, 3}, {33, 20}, {20, 65}, {130, 17}, {37, 200}, {3, 257}};
  for (const TrsmCase& c : cross<TrsmCase>(kShapes, kSides, kUplos, kDiags, kOps, kBools)) {
    SCOPED_TRACE(c.name());
    this->solves(c);
  }
}

TYPED_TEST(ProductContract, TrsmWithManyRightHandSides) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index order = 40;
  auto l = random_matrix<T>(order, order, 1, 2);
  Padded<T> whole(order, order);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < order; ++i) {
      l(i, j) = i > j ? l(i, j) / T(static_cast<Real<T>>(order)) : nan<T>();
      whole(i, j) = i > j ? l(i, j) : T(i == j);
    }
  }
  const auto dl = this->upload(l);
  for (const Index count : {2047, 2049, 5000, 20000}) {
    SCOPED_TRACE(count);
    const auto b = random_matrix<T>(order, count, 2, 1), c = random_matrix<T>(count, order, 3, 1);
    const auto db = this->upload(b), dc = this->upload(c);
    this->queue().enqueue(Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::unit, T(1), dl, db});
    this->queue().enqueue(
        Trsm<T>{Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1), dl, dc});
    const auto x = this->download(db), y = this->download(dc);
    const auto lx =
        multiply_add<W, T>(W(1), applied(Op::none, whole), applied(Op::none, x), W(0), b);
    const auto yl =
        multiply_add<W, T>(W(1), applied(Op::none, y), applied(Op::conj_trans, whole), W(0), c);
    EXPECT_LT(max_difference(b, lx), sum_bound<T>(order));
    EXPECT_LT(max_difference(c, yl), sum_bound<T>(order));
    EXPECT_TRUE(x.padding_untouched() && y.padding_untouched());
  }
}

/// A GPU has kernels of its own for a triangle of many blocks, if there are many right-hand sides.
TYPED_TEST(ProductContract, TrsmWithManyBlocksAndRightHandSides) {
  const Index order = device_under_test() == "cuda" ? 530 : 70, count = 1030;
  for (const Side side : kSides) {
    const Shape shape = side == Side::left ? Shape{order, count} : Shape{count, order};
    for (const Uplo uplo : kUplos) {
      for (const Op op : kOps) {
        const TrsmCase c = {shape, side, uplo, Diag::non_unit, op, false};
        SCOPED_TRACE(c.name());
        this->solves(c);
      }
    }
  }
}

TYPED_TEST(ProductContract, TrsmWithZeroAlphaAndEmptyOperands) {
  using T = TypeParam;
  const Index m = 6, n = 4;
  const auto da = this->upload(random_matrix<T>(m, m, 1));
  auto db = this->upload(all_nan<T>(m, n));
  this->queue().enqueue(Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::non_unit, T(0), da, db});
  const auto zero = this->download(db);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) EXPECT_EQ(zero(i, j), T(0));
  }
  this->queue().enqueue(Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), da,
                                db.view.block(0, 0, m, 0)});
  this->queue().enqueue(Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1),
                                DeviceView<const T>(da).block(0, 0, 0, 0),
                                db.view.block(0, 0, 0, n)});
  this->queue().synchronize();
}

struct CopyCase {
  Shape shape;
  Op op;
};

TYPED_TEST(ProductContract, CopiesOrTransposes) {
  using T = TypeParam;
  constexpr Shape kShapes[] = {{1, 1}, {100, 7}, {33, 130}, {0, 5}, {5, 0}};
  for (const CopyCase& c : cross<CopyCase>(kShapes, kOps)) {
    SCOPED_TRACE(testing::Message() << c.shape << " " << char(c.op));
    const auto [m, n] = c.shape;
    const bool same = c.op == Op::none;
    const auto a = random_matrix<T>(same ? m : n, same ? n : m, 1, 2);
    auto b = random_matrix<T>(m, n, 2, 3);
    if (m > 0 && n > 0) b(0, 0) = nan<T>();  // what stood there does not count
    const auto da = this->upload(a), db = this->upload(b);
    this->queue().enqueue(Copy<T>{c.op, da, db});
    const auto copied = this->download(db);
    EXPECT_TRUE(copied.padding_untouched());
    ASSERT_TRUE(all_elements(c.shape, [&](Index i, Index j) {
      const T x = same ? a(i, j) : a(j, i);
      return copied(i, j) == (c.op == Op::conj_trans ? conj(x) : x);
    }));
  }
}

}  // namespace
}  // namespace overlapack
