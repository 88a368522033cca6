// Deflation, of all merges of a level at a time, by three kernels:
//
//   sort    A thread for each pole counts those before it. So d, z and the column are put in order.
//   scan    A thread block for each merge. One thread goes through the poles in order, which the
//           others bring to shared memory. It notes rotations. At the end all of them put the
//           columns in groups.
//   rotate  A thread for each row of Q does all rotations of its merge.
//
// What bounds the speed is the scan, at some ten nanoseconds a pole, and rotations, if many are.
#include <type_traits>

#include "cpu/tridiagonal.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/tridiagonal/merge.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;

/// Work space, by row of the matrix.
template <class T>
struct Work {
  T *d, *z;      // in order
  T *c, *s;      // of rotations
  Index* order;  // the columns
  Index* kept;   // by remaining pole, its column;
  Index* group;  // and which one of its group it is: 3 * (number) + (group)
  Index *p, *q;  // columns of rotations

  explicit Work(const Deflate<T>& op)
      : d(op.numbers.data),
        z(d + op.numbers.ld),
        c(z + op.numbers.ld),
        s(c + op.numbers.ld),
        order(op.indices.data),
        kept(order + op.indices.ld),
        group(kept + op.indices.ld),
        p(group + op.indices.ld),
        q(p + op.indices.ld) {}
};
static_assert(Deflate<double>::kNumbers == 4 && Deflate<double>::kIndices == 5);

template <class T>
__global__ void __launch_bounds__(kThreads)
    sort_poles_kernel(const Index* parts, const T* e, const T* d, const T* q, Index ld,
                      Work<T> work) {
  __shared__ T tile[kThreads];
  const Merge merge(parts);
  const int t = static_cast<int>(threadIdx.x);
  const Index begin = merge.first + static_cast<Index>(blockIdx.x) * kThreads, i = begin + t;
  if (begin >= merge.last) return;
  const bool mine = i < merge.last;
  const T value = mine ? d[i] : T(0);
  Index before = 0;
  for (Index base = merge.first; base < merge.last; base += kThreads) {
    const int count = static_cast<int>(min(merge.last - base, static_cast<Index>(kThreads)));
    if (t < count) tile[t] = d[base + t];
    __syncthreads();
    int here = 0;
    for (int j = 0; j < count; ++j) {
      here += tile[j] < value || (tile[j] == value && base + j < i) ? 1 : 0;
    }
    before += here;
    __syncthreads();
  }
  if (!mine) return;
  const bool upper = i < merge.middle;
  const T element = q[(upper ? merge.middle - 1 : merge.middle) + i * ld];
  const T sign = !upper && e[merge.middle - 1] < 0 ? T(-1) : T(1);
  const Index place = merge.first + before;
  work.d[place] = value;
  work.z[place] = sign * element * std::sqrt(T(0.5));
  work.order[place] = i;
}

/// What one thread notes as it goes through the poles.
template <class T>
struct Notes {
  const Merge& merge;
  const Work<T>& work;
  T *d, *poles, *z;
  Index* columns;
  Index end;  // those that are known stand from here on
  Index kept = 0, rotations = 0;
  Index counts[tridiagonal::kKindsOfRows] = {};

  __device__ void keep(const tridiagonal::Pole<T>& pole) {
    const Index place = merge.first + kept++;
    const int group = static_cast<int>(pole.rows);
    poles[place] = pole.d;
    z[place] = pole.z;
    work.kept[place] = pole.column;
    work.group[place] = tridiagonal::kKindsOfRows * counts[group]++ + group;
  }
  __device__ void drop(const tridiagonal::Pole<T>& pole) {
    d[--end] = pole.d;
    columns[end] = pole.column;
  }
  __device__ void rotate(Index p, Index q, T c, T s) {
    const Index place = merge.first + rotations++;
    work.p[place] = p;
    work.q[place] = q;
    work.c[place] = c;
    work.s[place] = s;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    scan_poles_kernel(const Index* parts, const T* e, T* d, T* poles, T* z, Index* columns,
                      Index* places, Index* counts, Work<T> work) {
  __shared__ T d_here[kThreads], z_here[kThreads];
  __shared__ Index order_here[kThreads], counts_here[kCountsOfMerge];
  const Merge merge(parts);
  const int t = static_cast<int>(threadIdx.x);

  T largest = 0;
  for (Index i = merge.first + t; i < merge.last; i += kThreads) {
    largest = max(largest, max(std::abs(work.d[i]), std::abs(work.z[i])));
  }
  d_here[t] = largest;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) d_here[t] = max(d_here[t], d_here[t + half]);
  }
  __syncthreads();
  largest = d_here[0];
  __syncthreads();

  Notes<T> notes{merge, work, d, poles, z, columns, merge.last};
  tridiagonal::Deflation<T> deflation(2 * std::abs(e[merge.middle - 1]), largest);
  for (Index base = merge.first; base < merge.last; base += kThreads) {
    const int count = static_cast<int>(min(merge.last - base, static_cast<Index>(kThreads)));
    if (t < count) {
      d_here[t] = work.d[base + t];
      z_here[t] = work.z[base + t];
      order_here[t] = work.order[base + t];
    }
    __syncthreads();
    if (t == 0) {
      for (int i = 0; i < count; ++i) {
        const Index column = order_here[i];
        deflation.take(
            {d_here[i], z_here[i], column,
             column < merge.middle ? tridiagonal::Rows::upper : tridiagonal::Rows::lower},
            notes);
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    deflation.finish(notes);
    for (int group = 0; group < tridiagonal::kKindsOfRows; ++group) {
      counts_here[group] = notes.counts[group];
    }
    counts_here[tridiagonal::kKindsOfRows] = notes.rotations;
  }
  __syncthreads();

  if (t < kCountsOfMerge) counts[kCountsOfMerge * blockIdx.y + t] = counts_here[t];
  const Index begins[] = {0, counts_here[0], counts_here[0] + counts_here[1]};
  const Index kept = begins[2] + counts_here[2];
  for (Index i = t; i < kept; i += kThreads) {
    const Index code = work.group[merge.first + i];
    const Index place = begins[code % tridiagonal::kKindsOfRows] + code / tridiagonal::kKindsOfRows;
    places[merge.first + i] = place;
    columns[merge.first + place] = work.kept[merge.first + i];
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    rotate_columns_kernel(const Index* parts, const Index* counts, T* q, Index ld, Work<T> work) {
  const Merge merge(parts);
  const Index row = merge.first + static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= merge.last) return;
  const Index rotations = counts[kCountsOfMerge * blockIdx.y + tridiagonal::kKindsOfRows];
  for (Index i = merge.first; i < merge.first + rotations; ++i) {
    T &x = q[row + work.p[i] * ld], &y = q[row + work.q[i] * ld];
    const T c = work.c[i], s = work.s[i], x_before = x, y_before = y;
    x = c * x_before + s * y_before;
    y = c * y_before - s * x_before;
  }
}

template <class T>
void enqueue(CudaQueue& queue, const Deflate<T>& op) {
  const Index merges = op.parts.cols;
  const Work<T> work(op);
  const LaunchShape by_rows = shape_of_merges(op.longest, merges, kThreads, kThreads);
  const LaunchShape one_each = shape_of_merges(1, merges, 1, kThreads);
  launch_kernel(queue.stream(), by_rows, op.kName, sort_poles_kernel<T>, op.parts.data, op.e.data,
                op.d.data, op.q.data, op.q.ld, work);
  launch_kernel(queue.stream(), one_each, op.kName, scan_poles_kernel<T>, op.parts.data, op.e.data,
                op.d.data, op.poles.data, op.z.data, op.columns.data, op.places.data,
                op.counts.data, work);
  launch_kernel(queue.stream(), by_rows, op.kName, rotate_columns_kernel<T>, op.parts.data,
                op.counts.data, op.q.data, op.q.ld, work);
}

}  // namespace

OVERLAPACK_LAUNCH(Deflate<float>)
OVERLAPACK_LAUNCH(Deflate<double>)

}  // namespace overlapack::cuda
