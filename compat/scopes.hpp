// A namespace for each spelling and type of the exported names, in which a row of the table of
// routines can be read: lp64::s has the types T = float and I = std::int32_t, and W, that of a
// second workspace. The namespace of a spelling also has kFamily, the names of the CPU LAPACK that
// its callers get.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "core/scalar.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::compat {

#define OVERLAPACK_SCOPE(spelling, integer, family)    \
  namespace spelling {                                 \
  using I = integer;                                   \
  inline constexpr auto kFamily = cpu::Family::family; \
  namespace s {                                        \
  using T = float;                                     \
  using W = SecondWork<T, I>;                          \
  }                                                    \
  namespace d {                                        \
  using T = double;                                    \
  using W = SecondWork<T, I>;                          \
  }                                                    \
  namespace c {                                        \
  using T = std::complex<float>;                       \
  using W = SecondWork<T, I>;                          \
  }                                                    \
  namespace z {                                        \
  using T = std::complex<double>;                      \
  using W = SecondWork<T, I>;                          \
  }                                                    \
  }
OVERLAPACK_SCOPE(lp64, std::int32_t, lp64)
OVERLAPACK_SCOPE(ilp64, std::int64_t, ilp64)
OVERLAPACK_SCOPE(scipy_lp64, std::int32_t, scipy_lp64)
OVERLAPACK_SCOPE(scipy_ilp64, std::int64_t, scipy_ilp64)
OVERLAPACK_SCOPE(native, std::int64_t, ilp64)
#undef OVERLAPACK_SCOPE

}  // namespace overlapack::compat
