// Updating and downdating a Cholesky factor by any number of vectors at once, on the CPU.
#pragma once

#include "core/view.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// The signs of the vectors: one for all, or one for each.
class Signs {
 public:
  Signs(const int* signs, bool one_for_each) : signs_(signs), one_for_each_(one_for_each) {}
  int operator[](Index j) const { return signs_[one_for_each_ ? j : 0]; }

 private:
  const int* signs_;
  bool one_for_each_;
};

/// What an update that looks for it returns if the factor has an infinite or NaN element: LAPACK's
/// info for the fourth argument, which the factor is in the library's own routines.
inline constexpr Index kFactorNotFinite = -4;

/// Replaces the factor L of A = L L^H (upper: U of A = U^H U) in triangle `uplo` of `a` (n x n) by
/// that of A + sum_j signs[j] v_j v_j^H, where v_j is column j of V (n x k). Signs are +1 or -1, V
/// is finite. V must not overlap A. Imaginary parts of the diagonal count as zero.
///
/// Returns 0; or j > 0 if the leading minor of order j of the result is not positive definite, or
/// kFactorNotFinite, and then A is as it was. Throws std::bad_alloc before anything is written; the
/// workspace is of up to three times the size of V, and no more than for 32 columns unless there
/// are downdates; if the signs differ and the factor is singular, of a copy of the factor besides.
/// `threads` is the number of threads that may take part; how many do changes no bit of the result.
template <class T>
Index chol_update(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<const T> v,
                  Signs signs, Index threads);

/// What is left to be done of an update where `a` is the rest of the factor and V, of as many rows,
/// has been through the columns before it: `updates` columns that are added, the others
/// subtracted. The result must exist.
template <class T>
void finish_chol_update(Uplo uplo, HostView<T> a, HostView<const T> v, Index updates,
                        Index threads);

/// update_one() and downdate_one() of rank_one.hpp, of a factor with a real diagonal, without
/// zeros on it for a downdate, whose result is whether it has been done. Throw std::bad_alloc
/// before anything is changed; the workspace is of ten times the size of x.
template <class T>
void update_one_in_sweeps(HostView<T> r, T* x, Real<T>* c, Index threads);
template <class T>
bool downdate_one_in_sweeps(HostView<T> r, T* x, Real<T>* c, Index threads);

}  // namespace overlapack::algorithms
