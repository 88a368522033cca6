// Numbers by which the environment makes tests longer.
#pragma once

#include <cstdlib>

#include "core/view.hpp"

namespace overlapack::testing_support {

inline Index number_in(const char* variable, Index otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

}  // namespace overlapack::testing_support
