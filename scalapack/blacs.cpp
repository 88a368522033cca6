#include "blacs.hpp"

#include <dlfcn.h>

#include "cpu/objects.hpp"
#include "host/errno_guard.hpp"
#include "host/imports.hpp"
#include "host/once.hpp"

namespace overlapack::scalapack {
namespace {

template <class Function>
bool find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(next(name));
  return function != nullptr;
}

}  // namespace

void* next(const char* name) {
  const DlerrorGuard guard;
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  const link_map* const ours = object_at(reinterpret_cast<const void*>(&next));
  for (const auto& object : cpu::loaded_objects(name)) {
    if (object.definition != nullptr && object_at(object.definition) != ours) {
      return object.definition;
    }
  }
  return nullptr;
}

const Blacs* blacs() {
  struct Found {
    Blacs functions;
    bool all;
  };
  static Once<Found> once;
  const Found& found = once.get([] {
    auto* const found = new Found{};
    Blacs& functions = found->functions;
    found->all = find(functions.gridinfo, "Cblacs_gridinfo") && find(functions.get, "Cblacs_get") &&
                 find(functions.gridmap, "Cblacs_gridmap") &&
                 find(functions.gridexit, "Cblacs_gridexit") &&
                 find(functions.igamn2d, "Cigamn2d") && find(functions.igsum2d, "Cigsum2d");
    return found;
  });
  return found.all ? &found.functions : nullptr;
}

}  // namespace overlapack::scalapack
