// Functions that the CPU and kernels of a GPU call alike.
#pragma once

#ifdef __CUDACC__
#  define OVERLAPACK_HOST_DEVICE __host__ __device__
#else
#  define OVERLAPACK_HOST_DEVICE
#endif
