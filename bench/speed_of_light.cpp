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

}  // namespace

int show_speed_of_light(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--speed-of-light needs a device");
  check_writable(options.trace);
  check_writable(options.svg);
  print_heading(options, device);
  ResultFiles files(
      options, device,
      {"routine", "m", "n", "nrhs", "uplo", "lda", "ms", "runs", "gflops", "residual", "info",
       "gemm_gflops", "link_gbs", "flops_ms", "link_ms", "bound_ms", "ratio", "missing"});
  Cells cells(options);
  Rates rates;
  rates.link = measure_link(*device);
  const dispatch::Settings& settings = dispatch::Context::instance().settings();
  bool right = true;
  std::optional<std::pair<Call, Bound>> to_trace;  // the largest call of the first routine
  for (const std::string& name : options.routines) {
    Call call;
    tools::parse_name(name, call);
    rates.products = tools::with_type(call.type, [&](auto one) {
      using T = decltype(one);
      const bool mixed = dispatch::is_mixed(call.routine);
      std::optional<Precision> split;
      if (!settings.strict_fp32) split = mixed ? settings.refine : Precision::fp32;
      return mixed ? measure_products<Single<T>>(*device, split)
                   : measure_products<T>(*device, split);
    });
    std::cout << name << ": products " << tools::brief(rates.products.flops / 1e9) << " GF/s ("
              << rates.products.shape << "), link " << tools::brief(rates.link / 1e9)
              << " GB/s each way\n\n";
    std::vector<std::vector<std::string>> rows;
    Notes notes;
    for (const Index n : options.orders()) {
      call = tools::square_call(call.routine, call.type, n, options.nrhs, options.lda_pad);
      call.uplo = options.uplo;
      const std::size_t before = tools::activity(device);
      const Cell ours = tools::with_type(call.type, [&](auto one) {
        using T = decltype(one);
        Problem<T> problem(call);
        return cells.measure<T>(problem, "ours", [] { return std::make_unique<tools::Ours<T>>(); });
      });
      const Bound bound(call, rates);
      const double ratio = ours.timing.ms / bound.ms();  // NaN where there is no time
      const double gflops =
          dispatch::flops_of(call.routine, call.type, call.shape) / ours.timing.ms / 1e6;
      rows.push_back({row_title(call), tools::brief(ours.timing.ms),
                      tools::brief(ours.timing.residual), tools::brief(bound.flops_ms),
                      tools::brief(bound.link_ms), tools::brief(bound.ms()), bound.by(),
                      tools::brief(ratio), tools::brief(gflops)});
      std::string missing = ours.missing;
      if (missing.empty() && tools::activity(device) == before) {
        missing = "not served by the device (OVERLAPACK_VERBOSE=1 says why)";
      }
      if (!missing.empty()) notes.add(missing, row_title(call));
      right &= is_right(call, ours.timing);
      if (missing.empty() && name == options.routines.front() &&
          (!to_trace || n >= to_trace->first.shape.n)) {
        to_trace.emplace(call, bound);
      }

      const nlohmann::json fields = {{"routine", name},
                                     {"m", call.shape.m},
                                     {"n", n},
                                     {"nrhs", call.shape.nrhs},
                                     {"uplo", std::string(1, static_cast<char>(call.uplo))},
                                     {"lda", call.lda},
                                     {"ms", ours.timing.ms},
                                     {"runs", ours.timing.runs},
                                     {"gflops", gflops},
                                     {"residual", ours.timing.residual},
                                     {"info", ours.timing.info},
                                     {"gemm_gflops", rates.products.flops / 1e9},
                                     {"link_gbs", rates.link / 1e9},
                                     {"flops_ms", bound.flops_ms},
                                     {"link_ms", bound.link_ms},
                                     {"bound_ms", bound.ms()},
                                     {"ratio", ratio},
                                     {"missing", missing}};
      files.add_line(fields);
      files.add_row(fields);
    }
    tools::print_table(std::cout,
                       {"routine, n", "ours ms", "resid.", "flops ms", "link ms", "bound ms",
                        "bound by", "ours / bound", "ours GF/s"},
                       rows, 1, options.style);
    notes.print(options.style);
    std::cout << '\n' << std::flush;
  }
  files.finish();
  if (!options.trace.empty() || !options.svg.empty()) {
    if (!to_trace) throw std::runtime_error("no call to draw a timeline of");
    const auto& [call, bound] = *to_trace;
    const TracedCall traced = tools::with_type(
        call.type, [&](auto one) { return trace<decltype(one)>(*device, call, bound); });
    right &= traced.residual < tools::residual_limit(call);
    write_file(options.trace, trace_events(traced).dump() + "\n");
    write_file(options.svg, timeline_svg(traced));
  }
  return exit_status(right);
}

}  // namespace overlapack::bench
