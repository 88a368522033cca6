#include "cpu/objects.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "host/dynamic_section.hpp"
#include "host/once.hpp"

namespace overlapack::cpu {
namespace {

constexpr std::size_t kPageBytes = 4096;

/// Names and definitions in the dynamic section of an object.
class Dynamic : public DynamicSection {
 public:
  using DynamicSection::DynamicSection;

  /// Calls visit(name) for each name that entries with that tag have.
  template <class Visit>
  void each_name(ElfW(Sxword) tag, Visit visit) const {
    const char* const names = pointer<char>(DT_STRTAB);
    each(tag, [&](ElfW(Xword) offset) { visit(names + offset); });
  }

  /// The address of a function that the object defines, or null.
  void* function(const char* name) const {
    const ElfW(Sym)* const symbol = find(name);
    if (symbol == nullptr || symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0) return nullptr;
    void* const address = reinterpret_cast<void*>(base() + symbol->st_value);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC) return address;
    return reinterpret_cast<void* (*)()>(address)();
  }

 private:
  /// By the hash table of GNU, or without one by comparing all names.
  const ElfW(Sym) * find(const char* name) const {
    const auto* const symbols = pointer<ElfW(Sym)>(DT_SYMTAB);
    const char* const names = pointer<char>(DT_STRTAB);
    if (symbols == nullptr || names == nullptr) return nullptr;
    const auto is_named = [&](std::size_t i) {
      return std::strcmp(names + symbols[i].st_name, name) == 0;
    };
    if (const auto* table = pointer<std::uint32_t>(DT_GNU_HASH)) {
      const std::uint32_t buckets = table[0], first = table[1], filter_words = table[2];
      const std::uint32_t* const bucket = table + 4 + 2 * filter_words;
      std::uint32_t hash = 5381;
      for (const char* c = name; *c != '\0'; ++c) hash = 33 * hash + static_cast<std::uint8_t>(*c);
      std::uint32_t i = buckets > 0 ? bucket[hash % buckets] : 0;
      if (i < first || i == 0) return nullptr;
      for (;; ++i) {  // a chain of hashes, of which the last is odd
        const std::uint32_t other = bucket[buckets + i - first];
        if ((other | 1) == (hash | 1) && is_named(i)) return symbols + i;
        if ((other & 1) != 0) return nullptr;
      }
    }
    const auto* const table = pointer<std::uint32_t>(DT_HASH);
    for (std::size_t i = 1; table != nullptr && i < table[1]; ++i) {
      if (is_named(i)) return symbols + i;
    }
    return nullptr;
  }
};

bool has_wide_integers(const char* file, const Dynamic& dynamic) {
  bool wide = is_ilp64_file(file);
  dynamic.each_name(DT_NEEDED, [&](const char* name) { wide = wide || is_ilp64_file(name); });
  return wide;
}

/// Where an object lies, and its dynamic section, or null.
struct Layout {
  explicit Layout(const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info.dlpi_phdr[i];
      const auto address = static_cast<std::uintptr_t>(info.dlpi_addr + part.p_vaddr);
      if (part.p_type == PT_DYNAMIC) section = reinterpret_cast<const ElfW(Dyn)*>(address);
      if (part.p_type != PT_LOAD) continue;
      if (range.end == nullptr || address < reinterpret_cast<std::uintptr_t>(range.begin)) {
        range.begin = reinterpret_cast<const char*>(address / kPageBytes * kPageBytes);
      }
      range.end = std::max(range.end, reinterpret_cast<const char*>(address + part.p_memsz));
    }
  }
  AddressRange range;
  const ElfW(Dyn) * section = nullptr;
};

/// Whether the routines of an object would hand calls back to this library, as far as it is this
/// one or another copy.
bool is_ours(const AddressRange& range, const Dynamic& dynamic) {
  static const char kHere = 0;
  return range.contains(&kHere) || dynamic.function("ovl_dcholupdate") != nullptr;
}

LoadedObject read(const dl_phdr_info& info, const char* symbol) {
  LoadedObject object;
  object.file = object.name = info.dlpi_name != nullptr ? info.dlpi_name : "";
  const auto [range, section] = Layout(info);
  object.range = range;
  object.ours = file_name(object.file).find("blastrampoline") != std::string_view::npos;
  if (section == nullptr) return object;
  const Dynamic dynamic(info.dlpi_addr, section);
  dynamic.each_name(DT_SONAME, [&](const char* name) { object.name = name; });
  dynamic.each_name(DT_NEEDED, [&](const char* name) { object.needed.push_back(name); });
  object.definition = dynamic.function(symbol);
  object.wide = has_wide_integers(object.file.c_str(), dynamic);
  object.ours = object.ours || is_ours(range, dynamic);
  return object;
}

}  // namespace

std::vector<LoadedObject> loaded_objects(const std::string& symbol) {
  struct Result {
    const char* symbol;
    std::vector<LoadedObject> objects;
  } result{symbol.c_str(), {}};
  const OnceLock no_fork;  // in the middle of this, with the dynamic linker's lock
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [name, objects] = *static_cast<Result*>(data);
        objects.push_back(read(*info, name));
        return 0;
      },
      &result);
  return std::move(result.objects);
}

void* own_definition(const void* address, const char* symbol) {
  struct Question {
    const void* address;
    const char* symbol;
    void* answer;
  } question{address, symbol, nullptr};
  const OnceLock no_fork;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [wanted, name, answer] = *static_cast<Question*>(data);
        const auto [range, section] = Layout(*info);
        if (!range.contains(wanted)) return 0;
        if (section == nullptr) return 1;
        const Dynamic dynamic(info->dlpi_addr, section);
        if (!is_ours(range, dynamic)) answer = dynamic.function(name);
        return 1;
      },
      &question);
  return question.answer;
}

bool is_ilp64_file(std::string_view path) {
  const std::string_view file = file_name(path);
  for (const char* part : {"blas64", "lapack64", "ilp64"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool has_wide_integers(const link_map& object) {
  return has_wide_integers(object.l_name, Dynamic(object));
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
const char* beginning_of(const void* address) {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return nullptr;
  return static_cast<const char*>(found.dlfo_map_start);
}
#else
// C libraries before 2.35 count what they load and unload, so the thread's last answer is known to
// hold or not.
const char* beginning_of(const void* address) {
  struct Question {
    const void* address;
    const char* answer;
  } question{address, nullptr};
  const OnceLock no_fork;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        thread_local AddressRange last;
        thread_local unsigned long long changes_at_last = 0;
        auto& [wanted, answer] = *static_cast<Question*>(data);
        const unsigned long long changes = info->dlpi_adds + info->dlpi_subs;
        if (changes != changes_at_last || !last.contains(wanted)) {
          const AddressRange range = Layout(*info).range;
          if (!range.contains(wanted)) return 0;
          last = range;
          changes_at_last = changes;
        }
        answer = last.begin;
        return 1;
      },
      &question);
  return question.answer;
}
#endif

ObjectMark::ObjectMark(const char* begin) : begin_(begin) {
  if (begin == nullptr) return;
  constexpr char kHead[] = {3, 0, 0, 0, 'G', 'N', 'U', 0};  // of the note with the build ID
  const auto* const note =
      static_cast<const char*>(memmem(begin, kPageBytes - kBuildIdBytes, kHead, sizeof(kHead)));
  offset_ = note != nullptr ? static_cast<std::size_t>(note - begin) + sizeof(kHead) : 0;
  size_ = note != nullptr ? kBuildIdBytes : kHeadBytes;
  std::memcpy(bytes_, begin + offset_, size_);
}

bool ObjectMark::is(const char* begin) const {
  if (begin != begin_ || size_ == 0) return begin == begin_;
  const char* const bytes = begin + offset_;
  return size_ == kBuildIdBytes ? std::memcmp(bytes, bytes_, kBuildIdBytes) == 0
                                : std::memcmp(bytes, bytes_, size_) == 0;
}

}  // namespace overlapack::cpu
