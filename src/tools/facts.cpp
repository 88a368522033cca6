#include "tools/facts.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "cpu/lapack.hpp"
#include "device/cuda/runtime/plugin.hpp"
#include "dispatch/context.hpp"
#include "routines.hpp"
#include "scopes.hpp"
#include "tools/commands.hpp"
#include "tools/hardware.hpp"
#include "tools/problem.hpp"
#include "tools/version.hpp"

namespace overlapack::tools {

using Json = nlohmann::ordered_json;

namespace {

/// Null for an empty text.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

const char* clients_of(cpu::Family family) {
  switch (family) {
    case cpu::Family::lp64:
      return "32-bit integers";
    case cpu::Family::ilp64:
      return "64-bit integers (OpenBLAS64)";
    case cpu::Family::scipy_lp64:
      return "32-bit integers, SciPy's wheels";
    default:
      return "64-bit integers, NumPy's wheels";
  }
}

Json facts_of(const Device& device) {
  return {{"name", device.name()}, {"model", device.model()}, {"memory", device.memory()}};
}

/// Its path; empty if there is none.
std::string installed_plugin() {
  for (const int major : kCudaMajors) {
    for (const std::string& folder : {std::string(kCudaPluginFolder) + '/', std::string()}) {
      const std::string found = find_installed(folder + cuda_plugin(major));
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::string file_of(const std::string& source) { return source.substr(0, source.find(" (")); }

/// The names of a family that another library serves than that of potrf in double precision, by the
/// library.
Json exceptions_of(cpu::Family family) {
  const std::string usual = file_of(cpu::lapack<double>(family).source("potrf"));
  Json names = Json::object();
  for (const RoutineRow& row : kRoutineRows) {
    for (const char type : dispatch::kTypeLetters) {
      if (!is_lapack(row.kind) || !row.exists_for(type)) continue;
      const std::string source = with_type(type, [&](auto scalar) {
        return cpu::lapack<decltype(scalar)>(family).source(row.name);
      });
      if (file_of(source) != usual) names[source].push_back(cpu::spell(family, type, row.name));
    }
  }
  return names;
}

/// An exported name.
struct Name {
  RoutineKind kind;
  cpu::Family family;
  char type;
  const char* text;
};
constexpr Name kNames[] = {
#define OVERLAPACK_NAME(symbol, spelling, type, name, kind, result, entry, parameters, arguments) \
  {RoutineKind::kind, compat::spelling::kFamily, #type[0], #symbol},
#include "expand.def"
};

/// The names that `belongs` says, by type.
template <class Belongs>
Json names_that(Belongs belongs) {
  Json names = Json::array();
  for (const char type : dispatch::kTypeLetters) {
    for (const Name& name : kNames) {
      if (name.type == type && belongs(name)) names.push_back(name.text);
    }
  }
  return names;
}

/// Whether the device or file that a setting names has turned out to be of no use.
bool is_useless(const std::string& name) {
  dispatch::Context& context = dispatch::Context::instance();
  if (name == "OVERLAPACK_DEVICE") {
    return context.settings().cuda_index && context.device() == nullptr;
  }
  if (name == "OVERLAPACK_PROFILE") {
    return !context.settings().profile.empty() &&
           context.profile().source == dispatch::Profile::kBuiltIn;
  }
  return name == "OVERLAPACK_CPU_LAPACK" && !context.settings().cpu_lapack.empty() &&
         !cpu::is_configured();
}

}  // namespace

Json version_facts() {
  const Version& v = version();
  return {{"number", v.number},
          {"commit", text_or_null(v.commit)},
          {"cuda", text_or_null(v.cuda)},
          {"architectures", v.architectures}};
}

Json device_facts() {
  auto& context = dispatch::Context::instance();
  Json facts;
  const Device* const device = context.device();
  facts["in_use"] = device != nullptr ? facts_of(*device) : Json();
  if (device != nullptr) facts["in_use"]["emulated"] = device->emulated();
  facts["status"] = context.device_status();
  facts["gpus"] = Json::array();
  facts["no_gpu"] = nullptr;
  try {
    for (int i = 0;; ++i) facts["gpus"].push_back(facts_of(*dispatch::open_cuda_device(i)));
  } catch (const DeviceError& error) {  // there is no further one
    if (facts["gpus"].empty()) facts["no_gpu"] = error.what();
  }
  facts["driver"] = text_or_null(driver_version());
  const std::string loaded = plugin_path();
  const std::string plugin = loaded.empty() ? installed_plugin() : loaded;
  facts["plugin"] = plugin.empty() ? Json() : Json{{"file", plugin}, {"loaded", !loaded.empty()}};
  return facts;
}

Json cpu_facts() {
  dispatch::Context::instance();  // the settings may name a library
  Json facts = {
      {"model", cpu_model()}, {"cores", available_cores()}, {"lapack", cpu_lapack_description()}};
  const std::string first = cpu::lapack<double>(cpu::kFamilies[0]).source("potrf");
  for (const cpu::Family family : cpu::kFamilies) {
    std::string source = cpu::lapack<double>(family).source("potrf");
    // What served the first family is in the process now, which is no news.
    if (file_of(source) == file_of(first)) source = first;
    facts["families"].push_back({{"dpotrf", cpu::spell(family, 'd', "potrf")},
                                 {"clients", clients_of(family)},
                                 {"served_by", source},
                                 {"but", exceptions_of(family)},
                                 {"names", names_that([&](const Name& name) {
                                    return is_lapack(name.kind) && name.family == family;
                                  })}});
  }
  return facts;
}

Json other_names() {
  return {{"updates", names_that([](const Name& name) {
             return name.kind == RoutineKind::update || name.kind == RoutineKind::native;
           })},
          {"copies", names_that([](const Name& name) { return name.kind == RoutineKind::blas; })}};
}

Json size_facts() {
  dispatch::Context& context = dispatch::Context::instance();
  const Device* const device = context.device();
  const dispatch::Profile& profile = context.profile();
  const bool read = profile.source != dispatch::Profile::kBuiltIn;
  Json facts = {
      {"source", read ? profile.source + "; built-in where that says nothing" : profile.built_in()},
      {"built_in_origin", device == nullptr ? Json() : Json(device->tuning().break_even.origin)}};
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    const auto routine = static_cast<dispatch::Routine>(r);
    if (!is_for_device(routine)) continue;
    Json& sizes = facts["sizes"][title_of(routine)];
    for (const char type : dispatch::kTypeLetters) {
      if (!dispatch::exists(routine, type)) continue;
      const Index size = profile.at(routine, type, device);
      sizes[std::string(1, type)] = size >= dispatch::kNever ? Json() : Json(size);
    }
  }
  return facts;
}

Json setting_facts() {
  Json facts;
  for (const dispatch::Setting& setting : dispatch::kSettings) {
    const char* const variable = std::getenv(setting.name);
    const std::string value = variable == nullptr ? "" : variable;
    const bool ignored = !check_setting(setting.name, value).empty() || is_useless(setting.name);
    facts[setting.name] = {{"value", text_or_null(value)},
                           {"ignored", ignored},
                           {"accepted", setting.values},
                           {"meaning", setting.meaning}};
  }
  return facts;
}

}  // namespace overlapack::tools
