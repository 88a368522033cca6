// geqrf, gelqf, orgqr, orglq, ormqr, ormlq (and ungqr and so on), geqrt, gemqrt and gels. There is
// no algorithm for the device yet: all calls are for the CPU LAPACK, whatever their size and the
// settings.
#include "cpu/qr.hpp"

#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Reflectors;
using cpu::Workspace;

/// In place of route(): the CPU does the call, and what its LAPACK calls from inside.
template <class OnCpu>
Index stay_on_cpu(OnCpu on_cpu) {
  const Nesting nesting;
  return on_cpu();
}

}  // namespace

template <class T>
Index geqrf(Family family, Reflectors kind, HostView<T> a, T* tau, Workspace<T> work) {
  return stay_on_cpu([&] { return cpu::geqrf(cpu_lapack<T>(family), kind, a, tau, work); });
}

template <class T>
Index orgqr(Family family, Reflectors kind, HostView<T> a, Index count, const T* tau,
            Workspace<T> work) {
  return stay_on_cpu([&] { return cpu::orgqr(cpu_lapack<T>(family), kind, a, count, tau, work); });
}

template <class T>
Index ormqr(Family family, Reflectors kind, Side side, Op op, HostView<const T> a, const T* tau,
            HostView<T> c, Workspace<T> work) {
  return stay_on_cpu(
      [&] { return cpu::ormqr(cpu_lapack<T>(family), kind, side, op, a, tau, c, work); });
}

template <class T>
Index geqrt(Family family, HostView<T> a, HostView<T> t, T* work) {
  return stay_on_cpu([&] { return cpu::geqrt(cpu_lapack<T>(family), a, t, work); });
}

template <class T>
Index gemqrt(Family family, Side side, Op op, HostView<const T> v, HostView<const T> t,
             HostView<T> c, T* work) {
  return stay_on_cpu([&] { return cpu::gemqrt(cpu_lapack<T>(family), side, op, v, t, c, work); });
}

template <class T>
Index gels(Family family, Op op, HostView<T> a, HostView<T> b, Workspace<T> work) {
  return stay_on_cpu([&] { return cpu::gels(cpu_lapack<T>(family), op, a, b, work); });
}

#define OVERLAPACK_INSTANTIATE(T)                                                                 \
  template Index geqrf<T>(Family, Reflectors, HostView<T>, T*, Workspace<T>);                     \
  template Index orgqr<T>(Family, Reflectors, HostView<T>, Index, const T*, Workspace<T>);        \
  template Index ormqr<T>(Family, Reflectors, Side, Op, HostView<const T>, const T*, HostView<T>, \
                          Workspace<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T)                                \
  template Index geqrt<T>(Family, HostView<T>, HostView<T>, T*); \
  template Index gemqrt<T>(Family, Side, Op, HostView<const T>, HostView<const T>, HostView<T>, T*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T) \
  template Index gels<T>(Family, Op, HostView<T>, HostView<T>, Workspace<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
