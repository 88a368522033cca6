// Host functions that enqueue our own CUDA kernels. Plain C++: the kernels themselves and the
// device arithmetic are known to the .cu files alone.
//
// Every function is asynchronous in `stream`, works on column-major device matrices and throws
// DeviceError. They are instantiated for the four LAPACK precisions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "device/cuda/runtime/check.hpp"
#include "device/device.hpp"

namespace overlapack::cuda {

/// Bytes of shared memory that any kernel may ask for that does not need a Hopper GPU: what a
/// thread block of compute capability 8.0 may have.
constexpr std::size_t kSharedByAll = 163 * 1024;

/// Device memory through which the thread blocks of a Cholesky panel talk to each other. One per
/// queue, because the queues run at the same time; within a queue one panel follows another.
class Relay {
 public:
  /// On the current device.
  Relay();

  void* memory() const { return memory_.at(0); }
  /// The number of the next launch, never that of an earlier one whose traces are in the memory.
  /// May enqueue a memset.
  unsigned next_launch(cudaStream_t stream);

 private:
  DeviceMemory memory_;
  unsigned launches_ = 0;
};

/// Largest number of columns of potrf_panel.
template <class T>
Index potrf_panel_width();

/// Cholesky factorization of one panel; as Kernels<T>::potrf_panel. If its diagonal block is not
/// positive definite, the panel is completed by columns (rows) of the unit matrix, so that what is
/// already enqueued behind spreads no Inf or NaN into columns that are right. `notes` may be null.
template <class T>
void potrf_panel(cudaStream_t stream, Relay& relay, Uplo uplo, DeviceView<const T> a,
                 DeviceView<T> factor, Index* info, Index offset, T* notes);

/// As Kernels<T>::potrf_rows.
template <class T>
void potrf_rows(cudaStream_t stream, Uplo uplo, const T* notes, DeviceView<const T> a,
                DeviceView<T> factor);

/// How many elements the notes on a panel have.
template <class T>
Index potrf_notes();

/// Inverses of the diagonal blocks of a triangular factor; as Kernels<T>::invert_blocks.
template <class T>
void invert_blocks(cudaStream_t stream, Uplo uplo, DeviceView<const T> factor,
                   DeviceView<T> inverses, Real<T>* conditions);

/// Device memory where an update leaves a diagonal block while others still read the old one. One
/// per queue.
class UpdateScratch {
 public:
  /// On the current device.
  UpdateScratch();

  void* memory() const { return memory_.at(0); }

 private:
  DeviceMemory memory_;
};

/// Largest number of columns of update_panel.
Index update_panel_width();

/// A block column of a Cholesky factor is taken through an update; as Kernels<T>::update_panel. `c`
/// and `s` may be null.
template <class T>
void update_panel(cudaStream_t stream, const UpdateScratch& scratch, int multiprocessors, Uplo uplo,
                  DeviceView<const T> a, DeviceView<T> factor, Index plus, DeviceView<const T> v,
                  DeviceView<T> rest, Index* info, Index offset, Real<T>* c, T* s);

/// As Kernels<T>::update_bases and update_panels, the latter for `k` vectors, at most
/// kUpdateVectors; `reflectors` has room for kUpdateReflector numbers for each column. `c` and `s`
/// may be null.
template <class T>
constexpr int kUpdateVectors = static_cast<int>(Kernels<T>::kUpdateVectors);
template <class T>
constexpr int kUpdateReflector = static_cast<int>(Kernels<T>::kUpdateReflector);
template <class T>
void update_bases(cudaStream_t stream, int sign, DeviceView<const T> w, Index width, Index first,
                  double limit, DeviceView<Double<T>> grams, DeviceView<Double<T>> bases,
                  Index* unfit);
template <class T>
void update_panels(cudaStream_t stream, Uplo uplo, int sign, DeviceView<T> a,
                   DeviceView<const T> states, Index k, DeviceView<const Double<T>> bases,
                   DeviceView<Double<T>> reflectors, Index* info, Real<T>* c, T* s);

/// As Kernels<T>::find_not_finite.
template <class T>
void find_not_finite(cudaStream_t stream, Part part, DeviceView<const T> a, Index* found);

/// Real numbers of a column of a block, in the messages of the following.
constexpr int kSubstitutionNumbers = 128;
/// As Kernels<T>::back_substitute and eliminate, for blocks of at most potrf_panel_width() columns.
template <class T>
void back_substitute(cudaStream_t stream, int multiprocessors, Uplo uplo,
                     DeviceView<const T> factor, DeviceView<const T> inverses, DeviceView<T> x,
                     DeviceView<Index> progress);
template <class T>
void eliminate(cudaStream_t stream, int multiprocessors, Uplo uplo, DeviceView<const T> factor,
               DeviceView<const T> inverses, DeviceView<T> x, Index width, DeviceView<T> states,
               DeviceView<Index> progress);

/// How the thread blocks of the LU leaf talk to each other: in a cluster where the GPU has them,
/// else through device memory. One per queue, because the queues run at the same time; within a
/// queue one leaf follows another.
class Exchange {
 public:
  /// For the current device, which has this many multiprocessors.
  explicit Exchange(int multiprocessors);

  int multiprocessors() const { return multiprocessors_; }
  /// Blocks in a cluster at most; 0 if there are none.
  int cluster_limit() const { return cluster_limit_; }
  void* messages() const { return memory_.at(0); }
  void* candidates() const { return candidates_; }
  /// Reserves `columns` consecutive tags that no message in the memory carries; returns the first.
  /// May enqueue a memset.
  unsigned reserve_tags(cudaStream_t stream, unsigned columns);

 private:
  int multiprocessors_;
  int cluster_limit_;
  DeviceMemory memory_;
  void* candidates_;
  unsigned next_tag_ = 0;  // 0: the messages must be cleared first
};

/// Largest number of columns that getrf_leaf takes for `rows` rows.
template <class T>
Index getrf_leaf_width(Index rows, const Exchange& exchange);

/// Where a panel of LU leaves what there is to be told of it, see Kernels<T>::getrf_panel.
struct PanelReport {
  Index *pivots, *home, *info;

#ifdef __CUDACC__
  /// Of step j: LAPACK's pivot.
  __device__ void pivot(int j, Index row) const { pivots[j] = home[j] = row; }
  /// LAPACK's info of a pivot that is zero: only the first one counts.
  __device__ void zero_pivot(Index number) const {
    if (*info == 0) *info = number;
  }
#endif
};

/// LU factorization with partial pivoting of at most getrf_leaf_width columns; as
/// Kernels<T>::getrf_panel. `begun` may be null.
template <class T>
void getrf_leaf(cudaStream_t stream, Exchange& exchange, DeviceView<T> a, PanelReport report,
                Index offset, cudaEvent_t begun);

/// The leaf for GPUs with clusters of thread blocks. Blocks in a cluster at most, for the current
/// device; 0 if it has none or they are too small.
int getrf_cluster_limit();

/// Largest number of columns that getrf_cluster takes for `rows` rows and clusters of at most
/// `limit` blocks; 0 if there are too many rows.
template <class T>
Index getrf_cluster_width(Index rows, int limit);

/// As getrf_leaf, of at most getrf_cluster_width columns.
template <class T>
void getrf_cluster(cudaStream_t stream, int limit, DeviceView<T> a, PanelReport report,
                   Index offset, cudaEvent_t begun);

/// Largest order of the triangle of trsm_block.
template <class T>
Index trsm_block_order();

/// B := L^-1 B (left) or B := B L^-H (right), where L is `a` (lower) or its conjugate transpose
/// (upper), for a triangle of at most trsm_block_order rows. As accurate as substitution.
template <class T>
void trsm_block(cudaStream_t stream, Side side, Uplo uplo, Diag diag, DeviceView<const T> a,
                DeviceView<T> b);

/// Row interchanges, any number of them; as Kernels<T>::swap_rows.
template <class T>
void swap_rows(cudaStream_t stream, DeviceView<T> a, DeviceView<const Index> pivots, Index offset,
               bool forward);

/// The same of a matrix that is stored by rows; as Kernels<T>::swap_columns.
template <class T>
void swap_columns(cudaStream_t stream, DeviceView<T> a, DeviceView<const Index> pivots,
                  Index offset);

/// As Kernels<T>::compose_interchanges and permute_rows, for fewer than 2^31 rows; a column of
/// those of permute_rows must fit in the shared memory of a thread block, and to compose them 4
/// bytes a row and composition_bytes() more.
Index composition_bytes();
void compose_interchanges(cudaStream_t stream, DeviceView<const Index> pivots, Index offset,
                          Index nb, DeviceView<Index> sources);
template <class T>
void permute_rows(cudaStream_t stream, DeviceView<T> a, Index width,
                  DeviceView<const Index> sources);

/// Largest order of the triangle of interchange_and_solve where a thread block may have so much
/// shared memory; 0 if that is too little.
template <class T>
Index interchange_and_solve_order(Index shared_bytes);

/// Interchanges and a solve in one pass, for a triangle of at most interchange_and_solve_order rows
/// and fewer than 2^31 rows of `a`; as Kernels<T>::interchange_and_solve.
template <class T>
void interchange_and_solve(cudaStream_t stream, DeviceView<const T> l, const Index* pivots,
                           Index offset, DeviceView<T> a);

/// The thread blocks of a cluster of step_at_once() for such shapes; 0 if it cannot do them.
template <class T>
int step_at_once_cluster(Index rows, Index order, Index columns, Index shared_bytes);
/// As Kernels<T>::step_at_once.
template <class T>
void step_at_once(cudaStream_t stream, DeviceView<const T> panel, const Index* pivots, Index offset,
                  DeviceView<T> a);

/// interchange_and_solve of a matrix that is kept by rows, for a triangle of at most
/// kInterchangeAndSolveByRowsOrder rows and fewer than 2^31 columns of `a`; as
/// Kernels<T>::interchange_and_solve_by_rows, but L is `l` (lower) or its conjugate transpose
/// (upper). `inverse` may be null: then it is substitution; and `pivots`, too: then there are no
/// interchanges.
constexpr Index kInterchangeAndSolveByRowsOrder = 256;
template <class T>
void interchange_and_solve_by_rows(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> l,
                                   const void* inverse, const Index* pivots, Index offset,
                                   DeviceView<T> a);
/// As Kernels<T>::find_inverses, for fewer than 2^31 rows.
template <class T>
void find_inverses(cudaStream_t stream, DeviceView<const T> l, void* inverses);

/// The split form of op(from); as Kernels<T>::split. For float and complex float; `sizes` may be
/// null.
template <class T>
void split(cudaStream_t stream, SplitForm form, Side side, Op op, DeviceView<const T> from,
           DeviceView<Real<T>> to, const float* sizes, Weigh weigh);

/// Whether the current GPU is of compute capability 9.0, and code for it has been built.
bool has_hopper_code();
/// C := C - A B^H for a multiple of kSubtractedSummands columns of A and B, at least as many, and 1
/// to 2^20 rows and columns of C, which overlaps neither A nor B; everything is 16 bytes aligned,
/// and leading dimensions are even. A thread block makes a tile of C of so many rows and columns.
/// Where has_hopper_code() only.
constexpr int kSubtractedSummands = 16, kSubtractedRows = 128, kSubtractedColumns = 64;
void subtract_product(cudaStream_t stream, DeviceView<const double> a, DeviceView<const double> b,
                      DeviceView<double> c);
/// C := alpha A B + beta C for split forms in FP32 of `numbers` real numbers a column, in sections
/// of `section`; as Kernels<T>::split_gemm. Where has_hopper_code() only.
void split_gemm(cudaStream_t stream, int multiprocessors, Index section, Index numbers, float alpha,
                DeviceView<const float> a, DeviceView<const float> b, float beta, float* c,
                Index ldc);

/// The residues of of.rows(), and of.squares; as Kernels<T>::residues, for T in double precision.
/// `before` may be null.
template <class T>
void residue_form(cudaStream_t stream, const ResidueForm<T>& of, const double* before);
/// As Kernels<T>::scaled_residues; `sizes` may be null.
template <class T>
void scaled_residue_form(cudaStream_t stream, Weigh weigh, const ResidueForm<T>& of,
                         const double* sizes);
/// Words of `remainders` below, for each product of `rows` rows of A and `columns` rows of B.
Index words_of_remainders(Index rows, Index columns);
/// The sums of products of residues of rows of A and rows of B: their remainders, in tiles
/// (residue.cuh). Where has_hopper_code() only, for T in double precision.
template <class T>
void residue_products(cudaStream_t stream, const ResidueForm<T>& a, const ResidueForm<T>& b,
                      std::int32_t* remainders);
/// C := beta C - A B^H from these.
template <class T>
void from_remainders(cudaStream_t stream, const ResidueForm<T>& a, const ResidueForm<T>& b,
                     const std::int32_t* remainders, T beta, DeviceView<T> c);
/// The same from the sums themselves: those for the first modulus in `sums`, those for each other
/// one `stride` elements further.
void from_sums(cudaStream_t stream, const ResidueForm<double>& a, const ResidueForm<double>& b,
               DeviceView<const std::int32_t> sums, Index stride, double beta,
               DeviceView<double> c);

/// Device memory through which the thread blocks of a reduction talk to each other. One per queue,
/// because the queues run at the same time.
class ReduceScratch {
 public:
  /// On the current device. Enqueues a memset.
  explicit ReduceScratch(cudaStream_t stream);

  void* parts() const { return memory_.at(0); }
  void* totals() const { return totals_; }
  void* tickets() const { return tickets_; }

 private:
  DeviceMemory memory_;
  void *totals_, *tickets_;
};

/// Rows and columns of a thread block of hemv().
constexpr int kHemvRows = 512;
template <class T>
constexpr int kHemvColumns = sizeof(T) == 16 ? 16 : 32;
/// As Kernels<T>::hemv.
template <class T>
void hemv(cudaStream_t stream, Uplo uplo, DeviceView<const T> a, const T* x, T* y, T* work);

/// As Kernels<T>::column_norms and norm.
template <class T>
void column_norms(cudaStream_t stream, const ReduceScratch& scratch, DeviceView<const T> a,
                  Real<T>* norms);
template <class T>
void norm(cudaStream_t stream, const ReduceScratch& scratch, Norm norm, Symmetry symmetry,
          Uplo uplo, DeviceView<const T> a, Real<T>* work, Real<T>* result);
/// As Kernels<T>::largest and smallest, of real numbers.
template <class R>
void extreme(cudaStream_t stream, const ReduceScratch& scratch, bool largest, DeviceView<const R> a,
             R* result);

/// Rows of a block of substitute(), words of a column of its messages, and right-hand sides of a
/// thread block.
template <class T>
constexpr int kSubstitutionOrder = std::is_same_v<T, float> ? 128 : 64;
template <class T>
constexpr int kSubstitutionWords = kSubstitutionOrder<T>* static_cast<int>(sizeof(T)) / 8;
constexpr int kSubstitutionColumns = 4;
/// Bytes of what find_links() finds for a block.
template <class T>
constexpr std::size_t kLinkBytes =
    2 * kSubstitutionOrder<T>* kSubstitutionOrder<T>*(is_complex<T> ? 2 : 1) * sizeof(double);
/// As Kernels<T>::find_links, for float and complex float, and substitute.
template <class T>
void find_links(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> a, void* links);
template <class T>
void substitute(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> a, const void* links,
                DeviceView<T> x, DeviceView<Index> progress);

/// As Kernels<T>::mirror.
template <class T>
void mirror(cudaStream_t stream, Uplo uplo, DeviceView<T> a);

/// As Kernels<T>::round, round_high, join and widen. For double and complex double.
template <class T>
void round_part(cudaStream_t stream, Part part, DeviceView<const T> from, DeviceView<Single<T>> to,
                Index* overflow, const double* row_sizes, const double* column_sizes);
template <class T>
void round_high(cudaStream_t stream, Part part, DeviceView<const Single<T>> high,
                DeviceView<Single<T>> to);
template <class T>
void join(cudaStream_t stream, Part part, DeviceView<const Single<T>> high,
          DeviceView<const Single<T>> low, DeviceView<T> to, Index* overflow);
template <class T>
void widen(cudaStream_t stream, DeviceView<const Single<T>> from, T beta, DeviceView<T> to,
           const double* row_sizes);

/// As Queue::copy_on_device.
void copy_part(cudaStream_t stream, void* to, std::size_t to_pitch, const void* from,
               std::size_t from_pitch, std::size_t element, Index rows, Index cols, Part part,
               Index diagonal);

}  // namespace overlapack::cuda
