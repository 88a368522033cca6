#include "dispatch/calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <optional>

#include "algorithms/getrf.hpp"
#include "algorithms/potrf.hpp"
#include "algorithms/refine.hpp"
#include "algorithms/solve.hpp"
#include "dispatch/context.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;
using cpu::Pivots;

/// A CPU LAPACK may call our exported names from inside its own drivers; such calls stay on the
/// CPU, on which their caller has already decided.
class Nesting {
 public:
  Nesting() : outer_(depth_++ == 0) {}
  ~Nesting() { --depth_; }
  bool outermost() const { return outer_; }

 private:
  static inline thread_local int depth_ = 0;
  bool outer_;
};

/// What the call log says of a call's arguments.
struct Arguments {
  char type;
  Shape shape;
  const void* matrix;
  Index lda;
  Index ldb = 0;
  char uplo = '-';
  char trans = '-';
  const Index* iter = nullptr;  // mixed precision: how many iterations it took
};

struct Call : Arguments {
  Routine routine;
};

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void write_log(Context& context, const char* name, double flops, const Arguments& call,
               const Plan& plan, const std::string& where, Index info, double ms,
               std::size_t up = 0, std::size_t down = 0) {
  const double gflops = flops / (ms * 1e6);
  const char* const algorithm = !plan.on_device                       ? "-"
                                : plan.algorithm == Algorithm::hybrid ? "hybrid"
                                                                      : "tiled";
  char line[512];
  std::snprintf(line, sizeof line,
                "overlapack %c%s m=%lld n=%lld nrhs=%lld lda=%lld ldb=%lld uplo=%c trans=%c "
                "info=%lld where=%s algorithm=%s nb=%lld ms=%.3f gflops=%.1f up=%zu down=%zu",
                call.type, name, static_cast<long long>(call.shape.m),
                static_cast<long long>(call.shape.n), static_cast<long long>(call.shape.nrhs),
                static_cast<long long>(call.lda), static_cast<long long>(call.ldb), call.uplo,
                call.trans, static_cast<long long>(info), where.c_str(), algorithm,
                static_cast<long long>(plan.on_device ? plan.nb : 0), ms, gflops, up, down);
  const std::string iter =
      call.iter != nullptr ? " iter=" + std::to_string(*call.iter) : std::string();
  context.log(line + iter + " why=\"" + plan.why + "\"");
}

algorithms::Options options_of(const Plan& plan, const Settings& settings) {
  algorithms::Options options;
  options.nb = plan.nb;
  options.hybrid = plan.algorithm == Algorithm::hybrid;
  options.split = plan.split;
  options.threads = copy_threads(settings, available_cores());
  return options;
}

/// Whether the caller's matrix lies in the device's memory. The question costs a call of the
/// driver; it is not put for calls too small to gain anything, nor is a device started for it.
bool lies_on_device(Context& context, const Call& call) {
  constexpr Index kSmallest = 64;
  if (call.shape.n < kSmallest || !context.opened()) return false;
  Device* const device = context.device();
  return device != nullptr && device->kind_of(call.matrix) == MemoryKind::device;
}

/// Runs a call where the plan says. on_device(device, options, committed) may throw DeviceError;
/// resume(options, committed) then finishes the call on the CPU.
template <class OnCpu, class OnDevice, class Resume>
Index route(const Call& call, OnCpu on_cpu, OnDevice on_device, Resume resume) {
  const Nesting nesting;
  if (!nesting.outermost()) return on_cpu();
  Context& context = Context::instance();
  const Settings& settings = context.settings();

  const bool large = wants_device(call.routine, call.type, call.shape, settings, context.profile());
  if (large && !context.opened() && cuda_in_process()) context.device();
  bool resident = false;
  try {
    resident = lies_on_device(context, call);
  } catch (const DeviceError&) {  // it lies on another device; the CPU cannot read it, either
    return kNoMemory;
  }
  if (!large && !resident && !settings.verbose) return on_cpu();  // what small calls pay

  const bool waits = large && !context.opened() &&
                     !worth_starting(call.routine, call.type, call.shape, settings,
                                     context.seconds_before_start(), available_cores());
  Device* const device = (large || resident) && !waits ? context.device() : nullptr;
  Plan plan = dispatch::plan(call.routine, call.type, call.shape, settings, context.profile(),
                             device != nullptr ? device->memory() : 0, resident);
  if (waits) {
    plan.why = "starting the device takes longer than the calls it would have served so far";
  } else if (large && device == nullptr) {
    plan.why += ": " + context.device_status();
  }
  const auto log = [&](const auto&... rest) {
    write_log(context, name_of(call.routine), flops_of(call.routine, call.type, call.shape), call,
              rest...);
  };
  const Stopwatch watch;
  if (!plan.on_device) {
    const Index info = resident ? kNoMemory : on_cpu();
    if (waits) context.add_seconds_before_start(watch.milliseconds() / 1000);
    if (settings.verbose) {
      log(plan, "cpu", info, watch.milliseconds(), 0, 0);
    }
    return info;
  }

  std::lock_guard<std::mutex> lock(context.device_mutex());
  const std::size_t up = device->counters().bytes_to_device;
  const std::size_t down = device->counters().bytes_to_host;
  const algorithms::Options options = options_of(plan, settings);
  Index committed = 0, info = 0;
  std::string where = device->name();
  const auto finish_on_cpu = [&](const std::string& reason) {
    info = resident ? kNoMemory : resume(options, committed);
    if (!resident) where += "+cpu";
    plan.why += (resident ? "; failed: " : "; finished by the CPU: ") + reason;
  };
  try {
    info = on_device(*device, options, committed);
  } catch (const DeviceError& error) {
    finish_on_cpu(error.what());
    if (error.lost()) context.lose_device(error.what());
  } catch (const std::bad_alloc&) {
    finish_on_cpu("out of host memory");
  }
  if (settings.verbose) {
    log(plan, where, info, watch.milliseconds(), device->counters().bytes_to_device - up,
        device->counters().bytes_to_host - down);
  }
  return info;
}

template <class T>
Call make_call(Routine routine, HostView<const T> a, std::optional<HostView<const T>> b = {}) {
  Call call{{ScalarTraits<T>::letter, {a.rows, a.cols, b ? b->cols : 0}, a.data, a.ld}, routine};
  if (b) call.ldb = b->ld;
  return call;
}

/// potrf and, if B has columns, posv.
template <class T, class OnCpu>
Index cholesky(Call call, const Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<T> b,
               OnCpu on_cpu) {
  call.uplo = static_cast<char>(uplo);
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        return algorithms::posv(device, cpu, options, uplo, a, b, committed);
      },
      [&](const algorithms::Options& options, Index committed) {
        return algorithms::resume_posv(cpu, options.nb, uplo, a, b, committed);
      });
}

/// Hands interchanges to the caller, and passes info on.
Index store(Index info, const std::vector<Index>& pivots, Pivots ipiv) {
  for (std::size_t i = 0; i < pivots.size(); ++i) ipiv.set(static_cast<Index>(i), pivots[i]);
  return info;
}

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
        return store(algorithms::resume_gesv(cpu, a, interchanges, b, committed),
                     interchanges.pivots, ipiv);
      });
}

/// A mixed-precision solve. solve(device, options, refined) is one of algorithms/refine.hpp;
/// resume(options, committed) finishes its factorization in double precision on the CPU. Before
/// that, A is as it was, and the CPU does the whole call.
template <class OnCpu, class Solve, class Resume>
Index refine(Call call, Index& iter, OnCpu on_cpu, Solve solve, Resume resume) {
  call.iter = &iter;
  algorithms::Refinement refinement;
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        const Index info = solve(device, options, refinement, committed);
        iter = refinement.iter;
        return info;
      },
      [&](const algorithms::Options& options, Index committed) {
        if (!refinement.fell_back) return on_cpu();
        iter = refinement.iter;
        return resume(options, committed);
      });
}

/// Runs an update by k vectors and logs it; compute() returns its info.
template <class T, class Compute>
Index log_update(const char* name, Uplo uplo, HostView<T> a, Index k, Compute compute) {
  Context& context = Context::instance();
  if (!context.settings().verbose) return compute();
  Arguments call{ScalarTraits<T>::letter, {a.rows, a.cols, k}, a.data, a.ld};
  call.uplo = static_cast<char>(uplo);
  Plan plan;
  plan.why = "updates are computed on the CPU";
  const auto n = static_cast<double>(a.rows);
  // An update adds k products to each of n^2 / 2 elements, at twice the operations of forming V
  // V^H.
  const double flops = (is_complex<T> ? 8 : 2) * n * n * static_cast<double>(k);
  const Stopwatch watch;
  const Index info = compute();
  write_log(context, name, flops, call, plan, "cpu", info, watch.milliseconds());
  return info;
}

/// Threads of an update of that order. More than a few gain nothing where memory is the limit, and
/// in small ones it takes longer to wake them up (or even to ask how many there could be).
Index update_threads(Index n) {
  constexpr Index kSmall = 256, kEnough = 8;
  const Settings& settings = Context::instance().settings();
  if (n < kSmall) return 1;
  return settings.threads > 0 ? settings.threads : std::min(kEnough, available_cores());
}

}  // namespace

template <class T>
const Lapack<T>& cpu_lapack(Family family) {
  Context::instance();
  return cpu::lapack<T>(family);
}

template <class T>
Index potrf(Family family, Uplo uplo, HostView<T> a) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return cholesky<T>(make_call<T>(Routine::potrf, a), cpu, uplo, a, {},
                     [&] { return cpu.potrf(uplo, a); });
}

template <class T>
Index posv(Family family, Uplo uplo, HostView<T> a, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return cholesky<T>(make_call<T>(Routine::posv, a, b), cpu, uplo, a, b,
                     [&] { return cpu.posv(uplo, a, b); });
}

template <class T>
Index potrs(Family family, Uplo uplo, HostView<const T> a, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::potrs, a, b);
  call.uplo = static_cast<char>(uplo);
  return route(
      call, [&] { return cpu.potrs(uplo, a, b); },
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        algorithms::potrs(device, options, uplo, a, b, committed);
        return Index{0};
      },
      [&](const algorithms::Options&, Index committed) {
        return cpu.potrs(uplo, a, b.block(0, committed, b.rows, b.cols - committed));
      });
}

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

template <class T>
Index getrs(Family family, Op op, HostView<const T> a, Pivots ipiv, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::getrs, a, b);
  call.trans = static_cast<char>(op);
  return route(
      call, [&] { return cpu.getrs(op, a, ipiv, b); },
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        std::vector<Index> pivots(static_cast<std::size_t>(a.rows));
        for (Index i = 0; i < a.rows; ++i) {
          const Index pivot = ipiv.get(i);
          // The device must not follow a wild index; what the CPU LAPACK does with one is its own.
          if (pivot < 1 || pivot > a.rows) throw DeviceError("ipiv holds no valid interchanges");
          pivots[static_cast<std::size_t>(i)] = pivot;
        }
        algorithms::getrs(device, options, op, a, pivots, b, committed);
        return Index{0};
      },
      [&](const algorithms::Options&, Index committed) {
        return cpu.getrs(op, a, ipiv, b.block(0, committed, b.rows, b.cols - committed));
      });
}

template <class T>
Index mixed_gesv(Family family, HostView<T> a, Pivots ipiv, HostView<const T> b, HostView<T> x,
                 cpu::MixedWork<T> work, Index& iter) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const Lapack<Single<T>>& single = cpu_lapack<Single<T>>(family);
  constexpr Routine routine = is_complex<T> ? Routine::cgesv : Routine::sgesv;
  algorithms::Interchanges interchanges;
  return refine(
      make_call<T>(routine, a, b), iter, [&] { return cpu.mixed_gesv(a, ipiv, b, x, work, iter); },
      [&](Device& device, const algorithms::Options& options, algorithms::Refinement& refinement,
          Index& committed) {
        return store(algorithms::mixed_gesv(device, cpu, single, options, a, interchanges, b, x,
                                            refinement, committed),
                     interchanges.pivots, ipiv);
      },
      [&](const algorithms::Options&, Index committed) {
        return store(algorithms::resume_gesv(cpu, a, interchanges, x, committed),
                     interchanges.pivots, ipiv);
      });
}

template <class T>
Index mixed_posv(Family family, Uplo uplo, HostView<T> a, HostView<const T> b, HostView<T> x,
                 cpu::MixedWork<T> work, Index& iter) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const Lapack<Single<T>>& single = cpu_lapack<Single<T>>(family);
  Call call = make_call<T>(is_complex<T> ? Routine::cposv : Routine::sposv, a, b);
  call.uplo = static_cast<char>(uplo);
  return refine(
      call, iter, [&] { return cpu.mixed_posv(uplo, a, b, x, work, iter); },
      [&](Device& device, const algorithms::Options& options, algorithms::Refinement& refinement,
          Index& committed) {
        return algorithms::mixed_posv(device, cpu, single, options, uplo, a, b, x, refinement,
                                      committed);
      },
      [&](const algorithms::Options& options, Index committed) {
        return algorithms::resume_posv(cpu, options.nb, uplo, a, x, committed);
      });
}

template <class T>
Index chol_update(const char* name, Uplo uplo, HostView<T> a, HostView<const T> v,
                  algorithms::Signs signs) {
  return log_update<T>(name, uplo, a, v.cols, [&] {
    try {
      return algorithms::chol_update(cpu_lapack<T>(Family::lp64), uplo, a, v, signs,
                                     update_threads(a.rows));
    } catch (const std::exception&) {  // bad_alloc, or length_error for a size beyond all memory
      return kNoMemory;
    }
  });
}

template <class T>
bool all_finite(Part part, HostView<const T> a) {
  return algorithms::all_finite(part, a, update_threads(a.rows));
}

template <class T>
void update_one(const char* name, HostView<T> r, T* x, Real<T>* c) {
  log_update<T>(name, Uplo::upper, r, 1, [&] {
    algorithms::update_one(Uplo::upper, r, x, c, update_threads(r.rows));
    return Index{0};
  });
}

template <class T>
algorithms::Downdate downdate_one(const char* name, HostView<T> r, T* x, Real<T>* c) {
  algorithms::Downdate result{};
  log_update<T>(name, Uplo::upper, r, 1, [&] {
    result = algorithms::downdate_one(Uplo::upper, r, x, c, update_threads(r.rows));
    return static_cast<Index>(result);
  });
  return result;
}

#define OVERLAPACK_INSTANTIATE(T)                                                  \
  template const Lapack<T>& cpu_lapack<T>(Family);                                 \
  template Index potrf<T>(Family, Uplo, HostView<T>);                              \
  template Index potrs<T>(Family, Uplo, HostView<const T>, HostView<T>);           \
  template Index posv<T>(Family, Uplo, HostView<T>, HostView<T>);                  \
  template Index getrf<T>(Family, HostView<T>, Pivots);                            \
  template Index getrs<T>(Family, Op, HostView<const T>, Pivots, HostView<T>);     \
  template Index gesv<T>(Family, HostView<T>, Pivots, HostView<T>);                \
  template Index chol_update<T>(const char*, Uplo, HostView<T>, HostView<const T>, \
                                algorithms::Signs);                                \
  template bool all_finite<T>(Part, HostView<const T>);                            \
  template void update_one<T>(const char*, HostView<T>, T*, Real<T>*);             \
  template algorithms::Downdate downdate_one<T>(const char*, HostView<T>, T*, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T)                                                           \
  template Index mixed_gesv<T>(Family, HostView<T>, Pivots, HostView<const T>, HostView<T>, \
                               cpu::MixedWork<T>, Index&);                                  \
  template Index mixed_posv<T>(Family, Uplo, HostView<T>, HostView<const T>, HostView<T>,   \
                               cpu::MixedWork<T>, Index&);
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
