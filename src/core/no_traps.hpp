// Arithmetic that the caller is not to hear of.
#pragma once

#include <cfenv>

namespace overlapack {

/// As long as this exists, floating-point exceptions of the calling thread do not trap; afterwards
/// its flags are as they were. The caller may have set traps, and what is computed on its behalf,
/// with numbers that are not finite or beyond what it needs, is none of what LAPACK computes.
class NoTraps {
 public:
  NoTraps() { std::feholdexcept(&before_); }
  ~NoTraps() { std::fesetenv(&before_); }
  NoTraps(const NoTraps&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace overlapack
