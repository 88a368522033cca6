// ?gels on every device: schedule, textbook and the exported names against the CPU LAPACK, and what
// the CPU finishes after a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/qr/gels.hpp"
#include "algorithms/shared/substitution.hpp"
#include "cpu/qr.hpp"
#include "dispatch/route.hpp"
#include "qr/reflectors.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

constexpr Op kOps[] = {Op::none, Op::conj_trans};
constexpr Index kBlock = 9;

/// A and B, which become their results.
template <class T>
struct System {
  Padded<T> a, b;
  Index info = kNoInfo;

  Index rows() const { return a.rows(); }
  Index cols() const { return a.cols(); }
  Index nrhs() const { return b.cols(); }
  Index least_work() const { return cols() + std::max(cols(), nrhs()); }
};

struct Case {
  Shape shape;
  Index nrhs;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.shape << ", nrhs " << c.nrhs;
}

template <class T>
class Gels : public RoutedTest {
 protected:
  using R = Real<T>;
  using Range = cpu::UnscaledRange<R>;

  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) route(dispatch::Algorithm::tiled, kBlock);
  }
  static algorithms::Options options(Index nb, bool textbook = false) {
    algorithms::Options options;
    options.nb = nb;
    options.textbook = textbook;
    options.threads = 2;
    return options;
  }
  static System<T> well_conditioned_system(const Case& c) {
    return {well_conditioned<T>(c.shape.rows, c.shape.cols),
            random_matrix<T>(c.shape.rows, c.nrhs, 7, 3)};
  }
  static const cpu::Lapack<T>& lapack() { return cpu::lapack<T>(cpu::Family::lp64); }

  /// By the CPU LAPACK, with all that it calls by name.
  static System<T> by_lapack(Op op, System<T> x) {
    const dispatch::Nesting nesting;
    std::vector<T> work(algorithms::at(x.least_work()));
    x.info = cpu::gels<T>(lapack(), op, x.a.view(), x.b.view(), {work.data(), x.least_work()});
    return x;
  }
  System<T> by_device(Op op, System<T> x, const algorithms::Options& options) {
    std::vector<T> tau(algorithms::at(x.cols()));
    Index committed = 0;
    x.info =
        algorithms::gels<T>(device(), options, op, x.a.view(), tau.data(), x.b.view(), committed);
    const bool stays = x.info > 0 && op != Op::none;
    EXPECT_EQ(committed, options.textbook ? 0 : x.cols() + (stays ? 0 : x.nrhs()));
    return x;
  }
  System<T> by_device(Op op, const System<T>& x, bool textbook = false) {
    return by_device(op, x, options(kBlock, textbook));
  }
  /// By the exported name, with the least workspace.
  static System<T> by_name(Op op, System<T> x) {
    WorkWithEnd<T> work(x.least_work());
    x.info = gels<T>(op, x.a.view(), x.b.view(), work);
    if (x.info == 0) {
      EXPECT_GE(real(work.first()), static_cast<R>(x.least_work()));
    }
    return x;
  }

  /// The same to rounding, R and B by columns. What is not finite has to be so in both.
  static void expect_same(const System<T>& wanted, const System<T>& x) {
    EXPECT_EQ(x.info, wanted.info);
    EXPECT_TRUE(x.a.padding_untouched());
    EXPECT_TRUE(x.b.padding_untouched());
    for (Index j = 0; j < x.cols(); ++j) {
      expect_close(wanted.a, x.a, j, {0, j + 1}, 0);
      expect_close(wanted.a, x.a, j, {j + 1, x.rows()}, 1);
    }
    for (Index j = 0; j < x.nrhs(); ++j) expect_close(wanted.b, x.b, j, {0, x.rows()}, 0);
  }
  /// Some rows of a column, to rounding of its largest number or `size`.
  static void expect_close(const Padded<T>& wanted, const Padded<T>& x, Index j,
                           overlapack::Range rows, double size) {
    using W = Wide<T>;
    const auto is_finite = [j](const Padded<T>& a, Index i) {
      return std::isfinite(abs1(a(i, j)));
    };
    for (Index i = rows.first; i < rows.last; ++i) {
      if (is_finite(wanted, i)) size = std::max<double>(size, std::abs(W(wanted(i, j))));
    }
    const double limit = 100 * static_cast<double>(x.rows()) * epsilon<T>() * size;
    for (Index i = rows.first; i < rows.last; ++i) {
      ASSERT_EQ(is_finite(x, i), is_finite(wanted, i)) << i << ", " << j;
      if (!is_finite(wanted, i)) continue;
      ASSERT_LE(std::abs(W(x(i, j)) - W(wanted(i, j))), limit) << i << ", " << j;
    }
  }

  /// A few columns of the matrix, times a number.
  static void multiply(Padded<T>& a, overlapack::Range columns, R factor) {
    for (Index j = columns.first; j < columns.last; ++j) {
      for (Index i = 0; i < a.rows(); ++i) a(i, j) *= factor;
    }
  }
  static void multiply(Padded<T>& a, R factor) { multiply(a, {0, a.cols()}, factor); }

  using NamedSystems = std::vector<std::pair<const char*, System<T>>>;
  /// Systems that LAPACK scales, or answers by zeros.
  static NamedSystems scaled_systems() {
    NamedSystems systems;
    const auto add = [&](const char* name, auto change) {
      systems.emplace_back(name, well_conditioned_system({{60, 40}, 4}));
      change(systems.back().second);
    };
    constexpr R tiny = Range::least / 1024, huge = Range::largest * 128;
    add("A tiny", [](System<T>& x) { multiply(x.a, tiny); });
    add("A huge", [](System<T>& x) { multiply(x.a, huge / 64); });
    add("A huge in its last column", [](System<T>& x) { multiply(x.a, {39, 40}, huge); });
    add("A huge in the middle", [](System<T>& x) { multiply(x.a, {20, 22}, huge); });
    add("A zero", [](System<T>& x) { multiply(x.a, 0); });
    add("B tiny", [](System<T>& x) { multiply(x.b, tiny); });
    add("B huge", [](System<T>& x) { multiply(x.b, huge); });
    add("both huge", [](System<T>& x) { multiply(x.a, huge / 64), multiply(x.b, huge); });
    return systems;
  }

  static constexpr Case kCases[] = {{{1, 1}, 1},    {{5, 1}, 2},    {{40, 40}, 1},
                                    {{40, 40}, 33}, {{70, 30}, 1},  {{70, 30}, 9},
                                    {{33, 32}, 4},  {{300, 20}, 3}, {{90, 80}, 50}};
};
TYPED_TEST_SUITE(Gels, Precisions);

TYPED_TEST(Gels, IsThatOfTheCpuLapack) {
  for (const bool textbook : kBools) {
    for (const Index nb : {Index{5}, Index{16}, Index{200}}) {
      for (const Op op : kOps) {
        for (const Case& c : this->kCases) {
          SCOPED_TRACE(testing::Message() << (textbook ? "textbook " : "") << nb << " " << c << " "
                                          << static_cast<char>(op));
          const auto x = this->well_conditioned_system(c);
          this->expect_same(this->by_lapack(op, x),
                            this->by_device(op, x, this->options(nb, textbook)));
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

/// A goes up once and B once, and nothing else does.
TYPED_TEST(Gels, ByNameReachesTheDeviceAndNothingIsMovedTwice) {
  using T = TypeParam;
  for (const Op op : kOps) {
    for (const Case& c : this->kCases) {
      SCOPED_TRACE(testing::Message() << c << " " << static_cast<char>(op));
      const auto x = this->well_conditioned_system(c);
      const std::size_t before = this->uploaded();
      this->expect_same(this->by_lapack(op, x), this->by_name(op, x));
      const auto [m, n] = c.shape;
      const Index elements = m * n + (op == Op::none ? m : n) * c.nrhs;
      EXPECT_EQ(this->uploaded() - before, sizeof(T) * static_cast<std::size_t>(elements));
    }
  }
}

TYPED_TEST(Gels, OfAWideMatrixOrNoRightHandSidesIsTheCpus) {
  using T = TypeParam;
  // The parts of that have ways of their own.
  dispatch::Settings settings;
  this->use(settings);
  const std::size_t before = this->uploaded();
  for (const Op op : kOps) {
    System<T> x = {random_matrix<T>(30, 50, 1, 2), random_matrix<T>(50, 3, 2, 1)};
    const auto wide = x;
    WorkWithEnd<T> work(60);
    EXPECT_EQ(gels<T>(op, x.a.view(), x.b.view(), work), 0);
    std::vector<T> work_of_cpu(60);
    auto expected = wide;
    EXPECT_EQ(cpu::gels<T>(this->lapack(), op, expected.a.view(), expected.b.view(),
                           {work_of_cpu.data(), 60}),
              0);
    EXPECT_TRUE(same_bits(x.a, expected.a));
    EXPECT_TRUE(same_bits(x.b, expected.b));
    x = {random_matrix<T>(50, 30, 1, 2), Padded<T>(50, 0)};
    const auto a = x.a;
    EXPECT_EQ(gels<T>(op, x.a.view(), x.b.view(), work), 0);
    EXPECT_TRUE(same_bits(x.a, a)) << "LAPACK does not factor it for nothing";
  }
  EXPECT_EQ(this->uploaded(), before);
}

TYPED_TEST(Gels, OfATriangleWithAZeroOnItsDiagonal) {
  for (const Op op : kOps) {
    for (const Index zero : {0, 4, 17, 39}) {
      SCOPED_TRACE(testing::Message() << zero << " " << static_cast<char>(op));
      auto x = this->well_conditioned_system({{60, 40}, 20});
      this->multiply(x.a, {zero, zero + 1}, 0);
      this->multiply(x.a, {39, 40}, 0);  // the first one counts
      const auto expected = this->by_lapack(op, x);
      EXPECT_EQ(expected.info, zero + 1);
      for (const bool textbook : kBools) {
        const auto result = this->by_device(op, x, textbook);
        this->expect_same(expected, result);
        if (op != Op::none) {
          EXPECT_TRUE(same_bits(result.b, x.b));
        }
      }
      this->expect_same(expected, this->by_name(op, x));
    }
  }
}

TYPED_TEST(Gels, WhatLapackScalesIsTheCpus) {
  for (const Op op : kOps) {
    for (const auto& [name, x] : this->scaled_systems()) {
      SCOPED_TRACE(testing::Message() << name << " " << static_cast<char>(op));
      this->expect_same(this->by_lapack(op, x), this->by_name(op, x));
      for (const bool textbook : kBools) {
        EXPECT_THROW(this->by_device(op, x, textbook), DeviceError) << textbook;
      }
      if (this->HasFailure()) return;
    }
  }
}

/// Columns that are home by then are brought back to what they were.
TYPED_TEST(Gels, ThatMustBeScaledMayBeSomeWayOn) {
  using T = TypeParam;
  for (const Op op : kOps) {
    auto x = this->well_conditioned_system({{60, 40}, 4});
    this->multiply(x.a, {39, 40}, cpu::UnscaledRange<Real<T>>::largest * 128);
    const auto expected = this->by_lapack(op, x);
    std::vector<T> work(algorithms::at(x.least_work()));
    Index committed = 0;
    const auto solve = [&] {
      algorithms::gels<T>(this->device(), this->options(kBlock), op, x.a.view(), work.data(),
                          x.b.view(), committed);
    };
    EXPECT_THROW(solve(), DeviceError);
    EXPECT_EQ(committed, 4 * kBlock) << "all blocks but the last one";
    const dispatch::Nesting nesting;
    x.info = cpu::finish_gels<T>(this->lapack(), op, x.a.view(), x.b.view(), committed,
                                 {work.data(), x.least_work()});
    this->expect_same(expected, x);
  }
}

/// LAPACK scales none of it, but that is known too late.
TYPED_TEST(Gels, ThatBeginsAsIfItHadToBeScaledIsTheCpus) {
  for (const Op op : kOps) {
    for (const bool zero : kBools) {
      auto x = this->well_conditioned_system({{60, 40}, 4});
      const auto tiny = cpu::UnscaledRange<Real<TypeParam>>::least / 1024;
      this->multiply(x.a, {0, kBlock}, zero ? 0 : tiny);
      const auto expected = this->by_lapack(op, x);
      EXPECT_EQ(expected.info, zero);
      EXPECT_THROW(this->by_device(op, x), DeviceError);
      this->expect_same(expected, this->by_device(op, x, true));
      this->expect_same(expected, this->by_name(op, x));
    }
  }
}

/// What lies between is the device's, and so is a B that is zero.
TYPED_TEST(Gels, AtTheEndsOfWhatIsNotScaled) {
  using R = Real<TypeParam>;
  using Range = cpu::UnscaledRange<R>;
  for (const R size : {Range::least, Range::largest / 128}) {
    for (const Op op : kOps) {
      SCOPED_TRACE(testing::Message() << size << " " << static_cast<char>(op));
      auto x = this->well_conditioned_system({{60, 40}, 4});
      this->multiply(x.a, size), this->multiply(x.b, 2 * size);
      this->expect_same(this->by_lapack(op, x), this->by_device(op, x));
      this->multiply(x.b, 0);
      this->expect_same(this->by_lapack(op, x), this->by_device(op, x));
    }
  }
}

TYPED_TEST(Gels, WhatIsNotFinite) {
  using T = TypeParam;
  for (const Op op : kOps) {
    for (const Index column : {0, 20, 39}) {
      SCOPED_TRACE(testing::Message() << column << " " << static_cast<char>(op));
      auto x = this->well_conditioned_system({{60, 40}, 4});
      x.a(50, column) = nan<T>();
      for (const bool textbook : kBools) {
        const auto result = this->by_device(op, x, textbook);
        EXPECT_EQ(result.info, 0);
        for (Index j = 0; j < 4; ++j) {
          bool any = false;
          for (Index i = 0; i < 60; ++i) any = any || !std::isfinite(abs1(result.b(i, j)));
          EXPECT_TRUE(any) << "the NaN has vanished from " << j;
        }
      }
      // With a NaN LAPACK scales nothing. Before, the device has to leave it to the CPU.
      for (const Index huge : {0, 20, 39}) {
        auto with_huge = x;
        this->multiply(with_huge.a, {huge, huge + 1}, cpu::UnscaledRange<Real<T>>::largest * 128);
        EXPECT_EQ(this->by_name(op, with_huge).info, this->by_lapack(op, with_huge).info);
      }
    }
    auto x = this->well_conditioned_system({{60, 40}, 4});
    x.b(3, 2) = nan<T>();
    this->expect_same(this->by_lapack(op, x), this->by_device(op, x));
    x.a(3, 39) = infinity<T>();
    EXPECT_EQ(this->by_name(op, x).info, this->by_lapack(op, x).info);
  }
}

/// Of a system for the solution of least norm B has n rows. LAPACK does not read what is below.
TYPED_TEST(Gels, DoesNotReadBelowB) {
  using T = TypeParam;
  auto x = this->well_conditioned_system({{60, 40}, 4});
  const auto expected = this->by_lapack(Op::conj_trans, x);
  for (Index j = 0; j < 4; ++j) std::fill_n(&x.b(40, j), 20, nan<T>());
  for (const bool textbook : kBools) {
    this->expect_same(expected, this->by_device(Op::conj_trans, x, textbook));
  }
}

TYPED_TEST(Gels, TheSameBitsWhateverTheTiming) {
  for (const Op op : kOps) {
    const auto x = this->well_conditioned_system({{130, 70}, 40});
    const auto first = this->by_device(op, x);
    for (int round = 0; round < 2; ++round) {
      const auto again = this->by_device(op, x);
      EXPECT_TRUE(same_bits(first.a, again.a));
      EXPECT_TRUE(same_bits(first.b, again.b));
    }
  }
}

TYPED_TEST(Gels, OfMatricesOnTheDevice) {
  using T = TypeParam;
  for (const bool textbook : kBools) {
    for (const Op op : kOps) {
      for (const auto& [a_there, b_there] : {std::pair(true, true), {true, false}, {false, true}}) {
        SCOPED_TRACE(testing::Message() << textbook << static_cast<char>(op) << a_there << b_there);
        auto x = this->well_conditioned_system({{70, 40}, 20});
        const auto expected = this->by_lapack(op, x);
        OnDevice<T> a(this->device(), x.a), b(this->device(), x.b);
        Index committed = 0;
        x.info = algorithms::gels<T>(this->device(), this->options(kBlock, textbook), op,
                                     a_there ? a.view() : x.a.view(), nullptr,
                                     b_there ? b.view() : x.b.view(), committed);
        if (a_there) a.fetch();
        if (b_there) b.fetch();
        this->expect_same(expected, x);
      }
    }
  }
}

TYPED_TEST(Gels, OfMatricesOnTheDeviceByName) {
  using T = TypeParam;
  auto x = this->well_conditioned_system({{100, 70}, 60});
  const auto expected = this->by_lapack(Op::none, x);
  {
    OnDevice<T> a(this->device(), x.a), b(this->device(), x.b);
    WorkWithEnd<T> work(x.least_work());
    x.info = gels<T>(Op::none, a.view(), b.view(), work);
    a.fetch(), b.fetch();
    this->expect_same(expected, x);
  }
  {  // and the workspace
    x = this->well_conditioned_system({{100, 70}, 60});
    Padded<T> work(x.least_work(), 1);
    OnDevice<T> a(this->device(), x.a), b(this->device(), x.b), there(this->device(), work);
    const auto size = static_cast<std::int32_t>(x.least_work()), m = 100, n = 70, nrhs = 60;
    const auto lda = static_cast<std::int32_t>(x.a.ld()), ldb = static_cast<std::int32_t>(x.b.ld());
    const char trans = 'N';
    std::int32_t info = kNoInfo;
    Exported<T>::gels(&trans, &m, &n, &nrhs, a.view().data, &lda, b.view().data, &ldb,
                      there.view().data, &size, &info, 1);
    x.info = info;
    a.fetch(), b.fetch();
    this->expect_same(expected, x);
  }
  // What only the CPU could do.
  this->multiply(x.a, 0);
  OnDevice<T> zero(this->device(), x.a);
  WorkWithEnd<T> work(200);
  EXPECT_EQ(gels<T>(Op::none, zero.view(), x.b.view(), work), dispatch::kNoMemory);
  auto wide = random_matrix<T>(70, 100, 1);
  OnDevice<T> wide_there(this->device(), wide);
  EXPECT_EQ(gels<T>(Op::none, wide_there.view(), x.b.view(), work), dispatch::kNoMemory);
}

TYPED_TEST(Gels, AQueryIsTheCpuLapacksAnswer) {
  using T = TypeParam;
  for (const Op op : kOps) {
    auto x = this->well_conditioned_system({{100, 60}, 7});
    const auto before = x;
    WorkWithEnd<T> query(-1);
    T wanted(0);
    EXPECT_EQ(gels<T>(op, x.a.view(), x.b.view(), query), 0);
    EXPECT_EQ(cpu::gels<T>(this->lapack(), op, x.a.view(), x.b.view(), {&wanted, -1}), 0);
    EXPECT_EQ(query.first(), wanted);
    EXPECT_TRUE(same_bits(x.a, before.a));
    EXPECT_TRUE(same_bits(x.b, before.b));
    WorkWithEnd<T> work(static_cast<Index>(real(wanted)));
    x.info = gels<T>(op, x.a.view(), x.b.view(), work);
    EXPECT_EQ(work.first(), wanted);
    this->expect_same(this->by_lapack(op, before), x);
  }
}

/// Whatever the device fails in, the CPU LAPACK finishes, in the caller's workspace.
TYPED_TEST(Gels, FaultsAtEveryAction) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && this->device().emulated();
  auto singular = this->well_conditioned_system({{60, 44}, 20});
  this->multiply(singular.a, {30, 31}, 0);
  auto huge = this->well_conditioned_system({{60, 44}, 20});
  this->multiply(huge.a, {43, 44}, cpu::UnscaledRange<Real<T>>::largest * 128);
  Index all = 0;
  for (const Op op : kOps) {
    for (const auto& x : {this->well_conditioned_system({{60, 44}, 20}),
                          this->well_conditioned_system({{90, 20}, 1}), singular, huge}) {
      SCOPED_TRACE(testing::Message() << x.rows() << " x " << x.cols() << static_cast<char>(op));
      const auto expected = this->by_lapack(op, x);
      const Index faults = this->with_faults(
          every ? 1 : 23, [&] { this->route(dispatch::Algorithm::tiled, kBlock); },
          [&] { this->expect_same(expected, this->by_name(op, x)); });
      EXPECT_GT(faults, 1);
      all += faults;
      if (this->HasFailure()) return;
    }
  }
  this->RecordProperty("faults", static_cast<int>(all));  // for scripts/count-promises
}

/// Also where some of A is home, and the rest turns out to be huge.
TYPED_TEST(Gels, TheCpuFinishesFromAnyColumn) {
  using T = TypeParam;
  const auto x = this->well_conditioned_system({{50, 30}, 5});
  auto with_huge = x;
  this->multiply(with_huge.a, {29, 30}, cpu::UnscaledRange<Real<T>>::largest * 128);
  std::vector<T> work(algorithms::at(x.least_work()));
  const Index size = x.least_work();
  for (const Op op : kOps) {
    auto factored = x;
    std::vector<T> tau(30);
    Index committed = 0;
    factored.info =
        algorithms::gels<T>(this->device(), this->options(kBlock), op, factored.a.view(),
                            tau.data(), factored.b.view(), committed);
    for (const bool is_huge : kBools) {
      const System<T>& input = is_huge ? with_huge : x;
      const auto expected = this->by_lapack(op, input);
      for (Index done = 0; done <= (is_huge ? 29 : 35); ++done) {
        SCOPED_TRACE(testing::Message() << done << static_cast<char>(op) << is_huge);
        auto result = input;
        for (Index j = 0; j < done; ++j) {
          const bool of_a = j < 30;
          std::copy_n(of_a ? &factored.a(0, j) : &factored.b(0, j - 30), 50,
                      of_a ? &result.a(0, j) : &result.b(0, j - 30));
        }
        std::copy_n(tau.begin(), std::min<Index>(done, 30), work.begin());
        const dispatch::Nesting nesting;
        result.info = cpu::finish_gels<T>(this->lapack(), op, result.a.view(), result.b.view(),
                                          done, {work.data(), size});
        this->expect_same(expected, result);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Gels, AFactorizationCanBeUndone) {
  using T = TypeParam;
  for (const Index count : {0, 1, 7, 30}) {
    auto a = well_conditioned<T>(50, 30);
    const auto before = a;
    std::vector<T> tau(algorithms::at(count)), work(30);
    const HostView<T> some = a.view().block(0, 0, 50, count);
    if (count > 0) {
      cpu::geqrf<T>(this->lapack(), cpu::Reflectors::columns, some, tau.data(), {work.data(), 30});
    }
    cpu::undo_geqrf<T>(this->lapack(), a.view(), tau.data(), count, {work.data(), 30});
    for (Index j = 0; j < 30; ++j) this->expect_close(before, a, j, {0, 50}, 0);
    EXPECT_TRUE(a.padding_untouched());
  }
}

/// On the way by the CPU, also after the device has failed for want of it.
TYPED_TEST(Gels, NeedsNoMemory) {
  const auto x = this->well_conditioned_system({{60, 40}, 4});
  for (const bool device : kBools) {
    dispatch::Settings settings = this->settings_for(dispatch::Algorithm::tiled, kBlock);
    if (!device) settings.device = dispatch::DeviceChoice::off;
    device ? this->use(settings)
           : dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
    for (const Op op : kOps) {
      const auto expected = this->by_lapack(op, x);
      this->by_name(op, x);  // for what is made once and for all
      auto result = x;
      WorkWithEnd<TypeParam> work(x.least_work());
      {
        const ScarceMemory memory(1, true);
        result.info = gels<TypeParam>(op, result.a.view(), result.b.view(), work);
        if (!device) {
          EXPECT_EQ(memory.count(), 0);
        }
      }
      this->expect_same(expected, result);
    }
  }
}

TYPED_TEST(Gels, TakesTheMemoryThatItSays) {
  using T = TypeParam;
  for (const Case& c : {Case{{400, 300}, 1}, {{400, 300}, 200}, {{900, 40}, 3}}) {
    for (const Op op : kOps) {
      const auto options = this->options(32);
      this->device().set_memory_limit(1);  // idle blocks go: a lease counts with the whole block
      this->device().set_memory_limit(0);
      this->device().reset_peak_use();
      this->by_device(op, this->well_conditioned_system(c), options);
      const std::size_t peak = this->device().pool_use(Space::device).peak;
      const std::size_t said =
          algorithms::gels_bytes<T>(this->device(), options, c.shape.rows, c.shape.cols, c.nrhs);
      EXPECT_LE(peak, said) << c;
      // Only a system that is solved with R itself takes what is said for substitution.
      const std::size_t substitution =
          algorithms::Substitution<T>::bytes(this->device(), c.shape.cols, c.nrhs);
      EXPECT_GE(peak + substitution, said - said / 4) << c;
    }
  }
}

}  // namespace
}  // namespace overlapack
