// A device that has only the required part of the contract: what it offers, and what the defaults
// of device/defaults.cpp make of it, one after the other, compared with a device that has
// operations of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include "device/emulated/emulated_device.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

std::unique_ptr<Device> make_core_device() {
  EmulatedOptions options;
  options.core_only = true;
  return make_emulated_device(options);
}

/// Numbers that an operation has written, with what stands around them.
class Results {
 public:
  template <class U>
  void add(const Padded<U>& a) {
    for (Index i = 0; i < a.ld() * a.cols(); ++i) put(a.view().data[i]);
  }
  /// The largest difference of two numbers, as compared with the larger of them and 1.
  double difference(const Results& other) const {
    if (numbers_.size() != other.numbers_.size()) return HUGE_VAL;
    double largest = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const double size = std::max({1., std::abs(numbers_[i]), std::abs(other.numbers_[i])});
      const double difference = std::abs(numbers_[i] - other.numbers_[i]) / size;
      if (!(difference <= largest)) largest = difference;  // a NaN, too
    }
    return largest;
  }

 private:
  template <class U>
  void put(U x) {
    if constexpr (std::is_arithmetic_v<U>) {
      numbers_.emplace_back(static_cast<double>(x));
    } else {
      numbers_.emplace_back(x.real(), x.imag());
    }
  }
  std::vector<std::complex<double>> numbers_;
};

/// The operations that have defaults, on operands that are the same for all devices.
template <class T>
class Operations {
 public:
  explicit Operations(Device& device, Uplo uplo = Uplo::lower)
      : device_(device), queue_(device), uplo_(uplo) {}

  Results potrf_panel() {
    const auto a = up(stored(columns_of_spd(40, 16))), factor = up(like(stored(Padded<T>(40, 16))));
    const auto info = indices(1);
    return after(PotrfPanel<T>{uplo_, a, factor, info, 0}, factor, info);
  }
  Results getrf_panel() {
    const auto a = up(random_matrix<T>(40, 7, 2, 3));
    const auto pivots = indices(7), home = indices(7), info = indices(1);
    return after(GetrfPanel<T>{a, pivots, home, info, 0}, a, pivots, home, info);
  }
  Results geqrf_panel() {
    const auto a = up(random_matrix<T>(40, 7, 2, 3)), v = up(like(Padded<T>(40, 7, 1)));
    const auto t = up(like(Padded<T>(7, 7, 2))), tau = up(like(Padded<T>(7, 1)));
    return after(GeqrfPanel<T>{a, v, t, tau}, a, v, t, tau);
  }
  Results update_panel() {
    const auto a = up(stored(factor_of_spd(30, 8))), v = up(small_vectors(30, 3));
    const auto rest = up(Padded<T>(22, 3, 1));
    const auto info = indices(1);
    return after(UpdatePanel<T>{uplo_, a, a, 2, v, rest, info, 0}, a, rest, info);
  }

  Results potrf_rows() {
    const auto panel = up(stored(columns_of_spd(16, 16)));
    const auto rows = up(stored(random_matrix<T>(25, 16, 3)));
    const auto factor = up(like(stored(Padded<T>(25, 16)))), notes = numbers(limits().potrf_notes);
    const auto info = indices(1);
    queue_->enqueue(PotrfPanel<T>{uplo_, panel, panel, info, 0, notes});
    return after(PotrfRows<T>{uplo_, notes, rows, factor}, factor);
  }
  Results invert_blocks() {
    const auto l = up(stored(factor_of_spd(50, 50))), inverses = up(Padded<T>(16, 50, 1));
    const auto conditions = up(Padded<Real<T>>(4, 1));
    return after(InvertBlocks<T>{uplo_, l, inverses, conditions}, inverses, conditions);
  }
  Results back_substitute() {
    const Inverted l = inverted(50, 50);
    const auto x = up(random_matrix<T>(50, 5, 3, 2));
    const auto progress = indices(kernels().factor_progress(4, 5));
    return after(BackSubstitute<T>{uplo_, l.factor, l.inverses, x, progress}, x);
  }
  Results eliminate() {
    const Inverted l = inverted(70, 48);
    const auto x = up(random_matrix<T>(70, 3, 3, 2)), states = up(Padded<T>(70, 6, 1));
    const auto progress = indices(kernels().factor_progress(3, 3));
    return after(Eliminate<T>{uplo_, l.factor, l.inverses, x, 32, states, progress}, x, states);
  }

  Results update_bases() {
    const auto w = up(small_vectors(50, 3));
    const auto grams = up(Padded<Double<T>>(3, 12)), bases = up(Padded<Double<T>>(3, 15, 1));
    const auto unfit = indices(1);
    return after(UpdateBases<T>{1, w, 16, 0, 1000, grams, bases, unfit}, grams, bases, unfit);
  }
  /// With what comes before it, in panels of the device's own width: the new factor does not depend
  /// on that.
  Results update_panels() {
    const Index n = 150, k = 3, width = limits().update_panel_width;
    const Index panels = quotient_up(n, width), order = 8;
    const auto l = up(stored(factor_of_spd(n, n))), x = up(small_vectors(n, k));
    const auto inverses = up(Padded<T>(order, n)), states = up(Padded<T>(n, panels * k));
    const auto conditions = up(Padded<Real<T>>(quotient_up(n, order), 1));
    const auto progress = indices(kernels().factor_progress(quotient_up(n, order), k));
    const auto grams = up(Padded<Double<T>>(k, panels * k)),
               bases = up(Padded<Double<T>>(k, (panels + 1) * k)),
               reflectors = up(Padded<Double<T>>(UpdatePanels<T>::kReflector * n, 1));
    const auto info = indices(1), unfit = indices(1);
    queue_->enqueue(InvertBlocks<T>{uplo_, l, inverses, conditions});
    queue_->enqueue(Eliminate<T>{uplo_, l, inverses, x, width, states, progress});
    queue_->enqueue(UpdateBases<T>{1, x, width, 0, 1000, grams, bases, unfit});
    return after(UpdatePanels<T>{uplo_, 1, l, states, k, bases, reflectors, info}, l, info, unfit);
  }

  Results compose_interchanges() {
    const auto sources = indices_of(40, 4);
    return after(ComposeInterchanges<T>{panel_pivots(40, 10), 0, 3, sources}, sources);
  }
  Results permute_rows() {
    const auto sources = indices_of(40, 4);
    const auto a = up(random_matrix<T>(40, 11, 2, 3));
    const auto pivots = panel_pivots(40, 10);
    queue_->enqueue(ComposeInterchanges<T>{pivots, 0, 3, sources});
    return after(PermuteRows<T>{a, 3, sources}, a);
  }
  Results interchange_and_solve() {
    const auto a = up(random_matrix<T>(40, 11, 2, 3)), l = up(unit_lower(10));
    return after(InterchangeAndSolve<T>{l, panel_pivots(40, 10), 0, a}, a);
  }
  Results lu_step() {
    const auto a = up(random_matrix<T>(40, 3, 2, 3)), panel = up(unit_lower(40));
    const DeviceView<const T> columns = panel.view.block(0, 0, 40, 10);
    return after(LuStep<T>{columns, panel_pivots(40, 10), 0, a}, a);
  }
  /// By inverses where the device has some.
  Results interchange_and_solve_by_rows() {
    const auto a = up(random_matrix<T>(11, 40, 2, 3)), l = up(unit_lower(10));
    const auto inverses = indices(kernels().elements_of_inverses(10));
    queue_->enqueue(FindInverses<T>{l, inverses});
    return after(InterchangeAndSolveByRows<T>{l, panel_pivots(40, 10), 0, a, inverses}, a);
  }

  Results hemv() {
    const auto a = up(stored(columns_of_spd(150, 150)));
    const auto x = up(random_matrix<T>(150, 1, 2)), y = up(random_matrix<T>(150, 1, 3, 1));
    return after(Hemv<T>{uplo_, a, x, y, numbers(kernels().hemv_work(150))}, y);
  }
  /// With links where the device has some.
  Results substitute() {
    const auto a = up(stored(factor_of_spd(50, 50))), x = up(random_matrix<T>(50, 3, 2, 1));
    const auto links = indices(kernels().substitution_links(50)),
               progress = indices(kernels().substitution_progress(50, 3));
    if (links.view.rows > 0) queue_->enqueue(FindLinks<T>{uplo_, Diag::non_unit, a, links});
    return after(Substitute<T>{uplo_, Diag::non_unit, a, links, x, progress}, x);
  }

 private:
  Kernels<T>& kernels() { return device_.kernels<T>(); }
  const Limits& limits() { return kernels().limits(); }

  /// What the operation leaves in these matrices. Whoever serves it, it is one operation.
  template <class Operation, class... Written>
  Results after(const Operation& operation, const Written&... written) {
    const std::size_t before = device_.counters().kernels;
    queue_->enqueue(operation);
    EXPECT_EQ(device_.counters().kernels - before, 1u);
    Results results;
    (results.add(download(*queue_, written)), ...);
    return results;
  }

  template <class U>
  Uploaded<U> up(const Padded<U>& a) {
    return upload(*queue_, a);
  }
  Uploaded<Index> indices(Index count) { return indices_of(count, 1); }
  /// Zeros.
  Uploaded<Index> indices_of(Index rows, Index cols) {
    Padded<Index> zeros(rows, cols);
    std::fill_n(zeros.data(), zeros.ld() * cols, Index{0});
    return up(zeros);
  }
  Uploaded<T> numbers(Index count) { return up(Padded<T>(count, 1)); }

  /// Lower triangles, as the operation gets them.
  Padded<T> stored(const Padded<T>& l) const {
    if (uplo_ == Uplo::lower) return l;
    Padded<T> u(l.cols(), l.rows(), 2);
    for (Index j = 0; j < l.cols(); ++j) {
      for (Index i = 0; i < l.rows(); ++i) u(j, i) = conj(l(i, j));
    }
    return u;
  }
  static Padded<T> like(const Padded<T>& a) { return Padded<T>(a.rows(), a.cols(), 3); }

  /// The first n columns of a positive definite matrix of order m, and those of its factor.
  static Padded<T> columns_of_spd(Index m, Index n) {
    return first_columns(positive_definite<T>(m, 1), n);
  }
  static Padded<T> factor_of_spd(Index m, Index n) {
    auto factor = positive_definite<T>(m, 1);
    EXPECT_EQ(reference::potrf(Uplo::lower, factor.view()), 0);
    return first_columns(factor, n);
  }
  static Padded<T> first_columns(const Padded<T>& a, Index n) {
    Padded<T> columns(a.rows(), n, 1);
    reference::lacpy<T>(a.view().block(0, 0, a.rows(), n), columns.view());
    return columns;
  }
  static Padded<T> small_vectors(Index m, Index k) {
    auto v = random_matrix<T>(m, k, 5, 1);
    for (Index i = 0; i < v.ld() * k; ++i) v.data()[i] *= Real<T>(0.125);
    return v;
  }
  /// Elements below the diagonal are small, and the diagonal is one.
  static Padded<T> unit_lower(Index n) {
    auto l = random_matrix<T>(n, n, 6, 1);
    for (Index i = 0; i < l.ld() * n; ++i) l.data()[i] *= Real<T>(0.125);
    for (Index j = 0; j < n; ++j) l(j, j) = T(1);
    return l;
  }
  Uploaded<Index> panel_pivots(Index rows, Index count) {
    Random random(7);
    Padded<Index> pivots(count, 1);
    for (Index j = 0; j < count; ++j) pivots(j, 0) = 1 + random.integer(j, rows - 1);
    return up(pivots);
  }

  /// Columns of a factor with the inverses of its diagonal blocks, of order 16.
  struct Inverted {
    Uploaded<T> factor, inverses;
  };
  Inverted inverted(Index m, Index n) {
    Inverted l{up(stored(factor_of_spd(m, n))), up(Padded<T>(16, n))};
    const auto conditions = up(Padded<Real<T>>(quotient_up(n, 16), 1));
    queue_->enqueue(
        InvertBlocks<T>{uplo_, l.factor.view.block(0, 0, n, n), l.inverses, conditions});
    queue_->synchronize();
    return l;
  }

  Device& device_;
  QueueLease queue_;
  const Uplo uplo_;
};

template <class T>
class CoreDevice : public testing::Test {
 protected:
  using Run = Results (Operations<T>::*)();
  struct Row {
    const char* name;
    Run run;
  };
  static constexpr Row kPanels[] = {{"potrf_panel", &Operations<T>::potrf_panel},
                                    {"getrf_panel", &Operations<T>::getrf_panel},
                                    {"geqrf_panel", &Operations<T>::geqrf_panel},
                                    {"update_panel", &Operations<T>::update_panel}};
  static constexpr Row kFused[] = {
      {"potrf_rows", &Operations<T>::potrf_rows},
      {"invert_blocks", &Operations<T>::invert_blocks},
      {"back_substitute", &Operations<T>::back_substitute},
      {"eliminate", &Operations<T>::eliminate},
      {"update_bases", &Operations<T>::update_bases},
      {"update_panels", &Operations<T>::update_panels},
      {"compose_interchanges", &Operations<T>::compose_interchanges},
      {"permute_rows", &Operations<T>::permute_rows},
      {"interchange_and_solve", &Operations<T>::interchange_and_solve},
      {"lu_step", &Operations<T>::lu_step},
      {"interchange_and_solve_by_rows", &Operations<T>::interchange_and_solve_by_rows},
      {"hemv", &Operations<T>::hemv},
      {"substitute", &Operations<T>::substitute}};

  /// The default does what the device's own operation does, up to rounding.
  template <class Rows>
  void expect_same(const Rows& rows) {
    for (const Row& row : rows) {
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << row.name << " " << char(uplo));
        Operations<T> on_core(*core_, uplo), on_full(*full_, uplo);
        EXPECT_LT((on_core.*row.run)().difference((on_full.*row.run)()), 1000 * epsilon<T>());
      }
    }
  }

  const std::unique_ptr<Device> core_ = make_core_device(), full_ = make_emulated_device();
};
TYPED_TEST_SUITE(CoreDevice, Precisions);

TYPED_TEST(CoreDevice, HasNoFormats) {
  const auto& kernels = this->core_->template kernels<TypeParam>();
  EXPECT_EQ(kernels.split_products(), nullptr);
  EXPECT_EQ(kernels.residue_products(), nullptr);
  EXPECT_EQ(kernels.rounding(), nullptr);
  const Index large = 1 << 20;
  for (const Precision precision : kPrecisions) {
    EXPECT_FALSE(kernels.split_pays(precision, large, large, large));
  }
  EXPECT_FALSE(kernels.has_residues_for(large));
  EXPECT_FALSE(kernels.residues_pay(large, large, large));
  EXPECT_FALSE(kernels.scaled_residues_pay(large, large, large));
}

TYPED_TEST(CoreDevice, NeedsLittleWorkSpaceAndHasNothingThatAlgorithmsChoose) {
  const auto& kernels = this->core_->template kernels<TypeParam>();
  const Index n = 1000;
  EXPECT_FALSE(kernels.has_lu_step(n, 10, 1));
  EXPECT_EQ(kernels.elements_of_inverses(n), 0);
  EXPECT_EQ(kernels.substitution_links(n), 0);
  EXPECT_EQ(kernels.substitution_progress(n, 3), 0);
  EXPECT_EQ(kernels.factor_progress(n, 3), 0);
  EXPECT_EQ(kernels.hemv_work(n), kernels.hemv_work(2 * n));
  EXPECT_EQ(kernels.limits().permutable_rows, 0);
  EXPECT_GT(kernels.limits().potrf_notes,
            kernels.limits().potrf_panel_width * kernels.limits().potrf_panel_width);
}

TYPED_TEST(CoreDevice, PanelsByTheCpuAreThoseOfADevice) { this->expect_same(this->kPanels); }

TYPED_TEST(CoreDevice, FusedOperationsMadeOfTheCoreAreThoseOfADevice) {
  this->expect_same(this->kFused);
}

/// Refuses memory.
class NoStaging : public Observer {
 public:
  void before(Action action, const char* name, double) override {
    if (action == Action::allocate) throw DeviceError(std::string("no room for ") + name);
  }
};

TYPED_TEST(CoreDevice, AFailedTripLeavesTheQueueUsable) {
  using T = TypeParam;
  QueueLease queue(*this->core_);
  const auto a = upload(*queue, random_matrix<T>(20, 5, 1));
  const auto pivots = upload(*queue, Padded<Index>(5, 1)),
             info = upload(*queue, Padded<Index>(1, 1));
  const Buffer<Index> home(*this->core_, Space::host, 5);
  const GetrfPanel<T> panel{a, pivots, {home.data(), 5}, info, 0};
  NoStaging observer;
  this->core_->set_observer(&observer);
  EXPECT_THROW(queue->enqueue(panel), DeviceError);
  this->core_->set_observer(nullptr);
  EXPECT_TRUE(same(download(*queue, a), random_matrix<T>(20, 5, 1)));
  queue->zero(info.view.data, sizeof(Index));
  queue->enqueue(panel);
  EXPECT_EQ(download(*queue, info)(0, 0), 0);
}

}  // namespace
}  // namespace overlapack
