// `overlapack run`: start a program with the library preloaded.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "dispatch/settings.hpp"
#include "tools/call_log.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

namespace fs = std::filesystem;

// Under the name that an installation without the files for developers has, too.
constexpr const char* kLibrary = "liboverlapack.so.0";

// As env(1).
constexpr int kOwnFailure = 125, kCannotExecute = 126, kNotFound = 127;

int report_start_failure(const std::string& program, int error) {
  std::cerr << "overlapack: cannot start '" << program << "': " << std::strerror(error) << '\n';
  return error == ENOENT ? kNotFound : kCannotExecute;
}

volatile sig_atomic_t child_process = 0;

/// Hands a signal on to the child. The terminal (si_code SI_KERNEL) has signalled the child as well
/// already; only what a process sent to us alone is passed on.
void forward_signal(int signal, siginfo_t* from, void*) {
  if (from->si_code <= 0 && child_process > 0) kill(child_process, signal);
}

/// Starts the program and waits for it. Returns its wait status, or -errno if it did not start.
int spawn_and_wait(char* const* arguments) {
  const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
  sigset_t set, original;
  sigemptyset(&set);
  for (const int signal : forwarded) sigaddset(&set, signal);
  // Blocked until the child's id is known; the child itself gets the original mask and, because
  // handlers do not outlive exec, the default actions.
  sigprocmask(SIG_BLOCK, &set, &original);
  struct sigaction action = {};
  action.sa_sigaction = forward_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : forwarded) {
    struct sigaction current;
    sigaction(signal, nullptr, &current);
    if (current.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &original);
  signal(SIGCHLD, SIG_DFL);  // or else there might be no status to wait for
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) child_process = child;
  sigprocmask(SIG_SETMASK, &original, nullptr);
  if (error != 0) return -error;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_process = 0;
  return status;
}

/// Ends as the child ended.
int exit_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core = {0, 0};  // the child has left its own
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
  return 128 + signal;
}

struct Total {
  Index calls = 0;
  Index failed = 0;     // info != 0
  double largest = -1;  // operations of one call, whose shape follows
  std::string shape;
  double ms = 0, flops = 0, up = 0, down = 0;
};

std::string shape_of(const LoggedCall& logged) {
  const Shape& shape = logged.shape;
  std::string text = std::to_string(shape.m) + " x " + std::to_string(shape.n);
  // What is no LAPACK routine's and has them is an update of a Cholesky factor.
  if (shape.nrhs > 0) text += ", " + std::to_string(shape.nrhs) + (logged.call ? " rhs" : " vec");
  return text;
}

void print_summary(const std::vector<LoggedCall>& calls) {
  if (calls.empty()) {
    std::cerr << "overlapack: no call was logged: there was none of a routine that the library "
                 "serves,\nor none with valid arguments and something to do\n";
    return;
  }
  std::map<std::pair<std::string, std::string>, Total> totals;
  Total all;
  for (const LoggedCall& logged : calls) {
    for (Total* total : {&totals[{logged.name, logged.where}], &all}) {
      total->calls += 1;
      total->failed += logged.info != 0;
      if (logged.flops > total->largest) {
        total->largest = logged.flops;
        total->shape = shape_of(logged);
      }
      total->ms += logged.ms;
      total->flops += logged.flops;
      total->up += logged.bytes_up;
      total->down += logged.bytes_down;
    }
  }
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const std::string& where, const Total& t) {
    rows.push_back({name, where, std::to_string(t.calls), std::to_string(t.failed), t.shape,
                    brief(t.ms), brief(t.ms > 0 ? t.flops / t.ms / 1e6 : 0), brief(t.up / 1e6),
                    brief(t.down / 1e6)});
  };
  for (const auto& [key, total] : totals) add(key.first, key.second, total);
  if (totals.size() > 1) add("all", "", all);
  std::cerr << "\noverlapack: calls of this run\n";
  print_table(
      std::cerr,
      {"routine", "where", "calls", "info != 0", "largest", "ms", "GFLOP/s", "MB up", "MB down"},
      rows, 2);
}

/// Where the call log of a summary goes: the file the user wants anyway, or one that is removed
/// afterwards.
class LogFile {
 public:
  /// `wanted` is there, or empty.
  explicit LogFile(const std::string& wanted) : path_(wanted), temporary_(wanted.empty()) {
    if (temporary_) {
      make_temporary();
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
  LogFile(const LogFile&) = delete;
  ~LogFile() {
    if (temporary_) unlink(path_.c_str());
  }
  /// The value of OVERLAPACK_VERBOSE.
  std::string setting() const {
    return temporary_ ? std::string(dispatch::kSummaryLog) + path_ : path_;
  }
  std::vector<LoggedCall> read() const {
    std::ifstream in(path_);
    in.seekg(static_cast<std::streamoff>(start_));
    return read_call_log(in);
  }

 private:
  void make_temporary() {
    const char* const named = getenv("TMPDIR");
    const bool given = named != nullptr && *named != '\0';
    path_ = fs::absolute(given ? named : "/tmp") / "overlapack-XXXXXX";
    const int file = mkostemp(path_.data(), O_CLOEXEC);
    if (file < 0) {
      throw std::runtime_error("cannot make the file " + path_ + " for the log (" +
                               std::strerror(errno) + "); set TMPDIR or use --log FILE");
    }
    close(file);
  }

  std::string path_;
  bool temporary_;
  std::uintmax_t start_ = 0;
};

int start(const RunOptions& options) {
  const std::string library = find_installed(kLibrary);
  if (folder_of_command().empty()) {
    std::cerr << "overlapack: " << kFolderUnknown << "; set LD_PRELOAD to the path of " << kLibrary
              << " instead\n";
    return kOwnFailure;
  }
  if (library.empty()) {
    std::cerr << "overlapack: " << kLibrary << " is neither beside this command nor in ../"
              << OVERLAPACK_LIBDIR << '\n';
    return kOwnFailure;
  }
  if (library.find_first_of(": ") != std::string::npos) {
    std::cerr << "overlapack: LD_PRELOAD cannot name '" << library
              << "': its path contains a blank or a colon; install overlapack in a folder\n"
                 "whose path has neither\n";
    return kOwnFailure;
  }
  const char* const preloaded = getenv("LD_PRELOAD");
  const bool more = preloaded != nullptr && *preloaded != '\0';
  setenv("LD_PRELOAD", more ? (library + ":" + preloaded).c_str() : library.c_str(), 1);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  // Absolute, for programs that change their folder.
  std::string log = options.log;
  if (!log.empty()) {
    log = fs::absolute(log);
    check_writable(log);
    setenv("OVERLAPACK_VERBOSE", log.c_str(), 1);
  }

  std::vector<char*> arguments;
  for (const std::string& word : options.program)
    arguments.push_back(const_cast<char*>(word.data()));
  arguments.push_back(nullptr);
  if (!options.summary) {
    execvp(arguments[0], arguments.data());
    return report_start_failure(options.program[0], errno);
  }
  int status = 0;
  {
    const LogFile file(log);
    setenv("OVERLAPACK_VERBOSE", file.setting().c_str(), 1);
    status = spawn_and_wait(arguments.data());
    if (status < 0) return report_start_failure(options.program[0], -status);
    signal(SIGPIPE, SIG_IGN);  // nobody may read the summary
    print_summary(file.read());
  }
  return exit_like(status);
}

}  // namespace

int run(const RunOptions& options) {
  try {
    return start(options);
  } catch (const std::exception& error) {
    std::cerr << "overlapack: " << error.what() << '\n';
    return kOwnFailure;
  }
}

}  // namespace overlapack::tools
