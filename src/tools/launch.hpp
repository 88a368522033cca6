// Starting a program with the library preloaded, and waiting for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace overlapack::tools {

/// Has programs that are started later find the library before all others (LD_PRELOAD). Throws
/// std::runtime_error, for the user to read, if that cannot be.
void preload_library();

/// How a program did that has been started.
struct Outcome {
  int error = 0;   ///< errno, if it could not be started
  int status = 0;  ///< as waitpid() has it
};
/// Starts a program, hands signals on to it and waits for its end.
Outcome run_to_its_end(const std::vector<std::string>& program);
/// Starts it in place of this process. Returns errno if that could not be.
int replace_by(const std::vector<std::string>& program);
/// Ends this process as that one ended.
[[noreturn]] void exit_like(int status);

/// A file to which the library is to write, removed with the object. In TMPDIR or, where no file
/// can be made there, /tmp or /dev/shm.
class TemporaryFile {
 public:
  /// Throws std::runtime_error, for the user to read.
  TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace overlapack::tools
