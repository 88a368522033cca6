#include "call.hpp"

#include <cstdint>

#include "arguments.hpp"

namespace overlapack::scalapack {
namespace {

/// What ScaLAPACK's CHK1MAT asks of all matrices, but for the next function.
bool is_sound(const Matrix& matrix, const Grid& grid) {
  const Descriptor& layout = matrix.layout;
  return layout.type == kBlockCyclic && matrix.rows > 0 && matrix.columns > 0 && matrix.row >= 0 &&
         matrix.column >= 0 && layout.row_block >= 1 && layout.column_block >= 1 &&
         layout.row_source >= 0 && layout.row_source < grid.rows && layout.column_source >= 0 &&
         layout.column_source < grid.columns && matrix.row + matrix.rows <= layout.rows &&
         matrix.column + matrix.columns <= layout.columns;
}

/// Whether the local part of A is as large as the descriptor says.
bool has_room(const Matrix& matrix, const Grid& grid) {
  const Descriptor& layout = matrix.layout;
  const Index rows = matrix.row_dealing(grid).count_of(grid.row, layout.rows);
  const Index columns = matrix.column_dealing(grid).count_of(grid.column, layout.columns);
  return layout.lld >= 1 && (layout.lld >= rows || columns == 0);
}

/// Square blocks, and sub(A) begins with a block.
bool is_aligned(const Matrix& a) {
  const Descriptor& layout = a.layout;
  return layout.row_block == layout.column_block && a.row % layout.row_block == 0 &&
         a.column % layout.column_block == 0;
}

/// The rows of sub(B) lie where those of sub(A) do.
bool goes_with(const Matrix& b, const Matrix& a, const Grid& grid) {
  return b.layout.context == a.layout.context && b.layout.row_block == a.layout.column_block &&
         b.row % b.layout.row_block == 0 &&
         b.row_dealing(grid).owner(b.row) == a.row_dealing(grid).owner(a.row);
}

}  // namespace

bool Call::is_upper() const { return compat::same_letter(uplo, 'U'); }

std::string Call::lapack_name() const {
  return type + std::string(dispatch::name_of(routine)) + '_';
}

bool is_valid(const Call& call, const Grid& grid) {
  const bool options = (call.uplo == '-' || compat::is_uplo(call.uplo)) &&
                       (call.trans == '-' || compat::is_trans(call.trans));
  const Matrix &a = call.a, &b = call.b;
  if (!options || !is_sound(a, grid) || !is_aligned(a) || !has_room(a, grid)) return false;
  return !call.has_b() || (is_sound(b, grid) && goes_with(b, a, grid) && has_room(b, grid));
}

int fingerprint(const Call& call) {
  std::uint64_t hash = 14695981039346656037U;  // Fowler, Noll and Vo's, over numbers for bytes
  const auto add = [&](Index value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211U;
  };
  add(static_cast<Index>(call.routine));
  for (const char option : {call.type, call.uplo, call.trans}) add(compat::upper_case(option));
  for (const Matrix* const matrix : {&call.a, &call.b}) {
    for (const Index value : {matrix->rows, matrix->columns, matrix->row, matrix->column}) {
      add(value);
    }
    const Descriptor& layout = matrix->layout;
    for (const int value : {layout.type, layout.rows, layout.columns, layout.row_block,
                            layout.column_block, layout.row_source, layout.column_source}) {
      add(value);
    }
  }
  return static_cast<int>(hash >> 34);
}

}  // namespace overlapack::scalapack
