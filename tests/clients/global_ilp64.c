/* What drivers of LAPACK call, of a library with 64-bit integers under the plain names, together
 * with parts_lapack.c. Whoever calls these routines has other integers, and gets nothing.
 */

/* Reads as: how many calls there were. */
int global_ilp64_calls;

#define ROUTINE(name) \
  void name(void);    \
  void name(void) { ++global_ilp64_calls; }

ROUTINE(dgemm_)
ROUTINE(idamax_)
ROUTINE(daxpy_)
ROUTINE(dlacpy_)
ROUTINE(dlag2s_)
ROUTINE(slag2d_)
