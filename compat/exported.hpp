// The exported names with 32-bit integers (dpotrf_, dch1up_ and so on), and those of the library's
// own interface (ovl_dcholupdate), chosen by the scalar type: for C++ code that calls the library
// as its users do (the benchmark, `overlapack tune`, the tests).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "core/scalar.hpp"

namespace overlapack::compat {

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments) extern "C" void symbol parameters;
#define OVERLAPACK_TABLE "routines.def"
#include "spellings.def"
#define OVERLAPACK_TABLE "mixed.def"
#include "spellings.def"
#include "update_spellings.def"
#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments) extern "C" Real<T> symbol parameters;
#define OVERLAPACK_TABLE "all_norms.def"
#include "spellings.def"
#undef OVERLAPACK_ENTRY

/// Exported<double>::potrf is dpotrf_, and so on.
template <class T>
struct Exported;
template <>
struct Exported<float> {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &lp64::s::s##name##_;
#include "norms.def"
#include "routines.def"
#include "updates.def"
#undef OVERLAPACK_ROUTINE
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &native::s::ovl_s##name;
#include "native.def"
#undef OVERLAPACK_ROUTINE
};
template <>
struct Exported<double> {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &lp64::d::d##name##_;
#include "mixed_real.def"
#include "norms.def"
#include "routines.def"
#include "updates.def"
#undef OVERLAPACK_ROUTINE
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &native::d::ovl_d##name;
#include "native.def"
#undef OVERLAPACK_ROUTINE
};
template <>
struct Exported<std::complex<float>> {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &lp64::c::c##name##_;
#include "hermitian_norms.def"
#include "norms.def"
#include "routines.def"
#include "updates.def"
#undef OVERLAPACK_ROUTINE
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &native::c::ovl_c##name;
#include "native.def"
#undef OVERLAPACK_ROUTINE
};
template <>
struct Exported<std::complex<double>> {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &lp64::z::z##name##_;
#include "hermitian_norms.def"
#include "mixed_complex.def"
#include "norms.def"
#include "routines.def"
#include "updates.def"
#undef OVERLAPACK_ROUTINE
#define OVERLAPACK_ROUTINE(name, parameters, arguments) \
  static constexpr auto* name = &native::z::ovl_z##name;
#include "native.def"
#undef OVERLAPACK_ROUTINE
};

}  // namespace overlapack::compat
