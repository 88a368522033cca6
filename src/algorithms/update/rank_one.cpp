#include "algorithms/update/rank_one.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "algorithms/update/on_cpu.hpp"
#include "cpu/reference.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

// Updates by Givens rotations, from the first row to the last. Downdates as in LINPACK (Stewart,
// The effects of rounding error on an algorithm for downdating a Cholesky factorization, J. Inst.
// Math. Applics 23, 1979): with R^H s = u and alpha^2 = 1 - |s|^2, the rotations from the last row
// to the first that take [s; alpha] to [0; 1] take [R; 0] to [R'; u^H]. The rotations are known
// before R is touched; they are unitary, so the method is stable and cannot fail half-way.
//
// Along a column of R each element depends on the one before, which costs the latency of two
// operations. Therefore several columns go side by side.
//
// Reflectors in the plane of one column and one vector are these rotations (on_cpu.cpp), so
// where there is memory for what its sweeps need, they do it.

namespace overlapack::algorithms {
namespace {

using reference::detail::dot;
using reference::detail::multiply;

/// Columns that go side by side.
template <class T>
constexpr Index kColumnsAbreast = is_complex<T> ? 4 : 8;
/// Columns that are brought up to date before their own rotations are determined.
constexpr Index kPanel = 128;
/// Threads for that many rows or columns: fewer take less time than another thread to wake up.
Index useful_threads(Index size, Index threads) {
  return size < kHostTuning.rotations_by_threads_from_order ? 1 : threads;
}

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
  T x[kColumnsAbreast<T>] = {};
  for (Index q = 0; q < m; ++q) {
    rotate_columns_back<1>(r.block(j, j + q, q + 1, 1), c + j, s + j, x + q);
  }
  const HostView<T> above = r.block(0, j, j, m);
  if (m == kColumnsAbreast<T>) return rotate_columns_back<kColumnsAbreast<T>>(above, c, s, x);
  for (Index q = 0; q < m; ++q) {
    rotate_columns_back<1>(above.block(0, q, j, 1), c, s, x + q);
  }
}

template <class T>
void update_upper(HostView<T> r, T* x, Real<T>* c, Index threads) {
  for (Index first = 0; first < r.cols; first += kPanel) {
    const Index last = std::min(first + kPanel, r.cols);
    share_out(useful_threads(first, threads), quotient_up(last - first, kColumnsAbreast<T>),
              [&](Index group) {
                const Index j = first + group * kColumnsAbreast<T>;
                rotate(r.block(0, j, first, std::min(kColumnsAbreast<T>, last - j)), c, x, x + j);
              });
    for (Index group = first; group < last; group += kColumnsAbreast<T>) {
      const Index end = std::min(group + kColumnsAbreast<T>, last);
      rotate(r.block(first, group, group - first, end - group), c + first, x + first, x + group);
      for (Index j = group; j < end; ++j) {
        rotate_columns<1>(r.block(group, j, j - group, 1), c + group, x + group, x + j);
        make_rotation(r(j, j), x[j], c[j], x[j]);
      }
    }
  }
}

/// x := R^-H x^H
template <class T>
void solve(HostView<T> r, T* x) {
  for (Index j = 0; j < r.cols; ++j) {
    x[j] = (conj(x[j]) - dot<T>(j, r.data + j * r.ld, x)) / conj(r(j, j));
  }
}

/// Whether sweeps (on_cpu.hpp) are the faster way, and possible: for a real diagonal.
template <class T>
bool sweeps_pay(HostView<const T> r) {
  if (r.cols < kHostTuning.rotations_by_sweeps_from_order) return false;
  if constexpr (is_complex<T>) {
    for (Index j = 0; j < r.cols; ++j) {
      if (r(j, j).imag() != 0) return false;
    }
  }
  return true;
}

}  // namespace

template <class T>
void rotate(HostView<T> z, const Real<T>* c, const T* s, T* y) {
  Index j = 0;
  for (; j + kColumnsAbreast<T> <= z.cols; j += kColumnsAbreast<T>) {
    rotate_columns<kColumnsAbreast<T>>(z.block(0, j, z.rows, kColumnsAbreast<T>), c, s, y + j);
  }
  for (; j < z.cols; ++j) rotate_columns<1>(z.block(0, j, z.rows, 1), c, s, y + j);
}

template <class T>
void update_one(HostView<T> r, T* x, Real<T>* c, Index threads) {
  if (sweeps_pay<T>(r)) {
    try {
      return update_one_in_sweeps(r, x, c, threads);
    } catch (const std::bad_alloc&) {  // rotations need no memory
    }
  }
  update_upper(r, x, c, threads);
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
Downdate downdate_one(HostView<T> r, T* x, Real<T>* c, Index threads) {
  const Index n = r.cols;
  for (Index j = 0; j < n; ++j) {
    if (r(j, j) == T(0)) return Downdate::singular;
  }
  if (sweeps_pay<T>(r)) {
    try {
      return downdate_one_in_sweeps(r, x, c, threads) ? Downdate::done : Downdate::not_definite;
    } catch (const std::bad_alloc&) {  // rotations need no memory
    }
  }
  solve(r, x);
  if (!downdate_rotations(n, x, c)) return Downdate::not_definite;
  share_out(useful_threads(n, threads), quotient_up(n, kColumnsAbreast<T>), [&](Index group) {
    const Index j = group * kColumnsAbreast<T>;
    downdate_columns(r, j, std::min(kColumnsAbreast<T>, n - j), c, x);
  });
  return Downdate::done;
}

#define OVERLAPACK_INSTANTIATE(T)                                     \
  template void update_one<T>(HostView<T>, T*, Real<T>*, Index);      \
  template void rotate<T>(HostView<T>, const Real<T>*, const T*, T*); \
  template bool downdate_rotations<T>(Index, T*, Real<T>*);           \
  template Downdate downdate_one<T>(HostView<T>, T*, Real<T>*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
