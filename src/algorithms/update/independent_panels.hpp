// Updating and downdating a Cholesky factor on the device, where no panel waits for another one.
#pragma once

#include "algorithms/update/on_device.hpp"

namespace overlapack::algorithms {

/// As chol_update_on_device(), in a fraction of its time, but not for everything. Returns true if
/// the update has been made. If the result is false, nothing has been changed, and what there is to
/// say about it, info included, chol_update_on_device() has to find out: there are too many vectors
/// or vectors of both signs; there is too little memory, on the device for all of the factor and
/// more, or in staging memory for all of the factor; or, as only the factor itself tells, there is
/// no result, or not one that this form of the algorithm finds accurately.
///
/// Throws DeviceError. A factor in the host's memory is then as it was.
template <class T>
bool update_by_independent_panels(Device& device, const Options& options, const Update<T>& update);

}  // namespace overlapack::algorithms
