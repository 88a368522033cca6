// The objects that the dynamic linker has loaded: what each is linked with and defines, and how one
// is recognised.
//
// Nothing here waits for a thread that opens a library, as dlopen() and dlsym() do: the constructor
// of that library may be waiting for a thread that calls us.
#pragma once

#include <link.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace overlapack::cpu {

struct AddressRange {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool contains(const void* address) const { return address >= begin && address < end; }
};

/// An object of the process, and its definition of the symbol that was asked for.
struct LoadedObject {
  std::string file;                 ///< empty for the program itself
  std::string name;                 ///< that others need it by
  std::vector<std::string> needed;  ///< the names of what it is linked with, in their order
  AddressRange range;               ///< where it lies in memory
  void* definition = nullptr;       ///< null if it has none
  bool wide = false;                ///< has_wide_integers()
  bool ours = false;  ///< its routines would hand calls back to this library: it is this one,
                      ///< another copy, or a switch to some LAPACK that may be us (Julia's)
};

/// All objects, in the order in which they were loaded; the program itself is the first.
std::vector<LoadedObject> loaded_objects(const std::string& symbol);

/// The definition of a symbol in the object that an address lies in. Null if there is none, or if
/// the object is one of ours. It is found without memory.
void* own_definition(const void* address, const char* symbol);

/// Whether the name of a library says that it uses the unsuffixed names with 64-bit integers: those
/// of Debian (libopenblas64, liblapack64, libblas64) and MKL (libmkl_intel_ilp64) do.
bool is_ilp64_file(std::string_view path);
/// Whether the routines that an object has under the unsuffixed names take 64-bit integers: its
/// name says so, or that of a library which it is linked with. The latter is for qrupdate.
bool has_wide_integers(const link_map& object);

/// The name of a file without its folders.
std::string_view file_name(std::string_view path);

/// The first byte of the object that an address lies in, or null. It is what each call pays.
const char* beginning_of(const void* address);

/// Recognises an object by its place and its build ID (or the beginning of its file, if it has
/// none): another one may lie there after a dlclose().
class ObjectMark {
 public:
  constexpr ObjectMark() = default;  // of code that belongs to no object
  /// Of the object that begins there; of none, if that is null.
  explicit ObjectMark(const char* begin);
  bool is(const char* begin) const;

 private:
  static constexpr std::size_t kBuildIdBytes = 16, kHeadBytes = 256;
  const char* begin_ = nullptr;
  std::size_t offset_ = 0, size_ = 0;
  char bytes_[kHeadBytes] = {};
};

}  // namespace overlapack::cpu
