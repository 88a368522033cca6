#include "dispatch/calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iomanip>
#include <limits>
#include <locale>
#include <new>
#include <sstream>

#include "algorithms/chol_update_device.hpp"
#include "algorithms/getrf.hpp"
#include "algorithms/norm.hpp"
#include "algorithms/potrf.hpp"
#include "algorithms/refine.hpp"
#include "algorithms/solve.hpp"
#include "core/once.hpp"
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

/// What decides where a call goes, and what the call log says of it.
struct Call {
  Routine routine;
  char type;
  Shape shape;
  const char* name;
  Index lda;
  Index ldb = 0;
  std::array<const void*, 3> operands = {};  // the matrix; right-hand sides, solution: if any
  char uplo = '-';
  char trans = '-';
  const Index* iter = nullptr;  // mixed precision: how many iterations it took
  const algorithms::Refinement* refinement = nullptr;  // likewise, if the device has done it
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

/// As many decimals, after a point whatever the program's locale has.
std::string fixed(double x, int decimals) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(decimals) << x;
  return out.str();
}

void write_log(Context& context, const Call& call, double flops, const Plan& plan,
               const std::string& where, Index info, double ms, std::size_t up = 0,
               std::size_t down = 0) {
  const double gflops = flops / (ms * 1e6);
  const char* const algorithm = !plan.on_device                       ? "-"
                                : plan.algorithm == Algorithm::hybrid ? "hybrid"
                                                                      : "tiled";
  char line[512];
  std::snprintf(line, sizeof line,
                "overlapack %c%s m=%lld n=%lld nrhs=%lld lda=%lld ldb=%lld uplo=%c trans=%c "
                "info=%lld where=%s algorithm=%s nb=%lld ms=%s gflops=%s up=%zu down=%zu",
                call.type, call.name, static_cast<long long>(call.shape.m),
                static_cast<long long>(call.shape.n), static_cast<long long>(call.shape.nrhs),
                static_cast<long long>(call.lda), static_cast<long long>(call.ldb), call.uplo,
                call.trans, static_cast<long long>(info), where.c_str(), algorithm,
                static_cast<long long>(plan.on_device ? plan.nb : 0), fixed(ms, 3).c_str(),
                fixed(gflops, 3).c_str(), up, down);
  std::string mixed;
  if (call.iter != nullptr) mixed += " iter=" + std::to_string(*call.iter);
  if (plan.on_device && call.refinement != nullptr) {
    mixed += " precision=";
    mixed += call.refinement->fell_back ? "fp64" : name_of(call.refinement->precision);
  }
  context.log(line + mixed + " why=\"" + plan.why + "\"");
}

algorithms::Options options_of(const Plan& plan, const Settings& settings) {
  algorithms::Options options;
  options.nb = plan.nb;
  options.hybrid = plan.algorithm == Algorithm::hybrid;
  options.split = plan.split;
  options.precision = plan.precision;
  options.threads = copy_threads(settings, available_cores());
  options.memory = plan.memory;
  return options;
}

/// Whether there is CUDA in the process, where the device is lost or could not be opened. That is
/// asked for only once, because it takes some system calls where there is none: to open the device,
/// the plug-in has loaded the driver if the machine has one.
bool cuda_without_device() {
  enum Answer { unknown, no, yes };
  static std::atomic<Answer> answer{unknown};
  if (answer == unknown) answer = cuda_in_process() ? yes : no;
  return answer == yes;
}

/// The device if a matrix of the caller lies in its memory, or else null; the device is opened if
/// it is not yet. Throws DeviceError if the matrix lies on a device that cannot be used.
Device* device_holding(Context& context, const void* matrix) {
  Device* const device = context.device();
  if (device != nullptr) return device->kind_of(matrix) == MemoryKind::device ? device : nullptr;
  // Not in a child, which must not look for libraries that its parent may have been loading.
  if (!context.forked() && cuda_without_device() && is_cuda_memory(matrix)) {
    throw DeviceError("the matrix lies on a device that is not in use");
  }
  return nullptr;
}

/// Whether a matrix of a call of order n may lie on the device. The question where it lies costs a
/// call of the driver. It is not put for calls too small to gain anything; nor is a device started
/// for it.
bool may_lie_on_device(const Context& context, Index n) {
  return n >= kSmallestResident && context.opened();
}

/// device_holding() for a call of order n.
Device* device_of_call(Context& context, Index n, const void* matrix) {
  return may_lie_on_device(context, n) ? device_holding(context, matrix) : nullptr;
}

/// Whether an operand of a call lies on the device: the CPU cannot serve it then.
bool is_resident(Context& context, const Call& call) {
  return std::any_of(call.operands.begin(), call.operands.end(), [&](const void* operand) {
    return operand != nullptr && device_of_call(context, call.shape.n, operand) != nullptr;
  });
}

/// Elements from which on looking for the program's own CUDA does not count.
constexpr Index kLargeMatrix = 1 << 20;

/// The same for routines without `info`, which could not say that they were given a matrix that
/// they cannot read: of any size once a device is started, and large ones before.
template <class T>
Device* device_of_norm(Context& context, HostView<const T> a) {
  if (!context.opened() && a.rows * a.cols < kLargeMatrix) return nullptr;
  const NoCancellation no_cancellation;  // locks would be left behind
  if (!context.opened() && !is_cuda_memory(a.data)) return nullptr;
  return device_holding(context, a.data);
}

bool is_large(const Context& context, const Call& call) {
  return wants_device(call.routine, call.type, call.shape, context.settings(), context.profile());
}

/// Whether a call is a reason to look for the program's own CUDA, where no device is started yet.
bool looks_for_cuda(const Context& context, const Call& call, bool large) {
  return !context.opened() && (large || call.shape.m * call.shape.n >= kLargeMatrix);
}

/// In a process that uses CUDA itself a call large enough for the device starts it at once, which
/// costs little there; and a smaller one does with operands that the CPU cannot read.
void open_beside_cuda(Context& context, const Call& call, bool large) {
  if (!looks_for_cuda(context, call, large) || context.forked() || !cuda_in_process()) return;
  if (large || std::any_of(call.operands.begin(), call.operands.end(), is_cuda_memory)) {
    context.device();
  }
}

/// What is to be done with a call, decided before anything is done.
struct Decision {
  bool large = false;        ///< enough for the device
  bool resident = false;     ///< an operand lies on the device
  bool waits = false;        ///< large, but the device is not worth starting yet
  Device* device = nullptr;  ///< for a large or resident call
  Plan plan;
  std::string where = "cpu";
};

/// `decision` says already whether the call is large. Where this throws bad_alloc, for one of the
/// texts, what `decision` has until then is right.
void decide(Context& context, const Call& call, Decision& decision) {
  const Settings& settings = context.settings();
  auto& [large, resident, waits, device, plan, where] = decision;
  open_beside_cuda(context, call, large);
  resident = is_resident(context, call);
  if (!large && !resident && !settings.verbose) return;

  waits = large && !context.opened() &&
          !worth_starting(call.routine, call.type, call.shape, settings,
                          context.seconds_before_start(), available_cores());
  device = (large || resident) && !waits ? context.device() : nullptr;
  plan = dispatch::plan(call.routine, call.type, call.shape, settings, context.profile(),
                        device != nullptr ? device->memory() : 0, resident);
  if (waits) {
    plan.why = "starting the device takes longer than the calls it would have served so far";
  } else if (large && device == nullptr) {
    plan.why += ": " + context.device_status();
  }
  if (plan.on_device) where = device->name();
}

/// Runs a call where it is decided. on_device(device, options, committed) may throw DeviceError or
/// bad_alloc; resume(options, committed) then finishes the call on the CPU.
template <class OnCpu, class OnDevice, class Resume>
Index route(const Call& call, OnCpu on_cpu, OnDevice on_device, Resume resume) {
  const Nesting nesting;
  if (!nesting.outermost()) return on_cpu();
  Context& context = Context::instance();
  const Settings& settings = context.settings();
  const bool large = is_large(context, call);
  if (!large && !settings.verbose && !may_lie_on_device(context, call.shape.n) &&
      !looks_for_cuda(context, call, large)) {
    return on_cpu();  // all that small calls pay
  }

  const NoCancellation no_cancellation;  // locks and threads would be left behind
  Decision decision;
  decision.large = large;
  try {
    decide(context, call, decision);
  } catch (const DeviceError&) {  // the CPU cannot read the operands, either
    return kNoMemory;
  } catch (const std::bad_alloc&) {  // the CPU may do with less
    decision.plan.on_device = false;
  }
  const bool resident = decision.resident;
  Plan& plan = decision.plan;
  std::string& where = decision.where;
  const Stopwatch watch;
  const auto log = [&](Index info, std::size_t up, std::size_t down) {
    if (!settings.verbose) return;
    try {
      write_log(context, call, flops_of(call.routine, call.type, call.shape), plan, where, info,
                watch.milliseconds(), up, down);
    } catch (const std::bad_alloc&) {  // the call has been done all the same
    }
  };
  if (!plan.on_device) {
    if (resident) where = "none";
    const Index info = resident ? kNoMemory : on_cpu();
    if (decision.waits) context.add_seconds_before_start(watch.milliseconds() / 1000);
    log(info, 0, 0);
    return info;
  }

  Device& device = *decision.device;
  std::lock_guard<std::mutex> lock(context.device_mutex());
  device.set_memory_limit(settings.memory_limit);
  const std::size_t up = device.counters().bytes_to_device;
  const std::size_t down = device.counters().bytes_to_host;
  const algorithms::Options options = options_of(plan, settings);
  Index committed = 0, info = 0;
  const auto finish_on_cpu = [&](const char* reason) {
    info = kNoMemory;
    try {
      if (!resident) info = resume(options, committed);
      plan.why += resident ? "; failed: " : "; finished by the CPU: ";
      plan.why += reason;
      if (!resident) where += "+cpu";
    } catch (const std::bad_alloc&) {  // info says so, if it is not only for the texts
    }
  };
  try {
    const std::shared_ptr<void> current = device.make_current();
    info = on_device(device, options, committed);
  } catch (const DeviceError& error) {
    finish_on_cpu(error.what());
    if (error.lost()) context.lose_device(error.what());
  } catch (const std::bad_alloc&) {
    finish_on_cpu("out of host memory");
  }
  log(info, device.counters().bytes_to_device - up, device.counters().bytes_to_host - down);
  return info;
}

/// A call with matrix `a` and, if it has columns, right-hand sides `b`; `x`, if not `b`, is for the
/// solution.
template <class T>
Call make_call(Routine routine, HostView<const T> a, HostView<const T> b = {},
               HostView<const T> x = {}) {
  const Shape shape{a.rows, a.cols, b.cols};
  Call call{routine, ScalarTraits<T>::letter, shape, name_of(routine), a.ld, b.ld};
  call.operands = {a.data, b.empty() ? nullptr : b.data, x.empty() ? nullptr : x.data};
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
        if (committed == 0) return on_cpu();  // which takes no memory of ours
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
        if (committed == 0) return on_cpu();  // there may have been no memory for interchanges
        return store(algorithms::resume_gesv(cpu, a, interchanges, b, committed),
                     interchanges.pivots, ipiv);
      });
}

/// A mixed-precision solve by the CPU LAPACK, refine(), and solve() in double precision with X in
/// the place of B. LAPACK's stopping test lets a NaN or infinity pass that the factors in single
/// precision have brought about, and OpenBLAS's Cholesky a NaN in A (of which a triangle is given).
template <class T, class Refine, class Solve>
Index refine_on_cpu(Part part, HostView<const T> a, HostView<const T> b, HostView<T> x, Index& iter,
                    Refine refine, Solve solve) {
  const auto finite = [](Part of, HostView<const T> m) { return algorithms::all_finite(of, m, 1); };
  const Index info = refine();
  if (info != 0 || iter < 0) return info;
  if (b.cols > 0 ? finite(Part::all, x) : finite(part, a)) return info;
  if (!finite(Part::all, b) || (part == Part::all && !finite(part, a))) return info;
  for (Index j = 0; j < b.cols; ++j) std::copy_n(&b(0, j), b.rows, &x(0, j));
  const Index in_double = solve();
  iter = in_double == 0 ? algorithms::kNoConvergence : algorithms::kNotFactored;
  return in_double;
}

/// A mixed-precision solve. solve(device, options, refined) is one of algorithms/refine.hpp;
/// resume(options, committed) finishes its factorization in double precision on the CPU. As long as
/// nothing of that is committed A is as it was, and the CPU does the whole call.
template <class OnCpu, class Solve, class Resume>
Index refine(Call call, Index& iter, OnCpu on_cpu, Solve solve, Resume resume) {
  algorithms::Refinement refinement;
  call.iter = &iter;
  call.refinement = &refinement;
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        const Index info = solve(device, options, refinement, committed);
        iter = refinement.iter;
        return info;
      },
      [&](const algorithms::Options& options, Index committed) {
        if (!refinement.fell_back || committed == 0) {
          call.refinement = nullptr;
          return on_cpu();
        }
        iter = refinement.iter;
        return resume(options, committed);
      });
}

/// An update of a factor by k vectors, which do not lie on the device.
template <class T>
Call update_call(const char* name, Uplo uplo, HostView<const T> a, Index k) {
  Call call = make_call<T>(Routine::cholupdate, a);
  call.shape.nrhs = k;
  call.uplo = static_cast<char>(uplo);
  call.name = name;
  return call;
}

/// A copy of a matrix in the memory of a device, without padding. A few columns at a time, because
/// staging memory is dear.
template <class T>
std::vector<T> copy_of(Device& device, DeviceView<const T> x) {
  constexpr Index kElements = Index{1} << 20;
  const Index width = std::clamp<Index>(kElements / x.rows, 1, x.cols);
  std::vector<T> copy;
  copy.reserve(static_cast<std::size_t>(x.rows * x.cols));
  const Buffer<T> staging(device, Space::host, x.rows * width);
  const QueueLease queue(device);
  for (Index j = 0; j < x.cols; j += width) {
    const Index columns = std::min(width, x.cols - j);
    queue->template copy<T>(HostView<T>(staging.data(), x.rows, columns, x.rows),
                            x.block(0, j, x.rows, columns));
    queue->synchronize();
    copy.insert(copy.end(), staging.data(), staging.data() + x.rows * columns);
  }
  return copy;
}

/// As algorithms::all_finite, of a matrix wherever it lies.
template <class T>
bool all_finite(Part part, HostView<const T> a) {
  Context& context = Context::instance();
  Device* const device = device_of_call(context, a.rows, a.data);
  if (device == nullptr) return algorithms::all_finite(part, a, update_threads(a.rows));
  const std::lock_guard<std::mutex> lock(context.device_mutex());
  return algorithms::all_finite_on_device(*device, part, a);
}

/// A copy of a matrix of the caller that lies on the device; nothing if it does not.
template <class T>
std::vector<T> fetch(HostView<const T> x) {
  Context& context = Context::instance();
  if (x.cols == 0) return {};
  Device* const device = device_of_call(context, x.rows, x.data);
  if (device == nullptr) return {};
  const std::lock_guard<std::mutex> lock(context.device_mutex());
  return copy_of(*device, on_device(x));
}

/// The device takes the diagonal of a factor to be real. Those of qrupdate need not be.
template <class T>
void require_real(const std::vector<T>& diagonal) {
  const auto is_real = [](T x) { return x == T(real(x)); };
  if (!std::all_of(diagonal.begin(), diagonal.end(), is_real)) {
    throw DeviceError("the diagonal of the factor is not real");
  }
}

/// An update or downdate of an upper factor by one row x, on the device. x and c become the
/// rotations, once the call has succeeded.
template <class T>
class OneVector {
 public:
  OneVector(HostView<T> r, T* x, Real<T>* c) : r_(r), x_(x), c_(c) {}

  Index run(Device& device, const algorithms::Options& options, int sign) {
    const Index n = r_.rows;
    vector_.resize(static_cast<std::size_t>(n));
    std::transform(x_, x_ + n, vector_.begin(), [](T e) { return conj(e); });
    sines_.resize(vector_.size());
    cosines_.resize(vector_.size());
    const algorithms::Update<T> update{Uplo::upper,
                                       r_,
                                       HostView<const T>(vector_.data(), n),
                                       algorithms::Signs(&sign, false),
                                       {cosines_.data(), sines_.data()}};
    const Index info = algorithms::chol_update_on_device(device, options, update, checkpoint_);
    if (info == 0) store(n);
    return info;
  }
  /// How many rows of R are final.
  Index done() const { return checkpoint_.columns; }
  /// The first rotations.
  void store(Index count) const {
    std::copy_n(cosines_.data(), count, c_);
    std::copy_n(sines_.data(), count, x_);
  }
  HostView<T> rest_of_factor() const {
    const Index rest = r_.rows - done();
    return r_.block(done(), done(), rest, rest);
  }
  /// What is left of the vector.
  HostView<T> rest_of_vector() const { return checkpoint_.v; }

 private:
  HostView<T> r_;
  T* x_;
  Real<T>* c_;
  std::vector<T> vector_, sines_;
  std::vector<Real<T>> cosines_;
  algorithms::UpdateCheckpoint<T> checkpoint_;
};

}  // namespace

Index update_threads(Index n) {
  // More than these gain nothing where memory is the limit, and in small ones it takes longer to
  // wake them up (or even to ask how many there could be).
  constexpr Index kSmall = 256, kEnough = 16;
  const Settings& settings = Context::instance().settings();
  if (n < kSmall) return 1;
  return settings.threads > 0 ? settings.threads : std::min(kEnough, available_cores());
}

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

namespace {

/// A norm of a matrix on the device, computed there or, if that fails, by the CPU from a copy.
template <class T>
Real<T> norm_on_device(Context& context, Device& device, const Lapack<T>& cpu, Norm norm,
                       Symmetry symmetry, Uplo uplo, HostView<const T> a, bool& on_cpu) {
  const std::lock_guard<std::mutex> lock(context.device_mutex());
  device.set_memory_limit(context.settings().memory_limit);
  try {
    try {
      return algorithms::norm<T>(device, norm, symmetry, uplo, on_device(a));
    } catch (const DeviceError& error) {
      if (error.lost()) context.lose_device(error.what());
    } catch (const std::bad_alloc&) {  // a copy of a small matrix may need less
    }
    on_cpu = true;
    const std::vector<T> copy = copy_of(device, on_device(a));
    std::vector<Real<T>> work(static_cast<std::size_t>(a.rows));
    return cpu.norm(norm, symmetry, uplo, {copy.data(), a.rows, a.cols, a.rows}, work.data());
  } catch (const std::exception&) {  // DeviceError or bad_alloc: nobody can read the matrix
    return std::numeric_limits<Real<T>>::quiet_NaN();
  }
}

template <class T>
void log_norm(Context& context, const Device& device, Norm norm, Symmetry symmetry, Uplo uplo,
              HostView<const T> a, bool on_cpu, double ms) {
  Call call = make_call<T>({}, a);
  call.name = symmetry == Symmetry::none        ? "lange"
              : symmetry == Symmetry::symmetric ? "lansy"
                                                : "lanhe";
  if (symmetry != Symmetry::none) call.uplo = static_cast<char>(uplo);
  call.trans = static_cast<char>(norm);
  Plan plan;
  plan.why = "the matrix lies on the device";
  const double flops = 2.0 * static_cast<double>(a.rows) * static_cast<double>(a.cols);
  write_log(context, call, flops, plan, device.name() + (on_cpu ? "+cpu" : ""), 0, ms);
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
    if (nesting.outermost()) device = device_of_norm(context, a);
  } catch (const std::exception&) {  // it lies on a device that cannot be used; the CPU cannot read
    return std::numeric_limits<Real<T>>::quiet_NaN();
  }
  if (device == nullptr) return cpu.norm(norm, symmetry, uplo, a, work);

  const NoCancellation no_cancellation;
  const Stopwatch watch;
  bool on_cpu = false;
  const Real<T> result = norm_on_device(context, *device, cpu, norm, symmetry, uplo, a, on_cpu);
  try {
    if (context.settings().verbose) {
      log_norm(context, *device, norm, symmetry, uplo, a, on_cpu, watch.milliseconds());
    }
  } catch (const std::bad_alloc&) {  // the norm is known all the same
  }
  return result;
}

template <class T>
Index mixed_gesv(Family family, HostView<T> a, Pivots ipiv, HostView<const T> b, HostView<T> x,
                 cpu::MixedWork<T> work, Index& iter) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const Lapack<Single<T>>& single = cpu_lapack<Single<T>>(family);
  constexpr Routine routine = is_complex<T> ? Routine::cgesv : Routine::sgesv;
  algorithms::Interchanges interchanges;
  return refine(
      make_call<T>(routine, a, b, x), iter,
      [&] {
        return refine_on_cpu<T>(
            Part::all, a, b, x, iter, [&] { return cpu.mixed_gesv(a, ipiv, b, x, work, iter); },
            [&] { return cpu.gesv(a, ipiv, x); });
      },
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
  Call call = make_call<T>(is_complex<T> ? Routine::cposv : Routine::sposv, a, b, x);
  call.uplo = static_cast<char>(uplo);
  return refine(
      call, iter,
      [&] {
        return refine_on_cpu<T>(
            part_of(uplo), a, b, x, iter, [&] { return cpu.mixed_posv(uplo, a, b, x, work, iter); },
            [&] { return cpu.posv(uplo, a, x); });
      },
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
  const NoCancellation no_cancellation;  // the CPU, too, uses threads of ours
  const Index n = a.rows, k = v.cols;
  const Lapack<T>& cpu = cpu_lapack<T>(Family::lp64);
  algorithms::UpdateCheckpoint<T> checkpoint;
  const auto on_cpu = [&] {
    return algorithms::chol_update(cpu, uplo, a, v, signs, update_threads(n));
  };
  Context& context = Context::instance();
  Call call = update_call<T>(name, uplo, a, k);
  try {
    call.operands[1] = v.data;
    open_beside_cuda(context, call, is_large(context, call));
    if (!all_finite<T>(Part::all, v)) {
      return all_finite<T>(part_of(uplo), a) ? kVectorsNotFinite : algorithms::kFactorNotFinite;
    }
    // If the CPU is to finish the call, V must not be on the device.
    std::vector<T> copy;
    if (device_of_call(context, n, a.data) == nullptr) copy = fetch(v);
    if (!copy.empty()) v = {copy.data(), n, k, n};
    call.operands[1] = v.data;
    return route(
        call, on_cpu,
        [&](Device& device, const algorithms::Options& options, Index&) {
          return algorithms::chol_update_on_device<T>(device, options, {uplo, a, v, signs},
                                                      checkpoint);
        },
        [&](const algorithms::Options&, Index) {
          const Index done = checkpoint.columns;
          if (done == 0) return on_cpu();
          Index updates = 0;
          for (Index j = 0; j < k; ++j) updates += signs[j] > 0;
          if (done < n) {
            algorithms::finish_chol_update<T>(uplo, a.block(done, done, n - done, n - done),
                                              checkpoint.v, updates, update_threads(n));
          }
          return Index{0};
        });
  } catch (const std::exception&) {  // DeviceError; bad_alloc; length_error for a size beyond all
    return kNoMemory;
  }
}

template <class T>
void update_one(const char* name, HostView<T> r, T* x, Real<T>* c) {
  const NoCancellation no_cancellation;  // the CPU, too, uses threads of ours
  const Index n = r.rows, threads = update_threads(n);
  if (n == 0) return;
  OneVector<T> vector(r, x, c);
  const auto on_cpu = [&] {
    algorithms::update_one(r, x, c, threads);
    return Index{0};
  };
  route(
      update_call<T>(name, Uplo::upper, r, 1), on_cpu,
      [&](Device& device, const algorithms::Options& options, Index&) {
        require_real(algorithms::diagonal<T>(device, r));
        return vector.run(device, options, 1);
      },
      [&](const algorithms::Options&, Index) {
        const Index done = vector.done();
        if (done == 0) return on_cpu();
        vector.store(done);
        const HostView<T> left = vector.rest_of_vector();
        for (Index i = done; i < n; ++i) x[i] = conj(left(i - done, 0));
        algorithms::update_one(vector.rest_of_factor(), x + done, c + done, threads);
        return Index{0};
      });
}

template <class T>
algorithms::Downdate downdate_one(const char* name, HostView<T> r, T* x, Real<T>* c) {
  const NoCancellation no_cancellation;  // the CPU, too, uses threads of ours
  using algorithms::Downdate;
  const Index n = r.rows, threads = update_threads(n);
  if (n == 0) return Downdate::done;
  OneVector<T> vector(r, x, c);
  const auto on_cpu = [&] {
    return static_cast<Index>(algorithms::downdate_one(r, x, c, threads));
  };
  const Index result = route(
      update_call<T>(name, Uplo::upper, r, 1), on_cpu,
      [&](Device& device, const algorithms::Options& options, Index&) {
        const std::vector<T> pivots = algorithms::diagonal<T>(device, r);
        require_real(pivots);
        if (std::find(pivots.begin(), pivots.end(), T(0)) != pivots.end()) {
          return static_cast<Index>(Downdate::singular);
        }
        const bool possible = vector.run(device, options, -1) == 0;
        return static_cast<Index>(possible ? Downdate::done : Downdate::not_definite);
      },
      [&](const algorithms::Options&, Index) {
        if (vector.done() == 0) return on_cpu();
        vector.store(n);
        if (vector.done() < n) {
          algorithms::finish_chol_update<T>(Uplo::upper, vector.rest_of_factor(),
                                            vector.rest_of_vector(), 0, threads);
        }
        return static_cast<Index>(Downdate::done);
      });
  // Negative: a factor in the memory of a device that has failed.
  return result < 0 ? Downdate::not_definite : static_cast<Downdate>(result);
}

#define OVERLAPACK_INSTANTIATE(T)                                                      \
  template const Lapack<T>& cpu_lapack<T>(Family);                                     \
  template Index potrf<T>(Family, Uplo, HostView<T>);                                  \
  template Index potrs<T>(Family, Uplo, HostView<const T>, HostView<T>);               \
  template Index posv<T>(Family, Uplo, HostView<T>, HostView<T>);                      \
  template Index getrf<T>(Family, HostView<T>, Pivots);                                \
  template Index getrs<T>(Family, Op, HostView<const T>, Pivots, HostView<T>);         \
  template Index gesv<T>(Family, HostView<T>, Pivots, HostView<T>);                    \
  template Real<T> norm<T>(Family, Norm, Symmetry, Uplo, HostView<const T>, Real<T>*); \
  template Index chol_update<T>(const char*, Uplo, HostView<T>, HostView<const T>,     \
                                algorithms::Signs);                                    \
  template void update_one<T>(const char*, HostView<T>, T*, Real<T>*);                 \
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
