// Updating and downdating a Cholesky factor by any number of vectors at once, on the device.
#pragma once

#include <memory>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/update/on_cpu.hpp"
#include "algorithms/update/rank_one.hpp"
#include "cpu/lapack.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// What is to be updated, and by what: A, of order n, by the k columns of V with their signs. Both
/// may lie in the device's memory. If there are `rotations` to be returned there is one vector, and
/// A must be finite.
template <class T>
struct Update {
  Uplo uplo;
  HostView<T> a;
  HostView<const T> v;
  Signs signs;
  Rotations<T> rotations = {};

  /// A factor that is not finite is refused.
  bool checks() const { return rotations.c == nullptr; }
};

/// What the CPU needs to finish an update that the device has begun: the first `columns` columns
/// (rows of an upper factor) are final, and rows columns, ... of `v` are what V is there, with the
/// updates before the downdates. If columns is 0, nothing has been changed and V is the caller's.
template <class T>
struct UpdateCheckpoint {
  Index columns = 0;
  HostView<T> v;

 private:
  template <class U>
  friend class DeviceUpdate;
  // V after an even and after an odd number of regions. Not initialized: that would take as long as
  // to send it.
  std::unique_ptr<Real<T>[]> states[2];
};

/// Bytes of device memory without which chol_update_on_device() does not run, by k vectors and with
/// regions of nb columns.
template <class T>
std::size_t chol_update_bytes(Index n, Index k, Index nb);

/// As chol_update(), on the device: by update_by_independent_panels(), or else by regions of
/// options.nb columns. Takes at most options.memory bytes of the device's memory (0: any), but as
/// much as chol_update_bytes() in any case. Without rotations a factor that is not finite stays as
/// it was, and the result is kFactorNotFinite.
///
/// Throws DeviceError. finish_chol_update() then finishes the call from `checkpoint`.
template <class T>
Index chol_update_on_device(Device& device, const Options& options, const Update<T>& update,
                            UpdateCheckpoint<T>& checkpoint);

}  // namespace overlapack::algorithms
