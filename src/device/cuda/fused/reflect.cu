// C := op(Q) C for the block reflector of a panel of QR, Q = I - V T V^H, in one launch: what
// stands between two panels. There are three products, of which the first has few rows, few columns
// and long sums.
//
// A cluster has kColumns columns of C, and a thread of it one of their rows, in registers. So C is
// read and written once, and V is read twice. First all blocks sum up their rows' part of
// W = V^H C, and tell each other (cluster.cuh); then each multiplies W by op(T) for itself, and
// subtracts V times that from its rows.
//
// With more rows than a cluster of 8 blocks has threads, three products take less time.
#include <algorithm>

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/ptx/cluster.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMaxBlocks = 8;  // of a cluster, on any GPU
constexpr int kColumns = 8;    // of C
constexpr int kReflectors = 32;
constexpr int kProducts = kReflectors * kColumns;  // elements of W, by rows
static_assert(kProducts == kThreads, "a thread has one");

/// More columns are for products that keep all of the GPU busy.
constexpr Index kMaxColumns = 512;

/// Elements of W that a warp sums up at a time, as there are registers for.
template <class T>
constexpr int kSums = sizeof(T) == 16 ? 16 : 32;

template <class T>
struct alignas(sizeof(int4)) Memory {
  T of_block[kMaxBlocks][kProducts];  // sent by all blocks
  T of_warp[kWarps][kProducts];
  T t[kReflectors][kReflectors];  // [l][i]: element (i, l) of op(T)
  T product[kProducts], scaled[kProducts];
  Barrier arrived;
};

template <class T>
struct ReflectOperands {
  const T *v, *t;
  T* c;
  Index ldv, ldt, ldc;
  bool adjoint;  // of T
};

/// The row of one thread in kColumns columns, of which some may not be there.
template <class T>
class Row {
 public:
  __device__ Row(const ReflectOperands<T>& op, int m, int k, int columns, T* c)
      : op_(op),
        row_(rank_in_cluster() * kThreads + static_cast<int>(threadIdx.x)),
        m_(m),
        k_(k),
        columns_(columns),
        c_(c) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      x_[j] = is_there(j) ? c_[row_ + column_offset(j, op_.ldc)] : from_real<T>(0);
    }
  }

  /// The warp's part of W.
  __device__ void multiply(T* of_warp) const {
    constexpr int kGroup = kSums<T> / kColumns;  // columns of V at a time
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll 1
    for (int first = 0; first < k_; first += kGroup) {
      T sums[kSums<T>];
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        const T v = v_of(first + g);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          sums[g * kColumns + j] = add_conjugated(from_real<T>(0), x_[j], v);
        }
      }
      T total = sum_of_mine<kSums<T>>(sums, lane);
#pragma unroll
      for (int mask = kSums<T>; mask < kWarp; mask *= 2) {
        total = add(total, of_other_lane(total, mask));
      }
      if (lane < kSums<T>) of_warp[first * kColumns + lane] = total;
    }
  }

  /// Subtracts V times something, and stores the row.
  __device__ void subtract(const T* scaled) {
#pragma unroll 1
    for (int i = 0; i < k_; ++i) {
      const T v = v_of(i);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        x_[j] = subtract_product(x_[j], v, scaled[i * kColumns + j]);
      }
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (is_there(j)) c_[row_ + column_offset(j, op_.ldc)] = x_[j];
    }
  }

 private:
  __device__ bool is_there(int j) const { return row_ < m_ && j < columns_; }
  __device__ T v_of(int i) const {
    return row_ < m_ && i < k_ ? op_.v[row_ + column_offset(i, op_.ldv)] : from_real<T>(0);
  }

  const ReflectOperands<T>& op_;
  const int row_, m_, k_, columns_;
  T* const c_;
  T x_[kColumns];
};

/// Tells all blocks what this one's warps have summed up.
template <class T>
__device__ void send_products(Memory<T>& memory, int blocks, int rank) {
  constexpr int kElements = Chunk<T>::kElements;
  for (int first = static_cast<int>(threadIdx.x) * kElements; first < kProducts;
       first += kThreads * kElements) {
    Chunk<T> total = reinterpret_cast<const Chunk<T>&>(memory.of_warp[0][first]);
    for (int w = 1; w < kWarps; ++w) {
      const Chunk<T> one = reinterpret_cast<const Chunk<T>&>(memory.of_warp[w][first]);
      for (int e = 0; e < kElements; ++e) {
        total.element[e] = add(total.element[e], one.element[e]);
      }
    }
    for (int block = 0; block < blocks; ++block) {
      send(block, &memory.of_block[rank][first], &memory.arrived,
           reinterpret_cast<const int4&>(total));
    }
  }
}

/// V has k <= kReflectors columns. Each cluster has the columns of its number, and enough threads.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    reflect_cluster_kernel(int m, int k, int n, ReflectOperands<T> op) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<T>*>(raw_memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int blocks = blocks_in_cluster(), rank = rank_in_cluster();
  const int first = static_cast<int>(blockIdx.x) / blocks * kColumns;
  if (thread == 0) {
    make_barrier(&memory.arrived);
    expect(&memory.arrived, static_cast<unsigned>(blocks * kProducts * sizeof(T)));
  }
  for (int e = thread; e < k * k; e += kThreads) {
    const int i = e % k, l = e / k;
    memory.t[l][i] = op.adjoint ? conjugate(op.t[l + column_offset(i, op.ldt)])
                                : op.t[i + column_offset(l, op.ldt)];
  }
  for (int e = thread; e < kWarps * kProducts; e += kThreads) {
    memory.of_warp[0][e] = from_real<T>(0);  // of columns that V has not
  }
  Row<T> row(op, m, k, min(kColumns, n - first), op.c + column_offset(first, op.ldc));
  synchronize_cluster();

  row.multiply(memory.of_warp[thread / kWarp]);
  __syncthreads();
  send_products(memory, blocks, rank);
  await(&memory.arrived, 0);
  T sum = from_real<T>(0);
  for (int block = 0; block < blocks; ++block) sum = add(sum, memory.of_block[block][thread]);
  memory.product[thread] = sum;
  __syncthreads();

  const int i = thread / kColumns, j = thread % kColumns;
  sum = from_real<T>(0);
  if (i < k) {
    for (int l = 0; l < k; ++l) {
      sum = add_product(sum, memory.t[l][i], memory.product[l * kColumns + j]);
    }
  }
  memory.scaled[thread] = sum;
  __syncthreads();
  row.subtract(memory.scaled);
  synchronize_cluster();  // nobody ends while others may still send
#endif
}

template <class T>
bool is_for_clusters(CudaQueue& queue, const Reflect<T>& op) {
  return op.v.cols <= kReflectors && op.c.cols <= kMaxColumns &&
         op.c.rows <= kMaxBlocks * kThreads && queue.exchange().cluster_limit() >= kMaxBlocks;
}

template <class T>
void by_clusters(CudaQueue& queue, const Reflect<T>& op) {
  using D = typename DeviceScalar<T>::type;
  const ReflectOperands<D> operands = {device_cast(op.v.data),
                                       device_cast(op.t.data),
                                       device_cast(op.c.data),
                                       op.v.ld,
                                       op.t.ld,
                                       op.c.ld,
                                       op.op == Op::conj_trans};
  LaunchShape shape;
  shape.threads = kThreads;
  shape.cluster = 2;  // without a cluster nobody can send
  while (static_cast<Index>(shape.cluster) * kThreads < op.c.rows) shape.cluster *= 2;
  shape.blocks = shape.cluster * static_cast<unsigned>(quotient_up(op.c.cols, kColumns));
  shape.shared_bytes = shared_by_all<Memory<D>>();
  launch_kernel(queue.stream(), shape, "reflect", reflect_cluster_kernel<D>,
                static_cast<int>(op.c.rows), static_cast<int>(op.v.cols),
                static_cast<int>(op.c.cols), operands);
}

template <class T>
void enqueue(CudaQueue& queue, const Reflect<T>& op) {
  if (is_for_clusters(queue, op)) return by_clusters(queue, op);
  const Index k = op.t.cols;
  const DeviceView<T> product = op.work.block(0, 0, k, op.c.cols),
                      scaled = op.work.block(k, 0, k, op.c.cols);
  launch(queue, Gemm<T>{Op::conj_trans, Op::none, T(1), op.v, op.c, T(0), product});
  launch(queue, Gemm<T>{op.op, Op::none, T(1), op.t, product, T(0), scaled});
  launch(queue, Gemm<T>{Op::none, Op::none, T(-1), op.v, scaled, T(1), op.c});
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(Reflect<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
