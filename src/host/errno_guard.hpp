// What the library does for itself leaves no trace in what the program may look at.
#pragma once

#include <dlfcn.h>

#include <cerrno>

namespace overlapack {

/// The program's errno is what it was.
class KeepErrno {
 public:
  KeepErrno() = default;
  ~KeepErrno() { errno = before_; }
  KeepErrno(const KeepErrno&) = delete;

 private:
  const int before_ = errno;
};

/// For what opens libraries and looks for symbols: of those it has not found nothing is left for
/// the program's dlerror(). What that would have said before is lost, as it is by any dlopen().
class NoDlerror {
 public:
  NoDlerror() = default;
  ~NoDlerror() { dlerror(); }
  NoDlerror(const NoDlerror&) = delete;
};

}  // namespace overlapack
