// What the calls of all families share.
#include <algorithm>

#include "dispatch/calls.hpp"
#include "dispatch/context.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

namespace overlapack::dispatch {

using cpu::Family;
using cpu::Lapack;

Index cpu_threads(Index n) {
  // More than these gain nothing where memory is the limit, and in small ones it takes longer to
  // wake them up (or even to ask how many there could be).
  const Index at_most = kHostTuning.computing_threads_at_most;
  const Settings& settings = Context::instance().settings();
  if (n < kHostTuning.computing_threads_from_order) return 1;
  return settings.threads > 0 ? settings.threads : std::min(at_most, available_cores());
}

template <class T>
const Lapack<T>& cpu_lapack(Family family) {
  Context::instance();
  return cpu::lapack<T>(family);
}

#define OVERLAPACK_INSTANTIATE(T) template const Lapack<T>& cpu_lapack<T>(Family);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
