// Which part of a distributed matrix lies where: ScaLAPACK's two-dimensional block-cyclic layout.
// Rows, columns and ranks are counted from 0 here.
#pragma once

#include <cstddef>
#include <vector>

#include "core/scalar.hpp"

namespace overlapack::scalapack {

/// The grid of a BLACS context, as one rank sees it. A rank outside has row -1.
struct Grid {
  int rows = -1, columns = -1, row = -1, column = -1;

  bool has_us() const { return row >= 0; }
  int size() const { return rows * columns; }
  /// Ranks are counted row by row, as Netlib's BLACS does in the communicator of any grid.
  int rank() const { return row * columns + column; }
};

/// DESC of a distributed matrix, in the order of its entries.
struct Descriptor {
  int type, context, rows, columns, row_block, column_block, row_source, column_source, lld;
};
static_assert(sizeof(Descriptor) == 9 * sizeof(int), "as Fortran's array");
constexpr int kBlockCyclic = 1;  // the type

/// How the rows, or the columns, are dealt out: block by block to one process after the other,
/// beginning with the source.
struct Dealing {
  Index block, source, processes;

  Index owner(Index index) const { return (index / block + source) % processes; }
  /// The place of an index in the memory of its owner.
  Index local(Index index) const { return index / block / processes * block + index % block; }
  /// How many of the first `count` a process has (ScaLAPACK's NUMROC).
  Index count_of(Index process, Index count) const;
};

/// sub(A): rows and columns of A from (row, column) on.
struct Matrix {
  char* data = nullptr;  ///< the local part of A
  Index rows = 0, columns = 0;
  Index row = 0, column = 0;
  Descriptor layout = {};

  Dealing row_dealing(const Grid& grid) const {
    return {layout.row_block, layout.row_source, grid.rows};
  }
  Dealing column_dealing(const Grid& grid) const {
    return {layout.column_block, layout.column_source, grid.columns};
  }
};

/// Rows or columns that follow each other, in sub(A) and in the memory of one process.
struct Run {
  Index first;  ///< in sub(A)
  Index local;  ///< in the memory
  Index count;
};
/// What a process has of the indices from `first` on, in order.
std::vector<Run> runs(const Dealing& dealing, Index process, Index first, Index count);

}  // namespace overlapack::scalapack
