// The routines that the library serves, by name, and the shape of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::dispatch {

/// LAPACK's routines, and updates of a Cholesky factor under whatever name.
enum class Routine {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) name,
#include "routines.def"
// and, behind all others,
#include "mixed_complex.def"
#include "mixed_real.def"
#undef OVERLAPACK_ROUTINE
  cholupdate,
};
inline constexpr const char* kRoutineNames[] = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) #name,
#include "routines.def"
// and, behind all others,
#include "mixed_complex.def"
#include "mixed_real.def"
#undef OVERLAPACK_ROUTINE
    "cholupdate",
};
inline constexpr std::size_t kRoutineCount = sizeof(kRoutineNames) / sizeof(kRoutineNames[0]);
inline constexpr std::size_t kLapackRoutineCount = static_cast<std::size_t>(Routine::cholupdate);
inline constexpr char kTypeLetters[] = {'s', 'd', 'c', 'z'};
inline const char* name_of(Routine routine) { return kRoutineNames[static_cast<int>(routine)]; }
/// Mixed-precision solvers: dsgesv is sgesv for the type d.
inline constexpr bool is_mixed(Routine routine) {
  return routine > Routine::gesv && routine < Routine::cholupdate;
}
/// Whether the routine exists for a type: all for all four but the mixed-precision solvers.
inline constexpr bool exists(Routine routine, char type) {
  if (!is_mixed(routine)) return true;
  return type == (routine == Routine::sgesv || routine == Routine::sposv ? 'd' : 'z');
}
/// The place of a type in kTypeLetters, or their number.
inline int type_index(char type) {
  return static_cast<int>(std::find(std::begin(kTypeLetters), std::end(kTypeLetters), type) -
                          std::begin(kTypeLetters));
}
/// Bytes of a number of that type.
std::size_t element_size(char type);
/// Routines that factor a matrix by LU, or by Cholesky.
bool is_lu(Routine routine);
bool is_cholesky(Routine routine);

/// m x n is the matrix (m = n for all but getrf); nrhs is 0 for the factorizations, and for an
/// update the number of vectors.
struct Shape {
  Index m = 0;
  Index n = 0;
  Index nrhs = 0;

  /// Of the largest matrix of the call.
  Index elements() const { return m * std::max(n, nrhs); }
};

}  // namespace overlapack::dispatch
