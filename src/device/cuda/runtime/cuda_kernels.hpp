// The operations of the CUDA device for one precision.
#pragma once

#include <atomic>

#include "device/cuda/bulges/bulges.hpp"
#include "device/cuda/formats/cuda_formats.hpp"
#include "device/cuda/fused/fused.hpp"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {

template <class T>
class CudaKernels final : public Kernels<T> {
 public:
  CudaKernels(Device& device, const Gpu& gpu, const CudaFormats<T>& formats);

  bool has_lu_step(Index rows, Index order, Index columns) const override;
  Index geqrf_panel_width(Index rows) const override;
  Index sytrd_work(Index n) const override;
  Index chase_work() const override { return cuda::chase_work<T>(gpu_.multiprocessors); }
  Index reflect_work(Index n, Index bandwidth) const override {
    return gpu_.has_fast_doubles ? cuda::tile_work<T>(n, bandwidth) : 0;
  }
  Index hemv_work(Index n) const override { return cuda::hemv_work<T>(n); }
  Index factor_progress(Index blocks, Index columns) const override {
    return cuda::factor_progress<T>(blocks, columns);
  }
  Index elements_of_inverses(Index n) const override { return cuda::elements_of_inverses<T>(n); }
  Index substitution_links(Index n) const override { return cuda::substitution_links<T>(n); }
  Index substitution_progress(Index n, Index columns) const override {
    return cuda::substitution_progress<T>(n, columns);
  }

 private:
  using Kernels<T>::run;
  // The core, in blas/ and reductions/.
  void run(Queue& queue, const Gemm<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Herk<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Her2k<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Trsm<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Copy<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Mirror<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const SwapRows<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const SwapColumns<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const ColumnNorms<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const MatrixNorm<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const FindNotFinite<T>& op) override { launch_here(queue, op); }
  // In panels/.
  void run(Queue& queue, const PotrfPanel<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const GetrfPanel<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const GeqrfPanel<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const SytrdPanel<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Sytrd<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const UpdatePanel<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const PotrfRows<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const UpdatePanels<T>& op) override { launch_here(queue, op); }
  // In fused/.
  void run(Queue& queue, const InvertBlocks<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const BackSubstitute<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Eliminate<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const TurnTriangle<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const UpdateBases<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const ComposeInterchanges<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const PermuteRows<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const InterchangeAndSolve<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const LuStep<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Reflect<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const ReflectAndFactor<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const FindInverses<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const InterchangeAndSolveByRows<T>& op) override {
    launch_here(queue, op);
  }
  void run(Queue& queue, const Hemv<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const FindLinks<T>& op) override {
    if constexpr (kSplits<T>) launch_here(queue, op);
  }
  void run(Queue& queue, const Substitute<T>& op) override { launch_here(queue, op); }
  // In bulges/.
  void run(Queue& queue, const ChaseBulges<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const BulgeFactors<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const ReflectBulges<T>& op) override { launch_here(queue, op); }
  // In tridiagonal/, for real numbers.
  void run(Queue& queue, const DiagonalizeLeaves<T>& op) override { launch_real(queue, op); }
  void run(Queue& queue, const Deflate<T>& op) override { launch_real(queue, op); }
  void run(Queue& queue, const SolveSecular<T>& op) override { launch_real(queue, op); }
  void run(Queue& queue, const SecularVectors<T>& op) override { launch_real(queue, op); }
  void run(Queue& queue, const TakeColumns<T>& op) override { launch_real(queue, op); }
  void run(Queue& queue, const MultiplyMerges<T>& op) override { launch_real(queue, op); }
  void run(Queue& queue, const Bisect<T>& op) override { launch_real(queue, op); }
  template <class Operation>
  static void launch_real(Queue& queue, const Operation& op) {
    if constexpr (!is_complex<T>) launch_here(queue, op);
  }

  int cluster_limit() const;

  const Gpu gpu_;
  mutable std::atomic<int> cluster_limit_{-1};  // getrf_cluster_limit(), once it is known
};

}  // namespace overlapack::cuda
