// Measured cells of a table.
#pragma once

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "bench.hpp"

namespace overlapack::bench {

/// Measures cells and remembers what they took, to leave out those that would take too long.
class Cells {
 public:
  explicit Cells(const Options& options) : options_(options) {}

  /// `who` and the routine name the contender that `make` makes; what it throws is the reason why
  /// there is no measurement.
  template <class T>
  Cell measure(Problem<T>& problem, const std::string& who,
               const std::function<std::unique_ptr<Contender<T>>()>& make) {
    const Call& call = problem.call();
    const double flops = dispatch::flops_of(call.routine, call.type, call.shape);
    Cell cell;
    Past& past = past_[name_of(call) + " " + who];
    // A warm-up and one run, at the rate of the largest size so far (rates grow with size, so this
    // errs on the slow side).
    const double expected = past.flops > 0 ? 2e-3 * past.ms * flops / past.flops : 0;
    if (expected > options_.seconds) {
      cell.missing = "would take about " + tools::brief(expected) + " s (--seconds allows " +
                     tools::brief(options_.seconds) + ")";
      return cell;
    }
    // OpenBLAS's threads spin for a while after a call; nobody is to share the cores with them.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    try {
      const auto contender = make();
      cell.timing = tools::measure(*contender, problem, {options_.runs, options_.seconds});
      past = {flops, cell.timing.ms};
      std::cerr << name_of(call) << ", n = " << call.shape.n << ": " << who << ' '
                << tools::brief(cell.timing.ms) << " ms (" << cell.timing.runs
                << (cell.timing.runs == 1 ? " run)\n" : " runs)\n");
    } catch (const std::exception& error) {
      cell.missing = tools::text_of(error);
    }
    return cell;
  }

 private:
  struct Past {
    double flops = 0, ms = 0;
  };
  const Options& options_;
  std::map<std::string, Past> past_;
};

}  // namespace overlapack::bench
