// Stands for the CUDA plug-in in tests of the device's start: opens the emulated device in the way
// that FAKE_START says.
//
//   a number   after so many milliseconds; it gives up if the process ends meanwhile
//   deaf       after 300 milliseconds, whatever happens meanwhile, as in one long call of a driver
//   fail       it throws
//   hang       never
//
// Without the variable the device is opened at once.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "device/cuda/runtime/plugin.hpp"
#include "device/emulated/emulated_device.hpp"

[[gnu::visibility("default")]] overlapack::Device* overlapack_open_cuda_device(
    int, int, const overlapack::ProcessEnd& end) {
  using overlapack::DeviceError;
  using std::chrono::milliseconds;
  const char* const variable = std::getenv("FAKE_START");
  const std::string how = variable == nullptr ? "0" : variable;
  if (how == "fail") throw DeviceError("the driver does not work");
  for (bool hangs = how == "hang"; hangs;) std::this_thread::sleep_for(milliseconds(1000));
  if (how == "deaf") {
    std::this_thread::sleep_for(milliseconds(300));
  } else {
    for (int left = std::stoi(how); left > 0; left -= 10) {
      std::this_thread::sleep_for(milliseconds(10));
      if (end.begun) throw DeviceError("the process ends");
    }
  }
  return overlapack::make_emulated_device().release();
}
