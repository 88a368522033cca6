// The sub-commands of `overlapack`. Each returns the exit status.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/command_line.hpp"

namespace overlapack::tools {

/// The folder in which this command lies; empty if that cannot be told, without /proc as a rule.
std::string folder_of_command();
inline constexpr const char* kFolderUnknown =
    "cannot tell in which folder this command lies: /proc is not mounted";

/// A library beside this command (as in a build folder) or where `install` puts it; empty if it is
/// in neither place, or nobody can tell.
std::string find_installed(const std::string& library);

struct RunOptions {
  /// Settings for the program: environment variable and value.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string log;  ///< file the calls are logged to; empty: none asked for
  bool summary = false;
  std::vector<std::string> program;  ///< name and arguments
};
/// Runs a program under the library. Without a summary it replaces this process.
int run(const RunOptions& options);

struct InfoOptions {
  bool settings = false;  ///< all of them, and what they mean
  bool names = false;     ///< that are served, and by which CPU LAPACK
  bool sizes = false;     ///< from which calls go to the device
  bool tuning = false;    ///< the table of the device in use
  bool json = false;
  std::vector<std::string> program;  ///< whose CPU LAPACK is asked for, and arguments; or empty
};
/// Prints what the library would do here and why.
int info(const InfoOptions& options);
/// Prints the table of tuning of the device in use.
int print_tuning();

struct TuneOptions {
  std::vector<std::string> routines;  ///< "potrf", ..., "dsgesv"
  std::string types = "sdcz";
  Index max_n = 8192;
  bool quick = false;
  std::string device = default_device();
  std::string output;  ///< empty: where later runs look for it
};
/// Measures break-even sizes and writes them to the profile.
int tune(const TuneOptions& options);

}  // namespace overlapack::tools
