// What a program can ask of the library, and change, while it runs (include/overlapack/settings.h).
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "cpu/lapack.hpp"
#include "cpu/objects.hpp"
#include "dispatch/context.hpp"
#include "host/once.hpp"
#include "host/workers.hpp"
#include "overlapack/settings.h"

namespace overlapack::compat {
namespace {

using dispatch::Context;
using dispatch::kSettings;

/// The place of a setting in kSettings; none if there is no such setting.
std::optional<std::size_t> place_of(const char* name) {
  const auto found =
      std::find_if(kSettings.begin(), kSettings.end(), [&](const dispatch::Setting& setting) {
        return name != nullptr && std::strcmp(setting.name, name) == 0;
      });
  if (found == kSettings.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kSettings.begin());
}

/// As snprintf stores a text.
int store(const std::string& from, char* text, std::size_t size) {
  if (size > 0) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), length);
    text[length] = '\0';
  }
  return static_cast<int>(from.size());
}

/// What `body` returns. Nothing may be thrown at a C program.
template <class Body>
int answer(Body body) noexcept {
  try {
    const AtWork at_work;
    return body();
  } catch (const std::bad_alloc&) {
    return OVL_NO_MEMORY;
  }
}

std::string file_of_this_library() {
  Dl_info info;
  const bool known = dladdr(reinterpret_cast<const void*>(&ovl_info), &info) != 0;
  return known && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::string facts() {
  Context& context = Context::instance();
  const dispatch::Settings& settings = context.settings();
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += name + ": " + value + '\n';
  };
  add("version", OVERLAPACK_VERSION);
  add("library", file_of_this_library());
  add("device", context.device_status_so_far());
  for (const cpu::Family family : cpu::kFamilies) {
    for (const auto& object : cpu::loaded_objects(cpu::spell(family, 'd', "potrf"))) {
      if (object.definition == nullptr || object.ours) continue;
      const std::string file = object.file.empty() ? "the program itself" : object.file;
      const bool known = text.find("\nlapack: " + file + '\n') != std::string::npos;
      if (!known) add("lapack", file);  // a library may have the names of several families
    }
  }
  add("threads", std::to_string(dispatch::copy_threads(settings, available_cores())));
  add("nvtx", !context.has_nvtx() ? "none" : settings.nvtx_blocks ? "blocks" : "calls");
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    if (!settings.given[i].empty()) add(kSettings[i].name, settings.given[i]);
  }
  return text;
}

}  // namespace
}  // namespace overlapack::compat

using namespace overlapack::compat;

#define OVERLAPACK_EXPORT extern "C" __attribute__((visibility("default")))

OVERLAPACK_EXPORT int ovl_set(const char* name, const char* value) {
  return answer([&]() -> int {
    const std::optional<std::size_t> place = place_of(name);
    if (!place) return OVL_UNKNOWN_SETTING;
    if (kSettings[*place].fixed) return OVL_FIXED_SETTING;
    const bool accepted = Context::instance().change(*place, value != nullptr ? value : "");
    return accepted ? 0 : int{OVL_BAD_VALUE};
  });
}

OVERLAPACK_EXPORT int ovl_get(const char* name, char* text, size_t size) {
  return answer([&]() -> int {
    const std::optional<std::size_t> place = place_of(name);
    if (!place) return OVL_UNKNOWN_SETTING;
    return store(Context::instance().settings().given[*place], text, size);
  });
}

OVERLAPACK_EXPORT int ovl_info(char* text, size_t size) {
  return answer([&] { return store(facts(), text, size); });
}

OVERLAPACK_EXPORT const char* ovl_error(int code) {
  switch (code) {
    case 0:
      return "no error";
    case OVL_UNKNOWN_SETTING:
      return "no setting has that name";
    case OVL_BAD_VALUE:
      return "the setting does not accept the value";
    case OVL_FIXED_SETTING:
      return "the setting cannot change while the process runs: set its environment variable "
             "before the process starts";
    case OVL_NO_MEMORY:
      return "out of memory";
    default:
      return "unknown error";
  }
}
