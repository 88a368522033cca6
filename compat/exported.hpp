// The exported names, declared and chosen by the scalar type: for C++ code that calls the library
// as its users do (the benchmark, `overlapack tune`, the tests).
#pragma once

#include "scopes.hpp"

namespace overlapack::compat {

#define OVERLAPACK_NAME(symbol, spelling, type, name, kind, result, entry, parameters, arguments) \
  namespace spelling::type {                                                                      \
  extern "C" result symbol parameters;                                                            \
  }
#include "expand.def"

// Exported<T> below gets its members by inheritance, one from a base of each row: the base of row
// potrf is Exported_potrf<T>, with the member `potrf`. A base has no member for a type that the
// routine does not exist for. The names are those with 32-bit integers (dpotrf_, dch1up_), and
// those of the library's own interface (ovl_dcholupdate); the others are left out.
#define OVERLAPACK_ROUTINE(kind, types, name, parameters, arguments) \
  template <class T>                                                 \
  struct Exported_##name {};
#include "routines.def"
#undef OVERLAPACK_ROUTINE

#define OVERLAPACK_MEMBER(symbol, spelling, type, name)    \
  template <>                                              \
  struct Exported_##name<spelling::type::T> {              \
    static constexpr auto* name = &spelling::type::symbol; \
  };
#define OVERLAPACK_MEMBER_lp64(...) OVERLAPACK_MEMBER(__VA_ARGS__)
#define OVERLAPACK_MEMBER_native(...) OVERLAPACK_MEMBER(__VA_ARGS__)
#define OVERLAPACK_MEMBER_ilp64(...)
#define OVERLAPACK_MEMBER_scipy_lp64(...)
#define OVERLAPACK_MEMBER_scipy_ilp64(...)
#define OVERLAPACK_NAME(symbol, spelling, type, name, kind, result, entry, parameters, arguments) \
  OVERLAPACK_MEMBER_##spelling(symbol, spelling, type, name)
#include "expand.def"
#undef OVERLAPACK_MEMBER
#undef OVERLAPACK_MEMBER_lp64
#undef OVERLAPACK_MEMBER_native
#undef OVERLAPACK_MEMBER_ilp64
#undef OVERLAPACK_MEMBER_scipy_lp64
#undef OVERLAPACK_MEMBER_scipy_ilp64

/// What stands behind the last row, which ends in a comma as all rows do.
struct ExportedEnd {};

/// Exported<double>::potrf is dpotrf_, and so on.
template <class T>
struct Exported :
#define OVERLAPACK_ROUTINE(kind, types, name, parameters, arguments) Exported_##name<T>,
#include "routines.def"
#undef OVERLAPACK_ROUTINE
    ExportedEnd {
};

}  // namespace overlapack::compat
