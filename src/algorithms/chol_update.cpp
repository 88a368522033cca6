#include "algorithms/chol_update.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "algorithms/chol_rank_one.hpp"
#include "algorithms/workers.hpp"
#include "cpu/reflectors.hpp"

// The method
//
// Write s for the sign (updates and downdates take turns) and J for diag(I, s I). A transformation
// H with H J H^H = J takes [L V] to [L' V'] with L' L'^H + s V' V'^H = L L^H + s V V^H; what is
// wanted is one that makes V' zero. It is a product of n reflectors, one for each column j, in the
// plane of that column and all of V: with a = L(j, j), b = V(j, :) and a' = sqrt(a^2 + s |b|^2),
//
//   z = b^H / (a + a'),   y = [1; z],   t = (1 + s |z|^2) / 2 = a' / (a + a'),
//   [l V] := [l V] - w y^H  with  w = (l + s V z) / t,
//
// maps [a b] to [-a' 0], and -l is the new column. (The factor 2 in 1/t = 2 / (y^H J y) is that of
// a Householder reflector; for s < 0 it is a hyperbolic one: Rader and Steinhardt, 1986.) As with
// Householder's, nb of them make one block: with Z = [z_1 ... z_nb] and the upper triangular
//
//   N = striu(s Z^H Z) + diag(t),   W N = L + s V Z,   L := W - L,   V := V - W Z^H
//
// transforms all rows below a diagonal block by two products and a triangular solve. (N is the
// inverse of the compact WY form's T.) a + a' never cancels, so |z| <= 1.
//
// Why it is stable. For s > 0, H is unitary, and N well conditioned: its Hermitian part is at least
// I / 2. For s < 0 the elements of H may be large, and multiplying by H would not be stable. But
// what is computed above is the mixed form (Bojanczyk, Brent, Van Dooren and de Hoog, SIAM J. Sci.
// Stat. Comput. 8, 1987), by blocks: V' is made from the L' that was computed, because both are
// made from the same W. In detail, the exact W, L' and V' obey
//
//   W (I - N) = L' + V Z,   L = W - L',   V' = V - W Z^H:
//
// the unitary block of the *update* that takes [L' V] to [-L V'], and its N, which is I - N, is
// well conditioned as above. Rounding errors in W, L' and V' are of the order of eps times the
// norms of the rows of L, W, L' and V, all of which are at most a few times that of the row of L
// one started with. So they are errors of that size in this update, too: the computed L' is the
// exact factor of a matrix A - V V^H + E, |E(i, i)| <= c eps A(i, i). (On such relational stability
// also: M. Stewart and G. W. Stewart, On hyperbolic triangularization, SIAM J. Matrix Anal. Appl.
// 19, 1998.)
//
// Vectors with different signs: first all updates, then all downdates, because a reflector with
// both signs at once has neither |z| <= 1 nor such an N.
//
// Why a downdate that fails leaves the factor as it was. Whether it succeeds is decided before
// anything is written (first_indefinite). After that the pass above cannot fail: the test is one
// for L + dL with |dL| <= n eps |L|, so a^2 - |b|^2 may come out negative by a modest multiple of
// eps A(j, j), but not more. It is then replaced by eps a^2, the smallest value that it could be
// told from zero at, and b made shorter to go with that: an error of the same order as that of the
// pass itself.

namespace overlapack::algorithms {
namespace {

using reference::load_columns;
using reference::reflect;
using reference::store_columns;

/// How the work is cut. A product of up to kThin columns is too thin for a BLAS to share out among
/// its threads: they take longer to meet than to compute. So kThinRows rows at a time, for which a
/// BLAS takes one thread, are shared out among threads of our own; with more columns the BLAS's
/// threads are the better ones. A narrow block costs fewer operations, a wide one has the faster
/// products.
constexpr Index kThin = 32, kThinRows = 256;
constexpr Index kWide = 64, kWideRows = 1024;

struct Cut {
  explicit Cut(Index k, Index threads_)
      : nb(k <= kThin ? kThin : kWide),
        rows(k <= kThin ? kThinRows : kWideRows),
        threads(k <= kThin ? threads_ : 1) {}
  Index nb;    ///< columns of L that are transformed by one block of reflectors
  Index rows;  ///< rows that are transformed at a time
  Index threads;
};

/// A rows x cols matrix in memory of its own.
template <class T>
class Matrix {
 public:
  Matrix(Index rows, Index cols)
      : rows_(rows),
        cols_(cols),
        data_(static_cast<std::size_t>(std::max<Index>(1, rows * cols))) {}
  HostView<T> view() { return {data_.data(), rows_, cols_, std::max<Index>(1, rows_)}; }

 private:
  Index rows_, cols_;
  std::vector<T> data_;
};

/// What one block of reflectors takes, and a copy of the first `copied` columns of V.
template <class T>
struct Workspace {
  Workspace(Index n_rows, Index copied, Index k, Index nb)
      : v(n_rows, copied),
        w(nb, n_rows),
        l(nb, nb),
        z(k, nb),
        n(nb, nb),
        inverse(nb, nb),
        zt(k, nb),
        t(nb, 1) {}
  Matrix<T> v, w, l, z, n, inverse, zt;
  Matrix<Real<T>> t;
};

template <class T>
void copy(HostView<const T> from, HostView<T> to) {
  for (Index j = 0; j < from.cols; ++j) std::copy_n(&from(0, j), from.rows, &to(0, j));
}

/// a := w - a
template <class T>
void subtract_from(HostView<const T> w, HostView<T> a) {
  for (Index j = 0; j < a.cols; ++j) {
    const T* const from = &w(0, j);
    T* const to = &a(0, j);
    for (Index i = 0; i < a.rows; ++i) to[i] = from[i] - to[i];
  }
}

/// A block of reflectors, ready to be applied.
template <class T>
struct Block {
  int sign;
  HostView<T> z, n;         ///< Z and N
  HostView<T> inverse, zt;  ///< N^-1 and s Z N^-1
  bool invertible;          ///< whether these two may be used
};

/// Completes a block of which Z and t are known.
///
/// Products are several times faster than a triangular solve with as few columns, so there is an
/// explicit inverse. It makes the error of W grow from eps |W| |N| to eps |L + s V Z| |N^-1|, which
/// is harmless for an update, whose N^-1 has a norm of at most 2, and for a downdate whose N^-1 is
/// hardly larger. The others solve.
template <class T>
void complete(const cpu::Lapack<T>& cpu, const Real<T>* t, Block<T>& block) {
  const Index nb = block.n.cols;
  cpu.herk(Uplo::upper, Op::conj_trans, static_cast<Real<T>>(block.sign), block.z, Real<T>(0),
           block.n);
  for (Index j = 0; j < nb; ++j) {
    block.n(j, j) = T(t[j]);
    std::fill_n(&block.inverse(0, j), nb, T(0));
    block.inverse(j, j) = T(1);
  }
  cpu.trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1), block.n, block.inverse);
  Real<T> squares(0);
  for (Index j = 0; j < nb; ++j) {
    for (Index i = 0; i <= j; ++i) squares += std::norm(block.inverse(i, j));
  }
  block.invertible = squares <= static_cast<Real<T>>(16 * nb);  // an update's is at most 4 nb
  cpu.gemm(Op::none, Op::none, T(Real<T>(block.sign)), block.z, block.inverse, T(0), block.zt);
}

/// Applies a block to some rows of V and of the block column `a` (upper: columns of the block row)
/// below the diagonal block. `w` is of the shape of `a`. In an upper triangle it is W^H.
template <class T>
void apply(const cpu::Lapack<T>& cpu, Uplo uplo, const Block<T>& block, HostView<T> a,
           HostView<T> v, HostView<T> w) {
  const T sign(Real<T>(block.sign));
  if (!block.invertible) copy<T>(a, w);
  if (uplo == Uplo::lower) {
    if (block.invertible) {
      cpu.gemm(Op::none, Op::none, T(1), a, block.inverse, T(0), w);
      cpu.gemm(Op::none, Op::none, T(1), v, block.zt, T(1), w);
    } else {
      cpu.gemm(Op::none, Op::none, sign, v, block.z, T(1), w);
      cpu.trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, T(1), block.n, w);
    }
    cpu.gemm(Op::none, Op::conj_trans, T(-1), w, block.z, T(1), v);
  } else {
    if (block.invertible) {
      cpu.gemm(Op::conj_trans, Op::none, T(1), block.inverse, a, T(0), w);
      cpu.gemm(Op::conj_trans, Op::conj_trans, T(1), block.zt, v, T(1), w);
    } else {
      cpu.gemm(Op::conj_trans, Op::conj_trans, sign, block.z, v, T(1), w);
      cpu.trsm(Side::left, Uplo::upper, Op::conj_trans, Diag::non_unit, T(1), block.n, w);
    }
    cpu.gemm(Op::conj_trans, Op::conj_trans, T(-1), w, block.z, T(1), v);
  }
  subtract_from<T>(w, a);
}

/// Replaces the factor of A by that of A + sign V V^H; it must exist. V is destroyed.
template <class T>
void transform(const cpu::Lapack<T>& cpu, Uplo uplo, int sign, HostView<T> a, HostView<T> v,
               const Cut& cut, Workspace<T>& work) {
  const Index order = a.rows, k = v.cols;
  if (k == 0) return;
  for (Index j = 0; j < order; j += cut.nb) {
    const Index nb = std::min(cut.nb, order - j), next = j + nb;
    const HostView<T> diagonal = a.block(j, j, nb, nb), l = work.l.view().block(0, 0, nb, nb);
    Block<T> block{sign,
                   work.z.view().block(0, 0, k, nb),
                   work.n.view().block(0, 0, nb, nb),
                   work.inverse.view().block(0, 0, nb, nb),
                   work.zt.view().block(0, 0, k, nb),
                   false};
    Real<T>* const t = work.t.view().data;
    load_columns<T>(uplo, diagonal, l);
    reflect<T>(sign, l, v.block(j, 0, nb, k), block.z, t, work.w.view().data);
    store_columns<T>(uplo, l, diagonal);
    if (next == order) break;

    complete(cpu, t, block);
    share_out(cut.threads, (order - next + cut.rows - 1) / cut.rows, [&](Index part) {
      const Index i = next + part * cut.rows, rows = std::min(cut.rows, order - i);
      const HostView<T> below =
          uplo == Uplo::lower ? a.block(i, j, rows, nb) : a.block(j, i, nb, rows);
      const HostView<T> w(work.w.view().data + i * nb, below.rows, below.cols, below.rows);
      apply<T>(cpu, uplo, block, below, v.block(i, 0, rows, k), w);
    });
  }
}

/// Whether I + P P^H - M M^H is positive definite, for matrices P and M of few columns.
/// With B = I + P^H P that is
///   I - M^H (I + P P^H)^-1 M  =  I - M^H M + (M^H P) B^-1 (P^H M),
/// LINPACK's test (?chdd) for more than one vector and both signs.
template <class T>
bool is_definite(const cpu::Lapack<T>& cpu, HostView<const T> p, HostView<const T> m) {
  Matrix<T> gram(m.cols, m.cols);
  const HostView<T> g = gram.view();
  const auto factor = [&](HostView<T> x) {  // also false if there is a NaN
    bool positive = cpu.potrf(Uplo::lower, x) == 0;
    for (Index i = 0; i < x.rows; ++i) positive = positive && real(x(i, i)) > 0;
    return positive;
  };
  const auto identity = [](HostView<T> x) {
    for (Index j = 0; j < x.cols; ++j) {
      std::fill_n(&x(0, j), x.rows, T(0));
      x(j, j) = T(1);
    }
  };
  identity(g);
  cpu.herk(Uplo::lower, Op::conj_trans, Real<T>(-1), m, Real<T>(1), g);
  if (!p.empty()) {
    Matrix<T> b_matrix(p.cols, p.cols), c_matrix(p.cols, m.cols);
    const HostView<T> b = b_matrix.view(), c = c_matrix.view();
    identity(b);
    cpu.herk(Uplo::lower, Op::conj_trans, Real<T>(1), p, Real<T>(1), b);
    if (!factor(b)) return false;
    cpu.gemm(Op::conj_trans, Op::none, T(1), p, m, T(0), c);
    cpu.trsm(Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), b, c);
    cpu.herk(Uplo::lower, Op::conj_trans, Real<T>(1), c, Real<T>(1), g);
  }
  return factor(g);
}

/// The order of the first leading minor of A + P P^H - M M^H that is not positive definite, or 0.
/// If it is known that there is one, only its place is looked for. P and M are destroyed.
///
/// The matrix is L (I + L^-1 P (L^-1 P)^H - L^-1 M (L^-1 M)^H) L^H, and its leading minors belong
/// to the first rows of L^-1 P and L^-1 M. If a minor is not definite the larger ones are not,
/// either.
template <class T>
Index first_indefinite(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<const T> a, HostView<T> p,
                       HostView<T> m, bool known = false) {
  const Op op = uplo == Uplo::lower ? Op::none : Op::conj_trans;
  for (const HostView<T>& x : {p, m}) {
    if (!x.empty()) cpu.trsm(Side::left, uplo, op, Diag::non_unit, T(1), a, x);
  }
  const auto definite = [&](Index order) {
    return is_definite<T>(cpu, p.block(0, 0, order, p.cols), m.block(0, 0, order, m.cols));
  };
  Index good = 0, bad = a.rows;
  if (!known && definite(bad)) return 0;
  while (bad - good > 1) {
    const Index middle = good + (bad - good) / 2;
    (definite(middle) ? good : bad) = middle;
  }
  return bad;
}

/// One vector: rotations take less time than products (chol_rank_one.hpp).
template <class T>
Index update_by_one(const cpu::Lapack<T>& cpu, Uplo uplo, int sign, HostView<T> a, const T* v,
                    Index threads) {
  const Index n = a.rows;
  Matrix<T> row(n, 1);
  Matrix<Real<T>> cosines(n, 1);
  T* const x = row.view().data;
  Real<T>* const c = cosines.view().data;
  std::transform(v, v + n, x, [uplo](T e) { return uplo == Uplo::upper ? conj(e) : e; });
  if (sign > 0) {
    update_one(uplo, a, x, c, threads);
  } else if (downdate_one(uplo, a, x, c, threads) != Downdate::done) {
    std::copy_n(v, n, x);
    return first_indefinite<T>(cpu, uplo, a, {}, row.view(), true);
  }
  return 0;
}

/// Whether real numbers first, ..., end - 1 are finite. Told from their bits: arithmetic with what
/// is not finite would raise floating-point exceptions, for which the caller may have set traps.
template <class R>
bool finite(const R* x, Index first, Index end) {
  using Bits = std::conditional_t<sizeof(R) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  static_assert(sizeof(Bits) == sizeof(R) && std::numeric_limits<R>::is_iec559);
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr Bits kOne = Bits{1} << (std::numeric_limits<R>::digits - 1);  // in the exponent
  Bits signs = 0;
  for (Index i = first; i < end; ++i) {
    Bits bits;
    std::memcpy(&bits, x + i, sizeof bits);
    signs |= (bits & (kSign - kOne)) + kOne;  // an exponent of ones only overflows into the sign
  }
  return (signs & kSign) == 0;
}

template <class T>
bool is_singular(HostView<const T> a) {
  for (Index j = 0; j < a.rows; ++j) {
    if (a(j, j) == T(0)) return true;
  }
  return false;
}

/// The imaginary parts of a factor's diagonal count as zero. They are taken away, and are put back
/// unless the factor is replaced.
template <class T>
class RealDiagonal {
 public:
  explicit RealDiagonal(HostView<T> a) : a_(a) {
    if constexpr (is_complex<T>) {
      before_.reserve(static_cast<std::size_t>(a.rows));
      for (Index j = 0; j < a.rows; ++j) {
        before_.push_back(a(j, j));
        a(j, j) = real(a(j, j));
      }
    }
  }
  void keep() { before_.clear(); }
  ~RealDiagonal() {
    for (std::size_t j = 0; j < before_.size(); ++j) {
      a_(static_cast<Index>(j), static_cast<Index>(j)) = before_[j];
    }
  }

 private:
  HostView<T> a_;
  std::vector<T> before_;  // empty if they are to stay away
};

/// chol_update() of a factor with a real diagonal.
template <class T>
Index update_real(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<const T> v,
                  Signs signs, Index threads) {
  const Index n = a.rows, k = v.cols;
  if (k == 1) return update_by_one(cpu, uplo, signs[0], a, v.data, threads);
  const Cut cut(k, threads);
  Workspace<T> work(n, k, k, cut.nb);
  // The updates are the first columns of the workspace, the downdates the last ones.
  Index updates = 0;
  for (Index j = 0; j < k; ++j) updates += signs[j] > 0;
  const HostView<T> plus = work.v.view().block(0, 0, n, updates);
  const HostView<T> minus = work.v.view().block(0, updates, n, k - updates);
  const auto gather = [&] {
    Index p = 0, m = 0;
    for (Index j = 0; j < k; ++j) {
      std::copy_n(&v(0, j), n, signs[j] > 0 ? &plus(0, p++) : &minus(0, m++));
    }
  };
  gather();
  if (updates < k) {
    Index info = 0;
    if (updates > 0 && is_singular<T>(a)) {
      // What is tried divides by the factor: try it with the updated one, which may be regular.
      Matrix<T> updated(n, n);
      for (Index j = 0; j < n; ++j) std::copy_n(&a(0, j), n, &updated.view()(0, j));
      transform(cpu, uplo, 1, updated.view(), plus, cut, work);
      info = first_indefinite<T>(cpu, uplo, updated.view(), {}, minus);
    } else {
      info = first_indefinite<T>(cpu, uplo, a, plus, minus);
    }
    if (info != 0) return info;
    gather();
  }
  transform(cpu, uplo, 1, a, plus, cut, work);
  transform(cpu, uplo, -1, a, minus, cut, work);
  return 0;
}

}  // namespace

template <class T>
Index chol_update(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<const T> v,
                  Signs signs, Index threads) {
  if (a.rows == 0 || v.cols == 0) return 0;
  RealDiagonal<T> diagonal(a);
  const Index info = update_real(cpu, uplo, a, v, signs, threads);
  if (info == 0) diagonal.keep();
  return info;
}

template <class T>
void finish_chol_update(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<T> v,
                        Index updates, Index threads) {
  const Index n = v.rows, k = v.cols;
  RealDiagonal<T>(a).keep();
  const Cut cut(k, threads);
  Workspace<T> work(n, 0, k, cut.nb);
  transform(cpu, uplo, 1, a, v.block(0, 0, n, updates), cut, work);
  transform(cpu, uplo, -1, a, v.block(0, updates, n, k - updates), cut, work);
}

template <class T>
bool all_finite(Part part, HostView<const T> a, Index threads) {
  constexpr Index kReals = is_complex<T> ? 2 : 1, kColumns = 64;
  std::atomic<bool> good{true};
  share_out(threads, (a.cols + kColumns - 1) / kColumns, [&](Index group) {
    const Index end = std::min((group + 1) * kColumns, a.cols);
    for (Index j = group * kColumns; j < end && good; ++j) {
      const RowRange rows = rows_of_column(part, 0, a.rows, j);
      const auto* const x = reinterpret_cast<const Real<T>*>(a.data + j * a.ld);
      if (!finite(x, kReals * rows.first, kReals * rows.end)) good = false;
    }
  });
  return good;
}

#define OVERLAPACK_INSTANTIATE(T)                                                            \
  template Index chol_update<T>(const cpu::Lapack<T>&, Uplo, HostView<T>, HostView<const T>, \
                                Signs, Index);                                               \
  template void finish_chol_update<T>(const cpu::Lapack<T>&, Uplo, HostView<T>, HostView<T>, \
                                      Index, Index);                                         \
  template bool all_finite<T>(Part, HostView<const T>, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
