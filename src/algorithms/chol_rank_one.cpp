#include "algorithms/chol_rank_one.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/workers.hpp"
#include "cpu/reference.hpp"

// Updates by Givens rotations, from the first row to the last. Downdates as in LINPACK (Stewart,
// The effects of rounding error on an algorithm for downdating a Cholesky factorization, J. Inst.
// Math. Applics 23, 1979): with R^H s = u and alpha^2 = 1 - |s|^2, the rotations from the last row
// to the first that take [s; alpha] to [0; 1] take [R; 0] to [R'; u^H]. The rotations are known
// before R is touched; they are unitary, so the method is stable and cannot fail half-way.
//
// Along a column of R each element depends on the one before, which costs the latency of two
// operations. Therefore several columns go side by side. In a lower factor they are rows, and what
// goes side by side lies side by side.

namespace overlapack::algorithms {
namespace {

using reference::detail::dot;
using reference::detail::multiply;

/// Columns that go side by side.
template <class T>
constexpr Index kTogether = is_complex<T> ? 4 : 8;
/// Columns that are brought up to date before their own rotations are determined.
constexpr Index kPanel = 128;
/// A lower factor: columns whose rotations are determined before they are applied to the rows
/// below, and the number of rows that go side by side, a page of doubles.
constexpr Index kLowerPanel = 64, kTile = 512;
/// Smaller matrices take less time than another thread to wake up.
constexpr Index kParallel = 512;

/// The rotation that takes (f, g) to (r, 0), with c >= 0: LAPACK's ?lartg. f becomes r.
template <class T>
void make_rotation(T& f, T g, Real<T>& c, T& s) {
  const Real<T> f_size = std::abs(f), g_size = std::abs(g);
  if (g_size == 0) {
    c = 1;
    s = T(0);
  } else if (f_size == 0) {
    c = 0;
    s = conj(g) / g_size;
    f = T(g_size);
  } else {
    const Real<T> size = std::hypot(f_size, g_size);
    const T direction = f / f_size;
    c = f_size / size;
    s = multiply(direction, conj(g) / size);
    f = direction * size;
  }
}

/// [r; x] := [c s; -conj(s) c] [r; x]
template <class T>
void rotate_element(Real<T> c, T s, T& r, T& x) {
  const T next = c * r + multiply(s, x);
  x = c * x - multiply(conj(s), r);
  r = next;
}

/// Applies rotations 0, 1, ... to kColumns columns of rows.rows rows.
template <Index kColumns, class T>
void rotate_columns(HostView<T> rows, const Real<T>* c, const T* s, T* x) {
  T y[kColumns];
  std::copy_n(x, kColumns, y);
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index q = 0; q < kColumns; ++q) rotate_element(c[i], s[i], rows(i, q), y[q]);
  }
  std::copy_n(y, kColumns, x);
}

/// The same for the rotations of a downdate, from the last row to the first.
template <Index kColumns, class T>
void rotate_columns_back(HostView<T> rows, const Real<T>* c, const T* s, T* x) {
  T y[kColumns];
  std::copy_n(x, kColumns, y);
  for (Index i = rows.rows - 1; i >= 0; --i) {
    // The rotation of an update with the roles of both rows exchanged.
    for (Index q = 0; q < kColumns; ++q) rotate_element(c[i], s[i], y[q], rows(i, q));
  }
  std::copy_n(y, kColumns, x);
}

/// Columns j, ..., j + m - 1 of a downdate; they are independent of all others.
template <class T>
void downdate_columns(HostView<T> r, Index j, Index m, const Real<T>* c, const T* s) {
  T x[kTogether<T>] = {};
  for (Index q = 0; q < m; ++q) {
    rotate_columns_back<1>(r.block(j, j + q, q + 1, 1), c + j, s + j, x + q);
  }
  const HostView<T> above = r.block(0, j, j, m);
  if (m == kTogether<T>) return rotate_columns_back<kTogether<T>>(above, c, s, x);
  for (Index q = 0; q < m; ++q) {
    rotate_columns_back<1>(above.block(0, q, j, 1), c, s, x + q);
  }
}

Index groups_of(Index together, Index columns) { return (columns + together - 1) / together; }

template <class T>
void update_upper(HostView<T> r, T* x, Real<T>* c, Index threads) {
  for (Index first = 0; first < r.cols; first += kPanel) {
    const Index last = std::min(first + kPanel, r.cols);
    share_out(first < kParallel ? 1 : threads, groups_of(kTogether<T>, last - first),
              [&](Index group) {
                const Index j = first + group * kTogether<T>;
                rotate(r.block(0, j, first, std::min(kTogether<T>, last - j)), c, x, x + j);
              });
    for (Index group = first; group < last; group += kTogether<T>) {
      const Index end = std::min(group + kTogether<T>, last);
      rotate(r.block(first, group, group - first, end - group), c + first, x + first, x + group);
      for (Index j = group; j < end; ++j) {
        rotate_columns<1>(r.block(group, j, j - group, 1), c + group, x + group, x + j);
        make_rotation(r(j, j), x[j], c[j], x[j]);
      }
    }
  }
}

/// [l x] := [l x] [c -conj(s); s c] for two columns.
template <class T>
void rotate_two(Index rows, Real<T> c, T s, T* __restrict l, T* __restrict x) {
  for (Index i = 0; i < rows; ++i) rotate_element(c, s, l[i], x[i]);
}

template <class T>
void update_lower(HostView<T> l, T* x, Real<T>* c, Index threads) {
  const Index n = l.rows;
  for (Index first = 0; first < n; first += kLowerPanel) {
    const Index last = std::min(first + kLowerPanel, n);
    for (Index j = first; j < last; ++j) {
      make_rotation(l(j, j), x[j], c[j], x[j]);
      rotate_two(last - j - 1, c[j], x[j], &l(j, j) + 1, x + j + 1);
    }
    share_out(n - last < kParallel ? 1 : threads, groups_of(kTile, n - last), [&](Index tile) {
      const Index i = last + tile * kTile, rows = std::min(kTile, n - i);
      for (Index j = first; j < last; ++j) rotate_two(rows, c[j], x[j], &l(i, j), x + i);
    });
  }
}

/// Applies the rotations of a downdate to rows first, ..., first + rows - 1 of a lower factor; they
/// are independent of all others.
template <class T>
void downdate_rows(HostView<T> l, Index first, Index rows, const Real<T>* c, const T* s) {
  T x[kTile] = {};
  for (Index j = first + rows - 1; j >= 0; --j) {
    const Index i = std::max(first, j);
    rotate_two(first + rows - i, c[j], s[j], x + i - first, &l(i, j));
  }
}

/// x := R^-H x^H
template <class T>
void solve(Uplo uplo, HostView<T> r, T* x) {
  const Index n = r.cols;
  if (uplo == Uplo::upper) {
    for (Index j = 0; j < n; ++j) {
      x[j] = (conj(x[j]) - dot<T>(j, r.data + j * r.ld, x)) / conj(r(j, j));
    }
  } else {
    for (Index j = 0; j < n; ++j) {
      x[j] /= r(j, j);
      reference::detail::subtract_scaled(n - j - 1, x[j], &r(j, j) + 1, x + j + 1);
    }
    std::transform(x, x + n, x, [](T element) { return conj(element); });
  }
}

}  // namespace

template <class T>
void rotate(HostView<T> z, const Real<T>* c, const T* s, T* y) {
  Index j = 0;
  for (; j + kTogether<T> <= z.cols; j += kTogether<T>) {
    rotate_columns<kTogether<T>>(z.block(0, j, z.rows, kTogether<T>), c, s, y + j);
  }
  for (; j < z.cols; ++j) rotate_columns<1>(z.block(0, j, z.rows, 1), c, s, y + j);
}

template <class T>
void update_one(Uplo uplo, HostView<T> r, T* x, Real<T>* c, Index threads) {
  return uplo == Uplo::upper ? update_upper(r, x, c, threads) : update_lower(r, x, c, threads);
}

template <class T>
bool downdate_rotations(Index n, T* x, Real<T>* c) {
  const Real<T> rest = 1 - real(dot<T>(n, x, x));
  if (!(rest > 0)) return false;  // also if it is NaN
  T alpha(std::sqrt(rest));
  for (Index j = n - 1; j >= 0; --j) make_rotation(alpha, x[j], c[j], x[j]);
  return true;
}

template <class T>
Downdate downdate_one(Uplo uplo, HostView<T> r, T* x, Real<T>* c, Index threads) {
  const Index n = r.cols;
  for (Index j = 0; j < n; ++j) {
    if (r(j, j) == T(0)) return Downdate::singular;
  }
  solve(uplo, r, x);
  if (!downdate_rotations(n, x, c)) return Downdate::not_definite;
  const Index together = uplo == Uplo::upper ? kTogether<T> : kTile;
  share_out(n < kParallel ? 1 : threads, groups_of(together, n), [&](Index group) {
    const Index j = group * together, count = std::min(together, n - j);
    if (uplo == Uplo::upper) {
      downdate_columns(r, j, count, c, x);
    } else {
      downdate_rows(r, j, count, c, x);
    }
  });
  return Downdate::done;
}

#define OVERLAPACK_INSTANTIATE(T)                                      \
  template void update_one<T>(Uplo, HostView<T>, T*, Real<T>*, Index); \
  template void rotate<T>(HostView<T>, const Real<T>*, const T*, T*);  \
  template bool downdate_rotations<T>(Index, T*, Real<T>*);            \
  template Downdate downdate_one<T>(Uplo, HostView<T>, T*, Real<T>*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
