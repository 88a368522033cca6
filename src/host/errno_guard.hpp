// What the library does for itself leaves no trace in what the program may look at.
#pragma once

#include <dlfcn.h>

#include <cerrno>

namespace overlapack {

/// The program's errno is what it was.
class ErrnoGuard {
 public:
  ErrnoGuard() = default;
  ~ErrnoGuard() { errno = before_; }
  ErrnoGuard(const ErrnoGuard&) = delete;

 private:
  const int before_ = errno;
};

/// For what opens libraries and looks for symbols: of those it has not found nothing is left for
/// the program's dlerror(). What that would have said before is lost, as it is by any dlopen().
class DlerrorGuard {
 public:
  DlerrorGuard() = default;
  ~DlerrorGuard() { dlerror(); }
  DlerrorGuard(const DlerrorGuard&) = delete;
};

}  // namespace overlapack
