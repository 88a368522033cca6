// Options that mirror settings of the library.
#pragma once

#include <string>

namespace overlapack::tools {

/// Whether the library accepts `value` for an environment variable: empty, or the message for the
/// user. Fit to be a CLI11 validator.
std::string check_setting(const std::string& variable, const std::string& value);

}  // namespace overlapack::tools
