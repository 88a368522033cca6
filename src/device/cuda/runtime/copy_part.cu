// A copy of all or a trapezoid of a matrix from one place in device memory to another.
#include <algorithm>
#include <cstdint>

#include "device/cuda/runtime/copy_part.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Index kPerThread = 16;    // words, about, before another block shares the column
constexpr Index kMaxBlocks = 4096;  // enough to fill any GPU

/// Each column is shared by `stripes` thread blocks. In words of 4 bytes, so that elements need no
/// alignment of their own.
__global__ void __launch_bounds__(kThreads)
    copy_part_kernel(char* to, std::size_t to_pitch, const char* from, std::size_t from_pitch,
                     Index words, Index rows, Index cols, Part part, Index diagonal,
                     Index stripes) {
  for (Index item = blockIdx.x; item < cols * stripes; item += gridDim.x) {
    const Index j = item / stripes, stripe = item % stripes;
    Index first = part == Part::lower ? j + diagonal : 0;
    if (first < 0) first = 0;
    Index end = part == Part::upper ? j + diagonal + 1 : rows;
    if (end > rows) end = rows;
    auto* const to_column =
        reinterpret_cast<std::uint32_t*>(to + static_cast<std::size_t>(j) * to_pitch);
    const auto* const from_column =
        reinterpret_cast<const std::uint32_t*>(from + static_cast<std::size_t>(j) * from_pitch);
    for (Index i = first * words + stripe * kThreads + threadIdx.x; i < end * words;
         i += stripes * kThreads) {
      to_column[i] = from_column[i];
    }
  }
}

}  // namespace

void copy_part(cudaStream_t stream, const PartCopy& copy) {
  const auto words = static_cast<Index>(copy.element / sizeof(std::uint32_t));
  const Index stripes = copy.rows * words / (kThreads * kPerThread) + 1;
  LaunchShape shape;
  shape.threads = kThreads;
  shape.blocks = static_cast<unsigned>(std::min(copy.cols * stripes, kMaxBlocks));
  launch_kernel(stream, shape, "copy on device", copy_part_kernel, static_cast<char*>(copy.to),
                copy.to_pitch, static_cast<const char*>(copy.from), copy.from_pitch, words,
                copy.rows, copy.cols, copy.part, copy.diagonal, stripes);
}

}  // namespace overlapack::cuda
