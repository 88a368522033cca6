// Ours against the CPU LAPACK and cuSOLVER, in one run.
#include <cmath>
#include <functional>
#include <iostream>
#include <map>

#include "bench.hpp"
#include "cusolver.hpp"
#include "dispatch/context.hpp"
#include "report.hpp"

namespace overlapack::bench {
namespace {

/// Runs cells and remembers what they took, to leave out those that would take too long.
class Bench {
 public:
  Bench(const Options& options, Device* device) : options_(options), device_(device) {}

  template <class T>
  Row measure_row(const Call& call) {
    Row row;
    row.call = call;
    Problem<T> problem(call);
    const std::string title = name_of(call) + ", n = " + std::to_string(call.shape.n) + ": ";
    const auto cell = [&](const char* who,
                          const std::function<std::unique_ptr<Contender<T>>()>& make) {
      return measure_cell<T>(problem, title + who, name_of(call) + who, make);
    };
    if (device_ == nullptr) {
      row.ours.missing = "no device";
    } else {
      const TransferCounters& counters = device_->counters();
      const std::size_t up = counters.bytes_to_device, down = counters.bytes_to_host,
                        before = tools::activity(device_);
      row.ours = cell("ours", [] { return std::make_unique<tools::Ours<T>>(); });
      const double calls = row.ours.timing.runs + 1;  // with the warm-up
      row.bytes_up = static_cast<double>(counters.bytes_to_device - up) / calls;
      row.bytes_down = static_cast<double>(counters.bytes_to_host - down) / calls;
      row.served = !row.ours.missing.empty() || tools::activity(device_) > before;
    }
    if (options_.cpu) {
      row.cpu = cell("CPU", [] { return std::make_unique<tools::CpuContender<T>>(); });
    } else {
      row.cpu.missing = "--no-cpu";
    }
    if (options_.peers) {
      const int gpu = dispatch::Context::instance().settings().cuda_index;
      row.round_trip = cell("copy + cuSOLVER", [&] { return make_cusolver<T>(call, true, gpu); });
      row.resident = cell("cuSOLVER", [&] { return make_cusolver<T>(call, false, gpu); });
    } else {
      row.round_trip.missing = row.resident.missing = "--no-peers";
    }
    return row;
  }

 private:
  struct Past {
    double flops = 0, ms = 0;
  };

  template <class T>
  Cell measure_cell(Problem<T>& problem, const std::string& title, const std::string& key,
                    const std::function<std::unique_ptr<Contender<T>>()>& make) {
    const Call& call = problem.call();
    const double flops = dispatch::flops_of(call.routine, call.type, call.shape);
    Cell cell;
    Past& past = past_[key];
    // A warm-up and one run, at the rate of the largest size so far (rates grow with size, so this
    // errs on the slow side).
    const double expected = past.flops > 0 ? 2e-3 * past.ms * flops / past.flops : 0;
    if (expected > options_.seconds) {
      cell.missing = "would take about " + tools::brief(expected) + " s (--seconds allows " +
                     tools::brief(options_.seconds) + ")";
      return cell;
    }
    try {
      const auto contender = make();
      cell.timing = tools::measure(*contender, problem, {options_.runs, options_.seconds});
      past = {flops, cell.timing.ms};
      std::cerr << title << ' ' << tools::brief(cell.timing.ms) << " ms (" << cell.timing.runs
                << " runs)\n";
    } catch (const std::exception& error) {
      cell.missing = error.what();
    }
    return cell;
  }

  const Options& options_;
  Device* device_;
  std::map<std::string, Past> past_;
};

}  // namespace

std::vector<Index> Options::orders() const {
  if (!sizes.empty()) return sizes;
  std::vector<Index> orders;
  for (Index n = min_size; n <= max_size; n *= 2) orders.push_back(n);
  return orders;
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
  RowFiles files(options, device);
  Bench bench(options, device);
  bool right = true;
  for (const std::string& name : options.routines) {
    std::vector<Row> rows;
    for (const Index n : options.orders()) {
      Call call;
      tools::parse_name(name, call);
      call = tools::square_call(call.routine, call.type, n, options.nrhs, options.lda_pad);
      call.uplo = options.uplo;
      call.op = options.op;
      rows.push_back(tools::with_type(
          call.type, [&](auto one) { return bench.measure_row<decltype(one)>(call); }));
      files.add(rows.back());
      const Timing& ours = rows.back().ours.timing;
      right &= ours.runs == 0 || (ours.residual < 30 && ours.info == 0);
    }
    print_rows(rows, options.style);
  }
  files.finish();
  if (!right) std::cerr << "overlapack-bench: a result of ours is WRONG (residual above 30)\n";
  return right ? 0 : 1;
}

}  // namespace overlapack::bench
