// The exported functions: every row of the table of routines, for its types and in its spellings.
// Each runs the adapter of the row's name by way of the class that its kind has.
#include "adapters/call.hpp"
#include "adapters/cholesky.hpp"
#include "adapters/condition.hpp"
#include "adapters/copies.hpp"
#include "adapters/eigen.hpp"
#include "adapters/inverse.hpp"
#include "adapters/lu.hpp"
#include "adapters/norms.hpp"
#include "adapters/qr.hpp"
#include "adapters/refine.hpp"
#include "adapters/solve.hpp"
#include "adapters/update.hpp"
#include "overlapack/overlapack.h"  // whose declarations must be those of the table
#include "routines.hpp"
#include "scopes.hpp"

namespace overlapack::compat {

#define OVERLAPACK_NAME(symbol, spelling, type, name, kind, result, entry, parameters, arguments) \
  namespace spelling::type {                                                                      \
  extern "C" __attribute__((visibility("default"))) result symbol parameters {                    \
    constexpr std::size_t kRow = row_of(#name);                                                   \
    const Caller caller{kFamily, #name, __builtin_return_address(0), kRow, #symbol};              \
    return entry<T, decltype(&name<T, I>)>{caller, &name<T, I>} arguments;                        \
  }                                                                                               \
  }
#include "expand.def"

}  // namespace overlapack::compat
