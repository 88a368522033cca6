// Random calls of the symmetric eigenproblem. What LAPACK promises is compared: eigenvalues to
// rounding, which of them there are, residuals, orthonormality, info, and what nobody may touch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "calls/random_calls.hpp"
#include "eigen/hermitian.hpp"
#include "support/eigen_calls.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using cpu::EigenSizes;
using eigen::Data;
using eigen::Integer;
using eigen::kQuery;
using eigen::Question;
using eigen::VectorErrors;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// OpenBLAS 0.3.21 multiplies by 0, in products with symmetric matrices, what earlier calls have
/// left in its buffers. A NaN remains one. This leaves zeros there.
template <class T>
void clear_buffers_of_cpu_lapack() {
  constexpr Index kOrder = 128;
  const std::vector<T> zeros(kOrder * kOrder);
  auto product = zeros;
  const HostView<const T> operand(zeros.data(), kOrder, kOrder, kOrder);
  cpu::lapack<T>(cpu::Family::lp64)
      .gemm(Op::none, Op::none, T(1), operand, operand, T(1),
            {product.data(), kOrder, kOrder, kOrder});
}

/// A call of a driver.
template <class T>
struct DriverCall {
  Question q;
  Padded<T> a, b;  ///< whole matrices
  int exponent;    ///< A has been multiplied by such a power of two
  Real<T> vl = 0, vu = 0;

  bool is_generalized() const { return eigen::is_generalized(q.kind); }
  bool has_z() const { return eigen::has_range(q.kind); }
  Uplo uplo() const { return q.uplo == 'L' ? Uplo::lower : Uplo::upper; }
  /// What stands in the other triangles is sentinels.
  Data<T> data() const {
    Data<T> data(q);
    data.a = a;
    data.a.forbid_other_triangle(uplo());
    if (is_generalized()) {
      data.b = b;
      data.b.forbid_other_triangle(uplo());
    }
    if (q.range == 'I') data.z = Padded<T>(q.n, q.iu - q.il + 1, eigen::kPadding);
    data.vl = vl;
    data.vu = vu;
    return data;
  }
  HostView<const T> vectors_of(const Data<T>& data) const {
    const HostView<const T> all = has_z() ? data.z.view() : data.a.view();
    return all.block(0, 0, q.n, has_z() ? data.m : q.n);
  }
  VectorErrors errors_of(const Data<T>& data) const {
    auto a_of_size_one = widen<T>(a.view());
    multiply(a_of_size_one, -exponent);
    const auto z = widen<T>(vectors_of(data));
    std::vector<double> w;
    for (Index j = 0; j < z.cols(); ++j) {
      w.push_back(std::ldexp(static_cast<double>(data.w[at(j)]), -exponent));
    }
    return is_generalized()
               ? eigen::vector_errors<T>(q.itype, a_of_size_one, widen<T>(b.view()), z, w)
               : eigen::vector_errors<T>(a_of_size_one, z, w);
  }
};

template <class T>
class RandomEigenproblems : public RandomCalls<T> {
 protected:
  using R = Real<T>;
  using W = Wide<T>;

  void driver(Random& random) {
    DriverCall<T> call = draw_driver(random);
    Question& q = call.q;
    if (q.n == 0) return expect_nothing(call);
    const Index k = random.integer(0, q.n - 1), luck = random.integer(0, 14);
    const bool not_finite = luck == 0 && q.kind != eigen::Kind::evr,  // LAPACK's might never end
        indefinite = luck <= 4 && !not_finite && call.is_generalized();
    if (not_finite) call.a(k, random.integer(0, k)) = call.a(random.integer(0, k), k) = nan<T>();
    if (indefinite) call.b(k, k) = T(0);
    const std::vector<double> values =
        not_finite || indefinite ? std::vector<double>{} : values_of(call);
    if (q.range == 'v') draw_interval(random, call, values);
    SCOPED_TRACE(testing::Message() << q << " between " << call.vl << " and " << call.vu
                                    << ", A by 2^" << call.exponent);
    Data<T> ours = call.data(), theirs = call.data();
    theirs.run(true);
    if (values.empty()) {
      clear_buffers_of_cpu_lapack<T>();
      ours.run();
      EXPECT_TRUE(!indefinite || ours.info == q.n + k + 1) << ours.info;
      return expect_lapacks(ours, theirs);
    }
    run_somewhere(random, call, ours);
    ours.expect_ends_untouched();
    EXPECT_EQ(ours.info, 0);
    expect_values(call, ours, values);
    expect_triangles(call, ours);
    if (!q.vectors() || testing::Test::HasFailure()) return;
    const VectorErrors errors = call.errors_of(ours);
    const VectorErrors cpus = theirs.info == 0 ? call.errors_of(theirs) : VectorErrors{};
    EXPECT_LE(errors.residual, std::max(eigen::kMostErrors, 2 * cpus.residual));
    EXPECT_LE(errors.orthonormality, std::max(eigen::kMostErrors, 2 * cpus.orthonormality));
    // Of order 1 versions of LAPACK say different things.
    const bool has_failures = q.n > 1 && (q.kind == eigen::Kind::evx || q.kind == eigen::Kind::gvx);
    for (Index j = 0; has_failures && j < ours.m; ++j) EXPECT_EQ(ours.ifail[at(j)], 0) << j;
  }

  /// ?sytrd and ?hetrd.
  void reduction(Random& random) {
    Question q{eigen::Kind::trd, draw_order(random)};
    q.uplo = draw_uplo(random);
    const int exponent = draw_sign(random) * static_cast<int>(this->draw_exponent(random));
    q.lwork = static_cast<Integer>(random.integer(1, random.integer(1, 40 * std::max(q.n, 1))));
    SCOPED_TRACE(testing::Message() << q << " lwork=" << q.lwork << ", A by 2^" << exponent);
    const Padded<T> whole = draw_matrix(random, q.n, exponent);
    const Uplo uplo = q.uplo == 'L' ? Uplo::lower : Uplo::upper;
    Data<T> ours(q);
    ours.a = whole;
    ours.a.forbid_other_triangle(uplo);
    {
      Operand<T> there(this->device(), ours.a, this->on_device(random, q.n));
      ours.instead_of_a = there.view().data;
      EXPECT_EQ(ours.run(), 0);
      there.fetch();
    }
    ours.expect_ends_untouched();
    EXPECT_TRUE(ours.a.other_triangle_untouched(uplo));
    EXPECT_TRUE(std::all_of(ours.e.begin() + std::max(q.n - 1, 0), ours.e.end(),
                            [](R x) { return x == R(eigen::kUntouched); }));
    if (q.n == 0) return;
    const auto t = tridiagonal(ours);
    const auto q_of_a = q_of(ours);
    auto a = widen<T>(whole.view());
    const double scale = static_cast<double>(q.n) * norm1(a);
    const auto product = eigen::product(Op::none, q_of_a, t);
    EXPECT_LE(
        scaled(norm1(rest(a, Op::none, product, Op::conj_trans, q_of_a)), scale, epsilon<T>()),
        eigen::kMostErrors);
    EXPECT_LE(eigen::orthonormality_error<T>(widen<T>(unit_matrix<T>(q.n).view()), q_of_a),
              eigen::kMostErrors);
    for (Index i = 0; i < q.n; ++i) {
      const Index beside = uplo == Uplo::lower ? i + 1 : i - 1;
      EXPECT_EQ(ours.a(i, i), T(ours.w[at(i)])) << i;
      if (beside < 0 || beside >= q.n) continue;
      EXPECT_EQ(ours.a(beside, i), T(ours.e[at(std::min(i, beside))])) << i;
    }
  }

  /// ?orgtr or ?ormtr, of a matrix that is reduced by the CPU LAPACK. C is of the same order.
  void reflectors(Random& random) {
    Question q{random.integer(0, 1) == 0 ? eigen::Kind::gtr : eigen::Kind::mtr,
               std::max(draw_order(random), 1)};
    q.uplo = "LLLu"[random.integer(0, 3)];
    q.side = "Lr"[random.integer(0, 1)];
    q.trans = random.integer(0, 1) == 0 ? 'n' : eigen::kAdjoint;
    q = draw_sizes(random, q);
    SCOPED_TRACE(testing::Message() << q);
    Question of_reduction{eigen::Kind::trd, q.n};
    of_reduction.uplo = q.uplo;
    Data<T> reduced(eigen::with_sizes<T>(of_reduction, {q.n}));
    reduced.a = draw_matrix(random, q.n, 0);
    reduced.run(true);
    Data<T> ours(q);
    ours.a = reduced.a;
    ours.tau = reduced.tau;
    const auto c = widen<T>(std::as_const(ours.z).view());
    {
      const bool on_device = q.uplo == 'L' && this->on_device(random, q.n);
      Operand<T> of_a(this->device(), ours.a, on_device);
      Operand<T> of_c(this->device(), ours.z, on_device && q.kind == eigen::Kind::mtr);
      ours.instead_of_a = of_a.view().data;
      ours.instead_of_z = of_c.view().data;
      EXPECT_EQ(ours.run(), 0);
      of_a.fetch();
      of_c.fetch();
    }
    ours.expect_ends_untouched();
    const auto q_of_a = q_of(reduced);
    if (q.kind == eigen::Kind::gtr) return expect_near(ours.a, q_of_a);
    EXPECT_TRUE(same_bits(ours.a, reduced.a));
    const Op op = q.trans == 'n' ? Op::none : Op::conj_trans;
    auto wanted = c;
    if (q.side == 'L') {
      wanted = eigen::product(op, q_of_a, c);
    } else {
      reference::gemm<W>(Op::none, op, W(1), c.view(), q_of_a.view(), W(0), wanted.view());
    }
    expect_near(ours.z, wanted);
  }

  /// ?stedc, of a matrix that is reduced by the CPU LAPACK.
  void merges(Random& random) {
    Question q{eigen::Kind::stedc, draw_order(random)};
    q.compz = "NvII"[random.integer(0, 3)];
    q = draw_sizes(random, q);
    const Padded<T> whole = draw_matrix(random, q.n, 0);
    Data<T> reduced(eigen::with_sizes<T>({eigen::Kind::trd, q.n}, {std::max(q.n, 1)}));
    reduced.a = whole;
    reduced.run(true);
    Data<T> ours(q);
    const int exponent = draw_exponent_of_any_size(random);
    SCOPED_TRACE(testing::Message() << q << ", T by 2^" << exponent);
    for (Index i = 0; i < q.n; ++i) {
      ours.w[at(i)] = std::ldexp(reduced.w[at(i)], exponent);
      ours.e[at(i)] = i + 1 < q.n ? std::ldexp(reduced.e[at(i)], exponent) : R(eigen::kUntouched);
    }
    if (q.n == 0) {
      EXPECT_EQ(ours.run(), 0);
      return ours.expect_ends_untouched();
    }
    const auto reflectors = q_of(reduced);
    for (Index j = 0; q.compz == 'v' && j < q.n; ++j) {
      for (Index i = 0; i < q.n; ++i) ours.z(i, j) = T(reflectors(i, j));
    }
    const auto before = ours.z;
    {
      const bool vectors = q.compz != 'N';
      Operand<T> there(this->device(), ours.z, vectors && this->on_device(random, q.n));
      ours.instead_of_z = there.view().data;
      EXPECT_EQ(ours.run(), 0);
      there.fetch();
    }
    ours.expect_ends_untouched();
    Data<T> values(eigen::with_sizes<T>(with_compz(q, 'N'), {}));
    values.w = reduced.w;
    values.e = reduced.e;
    EXPECT_EQ(values.run(true), 0);
    std::vector<double> w;
    double norm = 0;
    for (Index j = 0; j < q.n; ++j) {
      w.push_back(std::ldexp(static_cast<double>(ours.w[at(j)]), -exponent));
      norm = std::max(norm, std::abs(static_cast<double>(values.w[at(j)])));
    }
    for (Index j = 0; j < q.n; ++j) EXPECT_NEAR(w[at(j)], values.w[at(j)], tolerance(q.n, norm));
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
    if (q.compz == 'N') {
      EXPECT_TRUE(same_bits(ours.z, before));
      return;
    }
    eigen::expect_small(
        eigen::vector_errors<T>(q.compz == 'v' ? widen<T>(whole.view()) : tridiagonal(reduced),
                                widen<T>(std::as_const(ours.z).view()), w));
  }

 private:
  Integer draw_order(Random& random) {
    return random.integer(0, 30) == 0 ? 0
                                      : static_cast<Integer>(RandomCalls<T>::draw_order(random));
  }
  char draw_uplo(Random& random) { return "Lu"[random.integer(0, 1)]; }
  int draw_sign(Random& random) { return random.integer(0, 1) == 0 ? -1 : 1; }
  int draw_exponent_of_any_size(Random& random) {
    constexpr int kMost = std::numeric_limits<R>::max_exponent - 16;
    return random.integer(0, 2) == 0 ? static_cast<int>(random.integer(-kMost, kMost)) : 0;
  }
  Padded<T> draw_matrix(Random& random, Index n, int exponent) {
    const Kind kind = kKinds[random.integer(0, std::size(kKinds) - 1)];
    const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
    auto a = make<T>(kind, n, seed, random.integer(0, 1) * random.integer(0, 9));
    multiply(a, exponent);
    return a;
  }
  static Question with_compz(Question q, char compz) {
    q.compz = compz;
    return q;
  }

  /// The least, more than that, or what a query says.
  Question draw_sizes(Random& random, const Question& q) {
    // LAPACK before 3.12 asks for more where n is 1.
    const bool one = q.n == 1 && q.kind == eigen::Kind::evr;
    EigenSizes sizes = one ? EigenSizes{26, 24, 10} : eigen::least_sizes<T>(q);
    const Index kind = random.integer(0, 2);
    if (kind == 1) {
      for (Index* size : {&sizes.work, &sizes.rwork, &sizes.iwork}) *size *= random.integer(1, 3);
    } else if (kind == 2) {
      const Question query = eigen::with_sizes<T>(q, {kQuery, kQuery, kQuery});
      Data<T> ours(query), theirs(query);
      EXPECT_EQ(ours.run(), 0);
      theirs.run(true);
      ours.expect_ends_untouched();
      if (q.n > 0) ours.expect_same_sizes(theirs);
      const auto size = [](R said, Index least) {
        return std::max(static_cast<Index>(said), least);
      };
      sizes = {size(real(ours.work[0]), sizes.work), size(ours.rwork[0], sizes.rwork),
               std::max<Index>(ours.iwork[0], sizes.iwork)};
    }
    return eigen::with_sizes<T>(q, sizes);
  }

  DriverCall<T> draw_driver(Random& random) {
    Question q{static_cast<eigen::Kind>(random.integer(0, static_cast<Index>(eigen::Kind::gvx))),
               draw_order(random)};
    q.jobz = "Nvv"[random.integer(0, 2)];
    q.uplo = draw_uplo(random);
    q.itype = static_cast<Integer>(random.integer(1, 3));
    q.range = eigen::has_range(q.kind) ? "AvI"[random.integer(0, 2)] : 'A';
    if (q.n == 0) q.range = 'A';
    q.il = static_cast<Integer>(random.integer(1, std::max(q.n, 1)));
    q.iu = static_cast<Integer>(random.integer(q.il, std::max(q.n, 1)));
    q = draw_sizes(random, q);
    const bool generalized = eigen::is_generalized(q.kind);
    const int exponent = generalized
                             ? draw_sign(random) * static_cast<int>(this->draw_exponent(random))
                             : draw_exponent_of_any_size(random);
    DriverCall<T> call{q, draw_matrix(random, q.n, exponent), {}, exponent};
    if (generalized) {
      const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
      call.b = positive_definite<T>(q.n, seed, random.integer(0, 9));
    }
    return call;
  }
  /// Bounds between eigenvalues, anywhere, or none.
  void draw_interval(Random& random, DriverCall<T>& call, const std::vector<double>& values) {
    constexpr R kAny = std::numeric_limits<R>::infinity();
    if (values.empty()) {
      call.vu = 1;
      return;
    }
    const auto count = static_cast<Index>(values.size());
    const double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    const auto draw = [&](R none) {
      const Index kind = random.integer(0, 3), i = random.integer(0, count - 1);
      if (kind == 0) return none;
      if (kind == 1) return static_cast<R>(1.3 * norm * random.uniform<double>());
      return static_cast<R>((values[at(i)] + values[at(std::min(i + 1, count - 1))]) / 2);
    };
    call.vl = draw(-kAny);
    call.vu = draw(kAny);
    if (call.vl > call.vu) std::swap(call.vl, call.vu);
    if (call.vl == call.vu) call.vl = -kAny;
  }

  /// All eigenvalues, by the CPU LAPACK. Without eigenvectors it now and then does not converge.
  std::vector<double> values_of(const DriverCall<T>& call) {
    DriverCall<T> all = call;
    all.q.kind = call.is_generalized() ? eigen::Kind::gvd : eigen::Kind::evd;
    all.q.jobz = 'V';
    all.q.range = 'A';
    all.q = eigen::with_sizes<T>(all.q, eigen::least_sizes<T>(all.q));
    Data<T> data = all.data();
    EXPECT_EQ(data.run(true), 0);
    return {data.w.begin(), data.w.end() - 1};
  }
  double tolerance(Index n, double norm) {
    return static_cast<double>(10 + n) * epsilon<T>() * norm;
  }

  void run_somewhere(Random& random, const DriverCall<T>& call, Data<T>& data) {
    const Index n = call.q.n;
    const bool has_z = call.has_z() && call.q.vectors();
    Operand<T> a(this->device(), data.a, this->on_device(random, n));
    Operand<T> b(this->device(), data.b, call.is_generalized() && this->on_device(random, n));
    Operand<T> z(this->device(), data.z, has_z && this->on_device(random, n));
    data.instead_of_a = a.view().data;
    data.instead_of_b = b.view().data;
    data.instead_of_z = z.view().data;
    data.run();
    a.fetch();
    b.fetch();
    z.fetch();
  }

  void expect_nothing(const DriverCall<T>& call) {
    SCOPED_TRACE(testing::Message() << call.q);
    Data<T> ours = call.data();
    EXPECT_EQ(ours.run(), 0);
    EXPECT_EQ(ours.m, call.has_z() ? 0 : eigen::kUntouched);
    ours.expect_ends_untouched();
  }
  /// The device has left it to the CPU LAPACK.
  void expect_lapacks(const Data<T>& ours, const Data<T>& theirs) {
    ours.expect_ends_untouched();
    EXPECT_EQ(ours.info, theirs.info);
    EXPECT_EQ(ours.m, theirs.m);
    EXPECT_TRUE(same_bits(ours.a, theirs.a));
    EXPECT_TRUE(same_bits(ours.b, theirs.b));
    EXPECT_TRUE(same_bits(ours.z, theirs.z));
  }
  /// Of an interval it is a matter of rounding whether one at its bounds is in it.
  void expect_values(const DriverCall<T>& call, const Data<T>& ours,
                     const std::vector<double>& values) {
    const Question& q = call.q;
    double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    if (call.is_generalized()) norm *= 30;  // the condition of B
    const double close = tolerance(q.n, norm);
    const auto up_to = [&](double x) {
      return std::upper_bound(values.begin(), values.end(), x) - values.begin();
    };
    Range first = {0, 0}, end = {q.n, q.n};
    if (q.range == 'I') {
      first = {q.il - 1, q.il - 1};
      end = {q.iu, q.iu};
    } else if (q.range == 'v') {
      const auto vl = static_cast<double>(call.vl), vu = static_cast<double>(call.vu);
      first = {up_to(vl - close), up_to(vl + close)};
      end = {up_to(vu - close), up_to(vu + close)};
    }
    EXPECT_EQ(call.has_z(), ours.m != eigen::kUntouched);
    const Index count = call.has_z() ? ours.m : q.n;
    ASSERT_TRUE(count >= 0 && count <= q.n);
    const auto w = ours.w.begin();
    EXPECT_TRUE(std::is_sorted(w, w + count));
    bool found = false;
    for (Index f = first.first; f <= first.last && !found; ++f) {
      if (f + count < end.first || f + count > end.last) continue;
      found = true;
      for (Index j = 0; j < count; ++j) {
        found &= std::abs(static_cast<double>(ours.w[at(j)]) - values[at(f + j)]) <= close;
      }
    }
    EXPECT_TRUE(found) << count << " eigenvalues, that begin with number " << first.first << " to "
                       << first.last << " and end before " << end.first << " to " << end.last;
  }
  void expect_triangles(const DriverCall<T>& call, const Data<T>& ours) {
    if (call.has_z() || !call.q.vectors()) {
      EXPECT_TRUE(ours.a.other_triangle_untouched(call.uplo()));
    }
    if (!call.is_generalized()) return;
    EXPECT_TRUE(ours.b.other_triangle_untouched(call.uplo()));
    EXPECT_LE(potrf_residual<T>(call.uplo(), call.b.view(), std::as_const(ours.b).view()),
              eigen::kMostErrors);
  }

  /// Numbers up to about one, to roundings.
  static void expect_near(const Padded<T>& x, const Padded<W>& wanted) {
    const double limit = kThreshold * epsilon<T>() * std::sqrt(static_cast<double>(x.rows()));
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < x.rows(); ++i) {
        ASSERT_LE(std::abs(W(x(i, j)) - wanted(i, j)), limit) << i << " " << j;
      }
    }
  }

  /// T of a reduction.
  static Padded<W> tridiagonal(const Data<T>& reduced) {
    const Index n = reduced.q.n;
    Padded<W> t(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool beside = i == j + 1 || j == i + 1;
        t(i, j) = i == j ? W(reduced.w[at(i)]) : beside ? W(reduced.e[at(std::min(i, j))]) : W(0);
      }
    }
    return t;
  }
  /// Q of a reduction, in double precision by the CPU LAPACK.
  static Padded<W> q_of(const Data<T>& reduced) {
    Question q{eigen::Kind::gtr, 0};
    q.uplo = reduced.q.uplo;
    q.lwork = 32 * std::max(reduced.q.n, 1);
    Data<W> data(q);
    data.q.n = reduced.q.n;
    data.a = widen<T>(reduced.a.view());
    data.tau.assign(reduced.tau.begin(), reduced.tau.end());
    EXPECT_EQ(data.run(true), 0);
    return data.a;
  }
};
TYPED_TEST_SUITE(RandomEigenproblems, Precisions);

TYPED_TEST(RandomEigenproblems, DriversAndTheirParts) {
  this->repeat([this](Random& random) {
    clear_buffers_of_cpu_lapack<TypeParam>();
    const Index routine = random.integer(0, 8);
    routine == 0   ? this->reduction(random)
    : routine == 1 ? this->merges(random)
    : routine == 2 ? this->reflectors(random)
                   : this->driver(random);
  });
}

}  // namespace
}  // namespace overlapack
