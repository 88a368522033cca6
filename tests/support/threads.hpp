// The threads of this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace overlapack::testing_support {

inline std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace overlapack::testing_support
