// The sub-commands of `overlapack`. Each returns the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/problem.hpp"

namespace overlapack::tools {

struct RunOptions {
  /// Settings for the program: environment variable and value.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string log;  ///< file the calls are logged to; empty: none asked for
  bool summary = false;
  std::vector<std::string> program;  ///< name and arguments
};
/// Runs a program under the library. Without a summary it replaces this process.
int run(const RunOptions& options);

/// Prints what the library would do here and why.
int info();

struct TuneOptions {
  std::vector<std::string> routines;  ///< "potrf", ...
  std::string types = "sdcz";
  Index max_n = 8192;
  bool quick = false;
  std::string device = "auto";
  std::string output;  ///< empty: where later runs look for it
};
/// Measures break-even sizes and writes them to the profile.
int tune(const TuneOptions& options);

/// The smallest size from which the device wins at every measured size up to `max_n`, or kNever.
/// Sizes are doubled from 32; then the gap below the first win is bisected until it is within
/// `precision` of its upper end. `wins(n)` measures one size; it is called at most once for each.
/// Doubling stops early when `wins` has said yes three times in a row.
Index find_break_even(Index max_n, double precision, const std::function<bool(Index)>& wins);
/// A threshold that no call reaches.
inline constexpr Index kNever = 1000000000;

/// Writes a file as a whole or not at all; creates the folders above it. Throws
/// std::system_error, std::filesystem::filesystem_error.
void write_atomically(const std::string& path, const std::string& text);

}  // namespace overlapack::tools
