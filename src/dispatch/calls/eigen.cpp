// The symmetric eigenproblem: drivers, and the routines that these are made of. The device has
// algorithms for drivers, for ?sytrd, for ?stedc with eigenvectors, and for ?orgtr and ?ormtr with
// a lower triangle. All other calls are for the CPU LAPACK, whatever their size and the settings.
//
// A CPU LAPACK's own drivers call the others by their names, and look at no `info` of a routine
// that cannot fail. So the way by the CPU may need no memory.
#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <string_view>

#include "algorithms/eigen/stedc.hpp"
#include "algorithms/eigen/syevd.hpp"
#include "algorithms/eigen/sytrd.hpp"
#include "algorithms/qr/orgqr.hpp"
#include "algorithms/qr/ormqr.hpp"
#include "cpu/qr.hpp"
#include "dispatch/calls/reflectors.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Reflectors;
using cpu::Workspace;

/// The routine of each row of the table, if it is routed.
constexpr std::array<Routine, kRoutineRowCount> routines_of_rows() {
  std::array<Routine, kRoutineRowCount> routines{};
  std::size_t routed = 0;
  for (std::size_t row = 0; routed < kLapackRoutineCount; ++row) {
    routines[row] = static_cast<Routine>(routed);
    if (std::string_view(kRoutineRows[row].name) == kRoutines[routed].name) ++routed;
  }
  return routines;
}

Routine routine_of(std::size_t row) {
  static constexpr auto kRoutineOf = routines_of_rows();
  return kRoutineOf[row];
}

/// In place of route(). What the CPU LAPACK makes the call of comes back by name: ?sytrd, ?stedc,
/// ?ormqr and ?potrf go their own ways, and the rest is part of the call.
Index stay_on_cpu(const Call& call, const std::function<Index()>& on_cpu) {
  if (Composed::is_any() || !Nesting().outermost()) return on_cpu();
  Context& context = Context::instance();
  const Settings& settings = context.settings();
  if (is_small(context, settings, call, false)) return on_cpu();
  const AtWork at_work;
  Decision decision = decide(context, settings, call, false);
  decision.plan.on_device = false;
  try {
    decision.plan.why = "the device has no algorithm for it";
  } catch (const std::bad_alloc&) {  // only the text is missing
  }
  const CallLog log(context, settings, call, decision);
  Index info = kNoMemory;
  if (!decision.resident) {
    const Composed composed(call);
    info = on_cpu();
  }
  log.write(info, flops_done(call.routine, call.type, call.shape, info));
  return info;
}

bool is_there(Device& device, const void* memory) {
  return device.kind_of(memory) == MemoryKind::device;
}
bool is_any_there(Device& device, const std::array<const void*, 3>& memory) {
  return std::any_of(memory.begin(), memory.end(),
                     [&](const void* one) { return one != nullptr && is_there(device, one); });
}

}  // namespace

template <class T>
Index eigen(std::size_t row, const EigenCall<T>& asked, const std::function<Index()>& on_cpu) {
  Call call = make_call<T>(routine_of(row), asked.a, asked.b, asked.z);
  call.shape.nrhs = asked.vectors;
  call.uplo = asked.uplo;
  call.trans = asked.trans;
  return stay_on_cpu(call, on_cpu);
}

/// All of a call that the device cannot finish is the CPU's, since nothing of it has changed.
template <class T>
Index eigen_driver(std::size_t row, const DriverCall<T>& asked,
                   const std::function<Index()>& on_cpu, const std::function<void()>& say_sizes) {
  const algorithms::Eigenproblem<T>& problem = asked.problem;
  Call call = make_call<T>(routine_of(row), problem.a, problem.b, problem.z);
  call.shape.nrhs = problem.z.cols;
  call.uplo = static_cast<char>(problem.uplo);
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index&) {
        if (is_any_there(device, {problem.w, asked.marks})) return kNoMemory;
        // Before A is written: to ask for them may fail.
        if (!is_any_there(device, asked.workspaces)) say_sizes();
        *asked.found = algorithms::solve_eigenproblem(device, options, problem);
        return Index{0};
      },
      [&](const algorithms::Options&, Index) { return on_cpu(); });
}

/// Likewise.
template <class T>
Index sytrd(Uplo uplo, HostView<T> a, Real<T>* d, Real<T>* e, T* tau, const T* work,
            const std::function<Index()>& on_cpu, const std::function<void()>& say_sizes) {
  Call call = make_call<T>(is_complex<T> ? Routine::hetrd : Routine::sytrd, a);
  call.uplo = static_cast<char>(uplo);
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index&) {
        if (is_there(device, d) || is_there(device, e) || is_there(device, tau)) return kNoMemory;
        if (!is_there(device, work)) say_sizes();
        algorithms::sytrd(device, options, uplo, a, d, e, tau);
        return Index{0};
      },
      [&](const algorithms::Options&, Index) { return on_cpu(); });
}

template <class T>
Index orgtr(Family family, HostView<T> a, const T* tau, Workspace<T> work,
            const std::function<Index()>& on_cpu, const std::function<void()>& say_sizes) {
  Call call = make_call<T>(is_complex<T> ? Routine::ungtr : Routine::orgtr, a);
  call.uplo = static_cast<char>(Uplo::lower);
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        if (is_there(device, tau)) return kNoMemory;
        if (!is_there(device, work.data)) say_sizes();
        algorithms::orgtr<T>(device, options, a, unitary(tau, a.rows - 1), committed);
        return Index{0};
      },
      [&](const algorithms::Options&, Index committed) {
        if (committed == 0) return on_cpu();
        cpu::finish_orgtr<T>(cpu_lapack<T>(family), a, tau, committed, work);
        say_sizes();
        return Index{0};
      });
}

template <class T>
Index ormtr(Family family, Side side, Op op, HostView<const T> a, const T* tau, HostView<T> c,
            Workspace<T> work, const std::function<Index()>& on_cpu,
            const std::function<void()>& say_sizes) {
  const Index k = a.rows - 1;  // reflectors, of that order: they leave the first line alone
  const HostView<const T> vectors = a.block(1, 0, k, k);
  const bool left = side == Side::left;
  const HostView<T> changed = left ? c.block(1, 0, k, c.cols) : c.block(0, 1, c.rows, k);
  Call call = make_call<T>(is_complex<T> ? Routine::unmtr : Routine::ormtr, a, c);
  call.shape.nrhs = left ? c.cols : c.rows;
  call.uplo = static_cast<char>(Uplo::lower);
  call.trans = static_cast<char>(op);
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        if (is_there(device, tau)) return kNoMemory;
        if (!is_there(device, work.data)) say_sizes();
        algorithms::ormqr<T>(device, options, side, op,
                             {Reflectors::columns, vectors, unitary(tau, k)}, changed, committed);
        return Index{0};
      },
      [&](const algorithms::Options&, Index committed) {
        if (committed == 0) return on_cpu();
        const HostView<T> rest = behind(side, changed, committed);
        if (!rest.empty()) {
          cpu::ormqr<T>(cpu_lapack<T>(family), Reflectors::columns, side, op, vectors, tau, rest,
                        work);
        }
        say_sizes();
        return Index{0};
      });
}

/// Nothing that the CPU needs is written before the device is done, so it does all of the call.
template <class T>
Index stedc(const TridiagonalCall<T>& asked, const std::function<Index()>& on_cpu,
            const std::function<void()>& say_sizes) {
  Call call = make_call<T>(Routine::stedc, asked.z);
  call.shape.nrhs = asked.z.cols;
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        if (is_there(device, asked.d) || is_there(device, asked.e)) return kNoMemory;
        algorithms::stedc(device, options, asked.multiplies, asked.d, asked.e, asked.z, committed);
        if (!is_any_there(device, asked.workspaces)) say_sizes();
        return Index{0};
      },
      [&](const algorithms::Options&, Index) { return on_cpu(); });
}

#define OVERLAPACK_INSTANTIATE(T)                                                                  \
  template Index eigen<T>(std::size_t, const EigenCall<T>&, const std::function<Index()>&);        \
  template Index eigen_driver<T>(std::size_t, const DriverCall<T>&, const std::function<Index()>&, \
                                 const std::function<void()>&);                                    \
  template Index sytrd<T>(Uplo, HostView<T>, Real<T>*, Real<T>*, T*, const T*,                     \
                          const std::function<Index()>&, const std::function<void()>&);            \
  template Index orgtr<T>(Family, HostView<T>, const T*, Workspace<T>,                             \
                          const std::function<Index()>&, const std::function<void()>&);            \
  template Index ormtr<T>(Family, Side, Op, HostView<const T>, const T*, HostView<T>,              \
                          Workspace<T>, const std::function<Index()>&,                             \
                          const std::function<void()>&);                                           \
  template Index stedc<T>(const TridiagonalCall<T>&, const std::function<Index()>&,                \
                          const std::function<void()>&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
