#include "host/imports.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace overlapack {
namespace {

/// Places in an object at which the dynamic linker enters addresses.
struct Relocations {
  const ElfW(Rela) * first = nullptr;
  std::size_t bytes = 0;
};

/// What an object has of others.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  Relocations calls,
      others;  // which are calls, too, if the object is linked without a table of them
};

Imports imports_of(const link_map& object) {
  Imports imports;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto value = entry->d_un.d_val;
    // An address, if the dynamic linker could write it there, or else where it is in the object.
    const auto address = value < object.l_addr ? object.l_addr + value : value;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        imports.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        imports.names = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        imports.calls.first = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        imports.calls.bytes = value;
        break;
      case DT_RELA:
        imports.others.first = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        imports.others.bytes = value;
        break;
      default:
        break;
    }
  }
  return imports;
}

}  // namespace

/// dladdr() looks through all symbols of the object for the nearest one, which takes longer than
/// everything else here; newer C libraries can do without.
const link_map* object_at(const void* address) {
  link_map* map = nullptr;
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) == 0) map = found.dlfo_link_map;
#else
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) != 0) map = static_cast<link_map*>(extra);
#endif
  return map;
}

/// Not dlsym(): a program that is linked to a fixed address may have a place of its own for the
/// addresses of such functions, which its libraries' calls do not take.
const void* target_of_calls(const link_map& object, const char* function) {
  const Imports imports = imports_of(object);
  if (imports.symbols == nullptr || imports.names == nullptr) return nullptr;
  for (const auto& [first, bytes] : {imports.calls, imports.others}) {
    if (first == nullptr) continue;
    for (std::size_t i = 0; i < bytes / sizeof *first; ++i) {
      const auto type = ELF64_R_TYPE(first[i].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const auto& symbol = imports.symbols[ELF64_R_SYM(first[i].r_info)];
      if (std::strcmp(imports.names + symbol.st_name, function) != 0) continue;
      return *reinterpret_cast<const void* const*>(object.l_addr + first[i].r_offset);
    }
  }
  return nullptr;
}

}  // namespace overlapack
