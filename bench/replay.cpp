// Runs the calls of a log again.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include "bench.hpp"
#include "report.hpp"
#include "tools/call_log.hpp"
#include "tools/progress.hpp"

namespace overlapack::bench {
namespace {

struct Group {
  Call call;
  std::string where;
  Index calls = 0;
  double ms = 0;
};

/// The distinct calls: equal in routine, shape, leading dimensions, options and place. Not those
/// whose data cannot be made again.
std::vector<Group> group(const std::vector<tools::LoggedCall>& calls) {
  std::map<std::string, std::size_t> places;
  std::vector<Group> groups;
  for (const tools::LoggedCall& logged : calls) {
    if (!logged.is_repeatable()) continue;
    const Call& c = *logged.call;
    std::string key = name_of(c) + ' ' + logged.where;
    for (const Index number : {c.shape.m, c.shape.n, c.shape.nrhs, c.lda, c.ldb,
                               static_cast<Index>(c.uplo), static_cast<Index>(c.op)}) {
      key += ' ' + std::to_string(number);
    }
    const auto [place, is_new] = places.emplace(key, groups.size());
    if (is_new) groups.push_back({c, logged.where});
    Group& one = groups[place->second];
    ++one.calls;
    one.ms += logged.ms;
  }
  return groups;
}

std::string describe(const Call& call) {
  std::string text =
      name_of(call) + " " + std::to_string(call.shape.m) + " x " + std::to_string(call.shape.n);
  const bool rhs = tools::has_right_hand_sides(call.routine);
  if (call.shape.nrhs > 0) text += ", " + std::to_string(call.shape.nrhs) + (rhs ? " rhs" : " vec");
  if (call.uplo == Uplo::upper) text += ", upper";
  if (call.op != Op::none) text += std::string(", ") + static_cast<char>(call.op);
  return text;
}

}  // namespace

int replay(const Options& options) {
  std::ifstream in(options.replay);
  if (!in) throw std::runtime_error("cannot read " + options.replay);
  std::vector<tools::LoggedCall> calls = tools::read_call_log(in);
  // Whoever does a call again does its parts again.
  calls.erase(std::remove_if(calls.begin(), calls.end(), [](const auto& c) { return c.is_part; }),
              calls.end());
  if (calls.empty()) throw std::runtime_error(options.replay + " holds no line of a call log");
  for (const tools::LoggedCall& logged : calls) {
    if (logged.fault.empty()) continue;
    throw std::runtime_error(options.replay + ", line " + std::to_string(logged.line) +
                             ": this call of " + logged.name + " is not valid: " + logged.fault);
  }
  const std::vector<Group> groups = group(calls);
  const auto left_out =
      std::count_if(calls.begin(), calls.end(), [](const auto& c) { return !c.is_repeatable(); });
  if (left_out > 0) {
    std::cerr << "overlapack-bench: " << left_out << " of " << calls.size()
              << " calls are left out: updates, norms, and Q that is not square or is on the right "
                 "are not replayed\n";
  }
  if (groups.empty()) throw std::runtime_error(options.replay + " holds no call to replay");
  Device* device = nullptr;
  try {
    device = tools::force_device(options.device, options.min_n, options.algorithm, options.nb);
  } catch (const std::runtime_error& error) {
    std::cerr << "overlapack-bench: no device: " << error.what() << '\n';
  }
  print_heading(options, device);
  bool right = true;
  std::vector<std::vector<std::string>> rows;
  tools::Progress progress(groups.size());
  for (const Group& one : groups) {
    const Call& call = one.call;
    progress.show(describe(call));
    Timing ours, cpu;
    std::string where = "cpu";
    tools::with_type(call.type, [&](auto zero) {
      using T = decltype(zero);
      Problem<T> problem(call);
      const tools::Limits limits = {options.runs, options.seconds};
      const std::size_t before = tools::activity(device);
      tools::Ours<T> ours_contender;
      ours = tools::measure(ours_contender, problem, limits);
      if (tools::activity(device) > before) where = device->name();
      if (options.cpu) {
        tools::CpuContender<T> cpu_contender;
        cpu = tools::measure(cpu_contender, problem, limits);
      }
    });
    progress.advance();
    right &= is_right(call, ours);
    rows.push_back({describe(call), std::to_string(one.calls), one.where,
                    tools::brief(one.ms / static_cast<double>(one.calls)), where,
                    tools::brief(ours.ms), tools::brief(ours.residual), tools::brief(cpu.ms),
                    tools::brief(cpu.residual)});
  }
  progress.clear();
  tools::print_table(std::cout,
                     {"call", "times", "logged on", "logged ms", "now on", "ours ms", "resid.",
                      "CPU ms", "resid."},
                     rows, 1, options.style);
  return exit_status(right);
}

}  // namespace overlapack::bench
