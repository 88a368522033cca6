// What a device that has just been opened does before it serves calls.
#pragma once

#include "device/device.hpp"
#include "dispatch/routine.hpp"
#include "dispatch/settings.hpp"

namespace overlapack::dispatch {

/// Factors a small matrix on the device, in the way of such a call. The driver loads each kernel
/// when it is first launched; queues, handles of cuBLAS and staging memory are made when they are
/// first wanted. The first call need not wait for that then. Throws DeviceError if the device is
/// lost by it.
void rehearse(Device& device, Routine routine, char type, const Shape& shape,
              const Settings& settings);

}  // namespace overlapack::dispatch
