#include "tools/break_even.hpp"

#include <algorithm>

namespace overlapack::tools {

Index find_break_even(Index max_n, double precision, const std::function<bool(Index)>& wins) {
  Index lost = 0, won = kNever;  // the largest size that lost; the smallest above it, if it won
  int in_a_row = 0;
  for (Index n = std::min<Index>(32, max_n); n <= max_n && in_a_row < 3; n *= 2) {
    if (wins(n)) {
      if (in_a_row++ == 0) won = n;
    } else {
      lost = n;
      won = kNever;
      in_a_row = 0;
    }
  }
  if (won == kNever || lost == 0) return won;
  while (static_cast<double>(won - lost) > precision * static_cast<double>(won)) {
    const Index middle = lost + (won - lost) / 2;
    if (middle == lost) break;
    (wins(middle) ? won : lost) = middle;
  }
  return won;
}

}  // namespace overlapack::tools
