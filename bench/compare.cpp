// Ours against the CPU LAPACK and cuSOLVER, in one run.
#include <algorithm>
#include <iostream>

#include "bench.hpp"
#include "cells.hpp"
#include "cusolver.hpp"
#include "ours_on_device.hpp"
#include "report.hpp"

namespace overlapack::bench {
namespace {

class Bench {
 public:
  Bench(const Options& options, Device* device, tools::Progress& progress)
      : options_(options), device_(device), cells_(options, progress) {}

  template <class T>
  Row measure_row(const Call& call) {
    Row row;
    row.call = call;
    Problem<T> problem(call);
    const auto cell = [&](const char* who,
                          const std::function<std::unique_ptr<Contender<T>>()>& make) {
      return cells_.measure<T>(problem, who, make);
    };
    if (device_ == nullptr) {
      row.ours.missing = "no device";
    } else {
      const DeviceCounters& counters = device_->counters();
      const std::size_t up = counters.bytes_to_device, down = counters.bytes_to_host,
                        before = tools::activity(device_);
      device_->reset_peak_use();
      row.ours = cell("ours", [] { return std::make_unique<tools::Ours<T>>(); });
      const double calls = row.ours.timing.runs + 1;  // with the warm-up
      row.bytes_up = static_cast<double>(counters.bytes_to_device - up) / calls;
      row.bytes_down = static_cast<double>(counters.bytes_to_host - down) / calls;
      row.pinned = static_cast<double>(device_->pool_use(Space::host).peak);
      row.device = static_cast<double>(device_->pool_use(Space::device).peak);
      row.served = !row.ours.missing.empty() || tools::activity(device_) > before;
    }
    row.on_device.missing = device_ == nullptr ? "no device" : not_recognised(call.shape);
    if (row.on_device.missing.empty()) {
      row.on_device =
          cell("on device", [&] { return std::make_unique<OursOnDevice<T>>(*device_, call); });
    }
    if (options_.cpu) {
      row.cpu = cell("CPU", [] { return std::make_unique<tools::CpuContender<T>>(); });
    } else {
      row.cpu.missing = "--no-cpu";
    }
    if (options_.peers) {
      const int gpu = tools::gpu_in_use();
      row.round_trip = cell("copy+cuSOLVER", [&] { return make_cusolver<T>(call, true, gpu); });
      row.resident = cell("cuSOLVER", [&] { return make_cusolver<T>(call, false, gpu); });
    } else {
      row.round_trip.missing = row.resident.missing = "--no-peers";
    }
    return row;
  }

 private:
  const Options& options_;
  Device* device_;
  Cells cells_;
};

/// The calls of a routine that are compared.
std::vector<Call> calls_of(const std::string& name, const Options& options) {
  std::vector<std::pair<Index, Index>> shapes = options.shapes;
  if (shapes.empty()) {
    for (const Index n : options.orders()) shapes.emplace_back(n, n);
  }
  std::vector<Call> calls;
  for (const auto& [m, n] : shapes) {
    Call call = options.call(name, n);
    call.shape.m = m;
    call.lda = m + options.lda_pad;
    if (call.ldb > 0) call.ldb = std::max(m, n) + options.lda_pad;
    calls.push_back(call);
  }
  return calls;
}

}  // namespace

std::vector<Index> Options::orders() const {
  if (!sizes.empty()) return sizes;
  std::vector<Index> orders;
  for (Index n = std::min(min_size, max_size); n <= max_size; n *= 2) orders.push_back(n);
  return orders;
}

Call Options::call(const std::string& routine, Index n) const {
  Call call;
  tools::parse_name(routine, call);
  call = tools::square_call(call.routine, call.type, n, nrhs, lda_pad);
  if (dispatch::is_cholesky(call.routine)) call.uplo = uplo;
  if (call.routine == Routine::getrs) call.op = op;
  if (values_only && tools::has_eigenvectors(call.routine)) call.shape.nrhs = 0;
  return call;
}

int compare(const Options& options) {
  Device* device = nullptr;
  try {
    device = tools::force_device(options.device, options.min_n > 0 ? options.min_n : 1,
                                 options.algorithm, options.nb);
  } catch (const std::runtime_error& error) {
    std::cerr << "overlapack-bench: no device: " << error.what() << '\n';
  }
  print_heading(options, device);
  ResultFiles files(options, device, row_columns());
  const std::size_t shapes = options.shapes.size();
  tools::Progress progress(shapes > 0 ? options.routines.size() * shapes : options.calls());
  Bench bench(options, device, progress);
  bool right = true;
  for (const std::string& name : options.routines) {
    std::vector<Row> rows;
    for (const Call& call : calls_of(name, options)) {
      progress.show(row_title(call));
      rows.push_back(tools::with_type(
          call.type, [&](auto one) { return bench.measure_row<decltype(one)>(call); }));
      progress.advance();
      add(rows.back(), files);
      right &= is_right(call, rows.back().ours.timing);
      right &= is_right(call, rows.back().on_device.timing);
    }
    progress.clear();
    print_rows(rows, options.style);
  }
  files.finish();
  if (device != nullptr) {
    std::cout << "Kept for later calls: "
              << tools::brief(static_cast<double>(device->pool_use(Space::host).held) / 1e6)
              << " MB of page-locked and "
              << tools::brief(static_cast<double>(device->pool_use(Space::device).held) / 1e6)
              << " MB of device memory.\n";
  }
  if (device == nullptr && options.device != "off") {
    return exit_status(false,
                       "ours was not measured: there is no device (--device off leaves it "
                       "out, --device host emulates one)");
  }
  return exit_status(right);
}

}  // namespace overlapack::bench
