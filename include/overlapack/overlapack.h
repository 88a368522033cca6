/* What liboverlapack provides: the LAPACK routines of overlapack/lapack.h, and updates of a
 * Cholesky factor. For C99 and C++.
 */
#ifndef OVERLAPACK_OVERLAPACK_H
#define OVERLAPACK_OVERLAPACK_H

#include "overlapack/lapack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Updates by any number of vectors, for the type T with the letter `x`: ovl_scholupdate (float),
 * ovl_dcholupdate, ovl_ccholupdate and ovl_zcholupdate (double complex).
 *
 * cholupdate        Given the Cholesky factor of A, computes in its place that of A + sigma V V^H.
 * cholupdate_mixed  The same for A + sum_j sigma[j] v_j v_j^H, where v_j is column j of V.
 *
 *   uplo   'L': A = L L^H, 'U': A = U^H U; the triangle of `a` that the factor is in. The other
 *          one is neither read nor written. Imaginary parts on the diagonal count as zero.
 *   n      the order of A
 *   k      the number of vectors; any number, also more than n
 *   a      n x n, lda >= max(1, n): the factor as ?potrf left it, with a real diagonal
 *   v      n x k, ldv >= max(1, n); not changed. It must not overlap `a`. Both may lie in the
 *          memory of the GPU in use.
 *   sigma  +1 (update) or -1 (downdate); for _mixed, k of them
 *   info   0: success. (Where squares of elements overflow, so may the factor: to infinities.)
 *          j > 0: the result is not positive definite, its leading minor of order j is not. The
 *            factor is exactly as it was. So it is with every downdate of a singular factor.
 *          -j: argument j, counted from 1, is invalid: a letter, size, sign or leading dimension is
 *            out of its range, a pointer is null, or an element of the factor or of V is a NaN or
 *            infinite. Nothing has been written. xerbla is not called.
 *          -1010: there is not enough memory, and nothing has been written; or the factor lies in
 *            the memory of a GPU that has failed, and is now undefined. The call takes memory for
 *            at most n (3 k + 64) elements, and for a downdate min(n, k)^2 or, if mixed, three
 *            times that more. For a singular factor and both signs the CPU takes n (n + 64) more,
 *            because it tries them on a copy of the factor; if a GPU fails during the call, 2 n k
 *            more. A GPU also takes page-locked memory, as a rule at most 256 MB.
 *          If `info` itself is null the call does nothing.
 *
 * With n = 0 or k = 0 there is nothing to do, and as in LAPACK nothing is looked at: `a` and `v`
 * may be null. The factor stays as it is, with NaNs and imaginary parts on its diagonal, if it has
 * any. `info` is 0, unless a letter, size, leading dimension or sign is invalid.
 *
 * A downdate is as accurate as one can be: the result is the exact factor of a matrix that differs
 * from A - V V^H by a few roundings of A. A downdate on the brink of indefiniteness loses what the
 * condition of the problem loses.
 */
#define OVERLAPACK_DECLARE(x, T)                                                                 \
  void ovl_##x##cholupdate(char uplo, int64_t n, int64_t k, T* a, int64_t lda, const T* v,       \
                           int64_t ldv, int sigma, int64_t* info);                               \
  void ovl_##x##cholupdate_mixed(char uplo, int64_t n, int64_t k, T* a, int64_t lda, const T* v, \
                                 int64_t ldv, const int* sigma, int64_t* info);

OVERLAPACK_DECLARE(s, float)
OVERLAPACK_DECLARE(d, double)
OVERLAPACK_DECLARE(c, overlapack_complex_float)
OVERLAPACK_DECLARE(z, overlapack_complex_double)

#undef OVERLAPACK_DECLARE

/* Updates by one vector, under the names and with the arguments of qrupdate and LINPACK; R is the
 * real type of T. All matrices are upper triangular factors, A = R^H R; what is below the diagonal
 * is neither read nor written.
 *
 * ch1up  (qrupdate) R^H R + u u^H.
 *          r    n x n, ldr >= n
 *          u    n elements: the vector, replaced by the sines of the rotations
 *          w    n real elements, set to the cosines of the rotations
 *          There is no info. If ldr < n, xerbla_ is told of argument 3.
 * ch1dn  (qrupdate) R^H R - u u^H; arguments as ch1up, and
 *          info 1: the result is not positive definite; R is then unchanged, u is not
 *               2: R is singular; nothing is changed
 *               -1, -3: that argument is invalid; xerbla_ is told
 *
 * chud   (LINPACK) R^H R + x^H x for a row x (`row`), which is added to a least squares
 *        problem. Right-hand sides Z and y, and norms rho of residuals, come along.
 *          r    p x p, ldr >= p
 *          row  p elements, not changed
 *          z    p x nz, ldz >= p, with y and rho of nz elements each; y is not changed. A rho
 *               that is negative stays. nz may be 0: these three are not looked at then.
 *          c, sines  p elements each, set to those of the rotations
 *          There is no info. If ldr < p or, for nz > 0, ldz < p, xerbla_ is told of argument 2 or
 *          6.
 * chdd   (LINPACK) R^H R - x^H x, the row x is removed; arguments as chud, and
 *          info -1: R cannot be downdated; R, Z and rho are as they were. Also: argument 2 or 6 is
 *                  invalid, of which xerbla_ is told, as by chud
 *               1: some rho could not be; those are -1
 *
 * If an argument is invalid nothing is changed but info. If a GPU fails with the factor in its
 * memory, info is 1 (ch1dn) or -1 (chdd), ch1up and chud cannot say so and give rotations that
 * change nothing, and the factor is undefined.
 */
#define OVERLAPACK_DECLARE(x, T, R)                                                         \
  void x##ch1up_(const int32_t* n, T* r, const int32_t* ldr, T* u, R* w);                   \
  void x##ch1dn_(const int32_t* n, T* r, const int32_t* ldr, T* u, R* w, int32_t* info);    \
  void x##chud_(T* r, const int32_t* ldr, const int32_t* p, const T* row, T* z,             \
                const int32_t* ldz, const int32_t* nz, const T* y, R* rho, R* c, T* sines); \
  void x##chdd_(T* r, const int32_t* ldr, const int32_t* p, const T* row, T* z,             \
                const int32_t* ldz, const int32_t* nz, const T* y, R* rho, R* c, T* sines,  \
                int32_t* info);

OVERLAPACK_DECLARE(s, float, float)
OVERLAPACK_DECLARE(d, double, double)
OVERLAPACK_DECLARE(c, overlapack_complex_float, float)
OVERLAPACK_DECLARE(z, overlapack_complex_double, double)

#undef OVERLAPACK_DECLARE

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OVERLAPACK_OVERLAPACK_H */
