// Bulge chasing: one cooperative launch, in which a thread block takes one sweep after the other,
// and the sweeps of all blocks follow each other down the matrix (record 0110).
//
// Step k of sweep s has the block D on the diagonal from row s + 1 + k b on, and the block E below
// D, both of order b. With the reflector v of the step before,
//
//   D := H^H D H,  E := E H,  a new reflector v' of E's first column, which it makes [beta; 0],
//   E := H'^H E.
//
// A step may begin when the sweep before has made its step k + 1. That step has changed only two
// things of D and E, compared with the step before it: the last element of D, and the last column
// of E. All the others are copied to shared memory in the background while the step before is
// made. So what is between two sweeps is what it takes to say that a step is done, to see that, and
// to load one column.
//
// Four warps have D and four have E, a lane one or two rows, and a warp each fourth column, in
// registers. Sums over columns go through shared memory, and are added by every warp for itself.
// So does each warp of E come to the same reflector. Then a warp needs nobody else: sums over rows
// are sums over lanes. There are two barriers in a step: behind the sums, and at its end. A ninth
// warp says that a step is done, since that waits for all that has been stored.
//
// In band storage element (i, j) is number i + j (ld - 1), so a block is a matrix like any other.
#include <algorithm>

#include "device/bulges.hpp"
#include "device/cuda/bulges/bulges.hpp"
#include "device/cuda/panels/householder.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kWarpsOfPart = 4;  // that have D, or E
constexpr int kWarps = 2 * kWarpsOfPart, kComputing = kWarps * kWarp;
/// Whether there is the ninth warp. The widest numbers have use for all registers.
template <class T>
constexpr bool kHasNinth = sizeof(T) < 16;
template <class T>
constexpr int kThreads = kComputing + (kHasNinth<T> ? kWarp : 0);
/// Of the barriers. At the end of a step, and where a sweep begins, the ninth warp takes part.
constexpr int kBarrierOfSums = 1, kBarrierOfSteps = 2;

/// Rows of a lane, columns of a warp and elements of a thread, for blocks of order kWidth at most.
template <int kWidth>
struct Shape {
  static constexpr int kRows = kWidth / kWarp, kColumns = kWidth / kWarpsOfPart;
  static constexpr int kElements = kRows * kColumns;
};

/// How far a block is: the number of its sweep times `stride`, and how many steps of it are made.
/// Each has a line of the cache to itself.
struct alignas(128) Progress {
  unsigned long long ticket;
};

template <class T>
struct Problem {
  using R = DeviceReal<T>;
  int n, width;
  T* band;
  Index ld;  // of the band as a matrix
  R *d, *e;
  T* v;  // null if nobody wants reflectors
  Index ldv;
  Progress* progress;

  __device__ int steps(int sweep) const { return (n - 1 - sweep + width - 1) / width; }
  __device__ unsigned long long ticket(int sweep, int steps_made) const {
    return static_cast<unsigned long long>(sweep) * static_cast<unsigned>(steps(0) + 1) +
           static_cast<unsigned>(steps_made);
  }
  __device__ T* at(int i, int j) const { return band + i + static_cast<Index>(j) * ld; }
};

template <class T, int kWidth>
struct Shared {
  T ahead[Shape<kWidth>::kElements][kComputing];  // of the next step, each thread's own
  T of_rows[2][kWarpsOfPart][kWidth];             // sums of D v and E v
  T of_columns[kWidth];                           // what columns of D bring for D v
  T first_column[kWidth];                         // of E
  T v[2][kWidth], tau[2];                         // of this step and the next one, in turn
  T of_warp[kWarps][kWidth];                      // what lanes of a warp tell each other
};

// ---- memory that other blocks write ---------------------------------------------------------

__device__ inline float load_fresh(const float* x) { return __ldcg(x); }
__device__ inline double load_fresh(const double* x) { return __ldcg(x); }
__device__ inline Complex<float> load_fresh(const Complex<float>* x) {
  const float2 y = __ldcg(reinterpret_cast<const float2*>(x));
  return {y.x, y.y};
}
__device__ inline Complex<double> load_fresh(const Complex<double>* x) {
  const double2 y = __ldcg(reinterpret_cast<const double2*>(x));
  return {y.x, y.y};
}

/// What a warp knows of the sweep before.
template <class T>
class SweepBefore {
 public:
  __device__ SweepBefore(const Problem<T>& p, int sweep) : p_(p), sweep_(sweep - 1) {
    const unsigned before = (blockIdx.x + gridDim.x - 1) % gridDim.x;
    progress_ = &p.progress[before].ticket;
  }

  /// Until it has made so many steps, or has come to its end. All that was written before is there.
  __device__ void wait(int steps) {
    if (sweep_ < 0) return;
    const unsigned long long needed = p_.ticket(sweep_, min(steps, p_.steps(sweep_)));
    if (known_ >= needed) return;
    if (lane_of_warp() == 0) {
      do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                     : "=l"(known_)
                     : "l"(__cvta_generic_to_global(progress_))
                     : "memory");
      } while (known_ < needed);
    }
    __syncwarp();
    known_ = __shfl_sync(kAllLanes, known_, 0);
  }

 private:
  const Problem<T>& p_;
  const int sweep_;
  const unsigned long long* progress_;
  unsigned long long known_ = 0;
};

/// By one thread, behind a barrier: the step has been made by all threads of the block.
template <class T>
__device__ void tell(const Problem<T>& p, int sweep, int steps) {
  __threadfence();
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(
                   __cvta_generic_to_global(&p.progress[blockIdx.x].ticket)),
               "l"(p.ticket(sweep, steps))
               : "memory");
}

// ---- reflectors -----------------------------------------------------------------------------

template <class T>
struct ScaledReflector {
  T tau, scale;
  DeviceReal<T> power, beta;

  /// An element of v, of that of x.
  __device__ T operator()(T x) const { return product(cuda::scale(x, power), scale); }
};

/// The reflector of a column x, of which the first row is lane 0's first one. All lanes get it.
/// Only if a square is out of range all numbers are multiplied by a power of two first.
template <class T, int kRows>
__device__ ScaledReflector<T> find_reflector(const T (&x)[kRows]) {
  using R = DeviceReal<T>;
  const int lane = lane_of_warp();
  R squares = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r > 0 || lane > 0) squares += squared_modulus(x[r]);
  }
  squares = sum_of_warp(squares);
  const T alpha = of_lane(x[0], 0);
  if (is_safe(squares) && is_safe(squares + squared_modulus(alpha))) {
    const Reflector<T> h = make_reflector(alpha, squares, false);
    return {h.tau, h.scale, R(1), h.beta};
  }
  R largest = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) largest = fmax(largest, largest_part(x[r]));
  largest = combined_of_warp(largest, [](R y, R z) { return fmax(y, z); });
  const int exponent = exponent_of(largest);
  R any = 0;  // zero if there are only zeros below
  squares = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const T scaled = times_power_of_two(x[r], -exponent);
    if (r > 0 || lane > 0) {
      any += abs1(scaled);
      squares += squared_modulus(scaled);
    }
  }
  any = sum_of_warp(any);
  squares = sum_of_warp(squares);
  const Reflector<T> h = make_reflector(times_power_of_two(alpha, -exponent), squares, any == 0);
  return {h.tau, h.scale, power_of_two<R>(-exponent), times_power_of_two(h.beta, exponent)};
}

/// The reflector of a column x of `rows` rows, with its one: to the next step, and to V.
template <class T, int kWidth>
__device__ void store_reflector(const Problem<T>& p, Shared<T, kWidth>& shared, int parity,
                                int sweep, int first, int rows, T tau,
                                const T (&v)[Shape<kWidth>::kRows]) {
  const int lane = lane_of_warp();
#pragma unroll
  for (int r = 0; r < Shape<kWidth>::kRows; ++r) {
    const int i = lane + r * kWarp;
    shared.v[parity][i] = i < rows ? v[r] : from_real<T>(0);
    if (p.v != nullptr && i < rows) p.v[first + i + static_cast<Index>(sweep) * p.ldv] = v[r];
  }
  if (lane != 0) return;
  shared.tau[parity] = tau;
  if (p.v != nullptr) p.v[sweep + static_cast<Index>(first) * p.ldv] = tau;
}

/// The first reflector of a sweep, by one warp.
template <class T, int kWidth>
__device__ void begin_sweep(const Problem<T>& p, Shared<T, kWidth>& shared, int sweep) {
  constexpr int kRows = Shape<kWidth>::kRows;
  const int lane = lane_of_warp(), first = sweep + 1, rows = min(p.width, p.n - first);
  T x[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int i = lane + r * kWarp;
    x[r] = i < rows ? load_fresh(p.at(first + i, sweep)) : from_real<T>(0);
  }
  const ScaledReflector<T> h = find_reflector(x);
#pragma unroll
  for (int r = 0; r < kRows; ++r) x[r] = r == 0 && lane == 0 ? from_real<T>(1) : h(x[r]);
  store_reflector<T, kWidth>(p, shared, 0, sweep, first, rows, h.tau, x);
  if (lane != 0) return;
  p.d[sweep] = real_part(load_fresh(p.at(sweep, sweep)));
  p.e[sweep] = h.beta;
}

// ---- a step ---------------------------------------------------------------------------------

/// A warp's part of D, or of E. The block has `rows` rows, from element (first, column) of B on.
template <class T, int kWidth, bool kOfD>
struct Part {
  static constexpr int kRows = Shape<kWidth>::kRows, kColumns = Shape<kWidth>::kColumns;

  const Problem<T>& p;
  int first, column, rows;
  int warp, lane;  // that of the part

  __device__ Part(const Problem<T>& problem, int row)
      : p(problem),
        first(kOfD ? row : row + problem.width),
        column(row),
        rows(max(0, min(problem.width, problem.n - first))),
        warp(warp_of_block() % kWarpsOfPart),
        lane(lane_of_warp()) {}

  __device__ int row(int r) const { return lane + r * kWarp; }
  __device__ int column_of_warp(int c) const { return c * kWarpsOfPart + warp; }
  __device__ bool is_there(int i, int j) const { return i < rows && (kOfD ? j <= i : j < p.width); }
  /// Whether the sweep before changes it in the step behind this one.
  __device__ bool is_late(int i, int j) const {
    return j == p.width - 1 && (!kOfD || i == p.width - 1);
  }
  __device__ T* at(int i, int j) const { return p.at(first + i, column + j); }

  /// Calls f(c, r, i, j) for all of a thread's elements that may be there.
  template <class F>
  __device__ void for_each(F f) const {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) f(c, r, row(r), column_of_warp(c));
    }
  }

  __device__ void start_copies(T (*ahead)[kComputing]) const {
    T* const own = &ahead[0][threadIdx.x];
    for_each([&](int c, int r, int i, int j) {
      if (is_there(i, j) && !is_late(i, j)) {
        start_copy(own + (c * kRows + r) * kComputing, at(i, j));
      }
    });
  }
  __device__ void take(const T (*ahead)[kComputing], T (&x)[kColumns][kRows]) const {
    finish_copies();
    for_each([&](int c, int r, int i, int j) {
      x[c][r] = from_real<T>(0);
      if (!is_there(i, j)) return;
      x[c][r] = is_late(i, j) ? load_fresh(at(i, j)) : ahead[c * kRows + r][threadIdx.x];
      if (kOfD && i == j) x[c][r] = from_real<T>(real_part(x[c][r]));
    });
  }
  __device__ void store(const T (&x)[kColumns][kRows]) const {
    for_each([&](int c, int r, int i, int j) {
      if (is_there(i, j)) *at(i, j) = x[c][r];
    });
  }

  /// What the warp's columns bring for the rows of the block times v.
  __device__ void multiply(const T (&x)[kColumns][kRows], const T* v, T* of_rows) const {
    T sums[kRows];
#pragma unroll
    for (T& sum : sums) sum = from_real<T>(0);
    for_each([&](int c, int r, int, int j) { sums[r] = add_product(sums[r], x[c][r], v[j]); });
#pragma unroll
    for (int r = 0; r < kRows; ++r) of_rows[row(r)] = sums[r];
  }
};

/// Sums over all lanes of a number for each column, to the places of these in `to`.
template <int kCount, class T>
__device__ void store_sums(T (&sums)[kCount], int lane, T factor, T* to, int stride) {
  T sum = sum_of_mine<kCount>(sums, lane);
#pragma unroll
  for (int mask = kCount; mask < kWarp; mask *= 2) sum = add(sum, of_other_lane(sum, mask));
  if (lane < kCount) to[lane * stride] = product(factor, sum);
}

/// D := H^H D H.
template <class T, int kWidth>
__device__ void step_of_d(const Problem<T>& p, Shared<T, kWidth>& shared, int parity, int sweep,
                          int first) {
  using Mine = Part<T, kWidth, true>;
  constexpr int kRows = Mine::kRows, kColumns = Mine::kColumns;
  const Mine d(p, first);
  const T* const v = shared.v[parity];
  T x[kColumns][kRows];
  d.take(shared.ahead, x);
  if (first + p.width < p.n) Mine(p, first + p.width).start_copies(shared.ahead);
  d.multiply(x, v, shared.of_rows[0][d.warp]);
  {
    T sums[kColumns], own_v[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) own_v[r] = v[d.row(r)];
#pragma unroll
    for (T& sum : sums) sum = from_real<T>(0);
    d.for_each([&](int c, int r, int i, int j) {
      if (i != j) sums[c] = add_conjugated(sums[c], own_v[r], x[c][r]);
    });
    store_sums(sums, d.lane, from_real<T>(1), shared.of_columns + d.warp, kWarpsOfPart);
  }
  synchronize_some(kBarrierOfSums, kComputing);
  const T tau = shared.tau[parity];
  T own_v[kRows], w[kRows], form = from_real<T>(0);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int i = d.row(r);
    T sum = shared.of_columns[i];
#pragma unroll
    for (int other = 0; other < kWarpsOfPart; ++other) {
      sum = add(sum, shared.of_rows[0][other][i]);
    }
    own_v[r] = v[i];
    w[r] = product(tau, sum);
    form = add_conjugated(form, w[r], own_v[r]);
  }
  const T half = scale(product(conjugate(tau), sum_of_warp(form)), DeviceReal<T>(0.5));
  T* const of_warp = shared.of_warp[warp_of_block()];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    w[r] = subtract_product(w[r], half, own_v[r]);
    of_warp[d.row(r)] = w[r];
  }
  __syncwarp();
  d.for_each([&](int c, int r, int i, int j) {
    x[c][r] = subtract_product(x[c][r], own_v[r], conjugate(of_warp[j]));
    x[c][r] = subtract_product(x[c][r], w[r], conjugate(v[j]));
    if (i == j) x[c][r] = from_real<T>(real_part(x[c][r]));
  });
  d.store(x);
  if (sweep == p.n - 2 && threadIdx.x == 0) p.d[p.n - 1] = real_part(x[0][0]);
}

/// E := H'^H E H, with the reflector of its first column.
template <class T, int kWidth>
__device__ void step_of_e(const Problem<T>& p, Shared<T, kWidth>& shared, int parity, int sweep,
                          int first) {
  using Mine = Part<T, kWidth, false>;
  constexpr int kRows = Mine::kRows, kColumns = Mine::kColumns;
  const Mine e(p, first);
  const T* const v = shared.v[parity];
  T x[kColumns][kRows];
  e.take(shared.ahead, x);
  if (first + p.width < p.n) Mine(p, first + p.width).start_copies(shared.ahead);
  e.multiply(x, v, shared.of_rows[1][e.warp]);
  const bool has_first_column = e.warp == 0;
  if (has_first_column) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) shared.first_column[e.row(r)] = x[0][r];
  }
  synchronize_some(kBarrierOfSums, kComputing);
  if (e.rows == 0) return;
  const T tau = shared.tau[parity];
  T u[kRows], next[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int i = e.row(r);
    T sum = shared.of_rows[1][0][i];
#pragma unroll
    for (int other = 1; other < kWarpsOfPart; ++other) {
      sum = add(sum, shared.of_rows[1][other][i]);
    }
    u[r] = product(tau, sum);
    next[r] = add(shared.first_column[i], negate(u[r]));
  }
  const ScaledReflector<T> h = find_reflector(next);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    next[r] = r == 0 && e.lane == 0 ? from_real<T>(1) : h(next[r]);
  }
  if (has_first_column) {
    store_reflector<T, kWidth>(p, shared, 1 - parity, sweep, e.first, e.rows, h.tau, next);
  }
  T* const of_warp = shared.of_warp[warp_of_block()];
  {
    T sums[kColumns];
#pragma unroll
    for (T& sum : sums) sum = from_real<T>(0);
    e.for_each([&](int c, int r, int, int j) {
      x[c][r] = subtract_product(x[c][r], u[r], conjugate(v[j]));
      sums[c] = add_conjugated(sums[c], x[c][r], next[r]);
    });
    store_sums(sums, e.lane, conjugate(h.tau), of_warp, 1);
  }
  __syncwarp();
  e.for_each([&](int c, int r, int i, int j) {
    x[c][r] = subtract_product(x[c][r], next[r], of_warp[c]);
    if (j == 0) x[c][r] = from_real<T>(i == 0 ? h.beta : DeviceReal<T>(0));
  });
  e.store(x);
}

// ---- the kernel -----------------------------------------------------------------------------

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads<T>, 1) chase_kernel(Problem<T> p) {
  extern __shared__ __align__(16) char memory[];
  Shared<T, kWidth>& shared = *reinterpret_cast<Shared<T, kWidth>*>(memory);
  const int warp = warp_of_block();
  const bool of_d = warp < kWarpsOfPart;
  if (p.n == 1 && threadIdx.x == 0) p.d[0] = real_part(p.band[0]);
  for (int sweep = static_cast<int>(blockIdx.x); sweep < p.n - 1;
       sweep += static_cast<int>(gridDim.x)) {
    const int steps = p.steps(sweep);
    if (kHasNinth<T> && warp == kWarps) {
      synchronize_some(kBarrierOfSteps, kThreads<T>);
      for (int k = 1; k <= steps; ++k) {
        synchronize_some(kBarrierOfSteps, kThreads<T>);
        if (lane_of_warp() == 0) tell(p, sweep, k);
        __syncwarp();
      }
      continue;
    }
    SweepBefore<T> before(p, sweep);
    before.wait(1);
    if (of_d) {
      Part<T, kWidth, true>(p, sweep + 1).start_copies(shared.ahead);
    } else {
      Part<T, kWidth, false>(p, sweep + 1).start_copies(shared.ahead);
    }
    before.wait(2);
    if (warp == kWarpsOfPart) begin_sweep<T, kWidth>(p, shared, sweep);
    synchronize_some(kBarrierOfSteps, kThreads<T>);
    for (int k = 0; k < steps; ++k) {
      const int first = sweep + 1 + k * p.width, parity = k % 2;
      before.wait(k + 2);
      if (of_d) {
        step_of_d<T, kWidth>(p, shared, parity, sweep, first);
      } else {
        step_of_e<T, kWidth>(p, shared, parity, sweep, first);
      }
      synchronize_some(kBarrierOfSteps, kThreads<T>);
      if (!kHasNinth<T> && threadIdx.x == 0) tell(p, sweep, k + 1);
    }
  }
}

/// As many thread blocks as sweeps are under way at a time.
unsigned blocks_for(Index n, Index width, int multiprocessors) {
  const Index steps = quotient_up(n - 1, width);
  return static_cast<unsigned>(std::clamp<Index>(
      steps / 2 + 1, 1, std::max<Index>(std::min<Index>(multiprocessors, n - 1), 1)));
}

template <class T>
void enqueue(CudaQueue& queue, const ChaseBulges<T>& op) {
  using D = typename DeviceScalar<T>::type;
  constexpr int kNarrow = 32, kWide = 64;
  static_assert(kWide == kChaseBandwidth);
  if (op.bandwidth > kWide || op.order() >= Index{1} << 30) {
    throw DeviceError("chase_bulges: the matrix is too large");
  }
  LaunchShape shape;
  shape.blocks = blocks_for(op.order(), op.bandwidth, queue.gpu().multiprocessors);
  if (static_cast<Index>(shape.blocks * sizeof(Progress) / sizeof(T)) > op.work.rows) {
    throw DeviceError("chase_bulges: too little work space");
  }
  shape.threads = kThreads<D>;
  shape.cooperative = shape.blocks > 1;
  const bool narrow = op.bandwidth <= kNarrow;
  shape.shared_bytes =
      narrow ? shared_by_all<Shared<D, kNarrow>>() : shared_by_all<Shared<D, kWide>>();
  Problem<D> p{static_cast<int>(op.order()),
               static_cast<int>(op.bandwidth),
               device_cast(op.band.data),
               op.band.ld - 1,
               op.d.data,
               op.e.data,
               op.v.empty() ? nullptr : device_cast(op.v.data),
               op.v.ld,
               reinterpret_cast<Progress*>(op.work.data)};
  check(cudaMemsetAsync(p.progress, 0, shape.blocks * sizeof(Progress), queue.stream()), op.kName);
  launch_kernel(queue.stream(), shape, op.kName,
                narrow ? chase_kernel<D, kNarrow> : chase_kernel<D, kWide>, p);
}

}  // namespace

template <class T>
Index chase_work(int multiprocessors) {
  return multiprocessors * static_cast<Index>(sizeof(Progress) / sizeof(T));
}

#define OVERLAPACK_INSTANTIATE(T)    \
  template Index chase_work<T>(int); \
  OVERLAPACK_LAUNCH(ChaseBulges<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
