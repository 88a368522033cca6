// Those operations of fused.hpp that are not put together from others, as textbook loops; see
// blas.hpp.
#pragma once

#include <numeric>

#include "device/fused.hpp"
#include "device/reference/panels.hpp"

namespace overlapack::reference {

template <class T>
void on_cpu(const InvertBlocks<T>& op) {
  const Index n = op.factor.rows, order = op.inverses.rows;
  for (Index b = 0; b < op.conditions.rows; ++b) {
    const Index first = b * order, size = std::min(order, n - first);
    here(op.conditions)(b) =
        invert_factor<T>(op.uplo, here(op.factor).block(first, first, size, size),
                         here(op.inverses).block(0, first, size, size));
  }
}

/// Rows of X := op(Y) X for the inverse Y of a diagonal block.
template <class T>
void multiply(Op op, HostView<const T> inverse, HostView<T> x) {
  const Workspace<T> copy(x.rows, x.cols);
  lacpy<T>(x, copy.view());
  gemm<T>(op, Op::none, T(1), inverse, HostView<const T>(copy.view()), T(0), x);
}

/// From the last block to the first: X1 := L11^-H X1, X0 := X0 - L10^H X1.
template <class T>
void on_cpu(const BackSubstitute<T>& op) {
  const bool lower = op.uplo == Uplo::lower;
  const Index n = op.factor.rows, order = op.inverses.rows;
  const HostView<const T> l = here(op.factor), inverses = here(op.inverses);
  const HostView<T> x = here(op.x);
  for (Index first = (n - 1) / order * order; first >= 0; first -= order) {
    const Index size = std::min(order, n - first);
    const HostView<T> x1 = x.block(first, 0, size, x.cols);
    multiply<T>(Op::conj_trans, inverses.block(0, first, size, size), x1);
    const HostView<const T> l10 =
        lower ? l.block(first, 0, size, first) : l.block(0, first, first, size);
    gemm<T>(lower ? Op::conj_trans : Op::none, Op::none, T(-1), l10, HostView<const T>(x1), T(1),
            x.block(0, 0, first, x.cols));
  }
}

/// From the first block to the last: X1 := L11^-1 X1, X2 := X2 - L21 X1.
template <class T>
void on_cpu(const Eliminate<T>& op) {
  const bool lower = op.uplo == Uplo::lower;
  const Index m = op.x.rows, k = op.x.cols, n = op.inverses.cols, order = op.inverses.rows;
  const HostView<const T> l = here(op.factor), inverses = here(op.inverses);
  const HostView<T> x = here(op.x);
  for (Index first = 0; first < n; first += order) {
    const Index size = std::min(order, n - first), last = first + size;
    if (first % op.width == 0) {
      lacpy<T>(x.block(first, 0, m - first, k),
               here(op.states).block(first, first / op.width * k, m - first, k));
    }
    const HostView<T> x1 = x.block(first, 0, size, k);
    multiply<T>(Op::none, inverses.block(0, first, size, size), x1);
    const HostView<const T> l21 =
        lower ? l.block(last, first, m - last, size) : l.block(first, last, size, m - last);
    gemm<T>(lower ? Op::none : Op::conj_trans, Op::none, T(-1), l21, HostView<const T>(x1), T(1),
            x.block(last, 0, m - last, k));
  }
}

/// The sums sign w^H w of each panel's rows.
template <class T>
void find_grams(const UpdateBases<T>& op) {
  using D = Double<T>;
  const Index k = op.vectors();
  const HostView<const T> w = here(op.w);
  for (Index p = op.first; p < op.last(); ++p) {
    const Index top = (p - op.first) * op.width, end = std::min(top + op.width, w.rows);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < k; ++i) {
        D sum(0);
        for (Index r = top; r < end; ++r) sum += conj(D(w(r, i))) * D(w(r, j));
        here(op.grams)(i, p * k + j) = static_cast<double>(op.sign) * sum;
      }
    }
  }
}

/// T(p) := I + the sums of all panels before p. Returns the largest element of its diagonal, at
/// least 1.
template <class T>
double sum_grams(const UpdateBases<T>& op, Index p, HostView<Double<T>> t) {
  const Index k = op.vectors();
  double largest = 1;
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) {
      t(i, j) = Double<T>(i == j ? 1 : 0);
      for (Index q = 0; q < p; ++q) t(i, j) += here(op.grams)(i, q * k + j);
    }
    largest = std::max(largest, real(t(j, j)));
  }
  return largest;
}

template <class T>
void on_cpu(const UpdateBases<T>& op) {
  using D = Double<T>;
  const Index k = op.vectors();
  find_grams(op);
  for (Index p = op.first == 0 ? 0 : op.first + 1; p <= op.last(); ++p) {
    const Workspace<D> memory(k, k);
    const HostView<D> t = memory.view(), inverse = here(op.bases).block(0, p * k, k, k);
    const double largest = sum_grams(op, p, t);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < k; ++i) inverse(i, j) = D(i == j ? 1 : 0);
    }
    const bool definite = potrf<D>(Uplo::upper, t) == 0;
    trsm<D>(Side::left, Uplo::upper, Op::none, Diag::non_unit, D(1), t, inverse);
    double largest_of_inverse = 1;
    for (Index i = 0; i < k; ++i) {
      double squares = 0;
      for (Index j = i; j < k; ++j) squares += std::norm(inverse(i, j));
      if (!(squares <= largest_of_inverse)) largest_of_inverse = squares;  // a NaN, too
    }
    if (!definite || !(largest * largest_of_inverse <= op.limit)) here(op.unfit)(0) = 1;
  }
}

/// V := the state of a panel times its base.
template <class T>
void make_vectors(HostView<const T> state, HostView<const Double<T>> base, HostView<T> v) {
  using D = Double<T>;
  for (Index j = 0; j < v.cols; ++j) {
    for (Index i = 0; i < v.rows; ++i) {
      D sum(0);
      for (Index q = 0; q <= j; ++q) sum += D(state(i, q)) * base(q, j);
      v(i, j) = static_cast<T>(sum);
    }
  }
}

/// For panels of `width` columns.
template <class T>
void on_cpu(const UpdatePanels<T>& op, Index width) {
  const bool lower = op.uplo == Uplo::lower;
  const Index n = op.columns(), k = op.k;
  for (Index p = 0; p < quotient_up(n, width); ++p) {
    const Index first = p * width, cols = std::min(width, n - first), rows = op.rows() - first;
    const Workspace<T> l(rows, cols), v(rows, k), z(k, cols);
    std::vector<T> w(static_cast<std::size_t>(rows));
    std::vector<Real<T>> t(static_cast<std::size_t>(cols));
    const HostView<T> factor = lower ? here(op.a).block(first, first, rows, cols)
                                     : here(op.a).block(first, first, cols, rows);
    load_columns<T>(op.uplo, factor, l.view());
    make_vectors<T>(here(op.states).block(first, p * k, rows, k),
                    here(op.bases).block(0, p * k, k, k), v.view());
    const Index good = reflect<T>(op.sign, l.view(), v.view(), z.view(), t.data(), w.data());
    store_columns<T>(op.uplo, l.view(), factor);
    if (good < cols) here(op.info)(0) = first + good + 1;
    if (!op.c.empty()) {
      store_rotations(t, z.memory(), here(op.c).block(first, 0, cols, 1),
                      here(op.s).block(first, 0, cols, 1));
    }
  }
}

template <class T>
void on_cpu(const TurnTriangle<T>& op) {
  const HostView<T> a = here(op.a);
  const Index last = a.rows - 1;
  for (Index j = 0; j <= last; ++j) {
    const Range given =
        rows_of_column(part_of(op.uplo), op.uplo == Uplo::lower ? 1 : -1, a.rows, j);
    for (Index i = given.first; i < given.last; ++i) a(last - i, last - j) = a(i, j);
    if (j < last - j) std::swap(a(j, j), a(last - j, last - j));
  }
}

template <class T>
void on_cpu(const ComposeInterchanges<T>& op) {
  const HostView<Index> sources = here(op.sources);
  const std::vector<Index> local = local_pivots(op.pivots, op.offset, sources.rows, op.kName);
  for (Index p = 0; p < sources.cols; ++p) {
    Index* const source = &sources(0, p);
    std::iota(source, source + sources.rows, Index{0});
    for (Index j = p * op.nb; j < op.pivots.rows; ++j) {
      std::swap(source[j], source[local[static_cast<std::size_t>(j)] - 1]);
    }
  }
}

template <class T>
void on_cpu(const PermuteRows<T>& op) {
  const HostView<const Index> sources = here(op.sources);
  const HostView<T> a = here(op.a);
  for (Index c = 0; c < a.cols; ++c) {
    const std::vector<T> column(&a(0, c), &a(0, c) + a.rows);
    for (Index i = 0; i < a.rows; ++i) {
      const Index source = sources(i, c / op.width);
      operation::require_fit(source >= 0 && source < a.rows, op.kName);
      a(i, c) = column[static_cast<std::size_t>(source)];
    }
  }
}

}  // namespace overlapack::reference
