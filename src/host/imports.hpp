// Objects that the dynamic linker has loaded: the program and its libraries.
#pragma once

#include <link.h>

namespace overlapack {

/// What the dynamic linker knows of the object that an address lies in, or null.
const link_map* object_at(const void* address);

/// Where an object's calls of a function of others go, or null if it has none. For a function that
/// it has not called yet that may be a place of its own, at which the function would be looked up.
const void* target_of_calls(const link_map& object, const char* function);

}  // namespace overlapack
