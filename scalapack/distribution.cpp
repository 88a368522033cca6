#include "distribution.hpp"

#include <algorithm>

namespace overlapack::scalapack {

Index Dealing::count_of(Index process, Index count) const {
  const Index place = (process - source + processes) % processes;  // in the order of dealing
  const Index blocks = count / block;
  const Index whole = blocks / processes + (place < blocks % processes ? 1 : 0);
  return whole * block + (place == blocks % processes ? count % block : 0);
}

std::vector<Run> runs(const Dealing& dealing, Index process, Index first, Index count) {
  std::vector<Run> result;
  const Index end = first + count;
  for (Index begin = first, next = 0; begin < end; begin = next) {
    next = std::min((begin / dealing.block + 1) * dealing.block, end);
    if (dealing.owner(begin) != process) continue;
    const Index local = dealing.local(begin);
    const bool goes_on = !result.empty() &&
                         result.back().first + result.back().count == begin - first &&
                         result.back().local + result.back().count == local;
    if (goes_on) {
      result.back().count += next - begin;
    } else {
      result.push_back({begin - first, local, next - begin});
    }
  }
  return result;
}

}  // namespace overlapack::scalapack
