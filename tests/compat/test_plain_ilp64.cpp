// Libraries that have 64-bit integers under the plain names get the calls of their programs as they
// are: read as 32-bit integers, `info` would be stored in half.
#include <gtest/gtest.h>

#include <type_traits>

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
void expect_answer(Result (*routine)(Arguments...)) {
  words[0] = 0;
  if constexpr (std::is_void_v<Result>) {
    routine(argument<Arguments>()...);
    EXPECT_EQ(words[0], kAnswer);
  } else {
    EXPECT_EQ(routine(argument<Arguments>()...), kNorm);
  }
}

}  // namespace

// A test for every name.
#define PLAIN_NAME(symbol, result, parameters, arguments) \
  extern "C" result symbol parameters;                    \
  TEST(PlainIlp64, symbol) { expect_answer(&symbol); }
#include "support/plain_ilp64.def"

}  // namespace overlapack
