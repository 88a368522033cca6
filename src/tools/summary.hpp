// What `overlapack run --summary` says after the program.
#pragma once

#include <string>
#include <vector>

#include "tools/call_log.hpp"

namespace overlapack::tools {

/// Prints, on standard error, where calls went, and why some or all went to the CPU.
void print_summary(const std::vector<LoggedCall>& calls);

/// Prints why there is no call to sum up. `loaded_by` names the processes that had the library, as
/// far as that is known.
void print_why_no_call(const std::string& program, const std::vector<std::string>& loaded_by,
                       bool loading_is_known);

}  // namespace overlapack::tools
