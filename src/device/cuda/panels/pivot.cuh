// The rule by which LU chooses pivots: LAPACK's i?amax.
#pragma once

#include <type_traits>

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/launch.cuh"

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
  const Key key = to_key(abs1(x));
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

/// The lane with the best candidate; any if all are nobody.
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

/// The element of L where x is below the pivot. A column whose pivot is zero stays as it is. Not
/// inline: where the pivot has a reciprocal there are faster ways, and this should not be in
/// theirs.
template <class T>
__device__ __noinline__ T multiplier_of(T x, T pivot) {
  return is_zero(pivot) ? x : divide(x, pivot);
}

// ---- The same in half the time, where the upper words of the keys decide.

/// The upper word of the key; a NaN's is above infinity's.
__device__ inline unsigned upper_word(float x) { return __float_as_uint(x) & 0x7fffffffu; }
__device__ inline unsigned upper_word(double x) {
  return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
}
template <class R>
__device__ unsigned upper_word(Complex<R> x) {
  return upper_word(abs1(x));
}
/// That of infinity.
template <class R>
constexpr unsigned kInfinityWord = sizeof(R) == 4 ? 0x7f800000u : 0x7ff00000u;

/// The upper word of a candidate: never so small that it could be taken for nobody's, 0.
template <class T>
__device__ unsigned candidate_word(T x) {
  return max(upper_word(x), static_cast<unsigned>(kWarp));
}

/// The lane with the best candidate by candidate_word(), 0 for nobody; the first lane if all are
/// nobody. The last five bits give way to the number of the lane, counted from the end, so that one
/// reduction finds both. If two candidates differ in nothing else, if the best one is not finite or
/// not `sure` that it has no equal, exact() decides.
template <class R, class Exact>
__device__ int best_lane(unsigned word, bool sure, Exact exact) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned mine = (word & ~(kWarp - 1u)) | (kWarp - 1 - lane);
  const unsigned best = __reduce_max_sync(kAllLanes, mine);
  const bool rival = best >= kWarp && (mine ^ best) < kWarp && (mine != best || !sure);
  if (__any_sync(kAllLanes, rival || best >= kInfinityWord<R>)) return exact();
  return static_cast<int>(kWarp - 1 - best % kWarp);
}

}  // namespace overlapack::cuda
