#include "algorithms/norms/on_cpu.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/no_traps.hpp"
#include "cpu/reductions.hpp"
#include "cpu/reference.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {
namespace {

using reference::max_or_nan;

/// Numbers whose largest modulus is in this range have squares that neither overflow nor are too
/// small for their sum: what underflows is nothing beside the largest one. Others are multiplied by
/// a power of two, which is exact, by the idea of Blue (ACM TOMS 4, 1978).
template <class R>
struct SquareRange;
template <>
struct SquareRange<float> {
  static constexpr float least = 0x1p-30F, largest = 0x1p+50F, enlarge = 0x1p+80F,
                         shrink = 0x1p-80F;
};
template <>
struct SquareRange<double> {
  static constexpr double least = 0x1p-450, largest = 0x1p+500, enlarge = 0x1p+600,
                          shrink = 0x1p-600;
};

/// The factor for numbers of which this is the largest modulus.
template <class R>
R factor_for(R largest) {
  using Range = SquareRange<R>;
  return largest > Range::largest ? Range::shrink : largest < Range::least ? Range::enlarge : R(1);
}

/// Whether a result shows that squares needed no factor: it is neither below this nor infinite, nor
/// a NaN.
template <class R>
bool is_within(R result, R least) {
  return result >= least && result <= std::numeric_limits<R>::max();
}

/// Elements that are looked at together: they stay in the first cache if they are needed twice.
constexpr Index kPieceElements = 1024;

/// What has been found in a tile, beside sums.
template <class R>
struct Found {
  R largest = 0;
  long double squares = 0;  // in its range are the squares of all doubles
  long double squares_of_diagonal = 0;
};

/// One norm of one matrix. Tiles may be taken by several threads.
template <class T>
class HostNorm {
 public:
  using R = Real<T>;

  HostNorm(const NormOf& of, HostView<const T> a, Tiles tiles)
      : of_(of),
        a_(a),
        tiles_(tiles),
        tile_rows_(quotient_up(a.rows, tiles.rows)),
        tile_cols_(quotient_up(a.cols, tiles.cols)),
        loops_(cpu::reductions<R>(cpu::best_instructions())) {
    const auto elements = [](bool wanted, Index parts, Index length) {
      return static_cast<std::size_t>(wanted ? parts * length : 0);
    };
    column_sums_.resize(elements(needs_column_sums(of), tile_rows_, a.cols));
    row_sums_.resize(elements(needs_row_sums(of), tile_cols_, a.rows));
    found_.resize(static_cast<std::size_t>(count()));
  }

  static bool needs_row_sums(const NormOf& of) {
    return of.norm == Norm::infinity || (is_symmetric(of) && of.norm == Norm::one);
  }
  static bool needs_column_sums(const NormOf& of) {
    return of.norm == Norm::one || (is_symmetric(of) && of.norm == Norm::infinity);
  }

  Index count() const { return tile_rows_ * tile_cols_; }

  void take(Index tile) {
    const Index r = tile % tile_rows_, c = tile / tile_rows_;
    const Range rows = part(r, tiles_.rows, a_.rows), cols = part(c, tiles_.cols, a_.cols);
    R* const column_sums = column_sums_.empty() ? nullptr : column_sums_.data() + r * a_.cols;
    R* const row_sums = row_sums_.empty() ? nullptr : row_sums_.data() + c * a_.rows;
    const Index apart = of_.part == Part::lower ? 1 : of_.part == Part::upper ? -1 : 0;
    Found<R> found;
    for (Index j = cols.first; j < cols.last; ++j) {
      const Range given = rows_of_column(of_.part, apart, a_.rows, j);
      const Index end = std::min(given.last, rows.last);
      R sum(0);
      for (Index i = std::max(given.first, rows.first); i < end; i += kPieceElements) {
        const Index n = std::min(kPieceElements, end - i);
        sum += take_piece(&a_(i, j), n, row_sums == nullptr ? nullptr : row_sums + i, found);
      }
      if (of_.part != Part::all && j >= rows.first && j < rows.last) {
        const R modulus = take_diagonal(j, found);
        if (column_sums != nullptr) {
          sum += modulus;
        } else if (row_sums != nullptr) {
          row_sums[j] += modulus;
        } else {
          found.largest = max_or_nan(found.largest, modulus);
        }
      }
      if (column_sums != nullptr) column_sums[j] = sum;
    }
    found_[static_cast<std::size_t>(tile)] = found;
  }

  /// Once all tiles have been taken.
  R result() {
    Found<R> all;
    for (const Found<R>& one : found_) {
      all.largest = max_or_nan(all.largest, one.largest);
      all.squares += one.squares;
      all.squares_of_diagonal += one.squares_of_diagonal;
    }
    if (of_.norm == Norm::max) return all.largest;
    if (of_.norm == Norm::frobenius) {
      const long double squares = is_symmetric(of_) ? 2 * all.squares : all.squares;
      return static_cast<R>(std::sqrt(squares + all.squares_of_diagonal));
    }
    join(column_sums_, a_.cols);
    join(row_sums_, a_.rows);
    if (is_symmetric(of_)) add(a_.rows, row_sums_.data(), column_sums_.data());
    const bool by_columns = !column_sums_.empty();
    const std::vector<R>& sums = by_columns ? column_sums_ : row_sums_;
    return loops_.largest(sums.data(), by_columns ? a_.cols : a_.rows);
  }

 private:
  static bool is_symmetric(const NormOf& of) { return of.symmetry != Symmetry::none; }
  static Range part(Index i, Index length, Index total) {
    return {i * length, std::min((i + 1) * length, total)};
  }
  static void add(Index n, const R* from, R* to) {
    for (Index i = 0; i < n; ++i) to[i] += from[i];
  }
  /// Adds all vectors of `length` sums to the first one.
  static void join(std::vector<R>& sums, Index length) {
    const Index end = static_cast<Index>(sums.size());
    for (Index i = length; i < end; i += length) add(length, sums.data() + i, sums.data());
  }

  /// Elements of a column. Returns the sum of their moduli, if there are sums. `row_sums` of these
  /// rows may be null.
  R take_piece(const T* x, Index n, R* row_sums, Found<R>& found) const {
    if (of_.norm == Norm::frobenius) {
      constexpr Index kParts = is_complex<T> ? 2 : 1;
      found.squares += squares(reinterpret_cast<const R*>(x), kParts * n);
      return 0;
    }
    R memory[is_complex<T> ? kPieceElements : 1];
    const R* moduli = memory;
    if constexpr (is_complex<T>) {
      find_moduli(x, n, memory);
    } else {
      moduli = x;
    }
    if (row_sums != nullptr) return loops_.add(moduli, n, row_sums);
    if (of_.norm == Norm::one) return loops_.sum(moduli, n);
    found.largest = max_or_nan(found.largest, loops_.largest(moduli, n));
    return 0;
  }

  long double squares(const R* x, Index n) const {
    using Range = SquareRange<R>;
    const R plain = loops_.squares(x, n, R(1));
    if (is_within(plain, Range::least * Range::least)) return plain;
    const R factor = factor_for(loops_.largest(x, n));
    const long double back = 1 / factor;
    return loops_.squares(x, n, factor) * back * back;
  }

  void find_moduli(const std::complex<R>* x, Index n, R* moduli) const {
    loops_.moduli(x, n, R(1), moduli);
    if (is_within(loops_.largest(moduli, n), SquareRange<R>::least)) return;
    const R largest = loops_.largest(reinterpret_cast<const R*>(x), 2 * n);
    if (std::isnan(largest)) {  // but not the modulus of a number with an infinite part
      std::transform(x, x + n, moduli, [](T z) { return std::abs(z); });
    } else {
      loops_.moduli(x, n, factor_for(largest), moduli);
    }
  }

  /// Returns the modulus of a diagonal element.
  R take_diagonal(Index j, Found<R>& found) const {
    const T x = of_.diag == Diag::unit                ? T(1)
                : of_.symmetry == Symmetry::hermitian ? T(real(a_(j, j)))
                                                      : a_(j, j);
    const long double re = std::real(x), im = std::imag(x);
    found.squares_of_diagonal += re * re + im * im;
    return std::abs(x);
  }

  const NormOf of_;
  const HostView<const T> a_;
  const Tiles tiles_;
  const Index tile_rows_, tile_cols_;
  const cpu::Reductions<R> loops_;
  std::vector<R> column_sums_;  // of each row of tiles
  std::vector<R> row_sums_;     // of each column of tiles
  std::vector<Found<R>> found_;
};

}  // namespace

template <class T>
Real<T> norm_on_cpu(const NormOf& of, HostView<const T> a, Index threads) {
  const bool by_element = of.norm == Norm::max || of.norm == Norm::frobenius;
  if (by_element && of.part == Part::all && a.ld == a.rows) {  // columns may be short
    a = HostView<const T>(a.data, a.rows * a.cols);
  }
  const Index numbers = (is_complex<T> ? 2 : 1) * a.rows * a.cols / (of.part == Part::all ? 1 : 2);
  const Index useful = 1 + numbers / kHostTuning.numbers_looked_at_per_thread;
  return norm_on_cpu(of, a, std::min(threads, useful), tiles_for(of, a));
}

template <class T>
Tiles tiles_for(const NormOf& of, HostView<const T> a) {
  // Enough for all threads to be busy until the end; and few, since row sums are kept for each.
  constexpr Index kTilesAtMost = 128, kElementsAtLeast = Index{1} << 16;
  // Memory is read fastest in long pieces, but sums that each column adds to are to stay in caches.
  constexpr Index kRowsWithSums = 32768 / Index{sizeof(Real<T>)};
  const Index elements = std::max(kElementsAtLeast, quotient_up(a.rows * a.cols, kTilesAtMost));
  const Index tall = HostNorm<T>::needs_row_sums(of)
                         ? std::max(kRowsWithSums, quotient_up(elements, a.cols))
                         : elements;
  const Index rows = std::min(a.rows, tall);
  return {rows, std::clamp<Index>(elements / rows, 1, a.cols)};
}

template <class T>
Real<T> norm_on_cpu(const NormOf& of, HostView<const T> a, Index threads, Tiles tiles) {
  const NoTraps no_traps;  // squares may overflow in vain
  HostNorm<T> norm(of, a, tiles);
  share_out(threads, norm.count(), [&](Index tile) { norm.take(tile); });
  return norm.result();
}

#define OVERLAPACK_INSTANTIATE(T)                                                  \
  template Tiles tiles_for<T>(const NormOf&, HostView<const T>);                   \
  template Real<T> norm_on_cpu<T>(const NormOf&, HostView<const T>, Index, Tiles); \
  template Real<T> norm_on_cpu<T>(const NormOf&, HostView<const T>, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
