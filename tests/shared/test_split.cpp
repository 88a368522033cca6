// The large products of the factorizations: right by split operands and by gemm, and split exactly
// where they should be.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/shared/residues.hpp"
#include "algorithms/shared/split.hpp"
#include "cpu/reference.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::Options;

template <class T>
class Split : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (device_) device_->set_observer(&calls_);
  }
  void copy(Queue& queue, DeviceView<T> to, const Padded<T>& from) {
    const Buffer<T> staging(device(), Space::host, from.rows() * from.cols());
    const HostView<T> here(staging.data(), from.rows(), from.cols(), from.rows());
    reference::lacpy(from.view(), here);
    queue.copy<T>(to, here);
    queue.synchronize();
  }
  Padded<T> download(Queue& queue, DeviceView<const T> from) {
    const Buffer<T> staging(device(), Space::host, from.rows * from.cols);
    const HostView<T> here(staging.data(), from.rows, from.cols, from.rows);
    queue.copy<T>(here, from);
    queue.synchronize();
    Padded<T> to(from.rows, from.cols);
    std::copy_n(staging.data(), from.rows * from.cols, to.data());
    return to;
  }
  /// max |got - (c - op(a) op(b))| / ((|A| |B| + |C|) eps) in the worst case of uniform elements.
  static double error(const Padded<T>& got, const Padded<T>& c, Op op_a, HostView<const T> a,
                      Op op_b, HostView<const T> b) {
    using W = Wide<T>;
    auto expected = widen<T>(c.view());
    reference::gemm<W>(op_a, op_b, W(-1), widen<T>(a).view(), widen<T>(b).view(), W(1),
                       expected.view());
    double worst = 0;
    for (Index j = 0; j < got.cols(); ++j) {
      for (Index i = 0; i < got.rows(); ++i) {
        const double difference = std::abs(W(got(i, j)) - expected(i, j));
        worst = std::max(worst, std::isnan(difference) ? HUGE_VAL : difference);
      }
    }
    const Index k = op_a == Op::none ? a.cols : a.rows;
    return worst / (static_cast<double>(k + 1) * epsilon<T>());
  }
  /// Only the emulated device splits small products.
  bool expect_split(bool allowed) const {
    return allowed && device_->emulated() && device_->kernels<T>().split_products() != nullptr;
  }

  Calls calls_;
};
TYPED_TEST_SUITE(Split, Precisions);

constexpr double kLimit = 10;

TYPED_TEST(Split, UpdatesOfALeftLookingFactorization) {
  using T = TypeParam;
  const Index n = 75;
  enum class Form { split, no_memory_to_split, plain };
  for (const Form form : {Form::split, Form::no_memory_to_split, Form::plain}) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      SCOPED_TRACE(testing::Message() << char(uplo) << " form " << static_cast<int>(form));
      const bool lower = uplo == Uplo::lower;
      Options options;
      options.nb = 16;
      options.split = form != Form::plain;
      // Of the factor only what lies beside the diagonal blocks may be used.
      const std::vector<Range> blocks = algorithms::partition(n, options.nb);
      auto factor = random_matrix<T>(n, n, 1);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          const Index row = lower ? i : j, column = lower ? j : i;
          if (row < (column / options.nb + 1) * options.nb) factor(i, j) = nan<T>();
        }
      }
      const algorithms::DeviceMatrix<T> matrix(this->device(), n, n), w(this->device(), n, n);
      const algorithms::Triangle<T> triangle{{uplo}, this->device().template kernels<T>()};
      algorithms::Updates<T> updates(this->device(), options, triangle, matrix.view(), n);
      this->device().set_memory_limit(form == Form::no_memory_to_split ? 1 : 0);
      const auto workspace = updates.workspace(this->device(), n, options.nb);
      this->device().set_memory_limit(0);
      EventLease appended(this->device());
      const QueueLease panel(this->device(), Priority::high), update(this->device());
      this->copy(*panel, matrix.view(), factor);
      const int before = this->calls_.of("split_gemm");
      for (const Range j : blocks) {
        const Range below{j.first, n}, k{0, j.first};
        const auto c = lower ? random_matrix<T>(below.size(), j.size(), 2)
                             : random_matrix<T>(j.size(), below.size(), 2);
        const auto device_c = w.view().block(0, 0, c.rows(), c.cols());
        this->copy(*update, device_c, c);
        update->wait(*appended);
        updates.subtract(*update, workspace, below, j, k, device_c);
        const auto rows = lower ? factor.view().block(j.first, 0, below.size(), k.size())
                                : factor.view().block(0, j.first, k.size(), below.size());
        const auto columns = lower ? factor.view().block(j.first, 0, j.size(), k.size())
                                   : factor.view().block(0, j.first, k.size(), j.size());
        const auto got = this->download(*update, device_c);
        EXPECT_LT(lower ? this->error(got, c, Op::none, rows, Op::conj_trans, columns)
                        : this->error(got, c, Op::conj_trans, columns, Op::none, rows),
                  kLimit)
            << "block at " << j.first;
        updates.append(*panel, {j.last, n}, j);
        panel->record(*appended);
      }
      const int products = this->calls_.of("split_gemm") - before;
      const int expected = static_cast<int>(blocks.size()) - 1;  // the first has no predecessor
      if (this->device().emulated()) {
        EXPECT_EQ(products, this->expect_split(form == Form::split) ? expected : 0);
      }
    }
  }
}

TYPED_TEST(Split, SubtractionsOfManyShapes) {
  using T = TypeParam;
  const Index m = 60, n = 50, k = 20;
  for (const bool split : {true, false}) {
    Options options;
    options.split = split;
    const algorithms::DeviceMatrix<T> a(this->device(), m, k), b(this->device(), k, n),
        c(this->device(), m, n), u(this->device(), n, k), d(this->device(), n, m);
    const algorithms::Subtraction<T> subtract(this->device(), options, m, n, k);
    const QueueLease queue(this->device());
    const int before = this->calls_.of("split_gemm");
    int products = 0;
    for (const auto& [rows, cols, depth] :
         {std::array<Index, 3>{m, n, k}, {1, 1, 1}, {m, 1, k}, {33, n, 7}}) {
      const auto host_a = random_matrix<T>(rows, depth, 1);
      const auto host_b = random_matrix<T>(depth, cols, 2);
      const auto host_c = random_matrix<T>(rows, cols, 3);
      const auto device_a = a.view().block(0, 0, rows, depth);
      const auto device_b = b.view().block(0, 0, depth, cols);
      const auto device_c = c.view().block(0, 0, rows, cols);
      this->copy(*queue, device_a, host_a);
      this->copy(*queue, device_b, host_b);
      this->copy(*queue, device_c, host_c);
      subtract(*queue, device_a, device_b, device_c);
      EXPECT_LT(this->error(this->download(*queue, device_c), host_c, Op::none, host_a.view(),
                            Op::none, host_b.view()),
                kLimit)
          << rows << "x" << cols << "x" << depth;
      ++products;

      const auto host_u = random_matrix<T>(cols, depth, 4);
      const auto host_d = random_matrix<T>(cols, rows, 5);
      const auto device_u = u.view().block(0, 0, cols, depth);
      const auto device_d = d.view().block(0, 0, cols, rows);
      this->copy(*queue, device_u, host_u);
      this->copy(*queue, device_d, host_d);
      subtract.by_rows(*queue, device_a, device_u, device_d);
      const auto by_rows = this->download(*queue, device_d);
      EXPECT_LT(
          this->error(by_rows, host_d, Op::none, host_u.view(), Op::conj_trans, host_a.view()),
          kLimit)
          << "by rows " << rows << "x" << cols << "x" << depth;
      ++products;

      if (!this->expect_split(split)) continue;
      // The same with L split before, where it is no more.
      algorithms::SplitAdjoint<T> split_a(this->device(), options, m, k);
      split_a.split(*queue, device_a);
      this->copy(*queue, device_a, random_matrix<T>(rows, depth, 6));
      this->copy(*queue, device_d, host_d);
      subtract.by_rows(*queue, device_a, device_u, device_d, &split_a);
      EXPECT_TRUE(same_bits(this->download(*queue, device_d), by_rows));
      ++products;
    }
    if (this->device().emulated()) {
      EXPECT_EQ(this->calls_.of("split_gemm") - before, this->expect_split(split) ? products : 0);
    }
  }
}

TYPED_TEST(Split, SubtractionsWhoseFactorsDifferInSize) {
  using T = TypeParam;
  const Index m = 60, n = 50, k = 20;
  const auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  const auto c = random_matrix<T>(m, n, 3), d = random_matrix<T>(n, m, 4);
  for (const int exponent : {20, 40, 60}) {
    SCOPED_TRACE(exponent);
    // As in an LU of rows some of which are larger: the products are the same.
    auto small = a, large = b;
    for (Index l = 0; l < k; l += 3) {
      for (Index i = 0; i < m; ++i) small(i, l) *= std::ldexp(Real<T>(1), -exponent);
      for (Index j = 0; j < n; ++j) large(l, j) *= std::ldexp(Real<T>(1), exponent);
    }
    const algorithms::DeviceMatrix<T> da(this->device(), m, k), db(this->device(), k, n),
        dc(this->device(), m, n), du(this->device(), n, k), dd(this->device(), n, m);
    const algorithms::Subtraction<T> subtract(this->device(), Options{}, m, n, k);
    const QueueLease queue(this->device());
    this->copy(*queue, da.view(), small);
    this->copy(*queue, db.view(), large);
    this->copy(*queue, dc.view(), c);
    subtract(*queue, da.view(), db.view(), dc.view());
    EXPECT_LT(
        this->error(this->download(*queue, dc.view()), c, Op::none, a.view(), Op::none, b.view()),
        kLimit);

    this->copy(*queue, dd.view(), d);
    queue->enqueue(Copy<T>{Op::conj_trans, db.view(), du.view()});
    subtract.by_rows(*queue, da.view(), du.view(), dd.view());
    EXPECT_LT(this->error(this->download(*queue, dd.view()), d, Op::conj_trans, b.view(),
                          Op::conj_trans, a.view()),
              kLimit);
  }
}

TYPED_TEST(Split, TheSettingDecides) {
  using T = TypeParam;
  const auto a = random_matrix<T>(100, 100, 1);
  for (const bool strict : {false, true}) {
    dispatch::Settings settings;
    settings.refine = Precision::fp16;  // says nothing about sgetrf
    settings.min_n = 1;
    settings.nb = 16;
    settings.strict_fp32 = strict;
    this->use(settings);
    auto factor = a;
    std::vector<Index> pivots;
    const int before = this->calls_.of("split_gemm");
    EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    const int products = this->calls_.of("split_gemm") - before;
    if (this->device().emulated()) {
      EXPECT_EQ(products > 0, this->expect_split(!strict));
    }
    if (strict) {
      EXPECT_EQ(products, 0);
    }
  }
}

TYPED_TEST(Split, LIsSplitOnceForAllThatComesLate) {
  using T = TypeParam;
  if (!this->device().emulated()) GTEST_SKIP() << "the emulated device splits small products, too";
  if (!this->expect_split(true)) GTEST_SKIP() << "this device or precision has no split form";
  const Index width = this->device().template kernels<T>().limits().getrf_panel_width;
  const Index n = 16 * width;  // eight blocks
  const auto a = random_matrix<T>(n, n, 1);
  dispatch::Settings settings;
  settings.min_n = 1;
  settings.nb = 2 * width;
  this->use(settings);
  auto factor = a;
  std::vector<Index> pivots;
  const int products = this->calls_.of("split_gemm"), split = this->calls_.of("column_norms");
  EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
  EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
  EXPECT_LT(this->calls_.of("column_norms") - split, this->calls_.of("split_gemm") - products);
}

TYPED_TEST(Split, BlocksThatAreNoWholeSectionsDoWithout) {
  using T = TypeParam;
  const Index section = kSplitSection<T>, n = 3 * section;
  const auto a = closed_form_spd<T>(n);
  for (const Index nb : {section, section + 8}) {
    dispatch::Settings settings;
    settings.min_n = 1;
    settings.nb = nb;
    this->use(settings);
    auto factor = a;
    const int before = this->calls_.of("split_gemm");
    EXPECT_EQ(potrf<T>(Uplo::lower, factor.view()), 0);
    EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), factor.view()), kThreshold);
    if (this->device().emulated()) {
      EXPECT_EQ(this->calls_.of("split_gemm") > before, this->expect_split(nb == section));
    }
  }
}

/// They are not needed, and take as much as the rest of a factorization.
TEST_F(DeviceTest, ResiduesThatFindNoMemoryAreNotUsed) {
  if (device().kernels<double>().residue_products() == nullptr) {
    GTEST_SKIP() << "this device has no products of residues";
  }
  const algorithms::Triangle<double> triangle{{Uplo::lower}, device().kernels<double>()};
  Options options;
  options.nb = 512;
  Index n = 4 * options.nb;
  while (!device().kernels<double>().residues_pay(n / 2, options.nb, n / 2)) n *= 2;
  const auto used = [&](std::size_t memory) {
    device().set_memory_limit(memory);
    const bool result =
        algorithms::ResidueUpdates<double>(device(), options, triangle, {}, n).used();
    device().set_memory_limit(0);
    return result;
  };
  EXPECT_FALSE(used(1000000));
  EXPECT_TRUE(used(0));
  options.residues = false;
  EXPECT_FALSE(used(0));
}

}  // namespace
}  // namespace overlapack
