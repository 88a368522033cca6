// Products in double precision by residues.
#include "device/residues.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// A matrix of n rows of k numbers with its residues, in device memory.
template <class T>
class OperandOf {
 public:
  /// op(stored) is the matrix. Its rows have the numbers `first` and following.
  OperandOf(Queue& queue, Op op, const Padded<T>& stored, const std::vector<double>& scales,
            Index first, Index order)
      : op_(op),
        rows_(op == Op::none ? stored.rows() : stored.cols()),
        summands_(op == Op::none ? stored.cols() : stored.rows()),
        first_(first),
        matrix_(upload(queue, stored)),
        scales_(upload(queue, column(scales))),
        squares_(upload(queue, column(std::vector<double>(scales.size(), 0)))),
        first_long_(upload(queue, one(order))) {
    const Index unit = queue.device().kernels<T>().residue_products()->residue_unit();
    if (is_complex<T>) next_plane_ = summands_ + unit;
    ld_ = ResidueForm<T>::kPlanes * (summands_ + unit);
    stride_ = ld_ * (rows_ + unit) / unit * unit;
    numbers_ = Buffer<std::int8_t>(queue.device(), Space::device, stride_ * residues::kModuli);
  }
  ResidueForm<T> form() const {
    return {op_,        matrix_.view,  scales_.view, {numbers_.data(), summands_, rows_, ld_},
            stride_,    squares_.view, first_,       first_long_.view,
            next_plane_};
  }
  Index rows() const { return rows_; }
  Index summands() const { return summands_; }
  double squares(Queue& queue, Index i) const { return download(queue, squares_)(i, 0); }
  Index first_long(Queue& queue) const { return download(queue, first_long_)(0, 0); }
  /// The residues of row i for a modulus.
  std::vector<int> residues_of(Queue& queue, int number, Index i) const {
    const Buffer<std::int8_t> staging(queue.device(), Space::host, summands_);
    const Index begin = number * stride_ + i * ld_;
    queue.copy<std::int8_t>(HostView<std::int8_t>(staging.data(), summands_),
                            DeviceView<const std::int8_t>(numbers_.data() + begin, summands_));
    queue.synchronize();
    return {staging.data(), staging.data() + summands_};
  }

 private:
  static Padded<double> column(const std::vector<double>& x) {
    Padded<double> result(static_cast<Index>(x.size()), 1);
    std::copy(x.begin(), x.end(), result.data());
    return result;
  }
  static Padded<Index> one(Index value) {
    Padded<Index> result(1, 1);
    result(0, 0) = value;
    return result;
  }

  Op op_;
  Index rows_, summands_, first_, next_plane_ = 0, ld_ = 0, stride_ = 0;
  Uploaded<T> matrix_;
  Uploaded<double> scales_, squares_;
  Uploaded<Index> first_long_;
  Buffer<std::int8_t> numbers_;
};
using Operand = OperandOf<double>;

constexpr Op kResidueOps[] = {Op::none, Op::conj_trans};

struct SumCase {
  Op op_a, op_b;
  Index k;

  std::string name() const {
    return (testing::Message() << k << " summands, " << char(op_a) << char(op_b)).GetString();
  }
};
constexpr Index kSummands[] = {64, 640, 2048};

/// A number that makes its row too long.
template <class T>
struct BadCase {
  Op op;
  T bad;

  std::string name() const { return (testing::Message() << bad << ", " << char(op)).GetString(); }
};

template <class T>
class ResidueContractOf : public DeviceContract<T> {
 protected:
  static constexpr Index kOrder = 100000;  // nothing is long yet

  void SetUp() override {
    DeviceContract<T>::SetUp();
    if (this->IsSkipped() || this->kernels().residues_pay(20000, 512, 20000)) return;
    GTEST_SKIP() << "this GPU has no residues of such numbers";
  }

  static Padded<T> matrix(Op op, Index n, Index k, std::uint64_t seed, Index padding = 1) {
    return op == Op::none ? random_matrix<T>(n, k, seed, padding)
                          : random_matrix<T>(k, n, seed, padding);
  }
  static T element(Op op, const Padded<T>& a, Index i, Index l) {
    return op == Op::none ? a(i, l) : conj(a(l, i));
  }
  /// The same, or its conjugate.
  static T& stored(Op op, Padded<T>& a, Index i, Index l) {
    return op == Op::none ? a(i, l) : a(l, i);
  }
  /// beta C - A B^H by the definition, in numbers of this type.
  template <class Sum>
  static Padded<Sum> difference(double beta, const Padded<T>& c, Op op_a, const Padded<T>& a,
                                Op op_b, const Padded<T>& b) {
    Padded<Sum> result(c.rows(), c.cols());
    const Index k = op_a == Op::none ? a.cols() : a.rows();
    for (Index j = 0; j < c.cols(); ++j) {
      for (Index i = 0; i < c.rows(); ++i) {
        Sum v(beta == 0 ? T(0) : beta * c(i, j));
        for (Index l = 0; l < k; ++l) {
          v -= Sum(element(op_a, a, i, l)) * Sum(conj(element(op_b, b, j, l)));
        }
        result(i, j) = v;
      }
    }
    return result;
  }
  /// Rows of very different sizes, numbers  /// Rows of very different sizes, numbers of very
  /// different sizes, a row of one number.
  static void make_rows_differ(Op op_a, Padded<T>& a, Op op_b, Padded<T>& b, Index k) {
    for (Index l = 0; l < k; ++l) {
      stored(op_a, a, 1, l) *= 1e-150;
      stored(op_b, b, 2, l) *= 1e150;
      stored(op_a, a, 3, l) *= std::pow(0.5, static_cast<double>(l % 50));
      stored(op_b, b, 4, l) = l == 7 ? 1.37 : 0;
      stored(op_a, a, 5, l) = 1;  // the largest sum there may be
      stored(op_b, b, 5, l) = 1;
    }
  }
  /// The smallest powers of two by which rows are short.
  static std::vector<double> scales_of(Op op, const Padded<T>& a) {
    const bool none = op == Op::none;
    std::vector<double> scales;
    for (Index i = 0; i < (none ? a.rows() : a.cols()); ++i) {
      double sum = 1e-300;
      for (Index l = 0; l < (none ? a.cols() : a.rows()); ++l) {
        sum += std::norm(element(op, a, i, l));
      }
      scales.push_back(std::exp2(std::ceil(std::log2(sum / residues::kMaxSquares) / 2)));
    }
    return scales;
  }
  OperandOf<T> operand(Op op, const Padded<T>& a) { return operand(op, a, scales_of(op, a)); }
  OperandOf<T> operand(Op op, const Padded<T>& a, const std::vector<double>& scales,
                       Index first = 0) {
    OperandOf<T> result(this->queue(), op, a, scales, first, kOrder);
    this->queue().enqueue(FindResidues<T>{result.form(), {}});
    return result;
  }
  /// beta C - A B^H; an operand is what has form().
  template <class A>
  Padded<T> multiply(const A& a, const A& b, double beta, const Padded<T>& c) {
    const auto there = this->upload(c);
    const Index count = this->kernels().residue_products()->residue_work(c.rows(), c.cols());
    const Buffer<std::int32_t> work(this->device(), Space::device, count);
    this->queue().enqueue(ResidueGemm<T>{a.form(), b.form(), beta, there, {work.data(), count}});
    return this->download(there);
  }
};

// ---- real numbers ----

using ResidueContract = ResidueContractOf<double>;

TEST_F(ResidueContract, ModuliAreCoprimeAndTheirProductIsLargeEnough) {
  double bits = 0;
  for (int i = 0; i < residues::kModuli; ++i) {
    bits += std::log2(residues::kModulus[i]);
    for (int j = 0; j < i; ++j) {
      int a = residues::kModulus[i], b = residues::kModulus[j];
      while (b != 0) std::swap(a %= b, b);
      EXPECT_EQ(a, 1);
    }
  }
  EXPECT_GT(bits, 2 * residues::kBits + 1 + 0.1);
  EXPECT_NEAR(residues::kRange, std::exp2(bits - 2 * residues::kBits), 1e-12);
}

TEST_F(ResidueContract, ResiduesAreThoseOfRoundedNumbers) {
  const Index n = 37, k = 256;
  for (const Op op : kResidueOps) {
    auto a = matrix(op, n, k, 1, 3);
    a(0, 0) = 0;
    a(1, 1) = std::ldexp(1, -60);
    a(2, 2) = -std::ldexp(3, -56);
    const std::vector<double> scales = scales_of(op, a);
    const Operand there = operand(op, a);
    for (const Index i : {Index{0}, Index{1}, Index{2}, Index{17}, n - 1}) {
      double squares = 0;
      std::vector<std::int64_t> x;
      for (Index l = 0; l < k; ++l) {
        const double scaled = element(op, a, i, l) / scales[static_cast<std::size_t>(i)];
        x.push_back(std::llrint(std::ldexp(scaled, residues::kBits)));
        squares += scaled * scaled;
      }
      EXPECT_NEAR(there.squares(queue(), i), squares, 1e-13);
      for (int number = 0; number < residues::kModuli; ++number) {
        const std::vector<int> got = there.residues_of(queue(), number, i);
        EXPECT_TRUE(std::equal(x.begin(), x.end(), got.begin(), [&](std::int64_t whole, int part) {
          return (whole - part) % residues::kModulus[number] == 0;
        })) << number;
      }
    }
    EXPECT_EQ(there.first_long(queue()), kOrder);
  }
}

/// A product that is a double is that, but for the last rounding or two.
TEST_F(ResidueContract, ProductsOfIntegersAreAsGoodAsExact) {
  const Index k = 256;
  for (const Op op : kResidueOps) {
    Padded<double> a = matrix(op, 70, k, 1, 0), b = matrix(op, 67, k, 2, 0);
    for (Padded<double>* x : {&a, &b}) {
      for (Index e = 0; e < x->rows() * x->cols(); ++e) {
        x->data()[e] = std::nearbyint(1000 * x->data()[e]);
      }
    }
    const Padded<double> c(70, 67, 2);
    const auto got = multiply(operand(op, a), operand(op, b), 0, c);
    const auto expected = difference<double>(0, c, op, a, op, b);
    for (Index j = 0; j < 67; ++j) {
      for (Index i = 0; i < 70; ++i) {
        const double rounding = 0x1p-51 * std::abs(expected(i, j)) + 1e-9;
        ASSERT_NEAR(got(i, j), expected(i, j), rounding) << i << " " << j;
      }
    }
    EXPECT_TRUE(got.padding_untouched());
  }
}

TEST_F(ResidueContract, ErrorsAreThoseOfDoublePrecisionInTheNormsOfRows) {
  for (const Op op : kResidueOps) {
    for (const Index k : kSummands) {
      SCOPED_TRACE((SumCase{op, op, k}.name()));
      const Index m = 33, n = 20;
      auto a = matrix(op, m, k, 3), b = matrix(op, n, k, 4);
      make_rows_differ(op, a, op, b, k);
      const auto c = random_matrix<double>(m, n, 5);
      const std::vector<double> of_a = scales_of(op, a), of_b = scales_of(op, b);
      const auto got = multiply(operand(op, a), operand(op, b), 1, c);
      const auto expected = difference<long double>(1, c, op, a, op, b);
      EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
        const double scale = of_a[static_cast<std::size_t>(i)] * of_b[static_cast<std::size_t>(j)];
        const double rounding = 0x1p-52 * std::abs(c(i, j)) + 0x1p-51 * scale;
        return std::abs(got(i, j) - static_cast<double>(expected(i, j))) <= rounding;
      }));
    }
  }
}

TEST_F(ResidueContract, SquaresAreThoseOfAllBlocks) {
  const Index n = 20, k = 128;
  const auto a = random_matrix<double>(n, k, 1), b = random_matrix<double>(n, k, 2);
  const std::vector<double> scales(static_cast<std::size_t>(n), 16);
  const Operand first(queue(), Op::none, a, scales, 0, kOrder);
  const Operand second(queue(), Op::none, b, scales, 0, kOrder);
  queue().enqueue(FindResidues<T>{first.form(), {}});
  queue().enqueue(FindResidues<T>{second.form(), first.form().squares});
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index l = 0; l < k; ++l) sum += (a(i, l) * a(i, l) + b(i, l) * b(i, l)) / 256;
    EXPECT_NEAR(second.squares(queue(), i), sum, 1e-13);
  }
}

TEST_F(ResidueContract, LongRowsAreFoundAndTheFirstIsMultipliedAllTheSame) {
  const Index n = 40, k = 128, first = 1000;
  const double bad_ones[] = {1e5, infinity<double>(), nan<double>(), 1e300};
  for (const auto& [op, bad] : cross<BadCase<double>>(kResidueOps, bad_ones)) {
    SCOPED_TRACE((BadCase<double>{op, bad}.name()));
    auto a = matrix(op, n, k, 1), b = matrix(op, 5, k, 2);
    const std::vector<double> scales = scales_of(op, a);
    stored(op, a, 9, 5) = stored(op, a, 11, 5) = stored(op, a, 30, 5) = bad;
    Operand left(queue(), op, a, scales, first, kOrder);
    queue().enqueue(FindResidues<T>{left.form(), {}});
    EXPECT_EQ(left.first_long(queue()), first + 9);
    // Found again, nothing changes; and a row beyond is not the first.
    queue().enqueue(FindResidues<T>{left.form(), {}});
    EXPECT_EQ(left.first_long(queue()), first + 9);
    const auto c = random_matrix<double>(n, 5, 3);
    const auto got = multiply(left, operand(op, b), 1, c);
    const auto expected = difference<double>(1, c, op, a, op, b);
    EXPECT_TRUE(all_elements({n, 5}, [&](Index i, Index j) {
      const double x = got(i, j), y = expected(i, j);
      if (i == 11 || i == 30) return std::isnan(x);
      if (!std::isfinite(y)) return !std::isfinite(x);
      return std::abs(x - y) <= 1e-13 * (std::abs(c(i, j) - y) + 1);
    }));
  }
}

/// Shapes of which a tile is a part, and sums that are longer than what is multiplied at once.
TEST_F(ResidueContract, TallAndWideProducts) {
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{600, 130, 128},
                                {130, 600, 384},
                                {257, 129, 1152},
                                {5, 1, 6144}}) {
    SCOPED_TRACE(m);
    const auto a = matrix(Op::none, m, k, 6), b = matrix(Op::none, n, k, 7);
    const auto c = random_matrix<double>(m, n, 8, 3);
    const auto got = multiply(operand(Op::none, a), operand(Op::none, b), -0.5, c);
    const auto expected = difference<double>(-0.5, c, Op::none, a, Op::none, b);
    EXPECT_LT(max_difference(got, expected), 1e-12);
    EXPECT_TRUE(got.padding_untouched());
  }
}

// ---- complex numbers ----

using ComplexResidueContract = ResidueContractOf<std::complex<double>>;

struct ProductCase {
  Op op;
  struct Sizes {
    Index m, n, k;
  } sizes;

  std::string name() const {
    return (testing::Message() << sizes.m << "x" << sizes.n << "x" << sizes.k << ", " << char(op))
        .GetString();
  }
};

TEST_F(ComplexResidueContract, ErrorsAreThoseOfDoublePrecisionInTheNormsOfRows) {
  constexpr ProductCase::Sizes kSizes[] = {
      {33, 20, 128}, {300, 140, 384}, {140, 300, 256}, {9, 7, 3072}};
  for (const auto& p : cross<ProductCase>(kResidueOps, kSizes)) {
    SCOPED_TRACE(p.name());
    const auto [m, n, k] = p.sizes;
    const auto a = matrix(p.op, m, k, 3), b = matrix(p.op, n, k, 4);
    const std::vector<double> of_a = scales_of(p.op, a), of_b = scales_of(p.op, b);
    const auto c = random_matrix<T>(m, n, 5, 2);
    const auto got = multiply(operand(p.op, a, of_a), operand(p.op, b, of_b), 1, c);
    const auto expected = difference<std::complex<long double>>(1, c, p.op, a, p.op, b);
    EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
      const double scale = of_a[static_cast<std::size_t>(i)] * of_b[static_cast<std::size_t>(j)];
      const double rounding = 0x1p-52 * std::abs(c(i, j)) + 0x1p-50 * scale;
      return std::abs(got(i, j) - T(expected(i, j))) <= rounding;
    }));
    EXPECT_TRUE(got.padding_untouched());
  }
}

TEST_F(ComplexResidueContract, SquaresAreThoseOfBothPartsAndOfAllBlocks) {
  const Index n = 20, k = 128;
  const auto a = random_matrix<T>(n, k, 1), b = random_matrix<T>(n, k, 2);
  const std::vector<double> scales(static_cast<std::size_t>(n), 16);
  const OperandOf<T> first = operand(Op::none, a, scales), second = operand(Op::none, b, scales);
  queue().enqueue(FindResidues<T>{second.form(), first.form().squares});
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index l = 0; l < k; ++l) sum += (std::norm(a(i, l)) + std::norm(b(i, l))) / 256;
    EXPECT_NEAR(second.squares(queue(), i), sum, 1e-13);
  }
}

TEST_F(ComplexResidueContract, LongRowsAreFoundAndTheFirstIsMultipliedAllTheSame) {
  const Index n = 40, k = 128, first = 1000;
  const T bad_ones[] = {T(1e5, 0), T(0, 1e5), T(0, nan<double>())};
  for (const auto& [op, bad] : cross<BadCase<T>>(kResidueOps, bad_ones)) {
    SCOPED_TRACE((BadCase<T>{op, bad}.name()));
    auto a = matrix(op, n, k, 1), b = matrix(op, 5, k, 2);
    const std::vector<double> of_a = scales_of(op, a), of_b = scales_of(op, b);
    stored(op, a, 9, 5) = stored(op, a, 11, 5) = bad;
    const OperandOf<T> left = operand(op, a, of_a, first);
    EXPECT_EQ(left.first_long(queue()), first + 9);
    const auto c = random_matrix<T>(n, 5, 3);
    const auto got = multiply(left, operand(op, b, of_b), 1, c);
    const auto expected = difference<T>(1, c, op, a, op, b);
    EXPECT_TRUE(all_elements({n, 5}, [&](Index i, Index j) {
      const T x = got(i, j), y = expected(i, j);
      if (i == 11) return std::isnan(x.real()) && std::isnan(x.imag());
      if (!std::isfinite(std::abs(y))) return !std::isfinite(std::abs(x));
      return std::abs(x - y) <= 1e-13 * (std::abs(y) + 1);
    }));
  }
}

// ---- scales that are found ----

/// A matrix with its residues by scales that the device finds.
template <class T>
class FoundOperand {
 public:
  FoundOperand(Queue& queue, Weigh weigh, Op op, const Padded<T>& stored,
               const Padded<double>& sizes)
      : op_(op),
        rows_(op == Op::none ? stored.rows() : stored.cols()),
        summands_(op == Op::none ? stored.cols() : stored.rows()),
        matrix_(upload(queue, stored)),
        scales_(queue.device(), Space::device, rows_) {
    Kernels<T>& kernels = queue.device().template kernels<T>();
    const Index unit = kernels.residue_products()->residue_unit();
    next_plane_ = summands_ + unit;
    ld_ = ResidueForm<T>::kPlanes * next_plane_;
    stride_ = ld_ * round_up(rows_, unit);
    numbers_ = Buffer<std::int8_t>(queue.device(), Space::device, stride_ * residues::kModuli);
    const auto there = upload(queue, sizes);
    queue.enqueue(FindScaledResidues<T>{weigh, form(), there.view});
    queue.synchronize();
  }
  ResidueForm<T> form() const {
    return {op_,
            matrix_.view,
            {scales_.data(), rows_},
            {numbers_.data(), summands_, rows_, ld_},
            stride_,
            {},
            0,
            {},
            is_complex<T> ? next_plane_ : 0};
  }

 private:
  Op op_;
  Index rows_, summands_, next_plane_ = 0, ld_ = 0, stride_ = 0;
  Uploaded<T> matrix_;
  Buffer<double> scales_;
  Buffer<std::int8_t> numbers_;
};

template <class T>
class ScaledResidueContract : public ResidueContractOf<T> {
 protected:
  using Base = ResidueContractOf<T>;

  /// C - A B^H, where the columns of A have the given sizes (or all have one).
  Padded<T> subtract(Op op_a, const Padded<T>& a, Op op_b, const Padded<T>& b,
                     const Padded<double>& sizes, const Padded<T>& c) {
    const FoundOperand<T> left(this->queue(), Weigh::divide, op_a, a, sizes);
    const FoundOperand<T> right(this->queue(), Weigh::multiply, op_b, b, sizes);
    return this->multiply(left, right, 1, c);
  }
  /// |computed - (C - A B^H)|(i, j) is at most 2^-52 |c| and 2^-51 of the product of the norms of
  /// the row of A D^-1 and the row of B D, D being the given diagonal.
  static void expect_right(Op op_a, const Padded<T>& a, Op op_b, const Padded<T>& b,
                           const std::vector<double>& d, const Padded<T>& c, const Padded<T>& got) {
    using Long = std::complex<long double>;
    for (Index j = 0; j < c.cols(); ++j) {
      for (Index i = 0; i < c.rows(); ++i) {
        Long v = c(i, j);
        long double norm_a = 0, norm_b = 0;
        for (Index l = 0; l < static_cast<Index>(d.size()); ++l) {
          const Long x = Base::element(op_a, a, i, l), y = conj(Base::element(op_b, b, j, l));
          const long double size = d[static_cast<std::size_t>(l)];
          v -= x * y;
          norm_a += std::norm(x / size);
          norm_b += std::norm(y * size);
        }
        const long double bound =
            0x1p-52L * std::abs(c(i, j)) + 0x1p-51L * std::sqrt(norm_a) * std::sqrt(norm_b);
        ASSERT_LE(std::abs(Long(got(i, j)) - v), bound) << i << " " << j;
      }
    }
    EXPECT_TRUE(got.padding_untouched());
  }
  static std::vector<double> ones(Index k) {
    return std::vector<double>(static_cast<std::size_t>(k), 1);
  }
};
using DoublePrecisions = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(ScaledResidueContract, DoublePrecisions);

TYPED_TEST(ScaledResidueContract, ErrorsAreThoseOfDoublePrecisionInTheNormsOfRows) {
  using T = TypeParam;
  for (const SumCase& s : cross<SumCase>(kResidueOps, kResidueOps, kSummands)) {
    SCOPED_TRACE(s.name());
    const Index m = 33, n = 20;
    auto a = this->matrix(s.op_a, m, s.k, 3), b = this->matrix(s.op_b, n, s.k, 4, 2);
    this->make_rows_differ(s.op_a, a, s.op_b, b, s.k);
    for (Index l = 0; l < s.k; ++l) this->stored(s.op_a, a, 6, l) = 0;
    const auto c = random_matrix<T>(m, n, 5, 1);
    const auto got = this->subtract(s.op_a, a, s.op_b, b, Padded<double>(0, 0), c);
    this->expect_right(s.op_a, a, s.op_b, b, this->ones(s.k), c, got);
  }
}

using ScaledComplexResidueContract = ScaledResidueContract<std::complex<double>>;

TEST_F(ScaledComplexResidueContract, RowsOfWhichOnePartIsTiny) {
  const Index m = 12, n = 7, k = 256;
  auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(n, k, 2);
  for (Index e = 0; e < m * k; ++e) a.data()[e].imag(0x1p-30 * a.data()[e].imag());
  for (Index e = 0; e < n * k; ++e) b.data()[e] = T(0, b.data()[e].imag());
  const auto c = random_matrix<T>(m, n, 3);
  const auto got = subtract(Op::none, a, Op::none, b, Padded<double>(0, 0), c);
  expect_right(Op::none, a, Op::none, b, ones(k), c, got);
}

/// The sum and the difference of its parts are the largest numbers there are.
TEST_F(ScaledComplexResidueContract, RowsOfOneNumber) {
  const Index m = 6, n = 6, k = 64;
  auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(n, k, 2);
  for (const auto& [i, x] : {std::pair<Index, double>{0, 0.97}, {1, 1}, {2, 0.7}, {3, 0.51}}) {
    for (Index l = 0; l < k; ++l) a(i, l) = b(i, l) = 0;
    a(i, 5) = {x, i % 2 == 0 ? x : -x};
    b(i, 5) = {-x, x};
  }
  const auto c = random_matrix<T>(m, n, 3);
  const auto got = subtract(Op::none, a, Op::none, b, Padded<double>(0, 0), c);
  expect_right(Op::none, a, Op::none, b, ones(k), c, got);
}

TYPED_TEST(ScaledResidueContract, RowsOfAnySizeThatDoublesHave) {
  using T = TypeParam;
  const Index k = 256, m = 12, n = 7;
  for (const double size : {1e300, 1e-290, 1e-307, 3e307, 1e120, 1e-120}) {
    SCOPED_TRACE(size);
    auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(n, k, 2);
    for (Index e = 0; e < n * k; ++e) b.data()[e] *= size;
    for (Index e = 0; e < m * k; ++e) a.data()[e] /= static_cast<double>(k);
    auto c = random_matrix<T>(m, n, 3);
    for (Index e = 0; e < m * n; ++e) c.data()[e] *= size;
    const auto got = this->subtract(Op::none, a, Op::none, b, Padded<double>(0, 0), c);
    if (size > 1e-300) {
      this->expect_right(Op::none, a, Op::none, b, this->ones(k), c, got);
    } else {  // the products themselves are no normal numbers
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) ASSERT_LE(std::abs(got(i, j)), 3 * size);
      }
    }
  }
}

TYPED_TEST(ScaledResidueContract, SizesOfSummandsDoNotMatter) {
  using T = TypeParam;
  const Index k = 256, m = 40, n = 11;
  for (const Op op : kResidueOps) {
    auto a = this->matrix(op, m, k, 1), b = this->matrix(op, n, k, 2);
    Padded<double> sizes(k, 1);
    std::vector<double> d;
    for (Index l = 0; l < k; ++l) {
      const double size = std::pow(0.1, static_cast<double>(l % 97));
      d.push_back(size);
      double largest = 0;
      for (Index i = 0; i < m; ++i) {
        T& x = this->stored(op, a, i, l);
        x *= size;
        largest = std::max(largest, std::abs(x));
      }
      for (Index j = 0; j < n; ++j) this->stored(op, b, j, l) /= size;
      sizes(l, 0) = largest;
    }
    const auto c = random_matrix<T>(m, n, 3);
    this->expect_right(op, a, op, b, d, c, this->subtract(op, a, op, b, sizes, c));
  }
}

TYPED_TEST(ScaledResidueContract, WhatIsNotFiniteStaysInItsRow) {
  using T = TypeParam;
  const Index k = 128, m = 20, n = 9;
  std::vector<T> bad_ones = {T(HUGE_VAL), nan<T>()};
  if constexpr (is_complex<T>)
    bad_ones.insert(bad_ones.end(), {T(0, HUGE_VAL), T(1, nan<double>())});
  for (const auto& [op, bad] : cross<BadCase<T>>(kResidueOps, bad_ones)) {
    SCOPED_TRACE((BadCase<T>{op, bad}.name()));
    auto a = this->matrix(op, m, k, 1), b = this->matrix(op, n, k, 2);
    this->stored(op, a, 7, 100) = bad;
    this->stored(op, b, 3, 5) = -bad;
    const auto c = random_matrix<T>(m, n, 3);
    const auto got = this->subtract(op, a, op, b, Padded<double>(0, 0), c);
    const auto expected = this->template difference<T>(1, c, op, a, op, b);
    EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
      const std::complex<double> x = got(i, j);
      if (i == 7 || j == 3) return std::isnan(x.real()) && std::isnan(x.imag()) == is_complex<T>;
      return std::abs(got(i, j) - expected(i, j)) <= 1e-12;
    }));
  }
}

}  // namespace
}  // namespace overlapack
