// The life of a call: an engine computes it, if all ranks agree on that, or else the program's own
// ScaLAPACK.
#pragma once

#include <chrono>
#include <string>

#include "call.hpp"
#include "host/once.hpp"
#include "ranks.hpp"

namespace overlapack::scalapack {

/// ScaLAPACK calls our names from inside its own routines. Such calls stay with it: whether an
/// engine serves a call has been decided for the outermost one.
class Nesting {
 public:
  Nesting() : outermost_(depth_++ == 0) {}
  ~Nesting() { --depth_; }
  bool outermost() const { return outermost_; }

 private:
  static inline thread_local int depth_ = 0;
  bool outermost_;
};

class Service {
 public:
  explicit Service(const Call& call) : call_(call) {}
  /// Whether an engine has done the call. If not, nothing has been written.
  bool by_engine();
  /// Writes the call's line to the log, if there is one; the grid's first rank does.
  void log(int info) const;

 private:
  /// Null, with the reason in why_, if the call is for the program's ScaLAPACK.
  Engine* find_engine();
  /// Runs a step of an engine. Whether it has succeeded on all ranks.
  template <class Step>
  bool succeeds(const char* name, Step step);
  std::string line(int info) const;
  /// What a step has taken of the time, for the log.
  void note(const char* name);

  const AtWork at_work_;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point step_begin_ = start_;
  const Call& call_;
  Ranks* ranks_ = nullptr;
  std::string where_ = "cpu", why_;
};

/// on_cpu() calls the program's ScaLAPACK, which sets `info`.
template <class OnCpu>
void serve(const Call& call, int* info, OnCpu on_cpu) {
  const Nesting nesting;
  if (!nesting.outermost()) return on_cpu();
  Service service(call);
  if (service.by_engine()) {
    *info = 0;
  } else {
    on_cpu();
  }
  service.log(*info);
}

}  // namespace overlapack::scalapack
