// Libraries that have 64-bit integers under the plain names get the calls of their programs as they
// are: read as 32-bit integers, `info` would be stored in half.
#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <type_traits>

#include "core/scalar.hpp"
#include "support/plain_ilp64.hpp"

namespace overlapack {
namespace {

/// Enough for whatever an argument points to; info is the first word.
std::int64_t words[16];

template <class Argument>
Argument argument() {
  if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<Argument>(words);
  } else {
    return Argument(1);  // the length of a CHARACTER
  }
}

template <class Result, class... Arguments>
Result call(Result (*routine)(Arguments...)) {
  words[0] = 0;
  return routine(argument<Arguments>()...);
}

}  // namespace

// A test for every name.
#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments) \
  extern "C" void symbol parameters;                          \
  TEST(PlainIlp64, symbol) {                                  \
    call(&symbol);                                            \
    EXPECT_EQ(words[0], kAnswer);                             \
  }
#define OVERLAPACK_NORM_ENTRY(symbol, name, parameters, arguments) \
  extern "C" Real<T> symbol parameters;                            \
  TEST(PlainIlp64, symbol) { EXPECT_EQ(call(&symbol), kNorm); }
#include "support/plain_ilp64.def"

}  // namespace overlapack
