// `overlapack info`: what the library would do here, and why.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <utility>

#include "cpu/lapack.hpp"
#include "device/cuda/plugin.hpp"
#include "dispatch/context.hpp"
#include "tools/break_even.hpp"
#include "tools/commands.hpp"
#include "tools/hardware.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

constexpr std::pair<cpu::Family, const char*> kFamilies[] = {
    {cpu::Family::lp64, "32-bit integers"},
    {cpu::Family::ilp64, "64-bit integers (Julia, OpenBLAS64)"},
    {cpu::Family::scipy_lp64, "32-bit integers, SciPy's wheels"},
    {cpu::Family::scipy_ilp64, "64-bit integers, NumPy's wheels"},
};

/// Breaks a text into lines of at most 92 characters behind an indentation.
std::string wrap(const std::string& text, const std::string& indentation) {
  constexpr std::size_t kWidth = 92;
  std::istringstream words(text);
  std::string lines, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      lines += indentation + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + indentation + line + '\n';
}

std::string gib(std::size_t bytes) {
  return brief(static_cast<double>(bytes) / (1 << 30)) + " GiB";
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
  context.device();
  std::cout << "  in use  " << context.device_status() << '\n';
  const std::string driver = driver_version(), plugin = plugin_path();
  std::cout << "  driver  " << (driver.empty() ? "no NVIDIA driver" : driver) << '\n'
            << "  plug-in "
            << (plugin.empty() ? std::string(kCudaPlugin) + " is not loaded" : plugin) << "\n\n";
}

void print_cpu() {
  std::cout << "CPU\n  " << cpu_model() << ", " << available_cores()
            << " cores for this process\n  LAPACK  " << cpu_lapack_description() << '\n';
  std::vector<std::vector<std::string>> rows;
  for (const auto& [family, meaning] : kFamilies) {
    rows.push_back({"  " + cpu::spell(family, 'd', "potrf"), meaning,
                    cpu::lapack<double>(family).source("potrf")});
  }
  print_table(std::cout, {"  name", "clients", "served on the CPU by"}, rows, 3);
  std::cout << '\n';
}

void print_thresholds() {
  const dispatch::Profile& profile = dispatch::Context::instance().profile();
  std::cout << "Break-even sizes (" << profile.source << ")\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    std::vector<std::string> row = {std::string("  ") + dispatch::kRoutineNames[r]};
    for (const char type : dispatch::kTypeLetters) {
      const auto routine = static_cast<dispatch::Routine>(r);
      const Index threshold = profile.at(routine, type);
      row.push_back(!dispatch::exists(routine, type) ? "-"
                    : threshold >= kNever            ? "never"
                                                     : std::to_string(threshold));
    }
    rows.push_back(row);
  }
  print_table(std::cout, {"  routine", "s", "d", "c", "z"}, rows);
  std::cout << "  Cholesky, cholupdate: n; LU: cube root of m n min(m, n);\n"
               "  potrs, getrs: min(n, nrhs)\n\n";
}

void print_settings() {
  std::cout << "Settings\n";
  for (const dispatch::SettingDoc& setting : dispatch::setting_docs()) {
    const char* const value = std::getenv(setting.name);
    std::cout << "  " << setting.name << '=' << setting.values << '\n'
              << wrap(setting.meaning, "      ")
              << "      now: " << (value == nullptr || *value == '\0' ? "not set" : value) << '\n';
  }
  std::cout << '\n';
}

constexpr const char* kNorms[] = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) #name,
#include "norms.def"
#undef OVERLAPACK_ROUTINE
};
constexpr const char* kHermitianNorms[] = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) #name,
#include "hermitian_norms.def"
#undef OVERLAPACK_ROUTINE
};

constexpr const char* kUpdates[] = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) #name,
#include "updates.def"
#undef OVERLAPACK_ROUTINE
};
constexpr const char* kNativeUpdates[] = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) #name,
#include "native.def"
#undef OVERLAPACK_ROUTINE
};

void print_names() {
  std::cout << "Names served\n";
  for (const auto& [family, meaning] : kFamilies) {
    std::cout << "  " << meaning << '\n';
    for (const char type : dispatch::kTypeLetters) {
      std::cout << "   ";
      for (std::size_t r = 0; r < dispatch::kLapackRoutineCount; ++r) {
        if (!dispatch::exists(static_cast<dispatch::Routine>(r), type)) continue;
        std::cout << ' ' << cpu::spell(family, type, dispatch::kRoutineNames[r]);
      }
      for (const char* const name : kNorms) std::cout << ' ' << cpu::spell(family, type, name);
      for (const char* const name : kHermitianNorms) {
        if (type == 'c' || type == 'z') std::cout << ' ' << cpu::spell(family, type, name);
      }
      std::cout << '\n';
    }
  }
  std::cout << "  updates of a Cholesky factor\n";
  for (const char type : dispatch::kTypeLetters) {
    std::cout << "   ";
    for (const char* const name : kUpdates) std::cout << ' ' << type << name << '_';
    for (const char* const name : kNativeUpdates) std::cout << " ovl_" << type << name;
    std::cout << '\n';
  }
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
