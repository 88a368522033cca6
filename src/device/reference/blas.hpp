// The operations of blas.hpp as textbook loops, for operands in memory that the CPU can address:
// what each operation means. The emulated device runs them, and so does a trip to the CPU
// (host_trip.hpp).
#pragma once

#include <limits>
#include <vector>

#include "cpu/reference.hpp"
#include "device/blas.hpp"

namespace overlapack::reference {

/// The view as the CPU sees it.
template <class U>
HostView<U> here(DeviceView<U> view) {
  return as_argument(view);
}

/// C := beta C as cuBLAS does it: 1 + 0i times a number whose imaginary part is a NaN is one in
/// both parts.
template <class T>
void multiply_as_cublas(T beta, HostView<T> c) {
  for (Index j = 0; j < c.cols; ++j) {
    for (Index i = 0; i < c.rows; ++i) c(i, j) = detail::multiply(beta, c(i, j));
  }
}

template <class T>
void on_cpu(const Gemm<T>& op) {
  const HostView<T> c = here(op.c);
  if (op.beta == T(1) && is_complex<T>) multiply_as_cublas(op.beta, c);
  gemm<T>(op.op_a, op.op_b, op.alpha, here(op.a), here(op.b), op.beta, c);
}

template <class T>
void on_cpu(const Herk<T>& op) {
  herk<T>(op.uplo, op.op, op.alpha, here(op.a), op.beta, here(op.c));
}

/// Column by column, each from its diagonal element on or down to it. Beyond that an element is
/// spoilt.
template <class T>
void on_cpu(const Her2k<T>& op) {
  const HostView<const T> a = here(op.a), b = here(op.b);
  const HostView<T> c = here(op.c);
  for (Index j = 0; j < c.cols; ++j) {
    const Range i = rows_of_column(part_of(op.uplo), 0, c.rows, j), one = {j, j + 1},
                all = {0, a.cols};
    if (op.beta != Real<T>(0)) multiply_as_cublas(T(op.beta), c.block(i, one));
    gemm<T>(Op::none, Op::conj_trans, op.alpha, a.block(i, all), b.block(one, all),
            T(op.beta != Real<T>(0)), c.block(i, one));
    gemm<T>(Op::none, Op::conj_trans, conj(op.alpha), b.block(i, all), a.block(one, all), T(1),
            c.block(i, one));
    const Index beyond = op.uplo == Uplo::lower ? j - 1 : j + 1;
    if (beyond >= 0 && beyond < c.rows) c(beyond, j) = std::numeric_limits<Real<T>>::quiet_NaN();
    c(j, j) = T(real(c(j, j)));
  }
}

template <class T>
void on_cpu(const Trsm<T>& op) {
  trsm<T>(op.side, op.uplo, op.op, op.diag, op.alpha, here(op.a), here(op.b));
}

template <class T>
void on_cpu(const Copy<T>& op) {
  const HostView<const T> a = here(op.a);
  const HostView<T> b = here(op.b);
  for (Index j = 0; j < b.cols; ++j) {
    for (Index i = 0; i < b.rows; ++i) b(i, j) = detail::element(op.op, a, i, j);
  }
}

template <class T>
void on_cpu(const Mirror<T>& op) {
  const HostView<T> a = here(op.a);
  for (Index j = 0; j < a.cols; ++j) {
    a(j, j) = T(real(a(j, j)));
    for (Index i = j + 1; i < a.rows; ++i) {
      if (op.uplo == Uplo::lower) {
        a(j, i) = conj(a(i, j));
      } else {
        a(i, j) = conj(a(j, i));
      }
    }
  }
}

/// The pivots for a matrix whose first row is row `offset`, once they are known to be among its
/// `rows` rows.
inline std::vector<Index> local_pivots(DeviceView<const Index> pivots, Index offset, Index rows,
                                       const char* name) {
  std::vector<Index> local(here(pivots).data, here(pivots).data + pivots.rows);
  for (Index& p : local) {
    p -= offset;
    operation::require_fit(1 <= p && p <= rows, name);
  }
  return local;
}

template <class T>
void on_cpu(const SwapRows<T>& op) {
  const std::vector<Index> local = local_pivots(op.pivots, op.offset, op.a.rows, op.kName);
  laswp(here(op.a), 0, op.pivots.rows, local.data(), op.forward);
}

/// Exchanges columns j and local[j] - 1, for all j in turn.
template <class T>
void exchange_columns(HostView<T> a, const std::vector<Index>& local) {
  for (std::size_t k = 0; k < local.size(); ++k) {
    const auto j = static_cast<Index>(k), p = local[k] - 1;
    if (p != j) std::swap_ranges(&a(0, j), &a(0, j) + a.rows, &a(0, p));
  }
}

template <class T>
void on_cpu(const SwapColumns<T>& op) {
  exchange_columns(here(op.a), local_pivots(op.pivots, op.offset, op.a.cols, op.kName));
}

template <class T>
void on_cpu(const ColumnNorms<T>& op) {
  const HostView<const T> a = here(op.a);
  for (Index j = 0; j < a.cols; ++j) here(op.norms)(j) = max_norm(a.rows, &a(0, j));
}

template <class T>
void on_cpu(const MatrixNorm<T>& op) {
  std::vector<Real<T>> sums(static_cast<std::size_t>(op.a.rows));
  here(op.result)(0) = norm<T>(op.norm, op.symmetry, op.uplo, here(op.a), sums.data());
}

template <class T>
void on_cpu(const FindNotFinite<T>& op) {
  const HostView<const T> a = here(op.a);
  for (Index j = 0; j < a.cols; ++j) {
    const Range rows = rows_of_column(op.part, 0, a.rows, j);
    for (Index i = rows.first; i < rows.last; ++i) {
      if (!std::isfinite(abs1(a(i, j)))) here(op.found)(0) = 1;
    }
  }
}

}  // namespace overlapack::reference
