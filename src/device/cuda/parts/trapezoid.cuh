// A factor of Cholesky's, whichever triangle it is stored in.
#pragma once

#include "core/view.hpp"
#include "device/cuda/parts/arithmetic.cuh"

namespace overlapack::cuda {

/// A lower trapezoidal matrix, or the one whose conjugate transpose is stored. Element (i, j) lies
/// at data[i * row_stride + j * column_stride], as its conjugate if `mirrored`.
template <class T>
struct Trapezoid {
  T* data;
  Index row_stride, column_stride;
  bool mirrored;

  Trapezoid(T* data_, Index ld, bool mirrored_)
      : data(data_),
        row_stride(mirrored_ ? ld : 1),
        column_stride(mirrored_ ? 1 : ld),
        mirrored(mirrored_) {}
  template <class U>
  Trapezoid(DeviceView<U> a, bool mirrored_) : Trapezoid(device_cast(a.data), a.ld, mirrored_) {}
  __host__ __device__ T* at(Index i, Index j) const {
    return data + i * row_stride + j * column_stride;
  }
  /// The part that begins with element (i, j).
  __device__ Trapezoid from(Index i, Index j) const {
    Trapezoid part = *this;
    part.data = at(i, j);
    return part;
  }
  /// Element (i, j) is what was (last_row - i, last_column - j).
  Trapezoid backwards(Index last_row, Index last_column) const {
    Trapezoid reversed = columns_backwards(last_column);
    reversed.data = reversed.at(last_row, 0);
    reversed.row_stride = -row_stride;
    return reversed;
  }
  /// Element (i, j) is what was (i, last_column - j).
  Trapezoid columns_backwards(Index last_column) const {
    Trapezoid reversed = *this;
    reversed.data = at(0, last_column);
    reversed.column_stride = -column_stride;
    return reversed;
  }
};

}  // namespace overlapack::cuda
