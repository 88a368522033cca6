// ?potrf by its exported names, on every device and in both algorithms.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/cholesky/regions.hpp"
#include "algorithms/cholesky/schedule.hpp"
#include "cpu/reference.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

/// Orders around the block size and around powers of two.
std::set<Index> orders(Index nb) {
  std::set<Index> all = {0, 1, 2, 5, nb - 1, nb, nb + 1, 2 * nb, 2 * nb + 3};
  for (Index power = 32; power <= 128; power *= 2) all.insert({power - 1, power, power + 1});
  return all;
}

template <class T>
class Potrf : public RoutedTest {
 protected:
  /// Factors `a` and checks everything that LAPACK promises of a success.
  void expect_factored(Uplo uplo, Padded<T> a) {
    a.forbid_other_triangle(uplo);
    auto factor = a;
    const std::size_t before = uploaded();
    EXPECT_EQ(potrf<T>(uplo, factor.view()), 0);
    EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(factor.other_triangle_untouched(uplo));
    if (a.rows() > 0) {
      EXPECT_GT(uploaded(), before) << "the call did not reach the device";
    }
  }
  /// The same of a matrix whose leading minor of order position + 1 is not positive definite.
  void expect_stopped(Uplo uplo, Index n, Index position, Index padding = 3) {
    auto a = indefinite_at<T>(n, position, 1, padding);
    a.forbid_other_triangle(uplo);
    auto factor = a;
    EXPECT_EQ(potrf<T>(uplo, factor.view()), position + 1);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(factor.other_triangle_untouched(uplo));
    // The leading minor before it holds its factor.
    EXPECT_LT(partial_potrf_residual<T>(uplo, a.view(), factor.view(), position + 1), kThreshold);
  }
};
TYPED_TEST_SUITE(Potrf, Precisions);

TYPED_TEST(Potrf, RandomMatricesOfManyOrders) {
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    for (const Index nb : {Index{16}, Index{32}}) {
      this->route(algorithm, nb);
      for (const Index n : orders(nb)) {
        for (const Uplo uplo : kUplos) {
          SCOPED_TRACE(testing::Message()
                       << name_of(algorithm) << " nb=" << nb << " n=" << n << " " << char(uplo));
          this->expect_factored(uplo, positive_definite<TypeParam>(n, 1, n % 3));
        }
      }
    }
  }
}

TYPED_TEST(Potrf, SchedulesFindTheFactorOfTheTextbook) {
  using T = TypeParam;
  const double tolerance = 64 * std::sqrt(epsilon<T>());  // steps that are left out make more
  for (const Index n : {33, 100, 161}) {
    for (const Uplo uplo : kUplos) {
      const auto a = positive_definite<T>(n, 1, 3);
      auto expected = a;
      this->route(Algorithm::textbook, 12);
      EXPECT_EQ(potrf<T>(uplo, expected.view()), 0);
      for (const Algorithm algorithm : this->kAlgorithms) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo) << " " << n);
        auto factor = a;
        this->route(algorithm, 12);
        EXPECT_EQ(potrf<T>(uplo, factor.view()), 0);
        EXPECT_LT(largest_difference(factor, expected), tolerance);
      }
    }
  }
}

TYPED_TEST(Potrf, LeadingTriangleFirst) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAlgorithms) {
    auto settings = this->settings_for(algorithm, 16);
    settings.upload = dispatch::Upload::triangle;
    this->use(settings);
    for (const Uplo uplo : kUplos) {
      for (const Index n : {1, 16, 27, 32, 100, 161}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo) << " " << n);
        this->expect_factored(uplo, positive_definite<T>(n, 1, n % 3));
      }
      this->expect_factored(uplo, graded(positive_definite<T>(100, 3)));
      // Of 100 rows 48 lead: in them, at their end, below them.
      for (const Index position : {0, 20, 47, 48, 60, 99}) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " " << char(uplo) << " at " << position);
        this->expect_stopped(uplo, 100, position);
      }
    }
  }
}

TYPED_TEST(Potrf, ColumnsOfWholeCacheLines) {
  using T = TypeParam;
  for (const auto upload : {dispatch::Upload::columns, dispatch::Upload::triangle}) {
    auto settings = this->settings_for(Algorithm::tiled, 24);
    settings.upload = upload;
    this->use(settings);
    for (const Uplo uplo : kUplos) {
      this->expect_factored(uplo, positive_definite<T>(240, 1));
      this->expect_factored(uplo, positive_definite<T>(235, 1, 5));
      for (const Index position : {0, 21, 22, 23, 24, 95, 120, 125, 238, 239}) {
        SCOPED_TRACE(testing::Message() << char(uplo) << " at " << position);
        this->expect_stopped(uplo, 240, position, 16);
      }
    }
  }
}

TYPED_TEST(Potrf, ManyBlocks) {  // some of which lead
  for (const Uplo uplo : kUplos) {
    this->route(Algorithm::tiled, 8);
    this->expect_factored(uplo, positive_definite<TypeParam>(48 * 8, 1));
    this->expect_factored(uplo, positive_definite<TypeParam>(53 * 8 + 3, 2));
    this->route(Algorithm::hybrid, 8);
    this->expect_factored(uplo, positive_definite<TypeParam>(50 * 8 + 1, 3));
  }
}

TYPED_TEST(Potrf, BlocksThatAreNotWholeTilesOfAProduct) {  // by residues
  this->route(Algorithm::tiled, 18);
  for (const Uplo uplo : kUplos) {
    SCOPED_TRACE(testing::Message() << char(uplo));
    this->expect_factored(uplo, positive_definite<TypeParam>(131, 1));
  }
}

TYPED_TEST(Potrf, PageLockedMemory) {
  using T = TypeParam;
  constexpr Index n = 30 * 8 + 3;
  this->route(Algorithm::tiled, 8);
  for (const Uplo uplo : kUplos) {
    auto a = positive_definite<T>(n, 4);
    const Buffer<T> memory(this->device(), Space::host, n * n);
    const HostView<T> here(memory.data(), n, n, n);
    reference::lacpy<T>(a.view(), here, Part::all);
    EXPECT_EQ(potrf<T>(uplo, here), 0);
    EXPECT_EQ(potrf<T>(uplo, a.view()), 0);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) ASSERT_EQ(here(i, j), a(i, j)) << i << "," << j;
    }
  }
}

TYPED_TEST(Potrf, HadamardAndGradedMatrices) {
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo));
      this->expect_factored(uplo, hadamard_spd<TypeParam>(100, 2));
      this->expect_factored(uplo, graded(positive_definite<TypeParam>(100, 3)));
    }
  }
}

TYPED_TEST(Potrf, IllConditionedDiagonalBlocksLoseNothing) {
  using T = TypeParam;
  const Index n = 100;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 32);
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo));
      auto a = exact_ill_conditioned_spd<T>(n);
      ASSERT_EQ(potrf<T>(uplo, a.view()), 0);
      for (Index c = 0; c < n; ++c) {
        for (Index r = c; r < n; ++r) {
          ASSERT_EQ(uplo == Uplo::lower ? a(r, c) : a(c, r), T(r == c ? 1 : -1)) << r << "," << c;
        }
      }
    }
  }
}

TYPED_TEST(Potrf, NearlySingularMatrices) {
  using T = TypeParam;
  const auto tiny = static_cast<Real<T>>(1000 * epsilon<T>());
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 32);
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo));
      // Smooth kernel matrices, as Gaussian processes have them: condition about 1 / tiny.
      const Index n = 150;
      Padded<T> a(n, n, 1);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          const double d = static_cast<double>(i - j) / 20;
          a(i, j) = T(static_cast<Real<T>>(std::exp(-d * d)) + (i == j ? tiny : Real<T>(0)));
        }
      }
      this->expect_factored(uplo, a);
      this->expect_factored(uplo, graded(a));
    }
  }
}

TYPED_TEST(Potrf, FindsTheClosedFormFactor) {
  using T = TypeParam;
  const bool wide = sizeof(Real<T>) == sizeof(double);
  const Index n = wide ? 150 : 25;  // A is exact
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      auto a = closed_form_spd<T>(n);
      ASSERT_EQ(potrf<T>(uplo, a.view()), 0);
      double worst = 0;
      for (Index c = 0; c < n; ++c) {
        for (Index r = c; r < n; ++r) {
          const T expected = closed_form_factor<T>(r, c);
          const T got = uplo == Uplo::lower ? a(r, c) : conj(a(c, r));
          worst = std::max(worst, static_cast<double>(std::abs(got - expected)) /
                                      static_cast<double>(std::abs(expected)));
        }
      }
      EXPECT_LT(worst, 100 * static_cast<double>(n) * epsilon<T>())
          << name_of(algorithm) << " " << char(uplo);
    }
  }
}

TYPED_TEST(Potrf, IgnoresTheImaginaryPartOfTheDiagonal) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    for (const Algorithm algorithm : this->kAllAlgorithms) {
      for (const Uplo uplo : kUplos) {
        // Of 50 blocks some lead.
        for (const auto& [n, imaginary] : {std::pair<Index, Real<T>>{70, 1000},
                                           {70, real(nan<T>())},
                                           {70, real(infinity<T>())},
                                           {400, real(nan<T>())}}) {
          SCOPED_TRACE(testing::Message() << char(uplo) << " " << n << " " << imaginary);
          this->route(algorithm, n > 100 ? 8 : 16);
          const auto a = positive_definite<T>(n, 1);
          auto factor = a;
          for (Index j = 0; j < n; ++j) factor(j, j) = T(real(factor(j, j)), imaginary);
          EXPECT_EQ(potrf<T>(uplo, factor.view()), 0);
          EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold);
          for (Index j = 0; j < n; ++j) EXPECT_EQ(factor(j, j).imag(), 0) << j;
        }
      }
    }
  }
}

TYPED_TEST(Potrf, StopsAtTheFirstMinorThatIsNotPositiveDefinite) {
  const Index n = 100;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      for (const Index position : {0, 1, 15, 16, 50, 98, 99}) {
        SCOPED_TRACE(testing::Message()
                     << name_of(algorithm) << " " << char(uplo) << " at " << position);
        this->expect_stopped(uplo, n, position);
      }
    }
  }
}

/// Rows whose elements in L are too large for their diagonal long before that becomes a pivot.
TYPED_TEST(Potrf, StopsAtTheFirstOfManyRowsThatAreTooLong) {
  using T = TypeParam;
  const Index n = 150, first = 100;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo));
      const auto g = random_matrix<T>(n, n, 1);
      Padded<T> a(n, n);
      reference::gemm<T>(Op::none, Op::conj_trans, T(1), g.view(), g.view(), T(0), a.view());
      for (Index i = 0; i < n; ++i) a(i, i) = T(real(a(i, i)) + 1);
      for (Index i = first; i < n; ++i) a(i, i) *= Real<T>(0.25);
      auto factor = a;
      EXPECT_EQ(potrf<T>(uplo, factor.view()), first + 1);
      EXPECT_LT(partial_potrf_residual<T>(uplo, a.view(), factor.view(), first + 1), kThreshold);
    }
  }
}

TYPED_TEST(Potrf, NaNsAndInfinitiesEndInInfo) {
  using T = TypeParam;
  const Index n = 70;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      const std::pair<Index, Index> places[] = {{0, 0}, {40, 40}, {69, 69}, {20, 3}, {69, 33}};
      for (const auto& [i, j] : places) {
        for (const T bad : {nan<T>(), infinity<T>()}) {
          if (i == j && !is_nan(bad)) continue;  // an infinite pivot is a positive one
          SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo) << " (" << i
                                          << "," << j << ") " << real(bad));
          auto a = positive_definite<T>(n, 1);
          a(i, j) = a(j, i) = bad;
          EXPECT_EQ(potrf<T>(uplo, a.view()), i + 1);  // pivot i becomes a NaN or -Inf
        }
      }
      auto infinite = positive_definite<T>(n, 1);
      infinite(40, 40) = infinity<T>();
      const Index info = potrf<T>(uplo, infinite.view());
      EXPECT_TRUE(info == 0 || info > 40) << info;
    }
  }
}

class PotrfLookahead : public RoutedTest {
 protected:
  /// Products in a factorization of a matrix of the host's.
  int products(Index n, Index nb) {
    auto settings = settings_for(Algorithm::tiled, nb);
    settings.strict_fp64 = true;
    use(settings);
    Calls calls;
    device().set_observer(&calls);
    auto a = positive_definite<double>(n, 1, 0);
    EXPECT_EQ(potrf<double>(Uplo::lower, a.view()), 0);
    device().set_observer(nullptr);
    return calls.of("gemm");
  }
};

/// Sizes of the regions, which must be all pieces in order.
std::vector<Index> region_sizes(Uplo uplo, const std::vector<algorithms::Piece>& pieces) {
  std::vector<Index> sizes;
  Index next = 0;
  for (const Range& region : algorithms::regions_of(uplo, pieces, sizeof(double))) {
    EXPECT_EQ(region.first, next);
    next = region.last;
    sizes.push_back(region.size());
  }
  EXPECT_EQ(next, static_cast<Index>(pieces.size()));
  return sizes;
}

TEST(PotrfRegions, HaveMoreBlocksWhereTheseAreShort) {
  const auto pieces = algorithms::pieces_of(4096, 256, 0);
  EXPECT_EQ(region_sizes(Uplo::lower, pieces), std::vector<Index>(16, 1));
  EXPECT_EQ(region_sizes(Uplo::upper, pieces),
            (std::vector<Index>{1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 1, 1, 1}));
}

TEST(PotrfRegions, HaveNoMoreElementsThanTheLargestBlock) {
  struct Case {
    Index n, nb, leading, first;
  };
  for (const auto& [n, nb, leading, first] : {Case{100, 256, 0, 1},
                                              {300, 256, 0, 1},
                                              {4097, 256, 2048, 1},
                                              {7936, 256, 3840, 2},
                                              {8192, 256, 0, 2},
                                              {8192, 256, 4096, 2},
                                              {12288, 512, 8192, 1}}) {
    const auto pieces = algorithms::pieces_of(n, nb, leading);
    const auto elements = [](const algorithms::Piece& piece) {
      return piece.rows.size() * piece.columns.size();
    };
    Index largest = 0;
    for (const algorithms::Piece& piece : pieces) largest = std::max(largest, elements(piece));
    const std::vector<Index> sizes = region_sizes(Uplo::upper, pieces);
    EXPECT_EQ(sizes.front(), first) << n;
    EXPECT_EQ(sizes.back(), 1) << n;
    auto piece = pieces.begin();
    for (const Index size : sizes) {
      if (leading > 0 && piece->columns.first == leading) {
        EXPECT_EQ(size, 1) << n;  // the last triangle begins
      }
      Index sum = 0;
      for (const auto end = piece + size; piece != end; ++piece) sum += elements(*piece);
      EXPECT_LE(sum, first * largest) << n << ", before piece " << piece - pieces.begin();
    }
  }
}

TEST(PotrfRegions, GoHomeByWholeCacheLines) {
  constexpr Index n = 160, nb = 16, kLine = 8;  // doubles of a cache line
  alignas(64) static double memory[n];          // of which only addresses are asked for
  const auto pieces = algorithms::pieces_of(n, nb, 80);
  for (const Uplo uplo : kUplos) {
    const auto regions = algorithms::regions_of(uplo, pieces, sizeof(double));
    for (const Index ld : {n, n + 1}) {
      const HostView<const double> a(memory + 2, n, n, ld);
      const auto homes = algorithms::homes_of<double>({uplo}, pieces, regions, a);
      ASSERT_EQ(homes.size(), regions.size());
      for (std::size_t r = 0; r < regions.size(); ++r) {
        const algorithms::Piece piece = algorithms::united(pieces, regions[r]), &home = homes[r];
        EXPECT_EQ(home.on_diagonal(), piece.on_diagonal());
        EXPECT_EQ(home.rows.last, piece.rows.last);
        const bool ends = piece.columns.last == 80 || piece.columns.last == n;
        const bool lines = uplo == Uplo::upper && ld == n && !ends;
        EXPECT_EQ(home.columns.last, piece.columns.last - (lines ? 2 : 0));
        EXPECT_TRUE(!lines || (home.columns.last + 2) % kLine == 0);
        const bool begins = piece.columns.first == 0 || piece.columns.first == 80;
        EXPECT_EQ(home.columns.first, begins ? piece.columns.first : homes[r - 1].columns.last);
      }
    }
  }
}

// With lookahead a block gets one product by the block before it and one by those before that.
TEST_F(PotrfLookahead, BeginsBeyondASmallOrder) {
  const Index small = device().tuning().cholesky.one_queue_up_to_order;
  const Index nb = std::min(device().kernels<double>().limits().potrf_panel_width, small / 4);
  const auto blocks = static_cast<int>(small / nb);
  EXPECT_EQ(products(small, nb), blocks - 1);
  EXPECT_EQ(products(small + nb, nb), blocks + (blocks - 1));
}

/// Long sums by residues, which a real device has in large matrices only. A has the diagonal d and
/// elsewhere u u^H, so that products with it take O(n).
template <class T>
class LargePotrf : public RoutedTest {
 protected:
  static constexpr Index n = is_complex<T> ? 6600 : 11000, kBlock = is_complex<T> ? 256 : 512;
  static constexpr Index kMiddleRow = 5 * n / 11, kLateRow = 3 * n / 4;  // rows that are looked at

  LargePotrf() {
    for (Index i = 0; i < n; ++i) {
      const double size = std::sin(static_cast<double>(i * i % 9973) + 0.5);
      if constexpr (is_complex<T>) {
        u_.push_back(std::polar(size, static_cast<double>(i)));
      } else {
        u_.push_back(size);
      }
    }
  }
  T u(Index i) const { return u_[static_cast<std::size_t>(i)]; }
  T element(const std::vector<double>& d, Index i, Index j) const {
    return i == j ? T(d[static_cast<std::size_t>(i)]) : u(i) * conj(u(j));
  }
  Padded<T> matrix(const std::vector<double>& d) const {
    Padded<T> a(n, n, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) = element(d, i, j);
    }
    return a;
  }
  /// The element of L.
  static T l(Uplo uplo, const Padded<T>& factor, Index i, Index j) {
    return uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
  }
  /// The sum of the products of the first elements of two rows of L.
  static T product(Uplo uplo, const Padded<T>& factor, Index i, Index j, Index count) {
    using Long = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;
    Long sum = 0;
    for (Index k = 0; k < count; ++k) {
      sum +=
          static_cast<Long>(l(uplo, factor, i, k)) * static_cast<Long>(conj(l(uplo, factor, j, k)));
    }
    return static_cast<T>(sum);
  }
  /// max |A - L L^H|(i, :) / sqrt(a(i, i) a(:, :)) for a row of the leading minor of order m.
  double row_error(Uplo uplo, const std::vector<double>& d, const Padded<T>& factor, Index m,
                   Index i) const {
    double worst = 0;
    for (Index j = 0; j < m; j += 97) {
      const T difference = product(uplo, factor, i, j, std::min(i, j) + 1) - element(d, i, j);
      const double scale = std::sqrt(real(element(d, i, i)) * real(element(d, j, j)));
      const double error = std::abs(difference) / scale;
      worst = std::max(worst, std::isnan(error) ? HUGE_VAL : error);
    }
    return worst;
  }

 private:
  std::vector<T> u_;
};
TYPED_TEST_SUITE(LargePotrf, DoublePrecisions);

TYPED_TEST(LargePotrf, ByResidues) {
  using T = TypeParam;
  if (this->device().emulated()) {
    GTEST_SKIP() << "the emulated device has residues in small ones, too";
  }
  Calls calls;
  this->device().set_observer(&calls);
  const Index n = this->n;
  const std::vector<double> d(static_cast<std::size_t>(n), 1.5);  // the norm of u u^H is n / 2
  for (const Uplo uplo : kUplos) {
    this->route(Algorithm::tiled, this->kBlock);
    const Padded<T> a = this->matrix(d);
    auto factor = a;
    ASSERT_EQ(potrf<T>(uplo, factor.view()), 0);
    for (const Index i : {Index{1}, this->kMiddleRow, this->kLateRow, n - 1}) {
      EXPECT_LT(this->row_error(uplo, d, factor, n, i), 50 * epsilon<double>()) << i;
    }
    EXPECT_TRUE(factor.padding_untouched());
  }
  EXPECT_GT(calls.of("residue_gemm"), 10);
}

TYPED_TEST(LargePotrf, ThatAreNotPositiveDefinite) {
  using T = TypeParam;
  if (this->device().emulated()) {
    GTEST_SKIP() << "the emulated device has residues in small ones, too";
  }
  const Index n = this->n;
  std::vector<double> d(static_cast<std::size_t>(n), 1.5);
  const Index first = 9 * n / 11;  // rows from there on are too long for their diagonal early
  for (Index i = first; i < n; ++i) {
    d[static_cast<std::size_t>(i)] = 0.3 * std::norm(this->u(i));
  }
  for (const Uplo uplo : kUplos) {
    this->route(Algorithm::tiled, this->kBlock);
    auto factor = this->matrix(d);
    ASSERT_EQ(potrf<T>(uplo, factor.view()), first + 1);
    for (const Index i : {this->kMiddleRow, this->kLateRow, first - 1}) {
      EXPECT_LT(this->row_error(uplo, d, factor, first, i), 50 * epsilon<double>()) << i;
    }
    // LAPACK leaves the row of the pivot that fails.
    double worst = 0;
    for (Index j = 0; j < first; j += 97) {
      const T sum = this->product(uplo, factor, first, j, j + 1);
      worst = std::max(worst, std::abs(sum - this->element(d, first, j)));
    }
    EXPECT_LT(worst, 100 * epsilon<double>());
  }
}

TYPED_TEST(Potrf, NaNsEndInInfoOnTheCpu) {
  using T = TypeParam;
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  for (const Uplo uplo : kUplos) {
    for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {40, 40}, {69, 69}, {20, 3}}) {
      SCOPED_TRACE(testing::Message() << char(uplo) << " (" << i << "," << j << ")");
      auto a = positive_definite<T>(70, 1);
      a(i, j) = a(j, i) = nan<T>();
      auto b = random_matrix<T>(70, 2, 2);
      const auto before = b, same_a = a;
      EXPECT_EQ(potrf<T>(uplo, a.view()), i + 1);
      a = same_a;
      EXPECT_EQ(posv<T>(uplo, a.view(), b.view()), i + 1);
      EXPECT_TRUE(same(b, before));
    }
  }
}

TYPED_TEST(Potrf, ANaNBeforeAPivotThatIsNotPositiveEndsInInfo) {
  using T = TypeParam;
  const Index n = 70;
  for (const bool on_cpu : {true, false}) {
    dispatch::Settings settings = this->settings_for(Algorithm::hybrid, 128);
    if (on_cpu) settings.device = dispatch::DeviceChoice::off;
    on_cpu ? dispatch::Context::instance().reset(settings, dispatch::builtin_profile())
           : this->use(settings);
    for (const Uplo uplo : kUplos) {
      for (const Index position : {0, 20, 68}) {
        SCOPED_TRACE(testing::Message() << on_cpu << " " << char(uplo) << " " << position);
        Padded<T> a(n, n, 1);
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) a(i, j) = T(i == j ? 1 : 0);
        }
        a(position, position) = nan<T>();
        a(n - 1, n - 1) = T(-1);
        EXPECT_EQ(potrf<T>(uplo, a.view()), position + 1);
      }
    }
  }
}

TYPED_TEST(Potrf, TwoThreadsMayCallConcurrently) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    EXPECT_LT(worst_in_two_threads([](std::size_t t, std::uint64_t round) {
                const auto a = positive_definite<T>(90 + static_cast<Index>(t), round);
                auto factor = a;
                const Index info = potrf<T>(kUplos[t], factor.view());
                return info == 0 ? potrf_residual<T>(kUplos[t], a.view(), factor.view()) : 1e9;
              }),
              kThreshold);
  }
}

}  // namespace
}  // namespace overlapack
