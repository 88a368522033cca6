#include <algorithm>
#include <limits>

#include "device/cuda/blas/cublas.hpp"
#include "device/cuda/runtime/cuda_device.hpp"
#include "device/residues.hpp"

namespace overlapack::cuda {
namespace {

CudaQueue& cuda(Queue& queue) { return static_cast<CudaQueue&>(queue); }

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
cublasOperation_t operation(Op op) {
  if (op == Op::none) return CUBLAS_OP_N;
  return op == Op::conj_trans && is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
}

/// Whether subtract_product() can make a product, and is worth it: with more summands cuBLAS is
/// faster, and so it is with fewer tiles than multiprocessors. Fewer than 64 rows or columns are
/// not worth a tile, and a million of either are as many as have been thought of.
bool subtracts_product(int multiprocessors, DeviceView<const double> a, DeviceView<const double> b,
                       DeviceView<double> c) {
  constexpr Index kFew = 512, kLeast = 64, kMost = Index{1} << 20;
  constexpr std::uintptr_t kAligned = 16;
  const Index k = a.cols, tiles = quotient_up(c.rows, Index{kSubtractedRows}) *
                                  quotient_up(c.cols, Index{kSubtractedColumns});
  const auto aligned = [](DeviceView<const double> x) {
    return reinterpret_cast<std::uintptr_t>(x.data) % kAligned == 0 && x.ld % 2 == 0;
  };
  return k > 0 && k % kSubtractedSummands == 0 && k <= kFew && std::min(c.rows, c.cols) >= kLeast &&
         std::max(c.rows, c.cols) <= kMost && tiles >= multiprocessors && aligned(a) &&
         aligned(b) && aligned(c);
}

/// n/2 rounded up to a multiple of `unit`: where the recursions split.
Index half(Index n, Index unit) { return round_up(n / 2, unit); }

}  // namespace

template <class T>
void CudaKernels<T>::do_gemm(Queue& queue, Op op_a, Op op_b, T alpha, DeviceView<const T> a,
                             DeviceView<const T> b, T beta, DeviceView<T> c) {
  const CurrentDevice current(cuda(queue).index());
  const Index k = op_a == Op::none ? a.cols : a.rows;
  if constexpr (std::is_same_v<T, double>) {
    const bool form = op_a == Op::none && op_b != Op::none && alpha == -1 && beta == 1;
    if (form && has_hopper_code_ && subtracts_product(cuda(queue).multiprocessors(), a, b, c)) {
      subtract_product(cuda(queue).stream(), a, b, c);
      return;
    }
  }
  check(blas::Functions<T>::gemm(cuda(queue).cublas(), operation<T>(op_a), operation<T>(op_b),
                                 c.rows, c.cols, k, blas::cast(&alpha), blas::cast(a.data), a.ld,
                                 blas::cast(b.data), b.ld, blas::cast(&beta), blas::cast(c.data),
                                 c.ld),
        "gemm");
}

template <class T>
void CudaKernels<T>::do_copy(Queue& queue, Op op, DeviceView<const T> a, DeviceView<T> b) {
  const CurrentDevice current(cuda(queue).index());
  const T one(1), zero(0);
  check(
      blas::Functions<T>::geam(cuda(queue).cublas(), operation<T>(op), CUBLAS_OP_N, b.rows, b.cols,
                               blas::cast(&one), blas::cast(a.data), a.ld, blas::cast(&zero),
                               blas::cast(b.data), b.ld, blas::cast(b.data), b.ld),
      "copy");
}

template <class T>
void CudaKernels<T>::do_herk(Queue& queue, Uplo uplo, Op op, Real<T> alpha, DeviceView<const T> a,
                             Real<T> beta, DeviceView<T> c) {
  const CurrentDevice current(cuda(queue).index());
  const Index k = op == Op::none ? a.cols : a.rows;
  check(blas::Functions<T>::herk(cuda(queue).cublas(), fill(uplo), operation<T>(op), c.rows, k,
                                 &alpha, blas::cast(a.data), a.ld, &beta, blas::cast(c.data), c.ld),
        "herk");
}

template <class T>
void CudaKernels<T>::do_hemv(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<const T> x,
                             DeviceView<T> y, DeviceView<T> work) {
  constexpr Index rows = kHemvRows, columns = kHemvColumns<T>;
  static_assert(Kernels<T>::hemv_work(columns) == 2 * columns &&
                Kernels<T>::hemv_work(rows + 1) == (rows + 1) * (rows / columns + 1 + 2));
  const CurrentDevice current(cuda(queue).index());
  cuda::hemv<T>(cuda(queue).stream(), uplo, a, x.data, y.data, work.data);
}

/// Whether `rows` rows are solved for by one kernel: many take as long in several, in which they
/// need fewer multiprocessors at a time.
template <class T>
bool CudaKernels<T>::solves_by_rows_at_once(Index order, Index rows) const {
  constexpr Index kFewRows = 4096;
  return rows <= kFewRows && order <= kInterchangeAndSolveByRowsOrder;
}

// Solves with small triangles are slow in cuBLAS (1.5 TFLOP/s at order 128 on an H200).
//
//   [ L11      ] [ X1 ]   [ B1 ]      X1 = L11^-1 B1,
//   [ L21  L22 ] [ X2 ] = [ B2 ],     X2 = L22^-1 (B2 - L21 X1),
//
// and likewise X L^H = B from the right; L is A, or A^H if that is upper.
template <class T>
void CudaKernels<T>::solve_forward(Queue& queue, Side side, Uplo uplo, Diag diag,
                                   DeviceView<const T> a, DeviceView<T> b) {
  const Index n = a.rows, width = trsm_block_order<T>();
  if (n <= width) {
    const CurrentDevice current(cuda(queue).index());
    trsm_block(cuda(queue).stream(), side, uplo, diag, a, b);
    return;
  }
  if (side == Side::right && solves_by_rows_at_once(n, b.rows)) {
    const CurrentDevice current(cuda(queue).index());
    interchange_and_solve_by_rows<T>(cuda(queue).stream(), uplo, diag, a, nullptr, nullptr, 0, b);
    return;
  }
  const bool lower = uplo == Uplo::lower, left = side == Side::left;
  const Index n1 = half(n, width), n2 = n - n1;
  const DeviceView<T> b1 = left ? b.block(0, 0, n1, b.cols) : b.block(0, 0, b.rows, n1),
                      b2 = left ? b.block(n1, 0, n2, b.cols) : b.block(0, n1, b.rows, n2);
  const DeviceView<const T> l21 = lower ? a.block(n1, 0, n2, n1) : a.block(0, n1, n1, n2);
  const Op stored = lower ? Op::none : Op::conj_trans, adjoint = lower ? Op::conj_trans : Op::none;
  solve_forward(queue, side, uplo, diag, a.block(0, 0, n1, n1), b1);
  if (left) {
    do_gemm(queue, stored, Op::none, T(-1), l21, b1, T(1), b2);
  } else {
    do_gemm(queue, Op::none, adjoint, T(-1), b1, l21, T(1), b2);
  }
  solve_forward(queue, side, uplo, diag, a.block(n1, n1, n2, n2), b2);
}

template <class T>
void CudaKernels<T>::do_trsm(Queue& queue, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                             DeviceView<const T> a, DeviceView<T> b) {
  if (alpha == T(0)) {  // cuBLAS would keep B's NaNs
    do_gemm(queue, Op::none, Op::none, T(0), b.block(0, 0, b.rows, 0), b.block(0, 0, 0, b.cols),
            T(0), b);
    return;
  }
  constexpr Index kManyBlocks = 4;  // from there on cuBLAS does as well
  const bool adjoint = op == Op::conj_trans || (op == Op::trans && !is_complex<T>);
  const bool forward = ((side == Side::left) == (uplo == Uplo::lower)) ? op == Op::none : adjoint;
  if (alpha == T(1) && forward && a.rows <= kManyBlocks * trsm_block_order<T>()) {
    solve_forward(queue, side, uplo, diag, a, b);
    return;
  }
  const CurrentDevice current(cuda(queue).index());
  check(blas::Functions<T>::trsm(
            cuda(queue).cublas(), side_mode(side), fill(uplo), operation<T>(op), diagonal(diag),
            b.rows, b.cols, blas::cast(&alpha), blas::cast(a.data), a.ld, blas::cast(b.data), b.ld),
        "trsm");
}

template <class T>
Index CudaKernels<T>::do_potrf_panel_width() const {
  return potrf_panel_width<T>();
}

template <class T>
void CudaKernels<T>::do_potrf_panel(Queue& queue, Uplo uplo, DeviceView<const T> a,
                                    DeviceView<T> factor, DeviceView<Index> info, Index offset,
                                    DeviceView<T> notes) {
  const CurrentDevice current(cuda(queue).index());
  potrf_panel(cuda(queue).stream(), cuda(queue).relay(), uplo, a, factor, info.data, offset,
              notes.data);
}

template <class T>
void CudaKernels<T>::do_potrf_rows(Queue& queue, Uplo uplo, DeviceView<const T> notes,
                                   DeviceView<const T> a, DeviceView<T> factor) {
  const CurrentDevice current(cuda(queue).index());
  potrf_rows(cuda(queue).stream(), uplo, notes.data, a, factor);
}

template <class T>
Index CudaKernels<T>::do_potrf_notes() const {
  return potrf_notes<T>();
}

template <class T>
void CudaKernels<T>::do_invert_blocks(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                                      DeviceView<T> inverses, DeviceView<Real<T>> conditions) {
  const CurrentDevice current(cuda(queue).index());
  invert_blocks(cuda(queue).stream(), uplo, factor, inverses, conditions.data);
}

template <class T>
void CudaKernels<T>::do_back_substitute(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                                        DeviceView<const T> inverses, DeviceView<T> x,
                                        DeviceView<Index> progress) {
  static_assert(Kernels<T>::substitution_with_factor_progress(1, 1) == kSubstitutionNumbers);
  const CurrentDevice current(cuda(queue).index());
  back_substitute(cuda(queue).stream(), cuda(queue).multiprocessors(), uplo, factor, inverses, x,
                  progress);
}

template <class T>
void CudaKernels<T>::do_eliminate(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                                  DeviceView<const T> inverses, DeviceView<T> x, Index width,
                                  DeviceView<T> states, DeviceView<Index> progress) {
  const CurrentDevice current(cuda(queue).index());
  eliminate(cuda(queue).stream(), cuda(queue).multiprocessors(), uplo, factor, inverses, x, width,
            states, progress);
}

// Recursive LU (Toledo; LAPACK's ?getrf2). With n1 of the min(m, n) columns on the left,
//
//   [ A11 ]       [ L11 ]            [ A12 ]      [ A12 ]
//   [ A21 ]  =  P [ L21 ] U11,       [ A22 ] := P^T [ A22 ],   U12 = L11^-1 A12,
//
//   A22 - L21 U12 = P' L22 U22,      L21 := P'^T L21.
template <class T>
void CudaKernels<T>::do_getrf_panel(Queue& queue, DeviceView<T> a, DeviceView<Index> pivots,
                                    DeviceView<Index> home, DeviceView<Index> info, Index offset,
                                    Event* begun) {
  const Index m = a.rows, n = a.cols, k = std::min(m, n);
  const Index width = getrf_leaf_width<T>(m, cuda(queue).exchange());
  if (n <= width) {
    const CurrentDevice current(cuda(queue).index());
    getrf_leaf(cuda(queue).stream(), cuda(queue).exchange(), a, {pivots.data, home.data, info.data},
               offset, begun == nullptr ? nullptr : static_cast<CudaEvent&>(*begun).handle());
    return;
  }
  // More columns than rows: the left square holds all pivots.
  const Index n1 = n > k ? k : half(k, width), n2 = n - n1;
  const DeviceView<T> left = a.block(0, 0, m, n1), right = a.block(0, n1, m, n2);
  const DeviceView<Index> pivots1 = pivots.block(0, 0, n1, 1);
  do_getrf_panel(queue, left, pivots1, home.block(0, 0, n1, 1), info, offset, begun);
  const DeviceView<T> a11 = a.block(0, 0, n1, n1), a12 = a.block(0, n1, n1, n2);
  do_interchange_and_solve(queue, a11, pivots1, offset, right);
  if (n1 == m) return;
  const DeviceView<T> a21 = a.block(n1, 0, m - n1, n1), a22 = a.block(n1, n1, m - n1, n2);
  do_gemm(queue, Op::none, Op::none, T(-1), a21, a12, T(1), a22);
  const DeviceView<Index> pivots2 = pivots.block(n1, 0, k - n1, 1);
  do_getrf_panel(queue, a22, pivots2, home.block(n1, 0, k - n1, 1), info, offset + n1, nullptr);
  do_swap_rows(queue, a21, pivots2, offset + n1, true);
}

template <class T>
void CudaKernels<T>::do_swap_rows(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots,
                                  Index offset, bool forward) {
  const CurrentDevice current(cuda(queue).index());
  swap_rows(cuda(queue).stream(), a, pivots, offset, forward);
}

template <class T>
void CudaKernels<T>::do_swap_columns(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots,
                                     Index offset) {
  const CurrentDevice current(cuda(queue).index());
  swap_columns(cuda(queue).stream(), a, pivots, offset);
}

template <class T>
void CudaKernels<T>::do_compose_interchanges(Queue& queue, DeviceView<const Index> pivots,
                                             Index offset, Index nb, DeviceView<Index> sources) {
  const CurrentDevice current(cuda(queue).index());
  compose_interchanges(cuda(queue).stream(), pivots, offset, nb, sources);
}

template <class T>
Index CudaKernels<T>::do_permutable_rows() const {
  static_assert(sizeof(T) >= sizeof(int));
  return (shared_bytes_ - composition_bytes()) / static_cast<Index>(sizeof(T));
}

template <class T>
void CudaKernels<T>::do_permute_rows(Queue& queue, DeviceView<T> a, Index width,
                                     DeviceView<const Index> sources) {
  const CurrentDevice current(cuda(queue).index());
  permute_rows(cuda(queue).stream(), a, width, sources);
}

template <class T>
void CudaKernels<T>::do_interchange_and_solve(Queue& queue, DeviceView<const T> l,
                                              DeviceView<const Index> pivots, Index offset,
                                              DeviceView<T> a) {
  const CurrentDevice current(cuda(queue).index());
  constexpr Index kMostRows = std::numeric_limits<int>::max();
  if (l.rows <= interchange_and_solve_order<T>(shared_bytes_) && a.rows <= kMostRows) {
    interchange_and_solve(cuda(queue).stream(), l, pivots.data, offset, a);
    return;
  }
  do_swap_rows(queue, a, pivots, offset, true);
  do_trsm(queue, Side::left, Uplo::lower, Op::none, Diag::unit, T(1), l,
          a.block(0, 0, l.rows, a.cols));
}

template <class T>
bool CudaKernels<T>::do_has_step_at_once(Index rows, Index order, Index columns) const {
  const int cluster = step_at_once_cluster<T>(rows, order, columns, shared_bytes_);
  if (cluster == 0) return false;
  if (cluster_limit_ < 0) {
    const CurrentDevice current(index_);
    cluster_limit_ = getrf_cluster_limit();
  }
  return cluster <= cluster_limit_;
}

template <class T>
void CudaKernels<T>::do_step_at_once(Queue& queue, DeviceView<const T> panel,
                                     DeviceView<const Index> pivots, Index offset,
                                     DeviceView<T> a) {
  const CurrentDevice current(cuda(queue).index());
  step_at_once(cuda(queue).stream(), panel, pivots.data, offset, a);
}

template <class T>
void CudaKernels<T>::do_interchange_and_solve_by_rows(Queue& queue, DeviceView<const T> l,
                                                      DeviceView<const Index> pivots, Index offset,
                                                      DeviceView<T> a,
                                                      DeviceView<const Index> inverses) {
  constexpr Index kMostColumns = std::numeric_limits<int>::max();
  const CurrentDevice current(cuda(queue).index());
  const auto step = [&](Range i, const Index* inverse, const Index* interchanges) {
    interchange_and_solve_by_rows<T>(cuda(queue).stream(), Uplo::lower, Diag::unit,
                                     l.block(i.first, i.first, i.size(), i.size()), inverse,
                                     interchanges, offset,
                                     a.block(0, i.first, a.rows, a.cols - i.first));
  };
  const bool at_once =
      inverses.empty() ? solves_by_rows_at_once(l.rows, a.rows) : l.rows <= Kernels<T>::kInverted;
  if (at_once && a.cols <= kMostColumns) {
    step({0, l.rows}, inverses.empty() ? nullptr : inverses.data,
         pivots.empty() ? nullptr : pivots.data);
    return;
  }
  if (!pivots.empty()) do_swap_columns(queue, a, pivots, offset);
  if (inverses.empty()) {
    do_trsm(queue, Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1), l,
            a.block(0, 0, a.rows, l.rows));
    return;
  }
  constexpr Index kOrder = Kernels<T>::kInverted;
  for (Index i = 0; i < l.rows; i += kOrder) {
    const Range block = {i, std::min(i + kOrder, l.rows)};
    const Index rest = l.rows - block.last;
    step(block, inverses.data + Kernels<T>::elements_of_inverses(i), nullptr);
    if (rest == 0) continue;
    do_gemm(queue, Op::none, Op::conj_trans, T(-1), a.block(0, i, a.rows, block.size()),
            l.block(block.last, i, rest, block.size()), T(1), a.block(0, block.last, a.rows, rest));
  }
}

template <class T>
void CudaKernels<T>::do_find_inverses(Queue& queue, DeviceView<const T> l,
                                      DeviceView<Index> inverses) {
  const CurrentDevice current(cuda(queue).index());
  find_inverses<T>(cuda(queue).stream(), l, inverses.data);
}

template <class T>
Index CudaKernels<T>::do_update_panel_width() const {
  return update_panel_width();
}

template <class T>
void CudaKernels<T>::do_update_panel(Queue& queue, Uplo uplo, DeviceView<const T> a,
                                     DeviceView<T> factor, Index plus, DeviceView<const T> v,
                                     DeviceView<T> rest, DeviceView<Index> info, Index offset,
                                     DeviceView<Real<T>> c, DeviceView<T> s) {
  const CurrentDevice current(cuda(queue).index());
  update_panel(cuda(queue).stream(), cuda(queue).update_scratch(), cuda(queue).multiprocessors(),
               uplo, a, factor, plus, v, rest, info.data, offset, c.data, s.data);
}

template <class T>
void CudaKernels<T>::do_update_bases(Queue& queue, int sign, DeviceView<const T> w, Index width,
                                     Index first, double limit, DeviceView<Double<T>> grams,
                                     DeviceView<Double<T>> bases, DeviceView<Index> unfit) {
  const CurrentDevice current(cuda(queue).index());
  update_bases(cuda(queue).stream(), sign, w, width, first, limit, grams, bases, unfit.data);
}

template <class T>
void CudaKernels<T>::do_update_panels(Queue& queue, Uplo uplo, int sign, DeviceView<T> a,
                                      DeviceView<const T> states, Index k,
                                      DeviceView<const Double<T>> bases,
                                      DeviceView<Double<T>> reflectors, DeviceView<Index> info,
                                      DeviceView<Real<T>> c, DeviceView<T> s) {
  const CurrentDevice current(cuda(queue).index());
  update_panels(cuda(queue).stream(), uplo, sign, a, states, k, bases, reflectors, info.data,
                c.data, s.data);
}

template <class T>
void CudaKernels<T>::do_find_not_finite(Queue& queue, Part part, DeviceView<const T> a,
                                        DeviceView<Index> found) {
  const CurrentDevice current(cuda(queue).index());
  find_not_finite(cuda(queue).stream(), part, a, found.data);
}

template <class T>
void CudaKernels<T>::do_split(Queue& queue, SplitForm form, Side side, Op op,
                              DeviceView<const T> from, DeviceView<Real<T>> to,
                              DeviceView<const Real<T>> sizes, Weigh weigh) {
  if constexpr (Kernels<T>::kSplits) {
    const CurrentDevice current(cuda(queue).index());
    cuda::split<T>(cuda(queue).stream(), form, side, op, from, to, sizes.data, weigh);
  }
}

template <class T>
void CudaKernels<T>::do_split_gemm(Queue& queue, SplitForm form, Index k, Real<T> alpha,
                                   DeviceView<const Real<T>> a, DeviceView<const Real<T>> b,
                                   Real<T> beta, DeviceView<T> c) {
  if constexpr (Kernels<T>::kSplits) {
    const CurrentDevice current(cuda(queue).index());
    constexpr Index reals = is_complex<T> ? 2 : 1;  // a complex C is a real one with more rows
    if (form.precision == Precision::fp32) {
      split_gemm(cuda(queue).stream(), cuda(queue).multiprocessors(), reals * form.section,
                 reals * k, alpha, a, b, beta, reinterpret_cast<float*>(c.data), reals * c.ld);
      return;
    }
    const bool halves = form.precision == Precision::fp16;
    const Index per_float = halves ? 2 : 1;
    const cudaDataType type = halves ? CUDA_R_16F : CUDA_R_32F;
    check(cublasGemmEx_64(cuda(queue).cublas(), CUBLAS_OP_T, CUBLAS_OP_N, reals * c.rows, c.cols,
                          per_float * a.rows, &alpha, a.data, type, per_float * a.ld, b.data, type,
                          per_float * b.ld, &beta, c.data, CUDA_R_32F, reals * c.ld,
                          halves ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32,
                          CUBLAS_GEMM_DEFAULT),
          "split_gemm");
  }
}

template <class T>
void CudaKernels<T>::do_residues(Queue& queue, const ResidueForm<T>& of,
                                 DeviceView<const Real<T>> before) {
  if constexpr (Kernels<T>::kResidues) {
    const CurrentDevice current(cuda(queue).index());
    residue_form(cuda(queue).stream(), of, before.data);
  }
}

template <class T>
void CudaKernels<T>::do_scaled_residues(Queue& queue, Weigh weigh, const ResidueForm<T>& of,
                                        DeviceView<const Real<T>> sizes) {
  if constexpr (Kernels<T>::kResidues) {
    const CurrentDevice current(cuda(queue).index());
    scaled_residue_form(cuda(queue).stream(), weigh, of, sizes.empty() ? nullptr : sizes.data);
  }
}

template <class T>
Index CudaKernels<T>::do_residue_work(Index m, Index n) const {
  if (has_hopper_code_) return words_of_remainders(m, n) * ResidueForm<T>::kProducts;
  return round_up(m, kResidueUnit) * round_up(n, kResidueUnit) * residues::kModuli;
}

// cuBLAS's sums have rows and columns beyond those of C, up to a multiple of the unit: with an odd
// number of them it takes much longer.
template <class T>
void CudaKernels<T>::do_residue_gemm(Queue& queue, const ResidueForm<T>& a, const ResidueForm<T>& b,
                                     T beta, DeviceView<T> c, DeviceView<std::int32_t> work) {
  if constexpr (Kernels<T>::kResidues) {
    const CurrentDevice current(cuda(queue).index());
    if (has_hopper_code_) {
      residue_products(cuda(queue).stream(), a, b, work.data);
      from_remainders(cuda(queue).stream(), a, b, work.data, beta, c);
      return;
    }
  }
  if constexpr (std::is_same_v<T, double>) {
    const CurrentDevice current(cuda(queue).index());
    const Index m = round_up(c.rows, kResidueUnit), n = round_up(c.cols, kResidueUnit);
    const Index stride = m * n;
    const std::int32_t one = 1, zero = 0;
    check(cublasGemmStridedBatchedEx_64(cuda(queue).cublas(), CUBLAS_OP_T, CUBLAS_OP_N, m, n,
                                        a.summands(), &one, a.numbers.data, CUDA_R_8I, a.numbers.ld,
                                        a.stride, b.numbers.data, CUDA_R_8I, b.numbers.ld, b.stride,
                                        &zero, work.data, CUDA_R_32I, m, stride, residues::kModuli,
                                        CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
          "residue_gemm");
    from_sums(cuda(queue).stream(), a, b, DeviceView<const std::int32_t>(work.data, m, n, m),
              stride, beta, c);
  }
}

template <class T>
void CudaKernels<T>::do_column_norms(Queue& queue, DeviceView<const T> a,
                                     DeviceView<Real<T>> norms) {
  const CurrentDevice current(cuda(queue).index());
  column_norms<T>(cuda(queue).stream(), cuda(queue).reduce_scratch(), a, norms.data);
}

template <class T>
void CudaKernels<T>::do_norm(Queue& queue, Norm norm, Symmetry symmetry, Uplo uplo,
                             DeviceView<const T> a, DeviceView<Real<T>> work,
                             DeviceView<Real<T>> result) {
  const CurrentDevice current(cuda(queue).index());
  cuda::norm<T>(cuda(queue).stream(), cuda(queue).reduce_scratch(), norm, symmetry, uplo, a,
                work.data, result.data);
}

template <class T>
void CudaKernels<T>::do_extreme(Queue& queue, bool largest, DeviceView<const Real<T>> a,
                                DeviceView<Real<T>> result) {
  const CurrentDevice current(cuda(queue).index());
  extreme<Real<T>>(cuda(queue).stream(), cuda(queue).reduce_scratch(), largest, a, result.data);
}

template <class T>
void CudaKernels<T>::do_round(Queue& queue, Part part, DeviceView<const T> from,
                              DeviceView<Single<T>> to, DeviceView<Index> overflow,
                              DeviceView<const Real<T>> row_sizes,
                              DeviceView<const Real<T>> column_sizes) {
  if constexpr (Kernels<T>::kRounds) {
    const CurrentDevice current(cuda(queue).index());
    round_part<T>(cuda(queue).stream(), part, from, to, overflow.data, row_sizes.data,
                  column_sizes.data);
  }
}

template <class T>
void CudaKernels<T>::do_round_high(Queue& queue, Part part, DeviceView<const Single<T>> high,
                                   DeviceView<Single<T>> to) {
  if constexpr (Kernels<T>::kRounds) {
    const CurrentDevice current(cuda(queue).index());
    round_high<T>(cuda(queue).stream(), part, high, to);
  }
}

template <class T>
void CudaKernels<T>::do_join(Queue& queue, Part part, DeviceView<const Single<T>> high,
                             DeviceView<const Single<T>> low, DeviceView<T> to,
                             DeviceView<Index> overflow) {
  if constexpr (Kernels<T>::kRounds) {
    const CurrentDevice current(cuda(queue).index());
    join<T>(cuda(queue).stream(), part, high, low, to, overflow.data);
  }
}

template <class T>
void CudaKernels<T>::do_widen(Queue& queue, DeviceView<const Single<T>> from, T beta,
                              DeviceView<T> to, DeviceView<const Real<T>> row_sizes) {
  if constexpr (Kernels<T>::kRounds) {
    const CurrentDevice current(cuda(queue).index());
    widen<T>(cuda(queue).stream(), from, beta, to, row_sizes.data);
  }
}

template <class T>
void CudaKernels<T>::do_mirror(Queue& queue, Uplo uplo, DeviceView<T> a) {
  const CurrentDevice current(cuda(queue).index());
  mirror<T>(cuda(queue).stream(), uplo, a);
}

template <class T>
void CudaKernels<T>::do_find_links(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                                   DeviceView<Index> links) {
  if constexpr (Kernels<T>::kSplits) {
    constexpr Index order = kSubstitutionOrder<T>;
    static_assert(Kernels<T>::substitution_links(order) * sizeof(Index) == kLinkBytes<T> &&
                  Kernels<T>::substitution_links(order + 1) * sizeof(Index) == 2 * kLinkBytes<T>);
    const CurrentDevice current(cuda(queue).index());
    find_links<T>(cuda(queue).stream(), uplo, diag, a, links.data);
  }
}

template <class T>
void CudaKernels<T>::do_substitute(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                                   DeviceView<const Index> links, DeviceView<T> x,
                                   DeviceView<Index> progress) {
  constexpr Index order = kSubstitutionOrder<T>, columns = kSubstitutionColumns;
  constexpr Index of_block = 2 * kSubstitutionWords<T> * columns;  // a word takes two elements
  static_assert(Kernels<T>::substitution_progress(order, columns) == of_block &&
                Kernels<T>::substitution_progress(order + 1, 1) == 2 * of_block &&
                Kernels<T>::substitution_progress(1, columns + 1) == 2 * of_block);
  const CurrentDevice current(cuda(queue).index());
  substitute<T>(cuda(queue).stream(), uplo, diag, a, links.data, x, progress);
}

#define OVERLAPACK_INSTANTIATE(T) template class CudaKernels<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
