#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "core/scalar.hpp"

/// What the routines of plain_ilp64.cpp store by their last argument, which is `info` as a rule,
/// and the norms that they return. Not to be mistaken for an `info` of 32 bits.
constexpr std::int64_t kAnswer = (std::int64_t{1} << 32) + 42;
constexpr float kNorm = 42;

namespace overlapack::plain {
using I = std::int64_t;
namespace s {
using T = float;
using W = SecondWork<T, I>;
}  // namespace s
namespace d {
using T = double;
using W = SecondWork<T, I>;
}  // namespace d
namespace c {
using T = std::complex<float>;
using W = SecondWork<T, I>;
}  // namespace c
namespace z {
using T = std::complex<double>;
using W = SecondWork<T, I>;
}  // namespace z
}  // namespace overlapack::plain
