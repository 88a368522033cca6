// `overlapack run`: start a program with the library preloaded.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "dispatch/settings.hpp"
#include "tools/call_log.hpp"
#include "tools/commands.hpp"
#include "tools/launch.hpp"
#include "tools/output.hpp"
#include "tools/summary.hpp"

namespace overlapack::tools {
namespace {

namespace fs = std::filesystem;

// As env(1).
constexpr int kOwnFailure = 125, kCannotExecute = 126, kNotFound = 127;

int report_start_failure(const std::string& program, int error) {
  std::cerr << "overlapack run: cannot start '" << program << "': " << std::strerror(error) << '\n';
  return error == ENOENT ? kNotFound : kCannotExecute;
}

/// Where the call log of a summary goes: the file the user wants anyway, or one that is removed
/// afterwards.
class SummaryLog {
 public:
  /// `wanted` is there, or empty.
  explicit SummaryLog(const std::string& wanted) : path_(wanted) {
    if (wanted.empty()) {
      path_ = temporary_.emplace().path();
    } else if (!fs::is_regular_file(path_)) {
      throw std::runtime_error("--summary reads the log afterwards, and " + path_ +
                               " is no regular file");
    } else if (access(path_.c_str(), R_OK) != 0) {
      throw std::system_error(errno, std::generic_category(),
                              "--summary reads the log afterwards: cannot read " + path_);
    } else {
      start_ = fs::file_size(path_);  // what earlier runs appended is not ours
    }
  }
  /// The value of OVERLAPACK_VERBOSE.
  std::string setting() const {
    return temporary_ ? std::string(dispatch::kSummaryLog) + path_ : path_;
  }
  void print(const std::string& program) const {
    std::ifstream in(path_);
    in.seekg(static_cast<std::streamoff>(start_));
    const std::vector<LoggedCall> calls = read_call_log(in);
    if (!calls.empty()) return print_summary(calls);
    in.clear();
    in.seekg(static_cast<std::streamoff>(start_));
    print_why_no_call(program, read_told(in, "loaded by"), temporary_.has_value());
  }

 private:
  std::string path_;
  std::optional<TemporaryFile> temporary_;
  std::uintmax_t start_ = 0;
};

int start(const RunOptions& options) {
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  preload_library();
  // Absolute, for programs that change their folder.
  std::string log = options.log;
  if (!log.empty()) {
    log = fs::absolute(log);
    check_writable(log);
    setenv("OVERLAPACK_VERBOSE", log.c_str(), 1);
  }
  const std::string& program = options.program[0];
  if (!options.summary) {
    report_unknown_settings("overlapack run");
    return report_start_failure(program, replace_by(options.program));
  }
  Outcome outcome;
  {
    const SummaryLog file(log);
    setenv("OVERLAPACK_VERBOSE", file.setting().c_str(), 1);
    report_unknown_settings("overlapack run");
    outcome = run_to_its_end(options.program);
    if (outcome.error != 0) return report_start_failure(program, outcome.error);
    signal(SIGPIPE, SIG_IGN);  // nobody may read the summary
    file.print(program);
  }
  exit_like(outcome.status);
}

}  // namespace

int run(const RunOptions& options) {
  try {
    return start(options);
  } catch (const std::exception& error) {
    std::cerr << "overlapack run: " << error.what() << '\n';
    return kOwnFailure;
  }
}

}  // namespace overlapack::tools
