// The way of one call: whether it goes to the CPU LAPACK or to the device is decided here for all
// routines, and the CPU finishes what the device cannot.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "algorithms/refine/refine.hpp"
#include "core/no_traps.hpp"
#include "core/view.hpp"
#include "device/nvtx.hpp"
#include "dispatch/calls.hpp"
#include "dispatch/memory_use.hpp"
#include "dispatch/plan.hpp"
#include "dispatch/process_end.hpp"
#include "dispatch/residency.hpp"
#include "host/once.hpp"

namespace overlapack::dispatch {

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
  const char* prefix = "";                             // of the name in the log: "p" of ScaLAPACK's
};

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

/// Where a call goes, decided before anything is done.
struct Decision {
  bool resident = false;     ///< an operand lies on a device: the CPU cannot serve the call
  bool waits = false;        ///< large enough, but the device is not there yet
  Device* device = nullptr;  ///< for a large or resident call
  Plan plan;
  std::string where = "cpu";  ///< for the call log
};

/// Whether a call is large enough for the device. Here and below, the settings are those that the
/// context had when the call began.
bool is_large(const Context& context, const Settings& settings, const Call& call);
/// In a process that uses CUDA itself a call large enough for the device starts it at once, which
/// costs little there; and a smaller one does with operands that the CPU cannot read.
void open_beside_cuda(Context& context, const Call& call, bool large);
/// Whether a call goes to the CPU without further questions.
bool is_small(const Context& context, const Settings& settings, const Call& call, bool large);
/// For a call that is not small. Only the texts are missing if there is no memory.
Decision decide(Context& context, const Settings& settings, const Call& call, bool large);
/// Whether others may use the device beside a call: it is small, and needs no threads.
Turns::Kind turn_of(const Call& call, const Decision& decision);
/// How the device carries a plan out.
algorithms::Options options_of(const Plan& plan, const Settings& settings, const Tuning& tuning);

/// The line of a call in the log, which took that many milliseconds.
std::string line_of(const Call& call, const Decision& decision, Index info, double ms, double flops,
                    const Traffic& moved = {});

/// Measures a call, from its construction on, and writes its line to the call log, if there is one
/// and there is memory for the texts: the call has been done all the same. While it lives it is
/// the range of the call that a profiler shows.
class CallLog {
 public:
  CallLog(Context& context, const Settings& settings, const Call& call, const Decision& decision);
  double seconds() const;
  void write(Index info, double flops, const Traffic& moved = {}) const;

 private:
  Context& context_;
  const Settings& settings_;
  const Call& call_;
  const Decision& decision_;
  std::optional<NvtxRange> range_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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

/// A call that the CPU LAPACK does of calls of others by name, which may go to the device: the log
/// says of these that they are part of it.
class Composed {
 public:
  explicit Composed(const Call& call) : outer_(current_) {
    if (!is_any()) current_ = {__builtin_frame_address(0), call.type, call.name};
  }
  ~Composed() { current_ = outer_; }
  Composed(const Composed&) = delete;

  /// Whether the thread is in one. One that was left by longjmp() lies where the stack has been
  /// given up.
  static bool is_any() { return current_.place > __builtin_frame_address(0); }
  /// Its name, "dsyevd", or nothing.
  static std::string name() {
    return is_any() ? current_.type + std::string(current_.name) : std::string();
  }

 private:
  struct Outer {
    const void* place;
    char type;
    const char* name;
  };
  static inline thread_local Outer current_{};
  const Outer outer_;
};

/// Nothing can be done for an operand that only the device can read.
struct NoCopy {
  Index operator()() const { return kNoMemory; }
};

/// Runs a call where it is decided. on_device(device, options, committed) may throw DeviceError or
/// bad_alloc; resume(options, committed) then finishes the call on the CPU. If an operand lies on
/// the device, which does not serve the call, on_copy() may do it with a copy, or return kNoMemory;
/// the device is locked then.
template <class OnCpu, class OnDevice, class Resume, class OnCopy = NoCopy>
Index route(const Call& call, OnCpu on_cpu, OnDevice on_device, Resume resume,
            OnCopy on_copy = {}) {
  const Nesting nesting;
  if (!nesting.outermost()) return on_cpu();
  Context& context = Context::instance();
  const Settings& settings = context.settings();
  const bool large = is_large(context, settings, call);
  if (is_small(context, settings, call, large)) return on_cpu();  // all that small calls pay

  const AtWork at_work;
  Decision decision = decide(context, settings, call, large);
  const bool resident = decision.resident;
  const CallLog log(context, settings, call, decision);
  if (!decision.plan.on_device) {
    Index info = kNoMemory;
    std::optional<CpuUse> use;
    if (large || resident) use.emplace();
    if (decision.waits) context.begin_before_start();
    if (!resident) {
      info = on_cpu();
    } else if (!at_process_end()) {  // or else those who hold the lock may be stuck
      const Turns::Turn turn(context.turns(), Turns::Kind::alone);
      info = on_copy();
      if (info != kNoMemory) decision.where = "cpu";
    }
    const double flops = flops_done(call.routine, call.type, call.shape, info);
    if (decision.waits) {
      context.end_before_start({log.seconds(), counted_flops(call.type, flops)});
    }
    log.write(info, flops);
    return info;
  }

  Device& device = *decision.device;
  const Turns::Turn turn(context.turns(), turn_of(call, decision));
  const Traffic before = own_traffic;
  algorithms::Options options = options_of(decision.plan, settings, device.tuning());
  Index committed = 0, info = 0;
  const auto finish_on_cpu = [&](const char* reason) {
    info = kNoMemory;
    const CpuUse use;
    try {
      info = resident ? on_copy() : resume(options, committed);
      const bool finished = info != kNoMemory;
      decision.plan.why += finished ? "; finished by the CPU: " : "; failed: ";
      decision.plan.why += reason;
      if (finished) decision.where += "+cpu";
    } catch (const std::bad_alloc&) {  // info says so, if it is not only for the texts
    }
  };
  try {
    const DeviceUse use;
    device.set_memory_limit(settings.memory_limit);
    const std::shared_ptr<void> current = device.make_current();
    const MemoryUse memory_use(context);
    const NoTraps no_traps;  // as the device has none
    try {
      info = on_device(device, options, committed);
    } catch (const OutOfDeviceMemory& error) {
      const bool begun = resident || committed > 0;
      if (begun || !retry_out_of_core(call.routine, call.type, call.shape, settings, device,
                                      error.what(), decision.plan)) {
        throw;
      }
      options = options_of(decision.plan, settings, device.tuning());
      info = on_device(device, options, committed);
    }
  } catch (const DeviceError& error) {
    finish_on_cpu(error.what());
    context.heed(error);
  } catch (const std::bad_alloc&) {
    finish_on_cpu("out of host memory");
  }
  log.write(info, flops_done(call.routine, call.type, call.shape, info), own_traffic - before);
  return info;
}

}  // namespace overlapack::dispatch
