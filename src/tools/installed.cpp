#include <sys/auxv.h>

#include <filesystem>

#include "tools/commands.hpp"

namespace overlapack::tools {

namespace fs = std::filesystem;

std::string folder_of_command() {
  std::error_code error;
  fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (error) {  // no /proc: the name that the kernel was given
    const auto name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    command = fs::canonical(name != nullptr ? name : "", error);
  }
  return error ? fs::path() : command.parent_path();
}

std::string find_installed(const std::string& library) {
  const fs::path here = folder_of_command();
  if (here.empty()) return {};
  for (const fs::path& folder : {here, here / ".." / OVERLAPACK_LIBDIR, here / ".." / "lib"}) {
    std::error_code ignored;
    const fs::path found = fs::canonical(folder / library, ignored);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace overlapack::tools
