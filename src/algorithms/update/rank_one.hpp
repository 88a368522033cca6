// Updating and downdating a Cholesky factor by one vector, with the rotations as a result: the core
// of LINPACK's and qrupdate's routines. Does without a workspace if there is no memory for one.
#pragma once

#include "core/view.hpp"

namespace overlapack::algorithms {

/// The rotations of an update or downdate by one vector, n of each.
template <class T>
struct Rotations {
  Real<T>* c = nullptr;
  T* s = nullptr;
};

/// R := R' with R'^H R' = R^H R + x^H x for an upper factor R and a row vector x. The rotations
///
///   [ c_i        s_i ]
///   [ -conj(s_i) c_i ]
///
/// with c_i >= 0 take row i of R and what is left of x to row i of R' and a rest without its
/// element i. x becomes s. `threads` is the number of threads that may take part.
template <class T>
void update_one(HostView<T> r, T* x, Real<T>* c, Index threads);

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
Downdate downdate_one(HostView<T> r, T* x, Real<T>* c, Index threads);

/// The rotations of a downdate from x = R^-H x^H, which becomes s; or false, if there are none.
template <class T>
bool downdate_rotations(Index n, T* x, Real<T>* c);

}  // namespace overlapack::algorithms
