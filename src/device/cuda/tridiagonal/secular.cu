// The secular equation of all merges of a level: a warp for each root, then for each z, then for
// each vector. Lanes have every 32nd term of a sum or product. What is combined of them by
// exchanges is the same number in all lanes, so that all go the same way.
//
// What bounds the speed are quotients: about ten for each pole and root.
#include "cpu/tridiagonal.hpp"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/tridiagonal/merge.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / kWarp;

/// The number in its merge of what this warp does.
__device__ inline Index number_of_warp() {
  return static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
}

template <class T>
struct SumByLanes {
  template <class Term>
  __device__ tridiagonal::ValueAndSlope<T> operator()(Index first, Index last, Term term) const {
    tridiagonal::ValueAndSlope<T> sum{0, 0};
    for (Index i = first + lane_of_warp(); i < last; i += kWarp) {
      const tridiagonal::ValueAndSlope<T> one = term(i);
      sum.value += one.value;
      sum.slope += one.slope;
    }
    return {sum_of_warp(sum.value), sum_of_warp(sum.slope)};
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    solve_secular_kernel(const Index* parts, const Index* counts, const T* e, const T* poles,
                         const T* z, T* d, Index* origins, T* shifts) {
  const Merge merge(parts);
  const Index j = number_of_warp(), k = poles_of_merge(counts), first = merge.first;
  if (j >= k) return;
  const T rho = 2 * std::abs(e[merge.middle - 1]);
  const tridiagonal::RankOne<T> problem{k, poles + first, z + first, rho};
  const tridiagonal::Root<T> root = tridiagonal::SecularRoot<T>(problem, j).find(SumByLanes<T>());
  if (lane_of_warp() != 0) return;
  origins[first + j] = root.origin;
  shifts[first + j] = root.shift;
  d[first + j] = problem.d[root.origin] + root.shift;
}

/// Of the merge.
template <class T>
struct Roots {
  const Index* origins;
  const T* shifts;
  __device__ tridiagonal::Root<T> operator[](Index j) const { return {origins[j], shifts[j]}; }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    other_z_kernel(const Index* parts, const Index* counts, const T* poles, T* z,
                   const Index* origins, const T* shifts) {
  const Merge merge(parts);
  const Index i = number_of_warp(), k = poles_of_merge(counts), first = merge.first;
  if (i >= k) return;
  const Roots<T> roots{origins + first, shifts + first};
  T square = 1;
  for (Index j = lane_of_warp(); j < k; j += kWarp) {
    square *= tridiagonal::factor_of_square(poles + first, i, j, roots[j]);
  }
  square = combined_of_warp(square, [](T x, T y) { return x * y; });
  if (lane_of_warp() != 0) return;
  z[first + i] = std::copysign(std::sqrt(std::abs(square)), z[first + i]);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    secular_vectors_kernel(const Index* parts, const Index* counts, const T* poles, const T* z,
                           const Index* places, const Index* origins, const T* shifts, T* s,
                           Index ld) {
  const Merge merge(parts);
  const Index j = number_of_warp(), k = poles_of_merge(counts), first = merge.first;
  if (j >= k) return;
  const tridiagonal::Root<T> root = Roots<T>{origins + first, shifts + first}[j];
  const auto element = [&](Index i) {
    return z[first + i] / tridiagonal::difference(poles + first, i, root);
  };
  T squares = 0;
  for (Index i = lane_of_warp(); i < k; i += kWarp) squares += element(i) * element(i);
  const T norm = std::sqrt(sum_of_warp(squares));
  T* const vector = s + first + (first + j) * ld;
  for (Index i = lane_of_warp(); i < k; i += kWarp) vector[places[first + i]] = element(i) / norm;
}

template <class T>
void enqueue(CudaQueue& queue, const SolveSecular<T>& op) {
  launch_kernel(queue.stream(), shape_of_merges(op.longest, op.parts.cols, kWarps, kThreads),
                op.kName, solve_secular_kernel<T>, op.parts.data, op.counts.data, op.e.data,
                op.poles.data, op.z.data, op.d.data, op.origins.data, op.shifts.data);
}

template <class T>
void enqueue(CudaQueue& queue, const SecularVectors<T>& op) {
  const LaunchShape shape = shape_of_merges(op.longest, op.parts.cols, kWarps, kThreads);
  launch_kernel(queue.stream(), shape, op.kName, other_z_kernel<T>, op.parts.data, op.counts.data,
                op.poles.data, op.z.data, op.origins.data, op.shifts.data);
  launch_kernel(queue.stream(), shape, op.kName, secular_vectors_kernel<T>, op.parts.data,
                op.counts.data, op.poles.data, op.z.data, op.places.data, op.origins.data,
                op.shifts.data, op.s.data, op.s.ld);
}

}  // namespace

OVERLAPACK_LAUNCH(SolveSecular<float>)
OVERLAPACK_LAUNCH(SolveSecular<double>)
OVERLAPACK_LAUNCH(SecularVectors<float>)
OVERLAPACK_LAUNCH(SecularVectors<double>)

}  // namespace overlapack::cuda
