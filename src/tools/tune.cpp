// `overlapack tune`: measure from which size the device wins.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dispatch/context.hpp"
#include "tools/break_even.hpp"
#include "tools/commands.hpp"
#include "tools/hardware.hpp"
#include "tools/measure.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

struct Point {
  Timing device, cpu;
  bool served = false;  // by the device, and not by the CPU after a fault
  bool right = false;   // what the device has computed
};

template <class T>
Point measure_point(Routine routine, char type, Index n, bool quick, Device& device) {
  const Index nrhs = dispatch::family_of(routine).typical_right_hand_sides(n);
  const Call call = square_call(routine, type, n, nrhs);
  Problem<T> problem(call);
  const Limits limits = {quick ? 3 : 7, quick ? 0.2 : 1.0};
  Point point;
  const std::size_t before = activity(&device);
  Ours<T> ours;
  point.device = measure(ours, problem, limits);
  point.served = activity(&device) > before;
  CpuContender<T> cpu;
  point.cpu = measure(cpu, problem, limits);
  point.right = point.device.info == point.cpu.info && point.device.residual < residual_limit(call);
  return point;
}

bool device_wins(const Point& point) {
  return point.served && point.right && point.device.ms < point.cpu.ms;
}

/// A routine and its type.
using Task = std::pair<Routine, char>;

std::vector<Task> tasks_of(const TuneOptions& options) {
  std::vector<Task> tasks;
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    const auto routine = static_cast<Routine>(r);
    const bool named = std::find(options.routines.begin(), options.routines.end(),
                                 title_of(routine)) != options.routines.end();
    for (const char type : dispatch::kTypeLetters) {
      const bool wanted = named && options.types.find(type) != std::string::npos;
      if (wanted && dispatch::exists(routine, type)) tasks.emplace_back(routine, type);
    }
  }
  return tasks;
}

/// The device that every call is sent to from now on. Throws std::runtime_error, for the user to
/// read, if there is nothing to measure, or nothing to be believed.
Device& device_to_tune(const TuneOptions& options) {
  Device* device = nullptr;
  try {
    device = force_device(options.device);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string("nothing to tune: ") + error.what());
  }
  if (device == nullptr) {
    throw std::runtime_error(
        "nothing to tune: the device is switched off by --device or OVERLAPACK_DEVICE; name one "
        "with --device");
  }
  if (device->emulated() && options.output.empty()) {
    throw std::runtime_error(
        "the device is emulated, and programs would believe what is measured on it; to have\nit "
        "written all the same, name a file with --output");
  }
  return *device;
}

/// Throws std::runtime_error, for the user to read, if there is no place for the profile.
std::string path_of_profile(const TuneOptions& options, const dispatch::Settings& settings) {
  if (!options.output.empty()) return options.output;
  const std::string path = dispatch::profile_path(settings);
  if (path.empty()) {
    throw std::runtime_error(
        "no place for the profile: set HOME, XDG_CACHE_HOME or OVERLAPACK_PROFILE, or use "
        "--output");
  }
  if (dispatch::is_null_device(path)) {
    throw std::runtime_error("the profile " + path +
                             " is /dev/null, which keeps nothing; name a file with --output");
  }
  return path;
}

/// A profile that OVERLAPACK_PROFILE names but that is not there is nothing to complain of if it is
/// about to be written.
void expect_new_profile(const TuneOptions& options) {
  const char* const named = std::getenv("OVERLAPACK_PROFILE");
  if (named == nullptr || *named == '\0') return;
  std::error_code error;
  if (options.output.empty() || real_path(options.output, error) == real_path(named, error)) {
    dispatch::Context::expect_new_profile();
  }
}

/// What is known before anything is measured: by the profile that is written anew or, if there is
/// none, by the one in use.
dispatch::Profile profile_until_now(const std::string& path) {
  const dispatch::ProfileFile file = dispatch::read_profile(path);
  return file.profile ? *file.profile : dispatch::Context::instance().profile();
}

/// The break-even of one task, and what has been measured for it.
struct BreakEven {
  Index threshold = kNever;
  std::map<Index, Point> points;  // by size

  bool any_served() const {
    return std::any_of(points.begin(), points.end(),
                       [](const auto& entry) { return entry.second.served; });
  }
};

/// `show` is called with each size before that is measured.
BreakEven measure_break_even(const TuneOptions& options, Device& device, const Task& task,
                             const std::function<void(Index)>& show) {
  const auto [routine, type] = task;
  BreakEven result;
  const auto wins = [&, routine = routine, type = type](Index n) {
    show(n);
    const Point point = with_type(type, [&](auto one) {
      return measure_point<decltype(one)>(routine, type, n, options.quick, device);
    });
    result.points[n] = point;
    return device_wins(point);
  };
  result.threshold = find_break_even(options.max_n, options.quick ? 0.25 : 0.1, wins);
  return result;
}

std::vector<std::string> row_of(const std::string& name, const BreakEven& found) {
  const auto& [largest, point] = *found.points.rbegin();
  return {name,
          dispatch::threshold_text(found.threshold),
          std::to_string(largest),
          brief(point.cpu.ms),
          brief(point.device.ms),
          point.served ? brief(point.cpu.ms / point.device.ms) : "not served",
          brief(point.device.residual)};
}

}  // namespace

int tune(const TuneOptions& options) {
  const std::vector<Task> tasks = tasks_of(options);
  if (tasks.empty()) {
    std::cerr << "overlapack tune: --routines: no such routine for these types\n";
    return 2;
  }
  report_unknown_settings("overlapack tune");
  expect_new_profile(options);
  auto& context = dispatch::Context::instance();
  const dispatch::Settings settings = context.settings();
  // What can be refused is refused before all the measuring.
  check_standard_output();
  const std::string path = path_of_profile(options, settings);
  Device& device = device_to_tune(options);
  const WholeFile file(path);
  dispatch::Profile kept = profile_until_now(file.target()), measured = dispatch::builtin_profile();
  std::cerr << "Measuring " << device.model() << " (" << device.name() << ") against "
            << cpu_lapack_description() << '\n';
  if (device.emulated()) {
    std::cerr << "This device is emulated: what follows says nothing about a GPU.\n";
  }

  std::vector<std::vector<std::string>> rows;
  bool any_served = false;
  {
    Progress progress(tasks.size());
    for (const Task& task : tasks) {
      const std::string name = task.second + std::string(name_of(task.first));
      const BreakEven found = measure_break_even(options, device, task, [&](Index n) {
        progress.line(name + ", n = " + std::to_string(n));
      });
      progress.advance();
      measured.set(task.first, task.second, found.threshold);
      kept.forget(task.first, task.second);
      any_served |= found.any_served();
      rows.push_back(row_of(name, found));
    }
  }
  print_table(
      std::cout,
      {"routine", "device from", "largest n", "CPU ms", "device ms", "speed-up", "residual"}, rows);
  if (!any_served) {
    std::cerr << "overlapack tune: the device served no call (" << context.device_status()
              << "); nothing is written\n";
    return 1;
  }
  const std::string comment = "measured " + today() + " by `overlapack tune`: " + device.model() +
                              " against " + cpu_model() + ", " + std::to_string(available_cores()) +
                              " cores";
  file.write(dispatch::format_profile(kept, "as read from " + kept.source) +
             dispatch::format_profile(measured, comment));
  std::cout << "written to " << path << '\n';
  return 0;
}

}  // namespace overlapack::tools
