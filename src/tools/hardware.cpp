#include "tools/hardware.hpp"

#include <dlfcn.h>
#include <link.h>

#include <ctime>
#include <fstream>

#include "cpu/lapack.hpp"
#include "device/cuda/runtime/plugin.hpp"

namespace overlapack::tools {

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t value = line.find_first_not_of(": \t", line.find(':'));
    if (value != std::string::npos) return line.substr(value);
  }
  return "unknown";
}

std::string driver_version() {
  // NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  ...
  std::ifstream in("/proc/driver/nvidia/version");
  std::string version;
  for (std::string word; version.empty() && in >> word;) {
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos) version = word;
  }
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return version;
  int cuda = 0;
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  if (get != nullptr && get(&cuda) == 0 && cuda > 0) {
    version += (version.empty() ? "(CUDA " : " (CUDA ") + std::to_string(cuda / 1000) + "." +
               std::to_string(cuda % 1000 / 10) + ")";
  }
  return version;  // the library stays open: unloading a driver helps nobody
}

std::string cpu_lapack_description() {
  std::string description = cpu::lapack<double>(cpu::Family::lp64).source("potrf");
  const std::string path = description.substr(0, description.find(" ("));
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return description;
  const auto config = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config"));
  // A library that only uses OpenBLAS finds the name there.
  Dl_info where;
  const bool own = config != nullptr &&
                   dladdr(reinterpret_cast<const void*>(config), &where) != 0 &&
                   path == where.dli_fname;
  if (own) description += std::string(", ") + config();
  dlclose(library);
  return description;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

std::string plugin_path() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        const std::string name = object->dlpi_name;
        if (name.find(kCudaPluginPrefix) == std::string::npos) return 0;
        *static_cast<std::string*>(result) = name;
        return 1;
      },
      &path);
  return path;
}

}  // namespace overlapack::tools
