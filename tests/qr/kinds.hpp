// Both kinds of reflectors, for tests that hold of both.
#pragma once

#include "cpu/lapack.hpp"

namespace overlapack::testing_support {

constexpr cpu::Reflectors kKinds[] = {cpu::Reflectors::columns, cpu::Reflectors::rows};
inline const char* name_of(cpu::Reflectors kind) {
  return kind == cpu::Reflectors::rows ? "LQ " : "QR ";
}

}  // namespace overlapack::testing_support
