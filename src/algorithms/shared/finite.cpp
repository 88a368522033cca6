#include "algorithms/shared/finite.hpp"

#include <algorithm>
#include <atomic>

#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {

template <class T>
bool all_finite(Part part, HostView<const T> a, Index threads) {
  constexpr Index kReals = is_complex<T> ? 2 : 1, kColumns = 64;
  // Fewer numbers take less time than another thread to wake up.
  const Index share = kHostTuning.numbers_looked_at_per_thread;
  threads = std::min(threads, 1 + kReals * a.rows * a.cols / 2 / share);
  std::atomic<bool> good{true};
  share_out(threads, quotient_up(a.cols, kColumns), [&](Index group) {
    const Index end = std::min((group + 1) * kColumns, a.cols);
    for (Index j = group * kColumns; j < end && good; ++j) {
      const Range rows = rows_of_column(part, 0, a.rows, j);
      const auto* const x = reinterpret_cast<const Real<T>*>(a.data + j * a.ld);
      if (!finite(x, kReals * rows.first, kReals * rows.last)) good = false;
    }
  });
  return good;
}

template <class T>
bool all_finite_on_device(Device& device, Part part, HostView<const T> a) {
  const Readout<Index> found(device, 1);
  const QueueLease queue(device);
  queue->zero(found.there().data, sizeof(Index));
  device.kernels<T>().find_not_finite(*queue, part, on_device(a), found.there());
  found.fetch(*queue);
  queue->synchronize();
  return *found.here() == 0;
}

#define OVERLAPACK_INSTANTIATE(T)                              \
  template bool all_finite<T>(Part, HostView<const T>, Index); \
  template bool all_finite_on_device<T>(Device&, Part, HostView<const T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
