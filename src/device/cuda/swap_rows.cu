// A sequence of row interchanges as one gather.
//
// `count` interchanges touch at most 2 count rows: the rows j of the sequence and their partners
// pivots[j]. Each such row is the business of one thread. It finds out which row ends up in its
// place by walking through the sequence backwards with a finger on its row: an interchange of the
// rows x and y moves a finger on x to y and one on y to x. All fingers walk at the same time, every
// thread block for itself, so there is no list in global memory and no serial composition. Then the
// threads load their rows from a few columns at a time, wait for each other, and store.
//
// Long sequences go in batches, one launch each; the batches are applied one after the other like
// the interchanges in them.
#include <algorithm>
#include <limits>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kBatch = 256;        // interchanges per launch
constexpr int kColumns = 8;        // columns in flight per thread
constexpr Index kMaxBlocks = 256;  // two for each multiprocessor; more would only compose again

/// Interchanges rows first + i and pivots[first + i] - 1 - offset of the columns of `a`,
/// i = 0 ... count-1 or backwards. At least 2 count threads. Row is what numbers of rows fit in: a
/// walk takes half the time with 32 bits.
template <class T, class Row>
__global__ void __launch_bounds__(2 * kBatch)
    swap_rows_kernel(T* a, Index columns, Index ld, const Index* __restrict__ pivots, Row first,
                     int count, Index offset, bool forward) {
  __shared__ Row partner[kBatch];
  const int t = static_cast<int>(threadIdx.x);
  if (t < count) partner[t] = static_cast<Row>(pivots[first + t] - 1 - offset);
  __syncthreads();

  // The row this thread fills. A partner that is itself in the sequence, or that an earlier
  // interchange has named, already has its thread.
  const bool is_partner = t >= count;
  const int mine = is_partner ? t - count : t;
  bool active = t < 2 * count;
  Row row = 0;
  if (active) row = is_partner ? partner[mine] : first + mine;
  if (is_partner && row >= first && row < first + count) active = false;

  Row source = row;
#pragma unroll 4
  for (int s = 0; s < count; ++s) {
    const int i = forward ? count - 1 - s : s;  // from the last interchange to the first
    const Row x = first + i, y = partner[i], other = source == y ? x : source;
    source = source == x ? y : other;
    active = active && !(y == row && is_partner && i < mine);
  }
  if (source == row) active = false;

  const Index stride = Index{kColumns} * gridDim.x;
  for (Index c = Index{kColumns} * blockIdx.x; c < columns; c += stride) {
    T x[kColumns];
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      if (active && c + k < columns) x[k] = a[source + (c + k) * ld];
    }
    __syncthreads();  // all of these columns are loaded before any of them is stored
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      if (active && c + k < columns) a[row + (c + k) * ld] = x[k];
    }
  }
}

}  // namespace

template <class T>
void swap_rows(cudaStream_t stream, DeviceView<T> a, DeviceView<const Index> pivots, Index offset,
               bool forward) {
  using D = typename DeviceScalar<T>::type;
  const Index batches = (pivots.rows + kBatch - 1) / kBatch;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min((a.cols + kColumns - 1) / kColumns, kMaxBlocks));
  for (Index b = 0; b < batches; ++b) {
    const Index first = (forward ? b : batches - 1 - b) * kBatch;
    const int count = static_cast<int>(std::min(pivots.rows - first, Index{kBatch}));
    shape.threads = static_cast<unsigned>((2 * count + kWarp - 1) / kWarp * kWarp);
    const auto launch_with = [&](auto kernel, auto first_row) {
      launch(stream, shape, "swap_rows", kernel, device_cast(a.data), a.cols, a.ld, pivots.data,
             first_row, count, offset, forward);
    };
    if (a.rows <= std::numeric_limits<int>::max()) {
      launch_with(swap_rows_kernel<D, int>, static_cast<int>(first));
    } else {
      launch_with(swap_rows_kernel<D, Index>, first);
    }
  }
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void swap_rows(cudaStream_t, DeviceView<T>, DeviceView<const Index>, Index, bool);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
