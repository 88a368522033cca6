// What the command lines of the command and of the benchmark have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/scalar.hpp"

namespace CLI {
class App;  // <CLI/CLI.hpp> takes seconds to compile
}

namespace overlapack::tools {

/// Gives an application, and the sub-commands added to it later, help in lines of at most 100
/// columns that leaves out which options exclude each other, and messages that say what to do.
void set_style(CLI::App& app);

/// Does the work of a program and returns its exit status: 2 for arguments that are refused, 1 for
/// what is thrown or if standard output does not take everything. All are said on standard error,
/// in lines that begin with the program and its sub-command. But who stops reading is told nothing:
/// the exit status then is the shell's for SIGPIPE.
int run_program(const CLI::App& app, const std::function<int()>& work);

/// Says on standard error which variables of the environment are called like settings and are none,
/// unless the library does so there.
void report_unknown_settings(const std::string& speaker);

/// Whether the library accepts `value` for an environment variable: empty, or the message for the
/// user.
std::string check_setting(const std::string& variable, const std::string& value);

/// An empty value is that of a shell variable that is not set, as a rule. Check for options, as the
/// next three; accepted_for() refuses it, too.
std::string not_empty(const std::string& value);

/// Checks of an option's value, likewise.
using Check = std::function<std::string(const std::string&)>;
Check accepted_for(const std::string& variable);
Check whole_number(Index least);  ///< at most kMaxWholeNumber
Check number(double least);
Check one_of(std::vector<std::string> accepted);

/// The default of --device: what OVERLAPACK_DEVICE says, or "auto".
std::string default_device();

}  // namespace overlapack::tools
