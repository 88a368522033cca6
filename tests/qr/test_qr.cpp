// ?geqrf, ?orgqr (?ungqr) and ?ormqr (?unmqr) by their exported names and by textbook loops. All
// calls are for the CPU, also where the settings send every call to the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/qr.hpp"
#include "dispatch/calls.hpp"
#include "overlapack/lapack.h"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

constexpr Op kOps[] = {Op::none, Op::conj_trans};
constexpr Side kSides[] = {Side::left, Side::right};
constexpr Index kQuery = -1;

struct MatrixShape {
  Index m, n;
};
constexpr MatrixShape kShapes[] = {{1, 1},  {2, 2}, {33, 33}, {70, 40},   {40, 70},
                                   {90, 1}, {1, 7}, {64, 64}, {150, 130}, {37, 36}};

template <class W>
Padded<W> identity(Index rows, Index cols) {
  Padded<W> one(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) one(i, j) = W(i == j);
  }
  return one;
}

/// ||I - Q^H Q|| / (m eps): dqrt01. The columns of Q are to be orthonormal.
template <class T>
double orthogonality(const Padded<T>& q) {
  const auto wide = widen<T>(q.view());
  const auto error =
      rest(identity<Wide<T>>(q.cols(), q.cols()), Op::conj_trans, wide, Op::none, wide);
  return scaled(norm1(error), static_cast<double>(q.rows()), epsilon<T>());
}

/// ||A - Q R|| / (m ||A|| eps): dqrt01. R is the upper trapezoid of `factored`.
template <class T>
double qr_residual(const Padded<T>& a, const Padded<T>& q, const Padded<T>& factored) {
  using W = Wide<T>;
  Padded<W> r(q.cols(), a.cols());
  for (Index j = 0; j < r.cols(); ++j) {
    for (Index i = 0; i < r.rows(); ++i) r(i, j) = i <= j ? W(factored(i, j)) : W(0);
  }
  const auto original = widen<T>(a.view());
  const double scale = static_cast<double>(a.rows()) * norm1(original);
  return scaled(norm1(rest(original, Op::none, widen<T>(q.view()), Op::none, r)), scale,
                epsilon<T>());
}

/// A factorization by the exported name, with the least workspace.
template <class T>
struct Factored {
  explicit Factored(const Padded<T>& a) : qr(a), tau(count(a), sentinel<T>()) {
    WorkWithEnd<T> work(std::max<Index>(a.cols(), 1));
    EXPECT_EQ(geqrf<T>(qr.view(), tau.data(), work), 0);
  }
  static std::size_t count(const Padded<T>& a) {
    return static_cast<std::size_t>(std::min(a.rows(), a.cols()));
  }
  Index reflectors() const { return static_cast<Index>(tau.size()); }
  HostView<const T> vectors() const { return qr.view().block(0, 0, qr.rows(), reflectors()); }

  /// The first `columns` columns of Q by orgqr.
  Padded<T> q(Index columns) const {
    Padded<T> result(qr.rows(), columns, 2);
    for (Index j = 0; j < std::min(columns, reflectors()); ++j) {
      for (Index i = 0; i < qr.rows(); ++i) result(i, j) = qr(i, j);
    }
    WorkWithEnd<T> work(std::max<Index>(columns, 1));
    EXPECT_EQ(orgqr<T>(result.view(), std::min(columns, reflectors()), tau.data(), work), 0);
    EXPECT_TRUE(result.padding_untouched());
    return result;
  }

  Padded<T> qr;
  std::vector<T> tau;
};

template <class T>
void expect_right(const Padded<T>& a, const Factored<T>& factored) {
  const auto q = factored.q(factored.reflectors());
  EXPECT_LT(qr_residual(a, q, factored.qr), kThreshold);
  EXPECT_LT(orthogonality(q), kThreshold);
  EXPECT_LT(orthogonality(factored.q(a.rows())), kThreshold) << "all of Q";
  EXPECT_TRUE(factored.qr.padding_untouched());
}

template <class T>
class Qr : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (IsSkipped()) return;
    this->route(dispatch::Algorithm::tiled, 16);  // every call, however small
  }
  void TearDown() override {
    if (!IsSkipped()) {
      EXPECT_EQ(uploaded(), 0u) << "a call has reached the device";
    }
    RoutedTest::TearDown();
  }
  const cpu::Lapack<T>& cpu_lapack() { return cpu::lapack<T>(cpu::Family::lp64); }
};
TYPED_TEST_SUITE(Qr, Precisions);

TYPED_TEST(Qr, FactorsAMatrix) {
  using T = TypeParam;
  for (const MatrixShape shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n);
    const auto a = random_matrix<T>(shape.m, shape.n, 1, 3);
    expect_right(a, Factored<T>(a));
  }
}

TYPED_TEST(Qr, IsThatOfTheCpuLapackWithTheCallersWorkspace) {
  using T = TypeParam;
  const Index m = 150, n = 130;
  const auto a = random_matrix<T>(m, n, 1, 3);
  for (const Index columns : {1, 32}) {
    auto ours = a, theirs = a;
    std::vector<T> tau(n), tau_of_cpu(n), work_of_cpu(n * columns);
    WorkWithEnd<T> work(n * columns);
    EXPECT_EQ(geqrf<T>(ours.view(), tau.data(), work), 0);
    EXPECT_EQ(cpu::geqrf<T>(this->cpu_lapack(), theirs.view(), tau_of_cpu.data(),
                            {work_of_cpu.data(), n * columns}),
              0);
    EXPECT_TRUE(same_bits(ours, theirs));
    EXPECT_EQ(tau, tau_of_cpu);
    EXPECT_EQ(work.first(), work_of_cpu[0]);
  }
}

TYPED_TEST(Qr, MultipliesByQ) {
  using T = TypeParam;
  using W = Wide<T>;
  for (const MatrixShape shape : {MatrixShape{30, 30}, {50, 20}, {20, 50}, {90, 70}, {1, 1}}) {
    const auto a = random_matrix<T>(shape.m, shape.n, 1, 1);
    const Factored<T> factored(a);
    const auto before = factored.qr;
    const auto q = widen<T>(factored.q(shape.m).view());
    for (const Side side : kSides) {
      for (const Op op : kOps) {
        SCOPED_TRACE(testing::Message() << static_cast<char>(side) << static_cast<char>(op) << ' '
                                        << shape.m << " x " << shape.n);
        const bool left = side == Side::left;
        const Index others = 17;
        const auto c = left ? random_matrix<T>(shape.m, others, 2, 2)
                            : random_matrix<T>(others, shape.m, 2, 2);
        auto product = c;
        WorkWithEnd<T> work(others);
        EXPECT_EQ(ormqr<T>(side, op, factored.vectors(), factored.tau.data(), product.view(), work),
                  0);
        EXPECT_TRUE(product.padding_untouched());
        EXPECT_TRUE(same_bits(factored.qr, before));
        const auto wide = widen<T>(c.view()), got = widen<T>(product.view());
        const Padded<W> error =
            left ? rest(got, op, q, Op::none, wide) : rest(got, Op::none, wide, op, q);
        EXPECT_LT(scaled(norm1(error), static_cast<double>(shape.m) * norm1(wide), epsilon<T>()),
                  kThreshold);
      }
    }
  }
}

TYPED_TEST(Qr, AQueryAsksForAWorkspaceThatSuffices) {
  using T = TypeParam;
  for (const MatrixShape shape : {MatrixShape{100, 60}, {60, 100}, {1, 1}, {0, 5}, {5, 0}}) {
    SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n);
    const auto a = random_matrix<T>(shape.m, shape.n, 1, 1);
    auto x = a;
    std::vector<T> tau(60 + 1, sentinel<T>()), wanted(1);
    WorkWithEnd<T> query(kQuery);
    EXPECT_EQ(geqrf<T>(x.view(), tau.data(), query), 0);
    EXPECT_GE(real(query.first()), shape.m > 0 ? Real<T>(shape.n) : Real<T>(1));
    EXPECT_TRUE(same_bits(x, a));
    EXPECT_EQ(tau[0], sentinel<T>());
    EXPECT_EQ(cpu::geqrf<T>(this->cpu_lapack(), x.view(), tau.data(), {wanted.data(), kQuery}), 0);
    EXPECT_EQ(query.first(), wanted[0]) << "the CPU may do the call";
    WorkWithEnd<T> work(std::max<Index>(static_cast<Index>(real(query.first())), 1));
    EXPECT_EQ(geqrf<T>(x.view(), tau.data(), work), 0);
    if (shape.m < shape.n) continue;
    EXPECT_EQ(orgqr<T>(x.view(), shape.n, tau.data(), query), 0);
    EXPECT_GE(real(query.first()), Real<T>(std::max<Index>(shape.n, 1)));
    for (const Side side : kSides) {
      const bool left = side == Side::left;
      auto c = left ? random_matrix<T>(shape.m, 9, 2) : random_matrix<T>(9, shape.m, 2);
      const auto before = c;
      EXPECT_EQ(ormqr<T>(side, Op::none, x.view(), tau.data(), c.view(), query), 0);
      EXPECT_GE(real(query.first()), Real<T>(1));
      EXPECT_TRUE(same_bits(c, before));
      WorkWithEnd<T> enough(static_cast<Index>(real(query.first())));
      EXPECT_EQ(ormqr<T>(side, Op::none, x.view(), tau.data(), c.view(), enough), 0);
    }
  }
}

TEST(QrWorkspace, IsRoundedUpWhereTheTypeCannotHoldIt) {
  constexpr Index kLarge = (Index{1} << 24) + 1;
  EXPECT_GE(static_cast<Index>(cpu::size_in_work<float>(kLarge)), kLarge);
  EXPECT_GE(static_cast<Index>(cpu::size_in_work<std::complex<float>>(kLarge).real()), kLarge);
  EXPECT_EQ(cpu::size_in_work<double>(kLarge), static_cast<double>(kLarge));
  std::vector<float> work(1, 5.0f);
  cpu::see_to_size<float>({work.data(), kQuery}, 7, true);
  EXPECT_EQ(work[0], 7) << "a library may want less than it accepts";
  cpu::see_to_size<float>({work.data(), kQuery}, 3, true);
  EXPECT_EQ(work[0], 7);
}

TYPED_TEST(Qr, OfNothing) {
  using T = TypeParam;
  T element = sentinel<T>(), tau = sentinel<T>();
  for (const MatrixShape shape : {MatrixShape{0, 0}, {0, 4}, {4, 0}}) {
    const HostView<T> a(&element, shape.m, shape.n, std::max<Index>(shape.m, 1));
    WorkWithEnd<T> work(shape.m > 0 ? std::max<Index>(shape.n, 1) : 1);
    EXPECT_EQ(geqrf<T>(a, &tau, work), 0);
    EXPECT_EQ(work.first(), T(1));
    if (shape.n > 0) continue;
    WorkWithEnd<T> others(1);
    EXPECT_EQ(orgqr<T>(a, 0, &tau, others), 0);
    EXPECT_EQ(others.first(), T(1));
  }
  for (const MatrixShape c : {MatrixShape{0, 3}, {3, 0}, {2, 2}}) {
    WorkWithEnd<T> work(3);
    Padded<T> product(c.m, c.n);
    const HostView<T> none(&element, c.m, 0, std::max<Index>(c.m, 1));
    EXPECT_EQ(ormqr<T>(Side::left, Op::none, none, &tau, product.view(), work), 0);
    EXPECT_EQ(work.first(), T(1));
    EXPECT_EQ(product(0, 0), sentinel<T>());
  }
  EXPECT_EQ(element, sentinel<T>());
  EXPECT_EQ(tau, sentinel<T>());
}

/// Without reflectors Q is the unit matrix.
TYPED_TEST(Qr, OfNoReflectors) {
  using T = TypeParam;
  auto q = random_matrix<T>(7, 4, 1, 2);
  WorkWithEnd<T> work(4);
  EXPECT_EQ(orgqr<T>(q.view(), 0, nullptr, work), 0);
  for (Index j = 0; j < 4; ++j) {
    for (Index i = 0; i < 7; ++i) EXPECT_EQ(q(i, j), T(i == j));
  }
  EXPECT_TRUE(q.padding_untouched());
}

TYPED_TEST(Qr, ArgumentsAreCheckedInLapacksOrder) {
  using T = TypeParam;
  auto a = random_matrix<T>(6, 6, 1);
  const auto before = a;
  std::vector<T> tau(6);
  T work[6] = {};
  std::int32_t info = kNoInfo;
  const struct {
    std::int32_t m, n, lda, lwork, info;
  } of_geqrf[] = {{-1, -1, 0, 0, -1}, {2, -1, 1, 0, -2}, {2, 2, 1, 0, -4}, {2, 3, 2, 2, -7},
                  {2, 3, 2, -2, -7},  {2, 3, 2, 0, -7},  {0, 3, 1, 0, -7}, {2, 0, 2, 0, -7},
                  {0, 3, 1, 1, 0},    {-1, 2, 2, -1, -1}};
  for (const auto& c : of_geqrf) {
    Exported<T>::geqrf(&c.m, &c.n, a.data(), &c.lda, tau.data(), work, &c.lwork, &info);
    EXPECT_EQ(info, c.info);
  }
  const struct {
    std::int32_t m, n, k, lda, lwork, info;
  } of_orgqr[] = {{-1, -1, -1, 0, 0, -1}, {2, -1, -1, 1, 0, -2}, {2, 3, 4, 1, 0, -2},
                  {3, 2, -1, 1, 0, -3},   {3, 2, 3, 1, 0, -3},   {3, 2, 2, 2, 0, -5},
                  {3, 2, 2, 3, 1, -8},    {3, 2, 2, 3, -2, -8},  {0, 0, 0, 1, 0, -8}};
  for (const auto& c : of_orgqr) {
    if constexpr (is_complex<T>) {
      Exported<T>::ungqr(&c.m, &c.n, &c.k, a.data(), &c.lda, tau.data(), work, &c.lwork, &info);
    } else {
      Exported<T>::orgqr(&c.m, &c.n, &c.k, a.data(), &c.lda, tau.data(), work, &c.lwork, &info);
    }
    EXPECT_EQ(info, c.info);
  }
  const char adjoint = is_complex<T> ? 'c' : 't', other = is_complex<T> ? 'T' : 'C';
  const struct {
    char side, trans;
    std::int32_t m, n, k, lda, ldc, lwork, info;
  } of_ormqr[] = {{'/', '/', -1, -1, -1, 0, 0, 0, -1},    {'l', '/', -1, -1, -1, 0, 0, 0, -2},
                  {'R', other, -1, -1, -1, 0, 0, 0, -2},  {'L', 'N', -1, -1, -1, 0, 0, 0, -3},
                  {'r', adjoint, 2, -1, -1, 0, 1, 0, -4}, {'L', 'n', 2, 3, -1, 0, 1, 0, -5},
                  {'L', 'N', 2, 3, 3, 1, 1, 0, -5},       {'R', 'N', 2, 3, 4, 1, 1, 0, -5},
                  {'L', 'N', 2, 3, 2, 1, 1, 0, -7},       {'R', 'N', 2, 3, 2, 2, 1, 0, -7},
                  {'L', 'N', 2, 3, 2, 2, 1, 0, -10},      {'R', 'N', 2, 3, 2, 3, 1, 0, -10},
                  {'L', 'N', 2, 3, 2, 2, 2, 2, -12},      {'R', 'N', 2, 3, 2, 3, 2, 1, -12},
                  {'L', 'N', 2, 3, 2, 2, 2, -2, -12}};
  for (const auto& c : of_ormqr) {
    if constexpr (is_complex<T>) {
      Exported<T>::unmqr(&c.side, &c.trans, &c.m, &c.n, &c.k, a.data(), &c.lda, tau.data(),
                         a.data(), &c.ldc, work, &c.lwork, &info, 1, 1);
    } else {
      Exported<T>::ormqr(&c.side, &c.trans, &c.m, &c.n, &c.k, a.data(), &c.lda, tau.data(),
                         a.data(), &c.ldc, work, &c.lwork, &info, 1, 1);
    }
    EXPECT_EQ(info, c.info);
  }
  EXPECT_TRUE(same_bits(a, before));
}

/// A driver of the CPU LAPACK would not see that memory has run out, and go on.
TYPED_TEST(Qr, NeedsNoMemory) {
  using T = TypeParam;
  const auto a = random_matrix<T>(40, 30, 1);
  const Factored<T> peaceful(a);
  auto q = peaceful.qr, c = a;
  Factored<T> factored = peaceful;
  WorkWithEnd<T> work(40);
  factored.qr = a;
  EXPECT_EQ(orgqr<T>(q.view(), 30, peaceful.tau.data(), work), 0);  // for what is made once
  const auto expected = q;
  q = peaceful.qr;
  Index info[3] = {kNoInfo, kNoInfo, kNoInfo};
  {
    const ScarceMemory memory(1, true);
    info[0] = geqrf<T>(factored.qr.view(), factored.tau.data(), work);
    info[1] = orgqr<T>(q.view(), 30, peaceful.tau.data(), work);
    info[2] = ormqr<T>(Side::left, Op::conj_trans, peaceful.vectors(), peaceful.tau.data(),
                       c.view(), work);
    EXPECT_EQ(memory.count(), 0);
  }
  for (const Index i : info) EXPECT_EQ(i, 0);
  expect_right(a, factored);
  EXPECT_TRUE(same_bits(q, expected));
}

// ---- Textbook loops, for a process without a CPU LAPACK -----------------------------------------

/// The same by loops.
template <class T>
Factored<T> factored_by_loops(const Padded<T>& a) {
  Factored<T> factored(a);
  factored.qr = a;
  cpu::textbook::geqrf<T>({factored.qr.view()}, factored.tau.data());
  return factored;
}

TYPED_TEST(Qr, ByTextbookLoops) {
  using T = TypeParam;
  for (const MatrixShape shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n);
    const auto a = random_matrix<T>(shape.m, shape.n, 1, 3);
    const Factored<T> lapacks(a), loops = factored_by_loops(a);
    expect_right(a, loops);
    const double limit = 100 * static_cast<double>(shape.m) * epsilon<T>();
    for (std::size_t j = 0; j < loops.tau.size(); ++j) {
      EXPECT_LT(std::abs(loops.tau[j] - lapacks.tau[j]), limit) << "signs are LAPACK's";
    }
    auto q = loops.q(loops.reflectors());
    const auto by_lapack = q;
    for (Index j = 0; j < q.cols(); ++j) {
      for (Index i = 0; i < q.rows(); ++i) q(i, j) = loops.qr(i, j);
    }
    cpu::textbook::orgqr<T>({q.view()}, q.cols(), loops.tau.data());
    EXPECT_LT(norm1(rest(widen<T>(q.view()), Op::none, widen<T>(by_lapack.view()), Op::none,
                         identity<Wide<T>>(q.cols(), q.cols()))),
              limit);
  }
}

TYPED_TEST(Qr, MultipliesByTextbookLoops) {
  using T = TypeParam;
  const auto a = random_matrix<T>(30, 20, 1, 1);
  const Factored<T> factored(a);
  for (const Side side : kSides) {
    for (const Op op : kOps) {
      const auto c = random_matrix<T>(30, 30, 2, 2);
      auto ours = c, theirs = c;
      WorkWithEnd<T> work(30);
      EXPECT_EQ(ormqr<T>(side, op, factored.vectors(), factored.tau.data(), theirs.view(), work),
                0);
      const bool left = side == Side::left;
      const Op of_adjoint = op == Op::none ? Op::conj_trans : Op::none;
      cpu::textbook::ormqr<T>(left ? op : of_adjoint, {factored.vectors()}, 20, factored.tau.data(),
                              {ours.view(), !left});
      EXPECT_LT(norm1(rest(widen<T>(ours.view()), Op::none, widen<T>(theirs.view()), Op::none,
                           identity<Wide<T>>(30, 30))),
                3000 * epsilon<T>());
    }
  }
}

TYPED_TEST(Qr, ByLoopsOfExtremeNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  using Limits = std::numeric_limits<R>;
  const R tiny = Limits::min() / R(2), huge = Limits::max() / R(64);
  for (const R scale : {Limits::denorm_min() * R(64), tiny, huge}) {
    SCOPED_TRACE(testing::Message() << "scale " << scale);
    auto a = random_matrix<T>(12, 5, 1);
    for (Index j = 0; j < 5; ++j) {
      for (Index i = 0; i < 12; ++i) a(i, j) *= scale;
    }
    const auto factored = factored_by_loops(a);
    EXPECT_LT(orthogonality(factored.q(5)), scale < tiny ? HUGE_VAL : kThreshold);
    for (Index j = 0; j < 5; ++j) EXPECT_TRUE(std::isfinite(real(factored.qr(j, j))));
  }
  Padded<T> zero(6, 3);
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < 6; ++i) zero(i, j) = T(0);
  }
  const auto of_zero = factored_by_loops(zero);
  EXPECT_TRUE(same_bits(of_zero.qr, zero));
  for (const T tau : of_zero.tau) EXPECT_EQ(tau, T(0));
  auto with_nan = random_matrix<T>(6, 3, 1);
  with_nan(2, 1) = T(Limits::quiet_NaN());
  const auto of_nan = factored_by_loops(with_nan);
  EXPECT_TRUE(std::isfinite(real(of_nan.qr(0, 0)))) << "a column before it";
  EXPECT_TRUE(std::isnan(real(of_nan.qr(1, 1))));
}

TEST(QrWithWideIntegers, OnTheCpu) {
  const auto a = random_matrix<double>(50, 30, 1, 2);
  Factored<double> factored(a);
  factored.qr = a;
  const std::int64_t m = 50, n = 30, lda = a.ld(), lwork = n;
  std::vector<double> work(30);
  std::int64_t info = -1;
  dgeqrf_64_(&m, &n, factored.qr.data(), &lda, factored.tau.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  expect_right(a, factored);
  auto q = factored.qr;
  dorgqr_64_(&m, &n, &n, q.data(), &lda, factored.tau.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  EXPECT_LT(qr_residual(a, q, factored.qr), kThreshold);
}

}  // namespace
}  // namespace overlapack
