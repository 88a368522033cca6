#include "agree.hpp"

#include "blacs.hpp"

namespace overlapack::scalapack {

void take_minima(int context, std::vector<int>& values) {
  const int count = static_cast<int>(values.size());
  constexpr int kNoPlaces = -1, kEverybody = -1;
  blacs()->igamn2d(context, "All", " ", count, 1, values.data(), count, nullptr, nullptr, kNoPlaces,
                   kEverybody, kEverybody);
}

bool all_agree(int context, bool here, int value) {
  constexpr int kMask = (1 << 30) - 1;
  std::vector<int> least = {here ? 1 : 0, value, kMask - value};
  take_minima(context, least);
  return least[0] == 1 && least[1] == kMask - least[2];  // the least value is the largest, too
}

int first_that_failed(int context, int rank, bool well) {
  std::vector<int> first = {well ? kNone : rank};
  take_minima(context, first);
  return first[0];
}

}  // namespace overlapack::scalapack
