// Memory that is about to be written for the first time.
#pragma once

#include <cstdint>

#include "core/scalar.hpp"

namespace overlapack::algorithms {

/// Bytes of a page.
constexpr Index kPage = 4096;

/// Whether the page that holds a byte of the process's memory is not there, so that the system has
/// to provide it when it is written: nobody has written to it yet, or it has been swapped out.
bool is_new(const void* byte);
/// Whether none of the pages is there that begin between two addresses.
bool is_new(std::uintptr_t begin, std::uintptr_t end);

/// Has the system provide what is not there yet of the whole large pages (2 MB) between two
/// addresses: by several threads, and as large pages if it has those. Otherwise each page of 4 KB
/// would be asked for when it is first written, by several threads perhaps. What the memory holds
/// stays as it is. Does nothing if the first of it is there, or no memory of the process, and fails
/// in silence.
void provide(std::uintptr_t begin, std::uintptr_t end, Index threads);

/// Has the system provide what is not there yet between two addresses in small pages, those of 4
/// KB, which lie here and there. Fails in silence.
void provide_small_pages(std::uintptr_t begin, std::uintptr_t end);

/// Memory from one address up to another one.
struct Memory {
  std::uintptr_t begin = 0, end = 0;
  bool contains(std::uintptr_t address) const { return begin <= address && address < end; }
};

/// Whether memory of malloc() with pages of its own may begin at an address, by its place in a
/// page.
bool may_begin_allocation(std::uintptr_t address);
/// What malloc() has given at an address, if that has pages of its own; nothing otherwise. This
/// reads the 16 bytes in front of it, in the same page. The address must be one of the process's
/// memory, and malloc() the GNU C library's (process_memory.hpp).
Memory allocation_at(std::uintptr_t begin);
/// Whether what allocation_at() has told of before is still there, and as large: its memory may
/// have become another one's since, or nobody's.
bool is_there(Memory allocation);

/// The columns of a matrix that are written one behind the other, perhaps into new memory.
class NewColumns {
 public:
  constexpr NewColumns() = default;
  /// They may lie in that allocation.
  constexpr explicit NewColumns(Memory allocation) : allocation_(allocation) {}

  /// A column of so many bytes is about to be written at `column`, of a matrix that has `columns`
  /// of them at most. Several threads provide as much again as has been written, but nothing beyond
  /// the matrix, or beyond the mapping of private memory that the column lies in; one does not. Of
  /// the allocation they provide all that is behind the column.
  void before(std::uintptr_t column, std::uintptr_t bytes, Index columns, Index threads);
  /// How many columns, that one and those behind it, lie in memory of the allocation that was new
  /// when it was provided: nobody has written to what is behind that column.
  Index untouched() const;

 private:
  void provide_next(std::uintptr_t end_of_matrix, Index threads);

  Memory allocation_;
  std::uintptr_t begin_ = 0, column_ = 0;  // the first one, the last one
  std::uintptr_t bytes_ = 0, pitch_ = 0, written_ = 0;
  std::uintptr_t provided_ = 0;     // where that ends
  Memory new_;                      // when it was provided
  std::uintptr_t end_of_mine_ = 0;  // of the mapping that it lies in
};

}  // namespace overlapack::algorithms
