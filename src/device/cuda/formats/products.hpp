// Kernels that products in other number formats are made of.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/formats.hpp"

namespace overlapack::cuda {

class CudaQueue;

/// Summands of a row of residues that one copy for the tensor cores takes.
constexpr Index kResidueUnit = 128;

/// C := alpha A B + beta C for split forms in FP32 of `numbers` real numbers a column, in sections
/// of `section`; a complex C is a real one with twice the rows. Where Gpu::has_hopper_code only.
void split_gemm(CudaQueue& queue, Index section, Index numbers, float alpha,
                DeviceView<const float> a, DeviceView<const float> b, float beta,
                DeviceView<float> c);

/// Words of `remainders` below, for each product of `rows` rows of A and `columns` rows of B.
Index words_of_remainders(Index rows, Index columns);
/// The sums of products of residues of rows of A and rows of B: their remainders, in tiles
/// (residue.cuh). Where Gpu::has_hopper_code only, for T in double precision.
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

}  // namespace overlapack::cuda
