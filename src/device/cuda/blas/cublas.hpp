// cuBLAS by type: one name per operation, overloaded for the four precisions. The 64-bit interface
// throughout.
#pragma once

#include <cublas_v2.h>

#include <complex>

namespace overlapack::cuda::blas {

// std::complex, cuComplex and our views all mean the same memory.
inline const float* cast(const float* p) { return p; }
inline float* cast(float* p) { return p; }
inline const double* cast(const double* p) { return p; }
inline double* cast(double* p) { return p; }
inline const cuComplex* cast(const std::complex<float>* p) {
  return reinterpret_cast<const cuComplex*>(p);
}
inline cuComplex* cast(std::complex<float>* p) { return reinterpret_cast<cuComplex*>(p); }
inline const cuDoubleComplex* cast(const std::complex<double>* p) {
  return reinterpret_cast<const cuDoubleComplex*>(p);
}
inline cuDoubleComplex* cast(std::complex<double>* p) {
  return reinterpret_cast<cuDoubleComplex*>(p);
}

/// A factor alpha or beta as cuBLAS reads it: aligned as CUDA's complex types are, which
/// std::complex is not.
template <class T>
class Factor {
 public:
  explicit Factor(T value) : value_(value) {}
  auto get() const { return cast(&value_); }

 private:
  alignas(sizeof(T)) const T value_;
};

/// The cuBLAS functions of one precision.
template <class T>
struct Functions;

template <>
struct Functions<float> {
  static constexpr auto gemm = cublasSgemm_64;
  static constexpr auto geam = cublasSgeam_64;
  static constexpr auto herk = cublasSsyrk_64;
  static constexpr auto trsm = cublasStrsm_64;
};
template <>
struct Functions<double> {
  static constexpr auto gemm = cublasDgemm_64;
  static constexpr auto geam = cublasDgeam_64;
  static constexpr auto herk = cublasDsyrk_64;
  static constexpr auto trsm = cublasDtrsm_64;
};
template <>
struct Functions<std::complex<float>> {
  static constexpr auto gemm = cublasCgemm_64;
  static constexpr auto geam = cublasCgeam_64;
  static constexpr auto herk = cublasCherk_64;
  static constexpr auto trsm = cublasCtrsm_64;
};
template <>
struct Functions<std::complex<double>> {
  static constexpr auto gemm = cublasZgemm_64;
  static constexpr auto geam = cublasZgeam_64;
  static constexpr auto herk = cublasZherk_64;
  static constexpr auto trsm = cublasZtrsm_64;
};

}  // namespace overlapack::cuda::blas
