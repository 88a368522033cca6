// The rule by which LU chooses pivots: LAPACK's i?amax.
#pragma once

#include <type_traits>

#include "device/cuda/arithmetic.cuh"

namespace overlapack::cuda {

/// Bit patterns of non-negative floating-point numbers are ordered like the numbers.
template <class R>
using KeyOf = std::conditional_t<sizeof(R) == 4, unsigned, unsigned long long>;
__device__ inline unsigned to_key(float x) { return __float_as_uint(x); }
__device__ inline unsigned long long to_key(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}

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
  const DeviceReal<T> size = cheap_modulus(x);
  if (size == size) return {to_key(size), position};
  return position == j ? Candidate<Key>{~Key{0}, position} : nobody<Key>();
}

}  // namespace overlapack::cuda
