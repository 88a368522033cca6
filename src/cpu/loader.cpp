#include "cpu/loader.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cpu/callers.hpp"
#include "cpu/objects.hpp"
#include "host/dynamic_section.hpp"
#include "host/errno_guard.hpp"
#include "host/imports.hpp"
#include "host/shared_object.hpp"

// Weak, so that a process without any xerbla_ still loads us; and a reference at all, so that the
// linker exports the xerbla_ of an executable that defines its own.
extern "C" {
void xerbla_(const char*, const std::int32_t*, std::size_t) __attribute__((weak));
void xerbla_64_(const char*, const std::int64_t*, std::size_t) __attribute__((weak));
}

namespace overlapack::cpu {
namespace {

void* configured_handle = nullptr;

/// An object that the process has loaded.
struct Object {
  const link_map* identity = nullptr;
  std::string file;  // empty for the program itself, and if there is no such object

  bool operator==(const Object& other) const { return identity == other.identity; }
};

/// The object that an address lies in.
Object object_of(const void* address) {
  const link_map* const map = object_at(address);
  if (map == nullptr) return {};
  return {map, map->l_name};
}

Object this_library() {
  static const char kHere = 0;
  return object_of(&kHere);
}

/// Whether the routines of an object would hand calls back to this library for ever: it is this
/// one, another copy of it in the process, or a switch to some LAPACK that may be us (Julia's).
bool is_ours(const Object& object) {
  if (object == this_library()) return true;
  if (object.file.empty()) return false;  // the program itself
  if (object.file.find("blastrampoline") != std::string::npos) return true;
  void* const handle = dlopen(object.file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  const void* const mark = dlsym(handle, "ovl_dcholupdate");
  dlclose(handle);
  return mark != nullptr && object_of(mark) == object;
}

std::vector<Family> spellings(Family family) {
  std::vector<Family> order{family};
  for (bool same_width : {true, false}) {
    for (const Family f : kFamilies) {
      if (f != family && (is_wide(f) == is_wide(family)) == same_width) order.push_back(f);
    }
  }
  return order;
}

/// Routines that hand calls back to this library. Whoever looks for symbols holds the OnceLock,
/// which guards this.
std::vector<const void*>& excluded() {
  static auto* const addresses = new std::vector<const void*>;  // never destroyed
  return *addresses;
}

bool is_excluded(const void* address) {
  return std::find(excluded().begin(), excluded().end(), address) != excluded().end();
}

/// Looks in one place under some spellings.
Symbol look(void* handle, const std::vector<Family>& order, char type, const char* name,
            const char* how) {
  for (Family spelling : order) {
    void* const address = dlsym(handle, spell(spelling, type, name).c_str());
    if (address == nullptr || is_excluded(address)) continue;
    const Object object = object_of(address);
    if (is_ours(object)) continue;
    Symbol symbol;
    symbol.address = address;
    symbol.wide =
        is_wide(spelling) || (object.identity != nullptr && has_wide_integers(*object.identity));
    symbol.source = (object.file.empty() ? "the program itself" : object.file) + " (" + how + ")";
    return symbol;
  }
  return {};
}

/// Whether a program that calls the routine gets it from that object although this library has it:
/// the object comes first in the link order. It may hand its calls on to us, as a tool does that
/// counts them.
bool precedes_us(const Object& object, const std::vector<Family>& order, char type,
                 const char* name) {
  const Object ours = this_library();
  if (ours.file.empty()) return false;
  void* const handle = dlopen(ours.file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  const bool precedes = std::any_of(order.begin(), order.end(), [&](Family spelling) {
    const std::string symbol = spell(spelling, type, name);
    return object_of(dlsym(RTLD_DEFAULT, symbol.c_str())) == object &&
           object_of(dlsym(handle, symbol.c_str())) == ours;
  });
  dlclose(handle);
  return precedes;
}

/// A library whose LAPACK or BLAS the whole process sees, before or behind this one.
Object global_lapack() {
  for (const char* routine : {"gemm", "trsm", "getrf", "potrf", "lange"}) {
    for (const char type : {'s', 'd', 'c', 'z'}) {
      const std::string name = spell(Family::lp64, type, routine);
      for (void* scope : {RTLD_DEFAULT, RTLD_NEXT}) {
        const Object object = object_of(dlsym(scope, name.c_str()));
        if (object.identity != nullptr && !(object == this_library())) return object;
      }
    }
  }
  return {};
}

/// Whether the process has another malloc than the C library's, as with a sanitizer.
bool malloc_is_replaced() {
  return !(object_of(dlsym(RTLD_DEFAULT, "malloc")) ==
           object_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")));
}

/// Whether a library looks for names itself. Opened with RTLD_DEEPBIND it would find its own where
/// it looks for those of others, and call itself for ever.
bool uses_dlsym(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return false;
  const DynamicSection section(*map);
  const std::string_view names(section.pointer<char>(DT_STRTAB), section.value(DT_STRSZ));
  constexpr std::string_view kName("\0dlsym", 7);  // with its terminating zero
  return names.find(kName) != std::string_view::npos;
}

/// Opens a library so that it calls no routines with other integers (docs/design/0078). Returns
/// null and, in `error`, the reason if that cannot be.
void* open_lapack(const std::string& path, std::string& error) {
  if (void* const loaded = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) return loaded;
  const Object global = global_lapack();
  const bool astray =
      global.identity != nullptr && is_ilp64_file(global.file) != is_ilp64_file(path);
  int flags = RTLD_LOCAL;
  if (astray) {
    error = "it would call routines with other integers, of " + global.file;
    if (malloc_is_replaced()) return nullptr;
    flags |= RTLD_DEEPBIND;
  }
  // All names at once, before the process sees yet another library.
  void* handle = dlopen(path.c_str(), RTLD_NOW | flags);
  if (handle == nullptr) handle = dlopen(path.c_str(), RTLD_LAZY | flags);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    error = reason != nullptr ? reason : "it cannot be opened";
  } else if (astray && uses_dlsym(handle)) {
    dlclose(std::exchange(handle, nullptr));
  } else {
    error.clear();
  }
  return handle;
}

void* build_time_library() {
  static bool tried = false;  // guarded by OnceLock, which whoever looks for symbols holds
  static void* handle = nullptr;
  if (std::exchange(tried, true)) return handle;
  std::string error;
  for (const char* file : {OVERLAPACK_CPU_LAPACK_FILE, OVERLAPACK_CPU_LAPACK_SONAME}) {
    if (handle == nullptr && file[0] != '\0') handle = open_lapack(file, error);
  }
  return handle;
}

}  // namespace

bool is_in_numpy_linalg(const void* code) {
  constexpr std::string_view kModule = "_umath_linalg.";
  const link_map* const map = object_at(code);
  return map != nullptr && file_name(map->l_name).substr(0, kModule.size()) == kModule;
}

std::string spell(Family family, char type, const std::string& name) {
  const bool scipy = family == Family::scipy_lp64 || family == Family::scipy_ilp64;
  return (scipy ? "scipy_" : "") + std::string(1, type) + name + (is_wide(family) ? "_64_" : "_");
}

std::string open_configured(const std::string& path) {
  const DlerrorGuard dlerror_guard;
  close_configured();
  struct stat status;
  if (path.find('/') != std::string::npos && stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return "it is not a file";  // to open a pipe could take for ever
    if (is_cut_off(path)) return "the file is incomplete";
  }
  std::string error;
  configured_handle = open_lapack(path, error);
  return error;
}

bool has_configured() { return configured_handle != nullptr; }

void close_configured() {
  if (configured_handle != nullptr) dlclose(std::exchange(configured_handle, nullptr));
}

Symbol find_configured(Family family, char type, const char* name) {
  if (configured_handle == nullptr) return {};
  const DlerrorGuard dlerror_guard;
  Symbol symbol = look(configured_handle, spellings(family), type, name, "OVERLAPACK_CPU_LAPACK");
  symbol.configured = symbol.address != nullptr;
  return symbol;
}

void exclude(const void* address) { excluded().push_back(address); }

const std::vector<void*>& Search::objects() const {
  if (!objects_.empty()) return objects_;
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
          static_cast<std::vector<std::string>*>(data)->push_back(info->dlpi_name);
        }
        return 0;
      },
      &files);
  objects_.reserve(files.size());
  for (const std::string& file : files) {
    if (void* handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD)) objects_.push_back(handle);
  }
  return objects_;
}

Search::~Search() {
  for (void* handle : objects_) dlclose(handle);
}

/// Looks among the libraries that the process has loaded, under the family's own spelling or all of
/// them. What is found stays loaded, even if the program closes its library.
Symbol Search::in_process(Family family, bool all_spellings, char type, const char* name) const {
  const std::vector<Family> own{family}, order = all_spellings ? spellings(family) : own;
  // A name for 64-bit integers gets a library that has them, if there is one.
  const auto suits = [&](const Symbol& symbol) {
    return symbol.address != nullptr && (symbol.wide || !is_wide(family) || !all_spellings);
  };
  Symbol best = look(RTLD_NEXT, order, type, name, "next in the link order");
  for (std::size_t i = 0; !suits(best) && i < objects().size(); ++i) {
    const Symbol symbol = look(objects()[i], order, type, name, "already loaded");
    if (symbol.address == nullptr || (best.address != nullptr && !suits(symbol))) continue;
    // One with the integers of `_64_` is passed over only for a name that a caller gets there.
    const bool wide = is_wide(family) && symbol.wide;
    if (!precedes_us(object_of(symbol.address), wide ? own : order, type, name)) best = symbol;
  }
  if (best.address != nullptr) {
    dlopen(object_of(best.address).file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  }
  return best;
}

Symbol Search::find(Family family, char type, const char* name) const {
  const DlerrorGuard dlerror_guard;
  const Symbol configured = find_configured(family, type, name);
  if (configured.address != nullptr) return configured;
  // The library that this very name belongs to, even if its symbols are private (as those of
  // NumPy's wheel): a program that has other LAPACKs, too, would have called it without us.
  Symbol symbol = in_process(family, false, type, name);
  if (symbol.address == nullptr) symbol = in_process(family, true, type, name);
  return symbol;
}

Symbol find_at_build_time(Family family, char type, const char* name) {
  const DlerrorGuard dlerror_guard;
  if (build_time_library() == nullptr) return {};
  return look(build_time_library(), spellings(family), type, name,
              "found when overlapack was built");
}

void* find_xerbla(Family family, const void* caller) {
  const DlerrorGuard dlerror_guard;
  if (family == Family::lp64) {
    if (void* const found = own_xerbla(caller)) return found;
  }
  const bool scipy = family == Family::scipy_lp64 || family == Family::scipy_ilp64;
  const std::string own =
      std::string(scipy ? "scipy_xerbla" : "xerbla") + (is_wide(family) ? "_64_" : "_");
  void* found = dlsym(RTLD_DEFAULT, own.c_str());
  if (found == nullptr && family == Family::lp64) found = reinterpret_cast<void*>(&xerbla_);
  if (found == nullptr && family == Family::ilp64) found = reinterpret_cast<void*>(&xerbla_64_);
  return family == Family::lp64 && came_later(found, caller) ? nullptr : found;
}

}  // namespace overlapack::cpu
