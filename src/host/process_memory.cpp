#include "host/process_memory.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "host/errno_guard.hpp"
#include "host/imports.hpp"
#include "host/once.hpp"

namespace overlapack::algorithms {
namespace {

/// Functions of the sanitizers' libraries, which may be part of the program, and of one that
/// valgrind preloads whatever its tool is.
constexpr const char* kOfWatchers[] = {"__asan_init", "__hwasan_init", "__msan_init", "__tsan_init",
                                       "_vgnU_freeres"};

/// Functions of the GNU C library itself, whatever has taken their place; null if there is none.
struct Glibc {
  const void* malloc = nullptr;
  std::size_t (*usable_size)(void*) = nullptr;
};

const Glibc& glibc() {
  static Once<const Glibc> once;
  return once.get([] {
    const DlerrorGuard dlerror_guard;
    auto* const glibc = new Glibc;
    if (void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD)) {
      glibc->malloc = dlsym(library, "malloc");
      glibc->usable_size =
          reinterpret_cast<std::size_t (*)(void*)>(dlsym(library, "malloc_usable_size"));
      dlclose(library);
    }
    return glibc;
  });
}

}  // namespace

bool is_watched() {
  static Once<const bool> watched;
  return watched.get([] {
    const DlerrorGuard dlerror_guard;
    return new bool(std::any_of(std::begin(kOfWatchers), std::end(kOfWatchers),
                                [](auto* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }));
  });
}

bool malloc_is_glibcs(const void* code) {
  const link_map* caller = object_at(code);
  if (caller != nullptr) {
    const void* const of_python = target_of_calls(*caller, "PyMem_RawMalloc");
    if (of_python != nullptr) caller = object_at(of_python);
  }
  return caller != nullptr && glibc().malloc != nullptr &&
         target_of_calls(*caller, "malloc") == glibc().malloc;
}

std::size_t usable_size(std::uintptr_t begin) {
  const auto function = glibc().usable_size;
  return function != nullptr ? function(reinterpret_cast<void*>(begin)) : 0;
}

}  // namespace overlapack::algorithms
