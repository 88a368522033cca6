// Memory of each thread's own.
#pragma once

#include <cstddef>

#include "host/once.hpp"

namespace overlapack {

/// A piece of memory for each thread that asks for it, which is freed when the thread ends. To be
/// used as a variable of static storage duration.
///
/// Variables that are local to a thread (thread_local) do not do for what needs a destructor: where
/// there is no memory to register it for a new thread, the C library ends the process.
class ThreadMemory {
 public:
  /// The calling thread's, of `bytes`, which are the same in all calls. Null if it cannot be had.
  void* get(std::size_t bytes);

 private:
  struct Key;

  Once<Key> key_;
};

}  // namespace overlapack
