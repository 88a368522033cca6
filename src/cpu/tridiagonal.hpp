// Eigenvalues and eigenvectors of symmetric tridiagonal matrices by Cuppen's method, number by
// number: what loops of the CPU (device/reference/tridiagonal.hpp) and kernels of a GPU share. So
// what decides about a GPU's results is tested on any machine. How a sum is made of its terms is
// left to whoever calls.
//
// Names and rules are those of LAPACK's ?laed2, ?laed3, ?laed4 and ?steqr. Where these have the
// norm of a matrix, that is about 1 here: a caller scales.
#pragma once

#include <cmath>
#include <limits>

#include "core/device_code.hpp"
#include "core/scalar.hpp"

namespace overlapack::tridiagonal {

/// LAPACK's eps: half the distance from 1 to the next number.
template <class R>
inline constexpr R kRoundoff = std::numeric_limits<R>::epsilon() / 2;
// Kernels may use constants, but call no functions of the host.
template <class R>
inline constexpr R kSafeMin = std::numeric_limits<R>::min();
template <class R>
inline constexpr R kInfinity = std::numeric_limits<R>::infinity();

// ---- Leaves: QL iteration -----------------------------------------------------------------------

/// The rotation with [c s; -s c] [f; g] = [r; 0].
template <class R>
struct Rotation {
  R c, s, r;
};
template <class R>
OVERLAPACK_DEVICE_CODE Rotation<R> rotation_of(R f, R g) {
  if (g == 0) return {1, 0, f};
  if (f == 0) return {0, 1, g};
  const R r = std::hypot(f, g);
  return {f / r, g / r, r};
}

/// Whether an off-diagonal element e counts as zero between these two of the diagonal.
template <class R>
OVERLAPACK_DEVICE_CODE bool is_negligible(R e, R above, R below) {
  constexpr R kSquare = kRoundoff<R> * kRoundoff<R>;
  return e * e <= kSquare * std::abs(above) * std::abs(below) + kSafeMin<R>;
}

/// A step of implicit QL iteration with Wilkinson's shift, on rows `first` to `last` of a matrix.
/// If it is `reversed`, these are taken in the other order, which makes it QR iteration.
template <class R, class Rotate>
OVERLAPACK_DEVICE_CODE void step_of_ql(R* d, R* e, Index first, Index last, bool reversed,
                                       Rotate rotate) {
  const auto row = [&](Index i) { return reversed ? first + last - i : i; };
  const auto beside = [&](Index i) { return reversed ? first + last - i - 1 : i; };  // i and i + 1
  const R top = d[row(first)], e_top = e[beside(first)];
  const R half = (d[row(first + 1)] - top) / (2 * e_top);
  const R shift = top - e_top / (half + std::copysign(std::hypot(half, R(1)), half));
  R g = d[row(last)] - shift, c = 1, s = 1, p = 0;
  for (Index i = last - 1; i >= first; --i) {
    const R f = s * e[beside(i)], b = c * e[beside(i)];
    const Rotation<R> turn = rotation_of(g, f);
    c = turn.c, s = turn.s;
    if (i + 1 < last) e[beside(i + 1)] = turn.r;
    g = d[row(i + 1)] - p;
    const R r = (d[row(i)] - g) * s + 2 * c * b;
    p = s * r;
    d[row(i + 1)] = g + p;
    g = c * r - b;
    rotate(beside(i), c, reversed ? -s : s);
  }
  d[row(first)] -= p;
  e[beside(first)] = g;
}

/// QL and QR iteration: d, of n elements, becomes the eigenvalues of the matrix with the diagonal d
/// and the n - 1 elements e beside it, in no particular order; e is destroyed. rotate(i, c, s) is
/// to rotate columns i and i + 1 of Q:
///
///   q(i), q(i+1) := c q(i) - s q(i+1), s q(i) + c q(i+1)
///
/// Returns false if 30 n steps are not enough.
template <class R, class Rotate>
OVERLAPACK_DEVICE_CODE bool iterate_ql(Index n, R* d, R* e, Rotate rotate) {
  constexpr Index kStepsPerRow = 30;
  Index steps = 0;
  Index end = n;  // of the block that the last step was on, and which way it went
  bool reversed = false;
  for (Index first = 0; first < n; ++first) {
    for (;;) {
      Index last = first;
      while (last < n - 1 && !is_negligible(e[last], d[last], d[last + 1])) ++last;
      if (last == first) break;
      if (steps++ == kStepsPerRow * n) return false;
      if (last < n - 1) e[last] = 0;
      // What is small is found first. A block keeps its direction while it shrinks.
      const bool is_new = first >= end || last > end || steps == 1;
      if (is_new) reversed = std::abs(d[last]) < std::abs(d[first]);
      end = last;
      step_of_ql(d, e, first, last, reversed, rotate);
    }
  }
  return true;
}

// ---- Deflation ----------------------------------------------------------------------------------

/// In which rows an eigenvector of a merge's two parts is not zero.
enum class Rows { upper, both, lower };
inline constexpr int kKindsOfRows = 3;

/// A term of the secular equation, and the eigenvector that it belongs to.
template <class R>
struct Pole {
  R d, z;
  Index column;
  Rows rows;
};

/// Which eigenpairs of two parts are those of the whole, as far as can be told: where z is
/// negligible, and one of two poles that are close to each other, of which a rotation makes one
/// with a z of zero. A sink is told of them: drop(pole); rotate(p, q, c, s), which means
///
///   q(p), q(q) := c q(p) + s q(q), c q(q) - s q(p);
///
/// and of the others, in ascending order: keep(pole).
template <class R>
class Deflation {
 public:
  /// `largest`: of the moduli of all d and z.
  OVERLAPACK_DEVICE_CODE Deflation(R rho, R largest)
      : rho_(rho), tolerance_(8 * kRoundoff<R> * largest) {}

  /// Poles in ascending order.
  template <class Sink>
  OVERLAPACK_DEVICE_CODE void take(Pole<R> next, Sink& sink) {
    if (rho_ * std::abs(next.z) <= tolerance_) return sink.drop(next);
    if (holds_ && is_close(held_, next)) {
      const R r = std::hypot(held_.z, next.z), c = next.z / r, s = -held_.z / r;
      sink.rotate(held_.column, next.column, c, s);
      const R lower = held_.d, upper = next.d;
      held_.d = lower * c * c + upper * s * s;
      next.d = lower * s * s + upper * c * c;
      next.z = r;
      if (next.rows != held_.rows) next.rows = Rows::both;
      sink.drop(held_);
    } else if (holds_) {
      sink.keep(held_);
    }
    held_ = next;
    holds_ = true;
  }
  template <class Sink>
  OVERLAPACK_DEVICE_CODE void finish(Sink& sink) {
    if (holds_) sink.keep(held_);
  }

 private:
  /// Whether what a rotation leaves between the two is negligible: (d_q - d_p) c s. There is no
  /// root and no quotient in it, since most poles are not close.
  OVERLAPACK_DEVICE_CODE bool is_close(const Pole<R>& p, const Pole<R>& q) const {
    return std::abs((q.d - p.d) * p.z * q.z) <= tolerance_ * (p.z * p.z + q.z * q.z);
  }

  const R rho_, tolerance_;
  Pole<R> held_ = {};
  bool holds_ = false;
};

// ---- Secular equation ---------------------------------------------------------------------------

/// The eigenproblem of diag(d) + rho z z^T with k ascending d, rho > 0, and no z that is zero. The
/// eigenvalues are the roots of f(x) = 1/rho + sum z_i^2 / (d_i - x): one behind each d_i.
template <class R>
struct RankOne {
  Index k;
  const R *d, *z;
  R rho;
};

/// d[origin] + shift. The origin is the nearest d, so that differences d_i - root, made of those of
/// d, are accurate whatever cancels.
template <class R>
struct Root {
  Index origin;
  R shift;
};

/// d_i - root.
template <class R>
OVERLAPACK_DEVICE_CODE R difference(const R* d, Index i, const Root<R>& root) {
  return (d[i] - d[root.origin]) - root.shift;
}

/// A part of f, or of the sum of its terms: of its value and of its derivative.
template <class R>
struct ValueAndSlope {
  R value, slope;
};

/// f at a point. The terms of poles up to the one before the root are negative, the others are
/// positive.
template <class R>
struct Evaluation {
  R f;
  R slope_left, slope_right;  ///< of either of them
  R size;                     ///< the sum of the moduli of all terms
};

/// Root j (from 0). sum(first, last, term) returns the sum of the ValueAndSlope term(i) for these
/// i.
///
/// The sums over the poles on either side of the root are replaced by a constant and one term each,
/// at the nearest pole, with the same value and slope. The root of that is the next point (Li,
/// Solving secular equations stably and efficiently, 1993: the middle way). If a step does not make
/// |f| ten times smaller, a bisection follows, so that the number of steps is bounded.
template <class R>
class SecularRoot {
 public:
  OVERLAPACK_DEVICE_CODE SecularRoot(const RankOne<R>& problem, Index j)
      : of_(problem), j_(j), is_last_(j == problem.k - 1) {}

  template <class Sum>
  OVERLAPACK_DEVICE_CODE Root<R> find(Sum sum) {
    begin(sum);
    R before = kInfinity<R>;  // |f| at the point before
    // Never so many: a bracket is halved less than 200 times.
    for (int step = 0; step < 1000; ++step) {
      const Evaluation<R> at = evaluate(x_, sum);
      const R size = std::abs(at.f);
      if (size <= 8 * kRoundoff<R> * at.size) break;
      (at.f < 0 ? low_ : high_) = x_;
      R next = x_ + step_from(at);
      const bool is_slow = !(size <= before / 10);
      if (is_slow || !(next > low_ && next < high_)) next = low_ + (high_ - low_) / 2;
      if (!(next > low_ && next < high_)) break;  // there is no number between them
      before = is_slow ? kInfinity<R> : size;
      x_ = next;
    }
    return {origin_, x_};
  }

 private:
  /// Chooses the origin, the bracket, and the first point: the root if the poles beside it were the
  /// only ones that vary.
  template <class Sum>
  OVERLAPACK_DEVICE_CODE void begin(Sum sum) {
    origin_ = j_;
    if (is_last_) {
      low_ = 0;
      high_ = 2 * of_.rho;  // the squares of z add up to 1 or less, to rounding
      x_ = of_.rho;
      return;
    }
    const R gap = of_.d[j_ + 1] - of_.d[j_], middle = gap / 2;
    const R f = evaluate(middle, sum).f;
    const R left = of_.z[j_] * of_.z[j_], right = of_.z[j_ + 1] * of_.z[j_ + 1];
    const R rest = f + left / middle - right / (gap - middle);
    if (f >= 0) {
      low_ = 0;
      high_ = middle;
      x_ = smaller_root(rest, rest * gap + left + right, left * gap);
    } else {
      origin_ = j_ + 1;
      low_ = -(gap - middle);
      high_ = 0;
      x_ = smaller_root(rest, left + right - rest * gap, -right * gap);
    }
    if (!(x_ > low_ && x_ < high_)) x_ = low_ + (high_ - low_) / 2;
  }

  template <class Sum>
  OVERLAPACK_DEVICE_CODE Evaluation<R> evaluate(R x, Sum sum) const {
    const auto term = [&](Index i) {
      const R quotient = of_.z[i] / difference(of_.d, i, {origin_, x});
      return ValueAndSlope<R>{of_.z[i] * quotient, quotient * quotient};
    };
    const ValueAndSlope<R> left = sum(0, j_ + 1, term), right = sum(j_ + 1, of_.k, term);
    const R constant = 1 / of_.rho;
    return {constant + left.value + right.value, left.slope, right.slope,
            constant - left.value + right.value};
  }

  /// To the root of c + s / (p - x) + t / (q - x), or c + s / (p - x), where p and q are the
  /// nearest poles.
  OVERLAPACK_DEVICE_CODE R step_from(const Evaluation<R>& at) const {
    const R p = difference(of_.d, j_, {origin_, x_});
    if (is_last_) return p * at.f / (at.f - p * at.slope_left);
    const R q = difference(of_.d, j_ + 1, {origin_, x_});
    const R c = at.f - p * at.slope_left - q * at.slope_right;
    return smaller_root(c, (p + q) * at.f - p * q * (at.slope_left + at.slope_right), p * q * at.f);
  }

  /// Of c x^2 - a x + b, (a - root(a^2 - 4 b c)) / 2 c without cancellation.
  OVERLAPACK_DEVICE_CODE static R smaller_root(R c, R a, R b) {
    const R root = std::sqrt(std::abs(a * a - 4 * b * c));
    return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
  }

  const RankOne<R> of_;
  const Index j_;
  const bool is_last_;
  Index origin_ = 0;
  R low_ = 0, high_ = 0, x_ = 0;  // from the origin
};

/// Factor j of the square of the z of pole i for which the computed roots are exact (Gu and
/// Eisenstat, 1994, by Loewner's formula). The product of all of them is negative.
template <class R>
OVERLAPACK_DEVICE_CODE R factor_of_square(const R* d, Index i, Index j, const Root<R>& root) {
  const R numerator = difference(d, i, root);
  return j == i ? numerator : numerator / (d[i] - d[j]);
}

// ---- Bisection ----------------------------------------------------------------------------------

/// Of a matrix with no element larger than about 1.
template <class R>
inline constexpr R kLeastPivot = 4 * kSafeMin<R>;

/// How many eigenvalues are less than x: the negative pivots of the factorization of T - x I, with
/// the squares of what stands beside the diagonal. (LAPACK's ?laebz: no pivot is smaller than
/// `least_pivot`.)
template <class R>
OVERLAPACK_DEVICE_CODE Index eigenvalues_below(Index n, const R* d, const R* squares, R least_pivot,
                                               R x) {
  Index count = 0;
  R pivot = 1;
  for (Index i = 0; i < n; ++i) {
    pivot = d[i] - (i > 0 ? squares[i - 1] / pivot : R(0)) - x;
    if (std::abs(pivot) <= least_pivot) pivot = -least_pivot;
    if (pivot < 0) ++count;
  }
  return count;
}

/// Whether all numbers between them are the same eigenvalue, as far as can be told. No square is
/// larger than about 1.
template <class R>
OVERLAPACK_DEVICE_CODE bool are_close(R low, R high) {
  constexpr R kEps = 2 * kRoundoff<R>, kLeastWidth = kEps * kEps;
  const R size = std::abs(low) > std::abs(high) ? std::abs(low) : std::abs(high);
  return high - low <= (kEps * size > kLeastWidth ? kEps * size : kLeastWidth);
}

/// Eigenvalue j (from 0), which lies between low and high.
template <class R>
R bisect(Index n, const R* d, const R* squares, R low, R high, Index j) {
  for (;;) {
    const R middle = low + (high - low) / 2;
    if (are_close(low, high)) return middle;
    (eigenvalues_below(n, d, squares, kLeastPivot<R>, middle) > j ? high : low) = middle;
  }
}

}  // namespace overlapack::tridiagonal
