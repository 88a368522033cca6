// Files for results. Whether they can be written is asked before the work that would be lost.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace overlapack::tools {

/// Throws std::system_error, for the user to read.
[[noreturn]] void fail_to_write(const std::string& path, int error);

/// Fails if `path` cannot be written. A file that is not there is made, and what is in one stays.
void check_writable(const std::string& path);

/// Without symbolic links, as far as it is there. Empty, and why, if that cannot be said.
std::filesystem::path real_path(const std::string& path, std::error_code& error);

/// A regular file that is written as a whole or not at all, where its folder allows that. Anything
/// else (a pipe, /dev/stdout) is written into.
class WholeFile {
 public:
  /// Makes its folder, and throws std::system_error, for the user to read, if it cannot be written.
  explicit WholeFile(const std::string& path);
  void write(const std::string& text) const;
  /// The path behind symbolic links.
  const std::filesystem::path& target() const { return target_; }

 private:
  std::string path_;
  std::filesystem::path target_;
  bool other_;  // no regular file
};

/// Throws std::runtime_error, for the user to read, if standard output is closed.
void check_standard_output();

/// Keeps the numbers of closed standard files from files that are opened later: what is printed
/// would go into them. Programs that this process starts find them closed as before.
void occupy_standard_files();

}  // namespace overlapack::tools
