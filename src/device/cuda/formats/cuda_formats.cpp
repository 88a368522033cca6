#include "device/cuda/formats/cuda_formats.hpp"

#include "device/cuda/formats/products.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/residues.hpp"

namespace overlapack::cuda {
namespace {

// ---- Split operands -----------------------------------------------------------------------

template <class T>
class CudaSplitProducts final : public SplitProducts<T> {
  void run(Queue& queue, const Split<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const SplitGemm<T>& op) override { launch_here(queue, op); }
};

/// By cuBLAS, of numbers in one part.
void one_part_gemm(CudaQueue& queue, bool halves, float alpha, DeviceView<const float> a,
                   DeviceView<const float> b, float beta, DeviceView<float> c) {
  const Index per_float = halves ? 2 : 1;
  const cudaDataType type = halves ? CUDA_R_16F : CUDA_R_32F;
  check(cublasGemmEx_64(queue.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, c.rows, c.cols,
                        per_float * a.rows, &alpha, a.data, type, per_float * a.ld, b.data, type,
                        per_float * b.ld, &beta, c.data, CUDA_R_32F, c.ld,
                        halves ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32,
                        CUBLAS_GEMM_DEFAULT),
        "split_gemm");
}

template <class T>
void enqueue(CudaQueue& queue, const SplitGemm<T>& op) {
  if (op.k == 0) {  // C := beta C
    const DeviceView<T> c = op.c;
    const Gemm<T> scale = {
        Op::none,   Op::none, T(0), c.block(0, 0, c.rows, 0), c.block(0, 0, 0, c.cols),
        T(op.beta), c};
    if (!scale.empty()) launch(queue, scale);
    return;
  }
  constexpr Index reals = is_complex<T> ? 2 : 1;  // a complex C is a real one with more rows
  const DeviceView<float> c(reinterpret_cast<float*>(op.c.data), reals * op.c.rows, op.c.cols,
                            reals * op.c.ld);
  if (op.form.precision == Precision::fp32) {
    split_gemm(queue, reals * op.form.section, reals * op.k, op.alpha, op.a, op.b, op.beta, c);
  } else {
    const bool halves = op.form.precision == Precision::fp16;
    one_part_gemm(queue, halves, op.alpha, op.a, op.b, op.beta, c);
  }
}

// ---- Residues -----------------------------------------------------------------------------

template <class T>
class CudaResidueProducts final : public ResidueProducts<T> {
 public:
  explicit CudaResidueProducts(bool has_hopper_code) : has_hopper_code_(has_hopper_code) {}
  Index residue_unit() const override { return kResidueUnit; }
  Index residue_work(Index m, Index n) const override {
    if (has_hopper_code_) return words_of_remainders(m, n) * ResidueForm<T>::kProducts;
    return round_up(m, kResidueUnit) * round_up(n, kResidueUnit) * residues::kModuli;
  }

 private:
  void run(Queue& queue, const FindResidues<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const FindScaledResidues<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const ResidueGemm<T>& op) override { launch_here(queue, op); }

  const bool has_hopper_code_;
};

// cuBLAS's sums have rows and columns beyond those of C, up to a multiple of the unit: with an odd
// number of them it takes much longer.
void residue_gemm_by_cublas(CudaQueue& queue, const ResidueGemm<double>& op) {
  const ResidueForm<double>&a = op.a, &b = op.b;
  const Index m = round_up(op.c.rows, kResidueUnit), n = round_up(op.c.cols, kResidueUnit);
  const Index stride = m * n;
  const std::int32_t one = 1, zero = 0;
  check(cublasGemmStridedBatchedEx_64(queue.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, a.summands(),
                                      &one, a.numbers.data, CUDA_R_8I, a.numbers.ld, a.stride,
                                      b.numbers.data, CUDA_R_8I, b.numbers.ld, b.stride, &zero,
                                      op.work.data, CUDA_R_32I, m, stride, residues::kModuli,
                                      CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
        "residue_gemm");
  from_sums(queue.stream(), a, b, DeviceView<const std::int32_t>(op.work.data, m, n, m), stride,
            op.beta, op.c);
}

template <class T>
void enqueue(CudaQueue& queue, const ResidueGemm<T>& op) {
  if (queue.gpu().has_hopper_code) {
    residue_products(queue.stream(), op.a, op.b, op.work.data);
    from_remainders(queue.stream(), op.a, op.b, op.work.data, op.beta, op.c);
    return;
  }
  if constexpr (!is_complex<T>) residue_gemm_by_cublas(queue, op);
}

// ---- Rounding -----------------------------------------------------------------------------

template <class T>
class CudaRounding final : public Rounding<T> {
  void run(Queue& queue, const Round<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const RoundHigh<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Join<T>& op) override { launch_here(queue, op); }
  void run(Queue& queue, const Widen<T>& op) override { launch_here(queue, op); }
};

}  // namespace

template <class T>
CudaFormats<T>::CudaFormats(const Gpu& gpu) {
  if constexpr (kSplits<T>) split_products_ = std::make_unique<CudaSplitProducts<T>>();
  if constexpr (kResidues<T>) {
    residue_products_ = std::make_unique<CudaResidueProducts<T>>(gpu.has_hopper_code);
  }
  if constexpr (kRounds<T>) rounding_ = std::make_unique<CudaRounding<T>>();
}

OVERLAPACK_LAUNCH(SplitGemm<float>)
OVERLAPACK_LAUNCH(SplitGemm<std::complex<float>>)
OVERLAPACK_LAUNCH(ResidueGemm<double>)
OVERLAPACK_LAUNCH(ResidueGemm<std::complex<double>>)

#define OVERLAPACK_INSTANTIATE(T) template class CudaFormats<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
