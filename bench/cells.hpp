// Measured cells of a table.
#pragma once

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "bench.hpp"
#include "dispatch/calls.hpp"
#include "dispatch/context.hpp"
#include "tools/progress.hpp"

namespace overlapack::bench {

/// Throws, with the reason for the table, if the library has refused a call: the time that took is
/// none of a result.
inline void check_not_refused(Index info) {
  if (info != dispatch::kNoMemory) return;
  throw std::runtime_error("refused with info = " + std::to_string(info) +
                           " (OVERLAPACK_VERBOSE=1 says why)");
}

/// Whether there is a device, and it is the emulated one.
inline bool is_emulated() {
  const Device* const device = dispatch::Context::instance().device();
  return device != nullptr && device->emulated();
}

/// Remembers what measurements took, to leave out those that would take too long.
class Forecast {
 public:
  explicit Forecast(const Options& options) : options_(options) {}

  /// Why a measurement is left out; empty if it is not. It would be a warm-up and one run, at the
  /// rate at which the last one of its kind did its work (rates grow with size, so this errs on the
  /// slow side).
  std::string too_long(const std::string& kind, double work) const {
    const auto past = past_.find(kind);
    if (past == past_.end()) return {};
    const double seconds = 2e-3 * past->second.ms * work / past->second.work;
    if (seconds <= options_.seconds) return {};
    return "would take about " + tools::brief(seconds) + " s (--seconds allows " +
           tools::brief(options_.seconds) + ")";
  }
  void took(const std::string& kind, double work, double ms) { past_[kind] = {work, ms}; }

 private:
  struct Past {
    double work, ms;
  };
  const Options& options_;
  std::map<std::string, Past> past_;
};

/// Measures cells, but those that would take too long.
class Cells {
 public:
  Cells(const Options& options, tools::Progress& progress)
      : options_(options), progress_(progress), forecast_(options) {}

  /// `who` and the routine name the contender that `make` makes; what it throws is the reason why
  /// there is no measurement.
  template <class T>
  Cell measure(Problem<T>& problem, const std::string& who,
               const std::function<std::unique_ptr<Contender<T>>()>& make) {
    const Call& call = problem.call();
    const double flops = dispatch::flops_of(call.routine, call.type, call.shape);
    const std::string kind = name_of(call) + " " + who;
    Cell cell;
    cell.missing = forecast_.too_long(kind, flops);
    if (!cell.missing.empty()) return cell;
    if (!emulated_) std::this_thread::sleep_for(kPause);
    try {
      const auto contender = make();
      const Timing timing = tools::measure(*contender, problem, {options_.runs, options_.seconds});
      check_not_refused(timing.info);
      cell.timing = timing;
      forecast_.took(kind, flops, cell.timing.ms);
      const bool square = call.shape.m == call.shape.n;
      progress_.line(name_of(call) + (square ? "" : ", m = " + std::to_string(call.shape.m)) +
                     ", n = " + std::to_string(call.shape.n) + ": " + who + ' ' +
                     tools::brief(cell.timing.ms) + " ms (" + std::to_string(cell.timing.runs) +
                     (cell.timing.runs == 1 ? " run)" : " runs)"));
    } catch (const std::exception& error) {
      cell.missing = tools::text_of(error);
    }
    return cell;
  }

 private:
  /// OpenBLAS's threads spin for a while after a call; nobody is to share the cores with them.
  static constexpr std::chrono::milliseconds kPause{200};

  const Options& options_;
  tools::Progress& progress_;
  Forecast forecast_;
  const bool emulated_ = is_emulated();  // then no time is that of a GPU, anyway
};

}  // namespace overlapack::bench
