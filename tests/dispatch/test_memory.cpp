// The device memory that traits reckon for a call is what the call takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/condition/condition.hpp"
#include "algorithms/eigen/syevd.hpp"
#include "algorithms/eigen/sytrd.hpp"
#include "algorithms/inverse/inverse.hpp"
#include "algorithms/lu/lu.hpp"
#include "algorithms/qr/orgqr.hpp"
#include "algorithms/qr/ormqr.hpp"
#include "algorithms/qr/qr.hpp"
#include "algorithms/refine/refine.hpp"
#include "algorithms/solve/solve.hpp"
#include "algorithms/solve/trtrs.hpp"
#include "algorithms/update/on_device.hpp"
#include "dispatch/routine.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::Options;
using dispatch::Routine;
using dispatch::Shape;

/// The optional forms of a call.
struct Forms {
  const char* name;
  bool hybrid = false, split = false, by_rows = false, residues = false;
  bool halves = false, leading = false;
  Precision precision = Precision::fp32;

  Options options(Index n, Index nb) const {
    Options options;
    options.nb = nb;
    options.hybrid = hybrid;
    options.threads = 2;
    options.split = split;
    options.by_rows = by_rows;
    options.residues = residues;
    options.halves = halves;
    options.leading = leading ? n / 2 / nb * nb : 0;
    options.precision = precision;
    return options;
  }
};

constexpr Forms kForms[] = {
    {"tiled"},
    {"hybrid", true},
    {"split", false, true},
    {"by rows", false, false, true},
    {"split by rows", false, true, true},
    {"residues", false, false, false, true},
    {"residues by rows", false, false, true, true},
    {"leading", false, false, false, false, false, true},
    {"all", false, true, true, true, true, true},
    {"hybrid and all", true, true, true, true, true, true},
};
constexpr Forms kLowPrecisions[] = {
    {"tf32", false, true, true, true, true, false, Precision::tf32},
    {"fp16", false, true, true, true, false, false, Precision::fp16},
};

/// Calls that are carried out in a device's memory which nothing else has been in.
class MemoryTest : public DeviceTest {
 protected:
  // On the emulated device there are two long steps of LU; on a GPU products by split operands pay.
  Index n() { return device().emulated() ? 136 : 3000; }
  Index nb() { return device().emulated() ? 8 : 128; }
  Options options(const Forms& forms) { return forms.options(n(), nb()); }

  /// Gives idle blocks back: a lease counts with the whole block, of which it may be half.
  void empty_pools() {
    device().set_memory_limit(1);
    device().set_memory_limit(0);
    device().reset_peak_use();
  }
  template <class Call>
  std::size_t peak(Call call) {
    empty_pools();
    call();
    return device().pool_use(Space::device).peak;
  }
  std::size_t reckoned(Routine routine, char type, const Shape& shape, const Options& options) {
    return dispatch::family_of(routine).memory({device(), type, shape}, options);
  }
  /// `peak` is that of the triangle, if one is given, for which more is taken: plans do not know
  /// which it is. The rest of the tolerance is for what a call turns out to do without: the work
  /// space of few right-hand sides where a transposed system is solved, and interchanges on the
  /// device. The slack is a column or two for each of a few small buffers.
  void expect_close(std::size_t reckoned, std::size_t peak, std::size_t element) {
    EXPECT_LE(peak, reckoned);
    const std::size_t slack = 4 * element * static_cast<std::size_t>(n());
    EXPECT_LE(static_cast<double>(reckoned), 1.25 * static_cast<double>(peak + slack));
  }
};

template <class T>
class Memory : public MemoryTest {
 protected:
  static constexpr char kType = ScalarTraits<T>::letter;
  static const cpu::Lapack<T>& cpu() { return cpu::lapack<T>(cpu::Family::lp64); }
  std::string text(const Forms& forms, Index nrhs) {
    return std::string(1, kType) + ", " + forms.name + ", nrhs=" + std::to_string(nrhs);
  }
};
TYPED_TEST_SUITE(Memory, Precisions);

TYPED_TEST(Memory, OfCholeskyFactorizationsAndSolves) {
  using T = TypeParam;
  const Index n = this->n();
  for (const Forms& forms : kForms) {
    for (const Index nrhs : {0, 1, 20}) {
      SCOPED_TRACE(this->text(forms, nrhs));
      const Options options = this->options(forms);
      std::size_t peak = 0;
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        auto a = hadamard_spd<T>(n);
        auto b = random_matrix<T>(n, nrhs, 2);
        Index committed = 0;
        peak = std::max(peak, this->peak([&] {
          EXPECT_EQ(algorithms::posv<T>(this->device(), this->cpu(), options, uplo, a.view(),
                                        b.view(), committed),
                    0);
        }));
      }
      const Routine routine = nrhs > 0 ? Routine::posv : Routine::potrf;
      this->expect_close(this->reckoned(routine, this->kType, {n, n, nrhs}, options), peak,
                         sizeof(T));
    }
  }
}

TYPED_TEST(Memory, OfLuFactorizationsAndSolves) {
  using T = TypeParam;
  struct Case {
    Index m, n, nrhs;
  };
  const Index n = this->n();
  for (const Forms& forms : kForms) {
    for (const Case& c :
         {Case{n, n, 0}, {n, n, 1}, {n, n, 20}, {n + n / 2, n, 0}, {n, n + n / 2, 0}}) {
      SCOPED_TRACE(testing::Message() << this->text(forms, c.nrhs) << " " << c.m << "x" << c.n);
      const Options options = this->options(forms);
      auto a = random_matrix<T>(c.m, c.n, 1);
      auto b = random_matrix<T>(c.m, c.nrhs, 2);
      algorithms::Interchanges interchanges;
      Index committed = 0;
      const std::size_t peak = this->peak([&] {
        EXPECT_EQ(algorithms::gesv<T>(this->device(), this->cpu(), options, a.view(), interchanges,
                                      b.view(), committed),
                  0);
      });
      const Routine routine = c.nrhs > 0 ? Routine::gesv : Routine::getrf;
      this->expect_close(this->reckoned(routine, this->kType, {c.m, c.n, c.nrhs}, options), peak,
                         sizeof(T));
    }
  }
}

/// A gesv that inverts takes other memory than one that solves. Nobody knows before which it is.
TYPED_TEST(Memory, OfSolvesWithTheUnitMatrix) {
  using T = TypeParam;
  const Index n = this->n();
  const Options options = this->options(kForms[0]);
  auto a = random_matrix<T>(n, n, 1), b = unit_matrix<T>(n);
  algorithms::Interchanges interchanges;
  Index committed = 0;
  const std::size_t peak = this->peak([&] {
    EXPECT_EQ(algorithms::gesv<T>(this->device(), this->cpu(), options, a.view(), interchanges,
                                  b.view(), committed),
              0);
  });
  EXPECT_LE(peak, this->reckoned(Routine::gesv, this->kType, {n, n, n}, options));
}

TYPED_TEST(Memory, OfSolvesWithGivenFactors) {
  using T = TypeParam;
  const Index n = this->n();
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) pivots[static_cast<std::size_t>(i)] = i + 1;
  for (const Index nrhs : {1, 20}) {
    SCOPED_TRACE(this->text(kForms[0], nrhs));
    const Options options = this->options(kForms[0]);
    const auto a = diagonally_dominant<T>(n, 1);
    auto b = random_matrix<T>(n, nrhs, 2);
    Index committed = 0;
    const std::size_t of_potrs = this->peak([&] {
      algorithms::potrs<T>(this->device(), options, Uplo::lower, a.view(), b.view(), committed);
    });
    const std::size_t of_getrs = this->peak([&] {
      algorithms::getrs<T>(this->device(), options, Op::none, a.view(), pivots, b.view(),
                           committed);
    });
    const std::size_t of_trtrs = this->peak([&] {
      algorithms::trtrs<T>(this->device(), options, Uplo::lower, Op::none, Diag::non_unit, a.view(),
                           b.view(), committed);
    });
    const Shape shape{n, n, nrhs};
    this->expect_close(this->reckoned(Routine::trtrs, this->kType, shape, options), of_trtrs,
                       sizeof(T));
    this->expect_close(this->reckoned(Routine::potrs, this->kType, shape, options), of_potrs,
                       sizeof(T));
    this->expect_close(this->reckoned(Routine::getrs, this->kType, shape, options), of_getrs,
                       sizeof(T));
  }
}

TYPED_TEST(Memory, OfEstimatesOfTheCondition) {
  using T = TypeParam;
  const Index n = this->n();
  const Options options = this->options(kForms[0]);
  const auto a = unit_matrix<T>(n);  // factors whose inverses are not large
  const auto expect_close = [&](Routine routine, std::size_t peak) {
    SCOPED_TRACE(this->text(kForms[0], 0) + ", " + dispatch::name_of(routine));
    this->expect_close(this->reckoned(routine, this->kType, {n, n, 0}, options), peak, sizeof(T));
  };
  for (const Norm norm : {Norm::one, Norm::infinity}) {
    expect_close(Routine::gecon, this->peak([&] {
      algorithms::gecon<T>(this->device(), options, norm, a.view(), 1);
    }));
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      expect_close(Routine::trcon, this->peak([&] {
        algorithms::trcon<T>(this->device(), options, norm, uplo, Diag::non_unit, a.view());
      }));
      expect_close(Routine::pocon, this->peak([&] {
        algorithms::pocon<T>(this->device(), options, uplo, a.view(), 1);
      }));
    }
  }
}

TYPED_TEST(Memory, OfInverses) {
  using T = TypeParam;
  const Index n = this->n();
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) pivots[static_cast<std::size_t>(i)] = i + 1;
  const Options options = this->options(kForms[0]);
  const Shape shape{n, n, 0};
  Index committed = 0;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    SCOPED_TRACE(this->text(kForms[0], 0) + " " + static_cast<char>(uplo));
    auto a = diagonally_dominant<T>(n, 1);
    const std::size_t of_trtri = this->peak([&] {
      EXPECT_EQ(
          algorithms::trtri<T>(this->device(), options, uplo, Diag::non_unit, a.view(), committed),
          0);
    });
    const std::size_t of_lauum = this->peak(
        [&] { algorithms::lauum<T>(this->device(), options, uplo, a.view(), committed); });
    const std::size_t of_potri = this->peak([&] {
      EXPECT_EQ(algorithms::potri<T>(this->device(), options, uplo, a.view(), committed), 0);
    });
    this->expect_close(this->reckoned(Routine::trtri, this->kType, shape, options), of_trtri,
                       sizeof(T));
    this->expect_close(this->reckoned(Routine::lauum, this->kType, shape, options), of_lauum,
                       sizeof(T));
    this->expect_close(this->reckoned(Routine::potri, this->kType, shape, options), of_potri,
                       sizeof(T));
  }
  auto a = diagonally_dominant<T>(n, 1);
  const std::size_t of_getri = this->peak([&] {
    EXPECT_EQ(algorithms::getri<T>(this->device(), options, a.view(), pivots, committed), 0);
  });
  this->expect_close(this->reckoned(Routine::getri, this->kType, shape, options), of_getri,
                     sizeof(T));
}

TYPED_TEST(Memory, OfTheReductionToTridiagonalForm) {
  using T = TypeParam;
  const Index n = this->n();
  const Options options = this->options(kForms[0]);
  std::vector<Real<T>> d(static_cast<std::size_t>(n)), e(d);
  std::vector<T> tau(d.size());
  const Routine routine = is_complex<T> ? Routine::hetrd : Routine::sytrd;
  const std::size_t reckoned = this->reckoned(routine, this->kType, {n, n, 0}, options);
  for (const Uplo uplo : kUplos) {
    auto a = random_matrix<T>(n, n, 1);
    const std::size_t peak = this->peak([&] {
      algorithms::sytrd<T>(this->device(), options, uplo, a.view(), d.data(), e.data(), tau.data());
    });
    this->expect_close(reckoned, peak, sizeof(T));
  }
}

TYPED_TEST(Memory, OfTheQOfAReduction) {
  using T = TypeParam;
  const Index n = this->n(), lines = 70;
  const Options options = this->options(kForms[0]);
  const std::vector<T> tau(static_cast<std::size_t>(n - 1), T(1));
  const HostView<const T> taus(tau.data(), n - 1);
  auto a = random_matrix<T>(n, n, 1), c = random_matrix<T>(n - 1, lines, 2);
  const HostView<const T> vectors = a.view().block(1, 0, n - 1, n - 1);
  Index committed = 0;
  const std::size_t of_product = this->peak([&] {
    algorithms::ormqr<T>(this->device(), options, Side::left, Op::none,
                         {cpu::Reflectors::columns, vectors, taus}, c.view(), committed);
  });
  const std::size_t of_q =
      this->peak([&] { algorithms::orgtr<T>(this->device(), options, a.view(), taus, committed); });
  const Routine orgtr = is_complex<T> ? Routine::ungtr : Routine::orgtr,
                ormtr = is_complex<T> ? Routine::unmtr : Routine::ormtr;
  this->expect_close(this->reckoned(orgtr, this->kType, {n, n, 0}, options), of_q, sizeof(T));
  // That of products from the right may be more.
  EXPECT_GE(this->reckoned(ormtr, this->kType, {n, n, lines}, options), of_product);
}

TYPED_TEST(Memory, OfEigenproblems) {
  using T = TypeParam;
  const Index n = this->n();
  std::vector<Real<T>> w(static_cast<std::size_t>(n));
  const Routine routine = is_complex<T> ? Routine::heevd : Routine::syevd,
                generalized = is_complex<T> ? Routine::hegvd : Routine::sygvd;
  const auto expect_reckoned = [&](const Options& options, int type, bool vectors) {
    const std::size_t reckoned = this->reckoned(type == 0 ? routine : generalized, this->kType,
                                                {n, n, vectors ? n : 0}, options);
    for (const Uplo uplo : kUplos) {
      auto a = random_matrix<T>(n, n, 1), b = positive_definite<T>(n, 2);
      const algorithms::Eigenproblem<T> problem{uplo,
                                                a.view(),
                                                w.data(),
                                                {0, n},
                                                vectors ? a.view() : HostView<T>(),
                                                {},
                                                type,
                                                type == 0 ? HostView<T>() : b.view()};
      const std::size_t peak =
          this->peak([&] { algorithms::solve_eigenproblem<T>(this->device(), options, problem); });
      this->expect_close(reckoned, peak, sizeof(T));
    }
    return reckoned;
  };
  for (const int type : {0, 1, 2, 3}) {
    for (const bool vectors : {false, true}) {
      Options options = this->options(kForms[0]);
      const std::size_t of_two_stages = expect_reckoned(options, type, vectors);
      if (n < this->device().tuning().eigen.two_stages_from_order) continue;
      options.memory = of_two_stages - 1;
      EXPECT_LE(expect_reckoned(options, type, vectors), options.memory) << "one stage takes less";
    }
  }
}

TYPED_TEST(Memory, OfQrAndLq) {
  using T = TypeParam;
  const Index n = this->n(), k = n / 2;
  const Options options = this->options(kForms[0]);
  const std::vector<T> zeros(static_cast<std::size_t>(k));
  const HostView<const T> tau(zeros.data(), k);
  const auto expect_close = [&](Routine routine, const Shape& shape, std::size_t peak) {
    SCOPED_TRACE(dispatch::name_of(routine));
    this->expect_close(this->reckoned(routine, this->kType, shape, options), peak, sizeof(T));
  };
  for (const bool rows : {false, true}) {
    const auto kind = rows ? cpu::Reflectors::rows : cpu::Reflectors::columns;
    for (const Shape& shape : {Shape{n, n, 0}, Shape{n, k, 0}, Shape{k, n, 0}}) {
      auto a = random_matrix<T>(shape.m, shape.n, 1);
      std::vector<T> new_tau(static_cast<std::size_t>(n));
      Index committed = 0;
      expect_close(rows ? Routine::gelqf : Routine::geqrf, shape, this->peak([&] {
        algorithms::geqrf<T>(this->device(), options, kind, a.view(), new_tau.data(), committed);
      }));
    }
    auto a = rows ? random_matrix<T>(k, n, 1) : random_matrix<T>(n, k, 1);
    auto c = random_matrix<T>(n, n, 2);
    Index committed = 0, lines = 0;
    // By blocks of the caller: none is one of the device's, and one is as wide as the matrix.
    for (const Index block : {Index{5}, k}) {
      if (rows) continue;
      auto t = random_matrix<T>(block, k, 3);
      std::vector<T> work(static_cast<std::size_t>(k));
      expect_close(Routine::gemqrt, {n, k, n, block}, this->peak([&] {
        algorithms::ormqr<T>(this->device(), options, Side::left, Op::none,
                             {kind, a.view(), {}, t.view()}, c.view(), lines);
      }));
      auto factors = a;
      expect_close(Routine::geqrt, {n, k, 0, block}, this->peak([&] {
        algorithms::geqrt<T>(this->device(), options, factors.view(), work.data(), t.view(),
                             committed);
      }));
    }
    expect_close(rows ? Routine::ormlq : Routine::ormqr, {n, k, n}, this->peak([&] {
      algorithms::ormqr<T>(this->device(), options, Side::left, Op::none, {kind, a.view(), tau},
                           c.view(), lines);
    }));
    expect_close(rows ? Routine::orglq : Routine::orgqr, {a.rows(), a.cols(), 0}, this->peak([&] {
      algorithms::orgqr<T>(this->device(), options, kind, a.view(), tau, committed);
    }));
  }
}

/// What is out of core takes what it may, or a large part of it.
TYPED_TEST(Memory, OfCallsOutOfCoreIsWithinWhatTheyMayTake) {
  using T = TypeParam;
  const Index n = 2 * this->n(), nrhs = n / 2;
  const double whole = sizeof(T) * static_cast<double>(n * n);
  for (const Forms& forms : {kForms[0], kForms[1]}) {
    for (const double share : {1.0, 0.6}) {
      SCOPED_TRACE(this->text(forms, nrhs) + ", share " + std::to_string(share));
      Options options = this->options(forms);
      options.memory = static_cast<std::size_t>(share * whole);
      options.out_of_core = true;
      const auto expect_within = [&](std::size_t peak) {
        EXPECT_LE(peak, options.memory);
        EXPECT_GE(static_cast<double>(peak), 0.5 * static_cast<double>(options.memory));
      };
      const auto b = random_matrix<T>(n, nrhs, 2);
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        auto a = hadamard_spd<T>(n), x = b;
        Index committed = 0;
        expect_within(this->peak([&] {
          EXPECT_EQ(algorithms::posv<T>(this->device(), this->cpu(), options, uplo, a.view(),
                                        x.view(), committed),
                    0);
        }));
      }
      auto a = random_matrix<T>(n, n, 1), x = b;
      algorithms::Interchanges interchanges;
      Index committed = 0;
      expect_within(this->peak([&] {
        EXPECT_EQ(algorithms::gesv<T>(this->device(), this->cpu(), options, a.view(), interchanges,
                                      x.view(), committed),
                  0);
      }));
    }
  }
}

/// An update takes what it may, and does with little: all of the memory that it may take counts.
TYPED_TEST(Memory, OfUpdatesIsWithinWhatTheyMayTake) {
  using T = TypeParam;
  const Index n = this->n();
  const int sign = 1;
  for (const Index k : {Index{1}, UpdatePanels<T>::kMaxVectors + 1}) {  // for both ways to do it
    SCOPED_TRACE(testing::Message() << this->kType << " k=" << k);
    Options options = this->options(kForms[0]);
    options.nb = 32;  // rows of a block row are padded to a multiple of that
    const std::size_t least = this->reckoned(Routine::cholupdate, this->kType, {n, n, k}, options);
    std::size_t taken = 0;  // with no more than that
    for (const std::size_t times : {1, 2, 4, 100}) {
      options.memory = times * least;
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        auto a = hadamard_spd<T>(n);
        const auto v = random_matrix<T>(n, k, 2);
        algorithms::UpdateCheckpoint<T> checkpoint;
        const algorithms::Update<T> update{uplo, a.view(), v.view(),
                                           algorithms::Signs(&sign, false)};
        const std::size_t peak = this->peak([&] {
          EXPECT_EQ(
              algorithms::chol_update_on_device<T>(this->device(), options, update, checkpoint), 0);
        });
        EXPECT_LE(peak, options.memory);
        if (times == 1) taken = std::max(taken, peak);
      }
    }
    this->expect_close(least, taken, sizeof(T));
  }
}

template <class T>
class MemoryOfMixedPrecision : public Memory<T> {
 protected:
  void check(bool lu, const Forms& forms, Index nrhs) {
    SCOPED_TRACE((lu ? "LU, " : "Cholesky, ") + this->text(forms, nrhs));
    const Index n = this->n();
    Options options = this->options(forms);
    options.leading = 0;  // which mixed-precision solvers have not
    const Routine routine = lu ? (is_complex<T> ? Routine::cgesv : Routine::sgesv)
                               : (is_complex<T> ? Routine::cposv : Routine::sposv);
    std::size_t peak = 0;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      if (lu && uplo == Uplo::upper) continue;
      peak = std::max(peak, this->peak([&] { solve(lu, options, uplo, nrhs); }));
    }
    const std::size_t reckoned = this->reckoned(routine, this->kType, {n, n, nrhs}, options);
    EXPECT_LE(peak, reckoned);
    largest_part_ =
        std::max(largest_part_, static_cast<double>(peak) / static_cast<double>(reckoned));
  }
  void solve(bool lu, const Options& options, Uplo uplo, Index nrhs) {
    const Index n = this->n();
    auto a = hadamard_spd<T>(n);
    const auto b = random_matrix<T>(n, nrhs, 2);
    auto x = random_matrix<T>(n, nrhs, 3);
    const cpu::Lapack<Single<T>>& single = cpu::lapack<Single<T>>(cpu::Family::lp64);
    algorithms::Interchanges interchanges;
    algorithms::Refinement refinement;
    Index committed = 0;
    const algorithms::MixedLapack<T> lapack{this->cpu(), single};
    const algorithms::System<T> system{a.view(), b.view(), x.view()};
    const Index info = lu ? algorithms::mixed_gesv<T>(this->device(), lapack, options, system,
                                                      interchanges, refinement, committed)
                          : algorithms::mixed_posv<T>(this->device(), lapack, options, uplo, system,
                                                      refinement, committed);
    EXPECT_EQ(info, 0);
    EXPECT_EQ(refinement.fell_back, !this->rounds());
  }
  double largest_part_ = 0;
};
TYPED_TEST_SUITE(MemoryOfMixedPrecision, DoublePrecisions);

/// What is reckoned is what a call takes that falls back to double precision, unless the
/// factorization in single precision takes more. Calls that do not fall back take less.
TYPED_TEST(MemoryOfMixedPrecision, IsEnoughInAllForms) {
  for (const bool lu : {true, false}) {
    for (const Index nrhs : {1, 20}) {
      for (const Forms& forms : kForms) this->check(lu, forms, nrhs);
      for (const Forms& forms : kLowPrecisions) this->check(lu, forms, nrhs);
    }
  }
  EXPECT_GT(this->largest_part_, 0.8);
}

}  // namespace
}  // namespace overlapack
