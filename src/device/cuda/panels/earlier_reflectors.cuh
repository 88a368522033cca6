// What a panel of QR gets from the panel before it, in the kernel that factors it
// (geqrf_cluster.cu): X := X - V T^H (V^H X), where the threads of a cluster have whole rows of X
// in registers.
//
// In three launches that takes a third as long as the panel itself, nearly all of it latency, and
// each launch has to find free multiprocessors, while a cluster has its own.
//
// The product V^H X goes by chunks of rows, of which V and X lie in shared memory: a thread sums up
// a few elements over some of the rows. Each block multiplies its sum by T^H, and sends the result
// by rows: one block adds up what all blocks have of a row, and sends it to all. Then each thread
// subtracts what its own rows of V say.
//
// V has as many rows more as it has columns: those of X above the panel, which stay in memory. The
// first block has them as one more chunk.
#pragma once

#include <type_traits>

#include "device/cuda/panels/householder.cuh"
#include "device/cuda/ptx/cluster.cuh"

namespace overlapack::cuda {

constexpr int kReflectors = 32;  // at most
constexpr int kChunkRows = 128;

template <class T>
struct EarlierReflectors {
  const T *v, *t;
  T* above;  // the rows of X above the panel
  Index ldv, ldt, ld_above;
  int count;  // 0: there are none
};

/// Complex doubles would need more shared memory and registers than there are. In single precision
/// nothing was measured.
template <class T>
constexpr bool kReflectsEarlier = std::is_same_v<T, double>;

/// Shared memory, for panels of W columns. Rows are padded, so that neighbouring threads store
/// chunks of theirs without conflicts.
template <class T, int W>
struct alignas(sizeof(int4)) EarlierMemory {
  static constexpr int kPadding = Chunk<T>::kElements;
  T v[kChunkRows][kReflectors + kPadding];
  T x[kChunkRows][W + kPadding];
  T t[kReflectors][kReflectors];
  T of_block[kReflectors * W];  // by block: rows of T^H V^H X to be added up here
  T scaled[kReflectors][W];     // T^H V^H X
  Barrier arrived[2];           // of_block, scaled
};

/// N elements between registers and an aligned place in shared memory.
template <int N, class T>
__device__ void load_chunks(T (&to)[N], const T* from) {
  constexpr int kElements = Chunk<T>::kElements;
  static_assert(N % kElements == 0);
#pragma unroll
  for (int i = 0; i < N; i += kElements) {
    const Chunk<T> chunk = reinterpret_cast<const Chunk<T>&>(from[i]);
#pragma unroll
    for (int e = 0; e < kElements; ++e) to[i + e] = chunk.element[e];
  }
}
template <int N, class T>
__device__ void store_chunks(const T (&from)[N], T* to) {
  constexpr int kElements = Chunk<T>::kElements;
  static_assert(N % kElements == 0);
#pragma unroll
  for (int i = 0; i < N; i += kElements) {
    Chunk<T> chunk;
#pragma unroll
    for (int e = 0; e < kElements; ++e) chunk.element[e] = from[i + e];
    reinterpret_cast<Chunk<T>&>(to[i]) = chunk;
  }
}

/// One thread makes the barriers before synchronize_cluster().
template <class T, int W>
__device__ void prepare(EarlierMemory<T, W>& memory) {
  for (Barrier& barrier : memory.arrived) make_barrier(&barrier);
}

/// For a block of kThreads threads, each of which has R rows of a panel of m rows and n <= W
/// columns. All threads of the cluster call reflect() once.
template <class T, int W, int R, int kThreads>
class EarlierReflection {
  static constexpr int kElements = Chunk<T>::kElements;
  static constexpr int kPasses = kThreads / kChunkRows;  // in which all threads give one row
  static_assert(kThreads % kChunkRows == 0);
  // A thread sums up a tile of V^H X, over the rows of its group.
  static constexpr int kTiles = 8;  // in each direction
  static constexpr int kTileRows = kReflectors / kTiles, kTileColumns = W / kTiles;
  static constexpr int kGroups = kThreads / (kTiles * kTiles);
  static_assert(kGroups * kReflectors <= kChunkRows, "the sums of groups lie where X was");

 public:
  __device__ EarlierReflection(EarlierMemory<T, W>& memory, const EarlierReflectors<T>& by, int m,
                               int n)
      : memory_(memory), by_(by), m_(m), n_(n) {}

  /// row(r) is the thread's row r of the panel.
  template <class RowOf>
  __device__ void reflect(T (&x)[R][W], RowOf row) {
    for (int e = thread(); e < kReflectors * kReflectors; e += kThreads) {
      const int l = e % kReflectors, i = e / kReflectors;  // T(l, i)
      const bool is_there = l < by_.count && i < by_.count;
      memory_.t[l][i] = is_there ? by_.t[l + column_offset(i, by_.ldt)] : from_real<T>(0);
    }
    T sums[kTileRows][kTileColumns];
#pragma unroll
    for (int a = 0; a < kTileRows; ++a) {
#pragma unroll
      for (int b = 0; b < kTileColumns; ++b) sums[a][b] = from_real<T>(0);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll 1
      for (int pass = 0; pass < kPasses; ++pass) {
        __syncthreads();  // all have read the chunk before
        const int place = thread() - pass * kChunkRows;
        if (place >= 0 && place < kChunkRows) {
          store_chunks(x[r], memory_.x[place]);
          T v[kReflectors];
#pragma unroll
          for (int i = 0; i < kReflectors; ++i) v[i] = v_of(row(r), i);
          store_chunks(v, memory_.v[place]);
        }
        __syncthreads();
        add_products(sums, kChunkRows);
      }
    }
    if (rank_ == 0) {
      __syncthreads();
      load_above();
      __syncthreads();
      add_products(sums, by_.count);
    }
    send_sums(sums);
    await(&memory_.arrived[0], 0);
    add_and_send();
    await(&memory_.arrived[1], 0);
    subtract(x, row);
    if (rank_ == 0) subtract_above();
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ int rows_of_block() const { return kReflectors / blocks_; }

  /// V in a row of the panel.
  __device__ T v_of(int row, int i) const {
    return row < m_ && i < by_.count ? by_.v[by_.count + row + column_offset(i, by_.ldv)]
                                     : from_real<T>(0);
  }

  __device__ void load_above() {
    for (int e = thread(); e < kReflectors * kReflectors; e += kThreads) {
      const int row = e % kReflectors, i = e / kReflectors;
      const bool is_there = row < by_.count && i < by_.count;
      memory_.v[row][i] = is_there ? by_.v[row + column_offset(i, by_.ldv)] : from_real<T>(0);
    }
    for (int e = thread(); e < kReflectors * W; e += kThreads) {
      const int row = e % kReflectors, c = e / kReflectors;
      const bool is_there = row < by_.count && c < n_;
      memory_.x[row][c] =
          is_there ? by_.above[row + column_offset(c, by_.ld_above)] : from_real<T>(0);
    }
  }

  /// Of V^H X, what some rows in shared memory give.
  __device__ void add_products(T (&sums)[kTileRows][kTileColumns], int rows) const {
#pragma unroll 2
    for (int row = thread() / (kTiles * kTiles); row < rows; row += kGroups) {
      T v[kTileRows], x[kTileColumns];
      load_chunks(v, &memory_.v[row][first_row()]);
      load_chunks(x, &memory_.x[row][first_column()]);
#pragma unroll
      for (int a = 0; a < kTileRows; ++a) {
#pragma unroll
        for (int b = 0; b < kTileColumns; ++b) {
          sums[a][b] = add_conjugated(sums[a][b], x[b], v[a]);
        }
      }
    }
  }
  __device__ static int first_row() { return thread() % kTiles * kTileRows; }
  __device__ static int first_column() { return thread() / kTiles % kTiles * kTileColumns; }

  /// T^H times the block's sum, each row to the block that adds it up.
  __device__ void send_sums(const T (&sums)[kTileRows][kTileColumns]) {
    T* const of_group = memory_.x[0];  // [kGroups][kReflectors][W]
    T* const product = memory_.v[0];   // [kReflectors][W]
    const int group = thread() / (kTiles * kTiles);
    __syncthreads();
#pragma unroll
    for (int a = 0; a < kTileRows; ++a) {
      store_chunks(sums[a],
                   &of_group[(group * kReflectors + first_row() + a) * W + first_column()]);
    }
    __syncthreads();
    for (int e = thread(); e < kReflectors * W; e += kThreads) {
      T total = of_group[e];
#pragma unroll
      for (int g = 1; g < kGroups; ++g) total = add(total, of_group[g * kReflectors * W + e]);
      product[e] = total;
    }
    __syncthreads();
    for (int e = thread() * kElements; e < kReflectors * W; e += kThreads * kElements) {
      const int i = e / W, c = e % W;
      Chunk<T> total;
#pragma unroll
      for (T& one : total.element) one = from_real<T>(0);
      for (int l = 0; l <= i; ++l) {
        const T t = conjugate(memory_.t[l][i]);
        const Chunk<T> some = reinterpret_cast<const Chunk<T>&>(product[l * W + c]);
#pragma unroll
        for (int k = 0; k < kElements; ++k) {
          total.element[k] = add_product(total.element[k], t, some.element[k]);
        }
      }
      const int own = rows_of_block() * W;  // elements
      send(e / own, &memory_.of_block[rank_ * own + e % own], &memory_.arrived[0],
           reinterpret_cast<const int4&>(total));
    }
    expect_all(0);
  }

  /// The rows that this block adds up, to all blocks.
  __device__ void add_and_send() {
    const int own = rows_of_block() * W;
    for (int e = thread() * kElements; e < own * blocks_; e += kThreads * kElements) {
      const int place = e % own;
      Chunk<T> total = reinterpret_cast<const Chunk<T>&>(memory_.of_block[place]);
      for (int b = 1; b < blocks_; ++b) {
        const Chunk<T> one = reinterpret_cast<const Chunk<T>&>(memory_.of_block[b * own + place]);
#pragma unroll
        for (int k = 0; k < kElements; ++k) {
          total.element[k] = add(total.element[k], one.element[k]);
        }
      }
      send(e / own, &memory_.scaled[0][rank_ * own + place], &memory_.arrived[1],
           reinterpret_cast<const int4&>(total));
    }
    expect_all(1);
  }

  __device__ void expect_all(int message) {
    if (thread() == 0) {
      expect(&memory_.arrived[message], static_cast<unsigned>(kReflectors * W * sizeof(T)));
    }
  }

  /// V times T^H V^H X, from the panel's rows.
  template <class RowOf>
  __device__ void subtract(T (&x)[R][W], RowOf row) const {
    constexpr int kAhead = 4;  // columns of V that are on their way
    T next[kAhead][R];
    const auto fetch = [&](int first) {
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
#pragma unroll
        for (int r = 0; r < R; ++r) next[a][r] = v_of(row(r), first + a);
      }
    };
    fetch(0);
#pragma unroll 1
    for (int first = 0; first < by_.count; first += kAhead) {
      T v[kAhead][R];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
#pragma unroll
        for (int r = 0; r < R; ++r) v[a][r] = next[a][r];
      }
      fetch(first + kAhead);
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (first + a < by_.count) subtract_row(x, v[a], memory_.scaled[first + a]);
      }
    }
  }
  __device__ static void subtract_row(T (&x)[R][W], const T (&v)[R], const T* scaled) {
#pragma unroll
    for (int c = 0; c < W; c += kElements) {
      const Chunk<T> chunk = reinterpret_cast<const Chunk<T>&>(scaled[c]);
#pragma unroll
      for (int k = 0; k < kElements; ++k) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
          x[r][c + k] = subtract_product(x[r][c + k], v[r], chunk.element[k]);
        }
      }
    }
  }

  __device__ void subtract_above() const {
    for (int e = thread(); e < kReflectors * n_; e += kThreads) {
      const int row = e % kReflectors, c = e / kReflectors;
      if (row >= by_.count) continue;
      T* const to = by_.above + row + column_offset(c, by_.ld_above);
      T x = *to;
#pragma unroll 8
      for (int i = 0; i < by_.count; ++i) {
        x = subtract_product(x, by_.v[row + column_offset(i, by_.ldv)], memory_.scaled[i][c]);
      }
      *to = x;
    }
  }

  EarlierMemory<T, W>& memory_;
  const EarlierReflectors<T>& by_;
  const int m_, n_;
  const int rank_ = rank_in_cluster(), blocks_ = blocks_in_cluster();
};

}  // namespace overlapack::cuda
