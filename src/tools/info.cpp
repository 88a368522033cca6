// `overlapack info`: what the library would do here, and why.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <utility>

#include "cpu/lapack.hpp"
#include "device/cuda/runtime/plugin.hpp"
#include "dispatch/context.hpp"
#include "routines.hpp"
#include "scopes.hpp"
#include "tools/commands.hpp"
#include "tools/hardware.hpp"
#include "tools/problem.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

constexpr std::pair<cpu::Family, const char*> kFamilies[] = {
    {cpu::Family::lp64, "32-bit integers"},
    {cpu::Family::ilp64, "64-bit integers (OpenBLAS64)"},
    {cpu::Family::scipy_lp64, "32-bit integers, SciPy's wheels"},
    {cpu::Family::scipy_ilp64, "64-bit integers, NumPy's wheels"},
};

std::string gib(std::size_t bytes) {
  return brief(static_cast<double>(bytes) / (1 << 30)) + " GiB";
}

/// Its path; empty if there is none.
std::string installed_plugin() {
  for (const int major : kCudaMajors) {
    for (const std::string& folder : {std::string(kCudaPluginFolder) + '/', std::string()}) {
      const std::string found = find_installed(folder + cuda_plugin(major));
      if (!found.empty()) return found;
    }
  }
  return {};
}

void print_devices() {
  auto& context = dispatch::Context::instance();
  std::cout << "Devices\n";
  for (int i = 0;; ++i) {
    try {
      const auto device = dispatch::open_cuda_device(i);
      std::cout << "  " << device->name() << "  " << device->model() << ", "
                << gib(device->memory()) << '\n';
    } catch (const DeviceError& error) {
      if (i == 0) std::cout << "  no CUDA device: " << error.what() << '\n';
      break;
    }
  }
  std::cout << "  host    emulated device, for tests (OVERLAPACK_DEVICE=host)\n";
  const bool none = context.device() == nullptr;
  std::cout << "  in use  " << (none ? "none: " : "") << context.device_status() << '\n';
  const std::string driver = driver_version(), loaded = plugin_path(),
                    installed = installed_plugin();
  std::cout << "  driver  " << (driver.empty() ? "no NVIDIA driver" : driver) << '\n'
            << "  plug-in "
            << (!loaded.empty()      ? loaded
                : !installed.empty() ? installed + ", installed, not loaded"
                                     : "not installed")
            << "\n\n";
}

std::string file_of(const std::string& source) { return source.substr(0, source.find(" (")); }

/// The names of a family that another library serves than that of potrf in double precision.
void print_exceptions(cpu::Family family) {
  const std::string usual = file_of(cpu::lapack<double>(family).source("potrf"));
  std::map<std::string, std::string> names;  // by the library
  for (const RoutineRow& row : kRoutineRows) {
    for (const char type : dispatch::kTypeLetters) {
      if (!is_lapack(row.kind) || !row.exists_for(type)) continue;
      const std::string source = with_type(type, [&](auto scalar) {
        return cpu::lapack<decltype(scalar)>(family).source(row.name);
      });
      if (file_of(source) != usual) names[source] += cpu::spell(family, type, row.name) + ' ';
    }
  }
  for (const auto& [source, text] : names) {
    std::cout << wrap("but " + text + "by " + source, 96, "    ") << '\n';
  }
}

void print_cpu() {
  std::cout << "CPU\n  " << cpu_model() << ", " << available_cores()
            << " cores for this process\n  LAPACK  " << cpu_lapack_description() << '\n';
  std::vector<std::vector<std::string>> rows;
  const std::string first = cpu::lapack<double>(kFamilies[0].first).source("potrf");
  for (const auto& [family, meaning] : kFamilies) {
    std::string source = cpu::lapack<double>(family).source("potrf");
    // What served the first family is in the process now, which is no news.
    if (file_of(source) == file_of(first)) source = first;
    rows.push_back({"  " + cpu::spell(family, 'd', "potrf"), meaning, source});
  }
  print_table(std::cout, {"  name", "clients", "served on the CPU by"}, rows, 3);
  for (const auto& [family, meaning] : kFamilies) print_exceptions(family);
  std::cout << '\n';
}

void print_thresholds() {
  dispatch::Context& context = dispatch::Context::instance();
  const Device* const device = context.device();
  const dispatch::Profile& profile = context.profile();
  const bool read = profile.source != dispatch::Profile::kBuiltIn;
  std::cout << "Break-even sizes ("
            << (read ? profile.source + "; built-in where that says nothing" : profile.built_in())
            << ")\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    const auto routine = static_cast<dispatch::Routine>(r);
    std::vector<std::string> row = {"  " + title_of(routine)};
    for (const char type : dispatch::kTypeLetters) {
      row.push_back(dispatch::exists(routine, type)
                        ? dispatch::threshold_text(profile.at(routine, type, device))
                        : "-");
    }
    rows.push_back(row);
  }
  print_table(std::cout, {"  routine", "s", "d", "c", "z"}, rows);
  std::cout
      << "  Cholesky: n; LU: cube root of m n min(m, n); solves alone (...trs): min(n, nrhs);\n"
         "  cholupdate: n, for 16 vectors or more; for k, from (16 / k)^2 times as much\n";
  if (device != nullptr) {
    std::cout << "  Built-in sizes are " << device->tuning().break_even.origin
              << "; `overlapack tune` finds this machine's.\n";
  }
  if (context.settings().min_n) {
    std::cout << "  OVERLAPACK_MIN_N=" << *context.settings().min_n << " overrides all of these\n";
  }
  std::cout << '\n';
}

/// Variables in the environment that are called like settings.
std::vector<std::string> misspelt_settings() {
  const std::string prefix = "OVERLAPACK_";
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable, name = text.substr(0, text.find('='));
    const bool known = std::any_of(dispatch::kSettings.begin(), dispatch::kSettings.end(),
                                   [&](const auto& setting) { return setting.name == name; });
    if (name.rfind(prefix, 0) == 0 && !known) names.push_back(name);
  }
  return names;
}

/// Whether the device or file that a setting names has turned out to be of no use.
bool is_useless(const std::string& name) {
  dispatch::Context& context = dispatch::Context::instance();
  if (name == "OVERLAPACK_DEVICE") {
    return context.settings().cuda_index && context.device() == nullptr;
  }
  if (name == "OVERLAPACK_PROFILE") {
    return !context.settings().profile.empty() &&
           context.profile().source == dispatch::Profile::kBuiltIn;
  }
  return name == "OVERLAPACK_CPU_LAPACK" && !context.settings().cpu_lapack.empty() &&
         !cpu::is_configured();
}

void print_settings() {
  std::cout << "Settings\n";
  for (const dispatch::Setting& setting : dispatch::kSettings) {
    const char* const variable = std::getenv(setting.name);
    const std::string value = variable == nullptr ? "" : variable;
    const bool ignored = !check_setting(setting.name, value).empty() || is_useless(setting.name);
    const std::string values = std::string(setting.name) + '=' + setting.values;
    std::cout << wrap(values, 98, "  ") << '\n'
              << wrap(setting.meaning, 92, "      ") << '\n'
              << "      now: " << (value.empty() ? "not set" : value)
              << (ignored ? " (ignored)" : "") << '\n';
  }
  for (const std::string& name : misspelt_settings()) {
    std::cout << "  " << name << " is no setting, and does nothing\n";
  }
  std::cout << '\n';
}

/// An exported name.
struct Name {
  RoutineKind kind;
  cpu::Family family;
  char type;
  const char* text;
};
constexpr Name kNames[] = {
#define OVERLAPACK_NAME(symbol, spelling, type, name, kind, result, entry, parameters, arguments) \
  {RoutineKind::kind, compat::spelling::kFamily, #type[0], #symbol},
#include "expand.def"
};

/// A line for each type, of the names that `belongs` says.
template <class Belongs>
void print_names(const std::string& title, Belongs belongs) {
  std::cout << "  " << title << '\n';
  for (const char type : dispatch::kTypeLetters) {
    std::cout << "   ";
    for (const Name& name : kNames) {
      if (name.type == type && belongs(name)) std::cout << ' ' << name.text;
    }
    std::cout << '\n';
  }
}

void print_names() {
  std::cout << "Names served\n";
  for (const auto& [family, meaning] : kFamilies) {
    print_names(meaning, [family = family](const Name& name) {
      return is_lapack(name.kind) && name.family == family;
    });
  }
  print_names("updates of a Cholesky factor", [](const Name& name) {
    return name.kind == RoutineKind::update || name.kind == RoutineKind::native;
  });
  print_names("copies of BLAS, as NumPy calls them",
              [](const Name& name) { return name.kind == RoutineKind::blas; });
}

}  // namespace

int info() {
  std::cout << "overlapack " << OVERLAPACK_VERSION << "\n\n";
  print_devices();
  print_cpu();
  print_thresholds();
  print_settings();
  print_names();
  return 0;
}

}  // namespace overlapack::tools
