// Which calls go to the device, and how: pure functions of the call, the settings, the measured
// profile and the device's table of tuning.
#pragma once

#include <string>

#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"
#include "dispatch/profile.hpp"
#include "dispatch/routine.hpp"
#include "dispatch/settings.hpp"

namespace overlapack::dispatch {

/// The one number that a call is judged by (FamilyTraits::size).
Index size_of(Routine routine, const Shape& shape);
/// The size from which on a call of this shape goes to the device: what the user says, or the
/// profile. As long as no device is there, the least that any device has.
Index break_even(Routine routine, char type, const Shape& shape, const Settings& settings,
                 const Profile& profile, const Device* device = nullptr);
/// LAPACK's operation count in real floating-point operations.
double flops_of(Routine routine, char type, const Shape& shape);
/// The same of a call that returned `info`: what it has not done because of that does not count.
double flops_done(Routine routine, char type, const Shape& shape, Index info);

/// Where a call goes and, if to the device, how.
struct Plan : algorithms::Options {
  bool on_device = false;
  std::string why;  ///< one phrase for the call log
};

/// The first half of the decision, cheap and without opening the device: is the call large enough?
bool wants_device(Routine routine, char type, const Shape& shape, const Settings& settings,
                  const Profile& profile, const Device* device = nullptr);
/// The whole decision, for a device, or for none. `resident`: the matrix lies on the device, so no
/// size is too small.
Plan plan(Routine routine, char type, const Shape& shape, const Settings& settings,
          const Profile& profile, Device* device, bool resident = false);
/// The plan for another try at a call that has not been given the memory it was planned with, for
/// the `reason` given: others have it. False if there is none.
bool retry_out_of_core(Routine routine, char type, const Shape& shape, const Settings& settings,
                       Device& device, const std::string& reason, Plan& plan);

}  // namespace overlapack::dispatch
