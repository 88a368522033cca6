#pragma once

#include <cstdint>

/// What the routines of plain_ilp64.cpp put into `info`, and the norms that they return. Not to be
/// mistaken for an `info` of 32 bits.
constexpr std::int64_t kAnswer = (std::int64_t{1} << 32) + 42;
constexpr float kNorm = 42;
