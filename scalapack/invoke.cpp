#include "invoke.hpp"

#include <string>

#include "blacs.hpp"

namespace overlapack::scalapack {
namespace {

constexpr std::size_t kLength = 1;  // of an option, which Fortran passes behind all arguments

/// Calls a Fortran routine with these arguments. A length that it does not expect it does not see.
template <class... Arguments>
void call_fortran(void* function, Arguments... arguments) {
  using Function = void (*)(Arguments..., std::size_t);
  reinterpret_cast<Function>(function)(arguments..., kLength);
}

/// Where sub(A) is in A, as ScaLAPACK's routines are told.
struct Place {
  explicit Place(const Matrix& matrix)
      : data(matrix.data),
        row(static_cast<int>(matrix.row + 1)),
        column(static_cast<int>(matrix.column + 1)),
        layout(matrix.layout) {}
  const int* descriptor() const { return &layout.type; }

  void* data;
  int row, column;
  Descriptor layout;
};

}  // namespace

int call_lapack(void* function, const Call& call, const Operands& operands) {
  const int m = static_cast<int>(call.a.rows), n = static_cast<int>(call.a.columns);
  const int nrhs = static_cast<int>(call.b.columns);
  const auto& [a, lda, b, ldb, pivots] = operands;
  int info = 0;
  switch (call.routine) {
    case Routine::potrf:
      call_fortran(function, &call.uplo, &n, a, &lda, &info);
      break;
    case Routine::potrs:
    case Routine::posv:
      call_fortran(function, &call.uplo, &n, &nrhs, a, &lda, b, &ldb, &info);
      break;
    case Routine::getrf:
      call_fortran(function, &m, &n, a, &lda, pivots, &info);
      break;
    case Routine::getrs:
      call_fortran(function, &call.trans, &n, &nrhs, a, &lda, pivots, b, &ldb, &info);
      break;
    default:  // gesv
      call_fortran(function, &n, &nrhs, a, &lda, pivots, b, &ldb, &info);
  }
  return info;
}

int call_scalapack(void* function, const Call& call) {
  const int m = static_cast<int>(call.a.rows), n = static_cast<int>(call.a.columns);
  const int nrhs = static_cast<int>(call.b.columns);
  const Place a(call.a), b(call.b);
  int info = 0;
  switch (call.routine) {
    case Routine::potrf:
      call_fortran(function, &call.uplo, &n, a.data, &a.row, &a.column, a.descriptor(), &info);
      break;
    case Routine::potrs:
    case Routine::posv:
      call_fortran(function, &call.uplo, &n, &nrhs, a.data, &a.row, &a.column, a.descriptor(),
                   b.data, &b.row, &b.column, b.descriptor(), &info);
      break;
    case Routine::getrf:
      call_fortran(function, &m, &n, a.data, &a.row, &a.column, a.descriptor(), call.pivots, &info);
      break;
    case Routine::getrs:
      call_fortran(function, &call.trans, &n, &nrhs, a.data, &a.row, &a.column, a.descriptor(),
                   call.pivots, b.data, &b.row, &b.column, b.descriptor(), &info);
      break;
    default:  // gesv
      call_fortran(function, &n, &nrhs, a.data, &a.row, &a.column, a.descriptor(), call.pivots,
                   b.data, &b.row, &b.column, b.descriptor(), &info);
  }
  return info;
}

void move_matrix(char type, Part part, const Matrix& from, const Matrix& to, int context) {
  const int m = static_cast<int>(from.rows), n = static_cast<int>(from.columns);
  const Place a(from), b(to);
  const std::string prefix = std::string("p") + type;
  if (part == Part::whole) {
    call_fortran(next((prefix + "gemr2d_").c_str()), &m, &n, a.data, &a.row, &a.column,
                 a.descriptor(), b.data, &b.row, &b.column, b.descriptor(), &context);
  } else {
    call_fortran(next((prefix + "trmr2d_").c_str()), part == Part::upper ? "U" : "L", "N", &m, &n,
                 a.data, &a.row, &a.column, a.descriptor(), b.data, &b.row, &b.column,
                 b.descriptor(), &context);
  }
}

int call_potrf(void* function, int order, double* a) {
  int info = 0;
  call_fortran(function, "L", &order, a, &order, &info);
  return info;
}

}  // namespace overlapack::scalapack
