// Callers' matrices that lie in the memory of a device, where the CPU cannot read them.
#pragma once

#include <algorithm>
#include <vector>

#include "device/buffer.hpp"
#include "dispatch/context.hpp"

namespace overlapack::dispatch {

/// Elements from which on it is asked whether a matrix lies on the device that has been started:
/// the question costs a call of the driver (0.3 us).
inline constexpr Index kSmallestResident = 64 * 64;
/// Elements from which on a matrix is a reason to look for the program's own CUDA, where no device
/// of ours is started yet (0.5 us if the CPU can read it, or else 16).
inline constexpr Index kLargeMatrix = 256 * 256;

/// The device if a matrix of a call lies in its memory, or else null; `elements` are those of the
/// call's largest matrix, each of `bytes`, and no device is started for this question. What the
/// program has enqueued on the device before the call has been waited for then: it may be making
/// the matrix. Throws DeviceError if the matrix lies on a device that cannot be used, or where
/// require_aligned() does.
Device* device_of_call(Context& context, Index elements, std::size_t bytes, const void* matrix);

/// The same for routines without `info`, which could not say that they were given a matrix that
/// they cannot read: of any size once a device is started, and large ones before.
Device* device_of_norm(Context& context, Index elements, const void* matrix);

/// Throws DeviceError if a matrix on the device does not begin at a multiple of its elements' size.
/// C++ and Fortran let a complex number begin where a real one may, but cuBLAS and our kernels read
/// it at once; elsewhere that fails, and takes the program's own work on the GPU with it.
void require_aligned(std::size_t bytes, const void* matrix);

/// Whether the process has loaded the CUDA driver: its own work then has paid for starting the GPU,
/// and its matrices may lie there.
bool cuda_in_process();
/// Whether that driver says that a pointer is one to device memory, which the CPU cannot read.
/// Starts nothing. Null is not.
bool is_cuda_memory(const void* pointer);

/// A copy of a matrix in the memory of a device, without padding. A few columns at a time, because
/// staging memory is dear.
template <class T>
std::vector<T> copy_of(Device& device, DeviceView<const T> x) {
  constexpr Index kElements = Index{1} << 20;
  const Index width = std::clamp<Index>(kElements / x.rows, 1, x.cols);
  std::vector<T> copy;
  copy.reserve(static_cast<std::size_t>(x.rows * x.cols));
  const Buffer<T> staging(device, Space::host, x.rows * width);
  const QueueLease queue(device);
  for (Index j = 0; j < x.cols; j += width) {
    const Index columns = std::min(width, x.cols - j);
    queue->template copy<T>(HostView<T>(staging.data(), x.rows, columns, x.rows),
                            x.block(0, j, x.rows, columns));
    queue->synchronize();
    copy.insert(copy.end(), staging.data(), staging.data() + x.rows * columns);
  }
  return copy;
}

/// Writes the upper triangle of a matrix in the memory of a device, and nothing else there.
template <class T>
void store_upper(Device& device, HostView<const T> from, DeviceView<T> to) {
  constexpr Index kElements = Index{1} << 20;
  const Index n = from.cols, width = std::clamp<Index>(kElements / n, 1, n);
  const Buffer<T> memory(device, Space::host, n * width);
  const HostView<T> staging(memory.data(), n, width, n);
  const QueueLease queue(device);
  for (Index first = 0; first < n; first += width) {
    for (Index j = first; j < std::min(first + width, n); ++j) {
      std::copy_n(&from(0, j), j + 1, &staging(0, j - first));
      queue->template copy<T>(to.block(0, j, j + 1, 1),
                              HostView<const T>(&staging(0, j - first), j + 1));
    }
    queue->synchronize();
  }
}

}  // namespace overlapack::dispatch
