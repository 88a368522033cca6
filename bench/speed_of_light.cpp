// How far ours is from what the hardware allows, and the timeline of one call.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

#include "cells.hpp"
#include "dispatch/context.hpp"
#include "rates.hpp"
#include "report.hpp"
#include "trace.hpp"

namespace overlapack::bench {
namespace {

struct Rates {
  ProductRate products;
  double link = 0;  // bytes per second each way
};

/// What a call takes that computes at the rate of matrix products while its operands cross the
/// link, each element once up and once down, both ways at once: the longer of the two times. (The
/// matrix of a mixed-precision solver stays above; one way takes as long as both.)
struct Bound {
  Bound(const Call& call, const Rates& rates) {
    const auto m = static_cast<double>(call.shape.m), n = static_cast<double>(call.shape.n);
    const bool triangle = dispatch::is_cholesky(call.routine);
    const double elements =
        (triangle ? n * (n + 1) / 2 : m * n) + n * static_cast<double>(call.shape.nrhs);
    bytes = elements *
            tools::with_type(call.type, [](auto one) { return static_cast<double>(sizeof one); });
    flops_ms = 1e3 * dispatch::flops_of(call.routine, call.type, call.shape) / rates.products.flops;
    link_ms = 1e3 * bytes / rates.link;
  }
  double ms() const { return std::max(flops_ms, link_ms); }
  const char* by() const { return flops_ms > link_ms ? "flops" : "link"; }

  double bytes;  // each way
  double flops_ms, link_ms;
};

template <class T>
TracedCall trace(Device& device, const Call& call, const Bound& bound) {
  Problem<T> problem(call);
  tools::Ours<T> ours;
  TracedCall traced;
  traced.call = call;
  traced.machine = machine(&device);
  traced.emulated = device.emulated();
  traced.bound_ms = bound.ms();
  traced.bound_by = bound.by();
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {  // the first run makes the events
    problem.generate(seed);
    Timeline timeline(device);
    const auto start = std::chrono::steady_clock::now();
    ours.run(problem);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    traced.ms = elapsed.count();
    traced.spans = timeline.collect();
  }
  traced.residual = problem.residual();
  return traced;
}

/// The rate of the products that a routine makes.
ProductRate measure_products_of(Device& device, const Call& call) {
  const dispatch::Settings& settings = dispatch::Context::instance().settings();
  const bool mixed = dispatch::is_mixed(call.routine);
  std::optional<Precision> split;
  if (!settings.strict_fp32) split = mixed ? settings.refine : Precision::fp32;
  return tools::with_type(call.type, [&](auto one) {
    using T = decltype(one);
    return mixed ? measure_products<Single<T>>(device, split) : measure_products<T>(device, split);
  });
}

/// Ours and the bound of one call.
struct Line {
  double ratio() const { return ours.timing.ms / bound.ms(); }  // NaN where there is no time
  double gflops() const {
    return dispatch::flops_of(call.routine, call.type, call.shape) / ours.timing.ms / 1e6;
  }

  Call call;
  Rates rates;
  Bound bound;
  Cell ours;  // missing, too, if the device has not served it
};

Line measure_line(Device& device, const Call& call, const Rates& rates, Cells& cells) {
  const std::size_t before = tools::activity(&device);
  Cell ours = tools::with_type(call.type, [&](auto one) {
    using T = decltype(one);
    Problem<T> problem(call);
    return cells.measure<T>(problem, "ours", [] { return std::make_unique<tools::Ours<T>>(); });
  });
  if (ours.missing.empty() && tools::activity(&device) == before) {
    ours.missing = kNotServed;
  }
  return {call, rates, Bound(call, rates), ours};
}

std::vector<std::string> row_of(const Line& line) {
  const Timing& ours = line.ours.timing;
  return {row_title(line.call),
          tools::brief(ours.ms),
          tools::brief(ours.residual),
          tools::brief(line.bound.flops_ms),
          tools::brief(line.bound.link_ms),
          tools::brief(line.bound.ms()),
          line.bound.by(),
          tools::brief(line.ratio()),
          tools::brief(line.gflops())};
}

nlohmann::json fields_of(const Line& line) {
  const Call& call = line.call;
  const Timing& ours = line.ours.timing;
  return {{"routine", name_of(call)},
          {"m", call.shape.m},
          {"n", call.shape.n},
          {"nrhs", call.shape.nrhs},
          {"uplo", std::string(1, static_cast<char>(call.uplo))},
          {"lda", call.lda},
          {"ms", ours.ms},
          {"runs", ours.runs},
          {"gflops", line.gflops()},
          {"residual", ours.residual},
          {"info", ours.info},
          {"gemm_gflops", line.rates.products.flops / 1e9},
          {"link_gbs", line.rates.link / 1e9},
          {"flops_ms", line.bound.flops_ms},
          {"link_ms", line.bound.link_ms},
          {"bound_ms", line.bound.ms()},
          {"ratio", line.ratio()},
          {"missing", line.ours.missing}};
}

void print(const std::vector<Line>& lines, TableStyle style) {
  std::vector<std::vector<std::string>> rows;
  Notes notes;
  for (const Line& line : lines) {
    rows.push_back(row_of(line));
    if (!line.ours.missing.empty()) notes.add(line.ours.missing, row_title(line.call));
  }
  tools::print_table(std::cout,
                     {"routine, n", "ours ms", "resid.", "flops ms", "link ms", "bound ms",
                      "bound by", "ours / bound", "ours GF/s"},
                     rows, 1, style);
  notes.print(style);
  std::cout << '\n' << std::flush;
}

/// Runs a call once more for its timeline. False if the result was wrong.
bool write_timeline(const Options& options, Device& device, const Line& line) {
  const TracedCall traced = tools::with_type(line.call.type, [&](auto one) {
    return trace<decltype(one)>(device, line.call, line.bound);
  });
  write_file(options.trace, trace_events(traced).dump() + "\n");
  return traced.residual < tools::residual_limit(line.call);
}

}  // namespace

int show_speed_of_light(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--speed-of-light needs a device");
  print_heading(options, device);
  ResultFiles files(
      options, device,
      {"routine", "m", "n", "nrhs", "uplo", "lda", "ms", "runs", "gflops", "residual", "info",
       "gemm_gflops", "link_gbs", "flops_ms", "link_ms", "bound_ms", "ratio", "missing"});
  tools::Progress progress(options.calls());
  Cells cells(options, progress);
  Rates rates;
  progress.show("the link");
  rates.link = measure_link(*device);
  bool right = true;
  std::optional<Line> to_trace;  // the largest call of the first routine
  for (const std::string& name : options.routines) {
    progress.show(name + ": products");
    rates.products = measure_products_of(*device, options.call(name, 1));
    progress.clear();
    std::cout << name << ": products " << tools::brief(rates.products.flops / 1e9) << " GF/s ("
              << rates.products.shape << "), link " << tools::brief(rates.link / 1e9)
              << " GB/s each way\n\n";
    std::vector<Line> lines;
    for (const Index n : options.orders()) {
      const Call call = options.call(name, n);
      progress.show(row_title(call));
      const Line line = measure_line(*device, call, rates, cells);
      progress.advance();
      right &= is_right(call, line.ours.timing);
      if (line.ours.missing.empty() && name == options.routines.front() &&
          (!to_trace || n >= to_trace->call.shape.n)) {
        to_trace = line;
      }
      const nlohmann::json fields = fields_of(line);
      files.add_line(fields);
      files.add_row(fields);
      lines.push_back(line);
    }
    progress.clear();
    print(lines, options.style);
  }
  files.finish();
  if (!options.trace.empty()) {
    if (!to_trace) throw std::runtime_error("no call to draw a timeline of");
    right &= write_timeline(options, *device, *to_trace);
  }
  return exit_status(right);
}

}  // namespace overlapack::bench
