// ?orgtr and ?ormtr (?ungtr and ?unmtr) by the exported names: the Q of a reduction to tridiagonal
// form, as a matrix and times another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dispatch/calls.hpp"
#include "eigen/hermitian.hpp"
#include "support/cases.hpp"
#include "support/eigen_calls.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using eigen::Integer;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <class T>
const cpu::Lapack<T>& cpu_lapack() {
  return cpu::lapack<T>(cpu::Family::lp64);
}

/// What ?sytrd leaves, and the Q that it stands for.
template <class T>
struct Given {
  using W = Wide<T>;
  /// Reflectors number `units` become I.
  Given(Uplo of, Index n, const std::vector<Index>& units = {})
      : uplo(of), a(make<T>(testing_support::Kind::random, n, 5, 3)), tau(at(n), sentinel<T>()) {
    const Integer order = static_cast<Integer>(n), lda = static_cast<Integer>(a.ld());
    std::vector<Real<T>> d(at(n)), e(at(n));
    std::vector<T> work(at(n));
    Integer info = 0;
    eigen::sytrd<T> (&cpu_lapack<T>())(&letter(), &order, a.data(), &lda, d.data(), e.data(),
                                       tau.data(), work.data(), &order, &info, 1);
    for (const Index unit : units) tau[at(unit)] = T(0);
    forbid_the_rest();
  }
  Index n() const { return a.rows(); }
  const char& letter() const {
    static constexpr char kLower = 'L', kUpper = 'U';
    return uplo == Uplo::lower ? kLower : kUpper;
  }
  /// In double precision, by the CPU LAPACK.
  Padded<W> q() const {
    auto result = widen<T>(a.view());
    const std::vector<W> wide_tau(tau.begin(), tau.end());
    const Integer order = static_cast<Integer>(n()), lda = static_cast<Integer>(result.ld()),
                  lwork = 32 * order;
    std::vector<W> work(at(lwork));
    Integer info = 0;
    eigen::orgtr<W> (&cpu_lapack<W>())(&letter(), &order, result.data(), &lda, wide_tau.data(),
                                       work.data(), &lwork, &info, 1);
    EXPECT_EQ(info, 0);
    return result;
  }

  const Uplo uplo;
  Padded<T> a;
  std::vector<T> tau;

 private:
  /// Nobody may read what is not a vector without its 1.
  void forbid_the_rest() {
    for (Index j = 0; j < n(); ++j) {
      for (Index i = 0; i < n(); ++i) {
        const bool is_vector = uplo == Uplo::lower ? i > j + 1 : i + 1 < j;
        if (!is_vector) a(i, j) = sentinel<T>();
      }
    }
  }
};

template <class T>
struct Workspace {
  explicit Workspace(Index size)
      : size(static_cast<Integer>(size)), data(at(size + 1), sentinel<T>()) {}
  ~Workspace() { EXPECT_EQ(data.back(), sentinel<T>()); }
  const Integer size;
  std::vector<T> data;
};

/// By the exported name or, with `theirs`, by the CPU LAPACK. Returns info.
template <class T>
Index orgtr(const Given<T>& given, T* a, bool theirs = false) {
  const Integer n = static_cast<Integer>(given.n()), lda = static_cast<Integer>(given.a.ld());
  Workspace<T> work(std::max(n - 1, 1));
  Integer info = eigen::kUntouched;
  eigen::orgtr<T>(theirs ? &cpu_lapack<T>() : nullptr)(
      &given.letter(), &n, a, &lda, given.tau.data(), work.data.data(), &work.size, &info, 1);
  EXPECT_TRUE(given.n() == 1 || info != 0 || real(work.data[0]) >= static_cast<Real<T>>(work.size));
  return info;
}

struct Form {
  Uplo uplo;
  Side side;
  Op op;
};
std::ostream& operator<<(std::ostream& out, const Form& form) {
  return out << char(form.uplo) << char(form.side) << char(form.op);
}
std::vector<Form> forms() {
  constexpr Side kSides[] = {Side::left, Side::right};
  constexpr Op kOps[] = {Op::none, Op::conj_trans};
  return cross<Form>(kUplos, kSides, kOps);
}

template <class T>
Index ormtr(const Form& form, const Given<T>& given, const T* a, Padded<T>& c,
            T* elsewhere = nullptr) {
  const char side = char(form.side), trans = form.op == Op::none ? 'N' : is_complex<T> ? 'C' : 'T';
  const Integer m = static_cast<Integer>(c.rows()), n = static_cast<Integer>(c.cols()),
                lda = static_cast<Integer>(given.a.ld()), ldc = static_cast<Integer>(c.ld());
  Workspace<T> work(form.side == Side::left ? n : m);
  Integer info = eigen::kUntouched;
  eigen::ormtr<T>(nullptr)(&side, &given.letter(), &trans, &m, &n, a, &lda, given.tau.data(),
                           elsewhere != nullptr ? elsewhere : c.data(), &ldc, work.data.data(),
                           &work.size, &info, 1, 1, 1);
  EXPECT_TRUE(given.n() == 1 || info != 0 || real(work.data[0]) >= static_cast<Real<T>>(work.size));
  return info;
}

/// Of numbers up to one.
template <class T>
void expect_near(const Padded<T>& x, const Padded<Wide<T>>& wanted, Index order) {
  const double limit = kThreshold * epsilon<T>() * std::sqrt(static_cast<double>(order));
  EXPECT_TRUE(x.padding_untouched());
  EXPECT_TRUE(all_elements({x.rows(), x.cols()}, [&](Index i, Index j) {
    return std::abs(Wide<T>(x(i, j)) - wanted(i, j)) <= limit;
  }));
}

template <class T>
class QOfReduction : public RoutedTest {
 protected:
  using W = Wide<T>;
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) blocks_of(7);
  }
  void blocks_of(Index nb) { route(dispatch::Algorithm::tiled, nb); }

  Padded<W> product(const Form& form, const Given<T>& given, const Padded<T>& c) {
    const auto q = given.q(), wide_c = widen<T>(c.view());
    Padded<W> result(c.rows(), c.cols());
    const bool left = form.side == Side::left;
    reference::gemm<W>(left ? form.op : Op::none, left ? Op::none : form.op, W(1),
                       left ? q.view() : wide_c.view(), left ? wide_c.view() : q.view(), W(0),
                       result.view());
    return result;
  }
  static Padded<T> draw_c(const Form& form, Index n, Index lines) {
    return form.side == Side::left ? random_matrix<T>(n, lines, 2, 2)
                                   : random_matrix<T>(lines, n, 2, 2);
  }
  /// With a lower triangle the device does it.
  template <class Call>
  void call(const Given<T>& given, Call run) {
    const std::size_t before = uploaded();
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(uploaded() > before, given.uplo == Uplo::lower && given.n() > 1);
  }
  void makes_q(const Given<T>& given) {
    SCOPED_TRACE(testing::Message() << "n = " << given.n() << " " << given.letter());
    auto a = given.a;
    call(given, [&] { return orgtr(given, a.data()); });
    expect_near(a, given.q(), given.n());
  }
  void multiplies(const Form& form, const Given<T>& given, Index lines) {
    SCOPED_TRACE(testing::Message()
                 << form << ", order " << given.n() << ", " << lines << " lines");
    auto c = draw_c(form, given.n(), lines);
    const auto wanted = product(form, given, c);
    call(given, [&] { return ormtr(form, given, given.a.view().data, c); });
    expect_near(c, wanted, given.n());
  }
};
TYPED_TEST_SUITE(QOfReduction, Precisions);

TYPED_TEST(QOfReduction, OfAllSmallOrders) {
  using T = TypeParam;
  for (Index n = 1; n <= 70; ++n) {
    this->blocks_of(1 + n % 9);
    for (const Uplo uplo : kUplos) this->makes_q(Given<T>(uplo, n));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(QOfReduction, OfSomeBlocks) {
  using T = TypeParam;
  for (const Index n : {128, 129, 200}) {
    for (const Index nb : {16, 64, 300}) {
      this->blocks_of(nb);
      this->makes_q(Given<T>(Uplo::lower, n));
      for (const Form& form : forms()) this->multiplies(form, Given<T>(form.uplo, n), 90);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(QOfReduction, ProductsOfAllFormsAndShapes) {
  using T = TypeParam;
  for (const Form& form : forms()) {
    for (const Index n : {1, 2, 3, 17, 50}) {
      const Given<T> given(form.uplo, n);
      for (const Index lines : {1, 2, 40, 130}) this->multiplies(form, given, lines);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(QOfReduction, ReflectorsThatAreTheUnitMatrix) {
  using T = TypeParam;
  for (const Form& form : forms()) {
    const Given<T> given(form.uplo, 50, {0, 15, 48});
    this->makes_q(given);
    this->multiplies(form, given, 30);
  }
}

/// Of which the device need not be as accurate as LAPACK.
TYPED_TEST(QOfReduction, ReflectorsThatAreNotUnitaryAreTheCpus) {
  using T = TypeParam;
  Given<T> given(Uplo::lower, 40);
  given.tau[20] = T(-1);
  auto ours = given.a, theirs = given.a;
  EXPECT_EQ(orgtr(given, ours.data()), 0);
  EXPECT_EQ(orgtr(given, theirs.data(), true), 0);
  EXPECT_TRUE(same_bits(ours, theirs));
}

TYPED_TEST(QOfReduction, FaultsAtEveryAction) {
  using T = TypeParam;
  const Index stride = std::is_same_v<T, double> && device_under_test() == "lazy" ? 1 : 5;
  this->blocks_of(8);
  const Given<T> given(Uplo::lower, 60);
  const auto q = given.q();
  auto a = given.a;
  const Index faults = this->with_faults(
      stride, [&] { a = given.a; },
      [&] {
        EXPECT_EQ(orgtr(given, a.data()), 0);
        expect_near(a, q, given.n());
      });
  EXPECT_GT(faults, 6);
  for (const Form& form : forms()) {
    if (form.uplo == Uplo::upper || this->HasFailure()) continue;
    SCOPED_TRACE(testing::Message() << form);
    const auto before = this->draw_c(form, given.n(), 110);
    const auto wanted = this->product(form, given, before);
    auto c = before;
    EXPECT_GT(this->with_faults(
                  stride, [&] { c = before; },
                  [&] {
                    EXPECT_EQ(ormtr(form, given, given.a.view().data, c), 0);
                    expect_near(c, wanted, given.n());
                  }),
              6);
  }
}

TYPED_TEST(QOfReduction, OnTheDevice) {
  using T = TypeParam;
  const Given<T> lower(Uplo::lower, 70), upper(Uplo::upper, 70);
  auto a = lower.a;
  OnDevice<T> there(this->device(), a);
  EXPECT_EQ(orgtr(lower, there.view().data), 0);
  there.fetch();
  expect_near(a, lower.q(), 70);
  a = lower.a;
  OnDevice<T> vectors(this->device(), a);
  EXPECT_EQ(orgtr(upper, vectors.view().data), dispatch::kNoMemory);
  FaultAt fault(5);
  this->device().set_observer(&fault);
  EXPECT_EQ(orgtr(lower, there.view().data), dispatch::kNoMemory);
  this->device().set_observer(nullptr);
  for (const Form& form : forms()) {
    if (form.uplo == Uplo::upper) continue;
    for (const bool is_a_there : kBools) {
      for (const bool is_c_there : kBools) {
        SCOPED_TRACE(testing::Message() << form << is_a_there << is_c_there);
        auto c = this->draw_c(form, 70, 66);
        const auto wanted = this->product(form, lower, c);
        OnDevice<T> c_there(this->device(), c);
        EXPECT_EQ(ormtr(form, lower, is_a_there ? vectors.view().data : lower.a.view().data, c,
                        is_c_there ? c_there.view().data : nullptr),
                  0);
        if (is_c_there) c_there.fetch();
        expect_near(c, wanted, 70);
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
