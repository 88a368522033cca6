// update_panel, eliminate, update_bases, find_not_finite.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/contract/contract.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

template <class T>
class UpdateContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;

  /// The first n columns of a factor with m rows, from the diagonal down, as they are stored.
  static Padded<T> stored(Uplo uplo, const Padded<T>& l) {
    const bool lower = uplo == Uplo::lower;
    Padded<T> a(lower ? l.rows() : l.cols(), lower ? l.cols() : l.rows(), 3);
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) {
        const Index row = lower ? i : j, column = lower ? j : i;
        a(i, j) = row < column ? sentinel<T>() : lower ? l(row, column) : conj(l(row, column));
      }
    }
    return a;
  }
  static Padded<T> random_columns(Index m, Index n) {
    auto l = random_matrix<T>(m, n, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        if (i < j) l(i, j) = T(0);
        l(i, j) *= Real<T>(0.2);  // so that the inverse stays small
        if (i == j) l(i, j) = T(Real<T>(j % 5 == 3 ? -3 : 2));
      }
    }
    return l;
  }

  /// L L^H + V S V^H.
  static Padded<W> product(const Padded<T>& l, const Padded<T>& v, Index plus) {
    Padded<W> a(l.rows(), l.rows());
    const auto wide_l = widen<T>(l.view()), wide_v = widen<T>(v.view());
    reference::gemm<W>(Op::none, Op::conj_trans, W(1), wide_l.view(), wide_l.view(), W(0),
                       a.view());
    const Index minus = v.cols() - plus, m = l.rows();
    const HostView<const W> added = wide_v.view().block(0, 0, m, plus);
    const HostView<const W> subtracted = wide_v.view().block(0, plus, m, minus);
    reference::gemm<W>(Op::none, Op::conj_trans, W(1), added, added, W(1), a.view());
    reference::gemm<W>(Op::none, Op::conj_trans, W(-1), subtracted, subtracted, W(1), a.view());
    return a;
  }
};
TYPED_TEST_SUITE(UpdateContract, Precisions);

TYPED_TEST(UpdateContract, UpdatePanelKeepsTheProduct) {
  using T = TypeParam;
  const Index width = this->kernels().limits().update_panel_width;
  for (const Index n : {Index{1}, Index{7}, width / 2 + 1, width}) {
    for (const Index below : {Index{0}, Index{5}, Index{150}}) {
      for (const auto& [k, plus] :
           {std::pair<Index, Index>{1, 1}, {1, 0}, {3, 3}, {16, 9}, {20, 0}, {70, 70}}) {
        for (const Uplo uplo : kUplos) {
          for (const bool in_place : {true, false}) {
            SCOPED_TRACE(testing::Message() << n << " and " << below << " " << char(uplo)
                                            << " k=" << k << " plus " << plus << " " << in_place);
            const Index m = n + below;
            const auto l = this->random_columns(m, n);
            auto v = random_matrix<T>(m, k, 2, 1);
            for (Index j = plus; j < k; ++j) {
              for (Index i = 0; i < m; ++i) v(i, j) *= Real<T>(0.05);
            }
            const auto a = this->stored(uplo, l);
            auto given = a;  // what stands in the imaginary part of the diagonal is ignored
            if (n > 1) given(1, 1) += scalar<T>(0, 1000);
            const auto from = this->upload(given), vectors = this->upload(v);
            const auto to = this->upload(Padded<T>(a.rows(), a.cols(), 3));
            const auto apart = this->upload(Padded<T>(below, k, 2));
            const auto info = this->upload_index(0);
            const DeviceView<T> below_v = vectors.view.block(n, 0, below, k);
            this->queue().enqueue(UpdatePanel<T>{uplo, from, in_place ? from : to, plus, vectors,
                                                 in_place ? below_v : apart.view, info, 50});
            const auto factor = this->download(in_place ? from : to);
            const auto rest = this->download(in_place ? vectors : apart);
            EXPECT_EQ(this->download_index(info), 0);
            EXPECT_TRUE(factor.padding_untouched());
            EXPECT_TRUE(rest.padding_untouched());
            Padded<T> new_l(m, n), new_v(m, k);
            for (Index j = 0; j < n; ++j) {
              for (Index i = 0; i < m; ++i) {
                const T stored = uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
                const T untouched = in_place ? sentinel<T>() : Padded<T>(1, 1)(0, 0);
                if (i < j && in_place) {
                  EXPECT_EQ(uplo == Uplo::lower ? stored : conj(stored), untouched);
                }
                new_l(i, j) = i < j ? T(0) : stored;
              }
              EXPECT_EQ(real(new_l(j, j)) < 0, j % 5 == 3);
            }
            for (Index j = 0; j < k; ++j) {
              for (Index i = 0; i < m; ++i) {
                new_v(i, j) = i < n ? T(0) : rest(in_place ? i : i - n, j);
              }
            }
            auto expected = this->product(l, v, plus);
            const auto got = this->product(new_l, new_v, plus);
            const double size = norm1(expected);
            for (Index j = 0; j < m; ++j) {
              for (Index i = 0; i < m; ++i) expected(i, j) -= got(i, j);
            }
            EXPECT_LT(scaled(norm1(expected), static_cast<double>(n + k) * size, epsilon<T>()),
                      kThreshold);
          }
        }
      }
    }
  }
}

TYPED_TEST(UpdateContract, UpdatePanelFindsTheFirstMinorThatIsNotDefinite) {
  using T = TypeParam;
  const Index n = this->kernels().limits().update_panel_width, m = n + 20;
  for (const Index k : {1, 3, 40}) {
    for (const Index position : {Index{0}, n / 2, n - 1}) {
      for (const Index info_before : {0, 4}) {
        for (const Uplo uplo : kUplos) {
          const auto l = this->random_columns(m, n);
          Padded<T> v(m, k);
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < m; ++i) {
              // Far behind, the first vector is too long as well.
              v(i, j) = T(i < position ? 0 : j == 0 && i > position ? 9 : j == k - 1 ? 3 : 0);
            }
          }
          const auto a = this->upload(this->stored(uplo, l)), vectors = this->upload(v);
          const auto info = this->upload_index(info_before);
          this->queue().enqueue(
              UpdatePanel<T>{uplo, a, a, 0, vectors, vectors.view.block(n, 0, m - n, k), info, 50});
          EXPECT_EQ(this->download_index(info), info_before != 0 ? 4 : 50 + position + 1)
              << "k=" << k << " at " << position << " " << char(uplo);
        }
      }
    }
  }
}

TYPED_TEST(UpdateContract, UpdatePanelTellsItsRotations) {
  using T = TypeParam;
  const Index n = this->kernels().limits().update_panel_width, m = n + 30;
  for (const Uplo uplo : kUplos) {
    const auto l = this->random_columns(m, n);
    auto v = random_matrix<T>(m, 1, 2);
    v(n / 2, 0) = T(0);
    const auto a = this->upload(this->stored(uplo, l)), vectors = this->upload(v);
    const auto info = this->upload_index(0);
    const auto cosines = this->upload(Padded<Real<T>>(n, 1));
    const auto sines = this->upload(Padded<T>(n, 1));
    this->queue().enqueue(UpdatePanel<T>{uplo, a, a, 1, vectors, vectors.view.block(n, 0, m - n, 1),
                                         info, 0, cosines, sines});
    const auto factor = this->download(a), rest = this->download(vectors);
    const auto c = this->download(cosines);
    const auto s = this->download(sines);
    for (Index i = 0; i < m; ++i) {
      T x = v(i, 0);
      for (Index j = 0; j < std::min(n, i + 1); ++j) {
        const T now = uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
        EXPECT_GE(c(j, 0), 0);
        EXPECT_LT(std::abs(c(j, 0) * l(i, j) + conj(s(j, 0)) * x - now), 100 * epsilon<T>());
        x = c(j, 0) * x - s(j, 0) * l(i, j);
      }
      const T expected = i < n ? T(0) : rest(i, 0);
      EXPECT_LT(std::abs(x - expected), 1000 * epsilon<T>()) << i;
    }
  }
}

/// A factor L, a matrix V, and what eliminate() makes of them.
template <class T>
class EliminationContract : public UpdateContract<T> {
 protected:
  using W = Wide<T>;
  struct Result {
    Uploaded<T> factor, x, states;
  };

  /// As random_columns(), of any order with an inverse that is small.
  static Padded<T> well_conditioned_columns(Index m, Index n) {
    auto l = UpdateContract<T>::random_columns(m, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j + 1; i < m; ++i) l(i, j) /= std::sqrt(static_cast<Real<T>>(n));
    }
    return l;
  }

  Index width() { return this->kernels().limits().update_panel_width; }
  Index order(Index n) {
    return std::min({n, width(), this->kernels().limits().potrf_panel_width});
  }

  Result eliminate(Uplo uplo, const Padded<T>& l, const Padded<T>& v) {
    const Index m = l.rows(), n = l.cols(), k = v.cols(), size = order(n);
    const Index blocks = (n + size - 1) / size, panels = (n + width() - 1) / width();
    Result result{this->upload(this->stored(uplo, l)), this->upload(v),
                  this->upload(Padded<T>(m, panels * k, 2))};
    const auto inverses = this->upload(Padded<T>(size, n, 1));
    const auto conditions = this->upload(Padded<Real<T>>(blocks, 1));
    const Index count = this->kernels().factor_progress(blocks, k);
    const auto progress = this->upload(Padded<Index>(count, 1));
    this->queue().enqueue(
        InvertBlocks<T>{uplo, result.factor.view.block(0, 0, n, n), inverses, conditions});
    this->queue().enqueue(
        Eliminate<T>{uplo, result.factor, inverses, result.x, width(), result.states, progress});
    return result;
  }

  /// The bases of V's states, and whether they are unfit.
  std::pair<Uploaded<Double<T>>, Index> bases(int sign, DeviceView<const T> w, double limit) {
    const Index k = w.cols, panels = (w.rows + width() - 1) / width();
    const auto grams = this->upload(Padded<Double<T>>(k, panels * k, 1));
    auto bases = this->upload(Padded<Double<T>>(k, (panels + 1) * k, 1));
    const auto unfit = this->upload_index(0);
    // In two steps, as for a factor that arrives by and by.
    const Index first = std::min(w.rows, panels / 2 * width());
    this->queue().enqueue(
        UpdateBases<T>{sign, w.block(0, 0, first, k), width(), 0, limit, grams, bases, unfit});
    this->queue().enqueue(UpdateBases<T>{sign, w.block(first, 0, w.rows - first, k), width(),
                                         first / width(), limit, grams, bases, unfit});
    return {std::move(bases), this->download_index(unfit)};
  }
};
TYPED_TEST_SUITE(EliminationContract, Precisions);

TYPED_TEST(EliminationContract, EliminateLeavesEveryState) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index width = this->width();
  for (const auto& [n, below] : {std::pair<Index, Index>{1, 0},
                                 {5, 0},
                                 {width, 0},
                                 {width, 7},
                                 {2 * width, 300},
                                 {3 * width + 5, 0}}) {
    for (const Index k : {1, 3, 8, 9, 16, 17, 32}) {
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << n << " and " << below << " k=" << k << char(uplo));
        const Index m = n + below;
        const auto l = this->well_conditioned_columns(m, n);
        const auto v = random_matrix<T>(m, k, 2, 3);
        const auto result = this->eliminate(uplo, l, v);
        const auto x = this->download(result.x), states = this->download(result.states);
        EXPECT_TRUE(x.padding_untouched());
        EXPECT_TRUE(states.padding_untouched());
        const auto wide_l = widen<T>(l.view());
        auto expected = widen<T>(v.view());
        for (Index first = 0; first < n; first += width) {
          const Index size = std::min(width, n - first), last = first + size, p = first / width;
          for (Index j = 0; j < k; ++j) {
            for (Index i = first; i < m; ++i) {
              EXPECT_LT(std::abs(W(states(i, p * k + j)) - expected(i, j)), 200 * epsilon<T>());
            }
          }
          const HostView<W> rows = expected.view().block(first, 0, size, k);
          reference::trsm<W>(Side::left, Uplo::lower, Op::none, Diag::non_unit, W(1),
                             wide_l.view().block(first, first, size, size), rows);
          reference::gemm<W>(
              Op::none, Op::none, W(-1), wide_l.view().block(last, first, m - last, size),
              HostView<const W>(rows), W(1), expected.view().block(last, 0, m - last, k));
        }
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < m; ++i) {
            EXPECT_LT(std::abs(W(x(i, j)) - expected(i, j)), 200 * epsilon<T>()) << i << "," << j;
          }
        }
      }
    }
  }
}

TYPED_TEST(EliminationContract, BasesAreRootsOfWhatWoodburySays) {
  using T = TypeParam;
  using D = Double<T>;
  const Index width = this->width();
  for (const Index n : {Index{1}, width, 3 * width + 2}) {
    for (const Index k : {1, 2, 7, 8}) {
      for (const int sign : {1, -1}) {
        SCOPED_TRACE(testing::Message() << n << " k=" << k << " sign " << sign);
        auto w = random_matrix<T>(n, k, 2, 1);
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < n; ++i) {
            w(i, j) *= Real<T>(0.3 / std::sqrt(static_cast<double>(n)));
          }
        }
        const auto there = this->upload(w);
        const auto [bases_there, unfit] = this->bases(sign, there, 100);
        EXPECT_EQ(unfit, 0);
        const auto bases = this->download(bases_there);
        EXPECT_TRUE(bases.padding_untouched());
        for (Index p = 0; p <= (n + width - 1) / width; ++p) {
          const Index rows = std::min(p * width, n);
          Padded<D> t(k, k), product(k, k);
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < k; ++i) {
              t(i, j) = D(i == j ? 1 : 0);
              for (Index r = 0; r < rows; ++r) {
                t(i, j) += static_cast<double>(sign) * conj(D(w(r, i))) * D(w(r, j));
              }
              if (i > j) {
                EXPECT_EQ(bases(i, p * k + j), D(0));
              }
            }
          }
          const auto base = bases.view().block(0, p * k, k, k);
          Padded<D> half(k, k);
          reference::gemm<D>(Op::none, Op::none, D(1), t.view(), base, D(0), half.view());
          reference::gemm<D>(Op::conj_trans, Op::none, D(1), base, half.view(), D(0),
                             product.view());
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < k; ++i) {
              EXPECT_LT(std::abs(product(i, j) - D(i == j ? 1 : 0)), 1e-13);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(EliminationContract, BasesThatAreUnfit) {
  using T = TypeParam;
  const Index n = this->width() + 3;
  for (const Index k : {1, 4}) {
    Padded<T> w(n, k);
    for (Index j = 0; j < k; ++j) std::fill_n(&w(0, j), n, T(0));
    const auto unfit = [&](int sign, T x, double limit) {
      for (const Index i : {Index{0}, n - 1}) {
        auto with = w;
        with(i, k - 1) = x;
        const auto there = this->upload(with);
        if (this->bases(sign, there, limit).second == 0) return false;
      }
      return true;
    };
    EXPECT_FALSE(unfit(1, T(3), 100));
    EXPECT_TRUE(unfit(1, T(12), 100));  // one number alone is large, if not ill conditioned
    EXPECT_FALSE(unfit(-1, T(Real<T>(0.9)), 100));
    EXPECT_TRUE(unfit(-1, T(Real<T>(0.999)), 100));
    EXPECT_TRUE(unfit(-1, T(2), 100));
    EXPECT_TRUE(unfit(1, nan<T>(), 100));
    EXPECT_TRUE(unfit(1, infinity<T>(), 100));
  }
}

TYPED_TEST(EliminationContract, IndependentPanelsKeepTheProduct) {
  using T = TypeParam;
  const Index width = this->width();
  for (const Index n : {Index{1}, Index{7}, width, width + 1, 3 * width - 5}) {
    for (const Index k : {1, 3, 5, 16, 32}) {
      if (k > UpdatePanels<T>::kMaxVectors) continue;
      for (const Uplo uplo : kUplos) {
        for (const int sign : {1, -1}) {
          SCOPED_TRACE(testing::Message() << n << " k=" << k << char(uplo) << " sign " << sign);
          const auto l = this->well_conditioned_columns(n, n);
          auto v = random_matrix<T>(n, k, 2, 1);
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < n; ++i) {
              v(i, j) *= Real<T>(0.5 / std::sqrt(static_cast<double>(k * n)));
            }
          }
          const auto result = this->eliminate(uplo, l, v);
          const auto [bases, unfit] = this->bases(sign, result.x.view.block(0, 0, n, k), 1000);
          ASSERT_EQ(unfit, 0);
          const auto reflectors =
              this->upload(Padded<Double<T>>(UpdatePanels<T>::kReflector * n, 1));
          const auto info = this->upload_index(0);
          const bool rotates = k == 1 && sign > 0;
          const auto cosines = this->upload(Padded<Real<T>>(rotates ? n : 0, 1));
          const auto sines = this->upload(Padded<T>(rotates ? n : 0, 1));
          this->queue().enqueue(UpdatePanels<T>{uplo, sign, result.factor, result.states, k, bases,
                                                reflectors, info,
                                                rotates ? cosines.view : DeviceView<Real<T>>(),
                                                rotates ? sines.view : DeviceView<T>()});
          EXPECT_EQ(this->download_index(info), 0);
          const auto factor = this->download(result.factor);
          EXPECT_TRUE(factor.padding_untouched());
          Padded<T> new_l(n, n);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              const T stored = uplo == Uplo::lower ? factor(i, j) : factor(j, i);
              if (i < j) {
                EXPECT_EQ(stored, sentinel<T>());
              }
              new_l(i, j) = i < j ? T(0) : uplo == Uplo::lower ? stored : conj(stored);
            }
            EXPECT_EQ(real(new_l(j, j)) < 0, j % 5 == 3);
          }
          auto expected = this->product(l, v, sign > 0 ? k : 0);
          const auto got = this->product(new_l, Padded<T>(n, 0), 0);
          const double size = norm1(expected);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) expected(i, j) -= got(i, j);
          }
          EXPECT_LT(scaled(norm1(expected), static_cast<double>(n + k) * size, epsilon<T>()),
                    kThreshold);
          if (!rotates) continue;
          const auto c = this->download(cosines);
          const auto s = this->download(sines);
          for (Index i = 0; i < n; ++i) {
            T x = v(i, 0);
            for (Index j = 0; j <= i; ++j) {
              EXPECT_GE(c(j, 0), 0);
              const T turned = c(j, 0) * l(i, j) + conj(s(j, 0)) * x;
              EXPECT_LT(std::abs(turned - new_l(i, j)), 1000 * epsilon<T>()) << i << "," << j;
              x = c(j, 0) * x - s(j, 0) * l(i, j);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(UpdateContract, FindNotFinite) {
  using T = TypeParam;
  const Index m = 300, n = 70;
  const auto finite = random_matrix<T>(m, n, 1, 2);
  const auto find = [&](Part part, const Padded<T>& a) {
    const auto there = this->upload(a);
    const auto found = this->upload_index(0);
    this->queue().enqueue(FindNotFinite<T>{part, there, found});
    return this->download_index(found);
  };
  for (const Part part : {Part::all, Part::lower, Part::upper}) {
    auto large = finite;
    large(50, 50) = T(std::numeric_limits<Real<T>>::max());
    EXPECT_EQ(find(part, large), 0);
    for (const T bad : {nan<T>(), infinity<T>(), -infinity<T>()}) {
      for (const auto& [i, j] :
           {std::pair<Index, Index>{0, 0}, {299, 69}, {40, 41}, {41, 40}, {69, 69}}) {
        auto a = finite;
        a(i, j) = bad;
        const bool counts =
            part == Part::all || (part == Part::lower && i >= j) || (part == Part::upper && i <= j);
        EXPECT_EQ(find(part, a), counts ? 1 : 0) << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
