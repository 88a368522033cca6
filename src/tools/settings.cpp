#include "tools/settings.hpp"

#include <vector>

#include "dispatch/policy.hpp"

namespace overlapack::tools {

std::string check_setting(const std::string& variable, const std::string& value) {
  std::vector<std::string> complaints;
  dispatch::parse_settings(
      [&](const char* name) { return variable == name ? value.c_str() : nullptr; }, complaints);
  if (complaints.empty()) return {};
  for (const dispatch::SettingDoc& setting : dispatch::setting_docs()) {
    if (variable == setting.name) return "'" + value + "' is not accepted: give " + setting.values;
  }
  return complaints.front();
}

}  // namespace overlapack::tools
