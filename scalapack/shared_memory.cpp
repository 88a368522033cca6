#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "fault.hpp"

namespace overlapack::scalapack {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// The value behind a name in a file of such lines; none if it is not there.
std::optional<std::size_t> value_in(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string name, rest;
  for (std::size_t value = 0; file >> name >> value; std::getline(file, rest)) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

/// What the control groups of this process, by which Slurm and containers limit memory, leave it.
/// Files that the system keeps in memory do not count: it gives them up.
std::size_t left_by_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::string group;
  const std::string kUnified = "0::";
  while (std::getline(groups, group) && group.rfind(kUnified, 0) != 0) continue;
  if (!groups) return kNoLimit;
  std::size_t left = kNoLimit;
  for (group.erase(0, kUnified.size()); !group.empty(); group.erase(group.rfind('/'))) {
    const std::string folder = "/sys/fs/cgroup" + group + '/';
    std::size_t limit = 0;
    if (!(std::ifstream(folder + "memory.max") >> limit)) continue;  // "max", or nothing
    const std::string statistics = folder + "memory.stat";
    const std::size_t used =
        value_in(statistics, "anon").value_or(0) + value_in(statistics, "shmem").value_or(0);
    left = std::min(left, limit - std::min(limit, used));
  }
  return left;
}

/// Pages are only taken as they are written, when it is too late to say no.
std::size_t available_bytes() {
  const std::optional<std::size_t> kilobytes = value_in("/proc/meminfo", "MemAvailable:");
  return std::min(kilobytes ? *kilobytes * 1024 : kNoLimit, left_by_groups());
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
