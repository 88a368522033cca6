// Products of small matrices of doubles by Hopper's tensor cores (PTX ISA, "mma.m16n8k8").
#pragma once

namespace overlapack::cuda {

/// d += a b for 16 x 8 and 8 x 8 numbers. With g = lane / 4 and q = lane % 4, a lane has of `a` the
/// rows g and 8 + g in column q, then in column 4 + q; of `b` the rows q and 4 + q in column g; of
/// `d` row g in columns 2 q and 2 q + 1, then row 8 + g.
__device__ inline void add_product(double& d0, double& d1, double& d2, double& d3,
                                   const double (&a)[4], double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
#endif
}

}  // namespace overlapack::cuda
