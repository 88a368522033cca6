// geqrf, gelqf, orgqr, orglq, ormqr, ormlq (and ungqr and so on), geqrt, gemqrt and gels. gels of a
// wide matrix is for the CPU LAPACK, whatever its size and the settings.
//
// A CPU LAPACK's own drivers (?gels, ?gesvd, ?geev) call these by their names, and look at no
// `info`. So a call that the device cannot finish needs no memory of its own: the CPU LAPACK works
// in the caller's workspace.
#include "cpu/qr.hpp"

#include <algorithm>

#include "algorithms/qr/gels.hpp"
#include "algorithms/qr/orgqr.hpp"
#include "algorithms/qr/ormqr.hpp"
#include "algorithms/qr/qr.hpp"
#include "dispatch/calls/reflectors.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using algorithms::Options;
using cpu::Family;
using cpu::Lapack;
using cpu::Reflectors;
using cpu::Workspace;

/// Whether a matrix lies in the memory of a GPU, where the CPU cannot read it.
template <class T>
bool is_out_of_reach(HostView<const T> a) {
  const Index elements = a.rows * a.cols;
  try {
    return device_of_call(Context::instance(), elements, sizeof(T), a.data) != nullptr ||
           (elements >= kLargeMatrix && is_cuda_memory(a.data));
  } catch (const DeviceError&) {
    return true;
  }
}

/// In place of route(): the CPU does the call, and what its LAPACK calls from inside.
template <class T, class OnCpu>
Index stay_on_cpu(HostView<const T> a, OnCpu on_cpu) {
  const Nesting nesting;
  return nesting.outermost() && is_out_of_reach(a) ? kNoMemory : on_cpu();
}

/// Has the device do a call, which needs no workspace there, by run(). The caller's is left as
/// on_cpu(query) leaves it, if the CPU can reach that.
template <class T, class OnCpu, class Run>
Index on_device(Device& device, Workspace<T> work, const T* tau, OnCpu on_cpu, Run run) {
  if (tau != nullptr && device.kind_of(tau) == MemoryKind::device) return kNoMemory;
  T wanted(0);  // before anything is written: to ask for it may fail
  on_cpu(Workspace<T>{&wanted, Workspace<T>::kQuery});
  const Index info = run();
  if (device.kind_of(work.data) != MemoryKind::device) *work.data = wanted;
  return info;
}

/// What decides where a product with a Q of `reflectors` goes.
template <class T>
Call call_of_product(Routine routine, Side side, Op op, HostView<const T> vectors, Index reflectors,
                     HostView<const T> c) {
  const bool left = side == Side::left;
  Call call = make_call<T>(routine, vectors, c);
  call.shape = {left ? c.rows : c.cols, reflectors, left ? c.cols : c.rows};
  call.trans = static_cast<char>(op);
  return call;
}

}  // namespace

template <class T>
Index geqrf(Family family, Reflectors kind, HostView<T> a, T* tau, Workspace<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const auto on_cpu = [&](Workspace<T> with) { return cpu::geqrf(cpu, kind, a, tau, with); };
  if (work.is_query()) return on_cpu(work);
  return route(
      make_call<T>(kind == Reflectors::rows ? Routine::gelqf : Routine::geqrf, a),
      [&] { return on_cpu(work); },
      [&](Device& device, const Options& options, Index& committed) {
        return on_device(device, work, tau, on_cpu, [&] {
          algorithms::geqrf(device, options, kind, a, tau, committed);
          return Index{0};
        });
      },
      [&](const Options&, Index committed) {
        return cpu::finish_geqrf(cpu, kind, a, tau, committed, work);
      });
}

template <class T>
Index orgqr(Family family, Reflectors kind, HostView<T> a, Index count, const T* tau,
            Workspace<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const auto on_cpu = [&](Workspace<T> with) { return cpu::orgqr(cpu, kind, a, count, tau, with); };
  if (work.is_query()) return on_cpu(work);
  if (count == 0) return stay_on_cpu<T>(a, [&] { return on_cpu(work); });
  const bool rows = kind == Reflectors::rows;
  constexpr Routine kOf[] = {is_complex<T> ? Routine::ungqr : Routine::orgqr,
                             is_complex<T> ? Routine::unglq : Routine::orglq};
  return route(
      make_call<T>(kOf[rows], a), [&] { return on_cpu(work); },
      [&](Device& device, const Options& options, Index& committed) {
        return on_device(device, work, tau, on_cpu, [&] {
          algorithms::orgqr<T>(device, options, kind, a, unitary(tau, count), committed);
          return Index{0};
        });
      },
      [&](const Options&, Index committed) {
        const Index left = (rows ? a.rows : a.cols) - committed;
        const HostView<T> rest = rows ? a.block(0, 0, left, a.cols) : a.block(0, 0, a.rows, left);
        if (left > 0) cpu::orgqr(cpu, kind, rest, std::min(count, left), tau, work);
        return on_cpu(Workspace<T>{work.data, Workspace<T>::kQuery});
      });
}

template <class T>
Index ormqr(Family family, Reflectors kind, Side side, Op op, HostView<const T> a, const T* tau,
            HostView<T> c, Workspace<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const auto on_cpu = [&](HostView<T> of, Workspace<T> with) {
    return cpu::ormqr(cpu, kind, side, op, a, tau, of, with);
  };
  if (work.is_query()) return on_cpu(c, work);
  const bool rows = kind == Reflectors::rows;
  constexpr Routine kOf[] = {is_complex<T> ? Routine::unmqr : Routine::ormqr,
                             is_complex<T> ? Routine::unmlq : Routine::ormlq};
  const Index count = rows ? a.rows : a.cols;
  return route(
      call_of_product<T>(kOf[rows], side, op, a, count, c), [&] { return on_cpu(c, work); },
      [&](Device& device, const Options& options, Index& committed) {
        return on_device(
            device, work, tau, [&](Workspace<T> with) { on_cpu(c, with); },
            [&] {
              algorithms::ormqr<T>(device, options, side, op, {kind, a, unitary(tau, count)}, c,
                                   committed);
              return Index{0};
            });
      },
      [&](const Options&, Index committed) {
        const HostView<T> rest = behind(side, c, committed);
        if (!rest.empty()) on_cpu(rest, work);
        return on_cpu(c, Workspace<T>{work.data, Workspace<T>::kQuery});
      });
}

/// tau lies in the workspace until T has come home.
template <class T>
Index geqrt(Family family, HostView<T> a, HostView<T> t, T* work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::geqrt, a, t);
  call.shape = {a.rows, a.cols, 0, t.rows};
  return route(
      call, [&] { return cpu::geqrt(cpu, a, t, work); },
      [&](Device& device, const Options& options, Index& committed) {
        if (device.kind_of(work) == MemoryKind::device) return kNoMemory;
        algorithms::geqrt(device, options, a, work, t, committed);
        return Index{0};
      },
      [&](const Options&, Index committed) {
        cpu::finish_geqrt(cpu, a, t, std::min(committed, a.cols), work);
        return Index{0};
      });
}

template <class T>
Index gemqrt(Family family, Side side, Op op, HostView<const T> v, HostView<const T> t,
             HostView<T> c, T* work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const auto on_cpu = [&](HostView<T> of) { return cpu::gemqrt(cpu, side, op, v, t, of, work); };
  Call call = call_of_product<T>(Routine::gemqrt, side, op, v, v.cols, c);
  call.shape.block = t.rows;
  call.operands[2] = t.data;
  return route(
      call, [&] { return on_cpu(c); },
      [&](Device& device, const Options& options, Index& committed) {
        algorithms::ormqr<T>(device, options, side, op, {Reflectors::columns, v, {}, t}, c,
                             committed);
        return Index{0};
      },
      [&](const Options&, Index committed) {
        const HostView<T> rest = behind(side, c, committed);
        return rest.empty() ? 0 : on_cpu(rest);
      });
}

/// tau lies in the workspace, where the CPU LAPACK has it, too. Of a wide A, what its ?gels is made
/// of comes back by name, each part on a way of its own: ?gelqf, ?ormlq and ?trtrs.
template <class T>
Index gels(Family family, Op op, HostView<T> a, HostView<T> b, Workspace<T> work) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const auto on_cpu = [&](Workspace<T> with) { return cpu::gels(cpu, op, a, b, with); };
  if (work.is_query()) return on_cpu(work);
  if (a.rows < a.cols || a.empty() || b.empty()) {
    return is_out_of_reach<T>(a) || is_out_of_reach<T>(b) ? kNoMemory : on_cpu(work);
  }
  Call call = make_call<T>(Routine::gels, a, b);
  call.trans = static_cast<char>(op);
  return route(
      call, [&] { return on_cpu(work); },
      [&](Device& device, const Options& options, Index& committed) {
        const bool reached = device.kind_of(work.data) != MemoryKind::device;
        T* const tau = reached ? work.data : nullptr;
        return on_device<T>(device, work, tau, on_cpu, [&] {
          return algorithms::gels(device, options, op, a, tau, b, committed);
        });
      },
      [&](const Options&, Index committed) {
        return cpu::finish_gels(cpu, op, a, b, committed, work);
      });
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
