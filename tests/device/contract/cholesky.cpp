// potrf_panel, invert_blocks, back_substitute.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"

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

template <class T>
class CholeskyContract : public DeviceContract<T> {
 protected:
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
  using T = TypeParam;
  using W = Wide<T>;
  const Index offset = 1000;
  for (const Index n : this->orders()) {
    for (const Index below : {Index{0}, Index{20}, Index{300}}) {
      for (const Index position : {Index{0}, n / 2, n - 1}) {
        for (const Uplo uplo : kUplos) {
          for (const T bad : {T(-1), T(0), nan<T>()}) {
            SCOPED_TRACE(testing::Message() << n << " and " << below << " " << char(uplo) << " at "
                                            << position << ": " << real(bad));
            // The first columns of a larger matrix.
            auto whole = positive_definite<T>(n + below, 1);
            whole(position, position) = bad;
            Padded<T> a(n + below, n, 1);
            for (Index j = 0; j < n; ++j) {
              for (Index i = j; i < n + below; ++i) a(i, j) = whole(i, j);
            }
            const bool lower = uplo == Uplo::lower;
            const auto panel = this->factor(uplo, lower ? a : conj_transposed(a, 1), offset);
            auto factor = this->download(panel.factor);
            EXPECT_EQ(this->download_index(panel.info), offset + position + 1);
            EXPECT_TRUE(factor.padding_untouched());
            if (!lower) factor = conj_transposed(factor, 0);
            // The leading minor before it holds its factor, and its columns go on below.
            const Index good = position, last = n + below - 1;
            EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view().block(0, 0, good, good),
                                        factor.view().block(0, 0, good, good)),
                      kThreshold);
            if (good == 0 || position == last) continue;
            W sum(0);  // A(last, good - 1)
            for (Index l = 0; l < good; ++l) {
              sum += W(factor(last, l)) * conj(W(factor(good - 1, l)));
            }
            EXPECT_LT(std::abs(sum - W(a(last, good - 1))), sum_bound<T>(n));
          }
        }
      }
    }
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
  using T = TypeParam;
  for (const Index n : this->orders()) {
    for (const Index beside : {Index{0}, Index{70}}) {  // rows that the panel has
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << n << " " << beside << " " << char(uplo));
        const Index later = 130, first = n + beside;
        const auto whole = positive_definite<T>(first + later, 1);
        const auto rows = [&](Index from, Index end) {  // the first n columns, stored as they are
          Padded<T> a(end - from, n, 2);
          for (Index j = 0; j < n; ++j) {
            for (Index i = std::max(from, j); i < end; ++i) a(i - from, j) = whole(i, j);
          }
          return uplo == Uplo::lower ? a : conj_transposed(a, 2);
        };
        const auto expected = this->download(this->factor(uplo, rows(0, first + later)).factor);
        const Buffer<T> notes(this->device(), Space::device, this->kernels().limits().potrf_notes);
        const DeviceView<T> noted(notes.data(), notes.size());
        const auto from = this->upload(rows(0, first));
        const auto info = this->upload_index(0);
        this->queue().enqueue(PotrfPanel<T>{uplo, from, from, info, 0, noted});
        for (const bool in_place : {false, true}) {
          const auto a = this->upload(rows(first, first + later));
          const auto other = this->upload(rows(first, first + later));
          const auto& result = in_place ? a : other;
          this->queue().enqueue(PotrfRows<T>{uplo, noted, a, result});
          const auto got = this->download(result);
          EXPECT_TRUE(got.padding_untouched());
          for (Index j = 0; j < got.cols(); ++j) {
            for (Index i = 0; i < got.rows(); ++i) {
              const T there = uplo == Uplo::lower ? expected(first + i, j) : expected(i, first + j);
              ASSERT_EQ(got(i, j), there) << i << "," << j;
            }
          }
        }
      }
    }
  }
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

TYPED_TEST(CholeskyContract, PotrfPanelSolvesForTheRowsBelow) {
  using T = TypeParam;
  using W = Wide<T>;
  for (const bool well_conditioned : {true, false}) {
    for (const Index n : this->orders()) {
      if (!well_conditioned && n < 12) continue;
      for (const Index m : {Index{1}, Index{15}, Index{127}, Index{128}, Index{129}, Index{1000}}) {
        for (const Uplo uplo : kUplos) {
          for (const bool in_place : {false, true}) {
            SCOPED_TRACE(testing::Message() << n << " " << m << " " << char(uplo) << " "
                                            << well_conditioned << " " << in_place);
            const auto diagonal =
                well_conditioned ? positive_definite<T>(n, 3) : exact_ill_conditioned_spd<T>(n);
            auto l = diagonal;
            ASSERT_EQ(reference::potrf(Uplo::lower, l.view()), 0);
            // A moderate solution: the right-hand sides, rounded, are moderate, too, and a product
            // with a large inverse would lose digits.
            const auto expected = random_matrix<T>(m, n, 4);
            Padded<T> panel(n + m, n, 2), below(m, n);
            for (Index j = 0; j < n; ++j) {
              for (Index i = j; i < n; ++i) panel(i, j) = diagonal(i, j);
              for (Index i = 0; i < m; ++i) {
                W sum(0);
                for (Index k = 0; k <= j; ++k) sum += W(expected(i, k)) * conj(W(l(j, k)));
                panel(n + i, j) = below(i, j) = T(sum);
              }
            }
            const bool lower = uplo == Uplo::lower;
            const auto from = this->upload(lower ? panel : conj_transposed(panel, 2));
            const auto to = this->upload(lower ? Padded<T>(n + m, n, 3) : Padded<T>(n, n + m, 3));
            const auto info = this->upload_index(0);
            const auto& result = in_place ? from : to;
            this->queue().enqueue(PotrfPanel<T>{uplo, from, result, info, 0});
            auto factor = this->download(result);
            EXPECT_EQ(this->download_index(info), 0);
            EXPECT_TRUE(factor.padding_untouched());
            if (!lower) factor = conj_transposed(factor, 0);
            Padded<T> got(n, n), x(m, n);
            for (Index j = 0; j < n; ++j) {
              for (Index i = j; i < n; ++i) got(i, j) = factor(i, j);
              for (Index i = 0; i < m; ++i) x(i, j) = factor(n + i, j);
            }
            EXPECT_LT(potrf_residual<T>(Uplo::lower, diagonal.view(), got.view()), kThreshold);
            EXPECT_LT(strip_error(got, below, x), 4 * static_cast<double>(n));
          }
        }
      }
    }
  }
}

TYPED_TEST(CholeskyContract, InvertBlocksAndTheirConditions) {
  using T = TypeParam;
  using W = Wide<T>;
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
      const auto l = [&](Index i, Index j) {
        return i < j ? W(0) : uplo == Uplo::lower ? W(factor(i, j)) : conj(W(factor(j, i)));
      };
      for (Index b = 0; b < blocks; ++b) {
        const Index first = b * order, size = std::min(order, n - first);
        double worst = 0, largest = 0;
        for (Index i = 0; i < size; ++i) {
          double growth = 0;  // row i of |L^-1| |L| e
          for (Index j = 0; j < size; ++j) {
            W sum(0);
            double magnitude = 0;
            for (Index k = 0; k < size; ++k) {
              const W x = W(inverse(i, first + k)), y = l(first + k, first + j);
              sum += x * y;
              magnitude += std::abs(x) * std::abs(y);
            }
            growth += magnitude;
            worst = std::max(worst, std::abs(sum - W(i == j)) / std::max(magnitude, 1e-300));
            if (j > i) {
              EXPECT_EQ(inverse(i, first + j), T(0)) << i << "," << j;
            }
          }
          largest = std::max(largest, growth);
        }
        EXPECT_LT(worst, sum_bound<T>(size));
        EXPECT_NEAR(condition(b, 0), largest, 1e-3 * largest);
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
        // X^H L = B^H, with the columns in reverse order, is what strip_error() looks at.
        Padded<T> l(n, n), reversed_b(nrhs, n), reversed_x(nrhs, n);
        for (Index j = 0; j < n; ++j) {
          const Index c = n - 1 - j;
          for (Index i = j; i < n; ++i) {
            const Index r = n - 1 - i;
            l(i, j) = uplo == Uplo::lower ? conj(factor(c, r)) : factor(r, c);
          }
          for (Index i = 0; i < nrhs; ++i) {
            reversed_b(i, j) = conj(b(c, i));
            reversed_x(i, j) = conj(x(c, i));
          }
        }
        EXPECT_LT(strip_error(l, reversed_b, reversed_x), 4 * static_cast<double>(order + n));
      }
    }
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
