// The table of routines (routines.def) as data: what a C++ program can ask of its rows.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace overlapack {

/// The kinds of the table, each explained there.
enum class RoutineKind { lapack, eigen, mixed, norm, update, native, blas };

/// Whether a CPU LAPACK may have routines of this kind.
constexpr bool is_lapack(RoutineKind kind) {
  return kind == RoutineKind::lapack || kind == RoutineKind::eigen || kind == RoutineKind::mixed ||
         kind == RoutineKind::norm;
}

/// A row of the table, but for its arguments.
struct RoutineRow {
  RoutineKind kind;
  const char* types;  ///< letters of the types that the routine exists for
  const char* name;

  constexpr bool exists_for(char type) const {
    for (const char* letter = types; *letter != '\0'; ++letter) {
      if (*letter == type) return true;
    }
    return false;
  }
};

inline constexpr RoutineRow kRoutineRows[] = {
#define OVERLAPACK_ROUTINE(kind, types, name, parameters, arguments) \
  {RoutineKind::kind, #types, #name},
#include "routines.def"
#undef OVERLAPACK_ROUTINE
};
inline constexpr std::size_t kRoutineRowCount = std::size(kRoutineRows);

/// The index of a routine's row.
constexpr std::size_t row_of(std::string_view name) {
  std::size_t row = 0;
  while (kRoutineRows[row].name != name) ++row;
  return row;
}

}  // namespace overlapack
