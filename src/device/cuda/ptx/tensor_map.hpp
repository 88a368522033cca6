// What copies of the hardware's (PTX ISA, "cp.async.bulk.tensor") are told about an array.
#pragma once

#include "device/cuda/runtime/driver.hpp"

namespace overlapack::cuda {

/// An array in device memory whose first dimension is contiguous, of which boxes are copied. Beyond
/// its ends there are zeros.
///
/// `sizes` and `box` count elements, `strides` are those of the other dimensions in bytes. They and
/// `data` must be multiples of 16 bytes, and so must a row of a box. With a swizzle the box's rows
/// are permuted as wgmma.cuh has it.
template <int kDimensions>
CUtensorMap tensor_map(CUtensorMapDataType type, const void* data,
                       const cuuint64_t (&sizes)[kDimensions],
                       const cuuint64_t (&strides)[kDimensions - 1],
                       const cuuint32_t (&box)[kDimensions], CUtensorMapSwizzle swizzle) {
  static const auto encode =
      driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode == nullptr) throw DeviceError("the driver has no cuTensorMapEncodeTiled", true);
  cuuint32_t steps[kDimensions];
  for (cuuint32_t& step : steps) step = 1;
  CUtensorMap map;
  const CUresult status =
      encode(&map, type, kDimensions, const_cast<void*>(data), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) throw DeviceError("an array cannot be copied by boxes", true);
  return map;
}

}  // namespace overlapack::cuda
