// Memory that is about to be written for the first time.
#pragma once

#include <cstdint>

#include "core/scalar.hpp"

namespace overlapack::algorithms {

/// Bytes of a page.
constexpr Index kPage = 4096;

/// Whether the page that holds a byte of the process's memory is not there yet, so that the system
/// has to provide it when it is written.
bool is_new(const void* byte);

/// Has the system provide what is not there yet of the whole large pages (2 MB) between two
/// addresses: by several threads, and as large pages if it has those. Otherwise each page of 4 KB
/// would be asked for when it is first written, by several threads perhaps. What the memory holds
/// stays as it is. Does nothing if the first of it is there, or no memory of the process, and fails
/// in silence.
void provide(std::uintptr_t begin, std::uintptr_t end, Index threads);

/// Has the system provide what is not there yet between two addresses in small pages, those of 4
/// KB, which lie here and there. Fails in silence.
void provide_small_pages(std::uintptr_t begin, std::uintptr_t end);

/// The columns of a matrix that are written one behind the other, perhaps into new memory.
class NewColumns {
 public:
  /// `in_loop`: nothing happens between two columns of the matrix, so that its memory will not be
  /// given back meanwhile. Then some of the threads provide more of it while the others copy.
  constexpr explicit NewColumns(bool in_loop = false) : in_loop_(in_loop) {}

  /// A column of so many bytes is about to be written at `column`, of a matrix that has `columns`
  /// of them at most. Several threads provide as much again as has been written, and in a loop as
  /// much once more while columns are copied, but nothing beyond the matrix, or beyond the mapping
  /// of private memory that the column lies in; one does not. Returns how many of `threads` are
  /// left to copy the column.
  Index before(std::uintptr_t column, std::uintptr_t bytes, Index columns, Index threads);
  /// Waits for those who provide what comes next. If a matrix has fewer columns than there could
  /// be, the last of them are still at it when all have been written.
  void await();

 private:
  std::uintptr_t end_of_part(std::uintptr_t begin) const;
  void provide_next(std::uintptr_t column, std::uintptr_t needed, std::uintptr_t end_of_matrix,
                    Index threads);
  void provide_ahead(std::uintptr_t end_of_matrix, Index threads);

  bool in_loop_;
  std::uintptr_t begin_ = 0, column_ = 0;  // the first one, the last one
  std::uintptr_t pitch_ = 0, written_ = 0;
  std::uintptr_t there_ = 0, provided_ = 0;  // where that ends, the latter with the job
  std::uint64_t job_ = 0;                    // in the background, or 0
  std::uintptr_t end_of_mine_ = 0;           // of the mapping that it lies in
};

}  // namespace overlapack::algorithms
