// What the shared library tells the command of each process that has loaded it, if the command has
// asked for that: a program may make no call, or the library may never reach it.
#include <cstdlib>
#include <string>
#include <string_view>

#include "cpu/lapack.hpp"
#include "cpu/objects.hpp"
#include "dispatch/settings.hpp"
#include "host/messages.hpp"

namespace overlapack::compat {
namespace {

/// The file that OVERLAPACK_VERBOSE has behind such a mark; empty if it has none.
std::string file_behind(std::string_view mark) {
  const char* const value = secure_getenv("OVERLAPACK_VERBOSE");
  const std::string_view text = value != nullptr ? value : "";
  return std::string(text.substr(0, mark.size()) == mark ? text.substr(mark.size()) : "");
}

void tell(const std::string& file, const std::string& line) {
  append(file, "overlapack " + line + "\n", IfAbsent::leave);
}

__attribute__((constructor)) void tell_of_loading() {
  for (const std::string_view mark : {dispatch::kSummaryLog, dispatch::kQuestion}) {
    const std::string file = file_behind(mark);
    if (!file.empty()) tell(file, std::string("loaded by ") + program_invocation_short_name);
  }
}

/// At the end of the process, when all its libraries are there. Nothing is opened here, nor asked
/// of dlsym(): that would construct anew what the end of the process has destroyed.
__attribute__((destructor)) void tell_of_lapacks() {
  const std::string file = file_behind(dispatch::kQuestion);
  if (file.empty()) return;
  tell(file, std::string("asked ") + program_invocation_short_name);
  for (const cpu::Family family : cpu::kFamilies) {
    for (const auto& object : cpu::loaded_objects(cpu::spell(family, 'd', "potrf"))) {
      if (object.definition != nullptr && !object.ours) tell(file, "lapack is " + object.file);
    }
  }
}

}  // namespace
}  // namespace overlapack::compat
