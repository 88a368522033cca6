#include "cpu/loader.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <utility>

// Weak, so that a process without any xerbla_ still loads us; and a reference at all, so that the
// linker exports the xerbla_ of an executable that defines its own.
extern "C" {
void xerbla_(const char*, const std::int32_t*, std::size_t) __attribute__((weak));
void xerbla_64_(const char*, const std::int64_t*, std::size_t) __attribute__((weak));
}

namespace overlapack::cpu {
namespace {

void* configured_handle = nullptr;

const void* base_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

std::string file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "unknown";
}

/// Whether a routine would hand calls back to this library for ever: one of our own, one of another
/// copy of it in the process, or one of a switch to some LAPACK that may be us (Julia's).
bool is_ours(const void* address) {
  const void* const base = base_of(address);
  if (base == base_of(reinterpret_cast<const void*>(&is_ours))) return true;
  if (file_of(address).find("blastrampoline") != std::string::npos) return true;
  void* const object = dlopen(file_of(address).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return false;  // the program itself
  const void* const mark = dlsym(object, "ovl_dcholupdate");
  dlclose(object);
  return mark != nullptr && base_of(mark) == base;
}

/// Debian's ILP64 libraries (libopenblas64, liblapack64, libblas64) and MKL's (libmkl_intel_ilp64)
/// use the unsuffixed names.
bool is_ilp64_file(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  for (const char* part : {"blas64", "lapack64", "ilp64"}) {
    if (file.find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<Family> spellings(Family family) {
  std::vector<Family> order{family};
  for (bool same_width : {true, false}) {
    for (Family f : {Family::lp64, Family::ilp64, Family::scipy_lp64, Family::scipy_ilp64}) {
      if (f != family && (is_wide(f) == is_wide(family)) == same_width) order.push_back(f);
    }
  }
  return order;
}

/// Looks in one place under some spellings.
Symbol look(void* handle, const std::vector<Family>& order, char type, const char* name,
            const char* how) {
  for (Family spelling : order) {
    void* const address = dlsym(handle, spell(spelling, type, name).c_str());
    if (address == nullptr || is_ours(address)) continue;
    Symbol symbol;
    symbol.name = name;
    symbol.address = address;
    const std::string file = file_of(address);
    symbol.wide = is_wide(spelling) || is_ilp64_file(file);
    symbol.source = file + " (" + how + ")";
    return symbol;
  }
  return {};
}

/// Handles of all objects in the process, whether their symbols are global or not.
std::vector<void*> loaded_objects() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
          static_cast<std::vector<std::string>*>(data)->push_back(info->dlpi_name);
        }
        return 0;
      },
      &files);
  std::vector<void*> handles;
  for (const std::string& file : files) {
    if (void* handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD)) handles.push_back(handle);
  }
  return handles;
}

/// Looks among the libraries that the process has loaded. What is found stays loaded, even if the
/// program closes its library.
Symbol look_in_process(const std::vector<Family>& order, char type, const char* name) {
  Symbol symbol = look(RTLD_NEXT, order, type, name, "next in the link order");
  if (symbol.address != nullptr) {
    dlopen(file_of(symbol.address).c_str(), RTLD_LAZY | RTLD_NOLOAD);
    return symbol;
  }
  for (void* handle : loaded_objects()) {
    if (symbol.address == nullptr) {
      symbol = look(handle, order, type, name, "already loaded");
      if (symbol.address != nullptr) continue;  // keep this one open
    }
    dlclose(handle);
  }
  return symbol;
}

void* build_time_library() {
  static bool tried = false;  // guarded by OnceLock, which whoever looks for symbols holds
  static void* handle = nullptr;
  if (std::exchange(tried, true)) return handle;
  for (const char* file : {OVERLAPACK_CPU_LAPACK_SONAME, OVERLAPACK_CPU_LAPACK_FILE}) {
    if (handle == nullptr && file[0] != '\0') handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  }
  return handle;
}

}  // namespace

std::string spell(Family family, char type, const std::string& name) {
  const bool scipy = family == Family::scipy_lp64 || family == Family::scipy_ilp64;
  return (scipy ? "scipy_" : "") + std::string(1, type) + name + (is_wide(family) ? "_64_" : "_");
}

std::string open_configured(const std::string& path) {
  close_configured();
  struct stat status;
  if (path.find('/') != std::string::npos && stat(path.c_str(), &status) == 0 &&
      !S_ISREG(status.st_mode)) {
    return "it is not a file";  // to open a pipe could take for ever
  }
  configured_handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (configured_handle != nullptr) return {};
  const char* const reason = dlerror();
  return reason != nullptr ? reason : "it cannot be opened";
}

void close_configured() {
  if (configured_handle != nullptr) dlclose(std::exchange(configured_handle, nullptr));
}

Symbol find_configured(Family family, char type, const char* name) {
  if (configured_handle == nullptr) return {};
  return look(configured_handle, spellings(family), type, name, "OVERLAPACK_CPU_LAPACK");
}

Symbol find_symbol(Family family, char type, const char* name) {
  const Symbol configured = find_configured(family, type, name);
  if (configured.address != nullptr) return configured;
  // The library that this very name belongs to, even if its symbols are private (as those of
  // NumPy's wheel): a program that has other LAPACKs, too, would have called it without us.
  Symbol symbol = look_in_process({family}, type, name);
  symbol.foreign = symbol.address != nullptr && symbol.wide != is_wide(family) &&
                   dlsym(RTLD_NEXT, spell(family, type, name).c_str()) == symbol.address;
  if (symbol.address == nullptr) symbol = look_in_process(spellings(family), type, name);
  if (symbol.address == nullptr && build_time_library() != nullptr) {
    symbol = look(build_time_library(), spellings(family), type, name,
                  "found when overlapack was built");
  }
  symbol.name = name;
  return symbol;
}

void* find_xerbla(Family family) {
  const bool scipy = family == Family::scipy_lp64 || family == Family::scipy_ilp64;
  const std::string own =
      std::string(scipy ? "scipy_xerbla" : "xerbla") + (is_wide(family) ? "_64_" : "_");
  if (void* const found = dlsym(RTLD_DEFAULT, own.c_str())) return found;
  if (family == Family::lp64) return reinterpret_cast<void*>(&xerbla_);
  if (family == Family::ilp64) return reinterpret_cast<void*>(&xerbla_64_);
  return nullptr;
}

}  // namespace overlapack::cpu
