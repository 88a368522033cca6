/* The LAPACK routines that liboverlapack provides, for C99 and C++.
 *
 * Every routine exists for four types (s float, d double, c complex float, z complex double), but
 * lanhe for c and z only and the mixed-precision solvers for d or z only. What begins
 * with "or" for s and d begins with "un" for c and z (dorgqr, zungqr), and what begins with "sy"
 * with "he", but for lansy, which they have, too. Each has two names:
 * `dgetrf_` takes 32-bit integers, `dgetrf_64_` 64-bit ones. (The library exports the same
 * routines once more with the prefix `scipy_`, which SciPy's and NumPy's wheels look for; those are
 * not meant to be called by hand.)
 *
 * Conventions, all of them LAPACK's:
 *  - Everything is passed by address. Matrices are stored by columns: element (i, j), counted from
 *    zero, of a matrix `a` with leading dimension `lda` is a[i + j * lda].
 *  - A leading dimension is at least max(1, rows). Rows beyond the matrix's own are never touched.
 *  - `info` is 0 on success and -k if argument k, counted from 1, has an illegal value. xerbla_
 *    (xerbla_64_ for the names with 64-bit integers) is called then, the program's own if it has
 *    one, or else the CPU LAPACK's, and nothing else is done. info > 0 is explained with each
 *    routine. -1010 is not LAPACK's: host memory ran out, or an operand lies in the memory of a
 *    GPU that failed, whose memory did not suffice, or that is not the one in use. The results are
 *    then undefined.
 *  - The size_t at the end of some routines is the hidden length of the CHARACTER argument that
 *    Fortran compilers pass. Only the first letter, in upper or lower case, is read: pass 1. With
 *    OVERLAPACK_NO_STRLEN defined before this header the prototypes have no lengths, as in older
 *    headers and MKL's: dpotrf_("L", &n, a, &n, &info). They are right for this library, which
 *    reads no length. <lapacke.h> declares the same names with lengths: not both in one file.
 *  - The macros LAPACK_dpotrf and so on, for 32-bit integers, add the lengths, as those of
 *    <lapacke.h> do. If a file includes that, too, then before this header.
 *
 * Complex numbers are std::complex in C++ and _Complex in C, or those of <lapacke.h> if that is
 * included before.
 *
 * A program that includes this header runs with any other LAPACK too: link that one instead.
 */
#ifndef OVERLAPACK_LAPACK_H
#define OVERLAPACK_LAPACK_H

#include <stddef.h>
#include <stdint.h>

#if defined(lapack_complex_float) && defined(lapack_complex_double)
typedef lapack_complex_float overlapack_complex_float;
typedef lapack_complex_double overlapack_complex_double;
#elif defined(__cplusplus)
#  include <complex>
typedef std::complex<float> overlapack_complex_float;
typedef std::complex<double> overlapack_complex_double;
#else
typedef float _Complex overlapack_complex_float;
typedef double _Complex overlapack_complex_double;
#endif

#ifdef OVERLAPACK_NO_STRLEN
#  define OVERLAPACK_LENGTHS(...)
#else
#  define OVERLAPACK_LENGTHS(...) , __VA_ARGS__
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The routines, for the type T with the letter `x` and the integer type I. U stands for the name's
 * ending: `_` or `_64_`.
 *
 * potrf   Cholesky factorization of a Hermitian (real: symmetric) positive definite matrix:
 *         A = L L^H for uplo = 'L', A = U^H U for uplo = 'U'.
 *           uplo  'L' or 'U': the triangle of A that is given, and that the factor replaces. The
 *                 other triangle is neither read nor written. Imaginary parts on the diagonal
 *                 count as zero.
 *           a     n x n, lda >= max(1, n)
 *           info  k > 0: the leading minor of order k is not positive definite and the
 *                 factorization stopped there.
 *
 * potrs   Solves A X = B with the factor that potrf left.
 *           a     n x n, as potrf left it, with the same uplo; not changed
 *           b     n x nrhs right-hand sides, replaced by the solutions; ldb >= max(1, n)
 *
 * posv    potrf and potrs in one: factors A in place and solves A X = B.
 *           info  k > 0: as potrf; B is then unchanged.
 *
 * getrf   LU factorization with partial pivoting, A = P L U, L with a unit diagonal.
 *           a     m x n, lda >= max(1, m); replaced by L (below the diagonal) and U
 *           ipiv  min(m, n) integers, counted from 1: row i was exchanged with row ipiv[i]
 *           info  k > 0: U(k, k), counted from 1, is exactly zero. The factorization is complete,
 *                 but solving with it would divide by zero.
 *
 * getrs   Solves op(A) X = B with the factors that getrf left.
 *           trans 'N': op(A) = A; 'T': the transpose; 'C': the conjugate transpose
 *           a     n x n, as getrf left it, with its ipiv; not changed
 *           b     n x nrhs right-hand sides, replaced by the solutions; ldb >= max(1, n)
 *
 * gesv    getrf and getrs in one: factors A in place and solves A X = B.
 *           info  k > 0: as getrf; B is then not solved for.
 *
 * trtrs   Solves op(A) X = B for a triangular matrix A.
 *           uplo  'L' or 'U': the triangle that A is; the other is not read
 *           trans as for getrs
 *           diag  'N': A has the diagonal that is given; 'U': it has ones there, and its diagonal
 *                 is not read
 *           a     n x n, lda >= max(1, n); not changed
 *           b     n x nrhs right-hand sides, replaced by the solutions; ldb >= max(1, n)
 *           info  k > 0: A(k, k), counted from 1, is the first exact zero on the diagonal; B is
 *                 then unchanged. Also for nrhs = 0.
 *
 * trtri   Replaces a triangular matrix by its inverse.
 *           uplo  'L' or 'U': the triangle that A is; the other is neither read nor written
 *           diag  'N': A has the diagonal that is given; 'U': it has ones there, and its diagonal
 *                 is neither read nor written
 *           a     n x n, lda >= max(1, n)
 *           info  k > 0: A(k, k), counted from 1, is the first exact zero on the diagonal; A is
 *                 then unchanged.
 *
 * lauum   Replaces a triangle by a product with its adjoint: L by L^H L for uplo = 'L', U by U U^H
 *         for uplo = 'U'. Of that the same triangle is stored.
 *           a     n x n, lda >= max(1, n)
 *
 * potri   Replaces the factor that potrf left by a triangle of the inverse of A.
 *           uplo  as for potrf
 *           a     n x n, as potrf left it; replaced by the same triangle of A^-1
 *           info  k > 0: as trtri
 *
 * getri   Replaces the factors that getrf left by the inverse of A.
 *           a     n x n, as getrf left it, with its ipiv; replaced by A^-1
 *           work  max(1, lwork) elements, for a call that the CPU serves; on return work[0] is the
 *                 lwork that suits the CPU LAPACK best, but for work in the memory of the GPU
 *           lwork >= max(1, n); or -1: only work[0] is set
 *           info  k > 0: U(k, k), counted from 1, is the first exact zero on the diagonal; A is
 *                 then unchanged.
 *
 * lange   Returns a norm of a general matrix, of the real type R of T.
 *           norm  'M': the largest modulus; 'O' or '1': the largest sum of moduli of a column;
 *                 'I': of a row; 'F' or 'E': the root of the sum of squares
 *           a     m x n, lda >= max(1, m); not changed. A NaN in it makes the result one. For m = 0
 *                 or n = 0 the result is 0.
 *           work  m elements for 'I'; else not used. Never used for a matrix in the memory of the
 *                 GPU. Arguments are not checked.
 *
 * lansy   The same for a symmetric matrix, also a complex one; lanhe (c and z only) for a Hermitian
 *         one.
 *           uplo  'L' or 'U': the triangle of A (n x n) that is given; the other is not read
 *           work  n elements for 'I', 'O' and '1'; else not used
 *
 * lantr   The same for a triangular matrix, or a trapezoidal one.
 *           uplo  'L' or 'U': the trapezoid of A (m x n) that is given; the rest is zero
 *           diag  as for trtrs
 *           work  m elements for 'I'; else not used
 */
#define OVERLAPACK_DECLARE(x, U, T, R, I)                                                       \
  void x##potrf##U(const char* uplo, const I* n, T* a, const I* lda,                            \
                   I* info OVERLAPACK_LENGTHS(size_t uplo_len));                                \
  void x##potrs##U(const char* uplo, const I* n, const I* nrhs, const T* a, const I* lda, T* b, \
                   const I* ldb, I* info OVERLAPACK_LENGTHS(size_t uplo_len));                  \
  void x##posv##U(const char* uplo, const I* n, const I* nrhs, T* a, const I* lda, T* b,        \
                  const I* ldb, I* info OVERLAPACK_LENGTHS(size_t uplo_len));                   \
  void x##getrf##U(const I* m, const I* n, T* a, const I* lda, I* ipiv, I* info);               \
  void x##getrs##U(const char* trans, const I* n, const I* nrhs, const T* a, const I* lda,      \
                   const I* ipiv, T* b, const I* ldb,                                           \
                   I* info OVERLAPACK_LENGTHS(size_t trans_len));                               \
  void x##gesv##U(const I* n, const I* nrhs, T* a, const I* lda, I* ipiv, T* b, const I* ldb,   \
                  I* info);                                                                     \
  void x##trtrs##U(                                                                             \
      const char* uplo, const char* trans, const char* diag, const I* n, const I* nrhs,         \
      const T* a, const I* lda, T* b, const I* ldb,                                             \
      I* info OVERLAPACK_LENGTHS(size_t uplo_len, size_t trans_len, size_t diag_len));          \
  void x##trtri##U(const char* uplo, const char* diag, const I* n, T* a, const I* lda,          \
                   I* info OVERLAPACK_LENGTHS(size_t uplo_len, size_t diag_len));               \
  void x##lauum##U(const char* uplo, const I* n, T* a, const I* lda,                            \
                   I* info OVERLAPACK_LENGTHS(size_t uplo_len));                                \
  void x##potri##U(const char* uplo, const I* n, T* a, const I* lda,                            \
                   I* info OVERLAPACK_LENGTHS(size_t uplo_len));                                \
  void x##getri##U(const I* n, T* a, const I* lda, const I* ipiv, T* work, const I* lwork,      \
                   I* info);                                                                    \
  R x##lange##U(const char* norm, const I* m, const I* n, const T* a, const I* lda,             \
                R* work OVERLAPACK_LENGTHS(size_t norm_len));                                   \
  R x##lansy##U(const char* norm, const char* uplo, const I* n, const T* a, const I* lda,       \
                R* work OVERLAPACK_LENGTHS(size_t norm_len, size_t uplo_len));                  \
  R x##lantr##U(const char* norm, const char* uplo, const char* diag, const I* m, const I* n,   \
                const T* a, const I* lda,                                                       \
                R* work OVERLAPACK_LENGTHS(size_t norm_len, size_t uplo_len, size_t diag_len));

OVERLAPACK_DECLARE(s, _, float, float, int32_t)
OVERLAPACK_DECLARE(d, _, double, double, int32_t)
OVERLAPACK_DECLARE(c, _, overlapack_complex_float, float, int32_t)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, double, int32_t)

OVERLAPACK_DECLARE(s, _64_, float, float, int64_t)
OVERLAPACK_DECLARE(d, _64_, double, double, int64_t)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, float, int64_t)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, double, int64_t)

#undef OVERLAPACK_DECLARE

#define OVERLAPACK_DECLARE(x, U, T, R, I)                                                 \
  R x##lanhe##U(const char* norm, const char* uplo, const I* n, const T* a, const I* lda, \
                R* work OVERLAPACK_LENGTHS(size_t norm_len, size_t uplo_len));

OVERLAPACK_DECLARE(c, _, overlapack_complex_float, float, int32_t)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, double, int32_t)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, float, int64_t)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, double, int64_t)

#undef OVERLAPACK_DECLARE

/* Estimates of the reciprocal condition number, 1 / (||A|| ||A^-1||). A norm is LAPACK's estimate,
 * so rcond may be too large by a small factor. Whatever is not finite is left to the CPU LAPACK.
 *
 * gecon   From the factors of getrf.
 *           norm   'O' or '1': in the 1-norm; 'I': in the infinity norm
 *           a      n x n, lda >= max(1, n), as from getrf; not changed
 *           anorm  that norm of the matrix itself, >= 0
 *           rcond  1 for n = 0; 0 if anorm is 0 or the matrix is singular to working precision
 *           work   4 n elements, work2 n integers; of the complex types 2 n elements and 2 n real
 *                  numbers. For a call that the CPU serves; untouched otherwise
 *
 * pocon   In the 1-norm, from the factor of potrf.
 *           uplo   'L' or 'U': the triangle that the factor is; the other is not read
 *           a, anorm, rcond  as for gecon
 *           work   3 n elements, work2 n integers; of the complex types 2 n elements and n real
 *                  numbers
 *
 * trcon   Of a triangular matrix, whose norm is computed, too.
 *           norm   as for gecon
 *           uplo   'L' or 'U': the triangle that A is; the other is not read
 *           diag   'N': A has the diagonal that is given; 'U': it has ones there, and its diagonal
 *                  is not read
 *           a, rcond  as for gecon
 *           work, work2  as for pocon
 */
#define OVERLAPACK_DECLARE(x, U, T, R, I, W)                                                     \
  void x##gecon##U(const char* norm, const I* n, const T* a, const I* lda, const R* anorm,       \
                   R* rcond, T* work, W* work2, I* info OVERLAPACK_LENGTHS(size_t norm_len));    \
  void x##pocon##U(const char* uplo, const I* n, const T* a, const I* lda, const R* anorm,       \
                   R* rcond, T* work, W* work2, I* info OVERLAPACK_LENGTHS(size_t uplo_len));    \
  void x##trcon##U(const char* norm, const char* uplo, const char* diag, const I* n, const T* a, \
                   const I* lda, R* rcond, T* work, W* work2,                                    \
                   I* info OVERLAPACK_LENGTHS(size_t norm_len, size_t uplo_len, size_t diag_len));

OVERLAPACK_DECLARE(s, _, float, float, int32_t, int32_t)
OVERLAPACK_DECLARE(d, _, double, double, int32_t, int32_t)
OVERLAPACK_DECLARE(c, _, overlapack_complex_float, float, int32_t, float)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, double, int32_t, double)
OVERLAPACK_DECLARE(s, _64_, float, float, int64_t, int64_t)
OVERLAPACK_DECLARE(d, _64_, double, double, int64_t, int64_t)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, float, int64_t, float)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, double, int64_t, double)

#undef OVERLAPACK_DECLARE

/* QR factorizations, A = Q R. Q is a product of reflectors I - tau v v^H, the first one leftmost.
 * tau lies in host memory, wherever the matrix is.
 *
 * geqrf   QR factorization of a general matrix.
 *           a      m x n, lda >= max(1, m). Replaced by R, on and above the diagonal, and by the
 *                  vectors v below it, without the 1 that each begins with.
 *           tau    min(m, n) elements: the factors tau
 *           work   max(1, lwork) elements; on return work[0] is the lwork that suits best
 *           lwork  >= max(1, n); or -1: only work[0] is set
 *
 * orgqr   The first n columns of Q, for s and d (ungqr for c and z).
 *           a      m x n, n <= m, lda >= max(1, m): its first k columns, k <= n, as geqrf left
 *                  them; replaced by columns of the Q of k reflectors
 *           tau, work, lwork  as for geqrf
 *
 * ormqr   op(Q) C or C op(Q), for s and d (unmqr for c and z).
 *           side   'L': op(Q) C, with Q of order m; 'R': C op(Q), with Q of order n
 *           trans  'N': Q; 'T' (unmqr: 'C'): its transpose (conjugate transpose)
 *           a      k columns, k <= the order of Q, lda >= max(1, that order), as geqrf left them;
 *                  not changed
 *           tau    as from geqrf, k elements
 *           c      m x n, ldc >= max(1, m); replaced by the product
 *           work   as for geqrf
 *           lwork  >= max(1, n) for 'L', max(1, m) for 'R'; or -1: only work[0] is set
 *
 * LQ factorizations, A = L Q. Q is the conjugate transpose of a product of reflectors.
 *
 * gelqf   LQ factorization of a general matrix.
 *           a      m x n, as for geqrf. Replaced by L, on and below the diagonal, and by the
 *                  conjugates of the vectors v right of it
 *           tau, work  as for geqrf
 *           lwork  >= max(1, m); or -1
 *
 * orglq   The first m rows of Q, for s and d (unglq for c and z).
 *           a      m x n, m <= n: its first k rows, k <= m, as gelqf left them; replaced by rows of
 *                  the Q of k reflectors
 *           tau, work, lwork  as for gelqf
 *
 * ormlq   As ormqr, for s and d (unmlq for c and z).
 *           a      k rows, k <= the order of Q, lda >= max(1, k), as gelqf left them
 */
#define OVERLAPACK_DECLARE(x, U, T, I, orgqr, ormqr, orglq, ormlq)                                 \
  void x##geqrf##U(const I* m, const I* n, T* a, const I* lda, T* tau, T* work, const I* lwork,    \
                   I* info);                                                                       \
  void x##orgqr##U(const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau, T* work,  \
                   const I* lwork, I* info);                                                       \
  void x##ormqr##U(const char* side, const char* trans, const I* m, const I* n, const I* k,        \
                   const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work,            \
                   const I* lwork, I* info OVERLAPACK_LENGTHS(size_t side_len, size_t trans_len)); \
  void x##gelqf##U(const I* m, const I* n, T* a, const I* lda, T* tau, T* work, const I* lwork,    \
                   I* info);                                                                       \
  void x##orglq##U(const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau, T* work,  \
                   const I* lwork, I* info);                                                       \
  void x##ormlq##U(const char* side, const char* trans, const I* m, const I* n, const I* k,        \
                   const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work,            \
                   const I* lwork, I* info OVERLAPACK_LENGTHS(size_t side_len, size_t trans_len));

OVERLAPACK_DECLARE(s, _, float, int32_t, orgqr, ormqr, orglq, ormlq)
OVERLAPACK_DECLARE(d, _, double, int32_t, orgqr, ormqr, orglq, ormlq)
OVERLAPACK_DECLARE(c, _, overlapack_complex_float, int32_t, ungqr, unmqr, unglq, unmlq)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, int32_t, ungqr, unmqr, unglq, unmlq)
OVERLAPACK_DECLARE(s, _64_, float, int64_t, orgqr, ormqr, orglq, ormlq)
OVERLAPACK_DECLARE(d, _64_, double, int64_t, orgqr, ormqr, orglq, ormlq)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, int64_t, ungqr, unmqr, unglq, unmlq)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, int64_t, ungqr, unmqr, unglq, unmlq)

#undef OVERLAPACK_DECLARE

/* QR factorizations by blocks of nb reflectors, each block I - V T V^H with a triangle T.
 *
 * geqrt   As geqrf.
 *           nb     >= 1 and, unless m or n is 0, <= min(m, n)
 *           t      nb x min(m, n), ldt >= nb: the triangles T side by side; what is below their
 *                  diagonals may not be set
 *           work   nb n elements
 *
 * gemqrt  op(Q) C or C op(Q).
 *           side, trans, c  as for ormqr; 'C' as for unmqr
 *           nb     as geqrt had it; <= k unless k is 0
 *           v      k columns, k <= the order of Q, ldv >= max(1, that order), as geqrt left them
 *           t      nb x k, ldt >= nb, as geqrt left it; both are not changed
 *           work   nb n elements for 'L', nb m for 'R'
 */
#define OVERLAPACK_DECLARE(x, U, T, I)                                                          \
  void x##geqrt##U(const I* m, const I* n, const I* nb, T* a, const I* lda, T* t, const I* ldt, \
                   T* work, I* info);                                                           \
  void x##gemqrt##U(const char* side, const char* trans, const I* m, const I* n, const I* k,    \
                    const I* nb, const T* v, const I* ldv, const T* t, const I* ldt, T* c,      \
                    const I* ldc, T* work,                                                      \
                    I* info OVERLAPACK_LENGTHS(size_t side_len, size_t trans_len));

OVERLAPACK_DECLARE(s, _, float, int32_t)
OVERLAPACK_DECLARE(d, _, double, int32_t)
OVERLAPACK_DECLARE(c, _, overlapack_complex_float, int32_t)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, int32_t)
OVERLAPACK_DECLARE(s, _64_, float, int64_t)
OVERLAPACK_DECLARE(d, _64_, double, int64_t)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, int64_t)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, int64_t)

#undef OVERLAPACK_DECLARE

/* gels    Solves op(A) X = B for an A of full rank by a QR or LQ factorization: in the sense of
 *         least squares if op(A) has more rows than columns, and with the least norm if fewer.
 *           trans  'N': A; 'T' (of c and z 'C'): its transpose (conjugate transpose)
 *           a      m x n, lda >= max(1, m); replaced by its factors, as by geqrf (gelqf if m < n)
 *           b      the rows of op(A), ldb >= max(1, m, n); replaced by those of X. If op(A) has
 *                  more rows than columns, the sum of squares of the others is that of what is left
 *                  of the column of B.
 *           work   max(1, lwork) elements; on return work[0] is the lwork that suits best
 *           lwork  >= max(1, k + max(k, nrhs)), k = min(m, n); or -1: only work[0] is set
 *           info   k > 0: the triangle has an exact zero on its diagonal, first at k, and A has not
 *                  full rank. X is undefined then.
 */
#define OVERLAPACK_DECLARE(x, U, T, I)                                                          \
  void x##gels##U(const char* trans, const I* m, const I* n, const I* nrhs, T* a, const I* lda, \
                  T* b, const I* ldb, T* work, const I* lwork,                                  \
                  I* info OVERLAPACK_LENGTHS(size_t trans_len));

OVERLAPACK_DECLARE(s, _, float, int32_t)
OVERLAPACK_DECLARE(d, _, double, int32_t)
OVERLAPACK_DECLARE(c, _, overlapack_complex_float, int32_t)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, int32_t)
OVERLAPACK_DECLARE(s, _64_, float, int64_t)
OVERLAPACK_DECLARE(d, _64_, double, int64_t)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, int64_t)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, int64_t)

#undef OVERLAPACK_DECLARE

/* Eigenvalues, and eigenvectors, of symmetric and of Hermitian matrices. The names below are those
 * for s and d. For c and z "sy" is "he", and "or" is "un": dsyevd, zheevd. Without a CPU LAPACK
 * info is -1010, and so it is for a matrix of orgtr and ormtr in the memory of a GPU.
 *
 * syev    Eigenvalues, in ascending order, and eigenvectors, by QR iteration.
 *           jobz   'N': eigenvalues only; 'V': eigenvectors, too
 *           uplo   'L' or 'U': the triangle of A that is given
 *           a      n x n, lda >= max(1, n). Replaced by the eigenvectors, one a column; for 'N' the
 *                  triangle is lost
 *           w      n eigenvalues
 *           work   max(1, lwork) elements; on return work[0] is the lwork that suits best
 *           lwork  >= max(1, 3 n - 1), for c and z >= max(1, 2 n - 1); or -1: only work[0] is set
 *           rwork  max(1, 3 n - 2) elements, for c and z only
 *           info   k > 0: k elements of a tridiagonal matrix did not converge to zero
 *
 * syevd   The same by divide and conquer, which is faster. For 'V' it takes more memory.
 *           lwork  >= 1 + 6 n + 2 n^2, for c and z >= 2 n + n^2; for 'N' >= 2 n + 1, or n + 1; for
 *                  n <= 1 all sizes >= 1. If any of the sizes is -1, only the first elements of the
 *                  workspaces are set, to what suits best.
 *           rwork, lrwork  for c and z only: >= 1 + 5 n + 2 n^2; for 'N' >= n
 *           iwork, liwork  >= 3 + 5 n; for 'N' >= 1
 *           info   k > 0: as for syev; or, for 'V', an eigenvalue was not found
 *
 * syevr   Some or all of the eigenvalues, and their vectors, by relatively robust representations.
 *           range  'A': all; 'V': those in (vl, vu], vl < vu; 'I': number il to iu, counted from 1
 *                  in ascending order
 *           a      as for syev; what is given of it is lost
 *           abstol how exact eigenvalues are to be; 0 is good
 *           m      how many there are; w has the room for n
 *           z      for 'V' their vectors, n x m, ldz >= max(1, n); else not used, ldz >= 1
 *           isuppz for all eigenvectors 2 n integers: the first and last row of each that is not 0
 *           lwork  >= 26 n, for c and z >= 2 n; lrwork >= 24 n; liwork >= 10 n
 *
 * syevx   The same by bisection and inverse iteration.
 *           lwork  >= 8 n, for c and z >= 2 n; rwork 7 n elements, iwork 5 n integers
 *           ifail  for 'V' n integers
 *           info   k > 0: k vectors did not converge, whose numbers are in ifail
 *
 * sygv, sygvd, sygvx  The same of A x = lambda B x (itype 1), A B x = lambda x (2) or B A x =
 *         lambda x (3), where B is positive definite.
 *           b      n x n, ldb >= max(1, n): of it, too, the triangle is given, and replaced by the
 *                  Cholesky factor. Eigenvectors Z have Z^H B Z = I (3: Z^H B^-1 Z = I).
 *           lwork, lrwork, liwork  as for syev, syevd and syevx (for n = 1, too, 8 n)
 *           info   k > n: the leading minor of order k - n of B is not positive definite
 *
 * sytrd   Q^H A Q = T, where T is tridiagonal and real.
 *           a      as for syev. Replaced by T and by the vectors of n - 1 reflectors, whose product
 *                  Q is
 *           d, e   the diagonal of T, n elements, and beside it, n - 1
 *           tau    n - 1 elements: the reflectors' factors
 *           lwork  >= 1; or -1
 *
 * orgtr   Q as a matrix, in place of the reflectors that sytrd left.
 *           lwork  >= max(1, n - 1); or -1
 *
 * ormtr   op(Q) C or C op(Q), with the reflectors that sytrd left.
 *           side, trans, c, lwork  as for ormqr, unmqr
 *           uplo   as sytrd had it
 *           a, tau  as from sytrd; not changed
 *
 * stedc   Eigenvalues, and eigenvectors, of T, by divide and conquer.
 *           compz  'N': eigenvalues only; 'I': eigenvectors of T in z; 'V': z is the Q of orgtr,
 *                  and becomes the eigenvectors of A
 *           d, e   as from sytrd; d becomes the eigenvalues, in ascending order, and e is lost
 *           z      n x n, ldz >= max(1, n); for 'N' not used, ldz >= 1
 *           lwork, lrwork, liwork  as a query says
 */
#define OVERLAPACK_IF_REAL(...)
#define OVERLAPACK_IF_COMPLEX(...) __VA_ARGS__,
#define OVERLAPACK_DECLARE(x, U, T, R, I, K, sy, orgtr, ormtr)                                   \
  void x##sy##ev##U(const char* jobz, const char* uplo, const I* n, T* a, const I* lda, R* w,    \
                    T* work, const I* lwork,                                                     \
                    K(R* rwork) I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t uplo_len));   \
  void x##sy##evd##U(const char* jobz, const char* uplo, const I* n, T* a, const I* lda, R* w,   \
                     T* work, const I* lwork, K(R* rwork, const I* lrwork) I* iwork,             \
                     const I* liwork,                                                            \
                     I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t uplo_len));              \
  void x##sy##evr##U(                                                                            \
      const char* jobz, const char* range, const char* uplo, const I* n, T* a, const I* lda,     \
      const R* vl, const R* vu, const I* il, const I* iu, const R* abstol, I* m, R* w, T* z,     \
      const I* ldz, I* isuppz, T* work, const I* lwork, K(R* rwork, const I* lrwork) I* iwork,   \
      const I* liwork,                                                                           \
      I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t range_len, size_t uplo_len));           \
  void x##sy##evx##U(                                                                            \
      const char* jobz, const char* range, const char* uplo, const I* n, T* a, const I* lda,     \
      const R* vl, const R* vu, const I* il, const I* iu, const R* abstol, I* m, R* w, T* z,     \
      const I* ldz, T* work, const I* lwork, K(R* rwork) I* iwork, I* ifail,                     \
      I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t range_len, size_t uplo_len));           \
  void x##sy##gv##U(const I* itype, const char* jobz, const char* uplo, const I* n, T* a,        \
                    const I* lda, T* b, const I* ldb, R* w, T* work, const I* lwork,             \
                    K(R* rwork) I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t uplo_len));   \
  void x##sy##gvd##U(const I* itype, const char* jobz, const char* uplo, const I* n, T* a,       \
                     const I* lda, T* b, const I* ldb, R* w, T* work, const I* lwork,            \
                     K(R* rwork, const I* lrwork) I* iwork, const I* liwork,                     \
                     I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t uplo_len));              \
  void x##sy##gvx##U(                                                                            \
      const I* itype, const char* jobz, const char* range, const char* uplo, const I* n, T* a,   \
      const I* lda, T* b, const I* ldb, const R* vl, const R* vu, const I* il, const I* iu,      \
      const R* abstol, I* m, R* w, T* z, const I* ldz, T* work, const I* lwork,                  \
      K(R* rwork) I* iwork, I* ifail,                                                            \
      I* info OVERLAPACK_LENGTHS(size_t jobz_len, size_t range_len, size_t uplo_len));           \
  void x##sy##trd##U(const char* uplo, const I* n, T* a, const I* lda, R* d, R* e, T* tau,       \
                     T* work, const I* lwork, I* info OVERLAPACK_LENGTHS(size_t uplo_len));      \
  void x##orgtr##U(const char* uplo, const I* n, T* a, const I* lda, const T* tau, T* work,      \
                   const I* lwork, I* info OVERLAPACK_LENGTHS(size_t uplo_len));                 \
  void x##ormtr##U(                                                                              \
      const char* side, const char* uplo, const char* trans, const I* m, const I* n, const T* a, \
      const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,                   \
      I* info OVERLAPACK_LENGTHS(size_t side_len, size_t uplo_len, size_t trans_len));           \
  void x##stedc##U(const char* compz, const I* n, R* d, R* e, T* z, const I* ldz, T* work,       \
                   const I* lwork, K(R* rwork, const I* lrwork) I* iwork, const I* liwork,       \
                   I* info OVERLAPACK_LENGTHS(size_t compz_len));

OVERLAPACK_DECLARE(s, _, float, float, int32_t, OVERLAPACK_IF_REAL, sy, orgtr, ormtr)
OVERLAPACK_DECLARE(d, _, double, double, int32_t, OVERLAPACK_IF_REAL, sy, orgtr, ormtr)
OVERLAPACK_DECLARE(c, _, overlapack_complex_float, float, int32_t, OVERLAPACK_IF_COMPLEX, he, ungtr,
                   unmtr)
OVERLAPACK_DECLARE(z, _, overlapack_complex_double, double, int32_t, OVERLAPACK_IF_COMPLEX, he,
                   ungtr, unmtr)
OVERLAPACK_DECLARE(s, _64_, float, float, int64_t, OVERLAPACK_IF_REAL, sy, orgtr, ormtr)
OVERLAPACK_DECLARE(d, _64_, double, double, int64_t, OVERLAPACK_IF_REAL, sy, orgtr, ormtr)
OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, float, int64_t, OVERLAPACK_IF_COMPLEX, he,
                   ungtr, unmtr)
OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, double, int64_t, OVERLAPACK_IF_COMPLEX, he,
                   ungtr, unmtr)

#undef OVERLAPACK_DECLARE
#undef OVERLAPACK_IF_REAL
#undef OVERLAPACK_IF_COMPLEX

/* Solves in double precision by a factorization in single precision and iterative refinement. Where
 * the matrix is not too ill-conditioned the solution is as good as that of gesv or posv, and sooner
 * there; elsewhere the matrix is factored in double precision after all.
 *
 * dsgesv  Solves A X = B by LU factorization (zcgesv for complex matrices).
 *           a      n x n, lda >= max(1, n). Not changed if iter >= 0; otherwise replaced by the
 *                  factors in double precision, as by gesv.
 *           ipiv   n integers, as from getrf: those of the factorization that gave X
 *           b      n x nrhs right-hand sides, ldb >= max(1, n); not changed
 *           x      n x nrhs solutions, ldx >= max(1, n)
 *           work   n x nrhs elements, swork n x (n + nrhs), rwork (zcgesv only) n: for a call that
 *                  the CPU serves; untouched otherwise
 *           iter   >= 0: refinement succeeded after so many steps. < 0: X comes from the
 *                  factorization in double precision, because: -1 the CPU LAPACK has no such
 *                  routine; -2 a number was too large for single precision; -3 the factorization
 *                  in single precision broke down; -31 thirty steps were, or would be, not enough
 *           info   k > 0: as gesv, of the factorization in double precision; X is undefined
 *
 * dsposv  The same for a positive definite matrix by Cholesky factorization (zcposv: Hermitian).
 *           uplo   'L' or 'U': the triangle of A that is given, as for posv
 *           info   k > 0: as posv, of the factorization in double precision; X is undefined
 */
#define OVERLAPACK_DECLARE(U, I)                                                                 \
  void dsgesv##U(const I* n, const I* nrhs, double* a, const I* lda, I* ipiv, const double* b,   \
                 const I* ldb, double* x, const I* ldx, double* work, float* swork, I* iter,     \
                 I* info);                                                                       \
  void zcgesv##U(const I* n, const I* nrhs, overlapack_complex_double* a, const I* lda, I* ipiv, \
                 const overlapack_complex_double* b, const I* ldb, overlapack_complex_double* x, \
                 const I* ldx, overlapack_complex_double* work, overlapack_complex_float* swork, \
                 double* rwork, I* iter, I* info);                                               \
  void dsposv##U(const char* uplo, const I* n, const I* nrhs, double* a, const I* lda,           \
                 const double* b, const I* ldb, double* x, const I* ldx, double* work,           \
                 float* swork, I* iter, I* info OVERLAPACK_LENGTHS(size_t uplo_len));            \
  void zcposv##U(const char* uplo, const I* n, const I* nrhs, overlapack_complex_double* a,      \
                 const I* lda, const overlapack_complex_double* b, const I* ldb,                 \
                 overlapack_complex_double* x, const I* ldx, overlapack_complex_double* work,    \
                 overlapack_complex_float* swork, double* rwork, I* iter,                        \
                 I* info OVERLAPACK_LENGTHS(size_t uplo_len));

OVERLAPACK_DECLARE(_, int32_t)
OVERLAPACK_DECLARE(_64_, int64_t)

#undef OVERLAPACK_DECLARE

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifndef LAPACK_dpotrf
#  include "overlapack/lapack_macros.h"
#endif

#endif /* OVERLAPACK_LAPACK_H */
