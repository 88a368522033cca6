#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "fault.hpp"

namespace overlapack::scalapack {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// Pages are only taken as they are written, when it is too late to say no.
std::size_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::size_t value = 0; file >> name >> value && std::getline(file, unit);) {
    if (name == "MemAvailable:") return value * 1024;
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
  may_fail();
  if (bytes > available_bytes()) throw std::runtime_error("the host has too little memory");
  file_ = memfd_create("overlapack", MFD_CLOEXEC);
  if (file_ < 0) fail("memfd_create");
  if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
    close(file_);
    fail("ftruncate");
  }
  map();
}

SharedMemory::SharedMemory(int process, int file, std::size_t bytes) : size_(bytes) {
  may_fail();
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0) fail(path.c_str());
  map();
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
  if (file_ >= 0) close(file_);
}

void SharedMemory::map() {
  void* const memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    close(file_);
    fail("mmap");
  }
  madvise(memory, size_, MADV_HUGEPAGE);  // where the host has them for shared memory
  data_ = static_cast<char*>(memory);
}

void SharedMemory::swap(SharedMemory& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
}

}  // namespace overlapack::scalapack
