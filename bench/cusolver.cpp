#include "cusolver.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "cuda_check.hpp"

namespace overlapack::bench {
namespace {

using bench::check;
void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error("cuBLAS: status " + std::to_string(static_cast<int>(status)));
  }
}
void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw std::runtime_error("cuSOLVER: status " + std::to_string(static_cast<int>(status)));
  }
}

template <class T>
constexpr cudaDataType data_type() {
  constexpr bool is_float = std::is_same_v<Real<T>, float>;
  return is_complex<T> ? (is_float ? CUDA_C_32F : CUDA_C_64F)
                       : (is_float ? CUDA_R_32F : CUDA_R_64F);
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) {
    check(cudaMalloc(&data_, sizeof(T) * std::max<std::size_t>(count, 1)));
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

class Handle {
 public:
  explicit Handle(int gpu) {
    check(cudaSetDevice(gpu));
    check(cusolverDnCreate(&handle_));
    check(cusolverDnCreateParams(&params_));
  }
  Handle(const Handle&) = delete;
  ~Handle() {
    cusolverDnDestroyParams(params_);
    cusolverDnDestroy(handle_);
  }
  operator cusolverDnHandle_t() const { return handle_; }
  cusolverDnParams_t params() const { return params_; }

 private:
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t params_ = nullptr;
};

cublasFillMode_t fill_mode(Uplo uplo) {
  return uplo == Uplo::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

std::size_t count(Index n) { return static_cast<std::size_t>(n); }

/// As a program would copy: in one piece where there is no padding.
template <class T>
void copy(T* to, Index to_ld, const T* from, Index from_ld, Index rows, Index cols,
          cudaMemcpyKind kind) {
  if (rows == 0 || cols == 0) return;
  if (to_ld == rows && from_ld == rows) {
    check(cudaMemcpy(to, from, sizeof(T) * count(rows) * count(cols), kind));
  } else {
    check(cudaMemcpy2D(to, sizeof(T) * count(to_ld), from, sizeof(T) * count(from_ld),
                       sizeof(T) * count(rows), count(cols), kind));
  }
}

/// What all contenders of cuSOLVER's do: copies around the computation, within the time or outside.
template <class T>
class OnGpu : public Contender<T> {
 public:
  void prepare(Problem<T>& problem) override {
    if (round_trip_) return;
    upload(problem);
    check(cudaDeviceSynchronize());
  }
  void run(Problem<T>& problem) override {
    if (round_trip_) upload(problem);
    compute(problem);
    if (round_trip_) download(problem);
    check(cudaDeviceSynchronize());
  }
  void finish(Problem<T>& problem) override {
    if (!round_trip_) download(problem);
  }

 protected:
  OnGpu(bool round_trip, int gpu) : round_trip_(round_trip), handle_(gpu), info_(1) {}
  virtual void upload(Problem<T>& problem) = 0;
  virtual void compute(Problem<T>& problem) = 0;
  virtual void download(Problem<T>& problem) = 0;

  void download_info(Problem<T>& problem) const {
    int info = 0;
    copy(&info, 1, info_.data(), 1, 1, 1, cudaMemcpyDeviceToHost);
    problem.info = info;
  }

 private:
  const bool round_trip_;

 protected:
  const Handle handle_;
  const DeviceArray<int> info_;
};

template <class T>
class Cusolver final : public OnGpu<T> {
 public:
  Cusolver(const Call& call, bool round_trip, int gpu)
      : OnGpu<T>(round_trip, gpu),
        call_(call),
        m_(call.shape.m),
        n_(call.shape.n),
        a_(count(m_) * count(n_)),
        b_(count(n_) * count(call.shape.nrhs)),
        pivots_(count(std::min(m_, n_))),
        host_pivots_(count(std::min(m_, n_))) {
    std::size_t device_bytes = 0, host_bytes = 0;
    if (cholesky() && factors()) {
      check(cusolverDnXpotrf_bufferSize(handle_, handle_.params(), uplo(), n_, kType, a_.data(), m_,
                                        kType, &device_bytes, &host_bytes));
    } else if (factors()) {
      check(cusolverDnXgetrf_bufferSize(handle_, handle_.params(), m_, n_, kType, a_.data(), m_,
                                        kType, &device_bytes, &host_bytes));
    }
    device_work_ = std::make_unique<DeviceArray<char>>(device_bytes);
    device_work_bytes_ = device_bytes;
    host_work_.resize(host_bytes);
  }

  void finish(Problem<T>& problem) override {
    OnGpu<T>::finish(problem);
    for (std::size_t i = 0; i < problem.pivot_count() && factors(); ++i) {
      problem.pivots()[i] = static_cast<std::int32_t>(host_pivots_[i]);
    }
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  static constexpr cudaDataType kType = data_type<T>();

  bool cholesky() const {
    return dispatch::traits_of(call_.routine).factors == dispatch::Factors::cholesky;
  }
  bool factors() const {
    return dispatch::traits_of(call_.routine).given == dispatch::Given::matrix;
  }
  bool solves() const { return call_.shape.nrhs > 0; }
  cublasFillMode_t uplo() const { return fill_mode(call_.uplo); }
  cublasOperation_t op() const {
    return call_.op == Op::none ? CUBLAS_OP_N : call_.op == Op::trans ? CUBLAS_OP_T : CUBLAS_OP_C;
  }

  void upload(Problem<T>& problem) override {
    copy(a_.data(), m_, problem.a().data, problem.a().ld, m_, n_, cudaMemcpyHostToDevice);
    if (solves()) {
      copy(b_.data(), n_, problem.b().data, problem.b().ld, n_, call_.shape.nrhs,
           cudaMemcpyHostToDevice);
    }
    if (!factors() && !cholesky()) {
      host_pivots_.assign(problem.pivots(), problem.pivots() + problem.pivot_count());
      copy(pivots_.data(), n_, host_pivots_.data(), n_, n_, 1, cudaMemcpyHostToDevice);
    }
  }

  void compute(Problem<T>&) override {
    const cusolverDnParams_t params = handle_.params();
    if (cholesky()) {
      if (factors()) {
        check(cusolverDnXpotrf(handle_, params, uplo(), n_, kType, a_.data(), m_, kType,
                               device_work_->data(), device_work_bytes_, host_work_.data(),
                               host_work_.size(), info_.data()));
      }
      if (solves()) {
        check(cusolverDnXpotrs(handle_, params, uplo(), n_, call_.shape.nrhs, kType, a_.data(), m_,
                               kType, b_.data(), n_, info_.data()));
      }
      return;
    }
    if (factors()) {
      check(cusolverDnXgetrf(handle_, params, m_, n_, kType, a_.data(), m_, pivots_.data(), kType,
                             device_work_->data(), device_work_bytes_, host_work_.data(),
                             host_work_.size(), info_.data()));
    }
    if (solves()) {
      check(cusolverDnXgetrs(handle_, params, op(), n_, call_.shape.nrhs, kType, a_.data(), m_,
                             pivots_.data(), kType, b_.data(), n_, info_.data()));
    }
  }

  void download(Problem<T>& problem) override {
    if (factors()) {
      copy(problem.a().data, problem.a().ld, a_.data(), m_, m_, n_, cudaMemcpyDeviceToHost);
    }
    if (solves()) {
      copy(problem.b().data, problem.b().ld, b_.data(), n_, n_, call_.shape.nrhs,
           cudaMemcpyDeviceToHost);
    }
    const Index k = std::min(m_, n_);
    if (factors() && !cholesky()) {
      copy(host_pivots_.data(), k, pivots_.data(), k, k, 1, cudaMemcpyDeviceToHost);
    }
    this->download_info(problem);
  }

  Call call_;
  Index m_, n_;
  DeviceArray<T> a_, b_;
  DeviceArray<std::int64_t> pivots_;
  std::vector<std::int64_t> host_pivots_;
  std::unique_ptr<DeviceArray<char>> device_work_;
  std::size_t device_work_bytes_ = 0;
  std::vector<char> host_work_;
};

/// cuSOLVER's functions for dsgesv and zcgesv, with factors in a precision.
template <class T>
struct MixedFunctions;
template <>
struct MixedFunctions<double> {
  using Scalar = double;
  static auto gesv(Precision precision) {
    return precision == Precision::fp32   ? cusolverDnDSgesv
           : precision == Precision::tf32 ? cusolverDnDXgesv
                                          : cusolverDnDHgesv;
  }
  static auto size(Precision precision) {
    return precision == Precision::fp32   ? cusolverDnDSgesv_bufferSize
           : precision == Precision::tf32 ? cusolverDnDXgesv_bufferSize
                                          : cusolverDnDHgesv_bufferSize;
  }
};
template <>
struct MixedFunctions<std::complex<double>> {
  using Scalar = cuDoubleComplex;
  static auto gesv(Precision precision) {
    return precision == Precision::fp32   ? cusolverDnZCgesv
           : precision == Precision::tf32 ? cusolverDnZYgesv
                                          : cusolverDnZKgesv;
  }
  static auto size(Precision precision) {
    return precision == Precision::fp32   ? cusolverDnZCgesv_bufferSize
           : precision == Precision::tf32 ? cusolverDnZYgesv_bufferSize
                                          : cusolverDnZKgesv_bufferSize;
  }
};

/// The mixed-precision solver.
template <class T>
class CusolverMixed final : public OnGpu<T> {
 public:
  CusolverMixed(const Call& call, bool round_trip, int gpu, Precision precision)
      : OnGpu<T>(round_trip, gpu),
        precision_(precision),
        n_(static_cast<int>(call.shape.n)),
        nrhs_(static_cast<int>(call.shape.nrhs)),
        a_(count(n_) * count(n_)),
        b_(count(n_) * count(nrhs_)),
        x_(count(n_) * count(nrhs_)),
        pivots_(count(n_)) {
    check(Functions::size(precision_)(handle_, n_, nrhs_, a(), n_, pivots_.data(), b(), n_, x(), n_,
                                      nullptr, &work_bytes_));
    work_ = std::make_unique<DeviceArray<char>>(work_bytes_);
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  using Functions = MixedFunctions<T>;
  typename Functions::Scalar* a() { return cast(a_); }
  typename Functions::Scalar* b() { return cast(b_); }
  typename Functions::Scalar* x() { return cast(x_); }
  static typename Functions::Scalar* cast(DeviceArray<T>& array) {
    return reinterpret_cast<typename Functions::Scalar*>(array.data());
  }

  void compute(Problem<T>& problem) override {
    int iter = 0;
    check(Functions::gesv(precision_)(handle_, n_, nrhs_, a(), n_, pivots_.data(), b(), n_, x(), n_,
                                      work_->data(), work_bytes_, &iter, info_.data()));
    problem.iter = iter;
  }
  void upload(Problem<T>& problem) override {
    copy(a_.data(), n_, problem.a().data, problem.a().ld, n_, n_, cudaMemcpyHostToDevice);
    copy(b_.data(), n_, problem.b().data, problem.b().ld, n_, nrhs_, cudaMemcpyHostToDevice);
  }
  void download(Problem<T>& problem) override {
    copy(problem.x().data, problem.x().ld, x_.data(), n_, n_, nrhs_, cudaMemcpyDeviceToHost);
    copy(problem.pivots(), n_, pivots_.data(), n_, n_, 1, cudaMemcpyDeviceToHost);
    this->download_info(problem);
  }

  Precision precision_;
  int n_, nrhs_;
  DeviceArray<T> a_, b_, x_;
  DeviceArray<int> pivots_;
  std::unique_ptr<DeviceArray<char>> work_;
  std::size_t work_bytes_ = 0;
};

/// cuSOLVER's functions for the inverse from a Cholesky factor.
template <class T>
struct PotriFunctions;
#define OVERLAPACK_POTRI(T, Cuda, letter)                              \
  template <>                                                          \
  struct PotriFunctions<T> {                                           \
    using Scalar = Cuda;                                               \
    static constexpr auto size = cusolverDn##letter##potri_bufferSize; \
    static constexpr auto potri = cusolverDn##letter##potri;           \
  };
OVERLAPACK_POTRI(float, float, S)
OVERLAPACK_POTRI(double, double, D)
OVERLAPACK_POTRI(std::complex<float>, cuComplex, C)
OVERLAPACK_POTRI(std::complex<double>, cuDoubleComplex, Z)
#undef OVERLAPACK_POTRI

/// trtri, potri, and in place of getri, which it lacks, getrs with a unit matrix.
template <class T>
class CusolverInverse final : public OnGpu<T> {
 public:
  CusolverInverse(const Call& call, bool round_trip, int gpu)
      : OnGpu<T>(round_trip, gpu),
        call_(call),
        n_(call.shape.n),
        uplo_(fill_mode(call.uplo)),
        a_(count(n_) * count(n_)),
        x_(by_solving() ? count(n_) * count(n_) : 0),
        pivots_(count(n_)) {
    std::size_t device_bytes = 0, host_bytes = 0;
    if (call_.routine == Routine::trtri) {
      check(cusolverDnXtrtri_bufferSize(handle_, uplo_, CUBLAS_DIAG_NON_UNIT, n_, data_type<T>(),
                                        a_.data(), n_, &device_bytes, &host_bytes));
    } else if (!by_solving()) {
      check(PotriFunctions<T>::size(handle_, uplo_, small(n_), scalars(), small(n_), &work_count_));
      device_bytes = sizeof(T) * static_cast<std::size_t>(work_count_);
    }
    device_work_ = std::make_unique<DeviceArray<char>>(device_bytes);
    device_work_bytes_ = device_bytes;
    host_work_.resize(host_bytes);
  }

  void prepare(Problem<T>& problem) override {
    if (by_solving()) {
      ones_.assign(count(n_), T(1));
      host_pivots_.assign(problem.pivots(), problem.pivots() + problem.pivot_count());
    }
    OnGpu<T>::prepare(problem);
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  using Routine = dispatch::Routine;
  bool by_solving() const { return call_.routine == Routine::getri; }
  static int small(Index n) { return static_cast<int>(n); }
  auto* scalars() { return reinterpret_cast<typename PotriFunctions<T>::Scalar*>(a_.data()); }

  void upload(Problem<T>& problem) override {
    copy(a_.data(), n_, problem.a().data, problem.a().ld, n_, n_, cudaMemcpyHostToDevice);
    if (by_solving()) {
      // A unit matrix: a program makes it on the GPU.
      check(cudaMemset(x_.data(), 0, sizeof(T) * count(n_) * count(n_)));
      copy(x_.data(), n_ + 1, ones_.data(), 1, 1, n_, cudaMemcpyHostToDevice);
      copy(pivots_.data(), n_, host_pivots_.data(), n_, n_, 1, cudaMemcpyHostToDevice);
    }
  }
  void compute(Problem<T>&) override {
    if (by_solving()) {
      check(cusolverDnXgetrs(handle_, handle_.params(), CUBLAS_OP_N, n_, n_, data_type<T>(),
                             a_.data(), n_, pivots_.data(), data_type<T>(), x_.data(), n_,
                             info_.data()));
    } else if (call_.routine == Routine::trtri) {
      check(cusolverDnXtrtri(handle_, uplo_, CUBLAS_DIAG_NON_UNIT, n_, data_type<T>(), a_.data(),
                             n_, device_work_->data(), device_work_bytes_, host_work_.data(),
                             host_work_.size(), info_.data()));
    } else {
      check(PotriFunctions<T>::potri(
          handle_, uplo_, small(n_), scalars(), small(n_),
          reinterpret_cast<typename PotriFunctions<T>::Scalar*>(device_work_->data()), work_count_,
          info_.data()));
    }
  }
  void download(Problem<T>& problem) override {
    copy(problem.a().data, problem.a().ld, by_solving() ? x_.data() : a_.data(), n_, n_, n_,
         cudaMemcpyDeviceToHost);
    this->download_info(problem);
  }

  Call call_;
  Index n_;
  cublasFillMode_t uplo_;
  DeviceArray<T> a_, x_;
  DeviceArray<std::int64_t> pivots_;
  std::vector<T> ones_;
  std::vector<std::int64_t> host_pivots_;
  int work_count_ = 0;
  std::unique_ptr<DeviceArray<char>> device_work_;
  std::size_t device_work_bytes_ = 0;
  std::vector<char> host_work_;
};

/// Of cuBLAS, for solves with R.
class BlasHandle {
 public:
  BlasHandle() { check(cublasCreate(&handle_)); }
  BlasHandle(const BlasHandle&) = delete;
  ~BlasHandle() { cublasDestroy(handle_); }
  operator cublasHandle_t() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// The functions for what follows a QR factorization.
template <class T>
struct QrFunctions;
#define OVERLAPACK_QR(T, Cuda, letter, kind)                                           \
  template <>                                                                          \
  struct QrFunctions<T> {                                                              \
    using Scalar = Cuda;                                                               \
    static constexpr auto size_for_q = cusolverDn##letter##kind##gqr_bufferSize;       \
    static constexpr auto make_q = cusolverDn##letter##kind##gqr;                      \
    static constexpr auto size_to_multiply = cusolverDn##letter##kind##mqr_bufferSize; \
    static constexpr auto multiply = cusolverDn##letter##kind##mqr;                    \
    static constexpr auto solve = cublas##letter##trsm;                                \
  };
OVERLAPACK_QR(float, float, S, or)
OVERLAPACK_QR(double, double, D, or)
OVERLAPACK_QR(std::complex<float>, cuComplex, C, un)
OVERLAPACK_QR(std::complex<double>, cuDoubleComplex, Z, un)
#undef OVERLAPACK_QR

/// geqrf, orgqr (ungqr), and ormqr (unmqr) from the left; and gels of a tall matrix by geqrf, ormqr
/// and cuBLAS's trsm.
template <class T>
class CusolverQr final : public OnGpu<T> {
 public:
  CusolverQr(const Call& call, bool round_trip, int gpu)
      : OnGpu<T>(round_trip, gpu),
        call_(call),
        m_(call.shape.m),
        n_(call.shape.n),
        k_(std::min(m_, n_)),
        a_(count(m_) * count(n_)),
        b_(count(m_) * count(call.shape.nrhs)),
        tau_(count(k_)) {
    if (solves() && m_ < n_) throw std::runtime_error("not measured with wide matrices");
    std::size_t device_bytes = 0, host_bytes = 0;
    if (factors()) {
      check(cusolverDnXgeqrf_bufferSize(handle_, handle_.params(), m_, n_, kType, a_.data(), m_,
                                        kType, tau_.data(), kType, &device_bytes, &host_bytes));
    }
    if (multiplies()) {
      check(Functions::size_to_multiply(handle_, CUBLAS_SIDE_LEFT, op(), small(m_),
                                        small(call.shape.nrhs), small(k_), scalars(a_), small(m_),
                                        scalars(tau_), scalars(b_), small(m_), &work_count_));
    } else if (!factors()) {
      check(Functions::size_for_q(handle_, small(m_), small(n_), small(k_), scalars(a_), small(m_),
                                  scalars(tau_), &work_count_));
    }
    device_bytes = std::max(device_bytes, sizeof(T) * static_cast<std::size_t>(work_count_));
    device_work_ = std::make_unique<DeviceArray<char>>(device_bytes);
    device_work_bytes_ = device_bytes;
    host_work_.resize(host_bytes);
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  using Functions = QrFunctions<T>;
  using Scalar = typename Functions::Scalar;
  static constexpr cudaDataType kType = data_type<T>();

  bool solves() const { return call_.routine == dispatch::Routine::gels; }
  bool factors() const { return call_.routine == dispatch::Routine::geqrf || solves(); }
  bool multiplies() const { return call_.shape.nrhs > 0; }
  /// Of Q. Least squares take its adjoint.
  cublasOperation_t op() const {
    if (call_.op == Op::none && !solves()) return CUBLAS_OP_N;
    return is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  }
  static int small(Index n) { return static_cast<int>(n); }
  static Scalar* scalars(const DeviceArray<T>& array) {
    return reinterpret_cast<Scalar*>(array.data());
  }

  void upload(Problem<T>& problem) override {
    copy(a_.data(), m_, problem.a().data, problem.a().ld, m_, n_, cudaMemcpyHostToDevice);
    if (!factors()) copy(tau_.data(), k_, problem.tau(), k_, k_, 1, cudaMemcpyHostToDevice);
    if (multiplies()) {
      copy(b_.data(), m_, problem.b().data, problem.b().ld, m_, call_.shape.nrhs,
           cudaMemcpyHostToDevice);
    }
  }
  void compute(Problem<T>&) override {
    Scalar* const work = reinterpret_cast<Scalar*>(device_work_->data());
    if (factors()) {
      check(cusolverDnXgeqrf(handle_, handle_.params(), m_, n_, kType, a_.data(), m_, kType,
                             tau_.data(), kType, device_work_->data(), device_work_bytes_,
                             host_work_.data(), host_work_.size(), info_.data()));
    }
    if (multiplies()) {
      check(Functions::multiply(handle_, CUBLAS_SIDE_LEFT, op(), small(m_), small(call_.shape.nrhs),
                                small(k_), scalars(a_), small(m_), scalars(tau_), scalars(b_),
                                small(m_), work, work_count_, info_.data()));
    }
    if (solves()) {
      const T one(1);
      check(Functions::solve(blas_, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, small(n_), small(call_.shape.nrhs),
                             reinterpret_cast<const Scalar*>(&one), scalars(a_), small(m_),
                             scalars(b_), small(m_)));
    }
    if (!multiplies() && !factors()) {
      check(Functions::make_q(handle_, small(m_), small(n_), small(k_), scalars(a_), small(m_),
                              scalars(tau_), work, work_count_, info_.data()));
    }
  }
  void download(Problem<T>& problem) override {
    if (multiplies()) {
      copy(problem.b().data, problem.b().ld, b_.data(), m_, m_, call_.shape.nrhs,
           cudaMemcpyDeviceToHost);
    }
    if (!multiplies() || factors()) {
      copy(problem.a().data, problem.a().ld, a_.data(), m_, m_, n_, cudaMemcpyDeviceToHost);
    }
    if (factors()) copy(problem.tau(), k_, tau_.data(), k_, k_, 1, cudaMemcpyDeviceToHost);
    this->download_info(problem);
  }

  Call call_;
  Index m_, n_, k_;
  DeviceArray<T> a_, b_, tau_;
  const BlasHandle blas_;
  int work_count_ = 0;
  std::unique_ptr<DeviceArray<char>> device_work_;
  std::size_t device_work_bytes_ = 0;
  std::vector<char> host_work_;
};

/// cuSOLVER's functions for a reduction to tridiagonal form, by type.
template <class T>
struct ReductionFunctions;
#define OVERLAPACK_REDUCTION(type, scalar, name)                          \
  template <>                                                             \
  struct ReductionFunctions<type> {                                       \
    using Scalar = scalar;                                                \
    static constexpr auto size_to_reduce = cusolverDn##name##_bufferSize; \
    static constexpr auto reduce = cusolverDn##name;                      \
  };
OVERLAPACK_REDUCTION(float, float, Ssytrd)
OVERLAPACK_REDUCTION(double, double, Dsytrd)
OVERLAPACK_REDUCTION(std::complex<float>, cuComplex, Chetrd)
OVERLAPACK_REDUCTION(std::complex<double>, cuDoubleComplex, Zhetrd)
#undef OVERLAPACK_REDUCTION

/// sytrd (hetrd).
template <class T>
class CusolverReduction final : public OnGpu<T> {
 public:
  CusolverReduction(const Call& call, bool round_trip, int gpu)
      : OnGpu<T>(round_trip, gpu),
        n_(call.shape.n),
        uplo_(fill_mode(call.uplo)),
        a_(count(n_) * count(n_)),
        tau_(count(n_)),
        d_and_e_(2 * count(n_)) {
    check(Functions::size_to_reduce(handle_, uplo_, small(), scalars(a_), small(), d_and_e_.data(),
                                    d_and_e_.data() + n_, scalars(tau_), &work_count_));
    work_ = std::make_unique<DeviceArray<T>>(static_cast<std::size_t>(work_count_));
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  using Functions = ReductionFunctions<T>;
  using Scalar = typename Functions::Scalar;

  int small() const { return static_cast<int>(n_); }
  static Scalar* scalars(const DeviceArray<T>& array) {
    return reinterpret_cast<Scalar*>(array.data());
  }

  void upload(Problem<T>& problem) override {
    copy(a_.data(), n_, problem.a().data, problem.a().ld, n_, n_, cudaMemcpyHostToDevice);
  }
  void compute(Problem<T>&) override {
    check(Functions::reduce(handle_, uplo_, small(), scalars(a_), small(), d_and_e_.data(),
                            d_and_e_.data() + n_, scalars(tau_), scalars(*work_), work_count_,
                            info_.data()));
  }
  void download(Problem<T>& problem) override {
    copy(problem.a().data, problem.a().ld, a_.data(), n_, n_, n_, cudaMemcpyDeviceToHost);
    copy(problem.tau(), n_, tau_.data(), n_, n_ - 1, 1, cudaMemcpyDeviceToHost);
    copy(problem.eigen_work().values.data(), 2 * n_, d_and_e_.data(), 2 * n_, 2 * n_ - 1, 1,
         cudaMemcpyDeviceToHost);
    this->download_info(problem);
  }

  const Index n_;
  const cublasFillMode_t uplo_;
  DeviceArray<T> a_, tau_;
  DeviceArray<Real<T>> d_and_e_;
  int work_count_ = 0;
  std::unique_ptr<DeviceArray<T>> work_;
};

/// syevd (heevd).
template <class T>
class CusolverEigen final : public OnGpu<T> {
 public:
  CusolverEigen(const Call& call, bool round_trip, int gpu)
      : OnGpu<T>(round_trip, gpu),
        n_(call.shape.n),
        job_(call.shape.nrhs > 0 ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        uplo_(fill_mode(call.uplo)),
        a_(count(n_) * count(n_)),
        w_(count(n_)) {
    std::size_t host_bytes = 0;
    check(cusolverDnXsyevd_bufferSize(handle_, handle_.params(), job_, uplo_, n_, kType, a_.data(),
                                      n_, kRealType, w_.data(), kType, &device_work_bytes_,
                                      &host_bytes));
    device_work_ = std::make_unique<DeviceArray<char>>(device_work_bytes_);
    host_work_.resize(host_bytes);
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  static constexpr cudaDataType kType = data_type<T>(), kRealType = data_type<Real<T>>();

  void upload(Problem<T>& problem) override {
    copy(a_.data(), n_, problem.a().data, problem.a().ld, n_, n_, cudaMemcpyHostToDevice);
  }
  void compute(Problem<T>&) override {
    check(cusolverDnXsyevd(handle_, handle_.params(), job_, uplo_, n_, kType, a_.data(), n_,
                           kRealType, w_.data(), kType, device_work_->data(), device_work_bytes_,
                           host_work_.data(), host_work_.size(), info_.data()));
  }
  void download(Problem<T>& problem) override {
    if (job_ == CUSOLVER_EIG_MODE_VECTOR) {
      copy(problem.a().data, problem.a().ld, a_.data(), n_, n_, n_, cudaMemcpyDeviceToHost);
    }
    copy(problem.eigen_work().values.data(), n_, w_.data(), n_, n_, 1, cudaMemcpyDeviceToHost);
    this->download_info(problem);
  }

  const Index n_;
  const cusolverEigMode_t job_;
  const cublasFillMode_t uplo_;
  DeviceArray<T> a_;
  DeviceArray<Real<T>> w_;
  std::unique_ptr<DeviceArray<char>> device_work_;
  std::size_t device_work_bytes_ = 0;
  std::vector<char> host_work_;
};

/// cuSOLVER's functions for a generalized eigenproblem, by type.
template <class T>
struct GeneralizedFunctions;
#define OVERLAPACK_GENERALIZED(type, scalar, name)                       \
  template <>                                                            \
  struct GeneralizedFunctions<type> {                                    \
    using Scalar = scalar;                                               \
    static constexpr auto size_to_solve = cusolverDn##name##_bufferSize; \
    static constexpr auto solve = cusolverDn##name;                      \
  };
OVERLAPACK_GENERALIZED(float, float, Ssygvd)
OVERLAPACK_GENERALIZED(double, double, Dsygvd)
OVERLAPACK_GENERALIZED(std::complex<float>, cuComplex, Chegvd)
OVERLAPACK_GENERALIZED(std::complex<double>, cuDoubleComplex, Zhegvd)
#undef OVERLAPACK_GENERALIZED

/// sygvd (hegvd) of A x = lambda B x.
template <class T>
class CusolverGeneralized final : public OnGpu<T> {
 public:
  CusolverGeneralized(const Call& call, bool round_trip, int gpu)
      : OnGpu<T>(round_trip, gpu),
        n_(call.shape.n),
        job_(call.shape.nrhs > 0 ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        uplo_(fill_mode(call.uplo)),
        a_(count(n_) * count(n_)),
        b_(count(n_) * count(n_)),
        w_(count(n_)) {
    check(Functions::size_to_solve(handle_, kType, job_, uplo_, small(), scalars(a_), small(),
                                   scalars(b_), small(), w_.data(), &work_count_));
    work_ = std::make_unique<DeviceArray<T>>(static_cast<std::size_t>(work_count_));
  }

 private:
  using OnGpu<T>::handle_, OnGpu<T>::info_;
  using Functions = GeneralizedFunctions<T>;
  using Scalar = typename Functions::Scalar;
  static constexpr cusolverEigType_t kType = CUSOLVER_EIG_TYPE_1;

  int small() const { return static_cast<int>(n_); }
  static Scalar* scalars(const DeviceArray<T>& array) {
    return reinterpret_cast<Scalar*>(array.data());
  }

  void upload(Problem<T>& problem) override {
    copy(a_.data(), n_, problem.a().data, problem.a().ld, n_, n_, cudaMemcpyHostToDevice);
    copy(b_.data(), n_, problem.eigen_work().b.get(), n_, n_, n_, cudaMemcpyHostToDevice);
  }
  void compute(Problem<T>&) override {
    check(Functions::solve(handle_, kType, job_, uplo_, small(), scalars(a_), small(), scalars(b_),
                           small(), w_.data(), scalars(*work_), work_count_, info_.data()));
  }
  /// The factor of B goes home, too.
  void download(Problem<T>& problem) override {
    if (job_ == CUSOLVER_EIG_MODE_VECTOR) {
      copy(problem.a().data, problem.a().ld, a_.data(), n_, n_, n_, cudaMemcpyDeviceToHost);
    }
    copy(problem.eigen_work().b.get(), n_, b_.data(), n_, n_, n_, cudaMemcpyDeviceToHost);
    copy(problem.eigen_work().values.data(), n_, w_.data(), n_, n_, 1, cudaMemcpyDeviceToHost);
    this->download_info(problem);
  }

  const Index n_;
  const cusolverEigMode_t job_;
  const cublasFillMode_t uplo_;
  DeviceArray<T> a_, b_;
  DeviceArray<Real<T>> w_;
  int work_count_ = 0;
  std::unique_ptr<DeviceArray<T>> work_;
};

}  // namespace

template <class T>
std::unique_ptr<Contender<T>> make_cusolver(const Call& call, bool round_trip, int gpu,
                                            Precision precision) {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus));
  if (dispatch::is_mixed(call.routine)) {
    if constexpr (Problem<T>::kMixed) {
      if (dispatch::is_lu(call.routine)) {
        return std::make_unique<CusolverMixed<T>>(call, round_trip, gpu, precision);
      }
    }
    throw std::runtime_error("cuSOLVER has no " + name_of(call));
  }
  using dispatch::Routine;
  if (call.routine == Routine::trtri || call.routine == Routine::potri ||
      call.routine == Routine::getri) {
    return std::make_unique<CusolverInverse<T>>(call, round_trip, gpu);
  }
  if (call.routine == Routine::geqrf || call.routine == Routine::orgqr ||
      call.routine == Routine::ungqr || call.routine == Routine::ormqr ||
      call.routine == Routine::unmqr || call.routine == Routine::gels) {
    return std::make_unique<CusolverQr<T>>(call, round_trip, gpu);
  }
  if (call.routine == Routine::sytrd || call.routine == Routine::hetrd) {
    return std::make_unique<CusolverReduction<T>>(call, round_trip, gpu);
  }
  if (call.routine == Routine::syevd || call.routine == Routine::heevd) {
    return std::make_unique<CusolverEigen<T>>(call, round_trip, gpu);
  }
  if (call.routine == Routine::sygvd || call.routine == Routine::hegvd) {
    return std::make_unique<CusolverGeneralized<T>>(call, round_trip, gpu);
  }
  const bool is_given =
      tools::is_factor_given(call.routine) && !tools::has_right_hand_sides(call.routine);
  if (is_given || dispatch::traits_of(call.routine).factors == dispatch::Factors::none) {
    throw std::runtime_error("cuSOLVER is not measured with " + name_of(call));
  }
  return std::make_unique<Cusolver<T>>(call, round_trip, gpu);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template std::unique_ptr<Contender<T>> make_cusolver(const Call&, bool, int, Precision);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::bench
