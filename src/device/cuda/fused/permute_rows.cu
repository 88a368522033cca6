// Many row interchanges as one permutation: its composition, and its application in place.
//
// Composition: each thread asks where the row that ends up in its place comes from. It walks
// backwards through steps of up to 128 interchanges, with a finger on its row. What one of these
// steps moves is known without a walk (interchange.cuh): at most 256 rows, noted in a map of all of
// them. Whenever a thread has come to the first interchange of a panel, it notes where its finger
// is.
//
// Application: a thread block reads a column into shared memory and writes it back in order.

#include "device/cuda/fused/fused.hpp"
#include "device/cuda/fused/interchange.cuh"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kStep = 128;  // interchanges at a time; and threads of a block, one for each

__global__ void __launch_bounds__(kStep)
    compose_kernel(int m, const Index* __restrict__ pivots, int count, Index offset, int nb,
                   Index* sources, Index ld) {
  __shared__ Interchanges<kStep> interchanges;
  extern __shared__ int origin[];  // of what the step brings to a row; kNone: it stays
  constexpr int kNone = -1;
  const int t = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x) * kStep + t;
  for (int i = t; i < m; i += kStep) origin[i] = kNone;
  int source = row, first = 0;
  for (int last = count; last > 0; last = first) {
    const int panel = (last - 1) / nb, begin = panel * nb;
    first = begin + (last - 1 - begin) / kStep * kStep;
    const bool mine = first + t < last;
    const int partner = mine ? static_cast<int>(pivots[first + t] - 1 - offset) - first : 0;
    interchanges.compose(last - first, partner);
    const RowMoves moves = mine ? interchanges.moves[t] : RowMoves{0, 0, -1};
    const bool displaces = moves.place >= 0;
    if (mine) origin[first + t] = first + moves.source;
    if (displaces) origin[first + moves.place] = first + moves.displaced;
    __syncthreads();
    if (row < m) {
      if (origin[source] != kNone) source = origin[source];
      if (first == begin) sources[row + panel * ld] = source;
    }
    __syncthreads();
    if (mine) origin[first + t] = kNone;
    if (displaces) origin[first + moves.place] = kNone;
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

template <class T>
void enqueue(CudaQueue& queue, const ComposeInterchanges<T>& op) {
  const DeviceView<Index>& sources = op.sources;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(sources.rows, kStep));
  shape.threads = kStep;
  shape.shared_bytes = static_cast<std::size_t>(sources.rows) * sizeof(int);
  launch_kernel(queue.stream(), shape, op.kName, compose_kernel, static_cast<int>(sources.rows),
                op.pivots.data, static_cast<int>(op.pivots.rows), op.offset,
                static_cast<int>(op.nb), sources.data, sources.ld);
}

template <class T>
void enqueue(CudaQueue& queue, const PermuteRows<T>& op) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(op.a.cols);
  shape.threads = kThreads;
  shape.shared_bytes = static_cast<std::size_t>(op.a.rows) * sizeof(T);
  launch_kernel(queue.stream(), shape, op.kName, permute_kernel<D>, static_cast<int>(op.a.rows),
                device_cast(op.a.data), op.a.ld, op.width, op.sources.data, op.sources.ld);
}

}  // namespace

/// A column of PermuteRows must fit, and, to compose interchanges, 4 bytes a row and what it has
/// besides.
template <class T>
Index permutable_rows(Index shared_bytes) {
  static_assert(sizeof(T) >= sizeof(int));
  return (shared_bytes - static_cast<Index>(sizeof(Interchanges<kStep>))) /
         static_cast<Index>(sizeof(T));
}

#define OVERLAPACK_INSTANTIATE(T)           \
  template Index permutable_rows<T>(Index); \
  OVERLAPACK_LAUNCH(ComposeInterchanges<T>) OVERLAPACK_LAUNCH(PermuteRows<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
