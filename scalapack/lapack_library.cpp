#include "lapack_library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <stdexcept>

#include "host/errno_guard.hpp"
#include "invoke.hpp"
#include "overlapack/settings.h"

namespace overlapack::scalapack {

std::string lapack_library_file() {
  Dl_info info;
  const void* const here = reinterpret_cast<const void*>(&lapack_library_file);
  if (dladdr(here, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string us = info.dli_fname;
  const std::string file = us.substr(0, us.find_last_of('/') + 1) + "liboverlapack.so.0";
  return access(file.c_str(), R_OK) == 0 ? file : "";
}

LapackLibrary::LapackLibrary() {
  const DlerrorGuard guard;
  handle_ = dlopen(lapack_library_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
  start_device();
  const std::string found = device();
  if (found.rfind("cuda:", 0) != 0 && found.rfind("host ", 0) != 0) {
    throw std::runtime_error(found);
  }
}

void* LapackLibrary::function(const std::string& name) const {
  const DlerrorGuard guard;
  void* const found = dlsym(handle_, name.c_str());
  if (found == nullptr) throw std::runtime_error("liboverlapack.so has no " + name);
  return found;
}

/// By a call that is large enough as long as a setting says so.
void LapackLibrary::start_device() const {
  constexpr const char* kSetting = "OVERLAPACK_MIN_N";
  const auto get = reinterpret_cast<decltype(&ovl_get)>(function("ovl_get"));
  const auto set = reinterpret_cast<decltype(&ovl_set)>(function("ovl_set"));
  char before[64] = {};
  get(kSetting, before, sizeof before);
  set(kSetting, "1");
  constexpr int kOrder = 2;
  double a[kOrder * kOrder] = {1, 0, 0, 1};
  call_potrf(function("dpotrf_"), kOrder, a);
  set(kSetting, before);
}

std::string LapackLibrary::device() const {
  const auto info = reinterpret_cast<decltype(&ovl_info)>(function("ovl_info"));
  std::string text(4096, '\0');
  info(text.data(), text.size());
  constexpr const char* kName = "\ndevice: ";
  const std::size_t begin = text.find(kName);
  if (begin == std::string::npos) return "liboverlapack.so does not name its device";
  const std::size_t value = begin + std::string(kName).size();
  return text.substr(value, text.find('\n', value) - value);
}

}  // namespace overlapack::scalapack
