// The functions of the program's own BLACS and ScaLAPACK, looked up in the process. BLACS is all
// that ranks speak to each other by: no symbol of MPI is needed, so one library serves any MPI.
#pragma once

namespace overlapack::scalapack {

/// The function `name` behind this library in the process, or null: in what the dynamic linker
/// finds next or, where ScaLAPACK was opened for a module alone, in any object that has it.
void* next(const char* name);

/// BLACS as C calls it. Scopes and topologies are not const there, but only read.
struct Blacs {
  void (*gridinfo)(int context, int* rows, int* columns, int* row, int* column);
  void (*get)(int context, int what, int* value);
  void (*gridmap)(int* context, int* ranks, int ld, int rows, int columns);
  void (*gridexit)(int context);
  /// Elementwise, the value with the least magnitude; the sum.
  void (*igamn2d)(int context, const char* scope, const char* topology, int m, int n, int* a,
                  int lda, int* row_of, int* column_of, int ld, int row, int column);
  void (*igsum2d)(int context, const char* scope, const char* topology, int m, int n, int* a,
                  int lda, int row, int column);
};
/// Null if the process has not got all of them.
const Blacs* blacs();

}  // namespace overlapack::scalapack
