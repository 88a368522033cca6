// Functions that the CPU calls and, where nvcc compiles them, kernels of a GPU.
#pragma once

#ifdef __CUDACC__
#  define OVERLAPACK_DEVICE_CODE __device__
#else
#  define OVERLAPACK_DEVICE_CODE
#endif
