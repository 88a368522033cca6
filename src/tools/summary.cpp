#include "tools/summary.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "dispatch/settings.hpp"
#include "tools/hardware.hpp"
#include "tools/program.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

struct Total {
  Index calls = 0;
  Index failed = 0;     // info != 0
  double largest = -1;  // operations of one call, whose shape follows
  std::string shape;
  double ms = 0, flops = 0, up = 0, down = 0;
};

std::string shape_of(const LoggedCall& logged) {
  const Shape& shape = logged.shape;
  std::string text = std::to_string(shape.m) + " x " + std::to_string(shape.n);
  // What is no LAPACK routine's and has them is an update of a Cholesky factor.
  const bool rhs = logged.call && has_right_hand_sides(logged.call->routine);
  if (shape.nrhs > 0) text += ", " + std::to_string(shape.nrhs) + (rhs ? " rhs" : " vec");
  return text;
}

void print_totals(const std::vector<LoggedCall>& calls) {
  std::map<std::pair<std::string, std::string>, Total> totals;
  Total all;
  for (const LoggedCall& logged : calls) {
    for (Total* total : {&totals[{logged.name, logged.where}], &all}) {
      if (total == &all && logged.is_part) continue;  // or it would count twice
      total->calls += 1;
      total->failed += logged.info != 0;
      if (logged.flops > total->largest) {
        total->largest = logged.flops;
        total->shape = shape_of(logged);
      }
      total->ms += logged.ms;
      total->flops += logged.flops;
      total->up += logged.bytes_up;
      total->down += logged.bytes_down;
    }
  }
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const std::string& where, const Total& t) {
    rows.push_back({name, where, std::to_string(t.calls), std::to_string(t.failed), t.shape,
                    brief(t.ms), brief(t.ms > 0 ? t.flops / t.ms / 1e6 : 0), brief(t.up / 1e6),
                    brief(t.down / 1e6)});
  };
  for (const auto& [key, total] : totals) add(key.first, key.second, total);
  if (totals.size() > 1) add("all", "", all);
  print_table(
      std::cerr,
      {"routine", "where", "calls", "info != 0", "largest", "ms", "GFLOP/s", "MB up", "MB down"},
      rows, 2);
}

bool is_on_cpu(const LoggedCall& logged) { return logged.where == "cpu"; }

/// Calls that went to the CPU for one reason.
struct Reason {
  Index calls = 0;
  double largest = -1;  // operations of one call, of which follows
  std::string example;
};

constexpr const char* kTooSmall = "too small";

/// Calls on the CPU by reasons. All that are too small have the same one.
std::map<std::string, Reason> reasons_of(const std::vector<LoggedCall>& calls) {
  std::map<std::string, Reason> reasons;
  for (const LoggedCall& logged : calls) {
    if (!is_on_cpu(logged)) continue;
    const bool small = logged.why.rfind("size ", 0) == 0;
    Reason& reason = reasons[small ? kTooSmall : logged.why];
    reason.calls += 1;
    if (logged.flops <= reason.largest) continue;
    reason.largest = logged.flops;
    if (small) reason.example = ", at most " + logged.name + " of " + logged.why;
  }
  return reasons;
}

/// Whether the settings leave it to the library to look for a GPU.
bool wants_gpu() {
  std::vector<std::string> ignored;
  const auto device = dispatch::parse_settings(getenv, ignored).device;
  return device == dispatch::DeviceChoice::automatic || device == dispatch::DeviceChoice::cuda;
}

void print_reasons(const std::vector<LoggedCall>& calls) {
  const std::map<std::string, Reason> reasons = reasons_of(calls);
  if (reasons.empty()) return;
  const bool none = std::all_of(calls.begin(), calls.end(), is_on_cpu);
  // Too few or too small calls do not get as far as to look for a driver.
  const bool said = std::any_of(reasons.begin(), reasons.end(), [](const auto& entry) {
    return entry.first.find("driver") != std::string::npos;
  });
  if (none && !said && wants_gpu() && driver_version().empty()) {
    std::cerr << "This machine has no NVIDIA driver.\n";
  }
  std::cerr << (none ? "Nothing went to the GPU:\n" : "Why calls went to the CPU:\n");
  const auto print = [](const std::string& text) {
    constexpr const char* kIndentation = "  ";
    std::cerr << wrap(text, columns_of(std::cerr) - 2, kIndentation) << '\n';
  };
  for (const auto& [why, reason] : reasons) {
    print(std::to_string(reason.calls) + (reason.calls == 1 ? " call: " : " calls: ") + why +
          reason.example);
  }
}

}  // namespace

void print_summary(const std::vector<LoggedCall>& calls) {
  std::cerr << "\noverlapack: calls of this run\n";
  print_totals(calls);
  print_reasons(calls);
}

void print_why_no_call(const std::string& program, const std::vector<std::string>& loaded_by,
                       bool loading_is_known) {
  const std::string reason = why_not_preloaded(find_program(program));
  std::string text = "overlapack: no call was logged: ";
  if (!loaded_by.empty() || (!loading_is_known && reason.empty())) {
    text +=
        "there was none of a routine that the library serves, or none with valid arguments and "
        "something to do";
    std::string names;
    for (const std::string& name : loaded_by) names += (names.empty() ? "" : ", ") + name;
    if (!names.empty()) text += ". The library was loaded by " + names;
  } else {
    text += "the library was not loaded, since " + program + ' ' +
            (reason.empty() ? "was started without LD_PRELOAD, or has another C library than glibc"
                            : reason);
  }
  std::cerr << wrap(text, columns_of(std::cerr)) << '\n';
}

}  // namespace overlapack::tools
