// What a panel's row interchanges do to the rows, all at once.
//
// Interchange j exchanges row j with a row partner(j) >= j. What row j holds at its turn was put
// there by the last interchange i < j with partner j, and is what row i held at its own turn; if
// there is no such i, it still is row j of the beginning. So a few steps from j to i lead to its
// origin. Interchange j takes it to row partner(j), where it stays unless a later interchange has
// the same partner. To row j it brings, for good, what is in row partner(j): what the last
// interchange i < j with the same partner took there, or else that row of the beginning.
#pragma once

#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

/// Where row j of a block of rows comes from; and which row goes to a place below the block, if
/// interchange j is the one that takes it there.
struct RowMoves {
  int source;
  int displaced, place;  // place < 0: none
};

/// At most kMaxInterchanges interchanges, in shared memory.
template <int kMaxInterchanges>
struct alignas(16) Interchanges {
  int partner[kMaxInterchanges];  // negative from `count` on
  int before[kMaxInterchanges];   // the last interchange before j with partner j, or -1
  RowMoves moves[kMaxInterchanges];

  /// The row of the beginning that row j holds at its turn.
  __device__ int origin(int j) const {
    while (before[j] >= 0) j = before[j];
    return j;
  }

  /// The last interchange before j with that partner, or -1.
  __device__ int previous_with(int mine, int j) const {
    constexpr int kBits = 32, kWords = kMaxInterchanges / kBits;
    static_assert(kMaxInterchanges % kBits == 0);
    unsigned same[kWords] = {};  // several chains of instructions side by side
#pragma unroll
    for (int i = 0; i < kBits; ++i) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        if (partner[w * kBits + i] == mine) same[w] |= 1u << i;
      }
    }
    int previous = -1;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int before_j = j - w * kBits;
      if (before_j < kBits) same[w] &= before_j > 0 ? (1u << before_j) - 1 : 0u;
      if (same[w] != 0) previous = w * kBits + kBits - 1 - __clz(static_cast<int>(same[w]));
    }
    return previous;
  }

  /// Makes `moves` of `count` partners: each thread knows that of its own number. All threads of
  /// the block, at least kMaxInterchanges; what they have stored to shared memory before, all see
  /// after it.
  __device__ void compose(int count, int mine) {
    compose(count, mine, [] { __syncthreads(); });
  }
  /// By the first threads of the block, at least kMaxInterchanges, who wait for each other by
  /// synchronize().
  template <class Synchronize>
  __device__ void compose(int count, int mine, Synchronize synchronize) {
    const int j = static_cast<int>(threadIdx.x);
    if (j < kMaxInterchanges) {
      partner[j] = j < count ? mine : -1;
      before[j] = -1;
      moves[j].place = mine >= count ? mine : -1;
    }
    synchronize();
    if (j < count && mine > j && mine < count) atomicMax(&before[mine], j);
    const int previous = j < count ? previous_with(mine, j) : -1;
    synchronize();
    if (j < count) {
      moves[j].source = previous < 0 ? mine : origin(previous);
      moves[j].displaced = origin(j);
      if (previous >= 0) moves[previous].place = -1;  // what it has taken there goes on
    }
    synchronize();
  }
};

}  // namespace overlapack::cuda
