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

namespace overlapack::cuda {

/// Largest order of potrf_leaf.
template <class T>
Index potrf_leaf_order();

/// Cholesky factorization of one block of order <= potrf_leaf_order() and the inverse of its
/// factor; as Kernels<T>::potrf_block. If the block is not positive definite, factor and inverse
/// are completed by columns (rows) of the unit matrix and *condition is 1, so that what is already
/// enqueued behind spreads no Inf or NaN into columns that are right.
template <class T>
void potrf_leaf(cudaStream_t stream, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                DeviceView<T> inverse, Real<T>* condition, Index* info, Index offset);

/// The second half of Kernels<T>::solve_block, behind the product with the inverse: where
/// *condition is not at most kTrustedCondition, x becomes the result of substitution.
template <class T>
void substitute_if_needed(cudaStream_t stream, Uplo uplo, DeviceView<const T> factor,
                          const Real<T>* condition, DeviceView<const T> a, DeviceView<T> x);

/// How the thread blocks of the LU leaf talk to each other: in a cluster where the GPU has them,
/// else through device memory. One per queue, because the queues run at the same time; within a
/// queue one leaf follows another.
class Exchange {
 public:
  /// For the current device, which has this many multiprocessors.
  explicit Exchange(int multiprocessors);
  ~Exchange();
  Exchange(const Exchange&) = delete;

  int multiprocessors() const { return multiprocessors_; }
  /// Blocks in a cluster at most; 0 if there are none.
  int cluster_limit() const { return cluster_limit_; }
  void* messages() const { return messages_; }
  void* candidates() const { return candidates_; }
  /// Reserves `columns` consecutive tags that no message in the memory carries; returns the first.
  /// May enqueue a memset.
  unsigned reserve_tags(cudaStream_t stream, unsigned columns);

 private:
  int multiprocessors_;
  int cluster_limit_;
  void* messages_ = nullptr;
  void* candidates_ = nullptr;
  unsigned next_tag_ = 0;  // 0: the messages must be cleared first
};

/// Largest number of columns that getrf_leaf takes for `rows` rows.
template <class T>
Index getrf_leaf_width(Index rows, const Exchange& exchange);

/// LU factorization with partial pivoting of at most getrf_leaf_width columns; as
/// Kernels<T>::getrf_panel.
template <class T>
void getrf_leaf(cudaStream_t stream, Exchange& exchange, DeviceView<T> a, Index* pivots,
                Index* info, Index offset);

/// The leaf for GPUs with clusters of thread blocks. Blocks in a cluster at most, for the current
/// device; 0 if it has none or they are too small.
int getrf_cluster_limit();

/// Largest number of columns that getrf_cluster takes for `rows` rows and clusters of at most
/// `limit` blocks; 0 if there are too many rows.
template <class T>
Index getrf_cluster_width(Index rows, int limit);

/// As getrf_leaf, of at most getrf_cluster_width columns.
template <class T>
void getrf_cluster(cudaStream_t stream, int limit, DeviceView<T> a, Index* pivots, Index* info,
                   Index offset);

/// Row interchanges, any number of them; as Kernels<T>::swap_rows.
template <class T>
void swap_rows(cudaStream_t stream, DeviceView<T> a, DeviceView<const Index> pivots, Index offset,
               bool forward);

/// The split form of op(from); as Kernels<T>::split. For float and complex float.
template <class T>
void split(cudaStream_t stream, Side side, Op op, DeviceView<const T> from, DeviceView<Real<T>> to);
/// As Queue::copy_on_device.
void copy_part(cudaStream_t stream, void* to, std::size_t to_pitch, const void* from,
               std::size_t from_pitch, std::size_t element, Index rows, Index cols, Part part,
               Index diagonal);

}  // namespace overlapack::cuda
