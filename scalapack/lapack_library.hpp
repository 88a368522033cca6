// The library liboverlapack.so, loaded at run time by the rank that computes for its host.
#pragma once

#include <string>

namespace overlapack::scalapack {

/// Its file: beside this library. Empty if there is none.
std::string lapack_library_file();

class LapackLibrary {
 public:
  /// Loads it and starts its device. Throws std::runtime_error with the reason if there is no
  /// device.
  LapackLibrary();

  /// A function of it. Throws if it has none of that name.
  void* function(const std::string& name) const;

 private:
  void start_device() const;
  /// "cuda:0 (NVIDIA H200)", or why there is none.
  std::string device() const;

  void* handle_;  // for ever: its threads may run until the process ends
};

}  // namespace overlapack::scalapack
