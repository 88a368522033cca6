// The rule by which LU chooses pivots: LAPACK's i?amax.
#pragma once

#include <type_traits>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {

/// Bit patterns of non-negative floating-point numbers are ordered like the numbers.
template <class R>
using KeyOf = std::conditional_t<sizeof(R) == 4, unsigned, unsigned long long>;
__device__ inline unsigned to_key(float x) { return __float_as_uint(x); }
__device__ inline unsigned long long to_key(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}

/// Only NaNs have larger keys.
template <class Key>
constexpr Key kInfinityKey = sizeof(Key) == 4 ? Key{0x7f800000}
                                              : static_cast<Key>(0x7ff0000000000000);

/// A row that may become the pivot row: the larger key wins, then the smaller position.
template <class Key>
struct Candidate {
  Key key;
  unsigned position;
};

/// The candidate that loses against every row.
constexpr unsigned kNobody = 0xffffffffu;
template <class Key>
__device__ Candidate<Key> nobody() {
  return {0, kNobody};
}

template <class Key>
__device__ Candidate<Key> better(Candidate<Key> a, Candidate<Key> b) {
  return a.key > b.key || (a.key == b.key && a.position < b.position) ? a : b;
}

/// The row at `position`, whose element in the pivot column is x, as a candidate in step j. As the
/// reference i?amax: a NaN compares as larger than nothing, so it is chosen only where the search
/// starts, at position j, where nothing compares as larger than it.
template <class T>
__device__ auto candidate(T x, unsigned position, unsigned j) -> Candidate<KeyOf<DeviceReal<T>>> {
  using Key = KeyOf<DeviceReal<T>>;
  const Key key = to_key(cheap_modulus(x));
  if (key <= kInfinityKey<Key>) return {key, position};
  return position == j ? Candidate<Key>{~Key{0}, position} : nobody<Key>();
}

/// Those of `lanes` in which `word` is largest.
__device__ inline unsigned lanes_with_largest(unsigned lanes, unsigned word) {
  const bool among = (lanes >> (threadIdx.x % kWarp) & 1) != 0;
  const unsigned largest = __reduce_max_sync(kAllLanes, among ? word : 0u);
  return __ballot_sync(kAllLanes, among && word == largest);
}

__device__ inline bool several(unsigned lanes) { return (lanes & (lanes - 1)) != 0; }

/// The lane with the best candidate; any if all are nobody. Usually one reduction decides.
template <class Key>
__device__ int best_lane(Candidate<Key> c) {
  constexpr bool kTwoWords = sizeof(Key) == 8;
  const auto low = static_cast<unsigned>(c.key);
  const unsigned high = kTwoWords ? static_cast<unsigned>(c.key >> (kTwoWords ? 32 : 0)) : low;
  unsigned lanes = lanes_with_largest(kAllLanes, high);
  if (several(lanes)) {
    if (kTwoWords) lanes = lanes_with_largest(lanes, low);
    lanes = lanes_with_largest(lanes, ~c.position);
  }
  return __ffs(static_cast<int>(lanes)) - 1;
}

}  // namespace overlapack::cuda
