// Inverses of triangles and from factors: trtri, potri, getri; and lauum, which is half of potri.
#include "algorithms/inverse/inverse.hpp"

#include <optional>
#include <vector>

#include "cpu/inverse.hpp"
#include "dispatch/calls/interchanges.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using algorithms::Options;
using cpu::Family;
using cpu::Lapack;
using cpu::Pivots;

/// A call that replaces a triangle. on_cpu(triangle) does it, also for what is left of A after a
/// fault.
template <class T, class OnCpu, class OnDevice>
Index in_place(Routine routine, Uplo uplo, HostView<T> a, OnCpu on_cpu, OnDevice on_device) {
  Call call = make_call<T>(routine, a);
  call.uplo = static_cast<char>(uplo);
  return route(
      call, [&] { return on_cpu(a); }, on_device,
      [&](const Options& options, Index committed) {
        const Index done = algorithms::final_lines(options, uplo, a.rows, committed);
        const Range rest = {done, a.rows};
        return rest.empty() ? 0 : on_cpu(a.block(rest, rest));
      });
}

}  // namespace

template <class T>
Index trtri(Family family, Uplo uplo, Diag diag, HostView<T> a) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return in_place(
      Routine::trtri, uplo, a, [&](HostView<T> rest) { return cpu::trtri(cpu, uplo, diag, rest); },
      [&](Device& device, const Options& options, Index& committed) {
        return algorithms::trtri(device, options, uplo, diag, a, committed);
      });
}

template <class T>
Index lauum(Family family, Uplo uplo, HostView<T> a) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return in_place(
      Routine::lauum, uplo, a, [&](HostView<T> rest) { return cpu::lauum(cpu, uplo, rest); },
      [&](Device& device, const Options& options, Index& committed) {
        algorithms::lauum(device, options, uplo, a, committed);
        return Index{0};
      });
}

template <class T>
Index potri(Family family, Uplo uplo, HostView<T> a) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return in_place(
      Routine::potri, uplo, a, [&](HostView<T> rest) { return cpu::potri(cpu, uplo, rest); },
      [&](Device& device, const Options& options, Index& committed) {
        return algorithms::potri(device, options, uplo, a, committed);
      });
}

template <class T>
T wanted_workspace_of_getri(Family family, HostView<T> a, Pivots ipiv) {
  return cpu::wanted_workspace_of_getri(cpu_lapack<T>(family), a, ipiv);
}

template <class T>
Index getri(Family family, HostView<T> a, Pivots ipiv, cpu::Workspace<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  // Before anything is written: to ask for it may fail.
  std::optional<T> used;
  const auto on_cpu = [&](Index done) {
    if (!used) used = cpu::used_workspace_of_getri(cpu, a, ipiv);
    const Index info = cpu::finish_getri(cpu, a, done, ipiv, work);
    *work.data = *used;
    return info;
  };
  return route(
      make_call<T>(Routine::getri, a), [&] { return on_cpu(a.rows); },
      [&](Device& device, const Options& options, Index& committed) {
        const bool reached = device.kind_of(work.data) != MemoryKind::device;
        if (reached) used = cpu::used_workspace_of_getri(cpu, a, ipiv);
        const Index info =
            algorithms::getri(device, options, a, valid_pivots(ipiv, a.rows, true), committed);
        if (reached) *work.data = *used;
        return info;
      },
      [&](const Options&, Index committed) { return on_cpu(a.cols - committed); });
}

#define OVERLAPACK_INSTANTIATE(T)                                       \
  template Index trtri<T>(Family, Uplo, Diag, HostView<T>);             \
  template Index lauum<T>(Family, Uplo, HostView<T>);                   \
  template Index potri<T>(Family, Uplo, HostView<T>);                   \
  template T wanted_workspace_of_getri<T>(Family, HostView<T>, Pivots); \
  template Index getri<T>(Family, HostView<T>, Pivots, cpu::Workspace<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
