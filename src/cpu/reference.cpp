// Everything is blocked just enough that nearly all arithmetic ends in one vectorised loop
// (add_columns): gemm packs for it, and the others are made of gemm and an unblocked algorithm on a
// small diagonal block.
#include "cpu/reference.hpp"

#include <utility>
#include <vector>

namespace overlapack::reference {
namespace {

using detail::element;
using detail::multiply;
using detail::subtract_scaled;

/// Order of the diagonal blocks that are done by unblocked loops.
constexpr Index kBlock = 32;

/// The part of A that holds the m x n block (i, j) of op(A).
template <class T>
HostView<const T> op_block(Op op, const HostView<const T>& a, Index i, Index j, Index m, Index n) {
  return op == Op::none ? a.block(i, j, m, n) : a.block(j, i, n, m);
}

/// C := beta C; beta = 0 does not read C.
template <class T>
void scale(T beta, HostView<T> c) {
  if (beta == T(1)) return;
  for (Index j = 0; j < c.cols; ++j) {
    for (Index i = 0; i < c.rows; ++i) {
      c(i, j) = beta == T(0) ? T(0) : multiply(beta, c(i, j));
    }
  }
}

/// The loops of add_columns(). They are compiled once for each instruction set.
template <class R>
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
inline void
add_columns_inline(Index count, Index depth, const R* a, const R* b, R* __restrict c) {
  Index l = 0;
  for (; l + 4 <= depth; l += 4) {
    const R *const a0 = a + l * count, *const a1 = a0 + count, *const a2 = a1 + count,
                   *const a3 = a2 + count;
    const R b0 = b[l], b1 = b[l + 1], b2 = b[l + 2], b3 = b[l + 3];
    for (Index i = 0; i < count; ++i) {
      c[i] += (a0[i] * b0 + a1[i] * b1) + (a2[i] * b2 + a3[i] * b3);
    }
  }
  for (; l < depth; ++l) {
    for (Index i = 0; i < count; ++i) c[i] += a[l * count + i] * b[l];
  }
}

#if defined(__GNUC__) && defined(__x86_64__)
// AVX2 without fused multiply-adds: the same bits, in two thirds of the time.
template <class R>
__attribute__((target("avx2"))) void add_columns_avx2(Index count, Index depth, const R* a,
                                                      const R* b, R* __restrict c) {
  add_columns_inline(count, depth, a, b, c);
}
#endif

/// c += A b for a contiguous real A (count x depth): the one hot loop. Four columns at a time, so
/// that c is loaded and stored once for four multiply-adds.
template <class R>
void add_columns(Index count, Index depth, const R* a, const R* b, R* __restrict c) {
#if defined(__GNUC__) && defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return add_columns_avx2(count, depth, a, b, c);
#endif
  add_columns_inline(count, depth, a, b, c);
}

/// trsm with alpha = 1 and an A so small that blocking does not pay.
template <class T>
void trsm_block(Side side, bool lower, Op op, Diag diag, HostView<const T> a, HostView<T> b) {
  const Index n = a.rows;
  if (side == Side::left) {
    for (Index j = 0; j < b.cols; ++j) {
      for (Index s = 0; s < n; ++s) {
        const Index k = lower ? s : n - 1 - s;
        if (diag == Diag::non_unit) b(k, j) /= element(op, a, k, k);
        const T x = b(k, j);
        for (Index i = lower ? k + 1 : 0; i < (lower ? n : k); ++i) {
          b(i, j) -= multiply(element(op, a, i, k), x);
        }
      }
    }
  } else {
    for (Index s = 0; s < n; ++s) {
      const Index k = lower ? n - 1 - s : s;
      if (diag == Diag::non_unit) {
        const T d = element(op, a, k, k);
        for (Index i = 0; i < b.rows; ++i) b(i, k) /= d;
      }
      for (Index j = lower ? 0 : k + 1; j < (lower ? k : n); ++j) {
        subtract_scaled(b.rows, element(op, a, k, j), &b(0, k), &b(0, j));
      }
    }
  }
}

/// Unblocked right-looking Cholesky (LAPACK ?potf2).
template <class T>
Index potrf_block(Uplo uplo, HostView<T> a) {
  const Index n = a.rows;
  for (Index k = 0; k < n; ++k) {
    const Real<T> pivot = real(a(k, k));
    a(k, k) = T(pivot);
    if (!(pivot > 0)) return k + 1;  // also when the pivot is NaN
    const Real<T> d = std::sqrt(pivot);
    a(k, k) = T(d);
    if (uplo == Uplo::lower) {
      for (Index i = k + 1; i < n; ++i) a(i, k) /= d;
      for (Index j = k + 1; j < n; ++j) {
        subtract_scaled(n - j, conj(a(j, k)), &a(j, k), &a(j, j));
      }
    } else {
      for (Index j = k + 1; j < n; ++j) a(k, j) /= d;
      for (Index j = k + 1; j < n; ++j) {
        for (Index i = k + 1; i <= j; ++i) a(i, j) -= multiply(conj(a(k, i)), a(k, j));
      }
    }
  }
  return 0;
}

}  // namespace

// Complex matrices go through the same real loop: a b = a Re(b) + (i a) Im(b), so a complex column
// a is packed as the two real columns a and i a, and c is updated as an array of real numbers.
template <class T>
void gemm(Op op_a, Op op_b, T alpha, HostView<const T> a, HostView<const T> b, T beta,
          HostView<T> c) {
  constexpr Index height = 256, depth = 64;  // a packed block stays in the second-level cache
  constexpr Index reals = is_complex<T> ? 2 : 1;
  const Index k = op_a == Op::none ? a.cols : a.rows;
  scale(beta, c);
  if (alpha == T(0) || c.empty()) return;

  std::vector<Real<T>> packed_a(
      static_cast<std::size_t>(reals * reals * std::min(height, c.rows) * std::min(depth, k)));
  Real<T> packed_b[reals * depth];
  for (Index l0 = 0; l0 < k; l0 += depth) {
    const Index lb = std::min(depth, k - l0);
    for (Index i0 = 0; i0 < c.rows; i0 += height) {
      const Index ib = std::min(height, c.rows - i0);
      auto* to = packed_a.data();
      for (Index l = 0; l < lb; ++l) {
        for (Index i = 0; i < ib; ++i) {
          const T x = element(op_a, a, i0 + i, l0 + l);
          if constexpr (is_complex<T>) {
            to[2 * i] = x.real();
            to[2 * i + 1] = x.imag();
            to[2 * ib + 2 * i] = -x.imag();
            to[2 * ib + 2 * i + 1] = x.real();
          } else {
            to[i] = x;
          }
        }
        to += reals * reals * ib;
      }
      for (Index j = 0; j < c.cols; ++j) {
        for (Index l = 0; l < lb; ++l) {
          const T x = multiply(alpha, element(op_b, b, l0 + l, j));
          packed_b[reals * l] = real(x);
          if constexpr (is_complex<T>) packed_b[2 * l + 1] = x.imag();
        }
        // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
        add_columns(reals * ib, reals * lb, packed_a.data(), packed_b,
                    reinterpret_cast<Real<T>*>(&c(i0, j)));
      }
    }
  }
}

template <class T>
void herk(Uplo uplo, Op op, Real<T> alpha, HostView<const T> a, Real<T> beta, HostView<T> c) {
  const Index n = c.rows, k = op == Op::none ? a.cols : a.rows;
  const bool lower = uplo == Uplo::lower;
  const Op op_h = op == Op::none ? Op::conj_trans : Op::none;
  T square[kBlock * kBlock];
  for (Index j0 = 0; j0 < n; j0 += kBlock) {
    const Index nb = std::min(kBlock, n - j0), next = j0 + nb;
    const auto aj = op_block(op, a, j0, 0, nb, k);
    // The block column below (above) the diagonal block: C(i, j) := alpha A(i) A(j)^H + beta C(i,
    // j).
    const Index i0 = lower ? next : 0, ib = lower ? n - next : j0;
    gemm<T>(op, op_h, T(alpha), op_block(op, a, i0, 0, ib, k), aj, T(beta),
            c.block(i0, j0, ib, nb));
    // One triangle of the diagonal block, by way of the whole product.
    const HostView<T> product(square, nb, nb, nb);
    gemm<T>(op, op_h, T(alpha), aj, aj, T(0), product);
    for (Index j = 0; j < nb; ++j) {
      for (Index i = lower ? j : 0; i < (lower ? nb : j + 1); ++i) {
        T& cij = c(j0 + i, j0 + j);
        cij = beta == Real<T>(0) ? product(i, j) : beta * cij + product(i, j);
      }
      c(j0 + j, j0 + j) = T(real(c(j0 + j, j0 + j)));
    }
  }
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, HostView<const T> a, HostView<T> b) {
  scale(alpha, b);
  if (alpha == T(0) || b.empty()) return;
  const Index n = a.rows, nb = kBlock, blocks = quotient_up(n, nb);
  const bool lower = (uplo == Uplo::lower) == (op == Op::none);  // shape of op(A)
  const bool down = lower == (side == Side::left);               // order of the unknowns
  for (Index s = 0; s < blocks; ++s) {
    // Block k of the unknowns is solved for and removed from those that follow, [r0, r0 + rb).
    const Index k0 = nb * (down ? s : blocks - 1 - s), kb = std::min(nb, n - k0);
    const Index r0 = down ? k0 + kb : 0, rb = down ? n - r0 : k0;
    const auto akk = a.block(k0, k0, kb, kb);
    if (side == Side::left) {
      const auto bk = b.block(k0, 0, kb, b.cols);
      trsm_block<T>(side, lower, op, diag, akk, bk);
      gemm<T>(op, Op::none, T(-1), op_block(op, a, r0, k0, rb, kb), bk, T(1),
              b.block(r0, 0, rb, b.cols));
    } else {
      const auto bk = b.block(0, k0, b.rows, kb);
      trsm_block<T>(side, lower, op, diag, akk, bk);
      gemm<T>(Op::none, op, T(-1), bk, op_block(op, a, k0, r0, kb, rb), T(1),
              b.block(0, r0, b.rows, rb));
    }
  }
}

template <class T>
Index potrf(Uplo uplo, HostView<T> a) {
  const Index n = a.rows;
  for (Index k0 = 0; k0 < n; k0 += kBlock) {
    const Index kb = std::min(kBlock, n - k0), next = k0 + kb, rest = n - next;
    const Index info = potrf_block(uplo, a.block(k0, k0, kb, kb));
    const Index good = info == 0 ? kb : info - 1;  // columns of this block that have a factor
    const HostView<const T> a11 = a.block(k0, k0, good, good);
    const auto a22 = a.block(next, next, rest, rest);
    if (uplo == Uplo::lower) {
      const auto a21 = a.block(next, k0, rest, good);
      trsm<T>(Side::right, uplo, Op::conj_trans, Diag::non_unit, T(1), a11, a21);
      if (info == 0) herk<T>(uplo, Op::none, -1, a21, 1, a22);
    } else {
      const auto a12 = a.block(k0, next, good, rest);
      trsm<T>(Side::left, uplo, Op::conj_trans, Diag::non_unit, T(1), a11, a12);
      if (info == 0) herk<T>(uplo, Op::conj_trans, -1, a12, 1, a22);
    }
    if (info != 0) return k0 + info;
  }
  return 0;
}

template <class T>
Real<T> invert_factor(Uplo uplo, HostView<const T> factor, HostView<T> inverse) {
  const Index n = factor.rows;
  std::vector<T> memory(static_cast<std::size_t>(n * n));
  const HostView<T> l(memory.data(), n, n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      const T stored = uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
      l(i, j) = i == j ? T(real(stored)) : stored;
    }
    for (Index i = 0; i < n; ++i) inverse(i, j) = T(i == j);
  }
  trsm<T>(Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), l, inverse);
  std::vector<Real<T>> row_sums(static_cast<std::size_t>(n));  // |L| e
  Real<T> condition(0);
  for (Index i = 0; i < n; ++i) {
    Real<T> sum(0);
    for (Index j = 0; j <= i; ++j) sum += std::abs(l(i, j));
    row_sums[static_cast<std::size_t>(i)] = sum;
    Real<T> growth(0);  // row i of |L^-1| |L| e
    for (Index j = 0; j <= i; ++j) {
      growth += std::abs(inverse(i, j)) * row_sums[static_cast<std::size_t>(j)];
    }
    if (std::isnan(growth)) return growth;
    condition = std::max(condition, growth);
  }
  return condition;
}

template <class T>
void laswp(HostView<T> a, Index first, Index last, const Index* pivots, bool forward) {
  for (Index c = 0; c < a.cols; ++c) {
    for (Index s = first; s < last; ++s) {
      const Index j = forward ? s : last - 1 - (s - first);
      const Index p = pivots[j] - 1;
      if (p != j) std::swap(a(j, c), a(p, c));
    }
  }
}

template <class T>
Index detail::getrf_block(HostView<T> a, Index* pivots) {
  Index info = 0;
  for (Index k = 0; k < std::min(a.rows, a.cols); ++k) {
    // As i?amax: the first of the largest; a NaN stays only where the search starts.
    Index p = k;
    for (Index i = k + 1; i < a.rows; ++i) {
      if (abs1(a(i, k)) > abs1(a(p, k))) p = i;
    }
    pivots[k] = p + 1;
    if (a(p, k) == T(0)) {
      if (info == 0) info = k + 1;
    } else {
      if (p != k) {
        for (Index j = 0; j < a.cols; ++j) std::swap(a(k, j), a(p, j));
      }
      // Divided, not multiplied by the reciprocal, which overflows for a subnormal pivot.
      const T pivot = a(k, k);
      for (Index i = k + 1; i < a.rows; ++i) a(i, k) /= pivot;
    }
    const Index below = a.rows - k - 1;
    if (below == 0) continue;
    for (Index j = k + 1; j < a.cols; ++j) {
      subtract_scaled(below, a(k, j), &a(k + 1, k), &a(k + 1, j));
    }
  }
  return info;
}

template <class T>
Index getrf(HostView<T> a, Index* pivots) {
  const Index m = a.rows, n = a.cols, steps = std::min(m, n);
  Index info = 0;
  for (Index k0 = 0; k0 < steps; k0 += kBlock) {
    const Index kb = std::min(kBlock, steps - k0), next = k0 + kb;
    const Index panel_info = detail::getrf_block(a.block(k0, k0, m - k0, kb), pivots + k0);
    if (info == 0 && panel_info != 0) info = k0 + panel_info;
    for (Index k = k0; k < next; ++k) pivots[k] += k0;
    laswp(a.block(0, 0, m, k0), k0, next, pivots);
    laswp(a.block(0, next, m, n - next), k0, next, pivots);
    const auto a12 = a.block(k0, next, kb, n - next);
    trsm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), a.block(k0, k0, kb, kb), a12);
    gemm<T>(Op::none, Op::none, T(-1), a.block(next, k0, m - next, kb), a12, T(1),
            a.block(next, next, m - next, n - next));
  }
  return info;
}

template <class T>
Real<T> norm(Norm norm, Symmetry symmetry, Uplo uplo, HostView<const T> a, Real<T>* sums) {
  const bool triangle = symmetry != Symmetry::none;
  const Part part = triangle ? part_of(uplo) : Part::all;
  const bool of_sums = norm == Norm::infinity || (triangle && norm == Norm::one);
  if (of_sums) std::fill_n(sums, a.rows, Real<T>(0));
  Real<T> result(0);
  long double squares = 0;
  for (Index j = 0; j < a.cols; ++j) {
    const Range rows = rows_of_column(part, 0, a.rows, j);
    Real<T> column(0);
    for (Index i = rows.first; i < rows.last; ++i) {
      const bool twice = triangle && i != j;
      const T x = symmetry == Symmetry::hermitian && i == j ? T(real(a(i, j))) : a(i, j);
      if (norm == Norm::frobenius) {
        const long double re = std::real(x), im = std::imag(x), square = re * re + im * im;
        squares += twice ? 2 * square : square;
        continue;
      }
      const Real<T> modulus = std::abs(x);
      if (norm == Norm::max) result = max_or_nan(result, modulus);
      column += modulus;
      if (of_sums) sums[i] += modulus;
      if (of_sums && twice) sums[j] += modulus;
    }
    if (norm == Norm::one && !triangle) result = max_or_nan(result, column);
  }
  if (norm == Norm::frobenius) return static_cast<Real<T>>(std::sqrt(squares));
  for (Index i = 0; of_sums && i < a.rows; ++i) result = max_or_nan(result, sums[i]);
  return result;
}

#define OVERLAPACK_INSTANTIATE(T)                                                         \
  template void gemm<T>(Op, Op, T, HostView<const T>, HostView<const T>, T, HostView<T>); \
  template void herk<T>(Uplo, Op, Real<T>, HostView<const T>, Real<T>, HostView<T>);      \
  template void trsm<T>(Side, Uplo, Op, Diag, T, HostView<const T>, HostView<T>);         \
  template Index potrf<T>(Uplo, HostView<T>);                                             \
  template Real<T> invert_factor<T>(Uplo, HostView<const T>, HostView<T>);                \
  template void laswp<T>(HostView<T>, Index, Index, const Index*, bool);                  \
  template Index detail::getrf_block<T>(HostView<T>, Index*);                             \
  template Index getrf<T>(HostView<T>, Index*);                                           \
  template Real<T> norm<T>(Norm, Symmetry, Uplo, HostView<const T>, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::reference
