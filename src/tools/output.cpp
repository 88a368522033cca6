#include "tools/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace overlapack::tools {

namespace fs = std::filesystem;

namespace {

/// Returns errno, or 0, as the next two do.
int write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t step = ::write(file, text.data() + done, text.size() - done);
    if (step < 0 && errno != EINTR) return errno;
    if (step > 0) done += static_cast<std::size_t>(step);
  }
  return 0;
}

/// Writes a new file beside `target`, whose name it puts into `name`. None is left if that fails.
int write_beside(const fs::path& target, const std::string& text, std::string& name) {
  name = target.string() + ".XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return errno;
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  int error = write_all(file, text);
  if (error == 0 && fsync(file) != 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  if (error != 0) unlink(name.c_str());
  return error;
}

/// Writes into what is there.
int write_into(const fs::path& target, const std::string& text) {
  const int file = open(target.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = write_all(file, text);
  return close(file) != 0 && error == 0 ? errno : error;
}

}  // namespace

void fail_to_write(const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(), "cannot write " + path);
}

void check_writable(const std::string& path) {
  // A pipe is not opened for that: its reader would see it end before the first line.
  struct stat status;
  const bool is_pipe = stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file = is_pipe ? -1 : open(path.c_str(), kFlags, 0666);
  if (is_pipe ? access(path.c_str(), W_OK) != 0 : file < 0) fail_to_write(path, errno);
  if (file >= 0) close(file);
}

fs::path real_path(const std::string& path, std::error_code& error) {
  const fs::path whole = fs::absolute(path, error);
  return error ? fs::path() : fs::weakly_canonical(whole, error);
}

WholeFile::WholeFile(const std::string& path) : path_(path), target_(path) {
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (!fs::status_known(there)) fail_to_write(path, error.value());
  other_ = fs::is_other(there);
  if (other_) {
    check_writable(path);
    return;
  }
  target_ = real_path(path, error);
  if (error) fail_to_write(path, error.value());
  if (fs::is_directory(there) || !target_.has_filename()) fail_to_write(path, EISDIR);
  fs::create_directories(target_.parent_path(), error);
  if (error) fail_to_write(path, error.value());
  if (fs::exists(there) && access(target_.c_str(), W_OK) != 0) fail_to_write(path, errno);
  // Some folders (/proc) tell only who tries, and so do full disks.
  constexpr std::size_t kUsualBytes = 4096;
  std::string trial;
  const int reason = write_beside(target_, std::string(kUsualBytes, '#'), trial);
  if (reason != 0) fail_to_write(path, reason);
  unlink(trial.c_str());
}

void WholeFile::write(const std::string& text) const {
  if (other_) {
    if (const int reason = write_into(target_, text); reason != 0) fail_to_write(path_, reason);
    return;
  }
  std::string written;
  int reason = write_beside(target_, text, written);
  if (reason != 0) fail_to_write(path_, reason);
  if (std::rename(written.c_str(), target_.c_str()) == 0) return;
  // Some files may be written, but not replaced: where another user's folder is sticky, or where a
  // container has the file from elsewhere.
  reason = errno;
  unlink(written.c_str());
  if (fs::exists(target_)) reason = write_into(target_, text);
  if (reason != 0) fail_to_write(path_, reason);
}

void check_standard_output() {
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    throw std::runtime_error("cannot write to standard output: it is closed");
  }
}

void occupy_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) >= 0) continue;
    // Standard output only for reading: whoever prints is to be told that this fails.
    const int mode = file == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode | O_CLOEXEC) < 0) return;
  }
}

}  // namespace overlapack::tools
