// Device memory is kept between calls for a while, and then given back.
#pragma once

#include "dispatch/context.hpp"

namespace overlapack::dispatch {

/// Lives while a call takes memory of the device, and within a DeviceUse. What the call leaves idle
/// is kept for the next one as long as the settings say. Then a thread gives it back, which is
/// there from the end of a call until then. If nothing is to be kept, the call itself does so.
class MemoryUse {
 public:
  explicit MemoryUse(Context& context);
  ~MemoryUse();
  MemoryUse(const MemoryUse&) = delete;

 private:
  Context& context_;
};

}  // namespace overlapack::dispatch
