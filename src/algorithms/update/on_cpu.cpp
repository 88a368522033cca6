#include "algorithms/update/on_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/finite.hpp"
#include "algorithms/update/rank_one.hpp"
#include "core/no_traps.hpp"
#include "cpu/reflectors.hpp"
#include "cpu/strips.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

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
// Householder's, several of them make one group: with Z = [z_1 z_2 ...] and the upper triangular
//
//   N = striu(s Z^H Z) + diag(t),   W N = L + s V Z,   L := W - L,   V := V - W Z^H
//
// transforms all rows below their diagonal block. (N is the inverse of the compact WY form's T.)
// a + a' never cancels, so |z| <= 1.
//
// Groups are of as few columns as it takes for each number of V, on its way through a register, to
// be used more often than it is loaded (cpu/strips.hpp). In larger ones N would cost more
// operations than the rest, and rows would have to be taken through two products and a triangular
// solve as matrices of their own: BLAS routines have too little to do in matrices as thin as V, and
// threads would have to meet after each.
//
// Why it is stable. For s > 0, H is unitary, and N well conditioned: its Hermitian part is at least
// I / 2. For s < 0 the elements of H may be large, and multiplying by H would not be stable. But
// what is computed above is the mixed form (Bojanczyk, Brent, Van Dooren and de Hoog, SIAM J. Sci.
// Stat. Comput. 8, 1987), by groups: V' is made from the L' that was computed, because both are
// made from the same W. In detail, the exact W, L' and V' obey
//
//   W (I - N) = L' + V Z,   L = W - L',   V' = V - W Z^H:
//
// the unitary group of the *update* that takes [L' V] to [-L V'], and its N, which is I - N, is
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

using cpu::FactorStrip;
using cpu::Group;
using cpu::kGroup;
using cpu::kPanel;
using cpu::kStrip;
using cpu::load_parts;
using cpu::Panel;
using cpu::Pass;
using cpu::store_parts;
using cpu::Strips;

/// Vectors that a factor is taken through at a time. With more, what a panel needs would not stay
/// in a core's first cache; and with as many, arithmetic takes far longer than memory.
constexpr Index kVectorsPerSweep = kHostTuning.update_vectors_per_sweep;

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

/// Some columns of V.
template <class T>
using Columns = std::vector<const T*>;

template <class T>
Columns<T> columns_of(HostView<const T> v) {
  Columns<T> columns;
  for (Index j = 0; j < v.cols; ++j) columns.push_back(&v(0, j));
  return columns;
}

/// One pass over a factor with up to kVectorsPerSweep vectors. What is made of a diagonal block, in
/// groups of columns, all rows below go through; rows depend on each other in no other way. So each
/// thread takes a block of rows through all panels, as they are there, up to its own diagonal
/// block, and then another one. Since blocks are taken from the top, nobody waits for what nobody
/// has taken, however many threads take part.
template <class T>
class Sweep {
 public:
  /// `k`: the most vectors that there will be.
  Sweep(Uplo uplo, HostView<T> a, Index k)
      : uplo_(uplo),
        a_(a),
        blocks_(quotient_up(a.rows, kPanel)),
        numbers_(new Real<T>[static_cast<std::size_t>(blocks_ * kGroups * Group<T>::size(k))]) {}

  /// V is destroyed. `sign`, for Pass::reflect: the one of all vectors; `x`, for Pass::eliminate:
  /// takes L^-1 V; `rotations`, for Pass::reflect and one vector: take those of an upper factor.
  void run(Pass pass, int sign, Strips<T>& v, HostView<T> x, Rotations<T> rotations,
           Index threads) {
    pass_ = pass;
    passes_ = cpu::passes<T>(pass, cpu::best_instructions());
    sign_ = sign;
    v_ = &v;
    x_ = x;
    rotations_ = rotations;
    next_ = finished_ = 0;
    diagonal_is_finite_ = true;
    threads = std::clamp<Index>(useful_threads(), 1, threads);
    share_out(threads, threads, [this](Index) { work(); });
  }
  /// In the last run.
  bool diagonal_is_finite() const { return diagonal_is_finite_; }

 private:
  static constexpr Index kGroups = kPanel / kGroup;
  /// Groups of the newest panel that are handed over at a time: when its last ones are made, rows
  /// next to it have been through the others.
  static constexpr Index kGroupsPerHandover = 4;
  /// Rows that are further from their diagonal block than so many columns may wait for other rows.
  static constexpr Index kUrgentColumns = 2 * kPanel;

  Range rows(Index b) const { return {b * kPanel, std::min((b + 1) * kPanel, a_.rows)}; }
  /// Groups of columns from column j on.
  Panel<T> panel(Index j, Index groups) const {
    return {numbers_.get() + j / kGroup * Group<T>::size(v_->cols()), groups, v_->cols(), sign_};
  }
  /// Rows and columns of L.
  HostView<T> part(Range rows, Range columns) const {
    return uplo_ == Uplo::lower ? a_.block(rows, columns) : a_.block(columns, rows);
  }

  /// More would take longer to wake up than their shares take, or would wait for diagonal blocks.
  Index useful_threads() const {
    constexpr auto kNumbersPerThread = static_cast<double>(kHostTuning.update_numbers_per_thread);
    const auto order = static_cast<double>(a_.rows), columns = static_cast<double>(v_->cols() + 4);
    return std::min(static_cast<Index>(order * order * columns / kNumbersPerThread),
                    1 + blocks_ / 4);
  }

  /// A block of rows on its way through the panels: it has been through the columns before
  /// `column`.
  struct Traveller {
    Range rows{0, 0};
    Index column = 0;

    explicit operator bool() const { return rows.size() > 0; }
    Index left() const { return rows.first - column; }
  };

  /// The next block that nobody has taken, or none.
  Traveller take() {
    const Index b = next_.fetch_add(1);
    return b < blocks_ ? Traveller{rows(b)} : Traveller{};
  }

  /// Takes a block through a panel, or through those groups of the newest one that are there.
  bool advance(Traveller& block, Index least) const {
    const Index there = finished_.load(std::memory_order_acquire) - block.column;
    if (block.left() == 0 || there < least) return false;
    const Index groups =
        there >= kPanel ? kGroups - block.column % kPanel / kGroup : least / kGroup;
    const Range columns = {block.column, block.column + groups * kGroup};
    passes_.rows(panel(columns.first, groups), uplo_, part(block.rows, columns),
                 v_->strip(block.rows.first));
    block.column = columns.last;
    return true;
  }

  void work() {
    const NoTraps no_traps;
    Diagonal diagonal;
    Traveller mine = take(), next;
    while (mine) {
      // What others will wait for is not to wait for memory.
      if (!diagonal.load(uplo_, part(mine.rows, mine.rows))) diagonal_is_finite_ = false;
      std::fill_n(panel(mine.rows.first, 0).numbers, kGroups * Group<T>::size(v_->cols()),
                  Real<T>(0));
      for (int spins = 0; mine.left() > 0; ++spins) {
        if (advance(mine, kGroupsPerHandover * kGroup)) {
          spins = 0;
        } else if (mine.rows.first - finished_.load(std::memory_order_acquire) > kUrgentColumns) {
          if (!next) next = take();
          if (advance(next, kPanel)) spins = 0;
        }
        if (spins > 0) wait(spins);
      }
      finish(mine.rows, diagonal);
      mine = next ? next : take();
      next = {};
    }
  }

  static void wait(int spins) {
    pause_spinning();
    // Who lets others run may wait for a whole time slice.
    if (spins > kHostTuning.update_spins_before_yield) std::this_thread::yield();
  }

  /// The diagonal block of some rows, in strips, with zeros above the diagonal.
  struct Diagonal {
    static constexpr Index kPieces = kPanel / kStrip<T>;
    FactorStrip<T> pieces[kPieces];

    FactorStrip<T>& piece(Index i) { return pieces[i / kStrip<T>]; }
    /// Element (i, j) of L.
    T get(Index i, Index j) { return piece(i).get(i % kStrip<T>, j); }
    void set(Index i, Index j, T x) { piece(i).set(i % kStrip<T>, j, x); }

    /// Imaginary parts of the diagonal count as zero. Returns whether the diagonal is finite.
    bool load(Uplo uplo, HostView<const T> a) {
      for (FactorStrip<T>& piece : pieces) {
        std::fill(std::begin(piece.numbers), std::end(piece.numbers), Real<T>(0));
      }
      bool good = true;
      for (Index j = 0; j < a.cols; ++j) {
        good = good && finite(a(j, j));
        set(j, j, T(real(a(j, j))));
        if (uplo == Uplo::lower) {
          for (Index i = j + 1; i < a.rows; ++i) set(i, j, a(i, j));
        } else {
          for (Index i = 0; i < j; ++i) set(j, i, conj(a(i, j)));
        }
      }
      return good;
    }
    void store(Uplo uplo, HostView<T> a) {
      for (Index j = 0; j < a.cols; ++j) {
        if (uplo == Uplo::lower) {
          for (Index i = j; i < a.rows; ++i) a(i, j) = get(i, j);
        } else {
          for (Index i = 0; i < j; ++i) a(i, j) = conj(get(j, i));
          a(j, j) = get(j, j);
        }
      }
    }
  };

  /// Makes the groups of a diagonal block whose rows have been through all panels before, and takes
  /// it through them.
  void finish(Range all, Diagonal& diagonal) {
    const Index order = all.size(), count = quotient_up(order, kStrip<T>);
    for (Index j = 0; j < order; j += kGroup) {
      const Panel<T> panel = this->panel(all.first + j, 1);
      const Index end = std::min(j + kGroup, order), first = j / kStrip<T>;
      make(panel, diagonal.piece(j), all.first, {j, end}, [&] {
        passes_.pieces(panel, count - first, diagonal.piece(j).at(0, j), v_->strip(all.first + j));
      });
      if (end % (kGroupsPerHandover * kGroup) == 0 || end == order) {
        finished_.store(all.first + end, std::memory_order_release);
      }
    }
    if (pass_ == Pass::reflect) diagonal.store(uplo_, part(all, all));
  }

  /// The group of `columns` of a diagonal block, from their rows of L, which are in `piece`, and of
  /// V, which are those from `top` + columns.first on. These rows go through it here, the others in
  /// between, by pass_others(), for which these are zero.
  template <class PassOthers>
  void make(const Panel<T>& panel, FactorStrip<T>& piece, Index top, Range columns,
            PassOthers pass_others) {
    using reference::detail::dot;
    using reference::detail::subtract_scaled;
    const Group<T> group = panel.group(0);
    const Index count = columns.size(), k = group.k, lane = columns.first % kStrip<T>;
    T l[kGroup][kGroup], v[kGroup][kVectorsPerSweep],
        z[kGroup][kVectorsPerSweep];  // z: its conjugate
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        l[i][j] = piece.get(lane + i, columns.first + j);
        piece.set(lane + i, columns.first + j, T(0));
      }
      Real<T>* const row = v_->row(top + columns.first + i);
      for (Index q = 0; q < k; ++q) {
        v[i][q] = load_parts<T>(row + q * Strips<T>::kColumn, kStrip<T>);
        store_parts<T>(T(0), row + q * Strips<T>::kColumn, kStrip<T>);
      }
    }
    const T sign(static_cast<Real<T>>(sign_));
    for (Index j = 0; j < count; ++j) {
      if (pass_ == Pass::reflect) {
        bool definite;  // which it is, up to rounding errors, as has been found out before
        const Real<T> before = std::abs(real(l[j][j]));
        const Real<T> t =
            reference::make_reflector<T>(sign_, l[j][j], {v[j], 1, k, 1}, z[j], definite);
        group.scales()[j] = 1 / t;
        for (Index q = 0; q < k; ++q) z[j][q] = conj(z[j][q]);
        if (rotations_.c != nullptr) {
          const Index i = top + columns.first + j;
          const Real<T> after = std::abs(real(l[j][j]));
          rotations_.c[i] = after > 0 ? before / after : Real<T>(1);
          rotations_.s[i] = z[j][0] / t;
        }
        for (Index b = 0; b < j; ++b) group.set_product(b, j, sign * conj(dot(k, z[b], z[j])));
      } else {
        for (Index q = 0; q < k; ++q) x_(top + columns.first + j, q) = z[j][q] = v[j][q] / l[j][j];
      }
      for (Index i = j + 1; i < count; ++i) {
        T w = l[i][j];
        if (pass_ == Pass::reflect) {
          w = (w + sign * dot(k, z[j], v[i])) * group.scales()[j];
          l[i][j] = w - l[i][j];
        }
        subtract_scaled(k, w, z[j], v[i]);
      }
      for (Index q = 0; q < k; ++q) group.set_z(q, j, conj(z[j][q]));
    }
    if (count == kGroup) pass_others();
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j <= i; ++j) piece.set(lane + i, columns.first + j, l[i][j]);
    }
  }

  const Uplo uplo_;
  const HostView<T> a_;
  const Index blocks_;
  const std::unique_ptr<Real<T>[]> numbers_;  // of all panels
  Pass pass_ = Pass::reflect;
  cpu::Passes<T> passes_ = {};
  int sign_ = 1;
  Strips<T>* v_ = nullptr;
  HostView<T> x_;
  Rotations<T> rotations_;
  std::atomic<bool> diagonal_is_finite_{true};
  std::atomic<Index> next_{0};                  // block that nobody has taken
  alignas(64) std::atomic<Index> finished_{0};  // columns of the diagonal blocks
};

/// Sweeps with any number of vectors, kVectorsPerSweep at a time.
template <class T>
class Sweeps {
 public:
  /// `k`: the most vectors that there will be.
  Sweeps(Uplo uplo, HostView<T> a, Index k, Index threads)
      : uplo_(uplo),
        a_(a),
        sweep_(uplo, a, std::min(k, kVectorsPerSweep)),
        strips_(a.rows, std::min(k, kVectorsPerSweep)),
        threads_(threads) {}

  /// Replaces the factor of A by that of A + sign V V^H; it must exist.
  void transform(int sign, const Columns<T>& v, Rotations<T> rotations = {}) {
    run(Pass::reflect, sign, v, {}, rotations);
  }
  /// X := L^-1 V. Returns whether all of it, and of the diagonal of L, is finite.
  bool solve(const Columns<T>& v, HostView<T> x) {
    run(Pass::eliminate, 1, v, x, {});
    return sweep_.diagonal_is_finite() && algorithms::all_finite<T>(Part::all, x, 1);
  }
  Index order() const { return a_.rows; }
  bool all_finite() const { return algorithms::all_finite<T>(part_of(uplo_), a_, threads_); }

 private:
  void run(Pass pass, int sign, const Columns<T>& v, HostView<T> x, Rotations<T> rotations) {
    const auto count = static_cast<Index>(v.size());
    for (Index first = 0; first < count; first += kVectorsPerSweep) {
      const Index columns = std::min(kVectorsPerSweep, count - first);
      strips_.load(v.data() + first, columns);
      sweep_.run(pass, sign, strips_, {x.data + first * x.ld, x.rows, columns, x.ld}, rotations,
                 threads_);
    }
  }

  const Uplo uplo_;
  const HostView<T> a_;
  Sweep<T> sweep_;
  Strips<T> strips_;
  const Index threads_;
};

/// A := I + alpha op(X) op(X)^H, of which the lower triangle is needed.
template <class T>
void identity_plus(const cpu::Lapack<T>& cpu, Real<T> alpha, Op op, HostView<const T> x,
                   HostView<T> a) {
  for (Index j = 0; j < a.cols; ++j) {
    std::fill_n(&a(0, j), a.rows, T(0));
    a(j, j) = T(1);
  }
  cpu.herk(Uplo::lower, op, alpha, x, Real<T>(1), a);
}

/// Whether a matrix is positive definite, of which the lower triangle is given and overwritten. It
/// is not if there is a NaN.
template <class T>
bool factors(const cpu::Lapack<T>& cpu, HostView<T> a) {
  bool positive = cpu.potrf(Uplo::lower, a) == 0;
  for (Index i = 0; i < a.rows; ++i) positive = positive && real(a(i, i)) > 0;
  return positive;
}

/// Whether I + P P^H - M M^H is positive definite. If P and M have few columns, as a rule, that is
/// decided by a matrix of their order: with B = I + P^H P it is
///   I - M^H (I + P P^H)^-1 M  =  I - M^H M + (M^H P) B^-1 (P^H M),
/// LINPACK's test (?chdd) for more than one vector and both signs.
template <class T>
bool is_definite(const cpu::Lapack<T>& cpu, HostView<const T> p, HostView<const T> m) {
  const bool few = std::max(p.cols, m.cols) <= m.rows;
  Matrix<T> matrix(few ? m.cols : m.rows, few ? m.cols : m.rows);
  const HostView<T> g = matrix.view();
  if (!few) {
    identity_plus<T>(cpu, 1, Op::none, p, g);
    cpu.herk(Uplo::lower, Op::none, Real<T>(-1), m, Real<T>(1), g);
    return factors(cpu, g);
  }
  identity_plus<T>(cpu, -1, Op::conj_trans, m, g);
  if (!p.empty()) {
    Matrix<T> b_matrix(p.cols, p.cols), c_matrix(p.cols, m.cols);
    const HostView<T> b = b_matrix.view(), c = c_matrix.view();
    identity_plus<T>(cpu, 1, Op::conj_trans, p, b);
    if (!factors(cpu, b)) return false;
    cpu.gemm(Op::conj_trans, Op::none, T(1), p, m, T(0), c);
    cpu.trsm(Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), b, c);
    cpu.herk(Uplo::lower, Op::conj_trans, Real<T>(1), c, Real<T>(1), g);
  }
  return factors(cpu, g);
}

/// The order of the first leading minor of A + P P^H - M M^H that is not positive definite, or 0;
/// or kFactorNotFinite.
///
/// The matrix is L (I + L^-1 P (L^-1 P)^H - L^-1 M (L^-1 M)^H) L^H, and its leading minors belong
/// to the first rows of L^-1 P and L^-1 M. If a minor is not definite the larger ones are not,
/// either.
template <class T>
Index first_indefinite(const cpu::Lapack<T>& cpu, Sweeps<T>& sweeps, const Columns<T>& p,
                       const Columns<T>& m) {
  const Index n = sweeps.order();
  Matrix<T> plus(n, static_cast<Index>(p.size())), minus(n, static_cast<Index>(m.size()));
  // What is not finite in the factor makes the result so; then the factor is looked through.
  const bool solved = sweeps.solve(p, plus.view()) && sweeps.solve(m, minus.view());
  if (!solved && !sweeps.all_finite()) return kFactorNotFinite;
  const auto definite = [&](Index order) {
    return is_definite<T>(cpu, plus.view().block(0, 0, order, plus.view().cols),
                          minus.view().block(0, 0, order, minus.view().cols));
  };
  Index good = 0, bad = n;
  if (definite(bad)) return 0;
  while (bad - good > 1) {
    const Index middle = good + (bad - good) / 2;
    (definite(middle) ? good : bad) = middle;
  }
  return bad;
}

template <class T>
bool is_singular(HostView<const T> a) {
  for (Index j = 0; j < a.rows; ++j) {
    if (real(a(j, j)) == 0) return true;
  }
  return false;
}

/// What updates R by the row x: sweeps over it, and the column v = x^H.
template <class T>
struct VectorInSweeps {
  VectorInSweeps(HostView<T> r, const T* x, Index threads)
      : vector(r.cols, 1), v{vector.view().data}, sweeps(Uplo::upper, r, 1, threads) {
    std::transform(x, x + r.cols, vector.view().data, [](T element) { return conj(element); });
  }
  Matrix<T> vector;
  const Columns<T> v;
  Sweeps<T> sweeps;
};

}  // namespace

template <class T>
Index chol_update(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<const T> v,
                  Signs signs, Index threads) {
  const Index n = a.rows;
  if (n == 0 || v.cols == 0) return 0;
  Columns<T> plus, minus;
  for (Index j = 0; j < v.cols; ++j) (signs[j] > 0 ? plus : minus).push_back(&v(0, j));
  const bool singular = !plus.empty() && !minus.empty() && is_singular<T>(a);
  if ((minus.empty() || singular) && !all_finite<T>(part_of(uplo), a, threads)) {
    return kFactorNotFinite;
  }
  Sweeps<T> sweeps(uplo, a, v.cols, threads);
  if (singular) {
    // What is tried divides by the factor: try it with the updated one, which may be regular.
    Matrix<T> updated(n, n);
    reference::lacpy<T>(a, updated.view());
    Sweeps<T> trial(uplo, updated.view(), v.cols, threads);
    trial.transform(1, plus);
    if (const Index info = first_indefinite<T>(cpu, trial, {}, minus); info != 0) return info;
  } else if (!minus.empty()) {
    if (const Index info = first_indefinite<T>(cpu, sweeps, plus, minus); info != 0) return info;
  }
  sweeps.transform(1, plus);
  sweeps.transform(-1, minus);
  return 0;
}

template <class T>
void finish_chol_update(Uplo uplo, HostView<T> a, HostView<const T> v, Index updates,
                        Index threads) {
  Sweeps<T> sweeps(uplo, a, v.cols, threads);
  sweeps.transform(1, columns_of<T>(v.block(0, 0, v.rows, updates)));
  sweeps.transform(-1, columns_of<T>(v.block(0, updates, v.rows, v.cols - updates)));
}

template <class T>
void update_one_in_sweeps(HostView<T> r, T* x, Real<T>* c, Index threads) {
  VectorInSweeps<T> update(r, x, threads);
  update.sweeps.transform(1, update.v, {c, x});
}

template <class T>
bool downdate_one_in_sweeps(HostView<T> r, T* x, Real<T>* c, Index threads) {
  VectorInSweeps<T> downdate(r, x, threads);
  downdate.sweeps.solve(downdate.v, {x, r.cols});
  if (!downdate_rotations(r.cols, x, c)) return false;
  downdate.sweeps.transform(-1, downdate.v);
  return true;
}

#define OVERLAPACK_INSTANTIATE(T)                                                            \
  template Index chol_update<T>(const cpu::Lapack<T>&, Uplo, HostView<T>, HostView<const T>, \
                                Signs, Index);                                               \
  template void finish_chol_update<T>(Uplo, HostView<T>, HostView<const T>, Index, Index);   \
  template void update_one_in_sweeps<T>(HostView<T>, T*, Real<T>*, Index);                   \
  template bool downdate_one_in_sweeps<T>(HostView<T>, T*, Real<T>*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
