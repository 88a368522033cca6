// The routines that the library serves: one row for each in a table that says what they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "algorithms/shared/family.hpp"
#include "core/scalar.hpp"
#include "core/view.hpp"
#include "routines.hpp"

namespace overlapack::dispatch {

using algorithms::Shape;

/// LAPACK's routines, and updates of a Cholesky factor under whatever name. Nothing depends on
/// their order but that cholupdate, which is none of LAPACK's, is the last one.
enum class Routine {
#define OVERLAPACK_ROUTED(kind, types, name) name,
#include "dispatch/routed.def"
  cholupdate,
};
inline constexpr const char* kRoutineNames[] = {
#define OVERLAPACK_ROUTED(kind, types, name) #name,
#include "dispatch/routed.def"
    "cholupdate",
};
inline constexpr RoutineRow kRoutines[] = {
#define OVERLAPACK_ROUTED(kind, types, name) {RoutineKind::kind, #types, #name},
#include "dispatch/routed.def"
    {RoutineKind::update, "sdcz", "cholupdate"},
};
inline constexpr std::size_t kRoutineCount = sizeof(kRoutineNames) / sizeof(kRoutineNames[0]);
inline constexpr std::size_t kLapackRoutineCount = static_cast<std::size_t>(Routine::cholupdate);
inline const char* name_of(Routine routine) { return kRoutineNames[static_cast<int>(routine)]; }
inline constexpr RoutineKind kind_of(Routine routine) {
  return kRoutines[static_cast<int>(routine)].kind;
}
/// Routines that solve with a factorization in lower precision: dsgesv is sgesv for the type d.
inline constexpr bool is_mixed(Routine routine) { return kind_of(routine) == RoutineKind::mixed; }
/// Whether the routine exists for a type.
inline constexpr bool exists(Routine routine, char type) {
  return kRoutines[static_cast<int>(routine)].exists_for(type);
}

/// Which factorization a routine computes or is given. One without any takes A as it is.
enum class Factors { none, cholesky, lu };
/// What a routine is given as A: the matrix, or its factors.
enum class Given { matrix, factors };
/// Whether a routine has right-hand sides (or vectors, which an update adds), or eigenvectors.
enum class RightHandSides { none, some, eigenvectors };

/// A row of the table (routine.cpp).
struct RoutineTraits {
  const algorithms::FamilyTraits& (*family)();
  Factors factors;
  Given given;
  RightHandSides right_hand_sides;
};
const RoutineTraits& traits_of(Routine routine);

inline const algorithms::FamilyTraits& family_of(Routine routine) {
  return traits_of(routine).family();
}
/// Routines that factor a matrix by LU, or by Cholesky.
bool is_lu(Routine routine);
bool is_cholesky(Routine routine);

inline constexpr char kTypeLetters[] = {'s', 'd', 'c', 'z'};
/// The place of a type in kTypeLetters, or their number.
inline int type_index(char type) {
  return static_cast<int>(std::find(std::begin(kTypeLetters), std::end(kTypeLetters), type) -
                          std::begin(kTypeLetters));
}
/// Bytes of a number of that type.
std::size_t element_size(char type);

}  // namespace overlapack::dispatch
