// How many calls a second several threads of a program get done, each with a matrix of its own.
#include <atomic>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "bench.hpp"
#include "cells.hpp"
#include "report.hpp"
#include "tools/progress.hpp"

namespace overlapack::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// In which calls are counted. The rate of an emulated device tells nothing.
std::chrono::milliseconds period() { return std::chrono::milliseconds(is_emulated() ? 20 : 500); }

/// What one thread does, and the worst of its residuals.
template <class T>
class Caller {
 public:
  Caller(const Call& call, std::uint64_t seed) : problem_(call), seed_(seed) {}

  /// A call on random data, which is checked.
  void check(Contender<T>& contender) {
    problem_.generate(seed_);
    contender.run(problem_);
    residual = problem_.residual();
  }
  /// Calls until `end`, one at least. Their matrix is the identity, which is its own factor, so
  /// that nothing has to be copied between two of them.
  void work(Contender<T>& contender, Clock::time_point end) {
    const HostView<T> a = problem_.a();
    for (Index j = 0; j < a.cols; ++j) {
      for (Index i = 0; i < a.rows; ++i) a(i, j) = static_cast<T>(i == j);
    }
    do {
      contender.run(problem_);
      ++calls;
    } while (Clock::now() < end);
  }

  double residual = 0;
  long calls = 0;

 private:
  Problem<T> problem_;
  std::uint64_t seed_;
};

/// Calls a second of so many threads.
struct Throughput {
  double rate = 0;
  Timing check;  // of random data: its residual
};

template <class T>
Throughput measure(Contender<T>& contender, const Call& call, Index threads) {
  std::vector<std::unique_ptr<Caller<T>>> callers;
  for (Index i = 0; i < threads; ++i) {
    callers.push_back(std::make_unique<Caller<T>>(call, static_cast<std::uint64_t>(i + 1)));
  }
  Throughput result;
  result.check.runs = 1;
  result.check.residual = 0;
  const auto all = [&](auto work) {
    std::vector<std::thread> running;
    for (auto& caller : callers) running.emplace_back([&] { work(*caller); });
    for (std::thread& thread : running) thread.join();
  };
  all([&](Caller<T>& caller) { caller.check(contender); });
  const Clock::time_point start = Clock::now();
  all([&](Caller<T>& caller) { caller.work(contender, start + period()); });
  const std::chrono::duration<double> taken = Clock::now() - start;
  for (const auto& caller : callers) {
    result.rate += static_cast<double>(caller->calls) / taken.count();
    result.check.residual = std::max(result.check.residual, caller->residual);
  }
  return result;
}

}  // namespace

int show_callers(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm);
  if (device == nullptr) throw std::runtime_error("there is no device to send calls to");
  print_heading(options, device);
  ResultFiles files(options, device,
                    {"routine", "n", "threads", "ours_per_s", "cpu_per_s", "residual"});
  std::vector<std::vector<std::string>> lines;
  bool right = true;
  tools::Progress progress(options.calls() * options.threads.size());
  for (const std::string& name : options.routines) {
    for (const Index n : options.orders()) {
      const Call call = options.call(name, n);
      double one = 0;
      for (const Index threads : options.threads) {
        progress.show(row_title(call) + ", threads: " + std::to_string(threads));
        Throughput ours, cpu;
        tools::with_type(call.type, [&](auto type) {
          using T = decltype(type);
          tools::Ours<T> device_contender;
          ours = measure<T>(device_contender, call, threads);
          tools::CpuContender<T> cpu_contender;
          if (options.cpu) cpu = measure<T>(cpu_contender, call, threads);
          return 0;
        });
        progress.advance();
        right &= is_right(call, ours.check);
        if (one == 0) one = ours.rate;
        lines.push_back({name, std::to_string(n), std::to_string(threads), tools::brief(ours.rate),
                         tools::brief(ours.rate / one), options.cpu ? tools::brief(cpu.rate) : "",
                         tools::brief(ours.check.residual)});
        files.add_line({{"routine", name},
                        {"n", n},
                        {"threads", threads},
                        {"ours_per_s", ours.rate},
                        {"cpu_per_s", options.cpu ? nlohmann::json(cpu.rate) : nlohmann::json()},
                        {"residual", ours.check.residual}});
      }
    }
  }
  progress.clear();
  tools::print_table(std::cout,
                     {"routine", "n", "threads", "ours /s", "x first", "CPU /s", "residual"}, lines,
                     1, options.style);
  files.finish();
  return exit_status(right);
}

}  // namespace overlapack::bench
