#include <limits>
#include <new>
#include <vector>

#include "algorithms/norms/norm.hpp"
#include "algorithms/norms/on_cpu.hpp"
#include "cpu/lantr.hpp"
#include "dispatch/route.hpp"
#include "host/tuning.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;

/// Whether the CPU LAPACK would take longer for a matrix on the host than this library.
template <class T>
bool is_large(HostView<const T> a) {
  return a.rows >= kHostTuning.norm_rows_at_least &&
         a.rows * a.cols >= kHostTuning.norm_elements_at_least;
}

template <class T>
Real<T> norm_by_lapack(const Lapack<T>& cpu, const NormOf& of, HostView<const T> a, Real<T>* work) {
  if (!of.of_triangle()) return cpu.norm(of.norm, of.symmetry, of.uplo(), a, work);
  const auto result = cpu::lantr(cpu, of.norm, of.uplo(), of.diag, a, work);
  return result ? *result : algorithms::norm_on_cpu(of, a, 1);
}

/// Of a matrix on the host.
template <class T>
Real<T> norm_by_threads(const Lapack<T>& cpu, const NormOf& of, HostView<const T> a,
                        Real<T>* work) {
  try {
    return algorithms::norm_on_cpu(of, a, cpu_threads(a.rows * a.cols));
  } catch (const std::bad_alloc&) {  // LAPACK has its work
    return norm_by_lapack(cpu, of, a, work);
  }
}

/// A norm of a matrix on the device, computed there or, if that fails and of a triangle, by the CPU
/// from a copy.
template <class T>
Real<T> norm_on_device(Context& context, Device& device, const Lapack<T>& cpu, const NormOf& of,
                       HostView<const T> a, bool& on_cpu) {
  const Turns::Turn turn(context.turns(), Turns::Kind::alone);
  const DeviceUse use;
  try {
    device.refuse_at_end();
    const MemoryUse memory_use(context);
    device.set_memory_limit(context.settings().memory_limit);
    try {
      require_aligned(sizeof(T), a.data);
      if (!of.of_triangle()) {
        return algorithms::norm<T>(device, of.norm, of.symmetry, of.uplo(), on_device(a));
      }
    } catch (const DeviceError& error) {
      context.heed(error);
    } catch (const std::bad_alloc&) {  // a copy of a small matrix may need less
    }
    on_cpu = true;
    const std::vector<T> copy = copy_of(device, on_device(a));
    std::vector<Real<T>> work(static_cast<std::size_t>(a.rows));
    return norm_by_threads<T>(cpu, of, {copy.data(), a.rows, a.cols, a.rows}, work.data());
  } catch (const DeviceError& error) {  // nobody can read the matrix
    context.heed(error);
  } catch (const std::bad_alloc&) {
  }
  return std::numeric_limits<Real<T>>::quiet_NaN();
}

/// The call, for the log.
template <class T>
Call norm_call(const NormOf& of, HostView<const T> a) {
  Call call = make_call<T>({}, a);
  call.name = of.part == Part::all                 ? "lange"
              : of.symmetry == Symmetry::symmetric ? "lansy"
              : of.symmetry == Symmetry::hermitian ? "lanhe"
                                                   : "lantr";
  if (of.part != Part::all) call.uplo = static_cast<char>(of.uplo());
  call.trans = static_cast<char>(of.norm);
  return call;
}

/// The result of compute(), with a line in the log. `decision` becomes what that has to say; only
/// the texts are missing if there is no memory.
template <class T, class Compute>
Real<T> logged(Context& context, const NormOf& of, HostView<const T> a, Decision& decision,
               Compute compute) {
  const Call call = norm_call(of, a);
  const CallLog log(context, context.settings(), call, decision);
  const Real<T> result = compute();
  log.write(0, 2.0 * static_cast<double>(a.rows) * static_cast<double>(a.cols));
  return result;
}

}  // namespace

template <class T>
Real<T> norm(Family family, const NormOf& of, HostView<const T> a, Real<T>* work) {
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
  if (device == nullptr && !is_large(a)) return norm_by_lapack(cpu, of, a, work);

  const AtWork at_work;
  Decision decision;
  const auto say = [&](const char* where, const char* why) {
    try {
      decision.where = where;
      decision.plan.why = why;
    } catch (const std::bad_alloc&) {  // for the log, and for a profiler
    }
  };
  if (device == nullptr) {
    if (!nesting.outermost()) return norm_by_threads(cpu, of, a, work);
    say("cpu", "a norm of a matrix in the host's memory");
    return logged(context, of, a, decision, [&] { return norm_by_threads(cpu, of, a, work); });
  }
  if (of.of_triangle()) {
    say("cpu", "a norm of a triangle on the device, from a copy");
  } else {
    say(device->name().c_str(), "the matrix lies on the device");
  }
  return logged(context, of, a, decision, [&] {
    bool on_cpu = false;
    const Real<T> result = norm_on_device(context, *device, cpu, of, a, on_cpu);
    give_way_to_exit();  // without a result, maybe
    try {
      if (on_cpu && !of.of_triangle()) decision.where += "+cpu";
    } catch (const std::bad_alloc&) {  // the norm is known all the same
    }
    return result;
  });
}

#define OVERLAPACK_INSTANTIATE(T) \
  template Real<T> norm<T>(Family, const NormOf&, HostView<const T>, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
