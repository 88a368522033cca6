// Stands for a LAPACK that has 64-bit integers under the plain names: its file name says so. All it
// does is to say that it was called.
#include "support/plain_ilp64.hpp"

#include <complex>
#include <cstddef>
#include <tuple>

#include "core/scalar.hpp"

namespace overlapack {

template <class... Arguments>
void answer(Arguments... arguments) {
  *std::get<sizeof...(arguments) - 1>(std::make_tuple(arguments...)) = kAnswer;
}
template <class... Arguments>
float any_norm(Arguments...) {
  return kNorm;
}

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments) \
  extern "C" [[gnu::visibility("default")]] void symbol parameters { answer arguments; }
#define OVERLAPACK_NORM_ENTRY(symbol, name, parameters, arguments) \
  extern "C" [[gnu::visibility("default")]] Real<T> symbol parameters { return any_norm arguments; }
#include "support/plain_ilp64.def"

}  // namespace overlapack
