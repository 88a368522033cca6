#include "host/imports.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "host/dynamic_section.hpp"

namespace overlapack {
namespace {

/// Places in an object at which the dynamic linker enters addresses.
struct Relocations {
  const ElfW(Rela) * first = nullptr;
  std::size_t bytes = 0;
};

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
  const DynamicSection section(object);
  const auto* const symbols = section.pointer<ElfW(Sym)>(DT_SYMTAB);
  const char* const names = section.pointer<char>(DT_STRTAB);
  if (symbols == nullptr || names == nullptr) return nullptr;
  // An object that is linked without a table of its calls has them among the others.
  const Relocations calls{section.pointer<ElfW(Rela)>(DT_JMPREL), section.value(DT_PLTRELSZ)};
  const Relocations others{section.pointer<ElfW(Rela)>(DT_RELA), section.value(DT_RELASZ)};
  for (const auto& [first, bytes] : {calls, others}) {
    if (first == nullptr) continue;
    for (std::size_t i = 0; i < bytes / sizeof *first; ++i) {
      const auto type = ELF64_R_TYPE(first[i].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const auto& symbol = symbols[ELF64_R_SYM(first[i].r_info)];
      if (std::strcmp(names + symbol.st_name, function) != 0) continue;
      return *reinterpret_cast<const void* const*>(object.l_addr + first[i].r_offset);
    }
  }
  return nullptr;
}

}  // namespace overlapack
