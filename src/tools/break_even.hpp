// The search for the size from which a device pays.
#pragma once

#include <functional>

#include "dispatch/profile.hpp"

namespace overlapack::tools {

using dispatch::kNever;

/// The smallest size from which the device wins at every measured size up to `max_n`, or kNever.
/// Sizes are doubled from 32, and the search stops early when the device has won three times in a
/// row; then the gap below the first of these wins is bisected until it is at most `precision`
/// times its upper end. `wins(n)` measures one size; it is called at most once for each.
Index find_break_even(Index max_n, double precision, const std::function<bool(Index)>& wins);

}  // namespace overlapack::tools
