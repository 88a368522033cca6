// The number formats of the emulated device, by loops over every element (formats.hpp).
#pragma once

#include <memory>

#include "device/device.hpp"
#include "device/emulated/machine.hpp"

namespace overlapack::emulated {

/// The formats that exist for T.
template <class T>
class EmulatedFormats {
 public:
  EmulatedFormats(const Device& device, Machine& machine);
  Formats<T> view() const {
    return {split_products_.get(), residue_products_.get(), rounding_.get()};
  }

 private:
  std::unique_ptr<SplitProducts<T>> split_products_;
  std::unique_ptr<ResidueProducts<T>> residue_products_;
  std::unique_ptr<Rounding<T>> rounding_;
};

}  // namespace overlapack::emulated
