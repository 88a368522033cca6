// The number formats that a device may have besides the four precisions; a null pointer says that
// it has not.
#pragma once

#include "device/residue_products.hpp"
#include "device/rounding.hpp"
#include "device/split_products.hpp"

namespace overlapack {

template <class T>
struct Formats {
  SplitProducts<T>* split_products = nullptr;
  ResidueProducts<T>* residue_products = nullptr;
  Rounding<T>* rounding = nullptr;
};

}  // namespace overlapack
