// Finding routines in the libraries of the process.
#pragma once

#include <vector>

#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// Looks for routines in what the process has loaded.
class Search {
 public:
  Search() = default;
  ~Search();
  Search(const Search&) = delete;

  /// The routine `name` ("getrf") of precision `type`, in this order:
  ///  1. in the library that the user configured;
  ///  2. under the family's own spelling in what the dynamic linker finds after us (RTLD_NEXT), as
  ///     in programs that link LAPACK, and in every object the process has loaded, also locally
  ///     (Python wheels bring an OpenBLAS that RTLD_NEXT cannot see), but for what precedes us in
  ///     the link order: its routines may hand their calls on to us;
  ///  3. there under all spellings.
  /// Of several spellings the family's own comes first, then those of the same integer width, then
  /// the others. For a family with 64-bit integers, any library that has these comes before one
  /// that has not. The result's address is null if there is none.
  Symbol find(Family family, char type, const char* name) const;

 private:
  Symbol in_process(Family family, bool all_spellings, char type, const char* name) const;

  /// Handles of all objects in the process, whether their symbols are global or not.
  const std::vector<void*>& objects() const;

  mutable std::vector<void*> objects_;  // empty until somebody asks
};

/// Looks in the OpenBLAS found when overlapack was built, which this loads. The caller holds the
/// OnceLock.
Symbol find_at_build_time(Family family, char type, const char* name);

/// Opens the library that the user names. Returns an error text, empty if it could be opened.
std::string open_configured(const std::string& path);
bool has_configured();
void close_configured();
/// Looks in that library alone.
Symbol find_configured(Family family, char type, const char* name);

/// Has no search find the routine at that address any more. The caller holds the OnceLock.
void exclude(const void* address);

/// Whether an address lies in the extension module of numpy.linalg.
bool is_in_numpy_linalg(const void* code);

/// The xerbla_ that a caller of this family has a right to: the application's own if it has one, or
/// that of the object that calls. Null if none is visible. `caller` is where the call returns to.
void* find_xerbla(Family family, const void* caller);

}  // namespace overlapack::cpu
