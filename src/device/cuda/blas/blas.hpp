// Kernels that the core operations are made of besides cuBLAS.
#pragma once

#include <cuda_runtime_api.h>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::cuda {

/// Largest order of the triangle of trsm_block.
template <class T>
Index trsm_block_order();

/// L is a triangle that is stored as it is (lower) or by its conjugate transpose (upper). Forward:
/// B := L^-1 B (left) or B := B L^-H (right); backward: B := L^-H B or B := B L^-1.
struct BlockSolveForm {
  Side side;
  Uplo uplo;
  Diag diag;
  bool backward;
};

/// A solve with a triangle `a` of at most trsm_block_order rows. As accurate as substitution.
template <class T>
void trsm_block(cudaStream_t stream, const BlockSolveForm& form, DeviceView<const T> a,
                DeviceView<T> b);

/// C := C - A B^H for a multiple of kSubtractedSummands columns of A and B, at least as many, and 1
/// to 2^20 rows and columns of C, which overlaps neither A nor B; everything is 16 bytes aligned,
/// and leading dimensions are even. A thread block makes a tile of C of so many rows and columns.
/// Where Gpu::has_hopper_code only.
constexpr int kSubtractedSummands = 16, kSubtractedRows = 128, kSubtractedColumns = 64;
void subtract_product(cudaStream_t stream, DeviceView<const double> a, DeviceView<const double> b,
                      DeviceView<double> c);

}  // namespace overlapack::cuda
