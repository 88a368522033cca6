// What an operation of the contract is.
//
// An operation is a struct with named operands, whose order is that of the BLAS routine where there
// is one. `Queue::enqueue(operation)` is the one way to call it. A struct has
//
//   Scalar       the precision whose kernels it belongs to
//   Group        the class that declares its virtual function: Blas, Panels, Fused, Bulges,
//                Tridiagonals or a format
//   kName        its name for observers, timelines and error texts
//   empty()      whether there is nothing to do
//   fits()       whether the shapes of its operands belong together
//   flops()      real floating-point operations, 0 for what only moves numbers
//   operands()   calls a function for each view, to check it or to bring it to the host
//
// The comment of an operation has fixed lines: what it does; the operands; `Writes`, what is
// written; `Fails`, how it tells that it could not; `Staging`, which operands may lie in staging
// memory as well, in which a device reads and writes each element once at most. Empty lines are
// left out. All operations follow the rules of BLAS: beta = 0 means that C is not read, and only
// the given triangle of a triangular or Hermitian matrix is referenced. Operands do not overlap
// unless the comment says so.
#pragma once

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack {

/// Whether an operand may lie in staging memory instead of the device's.
enum class Staging { forbidden, allowed };

namespace operation {

/// Real floating-point operations of `multiply_adds` multiply-adds in T.
template <class T>
double flops(double multiply_adds) {
  return (is_complex<T> ? 8.0 : 2.0) * multiply_adds;
}

/// a b c as a floating-point number.
inline double product(Index a, Index b, Index c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

/// Of op(A).
template <class V>
Index rows(Op op, const V& a) {
  return op == Op::none ? a.rows : a.cols;
}
template <class V>
Index cols(Op op, const V& a) {
  return op == Op::none ? a.cols : a.rows;
}

template <class V>
bool is_square(const V& a) {
  return a.rows == a.cols;
}
template <class V>
bool is_column(const V& a, Index rows) {
  return a.rows == rows && a.cols == 1;
}
template <class V, class W>
bool same_shape(const V& a, const W& b) {
  return a.rows == b.rows && a.cols == b.cols;
}

/// Throws std::logic_error: a mistake of the calling algorithm, not a fault of the device.
void require_fit(bool fits, const char* name);

}  // namespace operation
}  // namespace overlapack
