// The CUDA device: memory, streams and events of the CUDA runtime, matrix kernels on cuBLAS and our
// own kernels.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>

#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/device.hpp"

namespace overlapack::cuda {

/// Makes a device current for the calling thread while it lives. Calls come from any thread, and
/// the application may use CUDA itself: it gets its own device, or its own context of the same
/// device, back. That is done by the driver's stack of contexts. Setting the runtime's device, and
/// that of before again, would start the other device, too: half a gigabyte of its memory in a
/// program that does not use it.
///
/// Meanwhile this thread takes no notice of CUDA graphs that the application captures elsewhere: as
/// a rule a capture forbids all threads to allocate memory or to ask for what has been done, and
/// both the call and the capture fail.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index) noexcept;
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;

 private:
  int outer_;  // what an outer one has made current in this thread
  bool pushed_ = false;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // the application's, meanwhile
};

class CudaEvent final : public Event {
 public:
  CudaEvent(Device& device, int index, Timed timed);
  ~CudaEvent() override;
  cudaEvent_t handle() const { return event_; }

 private:
  void do_synchronize() override;
  bool do_done() override;
  double do_since(Event& earlier) override;

  int index_;
  cudaEvent_t event_ = nullptr;
};

/// A stream with everything that work in it needs for itself, because queues run at the same time:
/// a cuBLAS handle with its workspace, and the memory through which the thread blocks of panels
/// talk to each other.
class CudaQueue final : public Queue {
 public:
  CudaQueue(Device& device, int index, int multiprocessors, Priority priority);
  ~CudaQueue() override;
  int index() const { return index_; }
  cudaStream_t stream() const { return stream_; }
  // Made at the first use: queues that only copy need none.
  cublasHandle_t cublas();
  Exchange& exchange();
  Relay& relay();
  const UpdateScratch& update_scratch();
  const ReduceScratch& reduce_scratch();
  int multiprocessors() const { return multiprocessors_; }

 private:
  void release() noexcept;
  template <class X, class... Arguments>
  X& made(std::unique_ptr<X>& x, Arguments... arguments);
  void copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
            std::size_t bytes, std::size_t count, cudaMemcpyKind kind);
  void do_copy_to_device(void*, std::size_t, const void*, std::size_t, std::size_t,
                         std::size_t) override;
  void do_copy_to_host(void*, std::size_t, const void*, std::size_t, std::size_t,
                       std::size_t) override;
  void do_copy_on_device(void*, std::size_t, const void*, std::size_t, std::size_t, Index, Index,
                         Part, Index) override;
  void do_zero(void*, std::size_t, std::size_t, std::size_t) override;
  void do_signal(Flag&, std::uint32_t) override;
  void do_poll() override;
  void do_record(Event&) override;
  void do_wait(Event&) override;
  void do_synchronize() override;
  void do_drain() noexcept override;

  int index_, multiprocessors_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  std::unique_ptr<DeviceMemory> workspace_;  // of cuBLAS
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<UpdateScratch> update_scratch_;
  std::unique_ptr<ReduceScratch> reduce_scratch_;
};

template <class T>
class CudaKernels final : public Kernels<T> {
 public:
  CudaKernels(Device& device, int index, const cudaDeviceProp& properties, bool has_hopper_code)
      : Kernels<T>(device),
        index_(index),
        has_hopper_code_(has_hopper_code),
        shared_bytes_(static_cast<Index>(properties.sharedMemPerBlockOptin)) {}

 private:
  void do_gemm(Queue&, Op, Op, T, DeviceView<const T>, DeviceView<const T>, T,
               DeviceView<T>) override;
  void do_copy(Queue&, Op, DeviceView<const T>, DeviceView<T>) override;
  void do_herk(Queue&, Uplo, Op, Real<T>, DeviceView<const T>, Real<T>, DeviceView<T>) override;
  void do_hemv(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>, DeviceView<T>,
               DeviceView<T>) override;
  void do_trsm(Queue&, Side, Uplo, Op, Diag, T, DeviceView<const T>, DeviceView<T>) override;
  Index do_potrf_panel_width() const override;
  void do_potrf_panel(Queue&, Uplo, DeviceView<const T>, DeviceView<T>, DeviceView<Index>, Index,
                      DeviceView<T>) override;
  void do_potrf_rows(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>,
                     DeviceView<T>) override;
  Index do_potrf_notes() const override;
  void do_invert_blocks(Queue&, Uplo, DeviceView<const T>, DeviceView<T>,
                        DeviceView<Real<T>>) override;
  void do_back_substitute(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>, DeviceView<T>,
                          DeviceView<Index>) override;
  Index do_getrf_panel_width() const override { return 128; }
  void do_getrf_panel(Queue&, DeviceView<T>, DeviceView<Index>, DeviceView<Index>,
                      DeviceView<Index>, Index, Event*) override;
  void do_swap_rows(Queue&, DeviceView<T>, DeviceView<const Index>, Index, bool) override;
  void do_swap_columns(Queue&, DeviceView<T>, DeviceView<const Index>, Index) override;
  void do_compose_interchanges(Queue&, DeviceView<const Index>, Index, Index,
                               DeviceView<Index>) override;
  Index do_permutable_rows() const override;
  void do_permute_rows(Queue&, DeviceView<T>, Index, DeviceView<const Index>) override;
  void do_interchange_and_solve(Queue&, DeviceView<const T>, DeviceView<const Index>, Index,
                                DeviceView<T>) override;
  bool do_has_step_at_once(Index, Index, Index) const override;
  void do_step_at_once(Queue&, DeviceView<const T>, DeviceView<const Index>, Index,
                       DeviceView<T>) override;
  void do_interchange_and_solve_by_rows(Queue&, DeviceView<const T>, DeviceView<const Index>, Index,
                                        DeviceView<T>, DeviceView<const Index>) override;
  void do_find_inverses(Queue&, DeviceView<const T>, DeviceView<Index>) override;
  void do_eliminate(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>, DeviceView<T>, Index,
                    DeviceView<T>, DeviceView<Index>) override;
  Index do_update_panel_width() const override;
  void do_update_panel(Queue&, Uplo, DeviceView<const T>, DeviceView<T>, Index, DeviceView<const T>,
                       DeviceView<T>, DeviceView<Index>, Index, DeviceView<Real<T>>,
                       DeviceView<T>) override;
  void do_update_bases(Queue&, int, DeviceView<const T>, Index, Index, double,
                       DeviceView<Double<T>>, DeviceView<Double<T>>, DeviceView<Index>) override;
  void do_update_panels(Queue&, Uplo, int, DeviceView<T>, DeviceView<const T>, Index,
                        DeviceView<const Double<T>>, DeviceView<Double<T>>, DeviceView<Index>,
                        DeviceView<Real<T>>, DeviceView<T>) override;
  void do_find_not_finite(Queue&, Part, DeviceView<const T>, DeviceView<Index>) override;
  void do_split(Queue&, SplitForm, Side, Op, DeviceView<const T>, DeviceView<Real<T>>,
                DeviceView<const Real<T>>, Weigh) override;
  void do_split_gemm(Queue&, SplitForm, Index, Real<T>, DeviceView<const Real<T>>,
                     DeviceView<const Real<T>>, Real<T>, DeviceView<T>) override;
  Index do_residue_unit() const override { return kResidueUnit; }
  Index do_residue_work(Index m, Index n) const override;
  void do_residues(Queue&, const ResidueForm<T>&, DeviceView<const Real<T>>) override;
  void do_scaled_residues(Queue&, Weigh, const ResidueForm<T>&, DeviceView<const Real<T>>) override;
  void do_residue_gemm(Queue&, const ResidueForm<T>&, const ResidueForm<T>&, T, DeviceView<T>,
                       DeviceView<std::int32_t>) override;
  void do_column_norms(Queue&, DeviceView<const T>, DeviceView<Real<T>>) override;
  void do_norm(Queue&, Norm, Symmetry, Uplo, DeviceView<const T>, DeviceView<Real<T>>,
               DeviceView<Real<T>>) override;
  void do_extreme(Queue&, bool, DeviceView<const Real<T>>, DeviceView<Real<T>>) override;
  void do_round(Queue&, Part, DeviceView<const T>, DeviceView<Single<T>>, DeviceView<Index>,
                DeviceView<const Real<T>>, DeviceView<const Real<T>>) override;
  void do_round_high(Queue&, Part, DeviceView<const Single<T>>, DeviceView<Single<T>>) override;
  void do_join(Queue&, Part, DeviceView<const Single<T>>, DeviceView<const Single<T>>,
               DeviceView<T>, DeviceView<Index>) override;
  void do_widen(Queue&, DeviceView<const Single<T>>, T, DeviceView<T>,
                DeviceView<const Real<T>>) override;
  void do_mirror(Queue&, Uplo, DeviceView<T>) override;
  void do_find_links(Queue&, Uplo, Diag, DeviceView<const T>, DeviceView<Index>) override;
  void do_substitute(Queue&, Uplo, Diag, DeviceView<const T>, DeviceView<const Index>,
                     DeviceView<T>, DeviceView<Index>) override;

  bool solves_by_rows_at_once(Index order, Index rows) const;
  void solve_forward(Queue&, Side, Uplo, Diag, DeviceView<const T>, DeviceView<T>);

  /// What is copied for the tensor cores at once, of a row.
  static constexpr Index kResidueUnit = 128;

  int index_;
  mutable std::atomic<int> cluster_limit_{-1};  // getrf_cluster_limit(), once it is known
  bool has_hopper_code_;
  Index shared_bytes_;  // that a thread block may have
};

class CudaDevice final : public Device {
 public:
  /// `fast_tf32`: products of TF32 numbers are faster than those of floats.
  CudaDevice(int index, const cudaDeviceProp& properties, bool fast_tf32, bool has_hopper_code);
  ~CudaDevice() override;

 private:
  void* do_allocate(Space space, std::size_t bytes) override;
  void do_free(Space space, void* memory) noexcept override;
  MemoryKind do_kind_of(const void* memory) override;
  std::unique_ptr<Queue> do_make_queue(Priority priority) override;
  std::unique_ptr<Event> do_make_event(Timed timed) override;
  std::shared_ptr<void> do_make_current() override;
  void do_await_all() override;
  Kernels<float>& do_kernels(float) override { return s_; }
  Kernels<double>& do_kernels(double) override { return d_; }
  Kernels<std::complex<float>>& do_kernels(std::complex<float>) override { return c_; }
  Kernels<std::complex<double>>& do_kernels(std::complex<double>) override { return z_; }

  int index_;
  int multiprocessors_;
  CudaKernels<float> s_;
  CudaKernels<double> d_;
  CudaKernels<std::complex<float>> c_;
  CudaKernels<std::complex<double>> z_;
};

}  // namespace overlapack::cuda
