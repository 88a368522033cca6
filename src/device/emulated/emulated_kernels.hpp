// The emulated device's operations.
#pragma once

#include <memory>

#include "device/emulated/machine.hpp"

namespace overlapack::emulated {

/// For queues of that machine. Shapes are checked as well as memory: a GPU would read beyond an
/// operand without a word.
template <class T>
std::unique_ptr<Kernels<T>> make_kernels(Device& device, Machine& machine);

}  // namespace overlapack::emulated
