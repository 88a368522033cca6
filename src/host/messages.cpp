#include "host/messages.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace overlapack {
namespace {

/// Holds back, in this thread, the signals that writing may raise: a pipe without a reader, or a
/// file as large as it may get, would end the program.
class WriteSignalsHeld {
 public:
  WriteSignalsHeld() {
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&held_);
    for (const int signal : {SIGPIPE, SIGXFSZ}) {  // one pending before is the program's
      if (sigismember(&pending, signal) == 0) sigaddset(&held_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~WriteSignalsHeld() {
    const timespec no_wait{};
    while (sigtimedwait(&held_, nullptr, &no_wait) > 0 || errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;

 private:
  sigset_t held_, before_;
};

/// A message that cannot be written is no reason to disturb the program. Returns errno then, or 0.
int write_all(int file, const std::string& text) {
  const WriteSignalsHeld held;
  // One write per line, as a rule, keeps lines of several processes whole.
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      return written == 0 ? ENOSPC : errno;
    }
  }
  return 0;
}

/// No object with a constructor: a program may call LAPACK before those of the library have run.
struct StandardError {
  bool sought, open;
  dev_t device;
  ino_t inode;
};
StandardError standard_error;

__attribute__((constructor)) void find_at_load() { find_standard_error(); }

}  // namespace

void find_standard_error() {
  // Where the program opens the library later (dlopen), descriptor 2 may be a file of its own
  // already. What was there when the program was started does not close on exec.
  struct stat status;
  const int flags = fcntl(STDERR_FILENO, F_GETFD);
  const bool open = flags >= 0 && (flags & FD_CLOEXEC) == 0 && fstat(STDERR_FILENO, &status) == 0;
  standard_error = {true, open, open ? status.st_dev : 0, open ? status.st_ino : 0};
}

void write_to_standard_error(const std::string& text) {
  if (!standard_error.sought) find_standard_error();  // a call before the library's constructors
  struct stat status;
  const bool same = standard_error.open && fstat(STDERR_FILENO, &status) == 0 &&
                    status.st_dev == standard_error.device && status.st_ino == standard_error.inode;
  if (same) write_all(STDERR_FILENO, text);
}

int append(const std::string& path, const std::string& text, IfAbsent if_absent) {
  // Without waiting: nobody may read what turns out to be a pipe. Nor is a terminal to become ours.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file =
      open(path.c_str(), kFlags | (if_absent == IfAbsent::make ? O_CREAT : O_NOFOLLOW), 0644);
  if (file < 0) return errno;
  const int reason = write_all(file, text);
  close(file);
  return reason;
}

}  // namespace overlapack
