// getrf and gesv.
#include "algorithms/lu/lu.hpp"

#include "dispatch/calls/interchanges.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;
using cpu::Pivots;

/// getrf and, if B has columns, gesv.
template <class T, class OnCpu>
Index lu(const Call& call, const Lapack<T>& cpu, HostView<T> a, Pivots ipiv, HostView<T> b,
         OnCpu on_cpu) {
  algorithms::Interchanges interchanges;
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        return store(algorithms::gesv(device, cpu, options, a, interchanges, b, committed),
                     interchanges.pivots, ipiv);
      },
      [&](const algorithms::Options&, Index committed) {
        if (committed == 0) return on_cpu();  // there may have been no memory for interchanges
        return store(algorithms::resume_gesv(cpu, a, interchanges, b, committed),
                     interchanges.pivots, ipiv);
      });
}

}  // namespace

template <class T>
Index getrf(Family family, HostView<T> a, Pivots ipiv) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return lu<T>(make_call<T>(Routine::getrf, a), cpu, a, ipiv, {},
               [&] { return cpu.getrf(a, ipiv); });
}

template <class T>
Index gesv(Family family, HostView<T> a, Pivots ipiv, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return lu<T>(make_call<T>(Routine::gesv, a, b), cpu, a, ipiv, b,
               [&] { return cpu.gesv(a, ipiv, b); });
}

#define OVERLAPACK_INSTANTIATE(T)                       \
  template Index getrf<T>(Family, HostView<T>, Pivots); \
  template Index gesv<T>(Family, HostView<T>, Pivots, HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
