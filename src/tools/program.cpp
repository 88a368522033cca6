#include "tools/program.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace overlapack::tools {
namespace {

bool is_executable(const std::string& file) {
  struct stat status;
  return stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(file.c_str(), X_OK) == 0;
}

/// Whether the kernel gives a process of that file privileges that its user has not got.
bool raises_privileges(const std::string& file) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != getgid()) ||
         (getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0);
}

/// That a script names in its first line; empty if the file is none.
std::string interpreter_of(std::istream& in) {
  std::string first, interpreter;
  if (in.get() == '#' && in.get() == '!' && std::getline(in, first)) {
    std::istringstream(first) >> interpreter;
  }
  in.clear();
  in.seekg(0);
  return interpreter;
}

/// Whether the dynamic linker has a part in starting a program: it is named in it.
bool is_linked_dynamically(std::istream& in, const Elf64_Ehdr& head) {
  in.seekg(static_cast<std::streamoff>(head.e_phoff));
  Elf64_Phdr segment;
  for (int i = 0; i < head.e_phnum; ++i) {
    if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

}  // namespace

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_executable(program) ? program : "";
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + '/' + program;
    if (is_executable(file)) return file;
  }
  return {};
}

std::string why_not_preloaded(const std::string& file) {
  if (raises_privileges(file)) {
    return "runs with raised privileges (setuid or the like), and ignores LD_PRELOAD";
  }
  std::ifstream in(file, std::ios::binary);
  if (const std::string interpreter = interpreter_of(in); !interpreter.empty()) {
    // Not a script again: this comes to an end.
    std::ifstream other(interpreter, std::ios::binary);
    if (!interpreter_of(other).empty()) return {};
    const std::string reason = why_not_preloaded(interpreter);
    return reason.empty() ? reason : "is run by " + interpreter + ", which " + reason;
  }
  Elf64_Ehdr head;
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head)) return {};
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64) {
    return "is made for another kind of processor, or for 32 bits";
  }
  return is_linked_dynamically(in, head) ? "" : "is statically linked";
}

}  // namespace overlapack::tools
