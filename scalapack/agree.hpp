// How ranks come to the same decision. All ranks of a context call these functions together, and
// get the same result. Each is one reduction of BLACS, which takes microseconds on one host.
#pragma once

#include <limits>
#include <vector>

namespace overlapack::scalapack {

/// What a rank says that has nothing to say.
constexpr int kNone = std::numeric_limits<int>::max();

/// Replaces each value by its least on all ranks. None may be negative.
void take_minima(int context, std::vector<int>& values);

/// Whether `here` is true on all ranks, and `value`, of 30 bits, the same.
bool all_agree(int context, bool here, int value);

/// The first rank for which `well` is false; kNone if there is none.
int first_that_failed(int context, int rank, bool well);

}  // namespace overlapack::scalapack
