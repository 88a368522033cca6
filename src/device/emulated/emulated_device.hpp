// A device without a GPU: same algorithms, separate poisoned memory, and queued work that runs only
// when somebody waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.hpp"

namespace overlapack {

/// When queued work runs.
///  lazy:    only when an event or a queue is waited for or asked about, and then only what that
///           depends on: a forgotten wait reads poison.
///  eager:   at once, as if the device were infinitely fast.
///  shuffle: like lazy, but at each wait other ready work runs first, from queues in an order that
///           is drawn at random again after some operations.
enum class Schedule { lazy, eager, shuffle };

struct EmulatedOptions {
  Schedule schedule = Schedule::lazy;
  std::uint64_t seed = 1;                     ///< for Schedule::shuffle
  std::size_t memory = std::size_t{8} << 30;  ///< allocations beyond it fail as on a real device
  /// Only what every device must have (device/blas.hpp): panels and fused operations by their
  /// defaults, and no formats.
  bool core_only = false;
  std::string shortcoming = {};  ///< Device::shortcoming()
  std::size_t taken = 0;         ///< bytes of the memory, by other processes
};

std::unique_ptr<Device> make_emulated_device(EmulatedOptions options = {});

}  // namespace overlapack
