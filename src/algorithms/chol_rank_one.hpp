// Updating and downdating a Cholesky factor by one vector, with the rotations as a result: the core
// of LINPACK's and qrupdate's routines. Needs no workspace.
#pragma once

#include "core/view.hpp"

namespace overlapack::algorithms {

// The text speaks of an upper factor R, A = R^H R. A lower factor L, A = L L^H, is meant as R =
// L^T, for which R^H R = conj(A): it is updated by the same rotations, from the row x = v^T for A +
// v v^H.

/// R := R' with R'^H R' = R^H R + x^H x for the row vector x of R.cols elements. The rotations
///
///   [ c_i        s_i ]
///   [ -conj(s_i) c_i ]
///
/// with c_i >= 0 take row i of R and what is left of x to row i of R' and a rest without its
/// element i. x becomes s. `threads` is the number of threads that may take part.
template <class T>
void update_one(Uplo uplo, HostView<T> r, T* x, Real<T>* c, Index threads);

/// Applies the rotations that update_one() found to the rows of `z` and the row y, which has an
/// element for each of its columns.
template <class T>
void rotate(HostView<T> z, const Real<T>* c, const T* s, T* y);

enum class Downdate { done, not_definite, singular };

/// R := R' with R'^H R' = R^H R - x^H x. x becomes s; the rotations
///
///   [ c_i  -conj(s_i) ]
///   [ s_i   c_i       ]
///
/// for i = n - 1, ..., 0 take row i of R and a row that starts as zero to row i of R' and, in the
/// end, x. R is unchanged unless the result is `done`; x is not if it is `not_definite`.
template <class T>
Downdate downdate_one(Uplo uplo, HostView<T> r, T* x, Real<T>* c, Index threads);

/// The rotations of a downdate from x = R^-H x^H, which becomes s; or false, if there are none.
template <class T>
bool downdate_rotations(Index n, T* x, Real<T>* c);

}  // namespace overlapack::algorithms
