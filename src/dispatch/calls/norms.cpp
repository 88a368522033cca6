#include <limits>
#include <new>
#include <vector>

#include "algorithms/norms/norm.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;

/// A norm of a matrix on the device, computed there or, if that fails, by the CPU from a copy.
template <class T>
Real<T> norm_on_device(Context& context, Device& device, const Lapack<T>& cpu, Norm norm,
                       Symmetry symmetry, Uplo uplo, HostView<const T> a, bool& on_cpu) {
  const Turns::Turn turn(context.turns(), Turns::Kind::alone);
  const DeviceUse use;
  try {
    device.refuse_at_end();
    const MemoryUse memory_use(context);
    device.set_memory_limit(context.settings().memory_limit);
    try {
      require_aligned(sizeof(T), a.data);
      return algorithms::norm<T>(device, norm, symmetry, uplo, on_device(a));
    } catch (const DeviceError& error) {
      context.heed(error);
    } catch (const std::bad_alloc&) {  // a copy of a small matrix may need less
    }
    on_cpu = true;
    const std::vector<T> copy = copy_of(device, on_device(a));
    std::vector<Real<T>> work(static_cast<std::size_t>(a.rows));
    return cpu.norm(norm, symmetry, uplo, {copy.data(), a.rows, a.cols, a.rows}, work.data());
  } catch (const DeviceError& error) {  // nobody can read the matrix
    context.heed(error);
  } catch (const std::bad_alloc&) {
  }
  return std::numeric_limits<Real<T>>::quiet_NaN();
}

/// The call, for the log.
template <class T>
Call norm_call(Norm norm, Symmetry symmetry, Uplo uplo, HostView<const T> a) {
  Call call = make_call<T>({}, a);
  call.name = symmetry == Symmetry::none        ? "lange"
              : symmetry == Symmetry::symmetric ? "lansy"
                                                : "lanhe";
  if (symmetry != Symmetry::none) call.uplo = static_cast<char>(uplo);
  call.trans = static_cast<char>(norm);
  return call;
}

}  // namespace

template <class T>
Real<T> norm(Family family, Norm norm, Symmetry symmetry, Uplo uplo, HostView<const T> a,
             Real<T>* work) {
  const Nesting nesting;
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Context& context = Context::instance();
  Device* device = nullptr;
  try {
    if (nesting.outermost()) device = device_of_norm(context, a.rows * a.cols, a.data);
  } catch (const DeviceError& error) {  // of a device that cannot be used; the CPU cannot read it
    context.heed(error);
    give_way_to_exit();
    return std::numeric_limits<Real<T>>::quiet_NaN();
  } catch (const std::bad_alloc&) {
    return std::numeric_limits<Real<T>>::quiet_NaN();
  }
  if (device == nullptr) return cpu.norm(norm, symmetry, uplo, a, work);

  const AtWork at_work;
  const Call call = norm_call(norm, symmetry, uplo, a);
  Decision decision;
  try {
    decision.where = device->name();
  } catch (const std::bad_alloc&) {  // for the log, and for a profiler
  }
  const CallLog log(context, context.settings(), call, decision);
  bool on_cpu = false;
  const Real<T> result = norm_on_device(context, *device, cpu, norm, symmetry, uplo, a, on_cpu);
  give_way_to_exit();  // without a result, maybe
  try {
    if (on_cpu) decision.where += "+cpu";
    decision.plan.why = "the matrix lies on the device";
    log.write(0, 2.0 * static_cast<double>(a.rows) * static_cast<double>(a.cols));
  } catch (const std::bad_alloc&) {  // the norm is known all the same
  }
  return result;
}

#define OVERLAPACK_INSTANTIATE(T) \
  template Real<T> norm<T>(Family, Norm, Symmetry, Uplo, HostView<const T>, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
