// What panels are made of, and the memory that a queue has for them.
#pragma once

#include <cuda_runtime_api.h>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "device/cuda/runtime/check.hpp"

namespace overlapack {
template <class T>
struct GeqrfPanel;
template <class T>
struct ReflectAndFactor;
}  // namespace overlapack

namespace overlapack::cuda {

// ---- Cholesky -----------------------------------------------------------------------------

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

/// See Limits.
template <class T>
Index potrf_panel_width();
template <class T>
Index potrf_notes();

// ---- Updates of a Cholesky factor ---------------------------------------------------------

/// Device memory where an update leaves a diagonal block while others still read the old one. One
/// per queue.
class UpdateScratch {
 public:
  /// Order of the block: see Limits::update_panel_width.
  static constexpr Index kOrder = 256;

  /// On the current device.
  UpdateScratch()
      : memory_(kOrder * kOrder * sizeof(std::complex<double>), "memory for updates of a factor") {}

  void* memory() const { return memory_.at(0); }

 private:
  DeviceMemory memory_;
};

// ---- LU -----------------------------------------------------------------------------------

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

/// Where a panel of LU leaves what there is to be told of it, see GetrfPanel.
struct PanelReport {
  Index *pivots, *staged_pivots, *info;

#ifdef __CUDACC__
  /// Of step j: LAPACK's pivot.
  __device__ void pivot(int j, Index row) const { pivots[j] = staged_pivots[j] = row; }
  /// LAPACK's info of a pivot that is zero: only the first one counts.
  __device__ void zero_pivot(Index number) const {
    if (*info == 0) *info = number;
  }
#endif
};

/// GetrfPanel for at most getrf_leaf_width columns. `begun` may be null.
template <class T>
void getrf_leaf(cudaStream_t stream, Exchange& exchange, DeviceView<T> a, PanelReport report,
                Index offset, cudaEvent_t begun);

/// The leaf for GPUs with clusters of thread blocks. Blocks in a cluster at most, for the current
/// device; 0 if it has none or they are too small.
template <class T>
int getrf_cluster_limit();
/// For all types: that of the one whose kernels need the most shared memory.
inline int getrf_cluster_limit() { return getrf_cluster_limit<std::complex<double>>(); }

/// Largest number of columns that getrf_cluster takes for `rows` rows and clusters of at most
/// `limit` blocks; 0 if there are too many rows.
template <class T>
Index getrf_cluster_width(Index rows, int limit);

/// As getrf_leaf, of at most getrf_cluster_width columns.
template <class T>
void getrf_cluster(cudaStream_t stream, int limit, DeviceView<T> a, PanelReport report,
                   Index offset, cudaEvent_t begun);

// ---- Hermitian matrices ------------------------------------------------------------------

/// Limits::sytrd_panel_width, and elements of SytrdPanel::work on a GPU with so many
/// multiprocessors.
template <class T>
Index sytrd_panel_width();
template <class T>
Index sytrd_panel_work(Index n, int multiprocessors);
/// Limits::sytrd_order of a GPU whose thread blocks may have so much shared memory, and elements of
/// Sytrd::work.
template <class T>
Index sytrd_order(int multiprocessors, Index shared_bytes);
template <class T>
Index sytrd_whole_work(Index n);

// ---- QR -----------------------------------------------------------------------------------

/// Device memory for a panel of QR that is factored in memory. One per queue.
class ReflectorScratch {
 public:
  static constexpr int kMaxBlocks = 256;  // that leave their sums
  static constexpr std::size_t kBytes = 160 * 1024;

  /// On the current device.
  ReflectorScratch() : memory_(kBytes, "memory for panels of QR") {}

  void* memory() const { return memory_.at(0); }

 private:
  DeviceMemory memory_;
};

/// Largest number of columns that geqrf_cluster takes for `rows` rows and clusters of at most
/// `limit` blocks, see getrf_cluster_limit(); 0 if there are too many rows.
template <class T>
Index geqrf_cluster_width(Index rows, int limit);
/// GeqrfPanel of at most so many columns. `begun` may be null.
template <class T>
void geqrf_cluster(cudaStream_t stream, int limit, const GeqrfPanel<T>& op, cudaEvent_t begun);
/// Whether the same kernel takes ReflectAndFactor of so many columns and rows of a panel, after so
/// many reflectors.
template <class T>
bool geqrf_cluster_reflects(Index rows, Index columns, Index reflectors, int limit);
template <class T>
void geqrf_cluster(cudaStream_t stream, int limit, const ReflectAndFactor<T>& op,
                   cudaEvent_t begun);

/// The same for any number of rows, on every GPU.
template <class T>
Index geqrf_tall_width();
template <class T>
void geqrf_tall(cudaStream_t stream, const ReflectorScratch& scratch, const GeqrfPanel<T>& op);

}  // namespace overlapack::cuda
