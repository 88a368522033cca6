// diagonalize_leaves, deflate, solve_secular, secular_vectors, take_columns, multiply_merges,
// bisect.
#include "device/reference/tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using RealPrecisions = testing::Types<float, double>;

template <class U>
DeviceView<U> as_operand(Padded<U>& a) {
  return {a.data(), a.rows(), a.cols(), a.ld()};
}

/// All that the merges of a level have, in the host's memory: what each operation is to leave there
/// is known by the loops.
template <class T>
struct Merges {
  /// `sizes` of both parts of each merge. Some d are equal, and some rows of q are zero.
  explicit Merges(const std::vector<Index>& sizes) : count(static_cast<Index>(sizes.size()) / 2) {
    for (const Index size : sizes) n += size;
    parts = Padded<Index>(3, count);
    Index first = 0;
    for (Index m = 0; m < count; ++m) {
      const Index middle = first + sizes[static_cast<std::size_t>(2 * m)];
      const Index last = middle + sizes[static_cast<std::size_t>(2 * m + 1)];
      parts(0, m) = first, parts(1, m) = middle, parts(2, m) = last;
      longest = std::max(longest, last - first);
      first = last;
    }
    d = random_matrix<T>(n, 1, 1);
    e = random_matrix<T>(n, 1, 2);
    q = Padded<T>(n, n, 3);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) q(i, j) = T(0);
    }
    fill_q();
    poles = z = shifts = Padded<T>(n, 1);
    columns = places = origins = Padded<Index>(n, 1);
    counts = Padded<Index>(4, count);
    numbers = Padded<T>(n, Deflate<T>::kNumbers, 1);
    indices = Padded<Index>(n, Deflate<T>::kIndices, 2);
    s = Padded<T>(n, n, 1);
  }

  Index first(Index m) const { return parts(0, m); }
  Index last(Index m) const { return parts(2, m); }
  Index kept(Index m) const { return counts(0, m) + counts(1, m) + counts(2, m); }

  Deflate<T> deflate() {
    return {as_operand(parts),   longest,
            as_operand(e),       as_operand(d),
            as_operand(q),       as_operand(poles),
            as_operand(z),       as_operand(columns),
            as_operand(places),  as_operand(counts),
            as_operand(numbers), as_operand(indices)};
  }
  SolveSecular<T> solve() {
    return {as_operand(parts), as_operand(counts),  longest,
            as_operand(e),     as_operand(poles),   as_operand(z),
            as_operand(d),     as_operand(origins), as_operand(shifts)};
  }
  SecularVectors<T> vectors() {
    return {as_operand(parts),   as_operand(counts), longest,
            as_operand(poles),   as_operand(z),      as_operand(places),
            as_operand(origins), as_operand(shifts), as_operand(s)};
  }

  Index count, n = 0, longest = 0;
  Padded<Index> parts, columns, places, origins, counts, indices;
  Padded<T> d, e, q, poles, z, shifts, numbers, s;

 private:
  /// Rows of orthogonal matrices have the norm 1.
  void fill_q() {
    for (Index m = 0; m < count; ++m) {
      for (const Range part : {Range{parts(0, m), parts(1, m)}, Range{parts(1, m), parts(2, m)}}) {
        const T scale = T(1) / std::sqrt(static_cast<T>(part.size()));
        const auto block = random_matrix<T>(part.size(), part.size(), 3);
        for (Index j = part.first; j < part.last; ++j) {
          for (Index i = part.first; i < part.last; ++i) {
            const T element = block(i - part.first, j - part.first);
            q(i, j) = j % 5 == 3 ? T(0) : scale * element;
          }
        }
      }
      const Index half = (last(m) - first(m)) / 2;
      for (Index i = 0; i < half; i += 3) d(last(m) - 1 - i, 0) = d(first(m) + i, 0);
    }
  }
};

/// The operation on copies of its operands in the device's memory, which come back.
template <class T>
class TridiagonalContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;

  template <class Operation>
  void run(Operation op) {
    std::vector<Buffer<char>> there;
    std::vector<std::function<void()>> back;
    Operation::operands(op, [&](auto& view, Staging = Staging::forbidden) {
      using U = std::remove_const_t<std::remove_pointer_t<decltype(view.data)>>;
      if (view.empty()) return;
      const Index size = view.ld * view.cols;
      const auto bytes = sizeof(U) * static_cast<std::size_t>(size);
      there.emplace_back(this->device(), Space::device, static_cast<Index>(bytes));
      U* const home = const_cast<U*>(view.data);
      U* const copy = reinterpret_cast<U*>(there.back().data());
      const Buffer<U> staged(this->device(), Space::host, size);
      std::copy_n(home, size, staged.data());
      this->queue().template copy<U>(DeviceView<U>(copy, size),
                                     HostView<const U>(staged.data(), size));
      this->queue().synchronize();
      view.data = copy;
      back.push_back([this, home, copy, size] {
        const Buffer<U> results(this->device(), Space::host, size);
        this->queue().template copy<U>(HostView<U>(results.data(), size),
                                       DeviceView<const U>(copy, size));
        this->queue().synchronize();
        std::copy_n(results.data(), size, home);
      });
    });
    this->queue().enqueue(op);
    for (const auto& bring : back) bring();
  }

  std::vector<std::vector<Index>> cases() {
    std::vector<std::vector<Index>> all = {
        {1, 1}, {2, 1}, {1, 3}, {5, 4, 1, 2, 20, 31}, {64, 64, 63, 65}, {130, 127, 40, 200}};
    if (!this->device().emulated()) all.push_back({1000, 1024, 500, 3});
    return all;
  }

  static double difference(T x, T y, double size) {
    return std::abs(static_cast<double>(x) - static_cast<double>(y)) / (size * epsilon<T>());
  }

  /// |f| at a root, as compared with the size of its terms.
  static double residual(const Merges<T>& merges, Index m, Index j) {
    const Index first = merges.first(m), k = merges.kept(m);
    const Index origin = first + merges.origins(first + j, 0);
    const long double shift = merges.shifts(first + j, 0);
    const long double rho = 2 * std::abs(merges.e(merges.parts(1, m) - 1, 0));
    long double f = 1 / rho, size = f;
    for (Index i = first; i < first + k; ++i) {
      const long double z = merges.z(i, 0), gap = static_cast<long double>(merges.poles(i, 0)) -
                                                  merges.poles(origin, 0) - shift;
      f += z * z / gap;
      size += std::abs(z * z / gap);
    }
    return static_cast<double>(std::abs(f) / size) / epsilon<T>();
  }
};
TYPED_TEST_SUITE(TridiagonalContract, RealPrecisions);

TYPED_TEST(TridiagonalContract, DiagonalizesLeaves) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index most = this->kernels().limits().leaf_order;
  std::vector<Index> orders = {1, most, 2, most - 1, most / 2, 1, 1, most};
  Padded<Index> starts(static_cast<Index>(orders.size()) + 1, 1);
  starts(0, 0) = 0;
  for (std::size_t b = 0; b < orders.size(); ++b) {
    starts(static_cast<Index>(b) + 1, 0) = starts(static_cast<Index>(b), 0) + orders[b];
  }
  const Index n = starts(starts.rows() - 1, 0);
  const auto given = random_matrix<T>(n, 1, 1);
  auto d = given, e = random_matrix<T>(n, 1, 2);
  Padded<T> q(n, n, 3);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) q(i, j) = T(0);
  }
  Padded<Index> failed(1, 1);
  failed(0, 0) = 0;
  this->run(DiagonalizeLeaves<T>{as_operand(starts), as_operand(d), as_operand(e), as_operand(q),
                                 as_operand(failed)});
  EXPECT_EQ(failed(0, 0), 0);
  EXPECT_TRUE(q.padding_untouched());
  for (Index b = 0; b + 1 < starts.rows(); ++b) {
    const Range block = {starts(b, 0), starts(b + 1, 0)};
    for (Index j = block.first; j < block.last; ++j) {
      W squares = 0;
      for (Index i = 0; i < n; ++i) {
        if (i < block.first || i >= block.last) {
          EXPECT_EQ(q(i, j), T(0));
          continue;
        }
        squares += W(q(i, j)) * q(i, j);
        W residual = (W(given(i, 0)) - d(j, 0)) * q(i, j);
        if (i > block.first) residual += W(e(i - 1, 0)) * q(i - 1, j);
        if (i + 1 < block.last) residual += W(e(i, 0)) * q(i + 1, j);
        EXPECT_LT(std::abs(residual), 100 * epsilon<T>());
      }
      EXPECT_NEAR(static_cast<double>(squares), 1, 100 * epsilon<T>());
    }
  }
}

TYPED_TEST(TridiagonalContract, SaysThatALeafDoesNotConverge) {
  using T = TypeParam;
  const Index n = this->kernels().limits().leaf_order;
  Padded<Index> starts(2, 1), failed(1, 1);
  starts(0, 0) = failed(0, 0) = 0;
  starts(1, 0) = n;
  auto d = random_matrix<T>(n, 1, 1), e = random_matrix<T>(n, 1, 2), q = unit_matrix<T>(n);
  d(n / 2, 0) = std::numeric_limits<T>::quiet_NaN();
  this->run(DiagonalizeLeaves<T>{as_operand(starts), as_operand(d), as_operand(e), as_operand(q),
                                 as_operand(failed)});
  EXPECT_EQ(failed(0, 0), 1);
}

TYPED_TEST(TridiagonalContract, DeflatesByLapacksRules) {
  using T = TypeParam;
  for (const auto& sizes : this->cases()) {
    Merges<T> expected(sizes), got(sizes);
    SCOPED_TRACE(testing::Message() << expected.n << " rows");
    reference::on_cpu(expected.deflate());
    this->run(got.deflate());
    EXPECT_TRUE(got.q.padding_untouched());
    EXPECT_TRUE(got.numbers.padding_untouched() && got.indices.padding_untouched());
    for (Index m = 0; m < got.count; ++m) {
      for (Index i = 0; i < 4; ++i) ASSERT_EQ(got.counts(i, m), expected.counts(i, m));
      const Index known = got.first(m) + got.kept(m);
      for (Index i = got.first(m); i < got.last(m); ++i) {
        EXPECT_EQ(got.columns(i, 0), expected.columns(i, 0));
        if (i >= known) {
          EXPECT_LT(this->difference(got.d(i, 0), expected.d(i, 0), 1), 10);
          continue;
        }
        EXPECT_EQ(got.places(i, 0), expected.places(i, 0));
        EXPECT_LT(this->difference(got.poles(i, 0), expected.poles(i, 0), 1), 10);
        EXPECT_LT(this->difference(got.z(i, 0), expected.z(i, 0), 1), 10);
      }
    }
    for (Index j = 0; j < got.n; ++j) {
      for (Index i = 0; i < got.n; ++i) {
        EXPECT_LT(this->difference(got.q(i, j), expected.q(i, j), 1), 100);
      }
    }
    if (got.longest > 20) {  // all that can be is
      const Index m = got.count - 1;
      EXPECT_GT(got.counts(3, m), 0);
      EXPECT_GT(got.counts(1, m), 0);
      EXPECT_LT(got.kept(m), got.last(m) - got.first(m));
    }
  }
}

TYPED_TEST(TridiagonalContract, SolvesTheSecularEquation) {
  using T = TypeParam;
  for (const auto& sizes : this->cases()) {
    Merges<T> merges(sizes);
    SCOPED_TRACE(testing::Message() << merges.n << " rows");
    reference::on_cpu(merges.deflate());
    const auto known = merges.d;
    this->run(merges.solve());
    for (Index m = 0; m < merges.count; ++m) {
      const Index first = merges.first(m), k = merges.kept(m);
      for (Index j = 0; j < k; ++j) {
        EXPECT_LT(this->residual(merges, m, j), 8 + static_cast<double>(k));
        EXPECT_GE(merges.d(first + j, 0), merges.poles(first + j, 0));
        if (j + 1 < k) {
          EXPECT_LE(merges.d(first + j, 0), merges.poles(first + j + 1, 0));
        }
        const T origin = merges.poles(first + merges.origins(first + j, 0), 0);
        EXPECT_EQ(merges.d(first + j, 0), origin + merges.shifts(first + j, 0));
      }
      for (Index i = first + k; i < merges.last(m); ++i) EXPECT_EQ(merges.d(i, 0), known(i, 0));
    }
  }
}

TYPED_TEST(TridiagonalContract, FindsVectorsThatAreOrthogonal) {
  using T = TypeParam;
  using W = Wide<T>;
  for (const auto& sizes : this->cases()) {
    Merges<T> expected(sizes);
    SCOPED_TRACE(testing::Message() << expected.n << " rows");
    reference::on_cpu(expected.deflate());
    reference::on_cpu(expected.solve());
    Merges<T> got = expected;
    reference::on_cpu(expected.vectors());
    this->run(got.vectors());
    EXPECT_TRUE(got.s.padding_untouched());
    for (Index m = 0; m < got.count; ++m) {
      const Index first = got.first(m), k = got.kept(m);
      const double bound = 20 + 8 * static_cast<double>(k);
      for (Index j = first; j < first + k; ++j) {
        EXPECT_LT(this->difference(got.z(j, 0), expected.z(j, 0),
                                   std::abs(static_cast<double>(expected.z(j, 0)))),
                  bound);
        for (Index i = first; i < first + k; ++i) {
          EXPECT_LT(this->difference(got.s(i, j), expected.s(i, j), 1), bound);
          W product = 0;
          for (Index l = first; l < first + k; ++l) product += W(got.s(l, i)) * got.s(l, j);
          EXPECT_NEAR(static_cast<double>(product), i == j ? 1 : 0, bound * epsilon<T>());
        }
      }
      for (Index j = first; j < got.last(m); ++j) {
        if (j >= first + k) {
          EXPECT_EQ(got.s(first, j), sentinel<T>());
        }
      }
    }
  }
}

TYPED_TEST(TridiagonalContract, TakesColumns) {
  using T = TypeParam;
  for (const Index step : {1, 2}) {
    const Index n = 300, taken = 200;
    auto from = random_matrix<T>(n, n, 1, 2);
    Padded<Index> columns(taken, 1);
    for (Index j = 0; j < taken; ++j) columns(j, 0) = (7 * j + 11) % n;
    Padded<T> to(step * n, taken, 3);
    this->run(TakeColumns<T>{{}, n, as_operand(from), as_operand(columns), as_operand(to), step});
    EXPECT_TRUE(to.padding_untouched());
    EXPECT_TRUE(all_elements({step * n, taken}, [&](Index i, Index j) {
      return to(i, j) == (i % step == 0 ? from(i / step, columns(j, 0)) : T(0));
    }));
  }
}

TYPED_TEST(TridiagonalContract, TakesColumnsOfMerges) {
  using T = TypeParam;
  for (const auto& sizes : this->cases()) {
    Merges<T> merges(sizes);
    reference::on_cpu(merges.deflate());
    Padded<T> to(merges.n, merges.n, 2);
    this->run(TakeColumns<T>{as_operand(merges.parts), merges.longest, as_operand(merges.q),
                             as_operand(merges.columns), as_operand(to)});
    EXPECT_TRUE(to.padding_untouched());
    for (Index m = 0; m < merges.count; ++m) {
      for (Index j = merges.first(m); j < merges.last(m); ++j) {
        for (Index i = 0; i < merges.n; ++i) {
          const bool mine = i >= merges.first(m) && i < merges.last(m);
          EXPECT_EQ(to(i, j), mine ? merges.q(i, merges.columns(j, 0)) : sentinel<T>());
        }
      }
    }
  }
}

TYPED_TEST(TridiagonalContract, MultipliesMerges) {
  using T = TypeParam;
  using W = Wide<T>;
  for (const auto& sizes : this->cases()) {
    Merges<T> merges(sizes);
    SCOPED_TRACE(testing::Message() << merges.n << " rows");
    reference::on_cpu(merges.deflate());
    merges.s = random_matrix<T>(merges.n, merges.n, 4, 1);
    auto grouped = random_matrix<T>(merges.n, merges.n, 5, 3);
    Padded<T> q(merges.n, merges.n, 2);
    this->run(MultiplyMerges<T>{as_operand(merges.parts), as_operand(merges.counts), merges.longest,
                                as_operand(grouped), as_operand(merges.s), as_operand(q)});
    EXPECT_TRUE(q.padding_untouched());
    for (Index m = 0; m < merges.count; ++m) {
      const Range all = {merges.first(m), merges.last(m)};
      const Range found = {all.first, all.first + merges.kept(m)};
      for (Index j = all.first; j < all.last; ++j) {
        for (Index i = 0; i < merges.n; ++i) {
          if (i < all.first || i >= all.last) {
            EXPECT_EQ(q(i, j), sentinel<T>());
          } else if (j >= found.last) {
            EXPECT_EQ(q(i, j), grouped(i, j));
          } else {
            W sum = 0;
            for (Index l = found.first; l < found.last; ++l) {
              sum += W(grouped(i, l)) * W(merges.s(l, j));
            }
            EXPECT_LT(std::abs(static_cast<double>(W(q(i, j)) - sum)), sum_bound<T>(found.size()));
          }
        }
      }
    }
  }
}

/// The eigenvalues of 2 beside -1 are 4 sin^2(j pi / 2(n + 1)).
TYPED_TEST(TridiagonalContract, Bisects) {
  using T = TypeParam;
  for (const Index n : {1, 2, 33, 64, 65, 300}) {
    Padded<T> d(n, 1), squares(n, 1), values(n, 1), some((n + 2) / 3, 1);
    for (Index i = 0; i < n; ++i) d(i, 0) = 2, squares(i, 0) = 1;
    this->run(Bisect<T>{as_operand(d), as_operand(squares), T(-1), T(5), 0, as_operand(values)});
    for (Index j = 0; j < n; ++j) {
      const double sine =
          std::sin(static_cast<double>(j + 1) * std::acos(-1.0) / static_cast<double>(2 * n + 2));
      EXPECT_LT(this->difference(values(j, 0), static_cast<T>(4 * sine * sine), 4), 10);
      if (j > 0) {
        EXPECT_LE(values(j - 1, 0), values(j, 0));
      }
    }
    this->run(Bisect<T>{as_operand(d), as_operand(squares), T(-1), T(5), n / 3, as_operand(some)});
    for (Index j = 0; j < some.rows(); ++j) EXPECT_EQ(some(j, 0), values(n / 3 + j, 0));
  }
}

}  // namespace
}  // namespace overlapack
