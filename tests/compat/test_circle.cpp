// How a call is told that goes in a circle.
#include <gtest/gtest.h>

#include <csetjmp>
#include <initializer_list>

#include "circle.hpp"

namespace overlapack::compat {
namespace {

/// The key of a routine's call; what stands from the first matrix on is not read.
CallKey key(std::int32_t n, char uplo = 'L') {
  const std::int32_t* const size = &n;
  const char* const option = &uplo;
  double* const matrix = nullptr;
  const std::int32_t* const pivots = nullptr;
  return CallKey().add(1).add_sizes(option, size, matrix, pivots);
}

/// Whether the last of these calls, each made inside the one before, is one of them once more.
[[gnu::noinline]] bool last_is_again(const CallKey* first, const CallKey* last) {
  const CallUnderWay call(*first);
  return first == last ? call.again() : last_is_again(first + 1, last) && !call.again();
}
bool last_is_again(std::initializer_list<CallKey> calls) {
  return last_is_again(calls.begin(), calls.end() - 1);
}

TEST(Circle, IsTheSameCallInsideItself) {
  EXPECT_TRUE(last_is_again({key(5), key(5)}));
  EXPECT_TRUE(last_is_again({key(5), key(4), key(5, 'U'), key(5)}));
  EXPECT_FALSE(last_is_again({key(5), key(4)}));
  EXPECT_FALSE(last_is_again({key(5), key(5, 'U')}));
  EXPECT_FALSE(last_is_again({key(5)}));
}

/// As a library does that calls itself with ever smaller sizes.
[[gnu::noinline]] bool any_is_again(int n, std::jmp_buf* back) {
  const CallUnderWay call(key(n));
  if (n > 0) return any_is_again(n - 1, back) || call.again();
  if (back != nullptr) std::longjmp(*back, 1);
  return call.again();
}

TEST(Circle, IsNoneOfSmallerCalls) { EXPECT_FALSE(any_is_again(100, nullptr)); }

TEST(Circle, IsNoneOfCallsThatLongjmpHasLeft) {
  std::jmp_buf back;
  if (setjmp(back) == 0) any_is_again(3, &back);
  EXPECT_FALSE(any_is_again(3, nullptr));
}

}  // namespace
}  // namespace overlapack::compat
