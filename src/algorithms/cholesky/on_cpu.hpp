// Pieces of a Cholesky factor that the CPU computes.
#pragma once

#include "algorithms/shared/triangle.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// Finishes a piece of L below the diagonal, whose columns on and above the diagonal are final, as
/// is what lies left of them: L(i, j) := (A(i, j) - L(i, k) L(j, k)^H) L(j, j)^-H.
template <class T>
void finish_below(const cpu::Lapack<T>& cpu, Storage storage, HostView<T> a, const Piece& piece);

/// The same from the diagonal on. Returns LAPACK's info.
template <class T>
Index finish_from_diagonal(const cpu::Lapack<T>& cpu, Storage storage, HostView<T> a,
                           const Piece& piece);

}  // namespace overlapack::algorithms
