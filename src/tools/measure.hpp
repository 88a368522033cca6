// Timing a contender on a problem, the same way for everybody.
#pragma once

#include <exception>
#include <limits>
#include <string>

#include "device/device.hpp"
#include "tools/problem.hpp"

namespace overlapack::tools {

/// Somebody who can serve a call.
template <class T>
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void prepare(Problem<T>&) {}  ///< before the clock starts
  virtual void run(Problem<T>&) = 0;    ///< timed
  virtual void finish(Problem<T>&) {}   ///< after the clock has stopped
};

/// The library, entered as a program enters it: through dpotrf_ and its sisters. Where the call
/// runs is up to the settings.
template <class T>
class Ours final : public Contender<T> {
 public:
  void run(Problem<T>& problem) override;
};

/// The CPU LAPACK of the process, called directly.
template <class T>
class CpuContender final : public Contender<T> {
 public:
  void run(Problem<T>& problem) override;
};

struct Limits {
  int runs = 5;        ///< timed runs at most, after one to warm up
  double seconds = 5;  ///< fewer runs (at least one) if they would take longer
};

struct Timing {
  double ms = std::numeric_limits<double>::quiet_NaN();  ///< the median
  double residual = std::numeric_limits<double>::quiet_NaN();
  int runs = 0;
  Index info = 0;
  Index iter = 0;  ///< of the last run, if it is a mixed-precision solver
};

/// Runs a contender on fresh data each time. The first run warms up (and tells how many more are
/// affordable); the residual is that of the last. Generation and check are outside the clock.
template <class T>
Timing measure(Contender<T>& contender, Problem<T>& problem, const Limits& limits);

/// Opens the device that `device` names ("auto", "cuda:0", "host" or "off") and sends every call of
/// at least `min_n` rows to it (0: every call that the environment and the profile say). Settings
/// that are not named here stay those of the environment. Null for "off"; throws
/// std::runtime_error with the reason if there is no such device.
Device* force_device(const std::string& device, Index min_n = 1,
                     const std::string& algorithm = "auto", Index nb = 0);

/// The number of the GPU in use, where peers are to run, too; 0 if there is none.
int gpu_in_use();

/// What an exception says to the user.
std::string text_of(const std::exception& error);

/// Of at least one number; the larger of two in the middle.
double median(std::vector<double> values);

/// A number that grows with everything a device does; it tells whether a call reached it.
std::size_t activity(Device* device);

}  // namespace overlapack::tools
