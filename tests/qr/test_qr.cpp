// ?geqrf, ?gelqf, ?orgqr, ?orglq, ?ormqr, ?ormlq (of complex numbers ?ungqr and so on), ?geqrt,
// ?gemqrt and ?gels by their exported names, on every device and on the CPU, and by textbook loops.
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
#include "qr/kinds.hpp"
#include "qr/reflectors.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using cpu::Reflectors;

constexpr Op kOps[] = {Op::none, Op::conj_trans};
constexpr Side kSides[] = {Side::left, Side::right};
constexpr Index kQuery = -1;

struct MatrixShape {
  Index m, n;
};
std::ostream& operator<<(std::ostream& out, const MatrixShape& shape) {
  return out << shape.m << " x " << shape.n;
}
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

/// ||X - Y||.
template <class T>
double distance(const Padded<T>& x, const Padded<T>& y) {
  return norm1(rest(widen<T>(x.view()), Op::none, widen<T>(y.view()), Op::none,
                    identity<Wide<T>>(y.cols(), y.cols())));
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
  Factored(Reflectors reflectors, const Padded<T>& a)
      : kind(reflectors),
        factors(a),
        tau(static_cast<std::size_t>(std::min(a.rows(), a.cols())), sentinel<T>()) {
    WorkWithEnd<T> work(std::max<Index>(width(), 1));
    EXPECT_EQ(geqrf<T>(kind, factors.view(), tau.data(), work), 0);
  }
  bool by_rows() const { return kind == Reflectors::rows; }
  /// Of A, in the direction in which the reflectors are counted, and the order of Q.
  Index width() const { return by_rows() ? factors.rows() : factors.cols(); }
  Index order() const { return by_rows() ? factors.cols() : factors.rows(); }
  Index count() const { return static_cast<Index>(tau.size()); }
  HostView<const T> vectors() const {
    return by_rows() ? factors.view().block(0, 0, count(), order())
                     : factors.view().block(0, 0, order(), count());
  }

  /// The first columns (rows) of Q by orgqr, as columns of Q (of its adjoint).
  Padded<T> q(Index columns) const {
    Padded<T> result(by_rows() ? columns : order(), by_rows() ? order() : columns, 2);
    const Index given = std::min(columns, count());
    const HostView<const T> v = vectors();
    for (Index j = 0; j < (by_rows() ? order() : given); ++j) {
      for (Index i = 0; i < (by_rows() ? given : order()); ++i) result(i, j) = v(i, j);
    }
    WorkWithEnd<T> work(std::max<Index>(columns, 1));
    EXPECT_EQ(orgqr<T>(kind, result.view(), given, tau.data(), work), 0);
    EXPECT_TRUE(result.padding_untouched());
    return by_rows() ? adjoint(result) : result;
  }
  /// The whole Q, with which ormqr multiplies.
  Padded<T> whole_q() const { return by_rows() ? adjoint(q(order())) : q(order()); }

  Reflectors kind;
  Padded<T> factors;
  std::vector<T> tau;
};

template <class T>
void expect_right(const Padded<T>& a, const Factored<T>& factored, double limit = kThreshold) {
  const auto q = factored.q(factored.count());
  if (factored.by_rows()) {
    EXPECT_LT(qr_residual(adjoint(a), q, adjoint(factored.factors)), limit);
  } else {
    EXPECT_LT(qr_residual(a, q, factored.factors), limit);
  }
  EXPECT_LT(orthogonality(q), limit);
  EXPECT_LT(orthogonality(factored.q(factored.order())), kThreshold) << "all of Q";
  EXPECT_TRUE(factored.factors.padding_untouched());
}

/// ||op(Q) C - product|| / (m ||C|| eps), or of C op(Q).
template <class T>
double error_of_product(Side side, Op op, const Padded<T>& q, const Padded<T>& c,
                        const Padded<T>& product) {
  const auto wide = widen<T>(c.view()), got = widen<T>(product.view()), of_q = widen<T>(q.view());
  const auto error = side == Side::left ? rest(got, op, of_q, Op::none, wide)
                                        : rest(got, Op::none, wide, op, of_q);
  return scaled(norm1(error), static_cast<double>(q.rows()) * norm1(wide), epsilon<T>());
}

template <class T>
class Qr : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) send_to_device(false);
  }
  /// Every call, however small, or none.
  void send_to_device(bool yes) {
    dispatch::Settings settings = settings_for(dispatch::Algorithm::tiled, 16);
    if (!yes) settings.device = dispatch::DeviceChoice::off;
    yes ? use(settings)
        : dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  }
  /// Whether a call has been where it was sent.
  void expect_reached(bool device, std::size_t uploaded_before) {
    if (device) {
      EXPECT_GT(uploaded(), uploaded_before) << "the call did not reach the device";
    } else {
      EXPECT_EQ(uploaded(), uploaded_before);
    }
  }
  const cpu::Lapack<T>& cpu_lapack() { return cpu::lapack<T>(cpu::Family::lp64); }
};
TYPED_TEST_SUITE(Qr, Precisions);

TYPED_TEST(Qr, FactorsAMatrix) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    this->send_to_device(device);
    for (const Reflectors kind : kKinds) {
      for (const MatrixShape shape : kShapes) {
        SCOPED_TRACE(testing::Message()
                     << name_of(kind) << shape << (device ? " on the device" : ""));
        const auto a = random_matrix<T>(shape.m, shape.n, 1, 3);
        const std::size_t before = this->uploaded();
        const Factored<T> factored(kind, a);
        this->expect_reached(device, before);
        expect_right(a, factored);
      }
    }
  }
}

/// What has no reflectors is for the CPU, which cannot read the matrix.
TYPED_TEST(Qr, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  this->send_to_device(true);
  const Index n = 70;
  const auto a = random_matrix<T>(n, n, 1);
  for (const Reflectors kind : kKinds) {
    Factored<T> factored(kind, a);
    factored.factors = a;
    OnDevice<T> there(this->device(), factored.factors);
    WorkWithEnd<T> work(n);
    EXPECT_EQ(geqrf<T>(kind, there.view(), factored.tau.data(), work), 0);
    EXPECT_GE(real(work.first()), Real<T>(n));
    EXPECT_EQ(orgqr<T>(kind, there.view(), 0, factored.tau.data(), work), dispatch::kNoMemory);
    there.fetch();
    expect_right(a, factored);
  }
}

/// Whatever the device fails in, the CPU LAPACK finishes, in the caller's workspace.
TYPED_TEST(Qr, FaultsAtEveryAction) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  for (const Reflectors kind : kKinds) {
    for (const MatrixShape shape : {MatrixShape{60, 45}, {40, 70}}) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << shape);
      const auto a = random_matrix<T>(shape.m, shape.n, 1, 3);
      const Index faults = this->with_faults(
          every ? 1 : 29, [&] { this->send_to_device(true); },
          [&] {
            const Factored<T> factored(kind, a);
            expect_right(a, factored);
            const auto q = factored.whole_q(), c = random_matrix<T>(q.rows(), 20, 2, 1);
            auto product = c;
            WorkWithEnd<T> work(c.cols());
            EXPECT_EQ(ormqr<T>(kind, Side::left, Op::conj_trans, factored.vectors(),
                               factored.tau.data(), product.view(), work),
                      0);
            EXPECT_LT(error_of_product(Side::left, Op::conj_trans, q, c, product), kThreshold);
          });
      EXPECT_GT(faults, 1);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Qr, IsThatOfTheCpuLapackWithTheCallersWorkspace) {
  using T = TypeParam;
  const Index m = 150, n = 130;
  const auto a = random_matrix<T>(m, n, 1, 3);
  for (const Reflectors kind : kKinds) {
    for (const Index columns : {1, 32}) {
      auto ours = a, theirs = a;
      const Index size = columns * (kind == Reflectors::rows ? m : n);
      std::vector<T> tau(n), tau_of_cpu(n), work_of_cpu(static_cast<std::size_t>(size));
      WorkWithEnd<T> work(size);
      EXPECT_EQ(geqrf<T>(kind, ours.view(), tau.data(), work), 0);
      EXPECT_EQ(cpu::geqrf<T>(this->cpu_lapack(), kind, theirs.view(), tau_of_cpu.data(),
                              {work_of_cpu.data(), size}),
                0);
      EXPECT_TRUE(same_bits(ours, theirs));
      EXPECT_EQ(tau, tau_of_cpu);
      EXPECT_EQ(work.first(), work_of_cpu[0]);
    }
  }
}

TYPED_TEST(Qr, MultipliesByQ) {
  using T = TypeParam;
  constexpr Index kOthers = 17;
  for (const Reflectors kind : kKinds) {
    for (const MatrixShape shape : {MatrixShape{30, 30}, {50, 20}, {20, 50}, {90, 70}, {1, 1}}) {
      this->send_to_device(false);
      const Factored<T> factored(kind, random_matrix<T>(shape.m, shape.n, 1, 1));
      const auto before = factored.factors;
      const auto q = factored.whole_q();
      this->send_to_device(true);
      for (const Side side : kSides) {
        for (const Op op : kOps) {
          SCOPED_TRACE(testing::Message() << name_of(kind) << shape << static_cast<char>(side)
                                          << static_cast<char>(op));
          const auto c = side == Side::left ? random_matrix<T>(q.rows(), kOthers, 2, 2)
                                            : random_matrix<T>(kOthers, q.rows(), 2, 2);
          auto product = c;
          WorkWithEnd<T> work(kOthers);
          const std::size_t uploaded = this->uploaded();
          EXPECT_EQ(ormqr<T>(kind, side, op, factored.vectors(), factored.tau.data(),
                             product.view(), work),
                    0);
          this->expect_reached(true, uploaded);
          EXPECT_TRUE(product.padding_untouched());
          EXPECT_TRUE(same_bits(factored.factors, before));
          EXPECT_LT(error_of_product(side, op, q, c, product), kThreshold);
        }
      }
    }
  }
}

TYPED_TEST(Qr, AQueryAsksForAWorkspaceThatSuffices) {
  using T = TypeParam;
  for (const Reflectors kind : kKinds) {
    const bool rows = kind == Reflectors::rows;
    for (const MatrixShape tall : {MatrixShape{100, 60}, {60, 100}, {1, 1}, {0, 5}, {5, 0}}) {
      const MatrixShape shape = rows ? MatrixShape{tall.n, tall.m} : tall;
      SCOPED_TRACE(testing::Message() << name_of(kind) << shape);
      const auto a = random_matrix<T>(shape.m, shape.n, 1, 1);
      auto x = a;
      std::vector<T> tau(60 + 1, sentinel<T>()), wanted(1);
      WorkWithEnd<T> query(kQuery);
      EXPECT_EQ(geqrf<T>(kind, x.view(), tau.data(), query), 0);
      EXPECT_GE(real(query.first()), tall.m > 0 ? Real<T>(tall.n) : Real<T>(1));
      EXPECT_TRUE(same_bits(x, a));
      EXPECT_EQ(tau[0], sentinel<T>());
      EXPECT_EQ(
          cpu::geqrf<T>(this->cpu_lapack(), kind, x.view(), tau.data(), {wanted.data(), kQuery}),
          0);
      EXPECT_EQ(query.first(), wanted[0]) << "the CPU may do the call";
      WorkWithEnd<T> work(std::max<Index>(static_cast<Index>(real(query.first())), 1));
      EXPECT_EQ(geqrf<T>(kind, x.view(), tau.data(), work), 0);
      if (tall.m < tall.n) continue;
      EXPECT_EQ(orgqr<T>(kind, x.view(), tall.n, tau.data(), query), 0);
      EXPECT_GE(real(query.first()), Real<T>(std::max<Index>(tall.n, 1)));
      for (const Side side : kSides) {
        auto c =
            side == Side::left ? random_matrix<T>(tall.m, 9, 2) : random_matrix<T>(9, tall.m, 2);
        const auto before = c;
        EXPECT_EQ(ormqr<T>(kind, side, Op::none, x.view(), tau.data(), c.view(), query), 0);
        EXPECT_GE(real(query.first()), Real<T>(1));
        EXPECT_TRUE(same_bits(c, before));
        WorkWithEnd<T> enough(static_cast<Index>(real(query.first())));
        EXPECT_EQ(ormqr<T>(kind, side, Op::none, x.view(), tau.data(), c.view(), enough), 0);
      }
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
  for (const Reflectors kind : kKinds) {
    const bool rows = kind == Reflectors::rows;
    for (const MatrixShape tall : {MatrixShape{0, 0}, {0, 4}, {4, 0}}) {
      const MatrixShape shape = rows ? MatrixShape{tall.n, tall.m} : tall;
      const HostView<T> a(&element, shape.m, shape.n, std::max<Index>(shape.m, 1));
      WorkWithEnd<T> work(tall.m > 0 ? std::max<Index>(tall.n, 1) : 1);
      EXPECT_EQ(geqrf<T>(kind, a, &tau, work), 0);
      EXPECT_EQ(work.first(), T(1));
      if (tall.n > 0) continue;
      WorkWithEnd<T> others(1);
      EXPECT_EQ(orgqr<T>(kind, a, 0, &tau, others), 0);
      EXPECT_EQ(others.first(), T(1));
    }
    for (const MatrixShape c : {MatrixShape{0, 3}, {3, 0}, {2, 2}}) {
      WorkWithEnd<T> work(3);
      Padded<T> product(c.m, c.n);
      const HostView<T> none(&element, rows ? 0 : c.m, rows ? c.m : 0, std::max<Index>(c.m, 1));
      EXPECT_EQ(ormqr<T>(kind, Side::left, Op::none, none, &tau, product.view(), work), 0);
      EXPECT_EQ(work.first(), T(1));
      EXPECT_EQ(product(0, 0), sentinel<T>());
    }
  }
  EXPECT_EQ(element, sentinel<T>());
  EXPECT_EQ(tau, sentinel<T>());
}

/// Without reflectors Q is the unit matrix.
TYPED_TEST(Qr, OfNoReflectors) {
  using T = TypeParam;
  for (const Reflectors kind : kKinds) {
    auto q = kind == Reflectors::rows ? random_matrix<T>(4, 7, 1, 2) : random_matrix<T>(7, 4, 1, 2);
    WorkWithEnd<T> work(4);
    EXPECT_EQ(orgqr<T>(kind, q.view(), 0, nullptr, work), 0);
    for (Index j = 0; j < q.cols(); ++j) {
      for (Index i = 0; i < q.rows(); ++i) EXPECT_EQ(q(i, j), T(i == j));
    }
    EXPECT_TRUE(q.padding_untouched());
  }
}

TYPED_TEST(Qr, ArgumentsAreCheckedInLapacksOrder) {
  using T = TypeParam;
  auto a = random_matrix<T>(6, 6, 1);
  const auto before = a;
  std::vector<T> tau(6);
  T work[6] = {};
  std::int32_t info = kNoInfo;
  struct Factors {
    std::int32_t m, n, lda, lwork, info;
  };
  const Factors of_geqrf[] = {{-1, -1, 0, 0, -1}, {2, -1, 1, 0, -2}, {2, 2, 1, 0, -4},
                              {2, 3, 2, 2, -7},   {2, 3, 2, -2, -7}, {2, 3, 2, 0, -7},
                              {0, 3, 1, 0, -7},   {2, 0, 2, 0, -7},  {0, 3, 1, 1, 0},
                              {-1, 2, 2, -1, -1}};
  for (const Factors& c : of_geqrf) {
    Exported<T>::geqrf(&c.m, &c.n, a.data(), &c.lda, tau.data(), work, &c.lwork, &info);
    EXPECT_EQ(info, c.info);
  }
  const Factors of_gelqf[] = {{-1, -1, 0, 0, -1}, {2, -1, 1, 0, -2}, {2, 2, 1, 0, -4},
                              {3, 2, 3, 2, -7},   {3, 2, 3, -2, -7}, {3, 0, 3, 0, -7},
                              {0, 3, 1, 0, -7},   {3, 0, 3, 1, 0},   {2, -1, 2, -1, -2}};
  for (const Factors& c : of_gelqf) {
    Exported<T>::gelqf(&c.m, &c.n, a.data(), &c.lda, tau.data(), work, &c.lwork, &info);
    EXPECT_EQ(info, c.info);
  }
  struct Q {
    std::int32_t m, n, k, lda, lwork, info;
  };
  const Q of_orgqr[] = {{-1, -1, -1, 0, 0, -1}, {2, -1, -1, 1, 0, -2}, {2, 3, 4, 1, 0, -2},
                        {3, 2, -1, 1, 0, -3},   {3, 2, 3, 1, 0, -3},   {3, 2, 2, 2, 0, -5},
                        {3, 2, 2, 3, 1, -8},    {3, 2, 2, 3, -2, -8},  {0, 0, 0, 1, 0, -8}};
  const Q of_orglq[] = {{-1, -1, -1, 0, 0, -1}, {2, -1, -1, 1, 0, -2}, {3, 2, 4, 1, 0, -2},
                        {2, 3, -1, 1, 0, -3},   {2, 3, 3, 1, 0, -3},   {2, 3, 2, 1, 0, -5},
                        {2, 3, 2, 2, 1, -8},    {2, 3, 2, 2, -2, -8},  {0, 0, 0, 1, 0, -8}};
  for (const Reflectors kind : kKinds) {
    for (const Q& c : kind == Reflectors::rows ? of_orglq : of_orgqr) {
      exported_orgqr<T>(kind)(&c.m, &c.n, &c.k, a.data(), &c.lda, tau.data(), work, &c.lwork,
                              &info);
      EXPECT_EQ(info, c.info);
    }
  }
  const char adjoint = is_complex<T> ? 'c' : 't', other = is_complex<T> ? 'T' : 'C';
  const struct {
    char side, trans;
    std::int32_t m, n, k, lda, ldc, lwork, of_ormqr, of_ormlq;
  } products[] = {
      {'/', '/', -1, -1, -1, 0, 0, 0, -1, -1},    {'l', '/', -1, -1, -1, 0, 0, 0, -2, -2},
      {'R', other, -1, -1, -1, 0, 0, 0, -2, -2},  {'L', 'N', -1, -1, -1, 0, 0, 0, -3, -3},
      {'r', adjoint, 2, -1, -1, 0, 1, 0, -4, -4}, {'L', 'n', 2, 3, -1, 0, 1, 0, -5, -5},
      {'L', 'N', 2, 3, 3, 1, 1, 0, -5, -5},       {'R', 'N', 2, 3, 4, 1, 1, 0, -5, -5},
      {'L', 'N', 3, 3, 2, 2, 1, 0, -7, -10},      {'R', 'N', 2, 3, 2, 2, 1, 0, -7, -10},
      {'L', 'N', 3, 3, 2, 1, 1, 0, -7, -7},       {'L', 'N', 2, 3, 2, 2, 1, 0, -10, -10},
      {'R', 'N', 2, 3, 2, 3, 1, 0, -10, -10},     {'L', 'N', 2, 3, 2, 2, 2, 2, -12, -12},
      {'R', 'N', 2, 3, 2, 3, 2, 1, -12, -12},     {'L', 'N', 2, 3, 2, 2, 2, -2, -12, -12}};
  for (const Reflectors kind : kKinds) {
    for (const auto& c : products) {
      exported_ormqr<T>(kind)(&c.side, &c.trans, &c.m, &c.n, &c.k, a.data(), &c.lda, tau.data(),
                              a.data(), &c.ldc, work, &c.lwork, &info, 1, 1);
      EXPECT_EQ(info, kind == Reflectors::rows ? c.of_ormlq : c.of_ormqr);
    }
  }
  EXPECT_TRUE(same_bits(a, before));
}

/// A driver of the CPU LAPACK would not see that memory has run out, and go on.
TYPED_TEST(Qr, NeedsNoMemory) {
  using T = TypeParam;
  const auto a = random_matrix<T>(40, 40, 1);
  for (const Reflectors kind : kKinds) {
    const Factored<T> peaceful(kind, a);
    auto q = peaceful.factors, c = a;
    Factored<T> factored = peaceful;
    factored.factors = a;
    WorkWithEnd<T> work(40);
    EXPECT_EQ(orgqr<T>(kind, q.view(), 40, peaceful.tau.data(), work), 0);
    EXPECT_EQ(ormqr<T>(kind, Side::left, Op::none, peaceful.vectors(), peaceful.tau.data(),
                       c.view(), work),
              0);  // for what is made once and for all
    const auto expected = q;
    q = peaceful.factors;
    Index info[3] = {kNoInfo, kNoInfo, kNoInfo};
    {
      const ScarceMemory memory(1, true);
      info[0] = geqrf<T>(kind, factored.factors.view(), factored.tau.data(), work);
      info[1] = orgqr<T>(kind, q.view(), 40, peaceful.tau.data(), work);
      info[2] = ormqr<T>(kind, Side::left, Op::conj_trans, peaceful.vectors(), peaceful.tau.data(),
                         c.view(), work);
      EXPECT_EQ(memory.count(), 0);
    }
    for (const Index i : info) EXPECT_EQ(i, 0);
    expect_right(a, factored);
    EXPECT_TRUE(same_bits(q, expected));
    EXPECT_LT(distance(c, a), 40 * 40 * kThreshold * epsilon<T>()) << "Q^H Q C";
  }
}

// ---- Blocks with triangles
// -----------------------------------------------------------------------

/// A factorization by blocks of nb columns, and what it is to leave.
template <class T>
struct Blocks {
  Blocks(MatrixShape shape, Index nb)
      : a(well_conditioned<T>(shape.m, shape.n)),
        expected(a),
        expected_t(nb, std::min(shape.m, shape.n)),
        factored(Reflectors::columns, a) {
    cpu::textbook::geqrt<T>(expected.view(), expected_t.view());
    begin();
  }
  Index nb() const { return expected_t.rows(); }
  Index count() const { return expected_t.cols(); }
  HostView<const T> triangles() const { return t.view(); }

  /// What is below the diagonals of the triangles is NaN, which nobody is to read or write.
  void begin() {
    factored.factors = a;
    t = Padded<T>(nb(), count(), 2);
    for (Index j = 0; j < count(); ++j) std::fill_n(&t(0, j), nb(), nan<T>());
  }
  /// `columns` of A and tau as a device leaves them, tau in the workspace.
  void begin_with(Index columns, std::vector<T>& work) {
    begin();
    for (Index j = 0; j < columns; ++j) {
      std::copy_n(&expected(0, j), a.rows(), &factored.factors(0, j));
      if (j < count()) work[algorithms::at(j)] = expected_t(j % nb(), j);
    }
  }
  void check() {
    for (Index j = 0; j < count(); ++j) factored.tau[algorithms::at(j)] = t(j % nb(), j);
    expect_right(a, factored);
    const double limit = 100 * static_cast<double>(a.rows() + a.cols()) * epsilon<T>();
    EXPECT_LT(distance(factored.factors, expected), limit * norm1(widen<T>(a.view())));
    EXPECT_TRUE(t.padding_untouched());
    for (Index j = 0; j < count(); ++j) {
      for (Index i = 0; i < nb(); ++i) {
        if (i <= j % nb()) {
          EXPECT_LT(std::abs(t(i, j) - expected_t(i, j)), limit) << i << ", " << j;
        } else {
          EXPECT_TRUE(std::isnan(real(t(i, j)))) << i << ", " << j;
        }
      }
    }
  }

  const Padded<T> a;
  Padded<T> expected, expected_t;
  Factored<T> factored;
  Padded<T> t;
};

constexpr MatrixShape kShapesOfBlocks[] = {{20, 20}, {50, 33}, {33, 50}, {70, 64}, {150, 130}};
/// 1, some that divide no size of a block on the device, and all columns.
std::vector<Index> blocks_for(MatrixShape shape) { return {1, 5, 20, std::min(shape.m, shape.n)}; }

TYPED_TEST(Qr, WithTrianglesOfBlocks) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    this->send_to_device(device);
    for (const MatrixShape shape : kShapesOfBlocks) {
      for (const Index nb : blocks_for(shape)) {
        SCOPED_TRACE(testing::Message()
                     << shape << " nb " << nb << (device ? " on the device" : ""));
        Blocks<T> blocks(shape, nb);
        std::size_t before = this->uploaded();
        EXPECT_EQ(geqrt<T>(blocks.factored.factors.view(), blocks.t.view()), 0);
        this->expect_reached(device, before);
        blocks.check();
        const auto q = blocks.factored.whole_q();
        for (const Side side : kSides) {
          for (const Op op : kOps) {
            const auto c = side == Side::left ? random_matrix<T>(shape.m, 71, 2, 2)
                                              : random_matrix<T>(71, shape.m, 2, 2);
            auto product = c;
            before = this->uploaded();
            EXPECT_EQ(
                gemqrt<T>(side, op, blocks.factored.vectors(), blocks.triangles(), product.view()),
                0);
            this->expect_reached(device, before);
            EXPECT_TRUE(product.padding_untouched());
            EXPECT_LT(error_of_product(side, op, q, c, product), kThreshold);
          }
        }
        if (this->HasFailure()) return;
      }
    }
  }
}

/// All of A, T, V and C, or one of them.
TYPED_TEST(Qr, BlocksOnTheDevice) {
  using T = TypeParam;
  this->send_to_device(true);
  Blocks<T> blocks({90, 70}, 20);
  const auto c = random_matrix<T>(90, 80, 2, 2);
  for (const bool matrix : {false, true}) {
    for (const bool triangles : {false, true}) {
      SCOPED_TRACE(testing::Message() << matrix << triangles);
      blocks.begin();
      {
        OnDevice<T> a(this->device(), blocks.factored.factors), t(this->device(), blocks.t);
        EXPECT_EQ(geqrt<T>(matrix ? a.view() : blocks.factored.factors.view(),
                           triangles ? t.view() : blocks.t.view()),
                  0);
        if (matrix) a.fetch();
        if (triangles) t.fetch();
      }
      blocks.check();
      auto product = c;
      OnDevice<T> v(this->device(), blocks.factored.factors), t(this->device(), blocks.t),
          x(this->device(), product);
      const HostView<const T> vectors = matrix ? v.view() : blocks.factored.factors.view();
      EXPECT_EQ(gemqrt<T>(Side::left, Op::conj_trans, vectors,
                          triangles ? HostView<const T>(t.view()) : blocks.triangles(),
                          matrix ? x.view() : product.view()),
                0);
      if (matrix) x.fetch();
      EXPECT_LT(error_of_product(Side::left, Op::conj_trans, blocks.factored.whole_q(), c, product),
                kThreshold);
    }
  }
}

TYPED_TEST(Qr, FaultsAtEveryActionOfBlocks) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  struct Case {
    MatrixShape shape;
    Index nb;
  };
  for (const Case& c : {Case{{60, 44}, 9}, {{30, 70}, 7}, {{50, 50}, 1}, {{40, 30}, 30}}) {
    SCOPED_TRACE(testing::Message() << c.shape << " nb " << c.nb);
    Blocks<T> blocks(c.shape, c.nb);
    const Index factored = this->with_faults(
        every ? 1 : 23,
        [&] {
          this->send_to_device(true);
          blocks.begin();
        },
        [&] {
          EXPECT_EQ(geqrt<T>(blocks.factored.factors.view(), blocks.t.view()), 0);
          blocks.check();
        });
    EXPECT_GT(factored, 1);
    if (this->HasFailure()) return;
    const auto q = blocks.factored.whole_q();
    for (const Side side : kSides) {
      const auto of = side == Side::left ? random_matrix<T>(c.shape.m, 70, 2, 2)
                                         : random_matrix<T>(70, c.shape.m, 2, 2);
      const Index multiplied = this->with_faults(
          every ? 1 : 23, [&] { this->send_to_device(true); },
          [&] {
            auto product = of;
            EXPECT_EQ(gemqrt<T>(side, Op::none, blocks.factored.vectors(), blocks.triangles(),
                                product.view()),
                      0);
            EXPECT_LT(error_of_product(side, Op::none, q, of, product), kThreshold);
          });
      EXPECT_GT(multiplied, 1);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Qr, BlocksAreFinishedFromAnyColumn) {
  using T = TypeParam;
  for (const MatrixShape shape : {MatrixShape{50, 33}, {33, 50}}) {
    for (const Index nb : blocks_for(shape)) {
      Blocks<T> blocks(shape, nb);
      for (Index done = 0; done <= shape.n; ++done) {
        SCOPED_TRACE(testing::Message() << shape << " nb " << nb << " from " << done);
        std::vector<T> work(algorithms::at(nb * shape.n) + 1, sentinel<T>());
        blocks.begin_with(done, work);
        cpu::finish_geqrt<T>(this->cpu_lapack(), blocks.factored.factors.view(), blocks.t.view(),
                             done, work.data());
        EXPECT_EQ(work.back(), sentinel<T>());
        blocks.check();
        if (this->HasFailure()) return;
      }
    }
  }
}

/// As the drivers of a CPU LAPACK are promised, though none is known that calls these.
TYPED_TEST(Qr, BlocksNeedNoMemory) {
  using T = TypeParam;
  Blocks<T> blocks({40, 40}, 7);
  std::vector<T> work(7 * 40);
  const auto factor = [&] {
    blocks.begin_with(17, work);
    const ScarceMemory memory(1, true);
    cpu::finish_geqrt<T>(this->cpu_lapack(), blocks.factored.factors.view(), blocks.t.view(), 17,
                         work.data());
    return memory.count();
  };
  factor();  // for what is made once and for all
  EXPECT_EQ(factor(), 0);
  blocks.check();
}

TYPED_TEST(Qr, ArgumentsOfBlocksAreCheckedInLapacksOrder) {
  using T = TypeParam;
  auto a = random_matrix<T>(6, 6, 1);
  const auto before = a;
  T work[36] = {};
  std::int32_t info = kNoInfo;
  const struct {
    std::int32_t m, n, nb, lda, ldt, info;
  } factors[] = {{-1, -1, 0, 0, 0, -1}, {2, -1, 0, 0, 0, -2}, {2, 3, 0, 0, 0, -3},
                 {2, 3, 3, 0, 0, -3},   {2, 3, 2, 1, 1, -5},  {2, 3, 2, 2, 1, -7},
                 {0, 3, 4, 1, 3, -7},   {0, 3, 4, 1, 4, 0},   {3, 0, 0, 3, 4, -3}};
  for (const auto& c : factors) {
    Exported<T>::geqrt(&c.m, &c.n, &c.nb, a.data(), &c.lda, a.data(), &c.ldt, work, &info);
    EXPECT_EQ(info, c.info);
  }
  const char adjoint = is_complex<T> ? 'C' : 'T', other = is_complex<T> ? 'T' : 'C';
  const struct {
    char side, trans;
    std::int32_t m, n, k, nb, ldv, ldt, ldc, info;
  } products[] = {{'/', '/', -1, -1, -1, 0, 0, 0, 0, -1}, {'L', other, -1, -1, -1, 0, 0, 0, 0, -2},
                  {'L', 'N', -1, -1, -1, 0, 0, 0, 0, -3}, {'R', adjoint, 2, -1, -1, 0, 0, 0, 0, -4},
                  {'L', 'N', 2, 3, 3, 0, 0, 0, 0, -5},    {'R', 'N', 2, 3, 4, 0, 0, 0, 0, -5},
                  {'L', 'N', 2, 3, 2, 0, 1, 1, 1, -6},    {'L', 'N', 2, 3, 2, 3, 1, 1, 1, -6},
                  {'L', 'N', 2, 3, 2, 2, 1, 1, 1, -8},    {'R', 'N', 2, 3, 2, 2, 2, 1, 1, -8},
                  {'L', 'N', 2, 3, 2, 2, 2, 1, 1, -10},   {'L', 'N', 2, 3, 2, 2, 2, 2, 1, -12},
                  {'L', 'N', 2, 3, 0, 9, 2, 9, 2, 0}};
  for (const auto& c : products) {
    Exported<T>::gemqrt(&c.side, &c.trans, &c.m, &c.n, &c.k, &c.nb, a.data(), &c.ldv, a.data(),
                        &c.ldt, a.data(), &c.ldc, work, &info, 1, 1);
    EXPECT_EQ(info, c.info);
  }
  EXPECT_TRUE(same_bits(a, before));
}

// ---- Least squares
// -------------------------------------------------------------------------------

/// How far X is from the solution of op(A) X = B: of least squares, for which the residual is
/// orthogonal to op(A); or of least norm, for which X is a combination of rows of op(A).
template <class T>
double error_of_solution(Op op, const Padded<T>& a, const Padded<T>& b, const Padded<T>& solved) {
  using W = Wide<T>;
  const auto wide = widen<T>(op == Op::none ? a.view() : adjoint(a).view());
  const Index m = wide.rows(), n = wide.cols(), nrhs = b.cols();
  Padded<W> x(n, nrhs), right(m, nrhs);
  for (Index j = 0; j < nrhs; ++j) {
    for (Index i = 0; i < n; ++i) x(i, j) = W(solved(i, j));
    for (Index i = 0; i < m; ++i) right(i, j) = W(b(i, j));
  }
  const auto residual = rest(right, Op::none, wide, Op::none, x);
  const double size = norm1(wide);
  if (m >= n) {
    Padded<W> zero(n, nrhs);
    for (Index j = 0; j < nrhs; ++j) std::fill_n(&zero(0, j), n, W(0));
    return scaled(norm1(rest(zero, Op::conj_trans, wide, Op::none, residual)),
                  size * (size * norm1(x) + norm1(right)) * static_cast<double>(m), epsilon<T>());
  }
  // The part of X that is orthogonal to the rows: X - Q Q^H X.
  const auto q =
      widen<T>(Factored<T>(Reflectors::columns, op == Op::none ? adjoint(a) : a).q(m).view());
  Padded<W> part(m, nrhs);
  reference::gemm<W>(Op::conj_trans, Op::none, W(1), q.view(), x.view(), W(0), part.view());
  const double beside = scaled(norm1(rest(x, Op::none, q, Op::none, part)),
                               norm1(x) * static_cast<double>(n), epsilon<T>());
  return std::max(beside, scaled(norm1(residual), size * norm1(x), epsilon<T>()));
}

TYPED_TEST(Qr, SolvesLeastSquares) {
  using T = TypeParam;
  for (const MatrixShape shape : {MatrixShape{40, 40}, {70, 30}, {30, 70}, {1, 1}, {5, 1}}) {
    for (const Op op : kOps) {
      for (const Index nrhs : {1, 9}) {
        SCOPED_TRACE(testing::Message() << shape << static_cast<char>(op) << nrhs);
        auto a = random_matrix<T>(shape.m, shape.n, 1, 3);
        const Index count = std::min(shape.m, shape.n), longer = std::max(shape.m, shape.n);
        for (Index j = 0; j < count; ++j) a(j, j) += T(2);
        const auto b = random_matrix<T>(longer, nrhs, 2, 2);
        WorkWithEnd<T> work(count + std::max(count, nrhs));
        auto factored = a, x = b;
        EXPECT_EQ(gels<T>(op, factored.view(), x.view(), work), 0);
        EXPECT_TRUE(factored.padding_untouched());
        EXPECT_TRUE(x.padding_untouched());
        EXPECT_LT(error_of_solution(op, a, b, x), kThreshold);
        factored = a;
        x = b;
        std::vector<T> tau(static_cast<std::size_t>(count));
        EXPECT_EQ(
            cpu::textbook::gels<T>(this->cpu_lapack(), op, factored.view(), x.view(), tau.data()),
            0);
        EXPECT_LT(error_of_solution(op, a, b, x), kThreshold) << "by loops";
      }
    }
  }
}

TYPED_TEST(Qr, LeastSquaresWithoutFullRank) {
  using T = TypeParam;
  for (const bool by_loops : {false, true}) {
    for (const Op op : kOps) {
      auto a = random_matrix<T>(7, 4, 1), b = random_matrix<T>(7, 2, 2);
      for (Index i = 0; i < 7; ++i) a(i, 2) = T(0);
      std::vector<T> tau(4);
      WorkWithEnd<T> work(8);
      const auto solve = [&] {
        return by_loops
                   ? cpu::textbook::gels<T>(this->cpu_lapack(), op, a.view(), b.view(), tau.data())
                   : gels<T>(op, a.view(), b.view(), work);
      };
      EXPECT_EQ(solve(), 3);
      for (Index j = 0; j < 4; ++j) std::fill_n(&a(0, j), 7, T(0));
      EXPECT_EQ(solve(), 0) << "of A = 0 it is 0";
      for (Index j = 0; j < 2; ++j) {
        for (Index i = 0; i < (op == Op::none ? 7 : 7); ++i) EXPECT_EQ(b(i, j), T(0));
      }
    }
  }
}

TYPED_TEST(Qr, LeastSquaresOfNothing) {
  using T = TypeParam;
  for (const bool by_loops : {false, true}) {
    for (const MatrixShape shape : {MatrixShape{0, 3}, {3, 0}, {0, 0}}) {
      auto a = random_matrix<T>(shape.m, shape.n, 1), b = random_matrix<T>(3, 2, 2, 1);
      WorkWithEnd<T> work(2);
      const HostView<T> right = b.view().block(0, 0, std::max(shape.m, shape.n), 2);
      const Index info = by_loops ? cpu::textbook::gels<T>(this->cpu_lapack(), Op::none, a.view(),
                                                           right, work.data())
                                  : gels<T>(Op::none, a.view(), right, work);
      EXPECT_EQ(info, 0);
      for (Index i = 0; i < right.rows; ++i) EXPECT_EQ(b(i, 1), T(0));
      EXPECT_TRUE(b.padding_untouched());
    }
  }
}

TYPED_TEST(Qr, ArgumentsOfLeastSquaresAreCheckedInLapacksOrder) {
  using T = TypeParam;
  auto a = random_matrix<T>(6, 6, 1);
  const auto before = a;
  T work[6] = {};
  std::int32_t info = kNoInfo;
  const char adjoint = is_complex<T> ? 'c' : 't', other = is_complex<T> ? 'T' : 'C';
  const struct {
    char trans;
    std::int32_t m, n, nrhs, lda, ldb, lwork, info;
  } wrong[] = {{'/', -1, -1, -1, 0, 0, 0, -1}, {other, -1, -1, -1, 0, 0, 0, -1},
               {'N', -1, -1, -1, 0, 0, 0, -2}, {adjoint, 2, -1, -1, 0, 0, 0, -3},
               {'n', 2, 3, -1, 0, 0, 0, -4},   {'N', 2, 3, 1, 1, 0, 0, -6},
               {'N', 2, 3, 1, 2, 2, 0, -8},    {'N', 3, 2, 1, 3, 2, 0, -8},
               {'N', 3, 2, 1, 3, 3, 3, -10},   {'N', 3, 2, 4, 3, 3, 5, -10},
               {'N', 0, 0, 0, 1, 1, 0, -10},   {'N', 3, 2, 4, 3, 3, -2, -10}};
  for (const auto& c : wrong) {
    Exported<T>::gels(&c.trans, &c.m, &c.n, &c.nrhs, a.data(), &c.lda, a.data(), &c.ldb, work,
                      &c.lwork, &info, 1);
    EXPECT_EQ(info, c.info);
  }
  WorkWithEnd<T> query(kQuery);
  EXPECT_EQ(gels<T>(Op::none, a.view(), a.view(), query), 0);
  EXPECT_GE(real(query.first()), Real<T>(12));
  EXPECT_TRUE(same_bits(a, before));
}

// ---- Textbook loops, for a process without a CPU LAPACK -----------------------------------------

/// The same by loops.
template <class T>
Factored<T> factored_by_loops(Reflectors kind, const Padded<T>& a) {
  Factored<T> factored(kind, a);
  factored.factors = a;
  cpu::textbook::geqrf<T>({factored.factors.view(), factored.by_rows()},
                          [&](Index j, T tau) { factored.tau[static_cast<std::size_t>(j)] = tau; });
  return factored;
}

TYPED_TEST(Qr, ByTextbookLoops) {
  using T = TypeParam;
  for (const Reflectors kind : kKinds) {
    for (const MatrixShape shape : kShapes) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << shape);
      const auto a = random_matrix<T>(shape.m, shape.n, 1, 3);
      const Factored<T> lapacks(kind, a), loops = factored_by_loops(kind, a);
      expect_right(a, loops);
      const double limit = 100 * static_cast<double>(std::max(shape.m, shape.n)) * epsilon<T>();
      for (std::size_t j = 0; j < loops.tau.size(); ++j) {
        EXPECT_LT(std::abs(loops.tau[j] - lapacks.tau[j]), limit) << "signs are LAPACK's";
      }
      const auto by_lapack = loops.q(loops.count());
      Padded<T> q(loops.vectors().rows, loops.vectors().cols);
      reference::lacpy(loops.vectors(), q.view());
      cpu::textbook::orgqr<T>({q.view(), loops.by_rows()}, loops.count(), loops.tau.data());
      EXPECT_LT(distance(loops.by_rows() ? adjoint(q) : q, by_lapack), limit);
    }
  }
}

TYPED_TEST(Qr, MultipliesByTextbookLoops) {
  using T = TypeParam;
  for (const Reflectors kind : kKinds) {
    const bool rows = kind == Reflectors::rows;
    const Factored<T> factored(
        kind, rows ? random_matrix<T>(20, 30, 1, 1) : random_matrix<T>(30, 20, 1, 1));
    for (const Side side : kSides) {
      for (const Op op : kOps) {
        SCOPED_TRACE(testing::Message()
                     << name_of(kind) << static_cast<char>(side) << static_cast<char>(op));
        const auto c = random_matrix<T>(30, 30, 2, 2);
        auto ours = c, theirs = c;
        WorkWithEnd<T> work(30);
        EXPECT_EQ(
            ormqr<T>(kind, side, op, factored.vectors(), factored.tau.data(), theirs.view(), work),
            0);
        const auto tau = [&](Index j) { return factored.tau[static_cast<std::size_t>(j)]; };
        cpu::textbook::multiply<T>(kind, side, op, factored.vectors(), 20, tau, ours.view());
        EXPECT_LT(distance(ours, theirs), 3000 * epsilon<T>());
      }
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
    const auto factored = factored_by_loops(Reflectors::columns, a);
    EXPECT_LT(orthogonality(factored.q(5)), scale < tiny ? HUGE_VAL : kThreshold);
    for (Index j = 0; j < 5; ++j) EXPECT_TRUE(std::isfinite(real(factored.factors(j, j))));
  }
  Padded<T> zero(6, 3);
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < 6; ++i) zero(i, j) = T(0);
  }
  const auto of_zero = factored_by_loops(Reflectors::columns, zero);
  EXPECT_TRUE(same_bits(of_zero.factors, zero));
  for (const T tau : of_zero.tau) EXPECT_EQ(tau, T(0));
  auto with_nan = random_matrix<T>(6, 3, 1);
  with_nan(2, 1) = T(Limits::quiet_NaN());
  const auto of_nan = factored_by_loops(Reflectors::columns, with_nan);
  EXPECT_TRUE(std::isfinite(real(of_nan.factors(0, 0)))) << "a column before it";
  EXPECT_TRUE(std::isnan(real(of_nan.factors(1, 1))));
}

TEST(QrWithWideIntegers, OnTheCpu) {
  const auto a = random_matrix<double>(50, 30, 1, 2);
  Factored<double> factored(Reflectors::columns, a);
  factored.factors = a;
  const std::int64_t m = 50, n = 30, lda = a.ld(), lwork = n;
  std::vector<double> work(30);
  std::int64_t info = -1;
  dgeqrf_64_(&m, &n, factored.factors.data(), &lda, factored.tau.data(), work.data(), &lwork,
             &info);
  EXPECT_EQ(info, 0);
  expect_right(a, factored);
  auto q = factored.factors;
  dorgqr_64_(&m, &n, &n, q.data(), &lda, factored.tau.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  EXPECT_LT(qr_residual(a, q, factored.factors), kThreshold);
}

}  // namespace
}  // namespace overlapack
