// Moves matrices and pivots between the ranks' parts and one whole that they have in common.
#pragma once

#include <cstddef>
#include <vector>

#include "call.hpp"

namespace overlapack::scalapack {

enum class Part { whole, lower, upper };
/// The part of A that a routine reads or writes.
Part part_of_a(const Call& call);

/// sub(A), column by column, in memory that all ranks write to at once.
struct Whole {
  char* data;
  Index ld;  ///< in numbers
};

/// Copies what this rank has of a part of sub(A) to its place in the whole; and back.
void put(const Matrix& matrix, const Grid& grid, Part part, std::size_t element_bytes,
         const Whole& whole);
void take(const Matrix& matrix, const Grid& grid, Part part, std::size_t element_bytes,
          const Whole& whole);

/// Pivots are kept beside the rows of A, on all process columns, and count rows of A from 1. In the
/// whole there is one for each column of sub(A), which counts its rows from 1.
void put_pivots(const Call& call, const Grid& grid, int* whole);
void take_pivots(const Call& call, const Grid& grid, const int* whole);

}  // namespace overlapack::scalapack
