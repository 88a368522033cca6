// Calls of LAPACK's and ScaLAPACK's routines by their addresses.
#pragma once

#include "call.hpp"
#include "redistribute.hpp"

namespace overlapack::scalapack {

/// The operands of a call, each as one whole matrix.
struct Operands {
  void* a;
  int lda;
  void* b;
  int ldb;
  int* pivots;
};
/// LAPACK's routine of that name. Returns info.
int call_lapack(void* function, const Call& call, const Operands& operands);

/// ScaLAPACK's. Returns info, which is the same on all ranks.
int call_scalapack(void* function, const Call& call);

/// Copies a part of sub(A) to another distributed matrix, of any grid and blocks, by ScaLAPACK's
/// p?gemr2d or p?trmr2d. All ranks of the context call it, to which those of both grids belong.
void move_matrix(char type, Part part, const Matrix& from, const Matrix& to, int context);

/// dpotrf of the lower triangle. Returns info.
int call_potrf(void* function, int order, double* a);

}  // namespace overlapack::scalapack
