// Stands for a LAPACK that has 64-bit integers under the plain names: its file name says so. All it
// does is to say that it was called.
#include "support/plain_ilp64.hpp"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace overlapack {

template <class Result, class... Arguments>
Result answer(Arguments... arguments) {
  if constexpr (std::is_void_v<Result>) {
    // The last argument is info, but for some updates.
    std::memcpy(std::get<sizeof...(arguments) - 1>(std::make_tuple(arguments...)), &kAnswer,
                sizeof(kAnswer));
  } else {
    return kNorm;
  }
}

#define PLAIN_NAME(symbol, result, parameters, arguments)              \
  extern "C" [[gnu::visibility("default")]] result symbol parameters { \
    return answer<result> arguments;                                   \
  }
#include "support/plain_ilp64.def"

}  // namespace overlapack
