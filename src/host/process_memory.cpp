#include "host/process_memory.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "host/errno_guard.hpp"
#include "host/new_memory.hpp"
#include "host/objects.hpp"
#include "host/once.hpp"

namespace overlapack::algorithms {
namespace {

/// Functions of the sanitizers' libraries, which may be part of the program, and of one that
/// valgrind preloads whatever its tool is.
constexpr const char* kOfWatchers[] = {"__asan_init", "__hwasan_init", "__msan_init", "__tsan_init",
                                       "_vgnU_freeres"};

/// malloc() of the GNU C library, or null.
const void* malloc_of_glibc() {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const void* const function = dlsym(library, "malloc");
  dlclose(library);
  return function;
}

/// Whether memory that always has pages of its own has a header as expected, and is new.
bool trial_is_as_expected() {
  // More than the size from which this is so can grow to, which freeing it would raise otherwise.
  constexpr std::size_t kBytes = std::size_t{33} << 20;
  const std::unique_ptr<void, void (*)(void*)> memory(std::malloc(kBytes), std::free);
  if (memory == nullptr) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.get());
  const Memory allocation = allocation_at(begin);
  return allocation.contains(begin) &&
         allocation.end - allocation.begin == malloc_usable_size(memory.get()) &&
         is_new(begin, allocation.end);
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

bool malloc_is_known(const void* code) {
  static Once<const void* const> known;  // null if it is not as expected
  const void* const function = known.get([] {
    const DlerrorGuard dlerror_guard;
    const ErrnoGuard errno_guard;
    return new const void*(trial_is_as_expected() ? malloc_of_glibc() : nullptr);
  });
  const link_map* const caller = object_at(code);
  return function != nullptr && caller != nullptr && target_of_calls(*caller, "malloc") == function;
}

}  // namespace overlapack::algorithms
