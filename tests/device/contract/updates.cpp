// update_panel, eliminate, update_bases, find_not_finite.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// So many vectors, of which the first `plus` are added and the others subtracted.
struct Vectors {
  Index count, plus;
};

/// A panel of n columns with `below` more rows.
struct PanelCase {
  Index n, below;
  Vectors vectors;
  Uplo uplo;
  bool in_place;

  std::string name() const {
    return (testing::Message() << n << " and " << below << " below, " << vectors.count
                               << " vectors, " << vectors.plus << " added, " << char(uplo)
                               << (in_place ? ", in place" : ""))
        .GetString();
  }
};

/// Vectors whose subtraction leaves no definite matrix from a place on.
struct IndefiniteCase {
  Index vectors;
  Where where;
  Index info_before;
  Uplo uplo;

  std::string name() const {
    return (testing::Message() << vectors << " vectors, place " << int(where) << ", info was "
                               << info_before << ", " << char(uplo))
        .GetString();
  }
};

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

  /// What stored() was made from, or L' from what the device has made of it.
  static Padded<T> unstored(Uplo uplo, const Padded<T>& a) {
    const bool lower = uplo == Uplo::lower;
    Padded<T> l(lower ? a.rows() : a.cols(), lower ? a.cols() : a.rows());
    for (Index j = 0; j < l.cols(); ++j) {
      for (Index i = 0; i < l.rows(); ++i) {
        l(i, j) = i < j ? T(0) : lower ? a(i, j) : conj(a(j, i));
      }
    }
    return l;
  }
  /// Diagonal elements have the signs that random_columns() gave them.
  static void expect_signs(const Padded<T>& l) {
    for (Index j = 0; j < l.cols(); ++j) EXPECT_EQ(real(l(j, j)) < 0, j % 5 == 3) << j;
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
  /// Two such products are the same, but for rounding errors of so many terms.
  static void expect_same(Padded<W> x, const Padded<W>& y, Index terms) {
    const double size = norm1(x);
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < x.rows(); ++i) x(i, j) -= y(i, j);
    }
    EXPECT_LT(scaled(norm1(x), static_cast<double>(terms) * size, epsilon<T>()), kThreshold);
  }

  /// L and V = v, a vector, behind the rotations of all columns.
  struct Rotated {
    Padded<T> l, v;
  };
  static Rotated rotate(Padded<T> l, Padded<T> v, const Padded<Real<T>>& c, const Padded<T>& s) {
    for (Index j = 0; j < l.cols(); ++j) {
      EXPECT_GE(c(j, 0), 0);
      for (Index i = j; i < l.rows(); ++i) {
        const T of_l = l(i, j), of_v = v(i, 0);
        l(i, j) = c(j, 0) * of_l + conj(s(j, 0)) * of_v;
        v(i, 0) = c(j, 0) * of_v - s(j, 0) * of_l;
      }
    }
    return {std::move(l), std::move(v)};
  }

  void keeps_the_product(const PanelCase& c) {
    const auto [k, plus] = c.vectors;
    const Index n = c.n, m = n + c.below;
    const auto l = random_columns(m, n);
    auto v = random_matrix<T>(m, k, 2, 1);
    for (Index j = plus; j < k; ++j) {
      for (Index i = 0; i < m; ++i) v(i, j) *= Real<T>(0.05);
    }
    auto given = stored(c.uplo, l);
    if (n > 1) given(1, 1) += scalar<T>(0, 1000);  // an imaginary part there is ignored
    const auto from = this->upload(given), vectors = this->upload(v);
    const auto to = this->upload(Padded<T>(given.rows(), given.cols(), 3));
    const auto apart = this->upload(Padded<T>(c.below, k, 2));
    const auto info = this->upload_index(0);
    const DeviceView<T> below_v = vectors.view.block(n, 0, c.below, k);
    this->queue().enqueue(UpdatePanel<T>{c.uplo, from, c.in_place ? from : to, plus, vectors,
                                         c.in_place ? below_v : apart.view, info, 50});
    const auto factor = this->download(c.in_place ? from : to);
    const auto rest = this->download(c.in_place ? vectors : apart);
    EXPECT_EQ(this->download_index(info), 0);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(rest.padding_untouched());
    EXPECT_TRUE(!c.in_place || factor.other_triangle_untouched(c.uplo));
    const auto new_l = unstored(c.uplo, factor);
    expect_signs(new_l);
    Padded<T> new_v(m, k);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < m; ++i) new_v(i, j) = i < n ? T(0) : rest(c.in_place ? i : i - n, j);
    }
    expect_same(product(l, v, plus), product(new_l, new_v, plus), n + k);
  }

  void finds_the_minor(const IndefiniteCase& c) {
    const Index n = this->kernels().limits().update_panel_width, m = n + 20, k = c.vectors;
    const Index first = position(c.where, n);
    Padded<T> v(m, k);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < m; ++i) {
        // Far behind, the first vector is too long as well.
        v(i, j) = T(i < first ? 0 : j == 0 && i > first ? 9 : j == k - 1 ? 3 : 0);
      }
    }
    const auto a = this->upload(stored(c.uplo, random_columns(m, n))), vectors = this->upload(v);
    const auto info = this->upload_index(c.info_before);
    this->queue().enqueue(
        UpdatePanel<T>{c.uplo, a, a, 0, vectors, vectors.view.block(n, 0, m - n, k), info, 50});
    EXPECT_EQ(this->download_index(info), c.info_before != 0 ? c.info_before : 50 + first + 1);
  }
};
TYPED_TEST_SUITE(UpdateContract, Precisions);

TYPED_TEST(UpdateContract, UpdatePanelKeepsTheProduct) {
  const Index width = this->kernels().limits().update_panel_width;
  const Index columns[] = {1, 7, width / 2 + 1, width};
  constexpr Index kBelow[] = {0, 5, 150};
  constexpr Vectors kVectors[] = {{1, 1}, {1, 0}, {3, 3}, {16, 9}, {20, 0}, {70, 70}};
  for (const auto& c : cross<PanelCase>(columns, kBelow, kVectors, kUplos, kBools)) {
    SCOPED_TRACE(c.name());
    this->keeps_the_product(c);
  }
}

TYPED_TEST(UpdateContract, UpdatePanelFindsTheFirstMinorThatIsNotDefinite) {
  constexpr Index kVectors[] = {1, 3, 40}, kInfoBefore[] = {0, 4};
  for (const auto& c : cross<IndefiniteCase>(kVectors, kWhere, kInfoBefore, kUplos)) {
    SCOPED_TRACE(c.name());
    this->finds_the_minor(c);
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
    const auto new_l = this->unstored(uplo, this->download(a));
    const auto rest = this->download(vectors);
    const auto rotated = this->rotate(l, v, this->download(cosines), this->download(sines));
    EXPECT_LT(max_difference(rotated.l, widen<T>(new_l.view())), 100 * epsilon<T>());
    EXPECT_TRUE(all_elements({m, 1}, [&](Index i, Index) {
      const T expected = i < n ? T(0) : rest(i, 0);
      return std::abs(rotated.v(i, 0) - expected) < 1000 * epsilon<T>();
    }));
  }
}

/// A factor of n columns with `below` more rows, and k vectors.
struct EliminationCase {
  struct Factor {
    Index n, below;
  } factor;
  Index k;
  Uplo uplo;

  std::string name() const {
    return (testing::Message() << factor.n << " and " << factor.below << " below, " << k
                               << " vectors, " << char(uplo))
        .GetString();
  }
};

/// k vectors of n numbers, which are added or subtracted.
struct BasesCase {
  Index n, k;
  int sign;

  std::string name() const {
    return (testing::Message() << k << " vectors of " << n << (sign > 0 ? " added" : " subtracted"))
        .GetString();
  }
};

constexpr int kSigns[] = {1, -1};

/// Likewise, with a factor.
struct PanelsCase {
  BasesCase vectors;
  Uplo uplo;

  std::string name() const { return vectors.name() + ", " + char(uplo); }
};

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

  /// So small that I + S V^H V has a root for either sign.
  static Padded<T> small_vectors(const BasesCase& c, double size) {
    auto v = random_matrix<T>(c.n, c.k, 2, 1);
    for (Index j = 0; j < c.k; ++j) {
      for (Index i = 0; i < c.n; ++i) v(i, j) *= Real<T>(size);
    }
    return v;
  }

  void leaves_every_state(const EliminationCase& c) {
    const Index n = c.factor.n, m = n + c.factor.below, k = c.k;
    const auto l = well_conditioned_columns(m, n);
    const auto v = random_matrix<T>(m, k, 2, 3);
    const auto result = eliminate(c.uplo, l, v);
    const auto x = this->download(result.x), states = this->download(result.states);
    EXPECT_TRUE(x.padding_untouched());
    EXPECT_TRUE(states.padding_untouched());
    const auto wide_l = widen<T>(l.view());
    auto expected = widen<T>(v.view());
    for (Index first = 0; first < n; first += width()) {
      const Index size = std::min(width(), n - first), last = first + size, p = first / width();
      EXPECT_TRUE(all_elements({m - first, k},
                               [&](Index i, Index j) {
                                 const W state(states(first + i, p * k + j));
                                 return std::abs(state - expected(first + i, j)) <
                                        200 * epsilon<T>();
                               }))
          << "before column " << first;
      const HostView<W> rows = expected.view().block(first, 0, size, k);
      reference::trsm<W>(Side::left, Uplo::lower, Op::none, Diag::non_unit, W(1),
                         wide_l.view().block(first, first, size, size), rows);
      reference::gemm<W>(Op::none, Op::none, W(-1),
                         wide_l.view().block(last, first, m - last, size), HostView<const W>(rows),
                         W(1), expected.view().block(last, 0, m - last, k));
    }
    EXPECT_LT(max_difference(x, expected), 200 * epsilon<T>());
  }

  /// B^H (I + S W^H W) B = I with an upper triangle B, for a base of these rows W.
  static void expect_base(int sign, HostView<const T> w, HostView<const W> base) {
    const Index k = w.cols;
    const auto wide_w = widen<T>(w);
    Padded<W> t(k, k), half(k, k), product(k, k);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < k; ++i) t(i, j) = W(i == j);
    }
    reference::gemm<W>(Op::conj_trans, Op::none, W(sign), wide_w.view(), wide_w.view(), W(1),
                       t.view());
    reference::gemm<W>(Op::none, Op::none, W(1), t.view(), base, W(0), half.view());
    reference::gemm<W>(Op::conj_trans, Op::none, W(1), base, half.view(), W(0), product.view());
    EXPECT_TRUE(all_elements({k, k}, [&](Index i, Index j) {
      return std::abs(product(i, j) - W(i == j)) < 1e-13 && (i <= j || base(i, j) == W(0));
    }));
  }

  void bases_are_roots(const BasesCase& c) {
    const auto w = small_vectors(c, 0.3 / std::sqrt(static_cast<double>(c.n)));
    const auto there = this->upload(w);
    const auto [bases_there, unfit] = bases(c.sign, there, 100);
    EXPECT_EQ(unfit, 0);
    const auto got = this->download(bases_there);
    EXPECT_TRUE(got.padding_untouched());
    for (Index p = 0; p <= (c.n + width() - 1) / width(); ++p) {
      SCOPED_TRACE(testing::Message() << "panel " << p);
      expect_base(c.sign, w.view().block(0, 0, std::min(p * width(), c.n), c.k),
                  got.view().block(0, p * c.k, c.k, c.k));
    }
  }

  void panels_keep_the_product(const PanelsCase& c) {
    const auto [n, k, sign] = c.vectors;
    const auto l = well_conditioned_columns(n, n);
    const auto v = small_vectors(c.vectors, 0.5 / std::sqrt(static_cast<double>(k * n)));
    const auto result = eliminate(c.uplo, l, v);
    const auto [bases_there, unfit] = bases(sign, result.x.view.block(0, 0, n, k), 1000);
    ASSERT_EQ(unfit, 0);
    const auto reflectors = this->upload(Padded<Double<T>>(UpdatePanels<T>::kReflector * n, 1));
    const auto info = this->upload_index(0);
    const bool rotates = k == 1 && sign > 0;
    const auto cosines = this->upload(Padded<Real<T>>(rotates ? n : 0, 1));
    const auto sines = this->upload(Padded<T>(rotates ? n : 0, 1));
    this->queue().enqueue(UpdatePanels<T>{
        c.uplo, sign, result.factor, result.states, k, bases_there, reflectors, info,
        rotates ? cosines.view : DeviceView<Real<T>>(), rotates ? sines.view : DeviceView<T>()});
    EXPECT_EQ(this->download_index(info), 0);
    const auto factor = this->download(result.factor);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(factor.other_triangle_untouched(c.uplo));
    const auto new_l = this->unstored(c.uplo, factor);
    this->expect_signs(new_l);
    this->expect_same(this->product(l, v, sign > 0 ? k : 0),
                      this->product(new_l, Padded<T>(n, 0), 0), n + k);
    if (!rotates) return;
    const auto rotated = this->rotate(l, v, this->download(cosines), this->download(sines));
    EXPECT_LT(max_difference(rotated.l, widen<T>(new_l.view())), 1000 * epsilon<T>());
  }
};
TYPED_TEST_SUITE(EliminationContract, Precisions);

TYPED_TEST(EliminationContract, EliminateLeavesEveryState) {
  const Index width = this->width();
  const EliminationCase::Factor factors[] = {{1, 0},     {5, 0},           {width, 0},
                                             {width, 7}, {2 * width, 300}, {3 * width + 5, 0}};
  constexpr Index kVectors[] = {1, 3, 8, 9, 16, 17, 32};
  for (const auto& c : cross<EliminationCase>(factors, kVectors, kUplos)) {
    SCOPED_TRACE(c.name());
    this->leaves_every_state(c);
  }
}

TYPED_TEST(EliminationContract, BasesAreRootsOfWhatWoodburySays) {
  const Index width = this->width(), orders[] = {1, width, 3 * width + 2};
  constexpr Index kVectors[] = {1, 2, 7, 8};
  for (const auto& c : cross<BasesCase>(orders, kVectors, kSigns)) {
    SCOPED_TRACE(c.name());
    this->bases_are_roots(c);
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
  constexpr Index kMaxVectors = UpdatePanels<TypeParam>::kMaxVectors;
  const Index width = this->width(), orders[] = {1, 7, width, width + 1, 3 * width - 5};
  constexpr Index kVectors[] = {1, 3, 5, 16, 32};
  for (const auto& c : cross<PanelsCase>(cross<BasesCase>(orders, kVectors, kSigns), kUplos)) {
    if (c.vectors.k > kMaxVectors) continue;
    SCOPED_TRACE(c.name());
    this->panels_keep_the_product(c);
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
