// potrf_panel, invert_blocks, back_substitute.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

template <class T>
Padded<T> conj_transposed(const Padded<T>& a, Index padding) {
  Padded<T> result(a.cols(), a.rows(), padding);
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) result(j, i) = conj(a(i, j));
  }
  return result;
}

/// The largest |x L^H - a| relative to |x| |L^H|, in units of the precision.
template <class T>
double strip_error(const Padded<T>& l, const Padded<T>& a, const Padded<T>& x) {
  using W = Wide<T>;
  double worst = 0;
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      W sum(0);
      double magnitude = 0;
      for (Index k = 0; k <= j; ++k) {
        sum += W(x(i, k)) * conj(W(l(j, k)));
        magnitude += std::abs(W(x(i, k))) * std::abs(W(l(j, k)));
      }
      worst = std::max(worst, std::abs(sum - W(a(i, j))) / magnitude);
    }
  }
  return worst / epsilon<T>();
}

/// Rows first, ..., end - 1 of the first n columns, of the lower triangle.
template <class T>
Padded<T> rows_of_panel(const Padded<T>& whole, Index n, Index first, Index end, Index padding) {
  Padded<T> a(end - first, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = std::max(first, j); i < end; ++i) a(i - first, j) = whole(i, j);
  }
  return a;
}

/// The square block of that order that begins at i, j.
template <class T>
Padded<T> block_of(const Padded<T>& a, Index i, Index j, Index order) {
  Padded<T> block(order, order);
  reference::lacpy<T>(a.view().block(i, j, order, order), block.view());
  return block;
}

/// As the device gets it, or what it has made of it as a lower triangle.
template <class T>
Padded<T> stored(Uplo uplo, const Padded<T>& a, Index padding) {
  return uplo == Uplo::lower ? a : conj_transposed(a, padding);
}

enum class Bad { negative, zero, not_a_number };
constexpr Bad kBad[] = {Bad::negative, Bad::zero, Bad::not_a_number};
template <class T>
T number(Bad bad) {
  return bad == Bad::negative ? T(-1) : bad == Bad::zero ? T(0) : nan<T>();
}

/// A panel whose leading minors are positive definite up to an element of its diagonal.
struct IndefinitePanel {
  Index n, below;
  Where where;
  Uplo uplo;
  Bad bad;

  std::string name() const {
    return (testing::Message() << n << " and " << below << " below, " << char(uplo) << ", "
                               << number<double>(bad) << " at " << position(where, n))
        .GetString();
  }
};

/// A panel of n columns with `beside` more rows, and rows that come later.
struct LaterRows {
  Index n, beside;
  Uplo uplo;

  std::string name() const {
    return (testing::Message() << n << " and " << beside << " below, " << char(uplo)).GetString();
  }
};

/// A panel of n columns with m rows below.
struct PanelCase {
  bool well_conditioned;
  Index n, m;
  Uplo uplo;
  bool in_place;

  std::string name() const {
    return (testing::Message() << n << " and " << m << " below, " << char(uplo)
                               << (well_conditioned ? "" : ", ill-conditioned")
                               << (in_place ? ", in place" : ""))
        .GetString();
  }
};

template <class T>
class CholeskyContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;

  /// What potrf_panel leaves.
  struct Panel {
    Uploaded<T> factor;
    Uploaded<Index> info;
  };

  /// Numbers of columns up to the largest, around powers of two and multiples of small tiles.
  std::vector<Index> orders() {
    std::vector<Index> all;
    for (const Index n : {1, 2, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128}) {
      if (n <= this->kernels().limits().potrf_panel_width) all.push_back(n);
    }
    return all;
  }

  Panel factor(Uplo uplo, const Padded<T>& a, Index offset = 0, Index info = 0) {
    Panel panel{this->upload(a), this->upload_index(info)};
    const auto from = this->upload(a);
    this->queue().enqueue(PotrfPanel<T>{uplo, from, panel.factor, panel.info, offset});
    return panel;
  }

  void stops(const IndefinitePanel& c) {
    const Index offset = 1000, n = c.n, good = position(c.where, n), last = n + c.below - 1;
    auto whole = positive_definite<T>(n + c.below, 1);
    whole(good, good) = number<T>(c.bad);
    const auto a = rows_of_panel(whole, n, 0, n + c.below, 1);
    const auto panel = factor(c.uplo, stored(c.uplo, a, 1), offset);
    auto factor = this->download(panel.factor);
    EXPECT_EQ(this->download_index(panel.info), offset + good + 1);
    EXPECT_TRUE(factor.padding_untouched());
    factor = stored(c.uplo, factor, 0);
    // The leading minor before it holds its factor, and its columns go on below.
    EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view().block(0, 0, good, good),
                                factor.view().block(0, 0, good, good)),
              kThreshold);
    if (good == 0 || good == last) return;
    W sum(0);  // A(last, good - 1)
    for (Index l = 0; l < good; ++l) sum += W(factor(last, l)) * conj(W(factor(good - 1, l)));
    EXPECT_LT(std::abs(sum - W(a(last, good - 1))), sum_bound<T>(n));
  }

  void goes_on(const LaterRows& c) {
    const Index later = 130, first = c.n + c.beside, end = first + later;
    const auto whole = positive_definite<T>(end, 1);
    const auto rows = [&](Index from, Index to) {
      return stored(c.uplo, rows_of_panel(whole, c.n, from, to, 2), 2);
    };
    const auto expected = this->download(factor(c.uplo, rows(0, end)).factor);
    const Buffer<T> notes(this->device(), Space::device, this->kernels().limits().potrf_notes);
    const DeviceView<T> noted(notes.data(), notes.size());
    const auto from = this->upload(rows(0, first));
    const auto info = this->upload_index(0);
    this->queue().enqueue(PotrfPanel<T>{c.uplo, from, from, info, 0, noted});
    const bool lower = c.uplo == Uplo::lower;
    for (const bool in_place : kBools) {
      const auto a = this->upload(rows(first, end)), other = this->upload(rows(first, end));
      const auto& result = in_place ? a : other;
      this->queue().enqueue(PotrfRows<T>{c.uplo, noted, a, result});
      const auto got = this->download(result);
      EXPECT_TRUE(got.padding_untouched());
      ASSERT_TRUE(all_elements({got.rows(), got.cols()}, [&](Index i, Index j) {
        return got(i, j) == (lower ? expected(first + i, j) : expected(i, first + j));
      })) << (in_place ? "in place" : "elsewhere");
    }
  }

  /// L of the diagonal block, and a moderate solution for the rows below, of which the right-hand
  /// sides, rounded, are moderate, too: a product with a large inverse would lose digits.
  void solves_below(const PanelCase& c) {
    const Index n = c.n, m = c.m;
    const bool lower = c.uplo == Uplo::lower;
    const auto diagonal =
        c.well_conditioned ? positive_definite<T>(n, 3) : exact_ill_conditioned_spd<T>(n);
    auto l = diagonal;
    ASSERT_EQ(reference::potrf(Uplo::lower, l.view()), 0);
    const auto below = products_with_adjoint(random_matrix<T>(m, n, 4), l);
    Padded<T> panel(n + m, n, 2);
    reference::lacpy<T>(diagonal.view(), panel.view().block(0, 0, n, n), Part::lower);
    reference::lacpy<T>(below.view(), panel.view().block(n, 0, m, n));
    const auto from = this->upload(stored(c.uplo, panel, 2));
    const auto to = this->upload(lower ? Padded<T>(n + m, n, 3) : Padded<T>(n, n + m, 3));
    const auto info = this->upload_index(0);
    const auto& result = c.in_place ? from : to;
    this->queue().enqueue(PotrfPanel<T>{c.uplo, from, result, info, 0});
    auto factor = this->download(result);
    EXPECT_EQ(this->download_index(info), 0);
    EXPECT_TRUE(factor.padding_untouched());
    factor = stored(c.uplo, factor, 0);
    const auto got = rows_of_panel(factor, n, 0, n, 0), x = rows_of_panel(factor, n, n, n + m, 0);
    EXPECT_LT(potrf_residual<T>(Uplo::lower, diagonal.view(), got.view()), kThreshold);
    EXPECT_LT(strip_error(got, below, x), 4 * static_cast<double>(n));
  }
  /// X L^H for the lower triangle L.
  static Padded<T> products_with_adjoint(const Padded<T>& x, const Padded<T>& l) {
    Padded<T> products(x.rows(), l.rows());
    for (Index j = 0; j < l.rows(); ++j) {
      for (Index i = 0; i < x.rows(); ++i) {
        W sum(0);
        for (Index k = 0; k <= j; ++k) sum += W(x(i, k)) * conj(W(l(j, k)));
        products(i, j) = T(sum);
      }
    }
    return products;
  }

  /// Whether `inverse` is that of the lower triangle `l`, and its condition number.
  void expect_inverse(const Padded<T>& l, const Padded<T>& inverse, Real<T> condition) {
    const Index n = l.rows();
    double worst = 0, largest = 0;
    for (Index i = 0; i < n; ++i) {
      double growth = 0;  // row i of |L^-1| |L| e
      for (Index j = 0; j < n; ++j) {
        W sum(0);
        double magnitude = 0;
        for (Index k = j; k < n; ++k) {
          const W x = W(inverse(i, k)), y = W(l(k, j));
          sum += x * y;
          magnitude += std::abs(x) * std::abs(y);
        }
        growth += magnitude;
        worst = std::max(worst, std::abs(sum - W(i == j)) / std::max(magnitude, 1e-300));
        if (j > i) {
          EXPECT_EQ(inverse(i, j), T(0)) << i << "," << j;
        }
      }
      largest = std::max(largest, growth);
    }
    EXPECT_LT(worst, sum_bound<T>(n));
    EXPECT_NEAR(condition, largest, 1e-3 * largest);
  }
};
TYPED_TEST_SUITE(CholeskyContract, Precisions);

TYPED_TEST(CholeskyContract, PotrfPanelFactorsOneTriangle) {
  using T = TypeParam;
  for (const Index n : this->orders()) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      auto a = positive_definite<T>(n, 1, 3);
      a.forbid_other_triangle(uplo);
      auto given = a;  // what stands in the imaginary part of the diagonal is ignored
      for (Index j = 0; j < n; ++j) given(j, j) += scalar<T>(0, 1000);
      const auto panel = this->factor(uplo, given, 7);
      const auto factor = this->download(panel.factor);
      EXPECT_EQ(this->download_index(panel.info), 0);
      EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold);
      EXPECT_TRUE(factor.padding_untouched());
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      for (Index j = 0; j < n; ++j) {
        EXPECT_GT(real(factor(j, j)), 0);
        if constexpr (is_complex<T>) {
          EXPECT_EQ(factor(j, j).imag(), 0);
        }
      }
    }
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelFindsTheClosedFormFactor) {
  using T = TypeParam;
  const Index n = std::min<Index>(25, this->kernels().limits().potrf_panel_width);
  for (const Uplo uplo : kUplos) {
    const auto panel = this->factor(uplo, closed_form_spd<T>(n));
    const auto factor = this->download(panel.factor);
    EXPECT_EQ(this->download_index(panel.info), 0);
    for (Index c = 0; c < n; ++c) {
      for (Index r = c; r < n; ++r) {
        const T expected = closed_form_factor<T>(r, c);
        const T got = uplo == Uplo::lower ? factor(r, c) : conj(factor(c, r));
        EXPECT_LE(std::abs(got - expected), 1000 * epsilon<T>() * std::abs(expected))
            << r << "," << c;
      }
    }
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelStopsAtTheFirstMinorThatIsNotPositiveDefinite) {
  constexpr Index kBelow[] = {0, 20, 300};
  for (const IndefinitePanel& c :
       cross<IndefinitePanel>(this->orders(), kBelow, kWhere, kUplos, kBad)) {
    SCOPED_TRACE(c.name());
    this->stops(c);
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelReachesStagingMemory) {
  using T = TypeParam;
  for (const Index n : this->orders()) {
    for (const Uplo uplo : kUplos) {
      for (const bool definite : {true, false}) {
        SCOPED_TRACE(testing::Message() << n << " " << char(uplo) << (definite ? "" : ", info"));
        const Index good = definite ? n : n / 2;
        const auto a = definite ? positive_definite<T>(n, 1) : indefinite_at<T>(n, good, 1);
        const Buffer<T> staging(this->device(), Space::host, n * n);
        const Buffer<Index> info(this->device(), Space::host, 1);
        const HostView<T> here(staging.data(), n, n, n);
        const DeviceView<T> there(staging.data(), n, n, n);
        reference::lacpy<T>(a.view(), here);
        *info.data() = 0;
        this->queue().enqueue(PotrfPanel<T>{uplo, there, there, {info.data(), 1}, 0});
        this->queue().synchronize();
        EXPECT_EQ(*info.data(), definite ? 0 : good + 1);
        EXPECT_LT(
            potrf_residual<T>(uplo, a.view().block(0, 0, good, good), here.block(0, 0, good, good)),
            kThreshold);
      }
    }
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelKeepsAnEarlierInfo) {
  using T = TypeParam;
  const auto panel = this->factor(Uplo::lower, indefinite_at<T>(15, 10, 1), 100, 5);
  EXPECT_EQ(this->download_index(panel.info), 5);
}

TYPED_TEST(CholeskyContract, PotrfRowsGoesOnWithRowsThatComeLater) {
  constexpr Index kBeside[] = {0, 70};  // rows that the panel has
  for (const LaterRows& c : cross<LaterRows>(this->orders(), kBeside, kUplos)) {
    SCOPED_TRACE(c.name());
    this->goes_on(c);
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelSolvesForTheRowsBelow) {
  constexpr Index kBelow[] = {1, 15, 127, 128, 129, 1000};
  for (const PanelCase& c : cross<PanelCase>(kBools, this->orders(), kBelow, kUplos, kBools)) {
    if (!c.well_conditioned && c.n < 12) continue;
    SCOPED_TRACE(c.name());
    this->solves_below(c);
  }
}

TYPED_TEST(CholeskyContract, InvertBlocksAndTheirConditions) {
  using T = TypeParam;
  const Index order = this->kernels().limits().potrf_panel_width;
  for (const Index n : {Index{1}, order - 1, order, order + 1, 3 * order + 5}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      auto factor = positive_definite<T>(n, 2, 1);
      ASSERT_EQ(reference::potrf(uplo, factor.view()), 0);
      factor.forbid_other_triangle(uplo);
      const Index blocks = (n + order - 1) / order;
      const auto inverses = this->upload(Padded<T>(order, n, 1));
      const auto conditions = this->upload(Padded<Real<T>>(blocks, 1));
      this->queue().enqueue(InvertBlocks<T>{uplo, this->upload(factor), inverses, conditions});
      const auto inverse = this->download(inverses);
      const auto condition = this->download(conditions);
      EXPECT_TRUE(inverse.padding_untouched());
      const auto l = stored(uplo, factor, 0);
      for (Index b = 0; b < blocks; ++b) {
        const Index first = b * order, size = std::min(order, n - first);
        this->expect_inverse(block_of(l, first, first, size), block_of(inverse, 0, first, size),
                             condition(b, 0));
      }
    }
  }
}

TYPED_TEST(CholeskyContract, InvertBlocksIgnoresImaginaryPartsOfTheDiagonal) {
  using T = TypeParam;
  const Index order = this->kernels().limits().potrf_panel_width, n = order + 5;
  for (const Uplo uplo : kUplos) {
    auto factor = positive_definite<T>(n, 2);
    ASSERT_EQ(reference::potrf(uplo, factor.view()), 0);
    const auto invert = [&] {
      const auto inverses = this->upload(Padded<T>(order, n));
      const auto conditions = this->upload(Padded<Real<T>>(2, 1));
      this->queue().enqueue(InvertBlocks<T>{uplo, this->upload(factor), inverses, conditions});
      return std::pair(this->download(inverses), this->download(conditions));
    };
    const auto expected = invert();
    for (Index i = 0; i < n; ++i) factor(i, i) += scalar<T>(0, static_cast<double>(i % 3));
    const auto got = invert();
    EXPECT_TRUE(same_bits(got.first, expected.first));
    EXPECT_TRUE(same_bits(got.second, expected.second));
  }
}

/// A Cholesky factor on the device with the inverses of its diagonal blocks.
template <class T>
class BackSubstitutionContract : public DeviceContract<T> {
 protected:
  void prepare(Uplo uplo, Index n, Index order) {
    uplo_ = uplo;
    factor = positive_definite<T>(n, 2, 1);
    ASSERT_EQ(reference::potrf(uplo, factor.view()), 0);
    factor.forbid_other_triangle(uplo);
    blocks_ = (n + order - 1) / order;
    factor_ = this->upload(factor);
    inverses_ = this->upload(Padded<T>(order, n, 1));
    conditions_ = this->upload(Padded<Real<T>>(blocks_, 1));
    this->queue().enqueue(InvertBlocks<T>{uplo, factor_, inverses_, conditions_});
  }

  Padded<T> solve(const Padded<T>& b) {
    const Index count = this->kernels().factor_progress(blocks_, b.cols());
    const auto x = this->upload(b);
    const auto progress = this->upload(Padded<Index>(count, 1));
    this->queue().enqueue(BackSubstitute<T>{uplo_, factor_, inverses_, x, progress});
    return this->download(x);
  }

  /// In blocks of that order, for any number of right-hand sides.
  void solves(Index order, Index n, const std::vector<Index>& numbers = {1, 8, 9, 16, 17, 50}) {
    for (const Uplo uplo : kUplos) {
      prepare(uplo, n, order);
      for (const Index nrhs : numbers) {
        SCOPED_TRACE(testing::Message() << n << " " << order << " " << nrhs << " " << char(uplo));
        const auto b = random_matrix<T>(n, nrhs, 3, 2);
        const auto x = solve(b), again = solve(b);
        EXPECT_TRUE(x.padding_untouched());
        EXPECT_TRUE(same_bits(x, again));
        EXPECT_LT(residual(b, x), 4 * static_cast<double>(order + n));
      }
    }
  }
  /// X^H L = B^H, with the columns in reverse order, is what strip_error() looks at.
  double residual(const Padded<T>& b, const Padded<T>& x) const {
    const Index n = b.rows(), nrhs = b.cols();
    Padded<T> l(n, n), reversed_b(nrhs, n), reversed_x(nrhs, n);
    for (Index j = 0; j < n; ++j) {
      const Index c = n - 1 - j;
      for (Index i = j; i < n; ++i) {
        const Index r = n - 1 - i;
        l(i, j) = uplo_ == Uplo::lower ? conj(factor(c, r)) : factor(r, c);
      }
      for (Index i = 0; i < nrhs; ++i) {
        reversed_b(i, j) = conj(b(c, i));
        reversed_x(i, j) = conj(x(c, i));
      }
    }
    return strip_error(l, reversed_b, reversed_x);
  }

  Padded<T> factor;

 private:
  Uplo uplo_ = Uplo::lower;
  Index blocks_ = 0;
  Uploaded<T> factor_, inverses_;
  Uploaded<Real<T>> conditions_;
};
TYPED_TEST_SUITE(BackSubstitutionContract, Precisions);

TYPED_TEST(BackSubstitutionContract, SolvesForAnyNumberOfRightHandSides) {
  const Index width = this->kernels().limits().potrf_panel_width;
  for (const Index n : {Index{1}, width - 1, width, width + 1, 2 * width, 5 * width + 3}) {
    this->solves(width, n);
  }
  this->solves(7, 7);
  this->solves(width - 3, 2 * width);
}

TYPED_TEST(BackSubstitutionContract, SolvesWithMoreBlocksThanMultiprocessors) {
  this->solves(4, 603);
  const Index width = this->kernels().limits().potrf_panel_width;
  this->solves(width, 5 * width + 3, {1100});  // thread blocks of many right-hand sides
}

TYPED_TEST(BackSubstitutionContract, NoNaNIsMistakenForNothing) {
  using T = TypeParam;
  const Index order = this->kernels().limits().potrf_panel_width, n = 2 * order + 3;
  this->prepare(Uplo::lower, n, order);
  const auto b = random_matrix<T>(n, 3, 3);
  auto with_nan = b;
  std::memset(static_cast<void*>(&with_nan(n - 1, 1)), 0xff, sizeof(T));
  const auto x = this->solve(b), y = this->solve(with_nan);
  for (Index i = 0; i < n; ++i) {
    EXPECT_EQ(x(i, 0), y(i, 0));
    EXPECT_EQ(x(i, 2), y(i, 2));
  }
  EXPECT_TRUE(std::isnan(std::abs(y(0, 1))));
}

}  // namespace
}  // namespace overlapack
