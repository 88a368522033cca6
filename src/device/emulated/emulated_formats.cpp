#include "device/emulated/emulated_formats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/emulated/formats.hpp"
#include "device/emulated/operands.hpp"

namespace overlapack::emulated {
namespace {

// ---- Split operands -----------------------------------------------------------------------

template <class T>
class EmulatedSplitProducts final : public SplitProducts<T> {
 public:
  EmulatedSplitProducts(const Device& device, Machine& machine) : operands_(device, machine) {}

 private:
  void run(Queue& queue, const Split<T>& op) override {
    require(op.form.section <= kSplitSection<T>, op.kName, "the section is too long");
    const bool fp32 = op.form.precision == Precision::fp32;
    require(!fp32 || aligned(op.to), op.kName, "unaligned columns");
    require(op.sizes.empty() || (fp32 && op.sizes.rows == op.summands()), op.kName,
            "the sizes do not fit");
    operands_.enqueue(queue, op.kName, [operands = operands_, op] {
      split<T>(op.form, op.side, op.op, operands.open(op.kName, op.from),
               operands.open(op.kName, op.to), operands.open(op.kName, op.sizes), op.weigh);
    });
  }

  void run(Queue& queue, const SplitGemm<T>& op) override {
    require(op.form.section <= kSplitSection<T>, op.kName, "the section is too long");
    const bool fp32 = op.form.precision == Precision::fp32;
    require(!fp32 || (aligned(op.a) && aligned(op.b)), op.kName, "unaligned columns");
    operands_.enqueue(queue, op.kName, [operands = operands_, op, fp32] {
      // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
      constexpr Index kReals = is_complex<T> ? 2 : 1;
      const HostView<T> c = operands.open(op.kName, op.c);
      const HostView<float> real_c(reinterpret_cast<float*>(c.data), kReals * c.rows, c.cols,
                                   kReals * c.ld);
      const auto a = operands.open(op.kName, op.a), b = operands.open(op.kName, op.b);
      if (fp32) {
        split_gemm(kReals * op.form.section, kReals * op.k, op.alpha, a, b, op.beta, real_c);
      } else {
        split_gemm(op.form.precision, op.alpha, a, b, op.beta, real_c);
      }
    });
  }

  /// All columns begin at multiples of 32 bytes, as split forms in FP32 must.
  static bool aligned(DeviceView<const Real<T>> a) {
    constexpr std::size_t kBytes = 32;
    return a.empty() || (reinterpret_cast<std::uintptr_t>(a.data) % kBytes == 0 &&
                         static_cast<std::size_t>(a.ld) * sizeof(Real<T>) % kBytes == 0);
  }

  const Operands operands_;
};

// ---- Residues -----------------------------------------------------------------------------

template <class T>
class EmulatedResidueProducts final : public ResidueProducts<T> {
 public:
  EmulatedResidueProducts(const Device& device, Machine& machine) : operands_(device, machine) {}

  Index residue_unit() const override { return 2; }
  Index residue_work(Index m, Index n) const override {
    constexpr Index kTileRows = 16;  // so that it matters what is a row
    return ResidueForm<T>::kProducts * residues::kModuli * round_up(m, kTileRows) * n;
  }

 private:
  void run(Queue& queue, const FindResidues<T>& op) override {
    check(op.kName, op.of);
    operands_.enqueue(queue, op.kName, [this, op] {
      open_numbers(op.kName, op.of);
      const HostView<double> squares = operands_.open(op.kName, op.of.squares);
      to_residues<T>(op.of.op, operands_.open(op.kName, op.of.matrix),
                     operands_.open(op.kName, DeviceView<const double>(op.of.scales)),
                     operands_.open(op.kName, op.before), squares, places_in(op.kName, op.of));
      Index& first_long = operands_.open(op.kName, op.of.first_long)(0);
      for (Index i = op.of.rows() - 1; i >= 0; --i) {
        if (!(squares(i) <= residues::kMaxSquares))
          first_long = std::min(first_long, op.of.first + i);
      }
    });
  }

  void run(Queue& queue, const FindScaledResidues<T>& op) override {
    check(op.kName, op.of);
    operands_.enqueue(queue, op.kName, [this, op] {
      open_numbers(op.kName, op.of);
      to_scaled_residues<T>(op.of.op, op.weigh, operands_.open(op.kName, op.of.matrix),
                            operands_.open(op.kName, op.sizes),
                            operands_.open(op.kName, op.of.scales), places_in(op.kName, op.of));
    });
  }

  void run(Queue& queue, const ResidueGemm<T>& op) override {
    check(op.kName, op.a);
    check(op.kName, op.b);
    require(op.work.rows >= residue_work(op.c.rows, op.c.cols), op.kName, "too little work space");
    operands_.enqueue(queue, op.kName, [this, op] {
      open_numbers(op.kName, op.a), open_numbers(op.kName, op.b);
      operands_.open(op.kName, op.work);
      const HostView<T> c = operands_.open(op.kName, op.c);
      const Factor a = factor(op.kName, op.a), b = factor(op.kName, op.b);
      for (Index j = 0; j < c.cols; ++j) {
        for (Index i = 0; i < c.rows; ++i) {
          const T v = product(a, i, b, j);
          c(i, j) = op.beta == T(0) ? -v : op.beta * c(i, j) - v;
        }
      }
    });
  }

  void check(const char* name, const ResidueForm<T>& form) const {
    const Index n = form.rows(), k = form.summands(), unit = residue_unit();
    require(form.op != Op::trans && form.numbers.rows == k && form.numbers.cols == n &&
                form.scales.rows == n && form.stride >= (n - 1) * form.numbers.ld + k,
            name, "the shapes do not fit");
    require(k % unit == 0 && form.numbers.ld % unit == 0 && form.stride % unit == 0 &&
                form.next_plane % unit == 0 && (form.next_plane >= k) == is_complex<T> &&
                reinterpret_cast<std::uintptr_t>(form.numbers.data) % unit == 0,
            name, "not a multiple of the unit");
  }
  /// Makes sure that all planes for all moduli lie in device memory.
  void open_numbers(const char* name, const ResidueForm<T>& form) const {
    const DeviceView<std::int8_t>& first = form.numbers;
    for (int number = 0; number < residues::kModuli; ++number) {
      for (Index plane = 0; plane < form.kPlanes; ++plane) {
        std::int8_t* const data = first.data + number * form.stride + plane * form.next_plane;
        operands_.open(name, DeviceView<std::int8_t>(data, first.rows, first.cols, first.ld));
      }
    }
  }
  /// Where the residue of number l of row i for a modulus goes, in a plane.
  auto places_in(const char* name, const ResidueForm<T>& form) const {
    const HostView<std::int8_t> numbers = operands_.open(name, form.numbers);
    return [numbers, next = form.stride, next_plane = form.next_plane](Index l, Index i, int number,
                                                                       int plane) -> std::int8_t& {
      return (&numbers(l, i))[number * next + plane * next_plane];
    };
  }
  /// A factor as this machine's CPU sees it.
  struct Factor {
    Op op;
    HostView<const T> matrix;
    HostView<const double> scales, squares;
    HostView<const std::int8_t> numbers;
    Index stride, next_plane, first, first_long;
    double unit;
    bool is_short(Index i) const { return squares.empty() || squares(i) <= residues::kMaxSquares; }
    bool is_first_long(Index i) const { return first + i == first_long; }
    T operator()(Index i, Index l) const {
      return op == Op::none ? matrix(i, l) : conj(matrix(l, i));
    }
  };
  Factor factor(const char* name, const ResidueForm<T>& form) const {
    return {form.op,
            operands_.open(name, form.matrix),
            operands_.open(name, DeviceView<const double>(form.scales)),
            operands_.open(name, DeviceView<const double>(form.squares)),
            operands_.open(name, DeviceView<const std::int8_t>(form.numbers)),
            form.stride,
            form.next_plane,
            form.first,
            form.has_found_scales() ? -1 : operands_.open(name, form.first_long)(0),
            form.unit()};
  }
  /// The sum of products of row i of A and the conjugate row j of B.
  static T product(const Factor& a, Index i, const Factor& b, Index j) {
    if (a.is_short(i) && b.is_short(j)) return short_product(a, i, b, j);
    if (!a.is_first_long(i) && !b.is_first_long(j)) return nan();
    T v(0);
    for (Index l = 0; l < a.numbers.rows; ++l) v += a(i, l) * conj(b(j, l));
    return v;
  }
  static T short_product(const Factor& a, Index i, const Factor& b, Index j) {
    // The smaller scale first: a sum times the larger one may overflow. A NaN remains one.
    const auto [first, second] = std::minmax(a.scales(i), b.scales(j));
    const double by_first = a.unit * b.unit * first, by_second = second;
    const auto value = [=](const Sums& sums) { return from_residues(sums) * by_first * by_second; };
    const Sums sums = sums_of(a, i, b, j, 0);
    if constexpr (is_complex<T>) {
      const Sums of_imaginary = sums_of(a, i, b, j, 1), of_both = sums_of(a, i, b, j, 2);
      Sums re, im;
      for (std::size_t p = 0; p < sums.size(); ++p) {
        re[p] = sums[p] + of_imaginary[p];
        im[p] = of_both[p] - sums[p] + of_imaginary[p];
      }
      return {value(re), value(im)};
    } else {
      return value(sums);
    }
  }
  /// NaN in all parts.
  static T nan() {
    constexpr auto kNan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (is_complex<T>) {
      return {kNan, kNan};
    } else {
      return kNan;
    }
  }
  /// Those of one of the products (ResidueForm), for each modulus.
  using Sums = std::array<std::int64_t, residues::kModuli>;
  static Sums sums_of(const Factor& a, Index i, const Factor& b, Index j, int product) {
    const Index of_a = product * a.next_plane;
    const Index of_b = (product == 2 ? 3 : product) * b.next_plane;
    Sums sums = {};
    for (Index number = 0; number < residues::kModuli; ++number) {
      const std::int8_t* const x = &a.numbers(0, i) + number * a.stride + of_a;
      const std::int8_t* const y = &b.numbers(0, j) + number * b.stride + of_b;
      std::int32_t sum = 0;  // exact (residue_products.hpp)
      for (Index l = 0; l < a.numbers.rows; ++l) sum += x[l] * y[l];
      sums[static_cast<std::size_t>(number)] = sum;
    }
    return sums;
  }

  const Operands operands_;
};

// ---- Rounding -----------------------------------------------------------------------------

/// Calls visit(i, j) for each element of a part of a matrix.
template <class Visit>
void for_each_element(Part part, Index rows, Index cols, Visit visit) {
  for (Index j = 0; j < cols; ++j) {
    const Range of_column = rows_of_column(part, 0, rows, j);
    for (Index i = of_column.first; i < of_column.last; ++i) visit(i, j);
  }
}

/// By which rows or columns are multiplied: all ones where there are no sizes.
inline std::vector<double> inverse_powers(DeviceView<const double> sizes, Index count) {
  std::vector<double> powers(static_cast<std::size_t>(count), 1);
  if (sizes.data == nullptr) return powers;
  for (Index i = 0; i < count; ++i) {
    powers[static_cast<std::size_t>(i)] = inverse_power(as_argument(sizes)(i));
  }
  return powers;
}

template <class T>
class EmulatedRounding final : public Rounding<T> {
 public:
  EmulatedRounding(const Device& device, Machine& machine) : operands_(device, machine) {}

 private:
  void run(Queue& queue, const Round<T>& op) override { operands_.run(queue, op, round); }
  void run(Queue& queue, const RoundHigh<T>& op) override { operands_.run(queue, op, round_high); }
  void run(Queue& queue, const Join<T>& op) override { operands_.run(queue, op, join); }
  void run(Queue& queue, const Widen<T>& op) override { operands_.run(queue, op, widen); }

  static void round(const Round<T>& op) {
    const std::vector<double> by_row = inverse_powers(op.row_sizes, op.from.rows);
    const std::vector<double> by_column = inverse_powers(op.column_sizes, op.from.cols);
    for_each_element(op.part, op.from.rows, op.from.cols, [&](Index i, Index j) {
      const T x = as_argument(op.from)(i, j);
      const double scale =
          by_row[static_cast<std::size_t>(i)] * by_column[static_cast<std::size_t>(j)];
      as_argument(op.to)(i, j) = static_cast<Single<T>>(scale * x);
      if (overflows_single(x)) as_argument(op.overflow)(0) = 1;
    });
  }
  static void round_high(const RoundHigh<T>& op) {
    for_each_element(op.part, op.to.rows, op.to.cols, [&](Index i, Index j) {
      as_argument(op.to)(i, j) =
          static_cast<Single<T>>(join_words(as_argument(op.high)(i, j), Single<T>(0)));
    });
  }
  static void join(const Join<T>& op) {
    for_each_element(op.part, op.to.rows, op.to.cols, [&](Index i, Index j) {
      T& x = as_argument(op.to)(i, j);
      x = join_words(as_argument(op.high)(i, j), as_argument(op.low)(i, j));
      if (overflows_single(x)) as_argument(op.overflow)(0) = 1;
    });
  }
  static void widen(const Widen<T>& op) {
    const std::vector<double> by_row = inverse_powers(op.row_sizes, op.from.rows);
    for_each_element(Part::all, op.to.rows, op.to.cols, [&](Index i, Index j) {
      const T x = by_row[static_cast<std::size_t>(i)] * T(as_argument(op.from)(i, j));
      T& to = as_argument(op.to)(i, j);
      to = op.beta == T(0) ? x : x + op.beta * to;
    });
  }

  const Operands operands_;
};

}  // namespace

template <class T>
EmulatedFormats<T>::EmulatedFormats(const Device& device, Machine& machine) {
  if constexpr (kSplits<T>) {
    split_products_ = std::make_unique<EmulatedSplitProducts<T>>(device, machine);
  }
  if constexpr (kResidues<T>) {
    residue_products_ = std::make_unique<EmulatedResidueProducts<T>>(device, machine);
  }
  if constexpr (kRounds<T>) {
    rounding_ = std::make_unique<EmulatedRounding<T>>(device, machine);
  }
}

#define OVERLAPACK_INSTANTIATE(T) template class EmulatedFormats<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::emulated
