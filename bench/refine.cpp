// Mixed-precision solvers by condition number: time of the factorization and of the refinement,
// steps and backward error in every precision, beside the solver in double precision.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <sstream>

#include "cells.hpp"
#include "conditioned.hpp"
#include "cusolver.hpp"
#include "device/timeline.hpp"
#include "dispatch/context.hpp"
#include "host/workers.hpp"
#include "ours_on_device.hpp"
#include "report.hpp"

namespace overlapack::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// One way to solve a system: in double precision, or with factors in a lower one.
struct Form {
  const char* name;
  bool ours;
  bool mixed;
  Precision precision;  // of the products, if it is mixed
};
constexpr Form kForms[] = {{"fp64", true, false, Precision::fp32},
                           {"fp32", true, true, Precision::fp32},
                           {"tf32", true, true, Precision::tf32},
                           {"fp16", true, true, Precision::fp16},
                           {"cuSOLVER fp64", false, false, Precision::fp32},
                           {"cuSOLVER fp32", false, true, Precision::fp32},
                           {"cuSOLVER tf32", false, true, Precision::tf32},
                           {"cuSOLVER fp16", false, true, Precision::fp16}};
constexpr std::size_t kFormCount = std::size(kForms), kDouble = 0;

struct Measurement {
  double ms = 0;         ///< the median
  double refine_ms = 0;  ///< of these, from the end of a factorization to that of its last step
  double error = 0;      ///< backward error
  int runs = 0;
  Index iter = 0, info = 0;
  std::string end;  ///< what came of it
  std::string missing;
};

/// A routine (dsgesv, ...) on one system, in all forms.
struct Point {
  Call call;
  double condition;
  Measurement forms[kFormCount];
};
using Points = std::vector<Point>;

/// The routine that solves the same systems in double precision.
Routine in_double(Routine routine) {
  return dispatch::is_lu(routine) ? Routine::gesv : Routine::posv;
}

void set_precision(Precision precision) {
  auto& context = dispatch::Context::instance();
  dispatch::Settings settings = context.settings();
  settings.refine = precision;
  context.reset(settings, context.profile());
}

template <class T>
class Solver {
 public:
  Solver(const Options& options, Device& device, const ConditionedSystem<T>& system,
         const Call& call, const Form& form)
      : options_(options), device_(device), system_(system), form_(form), problem_(call) {
    const int gpu = tools::gpu_in_use();
    if (!form.ours) {
      contender_ = make_cusolver<T>(call, !options.resident, gpu, form.precision);
    } else if (options.resident) {
      contender_ = std::make_unique<OursOnDevice<T>>(device, call);
    } else {
      contender_ = std::make_unique<tools::Ours<T>>();
    }
  }

  Measurement measure() {
    set_precision(form_.precision);
    Measurement result;
    std::vector<double> times;
    const std::size_t before = tools::activity(&device_);
    const Clock::time_point begin = Clock::now();
    for (int run = 0; run <= options_.runs; ++run) {
      const double ms = run_once();
      if (run > 0) times.push_back(ms);  // the first one warms up
      const std::chrono::duration<double> elapsed = Clock::now() - begin;
      if (run > 0 && elapsed.count() > options_.seconds) break;
    }
    result.ms = tools::median(times);
    result.runs = static_cast<int>(times.size());
    result.iter = problem_.iter;
    result.info = problem_.info;
    check_not_refused(result.info);
    const HostView<T> x = form_.mixed ? problem_.x() : problem_.b();
    result.error = system_.backward_error({x.data, x.rows, x.cols, x.ld});
    if (form_.ours && tools::activity(&device_) == before) {
      throw std::runtime_error(kNotServed);
    }
    Index factorizations = 1;
    if (form_.ours && form_.mixed) trace(result, factorizations);
    result.end = describe(result, factorizations);
    return result;
  }

 private:
  double run_once() {
    const auto copy = [](HostView<const T> from, HostView<T> to) {
      share_out(available_cores(), from.cols,
                [&](Index j) { std::copy_n(&from(0, j), from.rows, &to(0, j)); });
    };
    copy(system_.a(), problem_.a());
    copy(system_.b(), problem_.b());
    contender_->prepare(problem_);
    const Clock::time_point start = Clock::now();
    contender_->run(problem_);
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    contender_->finish(problem_);
    return elapsed.count();
  }

  /// From one run more, which the marks make a little slower: how long solutions were refined, and
  /// with how many factorizations in single precision.
  void trace(Measurement& result, Index& factorizations) {
    double microseconds = 0;
    for (int run = 0; run < 2; ++run) {  // the first one makes the events
      Timeline timeline(device_);
      run_once();
      microseconds = 0;
      factorizations = 0;
      double last = 0;
      for (const TimedSpan& step : timeline.collect()) {
        if (std::string(step.name) != "refine") continue;
        const bool first = step.block == 0;
        if (first) ++factorizations;
        microseconds += step.end - (first ? step.begin : last);
        last = step.end;
      }
    }
    result.refine_ms = std::min(microseconds / 1e3, result.ms);
  }

  std::string describe(const Measurement& result, Index factorizations) const {
    if (result.info != 0) return "info = " + std::to_string(result.info);
    if (!form_.mixed) return "solved";
    if (result.iter < 0) return "fell back";
    if (factorizations <= 1) return "converged";
    const Index last = static_cast<Index>(form_.precision) + factorizations - 1;
    return std::string("switched to ") + name_of(static_cast<Precision>(last));
  }

  const Options& options_;
  Device& device_;
  const ConditionedSystem<T>& system_;
  const Form& form_;
  Problem<T> problem_;
  std::unique_ptr<Contender<T>> contender_;
};

template <class T>
Point measure_point(const Options& options, Device& device, const Call& call, double condition,
                    Forecast& forecast, tools::Progress& progress) {
  Point point{call, condition, {}};
  const Index n = call.shape.n;
  const double work = std::pow(static_cast<double>(n), 3);
  const ConditionedSystem<T> system(n, call.shape.nrhs, condition,
                                    dispatch::is_cholesky(call.routine), 1);
  for (std::size_t f = 0; f < kFormCount; ++f) {
    const Form& form = kForms[f];
    Measurement& one = point.forms[f];
    const std::string kind = name_of(call) + " " + form.name;
    one.missing = forecast.too_long(kind, work);
    if (!form.ours && !options.peers) one.missing = "--no-peers";
    if (form.ours && options.resident && one.missing.empty()) {
      one.missing = not_recognised(call.shape);
    }
    if (!one.missing.empty()) continue;
    Call formed = call;
    if (!form.mixed) formed.routine = in_double(call.routine);
    try {
      one = Solver<T>(options, device, system, formed, form).measure();
      forecast.took(kind, work, one.ms);
      std::ostringstream line;
      line << name_of(call) << ", n = " << n << ", condition " << condition << ": " << form.name
           << ' ' << tools::brief(one.ms) << " ms, " << one.end;
      progress.line(line.str());
    } catch (const std::exception& error) {
      one.missing = tools::text_of(error);
    }
  }
  return point;
}

// ---- results ------------------------------------------------------------------------------

std::string text_of(const char* format, double x) {
  char text[32];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

void print(const Points& points, const Options& options) {
  std::vector<std::vector<std::string>> rows;
  Notes notes;
  for (const Point& point : points) {
    const std::string condition = text_of("%.0e", point.condition);
    for (std::size_t f = 0; f < kFormCount; ++f) {
      const Measurement& one = point.forms[f];
      const Form& form = kForms[f];
      if (one.runs == 0) {
        notes.add(std::string(form.name) + ": " + one.missing, condition, "condition ");
        continue;
      }
      const bool split = form.ours && form.mixed;
      rows.push_back({row_title(point.call), condition, form.name, tools::brief(one.ms),
                      split ? tools::brief(one.ms - one.refine_ms) : "-",
                      split ? tools::brief(one.refine_ms) : "-",
                      form.mixed ? std::to_string(one.iter) : "-", one.end,
                      text_of("%.1e", one.error),
                      tools::brief(point.forms[kDouble].runs > 0 ? point.forms[kDouble].ms / one.ms
                                                                 : std::nan(""))});
    }
  }
  tools::print_table(std::cout,
                     {"routine, n", "condition", "form", "ms", "factor ms", "refine ms", "iter",
                      "end", "backward error", "x fp64"},
                     rows, 3, options.style);
  notes.print(options.style);
  std::cout << '\n';
}

void add(const Point& point, const Options& options, ResultFiles& files) {
  for (std::size_t f = 0; f < kFormCount; ++f) {
    const Measurement& one = point.forms[f];
    const Form& form = kForms[f];
    nlohmann::json fields = {{"routine", name_of(point.call)},
                             {"n", point.call.shape.n},
                             {"nrhs", point.call.shape.nrhs},
                             {"uplo", std::string(1, static_cast<char>(point.call.uplo))},
                             {"resident", options.resident},
                             {"condition", point.condition},
                             {"form", form.name},
                             {"missing", one.missing}};
    for (const char* const key :
         {"ms", "runs", "factor_ms", "refine_ms", "iter", "info", "end", "backward_error"}) {
      fields[key] = nullptr;
    }
    if (one.runs > 0) {
      fields.update({{"ms", one.ms},
                     {"runs", one.runs},
                     {"info", one.info},
                     {"end", one.end},
                     {"backward_error", one.error}});
      if (form.mixed) fields["iter"] = one.iter;
      if (form.ours && form.mixed) {
        fields.update({{"factor_ms", one.ms - one.refine_ms}, {"refine_ms", one.refine_ms}});
      }
    }
    files.add_line(fields);
    files.add_row(fields);
  }
}

/// Whether our solutions are as good as LAPACK promises.
bool right(const Points& points) {
  for (const Point& point : points) {
    for (std::size_t f = 0; f < kFormCount; ++f) {
      const Measurement& one = point.forms[f];
      if (!kForms[f].ours || one.runs == 0 || one.info != 0) continue;
      const double n = static_cast<double>(point.call.shape.n);
      if (!(one.error < 30 * 1.1e-16 * std::sqrt(n))) return false;
    }
  }
  return true;
}

}  // namespace

int show_refinement(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--refine needs a device");
  print_heading(options, device);
  ResultFiles files(options, device,
                    {"routine", "n", "nrhs", "uplo", "resident", "condition", "form", "ms", "runs",
                     "factor_ms", "refine_ms", "iter", "end", "backward_error", "info", "missing"});
  Forecast forecast(options);
  tools::Progress progress(options.calls() * options.conditions.size());
  Points all;
  for (const std::string& name : options.routines) {
    for (const Index n : options.orders()) {
      Points points;
      for (const double condition : options.conditions) {
        const Call call = options.call(name, n);
        progress.show(row_title(call));
        points.push_back(
            call.type == 'd'
                ? measure_point<double>(options, *device, call, condition, forecast, progress)
                : measure_point<std::complex<double>>(options, *device, call, condition, forecast,
                                                      progress));
        progress.advance();
        add(points.back(), options, files);
        all.push_back(points.back());
      }
      progress.clear();
      print(points, options);
    }
  }
  set_precision(Precision::fp32);
  files.finish();
  return exit_status(right(all), "a solution of ours is WRONG (backward error)");
}

}  // namespace overlapack::bench
