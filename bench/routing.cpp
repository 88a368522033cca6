// Whether calls go where they take less time: each order on the CPU, on the device, and where the
// library sends it by its break-evens.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "bench.hpp"
#include "cells.hpp"
#include "dispatch/context.hpp"
#include "report.hpp"

namespace overlapack::bench {
namespace {

/// Before each call of another contender the CPU LAPACK factors a matrix, as programs call LAPACK
/// between other work of the CPU: its threads keep their cores for a while after that.
template <class T>
class AfterCpuWork final : public Contender<T> {
 public:
  explicit AfterCpuWork(std::unique_ptr<Contender<T>> contender)
      : contender_(std::move(contender)),
        work_(tools::square_call(Routine::potrf, ScalarTraits<T>::letter, kOrder, 0)) {}

  void prepare(Problem<T>& problem) override {
    contender_->prepare(problem);
    work_.generate(1);
    cpu_.run(work_);
  }
  void run(Problem<T>& problem) override { contender_->run(problem); }
  void finish(Problem<T>& problem) override { contender_->finish(problem); }

 private:
  static constexpr Index kOrder = 600;
  std::unique_ptr<Contender<T>> contender_;
  Problem<T> work_;
  tools::CpuContender<T> cpu_;
};

/// A call of one order, and what each has made of it.
struct RoutedCall {
  Call call;
  Cell cpu, device, chosen;
  bool goes_to_device = false;

  bool device_wins() const { return device.timing.ms < cpu.timing.ms; }
  double ratio() const { return chosen.timing.ms / std::min(cpu.timing.ms, device.timing.ms); }
  /// Takes what is less: other work on the machine only ever adds to a time.
  void merge(const RoutedCall& again) {
    for (const auto cell : {&RoutedCall::cpu, &RoutedCall::device, &RoutedCall::chosen}) {
      const bool less = (again.*cell).timing.ms < (this->*cell).timing.ms;
      if ((again.*cell).missing.empty() && less) this->*cell = again.*cell;
    }
  }
};

class Routing {
 public:
  Routing(const Options& options, tools::Progress& progress)
      : options_(options), cells_(options, progress) {}

  /// Again, up to two times, if the way that was chosen took longer than the better one: that was
  /// the wrong one, or the machine was busy.
  template <class T>
  RoutedCall measure_row(const Call& call) {
    Problem<T> problem(call);
    RoutedCall row = measure_once(call, problem);
    for (int again = 0; again < 2 && row.ratio() > kClear; ++again) {
      row.merge(measure_once(call, problem));
    }
    return row;
  }

 private:
  static constexpr double kClear = 1.15;

  template <class T>
  RoutedCall measure_once(const Call& call, Problem<T>& problem) {
    RoutedCall row;
    row.call = call;
    row.cpu = cell<T>(problem, "CPU", [] { return std::make_unique<tools::CpuContender<T>>(); });
    Device* const device = send_from(1);
    row.device = cell<T>(problem, "device", [] { return std::make_unique<tools::Ours<T>>(); });
    send_from(settings_.min_n);
    const std::size_t before = tools::activity(device);
    row.chosen = cell<T>(problem, "chosen", [] { return std::make_unique<tools::Ours<T>>(); });
    row.goes_to_device = tools::activity(device) > before;
    return row;
  }
  /// Calls of at least that order go to the device; if there is none, as the break-evens say.
  Device* send_from(std::optional<Index> min_n) const {
    dispatch::Context& context = dispatch::Context::instance();
    dispatch::Settings settings = settings_;
    settings.min_n = min_n;
    context.reset(settings, context.profile());
    return context.device();
  }

  template <class T>
  Cell cell(Problem<T>& problem, const char* who,
            const std::function<std::unique_ptr<Contender<T>>()>& make) {
    return cells_.measure<T>(problem, who, [&]() -> std::unique_ptr<Contender<T>> {
      if (!options_.after_cpu_work) return make();
      return std::make_unique<AfterCpuWork<T>>(make());
    });
  }

  const Options& options_;
  const dispatch::Settings settings_ = dispatch::Context::instance().settings();
  Cells cells_;
};

/// The least order from which on the device has won at all orders, or "never".
std::string measured_break_even(const std::vector<RoutedCall>& rows) {
  const auto last = std::find_if(rows.rbegin(), rows.rend(),
                                 [](const RoutedCall& row) { return !row.device_wins(); });
  return last == rows.rbegin() ? "never" : std::to_string((last.base())->call.shape.n);
}

void print(const std::vector<RoutedCall>& rows, TableStyle style) {
  std::vector<std::vector<std::string>> lines;
  double worst = 0, logarithms = 0;
  for (const RoutedCall& row : rows) {
    lines.push_back({name_of(row.call), std::to_string(row.call.shape.n),
                     tools::brief(row.cpu.timing.ms), tools::brief(row.device.timing.ms),
                     tools::brief(row.chosen.timing.ms), row.goes_to_device ? "device" : "CPU",
                     tools::brief(row.ratio()), tools::brief(row.chosen.timing.residual)});
    worst = std::max(worst, row.ratio());
    logarithms += std::log(row.ratio());
  }
  tools::print_table(
      std::cout,
      {"routine", "n", "CPU ms", "device ms", "chosen ms", "chosen", "/ best", "residual"}, lines,
      1, style);
  std::cout << "\nThe device wins from n = " << measured_break_even(rows)
            << " on. Chosen / best: at most " << tools::brief(worst) << ", on average "
            << tools::brief(std::exp(logarithms / static_cast<double>(rows.size()))) << ".\n\n";
}

}  // namespace

int show_routing(const Options& options) {
  Device* const device = tools::force_device(options.device, 0, options.algorithm);
  if (device == nullptr) throw std::runtime_error("there is no device to send calls to");
  print_heading(options, device);
  ResultFiles files(options, device,
                    {"routine", "n", "cpu_ms", "device_ms", "chosen_ms", "chosen", "residual"});
  tools::Progress progress(options.calls());
  Routing routing(options, progress);
  bool right = true;
  for (const std::string& name : options.routines) {
    std::vector<RoutedCall> rows;
    for (const Index n : options.orders()) {
      const Call call = options.call(name, n);
      progress.show(row_title(call));
      rows.push_back(tools::with_type(
          call.type, [&](auto one) { return routing.measure_row<decltype(one)>(call); }));
      progress.advance();
      const RoutedCall& row = rows.back();
      right &= is_right(call, row.device.timing) && is_right(call, row.chosen.timing);
      files.add_line({{"routine", name},
                      {"n", n},
                      {"cpu_ms", row.cpu.timing.ms},
                      {"device_ms", row.device.timing.ms},
                      {"chosen_ms", row.chosen.timing.ms},
                      {"chosen", row.goes_to_device ? "device" : "cpu"},
                      {"residual", row.chosen.timing.residual}});
    }
    progress.clear();
    print(rows, options.style);
  }
  files.finish();
  return exit_status(right);
}

}  // namespace overlapack::bench
