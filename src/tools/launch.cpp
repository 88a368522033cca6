#include "tools/launch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "tools/commands.hpp"

namespace overlapack::tools {
namespace {

namespace fs = std::filesystem;

// Under the name that an installation without the files for developers has, too.
constexpr const char* kLibrary = "liboverlapack.so.0";
constexpr const char* kScalapackLibrary = "liboverlapack_scalapack.so.0";

volatile sig_atomic_t child_process = 0;

/// Hands a signal on to the child. The terminal (si_code SI_KERNEL) has signalled the child as well
/// already; only what a process sent to us alone is passed on.
void forward_signal(int signal, siginfo_t* from, void*) {
  if (from->si_code <= 0 && child_process > 0) kill(child_process, signal);
}

std::vector<char*> words_of(const std::vector<std::string>& program) {
  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.data()));
  words.push_back(nullptr);
  return words;
}

void preload(const std::string& name) {
  const std::string library = find_installed(name);
  if (folder_of_command().empty()) {
    throw std::runtime_error(std::string(kFolderUnknown) + "; set LD_PRELOAD to the path of " +
                             name + " instead");
  }
  if (library.empty()) {
    throw std::runtime_error(name + " is neither beside this command nor in ../" +
                             OVERLAPACK_LIBDIR);
  }
  if (library.find_first_of(": ") != std::string::npos) {
    throw std::runtime_error("LD_PRELOAD cannot name '" + library +
                             "': its path contains a blank or a colon; install overlapack in a "
                             "folder\nwhose path has neither");
  }
  const char* const preloaded = getenv("LD_PRELOAD");
  const bool more = preloaded != nullptr && *preloaded != '\0';
  setenv("LD_PRELOAD", more ? (library + ":" + preloaded).c_str() : library.c_str(), 1);
}

}  // namespace

void preload_library() {
  preload(kLibrary);
  const char* const scalapack = getenv("OVERLAPACK_SCALAPACK");
  const bool wanted = scalapack != nullptr && *scalapack != '\0' && std::string(scalapack) != "off";
  if (wanted) preload(kScalapackLibrary);
}

Outcome run_to_its_end(const std::vector<std::string>& program) {
  const std::vector<char*> words = words_of(program);
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
  Outcome outcome;
  outcome.error = posix_spawnp(&child, words[0], nullptr, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (outcome.error == 0) child_process = child;
  sigprocmask(SIG_SETMASK, &original, nullptr);
  if (outcome.error != 0) return outcome;
  while (waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  child_process = 0;
  return outcome;
}

int replace_by(const std::vector<std::string>& program) {
  const std::vector<char*> words = words_of(program);
  execvp(words[0], words.data());
  return errno;
}

void exit_like(int status) {
  if (WIFEXITED(status)) exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const rlimit no_core = {0, 0};  // the child has left its own
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
  exit(128 + signal);
}

TemporaryFile::TemporaryFile() {
  const char* const named = getenv("TMPDIR");
  const bool given = named != nullptr && *named != '\0';
  std::string reasons;
  for (const char* folder : {given ? named : "", "/tmp", "/dev/shm"}) {
    if (*folder == '\0') continue;
    path_ = fs::absolute(folder) / "overlapack-XXXXXX";
    const int file = mkostemp(path_.data(), O_CLOEXEC);
    if (file >= 0) {
      close(file);
      return;
    }
    reasons += (reasons.empty() ? "" : ", ") + std::string(folder) + ": " + std::strerror(errno);
  }
  throw std::runtime_error("cannot make a file for the log (" + reasons +
                           "); set TMPDIR, or use --log FILE");
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

}  // namespace overlapack::tools
