#include "redistribute.hpp"

#include <algorithm>

#include "host/stores.hpp"

namespace overlapack::scalapack {
namespace {

/// Calls copy(local, row, column, count) for what lies together in the local memory of this rank:
/// `count` rows of a column, from (row, column) of sub(A) on.
template <class Copy>
void for_each_piece(const Matrix& matrix, const Grid& grid, Part part, std::size_t element_bytes,
                    Copy copy) {
  const std::vector<Run> rows = runs(matrix.row_dealing(grid), grid.row, matrix.row, matrix.rows);
  const std::vector<Run> columns =
      runs(matrix.column_dealing(grid), grid.column, matrix.column, matrix.columns);
  for (const Run& run : columns) {
    for (Index j = 0; j < run.count; ++j) {
      const Index column = run.first + j;
      const Index first = part == Part::lower ? column : 0;
      const Index end = part == Part::upper ? column + 1 : matrix.rows;
      for (const Run& piece : rows) {
        const Index begin = std::max(piece.first, first);
        const Index count = std::min(piece.first + piece.count, end) - begin;
        if (count <= 0) continue;
        const Index place = piece.local + begin - piece.first + (run.local + j) * matrix.layout.lld;
        copy(matrix.data + static_cast<std::size_t>(place) * element_bytes, begin, column, count);
      }
    }
  }
}

char* at(const Whole& whole, Index row, Index column, std::size_t element_bytes) {
  return whole.data + static_cast<std::size_t>(row + column * whole.ld) * element_bytes;
}

/// Calls visit(pivot, index) for the pivots of this rank.
template <class Visit>
void for_each_pivot(const Call& call, const Grid& grid, Visit visit) {
  const Dealing dealing = call.a.row_dealing(grid);
  for (const Run& run : runs(dealing, grid.row, call.a.row, call.order())) {
    for (Index i = 0; i < run.count; ++i) visit(call.pivots[run.local + i], run.first + i);
  }
}

}  // namespace

Part part_of_a(const Call& call) {
  if (call.is_lu()) return Part::whole;
  return call.is_upper() ? Part::upper : Part::lower;
}

void put(const Matrix& matrix, const Grid& grid, Part part, std::size_t element_bytes,
         const Whole& whole) {
  for_each_piece(matrix, grid, part, element_bytes,
                 [&](const char* local, Index row, Index column, Index count) {
                   const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
                   store_past_cache(at(whole, row, column, element_bytes), local, bytes,
                                    local + bytes);
                 });
  stores_complete();
}

void take(const Matrix& matrix, const Grid& grid, Part part, std::size_t element_bytes,
          const Whole& whole) {
  const auto turns = static_cast<std::size_t>(grid.rows);  // until this rank has rows again
  for_each_piece(matrix, grid, part, element_bytes,
                 [&](char* local, Index row, Index column, Index count) {
                   const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
                   const char* const from = at(whole, row, column, element_bytes);
                   store_past_cache(local, from, bytes, from + bytes * turns);
                 });
  stores_complete();
}

void put_pivots(const Call& call, const Grid& grid, int* whole) {
  const int shift = static_cast<int>(call.a.row);
  for_each_pivot(call, grid, [&](int& pivot, Index i) { whole[i] = pivot - shift; });
}

void take_pivots(const Call& call, const Grid& grid, const int* whole) {
  const int shift = static_cast<int>(call.a.row);
  for_each_pivot(call, grid, [&](int& pivot, Index i) { pivot = whole[i] + shift; });
}

}  // namespace overlapack::scalapack
