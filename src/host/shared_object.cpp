#include "host/shared_object.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace overlapack {
namespace {

/// Whether `size` bytes hold so many from `offset` on.
bool holds(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

template <class T>
bool read_at(int file, std::uint64_t offset, T& value) {
  return pread(file, &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
}

bool ends_too_early(int file) {
  struct stat status;
  Elf64_Ehdr head;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  // The linker itself says of other files that they are no libraries.
  if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, head.e_phoff + i * sizeof segment, segment)) return true;
    if (segment.p_type == PT_LOAD && !holds(size, segment.p_offset, segment.p_filesz)) return true;
  }
  return false;
}

}  // namespace

bool is_cut_off(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  const bool cut_off = ends_too_early(file);
  close(file);
  return cut_off;
}

}  // namespace overlapack
