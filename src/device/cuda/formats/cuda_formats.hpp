// The number formats of the CUDA device.
#pragma once

#include <memory>

#include "device/cuda/runtime/gpu.hpp"
#include "device/device.hpp"

namespace overlapack::cuda {

/// The formats that exist for T.
template <class T>
class CudaFormats {
 public:
  explicit CudaFormats(const Gpu& gpu);
  Formats<T> view() const {
    return {split_products_.get(), residue_products_.get(), rounding_.get()};
  }

 private:
  std::unique_ptr<SplitProducts<T>> split_products_;
  std::unique_ptr<ResidueProducts<T>> residue_products_;
  std::unique_ptr<Rounding<T>> rounding_;
};

}  // namespace overlapack::cuda
