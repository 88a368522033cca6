// Memory that processes of one host share. It has no name in the file system, so nothing is left
// behind however a process ends, and the size of /dev/shm is no limit.
#pragma once

#include <cstddef>

namespace overlapack::scalapack {

class SharedMemory {
 public:
  SharedMemory() = default;
  /// New memory, all zeros. Throws std::runtime_error if the host has not got as much.
  explicit SharedMemory(std::size_t bytes);
  /// The memory that another process has made.
  SharedMemory(int process, int file, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept { swap(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// The descriptor, which other processes need to open it.
  int file() const { return file_; }

 private:
  void map();
  void swap(SharedMemory& other) noexcept;

  int file_ = -1;
  std::size_t size_ = 0;
  char* data_ = nullptr;
};

}  // namespace overlapack::scalapack
