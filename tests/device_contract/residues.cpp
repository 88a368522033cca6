// Products in double precision by residues.
#include "device/residues.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "device_contract/contract.hpp"

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
    const Index unit = queue.device().kernels<T>().residue_unit();
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

class ResidueContract : public DeviceContract<double> {
 protected:
  static constexpr Index kOrder = 100000;  // nothing is long yet

  static double element(Op op, const Padded<double>& a, Index i, Index l) {
    return op == Op::none ? a(i, l) : a(l, i);
  }
  static double& element(Op op, Padded<double>& a, Index i, Index l) {
    return op == Op::none ? a(i, l) : a(l, i);
  }
  /// Rows of very different sizes, numbers of very different sizes, a row of one number.
  static void make_rows_differ(Op op_a, Padded<double>& a, Op op_b, Padded<double>& b, Index k) {
    for (Index l = 0; l < k; ++l) {
      element(op_a, a, 1, l) *= 1e-150;
      element(op_b, b, 2, l) *= 1e150;
      element(op_a, a, 3, l) *= std::pow(0.5, static_cast<double>(l % 50));
      element(op_b, b, 4, l) = l == 7 ? 0.75 : 0;
      element(op_a, a, 5, l) = 1;  // the largest sum there may be
      element(op_b, b, 5, l) = 1;
    }
  }
  /// Scales that are powers of two above the norms of rows.
  static std::vector<double> scales_of(Op op, const Padded<double>& a) {
    std::vector<double> scales;
    for (Index i = 0; i < (op == Op::none ? a.rows() : a.cols()); ++i) {
      double sum = 0;
      for (Index l = 0; l < (op == Op::none ? a.cols() : a.rows()); ++l) {
        sum += std::pow(element(op, a, i, l), 2);
      }
      scales.push_back(std::exp2(std::floor(std::log2(std::max(sum, 1e-300)) / 2 + 1)));
    }
    return scales;
  }
  Operand operand(Op op, const Padded<double>& stored, Index first = 0) {
    Operand result(queue(), op, stored, scales_of(op, stored), first, kOrder);
    kernels().residues(queue(), result.form(), {});
    return result;
  }
  /// beta C - A B^T; an operand is what has form().
  template <class A>
  Padded<double> multiply(const A& a, const A& b, double beta, const Padded<double>& c) {
    const auto there = upload(c);
    const Index count = kernels().residue_work(c.rows(), c.cols());
    const Buffer<std::int32_t> work(device(), Space::device, count);
    kernels().residue_gemm(queue(), a.form(), b.form(), beta, there, {work.data(), count});
    return download(there);
  }
  static Padded<double> matrix(Op op, Index n, Index k, std::uint64_t seed, Index padding = 0) {
    return op == Op::none ? random_matrix<double>(n, k, seed, padding)
                          : random_matrix<double>(k, n, seed, padding);
  }
};

constexpr Op kResidueOps[] = {Op::none, Op::conj_trans};

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
        for (std::size_t l = 0; l < x.size(); ++l) {
          EXPECT_EQ((x[l] - got[l]) % residues::kModulus[number], 0) << number << " " << l;
        }
      }
    }
    EXPECT_EQ(there.first_long(queue()), kOrder);
  }
}

/// A product that is a double is that, but for the last rounding or two.
TEST_F(ResidueContract, ProductsOfIntegersAreAsGoodAsExact) {
  const Index k = 256;
  for (const Op op : kResidueOps) {
    Padded<double> a = matrix(op, 70, k, 1), b = matrix(op, 67, k, 2);
    for (Padded<double>* x : {&a, &b}) {
      for (Index e = 0; e < x->rows() * x->cols(); ++e) {
        x->data()[e] = std::nearbyint(1000 * x->data()[e]);
      }
    }
    const Padded<double> c(70, 67, 2);
    const auto got = multiply(operand(op, a), operand(op, b), 0, c);
    for (Index j = 0; j < 67; ++j) {
      for (Index i = 0; i < 70; ++i) {
        double v = 0;
        for (Index l = 0; l < k; ++l) v += element(op, a, i, l) * element(op, b, j, l);
        ASSERT_NEAR(got(i, j), -v, 0x1p-51 * std::abs(v) + 1e-9) << i << " " << j;
      }
    }
    EXPECT_TRUE(got.padding_untouched());
  }
}

TEST_F(ResidueContract, ErrorsAreThoseOfDoublePrecisionInTheNormsOfRows) {
  for (const Op op : kResidueOps) {
    for (const Index k : {Index{64}, Index{640}, Index{2048}}) {
      const Index m = 33, n = 20;
      auto a = matrix(op, m, k, 3), b = matrix(op, n, k, 4);
      make_rows_differ(op, a, op, b, k);
      const auto c = random_matrix<double>(m, n, 5);
      const std::vector<double> of_a = scales_of(op, a), of_b = scales_of(op, b);
      const auto got = multiply(operand(op, a), operand(op, b), 1, c);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          long double v = 0;
          for (Index l = 0; l < k; ++l) {
            v += static_cast<long double>(element(op, a, i, l)) * element(op, b, j, l);
          }
          const double scale =
              of_a[static_cast<std::size_t>(i)] * of_b[static_cast<std::size_t>(j)];
          const double rounding = 0x1p-52 * std::abs(c(i, j)) + 0x1p-51 * scale;
          ASSERT_NEAR(got(i, j), static_cast<double>(c(i, j) - v), rounding) << i << " " << j;
        }
      }
    }
  }
}

TEST_F(ResidueContract, SquaresAreThoseOfAllBlocks) {
  const Index n = 20, k = 128;
  const auto a = random_matrix<double>(n, k, 1), b = random_matrix<double>(n, k, 2);
  const std::vector<double> scales(static_cast<std::size_t>(n), 16);
  const Operand first(queue(), Op::none, a, scales, 0, kOrder);
  const Operand second(queue(), Op::none, b, scales, 0, kOrder);
  kernels().residues(queue(), first.form(), {});
  kernels().residues(queue(), second.form(), first.form().squares);
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index l = 0; l < k; ++l) sum += (a(i, l) * a(i, l) + b(i, l) * b(i, l)) / 256;
    EXPECT_NEAR(second.squares(queue(), i), sum, 1e-13);
  }
}

TEST_F(ResidueContract, LongRowsAreFoundAndTheFirstIsMultipliedAllTheSame) {
  const Index n = 40, k = 128, first = 1000;
  for (const Op op : kResidueOps) {
    for (const double bad : {1e5, std::numeric_limits<double>::infinity(), nan<double>(), 1e300}) {
      SCOPED_TRACE(bad);
      auto a = matrix(op, n, k, 1), b = matrix(op, 5, k, 2);
      const std::vector<double> scales = scales_of(op, a);
      for (const Index i : {Index{9}, Index{11}, Index{30}}) {
        element(op, a, i, 5) = bad;
      }
      Operand left(queue(), op, a, scales, first, kOrder);
      kernels().residues(queue(), left.form(), {});
      EXPECT_EQ(left.first_long(queue()), first + 9);
      // Found again, nothing changes; and a row beyond is not the first.
      kernels().residues(queue(), left.form(), {});
      EXPECT_EQ(left.first_long(queue()), first + 9);
      const auto c = random_matrix<double>(n, 5, 3);
      const auto got = multiply(left, operand(op, b), 1, c);
      for (Index j = 0; j < 5; ++j) {
        for (Index i = 0; i < n; ++i) {
          double v = 0;
          for (Index l = 0; l < k; ++l) v += element(op, a, i, l) * element(op, b, j, l);
          const double expected = c(i, j) - v;
          if (i == 11 || i == 30) {
            EXPECT_TRUE(std::isnan(got(i, j))) << i << " " << j;
          } else if (std::isfinite(expected)) {
            EXPECT_NEAR(got(i, j), expected, 1e-13 * (std::abs(v) + 1)) << i << " " << j;
          } else {
            EXPECT_FALSE(std::isfinite(got(i, j))) << i << " " << j;
          }
        }
      }
    }
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
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        double v = -0.5 * c(i, j);
        for (Index l = 0; l < k; ++l) v -= a(i, l) * b(j, l);
        ASSERT_NEAR(got(i, j), v, 1e-12) << i << " " << j;
      }
    }
    EXPECT_TRUE(got.padding_untouched());
  }
}

// ---- complex numbers ----

class ComplexResidueContract : public DeviceContract<std::complex<double>> {
 protected:
  using T = std::complex<double>;
  static constexpr Index kOrder = 100000;

  void SetUp() override {
    DeviceContract<T>::SetUp();
    if (!IsSkipped() && !kernels().residues_pay(20000, 512, 20000)) {
      GTEST_SKIP() << "this GPU has no residues of complex numbers";
    }
  }
  static T element(Op op, const Padded<T>& a, Index i, Index l) {
    return op == Op::none ? a(i, l) : std::conj(a(l, i));
  }
  static Padded<T> matrix(Op op, Index n, Index k, std::uint64_t seed) {
    return op == Op::none ? random_matrix<T>(n, k, seed, 1) : random_matrix<T>(k, n, seed, 1);
  }
  static std::vector<double> scales_of(Op op, const Padded<T>& a) {
    std::vector<double> scales;
    const bool none = op == Op::none;
    for (Index i = 0; i < (none ? a.rows() : a.cols()); ++i) {
      double sum = 0;
      for (Index l = 0; l < (none ? a.cols() : a.rows()); ++l)
        sum += std::norm(element(op, a, i, l));
      scales.push_back(std::exp2(std::floor(std::log2(sum) / 2 + 1)));
    }
    return scales;
  }
  OperandOf<T> operand(Op op, const Padded<T>& stored, const std::vector<double>& scales,
                       Index first = 0) {
    OperandOf<T> result(queue(), op, stored, scales, first, kOrder);
    kernels().residues(queue(), result.form(), {});
    return result;
  }
  Padded<T> multiply(const OperandOf<T>& a, const OperandOf<T>& b, double beta,
                     const Padded<T>& c) {
    const auto there = upload(c);
    const Index count = kernels().residue_work(c.rows(), c.cols());
    const Buffer<std::int32_t> work(device(), Space::device, count);
    kernels().residue_gemm(queue(), a.form(), b.form(), beta, there, {work.data(), count});
    return download(there);
  }
};

TEST_F(ComplexResidueContract, ErrorsAreThoseOfDoublePrecisionInTheNormsOfRows) {
  for (const Op op : kResidueOps) {
    for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{33, 20, 128},
                                  {300, 140, 384},
                                  {140, 300, 256},
                                  {9, 7, 3072}}) {
      SCOPED_TRACE(m);
      auto a = matrix(op, m, k, 3), b = matrix(op, n, k, 4);
      const std::vector<double> of_a = scales_of(op, a), of_b = scales_of(op, b);
      const auto c = random_matrix<T>(m, n, 5, 2);
      const auto got = multiply(operand(op, a, of_a), operand(op, b, of_b), 1, c);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          std::complex<long double> v = c(i, j);
          for (Index l = 0; l < k; ++l) {
            v -= std::complex<long double>(element(op, a, i, l)) *
                 std::complex<long double>(std::conj(element(op, b, j, l)));
          }
          const double scale =
              of_a[static_cast<std::size_t>(i)] * of_b[static_cast<std::size_t>(j)];
          const double rounding = 0x1p-52 * std::abs(c(i, j)) + 0x1p-50 * scale;
          ASSERT_LE(std::abs(got(i, j) - T(v)), rounding) << i << " " << j;
        }
      }
      EXPECT_TRUE(got.padding_untouched());
    }
  }
}

TEST_F(ComplexResidueContract, SquaresAreThoseOfBothPartsAndOfAllBlocks) {
  const Index n = 20, k = 128;
  const auto a = random_matrix<T>(n, k, 1), b = random_matrix<T>(n, k, 2);
  const std::vector<double> scales(static_cast<std::size_t>(n), 16);
  const OperandOf<T> first = operand(Op::none, a, scales), second = operand(Op::none, b, scales);
  kernels().residues(queue(), second.form(), first.form().squares);
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index l = 0; l < k; ++l) sum += (std::norm(a(i, l)) + std::norm(b(i, l))) / 256;
    EXPECT_NEAR(second.squares(queue(), i), sum, 1e-13);
  }
}

TEST_F(ComplexResidueContract, LongRowsAreFoundAndTheFirstIsMultipliedAllTheSame) {
  const Index n = 40, k = 128, first = 1000;
  for (const Op op : kResidueOps) {
    for (const T bad : {T(1e5, 0), T(0, 1e5), T(0, nan<double>())}) {
      SCOPED_TRACE(std::to_string(bad.real()) + " " + std::to_string(bad.imag()));
      auto a = matrix(op, n, k, 1), b = matrix(op, 5, k, 2);
      const std::vector<double> of_a = scales_of(op, a), of_b = scales_of(op, b);
      for (const Index i : {Index{9}, Index{11}}) (op == Op::none ? a(i, 5) : a(5, i)) = bad;
      const OperandOf<T> left = operand(op, a, of_a, first);
      EXPECT_EQ(left.first_long(queue()), first + 9);
      const auto c = random_matrix<T>(n, 5, 3);
      const auto got = multiply(left, operand(op, b, of_b), 1, c);
      for (Index j = 0; j < 5; ++j) {
        for (Index i = 0; i < n; ++i) {
          T v = c(i, j);
          for (Index l = 0; l < k; ++l) v -= element(op, a, i, l) * std::conj(element(op, b, j, l));
          if (i == 11) {
            EXPECT_TRUE(std::isnan(got(i, j).real()) && std::isnan(got(i, j).imag())) << j;
          } else if (std::isfinite(std::abs(v))) {
            EXPECT_LE(std::abs(got(i, j) - v), 1e-13 * (std::abs(v) + 1)) << i << " " << j;
          } else {
            EXPECT_FALSE(std::isfinite(std::abs(got(i, j)))) << i << " " << j;
          }
        }
      }
    }
  }
}

// ---- scales that are found ----

/// A matrix with its residues by scales that the device finds.
class FoundOperand {
 public:
  FoundOperand(Queue& queue, Weigh weigh, Op op, const Padded<double>& stored,
               const Padded<double>& sizes)
      : op_(op),
        rows_(op == Op::none ? stored.rows() : stored.cols()),
        summands_(op == Op::none ? stored.cols() : stored.rows()),
        matrix_(upload(queue, stored)),
        scales_(queue.device(), Space::device, rows_) {
    Kernels<double>& kernels = queue.device().kernels<double>();
    const Index unit = kernels.residue_unit();
    ld_ = summands_ + unit;
    stride_ = ld_ * round_up(rows_, unit);
    numbers_ = Buffer<std::int8_t>(queue.device(), Space::device, stride_ * residues::kModuli);
    const auto there = upload(queue, sizes);
    kernels.scaled_residues(queue, weigh, form(), there.view);
    queue.synchronize();
  }
  ResidueForm<double> form() const {
    return {op_,
            matrix_.view,
            {scales_.data(), rows_},
            {numbers_.data(), summands_, rows_, ld_},
            stride_};
  }

 private:
  Op op_;
  Index rows_, summands_, ld_ = 0, stride_ = 0;
  Uploaded<double> matrix_;
  Buffer<double> scales_;
  Buffer<std::int8_t> numbers_;
};

class ScaledResidueContract : public ResidueContract {
 protected:
  /// C - A B^T, where the columns of A have the given sizes (or all have one).
  Padded<double> subtract(Op op_a, const Padded<double>& a, Op op_b, const Padded<double>& b,
                          const Padded<double>& sizes, const Padded<double>& c) {
    const FoundOperand left(queue(), Weigh::divide, op_a, a, sizes);
    const FoundOperand right(queue(), Weigh::multiply, op_b, b, sizes);
    return multiply(left, right, 1, c);
  }
  /// |computed - (C - A B^T)|(i, j) is at most 2^-52 |c| and 2^-50 of the product of the norms of
  /// the row of A D^-1 and the row of B D, D being the given diagonal.
  static void expect_right(Op op_a, const Padded<double>& a, Op op_b, const Padded<double>& b,
                           const std::vector<double>& d, const Padded<double>& c,
                           const Padded<double>& got) {
    for (Index j = 0; j < c.cols(); ++j) {
      for (Index i = 0; i < c.rows(); ++i) {
        long double v = 0, norm_a = 0, norm_b = 0;
        for (Index l = 0; l < static_cast<Index>(d.size()); ++l) {
          const long double x = element(op_a, a, i, l), y = element(op_b, b, j, l);
          const long double size = d[static_cast<std::size_t>(l)];
          v += x * y;
          norm_a += x / size * (x / size);
          norm_b += y * size * (y * size);
        }
        const long double expected = c(i, j) - v;
        const long double bound =
            0x1p-52L * std::abs(c(i, j)) + 0x1p-50L * std::sqrt(norm_a) * std::sqrt(norm_b);
        ASSERT_LE(std::abs(got(i, j) - expected), bound) << i << " " << j;
      }
    }
    EXPECT_TRUE(got.padding_untouched());
  }
  static std::vector<double> ones(Index k) {
    return std::vector<double>(static_cast<std::size_t>(k), 1);
  }
};

TEST_F(ScaledResidueContract, ErrorsAreThoseOfDoublePrecisionInTheNormsOfRows) {
  for (const Op op_a : kResidueOps) {
    for (const Op op_b : kResidueOps) {
      for (const Index k : {Index{64}, Index{640}, Index{2048}}) {
        const Index m = 33, n = 20;
        auto a = matrix(op_a, m, k, 3, 1), b = matrix(op_b, n, k, 4, 2);
        make_rows_differ(op_a, a, op_b, b, k);
        for (Index l = 0; l < k; ++l) element(op_a, a, 6, l) = 0;
        const auto c = random_matrix<double>(m, n, 5, 1);
        const auto got = subtract(op_a, a, op_b, b, Padded<double>(0, 0), c);
        expect_right(op_a, a, op_b, b, ones(k), c, got);
      }
    }
  }
}

TEST_F(ScaledResidueContract, RowsOfAnySizeThatDoublesHave) {
  const Index k = 256, m = 12, n = 7;
  for (const double size : {1e300, 1e-290, 1e-307, 3e307, 1e120, 1e-120}) {
    SCOPED_TRACE(size);
    auto a = random_matrix<double>(m, k, 1), b = random_matrix<double>(n, k, 2);
    for (Index e = 0; e < n * k; ++e) b.data()[e] *= size;
    for (Index e = 0; e < m * k; ++e) a.data()[e] /= static_cast<double>(k);
    auto c = random_matrix<double>(m, n, 3);
    for (Index e = 0; e < m * n; ++e) c.data()[e] *= size;
    const auto got = subtract(Op::none, a, Op::none, b, Padded<double>(0, 0), c);
    if (size > 1e-300) {
      expect_right(Op::none, a, Op::none, b, ones(k), c, got);
    } else {  // the products themselves are no normal numbers
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) ASSERT_LE(std::abs(got(i, j)), 3 * size);
      }
    }
  }
}

TEST_F(ScaledResidueContract, SizesOfSummandsDoNotMatter) {
  const Index k = 256, m = 40, n = 11;
  for (const Op op : kResidueOps) {
    auto a = matrix(op, m, k, 1), b = matrix(op, n, k, 2);
    Padded<double> sizes(k, 1);
    std::vector<double> d;
    for (Index l = 0; l < k; ++l) {
      const double size = std::pow(0.1, static_cast<double>(l % 97));
      d.push_back(size);
      double largest = 0;
      for (Index i = 0; i < m; ++i) {
        double& x = element(op, a, i, l);
        x *= size;
        largest = std::max(largest, std::abs(x));
      }
      for (Index j = 0; j < n; ++j) element(op, b, j, l) /= size;
      sizes(l, 0) = largest;
    }
    const auto c = random_matrix<double>(m, n, 3);
    expect_right(op, a, op, b, d, c, subtract(op, a, op, b, sizes, c));
  }
}

TEST_F(ScaledResidueContract, WhatIsNotFiniteStaysInItsRow) {
  const Index k = 128, m = 20, n = 9;
  for (const Op op : kResidueOps) {
    for (const double bad : {std::numeric_limits<double>::infinity(), nan<double>()}) {
      auto a = matrix(op, m, k, 1), b = matrix(op, n, k, 2);
      element(op, a, 7, 100) = bad;
      element(op, b, 3, 5) = -bad;
      const auto c = random_matrix<double>(m, n, 3);
      const auto got = subtract(op, a, op, b, Padded<double>(0, 0), c);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          double v = c(i, j);
          for (Index l = 0; l < k; ++l) v -= element(op, a, i, l) * element(op, b, j, l);
          if (i == 7 || j == 3) {
            EXPECT_TRUE(std::isnan(got(i, j))) << i << " " << j;
          } else {
            EXPECT_NEAR(got(i, j), v, 1e-12) << i << " " << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
