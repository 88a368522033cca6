// Products and solves: by cuBLAS, and by kernels of our own where they are faster.
#include <algorithm>
#include <cstdint>

#include "device/cuda/blas/blas.hpp"
#include "device/cuda/blas/cublas.hpp"
#include "device/cuda/fused/fused.hpp"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

cublasFillMode_t fill(Uplo uplo) {
  return uplo == Uplo::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
cublasSideMode_t side_mode(Side side) {
  return side == Side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}
cublasDiagType_t diagonal(Diag diag) {
  return diag == Diag::unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}
/// For real matrices the conjugate transpose is the transpose, and ?syrk knows it by that name
/// only.
template <class T>
cublasOperation_t transposition(Op op) {
  if (op == Op::none) return CUBLAS_OP_N;
  return op == Op::conj_trans && is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
}

// ---- Products -----------------------------------------------------------------------------

/// Whether subtract_product() can make a product, and is worth it: with more summands cuBLAS is
/// faster, and so it is with fewer tiles than multiprocessors. Fewer than 64 rows or columns are
/// not worth a tile, and a million of either are as many as have been thought of.
bool is_for_subtract_product(const Gpu& gpu, const Gemm<double>& op) {
  constexpr Index kMaxSummands = 512, kMinLines = 64, kMaxLines = Index{1} << 20;
  constexpr std::uintptr_t kAlignmentBytes = 16;
  const bool form = op.op_a == Op::none && op.op_b != Op::none && op.alpha == -1 && op.beta == 1;
  const Index k = op.a.cols, tiles = quotient_up(op.c.rows, Index{kSubtractedRows}) *
                                     quotient_up(op.c.cols, Index{kSubtractedColumns});
  const auto aligned = [](DeviceView<const double> x) {
    return reinterpret_cast<std::uintptr_t>(x.data) % kAlignmentBytes == 0 && x.ld % 2 == 0;
  };
  return form && gpu.has_hopper_code && k > 0 && k % kSubtractedSummands == 0 &&
         k <= kMaxSummands && std::min(op.c.rows, op.c.cols) >= kMinLines &&
         std::max(op.c.rows, op.c.cols) <= kMaxLines && tiles >= gpu.multiprocessors &&
         aligned(op.a) && aligned(op.b) && aligned(op.c);
}

template <class T>
void enqueue(CudaQueue& queue, const Gemm<T>& op) {
  if constexpr (std::is_same_v<T, double>) {
    if (is_for_subtract_product(queue.gpu(), op)) {
      subtract_product(queue.stream(), op.a, op.b, op.c);
      return;
    }
  }
  const blas::Factor<T> alpha(op.alpha), beta(op.beta);
  check(blas::Functions<T>::gemm(queue.cublas(), transposition<T>(op.op_a),
                                 transposition<T>(op.op_b), op.c.rows, op.c.cols, op.summands(),
                                 alpha.get(), blas::cast(op.a.data), op.a.ld, blas::cast(op.b.data),
                                 op.b.ld, beta.get(), blas::cast(op.c.data), op.c.ld),
        op.kName);
}

template <class T>
void enqueue(CudaQueue& queue, const Herk<T>& op) {
  check(blas::Functions<T>::herk(queue.cublas(), fill(op.uplo), transposition<T>(op.op), op.c.rows,
                                 op.summands(), &op.alpha, blas::cast(op.a.data), op.a.ld, &op.beta,
                                 blas::cast(op.c.data), op.c.ld),
        op.kName);
}

/// By block columns, with all of their diagonal blocks: cuBLAS's own is slow with few summands.
template <class T>
void enqueue(CudaQueue& queue, const Her2k<T>& op) {
  constexpr Index kBlockColumns = 8, kMinWidth = 256, kMaxWidth = 2048, kMultiple = 64;
  const Index n = op.c.rows;
  const Index width =
      std::clamp(round_up(quotient_up(n, kBlockColumns), kMultiple), kMinWidth, kMaxWidth);
  const Range all = {0, op.a.cols};
  for (Index first = 0; first < n; first += width) {
    const Range j = {first, std::min(first + width, n)};
    const Range i = op.uplo == Uplo::lower ? Range{j.first, n} : Range{0, j.last};
    const DeviceView<T> c = op.c.block(i, j);
    enqueue(queue, Gemm<T>{Op::none, Op::conj_trans, op.alpha, op.a.block(i, all),
                           op.b.block(j, all), T(op.beta), c});
    enqueue(queue, Gemm<T>{Op::none, Op::conj_trans, conj(op.alpha), op.b.block(i, all),
                           op.a.block(j, all), T(1), c});
  }
  if constexpr (is_complex<T>) {
    // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
    Real<T>* const imaginary = reinterpret_cast<Real<T>*>(op.c.data) + 1;
    check(cudaMemset2DAsync(imaginary, sizeof(T) * static_cast<std::size_t>(op.c.ld + 1), 0,
                            sizeof(Real<T>), static_cast<std::size_t>(n), queue.stream()),
          op.kName);
  }
}

template <class T>
void enqueue(CudaQueue& queue, const Copy<T>& op) {
  const blas::Factor<T> one(T(1)), zero(T(0));
  const DeviceView<T>& b = op.b;
  check(blas::Functions<T>::geam(queue.cublas(), transposition<T>(op.op), CUBLAS_OP_N, b.rows,
                                 b.cols, one.get(), blas::cast(op.a.data), op.a.ld, zero.get(),
                                 blas::cast(b.data), b.ld, blas::cast(b.data), b.ld),
        op.kName);
}

// ---- Solves -------------------------------------------------------------------------------

/// op(A) X = B or X op(A) = B, where op(A) is A or its conjugate transpose.
template <class T>
struct BlockSolve {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  DeviceView<const T> a;
  DeviceView<T> b;

  /// Whether the first rows of X, or columns from the right, are found first.
  bool forward() const {
    return ((side == Side::left) == (uplo == Uplo::lower)) == (op == Op::none);
  }
  /// The part of it that has so much of A's diagonal.
  BlockSolve part(Range i) const { return {side, uplo, op, diag, a.block(i, i), lines(i)}; }
  /// Rows of X, or columns from the right.
  DeviceView<T> lines(Range i) const {
    return side == Side::left ? b.block(i, {0, b.cols}) : b.block({0, b.rows}, i);
  }
};

/// Takes what is found already from the other half: B2 - op(A)21 X1, for example.
template <class T>
void subtract_solved(CudaQueue& queue, const BlockSolve<T>& op, Range one, Range two) {
  const DeviceView<const T> between =
      op.uplo == Uplo::lower ? op.a.block(two, one) : op.a.block(one, two);
  const DeviceView<T> found = op.lines(op.forward() ? one : two),
                      other = op.lines(op.forward() ? two : one);
  if (op.side == Side::left) {
    enqueue(queue, Gemm<T>{op.op, Op::none, T(-1), between, found, T(1), other});
  } else {
    enqueue(queue, Gemm<T>{Op::none, op.op, T(-1), found, between, T(1), other});
  }
}

// Solves are slow in cuBLAS: on an H200 one of order 1024 with as many right-hand sides runs at
// 3 TFLOP/s, and one of order 4096 at 22 to 25.
//
//   [ L11      ] [ X1 ]   [ B1 ]      X1 = L11^-1 B1,
//   [ L21  L22 ] [ X2 ] = [ B2 ],     X2 = L22^-1 (B2 - L21 X1),
//
// and likewise for the others, of which some begin with X2.
template <class T>
void solve_by_blocks(CudaQueue& queue, const BlockSolve<T>& op) {
  const Index n = op.a.rows, width = trsm_block_order<T>();
  if (n <= width) {
    trsm_block(queue.stream(), {op.side, op.uplo, op.diag, !op.forward()}, op.a, op.b);
    return;
  }
  if (op.side == Side::right && op.forward() && solves_by_rows_in_one_pass(n, op.b.rows)) {
    interchange_and_solve_by_rows<T>(queue.stream(), op.uplo, op.diag, op.a, nullptr, nullptr, 0,
                                     op.b);
    return;
  }
  const Index middle = round_up(n / 2, width);
  const Range one = {0, middle}, two = {middle, n};
  solve_by_blocks(queue, op.part(op.forward() ? one : two));
  subtract_solved(queue, op, one, two);
  solve_by_blocks(queue, op.part(op.forward() ? two : one));
}

/// With few right-hand sides there is little to do between one block and the next, and cuBLAS does
/// as well.
template <class T>
bool is_for_blocks(const Trsm<T>& op) {
  constexpr Index kFewBlocks = 4, kManyRightHandSides = 1024;
  const Index count = op.side == Side::left ? op.b.cols : op.b.rows;
  const bool adjoint_or_none = op.op != Op::trans || !is_complex<T>;
  const bool small = op.a.rows <= kFewBlocks * trsm_block_order<T>();
  return op.alpha == T(1) && adjoint_or_none && (small || count >= kManyRightHandSides);
}

template <class T>
void enqueue(CudaQueue& queue, const Trsm<T>& op) {
  const DeviceView<T>& b = op.b;
  if (op.alpha == T(0)) {  // cuBLAS would keep B's NaNs
    enqueue(queue, Gemm<T>{Op::none, Op::none, T(0), b.block(0, 0, b.rows, 0),
                           b.block(0, 0, 0, b.cols), T(0), b});
    return;
  }
  if (is_for_blocks(op)) {
    const Op operation = op.op == Op::none ? Op::none : Op::conj_trans;
    solve_by_blocks<T>(queue, {op.side, op.uplo, operation, op.diag, op.a, b});
    return;
  }
  const blas::Factor<T> alpha(op.alpha);
  check(blas::Functions<T>::trsm(queue.cublas(), side_mode(op.side), fill(op.uplo),
                                 transposition<T>(op.op), diagonal(op.diag), b.rows, b.cols,
                                 alpha.get(), blas::cast(op.a.data), op.a.ld, blas::cast(b.data),
                                 b.ld),
        op.kName);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) \
  OVERLAPACK_LAUNCH(Gemm<T>)      \
  OVERLAPACK_LAUNCH(Herk<T>)      \
  OVERLAPACK_LAUNCH(Her2k<T>)     \
  OVERLAPACK_LAUNCH(Copy<T>)      \
  OVERLAPACK_LAUNCH(Trsm<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
