// Estimates of the condition: gecon, pocon and trcon. Whatever the device cannot do, the CPU does
// as a whole: the matrix is only read.
#include "algorithms/condition/condition.hpp"

#include <new>
#include <vector>

#include "cpu/condition.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::ConditionWork;
using cpu::Family;
using cpu::Lapack;

/// on_cpu(A) for a copy of a matrix in the memory of a device that cannot serve the call. The
/// device is locked.
template <class T, class OnCpu>
Index on_a_copy(HostView<const T> a, OnCpu on_cpu) {
  Context& context = Context::instance();
  try {
    const DeviceUse use;
    Device* const device = context.device();
    if (device == nullptr || device->kind_of(a.data) != MemoryKind::device) return kNoMemory;
    const MemoryUse memory_use(context);
    const std::vector<T> copy = copy_of<T>(*device, on_device(a));
    return on_cpu(HostView<const T>(copy.data(), a.rows, a.cols, a.rows));
  } catch (const DeviceError& error) {
    context.heed(error);
  } catch (const std::bad_alloc&) {
  }
  return kNoMemory;
}

/// A call that on_cpu(A) does on the CPU, and on_device(device, options) on the device, where it
/// returns rcond.
template <class T, class OnCpu, class OnDevice>
Index estimate(const Call& call, HostView<const T> a, Real<T>& rcond, OnCpu on_cpu,
               OnDevice on_device) {
  const auto here = [&] { return on_cpu(a); };
  return route(
      call, here,
      [&](Device& device, const algorithms::Options& options, Index&) {
        rcond = on_device(device, options);
        return Index{0};
      },
      [&](const algorithms::Options&, Index) { return here(); },
      [&] { return on_a_copy(a, on_cpu); });
}

}  // namespace

template <class T>
Index gecon(Family family, Norm norm, HostView<const T> a, Real<T> norm_of_a, Real<T>& rcond,
            ConditionWork<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::gecon, a);
  call.trans = static_cast<char>(norm);
  const auto on_cpu = [&](HostView<const T> m) {
    return cpu::gecon<T>(cpu, norm, m, norm_of_a, rcond, work);
  };
  return estimate(call, a, rcond, on_cpu, [&](Device& device, const algorithms::Options& options) {
    const Real<T> result = algorithms::gecon<T>(device, options, norm, a, norm_of_a);
    // LAPACK's own ?latdf, of matrices up to this order, reads the vector that its ?gecon leaves
    // in the workspace.
    constexpr Index kOrderOfLatdf = 8;
    const bool is_small = a.rows <= kOrderOfLatdf;
    if (!is_small || device.kind_of(a.data) == MemoryKind::device) return result;
    on_cpu(a);
    return rcond;
  });
}

template <class T>
Index pocon(Family family, Uplo uplo, HostView<const T> a, Real<T> norm_of_a, Real<T>& rcond,
            ConditionWork<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::pocon, a);
  call.uplo = static_cast<char>(uplo);
  return estimate(
      call, a, rcond,
      [&](HostView<const T> m) { return cpu::pocon<T>(cpu, uplo, m, norm_of_a, rcond, work); },
      [&](Device& device, const algorithms::Options& options) {
        return algorithms::pocon<T>(device, options, uplo, a, norm_of_a);
      });
}

template <class T>
Index trcon(Family family, Norm norm, Uplo uplo, Diag diag, HostView<const T> a, Real<T>& rcond,
            ConditionWork<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::trcon, a);
  call.uplo = static_cast<char>(uplo);
  call.trans = static_cast<char>(norm);
  return estimate(
      call, a, rcond,
      [&](HostView<const T> m) { return cpu::trcon<T>(cpu, norm, uplo, diag, m, rcond, work); },
      [&](Device& device, const algorithms::Options& options) {
        return algorithms::trcon<T>(device, options, norm, uplo, diag, a);
      });
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template Index gecon<T>(Family, Norm, HostView<const T>, Real<T>, Real<T>&, ConditionWork<T>); \
  template Index pocon<T>(Family, Uplo, HostView<const T>, Real<T>, Real<T>&, ConditionWork<T>); \
  template Index trcon<T>(Family, Norm, Uplo, Diag, HostView<const T>, Real<T>&, ConditionWork<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
