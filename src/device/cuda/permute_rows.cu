// Many row interchanges as one permutation: its composition, and its application in place.
//
// Composition: each thread asks where the row that ends up in its place comes from. It walks
// through the interchanges backwards with a finger on its row; an interchange of the rows x and y
// moves a finger on x to y and one on y to x. Whenever it has come to the first interchange of a
// panel, it notes where its finger is.
//
// Application: a thread block reads a column into shared memory and writes it back in order.
#include <algorithm>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWalkers = 64;  // threads of a block: few, so that all multiprocessors have some
constexpr int kChunk = 256;   // interchanges in shared memory at a time

__global__ void __launch_bounds__(kWalkers)
    compose_kernel(int m, const Index* __restrict__ pivots, int count, int nb, Index* sources,
                   Index ld) {
  __shared__ int partner[kChunk];
  const int row = static_cast<int>(blockIdx.x * kWalkers + threadIdx.x);
  int source = row, panel = (count - 1) / nb;
  for (int last = count; last > 0;) {
    const int first = (last - 1) / kChunk * kChunk;
    __syncthreads();  // nobody needs the chunk before
    for (int i = static_cast<int>(threadIdx.x); first + i < last; i += kWalkers) {
      partner[i] = static_cast<int>(pivots[first + i] - 1);
    }
    __syncthreads();
    for (int j = last - 1; j >= first; --j) {
      const int other = partner[j - first];
      if (source == j) {
        source = other;
      } else if (source == other) {
        source = j;
      }
      if (j == panel * nb) {
        if (row < m) sources[row + panel * ld] = source;
        --panel;
      }
    }
    last = first;
  }
}

constexpr int kThreads = 1024;

template <class T>
__global__ void __launch_bounds__(kThreads)
    permute_kernel(int m, T* a, Index ld, Index width, const Index* __restrict__ sources,
                   Index sources_ld) {
  extern __shared__ double2 memory[];
  T* const copy = reinterpret_cast<T*>(memory);
  T* const column = a + blockIdx.x * ld;
  const Index* const from = sources + blockIdx.x / width * sources_ld;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < m; i += kThreads) copy[i] = column[i];
  __syncthreads();
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < m; i += kThreads) {
    const int source = static_cast<int>(from[i]);
    if (source != i) column[i] = copy[source];
  }
}

}  // namespace

void compose_interchanges(cudaStream_t stream, DeviceView<const Index> pivots, Index nb,
                          DeviceView<Index> sources) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>((sources.rows + kWalkers - 1) / kWalkers);
  shape.threads = kWalkers;
  launch(stream, shape, "compose_interchanges", compose_kernel, static_cast<int>(sources.rows),
         pivots.data, static_cast<int>(pivots.rows), static_cast<int>(nb), sources.data,
         sources.ld);
}

template <class T>
void permute_rows(cudaStream_t stream, DeviceView<T> a, Index width,
                  DeviceView<const Index> sources) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(a.cols);
  shape.threads = kThreads;
  shape.shared_bytes = static_cast<std::size_t>(a.rows) * sizeof(T);
  launch(stream, shape, "permute_rows", permute_kernel<D>, static_cast<int>(a.rows),
         device_cast(a.data), a.ld, width, sources.data, sources.ld);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void permute_rows(cudaStream_t, DeviceView<T>, Index, DeviceView<const Index>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
