// Rows taken through groups of columns in strips, by all instructions that this processor has.
#include <gtest/gtest.h>

#include <vector>

#include "cpu/reference.hpp"
#include "cpu/strips.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace overlapack::cpu;
using reference::detail::multiply;

template <class T>
class StripsTest : public testing::Test {};
TYPED_TEST_SUITE(StripsTest, Precisions);

template <class T>
Strips<T> strips_of(const Padded<T>& v) {
  std::vector<const T*> columns;
  for (Index q = 0; q < v.cols(); ++q) columns.push_back(&v(0, q));
  Strips<T> strips(v.rows(), v.cols());
  strips.load(columns.data(), v.cols());
  return strips;
}

/// Groups of random z, and t between 1/2 and 1, with what is computed from them.
template <class T>
struct Reflectors {
  Reflectors(Index groups, Index k, int sign)
      : z(random_matrix<T>(k, kGroup * groups, 1)),
        numbers(static_cast<std::size_t>(groups * Group<T>::size(k))),
        panel{numbers.data(), groups, k, sign} {
    for (Index j = 0; j < z.cols(); ++j) {
      for (Index q = 0; q < k; ++q) z(q, j) *= Real<T>(0.5) / std::sqrt(static_cast<Real<T>>(k));
      t.push_back(Real<T>(0.5) + Real<T>(j % 7) / 14);
      const Group<T> group = panel.group(j / kGroup);
      const Index c = j % kGroup;
      for (Index q = 0; q < k; ++q) group.set_z(q, c, z(q, j));
      group.scales()[c] = 1 / t.back();
      for (Index b = 0; b < c; ++b) {
        T product(0);
        for (Index q = 0; q < k; ++q) product += multiply(conj(z(q, j - c + b)), z(q, j));
        group.set_product(b, c, product * Real<T>(sign));
      }
    }
  }
  Padded<T> z;
  std::vector<Real<T>> t, numbers;
  Panel<T> panel;
};

/// One column after the other.
template <class T>
void reflect(const Reflectors<T>& r, Padded<T>& l, Padded<T>& v) {
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) {
      T sum(0);
      for (Index q = 0; q < v.cols(); ++q) sum += multiply(v(i, q), r.z(q, j));
      const T w = (l(i, j) + sum * Real<T>(r.panel.sign)) / r.t[static_cast<std::size_t>(j)];
      l(i, j) = w - l(i, j);
      for (Index q = 0; q < v.cols(); ++q) v(i, q) -= multiply(w, conj(r.z(q, j)));
    }
  }
}
template <class T>
void eliminate(const Reflectors<T>& r, const Padded<T>& l, Padded<T>& v) {
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) {
      for (Index q = 0; q < v.cols(); ++q) v(i, q) -= multiply(l(i, j), conj(r.z(q, j)));
    }
  }
}

template <class T>
Padded<T> transposed(const Padded<T>& l) {
  Padded<T> u(l.cols(), l.rows(), 5);
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < l.rows(); ++i) u(j, i) = conj(l(i, j));
  }
  return u;
}

template <class T>
Real<T> difference(const Padded<T>& a, const Padded<T>& b) {
  Real<T> largest = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) largest = std::max(largest, abs1(a(i, j) - b(i, j)));
  }
  return largest;
}

TYPED_TEST(StripsTest, ElementsAreWhereTheyBelong) {
  using T = TypeParam;
  for (const Index n : {1, 15, 16, 33, 70}) {
    const auto v = random_matrix<T>(n, 5, 3);
    const Strips<T> strips = strips_of(v);
    for (Index i = 0; i < n; ++i) {
      for (Index q = 0; q < 5; ++q) EXPECT_EQ(strips.get(i, q), v(i, q));
    }
  }
}

/// Rows through groups of columns, for k vectors.
struct PanelCase {
  Instructions instructions;
  Index rows, groups, k;
  int sign;

  std::string name() const {
    return (testing::Message() << "instructions " << static_cast<int>(instructions) << ", " << rows
                               << " rows, " << groups << " groups, k = " << k << ", sign " << sign)
        .GetString();
  }
};
constexpr Index kRows[] = {1, 16, 31, 64}, kGroups[] = {1, 3, 16}, kVectors[] = {1, 2, 5, 32};
constexpr int kSigns[] = {1, -1};

/// One pass over rows that are stored as one triangle has them, compared with what is expected of
/// the rows and of the vectors.
template <class T>
class PassOverRows {
 public:
  PassOverRows(const PanelCase& of, const Padded<T>& l, const Padded<T>& v, Real<T> tolerance)
      : case_(of), l_(l), v_(v), tolerance_(tolerance) {}

  void expect(Pass pass, Uplo uplo, Panel<T> panel, const Padded<T>& expected_l,
              const Padded<T>& expected_v) {
    auto a = stored(uplo, l_);
    const auto before = a;
    Strips<T> strips = strips_of(v_);
    passes<T>(pass, case_.instructions).rows(panel, uplo, a.view(), strips.strip(0));
    if (pass == Pass::eliminate) {
      EXPECT_TRUE(same_bits(a, before));
    } else {
      EXPECT_LE(difference(a, stored(uplo, expected_l)), tolerance_);
      EXPECT_TRUE(a.padding_untouched());
    }
    Real<T> largest = 0;
    for (Index i = 0; i < v_.rows(); ++i) {
      for (Index q = 0; q < v_.cols(); ++q) {
        largest = std::max(largest, abs1(strips.get(i, q) - expected_v(i, q)));
      }
    }
    EXPECT_LE(largest, tolerance_);
  }

 private:
  static Padded<T> stored(Uplo uplo, const Padded<T>& l) {
    return uplo == Uplo::lower ? l : transposed(l);
  }

  const PanelCase& case_;
  const Padded<T>&l_, &v_;
  const Real<T> tolerance_;
};

TYPED_TEST(StripsTest, RowsGoThroughPanels) {
  using T = TypeParam;
  for (const PanelCase& c : cross<PanelCase>(kInstructions, kRows, kGroups, kVectors, kSigns)) {
    if (!supported(c.instructions)) continue;
    SCOPED_TRACE(c.name());
    const Reflectors<T> reflectors(c.groups, c.k, c.sign);
    const auto l = random_matrix<T>(c.rows, kGroup * c.groups, 4, 3);
    const auto v = random_matrix<T>(c.rows, c.k, 5);
    auto l_after = l, v_after = v, v_eliminated = v;
    reflect(reflectors, l_after, v_after);
    eliminate(reflectors, l, v_eliminated);
    const Real<T> scale = 1 + difference(l_after, l) + Real<T>(4 * c.groups);
    PassOverRows<T> over(c, l, v, 100 * std::numeric_limits<Real<T>>::epsilon() * scale);
    for (const Uplo uplo : kUplos) {
      over.expect(Pass::reflect, uplo, reflectors.panel, l_after, v_after);
      over.expect(Pass::eliminate, uplo, reflectors.panel, l, v_eliminated);
    }
  }
}

TYPED_TEST(StripsTest, PiecesAreRows) {
  using T = TypeParam;
  const Index rows = 2 * kStrip<T>, groups = 2, k = 3;
  const Reflectors<T> reflectors(groups, k, 1);
  for (const Instructions instructions : kInstructions) {
    if (!supported(instructions)) continue;
    auto l = random_matrix<T>(rows, kGroup * groups, 4);
    const auto v = random_matrix<T>(rows, k, 5);
    const std::unique_ptr<FactorStrip<T>[]> pieces(new FactorStrip<T>[2]);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < l.cols(); ++j) {
        pieces[static_cast<std::size_t>(i / kStrip<T>)].set(i % kStrip<T>, j + 4, l(i, j));
      }
    }
    Strips<T> strips = strips_of(v), expected = strips_of(v);
    passes<T>(Pass::reflect, instructions)
        .rows(reflectors.panel, Uplo::lower, l.view(), expected.strip(0));
    passes<T>(Pass::reflect, instructions)
        .pieces(reflectors.panel, 2, pieces[0].at(0, 4), strips.strip(0));
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < l.cols(); ++j) {
        EXPECT_EQ(pieces[static_cast<std::size_t>(i / kStrip<T>)].get(i % kStrip<T>, j + 4),
                  l(i, j));
      }
      for (Index q = 0; q < k; ++q) EXPECT_EQ(strips.get(i, q), expected.get(i, q));
    }
  }
}

}  // namespace
}  // namespace overlapack
