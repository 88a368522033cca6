// The exported functions: every row of the tables, in four precisions and all their spellings.
#include <complex>
#include <cstddef>
#include <cstdint>

#include "adapters.hpp"
#include "overlapack/overlapack.h"  // so that the headers and the tables cannot drift apart
#include "update_adapters.hpp"

namespace overlapack::compat {

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments)                \
  extern "C" __attribute__((visibility("default"))) void symbol parameters { \
    Entry<T, decltype(&name<T, I>)>{kFamily, #name, &name<T, I>} arguments;  \
  }

// The family of each spelling, found by the expansion's namespace.
namespace lp64 {
constexpr auto kFamily = cpu::Family::lp64;
}
namespace ilp64 {
constexpr auto kFamily = cpu::Family::ilp64;
}
namespace scipy_lp64 {
constexpr auto kFamily = cpu::Family::scipy_lp64;
}
namespace scipy_ilp64 {
constexpr auto kFamily = cpu::Family::scipy_ilp64;
}

#define OVERLAPACK_TABLE "routines.def"
#include "spellings.def"
#define OVERLAPACK_TABLE "mixed.def"
#include "spellings.def"
#undef OVERLAPACK_ENTRY

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments)                      \
  extern "C" __attribute__((visibility("default"))) Real<T> symbol parameters {    \
    return Entry<T, decltype(&name<T, I>)>{kFamily, #name, &name<T, I>} arguments; \
  }
#define OVERLAPACK_TABLE "all_norms.def"
#include "spellings.def"
#undef OVERLAPACK_ENTRY

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments)                    \
  extern "C" __attribute__((visibility("default"))) void symbol parameters {     \
    UpdateEntry<decltype(&name<T, I>)>{{kFamily, #name}, &name<T, I>} arguments; \
  }
namespace native {
constexpr auto kFamily = cpu::Family::ilp64;
}
#include "update_spellings.def"

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments)                             \
  extern "C" __attribute__((visibility("default"))) void symbol parameters {              \
    BlasEntry<decltype(&name<T, I>)>{__builtin_return_address(0), &name<T, I>} arguments; \
  }
#define OVERLAPACK_TABLE "blas.def"  // not dcopy_: every program would pay for it
#include "wheel_spellings.def"
#undef OVERLAPACK_ENTRY

}  // namespace overlapack::compat
